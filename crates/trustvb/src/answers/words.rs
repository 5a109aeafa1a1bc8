//! What answers say, in sentences.

use super::{deserved, percent, significant, verdict};
use crate::calibrate::{Answer, Method};

/// Sentences on all answers together: VB's own intervals at each level, and the warnings. `bootstraps` is how many
/// resamples VB's coverage rests on.
pub fn in_words(quantities: &[&[Answer]], bootstraps: usize) -> Vec<String> {
    let answers: Vec<&Answer> = quantities.iter().flat_map(|answers| answers.iter()).collect();
    let mut levels: Vec<f64> = Vec::new();
    for a in &answers {
        if !levels.contains(&a.level) {
            levels.push(a.level);
        }
    }
    let mut sentences: Vec<String> =
        levels.iter().filter_map(|level| verdict(quantities, *level, bootstraps)).collect();
    // Where the recommended method has answered, its intervals are the ones to use.
    let recommended = answers.iter().any(|a| a.method == Method::RECOMMENDED);
    let (kind, by) = match recommended {
        true => ("recommended", format!(" ({})", Method::RECOMMENDED.name())),
        false => ("calibrated", String::new()),
    };
    let to_use = |a: &&&Answer| match recommended {
        true => a.method == Method::RECOMMENDED,
        false => a.method != Method::Vb,
    };
    let calibrated: Vec<&&Answer> = answers.iter().filter(to_use).collect();
    let warned = calibrated.iter().filter(|a| a.flags.iter().any(|flag| !flag.is_remark())).count();
    if !calibrated.is_empty() {
        sentences.push(if warned == 0 {
            format!("No warning speaks against the {kind} intervals{by}.")
        } else {
            format!(
                "{warned} of {} {kind} intervals{by} carry a warning; read it before using them.",
                calibrated.len()
            )
        });
    }
    sentences
}

/// The ω of an answer as text; a dash for methods whose interval is no posterior's.
pub fn omega_text(answer: &Answer) -> String {
    answer.shown_omega().map_or_else(|| "–".to_owned(), |omega| significant(omega, 3))
}

/// `1 unit`, `2 units`.
pub fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// A flag's sentence as one of its own: a capital first, a point last.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    // Not ω: it is a symbol, and Ω would be another one.
    let first: String = letters.next().map(|c| c.to_ascii_uppercase()).into_iter().collect();
    let end = if text.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// The answer for one quantity at one level: the interval to quote, and what it says of VB's own.
///
/// It goes on from the quantity's name, which a page shows as code.
pub fn quantity_in_words(quoted: &Answer, vb: Option<&Answer>) -> String {
    let width = quoted.upper - quoted.lower;
    let show = |x: f64| {
        let number = if x.is_infinite() { infinite(x) } else { deserved(x, width) };
        number.replace('-', "−")
    };
    // An estimate with a Monte-Carlo error deserves no decimals in a sentence.
    let covered = |coverage: f64| format!("{:.0}%", 100.0 * coverage);
    if quoted.lower.is_nan() || quoted.upper.is_nan() {
        return format!(
            "is estimated at {}, but has no interval; the remarks below say why.",
            deserved(quoted.estimate, f64::NAN)
        );
    }
    let level = percent(quoted.level);
    let mut text = format!("is estimated at {}", show(quoted.estimate));
    if quoted.method == Method::Vb {
        text.push_str(&format!(
            ", with an uncalibrated {level} interval from {} to {} (vb).",
            show(quoted.lower),
            show(quoted.upper)
        ));
        return text;
    }
    let (lower, upper, method) = (show(quoted.lower), show(quoted.upper), quoted.method.name());
    let short = quoted.flags.iter().any(|flag| flag.name() == "never-reaches-level");
    match quoted.coverage.filter(|_| short) {
        Some(coverage) => text.push_str(&format!(
            ", with an interval from {lower} to {upper} ({method}) that is estimated to cover only \
             {}: no ω reaches the {level} asked for.",
            covered(coverage)
        )),
        None => text.push_str(&format!(
            ", with a calibrated {level} interval from {lower} to {upper} ({method})."
        )),
    }
    let own = quoted.flags.iter().any(|flag| flag.name() == "at-omega-1");
    let ratio = vb.map(|vb| width / (vb.upper - vb.lower)).filter(|r| r.is_finite());
    match (own, vb.and_then(|vb| vb.coverage.map(|c| (vb, c))), ratio) {
        (true, _, _) => {
            text.push_str(" That is VB's own interval, which already covers what it claims.");
        }
        (false, Some((vb, coverage)), Some(ratio)) => text.push_str(&format!(
            " VB's own, {} to {}, is estimated to cover {}; the calibrated one is {ratio:.2} times \
             as long.",
            show(vb.lower),
            show(vb.upper),
            covered(coverage)
        )),
        (false, None, Some(ratio)) => {
            text.push_str(&format!(" It is {ratio:.2} times as long as VB's own."));
        }
        _ => {}
    }
    text
}

fn infinite(x: f64) -> String {
    if x > 0.0 { "∞".to_owned() } else { "−∞".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_have_a_capital_and_a_point() {
        assert_eq!(sentence("ω is small"), "ω is small.");
        assert_eq!(sentence("done."), "Done.");
        assert_eq!(plural(1, "unit", "units"), "1 unit");
    }
}

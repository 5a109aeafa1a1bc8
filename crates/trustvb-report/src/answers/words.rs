//! What answers say, in sentences.

use super::deserved;
use trustvb::calibrate::{Answer, Method};

/// A warning with the answers it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// The flag's name and what it means.
    pub sentence: String,
    /// Quantity and method of each answer.
    pub about: Vec<String>,
}

/// The warnings among the flags, each once, with the quantities it is about.
pub fn remarks<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = Vec::new();
    for a in answers {
        for flag in a.flags.iter().filter(|flag| !flag.is_remark()) {
            let sentence = format!("{}: {}", flag.name(), flag.sentence());
            let about = format!("{} {}", a.label, a.method.name());
            match remarks.iter_mut().find(|remark| remark.sentence == sentence) {
                Some(remark) if remark.about.contains(&about) => {}
                Some(remark) => remark.about.push(about),
                None => remarks.push(Remark { sentence, about: vec![about] }),
            }
        }
    }
    remarks
}

/// Whether VB's interval is clearly too short: its coverage is below the level by more than noise.
fn is_too_short(vb: &Answer) -> bool {
    vb.coverage.is_some_and(|c| c + 2.0 * vb.coverage_se.unwrap_or(0.0) < vb.level)
}

/// One or two sentences on all answers together: VB's own intervals, and the warnings.
pub fn in_words<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Vec<String> {
    let answers: Vec<&Answer> = answers.into_iter().collect();
    let vb: Vec<&&Answer> =
        answers.iter().filter(|a| a.method == Method::Vb && a.coverage.is_some()).collect();
    let mut sentences = Vec::new();
    if let Some(worst) = vb.iter().min_by(|a, b| {
        let gap = |x: &Answer| x.coverage.unwrap_or(1.0) - x.level;
        gap(a).total_cmp(&gap(b))
    }) {
        let count = vb.iter().filter(|a| is_too_short(a)).count();
        sentences.push(if count == 0 {
            "None of VB's own intervals is clearly too short here.".to_owned()
        } else {
            format!(
                "VB's own intervals are too short for {count} of {} rows: the {:.0}% interval of {} \
                 is estimated to cover {:.0}%.",
                vb.len(),
                100.0 * worst.level,
                worst.label,
                100.0 * worst.coverage.unwrap_or(f64::NAN)
            )
        });
    }
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

/// A level or coverage as a percentage, without decimals that say nothing.
pub fn percent(share: f64) -> String {
    let text = format!("{:.1}", 100.0 * share);
    format!("{}%", text.strip_suffix(".0").unwrap_or(&text))
}

/// `1 unit`, `2 units`.
pub(crate) fn plural(n: usize, one: &str, many: &str) -> String {
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
pub(crate) fn quantity_in_words(quoted: &Answer, vb: Option<&Answer>) -> String {
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
    fn percentages_and_sentences() {
        assert_eq!(percent(0.95), "95%");
        assert_eq!(percent(0.975), "97.5%");
        assert_eq!(sentence("ω is small"), "ω is small.");
        assert_eq!(sentence("done."), "Done.");
        assert_eq!(plural(1, "unit", "units"), "1 unit");
    }
}

//! What to think of VB's own intervals, in a sentence.

use super::warnings::runs;
use super::{Own, percent, whole_percent};
use crate::calibrate::{Answer, Method};

/// What is known of one of VB's own intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// What its coverage says of it.
    pub own: Own,
    /// Its estimated coverage.
    pub coverage: f64,
}

impl Judged {
    /// What `bootstraps` resamples say of an interval of `vb`.
    pub fn of(vb: &Answer, bootstraps: usize) -> Option<Judged> {
        Some(Judged { own: Own::of(vb, bootstraps)?, coverage: vb.coverage? })
    }

    /// What is known of an answer by `vb` from the table that it was asked of.
    pub fn known(vb: &Answer) -> Option<Judged> {
        Some(Judged { own: vb.own?, coverage: vb.coverage? })
    }
}

/// One sentence on VB's own intervals at one level. `quantities` holds the answers to each quantity; `bootstraps`
/// is how many resamples their coverage rests on.
pub fn verdict(quantities: &[&[Answer]], level: f64, bootstraps: usize) -> Option<String> {
    let own: Vec<Option<&Answer>> = quantities
        .iter()
        .map(|answers| answers.iter().find(|a| a.method == Method::Vb && a.level == level))
        .collect();
    if own.iter().all(Option::is_none) {
        return None;
    }
    let judged: Vec<(&str, Option<Judged>)> = quantities
        .iter()
        .zip(own)
        .map(|(answers, vb)| {
            let label = answers.first().map_or("", |a| a.label.as_str());
            (label, vb.and_then(Judged::known))
        })
        .collect();
    Some(verdict_on(&judged, level, bootstraps))
}

/// With fewer bootstraps, coverage is uncertain by more than 1.5 points, which is flagged.
const ENOUGH: usize = 200;

/// The same from what is known of each quantity: its label, and VB's own interval if that could be judged.
pub fn verdict_on(quantities: &[(&str, Option<Judged>)], level: f64, bootstraps: usize) -> String {
    let (level, asked) = (&percent(level), quantities.len());
    let judged: Vec<(usize, Judged)> =
        quantities.iter().enumerate().filter_map(|(i, (_, known))| Some((i, (*known)?))).collect();
    let label = |i: usize| quantities[i].0;
    let n = judged.len();
    if n == 0 {
        return "Whether VB's own intervals cover what they claim is not known here.".to_owned();
    }
    let of = |kinds: &[Own]| {
        let those: Vec<_> = judged.iter().filter(|(_, known)| kinds.contains(&known.own)).collect();
        let coverages = those.iter().map(|(_, known)| known.coverage).collect::<Vec<_>>();
        (those.iter().map(|(i, _)| *i).collect::<Vec<usize>>(), range(&coverages))
    };
    let ((short, short_cover), (long, long_cover)) = (of(&[Own::TooShort]), of(&[Own::TooLong]));
    let (rest, rest_cover) = of(&[Own::Fine, Own::Unclear]);
    let unclear = judged.iter().any(|(_, known)| known.own == Own::Unclear);
    // Little evidence must not sound like a clean bill of health.
    let as_far = match bootstraps {
        ENOUGH.. => String::new(),
        few => format!(" as far as {few} bootstraps can tell"),
    };
    if n == 1 && asked == 1 {
        let (whose, what) = match judged[0].1.own {
            Own::TooShort => ("VB's", "too short".to_owned()),
            Own::Unclear => ("VB's own", format!("not clearly too short{as_far}")),
            Own::Fine => ("VB's own", format!("fine{as_far}")),
            Own::TooLong => ("VB's", "longer than it need be".to_owned()),
        };
        let cover = whole_percent(judged[0].1.coverage);
        return format!("{whose} {level} interval is {what}: it covers {cover}.");
    }
    let all = |what: &str, cover: &str| match n {
        1 => format!(
            "VB's {level} interval is {what} for the only quantity that has one: it covers {cover}."
        ),
        _ => {
            let having = if n == asked { "" } else { " that have one" };
            format!(
                "VB's {level} intervals are {what} for all {n} quantities{having}: they cover {cover}."
            )
        }
    };
    if rest.len() == n && unclear {
        return format!(
            "None of VB's own {level} intervals is clearly too short{as_far}: they cover {rest_cover}."
        );
    }
    if rest.len() == n {
        return format!("VB's own {level} intervals are fine{as_far}: they cover {rest_cover}.");
    }
    if short.len() == n {
        return all("too short", &short_cover);
    }
    if long.len() == n {
        let need = if n == 1 { "it need be" } else { "they need be" };
        return all(&format!("longer than {need}"), &long_cover);
    }
    let mut parts = Vec::new();
    for (what, those, cover) in
        [("too short", &short, &short_cover), ("longer than they need be", &long, &long_cover)]
    {
        if !those.is_empty() {
            let of =
                if parts.is_empty() { format!(" of {asked} quantities") } else { String::new() };
            let names = runs(those, label);
            parts.push(format!("{what} for {}{of} ({names}), covering {cover}", those.len()));
        }
    }
    let seem = if unclear { "not clearly too short" } else { "fine" };
    let others = match rest.len() {
        0 => String::new(),
        1 => format!(" VB's own is {seem} for the other, covering {rest_cover}."),
        _ => format!(" VB's own are {seem} for the others, covering {rest_cover}."),
    };
    format!("VB's {level} intervals are {}.{others}", parts.join("; "))
}

/// `69–79%`, or one percentage when both ends are the same.
fn range(coverages: &[f64]) -> String {
    let lowest = whole_percent(coverages.iter().copied().fold(f64::INFINITY, f64::min));
    let highest = whole_percent(coverages.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    match lowest == highest {
        true => lowest,
        false => format!("{}–{highest}", lowest.trim_end_matches('%')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(coverages: &[f64], kinds: &[Own], bootstraps: usize) -> String {
        let names = ["pi[1]", "pi[2]", "mu[1,a]", "mu[2,a]"];
        let known: Vec<(&str, Option<Judged>)> = coverages
            .iter()
            .zip(kinds)
            .zip(names)
            .map(|((coverage, own), name)| (name, Some(Judged { own: *own, coverage: *coverage })))
            .collect();
        verdict_on(&known, 0.95, bootstraps)
    }

    #[test]
    fn sentences() {
        use Own::{Fine, TooLong, TooShort, Unclear};
        assert_eq!(
            said(&[0.69, 0.79], &[TooShort; 2], 500),
            "VB's 95% intervals are too short for all 2 quantities: they cover 69–79%."
        );
        assert_eq!(
            said(&[0.94, 0.96, 0.95], &[Fine; 3], 500),
            "VB's own 95% intervals are fine: they cover 94–96%."
        );
        assert_eq!(
            said(&[0.5], &[TooShort], 500),
            "VB's 95% interval is too short: it covers 50%."
        );
        assert_eq!(
            said(&[0.91, 0.95], &[Unclear, Fine], 60),
            "None of VB's own 95% intervals is clearly too short as far as 60 bootstraps can tell: they cover 91–95%."
        );
        assert_eq!(
            said(&[0.91], &[Unclear], 250),
            "VB's own 95% interval is not clearly too short: it covers 91%."
        );
        assert_eq!(
            said(&[0.7, 0.8, 0.999, 0.95], &[TooShort, TooShort, TooLong, Fine], 500),
            "VB's 95% intervals are too short for 2 of 4 quantities (pi[1], pi[2]), covering 70–80%; longer than \
             they need be for 1 (mu[1,a]), covering >99%. VB's own is fine for the other, covering 95%."
        );
        assert!(said(&[], &[], 500).contains("not known"));
        let one_of_two = [("pi[1]", None), ("a", Some(Judged { own: TooShort, coverage: 0.6 }))];
        assert_eq!(
            verdict_on(&one_of_two, 0.9, 500),
            "VB's 90% interval is too short for the only quantity that has one: it covers 60%."
        );
    }
}

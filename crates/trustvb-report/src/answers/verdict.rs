//! What to think of VB's own intervals, in a sentence.

use super::percent;
use super::warnings::runs;
use crate::figures::whole_percent;
use trustvb::calibrate::{Answer, Method};

/// What the estimated coverage of one of VB's own intervals says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    /// It covers less than it claims, by more than noise.
    TooShort,
    /// It covers what it claims, as far as can be told.
    Fine,
    /// It covers more than it claims, by more than noise.
    TooWide,
}

impl Own {
    /// What `bootstraps` resamples say of an interval of `vb`; `None` if its coverage is not known, or it is a point,
    /// as that of the only weight is.
    ///
    /// Noise is two standard errors: that of the coverage found below the level, that of the level itself above it,
    /// because few resamples that all cover have no spread and yet say little.
    pub fn of(vb: &Answer, bootstraps: usize) -> Option<Own> {
        let coverage = vb.coverage.filter(|c| c.is_finite() && vb.upper > vb.lower)?;
        let nominal = (vb.level * (1.0 - vb.level) / bootstraps.max(1) as f64).sqrt();
        Some(if coverage + 2.0 * vb.coverage_se.unwrap_or(0.0) < vb.level {
            Own::TooShort
        } else if coverage > vb.level + 2.0 * nominal {
            Own::TooWide
        } else {
            Own::Fine
        })
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
    let judged: Vec<(usize, Own, f64)> = own
        .iter()
        .enumerate()
        .filter_map(|(i, vb)| Some((i, Own::of((*vb)?, bootstraps)?, (*vb)?.coverage?)))
        .collect();
    let label = |i: usize| quantities[i].first().map_or("", |a| a.label.as_str());
    Some(sentence(&judged, own.len(), (&percent(level), bootstraps), label))
}

/// With fewer bootstraps, coverage is uncertain by more than 1.5 points, which is flagged.
const ENOUGH: usize = 200;

fn sentence<'a>(
    judged: &[(usize, Own, f64)],
    asked: usize,
    (level, bootstraps): (&str, usize),
    label: impl Fn(usize) -> &'a str,
) -> String {
    let n = judged.len();
    if n == 0 {
        return "Whether VB's own intervals cover what they claim is not known here.".to_owned();
    }
    let of = |kind: Own| {
        let those: Vec<_> = judged.iter().filter(|(_, own, _)| *own == kind).collect();
        let coverages = those.iter().map(|(_, _, c)| *c).collect::<Vec<_>>();
        (those.iter().map(|(i, ..)| *i).collect::<Vec<usize>>(), range(&coverages))
    };
    let ((short, short_cover), (fine, fine_cover), (wide, wide_cover)) =
        (of(Own::TooShort), of(Own::Fine), of(Own::TooWide));
    // Little evidence must not sound like a clean bill of health.
    let seems = match bootstraps {
        ENOUGH.. => "fine".to_owned(),
        few => format!("fine as far as {few} bootstraps can tell"),
    };
    if n == 1 && asked == 1 {
        return match judged[0].1 {
            Own::TooShort => {
                format!("VB's {level} interval is too short: it covers {short_cover}.")
            }
            Own::Fine => format!("VB's own {level} interval is {seems}: it covers {fine_cover}."),
            Own::TooWide => {
                format!("VB's {level} interval is longer than it need be: it covers {wide_cover}.")
            }
        };
    }
    let all = |what: &str, cover: &str| match n == asked {
        true => {
            format!("VB's {level} intervals are {what} for all {n} quantities: they cover {cover}.")
        }
        false => format!(
            "VB's {level} intervals are {what} for all {n} quantities that have one: they cover {cover}."
        ),
    };
    if fine.len() == n {
        return format!("VB's own {level} intervals are {seems}: they cover {fine_cover}.");
    }
    if short.len() == n {
        return all("too short", &short_cover);
    }
    if wide.len() == n {
        return all("longer than they need be", &wide_cover);
    }
    let mut parts = Vec::new();
    for (what, those, cover) in
        [("too short", &short, &short_cover), ("longer than they need be", &wide, &wide_cover)]
    {
        if !those.is_empty() {
            let of =
                if parts.is_empty() { format!(" of {asked} quantities") } else { String::new() };
            let names = runs(those, &label);
            parts.push(format!("{what} for {}{of} ({names}), covering {cover}", those.len()));
        }
    }
    let rest = match fine.len() {
        0 => String::new(),
        1 => format!(" VB's own is fine for the other, covering {fine_cover}."),
        _ => format!(" VB's own are fine for the others, covering {fine_cover}."),
    };
    format!("VB's {level} intervals are {}.{rest}", parts.join("; "))
}

/// `69–79%`, or one percentage when both ends are the same.
pub(crate) fn range(coverages: &[f64]) -> String {
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

    fn said(coverages: &[f64], kinds: &[Own]) -> String {
        let judged: Vec<_> =
            coverages.iter().zip(kinds).enumerate().map(|(i, (c, k))| (i, *k, *c)).collect();
        let names = ["pi[1]", "pi[2]", "mu[1,a]", "mu[2,a]"];
        sentence(&judged, judged.len(), ("95%", 500), |i| names[i])
    }

    #[test]
    fn sentences() {
        use Own::{Fine, TooShort, TooWide};
        assert_eq!(
            said(&[0.69, 0.79], &[TooShort; 2]),
            "VB's 95% intervals are too short for all 2 quantities: they cover 69–79%."
        );
        assert_eq!(
            said(&[0.94, 0.96, 0.95], &[Fine; 3]),
            "VB's own 95% intervals are fine: they cover 94–96%."
        );
        assert_eq!(said(&[0.5], &[TooShort]), "VB's 95% interval is too short: it covers 50%.");
        assert_eq!(
            said(&[0.7, 0.8, 0.999, 0.95], &[TooShort, TooShort, TooWide, Fine]),
            "VB's 95% intervals are too short for 2 of 4 quantities (pi[1], pi[2]), covering 70–80%; longer than \
             they need be for 1 (mu[1,a]), covering >99%. VB's own is fine for the other, covering 95%."
        );
        assert!(said(&[], &[]).contains("not known"));
    }
}

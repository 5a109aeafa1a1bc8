//! The methods of a table when none are named: the recommended interval beside VB's own, and the paper's where its fits
//! are cheap.
//!
//! People should not wait for a column that they need not use. What is cheap is a rule in sizes and never in seconds, so
//! that the same question has the same columns on every machine.

use super::Plan;
use crate::calibrate::Method;
use crate::problem::Problem;
use crate::remedy::{Advise, Remedy};
use std::fmt;

/// The paper's fits are cheap up to so many numbers: units × length of a state × fits. Each sweep of a fit takes a few
/// operations for each.
const CHEAP: f64 = 2e9;

/// The methods of a table for which none are named.
#[derive(Clone, Debug, PartialEq)]
pub struct Usual {
    /// In the order in which results are shown.
    pub methods: Vec<Method>,
    /// What was left out because it is not cheap.
    pub left_out: Option<LeftOut>,
}

/// The paper's interval, left out, and what it would need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Fits that would be made for it alone, about.
    pub fits: u64,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "TVB's intervals (the paper's) are left out: they need about {} more fits",
            self.fits
        )
    }
}

impl Advise for LeftOut {
    fn remedies(&self) -> Vec<Remedy> {
        vec![Remedy::AskTvb]
    }
}

impl Plan {
    /// The methods when none are named, for a table of these sizes. With `tvb` the paper's interval is among them whatever
    /// it costs; so it is where the plan makes no sense without it.
    pub fn usual(&self, problem: &Problem, tvb: bool) -> Usual {
        let with = |methods: &[Method]| Usual { methods: methods.to_vec(), left_out: None };
        if self.subsets.is_some() {
            return with(&[Method::RECOMMENDED, Method::Vb]);
        }
        if problem.data().is_far() {
            return with(&[Method::Jackknife, Method::Vb]);
        }
        // Splits, drawn or given, are the paper's.
        let is_paper = self.published || self.fresh_splits || self.given.is_some();
        let fits = (u64::from(self.bootstraps) + 2).saturating_mul(self.grid as u64);
        let numbers = problem.n_units() as f64 * problem.model().state_len() as f64;
        if tvb || is_paper || numbers * fits as f64 <= CHEAP {
            return with(Method::usual(self.published));
        }
        Usual {
            methods: vec![Method::RECOMMENDED, Method::Vb],
            left_out: Some(LeftOut { fits: rounded(fits) }),
        }
    }
}

/// With two digits that are not 0.
fn rounded(n: u64) -> u64 {
    let unit = 10_u64.pow(n.max(1).ilog10().saturating_sub(1));
    (n + unit / 2) / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::model::GaussianMixture;
    use crate::remedy::in_command;

    fn usual(rows: usize, columns: usize, tvb: bool) -> Usual {
        let names = (0..columns).map(|j| format!("x{j}")).collect();
        let values = |j: usize| (0..rows).map(|i| ((i * (j + 3)) % 101) as f64).collect();
        let data = Dataset::from_columns(names, (0..columns).map(values).collect()).unwrap();
        let problem = GaussianMixture::new(2).bind(data).unwrap();
        Plan::new(1, Vec::new()).usual(&problem, tvb)
    }

    #[test]
    fn the_papers_interval_is_shown_where_its_fits_are_cheap() {
        assert!(usual(272, 2, false).methods.contains(&Method::Tvb));
        assert!(usual(1000, 2, false).methods.contains(&Method::Tvb));
        let wide = usual(569, 31, false);
        assert_eq!(wide.methods, [Method::RECOMMENDED, Method::Vb]);
        assert_eq!(
            wide.left_out.unwrap().advised(in_command),
            "TVB's intervals (the paper's) are left out: they need about 50000 more fits; --tvb asks for them"
        );
        assert!(usual(569, 31, true).methods.contains(&Method::Tvb));
    }

    #[test]
    fn two_digits() {
        assert_eq!([0, 7, 94, 50_200, 125_900].map(rounded), [0, 7, 94, 50_000, 130_000]);
    }
}

//! What a fitted mixture of columns says of rows that it was not fitted to, single ones among them.

use super::data::MixedData;
use crate::posterior::{Block, Family, Posterior};
use crate::predict::ln_sum_exp;
use crate::special::gamma::{digamma, ln_gamma};
use std::f64::consts::{LN_2, PI, TAU};

/// The log of something like a density of one cell.
type Term<'a> = Box<dyn Fn(f64) -> f64 + 'a>;

/// What rows are to a posterior of their model. A missing cell counts for nothing.
impl MixedData {
    /// `log ρ_nk`, row after row, a number per class: the responsibilities are these, exponentiated and divided by their
    /// sum over k.
    pub fn ln_rho(&self, posterior: &Posterior) -> Vec<f64> {
        let alpha = posterior.dirichlet("pi").map_or(&[][..], |block| block.alpha());
        let psi = digamma(alpha.iter().sum());
        self.by_class(alpha.iter().map(|a| digamma(*a) - psi), posterior, expected)
    }

    /// The log of the posterior predictive density of each row: `log Σ_k E[π_k] Π_j` of t densities, probabilities of
    /// levels, and negative binomial probabilities of counts.
    pub fn ln_predictive(&self, posterior: &Posterior) -> Vec<f64> {
        self.ln_mixture(posterior, predictive)
    }

    /// The log density of each row at the posterior means of weights, probabilities, rates, means and variances.
    pub fn ln_density(&self, posterior: &Posterior) -> Vec<f64> {
        self.ln_mixture(posterior, at_means)
    }

    fn ln_mixture(
        &self,
        posterior: &Posterior,
        term: impl for<'a> Fn(&'a Posterior, &Block, usize) -> Option<Term<'a>>,
    ) -> Vec<f64> {
        let weights = posterior.dirichlet("pi").map_or_else(Vec::new, |block| block.mean());
        let terms = self.by_class(weights.iter().map(|w| w.ln()), posterior, term);
        terms.chunks_exact(weights.len().max(1)).map(ln_sum_exp).collect()
    }

    /// For each row and class the class's own number, and the sum of `term` over the cells that are there.
    fn by_class(
        &self,
        own: impl Iterator<Item = f64>,
        posterior: &Posterior,
        term: impl for<'a> Fn(&'a Posterior, &Block, usize) -> Option<Term<'a>>,
    ) -> Vec<f64> {
        let k = posterior.layout().n_components;
        let mut out = vec![0.0; self.n_rows() * k];
        for (class, start) in own.enumerate() {
            out.iter_mut().skip(class).step_by(k).for_each(|x| *x = start);
            for block in &posterior.layout().blocks {
                let column = block.coordinate.and_then(|j| self.columns().get(j));
                let (Some(column), Some(term)) = (column, term(posterior, block, class)) else {
                    continue;
                };
                for (sum, x) in out.iter_mut().skip(class).step_by(k).zip(column) {
                    if !x.is_nan() {
                        *sum += term(*x);
                    }
                }
            }
        }
        out
    }
}

fn square(x: f64) -> f64 {
    x * x
}

/// `E[log p(x)]`.
fn expected<'a>(posterior: &'a Posterior, block: &Block, k: usize) -> Option<Term<'a>> {
    match block.family {
        Family::NormalWishart => {
            let law = posterior.normal_wishart(&block.name, k)?;
            let (mean, w_inverse, nu) = (law.mean()[0], law.w_inverse()[0], law.nu);
            let ln_precision = digamma(0.5 * nu) + LN_2 - w_inverse.ln();
            let constant = 0.5 * (ln_precision - 1.0 / law.beta - TAU.ln());
            Some(Box::new(move |x| constant - 0.5 * nu * square(x - mean) / w_inverse))
        }
        Family::Dirichlet => {
            let alpha = posterior.dirichlet_of(&block.name, k)?.alpha();
            let total = digamma(alpha.iter().sum());
            let levels: Vec<f64> = alpha.iter().map(|a| digamma(*a) - total).collect();
            Some(Box::new(move |x| levels[x as usize]))
        }
        Family::Gamma => {
            let rate = posterior.gamma(&block.name, k)?;
            let (mean, mean_ln) = (rate.mean(), rate.mean_ln());
            Some(Box::new(move |x| x * mean_ln - mean - ln_gamma(x + 1.0)))
        }
        Family::MvNormal => None,
    }
}

/// `log E[p(x)]`.
fn predictive<'a>(posterior: &'a Posterior, block: &Block, k: usize) -> Option<Term<'a>> {
    match block.family {
        Family::NormalWishart => {
            let law = posterior.normal_wishart(&block.name, k)?;
            let (mean, df) = (law.mean()[0], law.nu);
            // df times the square of the t's scale
            let spread = law.w_inverse()[0] * (law.beta + 1.0) / law.beta;
            let constant =
                ln_gamma(0.5 * (df + 1.0)) - ln_gamma(0.5 * df) - 0.5 * (PI * spread).ln();
            let form = move |x: f64| (square(x - mean) / spread).ln_1p();
            Some(Box::new(move |x| constant - 0.5 * (df + 1.0) * form(x)))
        }
        Family::Gamma => {
            let rate = posterior.gamma(&block.name, k)?;
            let (a, b) = (rate.a, rate.b);
            let constant = a * (b / (b + 1.0)).ln() - ln_gamma(a);
            let term = move |x: f64| ln_gamma(a + x) - ln_gamma(x + 1.0) - x * b.ln_1p();
            Some(Box::new(move |x| constant + term(x)))
        }
        Family::Dirichlet | Family::MvNormal => at_means(posterior, block, k),
    }
}

/// `log p(x)` at the posterior means of its parameters.
fn at_means<'a>(posterior: &'a Posterior, block: &Block, k: usize) -> Option<Term<'a>> {
    match block.family {
        Family::NormalWishart => {
            let law = posterior.normal_wishart(&block.name, k)?;
            let mean = law.mean()[0];
            let variance = law.mean_covariance().map_or(f64::NAN, |found| found[0]);
            Some(Box::new(move |x| -0.5 * ((TAU * variance).ln() + square(x - mean) / variance)))
        }
        Family::Dirichlet => {
            let mean = posterior.dirichlet_of(&block.name, k)?.mean();
            Some(Box::new(move |x| mean[x as usize].ln()))
        }
        Family::Gamma => {
            let rate = posterior.gamma(&block.name, k)?.mean();
            Some(Box::new(move |x| x * rate.ln() - rate - ln_gamma(x + 1.0)))
        }
        Family::MvNormal => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{Frame, ReadOptions, read_csv};
    use crate::fit::{FitOptions, Start, fit};
    use crate::model::{ColumnMixture, ColumnType, MixedData, ModelSpec};
    use crate::posterior::Posterior;
    use crate::predict::ln_sum_exp;
    use crate::problem::Problem;

    fn frame(text: &str) -> Frame {
        let options = ReadOptions { as_text: true, keep_missing: true, ..ReadOptions::default() };
        read_csv(text.as_bytes(), "a.csv", &options).unwrap()
    }

    /// Two classes that overlap, with gaps in every column.
    fn text() -> String {
        let mut text = "smoker,visits,age\n".to_owned();
        for i in 0..90_u32 {
            let second = i % 3 == 0;
            let smoker = match (i * 7 + u32::from(second) * 4) % 10 {
                0..=3 => "no",
                4 => "",
                5 => "once",
                _ => "yes",
            };
            let visits = if i % 11 == 5 {
                String::new()
            } else {
                (i * 5 % 4 + u32::from(second) * 3).to_string()
            };
            let age = if i % 13 == 7 {
                "NA".to_owned()
            } else {
                format!("{}", f64::from(i * 29 % 17) + if second { 9.5 } else { 0.0 })
            };
            text += &format!("{smoker},{visits},{age}\n");
        }
        text
    }

    fn fitted() -> (Problem, ColumnMixture, Posterior) {
        let types = [("visits".to_owned(), ColumnType::Count)];
        let problem = ColumnMixture::new(2).bind(&frame(&text()), &types).unwrap();
        let ModelSpec::Mixture(spec) = problem.spec().clone() else { unreachable!() };
        let start = Start::KMeans { restarts: 3, seed: 1 };
        let model = problem.model();
        let fit =
            fit(model.as_ref(), None, 1.0, &start, &FitOptions::default(), &mut |_| ()).unwrap();
        (problem, spec, fit.posterior)
    }

    #[test]
    fn new_rows_are_treated_as_those_of_the_fit() {
        let (problem, spec, posterior) = fitted();
        let mut sweeper = problem.model().sweeper();
        sweeper.load(None).unwrap();
        let expected = sweeper.responsibilities_under(&posterior).unwrap();
        let rho = spec.code(&frame(&text())).unwrap().ln_rho(&posterior);
        assert_eq!(rho.len(), expected.len());
        assert!(expected.chunks_exact(2).any(|r| r[0] > 0.1 && r[0] < 0.9));
        for (ours, theirs) in rho.chunks_exact(2).zip(expected.chunks_exact(2)) {
            let total = ln_sum_exp(ours);
            assert!(((ours[0] - total).exp() - theirs[0]).abs() < 1e-12);
        }
        // One row by itself is what it is among others.
        let first: String = text().lines().take(2).map(|line| format!("{line}\n")).collect();
        let alone = spec.code(&frame(&first)).unwrap().ln_rho(&posterior);
        assert_eq!(alone, rho[..2]);
    }

    #[test]
    fn densities_sum_to_one() {
        let (_, spec, posterior) = fitted();
        let step = 0.05;
        let ages: Vec<f64> = (-6000..6000).map(|i| f64::from(i) * step).collect();
        let gaps = vec![f64::NAN; ages.len()];
        let names = vec!["smoker".to_owned(), "visits".to_owned(), "age".to_owned()];
        let of = |columns: Vec<Vec<f64>>| MixedData::new("new", names.clone(), columns);
        let sum = |ln: Vec<f64>| ln.into_iter().map(f64::exp).sum::<f64>();
        let age = of(vec![gaps.clone(), gaps, ages]);
        assert!((step * sum(age.ln_predictive(&posterior)) - 1.0).abs() < 1e-5);
        assert!((step * sum(age.ln_density(&posterior)) - 1.0).abs() < 1e-9);
        let cells =
            (0..3).flat_map(|level| (0..200).map(move |x| (f64::from(level), f64::from(x))));
        let (levels, counts): (Vec<f64>, Vec<f64>) = cells.unzip();
        let others = of(vec![levels.clone(), counts, vec![f64::NAN; levels.len()]]);
        assert!((sum(others.ln_predictive(&posterior)) - 1.0).abs() < 1e-9);
        assert!((sum(others.ln_density(&posterior)) - 1.0).abs() < 1e-9);
        // A row of which nothing is known has density 1, and is in each class with its weight.
        let nothing = spec.code(&frame("smoker,visits,age\n,,\n")).unwrap();
        assert!(nothing.ln_predictive(&posterior)[0].abs() < 1e-12);
    }

    #[test]
    fn what_the_fit_has_not_seen_is_named() {
        let (_, spec, _) = fitted();
        for (row, fragment) in [
            (
                "never,0,1",
                "`never`, a level that the fit has not seen; its levels are no, once, yes",
            ),
            ("no,1.5,1", "visits"),
            ("no,-1,1", "no count"),
            ("no,0,old", "`old`, which is no number"),
        ] {
            let error = spec.code(&frame(&format!("smoker,visits,age\n{row}\n"))).unwrap_err();
            let message = error.to_string();
            assert!(message.contains(fragment), "{fragment:?} is not in {message:?}");
        }
        assert!(spec.code(&frame("smoker,age\nno,1\n")).is_err());
    }
}

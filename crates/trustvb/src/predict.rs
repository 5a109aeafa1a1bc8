//! What a fitted posterior says of units that it was not fitted to.
//!
//! A model is bound to its data and checks them; a new row, or a single one, needs no such checks. So
//! these functions take a posterior and plain numbers. Each model has its own in its folder.

pub use crate::model::{
    bmlr_ln_density, bmlr_ln_rho, gmm_ln_density, gmm_ln_predictive, gmm_ln_rho,
};

use crate::posterior::Posterior;
use crate::special::gamma::digamma;

/// `E[log π_k]`.
pub(crate) fn mean_ln_weights(posterior: &Posterior) -> Vec<f64> {
    let Some(block) = posterior.mixing() else { return Vec::new() };
    let total = digamma(block.alpha().iter().sum());
    block.alpha().iter().map(|&a| digamma(a) - total).collect()
}

/// `log Σ exp` of some numbers, without overflow.
pub(crate) fn ln_sum_exp(terms: &[f64]) -> f64 {
    let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !largest.is_finite() {
        return largest;
    }
    largest + terms.iter().map(|x| (x - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, Formula, Frame};
    use crate::fit::{FitOptions, Start, fit};
    use crate::model::{Bmlr, BmlrPrior, Gmm, GmmPrior, Model, Noise, Update};

    const START: Start = Start::KMeans { restarts: 3, seed: 1 };

    fn posterior(model: &dyn Model) -> Posterior {
        fit(model, None, 1.0, &START, &FitOptions::default(), &mut |_| ()).unwrap().posterior
    }

    /// The sweeper's responsibilities against those of the same units as if they were new.
    fn assert_same(model: &dyn Model, posterior: &Posterior, ln_rho: Vec<f64>) {
        let mut sweeper = model.sweeper();
        sweeper.load(None).unwrap();
        let expected = sweeper.responsibilities_under(posterior).unwrap();
        for (ours, theirs) in ln_rho.chunks_exact(2).zip(expected.chunks_exact(2)) {
            let total = ln_sum_exp(ours);
            for k in 0..2 {
                assert!(((ours[k] - total).exp() - theirs[k]).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn new_units_are_treated_as_those_of_the_fit() {
        let data = Dataset::faithful();
        let gmm = Gmm::new(&data, 2, GmmPrior::default(), Update::Corrected).unwrap();
        let fitted = posterior(&gmm);
        let columns = [data.column(0), data.column(1)];
        assert_same(&gmm, &fitted, gmm_ln_rho(&fitted, &columns).unwrap());

        let formula = Formula::parse("eruptions ~ waiting").unwrap();
        let grouped = formula.apply(&Frame::from(data)).unwrap();
        for (noise, known) in [(Noise::Estimate, None), (Noise::Known(2.0), Some(2.0))] {
            let bmlr = Bmlr::new(&grouped, 2, BmlrPrior::default(), noise).unwrap();
            let fitted = posterior(&bmlr);
            assert_same(&bmlr, &fitted, bmlr_ln_rho(&fitted, known, &grouped));
        }
    }

    #[test]
    fn predictive_densities_integrate_to_one() {
        let data = Dataset::faithful().select(&["eruptions".to_owned()]).unwrap();
        let gmm = Gmm::new(&data, 2, GmmPrior::default(), Update::Corrected).unwrap();
        let fitted = posterior(&gmm);
        let step = 0.001;
        let x: Vec<f64> = (-20_000..30_000).map(|i| f64::from(i) * step).collect();
        let density = gmm_ln_predictive(&fitted, &[&x]).unwrap();
        let total: f64 = density.iter().map(|ln| ln.exp() * step).sum();
        assert!((total - 1.0).abs() < 1e-6, "{total}");
    }
}

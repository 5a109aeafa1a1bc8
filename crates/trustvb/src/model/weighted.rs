//! A model whose units have weights of their own beside those of resamples.

use super::{Degenerate, Model, Pullback, Sweeper, Units};
use crate::posterior::{Layout, Posterior};
use crate::weights::UnitWeights;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// Any model, with [`UnitWeights`] for its units.
///
/// A weight multiplies what a unit adds to the bound and to the state, so it can be told to the model as part of the
/// weights of a resample: nothing inside a model knows of it.
pub(crate) struct Weighted {
    inner: Arc<dyn Model>,
    weights: Arc<UnitWeights>,
}

impl Weighted {
    pub(crate) fn new(inner: Arc<dyn Model>, weights: Arc<UnitWeights>) -> Weighted {
        Weighted { inner, weights }
    }

    fn in_a_fit(&self, drawn: Option<&[f64]>) -> Vec<f64> {
        let mut all = Vec::with_capacity(self.weights.n_rows());
        self.weights.in_a_fit(drawn, &mut all);
        all
    }
}

impl Model for Weighted {
    fn name(&self) -> &'static str {
        self.inner.name()
    }
    fn n_units(&self) -> usize {
        self.inner.n_units()
    }
    fn n_components(&self) -> usize {
        self.inner.n_components()
    }
    fn layout(&self) -> &Arc<Layout> {
        self.inner.layout()
    }
    fn state_len(&self) -> usize {
        self.inner.state_len()
    }
    fn centre_len(&self) -> usize {
        self.inner.centre_len()
    }
    fn is_ascent(&self) -> bool {
        self.inner.is_ascent()
    }
    fn sweeper(&self) -> Box<dyn Sweeper + '_> {
        let inner = self.inner.sweeper();
        Box::new(WeightedSweeper { inner, weights: &self.weights, loaded: Vec::new() })
    }
    fn random_centres(&self, weights: Option<&[f64]>, rng: &mut ChaCha8Rng) -> Vec<f64> {
        self.inner.random_centres(Some(&self.in_a_fit(weights)), rng)
    }
    fn n_views(&self) -> usize {
        self.inner.n_views()
    }
    fn rough_centres(
        &self,
        weights: Option<&[f64]>,
        view: usize,
        rng: &mut ChaCha8Rng,
    ) -> Vec<f64> {
        self.inner.rough_centres(Some(&self.in_a_fit(weights)), view, rng)
    }
    fn handful(&self) -> usize {
        self.inner.handful()
    }
    fn vary_start(&self, number: usize, state: &mut [f64]) {
        self.inner.vary_start(number, state);
    }
    fn variants(&self, state: &[f64]) -> Vec<Vec<f64>> {
        self.inner.variants(state)
    }
    fn simpler(&self) -> Vec<Box<dyn Model>> {
        let weighted = |inner: Box<dyn Model>| {
            Box::new(Weighted::new(Arc::from(inner), self.weights.clone())) as Box<dyn Model>
        };
        self.inner.simpler().into_iter().map(weighted).collect()
    }
    fn resembling(&self, other: &Posterior) -> Option<Posterior> {
        self.inner.resembling(other)
    }
    fn made_by_prior(&self, posterior: &Posterior, weights: Option<&[f64]>) -> Vec<f64> {
        self.inner.made_by_prior(posterior, Some(&self.in_a_fit(weights)))
    }
    fn numbers(&self, coordinate: usize) -> Option<Vec<f64>> {
        self.inner.numbers(coordinate)
    }
    fn counts(&self, coordinate: usize) -> Option<Vec<f64>> {
        self.inner.counts(coordinate)
    }
    fn repeats(&self) -> Option<&[f64]> {
        Some(self.weights.repeats())
    }
    fn each(&self) -> Option<&[f64]> {
        Some(self.weights.each())
    }
    fn units(&self) -> Option<Units<'_>> {
        Some(self.inner.units()?.counting(self.weights.each()))
    }
}

struct WeightedSweeper<'a> {
    inner: Box<dyn Sweeper + 'a>,
    weights: &'a UnitWeights,
    loaded: Vec<f64>,
}

impl Sweeper for WeightedSweeper<'_> {
    fn load(&mut self, weights: Option<&[f64]>) -> Result<(), Degenerate> {
        self.weights.in_a_fit(weights, &mut self.loaded);
        self.inner.load(Some(&self.loaded))
    }
    fn start(&mut self, omega: f64, centres: &[f64], state: &mut [f64]) -> Result<(), Degenerate> {
        self.inner.start(omega, centres, state)
    }
    fn start_from(&mut self, posterior: &Posterior, state: &mut [f64]) -> Result<(), Degenerate> {
        self.inner.start_from(posterior, state)
    }
    fn sweep(&mut self, omega: f64, state: &[f64], next: &mut [f64]) -> Result<f64, Degenerate> {
        self.inner.sweep(omega, state, next)
    }
    fn staggered_sweep(
        &mut self,
        omega: f64,
        state: &[f64],
        next: &mut [f64],
    ) -> Result<f64, Degenerate> {
        self.inner.staggered_sweep(omega, state, next)
    }
    fn sweep_with_own_prior(
        &mut self,
        omega: f64,
        state: &[f64],
        next: &mut [f64],
    ) -> Result<f64, Degenerate> {
        self.inner.sweep_with_own_prior(omega, state, next)
    }
    fn scale(&self, omega: f64, state: &[f64], scale: &mut [f64]) {
        self.inner.scale(omega, state, scale);
    }
    fn posterior(&mut self, omega: f64, state: &[f64]) -> Result<Posterior, Degenerate> {
        self.inner.posterior(omega, state)
    }
    fn posterior_with_own_prior(
        &mut self,
        omega: f64,
        state: &[f64],
    ) -> Result<Posterior, Degenerate> {
        self.inner.posterior_with_own_prior(omega, state)
    }
    fn responsibilities(&mut self, omega: f64, state: &[f64]) -> Result<Vec<f64>, Degenerate> {
        self.inner.responsibilities(omega, state)
    }
    fn responsibilities_under(&mut self, posterior: &Posterior) -> Result<Vec<f64>, Degenerate> {
        self.inner.responsibilities_under(posterior)
    }
    /// Of one unit that the row stands for.
    fn contribution(&self, unit: usize, responsibilities: &[f64], out: &mut [f64]) {
        self.inner.contribution(unit, responsibilities, out);
        let weight = self.weights.each()[unit];
        out.iter_mut().for_each(|x| *x *= weight);
    }
    fn pullback(
        &mut self,
        omega: f64,
        state: &[f64],
    ) -> Result<Option<Box<dyn Pullback>>, Degenerate> {
        self.inner.pullback(omega, state)
    }
}

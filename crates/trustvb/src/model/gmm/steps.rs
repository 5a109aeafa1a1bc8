//! What a sweep of a Gaussian mixture is made of, whatever the shape of its covariances; the [`Sweeper`] follows.

use crate::model::{Degenerate, Pullback, Sweeper};
use crate::posterior::Posterior;
use std::rc::Rc;

/// The steps of a sweep.
pub(super) trait Steps {
    /// The prior in numbers, for one sample.
    type Prior;

    /// Takes the units' weights and resolves the prior for them.
    fn take_weights(&mut self, weights: Option<&[f64]>) -> Result<(), Degenerate>;
    /// The prior of the sample that is loaded.
    fn prior(&self) -> Option<&Rc<Self::Prior>>;
    /// The prior of a sample with these totals: its weight, and the sums of its rows' features.
    fn resolve(&self, totals: &[f64]) -> Result<Self::Prior, Degenerate>;
    /// How many totals there are, and numbers per component in the state.
    fn sizes(&self) -> (usize, usize);
    /// The weight of the sample that is loaded, and by how much the log of a row's density is too large.
    fn jacobian(&self) -> (f64, f64);
    /// `q(θ)` from a state, (M4).
    fn update(&mut self, prior: &Self::Prior, omega: f64, state: &[f64]) -> Result<(), Degenerate>;
    /// `q(θ)` with the prior's spread around centres.
    fn place(&mut self, prior: &Self::Prior, centres: &[f64]);
    /// A whole `q(θ)` of this model, prepared.
    fn take(&mut self, posterior: &Posterior) -> Result<(), Degenerate>;
    /// The log densities (M3) of `q(θ)`; returns its divergence from the prior.
    fn prepare(&mut self, prior: &Self::Prior) -> Result<f64, Degenerate>;
    /// Forgets which components are tied, after a start.
    fn forget_ties(&mut self, _prior: &Self::Prior) {}
    /// The E-step at the `q(θ)` that is prepared, into a state; returns `Σ w log Σρ`.
    fn e_step(&mut self, state: &mut [f64]) -> Result<f64, Degenerate>;
    /// `q(θ)` of a state in the data's units.
    fn posterior_of(
        &mut self,
        prior: &Self::Prior,
        omega: f64,
        state: &[f64],
    ) -> Result<Posterior, Degenerate>;
    /// Responsibilities at the `q(θ)` that is prepared.
    fn responsibilities_now(&self) -> Result<Vec<f64>, Degenerate>;
    /// See [`Sweeper::scale`].
    fn scales_of(&self, omega: f64, state: &[f64], scale: &mut [f64]);
    /// See [`Sweeper::contribution`].
    fn contribution_of(&self, unit: usize, responsibilities: &[f64], out: &mut [f64]);
    /// See [`Sweeper::pullback`].
    fn pullback_of(&mut self, omega: f64, state: &[f64]) -> Result<Box<dyn Pullback>, Degenerate>;
    /// See [`Sweeper::staggered_sweep`].
    fn staggered(
        &mut self,
        omega: f64,
        state: &[f64],
        next: &mut [f64],
    ) -> Result<f64, Degenerate> {
        self.sweep_under(&*self.loaded()?, omega, state, next)
    }

    /// The prior of the sample that is loaded.
    fn loaded(&self) -> Result<Rc<Self::Prior>, Degenerate> {
        let none = || Degenerate::Prior("no weights are loaded".to_owned());
        self.prior().cloned().ok_or_else(none)
    }

    /// The totals of a state.
    fn totals(&self, state: &[f64]) -> Vec<f64> {
        let (length, stride) = self.sizes();
        let mut totals = vec![0.0; length];
        for component in state.chunks_exact(stride) {
            totals.iter_mut().zip(component).for_each(|(total, s)| *total += s);
        }
        totals
    }

    /// The prior of the sample whose totals are the state's, for derivatives.
    fn own_prior(&self, state: &[f64]) -> Result<Self::Prior, Degenerate> {
        self.resolve(&self.totals(state))
    }

    /// (M2) from its parts.
    fn bound(&self, omega: f64, ln_evidence: f64, kl: f64) -> Result<f64, Degenerate> {
        let (weight, ln_scale) = self.jacobian();
        let bound = omega * (ln_evidence - weight * ln_scale) - kl;
        if bound.is_finite() { Ok(bound) } else { Err(Degenerate::NotFinite) }
    }

    /// One sweep under a prior.
    fn sweep_under(
        &mut self,
        prior: &Self::Prior,
        omega: f64,
        state: &[f64],
        next: &mut [f64],
    ) -> Result<f64, Degenerate> {
        self.update(prior, omega, state)?;
        let kl = self.prepare(prior)?;
        let ln_evidence = self.e_step(next)?;
        self.bound(omega, ln_evidence, kl)
    }
}

impl<S: Steps> Sweeper for S {
    fn load(&mut self, weights: Option<&[f64]>) -> Result<(), Degenerate> {
        self.take_weights(weights)
    }

    fn start(&mut self, _omega: f64, centres: &[f64], state: &mut [f64]) -> Result<(), Degenerate> {
        let prior = self.loaded()?;
        self.place(&prior, centres);
        self.prepare(&prior)?;
        self.forget_ties(&prior);
        self.e_step(state)?;
        Ok(())
    }

    fn start_from(&mut self, posterior: &Posterior, state: &mut [f64]) -> Result<(), Degenerate> {
        self.take(posterior)?;
        let prior = self.loaded()?;
        self.forget_ties(&prior);
        self.e_step(state)?;
        Ok(())
    }

    fn sweep(&mut self, omega: f64, state: &[f64], next: &mut [f64]) -> Result<f64, Degenerate> {
        let prior = self.loaded()?;
        self.sweep_under(&prior, omega, state, next)
    }

    fn staggered_sweep(
        &mut self,
        omega: f64,
        state: &[f64],
        next: &mut [f64],
    ) -> Result<f64, Degenerate> {
        self.staggered(omega, state, next)
    }

    fn sweep_with_own_prior(
        &mut self,
        omega: f64,
        state: &[f64],
        next: &mut [f64],
    ) -> Result<f64, Degenerate> {
        let prior = self.own_prior(state)?;
        self.sweep_under(&prior, omega, state, next)
    }

    fn scale(&self, omega: f64, state: &[f64], scale: &mut [f64]) {
        self.scales_of(omega, state, scale);
    }

    fn posterior(&mut self, omega: f64, state: &[f64]) -> Result<Posterior, Degenerate> {
        let prior = self.loaded()?;
        self.posterior_of(&prior, omega, state)
    }

    fn posterior_with_own_prior(
        &mut self,
        omega: f64,
        state: &[f64],
    ) -> Result<Posterior, Degenerate> {
        let prior = self.own_prior(state)?;
        self.posterior_of(&prior, omega, state)
    }

    fn responsibilities(&mut self, omega: f64, state: &[f64]) -> Result<Vec<f64>, Degenerate> {
        let prior = self.loaded()?;
        self.update(&prior, omega, state)?;
        self.prepare(&prior)?;
        self.responsibilities_now()
    }

    fn responsibilities_under(&mut self, posterior: &Posterior) -> Result<Vec<f64>, Degenerate> {
        self.take(posterior)?;
        self.responsibilities_now()
    }

    fn contribution(&self, unit: usize, responsibilities: &[f64], out: &mut [f64]) {
        self.contribution_of(unit, responsibilities, out);
    }

    fn pullback(
        &mut self,
        omega: f64,
        state: &[f64],
    ) -> Result<Option<Box<dyn Pullback>>, Degenerate> {
        self.pullback_of(omega, state).map(Some)
    }
}

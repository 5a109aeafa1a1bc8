//! Mixtures of linear regressions: `y_n = X_n β_k + ε`, a whole group `n` from one component `k`.
//!
//! `β_k|τ_k ~ N(0, τ_k^-1 I)`, `τ_k ~ Gamma(a0, b0)`, `π ~ Dir(α0)`. The noise precision is a known
//! `λ` for all components, or `λ_k ~ Gamma(c0, d0)` per component (the default, because nobody
//! knows it).
//!
//! # Estimated noise
//! With `R_nk = E‖y_n − X_nβ_k‖² = y_nᵀy_n − 2m_kᵀX_nᵀy_n + tr(X_nᵀX_n(m_km_kᵀ + S_k))`, the terms
//! of (M1) that contain `λ_k` are
//!
//! ```text
//! ω Σ_n w_n r_nk [ (J_n/2)(log λ_k − log 2π) − (λ_k/2) R_nk ] + (c0 − 1) log λ_k − d0 λ_k
//! ```
//!
//! so `q(λ_k) = Gamma(c_k, d_k)` with
//!
//! ```text
//! c_k = c0 + (ω/2) Σ_n w_n r_nk J_n,     d_k = d0 + (ω/2) Σ_n w_n r_nk R_nk,
//! E[λ_k] = c_k/d_k,                      E[log λ_k] = ψ(c_k) − log d_k,
//! ```
//!
//! and (M5) holds with `λ` replaced by `E[λ_k]` and `log λ` by `E[log λ_k]`. The bound gains
//! `−Σ_k KL(q(λ_k) ‖ Gamma(c0, d0))`. A test holds the
//! fixed point to be a stationary point of the bound in every parameter. `docs/METHOD.md`, section 1.4, has the derivation.

mod gather;
mod groups;
mod predict;
mod prior;
mod pullback;
mod simulate;
mod spec;
mod statistics;
mod update;

pub use predict::{bmlr_ln_density, bmlr_ln_rho};
pub use prior::{BmlrPrior, Noise};
pub use simulate::{BmlrSimulation, BmlrSimulationSettings, NoiseSize};
pub(super) use spec::KIND;
pub use spec::RegressionMixture;
use statistics::IS_STATISTICS;
pub use statistics::{GroupStatistics, VariableSummary};

use super::{Model, ModelError, PriorBase, Sweeper, Units};
use crate::data::Grouped;
use crate::fit::{Care, centres_by_k_means};
use crate::posterior::Layout;
use groups::Groups;
use std::sync::Arc;
use update::BmlrSweeper;

/// A mixture of linear regressions bound to its data, held as each group's sufficient statistics.
#[derive(Debug)]
pub struct Bmlr {
    n_components: usize,
    groups: Groups,
    prior: BmlrPrior,
    noise: Noise,
    layout: Arc<Layout>,
}

impl Bmlr {
    /// A mixture of `n_components` regressions for grouped data.
    pub fn new(
        data: &Grouped,
        n_components: usize,
        prior: BmlrPrior,
        noise: Noise,
    ) -> Result<Bmlr, ModelError> {
        data.check_for_mixture(n_components, 1)?;
        Bmlr::assemble(data.design_names(), n_components, prior, noise, |base| {
            Groups::new(data, base)
        })
    }

    /// The same model from the statistics of the groups, for data that were never held whole.
    pub fn from_statistics(
        data: &GroupStatistics,
        n_components: usize,
        prior: BmlrPrior,
        noise: Noise,
    ) -> Result<Bmlr, ModelError> {
        data.check_for_mixture(n_components, 1)?;
        Bmlr::assemble(data.design_names(), n_components, prior, noise, |base| {
            Groups::from_statistics(data, base)
        })
    }

    fn assemble(
        design_names: &[String],
        n_components: usize,
        prior: BmlrPrior,
        noise: Noise,
        groups: impl FnOnce(PriorBase) -> Groups,
    ) -> Result<Bmlr, ModelError> {
        prior.check().map_err(ModelError::Prior)?;
        noise.check().map_err(ModelError::Prior)?;
        let blocks = spec::blocks(n_components, design_names.len(), noise);
        let layout = Layout::new(n_components, design_names.to_vec(), blocks);
        Ok(Bmlr {
            n_components,
            groups: groups(prior.base),
            prior,
            noise,
            layout: Arc::new(layout),
        })
    }

    fn p(&self) -> usize {
        self.groups.p()
    }
}

impl Model for Bmlr {
    fn name(&self) -> &'static str {
        "bmlr"
    }
    fn n_units(&self) -> usize {
        self.groups.len()
    }
    fn n_components(&self) -> usize {
        self.n_components
    }
    fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }
    fn state_len(&self) -> usize {
        self.n_components * update::stride(self.p())
    }
    fn centre_len(&self) -> usize {
        self.p()
    }
    fn is_ascent(&self) -> bool {
        true
    }
    fn sweeper(&self) -> Box<dyn Sweeper + '_> {
        Box::new(BmlrSweeper::new(self))
    }

    fn random_centres(
        &self,
        weights: Option<&[f64]>,
        rng: &mut rand_chacha::ChaCha8Rng,
    ) -> Vec<f64> {
        let scaled = centres_by_k_means(&self.groups, self.n_components, weights, Care::FULL, rng);
        scaled.chunks_exact(self.p()).flat_map(|c| self.groups.units().to_data(c)).collect()
    }

    fn units(&self) -> Option<Units<'_>> {
        let (groups, length) = (&self.groups, groups::features(self.p()));
        Some(Units::of_first_degree(groups.len(), length, &groups.blocks))
    }
}

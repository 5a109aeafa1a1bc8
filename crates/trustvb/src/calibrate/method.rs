//! The methods by name: which to use, what each needs, and in which order they are shown.

use crate::resample::Design;
use crate::table::TvbTable;
use serde::{Deserialize, Serialize};

/// The calibrators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// ω = 1, not calibrated.
    Vb,
    /// Half-way between percentiles of the VB estimate over bootstraps and limits symmetric about it.
    Balanced,
    /// VB's law at ω = 1, stretched about its estimate by what bootstraps of all units say.
    Tempered,
    /// The paper's grid search (Algorithm 2).
    Tvb,
    /// The paper's stochastic approximation (Algorithm 1).
    TvbSequential,
    /// General posterior calibration of Syring & Martin, with fractional VB.
    Gpc,
    /// Bootstraps of all units against the fit at ω = 1.
    Anchored,
    /// As `anchored`, by the infinitesimal jackknife instead of resampling.
    Analytic,
    /// As `tempered`, by the infinitesimal jackknife instead of resampling: one fit.
    Jackknife,
    /// Percentiles of the VB estimate over bootstraps of all units: no ω, no posterior.
    Bootstrap,
}

impl Method {
    /// All of them, in the order in which results are shown.
    pub const ALL: [Method; 10] = [
        Method::Vb,
        Method::Balanced,
        Method::Tempered,
        Method::Tvb,
        Method::TvbSequential,
        Method::Gpc,
        Method::Anchored,
        Method::Analytic,
        Method::Jackknife,
        Method::Bootstrap,
    ];

    /// The one to use, by the study `broad` (docs/STUDIES.md).
    pub const RECOMMENDED: Method = Method::Balanced;

    /// Its name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Method::Vb => "vb",
            Method::Balanced => "balanced",
            Method::Tempered => "tempered",
            Method::Tvb => "tvb",
            Method::TvbSequential => "tvb-sequential",
            Method::Gpc => "gpc",
            Method::Anchored => "anchored",
            Method::Analytic => "analytic",
            Method::Jackknife => "jackknife",
            Method::Bootstrap => "bootstrap",
        }
    }

    /// The method of that name; `recommended` is [`Method::RECOMMENDED`].
    pub fn from_name(name: &str) -> Option<Method> {
        if name == "recommended" {
            return Some(Method::RECOMMENDED);
        }
        Method::ALL.into_iter().find(|method| method.name() == name)
    }

    /// The method that has taken its place: it can still be asked, to compare with.
    pub fn superseded_by(self) -> Option<Method> {
        matches!(self, Method::Anchored | Method::Analytic).then_some(Method::RECOMMENDED)
    }

    /// Those that run when none are named.
    pub fn usual(published: bool) -> &'static [Method] {
        if published {
            &[Method::Vb, Method::Tvb]
        } else {
            &[Method::RECOMMENDED, Method::Vb, Method::Tvb]
        }
    }

    /// Brings methods into the order in which results are shown, the recommended one first; each once.
    pub fn in_order(methods: &mut Vec<Method>) {
        methods.sort_by_key(|method| (*method != Method::RECOMMENDED, *method));
        methods.dedup();
    }

    /// What it is, in a few words.
    pub fn title(self) -> &'static str {
        match self {
            Method::Vb => "VB's own interval, not calibrated",
            Method::Balanced => {
                "half-way between bootstrap percentiles and limits symmetric about the estimate"
            }
            Method::Tempered => {
                "VB's law, stretched about its estimate until bootstraps say that it covers"
            }
            Method::Tvb => "the paper's grid search over ω, with a split of the data (Algorithm 2)",
            Method::TvbSequential => "the paper's stochastic search for ω (Algorithm 1)",
            Method::Gpc => "general posterior calibration of Syring and Martin, with fractional VB",
            Method::Anchored => {
                "the fit at the ω whose intervals cover the estimate of ω = 1 over bootstraps; \
                                 superseded by tempered"
            }
            Method::Analytic => "as anchored, without resampling; superseded by jackknife",
            Method::Jackknife => {
                "as tempered, by the infinitesimal jackknife: one fit, no resampling"
            }
            Method::Bootstrap => "percentiles of the VB estimate over bootstraps",
        }
    }

    /// Whether its interval is that of VB's law at ω = 1, stretched about its estimate.
    pub fn stretches(self) -> bool {
        matches!(self, Method::Tempered | Method::Jackknife)
    }

    /// Whether a table has what it needs.
    pub fn is_possible(self, table: &TvbTable) -> bool {
        match (self, self.design()) {
            (Method::Vb, _) => true,
            (_, Some(design)) => table.bootstraps(design).next().is_some(),
            (_, None) => table.data().is_some() && !table.manifest().published_intervals,
        }
    }

    /// The design whose bootstraps it needs in the table.
    pub fn design(self) -> Option<Design> {
        match self {
            Method::Tvb => Some(Design::Split),
            Method::Balanced
            | Method::Tempered
            | Method::Gpc
            | Method::Anchored
            | Method::Bootstrap => Some(Design::Full),
            Method::Vb | Method::TvbSequential | Method::Analytic | Method::Jackknife => None,
        }
    }

    /// Whether it chooses an ω: `vb` stays at 1, `balanced` and `bootstrap` have none.
    pub fn chooses_omega(self) -> bool {
        !matches!(self, Method::Vb | Method::Balanced | Method::Bootstrap)
    }

    /// Whether its interval is one of a posterior, which has a density and an estimated coverage.
    pub fn has_posterior(self) -> bool {
        !matches!(self, Method::Balanced | Method::Bootstrap)
    }

    /// Whether it looks at fits of the table below ω = 1.
    pub fn needs_grid(self) -> bool {
        matches!(self, Method::Tvb | Method::Gpc | Method::Anchored)
    }
}

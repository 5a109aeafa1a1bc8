//! The methods by name: which to use, what each needs, and in which order they are shown.

use crate::resample::Design;
use crate::table::TvbTable;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The calibrators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
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

/// What its interval is made from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The law of a fit at some ω.
    Fit,
    /// VB's law at ω = 1, stretched about its estimate.
    Stretch,
    /// Estimates over resamples; there is no law and no ω.
    Estimates,
}

/// All that is to be known of a method.
struct Facts {
    name: &'static str,
    title: &'static str,
    source: Source,
    /// The design whose bootstraps it needs in the table.
    design: Option<Design>,
    /// Whether it looks at fits of the table below ω = 1.
    needs_grid: bool,
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

    fn facts(self) -> Facts {
        let (name, title, source, design, needs_grid) = match self {
            Method::Vb => ("vb", "VB's own interval, not calibrated", Source::Fit, None, false),
            Method::Balanced => (
                "balanced",
                "half-way between bootstrap percentiles and limits symmetric about the estimate",
                Source::Estimates,
                Some(Design::Full),
                false,
            ),
            Method::Tempered => (
                "tempered",
                "VB's law, stretched about its estimate until bootstraps say that it covers",
                Source::Stretch,
                Some(Design::Full),
                false,
            ),
            Method::Tvb => (
                "tvb",
                "the paper's grid search over ω, with a split of the data (Algorithm 2)",
                Source::Fit,
                Some(Design::Split),
                true,
            ),
            Method::TvbSequential => (
                "tvb-sequential",
                "the paper's stochastic search for ω (Algorithm 1)",
                Source::Fit,
                None,
                false,
            ),
            Method::Gpc => (
                "gpc",
                "general posterior calibration of Syring and Martin, with fractional VB",
                Source::Fit,
                Some(Design::Full),
                true,
            ),
            Method::Anchored => (
                "anchored",
                "the fit at the ω whose intervals cover the estimate of ω = 1 over bootstraps; superseded by balanced",
                Source::Fit,
                Some(Design::Full),
                true,
            ),
            Method::Analytic => (
                "analytic",
                "as anchored, without resampling; superseded by balanced",
                Source::Fit,
                None,
                false,
            ),
            Method::Jackknife => (
                "jackknife",
                "as tempered, by the infinitesimal jackknife: one fit, no resampling",
                Source::Stretch,
                None,
                false,
            ),
            Method::Bootstrap => (
                "bootstrap",
                "percentiles of the VB estimate over bootstraps",
                Source::Estimates,
                Some(Design::Full),
                false,
            ),
        };
        Facts { name, title, source, design, needs_grid }
    }

    /// Its name on the command line and in results.
    pub fn name(self) -> &'static str {
        self.facts().name
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
        self.facts().title
    }

    /// Whether its interval is that of VB's law at ω = 1, stretched about its estimate.
    pub fn stretches(self) -> bool {
        self.facts().source == Source::Stretch
    }

    /// Whether a table has what it needs.
    pub fn is_possible(self, table: &TvbTable) -> bool {
        match (self, self.design()) {
            (Method::Vb, _) => true,
            (_, Some(design)) => {
                let has_grid = table.omegas_of(design).len() == table.omegas().len();
                table.bootstraps(design).next().is_some() && (has_grid || !self.needs_grid())
            }
            (_, None) => table.data().is_some() && !table.manifest().published_intervals,
        }
    }

    /// The design whose bootstraps it needs in the table.
    pub fn design(self) -> Option<Design> {
        self.facts().design
    }

    /// Whether it chooses an ω: `vb` stays at 1, `balanced` and `bootstrap` have none.
    pub fn chooses_omega(self) -> bool {
        self != Method::Vb && self.has_posterior()
    }

    /// Whether its interval is one of a posterior, which has a density and an estimated coverage.
    pub fn has_posterior(self) -> bool {
        self.facts().source != Source::Estimates
    }

    /// Whether it looks at fits of the table below ω = 1.
    pub fn needs_grid(self) -> bool {
        self.facts().needs_grid
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A method that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no method `{0}`; choose from recommended, {known}", known = Method::ALL.map(Method::name).join(", "))]
pub struct NoSuchMethod(String);

impl FromStr for Method {
    type Err = NoSuchMethod;

    fn from_str(name: &str) -> Result<Method, NoSuchMethod> {
        Method::from_name(name).ok_or_else(|| NoSuchMethod(name.to_owned()))
    }
}

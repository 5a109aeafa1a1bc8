//! Groups of rows, each following one of several regressions.

use super::{BmlrPrior, Noise, RegressionMixture};
use crate::data::Grouped;
use crate::model::{ModelData, ModelSpec, Simulation};
use crate::posterior::Layout;
use crate::random::uniform;
use crate::study::simulate::{
    SettingsOf, SimulationOf, by_weight, check_size, component, weights, wrong,
};
use crate::study::truth::{put_gamma, put_mv_normal, put_weights};
use crate::study::{FitSettings, StudyError, Truth};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

/// A mixture of regressions as it is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BmlrSimulationSettings {
    /// Groups; default 500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<usize>,
    /// Rows of each group; in a study a list stands for one cell each.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::study::simulate::one_or_many"
    )]
    pub rows: Vec<usize>,
    /// Weights of the components; they need not add up to 1. Default: 0.65 and 0.35 for two
    /// components, otherwise proportional to K, K−1, …, 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// Number of components, which is that of the rows of coefficients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub components: Option<usize>,
    /// Coefficients, one row per component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coefficients: Option<Vec<Vec<f64>>>,
    /// Ratio of the norms of signal and noise in each group; default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snr: Option<f64>,
    /// Standard deviation of the noise, instead of `snr`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_sd: Option<f64>,
    /// Whether all groups of a component share one draw of the noise, as in the paper's code;
    /// default: each group has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_noise: Option<bool>,
    /// Mean of the regressors; default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x_mean: Option<f64>,
}

impl SettingsOf for BmlrSimulationSettings {
    fn sizes(&self) -> &[usize] {
        &self.rows
    }
    fn set_sizes(&mut self, sizes: Vec<usize>) {
        self.rows = sizes;
    }
    fn size_name(&self) -> &'static str {
        "rows"
    }
    fn with_one_size(&self, size: usize) -> Result<Simulation, StudyError> {
        check_size("components", self.components.unwrap_or(2))?;
        BmlrSimulation::new(self, size).map(Simulation::Bmlr)
    }
}

/// A mixture of regressions to draw groups from, components by decreasing weight.
///
/// Regressors are Normal with variance 1. With a signal-to-noise ratio, the noise of group `n` is
/// `ε/‖ε‖ · ‖X_n β_k‖ / SNR`: its norm is that of the signal over the ratio, exactly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BmlrSimulation {
    /// Groups of a data set.
    pub groups: usize,
    /// Rows of each group.
    pub rows: usize,
    /// Weights, adding up to 1.
    pub weights: Vec<f64>,
    /// Coefficients, a row per component.
    pub coefficients: Vec<Vec<f64>>,
    /// How large the noise is.
    pub noise: NoiseSize,
    /// Whether all groups of a component share one draw of `ε`.
    pub shared_noise: bool,
    /// Mean of all regressors.
    #[serde(default)]
    pub x_mean: f64,
}

/// How large the noise of a group is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoiseSize {
    /// The norm of the signal over this.
    Snr(f64),
    /// Independent Normal numbers with this standard deviation.
    Sd(f64),
}

impl BmlrSimulation {
    fn new(settings: &BmlrSimulationSettings, rows: usize) -> Result<BmlrSimulation, StudyError> {
        let Some(coefficients) = &settings.coefficients else {
            return Err(wrong("coefficients", "a row per component is needed".to_owned()));
        };
        let (k, p) = (coefficients.len(), coefficients.first().map_or(0, Vec::len));
        if p == 0 || coefficients.iter().any(|c| c.len() != p || c.iter().any(|x| !x.is_finite())) {
            return Err(wrong(
                "coefficients",
                "each row needs the same number of finite numbers".to_owned(),
            ));
        }
        if let Some(asked) = settings.components.filter(|asked| *asked != k) {
            return Err(wrong("components", format!("{asked}, but {k} rows of coefficients")));
        }
        let groups = settings.groups.unwrap_or(500);
        if groups == 0 || rows == 0 {
            return Err(wrong("groups", "at least one group with one row is needed".to_owned()));
        }
        let noise = match (settings.snr, settings.noise_sd) {
            (Some(_), Some(_)) => {
                return Err(wrong("snr", "give it or noise_sd, not both".to_owned()));
            }
            (None, Some(sd)) if sd.is_finite() && sd >= 0.0 => NoiseSize::Sd(sd),
            (None, Some(sd)) => {
                return Err(wrong("noise_sd", format!("{sd} is not a number of at least 0")));
            }
            (snr, None) => match snr.unwrap_or(1.0) {
                snr if snr.is_finite() && snr > 0.0 => NoiseSize::Snr(snr),
                snr => return Err(wrong("snr", format!("{snr} is not a positive number"))),
            },
        };
        let x_mean = settings.x_mean.unwrap_or(0.0);
        if !x_mean.is_finite() {
            return Err(wrong("x_mean", format!("{x_mean} is not a finite number")));
        }
        let weights = weights(settings.weights.as_ref(), k)?;
        let order = by_weight(&weights);
        Ok(BmlrSimulation {
            groups,
            rows,
            weights: order.iter().map(|&k| weights[k]).collect(),
            coefficients: order.iter().map(|&k| coefficients[k].clone()).collect(),
            noise,
            shared_noise: settings.shared_noise.unwrap_or(false),
            x_mean,
        })
    }

    /// First the shared noise of each component, if it is shared; then group by group a uniform number
    /// for its component, its design row by row, and its own noise. Columns are `y` and `x1, x2, …`.
    fn groups(&self, rng: &mut ChaCha8Rng) -> Result<Grouped, StudyError> {
        let (p, total) = (self.coefficients[0].len(), self.groups * self.rows);
        let mut normals = |out: &mut Vec<f64>| {
            out.clear();
            out.extend((0..self.rows).map(|_| -> f64 { StandardNormal.sample(rng) }));
        };
        let mut shared = vec![Vec::new(); if self.shared_noise { self.weights.len() } else { 0 }];
        shared.iter_mut().for_each(&mut normals);
        let mut response = Vec::with_capacity(total);
        let mut design = vec![Vec::with_capacity(total); p];
        let mut own = Vec::with_capacity(self.rows);
        for group in 0..self.groups {
            let k = component(&self.weights, uniform(rng));
            let mut square = 0.0;
            for _ in 0..self.rows {
                let mut signal = 0.0;
                for (column, beta) in design.iter_mut().zip(&self.coefficients[k]) {
                    let standard: f64 = StandardNormal.sample(rng);
                    let x = self.x_mean + standard;
                    column.push(x);
                    signal += beta * x;
                }
                square += signal * signal;
                response.push(signal);
            }
            if !self.shared_noise {
                own.clear();
                own.extend((0..self.rows).map(|_| -> f64 { StandardNormal.sample(rng) }));
            }
            let noise = if self.shared_noise { &shared[k] } else { &own };
            let size = match self.noise {
                NoiseSize::Sd(sd) => sd,
                NoiseSize::Snr(snr) => {
                    let norm: f64 = noise.iter().map(|e| e * e).sum();
                    (square / norm.max(f64::MIN_POSITIVE)).sqrt() / snr
                }
            };
            let first = group * self.rows;
            for (y, e) in response[first..].iter_mut().zip(noise) {
                *y += size * e;
            }
        }
        let names = (1..=p).map(|j| format!("x{j}")).collect();
        Ok(Grouped::balanced("y".to_owned(), response, names, design, self.rows)?)
    }

    /// The noise precision of each component; with a ratio, that of many rows: `SNR²/E(xᵀβ_k)²`.
    fn precisions(&self) -> Vec<f64> {
        let precision = |beta: &Vec<f64>| match self.noise {
            NoiseSize::Sd(sd) => 1.0 / (sd * sd),
            NoiseSize::Snr(snr) => {
                let mean = self.x_mean * beta.iter().sum::<f64>();
                snr * snr / (beta.iter().map(|b| b * b).sum::<f64>() + mean * mean)
            }
        };
        self.coefficients.iter().map(precision).collect()
    }
}

impl SimulationOf for BmlrSimulation {
    fn model(&self) -> &'static str {
        super::KIND.name
    }

    fn size_name(&self) -> &'static str {
        "rows"
    }

    fn draw_from(&self, rng: &mut ChaCha8Rng) -> Result<ModelData, StudyError> {
        Ok(ModelData::Groups(self.groups(rng)?))
    }

    fn truth(&self) -> Truth {
        let truth = Truth::new(self.weights.clone());
        truth.with("beta", &self.coefficients).with("noise", &self.precisions())
    }

    fn fill(&self, layout: &Layout, parameters: &mut [f64]) {
        put_weights(layout, &self.weights, parameters);
        for (k, (beta, noise)) in self.coefficients.iter().zip(self.precisions()).enumerate() {
            put_mv_normal(layout, "beta", k, beta, parameters);
            put_gamma(layout, "noise", k, noise, parameters);
        }
    }

    fn small(&self) -> Simulation {
        let rows = self.coefficients[0].len() + 5;
        Simulation::Bmlr(BmlrSimulation { groups: 200, rows, ..self.clone() })
    }

    fn with_units(&self, _n: usize) -> Option<Simulation> {
        None
    }

    fn shape(&self) -> (f64, f64) {
        let columns = 2 + self.coefficients.first().map_or(1, Vec::len);
        (self.groups as f64 * self.rows as f64, columns as f64)
    }

    fn fitted(&self, fit: &FitSettings) -> Result<ModelSpec, StudyError> {
        if fit.update.is_some() {
            return Err(wrong("update", "it is not a setting of bmlr".to_owned()));
        }
        if fit.covariance.is_some() {
            return Err(wrong("covariance", "it is not a setting of bmlr".to_owned()));
        }
        let prior: BmlrPrior = fit.prior.read()?;
        prior.check().map_err(|what| wrong("prior", what))?;
        if prior.lambda.is_some() {
            let what = "lambda is given here as known_noise, beside the prior".to_owned();
            return Err(wrong("prior", what));
        }
        let noise = fit.known_noise.map_or(Noise::Estimate, Noise::Known);
        noise.check().map_err(|what| wrong("known_noise", what))?;
        let names: Vec<String> =
            (1..=self.coefficients[0].len()).map(|j| format!("x{j}")).collect();
        let formula = format!("y ~ 0 + {} | group", names.join(" + "));
        Ok(RegressionMixture::new(self.weights.len(), &formula).prior(prior).noise(noise).into())
    }
}

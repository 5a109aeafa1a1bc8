//! Rows of a mixture of columns with known truth, some cells missing at random.

use super::spec::blocks;
use super::{ColumnKind, ColumnMixture, MixedData, MixtureColumn, MixturePrior};
use crate::model::{ModelData, ModelSpec, Simulation};
use crate::posterior::{Family, Layout};
use crate::random::uniform;
use crate::study::simulate::{
    SettingsOf, SimulationOf, by_weight, check_size, component, weights, wrong,
};
use crate::study::truth::{put_dirichlet, put_gamma, put_normal_wishart, put_weights};
use crate::study::{FitSettings, StudyError, Truth};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Poisson, StandardNormal};
use serde::{Deserialize, Serialize};

/// A column to draw, with its law in each class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
#[non_exhaustive]
pub enum SimulatedColumn {
    /// Levels `0, 1, …` with these probabilities, a row per class.
    Category {
        /// Probabilities of the levels.
        p: Vec<Vec<f64>>,
    },
    /// Poisson counts.
    Count {
        /// The rate of each class.
        rate: Vec<f64>,
    },
    /// Normal numbers.
    Gaussian {
        /// The mean of each class.
        mu: Vec<f64>,
        /// The standard deviation of each class.
        sd: Vec<f64>,
    },
}

/// A mixture of columns as it is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixtureSimulationSettings {
    /// Rows; in a study a list stands for one cell each.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::study::simulate::one_or_many"
    )]
    pub n: Vec<usize>,
    /// Weights of the classes; they need not add up to 1. Default: 0.65 and 0.35 for two classes, otherwise
    /// proportional to K, K−1, …, 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// Number of classes; default: what the other settings say, otherwise 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub components: Option<usize>,
    /// Yes-or-no items. Class 1 says yes to all of them with probability `agree`, class 2 to none, class 3 to the first
    /// half, class 4 to the other half, and with `1 − agree` to the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<usize>,
    /// How clearly classes answer items; default 0.8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agree: Option<f64>,
    /// Further columns, each with its law in every class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<SimulatedColumn>,
    /// Share of the cells that are missing, at random; default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<f64>,
}

impl SettingsOf for MixtureSimulationSettings {
    fn sizes(&self) -> &[usize] {
        &self.n
    }
    fn set_sizes(&mut self, sizes: Vec<usize>) {
        self.n = sizes;
    }
    fn size_name(&self) -> &'static str {
        "n"
    }
    fn with_one_size(&self, size: usize) -> Result<Simulation, StudyError> {
        MixtureSimulation::new(self, size).map(Simulation::Mixture)
    }
}

/// A mixture of columns to draw rows from, classes by decreasing weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixtureSimulation {
    /// Rows of a data set.
    pub n: usize,
    /// Weights, adding up to 1.
    pub weights: Vec<f64>,
    /// The columns.
    pub columns: Vec<SimulatedColumn>,
    /// Share of the cells that are missing.
    pub missing: f64,
}

impl SimulatedColumn {
    fn n_classes(&self) -> usize {
        match self {
            SimulatedColumn::Category { p } => p.len(),
            SimulatedColumn::Count { rate } => rate.len(),
            SimulatedColumn::Gaussian { mu, .. } => mu.len(),
        }
    }

    fn check(&self) -> Result<(), StudyError> {
        let refuse = |what: &str| Err(wrong("columns", what.to_owned()));
        match self {
            SimulatedColumn::Category { p } => {
                let levels = p.first().map_or(0, Vec::len);
                let law = |p: &Vec<f64>| {
                    let sum: f64 = p.iter().sum();
                    p.len() == levels && p.iter().all(|x| *x >= 0.0) && (sum - 1.0).abs() < 1e-9
                };
                match levels >= 2 && p.iter().all(law) {
                    true => Ok(()),
                    false => refuse(
                        "p: each class needs the same number of probabilities that add up to 1",
                    ),
                }
            }
            SimulatedColumn::Count { rate } => match rate.iter().all(|x| *x > 0.0 && *x < 1e6) {
                true => Ok(()),
                false => refuse("rate: each must be above 0 and below a million"),
            },
            SimulatedColumn::Gaussian { mu, sd } => {
                let good = mu.len() == sd.len()
                    && mu.iter().all(|x| x.is_finite())
                    && sd.iter().all(|x| x.is_finite() && *x > 0.0);
                match good {
                    true => Ok(()),
                    false => refuse("mu and sd: a number for each class, and sd above 0"),
                }
            }
        }
    }

    /// The same with classes in another order.
    fn permuted(&self, order: &[usize]) -> SimulatedColumn {
        let of = |x: &[f64]| order.iter().map(|&k| x[k]).collect();
        match self {
            SimulatedColumn::Category { p } => {
                SimulatedColumn::Category { p: order.iter().map(|&k| p[k].clone()).collect() }
            }
            SimulatedColumn::Count { rate } => SimulatedColumn::Count { rate: of(rate) },
            SimulatedColumn::Gaussian { mu, sd } => {
                SimulatedColumn::Gaussian { mu: of(mu), sd: of(sd) }
            }
        }
    }

    fn draw(&self, k: usize, rng: &mut ChaCha8Rng) -> f64 {
        match self {
            SimulatedColumn::Category { p } => component(&p[k], uniform(rng)) as f64,
            // The rate was checked.
            SimulatedColumn::Count { rate } => {
                Poisson::new(rate[k]).map_or(f64::NAN, |law| law.sample(rng))
            }
            SimulatedColumn::Gaussian { mu, sd } => {
                let z: f64 = StandardNormal.sample(rng);
                mu[k] + sd[k] * z
            }
        }
    }
}

/// Whether class `k` (from 0) says yes to item `j` of `items`.
fn says_yes(k: usize, j: usize, items: usize) -> bool {
    match k {
        0 => true,
        1 => false,
        2 => j < items / 2,
        _ => j >= items / 2,
    }
}

impl MixtureSimulation {
    fn new(
        settings: &MixtureSimulationSettings,
        n: usize,
    ) -> Result<MixtureSimulation, StudyError> {
        let k = settings
            .components
            .or(settings.weights.as_ref().map(Vec::len))
            .or(settings.columns.first().map(SimulatedColumn::n_classes))
            .unwrap_or(2);
        check_size("components", k)?;
        let items = settings.items.unwrap_or(0);
        check_size("items", items)?;
        if k == 0 || n == 0 {
            return Err(wrong("n", "at least one row and one class are needed".to_owned()));
        }
        if items > 0 && k > 4 {
            return Err(wrong("items", format!("they are for up to 4 classes, not {k}")));
        }
        let agree = settings.agree.unwrap_or(0.8);
        if !(agree > 0.0 && agree < 1.0) {
            return Err(wrong("agree", format!("{agree} is not between 0 and 1")));
        }
        let missing = settings.missing.unwrap_or(0.0);
        if !(0.0..0.9).contains(&missing) {
            return Err(wrong("missing", format!("{missing} is not between 0 and 0.9")));
        }
        let item = |j: usize| {
            let law = |k: usize| {
                let yes = if says_yes(k, j, items) { agree } else { 1.0 - agree };
                vec![1.0 - yes, yes]
            };
            SimulatedColumn::Category { p: (0..k).map(law).collect() }
        };
        let mut columns: Vec<SimulatedColumn> = (0..items).map(item).collect();
        columns.extend(settings.columns.iter().cloned());
        if columns.is_empty() {
            return Err(wrong("items", "give items or columns".to_owned()));
        }
        for column in &columns {
            if column.n_classes() != k {
                let what = format!("one has {} classes, but there are {k}", column.n_classes());
                return Err(wrong("columns", what));
            }
            column.check()?;
        }
        let weights = weights(settings.weights.as_ref(), k)?;
        let order = by_weight(&weights);
        Ok(MixtureSimulation {
            n,
            weights: order.iter().map(|&k| weights[k]).collect(),
            columns: columns.iter().map(|column| column.permuted(&order)).collect(),
            missing,
        })
    }

    /// The columns as a model has them, named `x1, x2, …`.
    fn model_columns(&self) -> Vec<MixtureColumn> {
        let kind = |column: &SimulatedColumn| match column {
            SimulatedColumn::Category { p } => {
                let levels = (0..p.first().map_or(0, Vec::len)).map(|l| l.to_string()).collect();
                ColumnKind::Category { levels }
            }
            SimulatedColumn::Count { .. } => ColumnKind::Count,
            SimulatedColumn::Gaussian { .. } => ColumnKind::Gaussian,
        };
        let named = self.columns.iter().enumerate();
        named
            .map(|(j, column)| MixtureColumn { name: format!("x{}", j + 1), kind: kind(column) })
            .collect()
    }

    /// A quantity's true values by class and column; null where a column is of another kind.
    fn values<T: Serialize>(
        &self,
        of: impl Fn(&SimulatedColumn, usize) -> Option<T>,
    ) -> Vec<Vec<Option<T>>> {
        let classes = 0..self.weights.len();
        classes.map(|k| self.columns.iter().map(|column| of(column, k)).collect()).collect()
    }
}

impl SimulationOf for MixtureSimulation {
    fn model(&self) -> &'static str {
        super::KIND.name
    }

    fn size_name(&self) -> &'static str {
        "n"
    }

    /// Row by row: a uniform number for the class, then for each column its value and, where cells can be missing, a
    /// uniform number that says whether this one is. A row keeps at least its last cell.
    fn draw_from(&self, rng: &mut ChaCha8Rng) -> Result<ModelData, StudyError> {
        let mut columns = vec![Vec::with_capacity(self.n); self.columns.len()];
        for _ in 0..self.n {
            let k = component(&self.weights, uniform(rng));
            let mut any = false;
            for (j, (column, out)) in self.columns.iter().zip(&mut columns).enumerate() {
                let x = column.draw(k, rng);
                let gone = self.missing > 0.0 && uniform(rng) < self.missing;
                let last = j + 1 == self.columns.len() && !any;
                any |= !gone;
                out.push(if gone && !last { f64::NAN } else { x });
            }
        }
        let names = self.model_columns().into_iter().map(|column| column.name).collect();
        Ok(ModelData::Mixed(MixedData::new("simulated rows", names, columns)))
    }

    fn truth(&self) -> Truth {
        let p = self.values(|column, k| match column {
            SimulatedColumn::Category { p } => Some(p[k].clone()),
            _ => None,
        });
        let rate = self.values(|column, k| match column {
            SimulatedColumn::Count { rate } => Some(rate[k]),
            _ => None,
        });
        let mu = self.values(|column, k| match column {
            SimulatedColumn::Gaussian { mu, .. } => Some(mu[k]),
            _ => None,
        });
        let sd = self.values(|column, k| match column {
            SimulatedColumn::Gaussian { sd, .. } => Some(sd[k]),
            _ => None,
        });
        let truth = Truth::new(self.weights.clone());
        truth.with("p", &p).with("rate", &rate).with("mu", &mu).with("sd", &sd)
    }

    fn fill(&self, layout: &Layout, parameters: &mut [f64]) {
        put_weights(layout, &self.weights, parameters);
        let (blocks, _) = blocks(self.weights.len(), &self.model_columns());
        for (column, block) in self.columns.iter().zip(&blocks[1..]) {
            let name = block.name.as_str();
            for k in 0..self.weights.len() {
                match (column, block.family) {
                    (SimulatedColumn::Category { p }, Family::Dirichlet) => {
                        put_dirichlet(layout, name, k, &p[k], parameters);
                    }
                    (SimulatedColumn::Count { rate }, Family::Gamma) => {
                        put_gamma(layout, name, k, rate[k], parameters);
                    }
                    (SimulatedColumn::Gaussian { mu, sd }, Family::NormalWishart) => {
                        let variance = [vec![sd[k] * sd[k]]];
                        put_normal_wishart(layout, name, k, &[mu[k]], &variance, parameters);
                    }
                    _ => {}
                }
            }
        }
    }

    fn small(&self) -> Simulation {
        Simulation::Mixture(MixtureSimulation { n: 2000, ..self.clone() })
    }

    fn with_units(&self, n: usize) -> Option<Simulation> {
        Some(Simulation::Mixture(MixtureSimulation { n, ..self.clone() }))
    }

    fn shape(&self) -> (f64, f64) {
        (self.n as f64, self.columns.len() as f64)
    }

    fn fitted(&self, fit: &FitSettings) -> Result<ModelSpec, StudyError> {
        if fit.known_noise.is_some() || fit.update.is_some() {
            let name = if fit.update.is_some() { "update" } else { "known_noise" };
            return Err(wrong(name, "it is not a setting of mixture".to_owned()));
        }
        if fit.covariance.is_some() {
            return Err(wrong("covariance", "it is not a setting of mixture".to_owned()));
        }
        let prior: MixturePrior = fit.prior.read()?;
        prior.check().map_err(|what| wrong("prior", what))?;
        let columns = self.model_columns();
        Ok(ColumnMixture { n_components: self.weights.len(), prior, columns }.into())
    }
}

//! Rows of a mixture of Gaussians, or of heavy-tailed or skewed components with the same covariances.

use super::covariance::block_of;
use super::spec::BLOCK;
use super::{Covariance, GaussianMixture, GmmPrior};
use crate::data::Dataset;
use crate::linalg::{cholesky, invert_spd, pack, packed_index};
use crate::model::{ModelData, ModelSpec, Simulation};
use crate::posterior::Layout;
use crate::random::uniform;
use crate::study::simulate::{
    SettingsOf, SimulationOf, by_weight, check_description, check_size, component, weights, wrong,
};
use crate::study::truth::{put_normal_wishart, put_weights};
use crate::study::{FitSettings, StudyError, Truth};
use rand_chacha::ChaCha8Rng;
use rand_distr::{ChiSquared, Distribution, Gamma, StandardNormal};
use serde::{Deserialize, Serialize};

/// A mixture of Gaussians, or of t or skewed components, as it is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GmmSimulationSettings {
    /// Rows; in a study a list stands for one cell each.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::study::simulate::one_or_many"
    )]
    pub n: Vec<usize>,
    /// Weights of the components; they need not add up to 1. Default: 0.65 and 0.35 for two
    /// components, otherwise proportional to K, K−1, …, 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// Number of components; default: what the other settings say, otherwise 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub components: Option<usize>,
    /// Number of columns, for `separation`; default 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<usize>,
    /// Distance between the centres of neighbouring components in each coordinate; default 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separation: Option<f64>,
    /// Centres, one row per component, instead of `separation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub centres: Option<Vec<Vec<f64>>>,
    /// Distance of every other centre from the first, each along a column of its own, in standard deviations within the first
    /// component (Mahalanobis), instead of `separation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<f64>,
    /// Correlation of all columns within components, whose variances are 1: one for all components or one each, instead of
    /// `covariances`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub correlation: Vec<f64>,
    /// Covariance matrices: one for all components or one each; default: unit matrices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covariances: Option<Vec<Vec<Vec<f64>>>>,
    /// Degrees of freedom of t-distributed components, scaled to the given covariances; more than 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub df: Option<f64>,
    /// Skewness of the standardised coordinates of skewed components with the given means and
    /// covariances: 2 is that of an exponential law, a negative one has its long tail below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew: Option<f64>,
}

impl SettingsOf for GmmSimulationSettings {
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
        let (k, p) = (self.components.unwrap_or(2), self.columns.unwrap_or(2));
        check_size("components", k)?;
        check_size("columns", p)?;
        let what = format!("{k} covariance matrices of {p} columns");
        check_description("columns", &what, k as f64 * (p as f64).powi(2))?;
        GmmSimulation::new(self, size).map(Simulation::Gmm)
    }
}

/// A mixture to draw rows from, components by decreasing weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GmmSimulation {
    /// Rows of a data set.
    pub n: usize,
    /// Weights, adding up to 1.
    pub weights: Vec<f64>,
    /// Centres, a row per component.
    pub centres: Vec<Vec<f64>>,
    /// Covariance matrix of each component.
    pub covariances: Vec<Vec<Vec<f64>>>,
    /// Degrees of freedom of t-distributed components; `None` for Gaussians.
    pub df: Option<f64>,
    /// Skewness of the standardised coordinates of skewed components; `None` for Gaussians. It is not
    /// written when there is none, because the seed of the data is a hash of what is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew: Option<f64>,
}

const NOT_SPD: &str = "a matrix is not positive definite";

/// The law of a standardised coordinate: mean 0, variance 1.
enum Coordinate {
    Normal,
    /// `sign (G − a)/√a` with `G ~ Gamma(a, 1)`, of skewness `sign 2/√a`.
    Skewed {
        law: Gamma<f64>,
        shape: f64,
        sign: f64,
    },
}

impl Coordinate {
    /// Pearson's type III, a shifted Gamma variable, is fixed by mean, variance and skewness
    /// (Johnson, Kotz & Balakrishnan 1994, chapter 17): its shape is `4/skew²`.
    fn new(skew: Option<f64>) -> Result<Coordinate, StudyError> {
        let Some(skew) = skew else { return Ok(Coordinate::Normal) };
        let shape = 4.0 / (skew * skew);
        let law = Gamma::new(shape, 1.0).map_err(|e| wrong("skew", e.to_string()))?;
        Ok(Coordinate::Skewed { law, shape, sign: skew.signum() })
    }

    fn draw(&self, rng: &mut ChaCha8Rng) -> f64 {
        match self {
            Coordinate::Normal => StandardNormal.sample(rng),
            Coordinate::Skewed { law, shape, sign } => {
                sign * (law.sample(rng) - shape) / shape.sqrt()
            }
        }
    }
}

impl GmmSimulation {
    fn new(settings: &GmmSimulationSettings, n: usize) -> Result<GmmSimulation, StudyError> {
        let k = settings
            .centres
            .as_ref()
            .map(Vec::len)
            .or(settings.components)
            .or(settings.weights.as_ref().map(Vec::len))
            .unwrap_or(2);
        if let Some(asked) = settings.components.filter(|asked| *asked != k) {
            return Err(wrong("components", format!("{asked}, but there are {k} centres")));
        }
        if k == 0 {
            return Err(wrong("components", "at least one is needed".to_owned()));
        }
        if n == 0 {
            return Err(wrong("n", "at least one row is needed".to_owned()));
        }
        let p = columns(settings)?;
        let covariances = covariances(settings, k, p)?;
        let centres = centres(settings, k, &covariances[0])?;
        if let Some(df) = settings.df.filter(|df| !(df.is_finite() && *df > 2.0)) {
            return Err(wrong(
                "df",
                format!("{df}, but a covariance needs more than 2 degrees of freedom"),
            ));
        }
        check_skew(settings)?;
        let weights = weights(settings.weights.as_ref(), k)?;
        let order = by_weight(&weights);
        Ok(GmmSimulation {
            n,
            weights: order.iter().map(|&k| weights[k]).collect(),
            centres: order.iter().map(|&k| centres[k].clone()).collect(),
            covariances: order.iter().map(|&k| covariances[k].clone()).collect(),
            df: settings.df,
            skew: settings.skew,
        })
    }

    /// Row by row: a uniform number for the component, the standardised coordinates, which are Normal
    /// numbers or with `skew` those of a Gamma law, and with `df` a χ² number that stretches them. Columns
    /// are `x1, x2, …`.
    fn rows(&self, rng: &mut ChaCha8Rng) -> Result<Dataset, StudyError> {
        let p = self.centres[0].len();
        let factors = self
            .covariances
            .iter()
            .map(|covariance| factor(p, covariance))
            .collect::<Result<Vec<_>, _>>()?;
        let stretch = match self.df {
            None => None,
            Some(df) => {
                let law = ChiSquared::new(df).map_err(|e| wrong("df", e.to_string()))?;
                Some((df - 2.0, law))
            }
        };
        let coordinate = Coordinate::new(self.skew)?;
        let mut columns = vec![Vec::with_capacity(self.n); p];
        let mut z = vec![0.0; p];
        for _ in 0..self.n {
            let k = component(&self.weights, uniform(rng));
            z.iter_mut().for_each(|z| *z = coordinate.draw(rng));
            // A t variable with covariance I: N(0, I) √((ν−2)/χ²_ν).
            let size = stretch.as_ref().map_or(1.0, |(two_less, chi)| {
                (two_less / chi.sample(rng).max(f64::MIN_POSITIVE)).sqrt()
            });
            for (i, column) in columns.iter_mut().enumerate() {
                let along: f64 = (0..=i).map(|j| factors[k][packed_index(i, j)] * z[j]).sum();
                column.push(self.centres[k][i] + size * along);
            }
        }
        let names = (1..=p).map(|j| format!("x{j}")).collect();
        Ok(Dataset::from_columns(names, columns)?)
    }
}

impl SimulationOf for GmmSimulation {
    fn model(&self) -> &'static str {
        super::KIND.name
    }

    fn size_name(&self) -> &'static str {
        "n"
    }

    fn draw_from(&self, rng: &mut ChaCha8Rng) -> Result<ModelData, StudyError> {
        Ok(ModelData::Rows(self.rows(rng)?))
    }

    fn truth(&self) -> Truth {
        let truth = Truth::new(self.weights.clone());
        truth.with("mu", &self.centres).with("sigma", &self.covariances)
    }

    fn fill(&self, layout: &Layout, parameters: &mut [f64]) {
        put_weights(layout, &self.weights, parameters);
        for (k, (centre, covariance)) in self.centres.iter().zip(&self.covariances).enumerate() {
            put_normal_wishart(layout, BLOCK, k, centre, covariance, parameters);
            // Where columns have blocks of their own.
            for (j, name) in layout.coordinates.iter().enumerate().take(centre.len()) {
                let (mean, variance) = ([centre[j]], [vec![covariance[j][j]]]);
                put_normal_wishart(layout, &block_of(name), k, &mean, &variance, parameters);
            }
        }
    }

    /// Full covariances, whatever is fitted.
    fn true_layout(&self, coordinates: &[String]) -> Option<Layout> {
        let k = self.weights.len();
        let blocks = Covariance::Full.blocks(k, coordinates);
        Some(Layout::new(k, coordinates.to_vec(), blocks))
    }

    fn small(&self) -> Simulation {
        Simulation::Gmm(GmmSimulation { n: 200, ..self.clone() })
    }

    fn with_units(&self, n: usize) -> Option<Simulation> {
        Some(Simulation::Gmm(GmmSimulation { n, ..self.clone() }))
    }

    fn shape(&self) -> (f64, f64) {
        (self.n as f64, self.centres.first().map_or(1, Vec::len) as f64)
    }

    fn fitted(&self, fit: &FitSettings) -> Result<ModelSpec, StudyError> {
        if fit.known_noise.is_some() {
            return Err(wrong("known_noise", "it is not a setting of gmm".to_owned()));
        }
        let prior: GmmPrior = fit.prior.read()?;
        let covariance = fit.covariance.unwrap_or_default();
        let p = self.centres[0].len();
        prior.check_for(p, covariance).map_err(|what| wrong("prior", what))?;
        let (n_components, update) = (self.weights.len(), fit.update.unwrap_or_default());
        let spec = GaussianMixture { n_components, prior, update, covariance };
        spec.check().map_err(|what| wrong("update", what))?;
        Ok(spec.into())
    }
}

/// A skewness beyond 10 has a shape below 0.04: nearly all of the mass is on one point.
fn check_skew(settings: &GmmSimulationSettings) -> Result<(), StudyError> {
    let Some(skew) = settings.skew else { return Ok(()) };
    if !(skew.abs() >= 0.01 && skew.abs() <= 10.0) {
        let what =
            format!("{skew}, but its size must be between 0.01 and 10; leave it out for Gaussians");
        return Err(wrong("skew", what));
    }
    match settings.df {
        Some(_) => Err(wrong("skew", "give it or df, not both".to_owned())),
        None => Ok(()),
    }
}

/// How many columns the settings speak of.
fn columns(settings: &GmmSimulationSettings) -> Result<usize, StudyError> {
    let p = match &settings.centres {
        Some(centres) => centres.first().map_or(0, Vec::len),
        None => settings.columns.unwrap_or(2),
    };
    match settings.columns.filter(|asked| *asked != p) {
        Some(asked) => Err(wrong("columns", format!("{asked}, but centres have {p} coordinates"))),
        None if p == 0 && settings.centres.is_none() => {
            Err(wrong("columns", "at least one is needed".to_owned()))
        }
        None => Ok(p),
    }
}

/// The centres as given, or `separation` apart in each coordinate, or at `distance` from the first, whose covariance matrix is
/// `first`.
fn centres(
    settings: &GmmSimulationSettings,
    k: usize,
    first: &[Vec<f64>],
) -> Result<Vec<Vec<f64>>, StudyError> {
    let p = first.len();
    let named = [
        ("separation", settings.separation.is_some()),
        ("distance", settings.distance.is_some()),
        ("centres", settings.centres.is_some()),
    ];
    let mut given = named.iter().filter(|(_, is_given)| *is_given);
    if let (Some((one, _)), Some((other, _))) = (given.next(), given.next()) {
        return Err(wrong(one, format!("give it or {other}, not both")));
    }
    if let Some(centres) = &settings.centres {
        if p == 0 || centres.iter().any(|c| c.len() != p || c.iter().any(|x| !x.is_finite())) {
            return Err(wrong(
                "centres",
                "each row needs the same number of finite numbers".to_owned(),
            ));
        }
        return Ok(centres.clone());
    }
    if let Some(distance) = settings.distance {
        if !distance.is_finite() {
            return Err(wrong("distance", format!("{distance} is not a number")));
        }
        if k > p + 1 {
            let what = format!("{k} components need {} columns, but there are {p}", k - 1);
            return Err(wrong("distance", what));
        }
        let mut centres = vec![vec![0.0; p]; k];
        for (j, centre) in centres.iter_mut().skip(1).enumerate() {
            // A step along column j is as long as the root of (Σ^-1)_jj.
            let packed = pack(first).ok_or_else(|| wrong("covariances", NOT_SPD.to_owned()))?;
            let (inverse, _) =
                invert_spd(p, &packed).map_err(|_| wrong("covariances", NOT_SPD.to_owned()))?;
            centre[j] = distance / inverse[packed_index(j, j)].sqrt();
        }
        return Ok(centres);
    }
    let separation = settings.separation.unwrap_or(2.0);
    if !separation.is_finite() {
        return Err(wrong("separation", format!("{separation} is not a number")));
    }
    Ok((0..k).map(|k| vec![separation * k as f64; p]).collect())
}

fn covariances(
    settings: &GmmSimulationSettings,
    k: usize,
    p: usize,
) -> Result<Vec<Vec<Vec<f64>>>, StudyError> {
    let correlated = |rho: f64| -> Vec<Vec<f64>> {
        (0..p).map(|i| (0..p).map(|j| if i == j { 1.0 } else { rho }).collect()).collect()
    };
    let (given, name) = match (&settings.covariances, &settings.correlation[..]) {
        (Some(_), [_, ..]) => {
            return Err(wrong("correlation", "give it or covariances, not both".to_owned()));
        }
        (Some(given), []) => (given.clone(), "covariances"),
        (None, []) => (vec![correlated(0.0)], "covariances"),
        (None, all) => (all.iter().map(|rho| correlated(*rho)).collect(), "correlation"),
    };
    if given.len() != 1 && given.len() != k {
        let what = format!("{} for {k} components; give one, or one each", given.len());
        return Err(wrong(name, what));
    }
    for covariance in &given {
        factor(p, covariance)?;
    }
    Ok((0..k).map(|i| given[i.min(given.len() - 1)].clone()).collect())
}

/// The packed Cholesky factor of a covariance matrix.
fn factor(p: usize, covariance: &[Vec<f64>]) -> Result<Vec<f64>, StudyError> {
    let packed = (covariance.len() == p).then(|| pack(covariance)).flatten();
    let mut packed = packed.ok_or_else(|| {
        wrong("covariances", format!("a matrix is not symmetric with {p} rows and columns"))
    })?;
    cholesky(p, &mut packed).map_err(|_| wrong("covariances", NOT_SPD.to_owned()))?;
    Ok(packed)
}

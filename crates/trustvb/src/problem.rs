//! Data with a model for them: bound once, and asked for fits and tables.

use crate::defaults;
use crate::fit::{self, Fit, FitOptions, Progress, Start};
use crate::model::{Degenerate, Model, ModelData, ModelError, ModelSpec, Weighted};
use crate::table::{TableRequest, hash_data};
use crate::weights::{UnitWeights, WeightError};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A model bound to its data: what is fitted, and what tables are built from. Copies share everything.
///
/// ```
/// use trustvb::prelude::*;
///
/// let problem = GaussianMixture::new(2).bind(Dataset::faithful())?;
/// let fit = problem.fit().seed(1).run()?;
/// assert!((fit.posterior.weights()[0] - 0.642).abs() < 0.001);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Problem {
    spec: ModelSpec,
    data: Arc<ModelData>,
    weights: Option<Arc<UnitWeights>>,
    /// The model without weights.
    bare: Arc<dyn Model>,
    model: Arc<dyn Model>,
    hash: Arc<OnceLock<String>>,
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Problem").field("spec", &self.spec).finish_non_exhaustive()
    }
}

impl Problem {
    /// Checks that the data are the model's, and binds them.
    pub fn new(
        spec: impl Into<ModelSpec>,
        data: impl Into<ModelData>,
    ) -> Result<Problem, ModelError> {
        let (spec, data) = (spec.into(), Arc::new(data.into()));
        let model: Arc<dyn Model> = Arc::from(spec.build(&data)?);
        Ok(Problem { spec, data, weights: None, bare: model.clone(), model, hash: Arc::default() })
    }

    /// The same with a weight for each unit, through fits, resamples and tables; instead of those that it had. A level
    /// that only rows of weight 0 have is no longer one.
    ///
    /// ```
    /// use trustvb::prelude::*;
    ///
    /// let counts: Vec<f64> = (0..272).map(|row| f64::from(row % 3)).collect();
    /// let from = WeightsFrom { kind: WeightKind::Frequency, column: "n".to_owned() };
    /// let problem = GaussianMixture::new(2).bind(Dataset::faithful())?;
    /// let problem = problem.weighted(UnitWeights::new(from, counts)?)?;
    /// assert_eq!(problem.n_units(), 271);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn weighted(self, weights: UnitWeights) -> Result<Problem, WeightError> {
        let (given, needed) = (weights.n_rows(), self.data.n_units());
        if given != needed {
            return Err(WeightError::Length { given, needed });
        }
        let without = self.spec.without_rows_of_weight_0(&self.data, weights.repeats());
        // What is left may be no data for the model, such as a column with one level: then it stays as it is.
        let less = without.and_then(|(spec, data)| Problem::new(spec, data).ok());
        Ok(less.unwrap_or(self).weighted_as_it_is(weights))
    }

    /// The same with weights for the units that it has, which are known to be as many; nothing else changes.
    pub(crate) fn weighted_as_it_is(self, weights: UnitWeights) -> Problem {
        let weights = Arc::new(weights);
        let model = Arc::new(Weighted::new(self.bare.clone(), weights.clone()));
        Problem { weights: Some(weights), model, hash: Arc::default(), ..self }
    }

    /// The weights of units, where they have any.
    pub fn weights(&self) -> Option<&Arc<UnitWeights>> {
        self.weights.as_ref()
    }

    /// Number of exchangeable units: what is resampled.
    pub fn n_units(&self) -> usize {
        self.weights.as_ref().map_or(self.data.n_units(), |weights| weights.n_units())
    }

    /// The model's settings.
    pub fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    /// The data.
    pub fn data(&self) -> &Arc<ModelData> {
        &self.data
    }

    /// The model on its data.
    pub fn model(&self) -> &Arc<dyn Model> {
        &self.model
    }

    /// SHA-256 of names and values of the data, weights among them.
    pub fn data_hash(&self) -> &str {
        self.hash.get_or_init(|| hash_data(&self.data, self.weights.as_deref()))
    }

    /// One fit, by default at ω = 1 from the best of ten starts.
    pub fn fit(&self) -> FitRequest<'_> {
        FitRequest {
            problem: self,
            omega: 1.0,
            weights: None,
            seed: defaults::SEED,
            starts: defaults::STARTS,
            centres: None,
            options: FitOptions::default(),
        }
    }

    /// A table, by default for the methods that are usually shown.
    pub fn table(&self) -> TableRequest<'_> {
        TableRequest::new(self)
    }
}

/// A fit that is asked for: what is left unsaid has its usual value.
#[derive(Clone, Debug)]
pub struct FitRequest<'a> {
    problem: &'a Problem,
    omega: f64,
    weights: Option<&'a [f64]>,
    seed: u64,
    starts: usize,
    centres: Option<Vec<f64>>,
    options: FitOptions,
}

impl<'a> FitRequest<'a> {
    /// At this power of the likelihood.
    pub fn omega(self, omega: f64) -> Self {
        FitRequest { omega, ..self }
    }

    /// With a weight for each unit.
    pub fn weights(self, weights: &'a [f64]) -> Self {
        FitRequest { weights: Some(weights), ..self }
    }

    /// Seed of the random starts.
    pub fn seed(self, seed: u64) -> Self {
        FitRequest { seed, ..self }
    }

    /// So many random starts, of which the best wins.
    pub fn starts(self, starts: usize) -> Self {
        FitRequest { starts, ..self }
    }

    /// From these centres, component after component, and no others.
    pub fn centres(self, centres: Vec<f64>) -> Self {
        FitRequest { centres: Some(centres), ..self }
    }

    /// Iterated like this.
    pub fn options(self, options: FitOptions) -> Self {
        FitRequest { options, ..self }
    }

    /// Fits.
    pub fn run(self) -> Result<Fit, Degenerate> {
        self.run_watched(&mut |_| ())
    }

    /// As [`run`](Self::run), telling after every sweep how far it is.
    pub fn run_watched(self, watch: &mut dyn FnMut(&Progress)) -> Result<Fit, Degenerate> {
        let start = match self.centres {
            Some(centres) => Start::Centres(centres),
            None => Start::KMeans { restarts: self.starts, seed: self.seed },
        };
        let model = self.problem.model.as_ref();
        fit::fit(model, self.weights, self.omega, &start, &self.options, watch)
    }
}

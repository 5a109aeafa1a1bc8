//! Tables in memory with settings that a test can change one by one.

use trustvb::backend::{Cpu, Job};
use trustvb::calibrate::{Answer, Calibrator, Method};
use trustvb::data::Dataset;
use trustvb::fit::Start;
use trustvb::functional::Functional;
use trustvb::model::{
    BmlrPrior, GaussianMixture, GmmPrior, ModelData, ModelSpec, Noise, RegressionMixture,
};
use trustvb::problem::Problem;
use trustvb::resample::{Design, GivenResamples, Resamples, Subsets};
use trustvb::table::{Blueprint, OmegaGrid, Plan, Replicates, Settings, TvbTable, Watch};

/// Draws behind a law without an exact form.
pub(crate) const DRAWS: usize = 400;

/// What a table is made of.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) settings: Settings,
    pub(crate) data: ModelData,
    pub(crate) given: Option<GivenResamples>,
}

impl Case {
    /// A Gaussian mixture with the default prior, started by k-means.
    pub(crate) fn gmm(data: Dataset, n_components: usize) -> Case {
        Case::gmm_with(data, n_components, GmmPrior::default())
    }

    pub(crate) fn gmm_with(data: Dataset, n_components: usize, prior: GmmPrior) -> Case {
        let model = GaussianMixture::new(n_components).prior(prior).into();
        Case::new(model, ModelData::Rows(data))
    }

    /// A mixture of regressions on the columns as they are.
    pub(crate) fn bmlr(data: trustvb::data::Grouped, n_components: usize, noise: Noise) -> Case {
        let prior = BmlrPrior::paper();
        let model = RegressionMixture::new(n_components, "").prior(prior).noise(noise).into();
        Case::new(model, ModelData::Groups(data))
    }

    fn new(model: ModelSpec, data: ModelData) -> Case {
        let plan = Plan {
            start: Start::KMeans { restarts: 5, seed: 1 },
            ..Plan::new(1, vec![Design::Full, Design::Split])
        };
        let (mut settings, _) = plan.settings(model).unwrap();
        settings.replicates = Replicates::default();
        Case { settings, data, given: None }.grid(40, 0.01)
    }

    pub(crate) fn grid(mut self, points: usize, min: f64) -> Case {
        self.settings.omegas = OmegaGrid { points, min }.omegas();
        self.settings.omega_min = min;
        self
    }

    /// So many bootstraps of all units and of one half.
    pub(crate) fn bootstraps(mut self, full: u32, split: u32) -> Case {
        self.settings.replicates = Replicates { full, split };
        self.settings.bootstraps = full.max(split);
        self
    }

    /// Bootstraps of all units are drawn from so many subsets of the usual size.
    pub(crate) fn subsets(mut self, count: u32) -> Case {
        self.settings.subsets = Some(Subsets::of(self.data.n_units(), count));
        self
    }

    pub(crate) fn seed(mut self, seed: u64) -> Case {
        self.settings.seed = seed;
        self
    }

    pub(crate) fn resamples(&self) -> Resamples {
        Resamples::new(self.settings.seed, self.settings.fresh_splits, self.given.clone())
            .with_subsets(self.settings.subsets)
    }

    pub(crate) fn build(&self) -> TvbTable {
        self.build_watched(&Watch::silent())
    }

    pub(crate) fn build_watched(&self, watch: &Watch<'_>) -> TvbTable {
        self.blueprint().build(&Cpu, watch).unwrap()
    }

    pub(crate) fn blueprint(&self) -> Blueprint {
        let problem = Problem::new(self.settings.model.clone(), self.data.clone()).unwrap();
        Blueprint { problem, settings: self.settings.clone(), resamples: self.resamples() }
    }
}

/// A path's job, its numbers as bits, its sweeps, and how its fits ended.
pub(crate) type PathBits = (Job, Vec<u64>, Vec<u32>, Vec<i32>);

/// Every number of a table, as bits.
pub(crate) fn bits(table: &TvbTable) -> Vec<PathBits> {
    let of = |list: &[f64]| list.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    table
        .paths()
        .map(|(job, path)| {
            let numbers = [of(&path.parameters), of(&path.bound)].concat();
            let status = path.status.iter().map(|status| *status as i32).collect();
            (*job, numbers, path.sweeps.clone(), status)
        })
        .collect()
}

/// All answers for a functional with one part.
pub(crate) fn ask(table: &TvbTable, text: &str, methods: &[Method], levels: &[f64]) -> Vec<Answer> {
    let functional = Functional::parse(text, table.layout()).unwrap();
    assert_eq!(functional.parts().len(), 1, "{text}");
    let calibrator = Calibrator::new(table, DRAWS).unwrap();
    calibrator.answer(&functional.parts()[0], methods, levels).unwrap()
}

/// The one answer of a method at 95%.
pub(crate) fn ask_one(table: &TvbTable, text: &str, method: Method) -> Answer {
    ask(table, text, &[method], &[0.95]).remove(0)
}

pub(crate) fn has_flag(answer: &Answer, name: &str) -> bool {
    answer.flags.iter().any(|flag| flag.name() == name)
}

//! What a model's settings must say of themselves, so that nobody else need know which model they are of.

use super::weigh::Weighing;
use super::wish::{Source, WishError, Wished, Wishes};
use super::{KINDS, Model, ModelData, ModelError, ModelSpec, PriorBase, Tails};
use crate::data::Dataset;
use crate::functional::Quantity;
use crate::posterior::{Block, Layout, Posterior};
use serde_json::{Map, Value};

/// A noun in singular and plural.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noun {
    /// `row`.
    pub one: &'static str,
    /// `rows`.
    pub many: &'static str,
}

impl Noun {
    /// What most models call their components.
    pub const COMPONENT: Noun = Noun { one: "component", many: "components" };

    /// `1 row`, `3 rows`.
    pub fn count(&self, n: usize) -> String {
        format!("{n} {}", if n == 1 { self.one } else { self.many })
    }
}

/// What holds for a model whatever its settings: its names and words.
#[derive(Debug)]
pub struct Kind {
    /// As in files and on the command line: `gmm`.
    pub name: &'static str,
    /// In words: `Gaussian mixture`.
    pub title: &'static str,
    /// What its components are: `Gaussian`, `Gaussians`.
    pub component: Noun,
    /// What one is called by its number: `component`, `components`.
    pub called: Noun,
    /// What its coordinates are: `column`, `columns`.
    pub coordinate: Noun,
    /// What is resampled: `row`, `rows`.
    pub unit: Noun,
    /// Whether sweeps need every row: rows that were streamed cannot then be resampled.
    pub needs_rows: bool,
    /// What users can ask for.
    pub(crate) quantities: &'static [Quantity],
    /// The options of a command line that it takes, of those that not every model does.
    pub(super) takes: &'static [&'static str],
    /// What to add when an option is refused.
    pub(super) because: &'static [(&'static str, &'static str)],
    /// Whether wishes that name no model mean this one.
    pub(super) is_meant: fn(&Wishes) -> bool,
    /// Data and settings that users' wishes mean.
    pub(super) grant: fn(&Wishes, &dyn Source) -> Result<Wished, WishError>,
}

impl Kind {
    /// The model of this name.
    pub fn named(name: &str) -> Option<&'static Kind> {
        KINDS.into_iter().find(|kind| kind.name == name)
    }

    /// Reads the data and settles the model that wishes mean, if they are this model's.
    pub fn grant(&self, wishes: &Wishes, source: &dyn Source) -> Result<Wished, WishError> {
        wishes.check(self)?;
        let Some(wish) = &wishes.weights else { return (self.grant)(wishes, source) };
        if wishes.stream {
            let what = format!(
                "--stream holds no rows, so it cannot go with {}; leave --stream out",
                wish.kind.option()
            );
            return Err(WishError::Options(what));
        }
        let weighing = Weighing::new(source, wish);
        let wished = (self.grant)(wishes, &weighing)?;
        let weights = Some(weighing.weights(&wished.data)?);
        Ok(Wished { weights, ..wished })
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Kind) -> bool {
        self.name == other.name
    }
}

/// A prior in words.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorInWords {
    /// Where unset parameters come from.
    pub base: PriorBase,
    /// What they are then.
    pub usual: String,
    /// The parameters that were set, as a prior's file has them.
    pub given: Map<String, Value>,
}

impl PriorInWords {
    pub(super) fn new(base: PriorBase, usual: String, prior: &impl serde::Serialize) -> Self {
        let mut given = match serde_json::to_value(prior) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        given.remove("base");
        PriorInWords { base, usual, given }
    }
}

/// A model's settings without data: what a manifest records and a command line says.
///
/// This is all that tables, studies, commands, reports and bindings know of a model before it meets its data; what it
/// does with them is [`Model`]. The cut is made here, and not at a table of functions per model, because most answers
/// depend on settings: whether there is a noise block, which prior the words describe.
pub trait Spec: Send + Sync {
    /// Names and words.
    fn kind(&self) -> &'static Kind;
    /// Number of components.
    fn n_components(&self) -> usize;
    /// The blocks of its posterior and the names of its coordinates for data of these [`ModelData::variables`]; `None`
    /// when such data cannot be its.
    fn blocks(&self, variables: &[String]) -> Option<(Vec<Block>, Vec<String>)>;
    /// The model on its data.
    fn build(&self, data: &ModelData) -> Result<Box<dyn Model>, ModelError>;
    /// The inverse of [`ModelData::columns`]: its data from a file of numbers.
    fn stored_data(&self, data: Dataset) -> Result<ModelData, ModelError>;
    /// The model in a sentence, for data of these variables.
    fn in_words(&self, variables: &[String]) -> String;
    /// The prior in words, for data of these variables.
    fn prior_in_words(&self, variables: &[String]) -> PriorInWords;
    /// The options of a command line that say it, without data, components and prior; as those of the paper's code are
    /// understood with `--published`.
    fn options(&self, published: bool) -> Vec<(&'static str, String)>;
    /// The quantities of a component, 1-based, that a fit's summary shows.
    fn summary(&self, layout: &Layout, component: usize) -> Vec<String>;
    /// What a user should know of the data before they look at answers, a sentence each.
    fn remarks(&self, _data: &ModelData) -> Vec<String> {
        Vec::new()
    }

    /// The same with so many components.
    fn with_components(&self, n_components: usize) -> ModelSpec;
    /// Numbers that are free in it, for data of these variables: what a criterion such as BIC counts.
    fn n_free(&self, variables: &[String]) -> usize;
    /// The log density of each unit at the posterior means of the parameters; `None` where the data do not allow it.
    fn ln_densities(&self, data: &ModelData, posterior: &Posterior) -> Option<Vec<f64>>;
    /// Which of its shapes it has, where it comes in several: `full`, `tied`.
    fn shape(&self) -> Option<&'static str> {
        None
    }
    /// Whether bounds of such models, of any shape and number of components, say which describes the units best: not where
    /// the prior is another one for each.
    fn bounds_compare(&self) -> bool {
        false
    }
    /// What a prior that knew how far apart the components are would add to the bound of a fit to these units, each so many
    /// times.
    fn apart(&self, _data: &ModelData, _posterior: &Posterior, _counts: Option<&[f64]>) -> f64 {
        0.0
    }
    /// The tails of a fit to these units, each so many times, where they are heavier than the model's own; nothing where
    /// the model cannot say.
    fn tails(
        &self,
        _data: &ModelData,
        _posterior: &Posterior,
        _counts: Option<&[f64]>,
    ) -> Option<Tails> {
        None
    }
    /// The same in all its shapes, itself among them.
    fn shapes(&self) -> Vec<ModelSpec> {
        vec![self.with_components(self.n_components())]
    }

    /// What the prior adds to the counts behind a posterior of all units at ω: as many numbers as the posterior has
    /// parameters, NaN where they are no counts. Only shares and rates of units have any.
    fn prior_counts(&self, posterior: &Posterior, omega: f64, n_units: usize) -> Vec<f64> {
        of_weights(posterior, omega, n_units)
    }

    /// Settings and data as they were if rows of weight 0 were not there, where that makes a difference to a model:
    /// levels that no other row has are none.
    fn without_rows_of_weight_0(
        &self,
        _data: &ModelData,
        _weights: &[f64],
    ) -> Option<(ModelSpec, ModelData)> {
        None
    }

    /// What it is, in a few words: `Gaussian mixture`.
    fn title(&self) -> String {
        self.kind().title.to_owned()
    }

    /// What is resampled.
    fn unit(&self) -> Noun {
        self.kind().unit
    }

    /// Its short name.
    fn name(&self) -> &'static str {
        self.kind().name
    }

    /// The layout of its posterior for data of these [`ModelData::variables`].
    fn layout(&self, variables: &[String]) -> Option<Layout> {
        let (blocks, coordinates) = self.blocks(variables)?;
        Some(Layout::new(self.n_components(), coordinates, blocks))
    }

    /// Length of that layout, computed without making it; `None` also when no memory could hold it.
    fn n_parameters(&self, variables: &[String]) -> Option<usize> {
        let (blocks, _) = self.blocks(variables)?;
        blocks.iter().try_fold(0usize, |sum, block| sum.checked_add(block.n_parameters()?))
    }
}

/// The prior's part of the weights' parameters, `(Σα − ωn)/K` of each, and NaN for all others.
pub(super) fn of_weights(posterior: &Posterior, omega: f64, n_units: usize) -> Vec<f64> {
    let parameters = posterior.parameters();
    let mut prior = vec![f64::NAN; parameters.len()];
    if let Some(block) = posterior.layout().weights() {
        let own = block.offset..block.offset + block.dim;
        let total: f64 = parameters[own.clone()].iter().sum();
        prior[own].fill((total - omega * n_units as f64) / block.dim as f64);
    }
    prior
}

//! A mixture of linear regressions as its settings, and what it says of itself.

use super::{Bmlr, BmlrPrior, GroupStatistics, IS_STATISTICS, Noise, bmlr_ln_density};
use crate::data::{DataError, Dataset, Formula, Frame, Grouped, ReadOptions};
use crate::functional::{Entry, Place, Quantity, Reported};
use crate::model::data::GROUP;
use crate::model::spec::{Kind, Noun, PriorInWords};
use crate::model::wish::{Source, WishError, Wished, Wishes};
use crate::model::{Model, ModelData, ModelError, ModelSpec, PriorBase, Spec, WEIGHT};
use crate::posterior::{Block, Family, Layout, Posterior};
use crate::problem::Problem;
use serde::{Deserialize, Serialize};

/// A mixture of linear regressions, as its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegressionMixture {
    /// Number of components.
    pub n_components: usize,
    /// Its prior.
    pub prior: BmlrPrior,
    /// What is known of the noise.
    pub noise: Noise,
    /// The formula that made the design, for the record.
    pub formula: String,
}

impl RegressionMixture {
    /// A mixture of so many regressions by this formula, such as `y ~ x | group`, with the default prior.
    pub fn new(n_components: usize, formula: &str) -> RegressionMixture {
        let (prior, noise) = (BmlrPrior::default(), Noise::Estimate);
        RegressionMixture { n_components, prior, noise, formula: formula.to_owned() }
    }

    /// With this prior.
    pub fn prior(self, prior: BmlrPrior) -> RegressionMixture {
        RegressionMixture { prior, ..self }
    }

    /// With this knowledge of the noise.
    pub fn noise(self, noise: Noise) -> RegressionMixture {
        RegressionMixture { noise, ..self }
    }

    /// Bound to what its formula makes of this frame.
    pub fn bind(self, frame: &Frame) -> Result<Problem, ModelError> {
        let data = Formula::parse(&self.formula)?.apply(frame)?;
        Problem::new(self, data)
    }
}

const fn positive(name: &'static str, words: &'static str) -> Quantity {
    let (entry, reported) = (Entry::Positive, Reported::Nothing);
    Quantity { name, words, entry, place: Place::Block(name), reported }
}

/// Names and words.
pub(in crate::model) const KIND: Kind = Kind {
    name: "bmlr",
    title: "mixture of linear regressions",
    component: Noun { one: "linear regression", many: "linear regressions" },
    called: Noun::COMPONENT,
    coordinate: Noun { one: "coefficient", many: "coefficients" },
    unit: Noun { one: "group", many: "groups" },
    needs_rows: false,
    quantities: &[
        WEIGHT,
        Quantity {
            name: "beta",
            words: "coefficient",
            entry: Entry::Coefficient,
            place: Place::Block("beta"),
            reported: Reported::All,
        },
        positive("tau", "prior precision of the coefficients"),
        positive("noise", "noise precision"),
    ],
    takes: &["--formula", "--stream", "--noise", "--published"],
    because: &[("--columns", "; use --formula")],
    is_meant: |wishes| wishes.formula.is_some(),
    grant,
};

/// Groups by the wished formula, and a mixture for them.
fn grant(wishes: &Wishes, source: &dyn Source) -> Result<Wished, WishError> {
    let Some(text) = wishes.formula.as_deref() else {
        let what = "--model bmlr needs a formula, such as --formula 'y ~ x | group'";
        return Err(WishError::Options(what.to_owned()));
    };
    let formula = Formula::parse(text).map_err(|e| WishError::Options(e.to_string()))?;
    let options = ReadOptions { drop_missing: wishes.drop_missing, ..formula.read_options() };
    let (k, least) = (wishes.components, wishes.min_group_rows);
    let (data, dropped) = if wishes.stream {
        let data = statistics(source, &formula, options)?;
        data.check_for_mixture(k, least)?;
        let dropped = data.n_dropped();
        (ModelData::Statistics(data), dropped)
    } else {
        let frame = source.frame(options)?;
        let data = formula.apply(&frame)?;
        data.check_for_mixture(k, least)?;
        (ModelData::Groups(data), frame.dropped_rows().len())
    };
    let (mut prior, base): (BmlrPrior, _) = wishes.prior.read(wishes.published)?;
    prior.base = base.unwrap_or(prior.base);
    prior.check().map_err(|what| wishes.prior.wrong(&what))?;
    let noise = match (wishes.noise.as_deref(), prior.lambda.take(), wishes.published) {
        (Some(text), _, _) => noise(text)?,
        (None, Some(lambda), _) => Noise::Known(lambda),
        // The paper takes the noise precision as known.
        (None, None, true) => Noise::Known(1.0),
        (None, None, false) => Noise::Estimate,
    };
    let formula = text.to_owned();
    let spec = RegressionMixture { n_components: k, prior, noise, formula }.into();
    Ok(Wished { spec, data, dropped, weights: None })
}

/// Sums over the groups of a file that is read in pieces, or that holds such sums.
fn statistics(
    source: &dyn Source,
    formula: &Formula,
    options: ReadOptions<'_>,
) -> Result<GroupStatistics, DataError> {
    if let Some(path) = source.path()
        && let Some(data) = GroupStatistics::read_stored(path, formula)?
    {
        return Ok(data);
    }
    let mut found = None;
    source.pieces(options, &mut |pieces| {
        found = Some(GroupStatistics::from_pieces(formula, pieces)?);
        Ok(())
    })?;
    match found {
        Some(data) => Ok(data),
        // A source that gives no pieces has no rows.
        None => GroupStatistics::from_pieces(formula, std::iter::empty()),
    }
}

fn noise(text: &str) -> Result<Noise, WishError> {
    if text == "estimate" {
        return Ok(Noise::Estimate);
    }
    let number = text.strip_prefix("known=").and_then(|number| number.parse::<f64>().ok());
    number.filter(|x| x.is_finite() && *x > 0.0).map(Noise::Known).ok_or_else(|| {
        WishError::Options(format!(
            "--noise {text}: say estimate, or known=1 with a positive precision"
        ))
    })
}

/// The blocks for so many components and coefficients.
pub(super) fn blocks(k: usize, p: usize, noise: Noise) -> Vec<Block> {
    let mut blocks = vec![
        Block::weights("pi", k),
        Block::centre("beta", Family::MvNormal, k, p),
        Block::component("tau", Family::Gamma, k, 1),
    ];
    if noise == Noise::Estimate {
        blocks.push(Block::component("noise", Family::Gamma, k, 1));
    }
    blocks
}

impl Spec for RegressionMixture {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn n_components(&self) -> usize {
        self.n_components
    }

    /// Without groups in the formula, every row is one of its own.
    fn unit(&self) -> Noun {
        match self.formula.contains('|') {
            true => KIND.unit,
            false => Noun { one: "row", many: "rows" },
        }
    }

    fn blocks(&self, variables: &[String]) -> Option<(Vec<Block>, Vec<String>)> {
        let [_, design @ .., group] = variables else { return None };
        let blocks = blocks(self.n_components, design.len(), self.noise);
        (group == GROUP).then(|| (blocks, design.to_vec()))
    }

    fn build(&self, data: &ModelData) -> Result<Box<dyn Model>, ModelError> {
        let (k, prior) = (self.n_components, self.prior.clone());
        Ok(Box::new(match data {
            ModelData::Groups(data) => Bmlr::new(data, k, prior, self.noise)?,
            ModelData::Statistics(data) => Bmlr::from_statistics(data, k, prior, self.noise)?,
            _ => return Err(ModelError::WrongData(KIND.name)),
        }))
    }

    fn stored_data(&self, data: Dataset) -> Result<ModelData, ModelError> {
        if !data.is_complete() {
            return Err(ModelError::WrongData(KIND.name));
        }
        if data.names()[0] == IS_STATISTICS {
            let found = GroupStatistics::from_dataset(&data);
            return found.map(ModelData::Statistics).ok_or(ModelError::WrongData(KIND.name));
        }
        let p = data.n_columns();
        if p < 3 || data.names()[p - 1] != GROUP {
            return Err(ModelError::WrongData(KIND.name));
        }
        let labels: Vec<String> = data.column(p - 1).iter().map(f64::to_string).collect();
        let grouped = Grouped::from_columns(
            data.names()[0].clone(),
            data.column(0).to_vec(),
            data.names()[1..p - 1].to_vec(),
            (1..p - 1).map(|j| data.column(j).to_vec()).collect(),
            Some(&labels),
        )?;
        Ok(ModelData::Groups(grouped))
    }

    fn in_words(&self, _variables: &[String]) -> String {
        format!(
            "A mixture of {}, {}, with {}.",
            KIND.component.count(self.n_components),
            self.formula,
            match self.noise {
                Noise::Estimate => "a noise precision estimated for each component".to_owned(),
                Noise::Known(x) => format!("noise precision {x} taken as known"),
            }
        )
    }

    fn prior_in_words(&self, _variables: &[String]) -> PriorInWords {
        let usual = format!(
            "α₀ = 1/{}, a₀ = b₀ = c₀ = d₀ = 0.1, meant for {}",
            self.n_components,
            match self.prior.base {
                PriorBase::Default | PriorBase::Standardised => "standardised columns and response",
                PriorBase::Paper => "the columns as they are",
            }
        );
        PriorInWords::new(self.prior.base, usual, &self.prior)
    }

    fn options(&self, published: bool) -> Vec<(&'static str, String)> {
        let mut options = vec![("--formula", self.formula.clone())];
        match self.noise {
            Noise::Known(1.0) if published => {}
            Noise::Estimate if !published => {}
            Noise::Known(x) => options.push(("--noise", format!("known={x}"))),
            Noise::Estimate => options.push(("--noise", "estimate".to_owned())),
        }
        options
    }

    fn with_components(&self, n_components: usize) -> ModelSpec {
        RegressionMixture { n_components, ..self.clone() }.into()
    }

    fn n_free(&self, variables: &[String]) -> usize {
        // All but the response and the group.
        let (k, p) = (self.n_components, variables.len().saturating_sub(2));
        let noise = if self.noise == Noise::Estimate { k } else { 0 };
        k - 1 + k * p + noise
    }

    fn ln_densities(&self, data: &ModelData, posterior: &Posterior) -> Option<Vec<f64>> {
        let ModelData::Groups(data) = data else { return None };
        let known = match self.noise {
            Noise::Known(precision) => Some(precision),
            Noise::Estimate => None,
        };
        Some(bmlr_ln_density(posterior, known, data))
    }

    fn summary(&self, layout: &Layout, k: usize) -> Vec<String> {
        let mut texts = vec![format!("pi[{k}]")];
        texts.extend((1..=layout.coordinates.len()).map(|j| format!("beta[{k},{j}]")));
        texts.push(format!("tau[{k}]"));
        if layout.block("noise").is_some() {
            texts.push(format!("1/sqrt(noise[{k}])"));
        }
        texts
    }
}

//! A Gaussian mixture as its settings, and what it says of itself.

use super::{Gmm, GmmPrior, Update};
use crate::data::{DataError, Dataset, ReadOptions};
use crate::functional::{Entry, Place, Quantity, Reported};
use crate::model::spec::{Kind, Noun, PriorInWords};
use crate::model::wish::{Source, WishError, Wished, Wishes};
use crate::model::{Model, ModelData, ModelError, PriorBase, Spec, WEIGHT};
use crate::posterior::{Block, Family, Layout};
use crate::problem::Problem;
use serde::{Deserialize, Serialize};

/// A mixture of Gaussians with full covariances, as its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GaussianMixture {
    /// Number of components.
    pub n_components: usize,
    /// Its prior.
    pub prior: GmmPrior,
    /// Which form of (M4).
    pub update: Update,
}

impl GaussianMixture {
    /// A mixture of so many Gaussians, with the default prior.
    pub fn new(n_components: usize) -> GaussianMixture {
        let (prior, update) = (GmmPrior::default(), Update::Corrected);
        GaussianMixture { n_components, prior, update }
    }

    /// With this prior.
    pub fn prior(self, prior: GmmPrior) -> GaussianMixture {
        GaussianMixture { prior, ..self }
    }

    /// With this form of (M4).
    pub fn update(self, update: Update) -> GaussianMixture {
        GaussianMixture { update, ..self }
    }

    /// Bound to all columns of these rows.
    pub fn bind(self, data: Dataset) -> Result<Problem, ModelError> {
        Problem::new(self, data)
    }
}

/// The block of means and precisions.
pub(super) const BLOCK: &str = "mu_lambda";

const fn quantity(
    name: &'static str,
    words: &'static str,
    entry: Entry,
    reported: Reported,
) -> Quantity {
    Quantity { name, words, entry, place: Place::Block(BLOCK), reported }
}

/// Names and words.
pub(in crate::model) const KIND: Kind = Kind {
    name: "gmm",
    title: "Gaussian mixture",
    component: Noun { one: "Gaussian", many: "Gaussians" },
    coordinate: Noun { one: "column", many: "columns" },
    unit: Noun { one: "row", many: "rows" },
    quantities: &[
        WEIGHT,
        quantity("mu", "mean", Entry::Mean, Reported::All),
        quantity("sigma", "covariance", Entry::Covariance, Reported::Nothing),
        quantity("sd", "standard deviation", Entry::Deviation, Reported::Nothing),
        quantity("cor", "correlation", Entry::Correlation, Reported::Nothing),
    ],
    takes: &["--columns", "--update", "--published"],
    because: &[(
        "--stream",
        " with a --formula: a mixture of regressions needs only sums over each group, but a Gaussian mixture needs its \
         rows in every sweep, so they must be in memory; leave --stream out",
    )],
    is_meant: |_| false,
    grant,
};

/// Rows of the wished columns, and a mixture for them.
fn grant(wishes: &Wishes, source: &dyn Source) -> Result<Wished, WishError> {
    let options = ReadOptions {
        columns: wishes.columns.clone(),
        drop_missing: wishes.drop_missing,
        ..ReadOptions::default()
    };
    let frame = source.frame(options).map_err(DataError::of_numbers_only)?;
    let dropped = frame.dropped_rows().len();
    let data = ModelData::Rows(frame.into_dataset()?);
    let as_published = if wishes.published { Update::AsPrinted } else { Update::Corrected };
    let update = wishes.update.unwrap_or(as_published);
    let (mut prior, base): (GmmPrior, _) = wishes.prior.read(wishes.published)?;
    prior.base = base.unwrap_or(prior.base);
    let spec = GaussianMixture { n_components: wishes.components, prior, update }.into();
    Ok(Wished { spec, data, dropped })
}

/// The blocks for so many components and columns.
pub(super) fn blocks(k: usize, p: usize) -> Vec<Block> {
    vec![Block::weights("pi", k), Block::centre(BLOCK, Family::NormalWishart, k, p)]
}

impl Spec for GaussianMixture {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn n_components(&self) -> usize {
        self.n_components
    }

    fn blocks(&self, variables: &[String]) -> Option<(Vec<Block>, Vec<String>)> {
        Some((blocks(self.n_components, variables.len()), variables.to_vec()))
    }

    fn build(&self, data: &ModelData) -> Result<Box<dyn Model>, ModelError> {
        let ModelData::Rows(data) = data else { return Err(ModelError::WrongData(KIND.name)) };
        Ok(Box::new(Gmm::new(data, self.n_components, self.prior.clone(), self.update)?))
    }

    fn stored_data(&self, data: Dataset) -> Result<ModelData, ModelError> {
        match data.is_complete() {
            true => Ok(ModelData::Rows(data)),
            false => Err(ModelError::WrongData(KIND.name)),
        }
    }

    fn in_words(&self, variables: &[String]) -> String {
        format!(
            "A mixture of {} with full covariances in {} ({}){}.",
            KIND.component.count(self.n_components),
            KIND.coordinate.count(variables.len()),
            variables.join(", "),
            match self.update {
                Update::Corrected => "",
                Update::AsPrinted => ", with the covariance update as the paper prints it",
            }
        )
    }

    fn prior_in_words(&self, variables: &[String]) -> PriorInWords {
        let (k, p) = (self.n_components, variables.len());
        let old = |w0: &str| {
            format!("α₀ = 1/{k}, m₀ = column means, β₀ = 1, ν₀ = p + 2 = {}, W₀ = {w0}", p + 2)
        };
        let usual = match self.prior.base {
            PriorBase::Default if self.prior.w0.is_some() => {
                format!("α₀ = 1, m₀ = column means, β₀ = 0.01, ν₀ = p + 2 = {}", p + 2)
            }
            PriorBase::Default => format!(
                "α₀ = 1, m₀ = column means, β₀ = 0.01, and covariances that share a scale learned from all \
                 components: each is tied to it with ν₀ = p + 6 = {} degrees of freedom or, with probability ½, \
                 loosely with p + 2",
                p + 6
            ),
            PriorBase::Standardised => {
                old("the correlation matrix of standardised columns, mapped back")
            }
            PriorBase::Paper => old("the covariance matrix"),
        };
        PriorInWords::new(self.prior.base, usual, &self.prior)
    }

    fn options(&self, published: bool) -> Vec<(&'static str, String)> {
        let usual = if published { Update::AsPrinted } else { Update::Corrected };
        let name = match self.update {
            Update::Corrected => "corrected",
            Update::AsPrinted => "as-printed",
        };
        let differs = self.update != usual;
        differs.then(|| ("--update", name.to_owned())).into_iter().collect()
    }

    fn summary(&self, layout: &Layout, k: usize) -> Vec<String> {
        let p = layout.coordinates.len();
        let mut texts = vec![format!("pi[{k}]")];
        texts.extend((1..=p).map(|j| format!("mu[{k},{j}]")));
        texts.extend((1..=p).map(|j| format!("sd[{k},{j}]")));
        for i in 1..=p {
            texts.extend((1..i).map(|j| format!("cor[{k},{i},{j}]")));
        }
        texts
    }
}

//! A Gaussian mixture as its settings, and what it says of itself.

use super::apart;
use super::tails::{Tails, tails};
use super::{Covariance, Gmm, GmmPrior, ShapedGmm, Update, far, gmm_ln_density};
use crate::data::{DataError, Dataset, Distinct, Frame, Look, ReadOptions};
use crate::functional::{Entry, Place, Quantity, Reported};
use crate::model::spec::{Kind, Noun, PriorInWords};
use crate::model::wish::{PriorWish, Source, WishError, Wished, Wishes};
use crate::model::{
    ColumnType, EVERY_COLUMN, Model, ModelData, ModelError, ModelSpec, PriorBase, Spec, WEIGHT,
};
use crate::posterior::{Block, Layout, Posterior};
use crate::problem::Problem;
use serde::{Deserialize, Serialize};

/// A mixture of Gaussians, as its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GaussianMixture {
    /// Number of components.
    pub n_components: usize,
    /// Its prior.
    pub prior: GmmPrior,
    /// Which form of (M4).
    pub update: Update,
    /// The shape of the covariances.
    #[serde(default, skip_serializing_if = "Covariance::is_full")]
    pub covariance: Covariance,
}

impl GaussianMixture {
    /// A mixture of so many Gaussians with full covariances and the default prior.
    pub fn new(n_components: usize) -> GaussianMixture {
        let (prior, update) = (GmmPrior::default(), Update::Corrected);
        GaussianMixture { n_components, prior, update, covariance: Covariance::Full }
    }

    /// With covariances of this shape.
    pub fn covariance(self, covariance: Covariance) -> GaussianMixture {
        GaussianMixture { covariance, ..self }
    }

    /// What does not go together.
    pub(super) fn check(&self) -> Result<(), String> {
        match (self.covariance, self.update) {
            (Covariance::Full, _) | (_, Update::Corrected) => Ok(()),
            (shape, Update::AsPrinted) => Err(format!(
                "the update as printed is for full covariances, not for {shape} ones: the paper has no other"
            )),
        }
    }

    /// With this prior.
    pub fn prior(self, prior: GmmPrior) -> GaussianMixture {
        GaussianMixture { prior, ..self }
    }

    /// With this form of (M4).
    pub fn update(self, update: Update) -> GaussianMixture {
        GaussianMixture { update, ..self }
    }

    /// Refuses rows with a column of two values only, such as yes and no, which no Gaussian describes; `accepted` are names of
    /// columns that are to be taken as they are, `*` all. The command, Python and R ask this before they bind; a table's rows
    /// have been let in.
    pub fn check_columns(data: &Dataset, accepted: &[String]) -> Result<(), DataError> {
        let seen: Vec<Distinct> =
            (0..data.n_columns()).map(|j| Distinct::of(data.column(j).iter().copied())).collect();
        let accepts = |name: &str| accepted.iter().any(|own| own == name || own == EVERY_COLUMN);
        refuse_pairs(data.source(), data.names(), &seen, &accepts)
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

/// The same where columns are independent; `mu` and `sd` are then those of any mixture of columns.
const fn of_columns(name: &'static str, words: &'static str, entry: Entry) -> Quantity {
    let (place, reported) = (Place::CoordinatesOf(BLOCK), Reported::Nothing);
    Quantity { name, words, entry, place, reported }
}

/// Names and words.
pub(in crate::model) const KIND: Kind = Kind {
    name: "gmm",
    title: "Gaussian mixture",
    component: Noun { one: "Gaussian", many: "Gaussians" },
    called: Noun::COMPONENT,
    coordinate: Noun { one: "column", many: "columns" },
    unit: Noun { one: "row", many: "rows" },
    needs_rows: true,
    quantities: &[
        WEIGHT,
        quantity("mu", "mean", Entry::Mean, Reported::All),
        quantity("sigma", "covariance", Entry::Covariance, Reported::Nothing),
        quantity("sd", "standard deviation", Entry::Deviation, Reported::Nothing),
        quantity("cor", "correlation", Entry::Correlation, Reported::Nothing),
        of_columns("sigma", "covariance", Entry::Covariance),
        of_columns("cor", "correlation", Entry::Correlation),
    ],
    takes: &["--columns", "--types", "--stream", "--covariance", "--update", "--published"],
    because: &[],
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
    let covariance = wishes.covariance.unwrap_or_default();
    if wishes.stream && covariance != Covariance::Full {
        return Err(WishError::Options(format!(
            "--stream is for --covariance full: sweeps with {covariance} ones need their rows in memory; leave \
             --stream out"
        )));
    }
    only_gaussian(&wishes.types)?;
    let (data, dropped) = if wishes.stream {
        let mut seen = Vec::new();
        let (rows, dropped) = far::stream(source, options, &mut |frame| look_at(frame, &mut seen))
            .map_err(DataError::of_numbers_only)?;
        let names = &rows.summary().names;
        refuse_pairs(rows.source(), names, &seen, &|name| is_accepted(&wishes.types, name))?;
        (ModelData::Far(rows), dropped)
    } else {
        let frame = source.frame(options).map_err(DataError::of_numbers_only)?;
        ColumnType::check(&wishes.types, &frame)?;
        let mut seen = Vec::new();
        look_at(&frame, &mut seen);
        let accepted = |name: &str| {
            let at = frame.column_index(name);
            at.is_ok_and(|j| ColumnType::said(&wishes.types, &frame, j).is_some())
        };
        refuse_pairs(frame.source(), frame.names(), &seen, &accepted)?;
        let dropped = frame.dropped_rows().len();
        (ModelData::Rows(frame.into_dataset()?), dropped)
    };
    let as_published = if wishes.published { Update::AsPrinted } else { Update::Corrected };
    let update = wishes.update.unwrap_or(as_published);
    let (mut prior, base): (GmmPrior, _) = wishes.prior.read(wishes.published)?;
    prior.base = base.unwrap_or(prior.base);
    let spec = GaussianMixture { n_components: wishes.components, prior, update, covariance };
    if wishes.published && covariance != Covariance::Full {
        let what =
            format!("--published is for --covariance full: the paper has no {covariance} one");
        return Err(WishError::Options(what));
    }
    spec.check().map_err(WishError::Options)?;
    if covariance != Covariance::Full && wishes.prior == PriorWish::Paper {
        let what = format!(
            "--prior paper is for --covariance full: the paper has none for {covariance} ones"
        );
        return Err(WishError::Options(what));
    }
    Ok(Wished { spec: spec.into(), data, dropped, weights: None })
}

/// Refuses types that no column of a Gaussian mixture has.
fn only_gaussian(types: &[(String, ColumnType)]) -> Result<(), WishError> {
    let Some((name, kind)) = types.iter().find(|(_, kind)| *kind != ColumnType::Gaussian) else {
        return Ok(());
    };
    let said = if name == EVERY_COLUMN { String::new() } else { format!("{name}=") };
    let kind = kind.name();
    Err(WishError::Options(format!(
        "--types {said}{kind}: columns of --model gmm are gaussian; --model mixture has others"
    )))
}

fn is_accepted(types: &[(String, ColumnType)], name: &str) -> bool {
    types.iter().any(|(own, _)| own == name || own == EVERY_COLUMN)
}

/// Looks at the values of each column of numbers, of a frame or of one more piece of it.
fn look_at(frame: &Frame, seen: &mut Vec<Distinct>) {
    seen.resize_with(frame.n_columns(), Distinct::default);
    for (j, seen) in seen.iter_mut().enumerate() {
        seen.extend(frame.numeric(j).unwrap_or_default().iter().copied());
    }
}

/// Refuses columns of two values, unless they are accepted.
fn refuse_pairs(
    file: &str,
    names: &[String],
    seen: &[Distinct],
    accepted: &dyn Fn(&str) -> bool,
) -> Result<(), DataError> {
    let pair = |(name, seen): (&String, &Distinct)| match seen.look() {
        Look::Pair(values) if seen.come_again() && !accepted(name) => Some((name.clone(), values)),
        _ => None,
    };
    let columns: Vec<_> = names.iter().zip(seen).filter_map(pair).collect();
    match columns.is_empty() {
        true => Ok(()),
        false => Err(DataError::TwoValues { file: file.to_owned(), columns }),
    }
}

impl Spec for GaussianMixture {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn n_components(&self) -> usize {
        self.n_components
    }

    fn blocks(&self, variables: &[String]) -> Option<(Vec<Block>, Vec<String>)> {
        Some((self.covariance.blocks(self.n_components, variables), variables.to_vec()))
    }

    fn build(&self, data: &ModelData) -> Result<Box<dyn Model>, ModelError> {
        self.check().map_err(ModelError::Prior)?;
        let (k, prior) = (self.n_components, self.prior.clone());
        Ok(match (data, self.covariance) {
            (ModelData::Rows(data), Covariance::Full) => {
                Box::new(Gmm::new(data, k, prior, self.update)?)
            }
            (ModelData::Rows(data), shape) => Box::new(ShapedGmm::new(data, k, prior, shape)?),
            (ModelData::Far(data), Covariance::Full) => {
                Box::new(Gmm::far(data, k, prior, self.update)?)
            }
            (ModelData::Far(_), shape) => {
                return Err(ModelError::Prior(format!(
                    "a mixture with {shape} covariances needs its rows in memory"
                )));
            }
            _ => return Err(ModelError::WrongData(KIND.name)),
        })
    }

    fn stored_data(&self, data: Dataset) -> Result<ModelData, ModelError> {
        match data.is_complete() {
            true => Ok(ModelData::Rows(data)),
            false => Err(ModelError::WrongData(KIND.name)),
        }
    }

    fn in_words(&self, variables: &[String]) -> String {
        format!(
            "A mixture of {} with {} in {} ({}){}.",
            KIND.component.count(self.n_components),
            self.covariance.in_words(),
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
        let common = "α₀ = 1, m₀ = column means, β₀ = 0.01";
        let usual = match self.prior.base {
            PriorBase::Default if self.prior.w0.is_some() => match self.covariance {
                Covariance::Full | Covariance::Tied => format!("{common}, ν₀ = p + 2 = {}", p + 2),
                Covariance::Diagonal | Covariance::Spherical => format!("{common}, ν₀ = 3"),
            },
            PriorBase::Default if self.covariance == Covariance::Tied => format!(
                "{common}, and one covariance matrix tied with ν₀ = p + 6 = {} degrees of freedom to a scale that is \
                 learned",
                p + 6
            ),
            PriorBase::Default if self.covariance != Covariance::Full => format!(
                "{common}, and variances that share a scale learned from all components{}: each is tied to it with \
                 ν₀ = 7 degrees of freedom or, with probability ½, loosely with 3",
                if self.covariance == Covariance::Diagonal { ", column by column" } else { "" }
            ),
            PriorBase::Default => format!(
                "{common}, and covariances that share a scale learned from all components: each is tied to it with \
                 ν₀ = p + 6 = {} degrees of freedom{}",
                p + 6,
                match self.prior.strong_tie(p) {
                    Some(_) => {
                        " (probability 0.3), more strongly with p + 20, p + 60, p + 200 or p + 600 (0.05 each), or \
                         loosely with p + 2 (0.5)"
                    }
                    None => " or, with probability ½, loosely with p + 2",
                }
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
        let update = differs.then(|| ("--update", name.to_owned()));
        let shape = (self.covariance != Covariance::Full)
            .then(|| ("--covariance", self.covariance.name().to_owned()));
        shape.into_iter().chain(update).collect()
    }

    fn with_components(&self, n_components: usize) -> ModelSpec {
        GaussianMixture { n_components, ..self.clone() }.into()
    }

    fn n_free(&self, variables: &[String]) -> usize {
        let (k, p) = (self.n_components, variables.len());
        k - 1 + k * p + self.covariance.free(k, p)
    }

    fn ln_densities(&self, data: &ModelData, posterior: &Posterior) -> Option<Vec<f64>> {
        let rows = data.rows()?;
        let columns: Vec<&[f64]> = (0..rows.n_columns()).map(|j| rows.column(j)).collect();
        gmm_ln_density(posterior, &columns).ok()
    }

    fn bounds_compare(&self) -> bool {
        self.prior == GmmPrior::default() && self.update == Update::Corrected
    }

    fn apart(&self, data: &ModelData, posterior: &Posterior, counts: Option<&[f64]>) -> f64 {
        let Some(rows) = data.rows() else { return 0.0 };
        let columns: Vec<&[f64]> = (0..rows.n_columns()).map(|j| rows.column(j)).collect();
        apart::gain(posterior, &columns, counts)
    }

    fn tails(
        &self,
        data: &ModelData,
        posterior: &Posterior,
        counts: Option<&[f64]>,
    ) -> Option<Tails> {
        let rows = data.rows()?;
        let columns: Vec<&[f64]> = (0..rows.n_columns()).map(|j| rows.column(j)).collect();
        tails(posterior, &columns, counts)
    }

    fn shape(&self) -> Option<&'static str> {
        Some(self.covariance.name())
    }

    /// Those for which its prior is meant: what is set of it may be of one shape only.
    fn shapes(&self) -> Vec<ModelSpec> {
        let all = Covariance::ALL.into_iter();
        all.map(|shape| self.clone().covariance(shape).into()).collect()
    }

    fn title(&self) -> String {
        match self.covariance {
            Covariance::Full => KIND.title.to_owned(),
            shape => format!("{} with {}", KIND.title, shape.in_words()),
        }
    }

    fn summary(&self, layout: &Layout, k: usize) -> Vec<String> {
        let p = layout.coordinates.len();
        let mut texts = vec![format!("pi[{k}]")];
        texts.extend((1..=p).map(|j| format!("mu[{k},{j}]")));
        texts.extend((1..=p).map(|j| format!("sd[{k},{j}]")));
        if matches!(self.covariance, Covariance::Full | Covariance::Tied) {
            for i in 1..=p {
                texts.extend((1..i).map(|j| format!("cor[{k},{i},{j}]")));
            }
        }
        texts
    }
}

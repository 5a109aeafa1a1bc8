//! A mixture of columns as its settings, and what it says of itself.

use super::infer::{code, infer};
use super::{ColumnKind, MixedData, Mixture, MixtureColumn, MixturePrior};
use crate::data::{DataError, Dataset, Frame, ReadOptions};
use crate::functional::{Entry, Place, Quantity, Reported};
use crate::model::spec::{Kind, Noun, PriorInWords, of_weights};
use crate::model::wish::{Source, WishError, Wished, Wishes};
use crate::model::{ColumnType, Model, ModelData, ModelError, ModelSpec, Spec, WEIGHT};
use crate::posterior::{Block, Family, Layout, Posterior};
use crate::problem::Problem;
use serde::{Deserialize, Serialize};

/// A mixture whose columns are independent within a component, as its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnMixture {
    /// Number of components.
    pub n_components: usize,
    /// Its prior.
    pub prior: MixturePrior,
    /// The columns, with what each holds.
    pub columns: Vec<MixtureColumn>,
}

impl ColumnMixture {
    /// A mixture of so many classes, with the default prior; its columns come with the data.
    pub fn new(n_components: usize) -> ColumnMixture {
        ColumnMixture { n_components, prior: MixturePrior::default(), columns: Vec::new() }
    }

    /// With this prior.
    pub fn prior(self, prior: MixturePrior) -> ColumnMixture {
        ColumnMixture { prior, ..self }
    }

    /// Bound to the columns of a frame, whose kinds are read from it but where `types` say otherwise.
    pub fn bind(
        self,
        frame: &Frame,
        types: &[(String, ColumnType)],
    ) -> Result<Problem, ModelError> {
        let (columns, data) = infer(frame, types)?;
        Problem::new(ColumnMixture { columns, ..self }, data)
    }

    /// New rows, coded as those that it was bound to: what a fit says of them is [`MixedData::ln_rho`].
    pub fn code(&self, frame: &Frame) -> Result<MixedData, DataError> {
        code(frame, &self.columns)
    }
}

const fn quantity(
    name: &'static str,
    words: &'static str,
    entry: Entry,
    reported: Reported,
) -> Quantity {
    Quantity { name, words, entry, place: Place::Coordinates, reported }
}

/// Names and words.
pub(in crate::model) const KIND: Kind = Kind {
    name: "mixture",
    title: "mixture of independent columns (latent classes)",
    component: Noun { one: "class", many: "classes" },
    called: Noun { one: "class", many: "classes" },
    coordinate: Noun { one: "column", many: "columns" },
    unit: Noun { one: "row", many: "rows" },
    needs_rows: true,
    quantities: &[
        WEIGHT,
        quantity("p", "probability", Entry::Probability, Reported::FreeLevels),
        quantity("rate", "rate", Entry::Positive, Reported::All),
        quantity("mu", "mean", Entry::Mean, Reported::All),
        quantity("sd", "standard deviation", Entry::Deviation, Reported::Nothing),
    ],
    takes: &["--columns", "--types"],
    because: &[],
    is_meant: |wishes| !wishes.types.is_empty(),
    grant,
};

/// Rows of the wished columns, missing cells and all, and a mixture for them.
fn grant(wishes: &Wishes, source: &dyn Source) -> Result<Wished, WishError> {
    let options = ReadOptions {
        columns: wishes.columns.clone(),
        drop_missing: wishes.drop_missing,
        keep_missing: !wishes.drop_missing,
        as_text: true,
        ..ReadOptions::default()
    };
    let frame = source.frame(options)?;
    let (columns, data) = infer(&frame, &wishes.types)?;
    let (prior, base): (MixturePrior, _) = wishes.prior.read(false)?;
    if base.is_some() {
        let what = "--prior paper: the paper has no prior for --model mixture";
        return Err(WishError::Options(what.to_owned()));
    }
    prior.check().map_err(|what| wishes.prior.wrong(&what))?;
    let spec = ColumnMixture { n_components: wishes.components, prior, columns }.into();
    let dropped = frame.dropped_rows().len();
    Ok(Wished { spec, data: ModelData::Mixed(data), dropped, weights: None })
}

/// The blocks for so many components, and the names of the columns.
pub(super) fn blocks(k: usize, columns: &[MixtureColumn]) -> (Vec<Block>, Vec<String>) {
    let mut blocks = vec![Block::weights("pi", k)];
    for (j, column) in columns.iter().enumerate() {
        let block = match &column.kind {
            ColumnKind::Gaussian => {
                Block::centre(&format!("mu.{}", column.name), Family::NormalWishart, k, 1)
            }
            ColumnKind::Count => {
                Block::centre(&format!("rate.{}", column.name), Family::Gamma, k, 1)
            }
            ColumnKind::Category { levels } => {
                let name = format!("p.{}", column.name);
                Block::centre(&name, Family::Dirichlet, k, levels.len()).with_levels(levels.clone())
            }
        };
        blocks.push(block.of_coordinate(j));
    }
    (blocks, columns.iter().map(|column| column.name.clone()).collect())
}

impl Spec for ColumnMixture {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn n_components(&self) -> usize {
        self.n_components
    }

    fn blocks(&self, variables: &[String]) -> Option<(Vec<Block>, Vec<String>)> {
        let names = self.columns.iter().map(|column| &column.name);
        names.eq(variables).then(|| blocks(self.n_components, &self.columns))
    }

    fn build(&self, data: &ModelData) -> Result<Box<dyn Model>, ModelError> {
        let ModelData::Mixed(data) = data else { return Err(ModelError::WrongData(KIND.name)) };
        if !self.columns.iter().map(|column| &column.name).eq(data.names()) {
            return Err(ModelError::WrongData(KIND.name));
        }
        let (k, prior) = (self.n_components, self.prior.clone());
        Ok(Box::new(Mixture::new(data, &self.columns, k, prior)?))
    }

    fn stored_data(&self, data: Dataset) -> Result<ModelData, ModelError> {
        let columns = (0..data.n_columns()).map(|j| data.column(j).to_vec()).collect();
        let found = MixedData::new(data.source(), data.names().to_vec(), columns);
        Ok(ModelData::Mixed(found))
    }

    fn in_words(&self, _variables: &[String]) -> String {
        let of_kind = |kind: &str| {
            let own = self.columns.iter().filter(|c| c.kind.name() == kind);
            own.map(|c| c.name.clone()).collect::<Vec<_>>()
        };
        let kinds = [("category", "categories"), ("count", "counts"), ("gaussian", "numbers")];
        let said: Vec<String> = kinds
            .iter()
            .map(|(kind, many)| (many, of_kind(kind)))
            .filter(|(_, names)| !names.is_empty())
            .map(|(many, names)| format!("{many} ({})", names.join(", ")))
            .collect();
        format!(
            "A mixture of {} in which columns are independent: {}. A missing cell is left out of its row's likelihood.",
            KIND.component.count(self.n_components),
            said.join("; ")
        )
    }

    fn prior_in_words(&self, _variables: &[String]) -> PriorInWords {
        let usual = "α₀ = 1; a category's prior is worth one observation, spread evenly over its levels; a mean's 0.01 \
                     observations at the column's mean, with ν₀ = 3 and 0.3 of the column's variance over K^(2/columns); a \
                     rate's has shape ½ and the column's mean";
        PriorInWords::new(self.prior.base, usual.to_owned(), &self.prior)
    }

    fn options(&self, _published: bool) -> Vec<(&'static str, String)> {
        let said = |c: &MixtureColumn| format!("{}={}", c.name, c.kind.name());
        let types = self.columns.iter().map(said).collect::<Vec<_>>().join(",");
        vec![("--model", KIND.name.to_owned()), ("--types", types)]
    }

    fn with_components(&self, n_components: usize) -> ModelSpec {
        ColumnMixture { n_components, ..self.clone() }.into()
    }

    fn n_free(&self, _variables: &[String]) -> usize {
        let of_column = |column: &MixtureColumn| match &column.kind {
            ColumnKind::Gaussian => 2,
            ColumnKind::Count => 1,
            ColumnKind::Category { levels } => levels.len() - 1,
        };
        let each: usize = self.columns.iter().map(of_column).sum();
        self.n_components - 1 + self.n_components * each
    }

    fn ln_densities(&self, data: &ModelData, posterior: &Posterior) -> Option<Vec<f64>> {
        match data {
            ModelData::Mixed(data) => Some(data.ln_density(posterior)),
            _ => None,
        }
    }

    fn prior_counts(&self, posterior: &Posterior, omega: f64, n_units: usize) -> Vec<f64> {
        let mut prior = of_weights(posterior, omega, n_units);
        for block in posterior.layout().blocks.iter().filter(|b| b.coordinate.is_some()) {
            let size = block.copies * block.family.parameters(block.dim);
            let own = block.offset..block.offset + size;
            let counts = self.prior.counts(block, &posterior.parameters()[own.clone()], omega);
            if let Some(counts) = counts {
                prior[own].copy_from_slice(&counts);
            }
        }
        prior
    }

    fn without_rows_of_weight_0(
        &self,
        data: &ModelData,
        weights: &[f64],
    ) -> Option<(ModelSpec, ModelData)> {
        let ModelData::Mixed(data) = data else { return None };
        let (columns, data) = data.without_absent_levels(&self.columns, weights)?;
        Some((ColumnMixture { columns, ..self.clone() }.into(), ModelData::Mixed(data)))
    }

    fn remarks(&self, data: &ModelData) -> Vec<String> {
        let ModelData::Mixed(data) = data else { return Vec::new() };
        let mut remarks = data.remarks().to_vec();
        let (n_missing, cells) = (data.n_missing(), data.n_rows() * data.names().len());
        if n_missing > 0 {
            remarks.push(format!(
                "{n_missing} of {cells} cells are missing; each is left out of its row's likelihood, which is right if cells \
                 are missing at random"
            ));
        }
        for (column, values) in self.columns.iter().zip(data.columns()) {
            if let Some(levels) = column.seen_once(values) {
                let name = &column.name;
                remarks.push(format!(
                    "column `{name}` has {levels} only once: its probabilities are mostly the prior's, and resamples without \
                     it say that it cannot happen"
                ));
            }
        }
        remarks
    }

    fn summary(&self, layout: &Layout, k: usize) -> Vec<String> {
        let mut texts = vec![format!("pi[{k}]")];
        for (j, column) in self.columns.iter().enumerate() {
            let j = j + 1;
            match &column.kind {
                ColumnKind::Gaussian => {
                    texts.extend([format!("mu[{k},{j}]"), format!("sd[{k},{j}]")])
                }
                ColumnKind::Count => texts.push(format!("rate[{k},{j}]")),
                ColumnKind::Category { .. } => texts.push(format!("p[{k},{j},]")),
            }
        }
        debug_assert_eq!(layout.coordinates.len(), self.columns.len());
        texts
    }
}

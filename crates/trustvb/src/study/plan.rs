//! What a study is: designs, methods, quantities and numbers, as a TOML file says them.

use super::{FitSettings, StudyError, StudyMethod, limits};
use super::{Simulation, SimulationSettings};
use crate::fit::{Fit, FitOptions, Start, Status, fit, match_components};
use crate::functional::Functional;
use crate::model::ModelSpec;
use crate::posterior::{Layout, Posterior};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A study, as its file says it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// What the figures are called.
    pub title: String,
    /// What to know about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Seed of everything random.
    #[serde(default = "defaults::seed")]
    pub seed: u64,
    /// Data sets in each cell.
    pub replications: u32,
    /// Bootstraps of each design.
    pub bootstraps: u32,
    /// Points of the grid of ω.
    #[serde(default = "defaults::grid")]
    pub grid: usize,
    /// The smallest ω.
    #[serde(default = "defaults::omega_min")]
    pub omega_min: f64,
    /// Draws behind each law that has no exact form.
    #[serde(default = "defaults::draws")]
    pub draws: usize,
    /// Random starts of each full-data fit.
    #[serde(default = "defaults::starts")]
    pub starts: usize,
    /// Largest relative change at which a fit has converged.
    #[serde(default = "defaults::tolerance")]
    pub tolerance: f64,
    /// Levels of the intervals.
    #[serde(default = "defaults::levels")]
    pub levels: Vec<f64>,
    /// How components of a fit get the numbers of the true ones.
    #[serde(default)]
    pub labels: Labels,
    /// The method whose interval score the others' are compared with.
    #[serde(default = "defaults::baseline")]
    pub baseline: StudyMethod,
    /// Methods.
    pub methods: Vec<StudyMethod>,
    /// Quantities, unless a design has its own.
    #[serde(default)]
    pub quantities: Vec<String>,
    /// The designs.
    #[serde(rename = "design")]
    pub designs: Vec<StudyDesign>,
}

/// One kind of data at one or several sizes, and the model fitted to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyDesign {
    /// Its name: letters, digits, dots, dashes and underscores.
    pub name: String,
    /// What figures call it; default: its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its own quantities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantities: Option<Vec<String>>,
    /// Which value intervals should cover.
    #[serde(default)]
    pub target: StudyTarget,
    /// Where the data come from.
    pub simulate: SimulationSettings,
    /// The model.
    #[serde(default)]
    pub fit: FitSettings,
}

/// How components of a fit get the numbers of the true ones, of which the heaviest is number 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Labels {
    /// The full-data fit is matched to the truth, so that results tell of intervals and not of numbering.
    #[default]
    Matched,
    /// The heaviest component of the full-data fit is number 1, as users of the command see it.
    Weight,
}

/// Which value intervals should cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StudyTarget {
    /// The parameters that the data were drawn with.
    #[default]
    Truth,
    /// What the fit tends to with ever more data, computed from a million rows: another value than the
    /// truth when the model is wrong (gmm).
    Limit,
}

mod defaults {
    use super::StudyMethod;
    use crate::calibrate::Method;
    use crate::defaults as usual;
    pub(super) fn seed() -> u64 {
        usual::SEED
    }
    pub(super) fn grid() -> usize {
        usual::GRID
    }
    pub(super) fn omega_min() -> f64 {
        usual::OMEGA_MIN
    }
    pub(super) fn draws() -> usize {
        usual::DRAWS
    }
    pub(super) fn starts() -> usize {
        usual::STARTS
    }
    pub(super) fn tolerance() -> f64 {
        usual::TABLE_TOLERANCE
    }
    pub(super) fn levels() -> Vec<f64> {
        vec![usual::LEVEL]
    }
    pub(super) fn baseline() -> StudyMethod {
        Method::Tvb.into()
    }
}

/// A design at one size, ready to be replicated.
#[derive(Clone, Debug)]
pub struct Cell {
    /// `design/n=1000`.
    pub name: String,
    /// Which design of the study.
    pub design: usize,
    /// Rows, or rows per group.
    pub size: usize,
    /// Where its data come from.
    pub simulation: Simulation,
    /// The seed of its data.
    pub seed: u64,
    /// The model.
    pub spec: ModelSpec,
    /// Blocks of the model's posterior.
    pub layout: Arc<Layout>,
    /// What is asked.
    pub functionals: Vec<Functional>,
    /// The truth as a posterior, to which fits are matched.
    pub truth: Posterior,
    /// The values that intervals should cover, for each part of each functional.
    pub targets: Vec<f64>,
}

impl Cell {
    /// Names of the parts of its functionals, in order.
    pub fn quantities(&self) -> Vec<String> {
        let parts = self.functionals.iter().flat_map(Functional::parts);
        parts.map(|part| part.name().to_owned()).collect()
    }
}

impl Study {
    /// Reads a study; `source` stands for the file in messages.
    pub fn parse(text: &str, source: &str) -> Result<Study, StudyError> {
        let study: Study = toml::from_str(text)
            .map_err(|e| StudyError::Toml { file: source.to_owned(), what: e.to_string() })?;
        study.check().map_err(|e| e.within(source))?;
        Ok(study)
    }

    /// The study as a file that [`Study::parse`] reads back.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// Fewer replications and bootstraps, for a quick look.
    pub fn scaled(mut self, scale: f64) -> Study {
        let shrink = |x: u32, least: u32| ((f64::from(x) * scale).round() as u32).max(least);
        self.replications = shrink(self.replications, 2);
        self.bootstraps = shrink(self.bootstraps, 20);
        self
    }

    /// Only the cells with names that match one of the patterns: a design's name, a cell's name, with
    /// `*` for anything.
    pub fn only(mut self, patterns: &[String]) -> Result<Study, StudyError> {
        if patterns.is_empty() {
            return Ok(self);
        }
        let known = self.cell_names();
        for pattern in patterns {
            if !known.iter().any(|cell| matches_cell(pattern, cell)) {
                return Err(StudyError::NoSuchCell { pattern: pattern.clone(), known });
            }
        }
        self.keep(|cell| patterns.iter().any(|pattern| matches_cell(pattern, cell)));
        Ok(self)
    }

    /// Names of all cells, in order.
    pub fn cell_names(&self) -> Vec<String> {
        self.designs.iter().flat_map(StudyDesign::cell_names).collect()
    }

    /// Keeps the cells with these names, and the designs that still have some.
    pub(super) fn keep(&mut self, wanted: impl Fn(&str) -> bool) {
        for design in &mut self.designs {
            let names = design.cell_names();
            let sizes = design.simulate.sizes().iter().zip(&names);
            let kept: Vec<usize> =
                sizes.filter(|(_, name)| wanted(name)).map(|(size, _)| *size).collect();
            design.simulate.set_sizes(kept);
        }
        self.designs.retain(|design| !design.simulate.sizes().is_empty());
    }

    /// Checks what needs no fit.
    pub fn check(&self) -> Result<(), StudyError> {
        let wrong = |setting: &str, what: String| {
            Err(StudyError::Setting { setting: setting.into(), what })
        };
        let positive = [
            ("replications", self.replications as usize),
            ("bootstraps", self.bootstraps as usize),
            ("grid", self.grid),
            ("draws", self.draws),
            ("starts", self.starts),
        ];
        if let Some((name, _)) = positive.iter().find(|(_, x)| *x == 0) {
            return wrong(name, "0, but at least 1 is needed".to_owned());
        }
        limits::check(self)?;
        if !(self.omega_min > 0.0 && self.omega_min < 1.0) {
            return wrong("omega_min", format!("{} is not between 0 and 1", self.omega_min));
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return wrong("tolerance", format!("{} is not between 0 and 1", self.tolerance));
        }
        if self.levels.is_empty() {
            return wrong("levels", "at least one is needed, such as 0.95".to_owned());
        }
        if let Some(level) = self.levels.iter().find(|l| !(**l > 0.0 && **l < 1.0)) {
            return wrong("levels", format!("{level} is not between 0 and 1"));
        }
        if self.methods.is_empty() {
            return wrong("methods", "at least one is needed, such as \"anchored\"".to_owned());
        }
        if let Some(twice) = first_twice(self.methods.iter().map(|m| m.name())) {
            return wrong("methods", format!("{twice} is there twice"));
        }
        if self.designs.is_empty() {
            return wrong("design", "at least one [[design]] is needed".to_owned());
        }
        if let Some(twice) = first_twice(self.designs.iter().map(|d| d.name.as_str())) {
            return wrong("design", format!("two designs are named {twice}"));
        }
        for design in &self.designs {
            design.check().map_err(|e| e.within(&format!("design {}", design.name)))?;
            if design.quantities.as_ref().unwrap_or(&self.quantities).is_empty() {
                let what = format!("design {} has none; \"pi[1]\" is one", design.name);
                return wrong("quantities", what);
            }
        }
        Ok(())
    }

    /// Its cells, in order, with their truths.
    pub fn cells(&self) -> Result<Vec<Cell>, StudyError> {
        self.check()?;
        let mut cells = Vec::new();
        for (number, design) in self.designs.iter().enumerate() {
            for (size, name) in design.simulate.sizes().iter().zip(design.cell_names()) {
                let cell = self.cell(number, *size, name.clone());
                cells.push(cell.map_err(|e| e.within(&format!("cell {name}")))?);
            }
        }
        Ok(cells)
    }

    /// Where the data of the cell of that name come from, with their seed.
    pub fn data_of(&self, name: &str) -> Result<(Simulation, u64), StudyError> {
        for design in &self.designs {
            for (size, known) in design.simulate.sizes().iter().zip(design.cell_names()) {
                if known == name {
                    let simulation = design.simulate.with_one_size(*size)?;
                    let seed = simulation.seed(self.seed);
                    return Ok((simulation, seed));
                }
            }
        }
        Err(StudyError::NoSuchCell { pattern: name.to_owned(), known: self.cell_names() })
    }

    fn cell(&self, number: usize, size: usize, name: String) -> Result<Cell, StudyError> {
        let design = &self.designs[number];
        let simulation = design.simulate.with_one_size(size)?;
        let spec = simulation.fitted(&design.fit)?;
        let seed = simulation.seed(self.seed);
        // A few units show which blocks the posterior has.
        let sample = simulation.small().draw(seed, 0)?;
        let layout = spec.build(&sample)?.layout().clone();
        let texts = design.quantities.as_ref().unwrap_or(&self.quantities);
        let functionals = texts
            .iter()
            .map(|text| Functional::parse(text, &layout))
            .collect::<Result<Vec<_>, _>>()?;
        let truth = simulation.true_posterior(&layout)?;
        // What is true is asked of the data's own model, not of the fitted one.
        let own = simulation.true_layout(&layout.coordinates).map(Arc::new);
        let (aim, asked) = match (design.target, own) {
            (StudyTarget::Limit, _) => {
                (limit(&simulation, &spec, seed, &truth)?, functionals.clone())
            }
            (StudyTarget::Truth, None) => (truth.clone(), functionals.clone()),
            (StudyTarget::Truth, Some(own)) => {
                let asked = texts.iter().map(|text| Functional::parse(text, &own));
                (simulation.true_posterior(&own)?, asked.collect::<Result<Vec<_>, _>>()?)
            }
        };
        let mut targets = Vec::new();
        for part in asked.iter().flat_map(Functional::parts) {
            let value = part.plug_in(aim.parameters());
            if !value.is_finite() {
                return Err(StudyError::NoTruth { quantity: part.name().to_owned() });
            }
            targets.push(value);
        }
        Ok(Cell {
            name,
            design: number,
            size,
            simulation,
            seed,
            spec,
            layout,
            functionals,
            truth,
            targets,
        })
    }
}

/// Rows behind [`StudyTarget::Limit`]: its error is then 3% of the standard error of 1000 rows.
const LIMIT_ROWS: usize = 1_000_000;

/// Rows on which many starts are tried first.
const TRIAL_ROWS: usize = 50_000;

/// The VB fit at ω = 1 of very many rows: the better of those from the true centres and from the centres
/// of the best of many starts.
fn limit(
    simulation: &Simulation,
    spec: &ModelSpec,
    seed: u64,
    truth: &Posterior,
) -> Result<Posterior, StudyError> {
    let best_of = |n: usize, starts: &[Start]| -> Result<Fit, StudyError> {
        // Data sets that no replication uses.
        let many = simulation.with_units(n).ok_or_else(|| {
            let what = format!("\"limit\" is not for {}; leave it out", simulation.model());
            StudyError::Setting { setting: "target".to_owned(), what }
        })?;
        let model = spec.build(&many.draw(seed, u64::MAX)?)?;
        let options = FitOptions::default();
        let fits =
            starts.iter().map(|start| fit(model.as_ref(), None, 1.0, start, &options, &mut |_| ()));
        fits.filter_map(Result::ok)
            .max_by(|a, b| a.outcome.bound.total_cmp(&b.outcome.bound))
            .ok_or_else(|| StudyError::Limit("no start gives one".to_owned()))
    };
    let trial = best_of(TRIAL_ROWS, &[Start::KMeans { restarts: 10, seed }])?;
    let starts = [Start::Centres(truth.centres()), Start::Centres(trial.posterior.centres())];
    let best = best_of(LIMIT_ROWS, &starts)?;
    if !matches!(best.outcome.status, Status::Converged | Status::Stalled) {
        return Err(StudyError::Limit("it does not converge".to_owned()));
    }
    Ok(best.posterior.permuted(&match_components(truth, &best.posterior)))
}

impl StudyDesign {
    /// What figures and tables call it.
    pub fn shown(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// `n` or `rows`, whichever its sizes are.
    pub fn size_name(&self) -> &'static str {
        self.simulate.size_name()
    }

    pub(super) fn cell_names(&self) -> Vec<String> {
        let sizes = self.simulate.sizes().iter();
        sizes.map(|size| format!("{}/{}={size}", self.name, self.size_name())).collect()
    }

    fn check(&self) -> Result<(), StudyError> {
        let wrong = |setting: &str, what: String| {
            Err(StudyError::Setting { setting: setting.into(), what })
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if self.name.is_empty() || !self.name.chars().all(plain) {
            return wrong("name", "use letters, digits, dots, dashes and underscores".to_owned());
        }
        if self.simulate.sizes().is_empty() {
            return wrong(self.size_name(), "at least one size is needed".to_owned());
        }
        if let Some(twice) = first_twice(self.cell_names().iter().map(String::as_str)) {
            return wrong(self.size_name(), format!("{twice} is there twice"));
        }
        for size in self.simulate.sizes() {
            let simulation = self.simulate.with_one_size(*size)?;
            simulation.fitted(&self.fit)?;
        }
        Ok(())
    }
}

fn first_twice<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = BTreeSet::new();
    names.into_iter().find(|name| !seen.insert(*name))
}

/// Whether a pattern is a cell's name or its design's.
fn matches_cell(pattern: &str, cell: &str) -> bool {
    let design = cell.split('/').next().unwrap_or(cell);
    glob(pattern.as_bytes(), cell.as_bytes()) || glob(pattern.as_bytes(), design.as_bytes())
}

/// Whether `text` matches a pattern in which `*` stands for anything.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => (0..=text.len()).any(|skipped| glob(rest, &text[skipped..])),
        (Some((p, rest)), Some((t, left))) if p == t => glob(rest, left),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"
title = "small"
replications = 3
bootstraps = 100
methods = ["vb", "anchored"]
quantities = ["pi[1]"]

[[design]]
name = "one"
simulate = { model = "gmm", n = [100, 200], separation = 3.0 }

[[design]]
name = "two"
simulate = { model = "bmlr", rows = 5, groups = 30, coefficients = [[1.0], [-1.0]] }
"#;

    fn error(from: &str, to: &str) -> String {
        assert!(SMALL.contains(from), "{from}");
        Study::parse(&SMALL.replacen(from, to, 1), "my.toml").unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_told_with_line_and_field() {
        let cases = [
            ("replications = 3", "replicatoins = 3", &["my.toml", "line 3", "replicatoins"][..]),
            ("bootstraps = 100", "bootstraps = \"many\"", &["line 4", "bootstraps"]),
            ("\"anchored\"", "\"anchord\"", &["line 5", "anchord", "anchored"]),
            ("n = [100, 200]", "n = [100, -2]", &["line 10", "n = [100, -2]"]),
            ("n = [100, 200]", "n = [100, 100]", &["design one", "one/n=100 is there twice"]),
            ("name = \"two\"", "name = \"one\"", &["two designs are named one"]),
            ("name = \"two\"", "name = \"a/b\"", &["design a/b", "letters"]),
            ("separation = 3.0", "rows = 3", &["line 10", "unknown field `rows`", "separation"]),
            ("separation = 3.0", "weights = [1.0, -1.0]", &["weights", "-1"]),
            ("separation = 3.0", "df = 2.0", &["df", "more than 2"]),
            ("quantities = [\"pi[1]\"]", "", &["quantities", "design one"]),
            ("replications = 3", "replications = 0", &["replications", "at least 1"]),
            ("replications = 3", "replications = 3\nlevels = [95.0]", &["levels", "95"]),
        ];
        for (from, to, fragments) in cases {
            let message = error(from, to);
            for fragment in fragments {
                assert!(message.contains(fragment), "{fragment:?} is not in {message:?}");
            }
        }
    }

    #[test]
    fn cells_have_names_truths_and_seeds_of_their_own() {
        let study = Study::parse(SMALL, "small").unwrap();
        let cells = study.cells().unwrap();
        let names: Vec<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
        assert_eq!(names, ["one/n=100", "one/n=200", "two/rows=5"]);
        assert!(cells.iter().all(|cell| cell.targets == [0.65]));
        assert!(cells[0].seed != cells[1].seed && cells[1].seed != cells[2].seed);
        // Neither other cells nor names change a cell's data.
        let renamed = SMALL.replace("\"one\"", "\"other\"").replace("[100, 200]", "200");
        let alone = Study::parse(&renamed, "small").unwrap().cells().unwrap();
        assert_eq!((alone[0].seed, alone[0].name.as_str()), (cells[1].seed, "other/n=200"));
        let only = study.clone().only(&["*/n=2*".to_owned()]).unwrap();
        assert_eq!(only.cells().unwrap()[0].seed, cells[1].seed);
        assert_eq!(only.designs.len(), 1);
        assert!(study.clone().only(&["three".to_owned()]).is_err());
        assert_eq!(study.data_of("one/n=200").unwrap().1, cells[1].seed);
        let scaled = study.scaled(0.5);
        assert_eq!((scaled.replications, scaled.bootstraps), (2, 50));
    }

    #[test]
    fn what_has_no_truth_is_refused() {
        let text = SMALL.replace("\"pi[1]\"", "\"tau[1]\"");
        let message = Study::parse(&text, "small").unwrap().cells().unwrap_err().to_string();
        assert!(message.contains("one/n=100") && message.contains("tau"), "{message}");
        let text = text.replace("n = [100, 200], separation = 3.0", "n = 50");
        let one = Study::parse(&text, "small").unwrap().only(&["two".to_owned()]).unwrap();
        let message = one.cells().unwrap_err().to_string();
        assert!(message.contains("tau[1] has no true value"), "{message}");
    }

    #[test]
    fn heavy_tails_have_another_limit_than_the_truth() {
        let text = SMALL
            .replace("n = [100, 200], separation = 3.0", "n = 100, separation = 3.0, df = 5.0")
            .replace("name = \"one\"", "name = \"one\"\ntarget = \"limit\"")
            .replace("\"pi[1]\"", "\"sigma[1,1,1]\"");
        let study = Study::parse(&text, "small").unwrap().only(&["one".to_owned()]).unwrap();
        // Tails are taken for rows of the other component, so that variances are too small.
        let target = study.cells().unwrap()[0].targets[0];
        assert!((0.91..0.96).contains(&target), "{target}");
    }

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, text, expected) in [
            ("sep2", "sep2/n=300", true),
            ("sep2/n=300", "sep2/n=300", true),
            ("sep*", "sep2/n=300", true),
            ("*=300", "sep2/n=300", true),
            ("sep", "sep2/n=300", false),
            ("*x*", "sep2/n=300", false),
        ] {
            assert_eq!(matches_cell(pattern, text), expected, "{pattern}");
        }
    }
}

//! The options of a command line that asks for a table again.
//!
//! Settings are taken apart without a rest: one that is new does not compile until it is said here how it is typed.

use super::{Manifest, Replicates, Settings};
use crate::defaults;
use crate::fit::{FitOptions, Matching, PathOptions, ReplicateStart, Start, Stopping};
use crate::model::{ModelSpec, PriorBase, PriorInWords};
use crate::resample::Design;

/// Words of a command line, and the files it names that a table does not keep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableWords {
    /// Options and their values.
    pub words: Vec<String>,
    /// Each file's name and what must be in it.
    pub files: Vec<(String, String)>,
}

impl Manifest {
    /// The options of `trustvb table build` that ask for this table; `built_in` if the data are the command's own.
    pub fn words(&self, built_in: bool) -> TableWords {
        let Manifest {
            // What the others and the data decide.
            schema: _,
            library: _,
            layout,
            n_units: _,
            data_hash: _,
            block: _,
            settings,
            columns,
            statistics,
            weights,
        } = self;
        let Settings {
            model,
            omegas,
            omega_min,
            replicates,
            at_one,
            bootstraps,
            fresh_splits,
            subsets,
            resamples,
            seed,
            start,
            path,
            published_intervals: published,
        } = settings;
        // The seed of starts is that of everything.
        let PathOptions { fit, matching, start: replicate_start, seed: _ } = path;
        let mut said = TableWords::default();
        if *published {
            said.add(&["--published"]);
        }
        said.model(model, columns, *statistics, *published);
        if let Some(weights) = weights {
            said.add(&[weights.kind.option(), &weights.column]);
        }
        said.methods(*replicates, omegas.len() > 1, at_one, *published);
        let as_published = built_in && *published && omegas.len() == defaults::PUBLISHED_GRID;
        if omegas.len() > 1 && !as_published {
            said.add(&["--grid", &omegas.len().to_string()]);
        }
        if *omega_min != defaults::OMEGA_MIN {
            said.add(&["--omega-min", &omega_min.to_string()]);
        }
        said.add(&["-B", &bootstraps.to_string()]);
        if let Some(subsets) = subsets {
            said.add(&["--subsets", &subsets.count.to_string()]);
        }
        if *fresh_splits {
            said.add(&["--fresh-splits"]);
        }
        if let Some(hash) = resamples {
            said.add(&["--resamples", "resamples.csv"]);
            said.file("resamples.csv", format!("your own resamples (SHA-256 {hash})"));
        }
        match replicate_start {
            ReplicateStart::Restarts(n) => said.add(&["--restarts", &n.to_string()]),
            ReplicateStart::Warm | ReplicateStart::ColdEveryOmega => {}
        }
        match (matching, published) {
            (Matching::Weight, false) => said.add(&["--match", "weight"]),
            (Matching::Assignment, true) => said.add(&["--match", "assignment"]),
            (Matching::Weight, true) | (Matching::Assignment, false) => {}
        }
        said.add(&["--seed", &seed.to_string()]);
        said.start(start, &layout.coordinates);
        if !published {
            said.iteration(fit);
        }
        said
    }
}

impl TableWords {
    fn add(&mut self, words: &[&str]) {
        self.words.extend(words.iter().map(|word| (*word).to_owned()));
    }

    fn file(&mut self, name: &str, content: String) {
        self.files.push((name.to_owned(), content));
    }

    fn model(&mut self, model: &ModelSpec, columns: &[String], statistics: bool, published: bool) {
        self.add(&["-k", &model.n_components().to_string()]);
        if statistics {
            self.add(&["--stream"]);
        }
        for (option, value) in model.options(published) {
            self.add(&[option, &value]);
        }
        let PriorInWords { base, given, usual: _ } = model.prior_in_words(columns);
        match base {
            _ if !given.is_empty() || base == PriorBase::Standardised => {
                self.add(&["--prior", "prior.toml"]);
                let base = serde_json::to_value(base).unwrap_or_default();
                let mut lines = vec![format!("base = {base}")];
                lines.extend(given.iter().map(|(name, value)| format!("{name} = {value}")));
                self.file("prior.toml", lines.join("\n"));
            }
            PriorBase::Paper if !published => self.add(&["--prior", "paper"]),
            _ => {}
        }
    }

    /// The methods that need just these designs on just these grids. Those that run when none are named depend on the
    /// size of the data, so they are always said.
    fn methods(&mut self, replicates: Replicates, grid: bool, at_one: &[Design], published: bool) {
        let Replicates { full, split } = replicates;
        let full_grid = grid && !at_one.contains(&Design::Full);
        let methods = match (full > 0, split > 0) {
            // As published these are meant.
            (false, true) if published => return,
            (true, true) if full_grid => "vb,tvb,anchored",
            (true, true) => "recommended,vb,tvb",
            (true, false) if full_grid => "vb,anchored",
            (true, false) => "recommended,vb",
            (false, true) => "vb,tvb",
            (false, false) => "vb",
        };
        self.add(&["--method", methods]);
    }

    fn start(&mut self, start: &Start, names: &[String]) {
        match start {
            Start::KMeans { restarts: defaults::STARTS, seed: _ } => {}
            Start::KMeans { restarts, seed: _ } => self.add(&["--starts", &restarts.to_string()]),
            Start::Centres(centres) => {
                self.add(&["--centres", "centres.csv"]);
                let row =
                    |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
                let mut lines = vec![names.join(",")];
                lines.extend(centres.chunks(names.len().max(1)).map(row));
                self.file("centres.csv", lines.join("\n"));
            }
        }
    }

    fn iteration(&mut self, fit: &FitOptions) {
        // A trace is told, and changes nothing.
        let FitOptions { stopping, max_sweeps, acceleration, trace: _ } = fit;
        match stopping {
            Stopping::Relative(x) if *x != defaults::TABLE_TOLERANCE => {
                self.add(&["--tolerance", &x.to_string()]);
            }
            // The latter only as published.
            Stopping::Relative(_) | Stopping::AbsoluteBound(_) => {}
        }
        if *max_sweeps != defaults::MAX_SWEEPS {
            self.add(&["--max-sweeps", &max_sweeps.to_string()]);
        }
        if *acceleration != defaults::ACCELERATION {
            self.add(&["--acceleration", &acceleration.to_string()]);
        }
    }
}

//! The command lines that make a table and ask it the same question again.

use trustvb::calibrate::Method;
use trustvb::data::Dataset;
use trustvb::fit::{Matching, ReplicateStart, Start, Stopping};
use trustvb::model::{PriorBase, PriorInWords};
use trustvb::problem::Problem;
use trustvb::resample::Design;
use trustvb::table::{Manifest, TvbTable};

/// A word as a shell needs it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./=,:@%+-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn joined(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A question put on the command line: `trustvb VERB TABLE H… --level … --method …`.
#[derive(Clone, Debug)]
pub struct QuestionCommand<'a> {
    /// `interval` or `report`.
    pub verb: &'a str,
    /// The table's folder.
    pub table: &'a str,
    /// The functionals as typed.
    pub functionals: Vec<String>,
    /// The levels.
    pub levels: &'a [f64],
    /// The methods.
    pub methods: &'a [Method],
    /// Draws behind each law that has no exact form.
    pub draws: usize,
    /// What follows, such as `-o report.html`.
    pub more: Vec<String>,
}

pub use trustvb::calibrate::DRAWS as USUAL_DRAWS;

impl QuestionCommand<'_> {
    /// As one would type it.
    pub fn text(&self) -> String {
        let mut words = vec!["trustvb".to_owned(), self.verb.to_owned(), self.table.to_owned()];
        // A quantity may begin with a minus, which is no option.
        let dashed = |word: &String| word.starts_with('-');
        let options_first = self.functionals.iter().any(dashed) || self.table.starts_with('-');
        let mut options = vec![
            "--level".to_owned(),
            self.levels.iter().map(f64::to_string).collect::<Vec<_>>().join(","),
            "--method".to_owned(),
            self.methods.iter().map(|m| m.name()).collect::<Vec<_>>().join(","),
        ];
        if self.draws != USUAL_DRAWS {
            options.extend(["--draws".to_owned(), self.draws.to_string()]);
        }
        options.extend(self.more.iter().cloned());
        if options_first {
            let table = words.pop();
            words.extend(options);
            words.push("--".to_owned());
            words.extend(table);
            words.extend(self.functionals.iter().cloned());
        } else {
            words.extend(self.functionals.iter().cloned());
            words.extend(options);
        }
        joined(&words)
    }
}

/// How a table was made: the command, and the files it needs that the table does not keep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BuildCommand {
    /// The command.
    pub text: String,
    /// Each file's name and what must be in it.
    pub files: Vec<(String, String)>,
}

/// The command that makes a table again, as far as the table knows. `folder` is where the table is.
pub fn build_command(table: &TvbTable, folder: &str) -> BuildCommand {
    let manifest = table.manifest();
    let mut command = Builder { words: Vec::new(), files: Vec::new() };
    command.words(&["trustvb", "table", "build"]);
    if !is_built_in(manifest) {
        let data = data_file(table, folder, &mut command);
        command.words(&[&data]);
    }
    command.words(&["-o", "again.tvb"]);
    command.model(manifest);
    command.grid(manifest, is_built_in(manifest));
    command.iteration(manifest);
    BuildCommand { text: joined(&command.words), files: command.files }
}

/// Whether the data are all of Old Faithful, which the command has built in.
fn is_built_in(manifest: &Manifest) -> bool {
    let built_in = Dataset::faithful();
    manifest.columns == built_in.names()
        && Problem::new(manifest.model.clone(), built_in)
            .is_ok_and(|problem| problem.data_hash() == manifest.data_hash)
}

fn data_file(table: &TvbTable, folder: &str, command: &mut Builder) -> String {
    if table.data().is_some_and(|data| data.is_a_file()) {
        return format!("{}/data.parquet", folder.trim_end_matches('/'));
    }
    let columns = table.manifest().columns.join(", ");
    command.files.push(("DATA.csv".to_owned(), format!("the data, with the columns {columns}")));
    "DATA.csv".to_owned()
}

struct Builder {
    words: Vec<String>,
    files: Vec<(String, String)>,
}

impl Builder {
    fn words(&mut self, words: &[&str]) {
        self.words.extend(words.iter().map(|word| (*word).to_owned()));
    }

    fn model(&mut self, manifest: &Manifest) {
        let published = manifest.published_intervals;
        if published {
            self.words(&["--published"]);
        }
        self.words(&["-k", &manifest.model.n_components().to_string()]);
        if manifest.statistics {
            self.words(&["--stream"]);
        }
        for (option, value) in manifest.model.options(published) {
            self.words(&[option, &value]);
        }
        let PriorInWords { base, given, .. } = manifest.model.prior_in_words(&manifest.columns);
        match base {
            _ if !given.is_empty() || base == PriorBase::Standardised => {
                self.words(&["--prior", "prior.toml"]);
                let base = serde_json::to_value(base).unwrap_or_default();
                let mut lines = vec![format!("base = {base}")];
                lines.extend(given.iter().map(|(name, value)| format!("{name} = {value}")));
                self.files.push(("prior.toml".to_owned(), lines.join("\n")));
            }
            PriorBase::Paper if !published => self.words(&["--prior", "paper"]),
            _ => {}
        }
    }

    fn grid(&mut self, manifest: &Manifest, built_in: bool) {
        let (full, split) = (manifest.replicates.full, manifest.replicates.split);
        // Without --method a table serves balanced, vb and tvb; as published, vb and tvb.
        let methods = match (manifest.published_intervals, full > 0, split > 0) {
            (_, true, false) if manifest.omegas.len() == 1 => Some("recommended,vb"),
            (false, true, true) | (true, false, true) => None,
            (true, true, true) => Some("vb,tvb,anchored"),
            (_, true, false) => Some("vb,anchored"),
            (false, false, true) => Some("vb,tvb"),
            (_, false, false) => Some("vb"),
        };
        if let Some(methods) = methods {
            self.words(&["--method", methods]);
        }
        let as_published = built_in && manifest.published_intervals && manifest.omegas.len() == 500;
        if manifest.omegas.len() > 1 && !as_published {
            self.words(&["--grid", &manifest.omegas.len().to_string()]);
        }
        if manifest.omega_min != 0.001 {
            self.words(&["--omega-min", &manifest.omega_min.to_string()]);
        }
        self.words(&["-B", &manifest.bootstraps.to_string()]);
        if let Some(subsets) = manifest.subsets {
            self.words(&["--subsets", &subsets.count.to_string()]);
        }
        if manifest.fresh_splits {
            self.words(&["--fresh-splits"]);
        }
        if let Some(hash) = &manifest.resamples {
            self.words(&["--resamples", "resamples.csv"]);
            let what = format!("your own resamples (SHA-256 {hash})");
            self.files.push(("resamples.csv".to_owned(), what));
        }
        if let ReplicateStart::Restarts(n) = &manifest.path.start {
            self.words(&["--restarts", &n.to_string()]);
        }
        match (&manifest.path.matching, manifest.published_intervals) {
            (Matching::Weight, false) => self.words(&["--match", "weight"]),
            (Matching::Assignment, true) => self.words(&["--match", "assignment"]),
            _ => {}
        }
    }

    fn iteration(&mut self, manifest: &Manifest) {
        self.words(&["--seed", &manifest.seed.to_string()]);
        match &manifest.start {
            Start::KMeans { restarts: 10, .. } => {}
            Start::KMeans { restarts, .. } => self.words(&["--starts", &restarts.to_string()]),
            Start::Centres(centres) => {
                self.words(&["--centres", "centres.csv"]);
                let names = &manifest.layout.coordinates;
                let mut lines = vec![names.join(",")];
                lines.extend(
                    centres
                        .chunks(names.len().max(1))
                        .map(|row| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",")),
                );
                self.files.push(("centres.csv".to_owned(), lines.join("\n")));
            }
        }
        if manifest.published_intervals {
            return;
        }
        let fit = &manifest.path.fit;
        match fit.stopping {
            Stopping::Relative(x) if x != 1e-8 => self.words(&["--tolerance", &x.to_string()]),
            _ => {}
        }
        if fit.max_sweeps != 2000 {
            self.words(&["--max-sweeps", &fit.max_sweeps.to_string()]);
        }
        if fit.acceleration != 5 {
            self.words(&["--acceleration", &fit.acceleration.to_string()]);
        }
    }
}

/// What a table's bootstraps are, in words.
pub(crate) fn resamples_in_words(table: &TvbTable) -> String {
    let there: Vec<String> = [Design::Full, Design::Split]
        .into_iter()
        .map(|design| (design.name(), table.bootstraps(design).count()))
        .filter(|(_, n)| *n > 0)
        .map(|(name, n)| format!("{n} {name} bootstraps"))
        .collect();
    if there.is_empty() { "no bootstraps".to_owned() } else { there.join(" and ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("faithful.tvb"), "faithful.tvb");
        assert_eq!(quoted("mu[1,] - mu[2,]"), "'mu[1,] - mu[2,]'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_quantity_with_a_sign_is_no_option() {
        let mut command = QuestionCommand {
            verb: "interval",
            table: "a.tvb",
            functionals: vec!["pi[1]".to_owned()],
            levels: &[0.9, 0.95],
            methods: &[Method::Vb],
            draws: USUAL_DRAWS,
            more: Vec::new(),
        };
        let plain = "trustvb interval a.tvb 'pi[1]' --level 0.9,0.95 --method vb";
        assert_eq!(command.text(), plain);
        command.functionals = vec!["-mu[1,1]".to_owned()];
        command.draws = 50;
        let guarded =
            "trustvb interval --level 0.9,0.95 --method vb --draws 50 -- a.tvb '-mu[1,1]'";
        assert_eq!(command.text(), guarded);
    }
}

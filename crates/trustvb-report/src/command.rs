//! The command lines that make a table and ask it the same question again.

use trustvb::calibrate::Method;
use trustvb::data::Dataset;
use trustvb::problem::Problem;
use trustvb::resample::Design;
use trustvb::table::{Manifest, TableWords, TvbTable};

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
    let built_in = is_built_in(manifest);
    let TableWords { words: options, mut files } = manifest.words(built_in);
    let mut words: Vec<String> = ["trustvb", "table", "build"].map(str::to_owned).to_vec();
    if !built_in {
        let (name, missing) = data_file(table, folder);
        words.push(name);
        files.extend(missing);
    }
    words.extend(["-o", "again.tvb"].map(str::to_owned));
    words.extend(options);
    BuildCommand { text: joined(&words), files }
}

/// Whether the data are all of Old Faithful, which the command has built in.
fn is_built_in(manifest: &Manifest) -> bool {
    let built_in = Dataset::faithful();
    manifest.columns == built_in.names()
        && Problem::new(manifest.model.clone(), built_in)
            .is_ok_and(|problem| problem.data_hash() == manifest.data_hash)
}

/// The file with the data, and what must be in it if the table does not have them.
fn data_file(table: &TvbTable, folder: &str) -> (String, Option<(String, String)>) {
    // Weights are kept as they were used, divided by their mean.
    if table.data().is_some_and(|data| data.is_a_file()) && table.weights().is_none() {
        return (format!("{}/data.parquet", folder.trim_end_matches('/')), None);
    }
    let name = "DATA.csv".to_owned();
    let mut columns = table.manifest().columns.clone();
    columns.extend(table.manifest().weights.iter().map(|weights| weights.column.clone()));
    let what = format!("the data, with the columns {}", columns.join(", "));
    (name.clone(), Some((name, what)))
}

/// What a table's bootstraps are, in words.
pub(crate) fn resamples_in_words(table: &TvbTable) -> String {
    let there: Vec<String> = [Design::Full, Design::Split]
        .into_iter()
        .map(|design| (design, table.bootstraps(design).count()))
        .filter(|(_, n)| *n > 0)
        .map(|(design, n)| {
            format!("{n} {} bootstraps{}", design.name(), table.manifest().only_at(design))
        })
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

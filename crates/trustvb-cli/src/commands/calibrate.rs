//! `trustvb calibrate`: a table in memory and calibrated intervals from it.

use super::interval::{Asked, ask};
use crate::args::CalibrateArgs;
use crate::failure::Failure;
use crate::input::{Given, Wish};
use crate::{input, output, progress};
use std::path::Path;
use trustvb::backend::Cpu;
use trustvb::table::{BuildError, TableError, Watch, save};

pub(crate) fn run(args: &CalibrateArgs) -> Result<(), Failure> {
    let (data, functionals) = split_positional(&args.positional);
    let quiet = args.output.quiet;
    if let Some(column) = &args.by {
        return super::by::calibrate(args, data, functionals, column);
    }
    let settings = &args.model.settings;
    let named = input::methods_for(&args.question.ask.method, &args.grid, settings)?;
    let wish = Wish { named, tvb: args.grid.tvb || args.question.all_methods };
    if args.save.is_some() && input::streams_rows(settings)? {
        return Err(Failure::usage(&TableError::Far));
    }
    let Given { problem, source, .. } =
        input::problem(data, &args.model, args.grid.published, quiet)?;
    // Anything wrong with the question is said before the work is done.
    let functionals = input::functionals(functionals, problem.model().layout())?;
    output::check(&args.output)?;
    super::plot::check_all(&args.question)?;
    let (blueprint, usual) =
        input::blueprint(&args.grid, &args.iteration, &problem, &wish, data.is_none())?;
    if !quiet {
        input::say_left_out(&usual);
    }
    let place = args.save.as_deref().map(input::place).transpose()?;
    if let Some(place) = &place {
        blueprint.claim(place, true)?;
    }
    let kept =
        place.as_ref().map_or("nothing is kept".to_owned(), |p| format!("no fit is in {p} yet"));
    progress::keeps(format!("{kept}; `trustvb table build` keeps what is done and can be resumed"));
    let paths = progress::Paths::new(quiet);
    let watch = Watch {
        cancel: progress::interruption(),
        begin: &|n| paths.begin(n),
        done: &|| paths.done(),
    };
    let table = blueprint.build(&Cpu, &watch);
    paths.bar.finish_and_clear();
    let table = table.map_err(|error| match error {
        BuildError::Cancelled => Failure::Interrupted,
        other => other.into(),
    })?;
    if let Some(place) = &place {
        save(&table, place)?;
        progress::keeps(format!("the table is in {place}, and `trustvb interval` asks it"));
    }
    let asked = Asked {
        table: &table,
        functionals: &functionals,
        methods: &usual.methods,
        question: &args.question.ask,
        quiet,
    };
    ask(&asked, &source, &args.question, &args.output)
}

/// The first word is the data unless it can only be a quantity.
fn split_positional(words: &[String]) -> (Option<&Path>, &[String]) {
    match words.split_first() {
        Some((first, rest)) if first == "-" || Path::new(first).exists() || !is_quantity(first) => {
            (Some(Path::new(first)), rest)
        }
        _ => (None, words),
    }
}

/// Whether a word that is no file looks like a quantity: it has a bracket, or is a bare name.
fn is_quantity(word: &str) -> bool {
    word.contains(['[', '(']) || trustvb::functional::is_quantity_name(word)
}

#[cfg(test)]
mod tests {
    use super::split_positional;

    #[test]
    fn the_first_word_is_data_unless_it_is_a_quantity() {
        let words = |list: &[&str]| list.iter().map(|s| s.to_string()).collect::<Vec<_>>();
        assert_eq!(split_positional(&words(&["pi[1]", "mu"])).0, None);
        assert_eq!(split_positional(&words(&["sum(mu[1,])"])).0, None);
        assert!(split_positional(&words(&["missing.csv", "pi[1]"])).0.is_some());
        assert!(split_positional(&words(&["-", "pi[1]"])).0.is_some());
        assert_eq!(split_positional(&words(&[])).0, None);
    }
}

//! `trustvb interval`: calibrated intervals from a table, and what `calibrate` does with its own.

use crate::args::{AskArgs, Format, IntervalArgs, OutputArgs, QuestionArgs};
use crate::failure::Failure;
use crate::output::{Heading, answers, check, write};
use crate::say::say;
use crate::{input, progress};
use trustvb::answers::usual_methods;
use trustvb::calibrate::{Calibrator, Method};
use trustvb::functional::{Functional, Part};
use trustvb::resample::Design;
use trustvb::table::{TableReader, TvbTable};
use trustvb_report::picture::Quantity;

/// Bytes of such a piece.
const PIECE: f64 = 128e6;

pub(crate) fn run(args: &IntervalArgs) -> Result<(), Failure> {
    let reader = input::reader(&args.table, args.output.quiet)?;
    let functionals = input::functionals(&args.functionals, reader.layout())?;
    check(&args.output)?;
    super::plot::check_all(&args.question)?;
    let source = args.table.display().to_string();
    let draws = args.question.plot.is_some() || args.question.profile.is_some();
    if reader.bytes() > TableReader::WHOLE && !draws {
        return in_pieces(args, &reader, &functionals, &source);
    }
    let table = reader.up_to(TableReader::WHOLE)?;
    let methods = input::methods(&args.question.ask.method, &usual_methods(&table))?;
    let asked = Asked {
        table: &table,
        functionals: &functionals,
        methods: &methods,
        question: &args.question.ask,
        quiet: args.output.quiet,
    };
    ask(&asked, &source, &args.question, &args.output)
}

/// Asks a table without holding it: a few quantities at a time, with what they need of each fit.
fn in_pieces(
    args: &IntervalArgs,
    reader: &TableReader,
    functionals: &[Functional],
    source: &str,
) -> Result<(), Failure> {
    // Those that the table can answer are known when it has been read.
    let candidates = input::methods(&args.question.ask.method, Method::usual(false))?;
    let levels = input::levels(&args.question.ask);
    let parts: Vec<&Part> = functionals.iter().flat_map(Functional::parts).collect();
    let bar = progress::bar("calibrating", args.output.quiet);
    bar.set_length(parts.len() as u64);
    let mut quantities = Vec::new();
    let mut last = None;
    for batch in reader.batches(&parts, &candidates, PIECE) {
        let parts = &parts[batch];
        drop(last.take());
        let table = reader.for_parts(parts, &candidates)?;
        let methods = input::methods(&args.question.ask.method, &usual_methods(&table))?;
        let calibrator = Calibrator::new(&table, args.question.ask.draws)?;
        let cancel = progress::interruption();
        let answers = calibrator.answer_all(parts, &methods, &levels, cancel, &|| bar.inc(1))?;
        let own = parts.iter().zip(answers).map(|(part, answers)| Quantity { part, answers });
        quantities.extend(own);
        last = Some((table, methods));
    }
    bar.finish_and_clear();
    let (table, methods) = match last {
        Some(read) => read,
        None => (reader.for_parts(&[], &candidates)?, candidates),
    };
    let asked = Asked {
        table: &table,
        functionals,
        methods: &methods,
        question: &args.question.ask,
        quiet: args.output.quiet,
    };
    show(&asked, source, &quantities, &args.question, &args.output)
}

/// A question to a table.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) table: &'a TvbTable,
    pub(crate) functionals: &'a [Functional],
    pub(crate) methods: &'a [Method],
    pub(crate) question: &'a AskArgs,
    pub(crate) quiet: bool,
}

/// Answers, prints, and draws.
pub(crate) fn ask(
    asked: &Asked<'_>,
    source: &str,
    shown: &QuestionArgs,
    output: &OutputArgs,
) -> Result<(), Failure> {
    let quantities = answer(asked)?;
    show(asked, source, &quantities, shown, output)?;
    if let Some(path) = &shown.plot {
        let level = input::levels(asked.question)[0];
        super::plot::draw(path, asked.table, &quantities, level, asked.question.draws)?;
    }
    if let Some(path) = &shown.profile {
        // Of every column, whatever was asked.
        let functionals = Functional::defaults(asked.table.layout());
        let all = answer(&Asked { functionals: &functionals, ..*asked })?;
        super::plot::draw_profile(path, asked.table, &all, input::levels(asked.question)[0])?;
    }
    Ok(())
}

/// Prints what was answered.
fn show(
    asked: &Asked<'_>,
    source: &str,
    quantities: &[Quantity<'_>],
    shown: &QuestionArgs,
    output: &OutputArgs,
) -> Result<(), Failure> {
    if progress::is_visible(asked.quiet) {
        for method in asked.methods {
            if let Some(better) = method.superseded_by() {
                eprintln!(
                    "trustvb: {} is kept to compare with: {} has superseded it",
                    method.name(),
                    better.name()
                );
            }
        }
    }
    let heading = Heading { short: headline(asked.table, source), long: heading(asked, source) };
    let text = answers(output, quantities, asked.table, &heading, shown.every_method());
    write(output, &text)?;
    let one_row = output.format == Format::Table && !shown.every_method();
    if one_row && progress::is_visible(asked.quiet) {
        say("more with --all-methods; `trustvb help terms` explains the words");
    }
    Ok(())
}

/// The answers, quantity by quantity.
pub(crate) fn answer<'a>(asked: &Asked<'a>) -> Result<Vec<Quantity<'a>>, Failure> {
    let levels = input::levels(asked.question);
    let parts: Vec<_> = asked.functionals.iter().flat_map(Functional::parts).collect();
    let bar = progress::bar("calibrating", asked.quiet);
    bar.set_length(parts.len() as u64);
    let how = (asked.methods, &levels[..], asked.question.draws);
    let cancel = progress::interruption();
    let answers = asked.table.answer_all(&parts, &[], how, cancel, &|| bar.inc(1))?;
    bar.finish_and_clear();
    let quantities = parts.into_iter().zip(answers);
    Ok(quantities.map(|(part, answers)| Quantity { part, answers }).collect())
}

/// Data, their size and the model, in a line.
fn headline(table: &TvbTable, source: &str) -> String {
    let manifest = table.manifest();
    let component = &manifest.model.kind().component;
    let model = match manifest.layout.n_components {
        1 => format!("one {}", component.one),
        k => format!("mixture of {k} {}", component.many),
    };
    format!("{source}: {}, {model}", manifest.units_in_words())
}

fn heading(asked: &Asked<'_>, source: &str) -> String {
    let manifest = asked.table.manifest();
    let fits = asked.table.n_fits();
    let resamples = [Design::Full, Design::Split]
        .into_iter()
        .map(|design| (design, asked.table.bootstraps(design).count()))
        .filter(|(_, n)| *n > 0)
        .map(|(design, n)| format!("{n} {} bootstraps{}", design.name(), manifest.only_at(design)))
        .collect::<Vec<_>>()
        .join(" and ");
    let resamples = if resamples.is_empty() { "no bootstraps".to_owned() } else { resamples };
    format!(
        "{} with {} components, {}: {} units{}\n{} ω from 1 to {}, {resamples}, seed {}: {fits} fits",
        manifest.model.name(),
        manifest.layout.n_components,
        source,
        manifest.n_units,
        manifest.weights.as_ref().map_or_else(String::new, |w| format!(" {}", w.in_words())),
        manifest.omegas.len(),
        manifest.omegas.last().copied().unwrap_or(1.0),
        manifest.seed,
    )
}

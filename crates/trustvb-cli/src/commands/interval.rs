//! `trustvb interval`: calibrated intervals from a table, and what `calibrate` does with its own.

use crate::args::{IntervalArgs, OutputArgs, QuestionArgs};
use crate::failure::Failure;
use crate::output::{answers, check, write};
use crate::{input, progress};
use serde_json::{Map, Value, json};
use trustvb::calibrate::{Calibrator, Method};
use trustvb::functional::Functional;
use trustvb::resample::Design;
use trustvb::table::{TvbTable, open};

pub(crate) fn run(args: &IntervalArgs) -> Result<(), Failure> {
    let table = open(&args.table)?;
    let functionals = input::functionals(&args.functionals, table.layout())?;
    check(&args.output)?;
    super::plot::check(args.question.plot.as_deref())?;
    let usual = Method::usual(false).iter().copied();
    let possible: Vec<Method> = usual.filter(|method| method.is_possible(&table)).collect();
    let methods = input::methods(&args.question.method, &possible)?;
    ask(&Asked {
        table: &table,
        functionals: &functionals,
        methods: &methods,
        question: &args.question,
        output: &args.output,
        source: &args.table.display().to_string(),
    })
}

/// A question to a table.
pub(crate) struct Asked<'a> {
    pub(crate) table: &'a TvbTable,
    pub(crate) functionals: &'a [Functional],
    pub(crate) methods: &'a [Method],
    pub(crate) question: &'a QuestionArgs,
    pub(crate) output: &'a OutputArgs,
    pub(crate) source: &'a str,
}

/// Answers, prints, and draws.
pub(crate) fn ask(asked: &Asked<'_>) -> Result<(), Failure> {
    let levels = input::levels(asked.question);
    let calibrator = Calibrator::new(asked.table, asked.question.draws)?;
    let parts: Vec<_> = asked.functionals.iter().flat_map(Functional::parts).collect();
    let bar = progress::bar("calibrating", asked.output.quiet);
    bar.set_length(parts.len() as u64);
    let mut all = Vec::new();
    for part in &parts {
        all.extend(calibrator.answer(part, asked.methods, &levels)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let text = answers(asked.output.format, &all, about(asked), &heading(asked));
    write(asked.output, &text)?;
    if let Some(path) = &asked.question.plot {
        super::plot::draw(path, asked.table, &parts, &all, asked.question.draws)?;
    }
    Ok(())
}

fn heading(asked: &Asked<'_>) -> String {
    let manifest = asked.table.manifest();
    let fits: usize = asked.table.paths().map(|(_, path)| path.status.len()).sum();
    let resamples = [Design::Full, Design::Split]
        .into_iter()
        .map(|design| (design.name(), asked.table.bootstraps(design).count()))
        .filter(|(_, n)| *n > 0)
        .map(|(name, n)| format!("{n} {name} bootstraps"))
        .collect::<Vec<_>>()
        .join(" and ");
    let resamples = if resamples.is_empty() { "no bootstraps".to_owned() } else { resamples };
    format!(
        "{} with {} components, {}: {} units\n{} ω from 1 to {}, {resamples}, seed {}: {fits} fits",
        manifest.model.name(),
        manifest.layout.n_components,
        asked.source,
        manifest.n_units,
        manifest.omegas.len(),
        manifest.omegas.last().copied().unwrap_or(1.0),
        manifest.seed,
    )
}

fn about(asked: &Asked<'_>) -> Map<String, Value> {
    let manifest = asked.table.manifest();
    let fits: usize = asked.table.paths().map(|(_, path)| path.status.len()).sum();
    let about = json!({
        "model": manifest.model.name(),
        "n_units": manifest.n_units,
        "n_components": manifest.layout.n_components,
        "coordinates": manifest.layout.coordinates,
        "grid": manifest.omegas.len(),
        "omega_min": manifest.omega_min,
        "bootstraps": manifest.replicates,
        "fits": fits,
        "seed": manifest.seed,
        "published": manifest.published_intervals,
        "version": env!("CARGO_PKG_VERSION"),
    });
    match about {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

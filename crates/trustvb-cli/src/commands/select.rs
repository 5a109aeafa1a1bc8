//! `trustvb select`: how many components, and which covariances.

use super::plot;
use crate::args::{Format, SelectArgs, SettingsArgs, Shapes};
use crate::failure::Failure;
use crate::input::{self, Given};
use crate::output::{check, csv_cell, csv_number, json_text, table, write};
use crate::progress;
use crate::terminal::{width, wrap};
use serde_json::{Value, json};
use trustvb::defaults;
use trustvb::model::Covariance;
use trustvb::select::{Candidate, Criterion, SelectError, SelectRequest, Selection};
use trustvb_report::command::quoted;
use trustvb_report::{SelectionFigure, SelectionLine, SelectionPanel, save};

pub(crate) fn run(args: &SelectArgs) -> Result<(), Failure> {
    let quiet = args.output.quiet;
    check(&args.output)?;
    plot::check(args.plot.as_deref())?;
    if args.iteration.centres.is_some() {
        return Err(Failure::Usage(
            "--centres is for one number of components; select finds its own starts".to_owned(),
        ));
    }
    let shapes = shapes(args);
    let given = input::problem_of(
        args.data.as_deref(),
        &args.settings,
        (1, shapes.first().copied()),
        false,
        quiet,
    )?;
    let options = input::fit_options(&args.iteration, trustvb::defaults::TABLE_TOLERANCE, false);
    let names: Vec<&str> = shapes.iter().map(|shape| shape.name()).collect();
    let (spec, data) = (given.problem.spec(), given.problem.data());
    let mut request = SelectRequest::new(spec, data, &args.components.0)
        .weights(given.problem.weights().cloned())
        .shapes(&names)
        .starts(args.iteration.starts)
        .seed(args.iteration.seed)
        .options(options);
    if let Some(criterion) = args.criterion {
        request = request.criterion(criterion.into());
    }
    let bar = progress::bar("comparing", quiet);
    let found = request.run_watched(&mut |p| {
        bar.set_length(p.total as u64);
        bar.set_position(p.done as u64);
    });
    bar.finish_and_clear();
    let found = found.map_err(|error| match error {
        SelectError::Empty | SelectError::TooMany { .. } => Failure::Usage(format!("-k: {error}")),
        SelectError::Model(error) => error.into(),
        other => Failure::run(other),
    })?;
    let text = match args.output.format {
        Format::Json => json_text(&selection_json(args, &given, &found)),
        Format::Csv => selection_csv(&found),
        Format::Table => selection_table(args, &given, &found),
    };
    write(&args.output, &text)?;
    if let Some(path) = &args.plot {
        save(path, &figure(&given, &found).render()).map_err(Failure::run)?;
    }
    Ok(())
}

/// The shapes asked for, each once; none where none was said.
fn shapes(args: &SelectArgs) -> Vec<Covariance> {
    let mut all: Vec<Covariance> = Vec::new();
    for asked in &args.covariance {
        let asked = match asked {
            Shapes::All => Covariance::ALL.to_vec(),
            Shapes::One(name) => vec![Covariance::from(*name)],
        };
        for shape in asked {
            if !all.contains(&shape) {
                all.push(shape);
            }
        }
    }
    all
}

/// Whether shapes were compared, or there is only one that need not be named.
fn has_shapes(found: &Selection) -> bool {
    let first = found.candidates[0].shape;
    first.is_some_and(|shape| shape != Covariance::Full.name())
        || found.candidates.iter().any(|c| c.shape != first)
}

fn selection_table(args: &SelectArgs, given: &Given, found: &Selection) -> String {
    let spec = given.problem.spec();
    let mut text = format!(
        "{}: {}, {}\n\n",
        given.source,
        match given.problem.weights() {
            Some(weights) => {
                format!("{} {}", spec.unit().count(found.n_units), weights.from().in_words())
            }
            None => spec.unit().count(found.n_units),
        },
        spec.kind().title,
    );
    let named = has_shapes(found);
    let best: Vec<Option<usize>> = Criterion::SHOWN.iter().map(|c| found.chosen_by(*c)).collect();
    let mut header = vec![spec.kind().called.many];
    if named {
        header.push("covariance");
    }
    header.extend(["free", "log likelihood", "BIC", "ICL", "bound", ""]);
    let rows = found.candidates.iter().enumerate().map(|(at, c)| {
        let mut row = vec![c.n_components.to_string()];
        if named {
            row.push(c.shape.unwrap_or("").to_owned());
        }
        row.push(c.n_free.to_string());
        row.push(decimal(c.ln_likelihood));
        for (criterion, best) in Criterion::SHOWN.iter().zip(&best) {
            let mark = if *best == Some(at) { "*" } else { " " };
            row.push(format!("{}{mark}", decimal(criterion.value(c))));
        }
        row.push(remark(c, at == found.chosen_at()));
        row
    });
    let last = header.len() - 1;
    let rows: Vec<Vec<String>> = rows.collect();
    // The last column is text.
    let wide = table(
        &header[..last],
        rows.iter().map(|r| r[..last].to_vec()).collect(),
        1 + usize::from(named),
    );
    let longest = wide.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    for (line, note) in
        wide.lines().zip(std::iter::once("").chain(rows.iter().map(|r| &r[last][..])))
    {
        text.push_str(format!("{line:<longest$}  {note}").trim_end());
        text.push('\n');
    }
    text.push_str(
        "\nfree: numbers to be estimated; * best: the lowest BIC and ICL, the highest bound\n\n",
    );
    let width = width(&args.output);
    for sentence in found.in_words() {
        text.push_str(&wrap(&sentence, width, "  "));
        text.push('\n');
    }
    let next = format!("Next: trustvb calibrate {}", command(args, found.chosen()));
    text.push_str(&wrap(&next, width, "  "));
    text.push('\n');
    text
}

fn remark(candidate: &Candidate, chosen: bool) -> String {
    match (&candidate.failure, candidate.emptied()) {
        (Some(_), _) => "no fit".to_owned(),
        (None, n) if n > 0 => format!("{n} emptied"),
        _ if chosen => "<-".to_owned(),
        _ => String::new(),
    }
}

/// What to say after `trustvb calibrate`.
fn command(args: &SelectArgs, chosen: &Candidate) -> String {
    let mut words: Vec<String> = args.data.iter().map(|p| quoted(&p.to_string_lossy())).collect();
    words.extend(["-k".to_owned(), chosen.n_components.to_string()]);
    for (option, value) in chosen.spec.options(false) {
        // What columns hold is found again where it was not said.
        if option != "--types" || !args.settings.types.is_empty() {
            words.extend([option.to_owned(), quoted(&value)]);
        }
    }
    // The spec has said the rest. A new option does not compile until it has a place here.
    let SettingsArgs {
        columns,
        weights,
        frequency,
        prior,
        min_group_rows,
        drop_missing,
        stream,
        formula: _,
        model: _,
        types: _,
        noise: _,
        update: _,
    } = &args.settings;
    let columns = columns.as_ref().map(|columns| columns.join(","));
    let prior = (prior != "default").then(|| prior.clone());
    let seed = (args.iteration.seed != defaults::SEED).then(|| args.iteration.seed.to_string());
    let least = (*min_group_rows != defaults::MIN_GROUP_ROWS).then(|| min_group_rows.to_string());
    let given = [
        ("--columns", &columns),
        ("--weights", weights),
        ("--frequency", frequency),
        ("--prior", &prior),
        ("--min-group-rows", &least),
        ("--seed", &seed),
    ];
    for (option, value) in given {
        words.extend(value.iter().flat_map(|value| [option.to_owned(), quoted(value)]));
    }
    let flags = [("--drop-missing", *drop_missing), ("--stream", *stream)];
    words.extend(flags.into_iter().filter(|flag| flag.1).map(|flag| flag.0.to_owned()));
    words.join(" ")
}

fn decimal(x: f64) -> String {
    if x.is_finite() { format!("{x:.1}") } else { "–".to_owned() }
}

fn selection_json(args: &SelectArgs, given: &Given, found: &Selection) -> Value {
    let mut all = found.to_json();
    all["source"] = json!(given.source);
    all["dropped_rows"] = json!(given.dropped);
    all["seed"] = json!(args.iteration.seed);
    all["version"] = json!(env!("CARGO_PKG_VERSION"));
    all
}

fn selection_csv(found: &Selection) -> String {
    let mut text = String::from(
        "components,covariance,free_parameters,log_likelihood,bic,icl,bound,emptied,status,chosen,evidence\n",
    );
    for (at, c) in found.candidates.iter().enumerate() {
        let status = c.fit.as_ref().map_or("failed", |fit| fit.outcome.status.name());
        text.push_str(&format!(
            "{},{},{},{},{},{},{},{},{},{},{}\n",
            c.n_components,
            csv_cell(c.shape.unwrap_or("")),
            c.n_free,
            csv_number(c.ln_likelihood),
            csv_number(c.bic),
            csv_number(c.icl),
            csv_number(c.bound),
            c.emptied(),
            csv_cell(status),
            at == found.chosen_at(),
            csv_number(c.evidence)
        ));
    }
    text
}

/// A panel for each criterion, a line for each shape.
fn figure(given: &Given, found: &Selection) -> SelectionFigure {
    let mut shapes: Vec<Option<&'static str>> = Vec::new();
    for candidate in &found.candidates {
        if !shapes.contains(&candidate.shape) {
            shapes.push(candidate.shape);
        }
    }
    let named = has_shapes(found);
    let place = |at: usize| {
        let shape = found.candidates[at].shape;
        let line = shapes.iter().position(|known| *known == shape)?;
        let before = found.candidates[..at].iter().filter(|c| c.shape == shape).count();
        Some((line, before))
    };
    let panel = |criterion: Criterion| SelectionPanel {
        criterion: criterion.title().to_owned(),
        lower_is_better: criterion.is_cost(),
        decides: criterion == found.criterion
            || criterion == Criterion::Bound && found.criterion == Criterion::Evidence,
        best: found.chosen_by(criterion).and_then(place),
        lines: shapes
            .iter()
            .map(|shape| {
                let own = || found.candidates.iter().filter(|c| c.shape == *shape);
                SelectionLine {
                    name: if named { shape.unwrap_or("").to_owned() } else { String::new() },
                    components: own().map(|c| c.n_components).collect(),
                    values: own().map(|c| criterion.value(c)).collect(),
                }
            })
            .collect(),
    };
    let with_values =
        |criterion: &Criterion| found.candidates.iter().any(|c| criterion.value(c).is_finite());
    SelectionFigure {
        title: format!(
            "How many {}: {}",
            given.problem.spec().kind().called.many,
            found.chosen().in_words()
        ),
        caption: format!("{}, {}", given.source, given.problem.spec().unit().count(found.n_units)),
        panels: Criterion::SHOWN.into_iter().filter(with_values).map(panel).collect(),
        columns: 0,
    }
}

//! `trustvb fit`: one variational fit, summarised.

use crate::args::{FitArgs, Format};
use crate::failure::Failure;
use crate::input::{self, Given};
use crate::output::{
    check, check_path, csv_cell, csv_number, deserved, json_text, number, percent, significant,
    table, write, write_text,
};
use crate::progress;
use crate::terminal::{width, wrap};
use serde_json::{Map, Value, json};
use std::time::Instant;
use trustvb::calibrate::{Flag, Law};
use trustvb::fit::{Fit, Progress, Status, fit};
use trustvb::functional::Functional;
use trustvb::linalg::unpack;
use trustvb::model::Degenerate;
use trustvb::posterior::Role;

/// Level of the intervals in the summary.
const LEVEL: f64 = 0.95;

/// Draws behind intervals that have no exact law.
const DRAWS: usize = 400;

pub(crate) fn run(args: &FitArgs) -> Result<(), Failure> {
    let quiet = args.output.quiet;
    check(&args.output)?;
    if let Some(path) = &args.responsibilities {
        check_path("--responsibilities", path)?;
    }
    if let Some(column) = &args.by {
        return super::by::fit(args, column);
    }
    if args.responsibilities.is_some() && input::streams_rows(&args.model.settings)? {
        let what = "--responsibilities has a line for every row, and --stream holds none; leave one of them out";
        return Err(Failure::Usage(what.to_owned()));
    }
    let given = input::problem(args.data.as_deref(), &args.model, false, quiet)?;
    let bar = progress::spinner("fitting", quiet);
    let tolerance = args.iteration.tolerance.unwrap_or(trustvb::defaults::TOLERANCE);
    let mut falling = progress::Falling::to(tolerance);
    let found = one(args, given, &mut |p| {
        bar.set_message(format!(
            "start {} of {}, sweep {}, bound {:.6}, change {:.1e}{}",
            p.start + 1,
            p.starts,
            p.sweeps,
            p.bound,
            p.change,
            falling.left(p.start, p.change, Instant::now()),
        ));
    });
    bar.finish_and_clear();
    let summary = found?;
    let text = match args.output.format {
        Format::Json => json_text(&summary.json(args)),
        Format::Csv => summary.csv(),
        Format::Table => summary_table(args, &summary),
    };
    write(&args.output, &text)?;
    if let Some(path) = &args.responsibilities {
        write_text(path, &responsibilities_csv(&summary.given, &summary.fit)?)?;
    }
    match &summary.fit.outcome.status {
        Status::Converged | Status::Stalled => Ok(()),
        Status::HitLimit => Err(Failure::Run(format!(
            "the fit did not converge in {} sweeps (last change {:.1e}); raise --max-sweeps",
            summary.fit.outcome.sweeps, summary.fit.outcome.change
        ))),
        Status::Degenerate(why) => Err(Failure::Run(format!("the fit broke off: {why}"))),
    }
}

/// A fit with its data and the lines that sum it up.
pub(super) struct Summary {
    given: Given,
    fit: Fit,
    rows: Vec<Row>,
}

/// Fits a problem.
pub(super) fn one(
    args: &FitArgs,
    given: Given,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Summary, Failure> {
    let options = input::fit_options(&args.iteration, trustvb::defaults::TOLERANCE, args.trace);
    let start = input::start(&args.iteration, &given.problem)?;
    let model = given.problem.model().as_ref();
    let fit = fit(model, None, args.omega, &start, &options, progress).map_err(|why| {
        let advice = match why {
            Degenerate::Rows(_) => "",
            _ => "; try fewer components, another prior or other start values",
        };
        Failure::Run(format!("the fit failed: {why}{advice}"))
    })?;
    let rows = summary(&given, &fit, args.iteration.seed);
    Ok(Summary { given, fit, rows })
}

impl Summary {
    pub(super) fn json(&self, args: &FitArgs) -> Value {
        fit_json(args, &self.given, &self.fit, &self.rows)
    }

    /// What a component is called.
    pub(super) fn called(&self) -> &'static str {
        self.given.problem.spec().kind().called.one
    }

    pub(super) fn csv(&self) -> String {
        summary_csv(&self.rows)
    }

    /// How it ended.
    pub(super) fn status(&self) -> &'static str {
        self.fit.outcome.status.name()
    }

    pub(super) fn bound(&self) -> f64 {
        self.fit.outcome.bound
    }

    /// How it ended and its bound.
    pub(super) fn status_csv(&self) -> String {
        format!("{},{}", self.status(), csv_number(self.bound()))
    }

    pub(super) fn into_rows(self) -> Vec<Row> {
        self.rows
    }

    /// The lines as cells for people.
    pub(super) fn cells(&self) -> Vec<Vec<String>> {
        let mut cells = Vec::new();
        let mut last = usize::MAX;
        for row in &self.rows {
            let width = row.upper - row.lower;
            let first =
                if row.component == last { String::new() } else { (row.component + 1).to_string() };
            last = row.component;
            cells.push(vec![
                first,
                row.label.clone(),
                deserved(row.estimate, width),
                deserved(row.lower, width),
                deserved(row.upper, width),
            ]);
        }
        cells
    }
}

/// One line of the summary: a quantity with its uncalibrated interval.
pub(super) struct Row {
    pub(super) component: usize,
    pub(super) name: String,
    label: String,
    pub(super) estimate: f64,
    pub(super) lower: f64,
    pub(super) upper: f64,
}

/// More columns than this would make a summary of correlations that nobody reads.
const MAX_ROWS: usize = 400;

fn summary(given: &Given, fit: &Fit, seed: u64) -> Vec<Row> {
    let layout = given.problem.model().layout();
    let parameters = fit.posterior.parameters();
    let mut rows = Vec::new();
    for component in 0..layout.n_components {
        let mut texts = given.problem.spec().summary(layout, component + 1);
        if texts.len() * layout.n_components > MAX_ROWS {
            texts.retain(|text| !text.starts_with("cor"));
        }
        for text in texts {
            let Ok(functional) = Functional::parse(&text, layout) else { continue };
            for part in functional.parts() {
                let law = Law::new(part, layout.clone(), false, seed, DRAWS);
                let (lower, upper, _) = law.interval(parameters, LEVEL);
                rows.push(Row {
                    component,
                    name: part.name().to_owned(),
                    label: part.label().to_owned(),
                    estimate: part.plug_in(parameters),
                    lower,
                    upper,
                });
            }
        }
    }
    rows
}

fn status_line(fit: &Fit) -> String {
    let outcome = &fit.outcome;
    match &outcome.status {
        Status::Converged => {
            format!("converged in {} sweeps (last change {:.1e})", outcome.sweeps, outcome.change)
        }
        Status::Stalled => format!(
            "stalled after {} sweeps at a change of {:.1e}: rounding allows no more",
            outcome.sweeps, outcome.change
        ),
        Status::HitLimit => format!(
            "did NOT converge in {} sweeps (last change {:.1e})",
            outcome.sweeps, outcome.change
        ),
        Status::Degenerate(why) => format!("broke off after {} sweeps: {why}", outcome.sweeps),
    }
}

fn summary_table(args: &FitArgs, summary: &Summary) -> String {
    let Summary { given, fit, .. } = summary;
    let (model, spec) = (given.problem.model().as_ref(), given.problem.spec());
    let mut text = format!(
        "{}, {}, ω = {}\n{}: {}, {} {}\n{}; bound {}; {}\n\n",
        spec.title(),
        spec.kind().called.count(model.n_components()),
        fit.omega,
        given.source,
        given.units_in_words(),
        model.layout().coordinates.len(),
        spec.kind().coordinate.many,
        status_line(fit),
        significant(fit.outcome.bound, 9),
        match fit.search.tried {
            1 => "one start".to_owned(),
            tried => format!("found by {} of {tried} starts", fit.search.found_by),
        },
    );
    let word = spec.kind().called.one;
    let header = [word, "quantity", "estimate", "2.5%", "97.5%"];
    text.push_str(&table(&header, summary.cells(), 2));
    for k in &fit.emptied {
        text.push_str(&format!(
            "\n{} {} holds next to no data: its numbers are the prior's.\n",
            capitalised(word),
            k + 1
        ));
    }
    if let Some(rival) = &fit.search.rival {
        let weights: Vec<String> =
            rival.posterior.weights().iter().map(|w| significant(*w, 2)).collect();
        text.push_str(&format!(
            "\nAnother fit describes the data about as well: its bound is {}, its weights are {},\n\
             and {} of the {} are in another {word}. These data do not decide between the two.\n",
            significant(rival.bound, 9),
            weights.join(", "),
            percent(rival.moved),
            spec.unit().many,
        ));
    }
    for flag in Flag::of_fit(model, &fit.posterior) {
        let line = format!("! {}. [{}]", flag.sentence(), flag.name());
        text.push_str(&format!("\n{}\n", wrap(&line, width(&args.output), "  ")));
    }
    text.push_str(
        "\nThese are VB's own 95% intervals. One fit cannot tell whether they cover 95%;\n\
         `trustvb calibrate` can.\n",
    );
    if args.trace {
        text.push_str("\nbound after each sweep:\n");
        for (i, bound) in fit.outcome.trace.iter().enumerate() {
            text.push_str(&format!("{:5}  {bound:.9}\n", i + 1));
        }
    }
    text
}

/// The word with a capital.
fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// One row per unit: its number, then the probability of each component.
fn responsibilities_csv(given: &Given, fit: &Fit) -> Result<String, Failure> {
    let model = given.problem.model().as_ref();
    let mut sweeper = model.sweeper();
    let all = sweeper
        .load(None)
        .and_then(|()| sweeper.responsibilities_under(&fit.posterior))
        .map_err(Failure::run)?;
    let k = model.n_components();
    let mut text = String::from("unit");
    for component in 1..=k {
        text.push_str(&format!(",component_{component}"));
    }
    for (unit, r) in all.chunks_exact(k).enumerate() {
        text.push_str(&format!("\n{}", unit + 1));
        for x in r {
            text.push_str(&format!(",{x}"));
        }
    }
    text.push('\n');
    Ok(text)
}

fn summary_csv(rows: &[Row]) -> String {
    let mut text = String::from("component,quantity,estimate,lower,upper\n");
    for row in rows {
        text.push_str(&format!(
            "{},{},{},{},{}\n",
            row.component + 1,
            csv_cell(&row.name),
            csv_number(row.estimate),
            csv_number(row.lower),
            csv_number(row.upper)
        ));
    }
    text
}

fn numbers(values: &[f64]) -> Value {
    Value::Array(values.iter().map(|&x| number(x)).collect())
}

fn matrix(p: usize, packed: &[f64]) -> Value {
    Value::Array(unpack(p, packed).iter().map(|row| numbers(row)).collect())
}

fn blocks_json(given: &Given, fit: &Fit) -> Value {
    let layout = given.problem.model().layout();
    let posterior = &fit.posterior;
    let mut blocks = Map::new();
    for block in &layout.blocks {
        let name = block.name.as_str();
        if let Some(dirichlet) = posterior.dirichlet(name).filter(|_| block.role == Role::Weights) {
            blocks.insert(name.to_owned(), json!({ "alpha": numbers(dirichlet.alpha()) }));
            continue;
        }
        let copies = (0..block.copies)
            .map(|k| {
                if let Some(nw) = posterior.normal_wishart(name, k) {
                    let w = nw.w().map_or(Value::Null, |w| matrix(block.dim, &w));
                    json!({"m": numbers(nw.mean()), "beta": number(nw.beta), "nu": number(nw.nu), "W": w})
                } else if let Some(dirichlet) = posterior.dirichlet_of(name, k) {
                    json!({ "alpha": numbers(dirichlet.alpha()) })
                } else if let Some(normal) = posterior.mv_normal(name, k) {
                    json!({"m": numbers(normal.mean()), "S": matrix(block.dim, normal.covariance())})
                } else if let Some(gamma) = posterior.gamma(name, k) {
                    json!({"a": number(gamma.a), "b": number(gamma.b)})
                } else {
                    Value::Null
                }
            })
            .collect();
        blocks.insert(name.to_owned(), Value::Array(copies));
    }
    Value::Object(blocks)
}

fn fit_json(args: &FitArgs, given: &Given, fit: &Fit, rows: &[Row]) -> Value {
    let why = match &fit.outcome.status {
        Status::Degenerate(why) => Value::String(why.to_string()),
        _ => Value::Null,
    };
    let flags = Flag::of_fit(given.problem.model().as_ref(), &fit.posterior);
    let mut all = json!({
        "model": given.problem.spec().name(),
        "omega": number(fit.omega),
        "blocks": blocks_json(given, fit),
        "bound": number(fit.outcome.bound),
        "iterations": fit.outcome.sweeps,
        "status": fit.outcome.status.name(),
        "why": why,
        "change": number(fit.outcome.change),
        "starts": fit.starts,
        "starts_tried": fit.search.tried,
        "found_by": fit.search.found_by,
        "other_optimum": fit.search.rival.as_ref().map(|rival| json!({
            "bound": number(rival.bound),
            "moved": number(rival.moved),
            "weights": numbers(&rival.posterior.weights()),
            "centres": rival
                .posterior
                .centres()
                .chunks(given.problem.model().centre_len().max(1))
                .map(numbers)
                .collect::<Vec<_>>(),
        })),
        "emptied": fit.emptied.iter().map(|k| k + 1).collect::<Vec<_>>(),
        "flags": flags.iter().map(Flag::name).collect::<Vec<_>>(),
        "remarks": flags.iter().map(Flag::sentence).collect::<Vec<_>>(),
        "n_units": given.problem.n_units(),
        "n_components": given.problem.model().n_components(),
        "coordinates": given.problem.model().layout().coordinates,
        "source": given.source,
        "dropped_rows": given.dropped,
        "settings": given.problem.spec(),
        "seed": args.iteration.seed,
        "summary": rows
            .iter()
            .map(|row| json!({
                "functional": row.name,
                "label": row.label,
                "component": row.component + 1,
                "estimate": number(row.estimate),
                "level": LEVEL,
                "lower": number(row.lower),
                "upper": number(row.upper),
                "calibrated": false,
            }))
            .collect::<Vec<_>>(),
        "version": env!("CARGO_PKG_VERSION"),
    });
    if let Some(weights) = given.problem.weights() {
        all["weights"] = json!(weights.from());
    }
    if args.trace {
        all["trace"] = numbers(&fit.outcome.trace);
    }
    all
}

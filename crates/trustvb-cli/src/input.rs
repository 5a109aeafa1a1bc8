//! From the command line to data, model and settings.

use crate::args::{AskArgs, GridArgs, IterationArgs, MatchName, ModelArgs, ModelName, UpdateName};
use crate::failure::Failure;
use crate::progress;
use crate::say::say;
use serde::de::DeserializeOwned;
use std::io::Read;
use std::path::Path;
use trustvb::calibrate::Method;
use trustvb::data::{
    Dataset, Formula, Frame, Pieces, ReadOptions, read_centres, read_csv, read_path,
};
use trustvb::fit::{FitOptions, Matching, Start, Stopping};
use trustvb::functional::Functional;
use trustvb::location::Location;
use trustvb::model::{
    BmlrPrior, GmmPrior, GroupStatistics, Model, ModelData, ModelError, ModelSpec, Noise,
    PriorBase, Update,
};
use trustvb::posterior::Layout;
use trustvb::resample::{GivenResamples, Resamples, Subsets};
use trustvb::table::{Plan, PlanError, Settings, TABLE_TOLERANCE, TvbTable};

/// Data with the model for them.
pub(crate) struct Problem {
    pub(crate) spec: ModelSpec,
    pub(crate) data: ModelData,
    pub(crate) model: Box<dyn Model>,
    /// The file, or what stands for it.
    pub(crate) source: String,
    /// Rows left out by --drop-missing.
    pub(crate) dropped: usize,
}

/// Reads the data and binds the model to them.
pub(crate) fn problem(
    path: Option<&Path>,
    args: &ModelArgs,
    published: bool,
    quiet: bool,
) -> Result<Problem, Failure> {
    let name = match (args.model, &args.formula) {
        (Some(name), _) => name,
        (None, Some(_)) => ModelName::Bmlr,
        (None, None) => ModelName::Gmm,
    };
    let (data, source, dropped, spec) = match name {
        ModelName::Gmm => {
            refuse(args.formula.is_some(), "--formula is for --model bmlr")?;
            refuse(args.noise.is_some(), "--noise is for --model bmlr")?;
            refuse(
                args.stream,
                "--stream is for --model bmlr with a --formula: a mixture of regressions needs only \
                 sums over each group, but a Gaussian mixture needs its rows in every sweep, so they \
                 must be in memory; leave --stream out",
            )?;
            let (data, source, dropped) = rows(path, args, quiet)?;
            let update = match (args.update, published) {
                (Some(UpdateName::AsPrinted), _) | (None, true) => Update::AsPrinted,
                (Some(UpdateName::Corrected), _) | (None, false) => Update::Corrected,
            };
            let mut prior: GmmPrior = prior(&args.prior)?;
            if args.prior == "paper" || (published && args.prior == "default") {
                prior.base = PriorBase::Paper;
            }
            let spec = ModelSpec::Gmm { n_components: args.components, prior, update };
            (ModelData::Rows(data), source, dropped, spec)
        }
        ModelName::Bmlr => {
            refuse(args.columns.is_some(), "--columns is for --model gmm; use --formula")?;
            refuse(args.update.is_some(), "--update is for --model gmm")?;
            let text = args.formula.as_deref().ok_or_else(|| {
                Failure::Usage(
                    "--model bmlr needs a formula, such as --formula 'y ~ x | group'".to_owned(),
                )
            })?;
            let formula = Formula::parse(text).map_err(|e| Failure::Usage(e.to_string()))?;
            let options = ReadOptions { drop_missing: args.drop_missing, ..formula.read_options() };
            let (data, source, dropped) = if args.stream {
                let (data, source) = statistics(path, &formula, options, quiet)?;
                data.check_for_mixture(args.components, args.min_group_rows)?;
                let dropped = data.n_dropped();
                (ModelData::Statistics(data), source, dropped)
            } else {
                let (frame, source) = frame(path, options, quiet)?;
                let dropped = frame.dropped_rows().len();
                let data = formula.apply(&frame)?;
                data.check_for_mixture(args.components, args.min_group_rows)?;
                (ModelData::Groups(data), source, dropped)
            };
            let mut prior: BmlrPrior = prior(&args.prior)?;
            if args.prior == "paper" || (published && args.prior == "default") {
                prior.base = PriorBase::Paper;
            }
            prior.check().map_err(|what| Failure::Run(format!("{}: {what}", args.prior)))?;
            let lambda = prior.lambda.take();
            let spec = ModelSpec::Bmlr {
                n_components: args.components,
                prior,
                noise: match (args.noise.as_deref(), lambda, published) {
                    (Some(text), _, _) => noise(text)?,
                    (None, Some(lambda), _) => Noise::Known(lambda),
                    // The paper takes the noise precision as known.
                    (None, None, true) => Noise::Known(1.0),
                    (None, None, false) => Noise::Estimate,
                },
                formula: text.to_owned(),
            };
            (data, source, dropped, spec)
        }
    };
    let model = spec.build(&data).map_err(|error| match error {
        ModelError::Prior(what) if args.prior != "default" && args.prior != "paper" => {
            Failure::Run(format!("{}: {what}; correct it there", args.prior))
        }
        other => other.into(),
    })?;
    if dropped > 0 && !quiet {
        say(format_args!("left out {dropped} rows with missing or infinite values"));
    }
    Ok(Problem { spec, data, model, source, dropped })
}

fn refuse(wrong: bool, why: &str) -> Result<(), Failure> {
    if wrong { Err(Failure::Usage(why.to_owned())) } else { Ok(()) }
}

fn rows(
    path: Option<&Path>,
    args: &ModelArgs,
    quiet: bool,
) -> Result<(Dataset, String, usize), Failure> {
    let Some(path) = path else {
        let data = match &args.columns {
            Some(columns) => Dataset::faithful().select(columns)?,
            None => Dataset::faithful(),
        };
        return Ok((data, "Old Faithful (built in)".to_owned(), 0));
    };
    let options = ReadOptions {
        columns: args.columns.clone(),
        drop_missing: args.drop_missing,
        ..ReadOptions::default()
    };
    let (frame, source) = frame(Some(path), options, quiet)?;
    let dropped = frame.dropped_rows().len();
    Ok((frame.into_dataset()?, source, dropped))
}

fn frame(
    path: Option<&Path>,
    options: ReadOptions<'_>,
    quiet: bool,
) -> Result<(Frame, String), Failure> {
    let Some(path) = path else {
        return Ok((Frame::from(Dataset::faithful()), "Old Faithful (built in)".to_owned()));
    };
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin()
            .read_to_end(&mut bytes)
            .map_err(|e| Failure::Run(format!("standard input cannot be read: {e}")))?;
        let frame = read_csv(bytes.as_slice(), "standard input", &options)?;
        return Ok((frame, "standard input".to_owned()));
    }
    let (bar, report) = progress::reading(path, quiet);
    let frame = read_path(path, &ReadOptions { progress: Some(&report), ..options });
    bar.finish_and_clear();
    Ok((frame?, path.display().to_string()))
}

/// Sums over the groups of a file that is read in pieces, or that holds such sums.
fn statistics(
    path: Option<&Path>,
    formula: &Formula,
    options: ReadOptions<'_>,
    quiet: bool,
) -> Result<(GroupStatistics, String), Failure> {
    let Some(path) = path else {
        let frame = Frame::from(Dataset::faithful());
        let data = GroupStatistics::from_pieces(formula, [Ok(frame)])?;
        return Ok((data, "Old Faithful (built in)".to_owned()));
    };
    let standard_input = path == Path::new("-");
    if !standard_input && let Some(data) = GroupStatistics::read_stored(path, formula)? {
        return Ok((data, path.display().to_string()));
    }
    let (bar, report) = progress::reading(path, quiet);
    let options = ReadOptions { progress: Some(&report), ..options };
    let source =
        if standard_input { "standard input".to_owned() } else { path.display().to_string() };
    let pieces = if standard_input {
        Pieces::from_csv(std::io::stdin().lock(), &source, &options, Pieces::ROWS)
    } else {
        Pieces::open(path, &options, Pieces::ROWS)
    };
    let data = pieces.and_then(|pieces| GroupStatistics::from_pieces(formula, pieces));
    bar.finish_and_clear();
    Ok((data?, source))
}

/// The prior of `default`, `paper` or a TOML file.
fn prior<T: DeserializeOwned + Default>(text: &str) -> Result<T, Failure> {
    if text == "default" || text == "paper" {
        return Ok(T::default());
    }
    let content = std::fs::read_to_string(text).map_err(|e| {
        Failure::Run(format!("{text}: {e}; --prior takes default, paper or a TOML file"))
    })?;
    toml::from_str(&content).map_err(|e| Failure::Run(format!("{text}: {e}")))
}

fn noise(text: &str) -> Result<Noise, Failure> {
    match text {
        "estimate" => Ok(Noise::Estimate),
        text => text
            .strip_prefix("known=")
            .and_then(|number| number.parse::<f64>().ok())
            .filter(|x| x.is_finite() && *x > 0.0)
            .map(Noise::Known)
            .ok_or_else(|| {
                Failure::Usage(format!(
                    "--noise {text}: say estimate, or known=1 with a positive precision"
                ))
            }),
    }
}

/// How a single fit iterates.
pub(crate) fn fit_options(args: &IterationArgs, tolerance: f64, trace: bool) -> FitOptions {
    FitOptions {
        stopping: Stopping::Relative(args.tolerance.unwrap_or(tolerance)),
        max_sweeps: args.max_sweeps,
        acceleration: args.acceleration,
        trace,
    }
}

/// Where the full-data fit begins.
pub(crate) fn start(args: &IterationArgs, problem: &Problem) -> Result<Start, Failure> {
    let Some(path) = &args.centres else {
        return Ok(Start::KMeans { restarts: args.starts, seed: args.seed });
    };
    let centres = read_centres(path, &problem.model.layout().coordinates)?;
    if centres.len() != problem.model.n_components() {
        return Err(Failure::Run(format!(
            "{}: {} rows of start values, but the model has {} components; give one row each",
            path.display(),
            centres.len(),
            problem.model.n_components()
        )));
    }
    Ok(Start::Centres(centres.concat()))
}

/// A table that was kept, with a remark if nobody can say whether it is as it was written.
pub(crate) fn table(path: &Path, quiet: bool) -> Result<TvbTable, Failure> {
    let table = trustvb::table::open(&place(path)?)?;
    if !quiet && !table.is_checked() {
        let name = path.display().to_string();
        say(crate::commands::table::unchecked(&name, table.manifest().schema));
    }
    Ok(table)
}

/// A table's folder, or its address in an object store.
pub(crate) fn place(path: &Path) -> Result<Location, Failure> {
    Location::from_argument(path).map_err(|e| Failure::Usage(e.to_string()))
}

/// The methods of a table when none are named: not those that `--subsets` cannot serve.
pub(crate) fn usual_methods(grid: &GridArgs) -> &'static [Method] {
    match grid.subsets {
        Some(_) => &[Method::RECOMMENDED, Method::Vb],
        None => Method::usual(grid.published),
    }
}

/// The methods asked for, or the usual ones.
pub(crate) fn methods(names: &[String], usual: &[Method]) -> Result<Vec<Method>, Failure> {
    if names.is_empty() {
        return Ok(usual.to_vec());
    }
    let mut methods = Vec::new();
    for name in names {
        let method = Method::from_name(name.trim()).ok_or_else(|| {
            let known: Vec<&str> = Method::ALL.iter().map(|m| m.name()).collect();
            Failure::Usage(format!(
                "--method {name}: there is no such method; choose from recommended, {}",
                known.join(", ")
            ))
        })?;
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    Method::in_order(&mut methods);
    Ok(methods)
}

/// Levels asked for, 0.95 otherwise.
pub(crate) fn levels(args: &AskArgs) -> Vec<f64> {
    if args.level.is_empty() { vec![0.95] } else { args.level.clone() }
}

/// What a table is made with, and its resamples.
pub(crate) fn settings(
    grid: &GridArgs,
    iteration: &IterationArgs,
    problem: &Problem,
    methods: &[Method],
    built_in_data: bool,
) -> Result<(Settings, Resamples), Failure> {
    // Said before the file is read.
    if grid.fresh_splits && grid.resamples.is_some() {
        return Err(Failure::Usage(PlanError::FreshAndGiven.to_string()));
    }
    let given = match &grid.resamples {
        Some(path) => Some(GivenResamples::read(path, problem.model.n_units())?),
        None => None,
    };
    let plan = Plan {
        needs_grid: methods.iter().any(|method| method.needs_grid()),
        grid: grid.grid.unwrap_or(if grid.published && built_in_data { 500 } else { 100 }),
        omega_min: grid.omega_min,
        bootstraps: grid.bootstraps,
        fresh_splits: grid.fresh_splits,
        subsets: grid.subsets.map(|count| Subsets::of(problem.model.n_units(), count)),
        given,
        matching: grid.matching.map(|name| match name {
            MatchName::Weight => Matching::Weight,
            MatchName::Assignment => Matching::Assignment,
        }),
        restarts: grid.restarts,
        published: grid.published,
        start: start(iteration, problem)?,
        fit: fit_options(iteration, TABLE_TOLERANCE, false),
        ..Plan::new(iteration.seed, methods.iter().filter_map(|m| m.design()).collect())
    };
    plan.settings(problem.spec.clone()).map_err(|e| Failure::Usage(e.to_string()))
}

/// The functionals asked for, or every weight and mean.
pub(crate) fn functionals(texts: &[String], layout: &Layout) -> Result<Vec<Functional>, Failure> {
    if texts.is_empty() {
        return Ok(Functional::defaults(layout));
    }
    texts
        .iter()
        .map(|text| Functional::parse(text, layout).map_err(|e| Failure::Usage(e.to_string())))
        .collect()
}

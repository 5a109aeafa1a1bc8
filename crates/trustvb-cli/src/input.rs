//! From the command line to data, model and settings.

use crate::args::{
    AskArgs, GridArgs, IterationArgs, MatchName, ModelArgs, SettingsArgs, UpdateName,
};
use crate::failure::Failure;
use crate::progress;
use crate::say::say;
use std::path::Path;
use trustvb::calibrate::Method;
use trustvb::data::{
    DataError, Dataset, Frame, Pieces, ReadOptions, Slice, as_written, read_centres, read_csv,
    read_path,
};
use trustvb::defaults;
use trustvb::fit::{FitOptions, Matching, Start, Stopping};
use trustvb::functional::Functional;
use trustvb::location::Location;
use trustvb::model::{
    Covariance, Kind, ModelError, Noun, PriorWish, Source, TakePieces, Update, WishError, Wished,
    WishedWeights, Wishes,
};
use trustvb::posterior::Layout;
use trustvb::problem::Problem;
use trustvb::remedy::{Advise, in_command};
use trustvb::resample::{GivenResamples, Subsets};
use trustvb::table::{Blueprint, Plan, PlanError, TableReader, TvbTable, Usual};
use trustvb::weights::WeightKind;

/// A problem with where its data are from.
pub(crate) struct Given {
    pub(crate) problem: Problem,
    /// The file, or what stands for it.
    pub(crate) source: String,
    /// Rows left out by --drop-missing.
    pub(crate) dropped: usize,
}

impl Given {
    /// How many units there are.
    pub(crate) fn units_in_words(&self) -> String {
        let units = Noun { one: "unit", many: "units" }.count(self.problem.n_units());
        match self.problem.weights() {
            Some(weights) => format!("{units} {}", weights.from().in_words()),
            None => units,
        }
    }
}

/// Reads the data and binds the model to them.
pub(crate) fn problem(
    path: Option<&Path>,
    args: &ModelArgs,
    published: bool,
    quiet: bool,
) -> Result<Given, Failure> {
    let shape = args.covariance.map(Into::into);
    problem_of(path, &args.settings, (args.components, shape), published, quiet)
}

/// As [`problem`], for so many components with covariances of a shape.
pub(crate) fn problem_of(
    path: Option<&Path>,
    args: &SettingsArgs,
    wanted: (usize, Option<Covariance>),
    published: bool,
    quiet: bool,
) -> Result<Given, Failure> {
    let from = Input { path, quiet };
    let given = bind(&from, from.name(), args, wanted, published)?;
    if given.dropped > 0 && !quiet {
        let dropped = given.dropped;
        say(format_args!("left out {dropped} rows with missing or infinite values"));
    }
    if !quiet {
        given.problem.spec().remarks(given.problem.data()).iter().for_each(say);
        effective_units(&given.problem).iter().for_each(say);
    }
    Ok(given)
}

/// The rows of each value of a column, with what the file is called and how many rows have no value there.
pub(crate) fn slices(
    path: Option<&Path>,
    column: &str,
    quiet: bool,
) -> Result<(Vec<Slice>, String, usize), Failure> {
    let from = Input { path, quiet };
    let frame = from.frame(as_written())?;
    let (slices, without) = Slice::split(&frame, column)
        .map_err(|error| Failure::Run(format!("--by {column}: {error}")))?;
    Ok((slices, from.name(), without))
}

/// Binds the model to the data of a source.
pub(crate) fn bind(
    from: &dyn Source,
    source: String,
    args: &SettingsArgs,
    (components, covariance): (usize, Option<Covariance>),
    published: bool,
) -> Result<Given, Failure> {
    let wishes = Wishes {
        columns: args.columns.clone(),
        formula: args.formula.clone(),
        stream: args.stream,
        drop_missing: args.drop_missing,
        noise: args.noise.clone(),
        min_group_rows: args.min_group_rows,
        prior: prior(&args.prior)?,
        update: args.update.map(|name| match name {
            UpdateName::AsPrinted => Update::AsPrinted,
            UpdateName::Corrected => Update::Corrected,
        }),
        covariance,
        types: args.types.clone(),
        weights: weights(args),
        published,
        ..Wishes::new(components)
    };
    let kind = kind(args, &wishes)?;
    let Wished { spec, data, dropped, weights } =
        kind.grant(&wishes, from).map_err(|error| match error {
            WishError::Options(what) => Failure::Usage(what),
            other => Failure::advised(&other),
        })?;
    let mut problem = Problem::new(spec, data).map_err(|error| match error {
        ModelError::Prior(what) if args.prior != "default" && args.prior != "paper" => {
            Failure::Run(format!("{}: {what}; correct it there", args.prior))
        }
        other => other.into(),
    })?;
    if let Some(weights) = weights {
        problem = problem.weighted(weights).map_err(Failure::run)?;
    }
    Ok(Given { problem, source, dropped })
}

/// The model that is named, or meant.
fn kind(args: &SettingsArgs, wishes: &Wishes) -> Result<&'static Kind, Failure> {
    match args.model.as_deref().map(|name| Kind::named(name).ok_or(name)) {
        None => Ok(wishes.model()),
        Some(Ok(kind)) => Ok(kind),
        Some(Err(name)) => Err(Failure::Usage(format!("--model {name}: there is no such model"))),
    }
}

/// Whether rows are streamed that a model needs in every sweep, so that they cannot be resampled.
pub(crate) fn streams_rows(args: &SettingsArgs) -> Result<bool, Failure> {
    let (formula, types) = (args.formula.clone(), args.types.clone());
    let wishes = Wishes { formula, types, ..Wishes::new(1) };
    Ok(args.stream && kind(args, &wishes)?.needs_rows)
}

/// The column that says what rows count for.
fn weights(args: &SettingsArgs) -> Option<WishedWeights> {
    let wish = |kind, column: &String| WishedWeights { column: column.clone(), kind };
    let survey = args.weights.as_ref().map(|column| wish(WeightKind::Survey, column));
    survey.or_else(|| args.frequency.as_ref().map(|column| wish(WeightKind::Frequency, column)))
}

/// What unequal weights cost, in a sentence.
fn effective_units(problem: &Problem) -> Option<String> {
    let weights = problem.weights().filter(|weights| weights.from().kind == WeightKind::Survey)?;
    let units = problem.spec().unit();
    let (n, effective) = (weights.n_units(), weights.effective_units());
    let left_out = match weights.n_rows() - n {
        0 => String::new(),
        none => format!("; {} of weight 0 take no part", units.count(none)),
    };
    Some(format!(
        "weights of {}: {} say as much about a mean as {effective:.0} of equal weight (Kish){left_out}",
        weights.from().column,
        units.count(n)
    ))
}

/// Binds the model to the rows of one value of a column.
pub(crate) fn bind_slice(
    slice: &Slice,
    args: &ModelArgs,
    published: bool,
) -> Result<Given, Failure> {
    let wanted = (args.components, args.covariance.map(Into::into));
    bind(&OfSlice(slice), slice.name().to_owned(), &args.settings, wanted, published)
}

/// The rows of one value of a column are a source of their own.
struct OfSlice<'a>(&'a Slice);

impl Source for OfSlice<'_> {
    fn frame(&self, options: ReadOptions<'_>) -> Result<Frame, DataError> {
        self.0.frame(&options)
    }

    fn pieces(&self, options: ReadOptions<'_>, take: &mut TakePieces<'_>) -> Result<(), DataError> {
        take(&mut std::iter::once(self.0.frame(&options)))
    }

    fn path(&self) -> Option<&Path> {
        None
    }
}

/// A file, standard input, or the built-in data.
struct Input<'a> {
    path: Option<&'a Path>,
    quiet: bool,
}

impl Input<'_> {
    fn name(&self) -> String {
        match self.path {
            None => "Old Faithful (built in)".to_owned(),
            Some(_) if self.is_standard_input() => "standard input".to_owned(),
            Some(path) => path.display().to_string(),
        }
    }

    fn is_standard_input(&self) -> bool {
        self.path == Some(Path::new("-"))
    }

    /// The built-in data, with the columns that are asked for.
    fn built_in(options: &ReadOptions<'_>) -> Result<Frame, DataError> {
        let data = Dataset::faithful();
        Ok(Frame::from(match &options.columns {
            Some(columns) => data.select(columns)?,
            None => data,
        }))
    }
}

impl Source for Input<'_> {
    fn frame(&self, options: ReadOptions<'_>) -> Result<Frame, DataError> {
        let Some(path) = self.path else { return Input::built_in(&options) };
        if self.is_standard_input() {
            return read_csv(std::io::stdin().lock(), &self.name(), &options);
        }
        let (bar, report) = progress::reading(path, self.quiet);
        let frame = read_path(path, &ReadOptions { progress: Some(&report), ..options });
        bar.finish_and_clear();
        frame
    }

    fn pieces(&self, options: ReadOptions<'_>, take: &mut TakePieces<'_>) -> Result<(), DataError> {
        let Some(path) = self.path else {
            return take(&mut std::iter::once(Input::built_in(&options)));
        };
        let (bar, report) = progress::reading(path, self.quiet);
        let options = ReadOptions { progress: Some(&report), ..options };
        let pieces = if self.is_standard_input() {
            Pieces::from_csv(std::io::stdin().lock(), &self.name(), &options, Pieces::ROWS)
        } else {
            Pieces::open(path, &options, Pieces::ROWS)
        };
        let done = pieces.and_then(|mut pieces| take(&mut pieces));
        bar.finish_and_clear();
        done
    }

    fn path(&self) -> Option<&Path> {
        self.path.filter(|_| !self.is_standard_input())
    }
}

/// The prior of `default`, `paper` or a TOML file.
fn prior(text: &str) -> Result<PriorWish, Failure> {
    match text {
        "default" => Ok(PriorWish::Default),
        "paper" => Ok(PriorWish::Paper),
        name => match std::fs::read_to_string(name) {
            Ok(content) => Ok(PriorWish::File { name: name.to_owned(), content }),
            Err(e) => Err(Failure::Run(format!(
                "{name}: {e}; --prior takes default, paper or a TOML file"
            ))),
        },
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
    let model = problem.model();
    let centres = read_centres(path, &model.layout().coordinates)?;
    if centres.len() != model.n_components() {
        return Err(Failure::Run(format!(
            "{}: {} rows of start values, but the model has {} components; give one row each",
            path.display(),
            centres.len(),
            model.n_components()
        )));
    }
    Ok(Start::Centres(centres.concat()))
}

/// A table that was kept, with a remark if nobody can say whether it is as it was written. Of a large one the fits are
/// read when they are asked for.
pub(crate) fn table(path: &Path, quiet: bool) -> Result<TvbTable, Failure> {
    Ok(reader(path, quiet)?.up_to(TableReader::WHOLE)?)
}

/// The same before its fits are read.
pub(crate) fn reader(path: &Path, quiet: bool) -> Result<TableReader, Failure> {
    let reader = TableReader::open(&place(path)?)?;
    if !quiet && !reader.is_checked() {
        let name = path.display().to_string();
        say(crate::commands::table::unchecked(&name, reader.manifest().schema));
    }
    Ok(reader)
}

/// A table's folder, or its address in an object store.
pub(crate) fn place(path: &Path) -> Result<Location, Failure> {
    Location::from_argument(path).map_err(|e| Failure::Usage(e.to_string()))
}

/// What is asked of a table: methods by name, or the usual ones.
pub(crate) struct Wish {
    /// None if they are the usual ones.
    pub(crate) named: Vec<Method>,
    /// Whether the paper's interval is wanted whatever it costs.
    pub(crate) tvb: bool,
}

/// The methods that are named; those that streamed rows cannot serve are refused before anything is read.
pub(crate) fn methods_for(
    names: &[String],
    grid: &GridArgs,
    args: &SettingsArgs,
) -> Result<Vec<Method>, Failure> {
    let methods = methods(names, &[])?;
    let only_passes = streams_rows(args)? && grid.subsets.is_none();
    let resamples = grid.tvb || methods.iter().any(|method| method.design().is_some());
    match only_passes && resamples {
        true => Err(Failure::usage(&PlanError::Far)),
        false => Ok(methods),
    }
}

/// These methods with the paper's, if that is wanted.
pub(crate) fn with_tvb(mut methods: Vec<Method>, tvb: bool) -> Vec<Method> {
    if tvb {
        methods.push(Method::Tvb);
        Method::in_order(&mut methods);
    }
    methods
}

/// Says that the paper's interval was left out, and how to ask for it.
pub(crate) fn say_left_out(usual: &Usual) {
    usual.left_out.iter().for_each(|left_out| say(left_out.advised(in_command)));
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
    if args.level.is_empty() { vec![defaults::LEVEL] } else { args.level.clone() }
}

/// The table that is asked for, checked, and the methods that it is for.
pub(crate) fn blueprint(
    grid: &GridArgs,
    iteration: &IterationArgs,
    problem: &Problem,
    wish: &Wish,
    built_in_data: bool,
) -> Result<(Blueprint, Usual), Failure> {
    // Said before the file is read.
    if grid.fresh_splits && grid.resamples.is_some() {
        return Err(Failure::usage(&PlanError::FreshAndGiven));
    }
    let n_units = problem.n_units();
    let given = match &grid.resamples {
        Some(path) => Some(GivenResamples::read(path, n_units)?),
        None => None,
    };
    let mut plan = Plan {
        grid: grid.grid.unwrap_or(if grid.published && built_in_data {
            defaults::PUBLISHED_GRID
        } else {
            defaults::GRID
        }),
        omega_min: grid.omega_min,
        bootstraps: grid.bootstraps,
        fresh_splits: grid.fresh_splits,
        subsets: grid.subsets.map(|count| Subsets::of(n_units, count)),
        given,
        matching: grid.matching.map(|name| match name {
            MatchName::Weight => Matching::Weight,
            MatchName::Assignment => Matching::Assignment,
        }),
        restarts: grid.restarts,
        published: grid.published,
        start: start(iteration, problem)?,
        fit: fit_options(iteration, defaults::TABLE_TOLERANCE, false),
        ..Plan::new(iteration.seed, Vec::new())
    };
    let usual = match wish.named.is_empty() {
        true => plan.usual(problem, wish.tvb),
        false => Usual { methods: wish.named.clone(), left_out: None },
    };
    let usual = Usual { methods: with_tvb(usual.methods, grid.tvb), ..usual };
    plan.serve(&usual.methods);
    let blueprint = problem.table().plan(plan).check().map_err(|e| Failure::usage(&e))?;
    Ok((blueprint, usual))
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

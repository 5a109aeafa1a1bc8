//! A problem and its table, held for R: built, asked, and looked into.

use savvy::{savvy, ListSexp, Sexp, StringSexp};
use std::sync::atomic::Ordering;
use std::sync::Arc;
use trustvb::backend::{Cpu, Job};
use trustvb::calibrate::{Calibrator, Law, Memory, Method};
use trustvb::fit::StatusCode;
use trustvb::functional::{Draws, Functional};
use trustvb::model::{ColumnKind, Kind, ModelSpec};
use trustvb::posterior::Posterior;
use trustvb::problem::Problem;
use trustvb::resample::Design;
use trustvb::table::TvbTable;

use crate::errors::{self, bug, error, Class};
use crate::frame::Columns;
use crate::function::{functionals, read, Functions, Line};
use crate::options::{methods, Options};
use crate::values::{self, list, matrix, named, Value};
use crate::work::{run, Manner, Tracker};
use crate::{answers, predict};

/// Data with a model, and a table once it is built.
#[savvy]
pub struct Engine {
    problem: Problem,
    table: Option<Arc<TvbTable>>,
}

#[savvy]
impl Engine {
    /// Binds a model by name to columns.
    fn new(model: &str, columns: ListSexp, options: ListSexp) -> savvy::Result<Self> {
        let wishes = Options(&options).wishes()?;
        let kind = Kind::named(model).ok_or_else(|| bug(format!("there is no model {model}")))?;
        let wished = kind.grant(&wishes, &Columns::read(&columns)?).map_err(errors::wish)?;
        let problem = Problem::new(wished.spec, wished.data).map_err(errors::model)?;
        Ok(Engine { problem, table: None })
    }

    /// Builds the table that some methods need.
    fn build(&mut self, options: ListSexp) -> savvy::Result<()> {
        let options = Options(&options);
        let methods = methods(options.texts("methods")?)?;
        let model = self.problem.model();
        let plan = options.plan(&methods, model.n_components(), model.centre_len())?;
        let checked = self.problem.table().plan(plan).check();
        let blueprint = checked.map_err(|why| error(Class::Options, why))?;
        let manner = manner(&options, "fitting resamples")?;
        let built = run(
            &manner,
            &Arc::default(),
            |_| Ok(Vec::new()),
            move |tracker, _| tracker.watched(|watch| blueprint.build(&Cpu, watch)),
        )?;
        self.table = Some(Arc::new(built.map_err(errors::build)?));
        Ok(())
    }

    /// What there is to know of model, data and fit.
    fn about(&self) -> savvy::Result<Sexp> {
        let (spec, layout) = (self.problem.spec(), self.problem.model().layout());
        let kind = spec.kind();
        let labels =
            |of: &Functional| of.parts().iter().map(|p| p.label().to_owned()).collect::<Vec<_>>();
        let mut about = named([
            ("model", Value::text(kind.name)),
            ("title", Value::text(kind.title)),
            ("component", Value::Text(vec![kind.component.one.into(), kind.component.many.into()])),
            ("units", Value::text(&spec.unit().count(self.problem.model().n_units()))),
            ("n_units", Value::whole(self.problem.model().n_units())),
            ("n_components", Value::whole(layout.n_components)),
            ("coordinates", Value::Text(layout.coordinates.clone())),
            ("parameters", Value::whole(free_parameters(&self.problem))),
            (
                "quantities",
                Value::Text(Functional::defaults(layout).iter().flat_map(labels).collect()),
            ),
        ]);
        if let ModelSpec::Mixture(own) = spec {
            let levels = |kind: &ColumnKind| match kind {
                ColumnKind::Category { levels } => levels.clone(),
                _ => Vec::new(),
            };
            let kinds = own.columns.iter().map(|column| column.kind.name().to_owned()).collect();
            let levels = own.columns.iter().map(|c| (c.name.clone(), Value::Text(levels(&c.kind))));
            about.push(("kinds".to_owned(), Value::Text(kinds)));
            about.push(("levels".to_owned(), Value::List(levels.collect())));
        }
        if let Some(groups) = self.problem.data().groups() {
            about.push((
                "groups".to_owned(),
                Value::Whole(groups.iter().map(|&g| g as i32 + 1).collect()),
            ));
        }
        if let Some(table) = &self.table {
            about.extend(of_table(table)?);
        }
        list(about)
    }

    /// Answers to texts and functions (none: the usual quantities) by methods at levels.
    fn answer(
        &self,
        asked: ListSexp,
        methods: StringSexp,
        options: ListSexp,
    ) -> savvy::Result<Sexp> {
        let options = Options(&options);
        let table = self.table()?;
        let methods = self::methods(methods.iter())?;
        let levels = options.numbers("levels")?.unwrap_or_else(|| vec![0.95]);
        let draws = options.whole("draws")?.map_or(500, |n| n as usize);
        let manner = manner(&options, "calibrating")?;
        let (functionals, functions, line) = self.functionals(&asked)?;
        let work = move |tracker: &Tracker, caller| {
            let _ = line.set(caller);
            let calibrator = Calibrator::new(&table, draws)?;
            let parts: Vec<_> = functionals.iter().flat_map(Functional::parts).collect();
            tracker.total.store(parts.len() as u64, Ordering::Relaxed);
            let mut answers = Vec::new();
            for part in parts {
                let memory = Memory::default();
                let own =
                    calibrator.answer_with(part, &methods, &levels, &memory, &tracker.cancel)?;
                answers.extend(own);
                tracker.done.fetch_add(1, Ordering::Relaxed);
            }
            Ok(answers)
        };
        let answers = run(&manner, &Arc::default(), |call| functions.answer(call), work)?;
        list(answers::columns(&answers.map_err(errors::calibrate)?))
    }

    /// The estimates over bootstraps of all units: a row per bootstrap, a column per number asked for.
    fn estimates(&self, asked: ListSexp, options: ListSexp) -> savvy::Result<Sexp> {
        let table = self.table()?;
        let manner = manner(&Options(&options), "estimating")?;
        let (functionals, functions, line) = self.functionals(&asked)?;
        let work = move |_: &Tracker, caller| {
            let _ = line.set(caller);
            let parts: Vec<_> = functionals.iter().flat_map(Functional::parts).collect();
            let fits = table.bootstraps(Design::Full);
            let fits: Vec<&[f64]> =
                fits.filter_map(|(_, path)| table.parameters(path, 0)).collect();
            let values: Vec<f64> =
                fits.iter().flat_map(|fit| parts.iter().map(|part| part.plug_in(fit))).collect();
            (parts.iter().map(|part| part.label().to_owned()).collect::<Vec<_>>(), values)
        };
        let (names, values) = run(&manner, &Arc::default(), |call| functions.answer(call), work)?;
        list(named([("values", matrix(names.len(), &values)), ("names", Value::Text(names))]))
    }

    /// Values of quantities at draws from VB's own posterior: a row per draw.
    fn sample(&self, asked: ListSexp, options: ListSexp) -> savvy::Result<Sexp> {
        let options = Options(&options);
        let (posterior, seed) = (self.posterior()?, self.seed(&options)?);
        let n = options.whole("n")?.unwrap_or(1000) as usize;
        let manner = manner(&options, "drawing")?;
        let (functionals, functions, line) = self.functionals(&asked)?;
        let work = move |_: &Tracker, caller| {
            let _ = line.set(caller);
            let parts: Vec<_> = functionals.iter().flat_map(Functional::parts).collect();
            let sample =
                Draws::sample_for(posterior.layout(), posterior.parameters(), seed, n, &parts);
            let values: Vec<f64> = parts.iter().flat_map(|part| sample.values(part)).collect();
            (parts.iter().map(|part| part.label().to_owned()).collect::<Vec<_>>(), values)
        };
        let (names, values) = run(&manner, &Arc::default(), |call| functions.answer(call), work)?;
        let values = Value::Array(vec![n, names.len()], values);
        list(named([("values", values), ("names", Value::Text(names))]))
    }

    /// Joint draws from VB's own posterior, an array per block; none: the posterior mean as one.
    fn draws(&self, options: ListSexp) -> savvy::Result<Sexp> {
        let options = Options(&options);
        let posterior = self.posterior()?;
        let (layout, parameters) = (posterior.layout(), posterior.parameters());
        let sample = match options.whole("n")? {
            None => Draws::posterior_mean(layout, parameters),
            Some(n) => Draws::sample(layout, parameters, self.seed(&options)?, n as usize),
        };
        list(values::draws(layout, &sample))
    }

    /// VB's own density of one quantity: points `x` and `y`.
    fn density(&self, text: &str, points: i32) -> savvy::Result<Sexp> {
        let posterior = self.posterior()?;
        let layout = posterior.layout().clone();
        let functional =
            Functional::parse(text, &layout).map_err(|why| error(Class::Quantity, why))?;
        let [part] = functional.parts() else {
            return Err(error(Class::Quantity, format!("`{text}` has several parts; ask for one")));
        };
        let seed = self.table()?.manifest().seed;
        let law = Law::new(part, layout, false, seed, 500);
        let (x, y) =
            law.density(posterior.parameters(), points.max(2) as usize).into_iter().unzip();
        list(named([("x", Value::Real(x)), ("y", Value::Real(y))]))
    }

    /// The coverage curve that a method looks at.
    fn curve(&self, text: &str, method: &str, level: f64) -> savvy::Result<Sexp> {
        let table = self.table()?;
        let functional =
            Functional::parse(text, table.layout()).map_err(|why| error(Class::Quantity, why))?;
        let method: Method = method.parse().map_err(|why| error(Class::Options, why))?;
        let [part] = functional.parts() else {
            return Err(error(Class::Quantity, format!("`{text}` has several parts; ask for one")));
        };
        let step = if part.exact().is_some() { 1 } else { table.omegas().len().div_ceil(24) };
        let curve = Calibrator::new(&table, 500).and_then(|c| c.curve(part, method, level, step));
        list(answers::curve(&curve.map_err(errors::calibrate)?))
    }

    /// Each unit's probability of belonging to each component.
    fn responsibilities(&self) -> savvy::Result<Sexp> {
        let (model, posterior) = (self.problem.model(), self.posterior()?);
        let mut sweeper = model.sweeper();
        let all = sweeper.load(None).and_then(|()| sweeper.responsibilities_under(&posterior));
        let all = all.map_err(|why| error(Class::Fit, why))?;
        list(named([("probability", matrix(model.n_components(), &all))]))
    }

    /// What the fit says of new rows.
    fn predict(&self, columns: ListSexp) -> savvy::Result<Sexp> {
        let columns = Columns::read(&columns)?;
        list(predict::predict(self.problem.spec(), &self.posterior()?, &columns)?)
    }
}

impl Engine {
    fn table(&self) -> savvy::Result<Arc<TvbTable>> {
        self.table.clone().ok_or_else(|| bug("there is no table yet"))
    }

    /// The full-data posterior at ω = 1.
    fn posterior(&self) -> savvy::Result<Posterior> {
        let fit = self.table()?.full_data_posterior(1.0);
        fit.ok_or_else(|| {
            error(Class::Fit, "the fit failed; try fewer components or another prior")
        })
    }

    fn seed(&self, options: &Options<'_>) -> savvy::Result<u64> {
        Ok(options.whole("seed")?.unwrap_or(self.table()?.manifest().seed))
    }

    fn functionals(&self, asked: &ListSexp) -> savvy::Result<(Vec<Functional>, Functions, Line)> {
        let layout = self.problem.model().layout();
        let (asked, functions) = read(asked, layout)?;
        let line = Line::default();
        Ok((functionals(asked, layout, &line)?, functions, line))
    }
}

fn manner(options: &Options<'_>, what: &'static str) -> savvy::Result<Manner> {
    let shown = options.number("progress")?.is_some_and(|x| x != 0.0);
    Ok(Manner { threads: options.threads()?, shown: shown.then_some(what) })
}

/// Seed, grid and the full-data fit of a table.
fn of_table(table: &TvbTable) -> savvy::Result<Vec<(String, Value)>> {
    let manifest = table.manifest();
    let path = table
        .path(Job { design: Design::Full, replicate: 0 })
        .ok_or_else(|| bug("a table without a full-data fit"))?;
    let methods = Method::ALL.into_iter().filter(|method| method.is_possible(table));
    Ok(named([
        ("seed", Value::Real(vec![manifest.seed as f64])),
        ("bootstraps", Value::whole(table.bootstraps(Design::Full).count())),
        ("omegas", Value::Real(table.omegas().to_vec())),
        ("fits", Value::whole(table.paths().map(|(_, path)| path.status.len()).sum())),
        ("bound", Value::Real(vec![path.bound[0]])),
        ("sweeps", Value::whole(path.sweeps[0] as usize)),
        ("status", Value::text(status(path.status[0]))),
        ("methods", Value::Text(methods.map(|method| method.name().to_owned()).collect())),
        ("data_hash", Value::text(&manifest.data_hash)),
    ]))
}

fn status(code: StatusCode) -> &'static str {
    match code {
        StatusCode::Converged => "converged",
        StatusCode::Stalled => "stalled",
        StatusCode::HitLimit => "hit-limit",
        StatusCode::Degenerate => "degenerate",
    }
}

/// How many numbers a maximum-likelihood fit of the model would have: for `logLik`.
fn free_parameters(problem: &Problem) -> usize {
    let layout = problem.model().layout();
    let of = |family: trustvb::posterior::Family, p: usize| match family {
        trustvb::posterior::Family::Dirichlet => p - 1,
        trustvb::posterior::Family::Gamma => 1,
        trustvb::posterior::Family::MvNormal => p,
        trustvb::posterior::Family::NormalWishart => p + p * (p + 1) / 2,
    };
    // `tau` is the prior's own, and no parameter of the likelihood.
    let own = layout.blocks.iter().filter(|block| block.name != "tau");
    own.map(|block| block.copies * of(block.family, block.dim)).sum()
}

/// Names of all methods, and of the one to use.
#[savvy]
fn method_names() -> savvy::Result<Sexp> {
    let all = Method::ALL.iter().map(|method| method.name().to_owned()).collect();
    list(named([
        ("all", Value::Text(all)),
        ("recommended", Value::text(Method::RECOMMENDED.name())),
    ]))
}

/// The name of a method, and what a table must have for it.
#[savvy]
fn method_needs(name: &str) -> savvy::Result<Sexp> {
    let method: Method = name.parse().map_err(|why| error(Class::Options, why))?;
    list(named([
        ("name", Value::text(method.name())),
        ("design", Value::text(method.design().map_or("", Design::name))),
        ("grid", Value::whole(usize::from(method.needs_grid()))),
    ]))
}

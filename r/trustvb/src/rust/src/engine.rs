//! A problem and its table, held for R: built, asked, and looked into.

use savvy::{savvy, ListSexp, Sexp, StringSexp};
use std::sync::atomic::Ordering;
use std::sync::Arc;
use trustvb::answers::verdict;
use trustvb::backend::Cpu;
use trustvb::calibrate::{Answer, Calibrator, Law, Memory, Method};
use trustvb::functional::{Draws, Functional, Part};
use trustvb::model::{Kind, ModelSpec};
use trustvb::posterior::{Layout, Posterior};
use trustvb::problem::Problem;
use trustvb::remedy::Advise;
use trustvb::resample::Design;
use trustvb::table::{Blueprint, TvbTable};

use crate::errors::{self, bug, error, Class, NOTHING_KEPT, NOTHING_SAID};
use crate::frame::Columns;
use crate::function::{functionals, read, Functions, Line};
use crate::options::{methods, Options};
use crate::values::{self, list, matrix, named, Value};
use crate::work::{run, Manner, Tracker};
use crate::{about, answers, predict};

/// Data with a model, and a table once it is built; or a table that was opened, perhaps without its data.
#[savvy]
pub struct Engine {
    pub(crate) spec: ModelSpec,
    pub(crate) layout: Arc<Layout>,
    pub(crate) problem: Option<Problem>,
    pub(crate) table: Option<Arc<TvbTable>>,
}

#[savvy]
impl Engine {
    /// Binds a model by name to columns.
    fn new(model: &str, columns: ListSexp, options: ListSexp) -> savvy::Result<Self> {
        let options = Options(&options);
        let wishes = options.wishes()?;
        let kind = Kind::named(model).ok_or_else(|| bug(format!("there is no model {model}")))?;
        let (names, levels) = (options.texts("ordered")?, options.texts("order")?);
        let columns = Columns::read(&columns)?.ordered(names, levels);
        let wished = kind.grant(&wishes, &columns).map_err(errors::wish)?;
        let problem = Problem::new(wished.spec, wished.data).map_err(errors::model)?;
        let (spec, layout) = (problem.spec().clone(), problem.model().layout().clone());
        Ok(Engine { spec, layout, problem: Some(problem), table: None })
    }

    /// Builds the table that some methods need; fits that the one before it has are not made again.
    fn build(&mut self, options: ListSexp) -> savvy::Result<()> {
        let options = Options(&options);
        let blueprint = self.blueprint(&options)?;
        let manner = manner(&options, "fitting resamples", NOTHING_KEPT)?;
        let held = self.table.clone();
        let work = move |tracker: &Tracker, _| {
            tracker.watched(|watch| match &held {
                Some(table) => blueprint.extend(table, &Cpu, watch),
                None => blueprint.build(&Cpu, watch),
            })
        };
        let built = run(&manner, &Arc::default(), |_| Ok(Vec::new()), work)?;
        self.table = Some(Arc::new(built.map_err(errors::build)?));
        Ok(())
    }

    /// What there is to know of model, data and fit.
    fn about(&self) -> savvy::Result<Sexp> {
        list(about::about(self)?)
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
        let manner = manner(&options, "calibrating", NOTHING_SAID)?;
        let (functionals, functions, line) = self.functionals(&asked)?;
        let work = move |tracker: &Tracker, caller| {
            let _ = line.set(caller);
            let calibrator = Calibrator::new(&table, draws)?;
            let parts: Vec<_> = functionals.iter().flat_map(Functional::parts).collect();
            tracker.total.store(parts.len() as u64, Ordering::Relaxed);
            let mut answers: Vec<Vec<Answer>> = Vec::new();
            for part in parts {
                let memory = Memory::default();
                let own =
                    calibrator.answer_with(part, &methods, &levels, &memory, &tracker.cancel)?;
                answers.push(own);
                tracker.done.fetch_add(1, Ordering::Relaxed);
            }
            let quantities: Vec<&[Answer]> = answers.iter().map(Vec::as_slice).collect();
            let bootstraps = table.bootstraps(Design::Full).count();
            let said = levels.iter().map(|&level| verdict(&quantities, level, bootstraps));
            let said: Vec<String> = said.map(Option::unwrap_or_default).collect();
            Ok((answers.concat(), said))
        };
        let found = run(&manner, &Arc::default(), |call| functions.answer(call), work)?;
        let (answers, said) = found.map_err(errors::calibrate)?;
        let mut columns = answers::columns(&answers);
        columns.extend(named([("said", Value::Text(said))]));
        list(columns)
    }

    /// The estimates over bootstraps of all units: a row per bootstrap, a column per number asked for.
    fn estimates(&self, asked: ListSexp, options: ListSexp) -> savvy::Result<Sexp> {
        let table = self.table()?;
        let manner = manner(&Options(&options), "estimating", NOTHING_SAID)?;
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
        let manner = manner(&options, "drawing", NOTHING_SAID)?;
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
        let part = self.single(text)?;
        let manifest = self.table()?.manifest().clone();
        let law =
            Law::new(&part, self.layout.clone(), manifest.published_intervals, manifest.seed, 500);
        let (x, y) =
            law.density(posterior.parameters(), points.max(2) as usize).into_iter().unzip();
        list(named([("x", Value::Real(x)), ("y", Value::Real(y))]))
    }

    /// The coverage curve that a method looks at.
    fn curve(&self, text: &str, method: &str, level: f64) -> savvy::Result<Sexp> {
        let table = self.table()?;
        let part = self.single(text)?;
        let method: Method = method.parse().map_err(|why| error(Class::Options, why))?;
        let step = if part.exact().is_some() { 1 } else { table.omegas().len().div_ceil(24) };
        let curve = Calibrator::new(&table, 500).and_then(|c| c.curve(&part, method, level, step));
        list(answers::curve(&curve.map_err(errors::calibrate)?))
    }

    /// Each unit's probability of belonging to each component.
    fn responsibilities(&self) -> savvy::Result<Sexp> {
        let (model, posterior) = (self.problem()?.model(), self.posterior()?);
        let mut sweeper = model.sweeper();
        let all = sweeper.load(None).and_then(|()| sweeper.responsibilities_under(&posterior));
        let all = all.map_err(|why| error(Class::Fit, why))?;
        list(named([("probability", matrix(model.n_components(), &all))]))
    }

    /// The log likelihood at the posterior means.
    fn likelihood(&self) -> savvy::Result<Sexp> {
        let densities = self.spec.ln_densities(self.problem()?.data(), &self.posterior()?);
        let densities = densities.ok_or_else(|| {
            error(
                Class::Data,
                "the table holds sums over groups, and the likelihood needs their rows",
            )
        })?;
        list(named([("ln_likelihood", Value::Real(vec![densities.iter().sum()]))]))
    }

    /// What the fit says of new rows.
    fn predict(&self, columns: ListSexp) -> savvy::Result<Sexp> {
        let columns = Columns::read(&columns)?;
        list(predict::predict(&self.spec, &self.posterior()?, &columns)?)
    }
}

impl Engine {
    pub(crate) fn table(&self) -> savvy::Result<Arc<TvbTable>> {
        self.table.clone().ok_or_else(|| bug("there is no table yet"))
    }

    /// Model and data.
    pub(crate) fn problem(&self) -> savvy::Result<&Problem> {
        self.problem.as_ref().ok_or_else(|| {
            error(
                Class::Data,
                "this needs the data, which were left out of the table; build it with `keep_data = TRUE`",
            )
        })
    }

    /// The table that R asks for, checked. If no methods are named it is for the usual ones, and says what was left out.
    pub(crate) fn blueprint(&self, options: &Options<'_>) -> savvy::Result<Blueprint> {
        let problem = self.problem()?;
        let methods = methods(options.texts("methods")?)?;
        let model = problem.model();
        let mut plan = options.plan(&methods, model.n_components(), model.centre_len())?;
        if methods.is_empty() {
            let tvb = options.number("tvb")?.is_some_and(|x| x != 0.0);
            let usual = plan.usual(problem, tvb);
            plan.serve(&usual.methods);
            if let Some(left_out) = usual.left_out {
                savvy::r_eprintln!("{}", left_out.advised(errors::in_r));
            }
        }
        problem.table().plan(plan).check().map_err(errors::plan)
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
        let (asked, functions) = read(asked, &self.layout)?;
        let line = Line::default();
        Ok((functionals(asked, &self.layout, &line)?, functions, line))
    }

    /// The one number that a text asks for.
    fn single(&self, text: &str) -> savvy::Result<Part> {
        let functional =
            Functional::parse(text, &self.layout).map_err(|why| error(Class::Quantity, why))?;
        match functional.parts() {
            [part] => Ok(part.clone()),
            _ => Err(error(Class::Quantity, format!("`{text}` has several parts; ask for one"))),
        }
    }
}

/// How work is done, as options say, what it is called, and what is said when it is interrupted.
pub(crate) fn manner(
    options: &Options<'_>,
    what: &'static str,
    interrupted: &str,
) -> savvy::Result<Manner> {
    let shown = options.number("progress")?.is_some_and(|x| x != 0.0);
    let interrupted = interrupted.to_owned();
    Ok(Manner { threads: options.threads()?, shown: shown.then_some(what), interrupted })
}

/// Names of all methods, and of the one to use.
#[savvy]
fn method_names() -> savvy::Result<Sexp> {
    let names = |of: &[Method]| {
        Value::Text(of.iter().map(|method| method.name().to_owned()).collect::<Vec<_>>())
    };
    list(named([
        ("all", names(&Method::ALL)),
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

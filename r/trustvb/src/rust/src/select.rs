//! How many components, and which covariances: what was compared, as columns of a data frame.

use savvy::{savvy, ListSexp, Sexp};
use std::sync::atomic::Ordering;
use std::sync::Arc;
use trustvb::fit::{FitOptions, Stopping};
use trustvb::select::{Candidate, Criterion, SelectRequest, Selection};
use trustvb::table::{STARTS, TABLE_TOLERANCE};

use crate::engine::{manner, Engine};
use crate::errors::{self, error, Class, NOTHING_SAID};
use crate::options::Options;
use crate::values::{list, named, Value};
use crate::work::{run, Tracker};

#[savvy]
impl Engine {
    /// Compares numbers of components and shapes of covariances.
    fn select(&self, options: ListSexp) -> savvy::Result<Sexp> {
        let options = Options(&options);
        let components = options.numbers("components")?.unwrap_or_default();
        let components: Vec<usize> = components.into_iter().map(|k| k as usize).collect();
        let shapes = options.texts("shapes")?;
        let criterion = match options.text("criterion")? {
            None => None,
            Some(name) => Some(Criterion::named(&name).ok_or_else(|| {
                error(
                    Class::Options,
                    format!("`criterion` is \"bic\", \"icl\", \"bound\" or \"evidence\", not \"{name}\""),
                )
            })?),
        };
        let fit = FitOptions {
            stopping: Stopping::Relative(options.number("tolerance")?.unwrap_or(TABLE_TOLERANCE)),
            ..FitOptions::default()
        };
        let max_sweeps = options.whole("max_sweeps")?.map_or(fit.max_sweeps, |n| n as usize);
        let fit = FitOptions { max_sweeps, ..fit };
        let seed = options.whole("seed")?.unwrap_or(1);
        let starts = options.whole("starts")?.map_or(STARTS, |n| n as usize);
        let problem = self.problem()?.clone();
        let manner = manner(&options, "comparing", NOTHING_SAID)?;
        let work = move |tracker: &Tracker, _| {
            let shapes: Vec<&str> = shapes.iter().map(String::as_str).collect();
            let request = SelectRequest::new(problem.spec(), problem.data(), &components)
                .shapes(&shapes)
                .seed(seed)
                .starts(starts)
                .options(fit)
                .cancelled_by(&tracker.cancel);
            let request = match criterion {
                Some(criterion) => request.criterion(criterion),
                None => request,
            };
            request.run_watched(&mut |progress| {
                tracker.total.store(progress.total as u64, Ordering::Relaxed);
                tracker.done.store(progress.done as u64, Ordering::Relaxed);
            })
        };
        let found = run(&manner, &Arc::default(), |_| Ok(Vec::new()), work)?;
        list(columns(&found.map_err(errors::select)?))
    }
}

/// A column per field, an entry per candidate, and what was chosen.
fn columns(found: &Selection) -> Vec<(String, Value)> {
    let all = &found.candidates;
    let numbers = |of: &dyn Fn(&Candidate) -> f64| Value::Real(all.iter().map(of).collect());
    let counts =
        |of: &dyn Fn(&Candidate) -> usize| Value::Whole(all.iter().map(|c| of(c) as i32).collect());
    let texts = |of: &dyn Fn(&Candidate) -> &'static str| {
        Value::Text(all.iter().map(|c| of(c).to_owned()).collect())
    };
    let best = Criterion::ALL.map(|criterion| {
        let at = found.chosen_by(criterion).map_or(0, |at| at + 1);
        (criterion.name().to_owned(), Value::whole(at))
    });
    named([
        ("components", counts(&|c| c.n_components)),
        ("covariance", texts(&|c| c.shape.unwrap_or(""))),
        ("free_parameters", counts(&|c| c.n_free)),
        ("log_likelihood", numbers(&|c| c.ln_likelihood)),
        ("bic", numbers(&|c| c.bic)),
        ("icl", numbers(&|c| c.icl)),
        ("bound", numbers(&|c| c.bound)),
        ("evidence", numbers(&|c| c.evidence)),
        ("emptied", counts(&Candidate::emptied)),
        ("status", texts(&|c| c.fit.as_ref().map_or("failed", |fit| fit.outcome.status.name()))),
        ("chosen", Value::whole(found.chosen_at() + 1)),
        ("chosen_by", Value::List(best.into())),
        ("criterion", Value::text(found.criterion.name())),
        ("margin", Value::Real(vec![found.margin()])),
        ("words", Value::Text(found.in_words())),
        ("title", Value::text(found.chosen().spec.kind().title)),
        ("units", Value::text(&found.chosen().spec.unit().count(found.n_units))),
    ])
}

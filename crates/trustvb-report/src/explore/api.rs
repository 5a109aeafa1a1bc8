//! Questions in, answers out: the requests that the page makes.

use super::guard::{Guard, guard};
use super::session::{Known, Refusal, Session};
use super::{limits, overview, page};
use crate::command::QuestionCommand;
use crate::figures::{Grid, render_legend, render_png};
use crate::html::{Report, coverage_text};
use crate::overview::{about, shown};
use crate::picture::{Quantity, coverage_panel, density_panel, forest_panels};
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Semaphore;
use trustvb::answers::{
    answers_csv, answers_json, headline, in_words, omega_text, quantity_in_words, sentence,
    usual_methods,
};
use trustvb::calibrate::{Answer, CalibrateError, Method};
use trustvb::functional::{Functional, Vocabulary};
use trustvb::remedy::{Advise, in_command};
use trustvb::resample::Design;

#[derive(Clone)]
pub(super) struct App {
    session: Arc<Session>,
    turns: Arc<Semaphore>,
}

/// All that the server answers to.
pub(super) fn routes(session: Arc<Session>, checks: Arc<Guard>) -> Router {
    let app = App { session, turns: Arc::new(Semaphore::new(limits::AT_ONCE)) };
    Router::new()
        .route("/", get(page::index))
        .route("/explore.js", get(page::script))
        .route("/state.js", get(page::state))
        .route("/words.js", get(page::words))
        .route("/server.js", get(page::server))
        .route("/card.js", get(page::card))
        .route("/combobox.js", get(page::combobox))
        .route("/explore.css", get(page::style))
        .route("/icon.svg", get(page::icon))
        .route("/api/tables", get(tables))
        .route("/api/check", post(check))
        .route("/api/overview", post(overview::overview))
        .route("/api/ask", post(ask))
        .route("/api/list", post(list))
        .route("/api/export", post(export))
        .layer(DefaultBodyLimit::max(limits::BODY))
        .layer(middleware::from_fn_with_state(checks, guard))
        .with_state(app)
}

/// A question about one quantity.
#[derive(Debug, Deserialize)]
struct SingleQuestion {
    table: usize,
    functional: String,
    level: f64,
    methods: Vec<Method>,
}

/// A question about several, and the form that the answer should have.
#[derive(Debug, Deserialize)]
struct ListQuestion {
    table: usize,
    functionals: Vec<String>,
    level: f64,
    methods: Vec<Method>,
    #[serde(default)]
    format: Form,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Form {
    #[default]
    Report,
    Csv,
    Json,
    Svg,
    Png,
}

/// Why there is no answer, as the page gets it.
pub(super) struct Fault {
    status: StatusCode,
    body: Value,
}

impl Fault {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Fault {
        Fault { status, body: json!({ "message": message.into() }) }
    }

    /// What is wrong, for an answer that has more to say.
    pub(super) fn into_body(self) -> Value {
        self.body
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.body }))).into_response()
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Fault {
        let unprocessable = StatusCode::UNPROCESSABLE_ENTITY;
        match refusal {
            Refusal::NoTable(at) => {
                Fault::new(StatusCode::NOT_FOUND, format!("there is no table {at} here"))
            }
            Refusal::TooMuch(why) => Fault::new(unprocessable, why),
            Refusal::Calibrate(CalibrateError::Cancelled) => Fault::new(
                StatusCode::SERVICE_UNAVAILABLE,
                format!(
                    "this takes more than {} seconds; ask for it with `trustvb interval`",
                    limits::PATIENCE.as_secs()
                ),
            ),
            Refusal::Calibrate(why) => Fault::new(unprocessable, why.advised(in_command)),
            Refusal::Functional(why) => {
                // Positions in characters as JavaScript counts them.
                let units =
                    |at: usize| why.text().get(..at).map_or(0, |text| text.encode_utf16().count());
                let span = why.span();
                Fault {
                    status: unprocessable,
                    body: json!({
                        "message": why.message(),
                        "suggestion": why.suggestion(),
                        "from": units(span.start),
                        "to": units(span.end),
                    }),
                }
            }
        }
    }
}

pub(super) fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, Fault> {
    serde_json::from_slice(body).map_err(|why| {
        Fault::new(StatusCode::BAD_REQUEST, format!("the question cannot be read: {why}"))
    })
}

/// Refuses a level outside (0, 1).
pub(super) fn check_level(level: f64) -> Result<(), Fault> {
    if level > 0.0 && level < 1.0 {
        return Ok(());
    }
    let why = CalibrateError::Level(level).to_string();
    Err(Fault::new(StatusCode::UNPROCESSABLE_ENTITY, why))
}

/// Checks level and methods, and brings the methods into the order in which results are shown.
fn check_question(level: f64, methods: &mut Vec<Method>) -> Result<(), Fault> {
    check_level(level)?;
    Method::in_order(methods);
    if methods.is_empty() {
        let why = "choose at least one method";
        return Err(Fault::new(StatusCode::UNPROCESSABLE_ENTITY, why));
    }
    Ok(())
}

/// Stops an evaluation when nobody waits for it any more: when the request is dropped.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl App {
    /// Runs an evaluation beside the server, in its turn, and for a limited time.
    pub(super) async fn evaluate<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Session, &AtomicBool) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let cancel = Arc::new(AtomicBool::new(false));
        let _stop = StopOnDrop(cancel.clone());
        let broken = || {
            let why = "the evaluation broke off; please report what you asked for";
            Fault::new(StatusCode::INTERNAL_SERVER_ERROR, why)
        };
        let turn = self.turns.clone().acquire_owned().await.map_err(|_| broken())?;
        let (session, flag) = (self.session.clone(), cancel.clone());
        let mut running = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work(&session, &flag)
        });
        let done = tokio::select! {
            done = &mut running => done,
            () = tokio::time::sleep(limits::PATIENCE) => {
                cancel.store(true, Ordering::Relaxed);
                running.await
            }
        };
        done.map_err(|_| broken())?
    }
}

/// All methods, the recommended one first.
fn all_methods() -> Vec<Method> {
    let mut methods = Method::ALL.to_vec();
    Method::in_order(&mut methods);
    methods
}

/// What a method is, as a sentence.
fn method_title(method: Method) -> String {
    if method == Method::RECOMMENDED {
        sentence(&format!("recommended: {}", method.title()))
    } else {
        sentence(method.title())
    }
}

/// What there is to ask.
async fn tables(State(app): State<App>) -> Json<Value> {
    let tables: Vec<Value> = app
        .session
        .tables()
        .iter()
        .map(|open| {
            let (table, manifest) = (&open.table, open.table.manifest());
            let usual = usual_methods(table);
            let methods: Vec<Value> = all_methods()
                .into_iter()
                .map(|method| {
                    json!({
                        "name": method.name(),
                        "title": method_title(method),
                        "recommended": method == Method::RECOMMENDED,
                        "possible": method.is_possible(table),
                        "usual": usual.contains(&method),
                    })
                })
                .collect();
            let every = Functional::defaults(table.layout());
            let defaults: Vec<String> = every
                .iter()
                .take(limits::PARTS)
                .flat_map(|h| {
                    h.parts().iter().map(|part| part.label().to_owned()).collect::<Vec<_>>()
                })
                .collect();
            json!({
                "name": open.name,
                "model": manifest.model.name(),
                "units": manifest.n_units,
                "components": manifest.layout.n_components,
                "columns": manifest.columns,
                "grid": manifest.omegas.len(),
                "resamples": crate::command::resamples_in_words(table),
                "seed": manifest.seed,
                "methods": methods,
                "defaults": defaults,
                "usual_quantities": every.len(),
                "about": about(table),
                "vocabulary": Vocabulary::new(table.layout()),
                "called": manifest.model.kind().called.one,
            })
        })
        .collect();
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "tables": tables,
        "longest": limits::LENGTH,
        "legend": all_methods().into_iter().map(|method| json!({
            "method": method.name(),
            "title": method_title(method),
            "svg": render_legend(&[method.name()], 30.0),
        })).collect::<Vec<_>>(),
    }))
}

#[derive(Debug, Deserialize)]
struct Check {
    table: usize,
    functional: String,
}

/// Whether a functional can be read; quick, so that the page can ask at every key. That it cannot is an
/// answer like any other.
async fn check(State(app): State<App>, body: Bytes) -> Result<Json<Value>, Fault> {
    let Check { table, functional } = read(&body)?;
    let known = match app.session.read(table, &functional) {
        Ok(known) => known,
        Err(refusal @ Refusal::NoTable(_)) => return Err(refusal.into()),
        Err(refusal) => return Ok(Json(json!({ "error": Fault::from(refusal).body }))),
    };
    let parts: Vec<Value> = known
        .functional
        .parts()
        .iter()
        .map(|part| {
            let law = part.exact().map(|law| law.describe());
            json!({ "label": part.label(), "law": law })
        })
        .collect();
    Ok(Json(json!({ "parts": parts })))
}

/// The answer for one quantity: numbers as the command prints them, words, and figures.
async fn ask(State(app): State<App>, body: Bytes) -> Result<Json<Value>, Fault> {
    let mut question: SingleQuestion = read(&body)?;
    check_question(question.level, &mut question.methods)?;
    app.evaluate(move |session, cancel| {
        let SingleQuestion { table: at, functional, level, methods } = question;
        let known = session.read(at, &functional)?;
        let list = [known];
        let quantities = session.ask_all(at, &list, &methods, level, cancel)?;
        let open = session.table(at)?;
        let parts: Vec<Value> = quantities
            .iter()
            .enumerate()
            .map(|(i, quantity)| part_json(session, open, (at, i), quantity, level))
            .collect();
        let lists: Vec<&[Answer]> = quantities.iter().map(|q| q.answers.as_slice()).collect();
        Ok(Json(json!({
            "answer": answers_json(&open.table, lists.iter().copied().flatten()),
            "words": in_words(&lists, open.table.bootstraps(Design::Full).count()),
            "parts": parts,
            "command": command(session, at, "interval", &list, level, &methods, &[])?,
        })))
    })
    .await
}

fn part_json(
    session: &Session,
    open: &super::session::OpenTable,
    (at, i): (usize, usize),
    quantity: &Quantity<'_>,
    level: f64,
) -> Value {
    let mut density = density_panel(&open.table, quantity, level, session.draws());
    let mut coverage = coverage_panel(&open.table, quantity, level);
    density.functional.clear();
    coverage.functional.clear();
    let label = quantity.part.label();
    let draw = |grid: Grid<'_>, what: &str| {
        let grid = grid.without_legend().label(format!("{what} of {label}"));
        grid.render_inline(&format!("t{at}q{i}-{what}"))
    };
    let vb = quantity.answers.iter().find(|a| a.method == Method::Vb);
    let quoted = headline(&quantity.answers);
    json!({
        "label": label,
        "words": quoted.map(|quoted| quantity_in_words(quoted, vb)),
        "quoted": quoted.map(|quoted| quoted.method.name()),
        "rows": quantity.answers.iter().map(row_json).collect::<Vec<_>>(),
        "density": draw(Grid::new("").place(0, 0, &density), "densities"),
        // Methods without an ω have no curve.
        "coverage": (!coverage.curves.is_empty())
            .then(|| draw(Grid::new("").place(0, 0, &coverage), "coverage")),
    })
}

/// A row as it is shown; the numbers behind it are in the answer.
fn row_json(a: &Answer) -> Value {
    let flags: Vec<Value> = a
        .flags
        .iter()
        .map(|flag| {
            json!({
                "name": flag.name(),
                "sentence": sentence(&flag.sentence()),
                "warning": !flag.is_remark(),
            })
        })
        .collect();
    json!({
        "method": a.method.name(),
        "estimate": shown(a.estimate, a),
        "lower": shown(a.lower, a),
        "upper": shown(a.upper, a),
        "omega": omega_text(a),
        "coverage": coverage_text(a),
        "flags": flags,
    })
}

/// The command that asks the same in a shell.
pub(super) fn command(
    session: &Session,
    at: usize,
    verb: &str,
    list: &[Arc<Known>],
    level: f64,
    methods: &[Method],
    more: &[&str],
) -> Result<String, Fault> {
    let command = QuestionCommand {
        verb,
        table: &session.table(at)?.name,
        functionals: list.iter().map(|known| known.functional.text().to_owned()).collect(),
        levels: &[level],
        methods,
        draws: session.draws(),
        more: more.iter().map(|word| (*word).to_owned()).collect(),
    };
    Ok(command.text())
}

fn read_list(session: &Session, question: &mut ListQuestion) -> Result<Vec<Arc<Known>>, Fault> {
    check_question(question.level, &mut question.methods)?;
    if question.functionals.is_empty() || question.functionals.len() > limits::LIST {
        let why = format!(
            "the list has {} quantities; it must have 1 to {}",
            question.functionals.len(),
            limits::LIST
        );
        return Err(Fault::new(StatusCode::UNPROCESSABLE_ENTITY, why));
    }
    let read = |text: &String| {
        session.read(question.table, text).map_err(|refusal| {
            let mut problem = Fault::from(refusal);
            problem.body["functional"] = json!(text);
            problem
        })
    };
    question.functionals.iter().map(read).collect()
}

/// The kept quantities in one figure.
async fn list(State(app): State<App>, body: Bytes) -> Result<Json<Value>, Fault> {
    let mut question: ListQuestion = read(&body)?;
    app.evaluate(move |session, cancel| {
        let (at, level) = (question.table, question.level);
        let known = read_list(session, &mut question)?;
        let quantities = session.ask_all(at, &known, &question.methods, level, cancel)?;
        let panels = forest_panels(&session.table(at)?.table, &quantities, level);
        let forest = Grid::new("").label("Intervals of the kept quantities").flow(&panels, 1);
        Ok(Json(json!({
            "forest": forest.render_inline(&format!("t{at}-forest")),
            "command": command(session, at, "interval", &known, level, &question.methods, &[])?,
        })))
    })
    .await
}

/// The kept quantities as a file.
async fn export(State(app): State<App>, body: Bytes) -> Result<Response, Fault> {
    let mut question: ListQuestion = read(&body)?;
    app.evaluate(move |session, cancel| {
        let (at, level) = (question.table, question.level);
        let known = read_list(session, &mut question)?;
        let quantities = session.ask_all(at, &known, &question.methods, level, cancel)?;
        let open = session.table(at)?;
        let all = quantities.iter().flat_map(|q| &q.answers);
        let forest = || {
            let panels = forest_panels(&open.table, &quantities, level);
            Grid::new("").label("Intervals").flow(&panels, 1).render()
        };
        let (name, kind, bytes) = match question.format {
            Form::Csv => {
                ("intervals.csv", "text/csv; charset=utf-8", answers_csv(all).into_bytes())
            }
            Form::Json => {
                let text = format!("{:#}\n", answers_json(&open.table, all));
                ("intervals.json", "application/json", text.into_bytes())
            }
            Form::Svg => ("intervals.svg", "image/svg+xml", forest().into_bytes()),
            Form::Png => {
                let png = render_png(&forest(), 2.0)
                    .map_err(|why| Fault::new(StatusCode::UNPROCESSABLE_ENTITY, why.to_string()))?;
                ("intervals.png", "image/png", png)
            }
            Form::Report => {
                let functionals: Vec<String> =
                    known.iter().map(|known| known.functional.text().to_owned()).collect();
                let report = Report {
                    table: &open.table,
                    folder: &open.name,
                    functionals: &functionals,
                    quantities: &quantities,
                    levels: &[level],
                    methods: &question.methods,
                    draws: session.draws(),
                };
                ("report.html", "text/html; charset=utf-8", report.render().into_bytes())
            }
        };
        let disposition = format!("attachment; filename=\"{name}\"");
        let headers =
            [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, disposition)];
        Ok((headers, bytes).into_response())
    })
    .await
}

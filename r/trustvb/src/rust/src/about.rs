//! What R is told of a model, its data and its table.

use trustvb::answers::usual_methods;
use trustvb::backend::Job;
use trustvb::calibrate::Method;
use trustvb::fit::StatusCode;
use trustvb::functional::Functional;
use trustvb::model::{ColumnKind, ColumnMixture, ModelSpec};
use trustvb::resample::Design;
use trustvb::table::TvbTable;

use crate::engine::Engine;
use crate::errors::{error, Class};
use crate::values::{named, Value};

/// All of it, by name.
pub(crate) fn about(engine: &Engine) -> savvy::Result<Vec<(String, Value)>> {
    let Engine { spec, layout, problem, table } = engine;
    let kind = spec.kind();
    let labels =
        |of: &Functional| of.parts().iter().map(|p| p.label().to_owned()).collect::<Vec<_>>();
    let (n_units, variables) = match (problem, table) {
        (Some(problem), _) => (problem.data().n_units(), problem.data().variables()),
        (None, Some(table)) => (table.manifest().n_units, table.manifest().columns.clone()),
        (None, None) => (0, Vec::new()),
    };
    let mut about = named([
        ("model", Value::text(kind.name)),
        ("title", Value::text(&spec.title())),
        ("component", Value::Text(vec![kind.component.one.into(), kind.component.many.into()])),
        ("units", Value::text(&spec.unit().count(n_units))),
        ("n_units", Value::whole(n_units)),
        ("n_components", Value::whole(layout.n_components)),
        ("coordinates", Value::Text(layout.coordinates.clone())),
        ("parameters", Value::whole(spec.n_free(&variables))),
        ("quantities", Value::Text(Functional::defaults(layout).iter().flat_map(labels).collect())),
    ]);
    if let Some(shape) = spec.shape() {
        about.extend(named([("shape", Value::text(shape))]));
    }
    match spec {
        ModelSpec::Mixture(own) => about.extend(of_columns(own)),
        ModelSpec::Bmlr(own) => about.extend(named([("formula", Value::text(&own.formula))])),
        _ => {}
    }
    if let Some(problem) = problem {
        about.extend(named([("remarks", Value::Text(spec.remarks(problem.data())))]));
    }
    if let Some(groups) = problem.as_ref().and_then(|problem| problem.data().groups()) {
        let groups = groups.iter().map(|&g| g as i32 + 1).collect();
        about.extend(named([("groups", Value::Whole(groups))]));
    }
    if let Some(table) = table {
        about.extend(of_table(table)?);
    }
    Ok(about)
}

/// Kinds of columns, and levels of categories.
fn of_columns(spec: &ColumnMixture) -> Vec<(String, Value)> {
    let levels = |kind: &ColumnKind| match kind {
        ColumnKind::Category { levels } => levels.clone(),
        _ => Vec::new(),
    };
    let kinds = spec.columns.iter().map(|column| column.kind.name().to_owned()).collect();
    let levels = spec.columns.iter().map(|c| (c.name.clone(), Value::Text(levels(&c.kind))));
    named([("kinds", Value::Text(kinds)), ("levels", Value::List(levels.collect()))])
}

/// Seed, grid and the full-data fit of a table.
fn of_table(table: &TvbTable) -> savvy::Result<Vec<(String, Value)>> {
    let manifest = table.manifest();
    let path = table.path(Job { design: Design::Full, replicate: 0 }).ok_or_else(|| {
        let why = "the table has no fit of all data yet; call tvb_table() again to complete it";
        error(Class::Table, why)
    })?;
    let names = |of: Vec<Method>| {
        Value::Text(of.into_iter().map(|method| method.name().to_owned()).collect())
    };
    let possible = Method::ALL.into_iter().filter(|method| method.is_possible(table)).collect();
    let held = |design: Design| Value::whole(table.bootstraps(design).count());
    let wanted = |design: Design| Value::whole(manifest.bootstraps_of(design) as usize);
    Ok(named([
        ("seed", Value::Real(vec![manifest.seed as f64])),
        ("bootstraps", held(Design::Full)),
        ("split_bootstraps", held(Design::Split)),
        ("bootstraps_wanted", wanted(Design::Full)),
        ("split_bootstraps_wanted", wanted(Design::Split)),
        ("omegas", Value::Real(table.omegas().to_vec())),
        ("fits", Value::whole(table.n_fits())),
        ("bound", Value::Real(vec![path.bound[0]])),
        ("sweeps", Value::whole(path.sweeps[0] as usize)),
        ("status", Value::text(status(path.status[0]))),
        ("methods", names(possible)),
        ("usual_methods", names(usual_methods(table))),
        ("data_hash", Value::text(&manifest.data_hash)),
        ("library", Value::text(&manifest.library)),
        ("schema", Value::whole(manifest.schema as usize)),
        ("is_checked", Value::whole(usize::from(table.is_checked()))),
        ("has_data", Value::whole(usize::from(table.data().is_some()))),
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

//! All that decides what comes of a group, by the names of its options: who asks again must mean the same.
//!
//! Options are taken apart without a rest, so that a new one does not compile until it is listed here.

use crate::args::{
    AskArgs, CalibrateArgs, FitArgs, GridArgs, IterationArgs, ModelArgs, SettingsArgs,
};
use crate::failure::Failure;
use serde_json::{Map, Value, json};
use std::path::Path;
use trustvb::calibrate::Method;

/// Those of `trustvb calibrate`.
pub(super) fn of_calibrate(
    args: &CalibrateArgs,
    quantities: &[String],
    methods: &[Method],
    levels: &[f64],
) -> Result<Value, Failure> {
    // Which methods and levels these ask for is given as they are meant.
    let AskArgs { level: _, method: _, draws } = &args.question.ask;
    let names: Vec<&str> = methods.iter().map(|method| method.name()).collect();
    let mut all = Map::new();
    for (name, value) in [
        ("command", json!("calibrate")),
        ("quantities", json!(quantities)),
        ("level", json!(levels)),
        ("method", json!(names)),
        ("draws", json!(draws)),
    ] {
        all.insert(name.to_owned(), value);
    }
    add_model(&mut all, &args.model)?;
    add_iteration(&mut all, &args.iteration)?;
    add_grid(&mut all, &args.grid);
    Ok(Value::Object(all))
}

/// Those of `trustvb fit`.
pub(super) fn of_fit(args: &FitArgs) -> Result<Value, Failure> {
    // The others are the data, what does not go with groups, and where the answer goes.
    let FitArgs {
        data: _,
        omega,
        trace: _,
        responsibilities: _,
        by: _,
        model,
        iteration,
        output: _,
    } = args;
    let mut all = Map::new();
    all.insert("command".to_owned(), json!("fit"));
    all.insert("omega".to_owned(), json!(omega));
    add_model(&mut all, model)?;
    add_iteration(&mut all, iteration)?;
    Ok(Value::Object(all))
}

fn add_model(all: &mut Map<String, Value>, args: &ModelArgs) -> Result<(), Failure> {
    let ModelArgs { components, covariance, settings } = args;
    let SettingsArgs {
        columns,
        formula,
        model,
        types,
        stream: _,
        drop_missing,
        weights,
        frequency,
        noise,
        min_group_rows,
        prior,
        update,
    } = settings;
    let prior = match prior.as_str() {
        "default" | "paper" => prior.clone(),
        file => content(Path::new(file))?,
    };
    let types: Vec<String> = types.iter().map(|(name, kind)| format!("{name}={kind:?}")).collect();
    for (name, value) in [
        ("components", json!(components)),
        ("covariance", json!(covariance.map(|shape| format!("{shape:?}")))),
        ("columns", json!(columns)),
        ("formula", json!(formula)),
        ("model", json!(model)),
        ("types", json!(types)),
        ("drop-missing", json!(drop_missing)),
        ("weights", json!(weights)),
        ("frequency", json!(frequency)),
        ("noise", json!(noise)),
        ("min-group-rows", json!(min_group_rows)),
        ("prior", json!(prior)),
        ("update", json!(update.map(|update| format!("{update:?}")))),
    ] {
        all.insert(name.to_owned(), value);
    }
    Ok(())
}

fn add_iteration(all: &mut Map<String, Value>, args: &IterationArgs) -> Result<(), Failure> {
    let IterationArgs { seed, centres, starts, tolerance, max_sweeps, acceleration } = args;
    let centres = centres.as_deref().map(content).transpose()?;
    for (name, value) in [
        ("seed", json!(seed)),
        ("centres", json!(centres)),
        ("starts", json!(starts)),
        ("tolerance", json!(tolerance)),
        ("max-sweeps", json!(max_sweeps)),
        ("acceleration", json!(acceleration)),
    ] {
        all.insert(name.to_owned(), value);
    }
    Ok(())
}

fn add_grid(all: &mut Map<String, Value>, args: &GridArgs) {
    // Subsets and own resamples do not go with groups.
    let GridArgs {
        bootstraps,
        subsets: _,
        resamples: _,
        restarts,
        matching,
        grid,
        omega_min,
        fresh_splits,
        // It is among the methods.
        tvb: _,
        published,
    } = args;
    for (name, value) in [
        ("bootstraps", json!(bootstraps)),
        ("restarts", json!(restarts)),
        ("match", json!(matching.map(|matching| format!("{matching:?}")))),
        ("grid", json!(grid)),
        ("omega-min", json!(omega_min)),
        ("fresh-splits", json!(fresh_splits)),
        ("published", json!(published)),
    ] {
        all.insert(name.to_owned(), value);
    }
}

/// A file's content: what it says counts, not what it is called.
fn content(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|e| Failure::Run(format!("{}: {e}", file.display())))
}

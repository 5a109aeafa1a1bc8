//! What several test files need: fixtures and small simulated data.

#![allow(dead_code, reason = "every test file is its own program and uses a part of this")]

pub(crate) mod compare;
pub(crate) mod simulate;
pub(crate) mod tables;

use serde_json::Value;
use std::path::PathBuf;
use trustvb::data::{Dataset, Formula, Grouped, read_path};

pub(crate) fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

pub(crate) fn json(name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(fixture(name)).unwrap()).unwrap()
}

pub(crate) fn dataset(csv: &str) -> Dataset {
    if csv == "faithful.csv" {
        return Dataset::faithful();
    }
    read_path(&fixture(csv), &Default::default()).unwrap().into_dataset().unwrap()
}

pub(crate) fn grouped(csv: &str, formula: &str) -> Grouped {
    let formula = Formula::parse(formula).unwrap();
    let frame = read_path(&fixture(csv), &formula.read_options()).unwrap();
    formula.apply(&frame).unwrap()
}

pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

pub(crate) fn assert_close(what: &str, got: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(got.len(), expected.len(), "{what}");
    let size = expected.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    for (g, e) in got.iter().zip(expected) {
        assert!(
            (g - e).abs() <= tolerance * size,
            "{what}: got {g}, expected {e}, relative difference {}",
            (g - e).abs() / size
        );
    }
}

//! Answers as columns of a data frame, each number as the library has it.

use trustvb::calibrate::{Answer, CurvePoint, Method};
use trustvb::remedy::Advise;

use crate::errors::in_r;
use crate::values::{named, Value};

/// A column per field, a row per answer; flags and curves are lists.
pub(crate) fn columns(answers: &[Answer]) -> Vec<(String, Value)> {
    let numbers = |of: &dyn Fn(&Answer) -> f64| Value::Real(answers.iter().map(of).collect());
    let texts = |of: &dyn Fn(&Answer) -> String| Value::Text(answers.iter().map(of).collect());
    let lists = |of: &dyn Fn(&Answer) -> Value| Value::Plain(answers.iter().map(of).collect());
    let nan = f64::NAN;
    named([
        ("functional", texts(&|a| a.functional.clone())),
        ("label", texts(&|a| a.label.clone())),
        ("method", texts(&|a| a.method.name().to_owned())),
        ("level", numbers(&|a| a.level)),
        ("recommended", numbers(&|a| f64::from(a.method == Method::RECOMMENDED))),
        ("omega", numbers(&|a| a.shown_omega().unwrap_or(nan))),
        ("estimate", numbers(&|a| a.estimate)),
        ("lower", numbers(&|a| a.lower)),
        ("upper", numbers(&|a| a.upper)),
        ("coverage", numbers(&|a| a.coverage.unwrap_or(nan))),
        (
            "coverage_se",
            // `analytic` resamples nothing: it has no Monte-Carlo error, which is not an error of 0.
            numbers(&|a| a.coverage_se.filter(|_| a.method != Method::Analytic).unwrap_or(nan)),
        ),
        ("lower_se", numbers(&|a| a.limits_se.map_or(nan, |(lower, _)| lower))),
        ("upper_se", numbers(&|a| a.limits_se.map_or(nan, |(_, upper)| upper))),
        ("verdict", texts(&|a| a.verdict().unwrap_or_default().to_owned())),
        ("law", texts(&|a| a.law.clone())),
        ("extra_fits", numbers(&|a| a.extra_fits as f64)),
        ("flags", lists(&|a| Value::Text(a.flags.iter().map(|f| f.name().to_owned()).collect()))),
        ("sentences", lists(&|a| Value::Text(a.flags.iter().map(|f| f.advised(in_r)).collect()))),
        (
            "is_remark",
            lists(&|a| Value::Whole(a.flags.iter().map(|f| i32::from(f.is_remark())).collect())),
        ),
        ("curve", lists(&|a| Value::List(curve(&a.curve)))),
    ])
}

/// Columns `omega`, `coverage` and `se`.
pub(crate) fn curve(points: &[CurvePoint]) -> Vec<(String, Value)> {
    named([
        ("omega", Value::Real(points.iter().map(|p| p.omega).collect())),
        ("coverage", Value::Real(points.iter().map(|p| p.coverage).collect())),
        ("se", Value::Real(points.iter().map(|p| p.se).collect())),
    ])
}

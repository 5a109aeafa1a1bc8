//! What is said of VB's own interval is a field of its answer, the same for everybody who shows it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::simulate::Mixture;
use trustvb::answers::{Field, Own, UNCHECKED, answer_json, fields, verdict};
use trustvb::calibrate::{Answer, Calibrator, Method};
use trustvb::data::Dataset;
use trustvb::functional::Functional;
use trustvb::model::GaussianMixture;
use trustvb::problem::Problem;

fn word(answer: &Answer) -> Option<&'static str> {
    fields(answer).into_iter().find_map(|(name, field)| match (name, field) {
        ("verdict", Field::Words(words)) => Some(words),
        _ => None,
    })?
}

/// Answers to every weight and mean of a problem.
fn answers(problem: &Problem, bootstraps: u32) -> Vec<Vec<Answer>> {
    let methods = [Method::RECOMMENDED, Method::Vb];
    let request = problem.table().methods(&methods).bootstraps(bootstraps).seed(3);
    let table = request.build().unwrap();
    let calibrator = Calibrator::new(&table, 50).unwrap();
    let asked = Functional::defaults(table.layout());
    let parts = asked.iter().flat_map(Functional::parts);
    parts.map(|part| calibrator.answer(part, &methods, &[0.5, 0.95]).unwrap()).collect()
}

#[test]
fn a_verdict_over_coverages_and_numbers_of_bootstraps() {
    let level = 0.95;
    for bootstraps in [0, 10, 20, 50, 199, 500, 5000] {
        for hundredths in 0..=100 {
            let coverage = f64::from(hundredths) / 100.0;
            let se = (coverage * (1.0 - coverage) / f64::from(bootstraps.max(1))).sqrt();
            let found = (coverage, se);
            let own = Own::judge_interval((0.0, 1.0), found, level, bootstraps as usize);
            let nominal = (level * (1.0 - level) / f64::from(bootstraps)).sqrt();
            let expected = match bootstraps {
                0 => None,
                _ if coverage + 2.0 * se < level => Some(Own::TooShort),
                _ if coverage > level + 2.0 * nominal => Some(Own::TooLong),
                // Few bootstraps do not make 90% a 95% interval.
                _ if coverage < level - 0.03 => Some(Own::Unclear),
                _ => Some(Own::Fine),
            };
            assert_eq!(own, expected, "{coverage} of {bootstraps}");
            // A point is not checked, and an interval that is not there neither.
            for limits in [(1.0, 1.0), (f64::NAN, 1.0), (f64::NAN, f64::NAN)] {
                assert_eq!(Own::judge_interval(limits, found, level, bootstraps as usize), None);
            }
        }
    }
    let few = Own::judge_interval((0.0, 1.0), (0.9, 0.07), level, 20);
    assert_eq!(few.map(Own::words), Some("VB may be too short"));
}

#[test]
fn the_verdict_is_a_field_of_the_answer() {
    let mixture = Mixture::new(3, 200, 2, 2, 2.0);
    let data = Dataset::from_columns(vec!["a".into(), "b".into()], mixture.columns).unwrap();
    let problem = GaussianMixture::new(2).bind(data).unwrap();
    let mut said = Vec::new();
    for bootstraps in [12, 60, 250] {
        let answers = answers(&problem, bootstraps);
        for answer in answers.iter().flatten() {
            let own = Own::of(answer, bootstraps as usize);
            let expected = own.map_or(UNCHECKED, Own::words);
            match answer.method {
                Method::Vb => assert_eq!(word(answer), Some(expected)),
                _ => assert_eq!((word(answer), answer.own), (None, None)),
            }
            assert_eq!(answer_json(answer)["verdict"].as_str(), word(answer));
        }
        let quantities: Vec<&[Answer]> = answers.iter().map(Vec::as_slice).collect();
        said.push(verdict(&quantities, 0.95, bootstraps as usize).unwrap());
    }
    assert!(said[0].contains("as far as 12 bootstraps can tell") || said[0].contains("too short"));
}

#[test]
fn a_point_is_not_checked() {
    let problem = GaussianMixture::new(1).bind(Dataset::faithful()).unwrap();
    let answers = answers(&problem, 60);
    let weight = answers[0].iter().find(|answer| answer.method == Method::Vb).unwrap();
    assert_eq!((weight.lower, weight.upper), (1.0, 1.0));
    assert_eq!(weight.verdict(), Some(UNCHECKED));
}

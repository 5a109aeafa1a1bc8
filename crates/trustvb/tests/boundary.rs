//! Cells that few units show: limits from counts, a flag, and no praise of VB.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, OnceLock};
use trustvb::answers::verdict;
use trustvb::calibrate::{Balance, Calibrator};
use trustvb::data::read_csv;
use trustvb::functional::{Draws, Functional, Range};
use trustvb::model::{ColumnMixture, ColumnType};
use trustvb::prelude::*;
use trustvb::resample::Design;
use trustvb::special::{beta, gamma_dist};

/// 240 rows, of which every third is of a class that answers six items otherwise; in that class nobody is `red`, one row has an
/// accident, and three are ill.
fn text() -> String {
    let mut text = String::from("a,b,c,d,e,f,colour,accidents,ill\n");
    for i in 0..240 {
        let second = i % 3 == 2;
        let answer =
            |j: usize| if second == (i * 7 + j * 5).is_multiple_of(11) { "yes" } else { "no" };
        let items: Vec<&str> = (0..6).map(answer).collect();
        let colour = if second || i % 5 > 1 { "blue" } else { "red" };
        let accidents = if second { usize::from(i == 59) } else { i % 4 };
        let ill = if second { i % 81 == 2 } else { i % 2 == 0 };
        text += &format!("{},{colour},{accidents},{}\n", items.join(","), u8::from(ill));
    }
    text
}

fn table() -> &'static TvbTable {
    static TABLE: OnceLock<TvbTable> = OnceLock::new();
    TABLE.get_or_init(|| {
        let options = ReadOptions { as_text: true, keep_missing: true, ..ReadOptions::default() };
        let frame = read_csv(text().as_bytes(), "rows", &options).unwrap();
        let types = [("accidents".to_owned(), ColumnType::Count)];
        let problem = ColumnMixture::new(2).bind(&frame, &types).unwrap();
        problem.table().methods(&[Method::Balanced]).bootstraps(199).seed(3).build().unwrap()
    })
}

fn answers(quantity: &str) -> Vec<Answer> {
    let functional = Functional::parse(quantity, table().layout()).unwrap();
    let calibrator = Calibrator::new(table(), 200).unwrap();
    let methods = [Method::Balanced, Method::Vb, Method::Bootstrap, Method::Tempered];
    calibrator.answer(&functional.parts()[0], &methods, &[0.95]).unwrap()
}

fn balanced(quantity: &str) -> Answer {
    answers(quantity).swap_remove(0)
}

fn names(answer: &Answer) -> Vec<&'static str> {
    answer.flags.iter().map(Flag::name).collect()
}

/// `α` of a level in a class, and of all its levels, from 0.
fn alphas(block: &str, class: usize, level: usize) -> (f64, f64) {
    let block = table().layout().block(block).unwrap();
    let all = table().zeroth(Design::Full, 0).unwrap();
    let own = &all[block.offset + class * block.dim..][..block.dim];
    (own[level], own.iter().sum())
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

#[test]
fn a_level_that_no_row_of_a_class_has_gets_exact_limits() {
    let answer = balanced("p[2,colour,red]");
    let (_, total) = alphas("p.colour", 1, 1);
    // 80 rows are of the class, and nobody is red.
    close(total - 1.0, 80.0, 0.1);
    assert_eq!(answer.lower, 0.0);
    close(answer.upper, beta::quantile(1.0, 80.0, 0.975), 2e-4);
    assert!(names(&answer).contains(&"boundary"), "{:?}", names(&answer));
    // Seen from the other level it is the same.
    let other = balanced("p[2,colour,blue]");
    close(other.lower, 1.0 - answer.upper, 1e-12);
    assert_eq!(other.upper, 1.0);
}

#[test]
fn few_events_get_exact_limits_wider_by_what_resamples_add() {
    let answer = balanced("p[2,ill,1]");
    let (alpha, total) = alphas("p.ill", 1, 1);
    let (events, units) = (alpha - 0.5, total - 1.0);
    close(events, 3.0, 0.1);
    // Resamples move it less than a binomial law does, so these are Clopper and Pearson's.
    close(answer.upper, beta::quantile(events + 1.0, units - events, 0.975), 1e-12);
    let one = if events < 1.0 { 0.0 } else { beta::quantile(events, units - events + 1.0, 0.025) };
    close(answer.lower, one, 1e-12);
}

#[test]
fn rates_and_weights_have_their_own() {
    let answer = balanced("rate[2,accidents]");
    // One event in 80 rows.
    close(answer.upper, gamma_dist::quantile(2.0, 0.975) / 80.0, 3e-3);
    assert!(answer.lower < 0.002 && names(&answer).contains(&"boundary"));
    assert!(answer.flags.iter().any(|flag| flag.sentence().contains("events in 80 rows")));
    assert!(!names(&balanced("pi[2]")).contains(&"boundary"));
}

#[test]
fn a_component_of_few_rows_has_a_weight_with_exact_limits() {
    let rows: Vec<[f64; 2]> = (0..150)
        .map(|i| {
            let x = f64::from(i % 13) / 6.0 - 1.0;
            let y = f64::from(i % 7) / 3.0 - 1.0;
            let at = if i % 38 == 0 { 30.0 } else { 0.0 };
            [at + x, at + y]
        })
        .collect();
    let columns = (0..2).map(|j| rows.iter().map(|row| row[j]).collect()).collect();
    let names_of = vec!["x".to_owned(), "y".to_owned()];
    let data = Dataset::from_columns(names_of, columns).unwrap();
    let problem = GaussianMixture::new(2).bind(data).unwrap();
    let table = problem.table().methods(&[Method::Balanced]).bootstraps(100).build().unwrap();
    let answer = table.ask("pi[2]").unwrap().recommended().unwrap();
    assert!(names(&answer).contains(&"boundary"));
    let exact = (beta::quantile(4.0, 147.0, 0.025), beta::quantile(5.0, 146.0, 0.975));
    assert!(answer.lower <= exact.0 + 1e-6 && answer.upper >= exact.1 - 1e-6, "{exact:?}");
    // Resamples lose the component at times, and that counts four times at most.
    assert!(answer.upper < 2.5 * exact.1);
    let heavy = table.ask("pi[1]").unwrap().recommended().unwrap();
    close(heavy.lower, 1.0 - answer.upper, 1e-12);
    close(heavy.upper, 1.0 - answer.lower, 1e-12);
}

#[test]
fn monotone_functions_of_a_cell_inherit_its_limits() {
    let answer = balanced("p[2,ill,1]");
    let logit = |x: f64| x.ln() - (-x).ln_1p();
    for (text, of) in [
        ("logit(p[2,ill,1])", &logit as &dyn Fn(f64) -> f64),
        ("1 - p[2,ill,1]", &|x| 1.0 - x),
        ("p[2,ill,1] / (1 - p[2,ill,1])", &|x| x / (1.0 - x)),
        ("p[2,ill,1] / p[2,ill,0]", &|x| x / (1.0 - x)),
    ] {
        let found = balanced(text);
        assert!(names(&found).contains(&"boundary"), "{text}");
        let (a, b) = (of(answer.lower), of(answer.upper));
        let (low, high) = (a.min(b), a.max(b));
        if low.is_finite() {
            close(found.lower, low, 1e-6);
        } else {
            assert_eq!(found.lower, low, "{text}");
        }
        close(found.upper, high, 1e-6);
    }
    // What cannot be bounded says so.
    let none = balanced("log(p[2,colour,red])");
    assert_eq!(none.lower, f64::NEG_INFINITY);
    assert!(names(&none).contains(&"boundary") && names(&none).contains(&"undefined"));
}

#[test]
fn what_a_cell_is_part_of_varies_with_it() {
    for text in
        ["p[1,colour,red] - p[2,colour,red]", "p[1,ill,1] / p[2,ill,1]", "pi[2] * p[2,ill,1]"]
    {
        let answer = balanced(text);
        assert!(names(&answer).contains(&"boundary"), "{text}: {:?}", names(&answer));
        assert!(answer.flags.iter().any(|flag| flag.sentence().contains("part of it")), "{text}");
        assert!(answer.lower < answer.estimate && answer.estimate < answer.upper);
        let again = balanced(text);
        assert_eq!([answer.lower, answer.upper], [again.lower, again.upper]);
    }
    // Nobody is red: resamples say that the difference is as certain as the other class's probability is.
    let all = answers("p[1,colour,red] - p[2,colour,red]");
    let bootstrap = all.iter().find(|a| a.method == Method::Bootstrap).unwrap();
    let length = |answer: &Answer| answer.upper - answer.lower;
    assert!(length(&all[0]) > length(bootstrap), "{} {}", length(&all[0]), length(bootstrap));
}

#[test]
fn code_is_told_of_cells_that_it_uses() {
    for (name, at, told) in [("pi", 0, false), ("p.ill", 3, true)] {
        let layout = table().layout();
        let of_block = {
            let layout = layout.clone();
            move |draws: &Draws| {
                let (_, values) = draws.block(&layout, name).unwrap();
                values.map(|values| values[at]).collect()
            }
        };
        let functional = Functional::from_function(name, layout, Arc::new(of_block));
        let calibrator = Calibrator::new(table(), 50).unwrap();
        let found = calibrator.answer(&functional.parts()[0], &[Method::Balanced], &[0.9]).unwrap();
        assert_eq!(names(&found[0]).contains(&"boundary"), told, "{name}");
    }
}

#[test]
fn cells_that_many_show_are_left_as_they_are() {
    for text in
        ["pi[1]", "p[1,ill,1]", "p[1,colour,red]", "p[1,a,yes] - p[1,ill,1]", "rate[1,accidents]"]
    {
        let functional = Functional::parse(text, table().layout()).unwrap();
        let part = &functional.parts()[0];
        let answer = balanced(text);
        assert!(!names(&answer).contains(&"boundary"), "{text}: {:?}", names(&answer));
        let paths = table().bootstraps(Design::Full);
        let estimates = paths.filter_map(|(_, path)| table().parameters(path, 0));
        let range: Range = part.range();
        let all: Vec<f64> = estimates.map(|x| range.unbounded(part.plug_in(x))).collect();
        let centre = range.unbounded(part.plug_in(table().zeroth(Design::Full, 0).unwrap()));
        let (lower, upper) = Balance::new(centre, all).limits(0.95);
        assert_eq!(
            [range.bounded(lower), range.bounded(upper)],
            [answer.lower, answer.upper],
            "{text}"
        );
    }
}

#[test]
fn vb_is_not_called_longer_than_it_need_be_where_resamples_hardly_move() {
    let all = answers("p[2,colour,red]");
    let vb = all.iter().find(|a| a.method == Method::Vb).unwrap();
    assert_eq!((vb.coverage, names(vb).contains(&"boundary")), (None, true));
    let said = verdict(&[&all], 0.95, 199).unwrap();
    assert!(said.contains("not known here"), "{said}");
    // Other methods have no rule for it, and say so.
    for method in [Method::Bootstrap, Method::Tempered] {
        let other = all.iter().find(|a| a.method == method).unwrap();
        let told = other.flags.iter().find(|flag| flag.name() == "boundary").unwrap().sentence();
        assert!(told.ends_with("choose other methods, such as --method balanced"), "{told}");
        assert!(!names(other).contains(&"above-omega-1"));
    }
}

#[test]
fn a_quantity_without_a_value_in_resamples_says_in_how_many() {
    let table = GaussianMixture::new(2)
        .bind(Dataset::faithful())
        .unwrap()
        .table()
        .methods(&[Method::Balanced, Method::Tvb])
        .bootstraps(100)
        .grid(5)
        .build()
        .unwrap();
    let ask = |text: &str, method: Method| {
        let functional = Functional::parse(text, table.layout()).unwrap();
        let calibrator = Calibrator::new(&table, 100).unwrap();
        calibrator.answer(&functional.parts()[0], &[method], &[0.9]).unwrap().swap_remove(0)
    };
    let answer = ask("sqrt(pi[1] - 0.64)", Method::Balanced);
    let functional = Functional::parse("pi[1]", table.layout()).unwrap();
    let below = table
        .bootstraps(Design::Full)
        .filter(|(_, path)| {
            functional.parts()[0].plug_in(table.parameters(path, 0).unwrap()) < 0.64
        })
        .count();
    assert!((20..80).contains(&below), "{below}");
    assert!(answer.flags.contains(&Flag::UndefinedInResamples { of: Some((below, 100)) }));
    let told = answer.flags[0].sentence();
    assert!(
        answer.flags.iter().any(|f| f.sentence().contains(&format!("in {below} of 100 resamples"))),
        "{told}"
    );
    // The half sample that the paper's method checks against has a smaller weight, or a larger one.
    let tvb = ask("sqrt(pi[1] - 0.64)", Method::Tvb);
    assert!(
        names(&tvb).contains(&"undefined-in-resamples") && !names(&tvb).contains(&"no-evidence")
    );
    assert!(!names(&ask("sqrt(pi[1])", Method::Balanced)).contains(&"undefined-in-resamples"));
}

#[test]
fn bootstrap_takes_quantiles_as_balanced_does() {
    // With 199 resamples and 90% the limits are the 10th and the 190th, (B + 1)·p.
    let functional = Functional::parse("p[1,ill,1]", table().layout()).unwrap();
    let part = &functional.parts()[0];
    let paths = table().bootstraps(Design::Full);
    let mut all: Vec<f64> = paths
        .filter_map(|(_, path)| table().parameters(path, 0))
        .map(|x| part.plug_in(x))
        .collect();
    all.sort_by(f64::total_cmp);
    let calibrator = Calibrator::new(table(), 200).unwrap();
    let found = calibrator.answer(part, &[Method::Bootstrap], &[0.9]).unwrap();
    close(found[0].lower, all[9], 1e-12);
    close(found[0].upper, all[189], 1e-12);
}

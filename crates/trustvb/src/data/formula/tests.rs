//! What formulas mean, and where a wrong one is pointed at.

use proptest::prelude::*;

use super::*;
use crate::data::csv::read_csv;

const PLANTS: &str = "plot,y,x1,x2,my col\nb,1,2,3,4\na,2,3,5,1\nb,3,5,8,2\na,4,7,9,9\n";

fn plants(formula: &Formula) -> Result<Grouped, DataError> {
    let frame = read_csv(PLANTS.as_bytes(), "plants.csv", &formula.read_options())?;
    formula.apply(&frame)
}

fn grouped(text: &str) -> Grouped {
    plants(&Formula::parse(text).unwrap()).unwrap()
}

#[test]
fn terms_follow_the_conventions_of_r() {
    let cases: &[(&str, &[&str])] = &[
        ("y ~ x1", &["(Intercept)", "x1"]),
        ("y~1", &["(Intercept)"]),
        ("y ~ 0 + x1 + x2 | plot", &["x1", "x2"]),
        ("y ~ x1 - 1", &["x1"]),
        ("y ~ x1 + 0", &["x1"]),
        ("y ~ -1 + x1", &["x1"]),
        ("y ~ 0 + x1 + 1", &["(Intercept)", "x1"]),
        ("y ~ . | plot", &["(Intercept)", "x1", "x2", "my col"]),
        ("y ~ . - plot - x1", &["(Intercept)", "x2", "my col"]),
        ("y ~ . - `my col` - 1 | plot", &["x1", "x2"]),
        ("y ~ x2 + x1 + x2", &["(Intercept)", "x2", "x1"]),
        ("y ~ x1*x2", &["(Intercept)", "x1", "x2", "x1:x2"]),
        ("y ~ x1*x2 - x2:x1", &["(Intercept)", "x1", "x2"]),
        ("y ~ x1:x2 + x1", &["(Intercept)", "x1", "x1:x2"]),
        ("y ~ x1:x1", &["(Intercept)", "x1"]),
        ("y ~ `my col` + I(x1^2)", &["(Intercept)", "my col", "I(x1^2)"]),
        ("log(y) ~ sqrt( x1 ) + exp(-x2)", &["(Intercept)", "sqrt(x1)", "exp(-x2)"]),
    ];
    for (text, names) in cases {
        assert_eq!(grouped(text).design_names(), *names, "{text}");
    }
}

#[test]
fn values_are_computed() {
    let data = grouped("log(y) ~ 0 + x1:x2 + I(-x1^2 + 2*(x2 - 1)/4) | plot");
    assert_eq!(data.response_name(), "log(y)");
    assert_eq!(data.response()[3], 4.0_f64.ln());
    let find = |name: &str| data.design_names().iter().position(|n| n == name).unwrap();
    assert_eq!(data.design_column(find("x1:x2")), [6.0, 15.0, 40.0, 63.0]);
    let power = data.design_column(find("I(-x1^2+2*(x2-1)/4)"));
    assert_eq!(power, [-3.0, -7.0, -21.5, -45.0]);
}

#[test]
fn groups_are_numbered_by_first_appearance() {
    let data = grouped("y ~ x1 | plot");
    assert_eq!(data.groups(), [0, 1, 0, 1]);
    assert_eq!((data.n_groups(), data.n_rows()), (2, 4));
    assert_eq!((&*data.group_label(0), &*data.group_label(1)), ("b", "a"));
    assert_eq!(data.group_sizes(), [2, 2]);
    let rows = grouped("y ~ x1");
    assert_eq!((rows.groups(), rows.n_groups()), (&[0, 1, 2, 3][..], 4));
    assert_eq!(rows.group_label(3), "4");

    // A numeric column read as numbers still gives labels as in the file.
    let formula = Formula::parse("y ~ x1 | x2").unwrap();
    let frame =
        read_csv("y,x1,x2\n1,2,7\n2,3,7\n4,4,8.5\n".as_bytes(), "f", &ReadOptions::default());
    let data = formula.apply(&frame.unwrap()).unwrap();
    assert_eq!((data.groups(), &*data.group_label(1)), (&[0, 0, 1][..], "8.5"));
}

#[test]
fn mistakes_are_pointed_at() {
    let cases: &[(&str, usize, &str)] = &[
        ("", 0, "expected the response, found the end"),
        ("y", 1, "expected `~` after the response, found the end"),
        ("y ~ ", 4, "expected a column or a function, found the end"),
        ("~ x", 0, "expected the response, found `~`"),
        ("y x", 2, "expected `~`"),
        ("y ~ x1 + + x2", 9, "expected a column or a function, found `+`"),
        ("y ~ x1 x2", 7, "expected `+`, `-`, `:`, `*`, `|` or the end, found `x2`"),
        ("y ~ x1 + 2", 9, "expected a term, 0 or 1, found `2`"),
        ("y ~ x1^2", 6, "inside I(), as in I(x^2)"),
        ("y ~ x1 |", 8, "group column after `|`, found the end"),
        ("y ~ x1 | .", 9, "group column"),
        ("y ~ x1 | g + h", 11, "expected the end after the group column, found `+`"),
        ("y ~ `a b", 4, "not closed"),
        ("y ~ ``", 4, "between the back-ticks"),
        ("y ~ tan(x)", 4, "expected one of I, log, exp or sqrt, found `tan`"),
        ("y ~ I(x", 7, "expected `)`, found the end"),
        ("y ~ I(x^)", 8, "expected a column, a number or a function, found `)`"),
        ("y ~ (x1 + x2)", 4, "write the terms out"),
        ("y ~ x1 & x2", 7, "unexpected `&`"),
        ("y ~ x1:.", 7, "found `.`"),
        ("y ~ .:x1", 5, "`.` stands alone"),
        ("y ~ x + y", 0, "also a term on the right"),
        ("é ~ ü + ?", 8, "unexpected `?`"),
        ("y ~ a*b*c*d*e*f*g", 16, "at most 6 factors"),
    ];
    for (text, position, fragment) in cases {
        let error = Formula::parse(text).unwrap_err();
        let message = error.to_string();
        let DataError::Formula { at, .. } = error else { panic!("{message}") };
        assert_eq!(at, *position, "{text}: {message}");
        assert!(message.contains(fragment), "{fragment:?} not in {message:?}");
    }
    let message = Formula::parse("y ~ x1 + + x2").unwrap_err().to_string();
    let lines: Vec<&str> = message.lines().collect();
    assert!(lines[0].starts_with("formula, character 10: "));
    assert_eq!(lines[1..], ["  y ~ x1 + + x2", "           ^"]);
    let deep = format!("y ~ I({}x{})", "(".repeat(10_000), ")".repeat(10_000));
    assert!(Formula::parse(&deep).unwrap_err().to_string().contains("nested deeper"));
}

#[test]
fn data_that_do_not_fit_the_formula() {
    let cases: &[(&str, &[&str])] = &[
        ("y ~ x3", &["plants.csv has no column `x3`; its columns are `plot`, `y`, `x1`"]),
        ("y ~ x1 | plots", &["no column `plots`", "did you mean `plot`?"]),
        ("y ~ . - z", &["no column `z`"]),
        ("y ~ plot", &["line 2, column `plot`: `b` is not a number"]),
        ("y ~ 0", &["no column is left"]),
        ("y ~ log(x1 - 3)", &["plants.csv, line 2: `log(x1-3)` is NaN"]),
        ("y ~ I(1/(x1 - 3))", &["line 3", "is inf"]),
        ("y ~ x1 + plot | plot", &["column `plot` holds text"]),
    ];
    for (text, fragments) in cases {
        let message = plants(&Formula::parse(text).unwrap()).unwrap_err().to_string();
        for fragment in *fragments {
            assert!(message.contains(fragment), "{fragment:?} not in {message:?}");
        }
    }
}

#[test]
fn designs_unfit_for_a_mixture_are_refused() {
    let cases: &[(&str, usize, usize, &[&str])] = &[
        ("y ~ x1 | plot", 3, 1, &["2 groups for 3 components"]),
        ("y ~ x1", 5, 1, &["4 rows for 5 components"]),
        ("y ~ x1 | plot", 2, 3, &["group `b` has 2 rows, where 3 are needed", "1 other group"]),
        ("y ~ x1*x2 + `my col` | plot", 2, 1, &["4 rows for 5 columns", "at least 5"]),
        ("y ~ I(0*x1)", 2, 1, &["same value in all 4 rows (`I(0*x1)`)"]),
        ("y ~ I(0*x1 + 3)", 2, 1, &["same value"]),
        ("y ~ 0 + I(0*x1)", 2, 1, &["same value"]),
        ("y ~ x1 + I(2*x1 + 1)", 2, 1, &["`x1` and `I(2*x1+1)`", "3 columns", "2 dimensions"]),
        ("y ~ 0 + x1 + x2 + I(x1 - x2)", 2, 1, &["exactly collinear", "2 dimensions"]),
    ];
    for (text, n_components, rows, fragments) in cases {
        let message =
            grouped(text).check_for_mixture(*n_components, *rows).unwrap_err().to_string();
        for fragment in *fragments {
            assert!(message.contains(fragment), "{fragment:?} not in {message:?}");
        }
    }
    for text in ["y ~ x1 | plot", "y ~ 0 + x1 + I(2*x1 + 1)", "y ~ 0 + I(0*x1 + 3) + x1", "y ~ 1"] {
        grouped(text).check_for_mixture(2, 1).unwrap();
    }
}

#[test]
fn columns_in_memory_are_grouped() {
    let labels = ["u", "v", "u"].map(str::to_owned);
    let build = |response: Vec<f64>, labels: Option<&[String]>| {
        let design = vec![vec![1.0, 2.0, 3.0], vec![0.0, 1.0, 0.0]];
        let names = vec!["x1".into(), "x2".into()];
        Grouped::from_columns("y".into(), response, names, design, labels)
    };
    let data = build(vec![5.0, 6.0, 7.0], Some(&labels)).unwrap();
    assert_eq!((data.response(), data.groups()), (&[5.0, 6.0, 7.0][..], &[0, 1, 0][..]));
    assert_eq!((data.design_column(0)[2], data.design_column(1)[1]), (3.0, 1.0));
    assert!(build(vec![5.0, 6.0], None).unwrap_err().to_string().contains("has 2"));
    assert!(build(vec![5.0, 6.0, f64::NAN], None).unwrap_err().to_string().contains("row 3"));
    let short = build(vec![5.0, 6.0, 7.0], Some(&labels[..2])).unwrap_err().to_string();
    assert!(short.contains("`group` has 2 values"), "{short}");
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[yx12.~+*:^()|` 0eI-]{0,40}|\\PC{0,30}") {
        if let Ok(formula) = Formula::parse(&text) {
            let _ = plants(&formula);
        }
    }
}

#[test]
fn a_formula_knows_the_names_it_gives() {
    let gives = |text: &str, response: &str, design: &[&str]| {
        let design: Vec<String> = design.iter().map(|name| (*name).to_owned()).collect();
        Formula::parse(text).unwrap().gives(response, &design)
    };
    assert!(gives("y ~ a*b | g", "y", &["(Intercept)", "a", "b", "a:b"]));
    assert!(gives("log(y) ~ 0 + a", "log(y)", &["a"]));
    assert!(gives("y ~ . | g", "y", &["(Intercept)", "c"]));
    assert!(!gives("y ~ . | g", "z", &["(Intercept)", "c"]));
    assert!(!gives("y ~ a", "y", &["a"]));
    assert!(!gives("y ~ a", "y", &["(Intercept)", "a", "b"]));
}

//! Mixtures of columns on data as people bring them: what is refused by name, and what is said and done anyway.

mod common;

use common::Scratch;

/// A file of 60 rows whose second column is given; the first and third are answers to questions.
fn with_second(scratch: &Scratch, value: impl Fn(usize) -> String) {
    let mut text = String::from("a,b,c\n");
    for i in 0..60 {
        let (a, c) = (["yes", "no"][(i * 7) % 3 % 2], ["u", "v", "w"][(i * 5) % 7 % 3]);
        text.push_str(&format!("{a},{},{c}\n", value(i)));
    }
    scratch.write("b.csv", text);
}

fn said(scratch: &Scratch, code: i32, types: &[&str]) -> String {
    let args = [&["fit", "b.csv", "--model", "mixture", "--format", "csv"], types].concat();
    let run = scratch.run(&args);
    assert_eq!(run.code, Some(code), "{}", run.stderr);
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    run.stderr
}

#[test]
fn columns_that_cannot_be_what_they_should_be_are_refused_by_name() {
    let scratch = Scratch::new();
    for (value, types, words) in [
        ((|_| "same".to_owned()) as fn(usize) -> String, &[][..], "one value only"),
        (|i| format!("{}", i % 5) + if i == 9 { ".5" } else { "" }, &["--types", "b=count"], "4.5"),
        (|i| format!("{}", i as i64 % 5 - 1), &["--types", "b=count"], "-1"),
    ] {
        with_second(&scratch, value);
        let stderr = said(&scratch, 1, types);
        assert!(stderr.contains("`b`") && stderr.contains(words), "{stderr}");
    }
    let mut many = String::from("a,b\n");
    (0..10_000).for_each(|i| many.push_str(&format!("{},id{i}\n", ["yes", "no"][i % 2])));
    scratch.write("b.csv", many);
    let stderr = said(&scratch, 1, &[]);
    assert!(stderr.contains("10000 different values"), "{stderr}");
}

#[test]
fn gaps_and_levels_seen_once_are_said_and_used() {
    let scratch = Scratch::new();
    with_second(&scratch, |i| if i % 9 == 0 { String::new() } else { format!("{}", i % 4) });
    let stderr = said(&scratch, 0, &["--types", "b=count"]);
    assert!(stderr.contains("7 of 180 cells are missing"), "{stderr}");
    with_second(&scratch, |i| ["l", "m", "n"][if i == 5 { 2 } else { i % 2 }].to_owned());
    let stderr = said(&scratch, 0, &[]);
    assert!(stderr.contains("column `b` has `n` only once"), "{stderr}");
    assert_eq!(said(&scratch, 0, &["-q"]), "");
    // A row with nothing in it has no likelihood.
    scratch.write("b.csv", "a,b\nyes,1\n,\nno,2\nyes,2\nno,1\n");
    assert!(said(&scratch, 1, &[]).contains("line 3 holds no value at all"));
}

/// Answers coded 1 and 2, grades from 1 to 5 and a number, of 200 rows in two groups.
fn coded(scratch: &Scratch) {
    let mut text = String::from("smokes,grade,size\n");
    for i in 0..200_usize {
        let k = usize::from(i % 5 < 2);
        let smokes = 1 + usize::from((i * 7 + 3 * k) % 10 < 3 + 5 * k);
        let grade = 1 + (i * 11 % 13 + 5 * k) % 5;
        text.push_str(&format!(
            "{smokes},{grade},{}\n",
            (i * 37 % 101) as f64 / 10.0 + 6.0 * k as f64
        ));
    }
    scratch.write("coded.csv", text);
}

#[test]
fn codes_are_categories_and_the_answer_says_so() {
    let scratch = Scratch::new();
    coded(&scratch);
    let fit = |options: &[&str]| {
        let args =
            [&["fit", "coded.csv", "--model", "mixture", "--format", "json"], options].concat();
        let run = scratch.run(&args);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let fit: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let columns = fit["settings"]["columns"].as_array().unwrap();
        let kinds: Vec<String> =
            columns.iter().map(|c| c["kind"].as_str().unwrap().to_owned()).collect();
        (kinds, run.stderr)
    };
    let (kinds, said) = fit(&[]);
    assert_eq!(kinds, ["category", "category", "gaussian"]);
    assert!(said.contains("`smokes` (2 values) and `grade` (5 values)"), "{said}");
    assert!(said.contains("smokes=gaussian"), "{said}");
    // Whoever says what columns are is not told, and one word is for all that are not named.
    let (kinds, said) = fit(&["--types", "smokes=gaussian,grade=count"]);
    assert_eq!(
        (kinds, said.as_str()),
        (["gaussian", "count", "gaussian"].map(str::to_owned).to_vec(), "")
    );
    let (kinds, _) = fit(&["--types", "category,size=gaussian"]);
    assert_eq!(kinds, ["category", "category", "gaussian"]);
    let (kinds, _) = fit(&["--types", "gaussian,smokes=category"]);
    assert_eq!(kinds, ["category", "gaussian", "gaussian"]);
}

#[test]
fn a_gaussian_mixture_refuses_two_values_and_flags_few_codes() {
    let scratch = Scratch::new();
    coded(&scratch);
    let run = scratch.run(&["fit", "coded.csv"]);
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    for words in
        ["column `smokes` has 2 different values only, 1 and 2", "--model mixture", "=gaussian"]
    {
        assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
    }
    let accepted = ["fit", "coded.csv", "--model", "gmm", "-k", "1", "--types", "smokes=gaussian"];
    let run = scratch.run(&accepted);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("`smokes` has 2, `grade` has 5"), "{}", run.stdout);
    let run = scratch.run(&["fit", "coded.csv", "--columns", "size"]);
    assert!(run.code == Some(0) && !run.stdout.contains("[codes]"), "{}", run.stdout);
    let run =
        scratch.run(&["calibrate", "coded.csv", "-k", "1", "-B", "50", "--columns", "grade,size"]);
    assert!(run.code == Some(0) && run.stdout.contains("[codes]"), "{}{}", run.stdout, run.stderr);
    // Streamed rows are looked at too.
    let streamed = ["fit", "coded.csv", "--stream", "--columns", "smokes,size"];
    assert!(scratch.run(&streamed).stderr.contains("2 different values"));
    let run = scratch.run(&["fit", "coded.csv", "--model", "gmm", "--types", "grade=count"]);
    assert!(run.code == Some(2) && run.stderr.contains("--types grade=count"), "{}", run.stderr);
}

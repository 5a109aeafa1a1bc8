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

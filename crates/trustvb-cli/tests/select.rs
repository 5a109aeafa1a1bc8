//! What `trustvb select` says to do next is a command that runs, on the same rows.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::Scratch;

#[test]
fn the_next_command_has_the_options_that_the_data_need() {
    let scratch = Scratch::new();
    let mut text = String::from("x,y,w\n");
    for i in 0..60 {
        let (a, b) = (f64::from(i % 7), f64::from(i % 11));
        let far = if i % 2 == 0 { 0.0 } else { 20.0 };
        let y = if i == 5 { String::new() } else { (far + b).to_string() };
        text.push_str(&format!("{},{y},{}\n", far + a, 1 + i % 3));
    }
    scratch.write("gaps.csv", text);
    let asked = ["--drop-missing", "--weights", "w", "--seed", "3"];
    let mut command = vec!["select", "gaps.csv", "-k", "1:2"];
    command.extend(asked);
    let said = scratch.ok(&command).stdout;
    let next = said.lines().skip_while(|line| !line.starts_with("Next: ")).collect::<String>();
    let next = next.strip_prefix("Next: trustvb ").unwrap();
    let words: Vec<&str> = next.split_whitespace().collect();
    assert!(asked.iter().all(|word| words.contains(word)), "{next}");
    scratch.ok(&words);
}

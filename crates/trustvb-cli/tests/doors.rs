//! The command answers the questions of `doors.json`, which Python's and R's tests compare with their own answers: rows,
//! verdicts and flags, over a grid of coverages and numbers of bootstraps.

mod common;

use common::Scratch;
use serde_json::Value;
use std::collections::BTreeSet;
use trustvb::answers::{Own, UNCHECKED};

fn shared(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../r/trustvb/inst/extdata");
    std::fs::read_to_string(format!("{folder}/{name}")).expect("it is there")
}

fn list(of: &Value) -> impl Iterator<Item = &Value> {
    of.as_array().into_iter().flatten()
}

fn text(of: &Value) -> &str {
    of.as_str().unwrap_or_default()
}

#[test]
fn verdicts_and_flags_of_the_shared_questions() {
    let questions: Value = serde_json::from_str(&shared("doors.json")).expect("it is JSON");
    let levels: Vec<String> = list(&questions["levels"]).map(Value::to_string).collect();
    let scratch = Scratch::new();
    let (mut verdicts, mut flags) = (BTreeSet::new(), BTreeSet::new());
    for case in list(&questions["cases"]) {
        let data = text(&case["data"]);
        scratch.write(data, shared(data));
        for bootstraps in list(&questions["bootstraps"]) {
            let (k, b, levels) =
                (case["components"].to_string(), bootstraps.to_string(), levels.join(","));
            let mut args = vec!["calibrate", data];
            args.extend(list(&case["asked"]).map(text));
            args.extend(["-k", &k, "-B", &b, "--level", &levels, "--format", "json", "--quiet"]);
            args.extend(["--method", "recommended,vb"]);
            if let Some(formula) = case["formula"].as_str() {
                args.extend(["--formula", formula]);
            }
            let answers = scratch.ok(&args).json();
            let rows: Vec<&Value> = list(&answers["intervals"]).collect();
            let asked = list(&case["asked"]).count() * list(&questions["levels"]).count();
            assert_eq!(rows.len(), 2 * asked, "{args:?}");
            for row in rows {
                flags.extend(list(&row["flags"]).map(text).map(str::to_owned));
                if text(&row["method"]) != "vb" {
                    assert!(row["verdict"].is_null(), "{row}");
                    continue;
                }
                let number = |name: &str| row[name].as_f64();
                let judged = || {
                    let found = (number("coverage")?, number("coverage_se").unwrap_or(0.0));
                    let limits = (number("lower")?, number("upper")?);
                    Own::judge_interval(
                        limits,
                        found,
                        number("level")?,
                        bootstraps.as_u64()? as usize,
                    )
                };
                let expected = judged().map_or(UNCHECKED, Own::words);
                assert_eq!(text(&row["verdict"]), expected, "{row}");
                verdicts.insert(expected);
            }
        }
    }
    // Every verdict is met, and what speaks against answers.
    assert_eq!(verdicts.len(), Own::ALL.len() + 1, "{verdicts:?}");
    for flag in ["few-bootstraps", "boundary", "emptied-components", "undefined-in-resamples"] {
        assert!(flags.contains(flag), "{flags:?}");
    }
}

//! The part of `cargo xtask bench` on latent classes: fits and bootstraps against StepMix.

use crate::bench::{duration, number};
use crate::command::{cargo, output, python, root, run as run_command, target};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

/// The heading of the section in the results.
const HEADING: &str = "\n## Latent classes\n";

const NOTE: &str = "
Yes-or-no items of classes that answer .8 or .2; one thread, one random start, rows in memory; medians of three. A
trustvb fit includes setting up the model, and stops at its default tolerance; its bootstraps are a table of 500 of them
and all 95% intervals. StepMix (`measurement=\"binary\"`) stops at its own tolerance, 1e-10 in the mean log likelihood;
its `bootstrap` is run 20 times (n 500) or 4 times (n 5000) and taken times as many as make 500. Log likelihoods, the best
of three starts, are at trustvb's posterior means and at StepMix's maximum.

";

/// Measures that section alone and puts it in the place of the one in `benches/RESULTS.md`.
pub(crate) fn run() -> Result<(), String> {
    let section = section()?;
    let path = root().join("benches/RESULTS.md");
    let text = fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    fs::write(&path, replaced(&text, HEADING, &section))
        .map_err(|why| format!("cannot write {}: {why}", path.display()))
}

/// The results with a section, at the end or where that of its heading was.
pub(crate) fn replaced(text: &str, heading: &str, section: &str) -> String {
    let Some(at) = text.find(heading) else { return format!("{text}{section}") };
    let after = text[at + heading.len()..].find("\n## ").map(|next| at + heading.len() + next);
    format!("{}{section}{}", &text[..at], after.map_or("", |next| &text[next..]))
}

/// Measures, and returns a section for the results.
pub(crate) fn section() -> Result<String, String> {
    let python = python("bench-venv", "benches/requirements.txt")?;
    run_command(&mut cargo(&[
        "build",
        "--release",
        "--locked",
        "--package",
        "trustvb",
        "--example",
        "bench_classes",
    ]))?;
    println!("bench: latent classes against StepMix");
    let mut compare = Command::new(&python);
    compare.arg("benches/classes.py").arg(target().join("release/examples/bench_classes"));
    compare.arg(target().join("bench-data")).current_dir(root());
    for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
        compare.env(variable, "1");
    }
    let text = table(&output(&mut compare)?)?;
    println!("{text}");
    Ok(text)
}

fn table(measured: &str) -> Result<String, String> {
    let mut text = format!(
        "{HEADING}{NOTE}\
         | times faster per fit | with 500 bootstraps | n | items | K | trustvb fit | StepMix fit | trustvb bootstraps | StepMix bootstraps | trustvb log likelihood | StepMix log likelihood |\n\
         |--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for line in measured.lines() {
        let row: Value = serde_json::from_str(line).map_err(|why| format!("{why} in: {line}"))?;
        let of = |name: &str| number(&row, name);
        let (ours, theirs) = (of("trustvb_fit")?, of("stepmix_fit")?);
        let (our_bootstraps, their_bootstraps) =
            (of("trustvb_bootstraps")?, of("stepmix_bootstraps")?);
        writeln!(
            text,
            "| {:.0} | {:.0} | {} | {} | {} | {} | {} | {} | {} | {:.1} | {:.1} |",
            theirs / ours,
            their_bootstraps / our_bootstraps,
            row["n"],
            row["items"],
            row["k"],
            duration(ours),
            duration(theirs),
            duration(our_bootstraps),
            duration(their_bootstraps),
            of("trustvb_ln_likelihood")?,
            of("stepmix_ln_likelihood")?,
        )
        .map_err(|why| why.to_string())?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::{HEADING, replaced, table};

    #[test]
    fn ratios_come_first() {
        let row = "{\"n\":500,\"items\":8,\"k\":2,\"trustvb_fit\":0.01,\"stepmix_fit\":0.5,\"trustvb_bootstraps\":0.1,\
                   \"stepmix_bootstraps\":20.0,\"trustvb_ln_likelihood\":-2510.26,\"stepmix_ln_likelihood\":-2509.9}\n";
        let text = table(row).unwrap();
        assert!(text.contains("| 50 | 200 | 500 | 8 | 2 | 10.000 ms |"), "{text}");
        assert!(table("{}\n").is_err());
    }

    #[test]
    fn a_section_takes_the_place_of_its_own() {
        let old = format!("# Benchmarks\n{HEADING}old\n\n## Other\n");
        assert_eq!(
            replaced(&old, HEADING, &format!("{HEADING}new\n")),
            format!("# Benchmarks\n{HEADING}new\n\n## Other\n")
        );
        assert_eq!(replaced("# Benchmarks\n", HEADING, "new"), "# Benchmarks\nnew");
    }
}

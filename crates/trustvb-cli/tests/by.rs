//! `--by`: each group as a file of its rows would be, failures as rows, any format.

mod common;

use common::Scratch;
use serde_json::Value;

/// Two sites with two clusters each, one with a single row, and a row without a site.
fn plants(scratch: &Scratch) {
    let (mut all, mut a) = (String::from("height,site,light\n"), String::from("height,light\n"));
    for i in 0..120 {
        let (x, y) = (f64::from(i % 11) / 7.0, f64::from(i % 7) / 5.0);
        let far = if i % 3 == 0 { 6.0 } else { 0.0 };
        let row = |site: f64| (x + far + site, y + 0.3 * x + far);
        let (height, light) = row(0.0);
        all.push_str(&format!("{height},A,{light}\n"));
        a.push_str(&format!("{height},{light}\n"));
        let (height, light) = row(20.0);
        all.push_str(&format!("{height},\"B, wet\",{light}\n"));
    }
    all.push_str("1,C,1\n2,,2\n");
    scratch.write("plants.csv", all);
    scratch.write("a.csv", a);
}

#[test]
fn a_group_is_answered_as_its_own_file_would_be() {
    let scratch = Scratch::new();
    plants(&scratch);
    let options = ["-B", "50", "--method", "recommended,vb", "--format"];
    let by = scratch
        .ok(&[&["calibrate", "plants.csv", "--by", "site"], &options[..], &["csv"]].concat());
    assert!(by.stderr.contains("left out 1 rows without a site"), "{}", by.stderr);
    assert!(by.stderr.contains("1 of 3 groups could not be fitted"), "{}", by.stderr);
    let own = scratch.ok(&[&["calibrate", "a.csv"], &options[..], &["csv"]].concat());
    let header = own.stdout.lines().next().unwrap();
    let mut rows = by.stdout.lines();
    assert_eq!(rows.next().unwrap(), format!("site,rows,{header},error"));
    let of_a: Vec<&str> = rows.clone().filter_map(|row| row.strip_prefix("A,120,")).collect();
    let expected: Vec<String> = own.stdout.lines().skip(1).map(|row| format!("{row},")).collect();
    assert_eq!(of_a, expected);
    let of_b = rows.clone().filter(|row| row.starts_with("\"B, wet\",120,")).count();
    assert_eq!(of_b, of_a.len());
    let of_c: Vec<&str> = rows.filter(|row| row.starts_with("C,1,")).collect();
    assert!(of_c.len() == 1 && of_c[0].contains("row"), "{of_c:?}");

    // The same in any number of threads, and as JSON, of which a script takes what it needs.
    let one = [
        &["calibrate", "plants.csv", "--by", "site", "--threads", "1", "-q"],
        &options[..],
        &["csv"],
    ];
    assert_eq!(scratch.ok(&one.concat()).stdout, by.stdout);
    let json = [&["calibrate", "plants.csv", "--by", "site", "-q"], &options[..], &["json"]];
    let json = scratch.ok(&json.concat()).json();
    assert_eq!(json["n_groups"], 3);
    assert_eq!(json["failed"][0]["group"], "C");
    let rows = json["intervals"].as_array().unwrap();
    assert_eq!(rows.len(), of_a.len() * 2);
    assert!(rows.iter().all(|row| row["lower"].as_f64() < row["upper"].as_f64()));
    assert_eq!(rows[0]["group"], "A");
    assert_eq!(rows[0]["recommended"], Value::Bool(true));

    // For people, a column of warnings only where there is one.
    let shown = |bootstraps| {
        let ask = ["calibrate", "plants.csv", "--by", "site", "-q", "-B", bootstraps];
        scratch.ok(&ask).stdout
    };
    assert!(shown("20").contains("warnings") && !shown("400").contains("warnings"));
}

#[test]
fn fits_by_group_and_parquet() {
    let scratch = Scratch::new();
    plants(&scratch);
    let fits = scratch.ok(&["fit", "plants.csv", "--by", "site", "--format", "csv", "-q"]).stdout;
    let own = scratch.ok(&["fit", "a.csv", "--format", "csv", "-q"]).stdout;
    let of_a: Vec<&str> = fits.lines().filter(|row| row.starts_with("A,120,converged,")).collect();
    assert_eq!(of_a.len(), own.lines().count() - 1);
    for (by, own) in of_a.iter().zip(own.lines().skip(1)) {
        assert!(by.ends_with(&format!("{own},")), "{by} {own}");
    }
    let shown = scratch.ok(&["fit", "plants.csv", "--by", "site", "-q"]).stdout;
    assert!(shown.contains("! C (1 row): "), "{shown}");
    let json = scratch.ok(&["fit", "plants.csv", "--by", "site", "--format", "json", "-q"]).json();
    assert_eq!(json["fits"][1]["group"], "B, wet");

    let ask = ["calibrate", "plants.csv", "--by", "site", "-B", "20", "-q", "-o", "sites.parquet"];
    scratch.ok(&ask);
    // Parquet that this program reads back: the numbers of one quantity and method.
    let read =
        ["fit", "sites.parquet", "-k", "1", "--columns", "lower,upper", "--drop-missing", "-q"];
    assert!(scratch.ok(&read).stdout.contains("mu[1,lower]"));
    // Done once, it is not done again.
    let aloud: Vec<&str> = ask.into_iter().filter(|word| *word != "-q").collect();
    let again = scratch.ok(&aloud);
    assert!(again.stderr.contains("sites.parquet has all 3 groups already"), "{}", again.stderr);

    let fits = ["fit", "plants.csv", "--by", "site", "-q", "-o", "fits.parquet"];
    scratch.ok(&fits);
    let read = ["fit", "fits.parquet", "-k", "1", "--columns", "lower,upper", "--drop-missing"];
    assert!(scratch.ok(&read).stdout.contains("mu[1,lower]"));
}

/// So many groups of two clusters.
fn many(scratch: &Scratch, groups: usize) {
    let mut text = String::from("site,x,y\n");
    for group in 0..groups {
        for i in 0..60 {
            let far = if i % 3 == 0 { 6.0 } else { 0.0 };
            let (x, y) = (((i * 7 + group) % 11) as f64 / 7.0, ((i * 5 + group) % 13) as f64 / 5.0);
            text.push_str(&format!("s{group},{},{}\n", x + far, y + far));
        }
    }
    scratch.write("many.csv", text);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_goes_on_to_the_same_bytes() {
    let scratch = Scratch::new();
    many(&scratch, 70);
    let ask = |seed: &'static str, threads: &'static str, file: &'static str| {
        let by = ["calibrate", "many.csv", "--by", "site", "-B", "60", "--seed", seed];
        [&by[..], &["--threads", threads, "-o", file]].concat()
    };
    scratch.ok(&ask("1", "2", "whole.parquet"));
    let child = scratch.spawn(&ask("1", "1", "cut.parquet"));
    let parts = scratch.path("cut.parquet.parts");
    while common::parts(&parts) == 0 && !scratch.path("cut.parquet").exists() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    // It may have come to its end meanwhile, which a signal no longer changes.
    let _ = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    let cut = common::finish(child);
    if cut.code != Some(0) {
        assert_eq!(cut.code, Some(130), "{}", cut.stderr);
        let kept = "what is done is in cut.parquet.parts, and the same command goes on from there";
        assert!(cut.stderr.contains(kept), "{}", cut.stderr);
        assert!(!scratch.path("cut.parquet").exists());
        let other = scratch.run(&ask("2", "2", "cut.parquet"));
        assert_eq!(other.code, Some(1));
        let said = ["settings.seed is 1, here it is 2", "remove cut.parquet.parts to begin again"];
        assert!(said.iter().all(|words| other.stderr.contains(words)), "{}", other.stderr);
        let rest = scratch.ok(&ask("1", "2", "cut.parquet"));
        assert!(rest.stderr.contains("of 70 groups are in cut.parquet.parts"), "{}", rest.stderr);
    }
    assert!(!parts.exists());
    let bytes = |file: &str| std::fs::read(scratch.path(file)).unwrap();
    assert!(bytes("whole.parquet") == bytes("cut.parquet"), "the files differ");
}

#[test]
fn what_is_wrong_with_every_group_is_wrong_with_the_command() {
    let scratch = Scratch::new();
    plants(&scratch);
    let run = scratch.run(&["calibrate", "plants.csv", "--by", "place"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("--by place") && run.stderr.contains("site"), "{}", run.stderr);
    let run = scratch.run(&["calibrate", "plants.csv", "nu[1]", "--by", "site"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("none of 3 groups could be fitted"), "{}", run.stderr);
    let run = scratch.run(&["calibrate", "plants.csv", "--by", "site", "--plot", "x.svg"]);
    assert_eq!(run.code, Some(2));
}

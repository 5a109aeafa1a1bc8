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

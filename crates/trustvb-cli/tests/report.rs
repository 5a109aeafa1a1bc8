//! Reports: complete, small, the same every time, and true about how they were made.

mod common;

use common::Scratch;

/// The text of the element with an id, as a reader sees it.
fn element(html: &str, id: &str) -> String {
    let start = html.find(&format!("id=\"{id}\"")).unwrap_or_else(|| panic!("no {id}"));
    let inside = &html[start..];
    let inside = &inside[inside.find('>').expect("a tag ends") + 1..];
    plain(&inside[..inside.find("</").expect("an element ends")])
}

fn plain(escaped: &str) -> String {
    escaped.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// Words of a command line, as a shell makes them.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words
}

fn run_line(scratch: &Scratch, line: &str) {
    let words = words(line);
    assert_eq!(words[0], "trustvb", "{line}");
    scratch.ok(&words[1..].iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn the_default_run_makes_a_small_complete_file() {
    let scratch = Scratch::new();
    scratch.ok(&["table", "build", "-o", "faithful.tvb", "--quiet"]);
    scratch.ok(&["report", "faithful.tvb", "-o", "report.html"]);
    let html = scratch.read("report.html");
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    let mut at = 0;
    for id in ["answer", "intervals", "quantities", "q1", "q6", "model", "again", "cite"] {
        let here = html.find(&format!("id=\"{id}\"")).unwrap_or_else(|| panic!("no {id}"));
        assert!(here > at, "{id} is out of order");
        at = here;
    }
    for text in
        ["arXiv 2512.22655", "seed", "50700, all converged", "data:text/csv", "@media print"]
    {
        assert!(html.contains(text), "no {text}");
    }
    // The only addresses are names: of a language, not of a place.
    let addresses = html.matches("http").count();
    let names = html.matches("http-equiv").count()
        + html.matches("xmlns=\"http://www.w3.org/2000/svg\"").count();
    assert_eq!(addresses, names);
    scratch.ok(&["report", "faithful.tvb", "-o", "again.html", "--threads", "1"]);
    assert!(html == scratch.read("again.html"), "the same report twice differs");
    let line = element(&html, "again-report").replace("report.html", "third.html");
    run_line(&scratch, &line);
    assert_eq!(
        element(&scratch.read("third.html"), "again-report"),
        element(&html, "again-report")
    );
}

/// Text without tags.
fn visible(html: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside => text.push(c),
            _ => {}
        }
    }
    plain(&text)
}

#[test]
fn the_answer_is_said_first_and_each_thing_once() {
    let scratch = Scratch::new();
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/data/overlap.csv");
    scratch.write("overlap.csv", std::fs::read(data).unwrap());
    let build = ["table", "build", "overlap.csv", "--grid", "20", "-B", "60", "-o", "overlap.tvb"];
    scratch.ok(&build);
    scratch.ok(&["report", "overlap.tvb", "-o", "report.html", "-q"]);
    let html = scratch.read("report.html");
    let answers =
        ["interval", "overlap.tvb", "pi[1]", "pi[2]", "mu[1,1]", "mu[1,2]", "mu[2,1]", "mu[2,2]"];
    let json = scratch.ok(&[&answers[..], &["--method", "vb", "--format", "json"]].concat()).json();
    // The verdict has the range of VB's coverages, each row its own.
    let covers: Vec<f64> = json["intervals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| (100.0 * a["coverage"].as_f64().unwrap()).round())
        .collect();
    let (low, high) = (
        covers.iter().copied().fold(f64::INFINITY, f64::min),
        covers.iter().copied().fold(0.0, f64::max),
    );
    let verdict = element(&html, "answer-title");
    assert_eq!(
        verdict,
        format!("VB's 95% intervals are too short for all 6 quantities: they cover {low}–{high}%.")
    );
    for share in covers {
        assert!(html.contains(&format!("VB claims 95%, covers {share}%")), "{share}");
    }
    // The answer's table comes before everything else, and a warning is said once.
    let table = html.find("id=\"answer-table\"").expect("the answer's table");
    assert!(html.find("id=\"answer-title\"").unwrap() < table);
    assert!(table < html.find("id=\"intervals-table\"").unwrap());
    let text = visible(&html);
    assert_eq!(text.matches("nly 60 bootstraps: the estimated coverage is uncertain").count(), 1);
    // Quantities are folded, and the second weight, which is one minus the first, has no section of its own.
    assert_eq!(html.matches("<article").count(), 5);
    assert!(!html.contains("<details open") && html.matches("<details").count() >= 6);
    // Figures round as the tables do.
    let start = html.find("id=\"intervals-table\"").unwrap();
    let cells = &html[start..];
    let cells = &cells[cells.find("<tbody>").unwrap()..];
    let numbers: Vec<String> = cells
        .split("<td class=\"number\">")
        .skip(1)
        .take(3)
        .map(|cell| cell[..cell.find('<').unwrap()].to_owned())
        .collect();
    let drawn = format!("{} [{}, {}]", numbers[0], numbers[1], numbers[2]);
    assert!(html.contains(&drawn), "{drawn}");
}

#[test]
fn a_report_tells_how_its_table_was_made() {
    let scratch = Scratch::new();
    scratch.take("bmlr_small.csv");
    scratch.take("iris.csv");
    scratch.write("DATA.csv", std::fs::read(common::fixture("bmlr_small.csv")).unwrap());
    scratch.write("prior.toml", "alpha0 = 2.0\nm0 = [3.0, 70.0]\n");
    scratch.write("centres.csv", "eruptions,waiting\n2,54\n4.3,80\n");
    let formula = ["--formula", "y ~ 0 + x1 + x2 | group"];
    let cases: [&[&str]; 9] = [
        &[],
        &["--method", "tempered"],
        &[
            "-k",
            "3",
            "--prior",
            "paper",
            "--match",
            "weight",
            "--tolerance",
            "1e-6",
            "--starts",
            "3",
        ],
        &["--method", "analytic"],
        &["--method", "anchored", "--omega-min", "0.01", "--restarts", "2", "--seed", "9"],
        &["--published"],
        &[
            "--prior",
            "prior.toml",
            "--centres",
            "centres.csv",
            "--max-sweeps",
            "500",
            "--acceleration",
            "0",
        ],
        &[
            "iris.csv",
            "--columns",
            "1,2,3",
            "--method",
            "tvb",
            "--fresh-splits",
            "--update",
            "as-printed",
        ],
        &["bmlr_small.csv", formula[0], formula[1], "--noise", "known=2"],
    ];
    for (i, case) in cases.iter().enumerate() {
        let name = format!("case{i}.tvb");
        let mut build = vec!["table", "build"];
        build.extend(*case);
        build.extend(["-o", &name, "--grid", "4", "-B", "6", "--quiet"]);
        scratch.ok(&build);
        scratch.ok(&["report", &name, "pi[1]", "-o", "report.html", "--quiet"]);
        let html = scratch.read("report.html");
        let line = element(&html, "again-table");
        std::fs::remove_dir_all(scratch.path("again.tvb")).ok();
        run_line(&scratch, &line);
        let (old, new) = (format!("{name}/manifest.json"), "again.tvb/manifest.json");
        assert_eq!(scratch.read(&old), scratch.read(new), "{line}");
    }
}

#[test]
fn what_a_table_lacks_is_said() {
    let scratch = Scratch::new();
    let build = ["table", "build", "--grid", "4", "-B", "20", "--quiet"];
    scratch.ok(&[&build[..], &["-o", "bare.tvb", "--without-data"]].concat());
    scratch.ok(&["report", "bare.tvb", "log(mu[1,1] - 4)", "-o", "bare.html", "--quiet"]);
    let html = scratch.read("bare.html");
    assert!(html.contains("built without the data"));
    assert!(html.contains("few-bootstraps"));
    scratch.take("iris.csv");
    let columns = ["--columns", "1,2,3,4", "-k", "2"];
    scratch.ok(&[&build[..], &["iris.csv", "-o", "iris.tvb"], &columns].concat());
    scratch.ok(&["report", "iris.tvb", "mu[1,]", "--level", "0.5,0.9", "-o", "iris.html", "-q"]);
    let html = scratch.read("iris.html");
    assert!(html.contains("Scatter matrix of "));
    assert!(html.contains("<title>iris: calibrated 50% and 90% intervals</title>"));
}

#[test]
fn a_failed_report_leaves_the_old_one() {
    let scratch = Scratch::new();
    scratch.ok(&["table", "build", "-o", "small.tvb", "--grid", "3", "-B", "10", "--quiet"]);
    scratch.write("mine.html", "mine");
    assert_eq!(scratch.run(&["report", "small.tvb", "pi[9]", "-o", "mine.html"]).code, Some(2));
    assert_eq!(scratch.run(&["report", "none.tvb", "-o", "mine.html"]).code, Some(1));
    assert_eq!(scratch.read("mine.html"), "mine");
    scratch.ok(&["report", "small.tvb", "-o", "mine.html", "-q"]);
    assert!(scratch.read("mine.html").starts_with("<!DOCTYPE html>"));
}

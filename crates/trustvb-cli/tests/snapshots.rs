//! Every output format of every command, numbers to the digits that no instruction set changes.

mod common;
#[path = "common/server.rs"]
mod server;

use common::Scratch;
use serde_json::{Number, Value, json as value};
use server::Server;

/// Tight enough that the last digits shown do not depend on where a fit stops.
const SMALL: [&str; 6] = ["--grid", "25", "-B", "60", "--tolerance", "1e-12"];

const QUANTITIES: [&str; 3] = ["pi[1]", "mu[1,] - mu[2,]", "log(sd[1,waiting])"];

/// What counts sweeps or rounding errors, and so may differ between instruction sets.
const VOLATILE: [&str; 5] = ["iterations", "change", "sweeps", "extra_fits", "seconds"];

/// `x` to six significant digits.
fn rounded(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

fn settle(value: Value) -> Value {
    match value {
        Value::Number(n) if n.is_f64() => {
            n.as_f64().and_then(|x| Number::from_f64(rounded(x))).map_or(Value::Null, Value::Number)
        }
        Value::Array(list) => Value::Array(list.into_iter().map(settle).collect()),
        Value::Object(map) => map
            .into_iter()
            .map(|(key, value)| {
                let volatile = VOLATILE.contains(&key.as_str());
                let value = if volatile { Value::from("[volatile]") } else { settle(value) };
                (key, value)
            })
            .collect(),
        other => other,
    }
}

/// JSON without commas, with lists of numbers on one line.
fn json(text: &str) -> String {
    let value: Value = serde_json::from_str(text).expect("JSON");
    let mut out = String::new();
    lay_out(&settle(value), 0, &mut out);
    out
}

fn lay_out(value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth + 1);
    let end = "  ".repeat(depth);
    let nested = |v: &Value| v.is_array() || v.is_object();
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push_str("{\n");
            for (key, value) in map {
                out.push_str(&format!("{indent}{key:?}: "));
                lay_out(value, depth + 1, out);
                out.push('\n');
            }
            out.push_str(&format!("{end}}}"));
        }
        Value::Array(list) if list.iter().any(nested) => {
            out.push_str("[\n");
            for value in list {
                out.push_str(&indent);
                lay_out(value, depth + 1, out);
                out.push('\n');
            }
            out.push_str(&format!("{end}]"));
        }
        other => out.push_str(&other.to_string()),
    }
}

/// CSV with every number rounded.
fn csv(text: &str) -> String {
    text.lines()
        .map(|line| {
            let cells: Vec<String> = line
                .split(',')
                .map(|cell| match cell.parse::<f64>() {
                    Ok(x) if cell.contains('.') => rounded(x).to_string(),
                    _ => cell.to_owned(),
                })
                .collect();
            cells.join(",") + "\n"
        })
        .collect()
}

fn filters() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"in \d+ sweeps \(last change [0-9.e-]+\)", "in [n] sweeps");
    settings.add_filter(r"trustvb \d+\.\d+\.\d+", "trustvb [version]");
    settings.add_filter(r#""(version|library)": "[^"]+""#, "\"$1\": \"[version]\"");
    settings.add_filter(r"[0-9.]+ sweeps per fit", "[n] sweeps per fit");
    settings
}

fn in_format(scratch: &Scratch, args: &[&str], format: &str) -> String {
    let mut all = args.to_vec();
    all.extend(["--format", format]);
    let run = scratch.ok(&all);
    assert_eq!(run.stderr, "");
    match format {
        "json" => json(&run.stdout),
        "csv" => csv(&run.stdout),
        _ => run.stdout,
    }
}

fn snapshots(scratch: &Scratch, name: &str, args: &[&str]) {
    filters().bind(|| {
        for format in ["table", "json", "csv"] {
            insta::assert_snapshot!(format!("{name}_{format}"), in_format(scratch, args, format));
        }
    });
}

#[test]
fn fit() {
    snapshots(&Scratch::new(), "fit", &["fit", "--omega", "0.5"]);
}

#[test]
fn fit_of_diagonal_covariances() {
    let args = ["fit", "--covariance", "diagonal", "--tolerance", "1e-12"];
    snapshots(&Scratch::new(), "fit_diagonal", &args);
}

#[test]
fn select() {
    let args = ["select", "-k", "1:3", "--covariance", "full,tied", "--tolerance", "1e-12"];
    snapshots(&Scratch::new(), "select", &args);
}

#[test]
fn fit_of_a_regression() {
    let scratch = Scratch::new();
    scratch.take("bmlr_small.csv");
    snapshots(
        &scratch,
        "fit_bmlr",
        &["fit", "bmlr_small.csv", "--formula", "y ~ 0 + x1 + x2 | group"],
    );
}

#[test]
fn calibrate() {
    let mut args = vec!["calibrate", "--level", "0.9,0.95"];
    args.extend(SMALL);
    args.extend(QUANTITIES);
    let scratch = Scratch::new();
    filters().bind(|| {
        for format in ["table", "csv"] {
            insta::assert_snapshot!(
                format!("calibrate_{format}"),
                in_format(&scratch, &args, format)
            );
        }
        args.push("--all-methods");
        insta::assert_snapshot!("calibrate_all_methods", in_format(&scratch, &args, "table"));
        let mut args = vec!["calibrate", "pi[1]", "sd[1,1]/sd[2,1]"];
        args.extend(SMALL);
        insta::assert_snapshot!("calibrate_json", in_format(&scratch, &args, "json"));
    });
}

#[test]
fn interval_and_table_info() {
    let scratch = Scratch::new();
    let mut build = vec!["table", "build", "-o", "faithful.tvb"];
    build.extend(SMALL);
    scratch.ok(&build);
    snapshots(
        &scratch,
        "interval",
        &["interval", "faithful.tvb", "logit(pi[1])", "--level", "0.9", "--method", "vb,tvb"],
    );
    snapshots(&scratch, "table_info", &["table", "info", "faithful.tvb"]);
    let mut shard = vec!["table", "build", "-o", "shard.tvb", "--shard", "1/3", "--without-data"];
    shard.extend(SMALL);
    scratch.ok(&shard);
    filters().bind(|| {
        let info = in_format(&scratch, &["table", "info", "shard.tvb"], "table");
        insta::assert_snapshot!("table_info_incomplete", info);
    });
}

/// A page as lines of text and tags: drawings by their titles, without styles, scripts and what is volatile.
fn outline(html: &str) -> String {
    let mut text = html.to_owned();
    for (open, close) in [("<style", "</style>"), ("<script", "</script>")] {
        text = without(&text, open, close, |_| String::new());
    }
    text = without(&text, "<svg", "</svg>", |svg| format!("[drawing: {}]", drawing(svg)));
    text = without(&text, "href=\"data:", "\"", |_| "href=\"[data]\"".to_owned());
    text = without(&text, "<meta http-equiv", ">", |_| "<meta [policy]>".to_owned());
    let mut lines = String::new();
    for tag in ["<p", "<h", "<t", "<li", "<d", "<s", "<m", "<a", "<f", "<b"] {
        text = text.replace(tag, &format!("\n{tag}"));
    }
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        lines.push_str(line);
        lines.push('\n');
    }
    lines
}

/// What a drawing says of itself.
fn drawing(svg: &str) -> &str {
    let title = svg.split_once("<title>").map_or("", |(_, rest)| rest);
    title.split("</title>").next().unwrap_or_default()
}

/// The text with every stretch between two marks replaced.
fn without(text: &str, open: &str, close: &str, by: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find(open) {
        let inside = begin + open.len();
        let end = rest[inside..].find(close).map_or(rest.len(), |end| inside + end + close.len());
        out.push_str(&rest[..begin]);
        out.push_str(&by(&rest[begin..end]));
        rest = &rest[end..];
    }
    out + rest
}

#[test]
fn report_and_explorer() {
    let scratch = Scratch::new();
    let mut build = vec!["table", "build", "-o", "faithful.tvb", "-q"];
    build.extend(SMALL);
    scratch.ok(&build);
    scratch.ok(&["report", "faithful.tvb", "pi[1]", "mu[1,]", "-o", "report.html", "-q"]);
    let mut settings = filters();
    settings.add_filter(r"\b[0-9a-f]{64}\b", "[hash]");
    settings.add_filter(r"[0-9.]+ sweeps", "[n] sweeps");
    settings.bind(|| {
        insta::assert_snapshot!("report_page", outline(&scratch.read("report.html")));
        let server = Server::start(&scratch, &["faithful.tvb"]);
        let list = ["pi[1]", "pi[2]", "mu[1,]", "mu[2,]", "nonsense["];
        let question =
            value!({ "table": 0, "functionals": list, "level": 0.95, "methods": ["vb", "balanced"] });
        let (status, body) = server.ask("/api/overview", &question);
        assert_eq!(status, 200, "{body}");
        let mut overview: Value = serde_json::from_str(&body).expect("JSON");
        for row in overview["rows"].as_array_mut().expect("rows") {
            for name in ["pair", "bar"] {
                let title = drawing(row[name].as_str().expect("a drawing")).to_owned();
                row[name] = Value::from(format!("[drawing: {title}]"));
            }
        }
        insta::assert_snapshot!("explorer_overview", json(&overview.to_string()));
    });
}

/// Two methods whose number of fits no rounding changes.
const STUDY: &str = r#"
title = "Two Gaussians"
replications = 12
bootstraps = 40
grid = 9
tolerance = 1e-12
levels = [0.9, 0.95]
methods = ["vb", "tvb", "anchored", "bootstrap"]
quantities = ["pi[1]"]

[[design]]
name = "near"
simulate = { model = "gmm", n = 100, separation = 2.5 }
"#;

#[test]
fn study() {
    let scratch = Scratch::new();
    scratch.write("near.toml", STUDY);
    let mut settings = filters();
    // Wall seconds differ from run to run, and with them the widths of columns.
    settings.add_filter(r" +", " ");
    settings.add_filter(r"(\d) [0-9.e-]+ (\d+%)", "$1 [seconds] $2");
    settings.bind(|| {
        for format in ["table", "json", "csv"] {
            let mut text = in_format(&scratch, &["study", "near.toml"], format);
            if format == "csv" {
                let without = |line: &str| line.rsplit_once(',').map(|l| l.0.to_owned() + "\n");
                text = text.lines().filter_map(without).collect();
            }
            insta::assert_snapshot!(format!("study_{format}"), text);
        }
    });
}

//! The explorer as people use it: the first screen, questions by key and pointer, levels, methods, exports.

use crate::checks::{assert_accessible, assert_nothing_cut};
use crate::common::Scratch;
use crate::driver::Browser;
use crate::pictures;
use crate::server::Server;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const DIFFERENCE: &str = "mu[1,waiting] - mu[2,waiting]";
const FRESH: &str =
    "!document.querySelector('.stale') && !document.querySelector('[aria-busy=true]')";

/// The script that tests the page's own functions, in the page.
const STATE_TESTS: &str = include_str!("state.test.js");

/// Waits for a file that the browser saves, and for its end.
fn downloaded(browser: &Browser, name: &str) -> PathBuf {
    let path = browser.downloads().join(name);
    let began = Instant::now();
    while !path.exists() {
        assert!(began.elapsed() < Duration::from_secs(30), "{name} was not saved");
        std::thread::sleep(Duration::from_millis(50));
    }
    path
}

fn text(browser: &Browser, selector: &str) -> String {
    let found =
        browser.run("return document.querySelector(arguments[0])?.textContent", json!([selector]));
    found.as_str().unwrap_or_default().to_owned()
}

/// The numbers of one method as the open row has them.
fn shown(browser: &Browser, method: &str) -> Vec<String> {
    let row = browser.run(
        "return [...document.querySelectorAll(`tr[data-method=${arguments[0]}] data`)].map((d) => d.value)",
        json!([method]),
    );
    row.as_array().expect("a row").iter().map(|v| v.as_str().unwrap_or("").to_owned()).collect()
}

fn opened(browser: &Browser, label: &str) {
    browser.wait(&format!(
        "document.querySelector('.part h3 code')?.textContent === '{label}' && {FRESH}"
    ));
}

fn start() -> (Scratch, Server, Browser) {
    let scratch = Scratch::new();
    scratch.ok(&["table", "build", "-o", "faithful.tvb", "--grid", "60", "-B", "100"]);
    scratch.ok(&["table", "build", "-o", "three.tvb", "-k", "3", "--grid", "20", "-B", "40"]);
    let server = Server::start(&scratch, &["faithful.tvb", "three.tvb"]);
    let browser = Browser::start();
    browser.look(1280, 900, "light");
    browser.open(&server.url);
    browser.wait(&format!("document.querySelectorAll('.quantity').length === 6 && {FRESH}"));
    (scratch, server, browser)
}

#[test]
#[ignore = "needs Chromium: `cargo xtask test` installs and runs it"]
fn the_first_screen_is_the_answer() {
    let (scratch, _server, browser) = start();
    assert_eq!(browser.run_async(STATE_TESTS, json!([])), json!([]), "the page's own functions");
    let verdict = text(&browser, ".verdict");
    assert!(verdict.contains("VB's own 95% intervals"), "{verdict}");
    let seen = browser.run(
        "return [...document.querySelectorAll('.quantity')].map((row) => ({
           plain: row.querySelector('.plain').textContent, code: row.querySelector('code').textContent,
           numbers: [...row.querySelectorAll('data')].map((d) => d.value),
           covers: row.querySelector('.bar-cell title').textContent, drawn: row.querySelectorAll('svg').length,
           seen: row.getBoundingClientRect().bottom < 900 }))",
        json!([]),
    );
    let labels =
        ["pi[1]", "pi[2]", "mu[1,eruptions]", "mu[1,waiting]", "mu[2,eruptions]", "mu[2,waiting]"];
    let command = ["--method", "balanced,vb", "--format", "json"];
    let answer =
        scratch.ok(&[&["interval", "faithful.tvb"], &labels[..], &command].concat()).json();
    let expected = answer["intervals"].as_array().expect("intervals");
    for (i, row) in seen.as_array().expect("rows").iter().enumerate() {
        assert_eq!(row["code"], labels[i]);
        let (used, own) = (&expected[2 * i], &expected[2 * i + 1]);
        let limits = format!("{},{}", used["lower"], used["upper"]);
        assert_eq!(row["numbers"], json!([used["estimate"].to_string(), limits]), "{row}");
        let covers = 100.0 * own["coverage"].as_f64().expect("VB's coverage");
        assert_eq!(row["covers"], format!("VB claims 95%, covers {covers:.0}%"));
        assert_eq!((&row["drawn"], &row["seen"]), (&json!(2), &json!(true)), "{row}");
    }
    assert_eq!(seen[3]["plain"], "mean of waiting in component 1");
    // Methods are behind a menu, and nothing is open.
    let quiet = browser.run(
        "return [document.querySelector('#methods-menu').open, document.querySelectorAll('.part').length]",
        json!([]),
    );
    assert_eq!(quiet, json!([false, 0]));
    for (name, width, scheme) in [
        ("explore-first", 1280, "light"),
        ("explore-first-dark", 1280, "dark"),
        ("explore-first-narrow", 390, "light"),
        ("explore-first-narrow-dark", 390, "dark"),
    ] {
        browser.look(width, 900, scheme);
        browser.picture(&pictures().join(format!("{name}.png")), true);
        assert_nothing_cut(&browser, width, name);
        assert_accessible(&browser);
        for menu in ["level-menu", "methods-menu", "export-menu"] {
            let open = "document.getElementById(arguments[0]).open = arguments[1]";
            browser.run(open, json!([menu, true]));
            assert_nothing_cut(&browser, width, menu);
            assert_accessible(&browser);
            browser.run(open, json!([menu, false]));
        }
    }
    browser.look(1280, 900, "light");

    // A row opens densities and curve; Back goes to the last quantity.
    browser.click(".quantity:nth-child(1) .open");
    opened(&browser, "pi[1]");
    assert_eq!(
        browser.run("return document.querySelectorAll('.part .figures svg').length", json!([])),
        2
    );
    assert_accessible(&browser);
    browser.picture(&pictures().join("explore-open.png"), true);
    browser.run("[...document.querySelectorAll('.open')].at(-1).click()", json!([]));
    opened(&browser, "mu[2,waiting]");
    browser.back();
    opened(&browser, "pi[1]");
    browser.clear("#functional");
    browser.type_into("#functional", "log(pi[2])");
    opened(&browser, "log(pi[2])");
    // However many keys it took, typing is one step.
    browser.back();
    opened(&browser, "pi[1]");
    assert_eq!(
        browser.run("return document.getElementById('functional').value", json!([])),
        "pi[1]"
    );
    browser.back();
    browser.wait(&format!("document.querySelectorAll('.part').length === 0 && {FRESH}"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium: `cargo xtask test` installs and runs it"]
fn questions_levels_and_methods() {
    let (scratch, server, browser) = start();
    // Completion knows other names, says what things mean, and is used by keys.
    for (typed, first) in [
        ("π", "pi weight of a component"),
        ("weigh", "pi weight of a component"),
        ("μ", "mu mean of a column in a component"),
        ("wai", "mu[1,waiting] mean of waiting in component 1"),
    ] {
        browser.clear("#functional");
        browser.type_into("#functional", typed);
        browser
            .wait(&format!("document.querySelector('#completions li')?.textContent === '{first}'"));
        assert_accessible(&browser);
    }
    browser.picture(&pictures().join("explore-completion.png"), false);
    browser.type_into("#functional", "\u{e015}\u{e007}");
    assert_eq!(
        browser.run("return document.getElementById('functional').value", json!([])),
        "mu[1,waiting]"
    );
    browser.clear("#functional");
    browser.type_into("#functional", "π[1]");
    opened(&browser, "pi[1]");
    assert!(text(&browser, "#law").starts_with("Read as pi[1]."), "{}", text(&browser, "#law"));
    browser.clear("#functional");
    browser.type_into("#functional", "mu[1,waiting] - mu[2,waiting");
    browser.wait("!document.getElementById('problem').hidden");
    assert!(text(&browser, "#problem").contains("never closed"));
    browser.picture(&pictures().join("explore-problem.png"), false);
    browser.type_into("#functional", "]\u{e00c}");
    opened(&browser, DIFFERENCE);

    // A level of 90 is 0.9; what is none is said, and changes nothing.
    browser.click("#level-menu summary");
    browser.clear("#level");
    browser.type_into("#level", "90");
    browser.wait("document.getElementById('level-shown').textContent === '90%'");
    browser.wait(&format!(
        "document.querySelector('.use').textContent === 'Use this 90% interval' && {FRESH}"
    ));
    assert!(browser.url().contains("level=0.9"), "{}", browser.url());
    for wrong in ["abc", "100", "-1"] {
        browser.clear("#level");
        browser.type_into("#level", wrong);
        browser.wait("!document.getElementById('level-problem').hidden");
        let said = text(&browser, "#level-problem");
        assert!(said.contains(wrong) && said.contains("0.95"), "{said}");
    }
    assert_eq!(text(&browser, "#level-shown"), "10%", "the last readable one while 100 was typed");
    browser.clear("#level");
    browser.type_into("#level", "0.9");
    browser.wait("document.getElementById('level-problem').hidden");
    opened(&browser, DIFFERENCE);

    // The numbers are those of the command.
    let run = scratch.ok(&[
        "interval",
        "faithful.tvb",
        DIFFERENCE,
        "--level",
        "0.9",
        "--method",
        "balanced,vb,tvb",
        "--format",
        "json",
    ]);
    let expected = run.json();
    let intervals = expected["intervals"].as_array().expect("intervals");
    assert_eq!(intervals.len(), 3);
    for interval in intervals {
        let method = interval["method"].as_str().expect("a method");
        let row = shown(&browser, method);
        for (i, field) in ["estimate", "lower", "upper", "omega", "coverage"].iter().enumerate() {
            // A method without a curve has no coverage, and its cell no number.
            let seen: Option<f64> = row[i].parse().ok();
            assert_eq!(seen, interval[field].as_f64(), "{method} {field}");
        }
    }

    // What is old is dimmed in the same moment, headline included, and can still be read.
    let dimmed = browser.run(
        "const slider = document.getElementById('slider');
         const before = getComputedStyle(document.querySelector('.verdict')).color;
         slider.value = 0.8;
         slider.dispatchEvent(new Event('input', { bubbles: true }));
         return [before !== getComputedStyle(document.querySelector('.verdict')).color,
           document.querySelector('.verdict').closest('.stale') !== null,
           document.querySelector('.details').classList.contains('stale')];",
        json!([]),
    );
    assert_eq!(dimmed, json!([true, true, true]));
    browser.run(
        "document.querySelectorAll('.overview, .details').forEach((n) => n.classList.add('stale'))",
        json!([]),
    );
    assert_accessible(&browser);
    browser.wait(&format!(
        "document.querySelector('.use').textContent === 'Use this 80% interval' && {FRESH}"
    ));
    browser.run("document.getElementById('level-menu').open = false", json!([]));

    // The last method can be unchecked: the rows stay, and a sentence says what that means.
    browser.click("#methods-menu summary");
    for method in ["balanced", "vb", "tvb"] {
        browser.click(&format!("#methods input[value={method}]"));
    }
    browser.wait(
        "document.getElementById('methods-said').textContent.startsWith('No method is chosen')",
    );
    browser.wait(FRESH);
    let left = browser.run(
        "return [document.querySelectorAll('#methods input:checked').length, document.querySelectorAll('.quantity').length]",
        json!([]),
    );
    assert_eq!(left, json!([0, 7]));
    assert!(browser.url().contains("m=&") || browser.url().ends_with("m="), "{}", browser.url());
    browser.click("#methods input[value=tempered]");
    browser.wait("document.querySelector('.forest svg')");
    assert_accessible(&browser);
    browser.click("#usual");
    browser.wait("document.querySelectorAll('#methods input:checked').length === 3");
    browser.run("document.getElementById('methods-menu').open = false", json!([]));
    assert_eq!(browser.complaints(), Vec::<String>::new());

    // A server that has gone is said, and what stands there is dimmed.
    drop(server);
    browser.run(
        "const slider = document.getElementById('slider');
         slider.value = 0.7; slider.dispatchEvent(new Event('input', { bubbles: true }));",
        json!([]),
    );
    browser.wait("!document.getElementById('unreachable').hidden");
    assert!(text(&browser, "#unreachable").contains("does not answer"));
    browser.wait("document.querySelector('.overview').classList.contains('stale')");
    browser.picture(&pictures().join("explore-unreachable.png"), false);
    assert_accessible(&browser);
}

#[test]
#[ignore = "needs Chromium: `cargo xtask test` installs and runs it"]
fn what_is_shown_is_kept_and_exported() {
    let (scratch, server, browser) = start();
    let query = DIFFERENCE.replace(' ', "%20");
    browser.open(&format!("{}?h={query}&level=90", server.url));
    opened(&browser, DIFFERENCE);
    browser.click("#keep");
    browser.wait("!document.querySelector('.quantity .drop').hidden");
    browser.clear("#functional");
    browser.type_into("#functional", "sd[1,1]\u{e00c}");
    opened(&browser, "sd[1,eruptions]");

    // The view can be bookmarked, and the kept quantities with it.
    let bookmark = browser.url();
    assert!(bookmark.contains("level=0.9") && bookmark.contains("h=sd[1,1]"), "{bookmark}");
    browser.open("about:blank");
    browser.open(&bookmark);
    opened(&browser, "sd[1,eruptions]");
    let rows = browser.run(
        "return [...document.querySelectorAll('.quantity code')].map((c) => c.textContent)",
        json!([]),
    );
    let shown = [
        "sd[1,eruptions]",
        DIFFERENCE,
        "pi[1]",
        "pi[2]",
        "mu[1,eruptions]",
        "mu[1,waiting]",
        "mu[2,eruptions]",
        "mu[2,waiting]",
    ];
    assert_eq!(rows, json!(shown));

    // Exports have what is shown, all of it, as the command beside it writes it.
    let command = text(&browser, ".command code");
    assert!(
        command.starts_with(
            "trustvb interval faithful.tvb 'sd[1,1]' 'mu[1,waiting] - mu[2,waiting]' 'pi[1]'"
        ),
        "{command}"
    );
    assert!(command.ends_with("--level 0.9 --method balanced,vb,tvb"), "{command}");
    let mut asked = shown;
    asked[0] = "sd[1,1]";
    let options = ["--level", "0.9", "--method", "balanced,vb,tvb"];
    let saved = |format: &str, name: &str| {
        browser.run("document.getElementById('export-menu').open = true", json!([]));
        browser.click(&format!("[data-format={format}]"));
        fs::read(downloaded(&browser, name)).expect("a saved file")
    };
    for (format, name) in [("json", "intervals.json"), ("csv", "intervals.csv")] {
        let args =
            [&["interval", "faithful.tvb"], &asked[..], &options, &["--format", format]].concat();
        let bytes = saved(format, name);
        assert_eq!(String::from_utf8(bytes.clone()).unwrap(), scratch.ok(&args).stdout);
        if format == "json" {
            let found: Value = serde_json::from_slice(&bytes).expect("JSON");
            assert_eq!(found["intervals"].as_array().map(Vec::len), Some(3 * shown.len()));
        }
    }
    assert!(saved("png", "intervals.png").starts_with(b"\x89PNG"));
    assert!(saved("svg", "intervals.svg").starts_with(b"<svg"));
    let by_command =
        [&["report", "faithful.tvb"], &asked[..], &options, &["-o", "by-command.html"]].concat();
    scratch.ok(&by_command);
    assert!(
        saved("report", "report.html") == scratch.read("by-command.html").into_bytes(),
        "the reports differ"
    );

    // Two tables side by side: a quantity that one lacks is its own affair.
    browser.click("#tables label:nth-of-type(2) input");
    browser.wait(&format!("document.querySelectorAll('.card .part').length === 2 && {FRESH}"));
    browser.clear("#functional");
    browser.type_into("#functional", "pi[3]\u{e00c}");
    browser.wait("!document.getElementById('problem').hidden");
    browser.clear("#functional");
    browser.type_into("#functional", "cor[2,1,2]\u{e00c}");
    browser.wait(&format!("document.querySelectorAll('.card .part').length === 2 && {FRESH}"));
    assert_accessible(&browser);
    browser.look(1500, 1000, "dark");
    browser.picture(&pictures().join("explore-two-dark.png"), true);
    browser.look(390, 844, "light");
    browser.picture(&pictures().join("explore-narrow.png"), true);
    let wide = browser.run("return document.documentElement.scrollWidth", json!([]));
    assert!(wide.as_u64().unwrap() <= 390, "the page is {wide} pixels wide in a window of 390");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

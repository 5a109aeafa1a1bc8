//! The explorer and the report in a real browser.
//!
//! `cargo xtask test` installs Chromium if need be and runs these tests; a plain `cargo test` lists
//! them as ignored. Pictures of what was seen stay in `target/browser`.

#[path = "../common/mod.rs"]
mod common;
mod driver;
#[path = "../common/server.rs"]
mod server;

use common::Scratch;
use driver::Browser;
use serde_json::json;
use server::Server;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const DIFFERENCE: &str = "mu[1,waiting] - mu[2,waiting]";
const HOSTILE: &str = "<img src=x onerror=alert(1)>";

fn pictures() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("browser")
}

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

/// The numbers of one method as the page has them.
fn shown(browser: &Browser, method: &str) -> Vec<String> {
    let row = browser.run(
        "return [...document.querySelectorAll(`tr[data-method=${arguments[0]}] data`)].map((d) => d.value)",
        json!([method]),
    );
    row.as_array().expect("a row").iter().map(|v| v.as_str().unwrap_or("").to_owned()).collect()
}

/// The script that tests the page's own functions, in the page.
const STATE_TESTS: &str = include_str!("state.test.js");

#[test]
#[ignore = "needs Chromium: `cargo xtask test` installs and runs it"]
fn explore_and_report_end_to_end() {
    let scratch = Scratch::new();
    scratch.ok(&["table", "build", "-o", "faithful.tvb", "--grid", "60", "-B", "100"]);
    scratch.ok(&["table", "build", "-o", "three.tvb", "-k", "3", "--grid", "20", "-B", "40"]);
    let server = Server::start(&scratch, &["faithful.tvb", "three.tvb"]);
    let browser = Browser::start();
    browser.look(1280, 1000, "light");

    browser.open(&server.url);
    browser.wait("document.querySelector('.part table tbody tr')");
    let failures = browser.run_async(STATE_TESTS, json!([]));
    assert_eq!(failures, json!([]), "the page's own functions");

    // Completion by keyboard, then the whole text.
    browser.clear("#functional");
    browser.type_into("#functional", "mu[1,wai");
    browser.wait("document.querySelector('#completions li')?.textContent === 'waiting'");
    browser.type_into("#functional", "\u{e015}\u{e007}");
    assert_eq!(
        browser.run("return document.getElementById('functional').value", json!([])),
        "mu[1,waiting]"
    );
    browser.type_into("#functional", " - mu[2,waiting");
    browser.wait("!document.getElementById('problem').hidden");
    let problem = browser.run("return document.getElementById('problem').innerText", json!([]));
    assert!(problem.as_str().unwrap().contains("never closed"), "{problem}");
    browser.picture(&pictures().join("explore-problem.png"), false);
    browser.type_into("#functional", "]");
    browser.wait("document.getElementById('problem').hidden");

    // The level moves by the slider's keys: from 0.95 down to 0.9.
    for _ in 0..5 {
        browser.type_into("#slider", "\u{e012}");
    }
    browser.wait("document.querySelector('.command code').textContent.includes('--level 0.9 ')");
    browser.wait("document.querySelector('.card').getAttribute('aria-busy') === 'false'");
    browser.wait(&format!("document.querySelector('.part h3').textContent === '{DIFFERENCE}'"));

    // The numbers are those of the command.
    let run =
        scratch.ok(&["interval", "faithful.tvb", DIFFERENCE, "--level", "0.9", "--format", "json"]);
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
    browser.picture(&pictures().join("explore-light.png"), true);

    // The view can be bookmarked, and the list with it.
    browser.click("#keep");
    browser.wait("document.querySelectorAll('#list li').length === 1");
    browser.clear("#functional");
    browser.type_into("#functional", "pi[1]\u{e00c}");
    browser.wait("document.querySelector('.part h3')?.textContent === 'pi[1]'");
    browser.click("#keep");
    browser.wait("document.querySelector('.forest svg')");
    let bookmark = browser.url();
    assert!(bookmark.contains("level=0.9") && bookmark.contains("h=pi[1]"), "{bookmark}");
    browser.open("about:blank");
    browser.open(&bookmark);
    browser.wait("document.querySelector('.forest svg') && document.querySelector('.part svg')");
    assert_eq!(browser.run("return document.querySelectorAll('#list li').length", json!([])), 2);

    // Exports: the same JSON as the command prints, CSV, a picture and a report.
    let of_list = ["interval", "faithful.tvb", DIFFERENCE, "pi[1]", "--level", "0.9", "--format"];
    let saved = |format: &str, name: &str| {
        browser.click(&format!("[data-format={format}]"));
        fs::read(downloaded(&browser, name)).expect("a saved file")
    };
    for (format, name) in [("json", "intervals.json"), ("csv", "intervals.csv")] {
        let mut args = of_list.to_vec();
        args.push(format);
        assert_eq!(String::from_utf8(saved(format, name)).unwrap(), scratch.ok(&args).stdout);
    }
    assert!(saved("png", "intervals.png").starts_with(b"\x89PNG"));
    assert!(saved("svg", "intervals.svg").starts_with(b"<svg"));
    let command =
        browser.run("return document.querySelector('.command code').textContent", json!([]));
    assert_eq!(
        command,
        "trustvb interval faithful.tvb 'mu[1,waiting] - mu[2,waiting]' 'pi[1]' --level 0.9 \
         --method balanced,vb,tvb"
    );
    let report = saved("report", "report.html");
    let by_command =
        ["report", "faithful.tvb", DIFFERENCE, "pi[1]", "--level", "0.9", "-o", "by-command.html"];
    scratch.ok(&by_command);
    assert!(report == scratch.read("by-command.html").into_bytes(), "the reports differ");

    // Two tables side by side, one of which lacks nothing but evidence.
    browser.click("#tables label:nth-of-type(2) input");
    browser.wait("document.querySelectorAll('.card .part').length === 2");
    browser.look(1500, 1000, "dark");
    browser.picture(&pictures().join("explore-two-dark.png"), true);
    browser.look(390, 844, "light");
    browser.picture(&pictures().join("explore-narrow.png"), true);
    let wide = browser.run("return document.documentElement.scrollWidth", json!([]));
    assert!(wide.as_u64().unwrap() <= 390, "the page is {wide} pixels wide in a window of 390");
    assert_eq!(browser.complaints(), Vec::<String>::new());

    // The report by itself: from a file, without network or server.
    drop(server);
    browser.offline(true);
    let file = downloaded(&browser, "report.html");
    browser.open(&format!("file://{}", file.display()));
    browser.wait("document.querySelectorAll('svg.tvb').length >= 5");
    let loaded = browser
        .run("return performance.getEntriesByType('resource').map((r) => r.name)", json!([]));
    assert_eq!(loaded, json!([]), "the report loads something");
    for (name, width, scheme) in [
        ("report-light.png", 1000, "light"),
        ("report-dark.png", 1000, "dark"),
        ("report-narrow.png", 390, "light"),
    ] {
        browser.look(width, 900, scheme);
        browser.picture(&pictures().join(name), true);
        let wide = browser.run("return document.documentElement.scrollWidth", json!([]));
        assert!(wide.as_u64().unwrap() <= u64::from(width), "{name} is {wide} pixels wide");
    }
    browser.look_at_paper(&pictures().join("report-print.png"));
    let csv = browser.run(
        "return decodeURIComponent(document.querySelector('a[download]').href.split(',').slice(1).join(','))",
        json!([]),
    );
    assert_eq!(csv.as_str().unwrap(), scratch.ok(&[&of_list[..], &["csv"]].concat()).stdout);
    browser.click("button[data-copy=intervals-table]");
    browser.wait("document.querySelector('button[data-copy=intervals-table]').textContent !== 'Copy the table'");
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert_accessible(&browser);
}

/// Headings in order, names for what has no text, nothing that only a mouse reaches.
fn assert_accessible(browser: &Browser) {
    let faults = browser.run(
        "const faults = [];
         let level = 0;
         for (const heading of document.querySelectorAll('h1,h2,h3,h4')) {
           const next = Number(heading.tagName[1]);
           if (next > level + 1) faults.push(`h${next} after h${level}: ${heading.textContent}`);
           level = next;
         }
         if (document.querySelectorAll('h1').length !== 1) faults.push('not one h1');
         for (const svg of document.querySelectorAll('svg')) {
           if (svg.getAttribute('role') !== 'img') faults.push('an svg without a role');
           if (!svg.querySelector(':scope > title')?.textContent) faults.push('an svg without a title');
         }
         for (const box of document.querySelectorAll('.scroll')) {
           if (box.tabIndex !== 0 || !box.getAttribute('aria-label')) faults.push('a box that keys cannot scroll');
         }
         for (const cell of document.querySelectorAll('th')) {
           if (!cell.scope) faults.push(`a th without a scope: ${cell.textContent}`);
         }
         const ids = [...document.querySelectorAll('[id]')].map((node) => node.id);
         for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) faults.push(`twice: ${id}`);
         return faults;",
        json!([]),
    );
    assert_eq!(faults, json!([]));
}

#[test]
#[ignore = "needs Chromium: `cargo xtask test` installs and runs it"]
fn hostile_names_and_endless_questions_do_no_harm() {
    let scratch = Scratch::new();
    let mut csv = format!("{HOSTILE},`x`\n");
    for i in 0..60 {
        let far = if i % 2 == 0 { 0.0 } else { 9.0 };
        csv.push_str(&format!(
            "{},{}\n",
            far + f64::from(i * 7 % 10) / 10.0,
            f64::from(i * 3 % 11)
        ));
    }
    scratch.write("hostile.csv", csv);
    scratch.ok(&["table", "build", "hostile.csv", "-o", "<b>.tvb", "--grid", "10", "-B", "30"]);
    let server = Server::start(&scratch, &["<b>.tvb", "--token"]);
    assert!(server.url.contains("?token="), "{}", server.url);
    let browser = Browser::start();
    browser.look(1200, 900, "light");
    let hostile = HOSTILE.replace(' ', "%20");
    browser.open(&format!("{}&h=mu[1,`{hostile}`]&q=mu[2,]", server.url));
    browser.wait("document.querySelector('.part svg') && document.querySelector('.forest svg')");
    let label = browser.run("return document.querySelector('.part h3').textContent", json!([]));
    assert_eq!(label, format!("mu[1,`{HOSTILE}`]"));
    assert_eq!(browser.run("return document.querySelectorAll('img, b').length", json!([])), 0);
    browser.picture(&pictures().join("explore-hostile.png"), true);

    // A megabyte, past the input's own limit: by the page and straight to the server.
    browser.run(
        "const input = document.getElementById('functional');
         input.removeAttribute('maxlength');
         input.value = '1+'.repeat(500000) + '1';
         input.dispatchEvent(new Event('input'));",
        json!([]),
    );
    browser.wait("!document.getElementById('problem').hidden");
    let statuses = browser.run_async(
        "const token = new URLSearchParams(location.search).get('token');
         const ask = (body, headers = {}) => fetch('/api/ask', { method: 'POST', body,
           headers: { 'content-type': 'application/json', 'x-trustvb-token': token, ...headers } });
         const about = (functional) => JSON.stringify({ table: 0, functional, level: 0.9, methods: ['vb'] });
         const answers = [
           await ask(about('1+'.repeat(500000) + '1')),
           await ask(about('1+'.repeat(600) + '1')),
           await ask(about('log('.repeat(120) + '1' + ')'.repeat(120))),
           await ask(about('sum(sigma)^2 + sum(sigma)^3 + ' + Array(60).fill('sum(sigma)*sum(cor)').join('+'))),
           await ask(about('../../etc/passwd')),
           await ask('{\"table\": \"../x\"}'),
           await ask(JSON.stringify({ table: 7, functional: 'pi[1]', level: 0.9, methods: ['vb'] })),
           await ask(JSON.stringify({ table: 0, functional: 'pi[1]', level: 9, methods: ['vb'] })),
           await ask(about('pi[1]'), { 'x-trustvb-token': 'wrong' }),
           await fetch('/api/tables/../../x?token=' + token),
           await ask(about('pi[1]')),
         ];
         return answers.map((answer) => answer.status);",
        json!([]),
    );
    assert_eq!(statuses, json!([413, 422, 422, 422, 422, 400, 404, 422, 401, 404, 200]));
    browser.complaints();

    // The report holds the name as text too.
    scratch.ok(&["report", "<b>.tvb", "-o", "hostile.html", "--quiet"]);
    browser.open(&format!("file://{}", scratch.path("hostile.html").display()));
    browser.wait("document.querySelectorAll('article').length === 6");
    assert_eq!(browser.run("return document.querySelectorAll('img, b').length", json!([])), 0);
    let text = browser.run("return document.body.textContent", json!([]));
    assert!(text.as_str().unwrap().contains(HOSTILE));
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert_accessible(&browser);
}

/// Not a test: makes the pictures of the README. `cargo xtask pictures` runs it.
#[test]
#[ignore = "writes the README's pictures: `cargo xtask pictures` runs it"]
fn write_pictures() {
    let Some(folder) = std::env::var_os("TRUSTVB_PICTURES").map(PathBuf::from) else { return };
    let scratch = Scratch::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/data/overlap.csv");
    scratch.write("overlap.csv", fs::read(data).expect("the README's data"));
    scratch.ok(&["table", "build", "overlap.csv", "-o", "overlap.tvb", "-q"]);
    scratch.ok(&["report", "overlap.tvb", "pi[1]", "mu[1,]", "-o", "report.html", "-q"]);
    let server = Server::start(&scratch, &["overlap.tvb"]);
    let browser = Browser::start();
    browser.look(940, 1180, "light");
    browser.open(&format!("file://{}", scratch.path("report.html").display()));
    browser.wait("document.querySelectorAll('article').length === 3");
    browser.picture(&folder.join("report.png"), false);
    browser.look(1180, 900, "light");
    browser.open(&format!("{}?h=mu[1,x1]&level=0.95", server.url));
    browser.wait("document.querySelector('.part svg')");
    browser.picture(&folder.join("explore.png"), false);
    for name in ["report.png", "explore.png"] {
        let size = fs::metadata(folder.join(name)).expect("a picture").len();
        assert!(size < 300_000, "{name} has {size} bytes");
    }
}

//! The explorer, the report and the documentation site in a real browser, what strangers' names do to them, and the
//! README's pictures.
//!
//! `cargo xtask test` installs Chromium if need be and runs these tests; a plain `cargo test` lists
//! them as ignored. Pictures of what was seen stay in `target/browser`.

mod checks;
#[path = "../common/mod.rs"]
mod common;
mod driver;
mod explorer;
mod paper;
mod report;
#[path = "../common/server.rs"]
mod server;
mod site;

use common::Scratch;
use driver::Browser;
use serde_json::json;
use server::Server;
use std::fs;
use std::path::{Path, PathBuf};

const HOSTILE: &str = "<img src=x onerror=alert(1)>";

fn pictures() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("browser")
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
    browser.wait("document.querySelector('.part svg') && document.querySelectorAll('.quantity').length === 6");
    let label =
        browser.run("return document.querySelector('.part h3 code').textContent", json!([]));
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
    browser.wait("document.querySelectorAll('article').length === 5");
    assert_eq!(browser.run("return document.querySelectorAll('img, b').length", json!([])), 0);
    let text = browser.run("return document.body.textContent", json!([]));
    assert!(text.as_str().unwrap().contains(HOSTILE));
    assert_eq!(browser.complaints(), Vec::<String>::new());
    checks::assert_accessible(&browser);
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
    scratch.ok(&["report", "overlap.tvb", "-o", "report.html", "-q"]);
    let server = Server::start(&scratch, &["overlap.tvb"]);
    let browser = Browser::start();
    let report = format!("file://{}", scratch.path("report.html").display());
    let explorer = format!("{}?h=mu[1,x1]", server.url);
    let pages = [
        ("report", report.as_str(), "document.querySelectorAll('article').length === 5"),
        ("explore", server.url.as_str(), "document.querySelectorAll('.quantity').length === 6"),
        ("explore-open", explorer.as_str(), "document.querySelector('.part svg')"),
    ];
    let looks =
        [("", 1280, 780, "light"), ("-dark", 1280, 780, "dark"), ("-narrow", 390, 844, "light")];
    for (name, url, ready) in pages {
        for (suffix, width, height, scheme) in looks {
            // Of the open row one look is enough.
            if name == "explore-open" && !suffix.is_empty() {
                continue;
            }
            browser.look(width, if name == "explore-open" { 1010 } else { height }, scheme);
            browser.open(url);
            browser.wait(ready);
            let path = folder.join(format!("{name}{suffix}.png"));
            browser.picture(&path, false);
            let size = fs::metadata(&path).expect("a picture").len();
            assert!(size < 300_000, "{name}{suffix} has {size} bytes");
        }
    }
}

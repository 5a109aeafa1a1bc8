//! The report by itself: from a file, without network or server.

use crate::checks::{assert_accessible, assert_nothing_cut};
use crate::common::Scratch;
use crate::driver::Browser;
use crate::paper::headings;
use crate::pictures;
use serde_json::json;
use std::fs;

fn open(browser: &Browser, scratch: &Scratch, name: &str) {
    browser.open(&format!("file://{}", scratch.path(name).display()));
    browser.wait("document.querySelector('article')");
}

fn unfold(browser: &Browser) {
    browser.run(
        "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })",
        json!([]),
    );
}

#[test]
#[ignore = "needs Chromium: `cargo xtask test` installs and runs it"]
fn a_report_needs_nothing_else_and_fits_every_window() {
    let scratch = Scratch::new();
    scratch.ok(&["table", "build", "-o", "faithful.tvb", "--grid", "60", "-B", "100"]);
    scratch.ok(&["report", "faithful.tvb", "-o", "report.html"]);
    let browser = Browser::start();
    browser.offline(true);
    browser.look(1280, 900, "light");
    open(&browser, &scratch, "report.html");
    let loaded = browser
        .run("return performance.getEntriesByType('resource').map((r) => r.name)", json!([]));
    assert_eq!(loaded, json!([]), "the report loads something");
    let title = browser.run("return document.title", json!([]));
    assert_eq!(title, "faithful: calibrated 95% intervals");

    // The answer is on the first screen, and a row leads to what is behind it.
    let seen = browser.run(
        "const rows = [...document.querySelectorAll('#answer-table tbody tr')];
         return [rows.length, rows.every((row) => row.getBoundingClientRect().bottom < 900)];",
        json!([]),
    );
    assert_eq!(seen, json!([6, true]));
    browser.click("#answer-table tbody tr:nth-child(3) a");
    browser.wait("document.querySelector('#q3 details').open && document.querySelectorAll('article details[open]').length === 1");

    // Of two components the second weight is one minus the first, and is not told twice.
    let twins = browser.run(
        "return [document.querySelectorAll('article').length, document.querySelector('#q1').textContent.includes('1 − pi[1]'),
           document.querySelector('#answer-table tbody tr:nth-child(2) a').hash]",
        json!([]),
    );
    assert_eq!(twins, json!([5, true, "#q1"]));

    for (name, width, scheme) in [
        ("report-light", 1280, "light"),
        ("report-dark", 1280, "dark"),
        ("report-narrow", 390, "light"),
        ("report-narrow-dark", 390, "dark"),
    ] {
        browser.look(width, 900, scheme);
        open(&browser, &scratch, "report.html");
        browser.picture(&pictures().join(format!("{name}.png")), true);
        assert_nothing_cut(&browser, width, name);
        assert_accessible(&browser);
        unfold(&browser);
        assert_nothing_cut(&browser, width, name);
        assert_accessible(&browser);
    }
    browser.look_at_paper(&pictures().join("report-print.png"));
    assert_no_lone_heading(&browser, "report");
    let csv = browser.run(
        "return decodeURIComponent(document.querySelector('a[download]').href.split(',').slice(1).join(','))",
        json!([]),
    );
    let all =
        ["interval", "faithful.tvb", "pi[1]", "pi[2]", "mu[1,1]", "mu[1,2]", "mu[2,1]", "mu[2,2]"];
    let asked = ["--method", "balanced,vb,tvb", "--format", "csv"];
    assert_eq!(csv.as_str().unwrap(), scratch.ok(&[&all[..], &asked].concat()).stdout);
    browser.click("button[data-copy=answer-table]");
    browser.wait(
        "document.querySelector('button[data-copy=answer-table]').textContent !== 'Copy the table'",
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Fails if a sheet of the printed page ends with a heading, or holds nothing else.
fn assert_no_lone_heading(browser: &Browser, name: &str) {
    let pdf = browser.print();
    fs::write(pictures().join(format!("{name}.pdf")), &pdf).expect("a PDF can be kept");
    let (sheets, found) = headings(&pdf);
    let on_page = browser.run(
        "return [...document.querySelectorAll('h1,h2,h3,h4')].filter((h) => h.checkVisibility()).length",
        json!([]),
    );
    assert!(found.len() as u64 >= on_page.as_u64().expect("headings"), "{found:?}");
    assert!(sheets > 1 && found.iter().any(|heading| heading.page > 1), "{found:?}");
    let lone: Vec<_> = found.iter().filter(|heading| heading.company == 0).collect();
    assert!(lone.is_empty(), "{lone:?}");
}

#[test]
#[ignore = "needs Chromium: `cargo xtask test` installs and runs it"]
fn lone_headings_are_found() {
    let scratch = Scratch::new();
    let page = |after: &str| {
        format!(
            "<!DOCTYPE html><html lang=en><title>t</title><h1>First</h1><p>text</p><h2>Last on its<br>sheet</h2>\
             {after}<div style='break-before:page'><h2>Next</h2><p>text</p></div></html>"
        )
    };
    scratch.write("lone.html", page(""));
    scratch.write("fine.html", page("<p>text</p>"));
    let browser = Browser::start();
    for (name, expected) in [("lone.html", [true, false, true]), ("fine.html", [true; 3])] {
        browser.open(&format!("file://{}", scratch.path(name).display()));
        let (sheets, found) = headings(&browser.print());
        assert_eq!(sheets, 2);
        let accompanied: Vec<bool> = found.iter().map(|heading| heading.company > 0).collect();
        assert_eq!(accompanied, expected, "{name}: {found:?}");
        assert!(found[1].title.starts_with("Last on its"), "{found:?}");
    }
}

#[test]
#[ignore = "needs Chromium: `cargo xtask test` installs and runs it"]
fn many_columns_make_no_endless_page() {
    let scratch = Scratch::new();
    let mut csv = (1..=20).map(|j| format!("measurement_{j}")).collect::<Vec<_>>().join(",") + "\n";
    for i in 0_u32..300 {
        // Two clusters, and a spread that differs from column to column.
        let value = |j: u32| {
            let noise = f64::from((i * 7919 + j * 104_729 + i * j * 31) % 997) / 997.0;
            format!("{:.4}", 2.0 * f64::from(i % 2) + noise)
        };
        csv.push_str(&((0..20).map(value).collect::<Vec<_>>().join(",") + "\n"));
    }
    scratch.write("wide.csv", csv);
    scratch.ok(&["table", "build", "wide.csv", "-o", "wide.tvb", "--grid", "5", "-B", "20", "-q"]);
    scratch.ok(&["report", "wide.tvb", "-o", "wide.html", "-q"]);
    let browser = Browser::start();
    browser.look(1280, 900, "light");
    open(&browser, &scratch, "wide.html");
    let height = browser.run("return document.documentElement.scrollHeight", json!([]));
    assert!(height.as_u64().unwrap() < 12_000, "{height} pixels high");
    browser.look(390, 844, "light");
    assert_nothing_cut(&browser, 390, "wide.html");
    assert_accessible(&browser);
    assert_no_lone_heading(&browser, "report-many-columns");
    // Each warning once: a sentence that every quantity would repeat stands in one place.
    let times = browser
        .run("return document.body.textContent.split('Only 20 bootstraps').length - 1", json!([]));
    assert_eq!(times, 1);
}

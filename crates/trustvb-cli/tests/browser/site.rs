//! The documentation site as a reader has it: opened from the disk, wide and narrow, light and dark, searched.

use crate::checks::assert_accessible;
use crate::driver::Browser;
use crate::pictures;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Figures that the pages show.
const FIGURES: [&str; 13] = [
    "pictures/intervals.svg",
    "pictures/profile.svg",
    "studies/paper-bmlr-coverage.svg",
    "studies/paper-bmlr-length.svg",
    "studies/paper-bmlr-omega.svg",
    "studies/paper-gmm-coverage.svg",
    "studies/paper-gmm-length.svg",
    "studies/paper-gmm-omega.svg",
    "studies/paper-supplement-coverage.svg",
    "studies/paper-supplement-length.svg",
    "studies/paper-supplement-omega.svg",
    "studies/reviewer-levels.svg",
    "studies/reviewer-ranks.svg",
];

/// Where `cargo xtask site` puts it.
fn site() -> PathBuf {
    let site = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("site");
    assert!(site.join("index.html").is_file(), "there is no site: `cargo xtask site` builds it");
    site
}

/// All pages, those that other programs wrote aside.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of the site").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            if name != "rust" && name != "r" {
                found.extend(pages(&path));
            }
        } else if path.extension().is_some_and(|extension| extension == "html") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// What is wider than the window and neither scrolls nor stands in something that does.
fn cut_off(browser: &Browser, width: u32) -> Value {
    browser.run(
        "const wide = [...document.querySelectorAll('main *, header *, nav *')]
           .filter((node) => node.checkVisibility() && !node.closest('.unseen, .skip'))
           .filter((node) => !node.parentElement.closest('pre, .scroll, a.figure'))
           .filter((node) => node.getBoundingClientRect().right > arguments[0] + 1)
           .map((node) => `${node.tagName} ${node.textContent.slice(0, 40)}`);
         if (document.documentElement.scrollWidth > arguments[0]) wide.push('the page');
         return wide;",
        json!([width]),
    )
}

#[test]
#[ignore = "needs Chromium: `cargo xtask test` installs and runs it"]
fn every_page_of_the_site_fits_and_can_be_used_by_everybody() {
    let site = site();
    let pages = pages(&site);
    assert!(pages.len() > 15, "{pages:?}");
    let browser = Browser::start();
    browser.offline(true);
    // Each look once over all pages; the rules of accessibility in both colours, once wide and once narrow.
    for (look, width, scheme) in [("wide", 1280, "light"), ("narrow", 390, "dark")] {
        browser.look(width, 900, scheme);
        for page in &pages {
            let name = page.strip_prefix(&site).expect("a page of the site").display().to_string();
            browser.open(&format!("file://{}", page.display()));
            let file = format!("site-{}-{look}.png", name.replace(['/', '.'], "-"));
            browser.picture(&pictures().join(file), false);
            assert_eq!(cut_off(&browser, width), json!([]), "{name} at {width} pixels");
            let broken = browser.run(
                "return [...document.images].filter((image) => !image.naturalWidth).map((image) => image.src)",
                json!([]),
            );
            assert_eq!(broken, json!([]), "{name} has pictures that cannot be shown");
            assert_eq!(browser.complaints(), Vec::<String>::new(), "{name}");
            assert_accessible(&browser);
            // axe-core complains that it may not read style sheets from the disk itself.
            browser.complaints();
        }
    }
}

/// Figures are drawn for Noto Sans. Who has not got it may have a font that is wider, DejaVu Sans or Verdana.
#[test]
#[ignore = "needs Chromium: `cargo xtask test` installs and runs it"]
fn no_text_of_a_figure_is_cut_off_in_a_wider_font() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let browser = Browser::start();
    browser.offline(true);
    browser.look(1280, 900, "light");
    for figure in FIGURES {
        browser.open(&format!("file://{}", docs.join(figure).display()));
        let cut = browser.run(
            "const svg = document.documentElement;
             svg.setAttribute('font-family', \"'DejaVu Sans', Verdana, sans-serif\");
             const page = svg.getBoundingClientRect();
             const texts = [...svg.querySelectorAll('text')];
             if (texts.length < 10) return ['a figure with next to no text'];
             return texts.map((text) => [text.textContent, text.getBoundingClientRect()])
               .filter(([, box]) => box.left < page.left || box.right > page.right || box.bottom > page.bottom)
               .map(([text]) => text);",
            json!([]),
        );
        let name = figure.replace(['/', '.'], "-");
        browser.picture(&pictures().join(format!("figure-{name}.png")), false);
        assert_eq!(cut, json!([]), "{figure}");
    }
}

#[test]
#[ignore = "needs Chromium: `cargo xtask test` installs and runs it"]
fn the_search_finds_words_on_other_pages() {
    let site = site();
    let browser = Browser::start();
    browser.offline(true);
    for (width, scheme) in [(1280, "dark"), (390, "light")] {
        browser.look(width, 900, scheme);
        browser.open(&format!("file://{}", site.join("docs/GUIDE.html").display()));
        browser.type_into("#search", "components-overlap");
        browser.wait("document.querySelectorAll('#found li').length > 1");
        assert_eq!(cut_off(&browser, width), json!([]), "what was found at {width} pixels");
        let found = browser.run(
            "return [...document.querySelectorAll('#found li')].some((item) =>
               item.querySelector('a').href.includes('docs/FLAGS.html#') && item.querySelector('mark').textContent === 'components-overlap')",
            json!([]),
        );
        assert_eq!(found, true);
        browser.picture(&pictures().join(format!("site-search-{width}.png")), false);
        assert_eq!(browser.complaints(), Vec::<String>::new());
        assert_accessible(&browser);
        browser.complaints();

        // Every word must be there, and what nobody wrote is not found.
        browser.clear("#search");
        browser.type_into("#search", "<b>quokka</b>");
        browser
            .wait("document.querySelector('#found-count').textContent.startsWith('Nothing found')");

        // Enter goes to the best place: the page that is named so.
        browser.clear("#search");
        browser.type_into("#search", "which interval");
        browser.wait("document.querySelector('#found li a')");
        browser.type_into("#search", "\u{e007}");
        browser.wait("location.pathname.endsWith('docs/WHICH.html')");
        assert_eq!(browser.complaints(), Vec::<String>::new());
    }
}

//! What a page must satisfy so that everybody can use it: axe-core's rules, and some of our own.

use crate::driver::Browser;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Fails with what axe-core finds, and with what it does not look for. `cargo xtask test` fetches it; its licence
/// (MPL-2.0) is its own, so it is no file of this project.
pub(crate) fn assert_accessible(browser: &Browser) {
    assert_eq!(violations(browser), json!([]), "axe-core finds faults");
    assert_eq!(own_faults(browser), json!([]));
}

fn violations(browser: &Browser) -> Value {
    let built = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).with_file_name("axe");
    let folder = std::env::var_os("TRUSTVB_AXE").map_or(built, PathBuf::from);
    let path = folder.join("axe.min.js");
    let axe = std::fs::read_to_string(&path).unwrap_or_else(|why| {
        panic!(
            "{}: {why}; `cargo xtask test` fetches axe-core, or set TRUSTVB_AXE to the folder that has it",
            path.display()
        )
    });
    browser.run_async(
        &format!(
            "{axe};
             const found = await axe.run(document, {{ resultTypes: ['violations'] }});
             if (found.passes.length < 20) return ['axe-core looked at next to nothing'];
             return found.violations.map((v) => `${{v.id}}: ${{v.help}}: ${{v.nodes.slice(0, 3).map((n) => n.html).join(' ')}}`);"
        ),
        json!([]),
    )
}

/// Headings in order, names for what has no text, nothing that only a mouse reaches, no region named twice.
fn own_faults(browser: &Browser) -> Value {
    browser.run(
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
         const twice = (names, what) => {
           for (const name of new Set(names.filter((n, i) => names.indexOf(n) !== i))) faults.push(`${what} twice: ${name}`);
         };
         twice([...document.querySelectorAll('[id]')].map((node) => node.id), 'id');
         twice([...document.querySelectorAll('[role=region], section[aria-label]')].map((n) => n.getAttribute('aria-label')), 'region');
         return faults;",
        json!([]),
    )
}

/// Fails if the page, or a box in it, is wider than the window: then something is cut off.
pub(crate) fn assert_nothing_cut(browser: &Browser, width: u32, what: &str) {
    let cut = browser.run(
        "const wide = [...document.querySelectorAll('.scroll, .drop-down, table, p, pre, h1, h2, svg')]
           .filter((node) => node.checkVisibility() && !node.closest('.unseen'))
           .filter((node) => node.scrollWidth > node.clientWidth + 1 && node.matches('.scroll')
             || node.getBoundingClientRect().right > arguments[0] + 1)
           .map((node) => `${node.tagName} ${node.getAttribute('aria-label') ?? node.textContent.slice(0, 40)}`);
         if (document.documentElement.scrollWidth > arguments[0]) wide.push('the page');
         return wide;",
        json!([width]),
    );
    assert_eq!(cut, json!([]), "{what} at {width} pixels");
}

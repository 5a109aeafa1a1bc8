//! `cargo xtask site`: the project's Markdown as a static site in `target/site`, which a browser opens from the disk.
//!
//! It is made by these few files and pulldown-cmark, not by mdBook: that would be some two hundred crates and minutes of
//! building for every fresh clone that runs the tests, where this is four crates and seconds. Pages keep their places
//! (`docs/GUIDE.md` is `docs/GUIDE.html`), so a link that works on the disk works in the site, and the other way round.
//! Every link, anchor and picture of what was made is checked; a broken one fails the task.

mod convert;
mod links;
mod pages;
mod references;
mod search;
mod shell;

use crate::command::{root, target};
use convert::Page;
use pages::Entry;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What else the site shall hold.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum References {
    /// Nothing: the pages alone, as the tests want it.
    None,
    /// Rust's documentation, and R's help pages where R is installed.
    All,
}

/// The site's own files, beside the pages.
const ASSETS: [(&str, &str); 2] =
    [("site/site.css", include_str!("site.css")), ("site/site.js", include_str!("site.js"))];

/// Builds the site and checks its links.
pub(crate) fn build(references: References) -> Result<(), String> {
    let site = target().join("site");
    let pages = convert_all()?;
    if site.exists() {
        fs::remove_dir_all(&site).map_err(|why| format!("{}: {why}", site.display()))?;
    }
    let extra = match references {
        References::None => Vec::new(),
        References::All => references::build(&site)?,
    };
    for (number, page) in pages.iter().enumerate() {
        write(&site, &page.address, &shell::document(&pages, number, &extra))?;
    }
    for (name, content) in ASSETS {
        write(&site, name, content)?;
    }
    write(&site, "site/index.js", &search::index(&pages))?;
    for file in pages.iter().flat_map(|page| &page.files).collect::<BTreeSet<_>>() {
        copy(&root().join(file), &site.join(file))?;
    }
    let checked = links::check(&site)?;
    println!(
        "xtask: {} pages with {checked} links, all of which lead somewhere: {}",
        pages.len(),
        site.join("index.html").display()
    );
    Ok(())
}

/// Every page of the site, in its order.
fn convert_all() -> Result<Vec<Page>, String> {
    let entries = pages::all()?;
    let sources: Vec<String> = entries.iter().map(|entry| entry.source.clone()).collect();
    let page = |entry: &Entry| {
        let text = fs::read_to_string(root().join(&entry.source))
            .map_err(|why| format!("cannot read {}: {why}", entry.source))?;
        convert::page(entry, &text, &sources)
    };
    entries.iter().map(page).collect()
}

fn write(site: &Path, name: &str, content: &str) -> Result<(), String> {
    let path = site.join(name);
    make_folder(&path)?;
    fs::write(&path, content).map_err(|why| format!("{}: {why}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    make_folder(to)?;
    fs::copy(from, to).map(|_| ()).map_err(|why| format!("{}: {why}", from.display()))
}

fn make_folder(path: &Path) -> Result<(), String> {
    let folder = path.parent().map(PathBuf::from).unwrap_or_default();
    fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))
}

/// Text for element content and attribute values.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_converts_and_none_is_forgotten() {
        let pages = convert_all().unwrap();
        assert_eq!(pages[0].address, "index.html");
        let addresses: BTreeSet<&str> = pages.iter().map(|page| page.address.as_str()).collect();
        assert_eq!(addresses.len(), pages.len());
        for page in
            ["docs/GUIDE.html", "docs/METHOD.html", "CHANGELOG.html", "benches/RESULTS.html"]
        {
            assert!(addresses.contains(page), "{page}");
        }
    }
}

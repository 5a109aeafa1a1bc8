//! Reads the site as a browser would and fails on a link that leads nowhere: a missing file, anchor or picture.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that other programs wrote; only that they are there is looked at.
const NOT_OURS: [&str; 2] = ["rust", "r"];

/// What a page offers and wants.
struct Found {
    ids: BTreeSet<String>,
    links: Vec<String>,
}

/// Checks every page below a folder and returns the number of links that were looked at.
pub(super) fn check(site: &Path) -> Result<usize, String> {
    let mut pages = BTreeMap::new();
    read(site, site, &mut pages)?;
    let mut faults = Vec::new();
    let mut checked = 0;
    for (page, found) in &pages {
        for link in &found.links {
            checked += 1;
            if let Err(why) = follow(site, page, link, &pages) {
                faults.push(format!("{page}: {link}: {why}"));
            }
        }
    }
    match faults.is_empty() {
        true => Ok(checked),
        false => Err(format!("broken links in the site:\n  {}", faults.join("\n  "))),
    }
}

/// All pages below a folder, by their addresses.
fn read(site: &Path, folder: &Path, pages: &mut BTreeMap<String, Found>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let address = address(site, &path);
        if path.is_dir() {
            if !NOT_OURS.contains(&address.as_str()) {
                read(site, &path, pages)?;
            }
        } else if address.ends_with(".html") {
            let text = fs::read_to_string(&path).map_err(|why| format!("{address}: {why}"))?;
            pages.insert(address, found(&text));
        }
    }
    Ok(())
}

fn address(site: &Path, path: &Path) -> String {
    let parts = path.strip_prefix(site).unwrap_or(path).components();
    parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// Ids and links in the tags of a page. Text holds no `<`: it is escaped.
fn found(html: &str) -> Found {
    let mut found = Found { ids: BTreeSet::new(), links: Vec::new() };
    for piece in html.split('<').skip(1) {
        let tag = piece.split('>').next().unwrap_or_default();
        found.ids.extend(attribute(tag, "id"));
        found.links.extend(attribute(tag, "href"));
        found.links.extend(attribute(tag, "src"));
    }
    found
}

/// The value of an attribute in a tag.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let value = tag.split(&format!(" {name}=\"")).nth(1)?.split('"').next()?;
    Some(
        value
            .replace("&amp;", "&")
            .replace("&quot;", "\"")
            .replace("&lt;", "<")
            .replace("&gt;", ">"),
    )
}

/// Fails if a link of a page leads nowhere. Other sites are not asked: tests need no network.
fn follow(
    site: &Path,
    page: &str,
    link: &str,
    pages: &BTreeMap<String, Found>,
) -> Result<(), String> {
    if ["https://", "mailto:", "data:"].iter().any(|start| link.starts_with(start)) {
        return Ok(());
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let named = match path {
        "" => page.to_owned(),
        _ => address(site, &normal(&site.join(page).with_file_name("").join(path))),
    };
    if !site.join(&named).is_file() {
        return Err(format!("{named} is not there"));
    }
    match pages.get(&named) {
        Some(other) if !anchor.is_empty() && !other.ids.contains(anchor) => {
            Err(format!("{named} has no anchor {anchor}"))
        }
        _ => Ok(()),
    }
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        if part.as_os_str() == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::target;

    #[test]
    fn broken_links_are_found() {
        let site = target().join("xtask-links");
        fs::create_dir_all(site.join("docs")).unwrap();
        let write = |name: &str, text: &str| fs::write(site.join(name), text).unwrap();
        write(
            "index.html",
            "<h1 id=\"top\">T</h1><a href=\"docs/a.html#x\">a</a><a href=\"https://x.org\">x</a>",
        );
        write(
            "docs/a.html",
            "<p id=\"x\">&lt;a href=\"no\"></p><a href=\"../index.html\">up</a><a href=\"#x\">x</a>",
        );
        assert_eq!(check(&site), Ok(4));
        write(
            "docs/a.html",
            "<a href=\"../b.html\">b</a><img src=\"p.png\" alt=\"p\"><a href=\"#y\">y</a>",
        );
        let why = check(&site).unwrap_err();
        for fragment in [
            "docs/a.html: ../b.html: b.html is not",
            "docs/p.png is not",
            "no anchor y",
            "no anchor x",
        ] {
            assert!(why.contains(fragment), "{fragment:?} is not in {why:?}");
        }
        fs::remove_dir_all(&site).unwrap();
    }
}

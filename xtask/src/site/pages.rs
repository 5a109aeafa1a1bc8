//! Which pages the site has, in which order, and what its list of pages calls them.

use crate::command::root;
use std::fs;

/// A page before it is converted.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The heading it stands under in the list of pages.
    pub(super) group: &'static str,
    /// The Markdown, from the root.
    pub(super) source: String,
    /// Its name in the list; the page's own title if there is none.
    pub(super) name: Option<&'static str>,
}

const START: &str = "Start";
const USE: &str = "Use it";
const TRUST: &str = "Trust it";
const LARGE: &str = "Files and scale";
const PROJECT: &str = "The project";

const PAGES: [(&str, &str, &str); 23] = [
    (START, "README.md", "What it is"),
    (START, "docs/TUTORIAL.md", "Tutorial"),
    (START, "docs/WHICH.md", "Which interval?"),
    (USE, "docs/GUIDE.md", "Guide"),
    (USE, "docs/CLASSES.md", "Latent classes"),
    (USE, "docs/PYTHON.md", "Python"),
    (USE, "docs/R.md", "R"),
    (USE, "docs/EXPLORE.md", "The explorer"),
    (USE, "docs/OUTSIDE.md", "NumPyro, PyMC and others"),
    (USE, "docs/FLAGS.md", "Flags: every warning"),
    (TRUST, "docs/REVIEWER.md", "For the sceptical reviewer"),
    (TRUST, "docs/STUDIES.md", "Coverage studies"),
    (TRUST, "docs/METHOD.md", "The mathematics"),
    (TRUST, "docs/PUBLISHED.md", "The paper's numbers"),
    (TRUST, "benches/RESULTS.md", "Benchmarks"),
    (LARGE, "docs/TABLES.md", "Tables on disk"),
    (LARGE, "docs/STUDY_FILES.md", "Study files"),
    (LARGE, "docs/SCALE.md", "Clusters and large data"),
    (PROJECT, "CHANGELOG.md", "What changed"),
    (PROJECT, "CONTRIBUTING.md", "Contributing"),
    (PROJECT, "CODE_OF_CONDUCT.md", "Code of conduct"),
    (PROJECT, "ARCHITECTURE.md", "Architecture"),
    (PROJECT, "fuzz/README.md", "Fuzzing"),
];

/// The pages above, then those of the root and of docs that are not among them, so that none is forgotten.
pub(super) fn all() -> Result<Vec<Entry>, String> {
    let listed = PAGES.into_iter().map(|(group, source, name)| Entry {
        group,
        source: source.to_owned(),
        name: Some(name),
    });
    let mut all: Vec<Entry> = listed.collect();
    for folder in ["", "docs/"] {
        let place = root().join(folder);
        let files = fs::read_dir(&place).map_err(|why| format!("{}: {why}", place.display()))?;
        let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
        let mut sources: Vec<String> = names
            .filter(|name| name.ends_with(".md"))
            .map(|name| format!("{folder}{name}"))
            .collect();
        sources.retain(|source| all.iter().all(|entry| entry.source != *source));
        sources.sort();
        all.extend(sources.into_iter().map(|source| Entry { group: PROJECT, source, name: None }));
    }
    Ok(all)
}

/// Where a page stands in the site.
pub(super) fn address(source: &str) -> String {
    match source {
        "README.md" => "index.html".to_owned(),
        _ => source.replace(".md", ".html"),
    }
}

//! What can be searched: every section of every page, as a script that a page loads when somebody begins to type.
//!
//! A script and not JSON, because a page that was opened from the disk may load the one and not the other.

use super::convert::Page;
use serde_json::json;

/// The index: addresses and names of pages, and of each section its page, anchor, heading, text and terms.
pub(super) fn index(pages: &[Page]) -> String {
    let names: Vec<_> = pages.iter().map(|page| json!([page.address, page.name])).collect();
    let mut sections = Vec::new();
    for (number, page) in pages.iter().enumerate() {
        for section in &page.sections {
            let text = section.text.split_whitespace().collect::<Vec<_>>().join(" ");
            sections.push(json!([number, section.id, section.heading, text, section.terms]));
        }
    }
    // A line for each section, so that two builds can be compared.
    let sections: Vec<String> = sections.iter().map(ToString::to_string).collect();
    format!(
        "window.siteIndex = {{\"pages\": {},\n\"sections\": [\n{}\n]}};\n",
        json!(names),
        sections.join(",\n")
    )
}

//! The references that other programs write: Rust's by rustdoc, R's help pages by R.

use super::write;
use crate::apt;
use crate::command::{cargo, output, root, run, target};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Crates whose documentation is for users.
const CRATES: [&str; 2] = ["trustvb", "trustvb-report"];

/// Writes each help page of the R package as HTML, and prints their names.
const R_HELP: &str = "\
arguments <- commandArgs(trailingOnly = TRUE)
for (file in list.files(arguments[1], pattern = '[.]Rd$', full.names = TRUE)) {
  name <- sub('[.]Rd$', '', basename(file))
  page <- file.path(arguments[2], paste0(name, '.html'))
  suppressWarnings(tools::Rd2HTML(file, out = page, package = 'trustvb'))
  cat(name, sep = '\\n')
}";

/// Puts references into the site and returns their names and addresses.
pub(super) fn build(site: &Path) -> Result<Vec<(String, String)>, String> {
    let mut made = vec![rust(site)?];
    if apt::there("Rscript", "--version") {
        made.push(r(site)?);
    } else {
        println!("xtask: R is not installed: the site has no help pages of the R package");
    }
    Ok(made)
}

/// What `cargo doc` writes, without private items.
fn rust(site: &Path) -> Result<(String, String), String> {
    // Other crates and private items may be there from another run.
    let documents = target().join("doc");
    if documents.exists() {
        fs::remove_dir_all(&documents).map_err(|why| format!("{}: {why}", documents.display()))?;
    }
    let mut command = cargo(&["doc", "--no-deps", "--locked"]);
    run(command.args(CRATES.iter().flat_map(|name| ["--package", name])))?;
    copy_all(&documents, &site.join("rust"))
        .map_err(|why| format!("cannot copy {}: {why}", documents.display()))?;
    Ok(("Rust reference".to_owned(), "rust/trustvb/index.html".to_owned()))
}

/// R's help pages. R's own head of a page loads scripts from elsewhere, so each gets another one.
fn r(site: &Path) -> Result<(String, String), String> {
    let folder = site.join("r");
    fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut command = Command::new("Rscript");
    command.args(["-e", R_HELP]).arg(root().join("r/trustvb/man")).arg(&folder);
    let names = output(&mut command)?;
    let mut list = String::new();
    for name in names.lines() {
        let file = folder.join(format!("{name}.html"));
        let made = fs::read_to_string(&file).map_err(|why| format!("{}: {why}", file.display()))?;
        let body = made.split_once("<body>").and_then(|(_, rest)| rest.rsplit_once("</body>"));
        let (body, _) = body.ok_or_else(|| format!("{} is no page of HTML", file.display()))?;
        write(site, &format!("r/{name}.html"), &r_page(name, body))?;
        list.push_str(&format!("<li><a href=\"{name}.html\">{name}</a></li>\n"));
    }
    write(
        site,
        "r/index.html",
        &r_page("Help pages of the R package", &format!("<ul>\n{list}</ul>\n")),
    )?;
    Ok(("R help pages".to_owned(), "r/index.html".to_owned()))
}

fn r_page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{title} – trustvb</title>\n\
         <link rel=\"stylesheet\" href=\"../site/site.css\"></head>\n<body><main id=\"content\">\n\
         <p><a href=\"index.html\">All help pages</a>, <a href=\"../docs/R.html\">trustvb in R</a></p>\n\
         <h1>{title}</h1>\n{body}\n</main></body>\n</html>\n"
    )
}

fn copy_all(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let copied = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_all(&entry.path(), &copied)?;
        } else {
            fs::copy(entry.path(), copied)?;
        }
    }
    Ok(())
}

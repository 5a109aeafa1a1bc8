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
  tools::Rd2HTML(file, out = file.path(arguments[2], paste0(name, '.html')), package = 'trustvb', stylesheet = '')
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

fn r(site: &Path) -> Result<(String, String), String> {
    let folder = site.join("r");
    fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut command = Command::new("Rscript");
    command.args(["-e", R_HELP]).arg(root().join("r/trustvb/man")).arg(&folder);
    let names = output(&mut command)?;
    let item = |name: &str| format!("<li><a href=\"{name}.html\">{name}</a></li>\n");
    let list: String = names.lines().map(item).collect();
    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>R help – trustvb</title>\n\
         <link rel=\"stylesheet\" href=\"../site/site.css\"></head>\n<body><main id=\"content\">\
         <h1>Help pages of the R package</h1>\n<ul>\n{list}</ul>\n\
         <p><a href=\"../docs/R.html\">trustvb in R</a></p></main></body></html>\n"
    );
    write(site, "r/index.html", &page)?;
    Ok(("R help pages".to_owned(), "r/index.html".to_owned()))
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

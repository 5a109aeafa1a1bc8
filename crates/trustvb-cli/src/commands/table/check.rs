//! `trustvb table check`: whether every file of a table is what it should be.

use super::{ranges, unchecked};
use crate::args::{CheckArgs, Format};
use crate::failure::Failure;
use crate::input;
use crate::output::{check as check_output, json_text, write};
use serde_json::json;
use trustvb::table::{TableCheck, check};

pub(crate) fn run(args: &CheckArgs) -> Result<(), Failure> {
    check_output(&args.output)?;
    let name = args.table.display().to_string();
    let found = check(&input::place(&args.table)?)?;
    let text = match args.output.format {
        Format::Table => words(&name, &found),
        Format::Json => json_text(&json!({
            "schema": found.schema,
            "checked": found.checked,
            "sound": found.is_sound(),
            "parts": found.sound,
            "parts_expected": found.n_parts,
            "missing": found.missing.iter().map(|(design, list)| json!({
                "design": design.name(), "replicates": list,
            })).collect::<Vec<_>>(),
            "data": found.data,
            "wrong": found.wrong,
            "strangers": found.strangers,
        })),
        Format::Csv => csv(&found),
    };
    write(&args.output, &text)?;
    let n = found.wrong.len() + found.strangers.len();
    match (found.is_sound(), args.complete && !found.missing.is_empty()) {
        (false, _) => Err(Failure::Run(format!("{name} is not sound: {n} files are wrong"))),
        (true, true) => Err(Failure::Run(format!(
            "{name} is not complete: {} of {} parts are missing",
            found.n_parts - found.sound,
            found.n_parts
        ))),
        (true, false) => Ok(()),
    }
}

fn words(name: &str, found: &TableCheck) -> String {
    let mut text = format!(
        "{name}: {} of {} parts are sound; {}\n",
        found.sound,
        found.n_parts,
        match found.data {
            Some(true) => "the data are those of the manifest",
            Some(false) => "the data are wrong",
            None => "without the data",
        }
    );
    if !found.checked {
        text.push_str(&unchecked(name, found.schema));
        text.push('\n');
    }
    for (design, replicates) in &found.missing {
        text.push_str(&format!("missing: {} replicates {}\n", design.name(), ranges(replicates)));
    }
    found.wrong.iter().for_each(|what| text.push_str(&format!("wrong: {what}\n")));
    for file in &found.strangers {
        text.push_str(&format!("wrong: {file} does not belong to this table; remove it\n"));
    }
    text
}

/// A row for everything that is wrong or missing.
fn csv(found: &TableCheck) -> String {
    let cell = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut text = String::from("what,where\n");
    for (design, replicates) in &found.missing {
        let list = format!("{} {}", design.name(), ranges(replicates));
        text.push_str(&format!("missing,{}\n", cell(&list)));
    }
    found.wrong.iter().for_each(|what| text.push_str(&format!("wrong,{}\n", cell(what))));
    found.strangers.iter().for_each(|file| text.push_str(&format!("stranger,{}\n", cell(file))));
    text
}

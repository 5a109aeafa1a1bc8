//! `trustvb table diff`: whether two tables are the same.

use crate::args::{DiffArgs, Format};
use crate::failure::Failure;
use crate::input;
use crate::output::{check, json_text, write};
use serde_json::json;
use trustvb::table::{TableDiff, diff};

pub(crate) fn run(args: &DiffArgs) -> Result<(), Failure> {
    check(&args.output)?;
    let (first, second) = (input::place(&args.first)?, input::place(&args.second)?);
    let found = diff(&first, &second)?;
    let text = match args.output.format {
        Format::Table => words(&found),
        Format::Json => json_text(&json!({
            "identical": found.is_empty(),
            "manifest": found.manifest.iter().map(|(field, first, second)| json!({
                "field": field, "first": first, "second": second,
            })).collect::<Vec<_>>(),
            "data": found.data,
            "only_in_first": found.only_in_first,
            "only_in_second": found.only_in_second,
            "different": found.different.iter().map(|(part, what)| json!({
                "part": part, "what": what,
            })).collect::<Vec<_>>(),
            "same_parts": found.same_parts,
            "same_fits": found.same_fits,
        })),
        Format::Csv => csv(&found),
    };
    write(&args.output, &text)?;
    if found.is_empty() {
        Ok(())
    } else {
        Err(Failure::Run(format!("{first} and {second} are not the same")))
    }
}

fn words(found: &TableDiff) -> String {
    let mut text = String::new();
    for (field, first, second) in &found.manifest {
        text.push_str(&format!(
            "{field} is {first} in the first table and {second} in the second\n"
        ));
    }
    if let Some(data) = &found.data {
        text.push_str(&format!("{data}\n"));
    }
    for (which, parts) in [("first", &found.only_in_first), ("second", &found.only_in_second)] {
        if !parts.is_empty() {
            text.push_str(&format!("only in the {which} table: {}\n", parts.join(", ")));
        }
    }
    for (part, what) in &found.different {
        text.push_str(&format!("{part} differs: {what}\n"));
    }
    let same = format!("{} parts with {} fits are the same", found.same_parts, found.same_fits);
    match (found.is_empty(), found.manifest.is_empty()) {
        (true, _) => text
            .push_str(&format!("identical: {same}, bit for bit, and so are settings and data\n")),
        (false, true) => text.push_str(&format!("{same}\n")),
        (false, false) => text.push_str("parts were not compared, because settings differ\n"),
    }
    text
}

/// A row for everything that differs.
fn csv(found: &TableDiff) -> String {
    let mut text = String::from("what,where\n");
    for (field, ..) in &found.manifest {
        text.push_str(&format!("manifest,{field}\n"));
    }
    if found.data.is_some() {
        text.push_str("data,data.parquet\n");
    }
    for (what, parts) in
        [("only-in-first", &found.only_in_first), ("only-in-second", &found.only_in_second)]
    {
        parts.iter().for_each(|part| text.push_str(&format!("{what},{part}\n")));
    }
    found.different.iter().for_each(|(part, _)| text.push_str(&format!("different,{part}\n")));
    text
}

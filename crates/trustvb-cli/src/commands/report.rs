//! `trustvb report`: a table's answers as one HTML file.

use super::interval::{Asked, answer};
use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::say::say;
use crate::{input, output};
use trustvb::answers::usual_methods;
use trustvb_report::html::Report;

pub(crate) fn run(args: &ReportArgs) -> Result<(), Failure> {
    output::check_path("-o", &args.output)?;
    let table = input::table(&args.table, args.quiet)?;
    let functionals = input::functionals(&args.functionals, table.layout())?;
    let methods = input::methods(&args.question.method, &usual_methods(&table))?;
    let folder = args.table.display().to_string();
    let quantities = answer(&Asked {
        table: &table,
        functionals: &functionals,
        methods: &methods,
        question: &args.question,
        quiet: args.quiet,
    })?;
    let texts: Vec<String> = functionals.iter().map(|h| h.text().trim().to_owned()).collect();
    let report = Report {
        table: &table,
        folder: &folder,
        functionals: &texts,
        quantities: &quantities,
        levels: &input::levels(&args.question),
        methods: &methods,
        draws: args.question.draws,
    };
    output::write_text(&args.output, &report.render())?;
    if !args.quiet {
        say(format_args!("wrote {}", args.output.display()));
    }
    Ok(())
}

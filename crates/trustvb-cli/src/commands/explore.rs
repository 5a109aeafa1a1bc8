//! `trustvb explore`: a page on which tables are asked, served on this machine until Ctrl-C.

use crate::args::ExploreArgs;
use crate::failure::Failure;
use crate::say::say;
use crate::{input, progress};
use std::io::Write;
use std::process::{Command, Stdio};
use trustvb_report::explore::{ExploreError, ExploreOptions, Explorer};

pub(crate) fn run(args: &ExploreArgs) -> Result<(), Failure> {
    let mut tables = Vec::new();
    for path in &args.tables {
        tables.push((path.display().to_string(), input::table(path, args.quiet)?));
    }
    let options = ExploreOptions {
        bind: args.bind,
        port: args.port.unwrap_or(0),
        token: args.token,
        draws: args.draws,
    };
    let explorer = Explorer::new(tables, &options).map_err(|error| match error {
        ExploreError::Listen { .. } => Failure::Usage(error.to_string()),
        other => Failure::run(other),
    })?;
    let url = explorer.url();
    let (stop, stopped) = tokio::sync::oneshot::channel();
    // Ctrl-C is how a server ends.
    progress::on_interruption(move || {
        let _ = stop.send(());
    });
    let mut out = std::io::stdout().lock();
    writeln!(out, "{url}")?;
    out.flush()?;
    drop(out);
    if !args.quiet {
        say("serving until Ctrl-C");
    }
    if !args.no_browser && !open_browser(&url) && !args.quiet {
        say("no browser could be started; open the address above yourself");
    }
    let stop = async move {
        let _ = stopped.await;
    };
    explorer.serve(stop).map_err(Failure::run)
}

/// Asks the desktop to open an address; whether it could be asked.
fn open_browser(url: &str) -> bool {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    Command::new(program)
        .args(arguments)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .is_ok()
}

//! `trustvb slurm table | study`: the same work as a job array, in one folder that all tasks share.
//!
//! The folder is claimed here, before anything is submitted, so that wrong settings are found at once and
//! tasks only add parts. Shards whose parts are all there are left out of the array.

mod queue;
mod script;
mod words;

use super::{study, table};
use crate::args::{JobArgs, SlurmArgs, SlurmCommand, SlurmStudyArgs, SlurmTableArgs};
use crate::args::{WantedStudyArgs, WantedTableArgs};
use crate::failure::Failure;
use crate::input;
use crate::output::write_text;
use clap::{Args, Command};
use script::Scripts;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use trustvb::table::Shard;
use words::{Words, given, operand, plain, typed};

/// Tasks that an array gets at most, unless the user says more.
const MOST_SHARDS: usize = 100;

/// Parts for each CPU of a task, unless the user says how many shards: enough that the start of a task,
/// in which the full data are fitted, is little of it.
const PARTS_PER_CPU: usize = 4;

pub(crate) fn run(args: &SlurmArgs, threads: Option<usize>) -> Result<(), Failure> {
    if let Some(threads) = threads {
        return Err(Failure::Usage(format!(
            "--threads {threads}: tasks use as many threads as they have CPUs; say --cpus {threads}"
        )));
    }
    match &args.command {
        SlurmCommand::Table(args) => run_table(args),
        SlurmCommand::Study(args) => run_study(args),
    }
}

/// What is to be made, as far as it is.
struct Submission<'a> {
    /// `table` or `study`.
    kind: &'static str,
    folder: &'a Path,
    n_parts: usize,
    missing_parts: Vec<usize>,
    /// Words after `trustvb` that make a share of it, without the share.
    task: Vec<String>,
    /// Words after `trustvb` that check it.
    check: Vec<String>,
    /// Words after `trustvb` that show how far it is.
    look: Vec<String>,
    /// Words after `trustvb` that submit what is missing.
    again: Vec<String>,
}

fn run_table(args: &SlurmTableArgs) -> Result<(), Failure> {
    let wanted = &args.wanted;
    if wanted.content.data.as_deref() == Some(Path::new("-")) {
        return Err(Failure::Usage(
            "-: tasks cannot read this standard input; write the data to a file that all nodes see"
                .to_owned(),
        ));
    }
    begin(&args.job)?;
    let folder = wanted.output.as_path();
    let matches = typed(&["slurm", "table"])?;
    let Words { positional, options } =
        given(&WantedTableArgs::augment_args(Command::new("table")), &matches)?;
    let again = given(&SlurmTableArgs::augment_args(Command::new("table")), &matches)?;
    let place = input::place(folder)?;
    table::wanted(&wanted.content, false)?.claim(&place, !wanted.without_data)?;
    let info = trustvb::table::info(&place)?;
    let name = operand(&plain(folder.as_os_str())?);
    arrange(
        &args.job,
        Submission {
            kind: "table",
            folder,
            n_parts: info.n_parts,
            missing_parts: info.missing_parts,
            task: [words(&["table", "build"]), positional, options].concat(),
            check: words(&["table", "info", &name, "--complete"]),
            look: words(&["table", "info", &name]),
            again: again.after(&["slurm", "table"]),
        },
    )
}

fn run_study(args: &SlurmStudyArgs) -> Result<(), Failure> {
    let wanted = &args.wanted;
    let Some(name) = &wanted.study else {
        return Err(Failure::Usage(
            "give a study: `trustvb study` lists those that are built in, or name a TOML file"
                .to_owned(),
        ));
    };
    begin(&args.job)?;
    let folder = study::folder(name, wanted.output.as_deref());
    let matches = typed(&["slurm", "study"])?;
    let again = given(&SlurmStudyArgs::augment_args(Command::new("study")), &matches)?;
    // What was asked for, checked; tasks read it from the folder.
    given(&WantedStudyArgs::augment_args(Command::new("study")), &matches)?;
    let study = study::changed(study::read(name)?, wanted)?;
    let place = input::place(&folder)?;
    trustvb::study::claim(&place, &study)?;
    let info = trustvb::study::info(&place)?;
    let own = operand(&plain(folder.as_os_str())?);
    arrange(
        &args.job,
        Submission {
            kind: "study",
            folder: &folder,
            n_parts: info.n_parts,
            missing_parts: info.missing_parts,
            task: words(&["study", &own]),
            check: words(&["study", &own, "--so-far", "--complete"]),
            look: words(&["study", &own, "--so-far"]),
            again: again.after(&["slurm", "study"]),
        },
    )
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

/// Refuses what can be refused before any data are read.
fn begin(job: &JobArgs) -> Result<(), Failure> {
    if job.submit { queue::check() } else { Ok(()) }
}

/// Writes the scripts for what is missing, and submits them if that is asked.
fn arrange(job: &JobArgs, mut work: Submission<'_>) -> Result<(), Failure> {
    let name = work.folder.display();
    let look = script::command_text("trustvb", &work.look);
    if work.missing_parts.is_empty() {
        let mut text = format!("{name} is complete: nothing to submit\n");
        if work.kind == "study" && !input::place(work.folder)?.has("summary.csv").unwrap_or(true) {
            text.push_str(&format!("`{look}` writes its summary and figures\n"));
        }
        return say(&text);
    }
    let shards = shards(job, work.n_parts)?;
    let tasks = Shard::making(work.missing_parts.iter().copied(), shards);
    let scripts = scripts_folder(job, work.folder)?;
    if job.submit {
        queue::refuse_running(&scripts)?;
    }
    if !work.again.iter().any(|word| word == "--submit") {
        work.again.push("--submit".to_owned());
    }
    let here = std::env::current_dir()
        .map_err(|e| Failure::Run(format!("the current folder cannot be found: {e}")))?;
    let here = plain(here.as_os_str())?;
    let text = Scripts {
        kind: work.kind,
        name: plain(work.folder.as_os_str())?,
        n_parts: work.n_parts,
        shards,
        tasks: &tasks,
        job,
        program: program(job)?,
        logs: plain(Path::new(&here).join(&scripts).as_os_str())?,
        here,
        task: &work.task,
        check: &work.check,
        again: &work.again,
    };
    std::fs::create_dir_all(&scripts)
        .map_err(|e| Failure::Run(format!("{}: {e}; give another --scripts", scripts.display())))?;
    let (array, finish) = (scripts.join("array.sh"), scripts.join("finish.sh"));
    write_text(&array, &text.array())?;
    write_text(&finish, &text.finish())?;
    let mut said = format!(
        "{name}: {} of {} parts are there; {} makes the rest\n",
        work.n_parts - work.missing_parts.len(),
        work.n_parts,
        match tasks.len() {
            1 => format!("task {} of {shards}", tasks[0]),
            n => format!("an array of {n} tasks ({} of {shards})", script::array_ranges(&tasks)),
        },
    );
    if job.submit {
        let jobs = queue::submit(&scripts, &array, &finish)?;
        said.push_str(&format!(
            "submitted job {}, and job {} to check the {} when it has ended\n",
            jobs.array, jobs.finish, work.kind
        ));
    } else {
        let shown = |path: &Path| script::shell_word(&operand(&path.display().to_string()));
        said.push_str(&format!(
            "wrote the scripts; to submit them:\n\n  \
             job=$(sbatch --parsable {})\n  \
             sbatch --dependency=afterany:${{job%%;*}} {}\n\n",
            shown(&array),
            shown(&finish),
        ));
    }
    said.push_str(&format!("`{look}` shows how far it is; logs go to {}\n", scripts.display()));
    say(&said)
}

/// The number of shards: the user's, or what gives each task a few parts.
fn shards(job: &JobArgs, n_parts: usize) -> Result<u32, Failure> {
    let usual = n_parts.div_ceil(PARTS_PER_CPU.saturating_mul(job.cpus)).clamp(1, MOST_SHARDS);
    let shards = job.shards.unwrap_or(usual);
    match u32::try_from(shards) {
        Ok(number) if shards <= n_parts => Ok(number),
        _ => Err(Failure::Usage(format!(
            "--shards {shards}: there are only {n_parts} parts to share; give at most {n_parts}"
        ))),
    }
}

/// The folder for scripts: that of --scripts, or `NAME.slurm` beside the work's folder.
fn scripts_folder(job: &JobArgs, folder: &Path) -> Result<PathBuf, Failure> {
    if let Some(scripts) = &job.scripts {
        return Ok(scripts.clone());
    }
    let Some(name) = folder.file_name() else {
        return Err(Failure::Usage(format!(
            "-o {}: it has no name to call the scripts by; say where they go with --scripts DIR",
            folder.display()
        )));
    };
    let mut name = name.to_os_string();
    name.push(".slurm");
    Ok(folder.with_file_name(name))
}

/// How the scripts call trustvb.
fn program(job: &JobArgs) -> Result<String, Failure> {
    if let Some(command) = &job.command {
        return Ok(command.clone());
    }
    let own = std::env::current_exe().map_err(|e| {
        Failure::Run(format!("this program's own path is not known: {e}; say --command trustvb"))
    })?;
    Ok(script::shell_word(&plain(own.as_os_str())?))
}

fn say(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

//! Slurm itself: submitting two jobs, and asking what is still in the queue.

use crate::failure::Failure;
use crate::output::write_text;
use std::io;
use std::path::Path;
use std::process::Command;

/// The file that remembers what was submitted last, in the folder of the scripts.
const JOBS: &str = "jobs.txt";

/// Numbers of submitted jobs.
pub(super) struct Jobs {
    pub(super) array: String,
    pub(super) finish: String,
}

/// Refuses to go on where there is no Slurm.
pub(super) fn check() -> Result<(), Failure> {
    run(Command::new("sbatch").arg("--version")).map(|_| ())
}

/// Submits the array, and the job that runs when it has ended.
pub(super) fn submit(scripts: &Path, array: &Path, finish: &Path) -> Result<Jobs, Failure> {
    let array = sbatch(array, None)?;
    let finish = sbatch(finish, Some(&array)).map_err(|why| {
        Failure::Run(format!("job {array} is submitted, but not the one that checks it: {why}"))
    });
    let known = finish.as_ref().map_or("", String::as_str);
    write_text(&scripts.join(JOBS), &format!("{array} {known}\n"))?;
    Ok(Jobs { array, finish: finish? })
}

fn sbatch(script: &Path, after: Option<&str>) -> Result<String, Failure> {
    let mut command = Command::new("sbatch");
    command.arg("--parsable");
    if let Some(job) = after {
        command.arg(format!("--dependency=afterany:{job}"));
    }
    // A name that begins with a dash would be an option.
    command.arg(std::path::absolute(script).unwrap_or_else(|_| script.to_path_buf()));
    let said = run(&mut command)?;
    // `JOB` or `JOB;CLUSTER`.
    let job = said.trim().split(';').next().unwrap_or_default();
    match !job.is_empty() && job.chars().all(|c| c.is_ascii_digit()) {
        true => Ok(job.to_owned()),
        false => Err(Failure::Run(format!(
            "sbatch was expected to print the number of a job, and printed `{}`; look with squeue",
            said.trim()
        ))),
    }
}

/// Refuses to submit while the last jobs of this folder are in the queue: they would do the same work.
pub(super) fn refuse_running(scripts: &Path) -> Result<(), Failure> {
    let Ok(text) = std::fs::read_to_string(scripts.join(JOBS)) else { return Ok(()) };
    for job in text.split_whitespace() {
        // An unknown job is an error of squeue's, and no longer in the queue.
        let queued = run(Command::new("squeue").args(["--noheader", "--format=%i", "--jobs", job]));
        if queued.is_ok_and(|lines| !lines.trim().is_empty()) {
            return Err(Failure::Run(format!(
                "job {job}, submitted earlier, is still in the queue; wait for its end, or end it \
                 with `scancel {job}`, and give the same command again"
            )));
        }
    }
    Ok(())
}

/// Runs a command of Slurm and returns what it prints.
fn run(command: &mut Command) -> Result<String, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.output() {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(output) => Err(Failure::Run(format!(
            "{name} failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Failure::Run(format!(
            "{name} is not here: --submit needs a machine from which Slurm jobs are submitted; without \
             it, the scripts are only written"
        ))),
        Err(error) => Err(Failure::Run(format!("{name} cannot be run: {error}"))),
    }
}

//! The text of the two scripts: the array, and the job that checks its result.

use crate::args::JobArgs;
use trustvb_report::command::quoted;

/// All that the scripts say.
pub(super) struct Scripts<'a> {
    pub(super) kind: &'static str,
    /// The folder that is filled.
    pub(super) name: String,
    pub(super) n_parts: usize,
    pub(super) shards: u32,
    /// The shards that have something to do.
    pub(super) tasks: &'a [u32],
    pub(super) job: &'a JobArgs,
    /// How trustvb is called.
    pub(super) program: String,
    /// The folder that names on the command line are relative to.
    pub(super) here: String,
    /// The folder for logs.
    pub(super) logs: String,
    pub(super) task: &'a [String],
    pub(super) check: &'a [String],
    pub(super) again: &'a [String],
}

impl Scripts<'_> {
    /// The array: a task for each shard that has something to do.
    pub(super) fn array(&self) -> String {
        let Scripts { kind, name, shards, n_parts, .. } = self;
        let limit = self.job.at_once.map_or(String::new(), |n| format!("%{n}"));
        format!(
            "#!/bin/bash\n\
             # The {kind} {name}, {n_parts} parts in {shards} shards: task i makes the parts i, i + {shards}, \
             i + 2 x {shards}, ...\n\
             #\n\
             # If tasks fail or run out of time, this submits what is missing and no more:\n\
             {}\
             #\n\
             #SBATCH --array={}{limit}\n\
             {}\
             \n\
             set -e\n\
             cd {}\n\
             {}\
             {} \\\n  \
             --shard \"$SLURM_ARRAY_TASK_ID/{shards}\" --threads \"$SLURM_CPUS_PER_TASK\" --quiet\n",
            self.resubmission("#   "),
            array_ranges(self.tasks),
            self.directives(self.job.cpus, "task-%A_%a.log"),
            shell_word(&self.here),
            self.setup(),
            command_text(&self.program, self.task),
        )
    }

    /// The job that runs when the array has ended, however it ended.
    pub(super) fn finish(&self) -> String {
        let Scripts { kind, name, .. } = self;
        let done = match *kind {
            "study" => ", and writes summary and figures",
            _ => "",
        };
        format!(
            "#!/bin/bash\n\
             # Checks that the {kind} {name} is complete{done}; says what is missing if it is not.\n\
             # It is to run when array.sh has ended, whether its tasks succeeded or not.\n\
             #\n\
             {}\
             \n\
             set -e\n\
             cd {}\n\
             {}\
             if ! {}; then\n  \
               cat >&2 <<'END'\n\
             To submit what is missing:\n\
             {}\
             END\n  \
               exit 1\n\
             fi\n",
            self.directives(1, "finish-%j.log"),
            shell_word(&self.here),
            self.setup(),
            command_text(&self.program, self.check),
            self.resubmission("  "),
        )
    }

    fn resubmission(&self, indent: &str) -> String {
        format!(
            "{indent}cd {}\n{indent}{}\n",
            shell_word(&self.here),
            command_text("trustvb", self.again)
        )
    }

    fn setup(&self) -> String {
        self.job.setup.iter().map(|line| format!("{line}\n")).collect()
    }

    fn directives(&self, cpus: usize, log: &str) -> String {
        let job = self.job;
        let mut options = vec![
            format!("--job-name={}", job_name(&self.name)),
            "--nodes=1".to_owned(),
            "--ntasks=1".to_owned(),
            format!("--cpus-per-task={cpus}"),
        ];
        for (option, value) in [
            ("time", &job.time),
            ("mem", &job.memory),
            ("partition", &job.partition),
            ("account", &job.account),
        ] {
            options.extend(value.iter().map(|value| format!("--{option}={value}")));
        }
        options.push(format!("--output={}", log_word(&self.logs, log)));
        options.extend(job.sbatch.iter().cloned());
        options.iter().map(|option| format!("#SBATCH {option}\n")).collect()
    }
}

/// A command as one would type it; `program` is shell already.
pub(super) fn command_text(program: &str, words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("{program} {}", words.join(" "))
}

/// A word as a shell needs it.
pub(super) fn shell_word(word: &str) -> String {
    quoted(word)
}

/// A file name as `#SBATCH` lines need it: they have quotes of their own, and `%` means something.
fn log_word(folder: &str, name: &str) -> String {
    let folder = folder.replace('%', "%%");
    if quoted(&folder) == folder {
        return format!("{folder}/{name}");
    }
    let escaped = folder.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}/{name}\"")
}

/// A name that needs no quotes anywhere.
fn job_name(folder: &str) -> String {
    let name = folder.trim_end_matches('/').rsplit('/').next().unwrap_or(folder);
    let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
    format!("trustvb-{}", name.chars().map(plain).collect::<String>())
}

/// `1-3,7`, as `--array` takes it.
pub(super) fn array_ranges(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &n in numbers {
        match ranges.last_mut() {
            Some((_, end)) if *end + 1 == n => *end = n,
            _ => ranges.push((n, n)),
        }
    }
    let text = |&(a, b): &(u32, u32)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_short() {
        assert_eq!(array_ranges(&[1, 2, 3, 7, 9, 10]), "1-3,7,9-10");
        assert_eq!(array_ranges(&[4]), "4");
    }

    #[test]
    fn odd_names_do_not_end_a_directive() {
        assert_eq!(log_word("/home/ann/a.slurm", "x-%j.log"), "/home/ann/a.slurm/x-%j.log");
        assert_eq!(log_word("/a b/100%", "x-%j.log"), "\"/a b/100%%/x-%j.log\"");
        assert_eq!(log_word("/a\"b#c", "x.log"), "\"/a\\\"b#c/x.log\"");
        assert_eq!(job_name("runs/my table.tvb/"), "trustvb-my_table.tvb");
    }
}

//! Steps of a task, one after the other until one fails, and what each of them cost.

use std::time::{Duration, Instant};

/// The steps that have passed.
pub(crate) struct Steps {
    task: &'static str,
    passed: Vec<(String, Duration)>,
}

impl Steps {
    /// No step of this task yet.
    pub(crate) fn new(task: &'static str) -> Steps {
        Steps { task, passed: Vec::new() }
    }

    /// Makes a step and says how long it took; the error names it.
    pub(crate) fn step<T>(
        &mut self,
        name: &str,
        work: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, String> {
        let began = Instant::now();
        let made = work().map_err(|why| format!("step failed: {name}\n  {why}"))?;
        println!("xtask: {name}: passed in {:.1} s", began.elapsed().as_secs_f64());
        self.passed.push((name.to_owned(), began.elapsed()));
        Ok(made)
    }

    /// Says what passed and what it cost.
    pub(crate) fn finish(self) {
        println!("\n{}", self.summary());
    }

    fn summary(&self) -> String {
        let total: Duration = self.passed.iter().map(|(_, time)| *time).sum();
        let width = self.passed.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let line = |(name, time): &(String, Duration)| {
            format!("  {name:width$}  {:>7.1} s\n", time.as_secs_f64())
        };
        let lines: String = self.passed.iter().map(line).collect();
        let (count, minutes) = (self.passed.len(), total.as_secs_f64() / 60.0);
        format!("{lines}xtask {}: {count} steps passed in {minutes:.1} minutes", self.task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_has_every_step_that_passed() {
        let mut steps = Steps::new("test");
        steps.passed.push(("tests".to_owned(), Duration::from_millis(90_040)));
        steps.passed.push(("format".to_owned(), Duration::from_secs(30)));
        let summary =
            "  tests      90.0 s\n  format     30.0 s\nxtask test: 2 steps passed in 2.0 minutes";
        assert_eq!(steps.summary(), summary);
        let failed = steps.step::<()>("lints", || Err("why".to_owned()));
        assert_eq!(failed, Err("step failed: lints\n  why".to_owned()));
        assert_eq!(steps.passed.len(), 2);
    }
}

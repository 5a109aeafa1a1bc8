//! How much memory there is, asked before anything large is made: a process that runs out of it ends without a word.

use crate::remedy::{Advise, Remedy};
use std::fs;

/// Work that would not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} would need about {} of memory, and {} are free", in_words(*needed), in_words(*free))]
pub struct TooLarge {
    /// The work.
    pub what: String,
    /// Bytes it needs.
    pub needed: u64,
    /// Bytes there are.
    pub free: u64,
    /// What to do.
    pub remedies: Vec<Remedy>,
}

impl Advise for TooLarge {
    fn remedies(&self) -> Vec<Remedy> {
        self.remedies.clone()
    }
}

/// Refuses what would need more bytes than are free. Where nobody can say how many are, only what no machine has
/// is refused.
pub fn check(what: &str, bytes: f64, remedies: &[Remedy]) -> Result<(), TooLarge> {
    let free = free().unwrap_or(NO_MACHINE);
    if bytes <= free as f64 {
        return Ok(());
    }
    let (what, remedies) = (what.to_owned(), remedies.to_vec());
    Err(TooLarge { what, needed: bytes as u64, free, remedies })
}

/// 64 TB.
const NO_MACHINE: u64 = 1 << 46;

/// Bytes that this process can still have: the least of what the machine has, what the control group of a
/// cluster or container allows, and what the shell's limit leaves. `None` where nobody says.
fn free() -> Option<u64> {
    let machine = kilobytes(&read("/proc/meminfo"), "MemAvailable:");
    [machine, in_group(), below_limit()].into_iter().flatten().min()
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The number after a label of `/proc`, which counts in kilobytes.
fn kilobytes(text: &str, label: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(label))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// What the control group, or any above it, still allows.
fn in_group() -> Option<u64> {
    let own = read("/proc/self/cgroup");
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?.to_owned();
    let mut folder = format!("/sys/fs/cgroup{}", path.trim_end_matches('/'));
    let mut least = None;
    while folder.len() >= "/sys/fs/cgroup".len() {
        let number = |file: &str| read(&format!("{folder}/{file}")).trim().parse::<u64>().ok();
        if let (Some(most), Some(used)) = (number("memory.max"), number("memory.current")) {
            // Pages of files that were read are given back when they are needed.
            let cache = read(&format!("{folder}/memory.stat"));
            let cache = cache.lines().find_map(|line| line.strip_prefix("inactive_file "));
            let cache = cache.and_then(|n| n.trim().parse::<u64>().ok()).unwrap_or(0);
            let left = most.saturating_sub(used.saturating_sub(cache));
            least = Some(least.map_or(left, |known: u64| known.min(left)));
        }
        match folder.rfind('/') {
            Some(at) => folder.truncate(at),
            None => break,
        }
    }
    least
}

/// What `ulimit -v` leaves.
fn below_limit() -> Option<u64> {
    let limits = read("/proc/self/limits");
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let most = line.split_whitespace().next()?.parse::<u64>().ok()?;
    let used = kilobytes(&read("/proc/self/status"), "VmSize:")?;
    Some(most.saturating_sub(used))
}

/// `31 MB`.
pub(crate) fn in_words(bytes: u64) -> String {
    let (value, unit) = match bytes as f64 {
        n if n < 1e6 => (n / 1e3, "kB"),
        n if n < 1e9 => (n / 1e6, "MB"),
        n if n < 1e12 => (n / 1e9, "GB"),
        n => (n / 1e12, "TB"),
    };
    let digits = if value < 10.0 { 1 } else { 0 };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_nowhere_is_refused_with_both_sizes() {
        assert_eq!(check("nothing", 0.0, &[]), Ok(()));
        let error = check("a table of 9 fits", 1e30, &[Remedy::Do("ask for fewer")])
            .unwrap_err()
            .advised(crate::remedy::in_command);
        assert!(
            error.starts_with("a table of 9 fits would need about 18446744 TB of memory"),
            "{error}"
        );
        assert!(error.ends_with("are free; ask for fewer"), "{error}");
    }

    #[test]
    fn sizes_have_words() {
        assert_eq!(
            kilobytes("A: 1 kB\nMemAvailable:   24105 kB\n", "MemAvailable:"),
            Some(24105 << 10)
        );
        assert_eq!(kilobytes("A: 1 kB\n", "MemAvailable:"), None);
        assert_eq!((in_words(31_400_000).as_str(), in_words(2_500).as_str()), ("31 MB", "2.5 kB"));
    }
}

//! Throws mutated files, formulas, quantities and requests at everything that reads what others wrote; none may panic.
//!
//! `cargo xtask fuzz --minutes 5` runs it. Same seed, same inputs. What was found before is kept in `fuzz/corpus` and
//! tried first; what is found is written there, to be kept with the fix.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a tool that talks to its user"
)]

#[path = "fuzz/mutate.rs"]
mod mutate;
#[path = "fuzz/target.rs"]
mod target;

use mutate::Mutator;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use target::Target;

/// An input that takes longer than this is a finding, too.
const PATIENCE: Duration = Duration::from_secs(30);

/// The input at hand, for the watchdog.
static AT_HAND: Mutex<Option<(Instant, String, Vec<u8>)>> = Mutex::new(None);

/// Panics since the last input.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// What the command line asks for.
struct Wanted {
    seed: u64,
    inputs: u64,
    minutes: f64,
    corpus: PathBuf,
}

fn wanted() -> Wanted {
    let mut wanted = Wanted {
        seed: 1,
        inputs: u64::MAX,
        minutes: f64::INFINITY,
        corpus: Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus"),
    };
    let words: Vec<String> = std::env::args().skip(1).collect();
    for pair in words.chunks(2) {
        match (pair[0].as_str(), pair.get(1)) {
            ("--seed", Some(text)) => wanted.seed = text.parse().expect("a number"),
            ("--inputs", Some(text)) => wanted.inputs = text.parse().expect("a number"),
            ("--minutes", Some(text)) => wanted.minutes = text.parse().expect("a number"),
            ("--corpus", Some(text)) => wanted.corpus = PathBuf::from(text),
            _ => panic!("usage: fuzz [--seed N] [--inputs N] [--minutes X] [--corpus FOLDER]"),
        }
    }
    wanted
}

fn main() {
    let wanted = wanted();
    // Panics are noted wherever they happen, on the explorer's threads too. Those of the Parquet decoder are its
    // own: the library catches them and calls the file damaged.
    std::panic::set_hook(Box::new(|info| {
        let decoder = info.location().is_some_and(|place| place.file().contains("/parquet-"));
        if !decoder && let Ok(mut panics) = PANICS.lock() {
            panics.push(info.to_string().replace('\n', " "));
        }
    }));
    watch(wanted.corpus.clone());
    let mut targets = target::all();
    let (mut tried, mut found) = (BTreeMap::<&str, u64>::new(), Vec::new());
    for target in &mut targets {
        for (name, input) in kept(&wanted.corpus, target.name) {
            *tried.entry(target.name).or_default() += 1;
            if let Some(why) = panics(target, &input) {
                found.push(format!("{}: kept input {name}: {why}", target.name));
            }
        }
    }
    let began = Instant::now();
    let mut mutator = Mutator::new(wanted.seed);
    let mut n = 0;
    while n < wanted.inputs && began.elapsed().as_secs_f64() < 60.0 * wanted.minutes {
        for target in &mut targets {
            for _ in 0..target.share {
                let input = mutator.mutate(&target.seeds, target.words);
                n += 1;
                *tried.entry(target.name).or_default() += 1;
                if let Some(why) = panics(target, &input) {
                    let file = keep(&wanted.corpus, target.name, &input);
                    found.push(format!("{}: {}: {why}", target.name, file.display()));
                }
            }
        }
    }
    for (name, count) in &tried {
        println!("{name}: {count} inputs");
    }
    let all: u64 = tried.values().sum();
    println!("fuzz: {all} inputs with seed {}, {} panics", wanted.seed, found.len());
    found.iter().for_each(|line| eprintln!("fuzz: {line}"));
    if !found.is_empty() {
        std::process::exit(1);
    }
}

/// The words of a panic, if the input causes one.
fn panics(target: &mut Target, input: &[u8]) -> Option<String> {
    *AT_HAND.lock().unwrap() = Some((Instant::now(), target.name.to_owned(), input.to_vec()));
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    *AT_HAND.lock().unwrap() = None;
    let noted = std::mem::take(&mut *PANICS.lock().unwrap());
    noted.into_iter().next().or_else(|| outcome.err().map(|_| "a panic".to_owned()))
}

/// Ends the run with the input that takes too long.
fn watch(corpus: PathBuf) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let at_hand = AT_HAND.lock().unwrap();
            if let Some((since, name, input)) = at_hand.as_ref()
                && since.elapsed() > PATIENCE
            {
                let file = keep(&corpus, name, input);
                eprintln!("fuzz: {name}: {} takes longer than {PATIENCE:?}", file.display());
                std::process::exit(1);
            }
        }
    });
}

/// Inputs of earlier findings.
fn kept(corpus: &Path, target: &str) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = std::fs::read_dir(corpus.join(target)) else { return Vec::new() };
    let mut inputs: Vec<(String, Vec<u8>)> = entries
        .filter_map(Result::ok)
        .filter_map(|e| {
            Some((e.file_name().to_string_lossy().into_owned(), std::fs::read(e.path()).ok()?))
        })
        .collect();
    inputs.sort();
    inputs
}

fn keep(corpus: &Path, target: &str, input: &[u8]) -> PathBuf {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hash = DefaultHasher::new();
    input.hash(&mut hash);
    let file = corpus.join(target).join(format!("{:016x}", hash.finish()));
    let _ = std::fs::create_dir_all(corpus.join(target));
    let _ = std::fs::write(&file, input);
    file
}

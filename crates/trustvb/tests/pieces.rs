//! A table of which only what is asked for was read answers as the whole table does, to the bit.

#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::simulate::Mixture;
use common::tables::Case;
use std::borrow::Cow;
use std::sync::atomic::AtomicBool;
use trustvb::calibrate::{Answer, Calibrator, Memory, Method};
use trustvb::data::Dataset;
use trustvb::functional::{Functional, Part};
use trustvb::location::Location;
use trustvb::table::{TableError, TableReader, TvbTable, save};

const LEVELS: [f64; 2] = [0.8, 0.95];

/// All that an answer says.
fn said(answer: &Answer) -> String {
    let numbers = [answer.omega, answer.estimate, answer.lower, answer.upper];
    let posterior: Vec<u64> = answer.posterior.parameters().iter().map(|x| x.to_bits()).collect();
    format!(
        "{} {} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        answer.functional,
        answer.method,
        numbers.map(f64::to_bits),
        answer.coverage.map(f64::to_bits),
        answer.coverage_se.map(f64::to_bits),
        answer.limits_se.map(|(a, b)| (a.to_bits(), b.to_bits())),
        answer.flags,
        answer.curve,
        posterior,
    )
}

fn compare(case: &Case, methods: &[Method]) {
    let folder = tempfile::tempdir().unwrap();
    let place = Location::from(folder.path().join("a.tvb"));
    save(&case.build(), &place).unwrap();
    let reader = TableReader::open(&place).unwrap();
    let texts =
        ["pi[1]", "mu[1,1]", "sd[2,b]", "mu[1,2] - mu[2,2]", "log(pi[2]) * mu[2,1]", "cor[1,1,2]"];
    let functionals: Vec<Functional> =
        texts.iter().map(|text| Functional::parse(text, reader.layout()).unwrap()).collect();
    let parts: Vec<&Part> = functionals.iter().flat_map(Functional::parts).collect();
    let whole = reader.whole().unwrap();
    assert!(!whole.is_thin());
    let calibrator = Calibrator::new(&whole, 60).unwrap();
    let never = AtomicBool::new(false);
    let expected: Vec<Vec<String>> = parts
        .iter()
        .map(|part| calibrator.answer_with(part, methods, &LEVELS, &Memory::default(), &never))
        .map(|answers| answers.unwrap().iter().map(said).collect())
        .collect();
    // All at once, a few at a time, and one by one.
    for most in [f64::INFINITY, 6.0 * reader.bytes() / reader.layout().len() as f64, 0.0] {
        let batches = reader.batches(&parts, methods, most);
        assert!(batches.iter().cloned().flatten().eq(0..parts.len()));
        for batch in batches {
            let table = reader.for_parts(&parts[batch.clone()], methods).unwrap();
            assert!(table.is_thin());
            assert_eq!(table.n_fits(), whole.n_fits());
            let numbers = |t: &trustvb::table::TvbTable| -> usize {
                t.paths().map(|(_, path)| path.parameters.len()).sum()
            };
            assert!(numbers(&table) <= numbers(&whole));
            let calibrator = Calibrator::new(&table, 60).unwrap();
            let found =
                calibrator.answer_all(&parts[batch.clone()], methods, &LEVELS, &never, &|| ());
            let found: Vec<Vec<String>> =
                found.unwrap().iter().map(|answers| answers.iter().map(said).collect()).collect();
            assert_eq!(found, expected[batch.clone()]);
            // Asked one by one, parts are read again where need be, and nothing else changes.
            let one = calibrator.answer(parts[batch.start], methods, &LEVELS).unwrap();
            assert_eq!(one.iter().map(said).collect::<Vec<_>>(), expected[batch.start]);
            let refused = save(&table, &Location::from(folder.path().join("b.tvb")));
            assert!(matches!(refused, Err(TableError::Thin)));
        }
    }
}

/// Two components that overlap, so that some resamples exchange them.
fn data(n: usize) -> Dataset {
    let mixture = Mixture::new(11, n, 2, 2, 1.2);
    Dataset::from_columns(vec!["a".into(), "b".into()], mixture.columns).unwrap()
}

#[test]
fn a_table_in_pieces_answers_as_the_whole() {
    let case = Case::gmm(data(150), 2).grid(12, 0.02).bootstraps(45, 30);
    compare(&case, &[Method::Balanced, Method::Vb, Method::Tvb]);
    compare(
        &case,
        &[Method::Tempered, Method::Gpc, Method::Anchored, Method::Bootstrap, Method::Jackknife],
    );
}

#[test]
fn so_does_one_of_little_bootstraps() {
    let case = Case::gmm(data(3000), 2).grid(3, 0.5).bootstraps(24, 0).subsets(3);
    compare(&case, &[Method::Balanced, Method::Vb, Method::Anchored]);
}

#[test]
fn a_table_that_was_not_read_reads_what_is_asked() {
    let case = Case::gmm(data(150), 2).grid(12, 0.02).bootstraps(45, 30);
    let folder = tempfile::tempdir().unwrap();
    let place = Location::from(folder.path().join("a.tvb"));
    save(&case.build(), &place).unwrap();
    let reader = TableReader::open(&place).unwrap();
    assert!(!reader.up_to(TableReader::WHOLE).unwrap().is_thin());
    let (whole, lean) = (reader.whole().unwrap(), reader.up_to(0.0).unwrap());
    assert!(lean.is_thin());
    assert_eq!(lean.n_fits(), whole.n_fits());
    // The full-data fits are there, as pictures and summaries need them.
    assert_eq!(lean.full_data_posterior(0.3), whole.full_data_posterior(0.3));
    let functional = Functional::parse("mu[1,]", reader.layout()).unwrap();
    let parts: Vec<&Part> = functional.parts().iter().collect();
    let methods = [Method::Balanced, Method::Vb, Method::Tvb];
    let never = AtomicBool::new(false);
    let answers = |table: &TvbTable, known: &[&Memory]| -> Vec<String> {
        let how = (&methods[..], &LEVELS[..], 60);
        let found = table.answer_all(&parts, known, how, &never, &|| ()).unwrap();
        found.iter().flatten().map(said).collect()
    };
    let expected = answers(&whole, &[]);
    assert_eq!(answers(&lean, &[]), expected);
    let memories = [Memory::default(), Memory::default()];
    for _ in 0..2 {
        assert_eq!(answers(&lean, &memories.each_ref()), expected);
    }
    assert!(memories[1].bytes() > 0);
    let curve = |table: &TvbTable| {
        let table = table.for_parts(&parts[..1], &[Method::Anchored]).unwrap();
        Calibrator::new(&table, 60).unwrap().curve(parts[0], Method::Vb, 0.9, 1).unwrap()
    };
    assert_eq!(format!("{:?}", curve(&lean)), format!("{:?}", curve(&whole)));
    // What was read is not read again.
    let read = lean.for_parts(&parts, &[Method::Anchored]).unwrap();
    let is_read = |methods: &[Method]| {
        matches!(read.for_parts(&parts[1..], methods).unwrap(), Cow::Borrowed(_))
    };
    assert!(is_read(&[Method::Gpc]) && is_read(&[Method::Balanced]) && !is_read(&[Method::Tvb]));
    assert!(lean.whole().unwrap().paths().eq(whole.paths()));
    // All bytes are checked, also those that nobody asked for.
    let part = folder.path().join("a.tvb/parts/full-00001.parquet");
    let mut bytes = std::fs::read(&part).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&part, bytes).unwrap();
    let how = (&methods[..1], &LEVELS[..], 60);
    let why = lean.answer_all(&parts, &[], how, &never, &|| ()).unwrap_err().to_string();
    assert!(why.contains("full-00001.parquet") && why.contains("checksum"), "{why}");
}

//! Each design is fitted at the ω that somebody reads: the same numbers from fewer fits, in memory and on disk.

#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::tables::bits;
use trustvb::backend::{Cpu, Job};
use trustvb::calibrate::{Answer, Calibrator, Method};
use trustvb::data::Dataset;
use trustvb::functional::Functional;
use trustvb::location::Location;
use trustvb::model::GaussianMixture;
use trustvb::problem::Problem;
use trustvb::resample::Design;
use trustvb::table::{
    Blueprint, Plan, Shard, TableReader, TvbTable, Watch, check, diff, info, merge, open,
};

const USUAL: [Method; 3] = [Method::RECOMMENDED, Method::Vb, Method::Tvb];
const EVERY: [Method; 5] =
    [Method::RECOMMENDED, Method::Vb, Method::Tvb, Method::Gpc, Method::Anchored];
const BOOTSTRAPS: u32 = 45;
const GRID: usize = 9;

fn problem() -> Problem {
    GaussianMixture::new(2).bind(Dataset::faithful()).unwrap()
}

fn blueprint(methods: &[Method]) -> Blueprint {
    let plan = Plan { bootstraps: BOOTSTRAPS, grid: GRID, ..Plan::for_methods(5, methods) };
    problem().table().plan(plan).check().unwrap()
}

fn built(methods: &[Method]) -> TvbTable {
    blueprint(methods).build(&Cpu, &Watch::silent()).unwrap()
}

/// Every number of every answer by the usual methods, with what is said of it.
fn answers(table: &TvbTable) -> Vec<(Method, Vec<u64>, Vec<&'static str>)> {
    let calibrator = Calibrator::new(table, 60).unwrap();
    let of = |a: Answer| {
        let coverage = [a.coverage.unwrap_or(-1.0), a.coverage_se.unwrap_or(-1.0)];
        let numbers = [a.estimate, a.lower, a.upper, a.omega, coverage[0], coverage[1]];
        let curve = a.curve.iter().flat_map(|point| [point.omega, point.coverage]);
        let numbers = numbers.into_iter().chain(curve).map(f64::to_bits).collect();
        (a.method, numbers, a.flags.iter().map(|flag| flag.name()).collect())
    };
    ["pi[1]", "mu[1,waiting] - mu[2,waiting]", "sd[2,eruptions]"]
        .iter()
        .flat_map(|text| {
            let asked = Functional::parse(text, table.layout()).unwrap();
            let all = calibrator.answer(&asked.parts()[0], &USUAL, &[0.5, 0.95]).unwrap();
            all.into_iter().map(of).collect::<Vec<_>>()
        })
        .collect()
}

fn fits(table: &TvbTable, design: Design, replicate: u32) -> usize {
    table.path(Job { design, replicate }).unwrap().status.len()
}

#[test]
fn a_design_has_the_grid_if_a_method_reads_one_there() {
    let (usual, every) = (built(&USUAL), built(&EVERY));
    for (table, full) in [(&usual, 1), (&every, GRID)] {
        assert_eq!(fits(table, Design::Full, 0), GRID, "the full data");
        assert_eq!(fits(table, Design::Full, 7), full);
        assert_eq!(fits(table, Design::Split, 0), GRID);
        assert_eq!(fits(table, Design::Split, 7), GRID);
    }
    assert_eq!(answers(&usual), answers(&every));
    assert_eq!(usual.n_fits(), GRID + BOOTSTRAPS as usize + (BOOTSTRAPS as usize + 1) * GRID);
    // Gpc reads all units, tvb the halves; those that read no grid have none.
    let alone = built(&[Method::Gpc]);
    assert_eq!((fits(&alone, Design::Full, 3), alone.omegas_of(Design::Full).len()), (GRID, GRID));
    assert_eq!(built(&[Method::RECOMMENDED, Method::Vb]).omegas(), [1.0]);
}

#[test]
fn a_method_that_reads_a_grid_is_refused_where_there_is_none() {
    let usual = built(&USUAL);
    assert!(Method::Tvb.is_possible(&usual) && !Method::Anchored.is_possible(&usual));
    let refused = usual.ask("pi[1]").unwrap().by(&[Method::Anchored]).unwrap_err().to_string();
    assert!(refused.contains("fits of bootstraps of all units below ω = 1"), "{refused}");
    // The curve of VB's own is what is there of it.
    let asked = Functional::parse("pi[1]", usual.layout()).unwrap();
    let calibrator = Calibrator::new(&usual, 60).unwrap();
    assert_eq!(calibrator.curve(&asked.parts()[0], Method::Vb, 0.95, 1).unwrap().len(), 1);
}

#[test]
fn a_table_on_disk_knows_what_each_design_has() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| Location::parse(folder.path().join(name).to_str().unwrap()).unwrap();
    let silent = Watch::silent();
    let (usual, memory) = (blueprint(&USUAL), built(&USUAL));
    let place = at("whole");
    usual.build_in(&place, true, Shard::default(), &Cpu, &silent).unwrap();
    let kept = open(&place).unwrap();
    assert_eq!(bits(&kept), bits(&memory));
    assert_eq!((kept.manifest().schema, kept.is_checked()), (4, true));
    // Read in pieces, and asked.
    let thin = TableReader::open(&place).unwrap().up_to(0.0).unwrap();
    let asked = Functional::parse("pi[1]", thin.layout()).unwrap();
    let parts = [&asked.parts()[0]];
    let some = thin.for_parts(&parts, &USUAL).unwrap();
    let answer = |table: &TvbTable| {
        let all = Calibrator::new(table, 60).unwrap().answer(parts[0], &USUAL, &[0.9]).unwrap();
        all.into_iter().map(|a| (a.lower.to_bits(), a.upper.to_bits())).collect::<Vec<_>>()
    };
    assert_eq!(answer(&some), answer(&memory));
    // What is missing is made again.
    std::fs::remove_file(folder.path().join("whole/parts/full-00000.parquet")).unwrap();
    std::fs::remove_file(folder.path().join("whole/parts/split-00001.parquet")).unwrap();
    assert_eq!(info(&place).unwrap().missing_parts.len(), 2);
    usual.build_in(&place, true, Shard::default(), &Cpu, &silent).unwrap();
    let (seen, sound) = (info(&place).unwrap(), check(&place).unwrap());
    assert!(seen.is_complete() && sound.is_sound());
    let expected = memory.n_fits();
    assert_eq!(seen.fits.iter().flatten().sum::<usize>(), expected);
    assert_eq!(seen.fits[0].iter().sum::<usize>(), 2 * BOOTSTRAPS as usize + 2);
    // Shards that are put together.
    for number in 1..=2 {
        let shard = Shard { number, of: 2 };
        usual.build_in(&at(&format!("s{number}")), true, shard, &Cpu, &silent).unwrap();
    }
    merge(&at("merged"), &[at("s1"), at("s2")]).unwrap();
    let difference = diff(&at("merged"), &place).unwrap();
    assert!(difference.is_empty());
    assert_eq!(difference.same_fits, expected);
}

#[test]
fn a_table_with_the_grid_everywhere_is_what_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let place = Location::parse(folder.path().join("t").to_str().unwrap()).unwrap();
    blueprint(&EVERY).build_in(&place, true, Shard::default(), &Cpu, &Watch::silent()).unwrap();
    let manifest = std::fs::read_to_string(folder.path().join("t/manifest.json")).unwrap();
    assert!(manifest.contains("\"schema\": 3") && !manifest.contains("at_one"), "{manifest}");
    let kept = open(&place).unwrap();
    assert!(kept.is_checked());
    assert_eq!(answers(&kept), answers(&built(&USUAL)));
    // It is not the table of the usual methods, and what differs is said first.
    let refused = blueprint(&USUAL).claim(&place, true).unwrap_err().to_string();
    assert!(refused.contains("its at_one is null, here it is [\"full\"]"), "{refused}");
}

#[test]
fn a_table_gains_the_grid_of_one_design_and_keeps_the_others() {
    let silent = Watch::silent();
    let (first, usual, every) = (built(&[Method::RECOMMENDED]), built(&USUAL), built(&EVERY));
    let n = BOOTSTRAPS as usize;
    // Bootstraps of all units are there; the full data go on from their first fit.
    assert_eq!(blueprint(&USUAL).known_fits(&first), n + 1);
    let grown = blueprint(&USUAL).extend(&first, &Cpu, &silent).unwrap();
    assert_eq!(bits(&grown), bits(&usual));
    // Splits and the full data are there; bootstraps of all units go on.
    assert_eq!(blueprint(&EVERY).known_fits(&usual), usual.n_fits());
    let grown = blueprint(&EVERY).extend(&usual, &Cpu, &silent).unwrap();
    assert_eq!(bits(&grown), bits(&every));
    // And what is longer than it need be is cut.
    assert_eq!(blueprint(&USUAL).known_fits(&every), usual.n_fits());
    let cut = blueprint(&USUAL).extend(&every, &Cpu, &silent).unwrap();
    assert_eq!(bits(&cut), bits(&usual));
}

#[test]
fn the_words_of_a_table_ask_for_the_same_designs() {
    for (methods, words) in [
        (&USUAL[..], "balanced,vb,tvb"),
        (&EVERY, "vb,tvb,anchored"),
        (&[Method::RECOMMENDED], "balanced,vb"),
        (&[Method::Gpc], "vb,anchored"),
        (&[Method::Tvb], "vb,tvb"),
    ] {
        let manifest = blueprint(methods).manifest();
        let said = manifest.words(true).words;
        let at = said.iter().position(|word| word == "--method").unwrap();
        let named: Vec<Method> =
            said[at + 1].split(',').map(|name| name.parse().unwrap()).collect();
        assert_eq!(said[at + 1].replace("recommended", "balanced"), words);
        assert_eq!(blueprint(&named).settings, blueprint(methods).settings, "{words}");
    }
}

#[test]
fn estimates_count_the_fits_that_are_made() {
    let cost = blueprint(&USUAL).estimate(std::time::Duration::from_millis(50)).unwrap();
    assert_eq!(cost.fits, built(&USUAL).n_fits());
    assert_eq!(cost.paths, 2 * BOOTSTRAPS as usize + 2);
}

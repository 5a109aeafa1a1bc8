//! Rows that are not in memory: the answers that memory gives.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rand_distr::{Distribution, StandardNormal};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use trustvb::calibrate::Method;
use trustvb::data::{DataError, Dataset, Frame, Pieces, ReadOptions, read_path};
use trustvb::fit::{FitOptions, InfluenceError, Linearisation, Start, Stopping, fit};
use trustvb::model::{
    Degenerate, FarRows, GaussianMixture, Gmm, GmmPrior, Model, ModelData, Pass, PassKind,
    RowKeeper, RowsPart, RowsSummary, Source, TakePieces, Update, Wished, Wishes,
};
use trustvb::posterior::Posterior;
use trustvb::problem::Problem;
use trustvb::random::{Purpose, stream};
use trustvb::remedy::Advise;
use trustvb::resample::Subsets;
use trustvb::table::{BuildError, Plan, PlanError, TvbTable};

/// Rows of three overlapping clusters; the first column is far from zero.
fn rows(n: usize, p: usize) -> Dataset {
    let mut rng = stream(1, Purpose::Simulate, (n + p) as u64);
    let mut columns = vec![Vec::with_capacity(n); p];
    for i in 0..n {
        let centre = [0.0, 2.5, -2.0][[0, 0, 0, 1, 1, 2][i % 6]];
        for (j, column) in columns.iter_mut().enumerate() {
            let noise: f64 = StandardNormal.sample(&mut rng);
            let far = if j == 0 { 5e4 } else { 0.0 };
            column.push(far + centre * (1.0 - 0.02 * j as f64) + noise);
        }
    }
    Dataset::from_columns((1..=p).map(|j| format!("x{j}")).collect(), columns).unwrap()
}

/// Rows in parts of unequal lengths.
#[derive(Debug)]
struct Parts {
    parts: Vec<RowsPart>,
    /// Passes so far, and after how many they fail.
    passes: AtomicUsize,
    fails_after: usize,
}

impl RowKeeper for Parts {
    fn sums(&self, pass: &Pass) -> Result<Vec<f64>, String> {
        if self.passes.fetch_add(1, Ordering::Relaxed) >= self.fails_after {
            return Err("the cable is cut".to_owned());
        }
        // As if it had travelled.
        let pass = Pass::from_numbers(&pass.to_numbers())?;
        let mut all = vec![0.0; pass.n_sums()];
        for part in &self.parts {
            all.iter_mut().zip(part.sums(&pass)?).for_each(|(all, x)| *all += x);
        }
        Ok(all)
    }

    fn rows(&self, units: (&[f64], &[f64]), numbers: &[usize]) -> Result<Vec<f64>, String> {
        let mut all = Vec::new();
        for &number in numbers {
            let mut left = number;
            for part in &self.parts {
                if left < part.summary().n_rows {
                    all.extend(part.rows(units, &[left])?);
                    break;
                }
                left -= part.summary().n_rows;
            }
        }
        Ok(all)
    }
}

fn parts(data: &Dataset, ends: &[usize], fails_after: usize) -> FarRows {
    let part = |window: &[usize]| {
        let column = |j: usize| data.column(j)[window[0]..window[1]].to_vec();
        let columns = (0..data.n_columns()).map(column).collect();
        RowsPart::new(&Dataset::from_columns(data.names().to_vec(), columns).unwrap())
    };
    let ends: Vec<usize> = [0].iter().chain(ends).chain([&data.n_rows()]).copied().collect();
    let parts: Vec<RowsPart> = ends.windows(2).map(part).collect();
    let known: Vec<RowsSummary> = parts.iter().map(|part| part.summary().clone()).collect();
    let known = RowsSummary::merged("parts", &known).unwrap();
    let passes = AtomicUsize::new(0);
    FarRows::new("parts", known, Arc::new(Parts { parts, passes, fails_after }))
}

/// A file, read in pieces of a given length.
struct File<'a>(&'a Path, usize);

impl Source for File<'_> {
    fn frame(&self, options: ReadOptions<'_>) -> Result<Frame, DataError> {
        read_path(self.0, &options)
    }
    fn pieces(&self, options: ReadOptions<'_>, take: &mut TakePieces<'_>) -> Result<(), DataError> {
        take(&mut Pieces::open(self.0, &options, self.1)?)
    }
    fn path(&self) -> Option<&Path> {
        Some(self.0)
    }
}

fn written(data: &Dataset, folder: &Path) -> std::path::PathBuf {
    let mut text = data.names().join(",");
    for i in 0..data.n_rows() {
        let cells: Vec<String> =
            (0..data.n_columns()).map(|j| data.column(j)[i].to_string()).collect();
        write!(text, "\n{}", cells.join(",")).unwrap();
    }
    let path = folder.join("rows.csv");
    std::fs::write(&path, text).unwrap();
    path
}

fn streamed(path: &Path, rows_per_piece: usize) -> ModelData {
    let wishes = Wishes { stream: true, ..Wishes::new(2) };
    let Wished { data, .. } = wishes.model().grant(&wishes, &File(path, rows_per_piece)).unwrap();
    assert!(data.is_far());
    data
}

fn close(got: &Posterior, expected: &Posterior, tolerance: f64) {
    let p = expected.layout().coordinates.len();
    for (i, (a, b)) in got.parameters().iter().zip(expected.parameters()).enumerate() {
        let size = b.abs().max(1e-6);
        assert!((a - b).abs() < tolerance * size, "parameter {i} of {p} columns: {a} {b}");
    }
}

fn gmm(data: &Dataset, k: usize) -> Gmm {
    Gmm::new(data, k, GmmPrior::default(), Update::Corrected).unwrap()
}

fn far_gmm(far: &FarRows, k: usize) -> Gmm {
    Gmm::far(far, k, GmmPrior::default(), Update::Corrected).unwrap()
}

fn tight() -> FitOptions {
    FitOptions { stopping: Stopping::Relative(1e-11), ..FitOptions::default() }
}

#[test]
fn fits_from_the_same_centres_agree() {
    for (n, p, k) in [(50_000, 2, 3), (50_000, 5, 3), (9_000, 34, 2), (45_001, 1, 2)] {
        let data = rows(n, p);
        let held = gmm(&data, k);
        let centres: Vec<f64> = (0..k)
            .flat_map(|c| {
                (0..p).map(move |j| (c as f64 - 1.0) * 2.0 + if j == 0 { 5e4 } else { 0.0 })
            })
            .collect();
        let start = Start::Centres(centres);
        let expected = fit(&held, None, 1.0, &start, &tight(), &mut |_| ()).unwrap();
        let far = far_gmm(&parts(&data, &[1000, 1001, 30_000.min(n / 2)], usize::MAX), k);
        assert!(far.is_far() && !held.is_far());
        let found = fit(&far, None, 1.0, &start, &tight(), &mut |_| ()).unwrap();
        close(&found.posterior, &expected.posterior, 1e-8);
        let bound = (found.outcome.bound - expected.outcome.bound).abs();
        assert!(bound < 1e-10 * expected.outcome.bound.abs());
        let ratios = |model: &Gmm| model.made_by_prior(&expected.posterior, None);
        for (a, b) in ratios(&far).iter().zip(ratios(&held)) {
            assert!((a - b).abs() < 1e-8, "{a} {b}");
        }
    }
}

#[test]
fn influence_is_that_of_rows_in_memory() {
    for (n, p, k) in [(30_000, 2, 2), (30_000, 3, 3)] {
        let data = rows(n, p);
        let (held, far) = (gmm(&data, k), far_gmm(&parts(&data, &[9_999], usize::MAX), k));
        let start = Start::KMeans { restarts: 2, seed: 1 };
        let at = fit(&held, None, 1.0, &start, &tight(), &mut |_| ()).unwrap();
        let weight = |q: &Posterior| q.weights()[0];
        let mean =
            |q: &Posterior| q.normal_wishart("mu_lambda", 1).map_or(f64::NAN, |b| b.mean()[0]);
        let h: [&dyn Fn(&Posterior) -> f64; 2] = [&weight, &mean];
        // With a matrix, and without.
        for dense in [1000, 0] {
            let expected = Linearisation::with_limit(&held, None, 1.0, &at.state, dense).unwrap();
            let found = Linearisation::with_limit(&far, None, 1.0, &at.state, dense).unwrap();
            for h in h {
                let (a, b) = (found.sd(&far, h).unwrap(), expected.influence(&held, h).unwrap().sd);
                assert!((a - b).abs() < 1e-7 * b, "{a} {b}");
                assert_eq!(expected.sd(&held, h).unwrap(), b);
            }
            let each = found.influence(&far, h[0]).unwrap_err();
            assert_eq!(each, InfluenceError::Far);
        }
    }
}

#[test]
fn a_streamed_file_has_the_bits_of_memory() {
    let folder = tempfile::tempdir().unwrap();
    // Few rows are fetched as a whole, of many some are.
    for (n, p, k) in [(3_000, 2, 2), (120_000, 2, 3)] {
        let data = rows(n, p);
        let path = written(&data, folder.path());
        let problem =
            |data: ModelData| Problem::new(trustvb::model::GaussianMixture::new(k), data).unwrap();
        let expected = problem(data.clone().into()).fit().seed(7).run().unwrap();
        for rows_per_piece in [1 << 16, 777] {
            let far = problem(streamed(&path, rows_per_piece));
            let found = far.fit().seed(7).run().unwrap();
            assert_eq!(found.posterior.parameters(), expected.posterior.parameters());
            assert_eq!(found.outcome.sweeps, expected.outcome.sweeps);
            let one = |problem: &Problem| problem.fit().starts(1).seed(3).run().unwrap();
            let (a, b) = (one(&far), one(&problem(data.clone().into())));
            assert_eq!(a.posterior.parameters(), b.posterior.parameters());
        }
    }
}

fn mixture(data: ModelData) -> Problem {
    Problem::new(GaussianMixture::new(2), data).unwrap()
}

/// A table of little bootstraps with a short grid.
fn little(problem: &Problem) -> Result<TvbTable, BuildError> {
    let plan = Plan {
        subsets: Some(Subsets::of(problem.n_units(), 3)),
        grid: 4,
        omega_min: 0.2,
        bootstraps: 10,
        ..Plan::for_methods(5, &[Method::Balanced, Method::Anchored])
    };
    problem.table().plan(plan).build()
}

#[test]
fn little_bootstraps_have_the_bits_of_memory() {
    let folder = tempfile::tempdir().unwrap();
    // Few rows are fetched as a whole, of many some are.
    for n in [3_000, 90_000] {
        let data = rows(n, 2);
        let path = written(&data, folder.path());
        let expected = little(&mixture(data.clone().into())).unwrap();
        assert_eq!(expected.paths().count(), 1 + 10 + 3);
        let found = little(&mixture(streamed(&path, 1 << 16))).unwrap();
        assert!(found.paths().eq(expected.paths()));
        let ask = |table: &TvbTable| table.ask("mu[1,x2]").unwrap().recommended().unwrap();
        let (a, b) = (ask(&found), ask(&expected));
        assert_eq!((a.method, a.lower, a.upper), (Method::Balanced, b.lower, b.upper));
        // On other machines sums are added in another order.
        let apart = little(&mixture(parts(&data, &[1000, n / 2], usize::MAX).into())).unwrap();
        for ((job, a), (other, b)) in apart.paths().zip(expected.paths()) {
            assert_eq!(job, other);
            for (a, b) in a.parameters.iter().zip(&b.parameters) {
                assert!((a - b).abs() < 1e-4 * b.abs().max(1e-3), "{job:?}: {a} {b}");
            }
        }
    }
}

#[test]
fn resamples_of_all_rows_are_refused_with_a_way_out() {
    let data = rows(3_000, 2);
    let problem = mixture(parts(&data, &[1000], usize::MAX).into());
    let why = problem.table().methods(&[Method::Bootstrap]).check().unwrap_err();
    assert_eq!(why, PlanError::Far);
    let said = why.advised(trustvb::remedy::in_command);
    assert!(said.contains("--subsets 10") && said.contains("jackknife"), "{said}");
    // Half samples cannot be drawn from subsets.
    let plan = Plan {
        subsets: Some(Subsets::of(3_000, 3)),
        ..Plan::for_methods(1, &[Method::Balanced, Method::Tvb])
    };
    assert_eq!(problem.table().plan(plan).check().unwrap_err(), PlanError::SubsetsAndSplits);
}

#[test]
fn rows_that_cannot_be_fetched_end_the_table_with_their_reason() {
    #[derive(Debug)]
    struct Sums(FarRows, RowsPart);
    impl RowKeeper for Sums {
        fn sums(&self, pass: &Pass) -> Result<Vec<f64>, String> {
            self.1.sums(pass)
        }
        fn rows(&self, units: (&[f64], &[f64]), numbers: &[usize]) -> Result<Vec<f64>, String> {
            // Starts look at others than subsets do.
            match numbers.len() == Subsets::of(self.0.summary().n_rows, 3).size as usize {
                true => Err("the cable is cut".to_owned()),
                false => self.1.rows(units, numbers),
            }
        }
    }
    let data = rows(90_000, 2);
    let (known, part) = (parts(&data, &[], usize::MAX), RowsPart::new(&data));
    let summary = known.summary().clone();
    let far = FarRows::new("parts", summary, Arc::new(Sums(known, part)));
    let why = little(&mixture(far.into())).unwrap_err().to_string();
    assert_eq!(why, "the rows cannot be read: the cable is cut");
}

#[test]
fn rows_that_do_not_come_end_the_fit_with_their_reason() {
    // So many that they are not fetched as a whole.
    let data = rows(90_000, 2);
    for passes in [1, 2, 9] {
        let far = far_gmm(&parts(&data, &[], passes), 2);
        let start = Start::KMeans { restarts: 10, seed: 1 };
        let why = match fit(&far, None, 1.0, &start, &FitOptions::default(), &mut |_| ()) {
            Err(why) => why,
            Ok(fit) => match fit.outcome.status {
                trustvb::fit::Status::Degenerate(why) => why,
                other => panic!("{other:?}"),
            },
        };
        assert_eq!(why, Degenerate::Rows("the cable is cut".to_owned()));
        assert!(why.to_string().contains("cannot be read: the cable is cut"));
    }
    // Weights would have to go where the rows are.
    let far = far_gmm(&parts(&data, &[], usize::MAX), 2);
    let refused = far.sweeper().load(Some(&vec![2.0; 90_000])).unwrap_err();
    assert!(refused.to_string().contains("in memory"), "{refused}");
}

#[test]
fn data_unfit_for_a_mixture_are_refused_as_in_memory() {
    let line: Vec<f64> = (0..90).map(f64::from).collect();
    let square: Vec<f64> = line.iter().map(|v| v * v).collect();
    let sum: Vec<f64> = line.iter().zip(&square).map(|(a, b)| 2.0 * a - b + 1.0).collect();
    let cases: [(Vec<Vec<f64>>, usize); 4] = [
        (vec![line.clone()], 91),
        (vec![line.clone(), vec![7.0; 90]], 2),
        (vec![line.clone(), square, sum], 2),
        (vec![line.iter().map(|x| x * 1e100).collect()], 2),
    ];
    for (columns, k) in cases {
        let names = (1..=columns.len()).map(|j| format!("x{j}")).collect();
        let data = Dataset::from_columns(names, columns).unwrap().with_source("parts");
        let (prior, update) = (GmmPrior::default(), Update::Corrected);
        let expected = Gmm::new(&data, k, prior.clone(), update).unwrap_err().to_string();
        let far = parts(&data, &[50], usize::MAX);
        assert_eq!(Gmm::far(&far, k, prior, update).unwrap_err().to_string(), expected);
    }
}

#[test]
fn parts_say_when_they_do_not_belong_together() {
    let part = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let columns = names.iter().map(|_| vec![1.0, 2.0, 4.0]).collect();
        RowsPart::new(&Dataset::from_columns(names, columns).unwrap())
    };
    let (one, two) = (part(&["a", "b"]), part(&["b", "a"]));
    let known = [one.summary().clone(), two.summary().clone()];
    let message = RowsSummary::merged("parts", &known).unwrap_err().to_string();
    assert!(message.contains("part 2 has the columns b, a"), "{message}");
    assert!(RowsSummary::merged("parts", &[]).is_err());
    let pass = |scale: f64| Pass {
        kind: PassKind::Statistics,
        n_components: 1,
        centre: vec![0.0; 2],
        scale: vec![scale; 2],
        densities: vec![0.0; 6],
        change: Vec::new(),
    };
    assert_eq!(one.sums(&pass(1.0)).unwrap()[..3], [3.0, 7.0, 7.0]);
    assert!(one.sums(&pass(2.0)).unwrap_err().contains("load them again"));
    let units = (&[0.0; 2][..], &[1.0; 2][..]);
    assert_eq!(one.rows(units, &[2, 0]).unwrap(), [4.0, 4.0, 1.0, 1.0]);
    assert!(one.rows(units, &[3]).is_err());
}

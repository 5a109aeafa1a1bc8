//! Columns that are plainly not as a model has them are named, and those that are as it has them are not.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::simulate::Mixture;
use rand_distr::{ChiSquared, Distribution, Exp1, LogNormal, Poisson, StandardNormal, Uniform};
use trustvb::calibrate::{Calibrator, Flag, Method, Misfit, Shape, misfits};
use trustvb::data::{Column, Dataset, Frame};
use trustvb::functional::Functional;
use trustvb::model::{ColumnMixture, ColumnType, Covariance, GaussianMixture};
use trustvb::problem::Problem;
use trustvb::random::{Purpose, stream};
use trustvb::weights::{UnitWeights, WeightKind, WeightsFrom};

fn named(columns: Vec<Vec<f64>>) -> Dataset {
    let names = (1..=columns.len()).map(|j| format!("x{j}")).collect();
    Dataset::from_columns(names, columns).unwrap()
}

fn found(problem: &Problem) -> Vec<Misfit> {
    let fit = problem.fit().run().unwrap();
    misfits(problem.model().as_ref(), &fit.posterior)
}

/// Two clouds, 8 apart, of which the second half of the rows is the first; `draw` makes a number with mean about 0.
fn two(rows: usize, mut draw: impl FnMut(usize) -> f64) -> Dataset {
    let mut columns = vec![Vec::new(), Vec::new()];
    for i in 0..rows {
        for (j, column) in columns.iter_mut().enumerate() {
            column.push(draw(j) + if i < rows * 2 / 5 { 8.0 } else { 0.0 });
        }
    }
    named(columns)
}

#[test]
fn where_the_model_holds_nothing_is_said() {
    for seed in 0..12 {
        for (n, k, p, apart) in
            [(80, 2, 2, 3.0), (300, 3, 3, 2.0), (900, 2, 1, 3.0), (900, 1, 5, 0.0)]
        {
            let data = named(Mixture::new(seed, n, p, k, apart).columns);
            for covariance in [Covariance::Full, Covariance::Tied] {
                let problem = GaussianMixture::new(k).covariance(covariance).bind(data.clone());
                assert_eq!(found(&problem.unwrap()), [], "{covariance}, seed {seed}, {n} rows");
            }
        }
    }
    for k in 1..=4 {
        let problem = GaussianMixture::new(k).bind(Dataset::faithful()).unwrap();
        assert_eq!(found(&problem).is_empty(), k > 1, "Old Faithful has two groups");
    }
}

#[test]
fn columns_of_other_shapes_are_named_with_their_components() {
    let rng = &mut stream(7, Purpose::Simulate, 0);
    let log_normal = LogNormal::new(0.0, 0.6).unwrap();
    let long = two(500, |_| log_normal.sample(rng));
    let chi_squared = ChiSquared::new(3.0).unwrap();
    let heavy = two(800, |_| {
        let z: f64 = StandardNormal.sample(rng);
        z / (chi_squared.sample(rng) / 3.0_f64).sqrt()
    });
    let exponential = two(500, |_| -Distribution::<f64>::sample(&Exp1, rng));
    let flat = Uniform::new(-1.7, 1.7).unwrap();
    let flat = two(800, |_| flat.sample(rng));
    for (data, shape) in [
        (long, Shape::LongAbove),
        (exponential, Shape::LongBelow),
        (heavy, Shape::HeavyTails),
        (flat, Shape::Flat),
    ] {
        let found = found(&GaussianMixture::new(2).bind(data).unwrap());
        for column in ["x1", "x2"] {
            assert!(found.iter().any(|m| m.column == column && m.component.is_some()), "{found:?}");
        }
        assert!(found.iter().filter(|m| m.shape == shape).count() >= 2, "{shape:?}: {found:?}");
    }
}

#[test]
fn only_the_column_that_does_not_fit_is_named() {
    let rng = &mut stream(8, Purpose::Simulate, 0);
    let log_normal = LogNormal::new(0.0, 0.7).unwrap();
    let data =
        two(600, |j| if j == 1 { log_normal.sample(rng) } else { StandardNormal.sample(rng) });
    let problem = GaussianMixture::new(2).bind(data).unwrap();
    let all = found(&problem);
    assert!(all.len() == 2 && all.iter().all(|m| m.column == "x2"), "{all:?}");
    // It is a flag of every interval.
    let table = problem.table().bootstraps(20).build().unwrap();
    let calibrator = Calibrator::new(&table, 400).unwrap();
    let pi = Functional::parse("pi[1]", table.layout()).unwrap();
    let answer = calibrator.answer(&pi.parts()[0], &[Method::RECOMMENDED], &[0.95]).unwrap();
    let flag = answer[0].flags.iter().find(|flag| flag.name() == "misfit").unwrap();
    assert!(flag.to_string().contains("`x2` in component"), "{flag}");
    assert!(flag.to_string().contains("logarithm"), "{flag}");
    assert!(matches!(flag, Flag::Misfit { misfits } if misfits.len() == all.len()));
}

#[test]
fn a_trifle_is_no_misfit_however_many_the_rows() {
    let rng = &mut stream(9, Purpose::Simulate, 0);
    // A skewness of 0.2.
    let slightly = ChiSquared::new(200.0).unwrap();
    let rows: Vec<f64> = (0..60_000).map(|_| slightly.sample(rng)).collect();
    assert_eq!(found(&GaussianMixture::new(1).bind(named(vec![rows])).unwrap()), []);
}

#[test]
fn whole_numbers_are_steps_of_a_gaussian() {
    let rng = &mut stream(10, Purpose::Simulate, 0);
    for sd in [1.0, 3.0] {
        let data = two(2000, |_| {
            let z: f64 = StandardNormal.sample(rng);
            (20.0 + sd * z).round()
        });
        assert_eq!(found(&GaussianMixture::new(2).bind(data).unwrap()), [], "{sd}");
    }
}

#[test]
fn a_row_that_counts_twice_is_two_rows() {
    let rng = &mut stream(11, Purpose::Simulate, 0);
    let log_normal = LogNormal::new(0.0, 0.6).unwrap();
    let once: Vec<f64> = (0..150).map(|_| log_normal.sample(rng)).collect();
    let from = WeightsFrom { kind: WeightKind::Frequency, column: "n".to_owned() };
    let weights = UnitWeights::new(from, vec![2.0; 150]).unwrap();
    let copied =
        GaussianMixture::new(1).bind(named(vec![[&once[..], &once[..]].concat()])).unwrap();
    let counted = GaussianMixture::new(1).bind(named(vec![once])).unwrap();
    let counted = counted.weighted(weights).unwrap();
    let (a, b) = (found(&copied), found(&counted));
    assert!(a.len() == 1 && b.len() == 1, "{a:?} {b:?}");
    assert!((a[0].size - b[0].size).abs() < 1e-9 && a[0].shape == b[0].shape);
}

#[test]
fn survey_weights_count_as_fewer_rows_and_shape_what_is_seen() {
    let rng = &mut stream(13, Purpose::Simulate, 0);
    let from = WeightsFrom { kind: WeightKind::Survey, column: "w".to_owned() };
    let weighted = |rows: Vec<f64>, weights: Vec<f64>| {
        let problem = GaussianMixture::new(1).bind(named(vec![rows])).unwrap();
        found(&problem.weighted(UnitWeights::new(from.clone(), weights).unwrap()).unwrap())
    };
    let uneven = LogNormal::new(0.0, 1.5).unwrap();
    for _ in 0..20 {
        let rows: Vec<f64> = (0..400).map(|_| StandardNormal.sample(rng)).collect();
        let weights = (0..400).map(|_| uneven.sample(rng)).collect();
        assert_eq!(weighted(rows, weights), []);
    }
    // Drawn evenly, and weighted so that they are exponential.
    let even = Uniform::new(0.0, 5.0).unwrap();
    let rows: Vec<f64> = (0..1000).map(|_| even.sample(rng)).collect();
    let weights = rows.iter().map(|x: &f64| (-x).exp()).collect();
    let all = weighted(rows, weights);
    assert!(matches!(&all[..], [Misfit { shape: Shape::LongAbove, .. }]), "{all:?}");
}

#[test]
fn counts_that_vary_more_than_poisson_ones_are_named() {
    let rng = &mut stream(12, Purpose::Simulate, 0);
    let (rate, log_normal) = (Poisson::new(4.0).unwrap(), LogNormal::new(1.2, 0.5).unwrap());
    let poisson: Vec<f64> = (0..500).map(|_| rate.sample(rng)).collect();
    let varied: Vec<f64> =
        (0..500).map(|_| Poisson::new(log_normal.sample(rng)).unwrap().sample(rng)).collect();
    let columns = [("poisson", poisson), ("varied", varied)];
    let frame = columns.map(|(name, x)| (name.to_owned(), Column::Numeric(x)));
    let frame = Frame::from_columns(frame.to_vec()).unwrap();
    let types = [("*".to_owned(), ColumnType::Count)];
    let all = found(&ColumnMixture::new(1).bind(&frame, &types).unwrap());
    assert!(
        matches!(&all[..], [Misfit { column, shape: Shape::MoreVaried, .. }] if column == "varied")
    );
}

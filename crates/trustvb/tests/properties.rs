//! Promises that hold for any data: the bound never falls, weights are repetitions, units and order
//! do not matter, and acceleration changes only the time.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::compare::{RegressionUnits, columns_in_units, distance, gmm_in_units, gmm_mapped};
use common::simulate::{Mixture, Regressions, Weighting, shuffled};
use proptest::prelude::*;
use trustvb::fit::{Fit, FitOptions, Start, Status, Stopping, fit, match_components};
use trustvb::model::{Bmlr, BmlrPrior, Covariance, Gmm, GmmPrior, Model, Noise, ShapedGmm, Update};
use trustvb::posterior::Posterior;

/// Rounding of a bound, a sum over units, relative to its size.
const BOUND_ROUNDING: f64 = 1e-11;
/// Agreement of one sweep of the same numbers in another order.
const ONE_SWEEP: f64 = 1e-12;
/// Agreement of two fixed points reached by different roundings.
const FIXED_POINT: f64 = 1e-8;

/// A random problem.
#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    n: usize,
    p: usize,
    k: usize,
    omega: f64,
    weighting: Weighting,
}

/// Problems with `n` units; `omega` from its least value to 1, evenly on the log scale.
fn cases(n: std::ops::Range<usize>, least_omega: f64) -> impl Strategy<Value = Case> {
    let weighting =
        prop_oneof![Just(Weighting::One), Just(Weighting::Bootstrap), Just(Weighting::Fractional)];
    (any::<u64>(), n, 1usize..=4, 1usize..=4, 0.0..=1.0f64, weighting).prop_map(
        move |(seed, n, p, k, share, weighting)| Case {
            seed,
            n,
            p,
            k,
            omega: least_omega.powf(share),
            weighting,
        },
    )
}

/// Problems with one fixed point in reach of the start: enough data in every component that none is
/// given up, and no component between others, where the prior would pull them together.
fn separated_cases() -> impl Strategy<Value = Case> {
    cases(150..300, 0.3).prop_map(|case| Case { k: case.k.min(case.p + 1), ..case })
}

/// So many cases, unless `PROPTEST_CASES` asks for another number.
fn config(cases: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|x| x.parse().ok());
    ProptestConfig {
        cases: asked.unwrap_or(cases),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Far enough that fixed points agree; depth 0 gives plain sweeps.
fn tight(acceleration: usize) -> FitOptions {
    FitOptions {
        stopping: Stopping::Relative(1e-13),
        max_sweeps: 20_000,
        acceleration,
        trace: true,
    }
}

fn run(
    model: &dyn Model,
    weights: Option<&[f64]>,
    omega: f64,
    centres: &[f64],
    options: &FitOptions,
) -> Fit {
    fit(model, weights, omega, &Start::Centres(centres.to_vec()), options, &mut |_| ()).unwrap()
}

/// A prior that does not depend on the data.
fn fixed_prior(p: usize) -> GmmPrior {
    let w0 = (0..p).map(|i| (0..p).map(|j| if i == j { 0.5 } else { 0.1 }).collect()).collect();
    GmmPrior {
        alpha0: Some(0.7),
        m0: Some(vec![1.0; p]),
        beta0: Some(0.5),
        nu0: Some(p as f64 + 1.0),
        w0: Some(w0),
        ..GmmPrior::default()
    }
}

fn gmm(data: &Mixture, k: usize, prior: GmmPrior) -> Gmm {
    Gmm::new(&data.dataset(), k, prior, Update::Corrected).unwrap()
}

/// The shapes besides full ones.
const SHAPES: [Covariance; 3] = [Covariance::Tied, Covariance::Diagonal, Covariance::Spherical];

fn shaped(data: &Mixture, k: usize, prior: GmmPrior, shape: Covariance) -> ShapedGmm {
    ShapedGmm::new(&data.dataset(), k, prior, shape).unwrap()
}

/// A prior that does not depend on the data, for covariances of a shape.
fn fixed_prior_of(p: usize, shape: Covariance) -> GmmPrior {
    let mut prior = fixed_prior(p);
    for (i, row) in prior.w0.iter_mut().flatten().enumerate() {
        for (j, x) in row.iter_mut().enumerate() {
            *x = match shape {
                Covariance::Full | Covariance::Tied => *x,
                Covariance::Diagonal => {
                    if i == j {
                        0.5 + 0.1 * i as f64
                    } else {
                        0.0
                    }
                }
                Covariance::Spherical => {
                    if i == j {
                        0.5
                    } else {
                        0.0
                    }
                }
            };
        }
    }
    prior
}

fn bmlr(data: &Regressions, k: usize, noise: Noise) -> Bmlr {
    Bmlr::new(&data.grouped(), k, BmlrPrior::default(), noise).unwrap()
}

/// All models of a case, each with its start.
fn models(case: &Case, separation: f64) -> Vec<(String, Box<dyn Model>, Vec<f64>)> {
    let mixture = Mixture::new(case.seed, case.n, case.p, case.k, separation);
    let regressions = Regressions::new(case.seed, case.n, case.p, case.k, separation, true);
    let mut all: Vec<(String, Box<dyn Model>, Vec<f64>)> = Vec::new();
    for prior in [GmmPrior::default(), fixed_prior(case.p)] {
        let model = gmm(&mixture, case.k, prior);
        all.push((format!("gmm {}", all.len()), Box::new(model), mixture.centres.clone()));
    }
    for shape in SHAPES {
        for prior in [GmmPrior::default(), fixed_prior_of(case.p, shape)] {
            let what = format!("{shape} {}", all.len());
            let model = shaped(&mixture, case.k, prior, shape);
            all.push((what, Box::new(model), mixture.centres.clone()));
        }
    }
    for noise in [Noise::Known(1.0), Noise::Estimate] {
        let model = bmlr(&regressions, case.k, noise);
        all.push((format!("bmlr {noise:?}"), Box::new(model), regressions.centres.clone()));
    }
    all
}

/// `q(θ)` and the bound after the start and one sweep.
fn after_one_sweep(
    model: &dyn Model,
    weights: Option<&[f64]>,
    omega: f64,
    centres: &[f64],
) -> (Posterior, f64) {
    let mut sweeper = model.sweeper();
    let (mut state, mut next) = (vec![0.0; model.state_len()], vec![0.0; model.state_len()]);
    sweeper.load(weights).unwrap();
    sweeper.start(omega, centres, &mut state).unwrap();
    let bound = sweeper.sweep(omega, &state, &mut next).unwrap();
    (sweeper.posterior(omega, &next).unwrap(), bound)
}

fn check_repetitions(
    what: &str,
    case: &Case,
    weighted: (&dyn Model, &[f64]),
    repeated: &dyn Model,
    centres: &[f64],
) -> Result<(), TestCaseError> {
    let (model, weights) = weighted;
    let (a, bound_a) = after_one_sweep(model, Some(weights), case.omega, centres);
    let (b, bound_b) = after_one_sweep(repeated, None, case.omega, centres);
    let apart = distance(&a, &b);
    prop_assert!(apart <= ONE_SWEEP, "{what}: one sweep differs by {apart}");
    let apart = (bound_a - bound_b).abs() / bound_a.abs().max(case.n as f64);
    prop_assert!(apart <= BOUND_ROUNDING, "{what}: the bound differs by {apart}");
    let a = run(model, Some(weights), case.omega, centres, &tight(5));
    let b = run(repeated, None, case.omega, centres, &tight(5));
    check_same(what, &a.posterior, &b)
}

/// Checks that a fit ended at the expected fixed point. Components of equal weight have no order, so
/// they are matched first.
fn check_same(what: &str, expected: &Posterior, fit: &Fit) -> Result<(), TestCaseError> {
    prop_assert!(
        matches!(fit.outcome.status, Status::Converged | Status::Stalled),
        "{what}: {:?} at change {}",
        fit.outcome.status,
        fit.outcome.change
    );
    let order = match_components(expected, &fit.posterior);
    let apart = distance(expected, &fit.posterior.permuted(&order));
    prop_assert!(apart <= FIXED_POINT, "{what}: fixed points differ by {apart}");
    Ok(())
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn the_bound_never_falls(case in cases(30..150, 1e-3), separation in 0.0..6.0f64) {
        for (what, model, centres) in models(&case, separation) {
            let weights = case.weighting.draw(case.seed, model.n_units());
            for acceleration in [0, 5] {
                let options = FitOptions { max_sweeps: 300, ..tight(acceleration) };
                let fit = run(model.as_ref(), weights.as_deref(), case.omega, &centres, &options);
                prop_assert!(!matches!(fit.outcome.status, Status::Degenerate(_)), "{what}");
                for (sweep, pair) in fit.outcome.trace.windows(2).enumerate() {
                    let rounding = BOUND_ROUNDING * pair[0].abs().max(case.n as f64);
                    prop_assert!(
                        pair[1] >= pair[0] - rounding,
                        "{what}, depth {acceleration}: {} to {} at sweep {sweep}", pair[0], pair[1]
                    );
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn integer_weights_are_repetitions(case in separated_cases()) {
        let weights = Weighting::Bootstrap.draw(case.seed, case.n).unwrap();
        let mixture = Mixture::new(case.seed, case.n, case.p, case.k, 5.0);
        let repeated = mixture.repeated(&weights);
        for prior in [GmmPrior::default(), fixed_prior(case.p)] {
            let what = format!("gmm {prior:?}");
            let a = gmm(&mixture, case.k, prior.clone());
            let b = gmm(&repeated, case.k, prior);
            check_repetitions(&what, &case, (&a, &weights), &b, &mixture.centres)?;
        }
        for shape in SHAPES {
            for prior in [GmmPrior::default(), fixed_prior_of(case.p, shape)] {
                let what = format!("{shape} {prior:?}");
                let a = shaped(&mixture, case.k, prior.clone(), shape);
                let b = shaped(&repeated, case.k, prior, shape);
                check_repetitions(&what, &case, (&a, &weights), &b, &mixture.centres)?;
            }
        }
        // The prior of a mixture of regressions is meant for columns standardised by all units,
        // whatever their weights, so only its paper prior is the same for repeated groups.
        let regressions = Regressions::new(case.seed, case.n, case.p, case.k, 5.0, false);
        let repeated = regressions.repeated(&weights);
        for noise in [Noise::Known(1.0), Noise::Estimate] {
            let a = Bmlr::new(&regressions.grouped(), case.k, BmlrPrior::paper(), noise).unwrap();
            let b = Bmlr::new(&repeated.grouped(), case.k, BmlrPrior::paper(), noise).unwrap();
            let what = format!("bmlr {noise:?}");
            check_repetitions(&what, &case, (&a, &weights), &b, &regressions.centres)?;
        }
    }

    #[test]
    fn units_of_columns_do_not_matter(
        case in separated_cases(),
        scale in prop::collection::vec(-6.0..6.0f64, 5),
        shift in prop::collection::vec(-5.0..5.0f64, 5),
        intercept in any::<bool>(),
    ) {
        let weights = case.weighting.draw(case.seed, case.n);
        let weights = weights.as_deref();
        let scale: Vec<f64> = scale.iter().map(|s| 10f64.powf(*s)).collect();
        let scaled = |column: &[f64], shift: f64, scale: f64| -> Vec<f64> {
            column.iter().map(|x| shift + scale * x).collect()
        };
        let mut mixture = Mixture::new(case.seed, case.n, case.p, case.k, 5.0);
        let model = gmm(&mixture, case.k, GmmPrior::default());
        let before = run(&model, weights, case.omega, &mixture.centres, &tight(5));
        let shifts: Vec<f64> = (0..case.p).map(|j| shift[j] * scale[j]).collect();
        for j in 0..case.p {
            mixture.columns[j] = scaled(&mixture.columns[j], shifts[j], scale[j]);
        }
        for (at, x) in mixture.centres.iter_mut().enumerate() {
            *x = shifts[at % case.p] + scale[at % case.p] * *x;
        }
        let model = gmm(&mixture, case.k, GmmPrior::default());
        let after = run(&model, weights, case.omega, &mixture.centres, &tight(5));
        let expected = gmm_in_units(&before.posterior, &shifts, &scale[..case.p]);
        check_same("gmm", &expected, &after)?;

        for shape in SHAPES {
            // Spherical covariances are in the units of the columns: these may change together only.
            let scale: Vec<f64> = match shape {
                Covariance::Spherical => vec![scale[0]; case.p],
                _ => scale[..case.p].to_vec(),
            };
            let shifts: Vec<f64> = (0..case.p).map(|j| shift[j] * scale[j]).collect();
            let mut mixture = Mixture::new(case.seed, case.n, case.p, case.k, 5.0);
            let model = shaped(&mixture, case.k, GmmPrior::default(), shape);
            let before = run(&model, weights, case.omega, &mixture.centres, &tight(5));
            for j in 0..case.p {
                mixture.columns[j] = scaled(&mixture.columns[j], shifts[j], scale[j]);
            }
            for (at, x) in mixture.centres.iter_mut().enumerate() {
                *x = shifts[at % case.p] + scale[at % case.p] * *x;
            }
            let model = shaped(&mixture, case.k, GmmPrior::default(), shape);
            let after = run(&model, weights, case.omega, &mixture.centres, &tight(5));
            let expected = match shape {
                Covariance::Tied => gmm_in_units(&before.posterior, &shifts, &scale),
                _ => columns_in_units(&before.posterior, &shifts, &scale),
            };
            check_same(shape.name(), &expected, &after)?;
        }

        let data = Regressions::new(case.seed, case.n, case.p, case.k, 5.0, intercept);
        let mut units = RegressionUnits {
            shift_y: if intercept { shift[4] * scale[4] } else { 0.0 },
            scale_y: scale[4],
            shift: (0..data.x.len()).map(|j| if intercept { shift[j] * scale[j] } else { 0.0 }).collect(),
            scale: scale[..data.x.len()].to_vec(),
        };
        if intercept {
            (units.shift[0], units.scale[0]) = (0.0, 1.0);
        }
        let mut moved = data.clone();
        moved.y = scaled(&data.y, units.shift_y, units.scale_y);
        for j in 0..data.x.len() {
            moved.x[j] = scaled(&data.x[j], units.shift[j], units.scale[j]);
        }
        moved.centres = data.centres.chunks(data.x.len()).flat_map(|c| units.coefficients(c)).collect();
        let known = Noise::Known(units.scale_y.powi(-2));
        for (noise, moved_noise) in [(Noise::Known(1.0), known), (Noise::Estimate, Noise::Estimate)] {
            let before = run(&bmlr(&data, case.k, noise), weights, case.omega, &data.centres, &tight(5));
            let model = bmlr(&moved, case.k, moved_noise);
            let after = run(&model, weights, case.omega, &moved.centres, &tight(5));
            let expected = units.posterior(&before.posterior);
            check_same(&format!("bmlr {noise:?}"), &expected, &after)?;
        }
    }

    #[test]
    fn mixing_columns_changes_nothing_but_coordinates(
        case in separated_cases(),
        shift in prop::collection::vec(-3.0..3.0f64, 4),
        mix in prop::collection::vec(-1.0..1.0f64, 16),
    ) {
        let weights = case.weighting.draw(case.seed, case.n);
        // Lower triangular with a diagonal away from 0: invertible, far from diagonal.
        let matrix: Vec<Vec<f64>> = (0..case.p)
            .map(|i| (0..case.p).map(|j| match i.cmp(&j) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => 1.5 + mix[4 * i + j],
                std::cmp::Ordering::Greater => mix[4 * i + j],
            }).collect())
            .collect();
        let mut mixture = Mixture::new(case.seed, case.n, case.p, case.k, 5.0);
        let fitted = |mixture: &Mixture| {
            let full = gmm(mixture, case.k, GmmPrior::default());
            let tied = shaped(mixture, case.k, GmmPrior::default(), Covariance::Tied);
            let all: [&dyn Model; 2] = [&full, &tied];
            all.map(|model| {
                run(model, weights.as_deref(), case.omega, &mixture.centres, &tight(5))
            })
        };
        let before = fitted(&mixture);
        let old = mixture.clone();
        for i in 0..case.p {
            for (row, x) in mixture.columns[i].iter_mut().enumerate() {
                *x = shift[i] + (0..case.p).map(|j| matrix[i][j] * old.columns[j][row]).sum::<f64>();
            }
        }
        for (new, centre) in mixture.centres.chunks_mut(case.p).zip(old.centres.chunks(case.p)) {
            for i in 0..case.p {
                new[i] = shift[i] + (0..case.p).map(|j| matrix[i][j] * centre[j]).sum::<f64>();
            }
        }
        for (before, after) in before.iter().zip(&fitted(&mixture)) {
            let expected = gmm_mapped(&before.posterior, &shift, &matrix);
            check_same("gmm", &expected, after)?;
        }
    }

    #[test]
    fn the_order_of_rows_and_of_centres_does_not_matter(case in separated_cases()) {
        let weights = case.weighting.draw(case.seed, case.n);
        let order = shuffled(case.seed, case.n);
        let mixture = Mixture::new(case.seed, case.n, case.p, case.k, 5.0);
        let mut mixed = mixture.clone();
        for column in &mut mixed.columns {
            *column = order.iter().map(|&i| column[i]).collect();
        }
        let mixed_weights: Option<Vec<f64>> =
            weights.as_ref().map(|w| order.iter().map(|&i| w[i]).collect());
        let before = gmm(&mixture, case.k, GmmPrior::default());
        let before = run(&before, weights.as_deref(), case.omega, &mixture.centres, &tight(5));
        let model = gmm(&mixed, case.k, GmmPrior::default());
        let after = run(&model, mixed_weights.as_deref(), case.omega, &mixture.centres, &tight(5));
        check_same("rows of gmm", &before.posterior, &after)?;

        for (what, model, centres) in models(&case, 5.0) {
            let one = run(model.as_ref(), weights.as_deref(), case.omega, &centres, &tight(5));
            let order = shuffled(case.seed, case.k);
            let length = model.centre_len();
            let other: Vec<f64> =
                order.iter().flat_map(|&k| centres[k * length..(k + 1) * length].to_vec()).collect();
            let other = run(model.as_ref(), weights.as_deref(), case.omega, &other, &tight(5));
            check_same(&format!("centres of {what}"), &one.posterior, &other)?;
        }
    }

    #[test]
    fn acceleration_reaches_the_same_fixed_point(case in separated_cases()) {
        for (what, model, centres) in models(&case, 5.0) {
            let weights = case.weighting.draw(case.seed, case.n);
            let plain = run(model.as_ref(), weights.as_deref(), case.omega, &centres, &tight(0));
            let quick = run(model.as_ref(), weights.as_deref(), case.omega, &centres, &tight(5));
            check_same(&what, &plain.posterior, &quick)?;
        }
    }
}

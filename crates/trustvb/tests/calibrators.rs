//! Calibrators on mixtures: how they agree with each other, what they say about themselves, and what
//! work they do.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::simulate::{Mixture, Regressions, normals};
use common::tables::{Case, DRAWS, ask, ask_one, has_flag};
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use trustvb::calibrate::{Answer, CalibrateError, Calibrator, Method};
use trustvb::data::Dataset;
use trustvb::fit::{Matching, ReplicateStart, Start, StatusCode};
use trustvb::functional::Functional;
use trustvb::model::{GmmPrior, Noise};
use trustvb::resample::{Design, GivenResamples, Resamples};
use trustvb::table::{TvbTable, Watch};

/// Two bivariate unit Gaussians with weight 0.65, `separation` apart in each coordinate.
fn two_gaussians(seed: u64, n: usize, separation: f64) -> Dataset {
    let z = normals(seed, 2 * n);
    let mut columns = vec![Vec::new(), Vec::new()];
    for i in 0..n {
        // The share of the first component is exact; the order of rows means nothing.
        let shift = if (i as f64) < 0.65 * n as f64 { 0.0 } else { separation };
        columns[0].push(shift + z[2 * i]);
        columns[1].push(shift + z[2 * i + 1]);
    }
    Dataset::from_columns(vec!["x1".into(), "x2".into()], columns).unwrap()
}

fn length(answer: &Answer) -> f64 {
    answer.upper - answer.lower
}

#[test]
fn analytic_agrees_with_anchored() {
    let cases = [
        ("Old Faithful", Case::gmm(Dataset::faithful(), 2).grid(100, 1e-3), 2000),
        ("simulated", Case::gmm(two_gaussians(5, 1000, 3.0), 2).grid(50, 0.1), 2000),
        ("overlapping", Case::gmm(two_gaussians(5, 1000, 2.0), 2).grid(40, 0.1), 500),
    ];
    for (name, case, bootstraps) in cases {
        let table = case.bootstraps(bootstraps, 0).build();
        let calibrator = Calibrator::new(&table, DRAWS).unwrap();
        for functional in Functional::defaults(table.layout()) {
            let methods = [Method::Anchored, Method::Analytic];
            let answers =
                calibrator.answer(&functional.parts()[0], &methods, &[0.9, 0.95]).unwrap();
            for (anchored, analytic) in answers[..2].iter().zip(&answers[2..]) {
                let ratio = length(analytic) / length(anchored);
                assert_eq!(anchored.extra_fits, 0);
                assert!((1..=20).contains(&analytic.extra_fits));
                let disagree = (ratio - 1.0).abs() > 0.1;
                assert_eq!(has_flag(anchored, "methods-disagree"), disagree);
                assert_eq!(has_flag(analytic, "methods-disagree"), disagree);
                // How closely components are tied bends what resamples do: mu[2,1] of Old Faithful is 0.135 apart.
                let near = (ratio - 1.0).abs() < 0.15;
                assert!(near || name == "overlapping", "{name} {}", functional.text());
                for answer in [anchored, analytic] {
                    assert!(answer.omega <= 1.0 && answer.lower < answer.upper);
                    let coverage = answer.coverage.unwrap();
                    assert!(coverage > answer.level - 2e-3, "{answer:?}");
                    assert!(answer.omega == 1.0 || coverage < answer.level + 2e-3, "{answer:?}");
                }
            }
        }
    }
}

fn old_faithful() -> TvbTable {
    Case::gmm(Dataset::faithful(), 2).grid(25, 0.05).bootstraps(60, 60).build()
}

#[test]
fn bootstrap_gives_percentiles_of_the_estimate() {
    let table = old_faithful();
    for text in ["pi[1]", "mu[1,waiting] - mu[2,waiting]"] {
        let functional = Functional::parse(text, table.layout()).unwrap();
        let value = |parameters| functional.parts()[0].plug_in(parameters);
        let paths = table.bootstraps(Design::Full).map(|(_, path)| path);
        let mut values: Vec<f64> =
            paths.map(|path| value(table.parameters(path, 0).unwrap())).collect();
        values.sort_by(f64::total_cmp);
        // Of 60 values the 10% and 90% quantiles lie 0.1 beyond the 6th and 0.9 beyond the 54th.
        let between = |i: usize, share: f64| values[i] + share * (values[i + 1] - values[i]);
        let answer = ask(&table, text, &[Method::Bootstrap], &[0.8]).remove(0);
        assert!((answer.lower - between(5, 0.1)).abs() < 1e-12, "{text}");
        assert!((answer.upper - between(53, 0.9)).abs() < 1e-12, "{text}");
        assert_eq!((answer.omega, answer.coverage, answer.extra_fits), (1.0, None, 0));
        assert!(has_flag(&answer, "few-bootstraps") && !has_flag(&answer, "at-omega-1"));
    }
    let without = Case::gmm(Dataset::faithful(), 2).grid(2, 0.5).bootstraps(0, 3).build();
    let functional = Functional::parse("pi[1]", without.layout()).unwrap();
    let calibrator = Calibrator::new(&without, DRAWS).unwrap();
    let refused = calibrator.answer(&functional.parts()[0], &[Method::Bootstrap], &[0.95]);
    assert!(matches!(refused, Err(CalibrateError::Missing { method: "bootstrap", .. })));
}

#[test]
fn jackknife_has_the_shape_of_vb_and_is_as_long_as_bootstraps_say() {
    let table = Case::gmm(Dataset::faithful(), 2).grid(2, 0.5).bootstraps(300, 0).build();
    let logit = |x: f64| (x / (1.0 - x)).ln();
    let scales: [(&str, &dyn Fn(f64) -> f64); 4] = [
        ("pi[1]", &logit),
        ("sd[1,1]", &f64::ln),
        ("mu[1,waiting]", &|x| x),
        ("mu[1,waiting] - mu[2,waiting]", &|x| x),
    ];
    for (text, scale) in scales {
        let methods = [Method::Vb, Method::Jackknife, Method::Bootstrap];
        let answers = ask(&table, text, &methods, &[0.8]);
        let length = |a: &Answer| scale(a.upper) - scale(a.lower);
        let [vb, own, rival] = answers.as_slice() else { panic!("{answers:?}") };
        let above = |a: &Answer| (scale(a.upper) - scale(a.estimate)) / length(a);
        assert!((above(own) - above(vb)).abs() < 1e-9, "{text}");
        assert!(((length(vb) / length(own)).powi(2) / own.omega - 1.0).abs() < 1e-9, "{text}");
        // Quantiles of 300 values have an error of 6% here.
        let ratio = length(own) / length(rival);
        assert!((ratio - 1.0).abs() < 0.25, "{text}: {ratio}");
    }
}

#[test]
fn levels_do_not_disturb_each_other() {
    let table = old_faithful();
    let levels = [0.95, 0.5, 0.9, 0.99];
    for text in ["pi[1]", "mu[2,waiting]", "sd[1,1]", "mu[1,1]-mu[2,1]"] {
        for method in Method::ALL {
            if method == Method::TvbSequential {
                continue;
            }
            let together = ask(&table, text, &[method], &levels);
            for (answer, &level) in together.iter().zip(&levels) {
                let alone = &ask(&table, text, &[method], &[level])[0];
                let key = |a: &Answer| {
                    let flags: Vec<&str> = a.flags.iter().map(|f| f.name()).collect();
                    (a.omega, a.lower, a.upper, a.coverage, a.limits_se, flags)
                };
                assert_eq!(key(answer), key(alone), "{text} {} {level}", method.name());
                assert!(answer.omega <= 1.0 || method.stretches());
            }
            for a in &together {
                for b in together.iter().filter(|b| b.omega == a.omega && b.level >= a.level) {
                    assert!(b.lower <= a.lower && a.upper <= b.upper, "{text} {}", method.name());
                }
            }
        }
    }
    let functional = Functional::parse("pi[1]", table.layout()).unwrap();
    let calibrator = Calibrator::new(&table, DRAWS).unwrap();
    for level in [0.0, 1.0, -0.1, 95.0, f64::NAN] {
        let error = calibrator.answer(&functional.parts()[0], &[Method::Vb], &[level]);
        assert!(matches!(error, Err(CalibrateError::Level(_))));
    }
    // Extreme but possible levels have answers, which may be that there is none.
    for level in [1e-6, 1.0 - 1e-9] {
        for answer in
            ask(&table, "pi[1]", &[Method::Tvb, Method::Anchored, Method::Analytic], &[level])
        {
            assert!((0.0..=1.0).contains(&answer.omega), "{answer:?}");
            assert!(answer.lower <= answer.upper);
        }
    }
}

#[test]
fn grids_of_one_and_two_points() {
    for points in [1, 2] {
        let table = Case::gmm(Dataset::faithful(), 2).grid(points, 0.5).bootstraps(60, 60).build();
        assert_eq!(table.omegas().len(), points);
        for text in ["pi[1]", "mu[1,1]-mu[2,1]"] {
            let methods =
                [Method::Vb, Method::Tvb, Method::Gpc, Method::Anchored, Method::Analytic];
            for answer in ask(&table, text, &methods, &[0.8, 0.95]) {
                assert!((0.5..=1.0).contains(&answer.omega), "{answer:?}");
                assert!(answer.lower < answer.upper, "{answer:?}");
                let reaches = answer.coverage.unwrap() >= answer.level;
                let on_grid = answer.method != Method::Vb && answer.method != Method::Analytic;
                if points == 1 && on_grid {
                    assert_eq!(has_flag(&answer, "at-omega-1"), reaches, "{answer:?}");
                    assert_eq!(has_flag(&answer, "never-reaches-level"), !reaches);
                    assert!(!has_flag(&answer, "at-grid-edge"));
                }
            }
        }
    }
}

#[test]
fn without_bootstraps_a_method_says_what_it_needs() {
    let table = Case::gmm(Dataset::faithful(), 2).grid(1, 1e-3).build();
    let functional = Functional::parse("pi[1]", table.layout()).unwrap();
    let calibrator = Calibrator::new(&table, DRAWS).unwrap();
    for method in [Method::Tvb, Method::Gpc, Method::Anchored] {
        let error = calibrator.answer(&functional.parts()[0], &[method], &[0.95]).unwrap_err();
        assert!(matches!(error, CalibrateError::Missing { .. }), "{error}");
    }
    let vb = ask_one(&table, "pi[1]", Method::Vb);
    assert_eq!((vb.omega, vb.coverage), (1.0, None));
    let analytic = ask_one(&table, "pi[1]", Method::Analytic);
    assert!(analytic.omega <= 1.0 && analytic.coverage.is_some() && analytic.extra_fits > 0);
}

#[test]
fn flags_say_what_is_wrong() {
    let flagged = |table: &TvbTable, text: &str, method: Method, flag: &str| {
        let answer = ask_one(table, text, method);
        let found = has_flag(&answer, flag);
        assert!(found, "{flag} is missing for {text} by {}: {:?}", method.name(), answer.flags);
        assert!(answer.flags.iter().all(|f| !f.sentence().is_empty()));
        answer
    };
    // Noise a thousand times smaller than claimed, and a grid that ends long before 1/1000.
    let regressions = Regressions::new(3, 100, 1, 1, 0.0, false).grouped();
    let case = Case::bmlr(regressions, 1, Noise::Known(1000.0)).grid(12, 0.1);
    let table = case.bootstraps(100, 100).build();
    for method in [Method::Tvb, Method::Gpc, Method::Anchored, Method::Analytic] {
        let answer = flagged(&table, "beta[1,1]", method, "never-reaches-level");
        assert!(has_flag(&answer, "at-grid-edge"), "{answer:?}");
        assert_eq!(answer.omega, 0.1);
    }
    flagged(&table, "beta[1,1]", Method::Anchored, "few-bootstraps");
    // The same without an exact law: the search is the same.
    for method in [Method::Tvb, Method::Gpc, Method::Anchored] {
        let drawn = ask_one(&table, "max(beta[1,1], -1e9)", method);
        assert_eq!((drawn.law.as_str(), drawn.omega), ("draws", 0.1), "{}", method.name());
    }
    // Coverage that falls when the prior, with its mean far away, takes over.
    let data = Dataset::from_columns(vec!["x".into()], vec![normals(41, 100)]).unwrap();
    let prior = GmmPrior { m0: Some(vec![10.0]), beta0: Some(1.0), ..GmmPrior::default() };
    let table = Case::gmm_with(data, 1, prior).grid(40, 1e-3).bootstraps(200, 0).build();
    flagged(&table, "mu[1,1]", Method::Anchored, "not-monotone");
    // Three sweeps are not enough.
    let mut case = Case::gmm(two_gaussians(6, 200, 2.0), 2).grid(10, 0.1).bootstraps(60, 60);
    case.settings.path.fit.max_sweeps = 3;
    case.settings.path.fit.acceleration = 0;
    let table = case.build();
    for method in [Method::Vb, Method::Tvb, Method::Gpc, Method::Anchored] {
        flagged(&table, "pi[1]", method, "unconverged-fits");
    }
    // Three components where there is one, from a single start: the best of several would empty two of them.
    let columns = vec![normals(7, 120), normals(8, 120)];
    let data = Dataset::from_columns(vec!["a".into(), "b".into()], columns).unwrap();
    let mut case = Case::gmm(data.clone(), 3).grid(20, 0.05).bootstraps(100, 100);
    case.settings.start = Start::KMeans { restarts: 1, seed: 1 };
    let table = case.build();
    flagged(&table, "mu[1,1]", Method::Anchored, "components-unstable");
    let best = Case::gmm(data, 3).grid(20, 0.05).bootstraps(100, 100).build();
    flagged(&best, "mu[1,1]", Method::Anchored, "emptied-components");
    // No value at the posterior mean.
    for answer in ask(&table, "log(mu[1,1] - 100)", &Method::ALL, &[0.95]) {
        assert!(has_flag(&answer, "undefined") && answer.lower.is_nan(), "{answer:?}");
    }
}

#[test]
fn no_work_is_done_twice() {
    for (full, split) in [(0, 0), (7, 0), (0, 5), (7, 5)] {
        let (announced, done) = (AtomicU64::new(0), AtomicU64::new(0));
        let cancel = AtomicBool::new(false);
        let begin = |paths| {
            announced.fetch_add(paths, Ordering::Relaxed);
        };
        let each = || {
            done.fetch_add(1, Ordering::Relaxed);
        };
        let case = Case::gmm(Dataset::faithful(), 2).grid(12, 0.1).bootstraps(full, split);
        let table = case.build_watched(&Watch { cancel: &cancel, begin: &begin, done: &each });
        let expected = 1 + u64::from(full) + if split > 0 { 1 + u64::from(split) } else { 0 };
        assert_eq!(announced.load(Ordering::Relaxed), expected);
        assert_eq!(done.load(Ordering::Relaxed), expected);
        assert_eq!(table.paths().count() as u64, expected);
        for (_, path) in table.paths() {
            assert_eq!(path.status.len(), 12);
            assert!(path.sweeps.iter().all(|&s| s > 0));
            // Warm starts: far fewer sweeps after the first ω than a start from nothing takes.
            let later: u32 = path.sweeps[1..].iter().sum();
            assert!(later < 11 * 25, "{:?}", path.sweeps);
        }
        if full == 0 || split == 0 {
            continue;
        }
        for text in ["pi[1]", "mu[1,1]", "mu[2,2]", "sd[1,1]", "mu[1,1]-mu[2,1]"] {
            let methods = [Method::Vb, Method::Tvb, Method::Gpc, Method::Anchored];
            for answer in ask(&table, text, &methods, &[0.5, 0.9, 0.95]) {
                assert_eq!(answer.extra_fits, 0, "{text}");
            }
        }
        assert_eq!(done.load(Ordering::Relaxed), expected);
    }
}

#[test]
fn draws_give_what_exact_laws_give() {
    let data = Regressions::new(9, 120, 2, 2, 3.0, true).grouped();
    let table = Case::bmlr(data, 2, Noise::Estimate).grid(30, 0.1).bootstraps(150, 150).build();
    let exact = "beta[1,1] - beta[2,1]";
    let methods = [Method::Vb, Method::Tvb, Method::Gpc, Method::Anchored, Method::Analytic];
    let levels = [0.8, 0.95];
    let drawn = "max(beta[1,1] - beta[2,1], -1e9)";
    let pairs = ask(&table, exact, &methods, &levels);
    let again = ask(&table, drawn, &methods, &levels);
    for (e, d) in pairs.iter().zip(&again) {
        assert_eq!((e.law.as_str(), d.law.as_str()), ("Normal", "draws"));
        assert!(d.limits_se.is_some() && e.limits_se.is_none());
        assert!((e.estimate - d.estimate).abs() < 1e-12);
        // 400 draws put a CDF value at 2.5% off by up to 0.8 points, for all replicates alike.
        let ratio = length(d) / length(e);
        assert!((0.8..1.25).contains(&ratio), "{}: {ratio}", e.method.name());
    }
    // The same seed gives the same bits.
    let twice = ask(&table, drawn, &methods, &levels);
    for (a, b) in again.iter().zip(&twice) {
        assert_eq!((a.omega, a.lower, a.upper), (b.omega, b.lower, b.upper));
        assert_eq!(a.curve, b.curve);
    }
    // One Gaussian: a correlation has about (1−r²)/√n, on Fisher's scale 1/√n.
    let (n, z) = (400, normals(10, 800));
    let x = z[..n].to_vec();
    let y = (0..n).map(|i| 0.6 * z[i] + 0.8 * z[n + i]).collect();
    let data = Dataset::from_columns(vec!["x".into(), "y".into()], vec![x, y]).unwrap();
    let table = Case::gmm(data, 1).grid(30, 0.2).bootstraps(300, 0).build();
    for method in [Method::Vb, Method::Anchored, Method::Analytic] {
        let answer = ask_one(&table, "cor[1,1,2]", method);
        assert_eq!(answer.law, "draws");
        let fisher = answer.upper.atanh() - answer.lower.atanh();
        let ratio = fisher / (2.0 * 1.96 / (n as f64).sqrt());
        assert!((0.8..1.25).contains(&ratio), "{}: {ratio}", method.name());
    }
    // A difference of means of far components: as wide as two independent ones.
    let table = old_faithful();
    let halves =
        ["mu[1,1]", "mu[2,1]"].map(|text| 0.5 * length(&ask_one(&table, text, Method::Vb)));
    let both = 0.5 * length(&ask_one(&table, "mu[1,1] - mu[2,1]", Method::Vb));
    assert!((both / halves[0].hypot(halves[1])).ln().abs() < 0.05);
}

/// As a file lists them, with units from 1.
fn resamples_file(resamples: &Resamples, n: usize, full: u32, split: u32) -> String {
    let mut text = "role,replicate,units\n".to_owned();
    let mut row = |role: &str, design, replicate| {
        let weights = resamples.weights(design, replicate, 0, n);
        let units: Vec<String> = (1..=n)
            .flat_map(|unit| std::iter::repeat_n(unit.to_string(), weights[unit - 1] as usize))
            .collect();
        writeln!(text, "{role},{replicate},{}", units.join(" ")).unwrap();
    };
    row("half", Design::Split, 0);
    (1..=split).for_each(|b| row("bootstrap", Design::Split, b));
    (1..=full).for_each(|b| row("full", Design::Full, b));
    text
}

#[test]
fn resamples_from_a_file_are_those_that_were_drawn() {
    let case = Case::gmm(Dataset::faithful(), 2).grid(20, 0.05).bootstraps(30, 25);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("resamples.csv");
    std::fs::write(&file, resamples_file(&case.resamples(), 272, 30, 25)).unwrap();
    let given = GivenResamples::read(&file, 272).unwrap();
    let bootstraps = [Design::Full, Design::Split].map(|design| given.bootstraps(design));
    assert_eq!(bootstraps, [30, 25]);
    let mut from_file = case.clone();
    from_file.settings.resamples = Some(given.hash());
    from_file.given = Some(given);
    for (design, last) in [(Design::Full, 30), (Design::Split, 25)] {
        for b in 0..=last {
            assert_eq!(
                case.resamples().weights(design, b, 0, 272),
                from_file.resamples().weights(design, b, 0, 272)
            );
        }
    }
    let (drawn, read) = (case.build(), from_file.build());
    assert!(drawn.paths().eq(read.paths()));
    for method in [Method::Tvb, Method::Gpc, Method::Anchored] {
        let (a, b) = (ask_one(&drawn, "pi[1]", method), ask_one(&read, "pi[1]", method));
        assert_eq!((a.omega, a.lower, a.upper), (b.omega, b.lower, b.upper));
    }
}

#[test]
fn fresh_splits_give_an_omega_of_similar_size() {
    // Two bootstraps of different splits share nothing, so the curve is rough; over functionals and
    // seeds its answer is that of one split.
    let (mut fresh, mut common) = (Vec::new(), Vec::new());
    for seed in 1..=6 {
        let mut case =
            Case::gmm(Dataset::faithful(), 2).grid(25, 0.05).bootstraps(0, 120).seed(seed);
        for (changes, omegas) in [(false, &mut common), (true, &mut fresh)] {
            case.settings.fresh_splits = changes;
            let table = case.build();
            for text in ["pi[1]", "mu[1,1]", "mu[1,2]"] {
                let answer = ask_one(&table, text, Method::Tvb);
                assert!((0.05..=1.0).contains(&answer.omega));
                omegas.push(answer.omega.ln());
            }
        }
    }
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (fresh, common) = (mean(&fresh), mean(&common));
    assert!((fresh - common).abs() < 0.7, "{fresh} {common}");
    assert!(common < -0.2 && fresh < -0.2);
}

#[test]
fn the_sequential_search_follows_its_rule() {
    let table = Case::gmm(Dataset::faithful(), 2).bootstraps(0, 150).grid(2, 0.1).build();
    for text in ["pi[1]", "mu[1,1]+mu[1,2]"] {
        for level in [0.8, 0.95] {
            let answer = ask(&table, text, &[Method::TvbSequential], &[level]).remove(0);
            // Until the last step coverage is too low, so ω falls: the curve is the path.
            assert_eq!(answer.curve[0].omega, 1.0);
            for (k, pair) in answer.curve.windows(2).enumerate() {
                assert!(pair[0].coverage < level - 1e-3);
                let kappa = ((k + 2) as f64).powf(-0.51);
                let expected = pair[0].omega.ln() + kappa * (pair[0].coverage - level);
                assert!((pair[1].omega.ln() - expected).abs() < 1e-12, "{text}, step {}", k + 1);
            }
            let last = answer.curve.last().unwrap();
            assert!(last.coverage > level - 1e-3, "{answer:?}");
            assert_eq!((answer.omega, answer.coverage), (last.omega, Some(last.coverage)));
            assert_eq!(answer.extra_fits, answer.curve.len() * 152);
            // The published runs ended at .71 and .75 after 2 and 4 steps; splits differ.
            assert!((0.1..=1.0).contains(&answer.omega) && answer.curve.len() < 40);
            let again = ask(&table, text, &[Method::TvbSequential], &[level]).remove(0);
            assert_eq!((again.omega, again.lower), (answer.omega, answer.lower));
        }
    }
}

#[test]
fn the_published_search_without_an_exact_law_uses_the_whole_grid() {
    let mut case = Case::gmm(Dataset::faithful(), 2).grid(40, 1e-3).bootstraps(0, 60);
    case.settings.published_intervals = true;
    let table = case.build();
    let (exact, drawn) =
        (ask_one(&table, "pi[1]", Method::Tvb), ask_one(&table, "max(pi[1], -1)", Method::Tvb));
    assert_eq!(drawn.law, "draws");
    assert_eq!(drawn.curve.len(), 40);
    assert!((exact.omega / drawn.omega).ln().abs() < 0.8, "{} {}", exact.omega, drawn.omega);
}

#[test]
fn cold_starts_keep_the_numbers_of_components() {
    // Centres given in the order of increasing weight; at ω = 1 the heavier becomes number 1, and it
    // must stay that when every ω starts from the centres again.
    let mut case = Case::gmm(Dataset::faithful(), 2).grid(8, 0.1).bootstraps(20, 0);
    case.settings.start = Start::Centres(vec![2.0, 54.0, 4.3, 80.0]);
    case.settings.path.start = ReplicateStart::ColdEveryOmega;
    for matching in [Matching::Assignment, Matching::Weight] {
        case.settings.path.matching = matching;
        let table = case.build();
        for (job, path) in table.paths() {
            for i in 0..8 {
                let alpha = &table.parameters(path, i).unwrap()[..2];
                assert!(alpha[0] > alpha[1], "{matching:?}, {job:?}, grid point {i}: {alpha:?}");
            }
        }
    }
}

#[test]
fn a_failed_fit_is_data() {
    // Resamples of one unit: nothing can be fitted to them.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("resamples.csv");
    let case = Case::gmm(Dataset::faithful(), 2).grid(20, 0.05).bootstraps(40, 0);
    let mut text = resamples_file(&case.resamples(), 272, 30, 1);
    (31..=40).for_each(|b| writeln!(text, "full,{b},1 1 1 1 1").unwrap());
    std::fs::write(&file, text).unwrap();
    let mut failing = case.clone();
    failing.given = Some(GivenResamples::read(&file, 272).unwrap());
    let table = failing.build();
    let failed = table.paths().filter(|(_, p)| p.status.contains(&StatusCode::Degenerate)).count();
    assert_eq!(failed, 10);
    let good = case.bootstraps(30, 0).build();
    for method in [Method::Gpc, Method::Anchored] {
        let (a, b) = (ask_one(&table, "pi[1]", method), ask_one(&good, "pi[1]", method));
        assert_eq!((a.omega, a.lower, a.upper), (b.omega, b.lower, b.upper));
        assert!(has_flag(&a, "unconverged-fits") && !has_flag(&b, "unconverged-fits"));
    }
}

#[cfg(feature = "parquet")]
#[test]
fn an_incomplete_table_stays_one_when_it_is_saved() {
    use trustvb::location::Location;
    use trustvb::table::{info, open, save};
    let folder = tempfile::tempdir().unwrap();
    let parts = folder.path().join("a.tvb/parts");
    let table = Case::gmm(Dataset::faithful(), 2).grid(6, 0.1).bootstraps(45, 25).build();
    let place = |name: &str| Location::from(folder.path().join(name));
    let (first, second) = (place("a.tvb"), place("b.tvb"));
    save(&table, &first).unwrap();
    std::fs::remove_file(parts.join("full-00001.parquet")).unwrap();
    std::fs::remove_file(parts.join("split-00000.parquet")).unwrap();
    let incomplete = open(&first).unwrap();
    save(&incomplete, &second).unwrap();
    let again = open(&second).unwrap();
    assert!(again.paths().eq(incomplete.paths()));
    assert_eq!(info(&second).unwrap().paths, (32, 72));
    let anchored = ask_one(&again, "pi[1]", Method::Anchored);
    assert!(has_flag(&anchored, "incomplete-table"));
    // There are bootstraps of X2 but no X1 to check them against.
    let functional = Functional::parse("pi[1]", again.layout()).unwrap();
    let calibrator = Calibrator::new(&again, DRAWS).unwrap();
    let error = calibrator.answer(&functional.parts()[0], &[Method::Tvb], &[0.95]).unwrap_err();
    assert!(matches!(error, CalibrateError::Missing { .. }), "{error}");
    std::fs::remove_file(parts.join("full-00000.parquet")).unwrap();
    let headless = open(&first).unwrap();
    let calibrator = Calibrator::new(&headless, DRAWS).unwrap();
    let error = calibrator.answer(&functional.parts()[0], &[Method::Vb], &[0.95]).unwrap_err();
    assert!(error.to_string().contains("not complete"), "{error}");
}

#[test]
fn overlapping_mixtures_keep_their_promises() {
    // Nothing here has a closed form; the answers must still be ordered, finite and explained.
    let data = Mixture::new(12, 150, 2, 2, 1.5);
    let table = Case::gmm(data.dataset(), 2).grid(30, 0.02).bootstraps(100, 100).build();
    for text in ["pi[1]", "mu[1,1]", "mu[2,2]", "sd[1,1]"] {
        for answer in ask(&table, text, &Method::ALL, &[0.8, 0.95]) {
            let highest = if answer.method.stretches() { 2.0 } else { 1.0 };
            assert!(answer.omega > 0.0 && answer.omega <= highest, "{answer:?}");
            assert!(answer.lower < answer.upper && answer.lower.is_finite());
            assert!(answer.curve.windows(2).all(|p| p[0].omega > p[1].omega));
        }
    }
}

//! Draws are reproducible, coupled across fits and independent of what else is drawn.

use super::*;

#[test]
fn the_same_seed_gives_the_same_draws() {
    let (layout, parameters) = gmm();
    let draws = Draws::sample(&layout, &parameters, 3, 50);
    assert_eq!(draws, Draws::sample(&layout, &parameters, 3, 50));
    assert_ne!(draws, Draws::sample(&layout, &parameters, 4, 50));
    let part = one("cor[1,1,2]", &layout);
    let more = Draws::sample(&layout, &parameters, 3, 80);
    assert_eq!(draws.values(&part)[..], more.values(&part)[..50]);
    assert_eq!((draws.len(), draws.is_empty()), (50, false));
    assert!(Draws::sample(&layout, &parameters, 3, 0).is_empty());
}

#[test]
fn leaving_blocks_out_changes_nothing_else() {
    let (layout, parameters) = bmlr();
    let part = one("beta[3,1]*noise[2]", &layout);
    let all = Draws::sample(&layout, &parameters, 3, 40);
    let some = Draws::sample_for(&layout, &parameters, 3, 40, &[&part]);
    assert_eq!(all.values(&part), some.values(&part));
    assert!(some.values(&one("tau[1]", &layout)).iter().all(|x| x.is_nan()));
}

#[test]
fn nearby_fits_have_nearby_draws() {
    for ((layout, parameters), text) in [
        (gmm(), "mu[1,1]*sd[2,2]*cor[1,1,2] + pi[1]"),
        (bmlr(), "beta[1,1]*pi[3] + tau[2]*noise[3]"),
    ] {
        let part = one(text, &layout);
        let nearby: Vec<f64> = parameters.iter().map(|x| x * (1.0 + 1e-6)).collect();
        let a = Draws::sample(&layout, &parameters, 11, 2000).values(&part);
        let b = Draws::sample(&layout, &nearby, 11, 2000).values(&part);
        let close = a.iter().zip(&b).filter(|(x, y)| (*x - *y).abs() < 1e-3 * x.abs().max(0.1));
        assert!(close.count() > 1980, "{text}");
    }
}

#[test]
fn copies_without_a_law_are_not_numbers() {
    let (layout, mut parameters) = gmm();
    parameters[7] = -1.0;
    let draws = Draws::sample(&layout, &parameters, 1, 5);
    assert!(draws.values(&one("mu[1,1]", &layout)).iter().all(|x| x.is_nan()));
    assert!(draws.values(&one("mu[2,1]", &layout)).iter().all(|x| x.is_finite()));
}

#[test]
fn a_sampled_law_agrees_with_the_exact_one() {
    let (layout, parameters) = gmm();
    let part = one("logit(pi[1])", &layout);
    let exact = part.exact().expect("exact");
    let sampled = Draws::sample(&layout, &parameters, 2, 20_000).law(&part);
    let ((low, high), (se_low, se_high)) =
        (sampled.interval(0.9), sampled.standard_error_of_limits(0.9));
    let (exact_low, exact_high) = exact.interval(&parameters, 0.9);
    assert!((low - exact_low).abs() < 4.0 * se_low && (high - exact_high).abs() < 4.0 * se_high);
    // The error of a quantile is sqrt(p(1−p)/n)/f(q).
    let expected = (0.05f64 * 0.95 / 20_000.0).sqrt() / exact.density(&parameters, exact_low);
    assert!((se_low / expected - 1.0).abs() < 0.3, "{se_low} for {expected}");
    for p in [0.1, 0.5, 0.9] {
        let x = exact.quantile(&parameters, p);
        assert!((sampled.cdf(x) - p).abs() < 0.015);
        assert!((sampled.density(x) / exact.density(&parameters, x) - 1.0).abs() < 0.1);
    }
}

#[test]
fn small_and_odd_samples() {
    let law = SampledLaw::new(vec![3.0, f64::NAN, 1.0, 2.0]);
    assert_eq!((law.sorted(), law.undefined()), (&[1.0, 2.0, 3.0][..], 1));
    assert_eq!((law.cdf(0.5), law.cdf(2.0), law.cdf(9.0)), (0.0, 2.0 / 3.0, 1.0));
    assert_eq!((law.quantile(0.0), law.quantile(0.75), law.quantile(1.0)), (1.0, 2.5, 3.0));
    assert!(law.quantile(1.5).is_nan() && law.cdf(f64::NAN).is_nan());
    let none = SampledLaw::new(vec![f64::NAN]);
    assert!(none.quantile(0.5).is_nan() && none.cdf(0.0).is_nan());
    let single = SampledLaw::new(vec![2.0]);
    assert_eq!((single.interval(0.9), single.density(1.0)), ((2.0, 2.0), 0.0));
    let infinite = SampledLaw::new(vec![1.0, f64::INFINITY, f64::INFINITY]);
    assert_eq!(infinite.quantile(1.0), f64::INFINITY);
}

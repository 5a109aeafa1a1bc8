//! Exact laws: which functionals have one, and that it is the law of their draws.

use super::*;
use crate::posterior::{Marginal, NormalWishart};

const GMM_EXACT: &[(&str, &str)] = &[
    ("mu[1,1]", "scaled t"),
    ("mu[1,1]+mu[1,2]", "scaled t"),
    ("sum(mu[1,])", "scaled t"),
    ("2*mu[1,1]-mu[1,1]", "scaled t"),
    ("(mu[1,1]+mu[1,2])/2", "scaled t"),
    ("mean(mu[1,])", "scaled t"),
    ("3 - 2*(mu[2,waiting] - mu[2,1]/4)", "scaled t"),
    ("mu[2,1]^3", "power of scaled t"),
    ("expit(mu[1,1] - 4)", "expit of scaled t"),
    ("exp(-mu[2,1])", "exponential of scaled t"),
    ("2^mu[2,1]", "exponential of scaled t"),
    ("log(exp(mu[1,1]))", "scaled t"),
    ("pi[1]", "Beta"),
    ("1-pi[1]", "Beta"),
    ("pi[1]-pi[2]", "affine function of Beta"),
    ("pi[1]/pi[2]", "exponential of logit of Beta"),
    ("log(pi[1]/pi[2])", "logit of Beta"),
    ("logit(pi[1])", "logit of Beta"),
    ("pi[1]/(1-pi[1])", "exponential of logit of Beta"),
    ("(2*pi[1]+1)/(3-pi[1])", "affine function of reciprocal of affine function of Beta"),
    ("(pi[1]-1)^2", "power of affine function of Beta"),
    ("1/pi[2]", "reciprocal of Beta"),
    ("pi[1]*pi[1]", "power of Beta"),
    ("pi[1]*pi[1]/pi[1]", "Beta"),
    ("abs(pi[1]-1)", "Beta"),
    ("sigma[1,2,2]", "inverse gamma"),
    ("3*sigma[1,2,2]", "inverse gamma"),
    ("1-3*sigma[1,2,2]", "affine function of inverse gamma"),
    ("sigma[1,1,1]+sigma[1,2,2]-2*sigma[1,1,2]", "inverse gamma"),
    (
        "sqrt(sigma[1,1,1]+4*sigma[1,2,2]+2*(sigma[1,2,1]+sigma[1,1,2]))",
        "square root of inverse gamma",
    ),
    ("sd[1,1]", "square root of inverse gamma"),
    ("log(sd[1,1])", "log of square root of inverse gamma"),
    ("sd[1,1]^2", "inverse gamma"),
    ("sd[1,1]*sd[1,1]", "inverse gamma"),
    ("sd[1,1]*2/4", "affine function of square root of inverse gamma"),
    ("1/sd[2,waiting]", "power of inverse gamma"),
    ("-1/sigma[1,1,1]", "affine function of reciprocal of inverse gamma"),
    ("max(sd[1,2])", "square root of inverse gamma"),
    // An end of the support must not become -0, whose reciprocal has the wrong sign.
    (
        "(1/(-2/log(pi[1])))^2",
        "power of reciprocal of affine function of reciprocal of affine function of log of Beta",
    ),
];

const BMLR_EXACT: &[(&str, &str)] = &[
    ("beta[1,1]-beta[2,1]", "Normal"),
    ("sum(beta)", "Normal"),
    ("mean(beta[,2])", "Normal"),
    ("exp(beta[3,x1])", "exponential of Normal"),
    ("beta[1,`(Intercept)`] + 2", "Normal"),
    ("pi[3]", "Beta"),
    ("pi[1]+pi[3]", "Beta"),
    ("1 - pi[1] - pi[3]", "Beta"),
    ("2*pi[1]+2*pi[2]-pi[3]", "affine function of Beta"),
    ("log(pi[3])", "log of Beta"),
    ("pi[3]/(pi[1]+pi[2])", "exponential of logit of Beta"),
    ("tau[1]", "Gamma"),
    ("5*tau[1]", "Gamma"),
    ("1/sqrt(noise[2])", "power of Gamma"),
    ("log(noise[1]) + 1", "affine function of log of Gamma"),
];

/// Bound on the largest distance between an exact distribution function and that of 20,000 draws; the
/// Kolmogorov statistic exceeds it with probability 2·exp(−2·20000·0.0138²) < 0.001.
const DISTANCE: f64 = 0.0138;

#[test]
fn exact_laws_are_the_laws_of_the_draws() {
    for (model, table) in [(gmm(), GMM_EXACT), (bmlr(), BMLR_EXACT)] {
        let (layout, parameters) = model;
        let draws = Draws::sample(&layout, &parameters, 7, 20_000);
        for (text, description) in table {
            let part = one(text, &layout);
            let law = part.exact().unwrap_or_else(|| panic!("{text} has no exact law"));
            assert_eq!(law.describe(), *description, "{text}");
            let sample = draws.law(&part);
            assert_eq!(sample.undefined(), 0, "{text}");
            let n = sample.sorted().len() as f64;
            let distance = sample.sorted().iter().enumerate().fold(0.0f64, |d, (i, &x)| {
                let u = law.cdf(&parameters, x);
                d.max((u - i as f64 / n).abs()).max((u - (i + 1) as f64 / n).abs())
            });
            assert!(distance < DISTANCE, "{text}: {distance}");
            check_consistency(text, law, &parameters);
        }
    }
}

/// Quantiles invert the distribution function, and the density integrates to it.
fn check_consistency(text: &str, law: &ExactLaw, parameters: &[f64]) {
    for p in [0.001, 0.025, 0.5, 0.8, 0.999] {
        let x = law.quantile(parameters, p);
        let u = law.cdf(parameters, x);
        assert!((u - p).abs() < 1e-9, "{text}: cdf {u} at the quantile of {p}");
    }
    let (low, high) = law.interval(parameters, 0.9);
    assert!(low < high, "{text}");
    let ends = (law.quantile(parameters, 0.05), law.quantile(parameters, 0.95));
    assert!((low - ends.0).abs() < 1e-9 * low.abs() && (high - ends.1).abs() < 1e-9 * high.abs());
    let steps = 4000;
    let h = (high - low) / f64::from(steps);
    let mass: f64 =
        (0..steps).map(|i| law.density(parameters, low + (f64::from(i) + 0.5) * h)).sum();
    assert!((mass * h - 0.9).abs() < 1e-3, "{text}: mass {}", mass * h);
    assert!(law.cdf(parameters, f64::NAN).is_nan(), "{text}");
    assert_eq!(law.cdf(parameters, f64::NEG_INFINITY), 0.0, "{text}");
    assert_eq!(law.cdf(parameters, f64::INFINITY), 1.0, "{text}");
}

#[test]
fn everything_else_is_left_to_draws() {
    let (layout, _) = gmm();
    for text in [
        "mu[1,1]-mu[2,1]",
        "cor[1,1,2]",
        "pi[1]*mu[1,1]",
        "sigma[1,1,2]",
        "sd[1,1]+sd[1,2]",
        "sigma[1,1,1]+sigma[1,2,2]",
        "sigma[1,1,1]-sigma[1,2,2]",
        "abs(mu[1,1])",
        "log(mu[1,1])",
        "1/mu[1,1]",
        "mu[1,1]^2",
        "sqrt(mu[1,1])",
        "max(pi)",
        "min(mu[1,1],mu[1,2])",
        "sd[1,1]/sd[2,1]",
        "mu[1,1]/sd[1,1]",
        "pi[1]^pi[2]",
        "exp(log(mu[1,1]))",
        "pi[1]/0",
        "pi[1]+log(0)",
        "sigma[1,1,1]+sigma[1,2,2]+sigma[1,1,2]",
        "sigma[1,1,1]+2*sigma[1,1,2]",
        "pi[1]-mu[1,1]",
        // What cancels may still have no value at some draws.
        "pi[1]+0*log(mu[1,1])",
        "pi[1]+logit(mu[1,1])*(pi[2]-pi[2])",
        "pi[1]+sqrt(mu[1,1])-sqrt(mu[1,1])",
        "pi[1]+0*mu[1,1]^0.5",
        "pi[1]+0*mu[1,1]^pi[1]",
        "pi[1]+0/(pi[1]-pi[1])",
    ] {
        assert!(one(text, &layout).exact().is_none(), "{text}");
    }
    let (layout, _) = bmlr();
    for text in ["tau[1]+tau[2]", "pi[1]-pi[2]", "pi[1]+2*pi[2]", "beta[1,1]*beta[1,2]"] {
        assert!(one(text, &layout).exact().is_none(), "{text}");
    }
}

#[test]
fn constants_are_point_masses() {
    let (layout, parameters) = gmm();
    for (text, value) in [
        ("sum(pi)", 1.0),
        ("pi[1]+pi[2]", 1.0),
        ("mu[1,1]-mu[1,1]", 0.0),
        ("2^3", 8.0),
        ("cor[1,2,2]", 1.0),
        ("0*mu[1,1]+3", 3.0),
        ("log(sum(pi))", 0.0),
        ("sd[1,1]/sd[1,1]", 1.0),
        ("0.1*pi[1]+0.2*pi[1]-0.3*pi[1]", 0.0),
    ] {
        let part = one(text, &layout);
        let law = part.exact().unwrap_or_else(|| panic!("{text}"));
        assert_eq!(law.marginal(&parameters), Marginal::Degenerate { value }, "{text}");
        assert_eq!(law.cdf(&parameters, value), 1.0);
        assert_eq!(law.cdf(&parameters, value - 1e-9), 0.0);
        assert_eq!(law.interval(&parameters, 0.95), (value, value));
        assert_eq!(law.describe(), "constant");
    }
}

#[test]
fn closed_forms() {
    let (layout, parameters) = gmm();
    let law = |text: &str| one(text, &layout).exact().expect("exact").clone();
    assert_eq!(law("pi[2]").marginal(&parameters), Marginal::Beta { a: 20.0, b: 40.0 });
    let block = NormalWishart::new(3, &parameters[2..13]);
    assert_eq!(law("mu[1,2]").marginal(&parameters), block.linear_marginal(&[0.0, 1.0, 0.0]));
    let Marginal::StudentT { df, location, scale } =
        law("mu[1,1] - 2*mu[1,3]").marginal(&parameters)
    else {
        panic!("not a t");
    };
    // cᵀW^-1c = 3 − 4·0.5 + 4·2.5 = 11 with c = (1, 0, −2); df = 33 − 3 + 1.
    close(df, 31.0);
    close(location, 6.0);
    close(scale, (11.0f64 / (30.0 * 31.0)).sqrt());
    assert_eq!(
        law("sd[1,2]").marginal(&parameters),
        Marginal::InverseGamma { shape: 15.5, scale: 45.0 }
    );
    let below = |text: &str, v: f64| law(text).cdf(&parameters, v);
    // The same event, said in different ways.
    let p = below("pi[1]", 0.7);
    close(below("logit(pi[1])", (0.7f64 / 0.3).ln()), p);
    close(below("pi[1]/pi[2]", 7.0 / 3.0), p);
    close(below("2*pi[1] - 1", 0.4), p);
    close(1.0 - below("1 - pi[1]", 0.3), p);
    close(1.0 - below("1/pi[1]", 1.0 / 0.7), p);
    close(below("sd[1,1]", 0.3), below("sigma[1,1,1]", 0.09));
    close(below("log(sd[1,1])", 0.3f64.ln()), below("sigma[1,1,1]", 0.09));
    // Outside the range.
    for (text, v, u) in [
        ("sd[1,1]", -1.0, 0.0),
        ("1/sd[1,1]", -1.0, 0.0),
        ("1/pi[1]", 0.5, 0.0),
        ("expit(mu[1,1])", 1.5, 1.0),
        ("expit(mu[1,1])", -0.5, 0.0),
        ("exp(mu[1,1])", -2.0, 0.0),
        ("-sd[1,1]", 0.5, 1.0),
        ("-exp(mu[1,1])", 0.5, 1.0),
        ("pi[1]", 1.5, 1.0),
        ("log(1/pi[1])", -0.1, 0.0),
        ("pi[1]-pi[2]", -1.5, 0.0),
    ] {
        assert_eq!(below(text, v), u, "{text} at {v}");
        assert_eq!(law(text).density(&parameters, v), 0.0, "{text} at {v}");
    }

    let (layout, parameters) = bmlr();
    let part = one("beta[1,1] - beta[2,1] + 3*beta[2,2]", &layout);
    let Some(Marginal::Normal { mean, sd }) = part.exact().map(|l| l.marginal(&parameters)) else {
        panic!("not Normal");
    };
    close(mean, 1.0 - 0.0 + 6.0);
    close(sd * sd, 0.5 + 0.2 - 2.0 * 3.0 * -0.05 + 9.0 * 0.1);
}

#[test]
fn means_of_one_component_are_told() {
    let (layout, _) = gmm();
    let mean = |text: &str| {
        let part = one(text, &layout);
        let law = part.exact()?;
        law.is_mean_of_component().map(|(k, c)| (k, c.to_vec()))
    };
    assert_eq!(mean("mu[2,1]"), Some((1, vec![1.0, 0.0, 0.0])));
    assert_eq!(mean("5 - 2*mu[1,2]"), Some((0, vec![0.0, -2.0, 0.0])));
    assert_eq!(mean("exp(mu[2,1])"), None);
    assert_eq!(mean("pi[1]"), None);
}

#[test]
fn ranges_follow_from_the_form() {
    let (layout, _) = gmm();
    for (text, range) in [
        ("pi[1]", Range::Unit),
        ("1-pi[1]", Range::Unit),
        ("expit(mu[1,1])", Range::Unit),
        ("pi[1]*pi[2]", Range::Unit),
        ("max(pi)", Range::Unit),
        ("pi[1]/2", Range::Unit),
        ("sd[1,1]", Range::Positive),
        ("sigma[1,1,1]", Range::Positive),
        ("exp(mu[1,1])", Range::Positive),
        ("abs(mu[1,1])", Range::Positive),
        ("mu[1,1]^2", Range::Positive),
        ("1+pi[1]", Range::Positive),
        ("pi[1]/pi[2]", Range::Positive),
        ("sd[1,1]/sd[2,1]", Range::Positive),
        ("sigma[1,1,1]+sigma[1,2,2]-2*sigma[1,1,2]", Range::Positive),
        ("sigma[1,1,1]+sigma[2,1,1]", Range::Positive),
        ("mu[1,1]", Range::Real),
        ("logit(pi[1])", Range::Real),
        ("log(sd[1,1])", Range::Real),
        ("sigma[1,1,2]", Range::Real),
        ("cor[1,1,2]", Range::Correlation),
        ("cor[1,1,2]-cor[2,1,2]", Range::Real),
        ("pi[1]-pi[2]", Range::Real),
        ("sd[1,1]-sd[1,2]", Range::Real),
        ("-sd[1,1]", Range::Real),
        ("1/mu[1,1]", Range::Real),
    ] {
        assert_eq!(one(text, &layout).range(), range, "{text}");
    }
}

#[test]
fn plug_in_values_by_hand() {
    let (layout, parameters) = gmm();
    let value = |text: &str| one(text, &layout).plug_in(&parameters);
    close(value("pi[1]"), 2.0 / 3.0);
    close(value("mu[2,waiting]"), 55.0);
    // E[Σ_1] = W^-1/(33 − 3 − 1).
    close(value("sigma[1,3,1]"), 0.5 / 29.0);
    close(value("sd[1,2]"), (90.0f64 / 29.0).sqrt());
    close(value("cor[1,1,2]"), 1.0 / (3.0f64 * 90.0).sqrt());
    close(value("log(sd[2,1])*2"), (1.0f64 / 11.5).ln());
    close(value("max(pi) - min(mu[1,])"), 2.0 / 3.0 + 1.0);
    close(value("mean(mu[2,])"), 59.0 / 3.0);
    let mut none = parameters.clone();
    none[3] = 3.5;
    assert!(one("sigma[1,1,1]", &layout).plug_in(&none).is_nan());
    assert!(one("sd[1,1]", &layout).plug_in(&none).is_nan());
    let (layout, parameters) = bmlr();
    close(one("tau[2]", &layout).plug_in(&parameters), 2.0 / 0.7);
    close(one("1/noise[2]", &layout).plug_in(&parameters), 2.0);
    close(one("sum(beta)", &layout).plug_in(&parameters), 4.5);
}

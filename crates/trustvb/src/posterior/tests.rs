//! Blocks against what they were not written from: integrals, densities and their own draws.

use super::*;
use crate::linalg::{invert_spd, quadratic_form, trace_of_product};
use crate::random::{Purpose, stream};
use crate::special::gamma::{ln_gamma, ln_multigamma};

/// Mean and standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

fn assert_within_error(what: &str, values: &[f64], expected: f64) {
    let (mean, error) = mean_and_error(values);
    assert!(
        (mean - expected).abs() < 4.5 * error + 1e-9,
        "{what}: {mean} ± {error}, expected {expected}"
    );
}

/// ∫ q log(q/p) on a fine grid in log x.
fn integrated_kl(q: Marginal, p: Marginal) -> f64 {
    let steps = 200_000;
    let (low, high) = (q.quantile(1e-13).ln(), q.quantile(1.0 - 1e-13).ln());
    let h = (high - low) / f64::from(steps);
    (0..steps)
        .map(|i| {
            let x = (low + (f64::from(i) + 0.5) * h).exp();
            let density = q.density(x);
            density * (density.ln() - p.density(x).ln()) * x * h
        })
        .sum()
}

#[test]
fn gamma_divergence_is_the_integral() {
    let (q, p) = (Gamma::new(3.2, 1.7), Gamma::new(0.8, 2.5));
    let integral = integrated_kl(q.marginal(), p.marginal());
    assert!((q.kl(&p) - integral).abs() < 1e-7, "{} {integral}", q.kl(&p));
    assert!(q.kl(&q).abs() < 1e-14);
}

#[test]
fn dirichlet_divergence_is_the_integral() {
    let q = Dirichlet::new(&[4.5, 2.25]);
    let integral = integrated_kl(q.sum_marginal(&[0]), Marginal::Beta { a: 0.7, b: 0.7 });
    assert!((q.kl_to_symmetric(0.7) - integral).abs() < 1e-6, "{integral}");
}

fn ln_normal_wishart(block: &NormalWishart<'_>, mean: &[f64], covariance: &[f64]) -> f64 {
    let p = mean.len();
    let (precision, ln_det_covariance) = invert_spd(p, covariance).unwrap();
    let (_, ln_det_w_inverse) = invert_spd(p, block.w_inverse()).unwrap();
    let ln_det = -ln_det_covariance;
    let shift: Vec<f64> = mean.iter().zip(block.mean()).map(|(a, b)| a - b).collect();
    let dim = p as f64;
    let normal = 0.5 * (dim * (block.beta / std::f64::consts::TAU).ln() + ln_det)
        - 0.5 * block.beta * quadratic_form(p, &precision, &shift);
    let wishart = 0.5 * (block.nu - dim - 1.0) * ln_det
        - 0.5 * trace_of_product(p, block.w_inverse(), &precision)
        + 0.5 * block.nu * ln_det_w_inverse
        - 0.5 * block.nu * dim * std::f64::consts::LN_2
        - ln_multigamma(p, 0.5 * block.nu);
    normal + wishart
}

#[test]
fn normal_wishart_divergence_and_moments_are_those_of_its_draws() {
    let q_numbers = [3.0, 9.5, 1.0, -0.5, 2.0, 0.4, 1.5];
    let p_numbers = [0.7, 4.5, 0.3, 0.2, 1.2, -0.3, 0.9];
    let (q, p) = (NormalWishart::new(2, &q_numbers), NormalWishart::new(2, &p_numbers));
    let mut rng = stream(11, Purpose::Draw, 0);
    let draws: Vec<NormalWishartDraw> = (0..40_000).map(|_| q.draw(&mut rng).unwrap()).collect();
    let ratios: Vec<f64> = draws
        .iter()
        .map(|d| {
            ln_normal_wishart(&q, &d.mean, &d.covariance)
                - ln_normal_wishart(&p, &d.mean, &d.covariance)
        })
        .collect();
    assert_within_error("divergence", &ratios, q.kl(&p).unwrap());
    let expected = q.mean_covariance().unwrap();
    for at in 0..3 {
        let values: Vec<f64> = draws.iter().map(|d| d.covariance[at]).collect();
        assert_within_error("E[Σ]", &values, expected[at]);
    }
    let c = [1.0, -2.0];
    let form = |x: &[f64]| c[0] * x[0] + c[1] * x[1];
    for (law, values) in [
        (q.linear_marginal(&c), draws.iter().map(|d| form(&d.mean)).collect::<Vec<f64>>()),
        (
            q.variance_marginal(&c),
            draws.iter().map(|d| quadratic_form(2, &d.covariance, &c)).collect(),
        ),
    ] {
        for probability in [0.05, 0.3, 0.5, 0.9] {
            let below = law.quantile(probability);
            let inside: Vec<f64> =
                values.iter().map(|v| f64::from(u8::from(*v <= below))).collect();
            assert_within_error("marginal", &inside, probability);
        }
    }
}

#[test]
fn normal_block_draws_and_divergence() {
    let numbers = [0.5, -1.0, 0.6, 0.2, 0.3];
    let block = MvNormal::new(2, &numbers);
    let (_, ln_det) = invert_spd(2, block.covariance()).unwrap();
    let tau = Gamma::new(2.5, 1.2);
    let mut rng = stream(12, Purpose::Draw, 0);
    let mut out = [0.0; 2];
    let mut ratios = Vec::new();
    let mut sums = Vec::new();
    let (precision, _) = invert_spd(2, block.covariance()).unwrap();
    for _ in 0..40_000 {
        block.draw(&mut rng, &mut out);
        let t = tau.draw(&mut rng);
        let shift = [out[0] - numbers[0], out[1] - numbers[1]];
        let ln_q = -0.5 * (ln_det + quadratic_form(2, &precision, &shift));
        let ln_p = t.ln() - 0.5 * t * (out[0] * out[0] + out[1] * out[1]);
        ratios.push(ln_q - ln_p);
        sums.push((out[0] - 2.0 * out[1] - block.linear(&[1.0, -2.0]).0).powi(2));
    }
    assert_within_error("KL", &ratios, block.kl_to_ridge(tau.mean(), tau.mean_ln(), ln_det));
    assert_within_error("variance of a linear form", &sums, block.linear(&[1.0, -2.0]).1);
}

#[test]
fn dirichlet_draws_have_its_marginals() {
    let block = Dirichlet::new(&[0.4, 3.0, 1.5]);
    let mut rng = stream(13, Purpose::Draw, 0);
    let mut out = [0.0; 3];
    let law = block.sum_marginal(&[0, 2]);
    let below = law.quantile(0.25);
    let inside: Vec<f64> = (0..40_000)
        .map(|_| {
            block.draw(&mut rng, &mut out);
            f64::from(u8::from(out[0] + out[2] <= below))
        })
        .collect();
    assert_within_error("sum of two weights", &inside, 0.25);
    assert!((ln_gamma(5.0) - 24f64.ln()).abs() < 1e-14);
}

#[test]
fn permuting_moves_whole_components() {
    let layout = Layout::new(
        2,
        vec!["x".to_owned()],
        vec![Block::weights("pi", 2), Block::centre("mu_lambda", Family::NormalWishart, 2, 1)],
    );
    let numbers = vec![3.0, 5.0, 1.0, 2.0, 0.1, 0.2, 10.0, 20.0, 1.1, 1.2];
    let posterior = Posterior::new(std::sync::Arc::new(layout), numbers);
    assert_eq!(posterior.order_by_weight(), [1, 0]);
    let swapped = posterior.permuted(&[1, 0]);
    assert_eq!(swapped.parameters(), [5.0, 3.0, 10.0, 20.0, 1.1, 1.2, 1.0, 2.0, 0.1, 0.2]);
    assert_eq!(swapped.centres(), [1.1, 0.1]);
    assert_eq!(posterior.layout().parameter_names()[5], "mu_lambda.W_inverse[1,1,1]");
}

#[test]
fn a_prepared_block_draws_the_same_numbers() {
    use crate::random::{Purpose, stream};
    let wishart = [3.0, 7.5, 1.0, -2.0, 0.5, 2.0, 0.3, 1.5, -0.2, 0.1, 0.9];
    let normal = [1.0, -1.0, 2.0, 0.4, 0.5];
    let (mut plain, mut prepared) = ([0.0; 9], [0.0; 9]);
    let rngs = || (0..50).map(|i| (stream(5, Purpose::Draw, i), stream(5, Purpose::Draw, i)));
    let mut sampler = Sampler::new(Family::NormalWishart, 3, &wishart);
    for (mut a, mut b) in rngs() {
        let draw = NormalWishart::new(3, &wishart).draw(&mut a).unwrap();
        sampler.draw(&mut b, &mut prepared);
        assert_eq!((&prepared[..3], &prepared[3..]), (&draw.mean[..], &draw.covariance[..]));
        assert_eq!(a, b);
    }
    for (mut a, mut b) in rngs() {
        let draw = NormalWishart::new(3, &wishart).draw(&mut a).unwrap();
        sampler.draw(&mut b, &mut prepared[..3]);
        assert_eq!(&prepared[..3], &draw.mean[..]);
    }
    for (family, dim, parameters) in [
        (Family::Dirichlet, 3, &[0.4, 1.0, 20.0][..]),
        (Family::MvNormal, 2, &normal[..]),
        (Family::Gamma, 1, &[0.7, 3.0][..]),
    ] {
        let mut sampler = Sampler::new(family, dim, parameters);
        for (mut a, mut b) in rngs() {
            match family {
                Family::Dirichlet => Dirichlet::new(parameters).draw(&mut a, &mut plain[..dim]),
                Family::MvNormal => MvNormal::new(dim, parameters).draw(&mut a, &mut plain[..dim]),
                _ => plain[0] = Gamma::new(parameters[0], parameters[1]).draw(&mut a),
            }
            sampler.draw(&mut b, &mut prepared[..dim]);
            assert_eq!(plain[..dim], prepared[..dim], "{family:?}");
            assert_eq!(a, b);
        }
    }
}

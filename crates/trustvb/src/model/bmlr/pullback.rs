//! The transposed derivative of (M5) and its log densities, by matrices: see [`Pullback`].
//!
//! Written backwards from the update in the order β, τ, λ, π. A bar is a cotangent; with `ρ = ωE[λ]`,
//!
//! ```text
//! A = ρ X'X + E[τ] I      S = A^-1          Ā −= S S̄ S
//! m = ρ S X'y             S̄ += ρ m̄ (X'y)ᵀ   ρ̄ += m̄·m/ρ
//! R = y'y − 2m'X'y + m'X'Xm + tr(X'X S)     m̄ += 2R̄ (X'X m − X'y)    S̄ += R̄ X'X
//! ```

use super::groups::{ROWS, Units, XY, YY};
use crate::linalg::square::{
    add_cotangent, add_outer, add_scaled, dot, from_cotangent, sandwich, times,
};
use crate::model::Pullback;
use crate::posterior::Gamma;
use crate::special::gamma::trigamma;

/// The derivative at one state.
#[derive(Debug)]
pub(super) struct BmlrPullback {
    pub(super) p: usize,
    pub(super) omega: f64,
    pub(super) units: Units,
    pub(super) densities: Vec<f64>,
    pub(super) components: Vec<Own>,
    /// A precision that is known, and no matter of states.
    pub(super) known: Option<f64>,
}

/// What is needed of one component.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) alpha: f64,
    /// `X'y` and `X'X` (full) of the state.
    pub(super) xy: Vec<f64>,
    pub(super) xx: Vec<f64>,
    /// `ωE[λ]` of the state.
    pub(super) precision: f64,
    pub(super) m: Vec<f64>,
    /// `S`, full.
    pub(super) s: Vec<f64>,
    pub(super) tau: Gamma,
    pub(super) noise: Option<Gamma>,
}

/// Cotangents of one component's `q(θ)`: of `α`, `m`, `S` (full), the rate of `τ`, and shape and rate of the noise.
struct Slopes {
    alpha: f64,
    m: Vec<f64>,
    s: Vec<f64>,
    tau: f64,
    noise: (f64, f64),
}

impl Pullback for BmlrPullback {
    fn densities(&self) -> &[f64] {
        &self.densities
    }

    fn pull(&self, coefficients: &[f64], next: &[f64], state: &mut [f64]) {
        let k = self.components.len();
        let (features, stride) = (coefficients.len() / k, next.len() / k);
        let total: f64 = coefficients.iter().step_by(features).sum();
        let of_total = total * trigamma(self.components.iter().map(|own| own.alpha).sum());
        for (at, own) in self.components.iter().enumerate() {
            let of_density = &coefficients[at * features..(at + 1) * features];
            let expectations = &next[at * stride + features..(at + 1) * stride];
            let mut slopes = self.of_density(own, of_density, expectations);
            slopes.alpha = of_density[0] * trigamma(own.alpha) - of_total;
            self.to_state(own, slopes, &mut state[at * stride..(at + 1) * stride]);
        }
    }

    fn pull_posterior(&self, parameters: &[f64], state: &mut [f64]) {
        let (p, k) = (self.p, self.components.len());
        let stride = state.len() / k;
        let (alpha, rest) = parameters.split_at(k);
        let (betas, gammas) = rest.split_at(k * (p + p * (p + 1) / 2));
        for (at, own) in self.components.iter().enumerate() {
            let beta = &betas[at * betas.len() / k..(at + 1) * betas.len() / k];
            let noise = match own.noise {
                Some(_) => {
                    let own = &gammas[2 * (k + at)..];
                    (own[0], own[1] * self.units.scale_y.powi(2))
                }
                None => (0.0, 0.0),
            };
            let slopes = Slopes {
                alpha: alpha[at],
                m: self.units.difference_to_data_transposed(&beta[..p]),
                s: self.covariance_transposed(from_cotangent(p, &beta[p..])),
                tau: gammas[2 * at + 1],
                noise,
            };
            self.to_state(own, slopes, &mut state[at * stride..(at + 1) * stride]);
        }
    }
}

impl BmlrPullback {
    /// `Tᵀ C T`, for the covariance `T S Tᵀ` of coefficients in the data's units.
    fn covariance_transposed(&self, mut c: Vec<f64>) -> Vec<f64> {
        // Rows, then by symmetry columns.
        for _ in 0..2 {
            for row in c.chunks_exact_mut(self.p) {
                row.copy_from_slice(&self.units.difference_to_data_transposed(row));
            }
            let p = self.p;
            for i in 0..p {
                for j in 0..i {
                    c.swap(i * p + j, j * p + i);
                }
            }
        }
        c
    }

    /// From cotangents of a density's coefficients and of the expectations `E[τ]`, `E[λ]`.
    fn of_density(&self, own: &Own, coefficients: &[f64], expectations: &[f64]) -> Slopes {
        let p = self.p;
        let features = &coefficients[1..];
        let (xy, xx) = features[XY..].split_at(p);
        // An entry off the diagonal is −E[λ] (m_i m_j + S_ij), of which the matrix has two.
        let mut gamma = from_cotangent(p, xx);
        for i in 0..p {
            for j in 0..p {
                gamma[i * p + j] *= if i == j { -0.5 } else { -1.0 };
            }
        }
        let along = times(p, &gamma, &own.m);
        let mean = self.known.unwrap_or_else(|| own.noise.map_or(1.0, |noise| noise.mean()));
        let mut m: Vec<f64> = xy.iter().map(|x| mean * x).collect();
        add_scaled(2.0 * mean, &along, &mut m);
        let noise = own.noise.map_or((0.0, 0.0), |noise| {
            let of_mean = expectations[1] - 0.5 * features[YY]
                + dot(xy, &own.m)
                + dot(&along, &own.m)
                + dot(&gamma, &own.s);
            let of_log = 0.5 * features[ROWS];
            let shape = of_mean / noise.b + of_log * trigamma(noise.a);
            (shape, -of_mean * noise.a / (noise.b * noise.b) - of_log / noise.b)
        });
        Slopes {
            alpha: 0.0,
            m,
            s: gamma.iter().map(|x| mean * x).collect(),
            tau: -expectations[0] * own.tau.a / (own.tau.b * own.tau.b),
            noise,
        }
    }

    /// From cotangents of a component's `q(θ)` to those of its part of the state.
    fn to_state(&self, own: &Own, slopes: Slopes, out: &mut [f64]) {
        let (p, omega) = (self.p, self.omega);
        let Slopes { alpha, mut m, mut s, tau, noise } = slopes;
        out.fill(0.0);
        let expectations = out.len() - 2;
        out[0] = omega * alpha;
        out[1 + ROWS] = 0.5 * omega * noise.0;
        // b = b0 + ½(m'm + tr S).
        add_scaled(tau, &own.m, &mut m);
        (0..p).for_each(|i| s[i * p + i] += 0.5 * tau);
        let of_residual = 0.5 * omega * noise.1;
        out[1 + YY] = of_residual;
        let mut towards = times(p, &own.xx, &own.m);
        add_scaled(-1.0, &own.xy, &mut towards);
        add_scaled(2.0 * of_residual, &towards, &mut m);
        add_scaled(of_residual, &own.xx, &mut s);
        add_scaled(-2.0 * of_residual, &own.m, &mut out[1 + XY..1 + XY + p]);
        let mut of_xx: Vec<f64> = own.s.iter().map(|x| of_residual * x).collect();
        add_outer(p, of_residual, &own.m, &own.m, &mut of_xx);
        // m = ρ S X'y.
        add_outer(p, own.precision, &m, &own.xy, &mut s);
        add_scaled(own.precision, &times(p, &own.s, &m), &mut out[1 + XY..1 + XY + p]);
        let mut of_precision = dot(&m, &own.m) / own.precision;
        // S = (ρ X'X + E[τ] I)^-1.
        let of_a: Vec<f64> = sandwich(p, &own.s, &s).iter().map(|x| -x).collect();
        add_scaled(own.precision, &of_a, &mut of_xx);
        of_precision += dot(&of_a, &own.xx);
        out[expectations] = (0..p).map(|i| of_a[i * p + i]).sum();
        out[expectations + 1] = omega * of_precision;
        add_cotangent(p, 1.0, &of_xx, &mut out[1 + XY + p..expectations]);
    }
}

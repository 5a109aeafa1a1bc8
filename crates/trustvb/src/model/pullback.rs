//! The derivative of what a sweep does beside its pass over the units, transposed.
//!
//! A sweep takes a state to `q(θ)`, that to the coefficients of log densities, and these, by one pass over the units
//! ([`super::Units`]), to the sums of the next state; a few entries of the next state may follow from `q(θ)` alone. All but
//! the pass is a map between short vectors. A [`Pullback`] is its derivative at one state, applied from the right: from
//! cotangents (what a function changes by, per unit of each number) of its results to cotangents of the state. That costs
//! no pass, so a system with the derivative of a sweep is solved in a few dozen passes, whatever the length of the state.

use super::Degenerate;

/// The transposed derivative of a sweep but for its pass; see the module.
///
/// A prior that depends on the data is taken to be computed from the state's own totals.
pub trait Pullback: Send + Sync + std::fmt::Debug {
    /// The numbers behind the log densities at the state, component after component, as [`super::Units`] takes them.
    fn densities(&self) -> &[f64];
    /// From cotangents of the coefficients (component after component, the constant first) and of the next state (of which
    /// only entries that are not sums over units count) to one of the state.
    fn pull(&self, coefficients: &[f64], next: &[f64], state: &mut [f64]);
    /// From cotangents of the posterior's parameters to one of the state.
    fn pull_posterior(&self, parameters: &[f64], state: &mut [f64]);
}

/// A [`Pullback`] by central differences, for maps that cost little and whose results depend on few entries each.
#[derive(Debug)]
pub(super) struct Differences {
    densities: Vec<f64>,
    n_components: usize,
    /// For each entry of the state, the results that it changes, and their slopes. Results are the coefficients, then the
    /// next state's entries that are no sums, then the posterior's parameters.
    slopes: Vec<Vec<(u32, f64)>>,
    /// How many of the results come before the posterior's parameters.
    before_posterior: usize,
}

/// The relative step of central differences: the cube root of the rounding unit, which balances rounding and truncation.
pub(crate) const STEP: f64 = 6e-6;

impl Differences {
    /// Differentiates `map` at a state, whose entries have sizes `scale`. `map` gives the coefficients (`features` for each of
    /// `n_components`), then the next state's entries that are no sums, then the posterior's parameters.
    pub(super) fn new(
        (n_components, features): (usize, usize),
        state: &[f64],
        scale: &[f64],
        mut map: impl FnMut(&[f64], &mut Vec<f64>) -> Result<(), Degenerate>,
    ) -> Result<Differences, Degenerate> {
        let mut point = state.to_vec();
        let (mut here, mut up, mut down) = (Vec::new(), Vec::new(), Vec::new());
        map(&point, &mut here)?;
        let mut slopes = Vec::with_capacity(state.len());
        for (i, scale) in scale.iter().enumerate() {
            let width = central_difference(&mut point, i, STEP * scale, |point, upwards| {
                let out = if upwards { &mut up } else { &mut down };
                out.clear();
                map(point, out)
            })?;
            let changed = up.iter().zip(&down).enumerate().filter(|(_, (up, down))| up != down);
            let slope = |(at, (up, down)): (usize, (&f64, &f64))| (at as u32, (up - down) / width);
            slopes.push(changed.map(slope).collect());
        }
        here.truncate(n_components * features);
        // A state has as many sums as there are coefficients.
        let before_posterior = state.len();
        Ok(Differences { densities: here, n_components, slopes, before_posterior })
    }
}

impl Pullback for Differences {
    fn densities(&self) -> &[f64] {
        &self.densities
    }

    fn pull(&self, coefficients: &[f64], next: &[f64], state: &mut [f64]) {
        let k = self.n_components;
        let (features, stride) = (coefficients.len() / k, next.len() / k);
        let others = next.chunks_exact(stride).flat_map(|own| &own[features..]);
        let results: Vec<f64> = coefficients.iter().chain(others).copied().collect();
        for (out, slopes) in state.iter_mut().zip(&self.slopes) {
            let own = slopes.iter().take_while(|(at, _)| (*at as usize) < self.before_posterior);
            *out = own.map(|(at, slope)| slope * results[*at as usize]).sum();
        }
    }

    fn pull_posterior(&self, parameters: &[f64], state: &mut [f64]) {
        for (out, slopes) in state.iter_mut().zip(&self.slopes) {
            let first = slopes.partition_point(|(at, _)| (*at as usize) < self.before_posterior);
            let value = |at: u32| parameters[at as usize - self.before_posterior];
            *out = slopes[first..].iter().map(|(at, slope)| slope * value(*at)).sum();
        }
    }
}

/// Evaluates at `point[i] ± step` (one-sided when one of them is not feasible) and returns the
/// distance between the two points. `point` is as before afterwards.
pub(crate) fn central_difference(
    point: &mut [f64],
    i: usize,
    step: f64,
    mut evaluate: impl FnMut(&[f64], bool) -> Result<(), Degenerate>,
) -> Result<f64, Degenerate> {
    let centre = point[i];
    point[i] = centre + step;
    let upper = point[i];
    let up = evaluate(point, true);
    point[i] = centre - step;
    let lower = point[i];
    let down = evaluate(point, false);
    point[i] = centre;
    match (up, down) {
        (Ok(()), Ok(())) => Ok(upper - lower),
        (Ok(()), Err(_)) => evaluate(point, false).map(|()| upper - centre),
        (Err(_), Ok(())) => evaluate(point, true).map(|()| centre - lower),
        (Err(why), Err(_)) => Err(why),
    }
}

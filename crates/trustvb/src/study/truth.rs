//! The true parameters behind simulated data, in the names that functionals use.

use crate::linalg::packed_index;
use crate::posterior::{Family, Layout};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// True values, component after component, the heaviest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// Weights.
    pub pi: Vec<f64>,
    /// The other quantities by name, each with a value for every component.
    #[serde(flatten)]
    pub quantities: BTreeMap<String, Value>,
}

impl Truth {
    /// Weights, and nothing else yet.
    pub fn new(pi: Vec<f64>) -> Truth {
        Truth { pi, quantities: BTreeMap::new() }
    }

    /// The same with a quantity.
    pub fn with(mut self, name: &str, values: &impl Serialize) -> Truth {
        let values = serde_json::to_value(values).unwrap_or_default();
        self.quantities.insert(name.to_owned(), values);
        self
    }
}

/// Degrees of freedom of the Wishart that stands for a known covariance: so many that it has no
/// spread, and a power of two beyond `p + 1`, so that its mean is the covariance bit for bit.
const MANY: f64 = (1u64 << 40) as f64;

/// The parameters of one copy of a block, if the layout has it.
fn copy<'a>(
    layout: &Layout,
    block: &str,
    family: Family,
    k: usize,
    parameters: &'a mut [f64],
) -> Option<&'a mut [f64]> {
    let block = layout.block(block).filter(|b| b.family == family && k < b.copies)?;
    let size = family.parameters(block.dim);
    parameters.get_mut(block.offset + k * size..block.offset + (k + 1) * size)
}

/// Puts true weights into a posterior's parameters.
pub(crate) fn put_weights(layout: &Layout, weights: &[f64], parameters: &mut [f64]) {
    let Some(block) = layout.weights() else { return };
    parameters[block.offset..block.offset + block.dim].copy_from_slice(weights);
}

/// Puts the true mean and covariance of a component into a Normal–Wishart block.
pub(crate) fn put_normal_wishart(
    layout: &Layout,
    block: &str,
    k: usize,
    mean: &[f64],
    covariance: &[Vec<f64>],
    parameters: &mut [f64],
) {
    let Some(own) = copy(layout, block, Family::NormalWishart, k, parameters) else { return };
    let p = mean.len();
    (own[0], own[1]) = (MANY, MANY + p as f64 + 1.0);
    own[2..2 + p].copy_from_slice(mean);
    for i in 0..p {
        for j in 0..=i {
            own[2 + p + packed_index(i, j)] = MANY * covariance[i][j];
        }
    }
}

/// Puts the true coefficients of a component into a Normal block.
pub(crate) fn put_mv_normal(
    layout: &Layout,
    block: &str,
    k: usize,
    mean: &[f64],
    parameters: &mut [f64],
) {
    let Some(own) = copy(layout, block, Family::MvNormal, k, parameters) else { return };
    own.fill(0.0);
    own[..mean.len()].copy_from_slice(mean);
}

/// Puts true probabilities of a component into a Dirichlet block.
pub(crate) fn put_dirichlet(
    layout: &Layout,
    block: &str,
    k: usize,
    p: &[f64],
    parameters: &mut [f64],
) {
    let Some(own) = copy(layout, block, Family::Dirichlet, k, parameters) else { return };
    own.copy_from_slice(p);
}

/// Puts a true positive number of a component into a Gamma block.
pub(crate) fn put_gamma(
    layout: &Layout,
    block: &str,
    k: usize,
    value: f64,
    parameters: &mut [f64],
) {
    let Some(own) = copy(layout, block, Family::Gamma, k, parameters) else { return };
    (own[0], own[1]) = (value, 1.0);
}

#[cfg(test)]
mod tests {
    use crate::functional::Functional;
    use crate::model::GmmSimulationSettings;
    use crate::posterior::{Block, Family, Layout};
    use crate::study::{SettingsOf, Simulation, Truth};
    use std::sync::Arc;

    fn simulation() -> Simulation {
        let settings = GmmSimulationSettings {
            n: vec![10],
            weights: Some(vec![0.65, 0.35]),
            centres: Some(vec![vec![0.1, -0.3], vec![2.0, 2.5]]),
            covariances: Some(vec![
                vec![vec![1.3, 0.7], vec![0.7, 2.1]],
                vec![vec![0.9, 0.0], vec![0.0, 1.1]],
            ]),
            ..GmmSimulationSettings::default()
        };
        settings.check().unwrap()
    }

    fn layout() -> Arc<Layout> {
        Arc::new(Layout::new(
            2,
            vec!["x1".into(), "x2".into()],
            vec![Block::weights("pi", 2), Block::centre("mu_lambda", Family::NormalWishart, 2, 2)],
        ))
    }

    #[test]
    fn functionals_have_their_true_values() {
        let truth = simulation().true_posterior(&layout()).unwrap();
        for (text, expected) in [
            ("pi[1]", 0.65),
            ("mu[1,x2]", -0.3),
            ("mu[2,1] - mu[1,1]", 1.9),
            ("sigma[1,1,2]", 0.7),
            ("sd[1,2]^2", 2.1),
            ("cor[1,1,2]", 0.7 / (1.3_f64 * 2.1).sqrt()),
        ] {
            let functional = Functional::parse(text, &layout()).unwrap();
            let value = functional.parts()[0].plug_in(truth.parameters());
            assert!((value - expected).abs() < 1e-14, "{text}: {value} is not {expected}");
        }
    }

    #[test]
    fn json_reads_back_the_same() {
        let truth = simulation().truth();
        let text = serde_json::to_string(&truth).unwrap();
        assert_eq!(serde_json::from_str::<Truth>(&text).unwrap(), truth);
        assert!(text.starts_with(r#"{"pi":[0.65,0.35],"mu":[[0.1,-0.3],[2.0,2.5]],"sigma":"#));
    }

    #[test]
    fn another_number_of_components_is_refused() {
        let layout = Arc::new(Layout::new(3, vec![], vec![Block::weights("pi", 3)]));
        let message = simulation().true_posterior(&layout).unwrap_err().to_string();
        assert!(message.contains('2') && message.contains('3'), "{message}");
    }
}

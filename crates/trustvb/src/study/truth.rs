//! The true parameters behind simulated data, in the names that functionals use.

use super::StudyError;
use crate::functional::Part;
use crate::linalg::packed_index;
use crate::posterior::{Family, Layout, Posterior};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// True values, component after component, the heaviest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truth {
    /// Weights.
    pub pi: Vec<f64>,
    /// Means (gmm).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mu: Option<Vec<Vec<f64>>>,
    /// Covariance matrices (gmm).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sigma: Option<Vec<Vec<Vec<f64>>>>,
    /// Coefficients (bmlr).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<Vec<Vec<f64>>>,
    /// Noise precisions (bmlr).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Vec<f64>>,
}

/// Degrees of freedom of the Wishart that stands for a known covariance: so many that it has no
/// spread, and a power of two beyond `p + 1`, so that its mean is the covariance bit for bit.
const MANY: f64 = (1u64 << 40) as f64;

impl Truth {
    /// A posterior whose means are the truth, so that whatever is defined for posteriors (functionals,
    /// distances between components) is defined for the truth. What has no true value is NaN.
    pub fn posterior(&self, layout: &Arc<Layout>) -> Result<Posterior, StudyError> {
        let k = layout.n_components;
        if self.pi.len() != k {
            return Err(StudyError::Components { truth: self.pi.len(), model: k });
        }
        let mut parameters = vec![f64::NAN; layout.len()];
        for block in &layout.blocks {
            let size = block.family.parameters(block.dim);
            let p = block.dim;
            for copy in 0..block.copies {
                let at = block.offset + copy * size;
                let own = &mut parameters[at..at + size];
                match block.family {
                    Family::Dirichlet => own.copy_from_slice(&self.pi),
                    Family::NormalWishart => {
                        let (Some(mu), Some(sigma)) = (&self.mu, &self.sigma) else { continue };
                        (own[0], own[1]) = (MANY, MANY + p as f64 + 1.0);
                        own[2..2 + p].copy_from_slice(&mu[copy]);
                        for i in 0..p {
                            for j in 0..=i {
                                own[2 + p + packed_index(i, j)] = MANY * sigma[copy][i][j];
                            }
                        }
                    }
                    Family::MvNormal => {
                        let Some(beta) = &self.beta else { continue };
                        own.fill(0.0);
                        own[..p].copy_from_slice(&beta[copy]);
                    }
                    Family::Gamma => {
                        let known = self.noise.as_ref().filter(|_| block.name == "noise");
                        if let Some(noise) = known {
                            (own[0], own[1]) = (noise[copy], 1.0);
                        }
                    }
                }
            }
        }
        Ok(Posterior::new(layout.clone(), parameters))
    }

    /// The true value of a functional; NaN where it has none, as for `tau`.
    pub fn value(&self, part: &Part, layout: &Arc<Layout>) -> Result<f64, StudyError> {
        Ok(part.plug_in(self.posterior(layout)?.parameters()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functional::Functional;
    use crate::posterior::Block;

    fn truth() -> Truth {
        Truth {
            pi: vec![0.65, 0.35],
            mu: Some(vec![vec![0.1, -0.3], vec![2.0, 2.5]]),
            sigma: Some(vec![
                vec![vec![1.3, 0.7], vec![0.7, 2.1]],
                vec![vec![0.9, 0.0], vec![0.0, 1.1]],
            ]),
            ..Truth::default()
        }
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
        for (text, expected) in [
            ("pi[1]", 0.65),
            ("mu[1,x2]", -0.3),
            ("mu[2,1] - mu[1,1]", 1.9),
            ("sigma[1,1,2]", 0.7),
            ("sd[1,2]^2", 2.1),
            ("cor[1,1,2]", 0.7 / (1.3_f64 * 2.1).sqrt()),
        ] {
            let functional = Functional::parse(text, &layout()).unwrap();
            let value = truth().value(&functional.parts()[0], &layout()).unwrap();
            assert!((value - expected).abs() < 1e-14, "{text}: {value} is not {expected}");
        }
    }

    #[test]
    fn json_reads_back_the_same() {
        let text = serde_json::to_string(&truth()).unwrap();
        assert_eq!(serde_json::from_str::<Truth>(&text).unwrap(), truth());
        assert!(text.starts_with(r#"{"pi":[0.65,0.35],"mu":[[0.1,-0.3],[2.0,2.5]],"sigma":"#));
    }

    #[test]
    fn another_number_of_components_is_refused() {
        let layout = Arc::new(Layout::new(3, vec![], vec![Block::weights("pi", 3)]));
        let message = truth().posterior(&layout).unwrap_err().to_string();
        assert!(message.contains('2') && message.contains('3'), "{message}");
    }
}

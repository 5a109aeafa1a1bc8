//! Starts from fits of one component less or more: one is split in two, or one is taken away.

use super::moves::{spare, split_into};
use super::race::best_of;
use super::track::{Field, Runner};
use super::{Fit, FitOptions, Progress, Stopping, finished};
use crate::model::Model;
use crate::posterior::{Layout, Posterior, Role};
use std::sync::Arc;

/// Starts that are tried at most, and of very many units.
const MOST: usize = 8;
const MOST_OF_MANY: usize = 2;

/// Units that are very many.
const MANY_UNITS: usize = 20_000;

/// Where a fit of `layout`, which has one component more, might begin: each of the heaviest components split in two.
/// Nothing for models whose blocks do not say how units spread about a centre.
pub(crate) fn grown(posterior: &Posterior, layout: &Arc<Layout>) -> Vec<Posterior> {
    let k = posterior.layout().n_components;
    let heaviest = posterior.order_by_weight().into_iter().take(MOST);
    heaviest
        .filter_map(|other| {
            let sources: Vec<usize> = (0..k).chain([other]).collect();
            split_into(&resized(posterior, layout, &sources)?, k, other)
        })
        .collect()
}

/// Where a fit of `layout`, which has one component less, might begin: without one of those that might be spared.
pub(crate) fn shrunk(posterior: &Posterior, layout: &Arc<Layout>) -> Vec<Posterior> {
    let counts = posterior.mixing().map_or_else(Vec::new, |law| law.alpha().to_vec());
    let spared = spare(posterior, &counts, MOST);
    let without = |component: usize| {
        let sources: Vec<usize> = (0..counts.len()).filter(|&k| k != component).collect();
        resized(posterior, layout, &sources)
    };
    spared.into_iter().filter_map(without).collect()
}

/// A posterior of another number of components, of which new component `i` is old component `sources[i]`.
fn resized(posterior: &Posterior, layout: &Arc<Layout>, sources: &[usize]) -> Option<Posterior> {
    let old = posterior.layout();
    if layout.n_components != sources.len() || layout.blocks.len() != old.blocks.len() {
        return None;
    }
    let from = posterior.parameters();
    let mut parameters = Vec::with_capacity(layout.len());
    for (block, wanted) in old.blocks.iter().zip(&layout.blocks) {
        let size = match block.role {
            Role::Weights => 1,
            Role::Centre | Role::Component => block.family.parameters(block.dim),
            Role::Shared => {
                let size = block.copies * block.family.parameters(block.dim);
                parameters.extend_from_slice(&from[block.offset..block.offset + size]);
                continue;
            }
        };
        if block.name != wanted.name || block.family != wanted.family {
            return None;
        }
        for &k in sources {
            let at = block.offset + k * size;
            parameters.extend_from_slice(&from[at..at + size]);
        }
    }
    (parameters.len() == layout.len()).then(|| Posterior::new(layout.clone(), parameters))
}

/// The better of `fit` and what the best of `starts` leads to; `fit` where there is nothing to compare.
pub(crate) fn improved(
    model: &dyn Model,
    fit: Fit,
    mut starts: Vec<Posterior>,
    options: &FitOptions,
    progress: &mut dyn FnMut(&Progress),
) -> Fit {
    let Stopping::Relative(tolerance) = options.stopping else { return fit };
    if starts.is_empty() || !model.is_ascent() {
        return fit;
    }
    if model.n_units() > MANY_UNITS {
        starts.truncate(MOST_OF_MANY);
    }
    let field = Field {
        model,
        weights: None,
        omega: fit.omega,
        options,
        starts: fit.starts,
        seed: 0,
        settled: tolerance.max(1e-4),
        in_doubt: true,
    };
    let Ok(mut track) = field.track() else { return fit };
    let Some(mut found) = best_of(&field, &track, starts, 0) else {
        return fit;
    };
    track.finish(&mut found, tolerance, progress);
    let held = Runner { outcome: fit.outcome.clone(), ..Runner::new(0, fit.state.clone()) };
    if found.has_failed() || track.merit(&found) <= track.merit(&held) + 1e-6 {
        return fit;
    }
    finished(model, None, fit.omega, (found.state, found.outcome), fit.starts).unwrap_or(fit)
}

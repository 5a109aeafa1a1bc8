//! Resamples as weights on units: made from (seed, design, replicate), or given by the user.
//!
//! There are two [`Design`]s for which bootstraps are drawn: `full` bootstraps all units, `split` one half of
//! them beside the other half itself. In both, replicate 0 is no bootstrap but what bootstraps are compared
//! with. For very many units, `full` can be a bag of little bootstraps ([`Subsets`]); a third design holds
//! what these are compared with.

use crate::hash::hex;
use crate::model::Model;
use crate::random::{Purpose, index, stream};
use rand_distr::{Binomial, Distribution};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::path::Path;

/// How resamples are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Replicate 0 is all units; the others are bootstraps of all units.
    Full,
    /// Replicate 0 is a half sample X1; the others are bootstraps of the other half X2.
    Split,
    /// Replicates 1, 2, … are the subsets that little bootstraps are drawn from, with the weight of all units.
    Subset,
}

impl Design {
    /// Its name in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Design::Full => "full",
            Design::Split => "split",
            Design::Subset => "subset",
        }
    }
}

/// The bag of little bootstraps (Kleiner, Talwalkar, Sarkar & Jordan 2014): a bootstrap draws as many units as there
/// are, but from a small random subset of them, and is compared with the fit of that subset. Its
/// weights add up to the number of units, so the fit's spread is that of all units, while it costs no
/// more than a fit of the subset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subsets {
    /// How many; bootstrap `b` belongs to subset `(b − 1) mod count + 1`.
    pub count: u32,
    /// Units in each.
    pub size: u32,
}

impl Subsets {
    /// The usual size is `n` to this power.
    pub const POWER: f64 = 0.7;

    /// Subsets of the usual size of `n_units` units.
    pub fn of(n_units: usize, count: u32) -> Subsets {
        Subsets { count, size: (n_units as f64).powf(Subsets::POWER).round() as u32 }
    }

    /// The subset, from 1, that bootstrap `replicate` is drawn from.
    pub fn of_bootstrap(&self, replicate: u32) -> u32 {
        (replicate - 1) % self.count + 1
    }

    /// The units of a subset: all different, in a random order (Floyd's algorithm).
    fn units(&self, seed: u64, number: u32, n_units: usize) -> Vec<usize> {
        let mut rng = stream(seed, Purpose::Subset, u64::from(number));
        let size = (self.size as usize).min(n_units);
        let mut chosen = HashSet::with_capacity(size);
        let mut units = Vec::with_capacity(size);
        for last in n_units - size..n_units {
            let drawn = index(&mut rng, last + 1);
            let unit = if chosen.insert(drawn) { drawn } else { last };
            chosen.insert(unit);
            units.push(unit);
        }
        units
    }

    /// The units of a subset with their weights: their share of all units, or how often a bootstrap draws them.
    fn weights(
        &self,
        seed: u64,
        design: Design,
        replicate: u32,
        n_units: usize,
    ) -> Vec<(usize, f64)> {
        if design == Design::Subset {
            let units = self.units(seed, replicate, n_units);
            let share = n_units as f64 / units.len() as f64;
            return units.into_iter().map(|unit| (unit, share)).collect();
        }
        let units = self.units(seed, self.of_bootstrap(replicate), n_units);
        let mut rng = stream(seed, Purpose::FullBootstrap, u64::from(replicate));
        // Multinomial counts, one binomial after the other: as many steps as the subset has units.
        let (mut left, size) = (n_units as u64, units.len());
        let draw = |(i, unit): (usize, usize)| {
            let share = 1.0 / (size - i) as f64;
            // A probability in (0, 1] is always taken.
            let count = Binomial::new(left, share).map_or(0, |law| law.sample(&mut rng));
            left -= count;
            (unit, count as f64)
        };
        units.into_iter().enumerate().map(draw).collect()
    }
}

/// Where weights come from: the user's own resamples for the designs they gave, otherwise a seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Resamples {
    seed: u64,
    fresh_splits: bool,
    given: Option<GivenResamples>,
    subsets: Option<Subsets>,
    /// The number of all units, where models have those of one subset alone.
    within: Option<usize>,
}

/// Resamples from a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GivenResamples {
    /// Units of the half sample X1 (0-based), if there is one.
    half: Option<Vec<u32>>,
    /// Bootstraps of the other half.
    split: Vec<Vec<u32>>,
    /// Bootstraps of all units.
    full: Vec<Vec<u32>>,
}

/// What is wrong with a file of resamples.
#[derive(Debug, thiserror::Error)]
pub enum ResampleError {
    /// The file cannot be read.
    #[error("{file}: {source}; give a CSV file with the columns role, replicate and units")]
    Read {
        /// The path.
        file: String,
        /// Why.
        source: csv::Error,
    },
    /// A row makes no sense.
    #[error("{file}, line {line}: {what}")]
    Row {
        /// The path.
        file: String,
        /// Line in the file.
        line: u64,
        /// What is wrong and what to do.
        what: String,
    },
    /// Nothing in it.
    #[error("{file} holds no bootstrap; add rows with the role `bootstrap` or `full`")]
    Empty {
        /// The path.
        file: String,
    },
}

impl GivenResamples {
    /// Reads `role,replicate,units`: one row `half` and rows `bootstrap` of the other half, or rows
    /// `full` (without a `half`, `bootstrap` means the same) of all units; `units` are 1-based unit
    /// numbers separated by spaces, repeated as often as they are drawn.
    pub fn read(path: &Path, n_units: usize) -> Result<GivenResamples, ResampleError> {
        let file = path.display().to_string();
        let failed = |source| ResampleError::Read { file: file.clone(), source };
        let mut reader =
            csv::ReaderBuilder::new().flexible(true).from_path(path).map_err(failed)?;
        let header = reader.headers().map_err(failed)?.clone();
        let column = |name: &str| {
            header.iter().position(|h| h.trim_start_matches('\u{feff}').trim() == name).ok_or_else(
                || ResampleError::Row {
                    file: file.clone(),
                    line: 1,
                    what: format!(
                        "there is no column `{name}`; the header must be role,replicate,units"
                    ),
                },
            )
        };
        let (role_at, units_at) = (column("role")?, column("units")?);
        let mut given = GivenResamples::default();
        let mut bootstraps = Vec::new();
        for record in reader.records() {
            let record = record.map_err(failed)?;
            let line = record.position().map_or(0, csv::Position::line);
            let wrong = |what: String| ResampleError::Row { file: file.clone(), line, what };
            let mut units = Vec::new();
            for text in record.get(units_at).unwrap_or("").split_whitespace() {
                match text.parse::<usize>() {
                    Ok(unit) if (1..=n_units).contains(&unit) => units.push((unit - 1) as u32),
                    _ => {
                        return Err(wrong(format!(
                            "`{text}` is not a unit number between 1 and {n_units}"
                        )));
                    }
                }
            }
            if units.is_empty() {
                return Err(wrong("no units are listed".to_owned()));
            }
            match record.get(role_at).unwrap_or("").trim() {
                "half" if given.half.is_none() => given.half = Some(units),
                "half" => {
                    return Err(wrong("a second half sample; only one is possible".to_owned()));
                }
                "bootstrap" => bootstraps.push(units),
                "full" => given.full.push(units),
                other => {
                    return Err(wrong(format!(
                        "the role is `{other}` but must be half, bootstrap or full"
                    )));
                }
            }
        }
        if given.half.is_some() {
            given.split = bootstraps;
        } else {
            given.full.extend(bootstraps);
        }
        if given.split.is_empty() && given.full.is_empty() {
            return Err(ResampleError::Empty { file });
        }
        Ok(given)
    }

    fn units(&self, design: Design, replicate: u32) -> &[u32] {
        let units = match (design, replicate) {
            (Design::Split, 0) => self.half.as_ref(),
            (Design::Split, b) => self.split.get(b as usize - 1),
            (Design::Full, b) => self.full.get((b as usize).wrapping_sub(1)),
            (Design::Subset, _) => None,
        };
        units.map_or(&[], Vec::as_slice)
    }

    /// SHA-256 of all units, for a table's manifest.
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for (role, sets) in [self.half.as_slice(), &self.split, &self.full].into_iter().enumerate()
        {
            for units in sets {
                hash.update([role as u8]);
                hash.update((units.len() as u64).to_le_bytes());
                for unit in units {
                    hash.update(unit.to_le_bytes());
                }
            }
        }
        hex(hash)
    }

    /// How many bootstraps it has for a design.
    pub fn bootstraps(&self, design: Design) -> usize {
        match design {
            Design::Full => self.full.len(),
            Design::Split => self.split.len(),
            Design::Subset => 0,
        }
    }
}

impl Resamples {
    /// Resamples from a seed, with a new split and new bootstraps at every ω if `fresh_splits`, and
    /// the user's own where there are any.
    pub fn new(seed: u64, fresh_splits: bool, given: Option<GivenResamples>) -> Resamples {
        Resamples { seed, fresh_splits, given, subsets: None, within: None }
    }

    /// Whether replicates of `design` are bootstraps of all units, each drawn from all of them.
    pub(crate) fn are_of_all_units(&self, design: Design) -> bool {
        design == Design::Full && self.subsets.is_none()
    }

    /// Draws bootstraps of all units from subsets.
    pub fn with_subsets(mut self, subsets: Option<Subsets>) -> Resamples {
        self.subsets = subsets;
        self
    }

    /// The same for models that have, of `n_units` units, those of one subset alone, in their order.
    pub(crate) fn within_subsets(&self, n_units: usize) -> Resamples {
        Resamples { within: Some(n_units), ..self.clone() }
    }

    /// The units of a subset, in their order; none where bootstraps are drawn from all units.
    pub(crate) fn subset(&self, number: u32, n_units: usize) -> Vec<usize> {
        let subsets = self.subsets.iter();
        let mut units: Vec<usize> =
            subsets.flat_map(|subsets| subsets.units(self.seed, number, n_units)).collect();
        units.sort_unstable();
        units
    }

    /// Whether weights change along the ω-path, so that nothing is warm-started.
    pub fn changes_with_omega(&self, design: Design) -> bool {
        self.fresh_splits && design == Design::Split
    }

    /// As [`weights`](Self::weights), of the units that a model has. Where some stand for several, these are drawn as if
    /// they followed each other in the data.
    pub fn weights_for(
        &self,
        model: &dyn Model,
        design: Design,
        replicate: u32,
        omega_number: usize,
    ) -> Vec<f64> {
        if let (Some(n_units), Some(subsets)) = (self.within, self.subsets) {
            let mut of_units = subsets.weights(self.seed, design, replicate, n_units);
            of_units.sort_unstable_by_key(|(unit, _)| *unit);
            return of_units.into_iter().map(|(_, weight)| weight).collect();
        }
        let Some(repeats) = model.repeats() else {
            return self.weights(design, replicate, omega_number, model.n_units());
        };
        let n_units = repeats.iter().sum::<f64>() as usize;
        let drawn = self.weights(design, replicate, omega_number, n_units);
        let mut rest = drawn.as_slice();
        let mut of_row = |n: &f64| {
            let (own, others) = rest.split_at((*n as usize).min(rest.len()));
            rest = others;
            own.iter().sum()
        };
        repeats.iter().map(&mut of_row).collect()
    }

    /// The weights of a replicate, at grid point `omega_number` when splits are fresh.
    pub fn weights(
        &self,
        design: Design,
        replicate: u32,
        omega_number: usize,
        n_units: usize,
    ) -> Vec<f64> {
        let mut weights = vec![0.0; n_units];
        if design == Design::Full && replicate == 0 {
            weights.fill(1.0);
            return weights;
        }
        if let Some(given) = self.given.as_ref().filter(|given| given.bootstraps(design) > 0) {
            for &unit in given.units(design, replicate) {
                weights[unit as usize] += 1.0;
            }
            return weights;
        }
        // A fresh split has streams of its own: the grid point in the upper half.
        let place = if self.fresh_splits { (omega_number as u64 + 1) << 32 } else { 0 };
        match (design, self.subsets) {
            (Design::Subset, None) => {}
            (Design::Subset | Design::Full, Some(subsets)) => {
                for (unit, weight) in subsets.weights(self.seed, design, replicate, n_units) {
                    weights[unit] = weight;
                }
            }
            (Design::Full, None) => {
                let mut rng = stream(self.seed, Purpose::FullBootstrap, u64::from(replicate));
                for _ in 0..n_units {
                    weights[index(&mut rng, n_units)] += 1.0;
                }
            }
            (Design::Split, _) => {
                let order = shuffled(n_units, &mut stream(self.seed, Purpose::Split, place));
                let (half, other) = order.split_at(n_units / 2);
                if replicate == 0 {
                    for &unit in half {
                        weights[unit as usize] = 1.0;
                    }
                } else {
                    let number = place + u64::from(replicate);
                    let mut rng = stream(self.seed, Purpose::SplitBootstrap, number);
                    for _ in 0..other.len() {
                        weights[other[index(&mut rng, other.len())] as usize] += 1.0;
                    }
                }
            }
        }
        weights
    }
}

/// A random order of `0..n` (Fisher–Yates).
pub(crate) fn shuffled(n: usize, rng: &mut rand_chacha::ChaCha8Rng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    for i in (1..n).rev() {
        order.swap(i, index(rng, i + 1));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn designs_draw_from_the_right_units_and_are_pinned() {
        let drawn = Resamples::new(7, false, None);
        let half = drawn.weights(Design::Split, 0, 0, 11);
        assert_eq!(half.iter().sum::<f64>(), 5.0);
        for b in 1..30 {
            let w = drawn.weights(Design::Split, b, b as usize, 11);
            assert_eq!(w.iter().sum::<f64>(), 6.0);
            assert!(w.iter().zip(&half).all(|(w, h)| *w == 0.0 || *h == 0.0));
            assert_eq!(w, drawn.weights(Design::Split, b, 0, 11));
        }
        let full = drawn.weights(Design::Full, 3, 0, 11);
        assert_eq!(full, [1.0, 1.0, 0.0, 0.0, 1.0, 3.0, 1.0, 1.0, 0.0, 2.0, 1.0]);
    }

    #[test]
    fn little_bootstraps_weigh_as_much_as_all_units() {
        let n = 5000;
        let subsets = Subsets::of(n, 3);
        assert_eq!(subsets.size, 388);
        let drawn = Resamples::new(7, false, None).with_subsets(Some(subsets));
        let mut seen = Vec::new();
        for number in 1..=3 {
            let own = drawn.weights(Design::Subset, number, 0, n);
            assert_eq!(own.iter().filter(|w| **w > 0.0).count(), 388);
            assert!((own.iter().sum::<f64>() - n as f64).abs() < 1e-8);
            for b in [number, number + 3] {
                let w = drawn.weights(Design::Full, b, 0, n);
                assert_eq!(subsets.of_bootstrap(b), number);
                assert_eq!(w.iter().sum::<f64>(), n as f64);
                assert!(w.iter().zip(&own).all(|(w, own)| *w == 0.0 || *own > 0.0));
                // Counts of a multinomial: the variance of each is about its mean, 12.9.
                let inside: Vec<f64> =
                    w.iter().zip(&own).filter(|(_, own)| **own > 0.0).map(|(w, _)| *w).collect();
                let mean = n as f64 / 388.0;
                let variance = inside.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 388.0;
                assert!((variance / mean - 1.0).abs() < 0.3, "{variance}");
                seen.push(w);
            }
        }
        assert!(seen.iter().enumerate().all(|(i, a)| seen[..i].iter().all(|b| a != b)));
        assert_eq!(drawn.weights(Design::Full, 0, 0, n), vec![1.0; n]);
    }

    #[test]
    fn fresh_splits_change_with_omega() {
        let fresh = Resamples::new(7, true, None);
        let halves: Vec<Vec<f64>> =
            (0..6).map(|i| fresh.weights(Design::Split, 0, i, 40)).collect();
        assert!((1..6).all(|i| halves[i] != halves[0]));
        let w = fresh.weights(Design::Split, 9, 3, 40);
        assert!(w.iter().zip(&halves[3]).all(|(w, h)| *w == 0.0 || *h == 0.0));
    }
}

//! Cells that few units show: limits from counts, because resamples know nothing of what is not in the data.
//!
//! A share that `m` of `N` expected units show, with few of one kind, has bootstraps that hardly move: without an event
//! they do not move at all. Its limits are those of Clopper and Pearson for `m/d` of `N/d`, as Korn and Graubard (1998)
//! have them for surveys,
//!
//! ```text
//! Beta(m/d, (N−m)/d + 1) at a/2      and      Beta(m/d + 1, (N−m)/d) at 1 − a/2
//! ```
//!
//! with 0 below where less than one unit is left for it, and 1 above where less than one is left against it; for a rate
//! Garwood's (1936), `Gamma(m/d, N/d)` and `Gamma(m/d + 1, N/d)`. `d` is how many times as much bootstraps move it as the
//! binomial (Poisson) law of half a unit more says, from 1 to 4: what is not known of who is in the component is in it.
//! The counts are the parameters of the posterior less the prior's. What is made of such a cell and of other things takes
//! the cell from `Beta(m/d + ½, (N−m)/d + ½)`, or `Gamma(m/d + ½, N/d)`, and the rest from resamples.

use super::bootstrap::values_given;
use super::order::Sorted;
use super::{Answer, Flag, Method, Question};
use crate::functional::Counted;
use crate::model::Noun;
use crate::posterior::Posterior;
use crate::random::{Purpose, index, some_of, stream};
use crate::special::{beta, gamma_dist};
use std::borrow::Cow;

/// Expected units from which on resamples know enough. By the study `boundaries`; beyond it the two agree.
const FEW: f64 = 10.0;

/// An excess beyond this is that of resamples which have lost the component, or found another: more of it makes intervals
/// longer and has not been seen to make them better.
const MOST_EXCESS: f64 = 4.0;

/// Units behind a share or a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Count {
    /// Expected units (events) for it.
    events: f64,
    /// Expected units in all.
    units: f64,
    /// Whether it is a share of them, and not a rate.
    is_share: bool,
}

impl Count {
    /// What is counted in a posterior at ω, if it is known what the prior adds to it.
    fn of(counted: &Counted, posterior: &[f64], prior: &[f64], omega: f64) -> Option<Count> {
        let own = |at: usize| ((posterior[at] - prior[at]) / omega).max(0.0);
        let (events, units) = match counted.is_share() {
            true => {
                counted.inside.iter().enumerate().fold((0.0, 0.0), |(events, units), (i, is)| {
                    let n = own(counted.offset + i);
                    (if *is { events + n } else { events }, units + n)
                })
            }
            false => (
                (posterior[counted.offset] - prior[counted.offset]) / omega,
                (posterior[counted.offset + 1] - prior[counted.offset + 1]) / omega,
            ),
        };
        (!events.is_nan() && !units.is_nan() && !prior[counted.offset].is_nan()).then_some(Count {
            events: events.max(0.0),
            units: units.max(0.0),
            is_share: counted.is_share(),
        })
    }

    /// The units that are the fewer: for it, or against it.
    fn rare(&self) -> f64 {
        match self.is_share {
            true => self.events.min(self.units - self.events).max(0.0),
            false => self.events,
        }
    }

    fn is_few(&self) -> bool {
        self.rare() < FEW
    }

    /// How many times as much estimates vary as those of so many units would, within reason and at least `least` times.
    fn excess(&self, estimates: impl Iterator<Item = f64> + Clone, least: f64) -> f64 {
        let known = estimates.filter(|x| x.is_finite());
        let n = known.clone().count() as f64;
        let mean = known.clone().sum::<f64>() / n;
        let variance = known.map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        let rare = self.rare() + 0.5;
        let against = if self.is_share { 1.0 - rare / (self.units + 1.0) } else { 1.0 };
        let excess = variance * self.units * self.units / (rare * against);
        // NaN, without estimates, is no reason for more.
        excess.max(least).min(MOST_EXCESS.max(least))
    }

    /// Limits of one number whatever the resamples say, for so many times the variance.
    fn limits(&self, level: f64, excess: f64) -> (f64, f64) {
        let tail = 0.5 * (1.0 - level);
        let (events, units) = (self.events / excess, self.units / excess);
        if !self.is_share {
            let lower = if events < 1.0 { 0.0 } else { gamma_dist::quantile(events, tail) / units };
            return (lower, gamma_dist::quantile(events + 1.0, 1.0 - tail) / units);
        }
        let others = (self.units - self.events).max(0.0) / excess;
        let lower = if events < 1.0 { 0.0 } else { beta::quantile(events, others + 1.0, tail) };
        // From the other side, where it is the small number.
        let upper = if others < 1.0 { 0.0 } else { beta::quantile(others, events + 1.0, tail) };
        (lower, 1.0 - upper)
    }

    /// A quantile of the law that lies between those of the two limits.
    fn quantile(&self, p: f64, excess: f64) -> f64 {
        let (events, units) = (self.events / excess, self.units / excess);
        match self.is_share {
            true => beta::quantile(events + 0.5, (units - events).max(0.0) + 0.5, p),
            false => gamma_dist::quantile(events + 0.5, p) / units,
        }
    }
}

/// A cell that resamples are given, because they do not show how uncertain it is.
pub(super) struct Given {
    cell: Counted,
    count: Count,
}

/// Which rule is in force for a functional.
pub(super) enum Boundary {
    /// It is a monotone function of one such cell.
    One(Count),
    /// Such cells are among what it is made of.
    Some(Vec<Given>),
}

impl Boundary {
    /// The rule for a question, if there is any; `prior` is the prior's part of the posterior's parameters.
    pub(super) fn of(question: &Question<'_>, prior: &[f64]) -> Option<Boundary> {
        let (posterior, omega) = (question.first.parameters(), question.table.omegas()[0]);
        let count = |cell: &Counted| Count::of(cell, posterior, prior, omega);
        let cells = question.part.counted(question.table.layout());
        if question.part.exact().is_some() {
            return count(cells.first()?).filter(Count::is_few).map(Boundary::One);
        }
        // Where few speak against an entry, it is the others that are small.
        let near = |cell: &Counted| count(cell).is_some_and(|count| count.is_few());
        let mut small: Vec<Counted> = cells
            .iter()
            .filter(|cell| near(cell))
            .flat_map(|cell| {
                let own = count(cell).is_some_and(|count| count.events < FEW);
                if own { vec![cell.clone()] } else { cell.entries() }
            })
            .collect();
        small.sort();
        small.dedup();
        let given: Vec<Given> = small
            .into_iter()
            .filter_map(|cell| {
                let count = count(&cell).filter(|count| count.events < FEW)?;
                Some(Given { cell, count })
            })
            .collect();
        if given.is_empty() || question.part.is_code() && leaves_as_it_is(question, &given) {
            return None;
        }
        Some(Boundary::Some(given))
    }

    /// The count with the fewest units.
    fn rarest(&self) -> Count {
        let fewer = |a: Count, b: Count| if b.rare() < a.rare() { b } else { a };
        match self {
            Boundary::One(count) => *count,
            Boundary::Some(given) => given
                .iter()
                .map(|given| given.count)
                .reduce(fewer)
                .unwrap_or(Count { events: 0.0, units: 0.0, is_share: true }),
        }
    }

    /// The flag for the answers of a method.
    pub(super) fn flag(&self, method: Method, called: Noun) -> Flag {
        let count = self.rarest();
        let limits = match (method, self) {
            (Method::Balanced, Boundary::One(_)) => FromCounts::All,
            (Method::Balanced, Boundary::Some(_)) => FromCounts::Part,
            _ => FromCounts::Nothing,
        };
        let (rare, units, is_share) = (count.rare(), count.units, count.is_share);
        Flag::Boundary { rare, units, is_share, called, limits }
    }
}

/// Whether resamples have the same values with such cells and without: code may not use them.
fn leaves_as_it_is(question: &Question<'_>, given: &[Given]) -> bool {
    let same = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
    values_given(question, given).iter().zip(question.estimates()).all(same)
}

/// How much of an interval comes from counts, where few units show a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FromCounts {
    /// Both limits.
    All,
    /// What such cells add to the uncertainty of others.
    Part,
    /// Nothing: the method has no rule for it.
    Nothing,
}

/// The interval by `balanced` where the rule is in force; `estimates` are those of the resamples.
pub(super) fn limits(
    question: &Question<'_>,
    rule: &Boundary,
    estimates: &[f64],
    level: f64,
) -> (f64, f64) {
    let (lower, upper) = match (rule, question.part.exact()) {
        (Boundary::One(count), Some(law)) => {
            let sources = estimates.iter().map(|x| law.source(*x));
            law.carried(count.limits(level, count.excess(sources, question.least_excess())))
        }
        _ => Sorted::new(estimates.iter().copied()).interval(level),
    };
    // A prior that is worth many units may have drawn the estimate away from the counts.
    (lower.min(question.estimate), upper.max(question.estimate))
}

/// What resamples are given for cells that they do not show.
pub(super) struct Fill<'a> {
    given: &'a [Given],
    /// For each cell its value in each resample.
    values: Vec<Vec<f64>>,
}

impl<'a> Fill<'a> {
    /// Values for resamples with these parameters: quantiles at even places, in an order of their own for each cell.
    pub(super) fn new(
        question: &Question<'_>,
        given: &'a [Given],
        rows: &[Cow<'_, [f64]>],
    ) -> Fill<'a> {
        let seed = question.table.manifest().seed;
        let values = |given: &Given| {
            let estimates = rows.iter().map(|row| share_or_rate(&given.cell, row));
            let excess = given.count.excess(estimates, question.least_excess());
            let at = given.cell.inside.iter().position(|is| *is).unwrap_or(0);
            let mut rng = stream(seed, Purpose::Boundary, (given.cell.offset + at) as u64);
            let order = some_of(rows.len(), rows.len(), |n| index(&mut rng, n));
            let place = |i: usize| (i as f64 + 0.5) / rows.len() as f64;
            order.into_iter().map(|i| given.count.quantile(place(i), excess)).collect()
        };
        Fill { given, values: given.iter().map(values).collect() }
    }

    /// The parameters of resample number `b` with them.
    pub(super) fn filled(&self, b: usize, row: &[f64]) -> Vec<f64> {
        let mut row = row.to_vec();
        for (given, values) in self.given.iter().zip(&self.values) {
            put(&given.cell, values[b], &mut row);
        }
        row
    }

    /// Parameters with the values that the cells have in a posterior.
    pub(super) fn as_in(&self, posterior: &Posterior, row: &[f64]) -> Vec<f64> {
        let mut row = row.to_vec();
        for given in self.given {
            put(&given.cell, share_or_rate(&given.cell, posterior.parameters()), &mut row);
        }
        row
    }
}

/// The posterior mean of an entry of a Dirichlet, or of a Gamma variable.
fn share_or_rate(cell: &Counted, row: &[f64]) -> f64 {
    let own = &row[cell.offset..];
    match cell.inside.iter().position(|is| *is) {
        Some(at) => own[at] / own[..cell.inside.len()].iter().sum::<f64>(),
        None => own[0] / own[1],
    }
}

/// Makes `value` the posterior mean of a cell; the others of its Dirichlet keep their proportions.
fn put(cell: &Counted, value: f64, row: &mut [f64]) {
    let own = &mut row[cell.offset..];
    match cell.inside.iter().position(|is| *is) {
        Some(at) => {
            let others = own[..cell.inside.len()].iter().sum::<f64>() - own[at];
            own[at] = value / (1.0 - value) * others;
        }
        None => own[0] = value * own[1],
    }
}

/// Says of all answers that the rule is in force, and takes back what resamples said of VB's coverage: where they hardly
/// move they lie in almost any interval, which is no praise.
pub(super) fn tell(question: &Question<'_>, answers: &mut [Answer]) {
    let Some(rule) = question.boundary() else { return };
    let called = question.table.manifest().model.kind().unit;
    for answer in answers {
        answer.flags.retain(|flag| !matches!(flag, Flag::AtOmegaOne | Flag::AboveOmegaOne { .. }));
        if answer.method == Method::Vb && answer.coverage.is_some_and(|c| c >= answer.level) {
            (answer.coverage, answer.coverage_se, answer.own) = (None, None, None);
        }
        answer.flags.push(rule.flag(answer.method, called));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(events: f64, units: f64) -> Count {
        Count { events, units, is_share: true }
    }

    #[test]
    fn limits_are_exact_ones_where_every_unit_is_known() {
        // Clopper and Pearson (1934): 0 and 3 of 20, and 20 of 20.
        for (events, expected) in
            [(0.0, (0.0, 0.168_433)), (3.0, (0.032_071, 0.378_927)), (20.0, (0.831_567, 1.0))]
        {
            let (lower, upper) = share(events, 20.0).limits(0.95, 1.0);
            assert!(
                (lower - expected.0).abs() < 1e-6 && (upper - expected.1).abs() < 1e-6,
                "{lower} {upper}"
            );
        }
        // Garwood (1936): 0 and 5 events.
        for (events, expected) in [(0.0, (0.0, 3.688_879)), (5.0, (1.623_486, 11.668_332))] {
            let count = Count { events, units: 1.0, is_share: false };
            let (lower, upper) = count.limits(0.95, 1.0);
            assert!(
                (lower - expected.0).abs() < 1e-6 && (upper - expected.1).abs() < 1e-6,
                "{lower} {upper}"
            );
        }
    }

    #[test]
    fn limits_mirror_and_grow_with_the_excess() {
        for (events, units) in [(0.0, 30.0), (0.4, 30.0), (2.7, 55.5), (9.0, 18.0), (0.3, 0.6)] {
            let mut last = 0.0;
            for excess in [1.0, 1.5, 4.0, 50.0] {
                let (lower, upper) = share(events, units).limits(0.9, excess);
                let (below, above) = share(units - events, units).limits(0.9, excess);
                assert!((1.0 - above - lower).abs() < 1e-12 && (1.0 - below - upper).abs() < 1e-12);
                assert!(0.0 <= lower && lower < upper && upper <= 1.0);
                assert!(upper - lower >= last, "{events} of {units}: {excess}");
                last = upper - lower;
            }
        }
    }

    #[test]
    fn excess_is_that_of_the_variance() {
        let count = share(4.0, 100.0);
        assert_eq!(count.excess([0.04; 50].into_iter(), 1.0), 1.0);
        assert_eq!(count.excess(std::iter::empty(), 1.5), 1.5);
        assert_eq!(count.excess([0.0, 0.5].into_iter(), 1.0), MOST_EXCESS);
        assert_eq!(count.excess([0.0, 0.5].into_iter(), 7.0), 7.0);
        let estimates = [0.0, 0.08, f64::NAN];
        let expected = 0.04_f64.powi(2) * 1e4 / (4.5 * (1.0 - 4.5 / 101.0));
        assert!(expected > 1.0 && expected < MOST_EXCESS);
        assert!((count.excess(estimates.into_iter(), 1.0) - expected).abs() < 1e-12);
        // Against it as for it.
        let against = share(96.0, 100.0).excess(estimates.into_iter().map(|x| 1.0 - x), 1.0);
        assert!((against - expected).abs() < 1e-9);
    }

    #[test]
    fn cells_are_put_where_they_belong() {
        let mut row = vec![9.0, 2.0, 3.0, 5.0, 0.5, 4.0];
        let cell = Counted { offset: 1, inside: vec![true, false, false] };
        put(&cell, 0.5, &mut row);
        assert_eq!(row, [9.0, 8.0, 3.0, 5.0, 0.5, 4.0]);
        assert_eq!(share_or_rate(&cell, &row), 0.5);
        let rate = Counted { offset: 4, inside: Vec::new() };
        put(&rate, 0.75, &mut row);
        assert_eq!((row[4], share_or_rate(&rate, &row)), (3.0, 0.75));
    }
}

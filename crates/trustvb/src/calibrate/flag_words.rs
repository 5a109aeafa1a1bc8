//! What flags say to people, and what to do about them.

use super::{Flag, FromCounts, Misfit, Shape};
use crate::defaults;
use crate::model::{Heap, Noun};
use crate::remedy::{Advise, Remedy, in_command};
use std::fmt;

impl Flag {
    /// What it means and what to do, in a sentence with the words of the command.
    pub fn sentence(&self) -> String {
        self.advised(in_command)
    }

    /// What it means.
    fn meaning(&self) -> String {
        match self {
            Flag::AtOmegaOne => "the VB interval already has the coverage it claims".to_owned(),
            Flag::AtGridEdge => "the answer is the smallest ω of the grid".to_owned(),
            Flag::NeverReachesLevel { highest } => format!(
                "no ω of the grid reaches the level: the highest estimated coverage is {highest:.3}, \
                 and the interval may be too short"
            ),
            Flag::NotMonotone => "coverage falls again at smaller ω, where the prior takes over; \
                                  an ω beyond the first crossing from 1 would mean nothing"
                .to_owned(),
            Flag::UnconvergedFits { share } => {
                format!("{} of the fits at this ω failed or did not converge", percent(*share))
            }
            Flag::ComponentsUnstable { share, called } => format!(
                "in {} of the resamples the {} are not the same as in the full data: they \
                 overlap, or there are too many",
                percent(*share),
                called.many
            ),
            Flag::FewBootstraps { bootstraps } => {
                format!("only {bootstraps} bootstraps: the estimated coverage is uncertain")
            }
            Flag::IncompleteTable { found, expected } => {
                format!("only {found} of {expected} resamples are in the table")
            }
            Flag::FullFitFailed => "the full-data fit at this ω failed".to_owned(),
            Flag::Undefined => {
                "it has no finite value at the posterior mean or at a limit (as the log of a \
                                negative number has none), so no interval can be checked"
                    .to_owned()
            }
            Flag::NoEvidence => "the fits of the resamples failed, so there is no evidence and no \
                                 interval: there are too few units"
                .to_owned(),
            Flag::EstimateOutside => "at this ω the prior has drawn the posterior away from the \
                                      estimate, which is not even in the interval"
                .to_owned(),
            Flag::EmptiedComponents { components, called } => {
                let list: Vec<String> = components.iter().map(ToString::to_string).collect();
                format!(
                    "{} {} holds next to no data, so its numbers are the prior's; fewer {} would do",
                    called.one,
                    list.join(", "),
                    called.many
                )
            }
            Flag::NoInfluence(why) => format!("the influence of units is not known: {why}"),
            Flag::MethodsDisagree { ratio, thin } => format!(
                "the analytic interval is {ratio:.2} times as long as the anchored one; {thin}"
            ),
            Flag::AboveOmegaOne { omega } => {
                format!("VB's own interval is {:.2} times as long as it need be", omega.sqrt())
            }
            Flag::ComponentsOverlap { times, called: Noun { many, .. } } => format!(
                "resamples move the weights of the {many} {times:.1} times as much as VB's posterior says: these \
                 data hardly tell the {many} apart, and intervals may miss more often than they claim; fewer \
                 {many} or more data would help"
            ),
            Flag::FewRows { component, rows, columns: 1 } => format!(
                "component {component} has {} for its mean and its variance: too few to learn a variance from, and the \
                 component may not be real; use fewer components or more data",
                rows_in_words(*rows)
            ),
            Flag::FewRowsOfRegression { component, rows, coefficients } => format!(
                "component {component} has {} for {}: too few to learn a regression from, and the component may not be \
                 real; use fewer components, fewer predictors or more data",
                rows_in_words(*rows),
                COEFFICIENT.count(*coefficients)
            ),
            Flag::FewRows { component, rows, columns } => format!(
                "component {component} has {rows} rows for {columns} columns: a covariance of so many columns cannot \
                 be learned from so few rows, and the component may not be real; use fewer columns or more data"
            ),
            Flag::PriorDominates { component, times } => format!(
                "a standard deviation of component {component} is off by a factor of {times:.2} from that of its \
                 data: the prior made it"
            ),
            Flag::OtherOptimum { ahead, estimate } => format!(
                "another fit describes the data about as well (its bound is {:.1} {}) and would answer {}: these data \
                 do not decide between the two",
                ahead.abs(),
                if *ahead > 0.0 { "higher" } else { "lower" },
                crate::answers::significant(*estimate, 3)
            ),
            Flag::IdenticalEstimates => {
                "every resample has the same estimate, so resampling says nothing \
                                         about its spread: the interval is VB's own"
                    .to_owned()
            }
            Flag::Steadied { explained } => format!(
                "derivatives of the fit explain {} of the variance of the resamples' estimates, and what chance did to \
                 that part was put right",
                percent(*explained)
            ),
            Flag::Heap { heaps } => {
                let each: Vec<String> = heaps.iter().map(Heap::to_string).collect();
                format!(
                    "{}: a density that collapses on equal values is as high as rounding lets it be, and neither \
                     intervals nor criteria mean much; leave these rows or the column out, or make ranges of it and \
                     take it for a category",
                    each.join("; ")
                )
            }
            Flag::Codes { columns } => {
                let each: Vec<String> =
                    columns.iter().map(|(name, n)| format!("`{name}` has {n}")).collect();
                format!(
                    "few different values that look like codes are taken for numbers ({}): a Gaussian may not \
                     describe them, and a mixture of categories would",
                    each.join(", ")
                )
            }
            Flag::Misfit { misfits } => misfit_in_words(misfits),
            Flag::Boundary { rare, units, is_share, called, limits } => format!(
                "{} rests on {rare:.1} {} {units:.0} {}, and resamples cannot show what the data do not: {}",
                if *limits == FromCounts::Part { "part of it" } else { "it" },
                if *is_share { "of" } else { "events in" },
                called.many,
                match limits {
                    FromCounts::All => "its limits are exact ones for such a count",
                    FromCounts::Part =>
                        "that part varies as such a count does, the rest as resamples do",
                    FromCounts::Nothing => "this method has no rule for it",
                }
            ),
            Flag::UndefinedInResamples { of: Some((undefined, resamples)) } => format!(
                "it has no value in {undefined} of {resamples} resamples (as the root of a negative number has none), \
                 and the interval, if there is one, is that of the others"
            ),
            Flag::UndefinedInResamples { of: None } => {
                "it has no value in the fit that resamples are checked against \
                                                        (as the root of a negative number has none)"
                    .to_owned()
            }
            Flag::PriorShifts { share, called } => format!(
                "at this ω the prior has moved the middle of the interval by {} of its half-length, so that it \
                 misses mostly on one side; data are few for {} that overlap so much",
                percent(*share),
                called.many
            ),
        }
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.meaning())
    }
}

impl Advise for Flag {
    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Flag::AtGridEdge => vec![Remedy::SmallerOmegaMin],
            Flag::FewBootstraps { .. } => vec![Remedy::Bootstraps(defaults::BOOTSTRAPS)],
            Flag::IncompleteTable { .. } => vec![Remedy::CompleteTable],
            Flag::Boundary { limits: FromCounts::Nothing, .. } => {
                vec![Remedy::Methods(&["balanced"])]
            }
            Flag::UndefinedInResamples { .. } => {
                vec![Remedy::Do(
                    "ask for a quantity that always has a value, such as what is under the root",
                )]
            }
            _ => Vec::new(),
        }
    }
}

fn percent(share: f64) -> String {
    if share < 0.1 { format!("{:.1}%", 100.0 * share) } else { format!("{:.0}%", 100.0 * share) }
}

fn rows_in_words(rows: usize) -> String {
    Noun { one: "row", many: "rows" }.count(rows)
}

/// Misfits that are named; more would be a list that nobody reads.
const NAMED: usize = 4;

/// The worst of them, and what may describe them better.
fn misfit_in_words(misfits: &[Misfit]) -> String {
    let mut worst: Vec<&Misfit> = misfits.iter().collect();
    worst.sort_by(|a, b| b.size.total_cmp(&a.size));
    let mut each: Vec<String> = worst.iter().take(NAMED).map(ToString::to_string).collect();
    if worst.len() > NAMED {
        each.push(format!("and {} more", worst.len() - NAMED));
    }
    let any = |shapes: &[Shape]| misfits.iter().any(|misfit| shapes.contains(&misfit.shape));
    let advice = [
        (
            &[Shape::LongAbove, Shape::LongBelow][..],
            "take the logarithm of a column with a long tail",
        ),
        (&[Shape::HeavyTails], "look at the rows that lie far out"),
        (&[Shape::MoreVaried, Shape::LessVaried], "make categories of ranges of a count"),
    ];
    let known = advice.into_iter().filter(|(shapes, _)| any(shapes)).map(|(_, what)| what);
    let advice: Vec<&str> = known.chain(["fit more components"]).collect();
    format!(
        "the model plainly does not fit {}: weights and means are those of the components that were fitted, which \
         need not be real groups; {}",
        each.join(", "),
        advice.join(", or ")
    )
}

/// What coefficients are called.
const COEFFICIENT: Noun = Noun { one: "coefficient", many: "coefficients" };

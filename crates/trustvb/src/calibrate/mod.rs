//! Mend: from the fits in a table to an interval whose coverage can be believed.
//!
//! A calibrator turns evidence about coverage into an interval and its story: ω̂, the curve it looked at, the
//! Monte-Carlo error, where the answer sits, and what speaks against trusting it. [`Method::RECOMMENDED`] is the one to
//! use. The paper's calibrators report the interval of the full data at ω̂; `tempered` and `jackknife` stretch that at
//! ω = 1; `balanced` and `bootstrap` look at estimates only.

mod analytic;
mod anchored;
mod answer;
mod ask;
mod balanced;
mod bootstrap;
mod boundary;
mod calibrator;
mod coverage;
mod evidence;
mod flag;
mod flag_words;
mod given;
mod jackknife;
mod law;
mod memory;
mod method;
mod misfit;
mod order;
mod own;
mod question;
mod sequential;
mod shown;
mod steady;
mod temper;
mod tempered;
mod tvb;
mod vb;

pub use answer::{Answer, CalibrateError};
pub use ask::{Ask, DRAWS};
pub use balanced::Balance;
pub use boundary::FromCounts;
pub use calibrator::Calibrator;
pub use coverage::{CoverageCurve, CurvePoint};
pub use evidence::{Choice, Evidence, GivenEvidence, Places, Target, choose};
pub use flag::Flag;
pub(crate) use flag::compare_methods;
pub use given::{GivenFit, GivenFits, GivenInterval};
pub use law::Law;
pub use memory::Memory;
pub use method::{Method, NoSuchMethod};
pub use misfit::{Misfit, Shape, misfits};
pub use own::{Own, UNCHECKED};
use question::Question;
pub use steady::LinearPart;
pub use temper::{Reach, Stretches, stretched};

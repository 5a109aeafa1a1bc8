//! What a browser may ask for at most, so that no page and no typing slip can stall the explorer.

use super::session::Refusal;
use std::time::Duration;
use trustvb::functional::Functional;

/// Characters of a functional.
pub(super) const LENGTH: usize = 1_000;
/// Scalars of a functional.
pub(super) const PARTS: usize = 24;
/// Elements and operations of a scalar that needs draws: it is evaluated some ten million times.
pub(super) const SAMPLED_SIZE: usize = 200;
/// Functionals in a list.
pub(super) const LIST: usize = 100;
/// Bytes of a request.
pub(super) const BODY: usize = 256 * 1024;
/// How long an evaluation may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// Evaluations at the same time; each uses all cores where it can.
pub(super) const AT_ONCE: usize = 2;
/// Connections at the same time; the usual limit of descriptors is at least twice as many.
pub(super) const CONNECTIONS: usize = 100;
/// How long the header of a request may take.
pub(super) const HEADER: Duration = Duration::from_secs(5);
/// How long a connection may be silent otherwise: longer than any evaluation.
pub(super) const IDLE: Duration = Duration::from_secs(90);
/// Functionals whose evidence is kept.
pub(super) const KEPT: usize = 200;
/// Memory for them.
pub(super) const KEPT_BYTES: usize = 256 << 20;

/// Refuses a text that is too long before anything looks at it.
pub(super) fn check_text(text: &str) -> Result<(), Refusal> {
    if text.chars().nth(LENGTH).is_some() {
        return Err(Refusal::TooMuch(format!(
            "this quantity has more than {LENGTH} characters; ask for it with `trustvb interval`"
        )));
    }
    Ok(())
}

/// Refuses a functional that would take too long.
pub(super) fn check_cost(functional: &Functional) -> Result<(), Refusal> {
    let parts = functional.parts();
    if parts.len() > PARTS {
        return Err(Refusal::TooMuch(format!(
            "this has {} elements; the explorer shows at most {PARTS} at once: give a component or a \
             column",
            parts.len()
        )));
    }
    let sampled = parts.iter().filter(|part| part.exact().is_none());
    match sampled.map(|part| part.size()).max() {
        Some(size) if size > SAMPLED_SIZE => Err(Refusal::TooMuch(format!(
            "this needs draws and has {size} elements and operations; the explorer takes at most \
             {SAMPLED_SIZE}: ask for it with `trustvb interval`"
        ))),
        _ => Ok(()),
    }
}

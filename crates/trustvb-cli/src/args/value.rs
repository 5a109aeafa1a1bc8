//! What single options accept, and what they say otherwise.

use trustvb::defaults::MAX_THREADS;
use trustvb::model::{ColumnType, EVERY_COLUMN};

pub(crate) fn scale(text: &str) -> Result<f64, String> {
    within(text, "a scale: greater than 0", |x| x > 0.0 && x <= 1000.0)
}

pub(crate) fn positive(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(0) | Err(_) => Err(format!("`{text}` is not a whole number of at least 1")),
        Ok(n) => Ok(n),
    }
}

/// A number of threads.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    match positive(text)? {
        n if n > MAX_THREADS => {
            Err(format!("there can be at most {MAX_THREADS}; leave it out to use all cores"))
        }
        n => Ok(n),
    }
}

pub(crate) fn bootstraps(text: &str) -> Result<u32, String> {
    u32::try_from(positive(text)?).map_err(|_| format!("`{text}` is more than {}", u32::MAX))
}

/// A number of draws: each law holds ten times as many for the final interval.
pub(crate) fn draws(text: &str) -> Result<usize, String> {
    const MOST: usize = 1_000_000;
    match positive(text)? {
        n if n > MOST => {
            Err(format!("`{text}` is more than {MOST}, which is more than any law needs"))
        }
        n => Ok(n),
    }
}

pub(crate) fn minutes(text: &str) -> Result<f64, String> {
    within(text, "a time in minutes: greater than 0", |x| x > 0.0 && x.is_finite())
}

pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number from 0 to {}", u64::MAX))
}

fn within(text: &str, what: &str, ok: impl Fn(f64) -> bool) -> Result<f64, String> {
    text.parse::<f64>().ok().filter(|x| ok(*x)).ok_or_else(|| format!("`{text}` is not {what}"))
}

pub(crate) fn omega(text: &str) -> Result<f64, String> {
    within(text, "a fraction: greater than 0 and at most 1", |x| x > 0.0 && x <= 1.0)
}

pub(crate) fn level(text: &str) -> Result<f64, String> {
    within(text, "a level: between 0 and 1, such as 0.95", |x| x > 0.0 && x < 1.0)
}

pub(crate) fn tolerance(text: &str) -> Result<f64, String> {
    within(text, "a tolerance: greater than 0 and below 1", |x| x > 0.0 && x < 1.0)
}

/// `visits=count`, or `category` for all columns that are not named.
pub(crate) fn column_type(text: &str) -> Result<(String, ColumnType), String> {
    let wrong = || {
        format!(
            "`{text}`: write column=category, column=count or column=gaussian, or one of these words for all columns"
        )
    };
    if let Some(kind) = ColumnType::named(text.trim()) {
        return Ok((EVERY_COLUMN.to_owned(), kind));
    }
    let (column, kind) = text.rsplit_once('=').ok_or_else(wrong)?;
    Ok((column.trim().to_owned(), ColumnType::named(kind.trim()).ok_or_else(wrong)?))
}

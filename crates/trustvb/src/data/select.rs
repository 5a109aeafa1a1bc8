//! Turns the columns a user asked for into positions in a file's header.

use std::collections::{HashMap, HashSet};

use super::error::DataError;
use super::read::ReadOptions;
use super::wording::suggestion;

/// A column to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    /// Position in the file, from 0.
    pub(super) position: usize,
    /// Trimmed name.
    pub(super) name: String,
    /// Whether it is read as text.
    pub(super) text: bool,
}

/// Finds a column by its name, or failing that by its number from 1.
pub(super) fn resolve<S: AsRef<str>>(
    wanted: &str,
    names: &[S],
    file: &str,
) -> Result<usize, DataError> {
    let wanted = wanted.trim();
    if let Some(position) = names.iter().position(|name| name.as_ref() == wanted) {
        return Ok(position);
    }
    match wanted.parse::<usize>() {
        Ok(number) if (1..=names.len()).contains(&number) => Ok(number - 1),
        _ => Err(DataError::UnknownColumn {
            file: file.to_owned(),
            name: wanted.to_owned(),
            suggestion: suggestion(wanted, names),
        }),
    }
}

/// The columns to read, in the order asked for or else in the file's; each with a name of its own.
pub(super) fn select(
    header: &[String],
    options: &ReadOptions<'_>,
    file: &str,
) -> Result<Vec<Choice>, DataError> {
    let find = |list: &[String]| -> Result<Vec<usize>, DataError> {
        list.iter().map(|wanted| resolve(wanted, header, file)).collect()
    };
    let text: HashSet<usize> = find(&options.text_columns)?.into_iter().collect();
    let skipped: HashSet<usize> = find(&options.skip_columns)?.into_iter().collect();
    let mut positions = match &options.columns {
        Some(wanted) => {
            let positions = find(wanted)?;
            let mut seen = HashSet::new();
            if let Some(&twice) = positions.iter().find(|position| !seen.insert(**position)) {
                return Err(DataError::RepeatedColumn {
                    file: file.to_owned(),
                    name: header[twice].clone(),
                });
            }
            // A text column is wanted even where the list of numeric ones leaves it out.
            let mut added: Vec<usize> = text.difference(&seen).copied().collect();
            added.sort_unstable();
            positions.into_iter().chain(added).collect()
        }
        None => (0..header.len()).collect::<Vec<_>>(),
    };
    positions.retain(|position| !skipped.contains(position));
    if positions.is_empty() {
        return Err(DataError::NoColumns { file: file.to_owned(), n_columns: header.len() });
    }
    let chosen: HashSet<usize> = positions.iter().copied().collect();
    check_names(header, file, &|position| chosen.contains(&position))?;
    Ok(positions
        .into_iter()
        .map(|position| Choice {
            position,
            name: header[position].clone(),
            text: options.as_text || text.contains(&position),
        })
        .collect())
}

/// Refuses an empty or repeated name that concerns a chosen column.
pub(super) fn check_names(
    names: &[String],
    file: &str,
    chosen: &dyn Fn(usize) -> bool,
) -> Result<(), DataError> {
    let mut first: HashMap<&str, usize> = HashMap::with_capacity(names.len());
    for (position, name) in names.iter().enumerate() {
        if name.is_empty() {
            if chosen(position) {
                return Err(DataError::EmptyName { file: file.to_owned(), position: position + 1 });
            }
        } else if let Some(&earlier) = first.get(name.as_str()) {
            if chosen(position) || chosen(earlier) {
                return Err(DataError::DuplicateName {
                    file: file.to_owned(),
                    name: name.clone(),
                    first: earlier + 1,
                    second: position + 1,
                });
            }
        } else {
            first.insert(name, position);
        }
    }
    Ok(())
}

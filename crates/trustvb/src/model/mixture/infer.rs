//! Which kind each column of a file has, and its values as numbers.

use super::data::{ColumnKind, MixedData, MixtureColumn};
use crate::data::{Column, DataError, Distinct, Frame, Look, is_missing};
use crate::model::ColumnType;
use crate::remedy::Remedy;

/// More different values than this are no categories.
const MOST_LEVELS: usize = 1000;

/// A cell of a column before its kind is known.
#[derive(Clone, Copy, PartialEq)]
enum Cell<'a> {
    Number(f64),
    /// What may stand for no number: a mark such as `.`, or a label.
    Mark(&'a str),
    Text(&'a str),
    Missing,
}

/// The distinct cells of a column, and which of them each row has.
struct Cells<'a> {
    distinct: Vec<Cell<'a>>,
    rows: Vec<u32>,
    /// The order of its levels, where the data have one.
    order: &'a [String],
}

impl<'a> Cells<'a> {
    fn of(column: &'a Column) -> Cells<'a> {
        match column {
            Column::Numeric(values) => Cells {
                distinct: values
                    .iter()
                    .map(|x| if x.is_nan() { Cell::Missing } else { Cell::Number(*x) })
                    .collect(),
                rows: (0..values.len() as u32).collect(),
                order: &[],
            },
            Column::Text(text) => Cells {
                distinct: text.levels().iter().map(|text| cell(text)).collect(),
                rows: text.codes().to_vec(),
                order: text.order(),
            },
        }
    }
}

fn cell(text: &str) -> Cell<'_> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() => Cell::Number(x),
        _ if text.is_empty() || text == "NA" || text == "NaN" => Cell::Missing,
        _ if is_missing(text) => Cell::Mark(text),
        _ => Cell::Text(text),
    }
}

/// The columns of a frame with their kinds, those in `types` as they are said to be.
///
/// Text is a category, and so are two different numbers and few small whole ones, which look like codes; other numbers are
/// Gaussian.
pub(super) fn infer(
    frame: &Frame,
    types: &[(String, ColumnType)],
) -> Result<(Vec<MixtureColumn>, MixedData), DataError> {
    ColumnType::check(types, frame)?;
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    let mut codes = Vec::new();
    for (j, name) in frame.names().iter().enumerate() {
        let cells = Cells::of(frame.column(j));
        let kind = ColumnType::said(types, frame, j).unwrap_or_else(|| {
            let (kind, n_codes) = guess(&cells);
            codes.extend(n_codes.map(|n| (name.as_str(), n)));
            kind
        });
        let refused = |what: String, remedies: &'static [Remedy]| DataError::Column {
            file: frame.source().into(),
            column: name.clone(),
            what,
            remedies,
        };
        const MANY: &[Remedy] =
            &[Remedy::Columns("leave it out"), Remedy::Do("say gaussian or count")];
        let numeric = || numbers(&cells).map_err(|what| refused(what, &[]));
        let (kind, coded) = match kind {
            ColumnType::Category => {
                let (levels, codes) = levels(&cells).map_err(|what| refused(what, MANY))?;
                (ColumnKind::Category { levels }, codes)
            }
            ColumnType::Gaussian => (ColumnKind::Gaussian, numeric()?),
            ColumnType::Count => (ColumnKind::Count, numeric()?),
        };
        values.push(cells.rows.iter().map(|&i| coded[i as usize]).collect());
        columns.push(MixtureColumn { name: name.clone(), kind });
    }
    let data = MixedData::new(frame.source(), frame.names().to_vec(), values)
        .with_remarks(taken_for_codes(&codes).into_iter().collect());
    // Rows are named as the file counts them.
    let empty = (0..data.n_rows()).find(|&i| data.columns().iter().all(|c| c[i].is_nan()));
    if let Some(row) = empty {
        let what = format!(
            "{} {} holds no value at all; leave it out",
            frame.row_unit().word(),
            frame.row_number(row)
        );
        return Err(DataError::Units { file: frame.source().to_owned(), what });
    }
    Ok((columns, data))
}

/// New rows as numbers, coded as those that `columns` were read from; a frame may have other columns too.
pub(super) fn code(frame: &Frame, columns: &[MixtureColumn]) -> Result<MixedData, DataError> {
    let mut values = Vec::with_capacity(columns.len());
    for column in columns {
        let cells = Cells::of(frame.column(frame.column_index(&column.name)?));
        let coded = match &column.kind {
            ColumnKind::Category { levels } => known_levels(&cells, levels),
            ColumnKind::Gaussian | ColumnKind::Count => numbers(&cells),
        };
        let coded = coded.and_then(|coded| column.check(&coded).map(|()| coded));
        let coded = coded.map_err(|what| DataError::Column {
            file: frame.source().to_owned(),
            column: column.name.clone(),
            what,
            remedies: &[],
        })?;
        values.push(cells.rows.iter().map(|&i| coded[i as usize]).collect());
    }
    let names = columns.iter().map(|column| column.name.clone()).collect();
    Ok(MixedData::new(frame.source(), names, values))
}

/// The level of each distinct cell, all of which must be known.
fn known_levels(cells: &Cells<'_>, levels: &[String]) -> Result<Vec<f64>, String> {
    let code = |cell: &Cell<'_>| {
        let Some(own) = level_name(cell) else { return Ok(f64::NAN) };
        levels.iter().position(|level| *level == own).map(|at| at as f64).ok_or_else(|| {
            let shown = levels.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
            let more = if levels.len() > 8 { ", …" } else { "" };
            format!(
                "holds `{own}`, a level that the fit has not seen; its levels are {shown}{more}"
            )
        })
    };
    cells.distinct.iter().map(code).collect()
}

/// What a column looks like; and how many codes it has if these are numbers, and not just 0 and 1.
fn guess(cells: &Cells<'_>) -> (ColumnType, Option<usize>) {
    if cells.distinct.iter().any(|cell| matches!(cell, Cell::Text(_))) {
        return (ColumnType::Category, None);
    }
    let number = |&row: &u32| match cells.distinct[row as usize] {
        Cell::Number(x) => x,
        _ => f64::NAN,
    };
    match Distinct::of(cells.rows.iter().map(number)).look() {
        Look::Pair([0.0, 1.0]) | Look::Constant => (ColumnType::Category, None),
        Look::Pair(_) => (ColumnType::Category, Some(2)),
        Look::Codes(n, _) => (ColumnType::Category, Some(n)),
        Look::Numbers => (ColumnType::Gaussian, None),
    }
}

/// Says which columns of numbers were taken for codes, and how to say otherwise.
fn taken_for_codes(codes: &[(&str, usize)]) -> Option<String> {
    const SHOWN: usize = 6;
    let (first, _) = codes.first()?;
    let mut names: Vec<String> =
        codes.iter().take(SHOWN).map(|(name, n)| format!("`{name}` ({n} values)")).collect();
    if codes.len() > SHOWN {
        names.push(format!("{} more", codes.len() - SHOWN));
    }
    let listed = match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.join(""),
    };
    let (hold, are) = if codes.len() == 1 { ("holds", "is") } else { ("hold", "are") };
    let kind = if codes.len() == 1 { "a category" } else { "categories" };
    Some(format!(
        "{listed} {hold} few different numbers and {are} taken for {kind}; types say otherwise, as in {first}=gaussian or \
         {first}=count"
    ))
}

/// The numbers of the distinct cells; marks of statistics packages are missing values there.
fn numbers(cells: &Cells<'_>) -> Result<Vec<f64>, String> {
    let number = |cell: &Cell<'_>| match cell {
        Cell::Number(x) => Ok(*x),
        Cell::Missing | Cell::Mark(_) => Ok(f64::NAN),
        Cell::Text(text) => Err(format!("holds `{text}`, which is no number; say category")),
    };
    cells.distinct.iter().map(number).collect()
}

/// What a cell is called as a level.
fn level_name(cell: &Cell<'_>) -> Option<String> {
    match cell {
        Cell::Number(x) => Some(x.to_string()),
        Cell::Mark(text) | Cell::Text(text) => Some((*text).to_owned()),
        Cell::Missing => None,
    }
}

/// The names of the levels in order, and the level of each distinct cell.
fn levels(cells: &Cells<'_>) -> Result<(Vec<String>, Vec<f64>), String> {
    let mut names: Vec<String> = cells.distinct.iter().filter_map(level_name).collect();
    let number = |name: &String| name.parse::<f64>().ok();
    if !cells.order.is_empty() {
        let order: Vec<Option<String>> =
            cells.order.iter().map(|level| level_name(&cell(level))).collect();
        let place = |name: &String| order.iter().position(|own| own.as_ref() == Some(name));
        names.sort_by_cached_key(|name| (place(name).unwrap_or(order.len()), name.clone()));
    } else if names.iter().all(|name| number(name).is_some()) {
        names.sort_by(|a, b| number(a).unwrap_or(0.0).total_cmp(&number(b).unwrap_or(0.0)));
    } else {
        names.sort();
    }
    names.dedup();
    if names.len() > MOST_LEVELS {
        return Err(format!(
            "has {} different values, and a category has at most {MOST_LEVELS} levels",
            names.len()
        ));
    }
    let code = |cell: &Cell<'_>| match level_name(cell) {
        Some(own) => names.iter().position(|n| *n == own).map_or(f64::NAN, |at| at as f64),
        None => f64::NAN,
    };
    let codes = cells.distinct.iter().map(code).collect();
    Ok((names, codes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ReadOptions, read_csv};

    fn read(
        text: &str,
        types: &[(&str, ColumnType)],
    ) -> Result<(Vec<MixtureColumn>, MixedData), DataError> {
        let options = ReadOptions { as_text: true, keep_missing: true, ..ReadOptions::default() };
        let types: Vec<_> = types.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        infer(&read_csv(text.as_bytes(), "a.csv", &options)?, &types)
    }

    #[test]
    fn kinds_are_read_from_the_data() {
        let text =
            "smoker,age,ill,visits,grade\nyes,41.5,1,3,b\nno,NA,0,0,a\n,33,1,.,a\nyes,29,,7,c\n";
        let (columns, data) = read(text, &[("visits", ColumnType::Count)]).unwrap();
        let kinds: Vec<&str> = columns.iter().map(|c| c.kind.name()).collect();
        assert_eq!(kinds, ["category", "gaussian", "category", "count", "category"]);
        assert_eq!(
            columns[0].kind,
            ColumnKind::Category { levels: vec!["no".into(), "yes".into()] }
        );
        assert_eq!(data.n_missing(), 4);
        assert_eq!(data.columns()[0][..2], [1.0, 0.0]);
        assert!(data.columns()[1][1].is_nan() && data.columns()[3][2].is_nan());
        assert_eq!(data.columns()[4][3], 2.0);
    }

    #[test]
    fn levels_that_are_numbers_are_in_their_order() {
        let (columns, data) = read("x\n10\n9\n1.0\n1\n", &[("x", ColumnType::Category)]).unwrap();
        let levels = ["1", "9", "10"].map(str::to_owned).to_vec();
        assert_eq!(columns[0].kind, ColumnKind::Category { levels });
        assert_eq!(data.columns()[0], [2.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn what_cannot_be_is_said_in_a_sentence() {
        let many: String = (0..1500).map(|i| format!("a{i}\n")).collect();
        for (text, types, fragment) in [
            ("x,y\na,1\nb,2\n", &[("x", ColumnType::Count)][..], "`a`, which is no number"),
            ("x,y\na,1\n,NA\n", &[], "line 3 holds no value at all"),
            (&format!("x\n{many}"), &[], "1500 different values"),
            ("x,y\na,1\nb,2\n", &[("z", ColumnType::Count)], "z"),
        ] {
            let message = read(text, types).unwrap_err().to_string();
            assert!(message.contains(fragment), "{fragment:?} is not in {message:?}");
        }
    }
}

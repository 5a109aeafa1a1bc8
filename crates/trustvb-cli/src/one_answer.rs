//! The default table: a row per quantity with the interval to use, VB's own and its coverage, and the paper's.

use crate::output::significant;
use crate::say::on_one_line;
use crate::terminal::{columns, wrap};
use trustvb::answers::{Warning, percent, runs, sentence, verdict, warnings, whole_percent};
use trustvb::calibrate::{Answer, Method};

/// What is shown of a question: answers quantity by quantity, and on how many bootstraps of all units they rest.
pub(crate) struct Shown<'a> {
    pub(crate) heading: &'a str,
    pub(crate) quantities: Vec<&'a [Answer]>,
    pub(crate) bootstraps: usize,
    pub(crate) width: usize,
}

/// The answer for people: what is asked, a verdict on VB, a row per quantity, and each warning once.
pub(crate) fn render(shown: &Shown<'_>) -> String {
    let Shown { heading, quantities, bootstraps, width } = shown;
    let mut text = wrap(heading, *width, "  ") + "\n";
    let levels = levels(quantities);
    let said = warnings(quantities, Some(Method::RECOMMENDED));
    // A quantity without an interval has a reason of its own.
    let with_interval: Vec<usize> = (0..quantities.len())
        .filter(|&i| {
            quantities[i].iter().any(|a| a.method == Method::RECOMMENDED && !a.lower.is_nan())
        })
        .collect();
    let (whole, single): (Vec<_>, Vec<_>) = said.into_iter().partition(|w| {
        w.methods.contains(&Method::RECOMMENDED)
            && with_interval.iter().all(|i| w.quantities.contains(i))
            && w.levels.len() == levels.len()
            && !with_interval.is_empty()
    });
    let mut tvb_shown = false;
    for (i, &level) in levels.iter().enumerate() {
        if i > 0 {
            text.push('\n');
        }
        if let Some(verdict) = verdict(quantities, level, *bootstraps) {
            text.push_str(&(wrap(&verdict, *width, "  ") + "\n"));
        }
        if i == 0 {
            for warning in &whole {
                let line = format!("! {} [{}]", sentence(&warning.sentence), warning.name);
                text.push_str(&(wrap(&line, *width, "  ") + "\n"));
            }
        }
        text.push('\n');
        let (rows, with_tvb) = block(quantities, level, *width);
        text.push_str(&rows);
        tvb_shown |= with_tvb;
    }
    // What speaks against the interval to use comes first; nobody is warned of what is not shown.
    let (mut first, rest): (Vec<_>, Vec<_>) =
        single.into_iter().partition(|w| w.methods.contains(&Method::RECOMMENDED));
    first.extend(rest.into_iter().filter(|w| tvb_shown || w.methods != [Method::Tvb]));
    let single = warning_lines(&first, quantities, &levels, false, *width);
    if !single.is_empty() {
        text.push('\n');
        text.push_str(&single);
    }
    text
}

/// The levels asked for, each once.
pub(crate) fn levels(quantities: &[&[Answer]]) -> Vec<f64> {
    let mut levels: Vec<f64> = Vec::new();
    for a in quantities.iter().flat_map(|answers| answers.iter()) {
        if !levels.contains(&a.level) {
            levels.push(a.level);
        }
    }
    levels
}

/// One sentence per warning: about whom, how many quantities and which, what. The method to use is named only among
/// rows of every method.
pub(crate) fn warning_lines(
    list: &[Warning],
    quantities: &[&[Answer]],
    levels: &[f64],
    every_method: bool,
    width: usize,
) -> String {
    let n = quantities.len();
    let label = |i: usize| quantities[i].first().map_or("", |a| a.label.as_str());
    let mut text = String::new();
    for warning in list {
        let mut about = Vec::new();
        if every_method || !warning.methods.contains(&Method::RECOMMENDED) {
            let name = |m: &Method| if every_method { m.name() } else { title(*m) };
            about.push(warning.methods.iter().map(name).collect::<Vec<_>>().join(" and "));
        }
        let names = runs(&warning.quantities, label);
        match warning.quantities.len() {
            1 => about.push(names),
            count if count == n => about.push(format!("all {n} quantities")),
            count => about.push(format!("{count} of {n} quantities ({names})")),
        }
        if warning.levels.len() < levels.len() {
            let some: Vec<String> = warning.levels.iter().map(|l| percent(*l)).collect();
            about.push(format!("at {}", some.join(" and ")));
        }
        let what = warning.sentence.trim_end_matches('.');
        let line = format!("! {}: {what}. [{}]", about.join(", "), warning.name);
        text.push_str(&(wrap(&on_one_line(&line), width, "  ") + "\n"));
    }
    text
}

/// A method as the columns name it.
fn title(method: Method) -> &'static str {
    match method {
        Method::Vb => "VB's own",
        Method::Tvb => "TVB (paper)",
        other => other.name(),
    }
}

/// A column of the table: its header in one line and in two, and its cells.
struct Column {
    header: (String, [String; 2]),
    cells: Vec<String>,
    right: bool,
}

impl Column {
    fn new(one: &str, two: [&str; 2], cells: Vec<String>) -> Column {
        Column { header: (one.to_owned(), two.map(str::to_owned)), cells, right: false }
    }
}

/// The rows at one level, in the widest form that fits, and whether the paper's intervals are among them.
fn block(quantities: &[&[Answer]], level: f64, width: usize) -> (String, bool) {
    let rows: Vec<Row<'_>> = quantities.iter().map(|answers| Row::new(answers, level)).collect();
    let names: Vec<String> = rows.iter().map(|row| on_one_line(row.label)).collect();
    let claimed = percent(level);
    let estimate = Column {
        right: true,
        ..Column::new("estimate", ["", "estimate"], rows.iter().map(Row::estimate).collect())
    };
    let used = Column::new(
        &format!("use this {claimed} interval"),
        ["use this", &format!("{claimed} interval")],
        intervals(&rows, |row| row.used),
    );
    let own = intervals(&rows, |row| row.own);
    let covers: Vec<String> = rows.iter().map(Row::covers).collect();
    let tvb = rows
        .iter()
        .any(|row| row.tvb.is_some())
        .then(|| Column::new("TVB (paper)", ["", "TVB (paper)"], intervals(&rows, |row| row.tvb)));
    let wide = [
        Column::new("VB's own", ["", "VB's own"], own.clone()),
        Column::new("VB covers", ["VB", "covers"], covers.clone()),
    ];
    let narrow = [Column::new("", ["VB's own", "and its coverage"], beside(&own, &covers))];
    let gap = |i: usize| part_of(rows[i].label) != part_of(rows[i - 1].label);
    let gaps: Vec<bool> = (0..rows.len()).map(|i| i > 0 && rows.len() > MANY && gap(i)).collect();
    let table = |own: &[Column], tvb: Option<&Column>, form: Form| {
        let columns: Vec<&Column> = [&estimate, &used].into_iter().chain(own).chain(tvb).collect();
        lay_out(&names, &columns, form, &gaps)
    };
    let forms = [(&wide[..], Form::OneHeader), (&wide, Form::Plain), (&narrow, Form::Plain)];
    let tried = forms.into_iter().map(|(own, form)| table(own, tvb.as_ref(), form));
    if let Some(text) = tried.into_iter().find(|t| t.lines().all(|line| columns(line) <= width)) {
        return (text, tvb.is_some());
    }
    let text = table(&narrow, tvb.as_ref(), Form::Within(width));
    let lines_of_names = text.lines().filter(|line| !line.is_empty()).count() - rows.len() - 2;
    let few = lines_of_names <= MANY && 2 * lines_of_names <= rows.len();
    if few || tvb.is_none() {
        return (text, tvb.is_some());
    }
    let text = table(&narrow, None, Form::Within(width));
    (format!("{text}(TVB's intervals need a wider terminal, or --all-methods.)\n"), false)
}

/// How a table is laid out.
#[derive(Clone, Copy)]
enum Form {
    /// Headers in one line.
    OneHeader,
    /// Headers in two lines.
    Plain,
    /// The same within a width: a name that is too long stands on a line of its own.
    Within(usize),
}

/// A list longer than this has an empty line between its parts.
const MANY: usize = 8;

/// What a row of a long list is one of: all weights, the means of one component.
fn part_of(label: &str) -> &str {
    label
        .split([',', ' '])
        .next()
        .filter(|_| label.contains(','))
        .unwrap_or_else(|| label.split('[').next().unwrap_or(label))
}

/// Two lists of cells as one, the second to the right.
fn beside(first: &[String], second: &[String]) -> Vec<String> {
    let (wide, far) = (widest(first), widest(second));
    let join = |(a, b): (&String, &String)| format!("{}{} {b:>far$}", a, pad(a, wide));
    first.iter().zip(second).map(join).collect()
}

fn widest(cells: &[String]) -> usize {
    cells.iter().map(|cell| columns(cell)).max().unwrap_or(0)
}

fn pad(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(columns(text)))
}

/// Names and columns as lines, with an empty one before the rows in `gaps`.
fn lay_out(names: &[String], list: &[&Column], form: Form, gaps: &[bool]) -> String {
    let headers: Vec<Vec<&str>> = match form {
        Form::OneHeader => vec![list.iter().map(|c| c.header.0.as_str()).collect()],
        _ => (0..2).map(|i| list.iter().map(|c| c.header.1[i].as_str()).collect()).collect(),
    };
    let widths: Vec<usize> = list
        .iter()
        .enumerate()
        .map(|(j, column)| {
            let header = headers.iter().map(|row| columns(row[j])).max().unwrap_or(0);
            header.max(widest(&column.cells))
        })
        .collect();
    let rest: usize = widths.iter().map(|w| w + 2).sum();
    let room = match form {
        Form::Within(width) => width.saturating_sub(rest).max(4),
        _ => usize::MAX,
    };
    let short = names.iter().map(|name| columns(name)).filter(|n| *n <= room);
    let first = short.max().unwrap_or(2);
    let line = |name: &str, cells: Vec<&str>| {
        let mut text = format!("{name}{}", pad(name, first));
        for ((cell, width), column) in cells.into_iter().zip(&widths).zip(list) {
            let space = pad(cell, *width);
            let (before, after) =
                if column.right { (space.as_str(), "") } else { ("", space.as_str()) };
            text.push_str(&format!("  {before}{cell}{after}"));
        }
        text.trim_end().to_owned() + "\n"
    };
    let mut text: String = headers.into_iter().map(|row| line("", row)).collect();
    for (i, name) in names.iter().enumerate() {
        if gaps[i] {
            text.push('\n');
        }
        let cells = list.iter().map(|column| column.cells[i].as_str()).collect();
        match columns(name) <= first {
            true => text.push_str(&line(name, cells)),
            false => text.push_str(&format!("{name}\n{}", line("", cells))),
        }
    }
    text
}

/// The answers to one quantity at one level.
struct Row<'a> {
    label: &'a str,
    used: Option<&'a Answer>,
    own: Option<&'a Answer>,
    tvb: Option<&'a Answer>,
    /// Decimals of all its numbers.
    decimals: Option<i32>,
}

impl<'a> Row<'a> {
    fn new(answers: &'a [Answer], level: f64) -> Row<'a> {
        let of = |method: Method| answers.iter().find(|a| a.method == method && a.level == level);
        let (used, own, tvb) = (of(Method::RECOMMENDED), of(Method::Vb), of(Method::Tvb));
        // Rounding errors are no length: an emptied component's weight is the same in every resample.
        let length = |a: Option<&Answer>| {
            let a = a?;
            Some(a.upper - a.lower).filter(|x| x.is_finite() && *x > 1e-9 * a.estimate.abs())
        };
        // Both ends of a far shorter interval must stay apart.
        let size = match (length(used), length(own)) {
            (Some(used), Some(own)) => Some(used.min(3.0 * own)),
            (used, own) => used.or(own).or(length(tvb)),
        };
        let label = answers.first().map_or("", |a| a.label.as_str());
        Row { label, used, own, tvb, decimals: size.map(decimals) }
    }

    fn number(&self, x: f64) -> String {
        if x.is_infinite() {
            return if x > 0.0 { "∞".to_owned() } else { "-∞".to_owned() };
        }
        match self.decimals {
            _ if x.is_nan() => "–".to_owned(),
            None => significant(x, 4),
            Some(..=0) if x.abs() < 1e9 => format!("{x:.0}"),
            Some(d @ 1..=9) if x.abs() < 1e9 => format!("{x:.*}", d as usize),
            // As many digits as the decimals leave behind the first.
            Some(d) => {
                let digits = d + x.abs().log10().floor().max(-300.0) as i32;
                format!("{x:.*e}", digits.clamp(1, 15) as usize)
            }
        }
    }

    fn estimate(&self) -> String {
        let answer = self.used.or(self.own).or(self.tvb);
        answer.map_or_else(|| "–".to_owned(), |a| self.number(a.estimate))
    }

    fn covers(&self) -> String {
        // A point, as the only weight's interval is, covers nothing but itself.
        let coverage = self.own.filter(|a| a.own.is_some()).and_then(|a| a.coverage);
        coverage.map_or_else(|| "–".to_owned(), whole_percent)
    }
}

/// Decimals of numbers that are known to within an interval of this length.
///
/// The last digit is between a thirtieth and a three-hundredth of the length. The limits' own Monte-Carlo error is
/// about a thirtieth with the usual 500 bootstraps, so that more digits would say nothing.
fn decimals(length: f64) -> i32 {
    (30.0 / length).log10().ceil() as i32
}

/// Intervals as cells. Where some limits are negative, the others leave room for the sign.
fn intervals<'a>(rows: &[Row<'a>], of: impl Fn(&Row<'a>) -> Option<&'a Answer>) -> Vec<String> {
    let limits: Vec<Option<[String; 2]>> = rows
        .iter()
        .map(|row| {
            let a = of(row).filter(|a| !a.lower.is_nan() && !a.upper.is_nan())?;
            Some([row.number(a.lower), row.number(a.upper)])
        })
        .collect();
    let signed = [0, 1].map(|end| limits.iter().flatten().any(|pair| pair[end].starts_with('-')));
    let shown = |pair: &[String; 2], end: usize| {
        let room = signed[end] && !pair[end].starts_with('-');
        format!("{}{}", if room { " " } else { "" }, pair[end])
    };
    limits
        .iter()
        .map(|pair| match pair {
            Some(pair) => format!("[{}, {}]", shown(pair, 0), shown(pair, 1)),
            None => "none".to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_length() {
        assert_eq!([0.114, 0.38, 1.8, 3.2, 25.0, 400.0].map(decimals), [3, 2, 2, 1, 1, -1]);
    }

    #[test]
    fn parts_of_a_list() {
        assert_eq!(part_of("pi[2]"), "pi");
        assert_eq!(part_of("mu[1,waiting]"), "mu[1");
        assert_eq!(part_of("log(sd[1,a])"), "log(sd[1");
    }

    #[test]
    fn a_name_that_is_too_long_stands_alone() {
        let column = Column::new("x", ["", "x"], vec!["1".to_owned(), "2".to_owned()]);
        let names = ["a".to_owned(), "a name of many words".to_owned()];
        let text = lay_out(&names, &[&column], Form::Within(12), &[false, false]);
        assert_eq!(text, "\n   x\na  1\na name of many words\n   2\n");
    }
}

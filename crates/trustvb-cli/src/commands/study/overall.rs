//! All cells and quantities of a study together, a row for each method.

use super::report::share;
use crate::output::{number, table};
use serde_json::{Map, Value, json};
use trustvb::study::{Overall, StudyMethod};

/// One table for each level, when there are several cells or quantities.
pub(super) fn text(baseline: &str, all: &[Overall]) -> String {
    let mut text = String::new();
    let relative = format!("score/{baseline}");
    let mut sorted: Vec<&Overall> = all.iter().filter(|o| o.pairs > 1).collect();
    sorted.sort_by(|a, b| a.level.total_cmp(&b.level));
    for level in sorted.chunk_by(|a, b| a.level == b.level) {
        text.push_str(&format!(
            "\nAll cells and quantities together, {:.0}% intervals (off by: mean distance between coverage \
             and level; scores: geometric means, over the baseline's, over that of the best interval of \
             one length, and over that of the best method in each cell; below: share of cells and \
             quantities with a lower score)\n",
            100.0 * level[0].level
        ));
        let mut rivals: Vec<StudyMethod> = Vec::new();
        for (rival, _) in level.iter().flat_map(|o| &o.below) {
            if !rivals.contains(rival) {
                rivals.push(*rival);
            }
        }
        rivals.sort();
        let below: Vec<String> = rivals.iter().map(|r| format!("below {}", r.name())).collect();
        let mut header = vec!["method", "pairs", "mean coverage", "off by", "lowest", "highest"];
        header.extend([relative.as_str(), "score/oracle", "score/best"]);
        header.extend(below.iter().map(String::as_str));
        header.extend(["no interval", "warned", "lowest in"]);
        let rows = level.iter().map(|o| row(o, &rivals)).collect();
        text.push_str(&table(&header, rows, 1));
    }
    text
}

fn row(o: &Overall, rivals: &[StudyMethod]) -> Vec<String> {
    let mut row = vec![o.method.name().to_owned(), o.pairs.to_string()];
    let numbers =
        [o.coverage, o.distance, o.range.0, o.range.1, o.score_ratio, o.oracle_ratio, o.best_ratio];
    row.extend(numbers.map(share));
    for rival in rivals {
        let found = o.below.iter().find(|(method, _)| method == rival);
        row.push(found.map_or("–".to_owned(), |(_, below)| percent(*below)));
    }
    row.push(percent(1.0 - o.answered));
    row.push(percent(o.warned));
    row.push(match &o.lowest {
        Some((cell, quantity)) => format!("{cell}: {quantity}"),
        None => "–".to_owned(),
    });
    row
}

fn percent(x: f64) -> String {
    if x.is_finite() { format!("{:.0}%", 100.0 * x) } else { "–".to_owned() }
}

pub(super) fn json(o: &Overall) -> Value {
    let below: Map<String, Value> =
        o.below.iter().map(|(rival, share)| (rival.name().to_owned(), number(*share))).collect();
    let (cell, quantity) = o.lowest.clone().unzip();
    json!({
        "method": o.method.name(),
        "level": number(o.level),
        "pairs": o.pairs,
        "answered": number(o.answered),
        "coverage": number(o.coverage),
        "distance": number(o.distance),
        "lowest": number(o.range.0),
        "lowest_cell": cell,
        "lowest_quantity": quantity,
        "highest": number(o.range.1),
        "score_ratio": number(o.score_ratio),
        "oracle_ratio": number(o.oracle_ratio),
        "best_ratio": number(o.best_ratio),
        "below": below,
        "warned": number(o.warned),
    })
}

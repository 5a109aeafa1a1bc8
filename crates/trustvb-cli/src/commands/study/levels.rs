//! Figures of a study with several levels: coverage against level, and where the truth falls among limits.

use super::figures::{Keep, MOST_PANELS, about, plain, save};
use crate::failure::Failure;
use trustvb::study::{Ranks, Results, Summary, ranks};
use trustvb_report::{LevelCurve, LevelFigure, LevelPanel, RankCounts, RankFigure, RankPanel};

/// Draws `levels` and `ranks`, or of a large study `levels-pi-1` and so on: a panel for each cell and quantity. A study
/// of one level has neither.
pub(super) fn draw(keep: &Keep<'_>, results: &Results, summary: &[Summary]) -> Result<(), Failure> {
    if results.study.levels.len() < 2 {
        return Ok(());
    }
    let ranks = ranks(results);
    let pairs = pairs(summary);
    let drawing = Drawing { keep, results, summary, ranks: &ranks };
    if pairs.len() <= MOST_PANELS {
        return drawing.draw("", &pairs);
    }
    let mut quantities: Vec<&str> = pairs.iter().map(|pair| pair.quantity).collect();
    quantities.sort_unstable();
    quantities.dedup();
    for quantity in quantities {
        let own: Vec<Pair<'_>> = pairs.iter().copied().filter(|p| p.quantity == quantity).collect();
        drawing.draw(&format!("-{}", plain(quantity)), &own)?;
    }
    Ok(())
}

/// What a panel is about.
#[derive(Clone, Copy, PartialEq)]
struct Pair<'a> {
    cell: &'a str,
    quantity: &'a str,
    design: usize,
    size: usize,
}

/// Cells and quantities, in the order of the summary.
fn pairs(summary: &[Summary]) -> Vec<Pair<'_>> {
    let mut pairs = Vec::new();
    for s in summary {
        let pair = Pair { cell: &s.cell, quantity: &s.quantity, design: s.design, size: s.size };
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    pairs
}

struct Drawing<'a> {
    keep: &'a Keep<'a>,
    results: &'a Results,
    summary: &'a [Summary],
    ranks: &'a [Ranks],
}

impl Drawing<'_> {
    fn draw(&self, suffix: &str, pairs: &[Pair<'_>]) -> Result<(), Failure> {
        let (title, about) = (&self.results.study.title, about(self.results));
        let levels = LevelFigure {
            title: format!("How often intervals hold the truth, at every level: {title}"),
            caption: format!(
                "Share of intervals that hold the truth, with Wilson's 95% limits; the dashed line is what they claim. {about}"
            ),
            panels: pairs.iter().map(|pair| self.levels(pair)).collect(),
            columns: 0,
        };
        save(self.keep, "levels", suffix, levels.render())?;
        // Levels may be too close to each other to make a histogram.
        if self.ranks.is_empty() {
            return Ok(());
        }
        let ranks = RankFigure {
            title: format!("Where the truth falls among the limits: {title}"),
            caption: format!(
                "Data sets in each bin, over as many as limits promise: 1 is right, high ends mean intervals that are \
                 too short, a slope a bias. Grey is within two binomial standard errors of 1. {about}"
            ),
            panels: pairs.iter().map(|pair| self.ranks(pair)).collect(),
            columns: 0,
        };
        save(self.keep, "ranks", suffix, ranks.render())
    }

    /// The design, its size where it has several, and the quantity.
    fn title(&self, pair: &Pair<'_>) -> String {
        let design = &self.results.study.designs[pair.design];
        let size = match design.simulate.sizes().len() {
            1 => String::new(),
            _ => format!(", {} = {}", design.size_name(), pair.size),
        };
        format!("{}{size}: {}", design.shown(), pair.quantity)
    }

    fn levels(&self, pair: &Pair<'_>) -> LevelPanel {
        let own = |s: &&Summary| s.cell == pair.cell && s.quantity == pair.quantity;
        let mut curves: Vec<LevelCurve> = Vec::new();
        let mut sorted: Vec<&Summary> = self.summary.iter().filter(own).collect();
        // Methods stay in their order.
        sorted.sort_by(|a, b| a.level.total_cmp(&b.level));
        for s in sorted {
            let name = s.method.name();
            let at = curves.iter().position(|curve| curve.method == name).unwrap_or_else(|| {
                curves.push(LevelCurve { method: name.to_owned(), ..Default::default() });
                curves.len() - 1
            });
            curves[at].levels.push(s.level);
            curves[at].coverage.push(s.coverage);
            curves[at].limits.push(s.coverage_limits);
        }
        LevelPanel { title: self.title(pair), curves }
    }

    fn ranks(&self, pair: &Pair<'_>) -> RankPanel {
        let own = |r: &&Ranks| r.cell == pair.cell && r.quantity == pair.quantity;
        let found: Vec<&Ranks> = self.ranks.iter().filter(own).collect();
        let method = |r: &&Ranks| RankCounts {
            method: r.method.name().to_owned(),
            counts: r.counts.clone(),
        };
        RankPanel {
            title: self.title(pair),
            edges: found.first().map(|r| r.edges.clone()).unwrap_or_default(),
            methods: found.iter().map(method).collect(),
        }
    }
}

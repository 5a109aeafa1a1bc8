//! From answers to the profile of components: what each is like, column by column.

use crate::figures::{ProfileFigure, ProfileLine, ProfilePanel, ProfileValue};
use crate::picture::Quantity;
use trustvb::answers::{Element, headline, percent};
use trustvb::functional::Functional;
use trustvb::table::TvbTable;

/// One item of the profile: a column, or a level of one.
struct Item<'a> {
    element: Element<'a>,
    /// By component, the estimate and limits.
    values: Vec<ProfileValue>,
}

/// The profile of a table's components, from the answers to use at a level; `None` where they hold no probability, rate or
/// mean of a column.
///
/// Probabilities have an axis of their own. Means and rates are on one axis: less the mean of the whole mixture, in its
/// standard deviations, which are those of the fit at ω = 1.
pub fn profile(table: &TvbTable, quantities: &[Quantity<'_>], level: f64) -> Option<ProfileFigure> {
    let n_components = table.layout().n_components;
    let (probabilities, others) = items(quantities, level, n_components);
    let first = table.full_data_posterior(1.0)?;
    let weights = first.weights();
    let manifest = table.manifest();
    let called = manifest.model.kind().called.one;
    let name = |k: usize| format!("{called} {} ({})", k + 1, percent(weights[k]));
    let lines = |items: &[Item<'_>]| -> Vec<ProfileLine> {
        let of = |k: usize| items.iter().map(|item| item.values[k]).collect();
        (0..n_components).map(|k| ProfileLine { name: name(k), values: of(k) }).collect()
    };
    let mut panels = Vec::new();
    if !probabilities.is_empty() {
        panels.push(ProfilePanel {
            y_label: "probability".to_owned(),
            items: probabilities.iter().map(Item::name).collect(),
            lines: lines(&probabilities),
            runs: together(&probabilities),
            over: Some((0.0, 1.0)),
            ..ProfilePanel::default()
        });
    }
    if !others.is_empty() {
        let parameters = first.parameters();
        let value = |text: String| -> Option<f64> {
            let found = Functional::parse(&text, table.layout()).ok()?;
            Some(found.parts().first()?.plug_in(parameters))
        };
        let standardised: Vec<Item<'_>> =
            others.into_iter().filter_map(|item| item.standardised(&weights, &value)).collect();
        panels.push(ProfilePanel {
            y_label: "mean, in standard deviations".to_owned(),
            items: standardised.iter().map(Item::name).collect(),
            lines: lines(&standardised),
            ..ProfilePanel::default()
        });
    }
    let has_means = panels.iter().any(|panel| panel.over.is_none());
    let about = "Means and rates are less that of the whole mixture, in its standard deviations.";
    let caption = format!(
        "{}, with the {} intervals to use.{}{}",
        manifest.units_in_words(),
        percent(level),
        if has_means { " " } else { "" },
        if has_means { about } else { "" },
    );
    let title = format!("Profile of {}", manifest.model.kind().called.count(n_components));
    (!panels.is_empty()).then_some(ProfileFigure { title, caption, panels, columns: 1 })
}

/// Probabilities, and means and rates.
fn items<'a>(
    quantities: &'a [Quantity<'_>],
    level: f64,
    n_components: usize,
) -> (Vec<Item<'a>>, Vec<Item<'a>>) {
    let (mut probabilities, mut others): (Vec<Item<'a>>, Vec<Item<'a>>) = (Vec::new(), Vec::new());
    let none = ProfileValue { estimate: f64::NAN, lower: f64::NAN, upper: f64::NAN };
    for quantity in quantities {
        let Some(answer) = headline(quantity.at(level)) else { continue };
        let Some(element) = Element::read(quantity.part.label()) else { continue };
        let found = match (element.name, element.rest.len()) {
            ("p", 2) => &mut probabilities,
            ("mu" | "rate", 1) => &mut others,
            _ => continue,
        };
        let Some(k) = element.component.checked_sub(1).filter(|k| *k < n_components) else {
            continue;
        };
        let value =
            ProfileValue { estimate: answer.estimate, lower: answer.lower, upper: answer.upper };
        let same = |item: &&mut Item<'a>| {
            item.element.name == element.name && item.element.rest == element.rest
        };
        match found.iter_mut().find(same) {
            Some(item) => item.values[k] = value,
            None => {
                let mut values = vec![none; n_components];
                values[k] = value;
                found.push(Item { element, values });
            }
        }
    }
    (probabilities, others)
}

/// Lengths of runs of items that are joined by lines: columns with one item each, or the levels of one.
fn together(items: &[Item<'_>]) -> Vec<usize> {
    let column = |item: &Item<'_>| item.element.rest[0].to_owned();
    let single =
        |at: usize| items.iter().filter(|item| column(item) == column(&items[at])).count() == 1;
    let mut runs: Vec<usize> = Vec::new();
    for at in 0..items.len() {
        let joined = at > 0
            && (single(at) && single(at - 1) || column(&items[at]) == column(&items[at - 1]));
        match runs.last_mut() {
            Some(run) if joined => *run += 1,
            _ => runs.push(1),
        }
    }
    runs
}

impl Item<'_> {
    fn name(&self) -> String {
        let plain = |index: &str| index.trim_matches('`').to_owned();
        match self.element.rest.as_slice() {
            [column, level] => format!("{} = {}", plain(column), plain(level)),
            rest => rest.first().map_or_else(String::new, |column| plain(column)),
        }
    }

    /// The same less the mean of the mixture, in its standard deviations.
    fn standardised(
        mut self,
        weights: &[f64],
        value: &dyn Fn(String) -> Option<f64>,
    ) -> Option<Self> {
        let (name, column) = (self.element.name, self.element.rest.first()?);
        let (mut mean, mut square) = (0.0, 0.0);
        for (k, weight) in weights.iter().enumerate() {
            let own = value(format!("{name}[{},{column}]", k + 1))?;
            // A count's variance is its rate.
            let variance = match name {
                "rate" => own,
                _ => value(format!("sd[{},{column}]", k + 1))?.powi(2),
            };
            mean += weight * own;
            square += weight * (variance + own * own);
        }
        let sd = (square - mean * mean).sqrt();
        for v in &mut self.values {
            for x in [&mut v.estimate, &mut v.lower, &mut v.upper] {
                *x = (*x - mean) / sd;
            }
        }
        Some(self)
    }
}

//! Components side by side over items: a line for each, with an interval at every item.

use super::category::CategoryAxis;
use super::figure::{Figure, FigurePanel};
use super::panel::{
    Margins, Panel, Rect, clipped, edged_marker, nothing_to_show, panel_title, runs, ticks_up,
    title_room, y_axis, y_axis_room,
};
use super::scale::Scale;
use super::svg::Element;
use super::text;
use super::theme::StyleBook;

/// Width that an item needs for each component.
const PER_COMPONENT: f64 = 11.0;

/// A component's value at an item.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProfileValue {
    /// The estimate; not finite leaves a gap.
    pub estimate: f64,
    /// Lower limit; not finite for none.
    pub lower: f64,
    /// Upper limit; not finite for none.
    pub upper: f64,
}

/// One component over all items.
#[derive(Clone, Debug, Default)]
pub struct ProfileLine {
    /// Its name in the legend, such as `class 1 (74%)`.
    pub name: String,
    /// A value for each item.
    pub values: Vec<ProfileValue>,
}

/// Items that share an axis.
#[derive(Clone, Debug, Default)]
pub struct ProfilePanel {
    /// The panel's title; may be empty.
    pub title: String,
    /// What is measured.
    pub y_label: String,
    /// The items' names, from left to right.
    pub items: Vec<String>,
    /// One line for each component.
    pub lines: Vec<ProfileLine>,
    /// Which items belong together and are joined: a run of items, such as the levels of one category, or all.
    pub runs: Vec<usize>,
    /// What the axis must reach at least: 0 and 1 for probabilities.
    pub over: Option<(f64, f64)>,
}

/// Panels of items.
pub type ProfileFigure = Figure<ProfilePanel>;

impl FigurePanel for ProfilePanel {
    const COLUMNS: usize = 1;
}

impl ProfilePanel {
    fn axis(&self) -> CategoryAxis<'_> {
        let names = self.items.iter().map(String::as_str).collect();
        CategoryAxis::new(names, self.lines.len(), "")
    }

    fn scale(&self) -> Scale {
        let values = self.lines.iter().flat_map(|line| &line.values);
        let all = values.flat_map(|value| [value.estimate, value.lower, value.upper]);
        let reach = self.over.into_iter().flat_map(|(low, high)| [low, high]);
        match self.over {
            Some((low, high)) => Scale::linear(low, high),
            None => Scale::linear_over(all.chain(reach), 0.06),
        }
    }

    /// First and last item of each run.
    fn joined(&self) -> Vec<(usize, usize)> {
        let lengths = if self.runs.is_empty() { vec![self.items.len()] } else { self.runs.clone() };
        let mut first = 0;
        let mut all = Vec::new();
        for length in lengths {
            let last = (first + length).min(self.items.len());
            all.push((first, last));
            first = last;
        }
        all
    }
}

impl Panel for ProfilePanel {
    fn size(&self) -> (f64, f64) {
        (self.axis().width(PER_COMPONENT), 210.0)
    }

    fn margins(&self, width: f64, height: f64) -> Margins {
        Margins {
            top: title_room(&self.title, width),
            right: 12.0,
            bottom: self.axis().room(width),
            left: y_axis_room(&ticks_up(&self.scale(), height), &self.y_label),
        }
    }

    fn series(&self) -> Vec<String> {
        self.lines.iter().map(|line| line.name.clone()).collect()
    }

    fn draw(&self, plot: Rect, styles: &StyleBook) -> Element {
        let y = self.scale().onto(plot.bottom(), plot.y);
        let axis = self.axis();
        let mut group = Element::group();
        axis.draw_bands(&mut group, plot);
        y_axis(&mut group, plot, &y, &ticks_up(&y, plot.height), &self.y_label);
        axis.draw(&mut group, plot);
        group.push_some(panel_title(plot, &self.title, 8.0));
        let mut inside = clipped(&mut group, plot, 4.0);
        for (at, line) in self.lines.iter().enumerate() {
            let style = styles.get(&line.name);
            let place = |i: usize| {
                let value = line.values.get(i)?.estimate;
                let height = y.position(value).filter(|_| value.is_finite())?;
                Some((axis.position(plot, i, at), height))
            };
            for (first, last) in self.joined() {
                for run in runs((first..last).map(place)) {
                    let path = Element::path(&run, false).map(|path| {
                        let path = path.no_fill().stroke(style.paint, 1.5).dash(style.dash);
                        path.attr("stroke-opacity", "0.55").tooltip(&line.name)
                    });
                    inside.push_some(path.filter(|_| run.len() > 1));
                }
            }
        }
        for (at, line) in self.lines.iter().enumerate() {
            let style = styles.get(&line.name);
            for (i, value) in line.values.iter().enumerate() {
                let Some(height) = y.position(value.estimate) else { continue };
                let x = axis.position(plot, i, at);
                let mut mark = Element::group();
                let mut limits = String::new();
                if let (Some(low), Some(high)) = (y.clamped(value.lower), y.clamped(value.upper)) {
                    mark.push(Element::line(x, low, x, high).stroke(style.paint, 2.2));
                    for end in [low, high] {
                        mark.push(
                            Element::line(x - 3.0, end, x + 3.0, end).stroke(style.paint, 1.5),
                        );
                    }
                    limits = format!(
                        ", {} to {}",
                        text::short(value.lower, 3),
                        text::short(value.upper, 3)
                    );
                }
                mark.push(edged_marker(style.marker, x, height, 3.6, style.paint));
                let item = self.items.get(i).map_or("", String::as_str);
                let value = text::short(value.estimate, 3);
                inside.push(mark.tooltip(format!("{item}, {}: {value}{limits}", line.name)));
            }
        }
        group.push(inside);
        if self.items.is_empty() || self.lines.is_empty() {
            group.push(nothing_to_show(plot));
        }
        group
    }

    fn describe(&self) -> String {
        let of = |line: &ProfileLine| {
            let values = self.items.iter().zip(&line.values);
            let said = values.map(|(item, v)| {
                let limits = [v.lower, v.upper].map(|x| text::short(x, 3));
                format!("{item} {} ({} to {})", text::short(v.estimate, 3), limits[0], limits[1])
            });
            format!("{}: {}.", line.name, said.collect::<Vec<_>>().join(", "))
        };
        let lines: Vec<String> = self.lines.iter().map(of).collect();
        format!("{}. {}", self.y_label, lines.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel() -> ProfilePanel {
        let value =
            |estimate: f64| ProfileValue { estimate, lower: estimate - 0.1, upper: estimate + 0.1 };
        let line = |name: &str, values: &[f64]| ProfileLine {
            name: name.to_owned(),
            values: values.iter().map(|x| value(*x)).collect(),
        };
        ProfilePanel {
            y_label: "probability".to_owned(),
            items: ["smoker = <yes>", "ill = 1", "a = x"].map(str::to_owned).to_vec(),
            lines: vec![
                line("class 1 (60%)", &[0.2, 0.9, f64::NAN]),
                line("class 2 (40%)", &[0.7, 0.3, 0.5]),
            ],
            runs: vec![2, 1],
            over: Some((0.0, 1.0)),
            ..ProfilePanel::default()
        }
    }

    #[test]
    fn every_class_has_a_line_and_an_interval_at_every_item() {
        let svg = ProfileFigure { panels: vec![panel()], ..Default::default() }.render();
        assert!(svg.contains("class 1 (60%)") && svg.contains("smoker = &lt;yes&gt;"));
        // The third item stands alone, and class 1 has no value there.
        assert_eq!(svg.matches("ill = 1, class 2 (40%): 0.300, 0.200 to 0.400").count(), 1);
        assert_eq!(svg.matches("a = x, class").count(), 1);
        assert!(svg.contains("probability. class 1 (60%): smoker"));
    }

    #[test]
    fn an_empty_profile_says_so() {
        let panel = ProfilePanel::default();
        let svg = ProfileFigure { panels: vec![panel], ..Default::default() }.render();
        assert!(svg.contains("nothing to show"));
    }
}

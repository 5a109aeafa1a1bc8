//! The legend: which colour, dash and marker belong to which name.

use super::panel::LegendMark;
use super::svg::Element;
use super::text;
use super::theme::{FONT_FAMILY, LABEL_SIZE, Paint, StyleBook};

const LINE: f64 = 20.0;
const MARK: f64 = 26.0;

/// Draws a legend from a corner downwards and returns the height it took.
pub(super) fn draw(
    body: &mut Element,
    styles: &StyleBook,
    mark: &dyn Fn(&String) -> LegendMark,
    (left, top): (f64, f64),
    room: f64,
) -> f64 {
    let names: Vec<String> = styles
        .entries()
        .iter()
        .map(|(name, _)| text::shorten(name, LABEL_SIZE, room - MARK - 8.0))
        .collect();
    let widths: Vec<f64> =
        names.iter().map(|name| MARK + 7.0 + text::width(name, LABEL_SIZE) + 18.0).collect();
    let places = flow(&widths, room + 18.0);
    let lines = places.last().map_or(0, |(_, line)| line + 1);
    for (i, (name, style)) in styles.entries().iter().enumerate() {
        let (x, line) = places[i];
        let (x, y) = (left + x, top + 12.0 + line as f64 * LINE);
        let (right, middle) = (x + MARK, x + MARK / 2.0);
        match mark(name) {
            LegendMark::Line => {
                let line = Element::line(x, y, right, y).stroke(style.paint, 2.2);
                body.push(line.dash(style.dash));
                body.push(style.marker.draw(middle, y, 3.4, style.paint));
            }
            LegendMark::Marker => {
                body.push(Element::line(x + 3.0, y, right - 3.0, y).stroke(style.paint, 1.6));
                body.push(style.marker.draw(middle, y, 3.8, style.paint));
            }
            LegendMark::Box => {
                let swatch = Element::rect(middle - 7.0, y - 5.0, 14.0, 10.0).fill(style.paint);
                body.push(swatch.attr("fill-opacity", "0.35").stroke(style.paint, 1.4));
            }
        }
        // Where there is room for nothing but the mark, something else names it.
        if names[i] != "…" {
            let name = names[i].clone();
            let label = Element::text(right + 7.0, y + LABEL_SIZE * 0.36, LABEL_SIZE, name);
            body.push(label.fill(Paint::Text));
        }
    }
    lines as f64 * LINE + 8.0
}

/// A legend by itself, for a page in which several figures without one share it.
pub fn render_legend(names: &[&str], room: f64) -> String {
    let styles = StyleBook::new(names.iter().map(|name| (*name).to_owned()));
    let mut body = Element::group();
    let height = draw(&mut body, &styles, &|_| LegendMark::Line, (2.0, 0.0), room - 4.0);
    Element::new("svg")
        .attr("xmlns", "http://www.w3.org/2000/svg")
        .attr("class", "tvb legend")
        .attr("role", "img")
        .num("width", room)
        .num("height", height)
        .attr("viewBox", format!("0 0 {room} {height}"))
        .attr("font-family", FONT_FAMILY)
        .child(Element::new("title").content(format!("Legend: {}", names.join(", "))))
        .child(body)
        .write()
}

/// Places items of the given widths from left to right, starting a new line when one is full.
pub(super) fn flow(widths: &[f64], room: f64) -> Vec<(f64, usize)> {
    let (mut x, mut line) = (0.0, 0);
    widths
        .iter()
        .map(|width| {
            if x > 0.0 && x + width > room {
                x = 0.0;
                line += 1;
            }
            let place = (x, line);
            x += width;
            place
        })
        .collect()
}

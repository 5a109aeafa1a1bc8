//! Small drawings for the cells of a table: VB's interval beside another one, and a claim beside what it is worth.

use super::panel::arrow_head;
use super::scale::Scale;
use super::svg::Element;
use super::text;
use super::theme::{FONT_FAMILY, Paint, TICK_SIZE};
use trustvb::answers::whole_percent;

const PAIR: (f64, f64) = (300.0, 26.0);
const BAR: (f64, f64) = (190.0, 30.0);
const LABEL: f64 = 12.0;

/// VB's own interval, in grey, above the one to use, with the estimate between them. Every row has a scale of its own,
/// with the estimate in the middle.
pub fn render_interval_pair(
    estimate: f64,
    own: Option<(f64, f64)>,
    used: (f64, f64),
    name: &str,
) -> String {
    let ends = own.into_iter().chain([used]).flat_map(|(l, u)| [l, u]);
    let reach = ends.map(|x| (x - estimate).abs()).filter(|r| r.is_finite()).fold(0.0, f64::max);
    let reach = if reach > 0.0 { reach } else { 1.0 };
    let (width, height) = PAIR;
    let mut body = Element::group();
    if estimate.is_finite() {
        let x = Scale::linear(estimate - reach, estimate + reach).onto(8.0, width - 8.0);
        let mut bar = |(lower, upper): (f64, f64), y: f64, paint: Paint, thick: f64| {
            let (Some(left), Some(right)) = (x.clamped(lower), x.clamped(upper)) else { return };
            body.push(Element::line(left, y, right, y).stroke(paint, thick));
            for (at, value, back) in [(left, lower, 6.0), (right, upper, -6.0)] {
                let head = arrow_head(at, y, back, paint).filter(|_| value.is_infinite());
                body.push_some(head);
            }
        };
        if let Some(own) = own {
            bar(own, 8.0, Paint::Axis, 4.0);
        }
        bar(used, 19.0, Paint::Blue, 4.5);
        if let Some(at) = x.position(estimate) {
            body.push(
                Element::circle(at, 13.5, 4.0).fill(Paint::Text).stroke(Paint::Background, 1.0),
            );
        }
    }
    picture((width, height), name, body)
}

/// What an interval claims, as a dashed tick, and what it covers, as a dot: from `least` to 1.
pub fn render_coverage_bar(level: f64, covers: f64, short: bool, least: f64) -> String {
    let (width, height) = BAR;
    let (left, right, middle) = (6.0, width - 6.0, height / 2.0);
    let x = Scale::linear(least, 1.0).onto(left, right);
    let mut body = Element::group();
    body.push(Element::line(left, middle, right, middle).stroke(Paint::Grid, 2.0));
    let shown = whole_percent(covers);
    if let (Some(claim), Some(dot)) = (x.clamped(level), x.clamped(covers)) {
        let (paint, ink) =
            if short { (Paint::Vermillion, Paint::Warn) } else { (Paint::Green, Paint::Text) };
        body.push(Element::line(dot, middle, claim, middle).stroke(paint, 4.0));
        let tick =
            Element::line(claim, middle - 13.0, claim, middle + 13.0).stroke(Paint::Muted, 1.5);
        body.push(tick.dash("3 2"));
        body.push(Element::circle(dot, middle, 5.0).fill(paint));
        // Left of both, or above the line where there is no room.
        let room = text::width(&shown, LABEL) + 12.0;
        let from = dot.min(claim);
        let label = if from - room > 0.0 {
            Element::text(from - 9.0, middle + LABEL * 0.36, LABEL, shown.clone()).anchor("end")
        } else {
            Element::text(
                dot.max(claim.min(dot)) + 9.0,
                middle - 5.0,
                TICK_SIZE + 0.5,
                shown.clone(),
            )
        };
        body.push(label.fill(ink).bold().halo());
    }
    let name = format!("VB claims {:.0}%, covers {shown}", 100.0 * level);
    picture((width, height), &name, body)
}

fn picture((width, height): (f64, f64), name: &str, body: Element) -> String {
    Element::new("svg")
        .attr("xmlns", "http://www.w3.org/2000/svg")
        .attr("class", "tvb strip")
        .attr("role", "img")
        .num("width", width)
        .num("height", height)
        .attr("viewBox", format!("0 0 {width} {height}"))
        .attr("font-family", FONT_FAMILY)
        .child(Element::new("title").content(name))
        .child(body)
        .write()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_numbers_make_a_drawing() {
        for x in [0.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, -1e308, 0.0] {
            for y in [0.7, f64::NAN, f64::INFINITY, -1e308] {
                for text in [
                    render_interval_pair(x, Some((y, x)), (x, y), "<b>"),
                    render_coverage_bar(x, y, true, 0.5),
                ] {
                    roxmltree::Document::parse(&text).unwrap();
                    assert!(!text.contains("\"NaN") && !text.contains("\"inf"), "{text}");
                }
            }
        }
    }

    #[test]
    fn the_drawn_coverage_is_the_number() {
        // From 0.5 to 1 over 178 pixels: 0.69 is 67.6 pixels from the left end, the claim of 0.95 160.2.
        let text = render_coverage_bar(0.95, 0.69, true, 0.5);
        assert!(text.contains("cx=\"73.64\"") && text.contains("x1=\"166.2\""), "{text}");
        assert!(text.contains("VB claims 95%, covers 69%"));
    }
}

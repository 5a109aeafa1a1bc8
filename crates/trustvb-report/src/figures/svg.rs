//! A small writer for SVG: elements as a tree, every text escaped, every number short and finite.

use std::fmt::Write as _;

use super::theme::Paint;

/// An SVG element with its attributes and children.
///
/// Nothing is written before the tree is complete, so the output is well-formed whatever the
/// order in which panels add to it.
#[derive(Clone, Debug)]
pub struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    classes: Vec<String>,
    children: Vec<Node>,
}

#[derive(Clone, Debug)]
enum Node {
    Element(Element),
    Text(String),
}

impl Element {
    /// An element without attributes or children.
    pub fn new(name: &'static str) -> Self {
        Element { name, attributes: Vec::new(), classes: Vec::new(), children: Vec::new() }
    }

    /// A group.
    pub fn group() -> Self {
        Element::new("g")
    }

    /// A straight line.
    pub fn line(x1: f64, y1: f64, x2: f64, y2: f64) -> Self {
        Element::new("line").num("x1", x1).num("y1", y1).num("x2", x2).num("y2", y2)
    }

    /// A rectangle; negative extents are taken as 0.
    pub fn rect(x: f64, y: f64, width: f64, height: f64) -> Self {
        let (width, height) = (width.max(0.0), height.max(0.0));
        Element::new("rect").num("x", x).num("y", y).num("width", width).num("height", height)
    }

    /// A circle.
    pub fn circle(x: f64, y: f64, radius: f64) -> Self {
        Element::new("circle").num("cx", x).num("cy", y).num("r", radius.max(0.0))
    }

    /// A polyline through pixel positions as a path, closed on request; `None` for fewer than two points.
    pub fn path(points: &[(f64, f64)], close: bool) -> Option<Self> {
        if points.len() < 2 {
            return None;
        }
        let mut d = String::new();
        for (i, (x, y)) in points.iter().enumerate() {
            let _ = write!(d, "{}{} {}", if i == 0 { "M" } else { "L" }, number(*x), number(*y));
        }
        if close {
            d.push('Z');
        }
        Some(Element::new("path").attr("d", d))
    }

    /// A text at a position; the content is data and is escaped.
    pub fn text(x: f64, y: f64, size: f64, content: impl Into<String>) -> Self {
        let mut element = Element::new("text").num("x", x).num("y", y).num("font-size", size);
        element.children.push(Node::Text(content.into()));
        element
    }

    /// Adds an attribute.
    pub fn attr(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.attributes.push((name, value.into()));
        self
    }

    /// Adds a numeric attribute.
    pub fn num(self, name: &'static str, value: f64) -> Self {
        self.attr(name, number(value))
    }

    /// Fills with a colour of the theme: the light value as an attribute, and a class for the rest.
    pub fn fill(mut self, paint: Paint) -> Self {
        self.classes.push(format!("f-{}", paint.name()));
        self.attr("fill", paint.light())
    }

    /// Draws the outline in a colour of the theme.
    pub fn stroke(mut self, paint: Paint, width: f64) -> Self {
        self.classes.push(format!("s-{}", paint.name()));
        self.attr("stroke", paint.light()).num("stroke-width", width)
    }

    /// Draws the outline with dashes; an empty pattern is a solid line.
    pub fn dash(self, pattern: &str) -> Self {
        if pattern.is_empty() { self } else { self.attr("stroke-dasharray", pattern) }
    }

    /// Leaves the inside empty.
    pub fn no_fill(self) -> Self {
        self.attr("fill", "none")
    }

    /// Anchors a text at its `start`, `middle` or `end`.
    pub fn anchor(self, anchor: &'static str) -> Self {
        if anchor == "start" { self } else { self.attr("text-anchor", anchor) }
    }

    /// Sets a text in bold.
    pub fn bold(self) -> Self {
        self.attr("font-weight", "700")
    }

    /// Draws a text over a halo of the background, so that lines behind it do not hurt.
    pub fn halo(self) -> Self {
        self.stroke(Paint::Background, 3.0)
            .attr("paint-order", "stroke")
            .attr("stroke-linejoin", "round")
    }

    /// Adds a tooltip, read by browsers and screen readers.
    pub fn tooltip(self, content: impl Into<String>) -> Self {
        self.child(Element::new("title").content(content))
    }

    /// Adds text inside the element.
    pub fn content(mut self, content: impl Into<String>) -> Self {
        self.children.push(Node::Text(content.into()));
        self
    }

    /// Adds a child.
    pub fn child(mut self, child: Element) -> Self {
        self.children.push(Node::Element(child));
        self
    }

    /// Adds a child in place.
    pub fn push(&mut self, child: Element) {
        self.children.push(Node::Element(child));
    }

    /// Adds a child in place if there is one.
    pub fn push_some(&mut self, child: Option<Element>) {
        if let Some(child) = child {
            self.push(child);
        }
    }

    /// The element as text.
    pub fn write(&self) -> String {
        let mut out = String::new();
        self.write_to(&mut out);
        out
    }

    fn write_to(&self, out: &mut String) {
        out.push('<');
        out.push_str(self.name);
        if !self.classes.is_empty() {
            let _ = write!(out, " class=\"{}\"", self.classes.join(" "));
        }
        for (name, value) in &self.attributes {
            let _ = write!(out, " {name}=\"{}\"", escape(value));
        }
        if self.children.is_empty() {
            out.push_str("/>");
        } else {
            out.push('>');
            for child in &self.children {
                match child {
                    Node::Element(element) => element.write_to(out),
                    Node::Text(text) => out.push_str(&escape(text)),
                }
            }
            let _ = write!(out, "</{}>", self.name);
        }
        // A line per shape keeps a saved figure readable and its differences small.
        if !matches!(self.name, "title" | "tspan") {
            out.push('\n');
        }
    }
}

/// Text made safe for element content and attribute values.
///
/// Characters that XML 1.0 forbids become U+FFFD; line breaks and tabs become spaces.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                out.push('\u{fffd}');
            }
            _ => out.push(c),
        }
    }
    out
}

/// A pixel number: at most two decimals, no trailing zeros, never `NaN` or `inf`.
///
/// Positions are kept within a million pixels: renderers lose precision or give up beyond that.
pub(crate) fn number(value: f64) -> String {
    let value = if value.is_nan() { 0.0 } else { value.clamp(-1e6, 1e6) };
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_string() } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_finite() {
        for (value, text) in [
            (1.0, "1"),
            (-0.001, "0"),
            (2.5, "2.5"),
            (1.0 / 3.0, "0.33"),
            (100.0, "100"),
            (f64::NAN, "0"),
            (f64::INFINITY, "1000000"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn hostile_text_is_only_text() {
        let element = Element::text(0.0, 0.0, 12.0, "<script>alert('x')</script>&\u{0}\n")
            .attr("data-name", "\" onload=\"x");
        let text = element.write();
        assert!(!text.contains("<script"));
        let document = roxmltree::Document::parse(&text).unwrap();
        assert_eq!(document.root_element().text(), Some("<script>alert('x')</script>&\u{fffd} "));
        assert_eq!(document.root_element().attribute("data-name"), Some("\" onload=\"x"));
    }

    #[test]
    fn a_path_needs_two_points() {
        assert!(Element::path(&[(1.0, 2.0)], false).is_none());
        let path = Element::path(&[(1.0, 2.0), (3.0, 4.5)], true).unwrap().write();
        assert!(path.contains("M1 2L3 4.5Z"), "{path}");
    }
}

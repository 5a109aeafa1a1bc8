//! How figures look: colour-blind safe colours for light and dark pages, sizes of type, a style per method.

use super::svg::Element;

/// The font stack; PNG export has the first one built in.
pub(crate) const FONT_FAMILY: &str =
    "'Noto Sans', system-ui, 'Segoe UI', Helvetica, Arial, sans-serif";

/// Size of the figure's title, in pixels.
pub(crate) const TITLE_SIZE: f64 = 15.0;
/// Size of a panel's title.
pub(crate) const PANEL_SIZE: f64 = 12.5;
/// Size of axis titles and legends.
pub(crate) const LABEL_SIZE: f64 = 11.5;
/// Size of tick labels and captions.
pub(crate) const TICK_SIZE: f64 = 10.5;

/// A colour of the theme.
///
/// The series colours are those of Okabe and Ito (2008), without their yellow, which is too pale
/// for lines on white, and with Paul Tol's wine; the dark values are the same hues made lighter. Components have
/// colours of their own, after Tol's muted scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// The page.
    Background,
    /// Titles and labels.
    Text,
    /// Secondary text.
    Muted,
    /// Axis lines, ticks and reference lines.
    Axis,
    /// Grid lines.
    Grid,
    /// Alternate rows.
    Band,
    /// Nearly black: the uncalibrated baseline.
    Charcoal,
    /// Okabe–Ito blue.
    Blue,
    /// Okabe–Ito vermillion.
    Vermillion,
    /// Okabe–Ito bluish green.
    Green,
    /// Okabe–Ito reddish purple.
    Purple,
    /// Okabe–Ito orange.
    Orange,
    /// Okabe–Ito sky blue.
    Sky,
    /// Tol's wine, darker than all others but charcoal.
    Wine,
    /// Text that warns.
    Warn,
    /// Of components: teal.
    Teal,
    /// Of components: rose.
    Rose,
    /// Of components: indigo.
    Indigo,
    /// Of components: olive.
    Olive,
    /// Of components: brown.
    Brown,
    /// Of components: slate.
    Slate,
}

const PAINTS: [Paint; 21] = [
    Paint::Background,
    Paint::Text,
    Paint::Muted,
    Paint::Axis,
    Paint::Grid,
    Paint::Band,
    Paint::Charcoal,
    Paint::Blue,
    Paint::Vermillion,
    Paint::Green,
    Paint::Purple,
    Paint::Orange,
    Paint::Sky,
    Paint::Wine,
    Paint::Warn,
    Paint::Teal,
    Paint::Rose,
    Paint::Indigo,
    Paint::Olive,
    Paint::Brown,
    Paint::Slate,
];

impl Paint {
    fn values(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Paint::Background => ("background", "#ffffff", "#15181c"),
            Paint::Text => ("text", "#1f2328", "#e9ebee"),
            Paint::Muted => ("muted", "#59616b", "#a9b1bb"),
            Paint::Axis => ("axis", "#7d858f", "#88919b"),
            Paint::Grid => ("grid", "#e7e9ec", "#2a2f36"),
            Paint::Band => ("band", "#f5f6f8", "#1c2026"),
            Paint::Charcoal => ("charcoal", "#3a3f45", "#d3d7dc"),
            Paint::Blue => ("blue", "#0072b2", "#4495e6"),
            Paint::Vermillion => ("vermillion", "#d55e00", "#ff7f3f"),
            Paint::Green => ("green", "#009e73", "#2cc49a"),
            Paint::Purple => ("purple", "#cc79a7", "#e59ac4"),
            Paint::Orange => ("orange", "#e69f00", "#f2b632"),
            Paint::Sky => ("sky", "#56b4e9", "#93d3f7"),
            Paint::Wine => ("wine", "#882255", "#c95c92"),
            Paint::Warn => ("warn", "#8a3b00", "#ffb48a"),
            Paint::Teal => ("teal", "#2a9d8f", "#53c6b8"),
            Paint::Rose => ("rose", "#c2506b", "#e8899f"),
            Paint::Indigo => ("indigo", "#4b3f9e", "#9a90e8"),
            Paint::Olive => ("olive", "#8a8a1e", "#c0c04e"),
            Paint::Brown => ("brown", "#8c5a3c", "#c99672"),
            Paint::Slate => ("slate", "#51606e", "#a3b2c1"),
        }
    }

    /// The name used in class names and CSS variables.
    pub fn name(self) -> &'static str {
        self.values().0
    }

    /// The colour on a light page, and in every PNG.
    pub fn light(self) -> &'static str {
        self.values().1
    }

    /// The colour on a dark page.
    pub fn dark(self) -> &'static str {
        self.values().2
    }

    /// The colour of the mixture component with this 0-based number. None is a method's (but for one that is rarely
    /// drawn): a component and a method in one figure have nothing to do with each other.
    pub fn component(index: usize) -> Paint {
        const ORDER: [Paint; 6] =
            [Paint::Teal, Paint::Rose, Paint::Indigo, Paint::Olive, Paint::Brown, Paint::Slate];
        ORDER[index % ORDER.len()]
    }
}

/// The style sheet of all figures: put into every saved one, and once into a page with inline ones.
///
/// Shapes carry their light colours as attributes. Renderers that skip at-rules (resvg does) stop
/// there; browsers go on to the CSS variables `--tvb-…`, which follow the reader's colour scheme
/// and which a page may set itself with a rule on `svg.tvb` of higher specificity.
pub fn style_sheet() -> String {
    let variables = |dark: bool| -> String {
        PAINTS
            .iter()
            .map(|p| format!("--tvb-{}:{};", p.name(), if dark { p.dark() } else { p.light() }))
            .collect()
    };
    let classes: String = PAINTS
        .iter()
        .map(|p| {
            let name = p.name();
            format!(
                "svg.tvb .f-{name}{{fill:var(--tvb-{name})}}svg.tvb .s-{name}{{stroke:var(--tvb-{name})}}"
            )
        })
        .collect();
    format!(
        "@media all{{svg.tvb{{{}}}{classes}}}@media screen and (prefers-color-scheme:dark){{svg.tvb{{{}}}}}",
        variables(false),
        variables(true)
    )
}

/// The shape that marks a value of a series, so that colour is not the only difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// A disc.
    Disc,
    /// A square.
    Square,
    /// A diamond.
    Diamond,
    /// A triangle.
    Triangle,
    /// A ring with an empty inside.
    Ring,
}

impl Marker {
    /// The marker centred on a position, of about the given radius.
    pub fn draw(self, x: f64, y: f64, radius: f64, paint: Paint) -> Element {
        let polygon = |corners: &[(f64, f64)]| {
            let points: Vec<_> =
                corners.iter().map(|(dx, dy)| (x + dx * radius, y + dy * radius)).collect();
            Element::path(&points, true).unwrap_or_else(Element::group).fill(paint)
        };
        match self {
            Marker::Disc => Element::circle(x, y, radius).fill(paint),
            Marker::Square => {
                polygon(&[(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)])
            }
            Marker::Diamond => polygon(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
            Marker::Triangle => polygon(&[(0.0, -1.2), (1.15, 0.85), (-1.15, 0.85)]),
            Marker::Ring => Element::circle(x, y, radius * 0.9)
                .fill(Paint::Background)
                .stroke(paint, radius * 0.5),
        }
    }
}

/// How one series is drawn: colour, dashes and marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesStyle {
    /// Its colour.
    pub paint: Paint,
    /// Its dash pattern as in `stroke-dasharray`; empty is solid.
    pub dash: &'static str,
    /// Its marker.
    pub marker: Marker,
}

/// The styles of a figure's series, the same in all of its panels.
///
/// The calibrators have fixed styles, so a method looks the same in every figure; other names
/// are styled in order of appearance.
#[derive(Clone, Debug, Default)]
pub struct StyleBook {
    entries: Vec<(String, SeriesStyle)>,
}

impl StyleBook {
    /// Styles for these names, in this order; repeated names count once.
    pub fn new<I: IntoIterator<Item = String>>(names: I) -> Self {
        let mut book = StyleBook::default();
        let mut others = 0;
        for name in names {
            if book.entries.iter().any(|(known, _)| *known == name) {
                continue;
            }
            let style =
                method_style(&name).or_else(|| component_style(&name)).unwrap_or_else(|| {
                    others += 1;
                    other_style(others - 1)
                });
            book.entries.push((name, style));
        }
        book
    }

    /// The style of a name; a name the book does not know gets the first free style.
    pub fn get(&self, name: &str) -> SeriesStyle {
        self.entries
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, style)| *style)
            .or_else(|| method_style(name))
            .or_else(|| component_style(name))
            .unwrap_or_else(|| other_style(0))
    }

    /// Names and styles in order of appearance.
    pub fn entries(&self) -> &[(String, SeriesStyle)] {
        &self.entries
    }
}

fn method_style(name: &str) -> Option<SeriesStyle> {
    let (paint, dash, marker) = match name {
        "vb" => (Paint::Charcoal, "", Marker::Ring),
        "balanced" => (Paint::Blue, "", Marker::Disc),
        "tempered" => (Paint::Green, "", Marker::Diamond),
        "tvb" => (Paint::Vermillion, "", Marker::Square),
        "gpc" => (Paint::Sky, "8 3", Marker::Diamond),
        "anchored" => (Paint::Purple, "8 3", Marker::Disc),
        "analytic" => (Paint::Green, "3.5 2.5", Marker::Triangle),
        "tvb-sequential" => (Paint::Orange, "8 3 2 3", Marker::Square),
        // A component's colour, of the fifth: the paper's methods need one more than there are.
        "tvb-fresh" => (Paint::Brown, "6 3", Marker::Square),
        "jackknife" => (Paint::Wine, "", Marker::Triangle),
        "bootstrap" => (Paint::Wine, "2 2.5", Marker::Diamond),
        _ => return None,
    };
    Some(SeriesStyle { paint, dash, marker })
}

/// The style of `class 1 (60%)` or `component 2`, by its number.
fn component_style(name: &str) -> Option<SeriesStyle> {
    let mut words = name.split(' ');
    let number = match (words.next()?, words.next()?.parse::<usize>()) {
        ("class" | "component", Ok(number)) if number > 0 => number,
        _ => return None,
    };
    const MARKERS: [Marker; 4] = [Marker::Disc, Marker::Square, Marker::Diamond, Marker::Triangle];
    let marker = MARKERS[(number - 1) % MARKERS.len()];
    Some(SeriesStyle { paint: Paint::component(number - 1), dash: "", marker })
}

fn other_style(index: usize) -> SeriesStyle {
    const PAINTS: [Paint; 7] = [
        Paint::Orange,
        Paint::Purple,
        Paint::Blue,
        Paint::Green,
        Paint::Vermillion,
        Paint::Sky,
        Paint::Charcoal,
    ];
    const DASHES: [&str; 3] = ["", "6 3", "2 2.5"];
    const MARKERS: [Marker; 5] =
        [Marker::Disc, Marker::Triangle, Marker::Square, Marker::Diamond, Marker::Ring];
    SeriesStyle {
        paint: PAINTS[index % PAINTS.len()],
        dash: DASHES[(index / PAINTS.len()) % DASHES.len()],
        marker: MARKERS[index % MARKERS.len()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_keep_their_style_and_others_differ() {
        let book = StyleBook::new(["x", "tvb", "y", "x", "anchored"].map(String::from));
        assert_eq!(book.entries().len(), 4);
        assert_eq!(book.get("tvb").paint, Paint::Vermillion);
        assert_ne!(book.get("x"), book.get("y"));
    }

    /// Boxes have neither dashes nor markers.
    #[test]
    fn methods_of_the_paper_s_studies_differ_by_colour() {
        let names = [
            "vb",
            "balanced",
            "tvb",
            "tvb-sequential",
            "tvb-fresh",
            "gpc",
            "anchored",
            "analytic",
            "bootstrap",
        ];
        let book = StyleBook::new(names.map(String::from));
        for (i, name) in names.iter().enumerate() {
            for other in &names[..i] {
                assert_ne!(book.get(name).paint, book.get(other).paint, "{name} and {other}");
            }
        }
    }

    #[test]
    fn components_have_their_colours_as_series_too() {
        let book = StyleBook::new(["class 1 (60%)", "class 2 (40%)", "vb"].map(String::from));
        assert_eq!(book.get("class 2 (40%)").paint, Paint::component(1));
        assert_ne!(book.get("class 1 (60%)").marker, book.get("class 2 (40%)").marker);
        assert!(component_style("class x").is_none() && component_style("classes").is_none());
    }

    /// Contrast by WCAG 2: (lighter + 0.05) / (darker + 0.05) of relative luminances.
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |colour: &str| {
            let channel = |i: usize| {
                let c = f64::from(u8::from_str_radix(&colour[i..i + 2], 16).unwrap()) / 255.0;
                if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
        };
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        (a / b).max(b / a)
    }

    #[test]
    fn text_and_lines_can_be_told_from_the_page() {
        assert!((contrast("#ffffff", "#000000") - 21.0).abs() < 1e-9);
        let pages = [Paint::Background, Paint::Band];
        for page in pages {
            for ink in [Paint::Text, Paint::Muted, Paint::Warn] {
                assert!(contrast(ink.light(), page.light()) >= 4.5, "{ink:?} on {page:?}");
                assert!(contrast(ink.dark(), page.dark()) >= 4.5, "{ink:?} on {page:?}, dark");
            }
        }
        for k in 0..6 {
            let paint = Paint::component(k);
            assert!(contrast(paint.light(), Paint::Background.light()) >= 3.0, "{paint:?}");
            assert!(contrast(paint.dark(), Paint::Background.dark()) >= 3.0, "{paint:?}, dark");
        }
    }

    #[test]
    fn components_have_no_method_s_colour() {
        let methods = [
            "vb",
            "balanced",
            "tempered",
            "tvb",
            "gpc",
            "anchored",
            "analytic",
            "jackknife",
            "bootstrap",
        ];
        for method in methods {
            let paint = method_style(method).unwrap().paint;
            assert!((0..12).all(|k| Paint::component(k) != paint), "{method}");
        }
    }
}

//! Layout of text without a font engine: widths, wrapping, shortening, keeping labels apart, short numbers.

/// Advance widths of the printable ASCII characters in Noto Sans, in thousandths of the size.
#[rustfmt::skip]
const ASCII: [u16; 95] = [
    259, 269, 408, 645, 571, 831, 731, 225, 299, 299, 550, 571, 268, 321, 268, 372, 571, 571, 571,
    571, 571, 571, 571, 571, 571, 571, 268, 268, 571, 571, 571, 434, 898, 639, 649, 631, 729, 556,
    519, 728, 741, 338, 272, 619, 523, 907, 759, 780, 604, 780, 622, 548, 556, 730, 600, 930, 585,
    565, 571, 329, 372, 329, 571, 443, 580, 561, 615, 479, 615, 563, 344, 615, 618, 257, 257, 534,
    257, 935, 618, 604, 615, 615, 413, 479, 360, 618, 507, 786, 528, 509, 470, 379, 550, 379, 571,
];

/// The width of a text in pixels, in the regular face.
///
/// Noto Sans is wider than most system fonts, so that most browsers that lack it need less room; see [`room`].
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let units: f64 = text
        .chars()
        .map(|c| match c {
            ' '..='~' => f64::from(ASCII[c as usize - 32]),
            '\u{300}'..='\u{36f}' => 0.0,
            '\u{2e80}'..='\u{ffef}' | '\u{1f000}'.. => 1000.0,
            _ => 640.0,
        })
        .sum();
    units * size / 1000.0
}

/// Room for a text of this width (or the size with which its width is found) where a browser that has only a wider font
/// than Noto Sans must not cut it off. Letters of DejaVu Sans, the widest of the usual fonts, need up to 1.12 times as much.
pub(crate) fn room(width: f64) -> f64 {
    1.12 * width
}

/// The size with which the width of bold letters is found, as wide as in the widest of the usual fonts.
pub(crate) fn bold(size: f64) -> f64 {
    1.25 * size
}

/// The text if it fits, otherwise as much of it as fits before an ellipsis.
pub(crate) fn shorten(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_string();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if width(&kept, size) + width("…", size) > room {
            kept.pop();
            break;
        }
    }
    format!("{}…", kept.trim_end())
}

/// The text if it fits, otherwise its beginning and its end around an ellipsis: in names that differ in their last
/// letters, as those of columns do, both ends matter.
pub(crate) fn both_ends(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_string();
    }
    let letters: Vec<char> = text.chars().collect();
    let joined = |kept: usize| {
        let (front, back) = (kept.div_ceil(2), kept / 2);
        let start: String = letters[..front].iter().collect();
        let end: String = letters[letters.len() - back..].iter().collect();
        format!("{}…{}", start.trim_end(), end.trim_start())
    };
    (0..letters.len())
        .rev()
        .map(joined)
        .find(|text| width(text, size) <= room)
        .unwrap_or_else(|| "…".to_string())
}

/// Breaks a text at spaces into lines no wider than `room`, the last of at most `max_lines` shortened.
pub(crate) fn wrap(text: &str, size: f64, room: f64, max_lines: usize) -> Vec<String> {
    lines(text, size, room, max_lines).iter().map(|line| shorten(line, size, room)).collect()
}

/// Breaks a text at spaces into at most `max_lines` lines no wider than `room`, but for long words and what is left for
/// the last line.
pub(crate) fn lines(text: &str, size: f64, room: f64, max_lines: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if lines_full(line, word, size, room) && width(line, size) > 0.0 => {
                lines.push(word.to_string());
            }
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_string()),
        }
    }
    if lines.len() > max_lines {
        let rest = lines.split_off(max_lines.max(1)).join(" ");
        if let Some(last) = lines.last_mut() {
            last.push(' ');
            last.push_str(&rest);
        }
    }
    lines
}

fn lines_full(line: &str, word: &str, size: f64, room: f64) -> bool {
    width(line, size) + width(" ", size) + width(word, size) > room
}

/// Moves positions apart until neighbours are `gap` apart, staying within `low..high` where they fit.
///
/// The order of the positions is kept, and they move no further than they must in a single pass
/// in each direction.
pub(crate) fn spread(positions: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..positions.len()).collect();
    order.sort_by(|&a, &b| positions[a].total_cmp(&positions[b]));
    let mut moved = positions.to_vec();
    let mut floor = low;
    for &i in &order {
        moved[i] = moved[i].max(floor);
        floor = moved[i] + gap;
    }
    let mut ceiling = high;
    for &i in order.iter().rev() {
        moved[i] = moved[i].min(ceiling);
        ceiling = moved[i] - gap;
    }
    moved
}

/// A value for reading: about `digits` significant digits, a real minus sign, never `NaN`.
pub(crate) fn short(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "–".to_string();
    }
    if value == 0.0 {
        return "0".to_string();
    }
    let digits = digits.max(1);
    // Rounding first: 9.996 to three digits is 10.0, which has one decimal fewer.
    let rounded: f64 = format!("{value:.*e}", digits - 1).parse().unwrap_or(value);
    let magnitude = rounded.abs().log10().floor();
    if !(-4.0..6.0).contains(&magnitude) {
        return with_minus(&format!("{value:.*e}", digits - 1));
    }
    let decimals = (digits as f64 - 1.0 - magnitude).max(0.0) as usize;
    with_minus(&format!("{value:.decimals$}"))
}

/// A count with commas between thousands.
pub(crate) fn count(value: usize) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Replaces the hyphen of a formatted number by a minus sign; a rounded-away negative loses it.
pub(crate) fn with_minus(number: &str) -> String {
    let zero = number.chars().all(|c| matches!(c, '-' | '0' | '.'));
    if zero { number.replace('-', "") } else { number.replace('-', "−") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (value, text) in [
            (0.4567, "0.457"),
            (9.996, "10.0"),
            (-1234.5, "−1234"),
            (1.5e-7, "1.50e−7"),
            (f64::NAN, "–"),
            (0.0, "0"),
        ] {
            assert_eq!(short(value, 3), text);
        }
        assert_eq!(count(1_234_567), "1,234,567");
    }

    #[test]
    fn wrapping_and_shortening_keep_to_the_room() {
        let lines = wrap("one two three four five six seven", 10.0, 60.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| width(line, 10.0) <= 60.0), "{lines:?}");
        assert!(lines[1].ends_with('…'));
        assert_eq!(wrap("", 10.0, 60.0, 2), Vec::<String>::new());
        assert_eq!(shorten("abc", 10.0, 100.0), "abc");
        let name = "mu[1,a_rather_long_name_of_a_column_2] - mu[2,x]";
        let short = both_ends(name, 10.0, 90.0);
        assert!(
            width(&short, 10.0) <= 90.0 && short.starts_with("mu[1,") && short.ends_with("mu[2,x]"),
            "{short}"
        );
        assert_eq!(both_ends("abc", 10.0, 100.0), "abc");
        assert_eq!(both_ends("abc", 10.0, 1.0), "…");
    }

    #[test]
    fn labels_move_apart() {
        let moved = spread(&[10.0, 11.0, 50.0], 12.0, 0.0, 52.0);
        assert_eq!(moved, [10.0, 22.0, 50.0]);
        let crowded = spread(&[50.0, 50.5], 12.0, 0.0, 52.0);
        assert_eq!(crowded, [40.0, 52.0]);
    }
}

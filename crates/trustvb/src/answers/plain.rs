//! Quantities in plain words: `mu[1,waiting]` is the mean of waiting in component 1.

/// A quantity in words, if it is a plain one or the difference of two alike; columns may be named or numbered. `called` is
/// what the model calls a component.
pub fn in_plain_words(label: &str, called: &str, coordinates: &[String]) -> Option<String> {
    let text = label.trim();
    if let Some(one) = Element::read(text) {
        return one.words(called, coordinates);
    }
    let (left, right) = split_outside(text, '-')?;
    let (left, right) = (Element::read(left.trim())?, Element::read(right.trim())?);
    left.minus(&right, called, coordinates)
}

/// One element of one quantity: `mu[1,waiting]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element<'a> {
    /// The quantity: `mu`.
    pub name: &'a str,
    /// The component, from 1.
    pub component: usize,
    /// What follows: a column, and what it needs further; a name that is no plain word is in backquotes.
    pub rest: Vec<&'a str>,
}

impl<'a> Element<'a> {
    /// The element that a label is, if it is one.
    pub fn read(text: &'a str) -> Option<Element<'a>> {
        let (name, inside) = text.strip_suffix(']')?.split_once('[')?;
        if !name.chars().all(|c| c.is_ascii_alphabetic()) {
            return None;
        }
        let mut indices = Vec::new();
        let mut rest = inside;
        while let Some((index, after)) = split_outside(rest, ',') {
            indices.push(index.trim());
            rest = after;
        }
        indices.push(rest.trim());
        let bare = |index: &&str| !index.is_empty() && !is_cut(index);
        if !indices.iter().all(bare) {
            return None;
        }
        let component = indices.first()?.parse().ok()?;
        Some(Element { name, component, rest: indices.split_off(1) })
    }

    /// What it is, without its component.
    fn what(&self, coordinates: &[String]) -> Option<String> {
        let column = |i: usize| self.rest.get(i).map(|index| column(index, coordinates));
        match (self.name, self.rest.len()) {
            ("pi", 0) => Some("weight".to_owned()),
            ("mu", 1) => Some(format!("mean of {}", column(0)?)),
            ("sd", 1) => Some(format!("standard deviation of {}", column(0)?)),
            ("rate", 1) => Some(format!("rate of {}", column(0)?)),
            ("beta", 1) => Some(format!("coefficient of {}", column(0)?)),
            ("sigma", 2) if column(0) == column(1) => Some(format!("variance of {}", column(0)?)),
            ("sigma", 2) => Some(format!("covariance of {} and {}", column(0)?, column(1)?)),
            ("cor", 2) => Some(format!("correlation of {} and {}", column(0)?, column(1)?)),
            ("p", 2) => {
                Some(format!("probability of {} = {}", column(0)?, bare_name(self.rest[1])))
            }
            ("tau", 0) => Some("precision of the coefficients' prior".to_owned()),
            ("noise", 0) => Some("precision of the noise".to_owned()),
            _ => None,
        }
    }

    fn words(&self, called: &str, coordinates: &[String]) -> Option<String> {
        let joint = if self.name == "pi" { "of" } else { "in" };
        Some(format!("{} {joint} {called} {}", self.what(coordinates)?, self.component))
    }

    fn minus(&self, other: &Element<'_>, called: &str, coordinates: &[String]) -> Option<String> {
        let what = self.what(coordinates)?;
        if what != other.what(coordinates)? || self.component == other.component {
            return None;
        }
        Some(format!("{what}, {called} {} minus {}", self.component, other.component))
    }
}

/// Whether a bracket closes or opens in it: then it was no index.
fn is_cut(index: &str) -> bool {
    !is_quoted(index) && index.contains(['[', ']', '`'])
}

fn is_quoted(index: &str) -> bool {
    index.len() > 1 && index.starts_with('`') && index.ends_with('`')
}

fn bare_name(index: &str) -> String {
    if is_quoted(index) { index[1..index.len() - 1].to_owned() } else { index.to_owned() }
}

/// A column by its name or its 1-based number.
fn column(index: &str, coordinates: &[String]) -> String {
    let numbered = index.parse::<usize>().ok().and_then(|j| coordinates.get(j.wrapping_sub(1)));
    numbered.cloned().unwrap_or_else(|| bare_name(index))
}

/// The text before and after the first `at` that is in no brackets and no quotes.
fn split_outside(text: &str, at: char) -> Option<(&str, &str)> {
    let (mut depth, mut quoted) = (0, false);
    for (i, c) in text.char_indices() {
        match c {
            '`' => quoted = !quoted,
            _ if quoted => {}
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            c if c == at && depth == 0 && i > 0 => {
                return Some((&text[..i], &text[i + c.len_utf8()..]));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::in_plain_words;

    #[test]
    fn quantities_have_words() {
        let names = ["eruptions".to_owned(), "a, b".to_owned()];
        for (label, words) in [
            ("pi[1]", "weight of component 1"),
            ("mu[2,eruptions]", "mean of eruptions in component 2"),
            ("mu[2,1]", "mean of eruptions in component 2"),
            ("mu[1,`a, b`]", "mean of a, b in component 1"),
            ("sigma[1,1,1]", "variance of eruptions in component 1"),
            ("cor[1,1,2]", "correlation of eruptions and a, b in component 1"),
            ("beta[3,x]", "coefficient of x in component 3"),
            ("mu[1,x] - mu[2,x]", "mean of x, component 1 minus 2"),
            ("pi[1]-pi[2]", "weight, component 1 minus 2"),
        ] {
            let found = in_plain_words(label, "component", &names);
            assert_eq!(found.as_deref(), Some(words), "{label}");
        }
        for label in
            ["mu[1,]", "log(pi[1])", "mu[1,x] - mu[2,y]", "pi[1] + pi[2]", "x", "", "-pi[1]", "a]["]
        {
            assert_eq!(in_plain_words(label, "class", &names), None, "{label}");
        }
    }
}

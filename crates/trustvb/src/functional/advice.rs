//! What to say about names that are not known, and about calls that do not fit.

use super::error::{FunctionalError, list, nearest};
use super::evaluate::Function;
use super::lexer::Span;
use super::parse::Tree;
use super::quantity::{names, quantities_in};
use super::resolve::Resolver;
use crate::model::quantities;

impl Resolver<'_> {
    pub(super) fn arguments(
        &self,
        name: &str,
        wanted: &str,
        given: usize,
        tree: &Tree,
    ) -> FunctionalError {
        let hint = match name {
            "sum" => Some("sum takes a vector, as in sum(mu[1,]); add numbers with +".to_owned()),
            "mean" => Some("mean takes a vector, as in mean(mu[1,])".to_owned()),
            _ => None,
        };
        self.error(&tree.span, format!("{name} takes {wanted}, but {given} are given"), hint)
    }

    pub(super) fn unknown_function(
        &self,
        name: &str,
        span: &Span,
        arguments: &[Tree],
    ) -> FunctionalError {
        if let Some(quantity) = quantities().find(|q| q.name == name) {
            let inside: Vec<&str> =
                arguments.iter().map(|a| self.text.get(a.span.clone()).unwrap_or("")).collect();
            let hint = if inside.is_empty() {
                format!("indices are written in [ ]; did you mean {}[]?", quantity.name)
            } else {
                format!(
                    "indices are written in [ ]; did you mean {}[{}]?",
                    quantity.name,
                    inside.join(",")
                )
            };
            return self.error(span, format!("`{name}` is not a function"), Some(hint));
        }
        let known = function_names();
        let alias = match name.to_lowercase().as_str() {
            "ln" => Some("log"),
            "sigmoid" | "plogis" | "inv_logit" | "invlogit" | "logistic" => Some("expit"),
            "qlogis" => Some("logit"),
            "average" | "avg" => Some("mean"),
            _ => nearest(name, known.iter().copied()),
        };
        let listed = format!("the functions are {}", list(&known));
        let hint = match alias {
            Some(alias) => format!("did you mean `{alias}`? {listed}"),
            None => listed,
        };
        self.error(span, format!("unknown function `{name}`"), Some(hint))
    }

    pub(super) fn unknown_name(&self, name: &str, span: &Span, elsewhere: bool) -> FunctionalError {
        let here = names(self.layout);
        let listed = format!("its quantities are {}", list(&here));
        if elsewhere {
            let message = format!("this posterior has no `{name}`");
            return self.error(span, message, Some(listed));
        }
        if function_names().contains(&name) {
            let hint = format!("write {name}(…) with its argument in parentheses");
            return self.error(span, format!("`{name}` is a function"), Some(hint));
        }
        let hint = match self
            .missing_brackets(name)
            .or_else(|| nearest(name, here.iter().copied()).map(|near| format!("`{near}`")))
        {
            Some(near) => format!("did you mean {near}? {listed}"),
            None => listed,
        };
        self.error(span, format!("unknown quantity `{name}`"), Some(hint))
    }

    /// `mu12` and `mu_1_2` for `mu[1,2]`.
    fn missing_brackets(&self, name: &str) -> Option<String> {
        quantities_in(self.layout).find_map(|q| {
            let rest = name.strip_prefix(q.name)?;
            let separated: Vec<&str> = rest.split(['_', '.']).filter(|s| !s.is_empty()).collect();
            let all_digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
            if !separated.iter().all(|s| all_digits(s)) {
                return None;
            }
            let joined = separated.concat();
            if separated.len() == q.axes().len() {
                Some(format!("{}[{}]", q.name, separated.join(",")))
            } else if joined.len() == q.axes().len() {
                let digits: Vec<&str> = joined.split("").filter(|s| !s.is_empty()).collect();
                Some(format!("{}[{}]", q.name, digits.join(",")))
            } else {
                None
            }
        })
    }
}

/// The names of all functions.
pub(super) fn function_names() -> Vec<&'static str> {
    Function::ALL.iter().map(|(name, _)| *name).chain(["min", "max", "sum", "mean"]).collect()
}

/// A coordinate's name as it must be typed: in backticks if it has other characters than a name may have.
pub(super) fn quote(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    match name {
        _ if plain => name.to_owned(),
        _ if name.contains('`') => format!("\"{name}\""),
        _ => format!("`{name}`"),
    }
}

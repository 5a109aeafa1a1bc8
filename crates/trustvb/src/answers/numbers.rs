//! Numbers as people and programs read them.

use serde_json::Value;

/// A number for JSON; what is not finite has no JSON and becomes null.
pub fn number(x: f64) -> Value {
    serde_json::Number::from_f64(x).map_or(Value::Null, Value::Number)
}

/// `x` with the decimals that an uncertainty of this size deserves: three digits of the size.
pub fn deserved(x: f64, size: f64) -> String {
    if !x.is_finite() {
        return "–".to_owned();
    }
    if !(size > 0.0 && size.is_finite()) {
        return significant(x, 6);
    }
    let decimals = 2 - size.log10().floor() as i32;
    match decimals {
        ..=0 if x.abs() < 1e15 => format!("{x:.0}"),
        1..=12 => format!("{x:.*}", decimals as usize),
        _ => format!("{x:.6e}"),
    }
}

/// `x` to so many significant digits.
pub fn significant(x: f64, digits: i32) -> String {
    if x == 0.0 || !x.is_finite() {
        return if x == 0.0 { "0".to_owned() } else { "–".to_owned() };
    }
    let decimals = digits - 1 - x.abs().log10().floor() as i32;
    match decimals {
        ..=0 if x.abs() < 1e15 => format!("{x:.0}"),
        1..=12 => format!("{x:.*}", decimals as usize),
        _ => format!("{x:.*e}", (digits - 1).max(0) as usize),
    }
}

/// A level or coverage as a percentage, without decimals that say nothing.
pub fn percent(share: f64) -> String {
    let text = format!("{:.1}", 100.0 * share);
    format!("{}%", text.strip_suffix(".0").unwrap_or(&text))
}

/// A coverage without decimals, which an estimate does not deserve; never rounded to certainty.
pub fn whole_percent(share: f64) -> String {
    match share {
        c if c > 0.995 && c < 1.0 => ">99%".to_owned(),
        c if c < 0.005 && c > 0.0 => "<1%".to_owned(),
        c => format!("{:.0}%", 100.0 * c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages() {
        assert_eq!(percent(0.95), "95%");
        assert_eq!(percent(0.975), "97.5%");
        let shares = [0.0, 0.001, 0.687, 0.998, 1.0].map(whole_percent);
        assert_eq!(shares, ["0%", "<1%", "69%", ">99%", "100%"]);
    }
}

//! Which columns of numbers look like codes: two values, or a few small whole numbers that come again and again.

/// What the different values of a column say of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Look {
    /// One value or none: nothing can be said.
    Constant,
    /// Two values, in order: yes and no, whatever they are called.
    Pair([f64; 2]),
    /// So many small whole numbers, from a least to a largest.
    Codes(usize, [f64; 2]),
    /// Numbers.
    Numbers,
}

/// The different values of a column, for as long as they may be codes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distinct {
    values: Vec<f64>,
    n: usize,
}

impl Distinct {
    /// Those of some values; NaN is none.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Distinct {
        let mut distinct = Distinct::default();
        distinct.extend(values);
        distinct
    }

    /// Looks at more values of the same column.
    pub(crate) fn extend(&mut self, values: impl IntoIterator<Item = f64>) {
        for x in values.into_iter().filter(|x| !x.is_nan()) {
            self.n += 1;
            if self.values.len() > MOST_CODES {
                continue;
            }
            if let Err(at) =
                self.values.binary_search_by(|known| (known + 0.0).total_cmp(&(x + 0.0)))
            {
                self.values.insert(at, x + 0.0);
            }
        }
    }

    /// What they look like.
    pub(crate) fn look(&self) -> Look {
        let small = |x: &f64| *x == x.trunc() && (LEAST_CODE..=LARGEST_CODE).contains(x);
        match self.values.as_slice() {
            [] | [_] => Look::Constant,
            [a, b] => Look::Pair([*a, *b]),
            [a, .., b] if self.values.len() <= MOST_CODES => {
                let again = self.n >= ROWS_EACH * self.values.len();
                match again && self.values.iter().all(small) {
                    true => Look::Codes(self.values.len(), [*a, *b]),
                    false => Look::Numbers,
                }
            }
            _ => Look::Numbers,
        }
    }

    /// Whether there are rows enough to say that so few values are no accident.
    pub(crate) fn come_again(&self) -> bool {
        self.n >= ROWS_EACH * self.values.len()
    }
}

/// The answers of a scale with more steps are nearly numbers (`scripts/codes.py`).
const MOST_CODES: usize = 7;

/// Codes count from 0 or 1, or from -3 to 3; years and measurements do not.
const LEAST_CODE: f64 = -3.0;
const LARGEST_CODE: f64 = 10.0;

/// With fewer rows for each value, few values may be few rows.
const ROWS_EACH: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn look(values: &[f64], times: usize) -> Look {
        Distinct::of(values.iter().cycle().take(values.len() * times).copied()).look()
    }

    #[test]
    fn codes_are_told_from_numbers() {
        assert_eq!(look(&[1.0, 2.0], 3), Look::Pair([1.0, 2.0]));
        assert_eq!(look(&[0.5, f64::NAN, -7.0], 3), Look::Pair([-7.0, 0.5]));
        assert_eq!(look(&[0.0, -0.0], 9), Look::Constant);
        assert_eq!(look(&[3.0, 1.0, 5.0, 2.0, 4.0], 5), Look::Codes(5, [1.0, 5.0]));
        // Too few rows, too many values, years, a half, wide whole numbers.
        assert_eq!(look(&[3.0, 1.0, 5.0, 2.0, 4.0], 4), Look::Numbers);
        assert_eq!(look(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 50), Look::Numbers);
        assert_eq!(look(&[2019.0, 2020.0, 2021.0], 50), Look::Numbers);
        assert_eq!(look(&[1.0, 1.5, 2.0], 50), Look::Numbers);
        assert_eq!(look(&[0.0, 10.0, 20.0], 50), Look::Numbers);
    }
}

//! Which numbers of a fit a functional looks at: a table larger than memory keeps no others.

use super::Part;
use super::quantity::AtomKind;
use crate::linalg::packed_index;
use crate::posterior::Layout;
use std::collections::{BTreeMap, BTreeSet};

impl Part {
    /// The places, in a fit's flat parameters, of all that its estimate, its law and its draws use.
    ///
    /// An exact law needs the entries of a mean or a covariance that are in the functional; draws need whole copies of
    /// blocks, and code everything.
    pub(crate) fn columns(&self, layout: &Layout) -> BTreeSet<usize> {
        let Some(node) = self.expression() else { return (0..layout.len()).collect() };
        let mut columns = BTreeSet::new();
        // Rows of means or coefficients in it, by where their matrix begins, of which the law has all pairs.
        let mut rows: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let is_exact = self.exact().is_some();
        node.atoms(&mut |atom| {
            let at = atom.offset;
            match atom.kind {
                _ if !is_exact => columns.extend(copy_around(layout, at)),
                AtomKind::Weight => columns.extend(at..at + atom.dim),
                AtomKind::Precision => columns.extend(at..at + 2),
                AtomKind::Mean => {
                    columns.extend([at, at + 1, at + 2 + atom.i]);
                    rows.entry(at + 2 + atom.dim).or_default().insert(atom.i);
                }
                AtomKind::Covariance => {
                    columns.extend([at + 1, at + 2 + atom.dim + packed_index(atom.i, atom.j)]);
                }
                AtomKind::Coefficient => {
                    columns.insert(at + atom.i);
                    rows.entry(at + atom.dim).or_default().insert(atom.i);
                }
            }
        });
        for (matrix, rows) in &rows {
            for &i in rows {
                columns.extend(rows.iter().map(|&j| matrix + packed_index(i.max(j), i.min(j))));
            }
        }
        columns
    }
}

/// The copy of a block that holds a place.
fn copy_around(layout: &Layout, at: usize) -> std::ops::Range<usize> {
    for block in &layout.blocks {
        let size = block.family.parameters(block.dim);
        if (block.offset..block.offset + block.copies * size).contains(&at) {
            let start = block.offset + (at - block.offset) / size * size;
            return start..start + size;
        }
    }
    0..layout.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::Law;
    use crate::functional::Functional;
    use crate::posterior::{Block, Family};
    use std::sync::Arc;

    /// Weights, two Gaussians of three columns, coefficients and a precision for each.
    fn layout() -> Arc<Layout> {
        let blocks = vec![
            Block::weights("pi", 2),
            Block::centre("mu_lambda", Family::NormalWishart, 2, 3),
            Block::component("beta", Family::MvNormal, 2, 3),
            Block::component("tau", Family::Gamma, 2, 1),
        ];
        Arc::new(Layout::new(2, ["a", "b", "c"].map(str::to_owned).to_vec(), blocks))
    }

    fn parameters() -> Vec<f64> {
        let matrix = [2.0, 0.3, 1.5, -0.2, 0.1, 1.1];
        let gaussian =
            |m: f64| [&[40.0, 45.0, m, -m, 2.0 * m][..], &matrix.map(|x| 40.0 * x)].concat();
        let coefficients = |m: f64| [&[m, 2.0, -1.0][..], &matrix].concat();
        [
            &[30.0, 12.0][..],
            &gaussian(1.0),
            &gaussian(3.0),
            &coefficients(0.5),
            &coefficients(0.7),
            &[3.0, 2.0, 5.0, 4.0],
        ]
        .concat()
    }

    #[test]
    fn what_is_not_listed_is_not_looked_at() {
        let (layout, all) = (layout(), parameters());
        assert_eq!(layout.len(), all.len());
        for (text, most) in [
            ("pi[1]", 2),
            ("logit(pi[2])", 2),
            ("mu[1,2]", 4),
            ("mu[2,1] - 2*mu[2,3]", 7),
            ("mu[1,1] - mu[2,1]", 22),
            ("sigma[1,2,2]", 2),
            ("sd[2,3]", 2),
            ("cor[1,1,2]", 11),
            ("beta[1,1]", 2),
            ("sum(beta[,2])", 4),
            ("sum(beta)", 18),
            ("tau[2]", 2),
            ("tau[1]*pi[1]", 4),
            ("exp(mu[1,1])/pi[2]", 13),
        ] {
            let functional = Functional::parse(text, &layout).unwrap();
            let part = &functional.parts()[0];
            let columns = part.columns(&layout);
            assert!(columns.len() <= most, "{text}: {columns:?}");
            let seen: Vec<f64> = (0..all.len())
                .map(|i| if columns.contains(&i) { all[i] } else { f64::NAN })
                .collect();
            let law = Law::new(part, layout.clone(), false, 7, 50);
            let bits = |x: &[f64]| {
                let (lower, upper, _) = law.interval(x, 0.9);
                [part.plug_in(x), lower, upper, law.place(x, 0.4)].map(f64::to_bits)
            };
            assert!(part.plug_in(&all).is_finite(), "{text}");
            assert_eq!(bits(&all), bits(&seen), "{text}");
        }
    }
}

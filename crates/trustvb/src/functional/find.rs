//! Recognises the functionals whose law under the posterior is known exactly.

use super::evaluate::Function;
use super::exact::{Base, ExactLaw, Step};
use super::quantity::{Atom, AtomKind};
use super::simplify::{Form, Term};

/// How far a coefficient matrix may be from rank one, relative to its entries.
const RANK_TOLERANCE: f64 = 1e-10;

/// The exact law of a form, if it has a known one.
pub(super) fn find(form: &Form) -> Option<ExactLaw> {
    let mut steps = Vec::new();
    let (base, _) = chain(form, &mut steps)?;
    Some(ExactLaw::new(base, steps))
}

/// An interval that holds all values of something.
type Support = (f64, f64);

/// Peels monotone functions off `form` until a base law is left. Returns that law and the support of
/// the whole; `steps` lead from the one to the other.
fn chain(form: &Form, steps: &mut Vec<Step>) -> Option<(Base, Support)> {
    if let Some(value) = form.value() {
        return value.is_finite().then_some((Base::Constant(value), (value, value)));
    }
    if form.terms.is_empty() {
        let (base, scale, support) = linear(&form.atoms)?;
        return Some((base, affine(scale, form.constant, support, steps)?));
    }
    let [(scale, term)] = form.terms.as_slice() else { return None };
    if !form.atoms.is_empty() {
        return None;
    }
    let (base, support) = match term {
        Term::Apply(function, inner) => {
            let (base, support) = chain(inner, steps)?;
            (base, apply(*function, support, steps)?)
        }
        Term::Power(inner, c) => {
            let (base, support) = chain(inner, steps)?;
            (base, raise(*c, support, steps)?)
        }
        Term::Product(_) | Term::General(..) | Term::Least(_) | Term::Greatest(_) => return None,
    };
    Some((base, affine(*scale, form.constant, support, steps)?))
}

/// `a·x + c`; the identity leaves no step.
fn affine(a: f64, c: f64, support: Support, steps: &mut Vec<Step>) -> Option<Support> {
    if !a.is_finite() || a == 0.0 || !c.is_finite() {
        return None;
    }
    // Two in a row are one.
    let step = match steps.pop_if(|step| matches!(step, Step::Affine { .. })) {
        Some(Step::Affine { a: a0, c: c0 }) => Step::Affine { a: a * a0, c: a * c0 + c },
        _ => Step::Affine { a, c },
    };
    if step != (Step::Affine { a: 1.0, c: 0.0 }) {
        steps.push(step);
    }
    // No negative zero among the ends.
    let (low, high) = (a * support.0 + c + 0.0, a * support.1 + c + 0.0);
    Some((low.min(high), low.max(high)))
}

fn apply(function: Function, (low, high): Support, steps: &mut Vec<Step>) -> Option<Support> {
    let step = match function {
        Function::Exp => Step::Exp,
        Function::Expit => Step::Expit,
        Function::Log if low >= 0.0 => Step::Log,
        Function::Logit if low >= 0.0 && high <= 1.0 => Step::Logit,
        _ => return None,
    };
    steps.push(step);
    Some((step.apply(low), step.apply(high)))
}

/// `x^c` where it is monotone: for `x ≥ 0`, for `x ≤ 0` if `c` is whole, and everywhere if `c` is odd
/// and positive.
fn raise(c: f64, (low, high): Support, steps: &mut Vec<Step>) -> Option<Support> {
    let whole = c == c.trunc();
    let odd = whole && c % 2.0 != 0.0;
    if !c.is_finite() || c == 0.0 {
        return None;
    }
    if low >= 0.0 {
        let step = Step::Power(c);
        steps.push(step);
        let (a, b) = (step.apply(low), step.apply(high));
        Some((a.min(b), a.max(b)))
    } else if high <= 0.0 && whole {
        let support = affine(-1.0, 0.0, (low, high), steps)?;
        let support = raise(c, support, steps)?;
        if odd { affine(-1.0, 0.0, support, steps) } else { Some(support) }
    } else if odd && c > 0.0 {
        let step = Step::OddPower(c);
        steps.push(step);
        Some((step.apply(low), step.apply(high)))
    } else {
        None
    }
}

/// The law of `Σ c_i·element_i` as a scale times a base law, and the support of the latter.
fn linear(atoms: &[(Atom, f64)]) -> Option<(Base, f64, Support)> {
    const REAL: Support = (f64::NEG_INFINITY, f64::INFINITY);
    const HALF: Support = (0.0, f64::INFINITY);
    let (first, scale) = *atoms.first()?;
    if atoms.iter().any(|(a, c)| a.kind != first.kind || !c.is_finite()) {
        return None;
    }
    let same_copy = atoms.iter().all(|(a, _)| a.offset == first.offset);
    match first.kind {
        // Simplification leaves one coefficient wherever there can be only one.
        AtomKind::Weight => (same_copy && atoms.iter().all(|(_, c)| *c == scale)).then(|| {
            let mut inside = vec![false; first.dim];
            atoms.iter().for_each(|(a, _)| inside[a.i] = true);
            (Base::Weights { offset: first.offset, inside }, scale, (0.0, 1.0))
        }),
        AtomKind::Mean => same_copy.then(|| {
            let coefficients = dense(first.dim, atoms);
            (Base::mean(first.component, first.offset, coefficients), 1.0, REAL)
        }),
        AtomKind::Covariance => {
            let (c, sign, size) = rank_one(atoms)?;
            Some((Base::variance(first.offset, c), sign * size, HALF))
        }
        AtomKind::Coefficient => {
            let copies = atoms.chunk_by(|(a, _), (b, _)| a.component == b.component);
            let forms = copies.map(|copy| (copy[0].0.offset, dense(first.dim, copy)));
            Some((Base::coefficients(forms), 1.0, REAL))
        }
        AtomKind::Precision => {
            (atoms.len() == 1).then_some((Base::Precision { offset: first.offset }, scale, HALF))
        }
    }
}

fn dense(dim: usize, atoms: &[(Atom, f64)]) -> Vec<f64> {
    let mut c = vec![0.0; dim];
    atoms.iter().for_each(|(a, x)| c[a.i] = *x);
    c
}

/// If `Σ a_ij Σ_k,ij` is `±size·cᵀΣ_k c`: the vector `c`, the sign and the size. A single diagonal
/// element keeps its coefficient as the size, so that a variance is recognised whatever its multiple.
pub(super) fn rank_one(atoms: &[(Atom, f64)]) -> Option<(Vec<f64>, f64, f64)> {
    let (first, _) = *atoms.first()?;
    let dim = first.dim;
    // A matrix of rank one has no more elements than its triangle, which bounds the work below.
    let fits = |(a, x): &(Atom, f64)| {
        a.kind == AtomKind::Covariance && a.offset == first.offset && x.is_finite()
    };
    if !atoms.iter().all(fits) {
        return None;
    }
    let mut c = vec![0.0; dim];
    let mut sign = 0.0;
    for (a, x) in atoms.iter().filter(|(a, _)| a.i == a.j) {
        if sign != 0.0 && x.signum() != sign {
            return None;
        }
        sign = x.signum();
        c[a.i] = x.abs().sqrt();
    }
    let size = c.iter().fold(0.0f64, |m, x| m.max(x * x));
    if size == 0.0 {
        return None;
    }
    // Signs relative to the first coordinate that takes part.
    let lead = c.iter().position(|&x| x > 0.0)?;
    let involved = c.iter().filter(|&&x| x > 0.0).count();
    if atoms.len() != involved * (involved + 1) / 2 {
        return None;
    }
    for (a, x) in atoms.iter().filter(|(a, _)| a.i != a.j) {
        if a.j == lead || a.i == lead {
            let other = if a.j == lead { a.i } else { a.j };
            if x * sign < 0.0 {
                c[other] = -c[other].abs();
            }
        }
    }
    for (a, x) in atoms.iter().filter(|(a, _)| a.i != a.j) {
        let expected = 2.0 * sign * c[a.i] * c[a.j];
        if c[a.i] == 0.0 || c[a.j] == 0.0 || (x - expected).abs() > RANK_TOLERANCE * x.abs() {
            return None;
        }
    }
    c.iter_mut().for_each(|x| *x /= size.sqrt());
    Some((c, sign, size))
}

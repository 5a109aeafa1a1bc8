//! Brings a scalar expression to a canonical form in which exact laws can be recognised.
//!
//! The form is `c0 + Σ c_i·element_i + Σ d_j·term_j`: everything linear is collected, and what is not
//! linear is a term over forms of its own. It serves only to find laws and ranges; values are computed
//! from the expression as the user wrote it.

use super::evaluate::{Function, Node, power};
use super::quantity::{Atom, AtomKind};
use std::collections::BTreeMap;

/// Beyond this many terms no equal ones are looked for, which would take quadratic time.
const MAX_MERGED: usize = 256;
/// Coefficients that differ by less than this, relative to their size, are the same.
const SAME: f64 = 1e-12;

/// `constant + Σ atoms + Σ terms`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Form {
    pub(super) constant: f64,
    /// Sorted; no coefficient is 0.
    pub(super) atoms: Vec<(Atom, f64)>,
    pub(super) terms: Vec<(f64, Term)>,
}

/// Something that is not linear.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Term {
    /// `log`, `exp`, `abs`, `logit` or `expit`; roots are powers.
    Apply(Function, Box<Form>),
    Power(Box<Form>, f64),
    Product(Vec<Form>),
    /// An exponent that is not constant.
    General(Box<Form>, Box<Form>),
    Least(Vec<Form>),
    Greatest(Vec<Form>),
}

impl Form {
    /// Zero is positive, here and in every form: 1/-0 would be an end of the wrong sign.
    fn constant(x: f64) -> Form {
        Form { constant: x + 0.0, ..Form::default() }
    }

    fn term(term: Term) -> Form {
        Form { terms: vec![(1.0, term)], ..Form::default() }
    }

    /// Its value, if it has only one.
    pub(super) fn value(&self) -> Option<f64> {
        (self.atoms.is_empty() && self.terms.is_empty()).then_some(self.constant)
    }

    /// The coefficient and the term, if that is all there is.
    fn single_term(&self) -> Option<(f64, &Term)> {
        match self.terms.as_slice() {
            [(c, term)] if self.constant == 0.0 && self.atoms.is_empty() => Some((*c, term)),
            _ => None,
        }
    }

    fn scaled(mut self, by: f64) -> Form {
        if by == 0.0 {
            return Form::constant(0.0);
        }
        self.constant = self.constant * by + 0.0;
        self.atoms.iter_mut().for_each(|(_, c)| *c *= by);
        self.terms.iter_mut().for_each(|(c, _)| *c *= by);
        if by < 0.0 {
            self.reduce_weights();
        }
        self
    }

    /// Adds `by · other`.
    fn add(&mut self, other: Form, by: f64) {
        self.constant += by * other.constant;
        for (atom, c) in other.atoms {
            match self.atoms.binary_search_by(|(held, _)| held.cmp(&atom)) {
                Ok(at) => self.atoms[at].1 = cancel(self.atoms[at].1, by * c),
                Err(at) => self.atoms.insert(at, (atom, by * c)),
            }
        }
        for (c, term) in other.terms {
            let few = self.terms.len() <= MAX_MERGED;
            match self.terms.iter_mut().find(|(_, held)| few && *held == term) {
                Some((held, _)) => *held = cancel(*held, by * c),
                None => self.terms.push((by * c, term)),
            }
        }
    }

    fn cleaned(mut self) -> Form {
        self.atoms.retain(|(_, c)| *c != 0.0);
        self.terms.retain(|(c, _)| *c != 0.0);
        self.reduce_weights();
        self
    }

    /// Uses `Σ_k π_k = 1`, for every Dirichlet that takes part.
    fn reduce_weights(&mut self) {
        let weights = self.atoms.iter().filter(|(a, _)| a.kind == AtomKind::Weight);
        let mut copies: Vec<Atom> = weights.map(|(a, _)| *a).collect();
        copies.sort_unstable_by_key(|a| a.offset);
        copies.dedup_by_key(|a| a.offset);
        for first in copies {
            self.reduce_dirichlet(first);
        }
    }

    /// Coefficients of all entries of a Dirichlet that are equal become a constant; two distinct values become one
    /// positive coefficient of a sum of entries.
    fn reduce_dirichlet(&mut self, first: Atom) {
        let own = |a: &Atom| a.kind == AtomKind::Weight && a.offset == first.offset;
        let mut coefficients = vec![0.0; first.dim];
        for (atom, c) in self.atoms.iter().filter(|(a, _)| own(a)) {
            coefficients[atom.i] = *c;
        }
        let (low, high) = coefficients
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &c| (c.min(l), c.max(h)));
        let near = |x: f64, y: f64| (x - y).abs() <= SAME * low.abs().max(high.abs());
        if !coefficients.iter().all(|&c| near(c, low) || near(c, high)) {
            return;
        }
        self.atoms.retain(|(a, _)| !own(a));
        self.constant = cancel(self.constant, low);
        if near(low, high) {
            return;
        }
        for (i, &c) in coefficients.iter().enumerate() {
            if near(c, high) {
                let atom = Atom { i, slot: first.slot - first.i + i, ..first };
                let at = self.atoms.partition_point(|(held, _)| *held < atom);
                self.atoms.insert(at, (atom, high - low));
            }
        }
    }

    /// The smallest interval known to hold all its values.
    pub(super) fn bounds(&self) -> (f64, f64) {
        let mut sum = (self.constant, self.constant);
        // Of each Dirichlet: least and largest coefficient, how many there are, and of how many entries.
        let mut weights = BTreeMap::<usize, (f64, f64, usize, usize)>::new();
        let mut variance = None;
        for (atom, c) in &self.atoms {
            match atom.kind {
                AtomKind::Weight => {
                    let none = (f64::INFINITY, f64::NEG_INFINITY, 0, atom.dim);
                    let held = weights.entry(atom.offset).or_insert(none);
                    *held = (held.0.min(*c), held.1.max(*c), held.2 + 1, held.3);
                }
                AtomKind::Precision => sum = plus(sum, times((0.0, f64::INFINITY), (*c, *c))),
                AtomKind::Covariance if atom.i == atom.j => {
                    sum = plus(sum, times((0.0, f64::INFINITY), (*c, *c)));
                }
                AtomKind::Covariance if *variance.get_or_insert_with(|| self.is_variance()) => {}
                _ => return (f64::NEG_INFINITY, f64::INFINITY),
            }
        }
        for (low, high, n, k) in weights.into_values() {
            // Weights that do not appear have coefficient 0.
            let (low, high) = if n < k { (low.min(0.0), high.max(0.0)) } else { (low, high) };
            sum = plus(sum, (low, high));
        }
        for (c, term) in &self.terms {
            sum = plus(sum, times(term.bounds(), (*c, *c)));
        }
        sum
    }

    /// Whether its elements are a variance `cᵀΣ_k c` and nothing else.
    fn is_variance(&self) -> bool {
        super::find::rank_one(&self.atoms).is_some_and(|(_, sign, _)| sign > 0.0)
    }

    fn is_non_negative(&self) -> bool {
        self.bounds().0 >= 0.0
    }
}

impl Term {
    fn bounds(&self) -> (f64, f64) {
        const REAL: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
        match self {
            Term::Apply(function, form) => {
                let (low, high) = form.bounds();
                match function {
                    Function::Exp => (low.exp(), high.exp()),
                    Function::Expit => (Function::Expit.apply(low), Function::Expit.apply(high)),
                    Function::Log if low >= 0.0 => (low.ln(), high.ln()),
                    Function::Logit if low >= 0.0 && high <= 1.0 => {
                        (Function::Logit.apply(low), Function::Logit.apply(high))
                    }
                    Function::Abs if low >= 0.0 => (low, high),
                    Function::Abs if high <= 0.0 => (-high, -low),
                    Function::Abs => (0.0, high.max(-low)),
                    _ => REAL,
                }
            }
            Term::Power(form, c) => {
                let (low, high) = form.bounds();
                if low >= 0.0 {
                    let (a, b) = (power(low, *c), power(high, *c));
                    (a.min(b), a.max(b))
                } else if *c > 0.0 && c % 2.0 == 1.0 {
                    (power(low, *c), power(high, *c))
                } else if c % 2.0 == 0.0 || *c != c.trunc() {
                    (0.0, f64::INFINITY)
                } else {
                    REAL
                }
            }
            Term::Product(forms) => forms.iter().map(Form::bounds).fold((1.0, 1.0), times),
            Term::General(base, _) if base.is_non_negative() => (0.0, f64::INFINITY),
            Term::General(..) => REAL,
            Term::Least(forms) => extremes(forms, f64::min),
            Term::Greatest(forms) => extremes(forms, f64::max),
        }
    }
}

fn extremes(forms: &[Form], pick: fn(f64, f64) -> f64) -> (f64, f64) {
    forms
        .iter()
        .map(Form::bounds)
        .reduce(|a, b| (pick(a.0, b.0), pick(a.1, b.1)))
        .unwrap_or((f64::NEG_INFINITY, f64::INFINITY))
}

fn plus(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 + b.0, a.1 + b.1)
}

fn times(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    // An end at 0 times an end at ∞ stands for products that stay at 0.
    let product = |x: f64, y: f64| if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
    let all = [product(a.0, b.0), product(a.0, b.1), product(a.1, b.0), product(a.1, b.1)];
    all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)))
}

/// `a + b`, exactly 0 when only rounding is left.
fn cancel(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let rounding = SAME * a.abs().max(b.abs());
    if rounding.is_finite() && sum.abs() <= rounding { 0.0 } else { sum }
}

/// The canonical form of an expression.
pub(super) struct Simplified {
    pub(super) form: Form,
    /// Whether every step of the expression has a value whatever the parameters are. The form need not
    /// show it: `0*log(mu[1,1])` is 0 there, but has no value where the mean is negative.
    pub(super) total: bool,
}

/// Brings an expression to its canonical form.
pub(super) fn simplify(node: &Node) -> Simplified {
    let mut total = true;
    let form = canonical(node, &mut total);
    Simplified { form, total }
}

/// The form of `node`; `total` becomes false at the first step that may have no value.
fn canonical(node: &Node, total: &mut bool) -> Form {
    let form = match node {
        Node::Constant(x) => Form::constant(*x),
        Node::Atom(atom) => Form { atoms: vec![(*atom, 1.0)], ..Form::default() }.cleaned(),
        Node::Negate(x) => canonical(x, total).scaled(-1.0),
        Node::Sum(terms) => {
            let mut sum = Form::default();
            for (minus, x) in terms {
                sum.add(canonical(x, total), if *minus { -1.0 } else { 1.0 });
            }
            sum.cleaned()
        }
        Node::Product(factors) => {
            factors.iter().fold(Form::constant(1.0), |product, (divide, x)| {
                let x = canonical(x, total);
                *total &= !(*divide && x.value() == Some(0.0));
                if *divide { quotient(product, x) } else { multiply(product, x) }
            })
        }
        Node::Power(x, y) => {
            let (x, y) = (canonical(x, total), canonical(y, total));
            *total &= y.value().is_some_and(|c| c == c.trunc()) || x.is_non_negative();
            match (x.value(), y.value()) {
                (_, Some(c)) => raise(x, c),
                (Some(a), None) if a > 0.0 => apply(Function::Exp, y.scaled(a.ln())),
                _ => Form::term(Term::General(Box::new(x), Box::new(y))),
            }
        }
        Node::Apply(function, x) => {
            let x = canonical(x, total);
            let (low, high) = x.bounds();
            *total &= match function {
                Function::Log | Function::Sqrt => low >= 0.0,
                Function::Logit => low >= 0.0 && high <= 1.0,
                Function::Exp | Function::Abs | Function::Expit => true,
            };
            if *function == Function::Sqrt { raise(x, 0.5) } else { apply(*function, x) }
        }
        Node::Least(xs) => extreme(xs, Term::Least, f64::min, total),
        Node::Greatest(xs) => extreme(xs, Term::Greatest, f64::max, total),
    };
    *total &= form.value().is_none_or(f64::is_finite);
    form
}

fn extreme(
    xs: &[Node],
    make: fn(Vec<Form>) -> Term,
    pick: fn(f64, f64) -> f64,
    total: &mut bool,
) -> Form {
    let mut forms: Vec<Form> = xs.iter().map(|x| canonical(x, total)).collect();
    if let Some(values) = forms.iter().map(Form::value).collect::<Option<Vec<_>>>() {
        return Form::constant(values.into_iter().reduce(pick).unwrap_or(f64::NAN));
    }
    match forms.len() {
        1 => forms.swap_remove(0),
        _ => Form::term(make(forms)),
    }
}

fn apply(function: Function, form: Form) -> Form {
    if let Some(x) = form.value() {
        return Form::constant(function.apply(x));
    }
    // Inverses of one another, and the absolute value of what has a sign.
    if let Some((1.0, Term::Apply(inner, x))) = form.single_term() {
        let (low, high) = x.bounds();
        let undone = match (function, inner) {
            (Function::Log, Function::Exp) | (Function::Logit, Function::Expit) => true,
            (Function::Exp, Function::Log) => low >= 0.0,
            (Function::Expit, Function::Logit) => low >= 0.0 && high <= 1.0,
            _ => false,
        };
        if undone {
            return (**x).clone();
        }
    }
    if function == Function::Abs {
        match form.bounds() {
            (low, _) if low >= 0.0 => return form,
            (_, high) if high <= 0.0 => return form.scaled(-1.0),
            _ => {}
        }
    }
    Form::term(Term::Apply(function, Box::new(form)))
}

fn raise(form: Form, c: f64) -> Form {
    if let Some(x) = form.value() {
        return Form::constant(power(x, c));
    }
    if c == 1.0 {
        return form;
    }
    if c == 0.0 {
        return Form::constant(1.0);
    }
    match form.single_term() {
        Some((d, Term::Power(x, inner))) if d > 0.0 && x.is_non_negative() => {
            return raise((**x).clone(), inner * c).scaled(d.powf(c));
        }
        Some((d, Term::Apply(Function::Exp, x))) if d > 0.0 => {
            return apply(Function::Exp, (**x).clone().scaled(c)).scaled(d.powf(c));
        }
        _ => {}
    }
    Form::term(Term::Power(Box::new(form), c))
}

/// A factor as `coefficient · base^exponent`.
fn as_power(form: Form) -> (f64, Form, f64) {
    if form.constant == 0.0 && form.terms.is_empty() && form.atoms.len() == 1 {
        let (atom, c) = form.atoms[0];
        return (c, Form { atoms: vec![(atom, 1.0)], ..Form::default() }, 1.0);
    }
    match form.single_term() {
        Some((c, Term::Power(base, exponent))) => (c, (**base).clone(), *exponent),
        Some((c, term)) => (c, Form::term(term.clone()), 1.0),
        None => (1.0, form, 1.0),
    }
}

fn multiply(a: Form, b: Form) -> Form {
    match (a.value(), b.value()) {
        (Some(x), _) if x.is_finite() => return b.scaled(x),
        (_, Some(x)) if x.is_finite() => return a.scaled(x),
        (None, None) => {}
        _ => return Form::term(Term::Product(vec![a, b])),
    }
    let (c, x, m) = as_power(a);
    let (d, y, n) = as_power(b);
    // A quotient is a product with a power, so a ratio that is written x/y arrives here too.
    if n == -1.0
        && m == 1.0
        && let Some(form) = ratio(&x, &y)
    {
        return form.scaled(c * d);
    }
    let whole = |c: f64| c > 0.0 && c == c.trunc();
    if x == y && (x.is_non_negative() || (whole(m) && whole(n))) {
        return raise(x, m + n).scaled(c * d);
    }
    let mut factors = Vec::new();
    for (base, exponent) in [(x, m), (y, n)] {
        match base.terms.as_slice() {
            [(1.0, Term::Product(inner))]
                if exponent == 1.0 && base.atoms.is_empty() && base.constant == 0.0 =>
            {
                factors.extend(inner.iter().cloned());
            }
            _ => factors.push(raise(base, exponent)),
        }
    }
    Form::term(Term::Product(factors)).scaled(c * d)
}

fn quotient(a: Form, b: Form) -> Form {
    match b.value() {
        Some(x) => multiply(a, Form::constant(1.0 / x)),
        None => multiply(a, raise(b, -1.0)),
    }
}

/// `x/y` when one is an affine function of the other, so that the ratio has one argument only.
fn ratio(x: &Form, y: &Form) -> Option<Form> {
    if x == y {
        return Some(Form::constant(1.0));
    }
    // x + y constant and both positive: odds, as e^logit.
    let mut total = x.clone();
    total.add(y.clone(), 1.0);
    if let Some(s) = total.cleaned().value()
        && s > 0.0
        && x.is_non_negative()
        && y.is_non_negative()
    {
        let logit = apply(Function::Logit, x.clone().scaled(1.0 / s));
        return Some(apply(Function::Exp, logit));
    }
    // x = r·y + s, so that x/y = r + s/y.
    let slope =
        |form: &Form| form.atoms.first().map(|(_, c)| *c).or(form.terms.first().map(|(c, _)| *c));
    let r = slope(x)? / slope(y)?;
    // Weights are always written with positive coefficients, which may hide the sign.
    for r in [r, -r] {
        let mut rest = x.clone();
        rest.add(y.clone(), -r);
        if let Some(s) = rest.cleaned().value() {
            let mut form = raise(y.clone(), -1.0).scaled(s);
            form.constant += r;
            return Some(form);
        }
    }
    None
}

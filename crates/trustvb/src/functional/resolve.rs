//! Gives a parsed functional its meaning for one posterior: names, indices, slices, vectors.

use super::advice::quote;
use super::error::{FunctionalError, count, list, nearest};
use super::evaluate::{Function, Node};
use super::lexer::Span;
use super::parse::{Index, Kind, Tree};
use super::quantity::{
    Atom, AtomKind, Axis, Entry, Place, Quantity, atom, is_number, quantities_in,
};
use crate::model::quantities;
use crate::posterior::Layout;

/// Most nodes that a functional may have once its slices are written out.
pub(super) const MAX_NODES: usize = 100_000;

/// One scalar of a functional.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) node: Node,
    /// What tells it from the other elements of its vector: `eruptions`, `2,waiting`.
    pub(super) tag: String,
    /// Its own name, with names of coordinates, if it is a plain quantity.
    pub(super) title: Option<String>,
}

/// The elements of a functional; a scalar is a vector that recycles.
#[derive(Clone, Debug)]
pub(super) struct Vector {
    pub(super) elements: Vec<Element>,
    scalar: bool,
}

impl Vector {
    fn scalar(node: Node) -> Vector {
        let element = Element { node, tag: String::new(), title: None };
        Vector { elements: vec![element], scalar: true }
    }

    /// Number of nodes of all its elements.
    fn size(&self) -> usize {
        self.elements.iter().map(|e| e.node.size()).sum()
    }
}

type Resolved = Result<Vector, FunctionalError>;

/// The scalars that `tree` stands for.
pub(super) fn resolve(text: &str, layout: &Layout, tree: &Tree) -> Resolved {
    Resolver { text, layout }.tree(tree)
}

/// The text and the posterior that its names are looked up in.
pub(super) struct Resolver<'a> {
    pub(super) text: &'a str,
    pub(super) layout: &'a Layout,
}

impl Resolver<'_> {
    pub(super) fn error(
        &self,
        span: &Span,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> FunctionalError {
        FunctionalError::new(self.text, span.clone(), message, hint)
    }

    fn tree(&self, tree: &Tree) -> Resolved {
        let value = match &tree.kind {
            Kind::Number(x) => Vector::scalar(Node::Constant(*x)),
            Kind::Quantity { name, name_span, indices } => {
                self.quantity(name, name_span, indices.as_deref(), tree)?
            }
            Kind::Call { name, name_span, arguments } => {
                self.call(name, name_span, arguments, tree)?
            }
            Kind::Negate(x) => map(self.tree(x)?, |x| Node::Negate(Box::new(x))),
            Kind::Sum(terms) => self.list(terms, Node::Sum)?,
            Kind::Product(factors) => self.list(factors, Node::Product)?,
            Kind::Power(x, y) => {
                let sides = [self.tree(x)?, self.tree(y)?];
                self.zip(&sides, &[&x.span, &y.span], |mut nodes| {
                    let exponent = nodes.pop().unwrap_or(Node::Constant(1.0));
                    let base = nodes.pop().unwrap_or(Node::Constant(1.0));
                    Node::Power(Box::new(base), Box::new(exponent))
                })?
            }
        };
        self.check_size(value.size(), &tree.span)?;
        Ok(value)
    }

    fn check_size(&self, size: usize, span: &Span) -> Result<(), FunctionalError> {
        if size <= MAX_NODES {
            return Ok(());
        }
        let message = format!("this has {size} elements and operations; at most {MAX_NODES} fit");
        Err(self.error(span, message, Some("use fewer or smaller slices".to_owned())))
    }

    fn list(&self, items: &[(bool, Tree)], make: fn(Vec<(bool, Node)>) -> Node) -> Resolved {
        let mut sides = Vec::with_capacity(items.len());
        let mut size = 0;
        for (_, item) in items {
            let side = self.tree(item)?;
            size += side.size();
            self.check_size(size, &item.span)?;
            sides.push(side);
        }
        let spans: Vec<&Span> = items.iter().map(|(_, x)| &x.span).collect();
        self.zip(&sides, &spans, |nodes| {
            make(items.iter().map(|(inverse, _)| *inverse).zip(nodes).collect())
        })
    }

    /// Combines vectors of one length element by element; scalars are recycled.
    fn zip(&self, sides: &[Vector], spans: &[&Span], make: impl Fn(Vec<Node>) -> Node) -> Resolved {
        let mut length: Option<(usize, &Span)> = None;
        for (side, &span) in sides.iter().zip(spans).filter(|(side, _)| !side.scalar) {
            let n = side.elements.len();
            match length {
                Some((held, first)) if held != n => {
                    let message = format!(
                        "vectors of different lengths: `{}` has {held}, `{}` has {n}",
                        &self.text[first.clone()],
                        &self.text[span.clone()]
                    );
                    let hint = "vectors are combined element by element; only single numbers are \
                                recycled";
                    return Err(self.error(span, message, Some(hint.to_owned())));
                }
                _ => length = Some((n, span)),
            }
        }
        let n = length.map_or(1, |(n, _)| n);
        let recycled: usize =
            sides.iter().filter(|s| s.scalar).map(|s| s.elements[0].node.size()).sum();
        if let (Some(first), Some(last)) = (spans.first(), spans.last()) {
            self.check_size(recycled.saturating_mul(n), &(first.start..last.end))?;
        }
        let element = |at: usize| {
            let nodes = sides
                .iter()
                .map(|side| side.elements[if side.scalar { 0 } else { at }].node.clone());
            let mut tags = sides.iter().filter(|s| !s.scalar).map(|s| s.elements[at].tag.as_str());
            let tag = match tags.next() {
                Some(first) if tags.all(|other| other == first) => first.to_owned(),
                Some(_) => (at + 1).to_string(),
                None => String::new(),
            };
            Element { node: make(nodes.collect()), tag, title: None }
        };
        let mut elements: Vec<Element> = (0..n).map(element).collect();
        // Tags that agree at some places only could repeat: then all are numbered.
        let numbered = sides
            .iter()
            .filter(|s| !s.scalar)
            .any(|side| side.elements.iter().zip(&elements).any(|(own, made)| own.tag != made.tag));
        if numbered {
            for (at, element) in elements.iter_mut().enumerate() {
                element.tag = (at + 1).to_string();
            }
        }
        Ok(Vector { elements, scalar: length.is_none() })
    }

    fn call(&self, name: &str, name_span: &Span, arguments: &[Tree], tree: &Tree) -> Resolved {
        if let Some((_, function)) = Function::ALL.iter().find(|(known, _)| *known == name) {
            let [argument] = arguments else {
                return Err(self.arguments(name, "1 argument", arguments.len(), tree));
            };
            return Ok(map(self.tree(argument)?, |x| Node::Apply(*function, Box::new(x))));
        }
        let wanted = match name {
            "sum" | "mean" if arguments.len() != 1 => "1 argument",
            "min" | "max" if arguments.is_empty() => "at least 1 argument",
            "sum" | "mean" | "min" | "max" => "",
            _ => return Err(self.unknown_function(name, name_span, arguments)),
        };
        if !wanted.is_empty() {
            return Err(self.arguments(name, wanted, arguments.len(), tree));
        }
        let mut nodes = Vec::new();
        let mut size = 0;
        for argument in arguments {
            let vector = self.tree(argument)?;
            size += vector.size();
            self.check_size(size, &argument.span)?;
            nodes.extend(vector.elements.into_iter().map(|e| e.node));
        }
        Ok(Vector::scalar(match name {
            "min" => Node::Least(nodes),
            "max" => Node::Greatest(nodes),
            _ => {
                let n = nodes.len() as f64;
                let sum = Node::Sum(nodes.into_iter().map(|x| (false, x)).collect());
                if name == "sum" {
                    sum
                } else {
                    Node::Product(vec![(false, sum), (true, Node::Constant(n))])
                }
            }
        }))
    }

    fn quantity(
        &self,
        name: &str,
        name_span: &Span,
        indices: Option<&[(Index, Span)]>,
        tree: &Tree,
    ) -> Resolved {
        let Some(quantity) = quantities_in(self.layout).find(|q| q.name == name) else {
            let elsewhere = quantities().any(|q| q.name == name);
            return Err(self.unknown_name(name, name_span, elsewhere));
        };
        // `pi`, `pi[]` and `mu[]` take everything.
        let all = vec![(Index::All, tree.span.clone()); quantity.axes().len()];
        let indices = match indices {
            None | Some([(Index::All, _)]) => &all,
            Some(indices) => indices,
        };
        self.check_number_of_indices(quantity, indices, tree)?;
        let sliced: Vec<bool> = indices.iter().map(|(index, _)| *index == Index::All).collect();
        // What an index can be depends on those before it: a level's names are those of its column.
        let mut places = vec![Vec::new()];
        for (index, span) in indices {
            let mut longer = Vec::new();
            for place in &places {
                let values = self.values_of(quantity, place, index, span)?;
                self.check_size(longer.len() + values.len(), &tree.span)?;
                longer.extend(values.into_iter().map(|x| [place.as_slice(), &[x]].concat()));
            }
            places = longer;
        }
        let elements = places.iter().filter_map(|place| self.element(quantity, place, &sliced));
        Ok(Vector { elements: elements.collect(), scalar: !sliced.contains(&true) })
    }

    fn element(&self, quantity: &Quantity, index: &[usize], sliced: &[bool]) -> Option<Element> {
        let block = quantity.block(self.layout, index)?;
        let k = index.first().copied().unwrap_or(0);
        // Within a block of one coordinate there is no other.
        let place = |at: usize| match quantity.place {
            Place::Coordinates | Place::CoordinatesOf(_) => 0,
            Place::Block(_) => index.get(at).copied().unwrap_or(0),
        };
        let (i, j) = (place(1), place(2));
        let at = |kind: AtomKind, i: usize, j: usize| -> Atom {
            atom(self.layout, block, kind, k, i, j)
        };
        // Two coordinates that have a block each are independent.
        let apart = !matches!(quantity.place, Place::Block(_)) && index.get(1) != index.get(2);
        let covariance = |i, j| Node::Atom(at(AtomKind::Covariance, i, j));
        let root = |node| Node::Apply(Function::Sqrt, Box::new(node));
        let node = match quantity.entry {
            Entry::Weight => Node::Atom(at(AtomKind::Weight, 0, 0)),
            Entry::Probability => {
                Node::Atom(at(AtomKind::Weight, index.get(2).copied().unwrap_or(0), 0))
            }
            Entry::Mean => Node::Atom(at(AtomKind::Mean, i, 0)),
            Entry::Coefficient => Node::Atom(at(AtomKind::Coefficient, i, 0)),
            Entry::Covariance | Entry::Correlation if apart => Node::Constant(0.0),
            Entry::Covariance => covariance(i, j),
            Entry::Deviation => root(covariance(i, i)),
            Entry::Correlation if i == j => Node::Constant(1.0),
            Entry::Correlation => Node::Product(vec![
                (false, covariance(i, j)),
                (true, root(covariance(i, i))),
                (true, root(covariance(j, j))),
            ]),
            Entry::Positive => Node::Atom(at(AtomKind::Precision, 0, 0)),
        };
        let plain = |at: usize| {
            let names = match quantity.axes()[at] {
                Axis::Component => &[][..],
                Axis::Coordinate => &self.layout.coordinates,
                Axis::Level => &block.levels,
            };
            names.get(index[at]).cloned().unwrap_or_else(|| (index[at] + 1).to_string())
        };
        let shown: Vec<(String, String)> = (0..index.len())
            .map(|at| (plain(at), quantity.index_name(self.layout, index, at)))
            .collect();
        let tag = shown.iter().zip(sliced).filter(|(_, s)| **s).map(|((plain, _), _)| &plain[..]);
        let all: Vec<&str> = shown.iter().map(|(_, quoted)| quoted.as_str()).collect();
        Some(Element {
            node,
            tag: tag.collect::<Vec<_>>().join(","),
            title: Some(format!("{}[{}]", quantity.name, all.join(","))),
        })
    }

    fn check_number_of_indices(
        &self,
        quantity: &Quantity,
        indices: &[(Index, Span)],
        tree: &Tree,
    ) -> Result<(), FunctionalError> {
        let axes = quantity.axes();
        if indices.len() == axes.len() {
            return Ok(());
        }
        let message = format!(
            "`{}` has {}, but {} given",
            quantity.name,
            count(axes.len(), "index", "indices"),
            if indices.len() == 1 { "1 is".to_owned() } else { format!("{} are", indices.len()) }
        );
        let form: Vec<&str> = axes.iter().map(|axis| axis.name()).collect();
        let mut hint = format!("write {}[{}]", quantity.name, form.join(","));
        if indices.len() < axes.len() {
            hint.push_str("; an empty index takes all of them");
        }
        Err(self.error(&tree.span, message, Some(hint)))
    }

    /// The 0-based values of the index that comes after `place`.
    fn values_of(
        &self,
        quantity: &Quantity,
        place: &[usize],
        index: &Index,
        span: &Span,
    ) -> Result<Vec<usize>, FunctionalError> {
        let extent = quantity.extent(self.layout, place);
        let axis = quantity.axes()[place.len()];
        let names = match axis {
            Axis::Component => &[][..],
            Axis::Coordinate => &self.layout.coordinates[..],
            Axis::Level => {
                let mut block = place.to_vec();
                block.push(0);
                quantity.block(self.layout, &block).map_or(&[][..], |b| &b.levels)
            }
        };
        let found = match index {
            Index::All => return Ok(extent),
            // A level whose name is that number: 1 is the answer 1, though it may be the second of two.
            Index::Number(x) if axis == Axis::Level && names.iter().any(|n| is_number(n)) => {
                let same = |name: &String| name.parse::<f64>().is_ok_and(|own| own == *x);
                match names.iter().position(same) {
                    Some(at) => at,
                    None => self.named(&x.to_string(), axis, names, span)?,
                }
            }
            // Coordinates are numbered as all are, though a quantity may be of some of them only.
            Index::Number(x) => {
                let most = if axis == Axis::Coordinate { names.len() } else { extent.len() };
                let most = most.max(extent.len());
                self.number(*x, most, axis, names, span)?
            }
            Index::Name(_) if axis == Axis::Component => {
                return Err(self.named_component(quantity, index, extent.len(), span));
            }
            Index::Name(name) => self.named(name, axis, names, span)?,
        };
        if extent.contains(&found) {
            return Ok(vec![found]);
        }
        let (message, hint) = self.not_of(quantity, found, &extent);
        Err(self.error(span, message, Some(hint)))
    }

    /// What to say of a coordinate that a quantity is not of.
    fn not_of(&self, quantity: &Quantity, found: usize, extent: &[usize]) -> (String, String) {
        let name = |at: usize| self.layout.coordinates.get(at).map_or("?", String::as_str);
        let own: Vec<&str> = extent.iter().map(|&at| name(at)).collect();
        let message = format!("`{}` has no `{}`", name(found), quantity.name);
        (message, format!("`{}` is of {}", quantity.name, list(&own)))
    }

    fn number(
        &self,
        x: f64,
        extent: usize,
        axis: Axis,
        names: &[String],
        span: &Span,
    ) -> Result<usize, FunctionalError> {
        let what = axis.name();
        let mut hint = format!("use a {what} from 1 to {extent}");
        if !names.is_empty() {
            hint.push_str(&format!(", or its name: {}", list(names)));
        }
        let message = if x == 0.0 {
            format!("indices count from 1, so there is no {what} 0")
        } else if x != x.trunc() {
            format!("an index is a whole number, not {x}")
        } else if x > extent as f64 {
            format!("there is no {what} {x}: this posterior has {extent}")
        } else {
            return Ok(x as usize - 1);
        };
        Err(self.error(span, message, Some(hint)))
    }

    fn named_component(
        &self,
        quantity: &Quantity,
        index: &Index,
        extent: usize,
        span: &Span,
    ) -> FunctionalError {
        let name = match index {
            Index::Name(name) => name.as_str(),
            _ => "",
        };
        let message = format!("`{name}` is a name, but components have only numbers");
        let hint = format!("the first index of `{}` goes from 1 to {extent}", quantity.name);
        self.error(span, message, Some(hint))
    }

    fn named(
        &self,
        name: &str,
        axis: Axis,
        known: &[String],
        span: &Span,
    ) -> Result<usize, FunctionalError> {
        if let Some(at) = known.iter().position(|c| c == name) {
            return Ok(at);
        }
        let what = axis.name();
        let listed = format!("the {what}s are {}", list(known));
        let hint = match nearest(name, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean {}? {listed}", quote(near)),
            None => listed,
        };
        Err(self.error(span, format!("there is no {what} `{name}`"), Some(hint)))
    }
}

/// The same function of every element.
fn map(vector: Vector, make: impl Fn(Node) -> Node) -> Vector {
    let elements = vector
        .elements
        .into_iter()
        .map(|e| Element { node: make(e.node), tag: e.tag, title: None })
        .collect();
    Vector { elements, scalar: vector.scalar }
}

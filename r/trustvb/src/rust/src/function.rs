//! Quantities from R: texts, or functions of draws, which only R's own thread may call.

use savvy::{FunctionArgs, FunctionSexp, ListSexp, Sexp, TypedSexp};
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use trustvb::functional::{Draws, Functional};
use trustvb::posterior::Layout;

use crate::errors::{error, Class};
use crate::values;
use crate::work::{Call, Caller};

/// What is asked, with R's functions aside: a text, or the name and number of one.
pub(crate) enum Asked {
    Text(String),
    Function(String, usize),
}

/// R's functions, which stay on R's thread.
pub(crate) struct Functions {
    held: Vec<FunctionSexp>,
    layout: Arc<Layout>,
}

/// Sorts a named list of texts and functions.
pub(crate) fn read(
    list: &ListSexp,
    layout: &Arc<Layout>,
) -> savvy::Result<(Vec<Asked>, Functions)> {
    let mut functions = Functions { held: Vec::new(), layout: layout.clone() };
    let mut asked = Vec::new();
    for (name, value) in list.iter() {
        match value.into_typed() {
            TypedSexp::String(texts) => {
                asked.extend(texts.iter().map(|t| Asked::Text(t.to_owned())))
            }
            TypedSexp::Function(function) => {
                asked.push(Asked::Function(name.to_owned(), functions.held.len()));
                functions.held.push(function);
            }
            _ => {
                let what = "a quantity is a text such as \"pi[1]\", or a function of draws";
                return Err(error(Class::Quantity, what));
            }
        }
    }
    Ok((asked, functions))
}

/// How functions are called once the work that needs them has begun.
pub(crate) type Line = Arc<OnceLock<Caller>>;

/// Parses texts and wraps functions; nothing asked means what is reported by default.
pub(crate) fn functionals(
    asked: Vec<Asked>,
    layout: &Arc<Layout>,
    line: &Line,
) -> savvy::Result<Vec<Functional>> {
    if asked.is_empty() {
        return Ok(Functional::defaults(layout));
    }
    let wrap = |asked: Asked| match asked {
        Asked::Text(text) => {
            Functional::parse(&text, layout).map_err(|why| error(Class::Quantity, why))
        }
        Asked::Function(name, number) => {
            let line = line.clone();
            let function = move |draws: &Draws| remote(&line, number, draws);
            Ok(Functional::from_function(&name, layout, Arc::new(function)))
        }
    };
    asked.into_iter().map(wrap).collect()
}

/// Asks R's thread; when it no longer answers, the work is being given up and any values will do.
fn remote(line: &Line, function: usize, draws: &Draws) -> Vec<f64> {
    let (values, received) = channel();
    if let Some(call) = line.get() {
        call(Call { function, draws: draws.clone(), values });
    }
    received.recv().unwrap_or_else(|_| vec![f64::NAN; draws.len()])
}

impl Functions {
    /// Calls a function on R's thread.
    pub(crate) fn answer(&self, call: &Call) -> savvy::Result<Vec<f64>> {
        let mut arguments = FunctionArgs::new();
        arguments.add("", values::list(values::draws(&self.layout, &call.draws))?)?;
        let result = self.held[call.function].call(arguments)?;
        let values = match Sexp::from(result).into_typed() {
            TypedSexp::Real(x) => x.to_vec(),
            TypedSexp::Integer(x) => x.iter().map(|&i| f64::from(i)).collect(),
            TypedSexp::Logical(x) => x.iter().map(f64::from).collect(),
            _ => {
                let what = "a function of draws must return a number for each draw";
                return Err(error(Class::Quantity, what));
            }
        };
        if values.len() != call.draws.len() {
            return Err(error(
                Class::Quantity,
                format!(
                    "a function of draws must return a number for each draw: it was given {} draws and returned {} \
                     numbers",
                    call.draws.len(),
                    values.len()
                ),
            ));
        }
        Ok(values)
    }
}

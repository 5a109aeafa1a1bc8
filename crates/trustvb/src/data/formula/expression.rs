//! Arithmetic inside a formula's functions, computed column by column.

use super::find_column;
use crate::data::error::DataError;
use crate::data::frame::Frame;

/// A function of one argument that a formula may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Identity,
    Log,
    Exp,
    Sqrt,
}

impl Function {
    pub(super) const NAMES: &'static str = "I, log, exp or sqrt";

    pub(super) fn named(name: &str) -> Option<Function> {
        match name {
            "I" => Some(Function::Identity),
            "log" => Some(Function::Log),
            "exp" => Some(Function::Exp),
            "sqrt" => Some(Function::Sqrt),
            _ => None,
        }
    }
}

/// An operator between two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

/// What a factor computes from the columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
    Number(f64),
    Column(String),
    Negated(Box<Expression>),
    Call(Function, Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
}

impl Expression {
    /// Appends the names of the columns it reads.
    pub(super) fn columns(&self, names: &mut Vec<String>) {
        match self {
            Expression::Number(_) => {}
            Expression::Column(name) => names.push(name.clone()),
            Expression::Negated(inner) | Expression::Call(_, inner) => inner.columns(names),
            Expression::Binary(_, left, right) => {
                left.columns(names);
                right.columns(names);
            }
        }
    }

    /// One value per row; what is not defined comes out as NaN or infinite.
    pub(super) fn evaluate(&self, frame: &Frame) -> Result<Vec<f64>, DataError> {
        Ok(match self {
            Expression::Number(value) => vec![*value; frame.n_rows()],
            Expression::Column(name) => frame.numeric(find_column(frame, name)?)?.to_vec(),
            Expression::Negated(inner) => {
                let mut values = inner.evaluate(frame)?;
                values.iter_mut().for_each(|v| *v = -*v);
                values
            }
            Expression::Call(function, inner) => {
                let mut values = inner.evaluate(frame)?;
                let apply: fn(f64) -> f64 = match function {
                    Function::Identity => |v| v,
                    Function::Log => f64::ln,
                    Function::Exp => f64::exp,
                    Function::Sqrt => f64::sqrt,
                };
                values.iter_mut().for_each(|v| *v = apply(*v));
                values
            }
            Expression::Binary(operator, left, right) => {
                let mut values = left.evaluate(frame)?;
                let apply: fn(f64, f64) -> f64 = match operator {
                    Operator::Add => |a, b| a + b,
                    Operator::Subtract => |a, b| a - b,
                    Operator::Multiply => |a, b| a * b,
                    Operator::Divide => |a, b| a / b,
                    Operator::Power => power,
                };
                let right = right.evaluate(frame)?;
                values.iter_mut().zip(&right).for_each(|(a, b)| *a = apply(*a, *b));
                values
            }
        })
    }
}

/// Whole powers by multiplication, so that squares agree with products to the last bit.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent.fract() == 0.0 && exponent.abs() <= 64.0 {
        base.powi(exponent as i32)
    } else {
        base.powf(exponent)
    }
}

//! What R says about models, fits and tables: named lists, given the library's types.

use savvy::{ListSexp, TypedSexp};
use trustvb::calibrate::Method;
use trustvb::fit::{FitOptions, Start, Stopping};
use trustvb::model::{ColumnType, Covariance, PriorWish, Wishes};
use trustvb::table::{Plan, STARTS, TABLE_TOLERANCE};

use crate::errors::{error, Class};

/// A named list.
pub(crate) struct Options<'a>(pub(crate) &'a ListSexp);

impl Options<'_> {
    /// A number that may be left out.
    pub(crate) fn number(&self, name: &str) -> savvy::Result<Option<f64>> {
        let numbers = self.numbers(name)?;
        match numbers.as_deref() {
            None => Ok(None),
            Some([x]) => Ok(Some(*x)),
            Some(other) => {
                Err(error(Class::Options, format!("`{name}` has {} numbers", other.len())))
            }
        }
    }

    /// A whole number that may be left out.
    pub(crate) fn whole(&self, name: &str) -> savvy::Result<Option<u64>> {
        match self.number(name)? {
            None => Ok(None),
            Some(x) if x >= 0.0 && x.fract() == 0.0 && x <= 2f64.powi(53) => Ok(Some(x as u64)),
            Some(x) => Err(error(
                Class::Options,
                format!("`{name}` is {x}; it must be a whole number, 0 or more"),
            )),
        }
    }

    /// Numbers that may be left out.
    pub(crate) fn numbers(&self, name: &str) -> savvy::Result<Option<Vec<f64>>> {
        match self.0.get(name).map(|value| value.into_typed()) {
            None | Some(TypedSexp::Null(_)) => Ok(None),
            Some(TypedSexp::Real(x)) => Ok(Some(x.to_vec())),
            Some(TypedSexp::Integer(x)) => Ok(Some(x.iter().map(|&i| f64::from(i)).collect())),
            Some(_) => Err(error(Class::Options, format!("`{name}` must be numeric"))),
        }
    }

    /// Texts; none when they are left out.
    pub(crate) fn texts(&self, name: &str) -> savvy::Result<Vec<String>> {
        match self.0.get(name).map(|value| value.into_typed()) {
            None | Some(TypedSexp::Null(_)) => Ok(Vec::new()),
            Some(TypedSexp::String(x)) => Ok(x.iter().map(str::to_owned).collect()),
            Some(_) => Err(error(Class::Options, format!("`{name}` must be texts"))),
        }
    }

    /// A text that may be left out.
    pub(crate) fn text(&self, name: &str) -> savvy::Result<Option<String>> {
        Ok(self.texts(name)?.into_iter().next())
    }

    /// Threads to work on.
    pub(crate) fn threads(&self) -> savvy::Result<Option<usize>> {
        Ok(self.whole("threads")?.map(|n| n as usize))
    }

    /// What a user says of a model.
    pub(crate) fn wishes(&self) -> savvy::Result<Wishes> {
        let components = self.whole("k")?.filter(|k| *k > 0).ok_or_else(|| {
            error(Class::Options, "`k` must be a whole number, the number of components")
        })?;
        let prior = match self.text("prior")?.as_deref() {
            None | Some("default") => PriorWish::Default,
            Some("paper") => PriorWish::Paper,
            Some(toml) => PriorWish::File { name: "`prior`".to_owned(), content: toml.to_owned() },
        };
        let types = self.texts("type_names")?.into_iter().zip(self.texts("types")?);
        let types = types
            .map(|(name, kind)| match ColumnType::named(&kind) {
                Some(kind) => Ok((name, kind)),
                None => Err(error(
                    Class::Options,
                    format!(
                        "`types`: {name} is said to be `{kind}`; there are gaussian, count and category"
                    ),
                )),
            })
            .collect::<savvy::Result<Vec<_>>>()?;
        let covariance = match self.text("covariance")? {
            None => None,
            Some(name) => Some(Covariance::named(&name).ok_or_else(|| {
                let known: Vec<String> =
                    Covariance::ALL.iter().map(|shape| format!("\"{shape}\"")).collect();
                let known = known.join(", ");
                error(Class::Options, format!("`covariance` is one of {known}, not \"{name}\""))
            })?),
        };
        Ok(Wishes {
            covariance,
            formula: self.text("formula")?,
            noise: self.text("noise")?,
            prior,
            types,
            ..Wishes::new(components as usize)
        })
    }

    /// What a user says of a table for these methods.
    pub(crate) fn plan(
        &self,
        methods: &[Method],
        n_components: usize,
        centre_len: usize,
    ) -> savvy::Result<Plan> {
        let seed = self.whole("seed")?.unwrap_or(1);
        let usual = Plan::for_methods(seed, methods);
        let fit = FitOptions {
            stopping: Stopping::Relative(self.number("tolerance")?.unwrap_or(TABLE_TOLERANCE)),
            max_sweeps: self.whole("max_sweeps")?.map_or(usual.fit.max_sweeps, |n| n as usize),
            ..usual.fit
        };
        let bootstraps = self.whole("bootstraps")?.unwrap_or(usual.bootstraps.into());
        let bootstraps = u32::try_from(bootstraps).unwrap_or(u32::MAX);
        Ok(Plan {
            grid: self.whole("grid")?.map_or(usual.grid, |n| n as usize),
            omega_min: self.number("omega_min")?.unwrap_or(usual.omega_min),
            bootstraps,
            start: self.start(seed, n_components, centre_len)?,
            fit,
            ..usual
        })
    }

    /// Where the full-data fit begins.
    fn start(&self, seed: u64, n_components: usize, centre_len: usize) -> savvy::Result<Start> {
        let Some(centres) = self.numbers("centres")? else {
            let restarts = self.whole("starts")?.map_or(STARTS, |n| n as usize);
            return Ok(Start::KMeans { restarts, seed });
        };
        if centres.len() != n_components * centre_len || centres.iter().any(|x| !x.is_finite()) {
            return Err(error(
                Class::Options,
                format!(
                    "`start` has {} numbers but must have {n_components} rows of {centre_len} finite numbers, a row \
                     per component",
                    centres.len()
                ),
            ));
        }
        Ok(Start::Centres(centres))
    }
}

/// Methods by name, in the order in which results are shown.
pub(crate) fn methods(
    names: impl IntoIterator<Item = impl AsRef<str>>,
) -> savvy::Result<Vec<Method>> {
    let mut methods = names
        .into_iter()
        .map(|name| name.as_ref().parse().map_err(|why| error(Class::Options, why)))
        .collect::<savvy::Result<Vec<Method>>>()?;
    Method::in_order(&mut methods);
    Ok(methods)
}

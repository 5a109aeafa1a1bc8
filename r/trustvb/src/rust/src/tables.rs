//! Tables in folders: opened, built and completed there.
//!
//! They are Parquet files, which cargo's feature `tables` is for; without it these functions say so.

use savvy::{savvy, ListSexp, Sexp};

use crate::engine::Engine;

#[cfg(not(feature = "tables"))]
use disabled as with;
#[cfg(feature = "tables")]
use enabled as with;

#[savvy]
impl Engine {
    /// Opens a table that anyone has built.
    fn open(path: &str) -> savvy::Result<Self> {
        with::open(path)
    }

    /// Builds in a folder what is missing of the table for some methods.
    fn build_in(&self, path: &str, options: ListSexp) -> savvy::Result<()> {
        with::build_in(self, path, &options)
    }

    /// The rows of the data, by name, where they are numbers.
    fn rows(&self) -> savvy::Result<Sexp> {
        use crate::values::{list, Value};
        let data = self.problem()?.data();
        let columns = data.rows().map_or(Vec::new(), |_| data.columns());
        let named = data.column_names().into_iter().zip(columns.into_iter().map(Value::Real));
        list(named.collect())
    }
}

#[cfg(feature = "tables")]
mod enabled {
    use savvy::ListSexp;
    use std::sync::Arc;
    use trustvb::backend::Cpu;
    use trustvb::location::Location;
    use trustvb::table::{open as open_at, save, Shard};

    use crate::engine::{manner, Engine};
    use crate::errors::{self, error, Class, NOTHING_SAID};
    use crate::options::Options;
    use crate::work::{run, Manner, Tracker};

    fn place(path: &str) -> savvy::Result<Location> {
        Location::parse(path).map_err(|why| error(Class::Table, why))
    }

    pub(super) fn open(path: &str) -> savvy::Result<Engine> {
        let place = place(path)?;
        let interrupted = NOTHING_SAID.to_owned();
        let manner = Manner { threads: None, shown: None, interrupted };
        let work = move |_: &Tracker, _| open_at(&place);
        let table = run(&manner, &Arc::default(), |_| Ok(Vec::new()), work)?;
        let table = table.map_err(errors::table)?;
        let problem = table.problem().map_err(errors::model)?;
        let (spec, layout) = (table.manifest().model.clone(), table.layout().clone());
        Ok(Engine { spec, layout, problem, table: Some(Arc::new(table)) })
    }

    pub(super) fn build_in(engine: &Engine, path: &str, options: &ListSexp) -> savvy::Result<()> {
        let (options, place) = (Options(options), place(path)?);
        let blueprint = engine.blueprint(&options)?;
        let keep_data = options.number("keep_data")?.is_none_or(|x| x != 0.0);
        let interrupted = format!(
            "interrupted before all resamples were fitted; what is done is in {place}, and the same call goes on from \
             there"
        );
        let manner = manner(&options, "fitting resamples", &interrupted)?;
        // A table in memory that is the same need not be made again.
        let manifest = blueprint.manifest();
        let held = engine.table.clone().filter(|held| keep_data && held.manifest() == &manifest);
        let work = move |tracker: &Tracker, _| {
            if let Some(held) = held {
                save(&held, &place)?;
            }
            tracker.watched(|watch| {
                blueprint.build_in(&place, keep_data, Shard::default(), &Cpu, watch)
            })
        };
        let built = run(&manner, &Arc::default(), |_| Ok(Vec::new()), work)?;
        built.map_err(errors::table)
    }
}

#[cfg(not(feature = "tables"))]
mod disabled {
    use savvy::ListSexp;

    use crate::engine::Engine;
    use crate::errors::{error, Class};

    fn without() -> savvy::Error {
        let why = "this trustvb was installed without tables on disk; install it again without TRUSTVB_R_TABLES=no in \
                   the environment";
        error(Class::Table, why)
    }

    pub(super) fn open(_: &str) -> savvy::Result<Engine> {
        Err(without())
    }

    pub(super) fn build_in(_: &Engine, _: &str, _: &ListSexp) -> savvy::Result<()> {
        Err(without())
    }
}

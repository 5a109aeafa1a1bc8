//! What makes a table's manifest one of a store: its words, and what it must agree with before it is believed.

use super::manifest::Manifest;
use super::plan::{MAX_BOOTSTRAPS, MAX_GRID};
use crate::fit::Start;
use crate::remedy::Remedy;
use crate::store::{self, Words};
use serde_json::Value;

/// Numbers in one row of a table: more would be more columns than a Parquet file can be asked to have.
const MAX_PARAMETERS: usize = 1_000_000;

/// Replicates in one part.
const MAX_BLOCK: u32 = 10_000;

impl store::Manifest for Manifest {
    const WORDS: &'static Words = &Words {
        what: "a TVB table",
        noun: "table",
        make: Remedy::MakeTable,
        mend: Remedy::RemakeTable,
    };
    const SCHEMA: u32 = Manifest::SCHEMA;
    const SEALED: u32 = Manifest::SEALED;
    const OWN: Option<&'static str> = None;
    const EARLY: &'static [&'static str] = &[super::disk::DATA];

    fn schema(&self) -> u32 {
        self.schema
    }

    fn check(&mut self) -> Result<(), String> {
        let components = self.model.n_components();
        let within = |what: &str, n: u64, most: u64| match n {
            n if n >= 1 && n <= most => Ok(()),
            n => Err(format!("its {what} is {n}, and can only be 1 to {most}")),
        };
        within("block", self.block.into(), MAX_BLOCK.into())?;
        within("number of ω", self.omegas.len() as u64, MAX_GRID as u64)?;
        within("number of components", components as u64, MAX_PARAMETERS as u64)?;
        within("number of columns", self.columns.len() as u64, MAX_PARAMETERS as u64)?;
        let subsets = self.subsets.map_or(0, |subsets| subsets.count);
        for n in [self.replicates.full, self.replicates.split, subsets] {
            within("number of replicates", u64::from(n) + 1, u64::from(MAX_BOOTSTRAPS) + 1)?;
        }
        if self.subsets.is_some_and(|subsets| subsets.size as usize > self.n_units) {
            return Err("its subsets have more units than there are".to_owned());
        }
        if self.schema < Manifest::SCHEMA && !self.at_one.is_empty() {
            return Err(format!(
                "designs at the first ω alone are not known in format {}",
                self.schema
            ));
        }
        let fraction = |w: &f64| *w > 0.0 && *w <= 1.0;
        if !self.omegas.iter().chain([&self.omega_min]).all(fraction) {
            return Err("an ω is not between 0 and 1".to_owned());
        }
        if self.omegas.windows(2).any(|pair| pair[0] < pair[1]) {
            return Err("its ω do not fall".to_owned());
        }
        let sizes = self.model.n_parameters(&self.columns);
        if sizes.is_none_or(|n| n > MAX_PARAMETERS) {
            return Err(format!(
                "a fit of {components} components and {} columns would have more than {MAX_PARAMETERS} numbers",
                self.columns.len()
            ));
        }
        // The model's own layout says more than a file does.
        match self.model.layout(&self.columns) {
            Some(implied) if implied.is_alike(&self.layout) => self.layout = implied,
            _ => return Err("its layout is not that of its model and columns".to_owned()),
        }
        let centres = components * self.layout.centres().map(|b| b.dim).sum::<usize>();
        match &self.start {
            Start::Centres(given) if given.len() != centres => {
                Err(format!("it has {} start values where {centres} are needed", given.len()))
            }
            _ => Ok(()),
        }
    }

    fn upgrade(value: &mut Value) {
        super::manifest::upgrade(value);
    }
}

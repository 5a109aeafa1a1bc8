//! `trustvb simulate gmm | bmlr | mixture | study`: data sets with known truth, and the truth beside them.

use crate::args::{
    DrawArgs, NoiseName, SimulateArgs, SimulateBmlrArgs, SimulateCommand, SimulateGmmArgs,
    SimulateMixtureArgs, SimulateStudyArgs,
};
use crate::failure::Failure;
use crate::output::{check_path, json_text, write_text};
use serde_json::json;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use trustvb::data::{replace_file, write_csv, write_parquet};
use trustvb::model::{
    BmlrSimulationSettings, GmmSimulationSettings, MixtureSimulationSettings, SimulatedColumn,
};
use trustvb::study::{
    SettingsOf, Simulation, SimulationSettings, StudyError, calibration_seed, preset,
};

pub(crate) fn run(args: &SimulateArgs) -> Result<(), Failure> {
    match &args.command {
        SimulateCommand::Gmm(args) => {
            let simulation = checked(&gmm(args)?)?;
            write(&simulation, args.seed, &args.draw)
        }
        SimulateCommand::Bmlr(args) => {
            let simulation = checked(&bmlr(args)?)?;
            write(&simulation, args.seed, &args.draw)
        }
        SimulateCommand::Mixture(args) => {
            let simulation = checked(&mixture(args)?)?;
            write(&simulation, args.seed, &args.draw)
        }
        SimulateCommand::Study(args) => of_study(args),
    }
}

fn of_study(args: &SimulateStudyArgs) -> Result<(), Failure> {
    let mut study = super::study::read(&args.study)?;
    if let Some(seed) = args.seed {
        study.seed = seed;
    }
    let (simulation, seed) = study.data_of(&args.cell).map_err(|e| match e {
        StudyError::NoSuchCell { .. } => Failure::Usage(e.to_string()),
        other => other.into(),
    })?;
    write(&simulation, seed, &args.draw)
}

/// What is wrong with a simulation is wrong with the command line.
fn checked(settings: &dyn SettingsOf) -> Result<Simulation, Failure> {
    settings.check().map_err(|error| match error {
        StudyError::Setting { setting, what } => {
            Failure::Usage(format!("--{}: {what}", setting.replace('_', "-")))
        }
        other => Failure::Usage(other.to_string()),
    })
}

/// The settings of a preset's design, if the preset is the model's own.
fn from_preset(
    name: Option<&str>,
    wanted: &str,
    model: &str,
    design: &str,
) -> Result<Option<SimulationSettings>, Failure> {
    let Some(name) = name else { return Ok(None) };
    if name != wanted {
        return Err(Failure::Usage(format!("--preset {name}: for {model} there is {wanted}")));
    }
    let found = preset(name)?.designs.into_iter().find(|d| d.name == design);
    Ok(found.map(|d| d.simulate))
}

fn gmm(args: &SimulateGmmArgs) -> Result<GmmSimulationSettings, Failure> {
    let mut settings = match from_preset(args.preset.as_deref(), "paper-gmm", "gmm", "gmm")? {
        Some(SimulationSettings::Gmm(settings)) => settings,
        _ => GmmSimulationSettings::default(),
    };
    settings.n = vec![args.n.unwrap_or(1000)];
    if args.weights.is_some() || args.components.is_some() || args.centres.is_some() {
        settings.weights.clone_from(&args.weights);
    }
    settings.components = args.components;
    settings.columns = args.columns;
    settings.separation =
        args.separation.or(settings.separation.filter(|_| args.distance.is_none()));
    settings.distance = args.distance;
    settings.correlation.clone_from(&args.correlation);
    if let Some(text) = &args.centres {
        settings.centres = Some(matrix("--centres", text)?);
        settings.separation = args.separation;
    }
    if !args.covariance.is_empty() {
        let read = args.covariance.iter().map(|text| matrix("--covariance", text));
        settings.covariances = Some(read.collect::<Result<_, _>>()?);
    }
    settings.df = args.df;
    settings.skew = args.skew;
    Ok(settings)
}

fn bmlr(args: &SimulateBmlrArgs) -> Result<BmlrSimulationSettings, Failure> {
    let mut settings = match from_preset(args.preset.as_deref(), "paper-bmlr", "bmlr", "shared")? {
        Some(SimulationSettings::Bmlr(settings)) => settings,
        _ => BmlrSimulationSettings::default(),
    };
    let usual = if args.preset.is_some() { 1000 } else { 100 };
    settings.rows = vec![args.rows.unwrap_or(usual)];
    settings.groups = args.groups.or(settings.groups);
    if let Some(text) = &args.coefficients {
        settings.coefficients = Some(matrix("--coefficients", text)?);
        settings.weights = None;
    }
    if args.weights.is_some() {
        settings.weights.clone_from(&args.weights);
    }
    if args.snr.is_some() || args.noise_sd.is_some() {
        (settings.snr, settings.noise_sd) = (args.snr, args.noise_sd);
    }
    if let Some(noise) = args.noise {
        settings.shared_noise = Some(noise == NoiseName::Shared);
    }
    settings.x_mean = args.x_mean.or(settings.x_mean);
    Ok(settings)
}

fn mixture(args: &SimulateMixtureArgs) -> Result<MixtureSimulationSettings, Failure> {
    let mut columns = Vec::new();
    if let Some(text) = &args.rates {
        let rates = matrix("--rates", text)?.into_iter();
        columns.extend(rates.map(|rate| SimulatedColumn::Count { rate }));
    }
    if let Some(text) = &args.means {
        let means = matrix("--means", text)?.into_iter();
        columns.extend(means.map(|mu| SimulatedColumn::Gaussian { sd: vec![1.0; mu.len()], mu }));
    }
    Ok(MixtureSimulationSettings {
        n: vec![args.n.unwrap_or(1000)],
        weights: args.weights.clone(),
        components: args.components,
        items: Some(args.items),
        agree: Some(args.agree),
        columns,
        missing: Some(args.missing),
    })
}

/// Rows of numbers: `1,0;0,1`.
fn matrix(option: &str, text: &str) -> Result<Vec<Vec<f64>>, Failure> {
    let number = |cell: &str| {
        cell.trim().parse::<f64>().map_err(|_| {
            Failure::Usage(format!(
                "{option} {text}: `{cell}` is not a number; write rows as 1,0;0,1"
            ))
        })
    };
    text.split(';').map(|row| row.split(',').map(number).collect()).collect()
}

/// Draws a data set and writes it with its truth.
fn write(simulation: &Simulation, seed: u64, args: &DrawArgs) -> Result<(), Failure> {
    if let Some(path) = &args.output {
        check_path("-o", path)?;
    }
    // As drawn, as a table, and as it is written.
    simulation.check_memory(3).map_err(|error| match error {
        StudyError::Setting { setting, what } => Failure::Usage(format!("--{setting}: {what}")),
        other => other.into(),
    })?;
    let data = simulation.draw(seed, args.replication)?;
    let table = data.to_file().ok_or_else(|| {
        Failure::Run("sums over groups cannot be written as a data set; give the rows".to_owned())
    })?;
    let Some(path) = &args.output else {
        let mut out = io::BufWriter::new(io::stdout().lock());
        write_csv(&table, &mut out)?;
        return Ok(out.flush()?);
    };
    let parquet = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("parquet"));
    if parquet {
        write_parquet(&table, path)?;
    } else {
        let failed = |e: io::Error| Failure::Run(format!("{}: {e}", path.display()));
        replace_file(path, |file| {
            let mut out = io::BufWriter::new(file);
            write_csv(&table, &mut out)?;
            out.into_inner().map_err(io::IntoInnerError::into_error)
        })
        .map_err(failed)?;
    }
    let text = json_text(&json!({
        "model": simulation.model(),
        "truth": simulation.truth(),
        "units": data.n_units(),
        "formula": data.formula_of_file(),
        "simulation": simulation,
        "seed": seed,
        "replication": args.replication,
        "calibration_seed": calibration_seed(seed, args.replication),
        "version": env!("CARGO_PKG_VERSION"),
    }));
    write_text(&truth_path(path), &text)
}

/// `data.csv` has its truth in `data.truth.json`.
fn truth_path(path: &Path) -> PathBuf {
    path.with_extension("truth.json")
}

//! The workload of an experiment.

use std::path::PathBuf;

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::synthetic::source::{Config, Mode};
use trgen::trace::collectives::Choice;
use trgen::trace::formats::{ComputeUnit, ReadOptions};
use trgen::trace::jobs::{Allocation, Scheduler};
use trgen::trace::placement;
use trgen::trace::replay::Pace;
use trgen::{Geometry, Picoseconds};

use super::conflicts::Times;
use super::jobs::{JobFile, read_jobs};
use super::plan::samples;
use super::quantity::rate;
use super::settings::{Settings, SettingsError};
use fsin_core::family::{NetworkSpec, Units};

/// \[phits/node/cycle\] Maximum load: the longest message of any size law, in every cycle.
const MAX_LOAD: f64 = (1u32 << 24) as f64;

/// Workload of the network.
#[derive(Clone, PartialEq, Debug)]
pub enum Traffic {
    /// Synthetic sources.
    Synthetic(Config),
    /// Tasks of a trace.
    Trace {
        /// Path of the trace.
        path: PathBuf,
        /// Read options.
        options: ReadOptions,
        /// Background traffic of nodes without a task; `None` for none.
        beside: Option<Config>,
    },
    /// Tasks of an application kernel.
    Kernel {
        /// Its name and parameters.
        spec: String,
        /// Background traffic of nodes without a task; `None` for none.
        beside: Option<Config>,
    },
    /// Applications that arrive one after another.
    Jobs {
        /// The jobs.
        file: JobFile,
        /// Read options of their traces.
        options: ReadOptions,
        /// Policy for the next job to start.
        scheduler: Scheduler,
        /// Policy for its nodes.
        allocation: Allocation,
    },
}

/// The workload of an experiment: of the key with tasks, if there is one. `synthetic` describes the sources.
pub(super) fn traffic(
    settings: &Settings,
    (tasks, times): (Option<&str>, Times),
    pace: Pace,
    synthetic: impl Fn() -> Result<Config, SettingsError>,
) -> Result<Traffic, SettingsError> {
    let beside = || if times == Times::Beside { synthetic().map(Some) } else { Ok(None) };
    Ok(match tasks {
        None => Traffic::Synthetic(synthetic()?),
        Some("trace") => Traffic::Trace {
            path: settings.word("trace").into(),
            options: read_options(settings, pace)?,
            beside: beside()?,
        },
        Some("job-mix") => Traffic::Jobs {
            file: read_jobs(settings, pace)?,
            options: read_options(settings, pace)?,
            scheduler: settings.word("scheduler").parse().map_err(|error| settings.refused("scheduler", error))?,
            allocation: settings.word("allocation").parse().map_err(|error| settings.refused("allocation", error))?,
        },
        Some(_) => Traffic::Kernel { spec: settings.word("kernel").to_owned(), beside: beside()? },
    })
}

/// Synthetic sources.
pub(super) fn synthetic(
    settings: &Settings,
    geometry: Geometry,
    units: Units,
    (throttled, seed): (bool, u64),
) -> Result<Config, SettingsError> {
    let load = settings.number("load")?;
    if !(0.0..=MAX_LOAD).contains(&load) {
        let what = phrase![["load" => settings.word("load")], " is out of range"];
        return Err(settings.error(
            "load",
            ErrorKind::OutOfRange,
            what,
            format!("use 0 to {MAX_LOAD} phits/node/cycle"),
        ));
    }
    let shots = samples(settings)?;
    let process = if settings.is_set("shot") {
        format!("shot({})", settings.integer::<u64>("shot")?)
    } else {
        settings.word("temporal").to_owned()
    };
    let folder = settings.folder_of("traffic");
    Ok(Config {
        geometry,
        pattern: settings.word("traffic").to_owned(),
        process,
        shots,
        folder,
        size: settings.word("size").to_owned(),
        load: load * units.capacity,
        is_padded: units.is_padded,
        packet_phits: units.packet_phits,
        phit_bytes: units.phit_bytes,
        mode: if throttled { Mode::Throttled } else { Mode::Open },
        seed,
    })
}

/// The placement of tasks; a file relative to the working directory.
pub(super) fn placement_of(settings: &Settings) -> String {
    let value = settings.word("placement");
    let file = placement::file(value, &settings.folder_of("placement"));
    file.map_or_else(|| value.to_owned(), |path| placement::with_file(value, &path))
}

/// \[s\] Length of a cycle.
pub(super) fn cycle_seconds(settings: &Settings, network: &dyn NetworkSpec) -> Result<f64, SettingsError> {
    if let Some((numerator, denominator)) = network.cycle() {
        return Ok(numerator as f64 / denominator as f64 * 1e-12);
    }
    let bandwidth = settings.word("bandwidth");
    let bits_per_second = rate(bandwidth, "b").ok_or_else(|| {
        let what = phrase![["bandwidth"], " takes a rate in bits per second, not `{bandwidth}`"];
        settings.error(
            "bandwidth",
            ErrorKind::Malformed,
            what,
            phrase!["write ", ["bandwidth" => "10Gb/s"], " (prefixes k, M, G, T)"],
        )
    })?;
    Ok(f64::from(network.units().phit_bytes) * 8.0 / bits_per_second)
}

/// Computation speed of tasks.
pub(super) fn pace(settings: &Settings, cycle_seconds: f64) -> Result<Pace, SettingsError> {
    let cycle = Picoseconds::from_seconds(cycle_seconds).filter(|cycle| cycle.0 > 0).ok_or_else(|| {
        let what = phrase!["at ", ["bandwidth" => settings.word("bandwidth")], " a phit takes {cycle_seconds:e} s"];
        settings.error("bandwidth", ErrorKind::Malformed, what, "use a rate at which a phit takes 1 ps to 100 days")
    })?;
    let compute_scale = settings.number("compute")?;
    if !(0.0..=1e6).contains(&compute_scale) {
        let what = phrase![["compute" => compute_scale], " is out of range"];
        return Err(settings.error(
            "compute",
            ErrorKind::OutOfRange,
            what,
            "use 0 (no computing) to 1000000; 1 keeps the trace's times",
        ));
    }
    Ok(Pace { cycle, compute_scale })
}

fn read_options(settings: &Settings, pace: Pace) -> Result<ReadOptions, SettingsError> {
    let flop_rate = settings.word("flop-rate");
    let flop_rate = rate(flop_rate, "flop").ok_or_else(|| {
        let what = phrase![["flop-rate"], " takes a rate in operations per second, not `{flop_rate}`"];
        settings.error(
            "flop-rate",
            ErrorKind::Malformed,
            what,
            phrase!["write ", ["flop-rate" => "5Gflop/s"], " (prefixes k, M, G, T)"],
        )
    })?;
    let units = [
        ("ns", ComputeUnit::Nanoseconds),
        ("us", ComputeUnit::Microseconds),
        ("ms", ComputeUnit::Milliseconds),
        ("cycles", ComputeUnit::Cycles(pace.cycle)),
    ];
    let recv_order = settings.word("recv-order").parse();
    Ok(ReadOptions {
        flop_rate,
        compute_unit: settings.choice("trace-unit", &units)?,
        recv_order: recv_order.map_err(|refusal: SpecError| settings.refused("recv-order", refusal))?,
        collectives: match settings.is_set("collectives") {
            true => settings.word("collectives").parse().map_err(|refusal| settings.refused("collectives", refusal))?,
            false => Choice::default(),
        },
        ..ReadOptions::default()
    })
}

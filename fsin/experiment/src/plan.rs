//! The length of an experiment's run, and its measured part.

use trgen::Cycle;
use trgen::catalog::ErrorKind;
use trgen::phrase;
use trgen::synthetic::Config;

use super::settings::{Settings, SettingsError};
use fsin_core::family::{NetworkSpec, Unloaded};
use fsin_core::run::{BatchPlan, MAX_SAMPLES};

/// Maximum cycle count: sums of several still fit 64 bits.
const MAX_CYCLES: u64 = 1 << 60;

/// How long a run is, and which part of it is measured.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RunPlan {
    /// Warm up, wait for a steady state, measure in batches.
    Batch(BatchPlan),
    /// \[cycles\] Run for this many cycles, and measure all of them.
    Fixed(u64),
    /// Run to the end of the traffic, at most up to this cycle.
    ToEnd(Cycle),
}

/// What is known of the network before these sources send.
pub(super) fn unloaded(network: &dyn NetworkSpec, sources: &Config) -> Unloaded {
    // A law that cannot be built is refused where the sources are built.
    let phits = sources.message_phits().unwrap_or(f64::from(sources.packet_phits));
    network.unloaded(phits)
}

/// Settings of the lengths of a run.
const LENGTHS: [&str; 4] = ["warmup", "conv-period", "max-conv-time", "sample-size"];
/// Packets that a node can send in a batch of the default length, at least.
const PACKETS: f64 = 12.0;

/// Makes the default lengths of a run longer where the latency without load, or the time of a packet, is long: a batch
/// lasts as long as the one, and as several of the other, and all lengths grow by the same factor. Lengths that are set
/// stay.
///
/// Decision: docs/decisions/0330-verdicts-know-the-flight.md.
pub(super) fn lengthen(settings: &mut Settings, network: &dyn NetworkSpec, unloaded: Unloaded) {
    let units = network.units();
    let packet = f64::from(units.packet_phits) / units.capacity;
    let scale = (unloaded.latency as f64).max(PACKETS * packet);
    let factor = scale / usual(settings, "sample-size");
    if factor <= 1.0 {
        return;
    }
    for name in LENGTHS {
        if settings.has(name) {
            continue;
        }
        let cycles = (usual(settings, name) * factor).min(MAX_CYCLES as f64 / 2.0);
        // Two digits, rounded up.
        let unit = 10_f64.powf((cycles.log10().floor() - 1.0).max(0.0));
        settings.settle(name, &(((cycles / unit).ceil() * unit) as u64).to_string());
    }
}

/// \[cycles\] The default of a length in the model in force.
fn usual(settings: &Settings, name: &'static str) -> f64 {
    settings.usual(name).and_then(|value| value.parse().ok()).unwrap_or(1.0)
}

/// \[batches, shots\] Number to measure.
pub(super) fn samples(settings: &Settings) -> Result<u64, SettingsError> {
    let samples: u64 = settings.integer("samples")?;
    if (1..=MAX_SAMPLES).contains(&samples) {
        return Ok(samples);
    }
    let remedy = phrase!["use 1 to {MAX_SAMPLES}; longer ones (", ["sample-size"], ") measure as much"];
    Err(settings.error("samples", ErrorKind::OutOfRange, phrase![["samples" => samples], " is out of range"], remedy))
}

/// The plan of a run; `ends` says whether the traffic is finite, `settles` \[cycles\] from when on a state can be steady.
pub(super) fn plan(settings: &Settings, ends: bool, settles: u64) -> Result<RunPlan, SettingsError> {
    let cycles = |name: &'static str, least: u64| {
        let value: u64 = settings.integer(name)?;
        if (least..=MAX_CYCLES).contains(&value) {
            return Ok(value);
        }
        Err(settings.error(
            name,
            ErrorKind::OutOfRange,
            phrase![[name => value], " is out of range"],
            format!("use {least} to 2^60"),
        ))
    };
    if ends {
        let limit = if settings.is_set("max-cycles") { Cycle::FIRST + cycles("max-cycles", 1)? } else { Cycle::NEVER };
        return Ok(RunPlan::ToEnd(limit));
    }
    if settings.is_set("cycles") {
        return Ok(RunPlan::Fixed(cycles("cycles", 1)?));
    }
    let conv_threshold = settings.number("conv-threshold")?;
    if conv_threshold < 0.0 {
        let what = phrase![["conv-threshold" => conv_threshold], " is negative"];
        return Err(settings.error("conv-threshold", ErrorKind::OutOfRange, what, "use a share such as 0.05"));
    }
    let plan = BatchPlan {
        warmup: cycles("warmup", 0)?,
        conv_period: cycles("conv-period", 1)?,
        conv_threshold,
        max_conv_time: cycles("max-conv-time", 0)?,
        samples: samples(settings)?,
        sample_size: cycles("sample-size", 1)?,
        min_batch_packets: settings.integer("min-batch-packets")?,
        settles,
    };
    if plan.samples.saturating_mul(plan.sample_size) > MAX_CYCLES {
        let what =
            phrase![["samples" => plan.samples], (" of {} cycles each are more than 2^60 cycles", plan.sample_size)];
        return Err(settings.error("samples", ErrorKind::TooLarge, what, "use fewer or shorter samples"));
    }
    Ok(RunPlan::Batch(plan))
}

//! Settings of all workloads with tasks: the speed of the tasks, and their placement.

use trgen::Picoseconds;
use trgen::catalog::ErrorKind;
use trgen::clock::Clock;
use trgen::phrase;
use trgen::trace::placement::Placement;
use trgen::trace::replay::Pace;

use crate::Experiment;
use crate::live::cycle_ratio;
use crate::quantity::bits_per_second;
use crate::settings::{Settings, SettingsError};
use fsin_core::family::NetworkSpec;

/// The placement of tasks. The path of a file in it is made relative to the working directory.
pub(crate) fn placement_of(settings: &Settings) -> Result<Placement, SettingsError> {
    let mut placement: Placement = settings.parsed("placement")?;
    placement.replace_file(|path| settings.folder_of("placement").join(path));
    Ok(placement)
}

/// \[s\] Length of a cycle.
pub(crate) fn cycle_seconds(settings: &Settings, network: &dyn NetworkSpec) -> Result<f64, SettingsError> {
    if let Some((numerator, denominator)) = network.cycle() {
        return Ok(numerator as f64 / denominator as f64 * 1e-12);
    }
    let bandwidth = settings.word("bandwidth");
    let bits_per_second = bits_per_second(bandwidth).ok_or_else(|| {
        let what = phrase![["bandwidth"], " takes a rate in bits or bytes per second, not `{bandwidth}`"];
        settings.error(
            "bandwidth",
            ErrorKind::Malformed,
            what,
            phrase!["write ", ["bandwidth" => "10Gb/s"], " (prefixes k, M, G, T)"],
        )
    })?;
    Ok(f64::from(network.units().phit_bytes) * 8.0 / bits_per_second)
}

/// The length of a cycle, exactly where the rate is a whole number of bits in a second.
fn clock(settings: &Settings, network: &dyn NetworkSpec, cycle_seconds: f64) -> Option<Clock> {
    let exact = network.cycle().or_else(|| cycle_ratio(settings.word("bandwidth"), network.units().phit_bytes));
    let near = || Picoseconds::from_seconds(cycle_seconds).filter(|cycle| cycle.0 > 0);
    // 100 days, as for rates that are rounded.
    let is_short = |clock: &Clock| clock.span(1) < 9_200_000_000_000_000_000;
    match exact {
        Some((numerator, denominator)) => Clock::new(numerator, denominator).filter(is_short),
        None => near().map(|cycle| Clock::whole(cycle.0)),
    }
}

/// Computation speed of tasks.
pub(crate) fn pace(settings: &Settings, network: &dyn NetworkSpec, cycle_seconds: f64) -> Result<Pace, SettingsError> {
    let cycle = clock(settings, network, cycle_seconds).ok_or_else(|| {
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

/// \[ps\] The length of a cycle for sources whose own clock counts whole picoseconds.
///
/// # Errors
/// A phit that takes no whole number of them, even nearly.
pub(crate) fn whole_cycle(experiment: &Experiment) -> Result<Picoseconds, SettingsError> {
    experiment.pace.cycle.nearly_whole().map(Picoseconds).ok_or_else(|| {
        let (settings, phit) = (experiment.settings(), experiment.units.phit_bytes);
        let (numerator, denominator) = experiment.pace.cycle.ratio();
        // The smallest multiple of a phit that takes a whole number of picoseconds.
        let whole = u64::from(phit).saturating_mul(denominator);
        let what = phrase![
            ("a phit of {phit} bytes takes {numerator}/{denominator} ps, and these hosts count whole picoseconds")
        ];
        let remedy = phrase!["use ", ["phit-bytes" => whole], ", or another rate"];
        settings.error("bandwidth", ErrorKind::Conflict, what, remedy)
    })
}

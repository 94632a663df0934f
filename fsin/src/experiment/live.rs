//! The part of an experiment that live guests need: the network alone, and the length of its cycle as a fraction.

use trgen::catalog::ErrorKind;
use trgen::phrase;

use super::execute::{Trouble, network};
use super::keys::{Heading, KEYS, Key};
use super::quantity::rate;
use super::resolve::Experiment;
use crate::network::Network;

/// Keys of run control that apply where guests determine the length of the run.
const RUN_CONTROL: &[&str] = &["watchdog", "engine", "threads", "seed"];

/// The keys that apply to a run of live guests.
pub fn live_keys() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(|key| {
        key.heading == Heading::Network || matches!(key.name, "source") || RUN_CONTROL.contains(&key.name)
    })
}

/// \[ps\] Cycle time at this bandwidth, as a fraction: the transmission time of a phit. `None` for a word that is not a
/// rate in bits per second, or not a whole number of them below 2^53.
#[must_use]
pub fn cycle_ratio(bandwidth: &str, phit_bytes: u32) -> Option<(u64, u64)> {
    let bits_per_second = rate(bandwidth, "b").filter(|rate| rate.fract() == 0.0 && *rate < 9.0e15)?;
    Some((u64::from(phit_bytes).checked_mul(8_000_000_000_000)?, bits_per_second as u64))
}

/// The network of an experiment, without traffic.
///
/// # Errors
/// Settings that prove inconsistent.
pub fn live_network(experiment: &Experiment) -> Result<Box<dyn Network>, Trouble> {
    if let Some(lost) = experiment.foreseen.first() {
        let what = phrase![lost, ", and guests would wait for them"];
        return Err(experiment
            .settings()
            .error("faults", ErrorKind::Conflict, what, super::router::no_way_round())
            .into());
    }
    network(experiment).map(|(network, _)| network)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_an_exact_fraction() {
        assert_eq!(cycle_ratio("10Gb/s", 4), Some((32_000_000_000_000, 10_000_000_000)));
        assert_eq!(cycle_ratio("0.5b/s", 4), None);
        assert_eq!(cycle_ratio("fast", 4), None);
    }
}

//! The part of an experiment that live guests need: the network alone, and the length of its cycle as a fraction.

use trgen::catalog::SpecError;
use trgen::phrase;

use super::conflicts::Times;
use super::keys::{Heading, Key, keys};
use super::models::is_of_models;
use super::quantity::rate;
use super::resolve::{Experiment, check_source};
use super::settings::SettingsError;
use fsin_core::family::ForGuests;

/// Keys that apply to live guests, in addition to those of the network.
const GUESTS: &[&str] = &["source", "seed"];

/// The keys that apply to a run of live guests.
pub fn live_keys() -> impl Iterator<Item = &'static Key> {
    keys().iter().filter(|key| {
        let is_of_network = key.heading == Heading::Network || is_of_models(key.name);
        (is_of_network && !key.keeps) || GUESTS.contains(&key.name)
    })
}

/// \[ps\] Cycle time at this bandwidth, as a fraction: the transmission time of a phit. `None` for a word that is not a
/// rate in bits per second, or not a whole number of them below 2^53.
#[must_use]
pub fn cycle_ratio(bandwidth: &str, phit_bytes: u32) -> Option<(u64, u64)> {
    let bits_per_second = rate(bandwidth, "b").filter(|rate| rate.fract() == 0.0 && *rate < 9.0e15)?;
    Some((u64::from(phit_bytes).checked_mul(8_000_000_000_000)?, bits_per_second as u64))
}

/// The network of an experiment between guests.
///
/// # Errors
/// Settings that prove inconsistent or have no meaning with guests, or a model that carries no single messages.
pub fn live_network(experiment: &Experiment) -> Result<ForGuests, SettingsError> {
    let settings = experiment.settings();
    let placed = |refusal: SpecError| settings.placed(refusal.setting().unwrap_or("network"), refusal);
    if let Some(lost) = experiment.network.unreachable() {
        let what = phrase![lost.what(), "; their messages are dropped, and guests would wait for them"];
        return Err(placed(lost.saying(what)));
    }
    check_source(settings, experiment.model, &*experiment.network, Times::Application)?;
    experiment.network.for_guests().map_err(placed)
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

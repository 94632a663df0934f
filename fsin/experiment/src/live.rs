//! The part of an experiment that messages of programs need, those of live guests and those of a [`Session`]: the network
//! alone, and the length of its cycle as a fraction.
//!
//! [`Session`]: crate::Session

use trgen::catalog::{ErrorKind, SpecError};
use trgen::clock::Clock;
use trgen::phrase;

use super::conflicts::Times;
use super::execute;
use super::keys::{Heading, Key, keys};
use super::models::{is_of_models, model};
use super::quantity::bits_per_second;
use super::resolve::{CLOSED_LOOP, Experiment, check_source};
use super::settings::{Origin, Settings, SettingsError};
use fsin_core::family::ForGuests;
use fsin_core::network::Network;

/// Keys that apply to messages of programs, in addition to those of the network.
const GUESTS: &[&str] = &["source", "seed"];

/// The keys that apply to a run of live guests.
pub fn live_keys() -> impl Iterator<Item = &'static Key> {
    keys().iter().filter(|key| {
        let is_of_network = key.heading == Heading::Network || is_of_models(key.name);
        (is_of_network && !key.keeps) || GUESTS.contains(&key.name)
    })
}

/// The settings of a network whose messages programs send: they wait by themselves, and their messages have bytes and
/// times.
///
/// # Errors
/// A setting that has no meaning then.
pub fn live_settings(mut settings: Settings) -> Result<Settings, SettingsError> {
    let model = model(&settings)?;
    // Both have a meaning to messages of programs, but not to synthetic traffic, whose checks refuse the flags: defaults
    // are never refused.
    const OF_TASKS: [&str; 2] = ["bandwidth", "phit-bytes"];
    for key in keys() {
        if !settings.is_set(key.name) {
            continue;
        }
        if OF_TASKS.contains(&key.name) && model.understands(key.name) {
            let value = settings.word(key.name).to_owned();
            settings.set(key.name, value, Origin::Default)?;
        } else if !live_keys().any(|live| live.name == key.name) {
            let what = phrase![[key.name], " has no meaning where a program sends the messages"];
            return Err(settings.error(key.name, ErrorKind::Meaningless, what, "leave it out"));
        }
    }
    if !settings.is_set("source") {
        settings.set("source", CLOSED_LOOP, Origin::Default)?;
    }
    Ok(settings)
}

/// \[ps\] Cycle time at this bandwidth, as a fraction: the transmission time of a phit. `None` for a word that is not a
/// rate in bits per second, or not a whole number of them below 2^53.
#[must_use]
pub fn cycle_ratio(bandwidth: &str, phit_bytes: u32) -> Option<(u64, u64)> {
    let bits_per_second = bits_per_second(bandwidth).filter(|rate| rate.fract() == 0.0 && *rate < 9.0e15)?;
    Some((u64::from(phit_bytes).checked_mul(8_000_000_000_000)?, bits_per_second as u64))
}

/// The cycle of an experiment's network as an exact length of time.
///
/// # Errors
/// A bandwidth at which a phit takes less than 1 ps, or that is not a whole number of bits per second.
pub fn live_clock(experiment: &Experiment) -> Result<Clock, SettingsError> {
    let settings = experiment.settings();
    let bandwidth = settings.word("bandwidth");
    let ratio = experiment.network.cycle().or_else(|| cycle_ratio(bandwidth, experiment.units.phit_bytes));
    ratio.and_then(|(numerator, denominator)| Clock::new(numerator, denominator)).ok_or_else(|| {
        let what = phrase![
            ["bandwidth" => bandwidth],
            ": a phit must take 1 ps or more, at a whole number of bits/s"
        ];
        let remedy = phrase!["write ", ["bandwidth" => "10Gb/s"], " (prefixes k, M, G, T)"];
        settings.error("bandwidth", ErrorKind::OutOfRange, what, remedy)
    })
}

/// The network of an experiment between guests.
///
/// # Errors
/// Settings that prove inconsistent or have no meaning with guests, or a model that carries no single messages.
pub fn live_network(experiment: &Experiment) -> Result<ForGuests, SettingsError> {
    check_live(experiment)?;
    experiment.network.for_guests().map_err(|refusal| placed(experiment, refusal))
}

/// The network of an experiment, which reports every arrival when it happens.
///
/// # Errors
/// As [`live_network`].
pub(super) fn message_network(experiment: &Experiment) -> Result<Box<dyn Network>, SettingsError> {
    check_live(experiment)?;
    execute::network(experiment)
}

/// Rejects a network that loses messages for good, and a source policy without effect.
fn check_live(experiment: &Experiment) -> Result<(), SettingsError> {
    if let Some(lost) = experiment.network.unreachable() {
        let what = phrase![lost.what(), "; their messages are dropped, and guests would wait for them"];
        return Err(placed(experiment, lost.saying(what)));
    }
    check_source(experiment.settings(), experiment.model, &*experiment.network, Times::Application)
}

/// A refusal of the network as an error of its setting.
fn placed(experiment: &Experiment, refusal: SpecError) -> SettingsError {
    experiment.settings().placed(refusal.setting().unwrap_or("network"), refusal)
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

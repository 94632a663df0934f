//! What can be set of a Myrinet, and which settings make sense.

use fsin_core::failures::Timetable;
use fsin_core::messages::Payload;
use fsin_core::route::Name;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

/// \[b/s\] Minimum and maximum data rate of the links.
pub const RATES: std::ops::RangeInclusive<u64> = 1_000_000..=1_000_000_000_000;

/// \[ticks\] Ticks of the model's own clock in a picosecond. A character at 5.12 Gb/s takes 1 562.5 ps.
pub(crate) const TICKS: u64 = 16;

/// \[ticks\] The end of simulated time, after 6 days: nothing happens later.
pub(crate) const END: u64 = 1 << 63;

/// \[ps\] Longest delay of a cable.
pub const MAX_DELAY: u64 = MICROSECOND * 1_000;

/// \[ps\] Longest time of any other setting: an hour.
pub const MAX_TIME: u64 = 3_600 * 1_000_000 * MICROSECOND;

/// \[characters\] Largest slack buffer.
pub const MAX_SLACK: u32 = 1 << 24;

/// \[bytes\] Largest payload of a packet.
pub const MAX_PAYLOAD: u32 = 1 << 20;

/// \[characters\] Length of a packet without route, payload and GAP: packet type 4, CRC 1.
pub(crate) const AROUND: u32 = 5;

/// \[ps\] A microsecond.
const MICROSECOND: u64 = 1_000_000;

/// \[characters\] Shortest permitted time between two BEATs, and shortest timeout.
const LEAST_TIME: u64 = 64;

/// All settings of a Myrinet.
#[derive(Clone, PartialEq, Debug)]
pub struct Params {
    /// \[b/s\] Data rate of links that the topology gives none: a character has 8 bits.
    pub link_rate: u64,
    /// \[m\] Length of a cable.
    pub cable_length: f64,
    /// \[m/s\] Velocity of propagation.
    pub cable_velocity: f64,
    /// \[characters\] Size of the slack buffer at each input of a switch.
    pub slack: u32,
    /// \[characters\] High-water mark: an input that holds more sends STOP.
    pub high_mark: u32,
    /// \[characters\] Low-water mark: an input that has sent STOP and holds fewer sends GO.
    pub low_mark: u32,
    /// \[bytes\] Maximum data of a message in a packet.
    pub payload: u32,
    /// True if a switch passes a character on after its end, false if with its leading edge.
    pub store_character: bool,
    /// \[ps\] Time between two BEATs on each channel.
    pub beat: u64,
    /// \[ps\] Maximum age of a packet, from its first character. An older packet that has not arrived is removed.
    pub timeout: u64,
    /// The routing by which a sender finds the route of a packet.
    pub routing: Name,
    /// True if routes that can deadlock are permitted. Timeouts end a deadlock.
    pub unsafe_routing: bool,
    /// \[links\] Number of links between switches that are dead from the start.
    pub faults: usize,
    /// Links that die and are repaired during the run, seen at once. The topology has them all.
    pub timetable: Timetable,
    /// Seed of all draws.
    pub seed: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            link_rate: 1_280_000_000,
            cable_length: 10.0,
            cable_velocity: 1.8e8,
            slack: 96,
            high_mark: 56,
            low_mark: 40,
            payload: 4_096,
            store_character: false,
            beat: 1_000_000 * MICROSECOND,
            timeout: 1_000_000 * MICROSECOND,
            routing: Name::UPDOWN,
            unsafe_routing: false,
            faults: 0,
            timetable: Timetable::default(),
            seed: 1,
        }
    }
}

/// \[ticks\] Time of a character at `rate` b/s, rounded to the nearest.
pub(crate) const fn character_ticks(rate: u64) -> u64 {
    let bits = 8_000_000_000_000 * TICKS;
    (bits + rate / 2) / rate
}

impl Params {
    /// \[ticks\] Time of a character on a usual link.
    pub(crate) const fn character(&self) -> u64 {
        character_ticks(self.link_rate)
    }

    /// \[ticks\] Propagation through a cable, rounded to the nearest; at least 1.
    pub(crate) fn propagation(&self) -> u64 {
        let ticks = self.cable_length / self.cable_velocity * 1e12 * TICKS as f64;
        (ticks.round() as u64).max(1)
    }

    /// Number of packets that a message of this many bytes is cut into; a message of 0 bytes is one packet.
    #[must_use]
    pub const fn packets_of(&self, bytes: u64) -> u64 {
        Payload(self.payload).packets_of(bytes)
    }

    /// Refuses values out of range. Checks that depend on the topology are made by [`check`](crate::check).
    ///
    /// # Errors
    /// The first value that cannot be used.
    pub fn check(&self) -> Result<(), SpecError> {
        let shortest = (LEAST_TIME * self.character()).div_ceil(TICKS).max(1);
        let ranges = [
            ("link-rate", self.link_rate, RATES),
            ("slack", self.slack.into(), 1..=MAX_SLACK.into()),
            ("high-mark", self.high_mark.into(), 1..=MAX_SLACK.into()),
            ("low-mark", self.low_mark.into(), 1..=self.high_mark.into()),
            ("payload", self.payload.into(), 1..=MAX_PAYLOAD.into()),
            ("beat", self.beat, shortest..=MAX_TIME),
            ("packet-timeout", self.timeout, shortest..=MAX_TIME),
        ];
        for (key, value, range) in ranges {
            if !range.contains(&value) {
                return Err(SpecError::out_of_range(key, value, range));
            }
        }
        for (key, value, range) in
            [("cable-length", self.cable_length, 1e-6..=1e5), ("cable-velocity", self.cable_velocity, 1e6..=3e8)]
        {
            if !range.contains(&value) {
                let what = phrase![[key => value], " is out of range"];
                let remedy = format!("use {} to {}", range.start(), range.end());
                return Err(SpecError::new(ErrorKind::OutOfRange, what, remedy).of(key).given(value));
            }
        }
        Ok(())
    }

    /// Checks that no slack buffer overflows that needs `least` characters.
    pub(crate) fn check_slack(&self, least: u64) -> Result<(), SpecError> {
        if u64::from(self.slack) >= least {
            return Ok(());
        }
        let what = phrase![
            ["slack" => self.slack],
            " is too short: beyond ",
            ["high-mark" => self.high_mark],
            (", up to {} more characters may come before STOP has an effect", least - u64::from(self.high_mark))
        ];
        let remedy = phrase![
            "use ",
            ["slack" => least],
            " or more, a lower ",
            ["high-mark"],
            " (and ",
            ["low-mark"],
            ") or a shorter ",
            ["cable-length"]
        ];
        Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("slack"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_characters_and_cables() {
        let params = Params::default();
        assert_eq!((params.character(), params.propagation()), (6_250 * TICKS, 888_889));
        let fast = Params { link_rate: 5_120_000_000, ..params };
        assert_eq!(fast.character(), 25_000);
    }
}

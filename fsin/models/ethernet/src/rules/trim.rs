//! Queues of two levels whose switches cut off the data of frames that find no room: the victim and its header.
//!
//! The lower level holds data, the upper one control frames and trimmed frames. The length of a level includes the
//! frame in transmission.
//!
//! Sources: Handley and others, NDP, SIGCOMM 2017, 3.1; Ultra Ethernet Specification 1.0, 4.1 (packet trimming).
//!
//! Decision: docs/decisions/0520-rooms-of-slow-ports.md.

use trgen::rng::mix2;

use super::alive::Alive;
use super::marking::{MarkRule, Marking, Thresholds};
use super::spray::Trips;
use super::wiring::Wiring;
use crate::params::{Params, Transport};

/// Which frame is cut where there is no room for one more.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TrimMode {
    /// The one that arrives, or the last one of the queue, by a coin.
    Coin,
    /// The one that arrives.
    Arriving,
    /// None: the one that arrives is dropped.
    Off,
}

/// Every mode with its name.
pub const TRIM_MODES: [(&str, TrimMode); 3] =
    [("coin", TrimMode::Coin), ("arriving", TrimMode::Arriving), ("off", TrimMode::Off)];

impl TrimMode {
    /// True if frames are cut and not dropped.
    #[must_use]
    pub const fn trims(self) -> bool {
        !matches!(self, Self::Off)
    }
}

/// The queues of two levels of a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trim {
    /// Which frame is cut.
    pub mode: TrimMode,
    /// \[bytes\] Room of the lower level at a port of the rate of the fastest host; other ports have theirs in
    /// proportion, slow ones that of two frames at least.
    /// `None`: the frames that are in flight in a round trip of the network.
    pub room: Option<u64>,
    /// \[bytes\] Size of a trimmed frame on the wire.
    pub size: u32,
}

/// The frame that a port is sending.
#[derive(Clone, Copy, Default, Debug)]
struct Serving {
    /// \[ps\] When its last bit leaves.
    until: u64,
    /// \[bytes\] By level, the lower one first.
    bytes: [u32; 2],
}

/// Treatment of an arriving data frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Admission {
    /// It joins the lower level.
    Joins,
    /// It is cut.
    Cut,
    /// It replaces the last frame of the level, which is cut.
    Replaces,
    /// It is dropped.
    Dropped,
}

/// The state of all ports.
#[derive(Clone, Debug)]
pub(crate) struct Trimming {
    mode: TrimMode,
    /// \[bytes\] Size of a trimmed frame.
    pub(crate) size: u16,
    /// \[bytes\] By port: room of the lower level.
    rooms: Vec<u64>,
    /// By port: true if it leads to a host.
    pub(crate) to_host: Vec<bool>,
    serving: Vec<Serving>,
    draws: u64,
}

impl Trimming {
    pub(crate) fn new(trim: Trim, params: &Params, wiring: &Wiring, rooms: Vec<u64>) -> Self {
        const PURPOSE: u64 = 0x7472_696d;
        Self {
            mode: trim.mode,
            size: trim.size as u16,
            rooms,
            to_host: wiring.links.iter().map(|link| !link.is_to_switch).collect(),
            serving: vec![Serving::default(); wiring.links.len()],
            draws: mix2(params.seed, PURPOSE),
        }
    }

    /// \[bytes\] Size of the frame that a port is sending, if it is of a level (0: lower); otherwise 0.
    #[inline]
    pub(crate) fn sending(&self, port: usize, level: usize, now: u64) -> u64 {
        let of = &self.serving[port];
        if of.until > now { of.bytes[level].into() } else { 0 }
    }

    /// A port begins to send a frame of a level.
    #[inline]
    pub(crate) fn serve(&mut self, port: usize, level: usize, bytes: u32, until: u64) {
        let mut of = Serving { until, bytes: [0; 2] };
        of.bytes[level] = bytes;
        self.serving[port] = of;
    }

    /// The link of a port has died.
    pub(crate) fn cut(&mut self, port: usize) {
        self.serving[port] = Serving::default();
    }

    /// Decides on a data frame of `bytes` bytes, with `low` bytes in the lower level; `key` is that of its draws.
    #[inline]
    pub(crate) fn admit(&self, port: usize, low: u64, bytes: u64, key: u64) -> Admission {
        if low + bytes <= self.rooms[port] {
            return Admission::Joins;
        }
        match self.mode {
            TrimMode::Off => Admission::Dropped,
            TrimMode::Arriving => Admission::Cut,
            TrimMode::Coin if mix2(mix2(self.draws, port as u64), key) >> 63 == 0 => Admission::Cut,
            TrimMode::Coin => Admission::Replaces,
        }
    }

    /// True if the upper level with `high` bytes has room for `bytes` more.
    #[inline]
    pub(crate) fn has_high_room(&self, port: usize, high: u64, bytes: u64) -> bool {
        high + bytes <= 2 * self.rooms[port]
    }
}

/// \[bytes\] Frames in flight on the longest path at a rate \[b/s\].
pub(crate) fn frames_in_flight(params: &Params, trips: &Trips, rate: u64) -> u64 {
    let frame = f64::from(params.frames.of(params.frames.mtu));
    ((trips.network(rate) as f64 * rate as f64 / 8e12 / frame).ceil() as u64).max(1)
}

impl Params {
    /// \[bytes\] The room of a port of the rate of hosts \[b/s\].
    pub(crate) fn room_of_rate(&self, trips: &Trips, rate: u64) -> u64 {
        let frame = u64::from(self.frames.of(self.frames.mtu));
        match self.switch.trim {
            Some(Trim { room: Some(room), .. }) => room,
            None => u64::from(self.port_queue) * frame,
            Some(Trim { mode, room: None, .. }) => {
                let in_flight = frames_in_flight(self, trips, rate);
                match (self.transport, mode) {
                    (Transport::Ndp, _) => 15 * frame,
                    (_, TrimMode::Off) => 5 * in_flight * frame,
                    _ => in_flight.max(2) * frame,
                }
            }
        }
    }
}

/// Capacities and marking thresholds of queues of two levels, with defaults from the round trip.
#[derive(Clone, Debug)]
pub(crate) struct TwoLevels {
    /// \[b/s\] The rate of the fastest host, to which settings refer.
    pub(crate) rate: u64,
    /// \[bytes\] Room of the lower level at that rate.
    pub(crate) room: u64,
    /// \[bytes\] By port: room of the lower level.
    pub(crate) rooms: Vec<u64>,
    /// Default thresholds, if the transport reads marks.
    pub(crate) marking: Option<Marking>,
}

impl TwoLevels {
    pub(crate) fn new(params: &Params, wiring: &Wiring, alive: &Alive) -> Self {
        let trips = Trips::new(params, wiring, alive);
        let of_hosts = (0..wiring.hosts as u32).map(|host| wiring.links[wiring.host_port(host)].rate);
        let rate = of_hosts.max().unwrap_or(1);
        let room = params.room_of_rate(&trips, rate);
        let of_rate = |of: u64| (u128::from(room) * u128::from(of) / u128::from(rate)) as u64;
        // No frame of data would ever pass a slow port with less room than a frame.
        let least = room.min(2 * u64::from(params.frames.longest()));
        let in_flight = frames_in_flight(params, &trips, rate) as f64;
        let frames = |share: f64| (in_flight * share).ceil() as u64 * u64::from(params.frames.of(params.frames.mtu));
        let thresholds = Thresholds { min: frames(0.2), max: frames(0.8), probability: 1.0 };
        let rule = MarkRule { class: None, rate: None, thresholds };
        Self {
            rate,
            room,
            rooms: wiring.links.iter().map(|link| of_rate(link.rate).max(least)).collect(),
            marking: params.transport.marks_usually().then(|| Marking { rules: vec![rule] }),
        }
    }
}

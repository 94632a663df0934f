//! What is counted of the classes of each port, and of the buffer of each switch.

use super::frame::CLASSES;

/// Counts and lengths of a class at a port.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct OfClass {
    /// \[frames\] Frames that were marked.
    pub(crate) marked: u64,
    /// \[frames\] Frames that found no room, at the input or at the output.
    pub(crate) dropped: u64,
    /// \[frames\] Pause frames sent through the port.
    pub(crate) pauses: u64,
    /// Number of times that a watchdog has dropped what waited.
    pub(crate) watchdogs: u64,
    /// \[bytes\] The longest queue.
    pub(crate) longest: u64,
    /// \[bytes x ps\] Length of the queue, summed over time.
    area: u128,
    /// \[bytes\] Length of the queue.
    bytes: u32,
    /// \[ps\] Time at which that last changed.
    changed: u64,
    /// \[ps\] Time for which the class was paused, without the present pause.
    paused: u64,
    /// \[ps\] Beginning of the present pause.
    since: Option<u64>,
}

impl OfClass {
    /// \[bytes x ps\] Length of the queue, summed over time up to `now`.
    pub(crate) fn area(&self, now: u64) -> u128 {
        self.area + u128::from(self.bytes) * u128::from(now - self.changed)
    }

    /// \[ps\] Time for which the class was paused up to `now`.
    pub(crate) fn paused(&self, now: u64) -> u64 {
        self.paused + self.since.map_or(0, |since| now - since)
    }
}

/// The occupancy of the buffer of a switch.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Occupancy {
    /// \[bytes\] The greatest.
    pub(crate) most: u64,
    /// \[bytes x ps\] Summed over time.
    area: u128,
    bytes: u64,
    changed: u64,
}

impl Occupancy {
    /// \[bytes x ps\] Summed over time up to `now`.
    pub(crate) fn area(&self, now: u64) -> u128 {
        self.area + u128::from(self.bytes) * u128::from(now - self.changed)
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The queue of a class has so many bytes now.
    Queue { class: u8, bytes: u32 },
    /// A frame was marked.
    Marked { class: u8 },
    /// A frame was dropped.
    Dropped { class: u8 },
    /// A pause frame was sent.
    Pause { class: u8 },
    /// The port's class was paused, or may go on.
    Paused { class: u8, is_off: bool },
    /// A watchdog has dropped what waited of a class.
    Watchdog { class: u8 },
    /// The buffer of the port's switch holds so many bytes now.
    Held { switch: u32, bytes: u64 },
}

/// All counts; empty where switches have no classes.
#[derive(Clone, Default, Debug)]
pub(crate) struct Tally {
    pub(crate) ports: Vec<[OfClass; CLASSES]>,
    pub(crate) switches: Vec<Occupancy>,
}

impl Tally {
    pub(crate) fn new(ports: usize, switches: usize) -> Self {
        Self { ports: vec![[OfClass::default(); CLASSES]; ports], switches: vec![Occupancy::default(); switches] }
    }

    /// Counts something at a port at time `at` \[ps\].
    #[inline(always)]
    pub(crate) fn count(&mut self, port: usize, at: u64, event: Event) {
        let classes = &mut self.ports[port];
        match event {
            Event::Queue { class, bytes } => {
                let of = &mut classes[usize::from(class)];
                (of.area, of.changed, of.bytes) = (of.area(at), at, bytes);
                of.longest = of.longest.max(bytes.into());
            }
            Event::Marked { class } => classes[usize::from(class)].marked += 1,
            Event::Dropped { class } => classes[usize::from(class)].dropped += 1,
            Event::Pause { class } => classes[usize::from(class)].pauses += 1,
            Event::Watchdog { class } => classes[usize::from(class)].watchdogs += 1,
            Event::Paused { class, is_off } => {
                let of = &mut classes[usize::from(class)];
                match (is_off, of.since) {
                    (true, None) => of.since = Some(at),
                    (false, Some(_)) => (of.paused, of.since) = (of.paused(at), None),
                    _ => {}
                }
            }
            Event::Held { switch, bytes } => {
                let of = &mut self.switches[switch as usize];
                (of.area, of.changed, of.bytes) = (of.area(at), at, bytes);
                of.most = of.most.max(bytes);
            }
        }
    }
}

//! Events and their order.

/// An event. Events with equal `at` and `order` are interchangeable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Event {
    /// \[ps\] Time of the event.
    pub(super) at: u64,
    /// The order of events that happen at the same time: the least is first.
    pub(super) order: u64,
    /// The frame, or the connection of a timer, that the event concerns.
    pub(super) handle: u32,
}

impl Event {
    /// The event's place in the order of events.
    #[inline(always)]
    const fn key(&self) -> u128 {
        (self.at as u128) << 64 | self.order as u128
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    #[inline(always)]
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl trgen::calendar::Event for Event {
    #[inline(always)]
    fn time(&self) -> u64 {
        self.at
    }
}

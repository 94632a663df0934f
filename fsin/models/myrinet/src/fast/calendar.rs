//! Future events, in the order of their times; events at the same time are in the order of their kinds.

use std::cmp::Ordering;

/// What happens, in the order of events at the same time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    /// The run of characters through the channel of a port has been interrupted: the next character does not arrive.
    End,
    /// A run of characters begins to arrive through the channel of a port.
    Start,
    /// The CRC of a packet arrives at a host, at the input of a port.
    Deliver,
    /// STOP (1) or GO (0) has come through the channel of a port.
    Mark,
    /// The channel of a port has sent a GAP.
    Finish,
    /// The head of an input may ask for an output.
    Ask,
    /// The channel of a port has sent all characters that had come before the run into its input was interrupted.
    Starve,
    /// The channel of a port may begin a character.
    TryStart,
    /// The buffer of an input may cross a mark.
    CrossMark,
}

/// An event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Event {
    /// \[ticks\] When it happens.
    pub(super) at: u64,
    pub(super) kind: Kind,
    /// Number of the port whose channel or input is concerned.
    pub(super) port: u32,
    /// The packet concerned; [`u32::MAX`] if there is none.
    pub(super) packet: u32,
    /// By kind: the index of a character, a version of the port's state, or 1 for STOP and 0 for GO.
    pub(super) index: u32,
    /// By kind: the serial number of the packet, by which a reused packet slot is detected.
    pub(super) serial: u64,
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.kind).cmp(&(other.at, other.kind))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl trgen::calendar::Event for Event {
    #[inline(always)]
    fn time(&self) -> u64 {
        self.at
    }
}

/// All future events.
#[derive(Debug)]
pub(super) struct Calendar {
    events: trgen::calendar::Calendar<Event>,
}

impl Calendar {
    /// A calendar for events that are mostly added at most `span` ticks before they happen, and of which about one
    /// happens every `spacing` ticks.
    pub(super) fn new(span: u64, spacing: u64) -> Self {
        Self { events: trgen::calendar::Calendar::new(span, spacing) }
    }

    /// Adds an event.
    #[inline]
    pub(super) fn add(&mut self, event: Event) {
        self.events.add(event);
    }

    /// Adds an event that concerns a port and no packet.
    #[inline]
    pub(super) fn add_for(&mut self, at: u64, kind: Kind, port: u32, index: u32) {
        self.add(Event { at, kind, port, packet: u32::MAX, index, serial: 0 });
    }

    /// \[ticks\] The time of the next event; [`u64::MAX`] if there is none.
    #[inline]
    pub(super) fn next_at(&mut self) -> u64 {
        self.events.first().map_or(u64::MAX, |next| next.at)
    }

    /// Removes the next event, if its time is at most `at` and its kind is `until` or an earlier one.
    #[inline]
    pub(super) fn pop(&mut self, at: u64, until: Kind) -> Option<Event> {
        self.events.first().filter(|next| next.at <= at && next.kind <= until)?;
        self.events.pop()
    }
}

//! A connection with a sliding window: from one host to another, for ever open, without a handshake.
//!
//! Segments are numbered, windows are counted in bytes. A congestion control has the window; a loss is found and
//! repaired as in RFC 6582, which RFC 5681, 3.2, leaves open; time-outs as in RFC 6298, the clock being exact. Every
//! segment is acknowledged at once, or every second one. The receiver keeps what comes out of order, and passes
//! messages on in order. A time-out that is not the first of its segment lasts longer by a draw of up to an eighth:
//! with clocks that agree to the picosecond the same segments would collide again and again (Floyd, Jacobson, On
//! traffic phase effects in packet-switched gateways, CCR 21(2), 1991). After a time-out the sender begins again with
//! the oldest segment that is not acknowledged.

use std::collections::{BTreeSet, VecDeque};

use trgen::rng::mix2;

use super::cc::newreno::NewReno;
use crate::cc::{Acknowledged, CongestionControl, Environment, Machine};
use crate::params::Params;

/// A segment that has been sent and is not acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Segment {
    /// The message of which it carries a frame.
    message: u32,
    /// Number of that frame in its message.
    index: u64,
    /// \[bytes\] Size as the window counts it: at least 1.
    bytes: u64,
    /// \[ps\] Time at which it was last handed to the port.
    sent: u64,
    /// True if that is the last frame of the message.
    is_last: bool,
    /// True if it has been sent again, so that it gives no sample of the round trip.
    is_retransmitted: bool,
}

/// A segment that is handed to the port of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sent {
    /// The message of which it carries a frame.
    pub(crate) message: u32,
    /// Number of that frame in its message.
    pub(crate) index: u64,
    /// Number of the segment in its connection.
    pub(crate) number: u64,
    /// True if the segment was sent before.
    pub(crate) is_again: bool,
}

/// A message that has been accepted and not been cut into segments completely.
#[derive(Clone, Copy, Debug)]
struct Unsent {
    /// The message.
    message: u32,
    /// Number of the next segment in the message.
    next: u64,
    /// Number of segments of the message.
    segments: u64,
    /// \[bytes\] Length of the message.
    bytes: u64,
}

/// Counters of all connections.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Counters {
    /// Number of segments sent again.
    pub(crate) retransmissions: u64,
    /// Number of fast retransmits.
    pub(crate) fast_retransmits: u64,
    /// Number of time-outs.
    pub(crate) timeouts: u64,
}

/// A connection: the state of its sender and of its receiver.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) source: u32,
    pub(crate) destination: u32,
    /// Traffic class of the message that was accepted last.
    pub(crate) class: u8,
    /// Sender: messages that have not been cut into segments completely.
    unsent: VecDeque<Unsent>,
    /// Sender: segments that have been sent and are not acknowledged, the oldest first.
    segments: VecDeque<Segment>,
    /// Sender: number of the oldest segment that is not acknowledged (SND.UNA).
    oldest: u64,
    /// Sender: number of the next segment to send (SND.NXT).
    next: u64,
    /// Sender: number of the first segment that has never been sent.
    fresh: u64,
    /// Sender: \[bytes\] sent and not acknowledged.
    flight: u64,
    /// Sender: \[bytes\] acknowledged so far.
    acknowledged: u64,
    /// Sender: how its window changes.
    control: Machine,
    /// Sender: number of duplicate acknowledgements in a row.
    duplicates: u32,
    /// Sender: fast recovery ends when all segments below this number are acknowledged.
    recover: u64,
    /// Sender: true during fast recovery.
    is_recovering: bool,
    /// Sender: \[ps\] smoothed round trip time and its variation; `None` until one has been measured.
    round_trip: Option<(u64, u64)>,
    /// Sender: \[ps\] the present time-out.
    timeout: u64,
    /// Sender: \[ps\] time at which the retransmission timer expires; `None` if it is off.
    pub(crate) deadline: Option<u64>,
    /// Sender: number of time-outs so far, for draws.
    timeouts: u64,
    /// Sender: \[ps\] time at which a segment was last sent.
    last_sent: u64,
    /// Receiver: number of the next segment that is expected.
    expected: u64,
    /// Receiver: numbers of the segments that have come out of order.
    ahead: BTreeSet<u64>,
    /// Receiver: messages in order, each with the number of the segment that follows it.
    incoming: VecDeque<(u32, u64)>,
    /// Receiver: segments that have come in order and are not acknowledged.
    pending: u32,
    /// Receiver: the mark of the last segment.
    is_marked: bool,
}

impl Connection {
    /// `line_rate` is that of the link of the source, in b/s.
    pub(crate) fn new(params: &Params, source: u32, destination: u32, line_rate: u64) -> Self {
        let environment = Environment {
            line_rate,
            segment: params.segment.into(),
            initial_window: params.initial_window.into(),
            dup_acks: params.dup_acks.into(),
            round_trip: 0,
            product: 0,
        };
        let control = match &params.control {
            Some(control) => control.begin(&environment),
            None => Machine::NewReno(NewReno::new(&environment)),
        };
        Self {
            source,
            destination,
            class: 0,
            unsent: VecDeque::new(),
            segments: VecDeque::new(),
            oldest: 0,
            next: 0,
            fresh: 0,
            flight: 0,
            acknowledged: 0,
            control,
            duplicates: 0,
            recover: 0,
            is_recovering: false,
            round_trip: None,
            timeout: params.rto_initial,
            deadline: None,
            timeouts: 0,
            last_sent: 0,
            expected: 0,
            ahead: BTreeSet::new(),
            incoming: VecDeque::new(),
            pending: 0,
            is_marked: false,
        }
    }

    /// Accepts a message of `bytes` bytes in `segments` segments.
    pub(crate) fn push(&mut self, message: u32, class: u8, bytes: u64, segments: u64) {
        self.class = class;
        let begin = self.incoming.back().map_or(self.expected, |&(_, end)| end);
        // With nothing incoming all segments before have been received.
        let begin = begin.max(self.expected);
        self.incoming.push_back((message, begin + segments));
        self.unsent.push_back(Unsent { message, next: 0, segments, bytes });
    }

    /// Writes the segments that the window allows to `out`.
    pub(crate) fn send(&mut self, params: &Params, now: u64, counters: &mut Counters, out: &mut Vec<Sent>) {
        let most = u64::from(params.segment);
        if self.flight == 0 && now.saturating_sub(self.last_sent) > self.timeout {
            self.control.idle();
        }
        let window = self.control.window(now).min(params.window);
        loop {
            let position = (self.next - self.oldest) as usize;
            if position == self.segments.len() {
                let Some(unsent) = self.unsent.front_mut() else { return };
                let bytes = (unsent.bytes - unsent.next * most).min(most).max(1);
                if self.flight > 0 && self.flight + bytes > window {
                    return;
                }
                let (message, index) = (unsent.message, unsent.next);
                unsent.next += 1;
                let is_last = unsent.next == unsent.segments;
                self.segments.push_back(Segment { message, index, bytes, sent: now, is_last, is_retransmitted: false });
                if is_last {
                    self.unsent.pop_front();
                }
            }
            let segment = &mut self.segments[position];
            if self.flight > 0 && self.flight + segment.bytes > window {
                return;
            }
            self.flight += segment.bytes;
            let is_again = self.next < self.fresh;
            segment.sent = now;
            segment.is_retransmitted |= is_again;
            counters.retransmissions += u64::from(is_again);
            out.push(Sent { message: segment.message, index: segment.index, number: self.next, is_again });
            self.next += 1;
            self.fresh = self.fresh.max(self.next);
            self.last_sent = now;
            self.deadline.get_or_insert(now.saturating_add(self.timeout));
        }
    }

    /// Writes the oldest segment to `out` once more.
    fn send_oldest(&mut self, now: u64, counters: &mut Counters, out: &mut Vec<Sent>) {
        let Some(segment) = self.segments.front_mut() else { return };
        (segment.sent, segment.is_retransmitted) = (now, true);
        counters.retransmissions += 1;
        self.last_sent = now;
        out.push(Sent { message: segment.message, index: segment.index, number: self.oldest, is_again: true });
    }

    /// Handles an acknowledgement of all segments below `number`, which returns a mark or not. Writes the messages
    /// whose segments it acknowledges to `done`, once for each segment and with true for the last one of a message, and
    /// the segments that may now be sent to `out`.
    pub(crate) fn acknowledge(
        &mut self,
        params: &Params,
        (number, is_marked): (u64, bool),
        now: u64,
        counters: &mut Counters,
        done: &mut Vec<(u32, bool)>,
        out: &mut Vec<Sent>,
    ) {
        let flight = self.flight;
        if number > self.oldest {
            let mut acknowledged = 0;
            let mut latest = None;
            while self.oldest < number {
                let Some(segment) = self.segments.pop_front() else { break };
                if self.oldest < self.next {
                    self.flight -= segment.bytes;
                }
                acknowledged += segment.bytes;
                latest = Some(segment);
                done.push((segment.message, segment.is_last));
                self.oldest += 1;
            }
            self.next = self.next.max(self.oldest);
            self.acknowledged += acknowledged;
            let round_trip = latest.filter(|segment| !segment.is_retransmitted).map(|segment| now - segment.sent);
            if let Some(round_trip) = round_trip {
                self.measure(params, round_trip);
            }
            self.duplicates = 0;
            if !self.is_recovering {
                self.control.acknowledged(&Acknowledged {
                    now,
                    bytes: acknowledged,
                    offset: self.acknowledged,
                    next: self.acknowledged + self.flight,
                    flight,
                    is_marked,
                    stamps: &[],
                    round_trip,
                    is_last: false,
                });
            } else if number >= self.recover {
                self.is_recovering = false;
                self.control.recovered();
            } else {
                // A partial acknowledgement: the next hole.
                self.control.repaired(acknowledged);
                self.send_oldest(now, counters, out);
            }
            self.deadline = (self.next > self.oldest).then(|| now.saturating_add(self.timeout));
        } else if number == self.oldest && self.next > self.oldest {
            self.duplicates += 1;
            if self.is_recovering {
                self.control.duplicate();
            } else if self.duplicates == params.dup_acks && number >= self.recover {
                self.control.lost(now, self.flight);
                self.recover = self.fresh;
                self.is_recovering = true;
                counters.fast_retransmits += 1;
                self.send_oldest(now, counters, out);
            }
        }
        self.send(params, now, counters, out);
    }

    /// Updates the round trip time and the time-out with a sample \[ps\] (RFC 6298, 2.2 and 2.3).
    fn measure(&mut self, params: &Params, sample: u64) {
        let (smooth, variation) = match self.round_trip {
            None => (sample, sample / 2),
            Some((smooth, variation)) => {
                let variation = variation - variation / 4 + smooth.abs_diff(sample) / 4;
                (smooth - smooth / 8 + sample / 8, variation)
            }
        };
        self.round_trip = Some((smooth, variation));
        self.timeout = (smooth + 4 * variation).clamp(params.rto_min, params.rto_max);
    }

    /// Handles the expiry of the retransmission timer (RFC 6298, 5.4 to 5.7; RFC 5681, equation 4).
    pub(crate) fn time_out(&mut self, params: &Params, now: u64, counters: &mut Counters, out: &mut Vec<Sent>) {
        self.deadline = None;
        if self.next == self.oldest {
            return;
        }
        counters.timeouts += 1;
        self.control.timed_out(now, self.flight);
        self.timeout = self.timeout.saturating_mul(2).min(params.rto_max);
        self.recover = self.fresh;
        (self.is_recovering, self.duplicates) = (false, 0);
        (self.next, self.flight) = (self.oldest, 0);
        self.last_sent = now;
        self.send(params, now, counters, out);
        self.timeouts += 1;
        let hosts = u64::from(self.source) << 32 | u64::from(self.destination);
        let draw = u128::from(mix2(mix2(params.seed, hosts), self.timeouts));
        let longer = (draw * u128::from(self.timeout / 8)) >> 64;
        self.deadline = self.deadline.map(|deadline| deadline.saturating_add(longer as u64));
    }

    /// Handles a segment that has come. Returns true if it had not come before. Writes the messages that are now
    /// complete to `complete`, in order.
    pub(crate) fn receive(&mut self, number: u64, complete: &mut Vec<u32>) -> bool {
        if number < self.expected || !self.ahead.insert(number) {
            return false;
        }
        while self.ahead.remove(&self.expected) {
            self.expected += 1;
        }
        while let Some((message, _)) = self.incoming.pop_front_if(|&mut (_, end)| end <= self.expected) {
            complete.push(message);
        }
        true
    }

    /// The acknowledgements that the receiver sends after a segment: of which numbers, with which marks. `is_new` is
    /// true of a segment that had not come before, `is_end` if a message is complete with it, `before` is the number
    /// expected before it (RFC 5681, 4.2; RFC 8257, 3.2).
    pub(crate) fn answers(
        &mut self,
        params: &Params,
        is_marked: bool,
        is_new: bool,
        is_end: bool,
        before: u64,
    ) -> [Option<(u64, bool)>; 2] {
        let changes = self.pending > 0 && self.is_marked != is_marked;
        let first = changes.then_some((before, self.is_marked));
        if changes {
            self.pending = 0;
        }
        self.is_marked = is_marked;
        let is_in_order = is_new && self.expected == before + 1;
        self.pending += 1;
        let is_due = !is_in_order || is_end || self.pending >= params.ack_every;
        if is_due {
            self.pending = 0;
        }
        [first, is_due.then_some((self.expected, is_marked))]
    }

    /// Number of the next segment that is expected.
    pub(crate) const fn expected(&self) -> u64 {
        self.expected
    }
}

//! The sending end of Ultra Ethernet: admission by window and credit, retransmission, and handling of acknowledgements.
//!
//! A state machine of a connection, independent of network and engine. Sizes are in bytes on the wire, times in ps.
//! Numbers count frames, requests to send included.
//!
//! Source: Ultra Ethernet Specification 1.0, 3.5 and 3.6.

use std::collections::{BTreeSet, VecDeque};

use super::nscc::{self, Nscc};
use super::receiver::Acknowledgement;

/// \[bytes\] Unit of credits.
pub(crate) const QUANTUM: u64 = 256;

/// Constants of all connections from hosts of one rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Constants {
    /// \[bytes\] A full frame, and the overhead in each.
    pub(crate) frame: u64,
    pub(crate) header: u64,
    /// \[b/s\] Rate of the host.
    pub(crate) rate: u64,
    /// \[ps\] Round trip of the network.
    pub(crate) round_trip: u64,
    /// \[bytes\] The largest window for that round trip.
    pub(crate) most: u64,
    /// \[ps\] Time-out.
    pub(crate) rto: u64,
    /// True if the sender has a window, and if the receiver gives credits.
    pub(crate) has_window: bool,
    pub(crate) has_credits: bool,
    /// True if a trimmed frame may lower the base of the round trip.
    pub(crate) base_on_trim: bool,
    pub(crate) nscc: nscc::Constants,
}

/// \[bytes\] One and a half times the product of a round trip \[ps\] and a rate.
pub(crate) fn largest_window(round_trip: u64, rate: u64) -> u64 {
    (1.5 * product(round_trip, rate) as f64) as u64
}

/// \[bytes\] Product of a round trip \[ps\] and a rate.
pub(crate) fn product(round_trip: u64, rate: u64) -> u64 {
    (round_trip as f64 / 1e6 * rate as f64 / 8e6) as u64
}

/// Where a frame of a number is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// Sent and not acknowledged.
    Out,
    /// To be sent again.
    Again,
    /// Acknowledged.
    Done,
    /// A request to send, which is not acknowledged.
    Request,
}

/// A number that is in use.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// \[ps\] When it was last sent.
    at: u64,
    /// Number among the data frames.
    index: u32,
    /// How often it was sent again.
    again: u32,
    place: Place,
}

/// A data frame to be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    pub(crate) number: u32,
    /// Number among the data frames of the message.
    pub(crate) index: u32,
    pub(crate) bytes: u32,
    /// True if it asks for an acknowledgement.
    pub(crate) asks: bool,
    pub(crate) is_again: bool,
    /// \[quanta\] Total credit requested from the receiver.
    pub(crate) target: u64,
    /// True for the last frame that was never sent before.
    pub(crate) is_last: bool,
}

/// A frame whose time-out has expired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Expired {
    /// \[bytes\] Size of the frame.
    pub(crate) size: u64,
    /// True if other frames were already waiting to be sent again.
    pub(crate) had_more: bool,
}

/// The sending end of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    /// Number of data frames.
    frames: u32,
    /// \[bytes\] Size of the last one.
    last: u64,
    /// Number of data frames that were sent.
    sent: u32,
    /// \[bytes\] Data never sent so far.
    left: u64,
    /// Numbers in use, from `base` on.
    records: VecDeque<Record>,
    base: u32,
    /// Numbers to be sent again, and \[bytes\] their sizes.
    again: BTreeSet<u32>,
    again_bytes: u64,
    /// Frames by the time of sending: \[ps\] and number. Those that were acknowledged or sent again are passed over.
    order: VecDeque<(u64, u32)>,
    /// \[bytes\] In flight; negative while frames that were given up arrive after all.
    pub(crate) flight: i64,
    /// \[bytes\] Total that the receiver has reported.
    received: u64,
    /// Requests to send so far, and \[ps\] the time of the last.
    requests: u32,
    requested: Option<u64>,
    /// \[ps\] Least round trip.
    pub(crate) base_trip: u64,
    pub(crate) nscc: Nscc,
    /// \[bytes\] Credit; negative after a frame larger than what was left.
    pub(crate) credit: i64,
    /// True while the credit is speculative: nothing has been heard from the receiver.
    speculates: bool,
    /// \[quanta\] Total credit granted by the receiver.
    pulled: u64,
    /// True after a long silence: requests were lost.
    was_silent: bool,
    pub(crate) is_over: bool,
}

impl Sender {
    /// The sender of a message of `bytes` bytes; `base_trip` is the initial base round trip.
    pub(crate) fn new(bytes: u64, base_trip: u64, of: &Constants) -> Self {
        let payload = of.frame - of.header;
        let frames = bytes.div_ceil(payload).max(1);
        let left = bytes + frames * of.header;
        Self {
            frames: frames as u32,
            last: left - (frames - 1) * of.frame,
            sent: 0,
            left,
            records: VecDeque::new(),
            base: 0,
            again: BTreeSet::new(),
            again_bytes: 0,
            order: VecDeque::new(),
            flight: 0,
            received: 0,
            requests: 0,
            requested: None,
            base_trip,
            nscc: Nscc::new(largest_window(base_trip, of.rate)),
            credit: of.most as i64,
            speculates: true,
            pulled: 0,
            was_silent: false,
            is_over: false,
        }
    }

    /// Number of data frames that were never sent.
    pub(crate) const fn unsent(&self) -> u32 {
        self.frames - self.sent
    }

    /// The record of a number, if it is in use.
    fn record(&mut self, number: u32) -> Option<&mut Record> {
        let at = number.checked_sub(self.base)?;
        self.records.get_mut(at as usize)
    }

    /// \[bytes\] Size of a data frame.
    pub(crate) fn size(&self, index: u32, of: &Constants) -> u64 {
        if index + 1 == self.frames { self.last } else { of.frame }
    }

    /// \[bytes\] Size of the next frame; `None` if nothing is to send.
    #[inline]
    fn next_size(&self, of: &Constants) -> Option<u64> {
        match self.again.first() {
            Some(number) => Some(self.size(self.records[(number - self.base) as usize].index, of)),
            None if self.left > 0 => Some(self.left.min(of.frame)),
            None => None,
        }
    }

    /// True if a frame may be sent now.
    #[inline]
    pub(crate) fn may_send(&self, of: &Constants) -> bool {
        let Some(size) = self.next_size(of).filter(|_| !self.is_over) else { return false };
        (!of.has_window || self.nscc.window as i64 >= self.flight + size as i64) && (!of.has_credits || self.credit > 0)
    }

    /// Takes the next frame at time `now`, while `sharing` connections wait at the port. It must be allowed to be sent.
    pub(crate) fn send(&mut self, now: u64, sharing: usize, of: &Constants) -> Piece {
        let again = self.again.pop_first();
        let (number, index, size) = match again {
            Some(number) => {
                let record = &mut self.records[(number - self.base) as usize];
                (record.at, record.again, record.place) = (now, record.again + 1, Place::Out);
                let index = record.index;
                let size = self.size(index, of);
                self.again_bytes -= size;
                (number, index, size)
            }
            None => {
                let (index, size) = (self.sent, self.left.min(of.frame));
                self.sent += 1;
                self.left -= size;
                self.records.push_back(Record { at: now, index, again: 0, place: Place::Out });
                (self.base + self.records.len() as u32 - 1, index, size)
            }
        };
        self.order.push_back((now, number));
        self.flight += size as i64;
        if of.has_credits {
            self.credit -= size as i64;
        }
        let asks = again.is_some()
            || self.left == 0
            || of.has_credits && self.credit <= 0
            || of.has_window && self.flight + size as i64 >= self.nscc.window as i64;
        Piece {
            number,
            index,
            bytes: size as u32,
            asks,
            is_again: again.is_some(),
            target: if of.has_credits { self.target(sharing, of) } else { 0 },
            is_last: again.is_none() && self.left == 0,
        }
    }

    /// \[quanta\] Total credit to be requested from the receiver.
    fn target(&self, sharing: usize, of: &Constants) -> u64 {
        let mut target = (self.left + self.again_bytes) as i64;
        if of.has_window {
            target = target.min((self.nscc.window + of.frame) as i64);
        }
        target = target.min(of.most as i64) - self.credit;
        if self.speculates && self.left > 0 {
            target = target.max(of.frame as i64);
        }
        if sharing > 1 {
            target /= sharing as i64;
        }
        let all = target + (self.pulled * QUANTUM) as i64;
        (all.max(0) as u64).div_ceil(QUANTUM)
    }

    /// Handles the first answer: it ends the speculative credit.
    fn hear(&mut self) {
        if std::mem::replace(&mut self.speculates, false) {
            self.credit = self.credit.min(0);
        }
    }

    /// Lowers the base round trip to that of a new sample.
    fn renew_base(&mut self, trip: u64, of: &Constants) {
        if trip < self.base_trip {
            self.base_trip = trip;
            self.nscc.most = largest_window(trip, of.rate);
        }
    }

    /// Marks the frame of a number as acknowledged, wherever it is.
    fn settle(&mut self, number: u32, of: &Constants) {
        let Some(record) = self.record(number) else { return };
        let (place, index) = (record.place, record.index);
        record.place = Place::Done;
        if place == Place::Again {
            let size = self.size(index, of);
            self.again.remove(&number);
            self.again_bytes -= size;
            self.flight += size as i64;
        }
    }

    /// Handles an acknowledgement. Returns true if all data are acknowledged now. `told` is called at the point at
    /// which the balancer learns of it, before the window changes.
    pub(crate) fn acknowledged(
        &mut self,
        said: &Acknowledgement,
        now: u64,
        of: &Constants,
        told: impl FnOnce(),
    ) -> bool {
        if self.is_over {
            return false;
        }
        self.hear();
        let new = said.received.saturating_sub(self.received);
        self.received += new;
        self.flight -= new as i64;
        self.nscc.count(new);
        let record = self.record(said.number).map(|record| *record);
        let mut delay = self.nscc.average;
        match record {
            Some(Record { at, again, place: Place::Out, .. })
                if again == 0 && !said.is_again || again == 1 && said.is_again =>
            {
                let trip = now - at;
                self.renew_base(trip, of);
                delay = trip - self.base_trip;
                self.nscc.measure(&of.nscc, said.is_marked, delay, self.base_trip);
            }
            Some(Record { at, place: Place::Request, .. }) => {
                delay = (now - at).saturating_sub(self.base_trip);
                self.nscc.measure(&of.nscc, said.is_marked, delay, self.base_trip);
            }
            _ => {}
        }
        while self.base < said.expected {
            self.settle(self.base, of);
            self.records.pop_front();
            self.base += 1;
        }
        let mut bits = said.bits;
        while bits != 0 {
            self.settle(said.base + bits.trailing_zeros(), of);
            bits &= bits - 1;
        }
        told();
        if of.has_window {
            self.nscc.acknowledged(&of.nscc, said.is_marked, delay, new, now, self.flight, self.base_trip);
        }
        self.is_over = said.expected - self.requests.min(said.expected) >= self.frames
            || self.was_silent && self.are_data_settled();
        self.is_over
    }

    /// True if all data are acknowledged, though requests may not be. Requests have numbers of their own, so that a
    /// lost one would hold up the end of a connection until it is sent again, however many were lost.
    fn are_data_settled(&self) -> bool {
        self.left == 0 && self.records.iter().all(|record| matches!(record.place, Place::Done | Place::Request))
    }

    /// Handles the notice that a frame was trimmed. Returns false if the frame is not outstanding.
    pub(crate) fn trimmed(&mut self, number: u32, is_last_hop: bool, now: u64, of: &Constants) -> bool {
        self.hear();
        let Some(&mut Record { at, index, place: Place::Out, .. }) = self.record(number) else { return false };
        if of.base_on_trim {
            self.renew_base(now - at, of);
        }
        let size = self.size(index, of);
        if of.has_window {
            let pays = !of.has_credits || !is_last_hop;
            self.nscc.trimmed(&of.nscc, size, now, self.flight, self.base_trip, pays);
        }
        self.give_up(number, size);
        true
    }

    /// Moves an outstanding frame to those that are sent again.
    fn give_up(&mut self, number: u32, size: u64) {
        self.flight -= size as i64;
        if let Some(record) = self.record(number) {
            record.place = Place::Again;
        }
        self.again.insert(number);
        self.again_bytes += size;
    }

    /// \[ps\] When the next time-out expires; the greatest number if nothing is outstanding.
    pub(crate) fn deadline(&mut self, of: &Constants) -> u64 {
        while let Some(&(at, number)) = self.order.front() {
            let is_it = |record: &mut Record| record.place == Place::Out && record.at == at;
            if self.record(number).is_some_and(is_it) {
                return at.saturating_add(of.rto);
            }
            self.order.pop_front();
        }
        u64::MAX
    }

    /// Handles a time-out of the frame that was sent first.
    pub(crate) fn timed_out(&mut self, of: &Constants) -> Option<Expired> {
        let &(_, number) = self.order.front()?;
        let index = self.record(number)?.index;
        let (size, had_more) = (self.size(index, of), !self.again.is_empty());
        self.nscc.timed_out(&of.nscc, size);
        self.give_up(number, size);
        Some(Expired { size, had_more })
    }

    /// True if a frame may be sent at once after a time-out.
    pub(crate) fn may_repeat(&self, of: &Constants) -> bool {
        self.may_send(of) && !(of.has_credits && self.speculates)
    }

    /// True if a request to send follows a time-out.
    pub(crate) fn must_request(&self, expired: Expired, of: &Constants) -> bool {
        if expired.had_more {
            return of.has_credits;
        }
        of.has_window && (self.nscc.window as i64) < expired.size as i64 + self.flight
            || of.has_credits && self.credit <= 0
    }

    /// The number of a request to send at time `now`, if one may be made: at most one a round trip.
    pub(crate) fn request(&mut self, now: u64, of: &Constants) -> Option<u32> {
        let least = if of.has_window { of.round_trip } else { 0 };
        if self.requested.is_some_and(|last| now - last < least) {
            return None;
        }
        self.requested = Some(now);
        self.requests += 1;
        self.records.push_back(Record { at: now, index: 0, again: 0, place: Place::Request });
        Some(self.base + self.records.len() as u32 - 1)
    }

    /// The number of the oldest request that was never acknowledged, to be sent again after a long silence.
    pub(crate) fn lost_request(&mut self, now: u64) -> Option<u32> {
        self.was_silent = true;
        let at = self.records.iter().position(|record| record.place == Place::Request)?;
        self.records[at].at = now;
        self.requested = Some(now);
        Some(self.base + at as u32)
    }

    /// True if the message is not complete and nothing is outstanding, so that no time-out will expire.
    pub(crate) fn is_silent(&self) -> bool {
        !self.is_over && (self.flight <= 0 || self.order.is_empty())
    }

    /// Handles a pull: the receiver has granted `given` quanta in total.
    pub(crate) fn pulled(&mut self, given: u64, of: &Constants) {
        self.hear();
        let new = given.saturating_sub(self.pulled);
        self.pulled += new;
        self.credit = (self.credit + (new * QUANTUM) as i64).min(of.most as i64);
    }

    /// \[frames\] The window, at least one.
    pub(crate) fn window_frames(&self, of: &Constants) -> u64 {
        (self.nscc.window / of.frame).max(1)
    }

    /// \[bytes\] The size of the frame of a number.
    #[cfg(test)]
    fn size_of(&self, number: u32, of: &Constants) -> u64 {
        self.size(self.records[(number - self.base) as usize].index, of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;

    fn constants(has_window: bool, has_credits: bool) -> Constants {
        let (rate, round_trip) = (100_000_000_000, 10 * US);
        Constants {
            frame: 4_150,
            header: 64,
            rate,
            round_trip,
            most: largest_window(round_trip, rate),
            rto: 50 * US,
            has_window,
            has_credits,
            base_on_trim: true,
            nscc: nscc::Constants::new(4_150, 4_086, round_trip, product(round_trip, rate), true, 3),
        }
    }

    fn said(expected: u32, number: u32, received: u64) -> Acknowledgement {
        let base = expected + 1;
        Acknowledgement { expected, number, received, base, bits: 0, is_marked: false, is_again: false }
    }

    #[test]
    fn the_window_bounds_what_is_in_flight_and_the_last_frame_is_short() {
        let of = constants(true, false);
        let mut sender = Sender::new(200_000, 10 * US, &of);
        let mut sent = Vec::new();
        while sender.may_send(&of) {
            sent.push(sender.send(0, 0, &of));
        }
        // 187 500 bytes hold 45 frames of 4 150; the 44th asks, since one more would fill the window.
        assert_eq!(sent.len(), 45);
        assert_eq!(sent.iter().position(|piece| piece.asks), Some(44));
        assert!(!sender.acknowledged(&said(10, 9, 41_500), 10 * US, &of, || ()));
        while sender.may_send(&of) {
            sent.push(sender.send(10 * US, 0, &of));
        }
        let last = sent.last().unwrap();
        assert_eq!((sent.len(), last.is_last, last.asks), (49, true, true));
        assert_eq!(u64::from(last.bytes), 200_000 + 49 * 64 - 48 * 4_150);
        assert_eq!(sender.size_of(48, &of), u64::from(last.bytes));
        assert!(sender.acknowledged(&said(49, 48, 203_136), 20 * US, &of, || ()));
        assert_eq!((sender.flight, sender.deadline(&of)), (0, u64::MAX));
    }

    #[test]
    fn what_is_trimmed_or_timed_out_is_sent_again_first_and_asks() {
        let of = constants(true, false);
        let mut sender = Sender::new(50_000, 10 * US, &of);
        for at in 0..5 {
            sender.send(at, 0, &of);
        }
        assert!(sender.trimmed(3, false, 9 * US, &of) && !sender.trimmed(3, false, 9 * US, &of));
        assert_eq!(sender.deadline(&of), 50 * US);
        let expired = sender.timed_out(&of).unwrap();
        assert_eq!((expired, sender.flight), (Expired { size: 4_150, had_more: true }, 3 * 4_150));
        let again = sender.send(60 * US, 0, &of);
        assert_eq!((again.number, again.is_again, again.asks), (0, true, true));
        assert_eq!(sender.deadline(&of), 50 * US + 1, "of the next frame");
        // Acknowledged before it is sent again: counted twice and given back.
        sender.acknowledged(&said(5, 3, 5 * 4_150), 61 * US, &of, || ());
        assert_eq!((sender.flight, sender.send(61 * US, 0, &of).number), (0, 5));
    }

    #[test]
    fn speculative_credit_ends_at_the_first_answer_and_requests_have_numbers() {
        let of = constants(false, true);
        let mut sender = Sender::new(1_000_000, 10 * US, &of);
        let first = sender.send(0, 0, &of);
        // All that fits less what is left of the credit, but at least a frame.
        assert_eq!(first.target, (4_150_u64).div_ceil(256));
        sender.acknowledged(&said(1, 0, 4_150), 5 * US, &of, || ());
        assert_eq!((sender.credit, sender.may_send(&of)), (0, false));
        sender.pulled(64, &of);
        assert_eq!(sender.credit, 64 * 256);
        assert_eq!(sender.send(6 * US, 2, &of).target, ((187_500 - (16_384 - 4_150)) / 2 + 16_384_u64).div_ceil(256));
        assert_eq!(sender.request(7 * US, &of), Some(2));
        assert_eq!(sender.send(8 * US, 0, &of).number, 3);
    }

    #[test]
    fn after_a_silence_lost_requests_do_not_hold_up_the_end() {
        let of = constants(false, true);
        let mut sender = Sender::new(2 * 4_086, 10 * US, &of);
        sender.send(0, 0, &of);
        // Three requests are lost, then the second frame is sent and acknowledged by its bit.
        assert_eq!([US, 2 * US, 3 * US].map(|at| sender.request(at, &of)), [1, 2, 3].map(Some));
        sender.send(4 * US, 0, &of);
        let of_last = Acknowledgement { base: 4, bits: 1, ..said(1, 4, 2 * 4_150) };
        assert!(!sender.acknowledged(&of_last, 5 * US, &of, || ()));
        assert!(sender.is_silent());
        assert_eq!(sender.lost_request(6 * US), Some(1));
        assert!(sender.acknowledged(&said(2, 1, 2 * 4_150), 7 * US, &of, || ()));
    }
}

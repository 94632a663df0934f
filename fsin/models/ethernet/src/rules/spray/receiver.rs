//! The receiving end of Ultra Ethernet: frames that have arrived, and acknowledgements.
//!
//! Source: Ultra Ethernet Specification 1.0, 3.5 (packet delivery).

use std::collections::VecDeque;

/// A selective acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Acknowledgement {
    /// All frames with lower numbers have come.
    pub(crate) expected: u32,
    /// The frame that caused it.
    pub(crate) number: u32,
    /// \[bytes\] Total received so far.
    pub(crate) received: u64,
    /// The first number of `bits`.
    pub(crate) base: u32,
    /// Which frames from `base` on have come, the lowest bit first.
    pub(crate) bits: u64,
    pub(crate) is_marked: bool,
    /// True if that frame was sent again.
    pub(crate) is_again: bool,
}

/// A data frame, as the receiver sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Arrival {
    pub(crate) number: u32,
    /// \[bytes\] On the wire.
    pub(crate) bytes: u32,
    pub(crate) is_marked: bool,
    pub(crate) is_again: bool,
    /// True if its sender asks for an acknowledgement.
    pub(crate) asks: bool,
}

/// The receiving end of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receiver {
    /// All frames with lower numbers have come.
    pub(crate) expected: u32,
    /// Which frames from the multiple of 64 at or below `expected` on have come.
    words: VecDeque<u64>,
    /// One more than the highest number received.
    beyond: u32,
    /// \[bytes\] Total received.
    received: u64,
    /// \[bytes\] Received since the last acknowledgement.
    since: u64,
    /// True if an acknowledgement was requested after the last time at which no frame was missing.
    was_asked: bool,
    has_begun: bool,
}

impl Receiver {
    /// True if a frame has come.
    #[inline]
    pub(crate) fn has(&self, number: u32) -> bool {
        if number < self.expected {
            return true;
        }
        let first = self.expected / 64;
        self.words.get((number / 64 - first) as usize).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Notes the arrival of a frame that had not arrived before.
    fn insert(&mut self, number: u32) {
        let first = self.expected / 64;
        let at = (number / 64 - first) as usize;
        if self.words.len() <= at {
            self.words.resize(at + 1, 0);
        }
        self.words[at] |= 1 << (number % 64);
        self.beyond = self.beyond.max(number + 1);
        while let Some(&word) = self.words.front() {
            let missing = (!word >> (self.expected % 64)).trailing_zeros().min(64 - self.expected % 64);
            self.expected += missing;
            if !self.expected.is_multiple_of(64) || missing == 0 {
                break;
            }
            self.words.pop_front();
        }
    }

    /// The 64 bits from a number on.
    fn bits(&self, base: u32) -> u64 {
        let first = i64::from(self.expected / 64);
        let word = |at: i64| match at - first {
            ..0 => u64::MAX,
            at => self.words.get(at as usize).copied().unwrap_or(0),
        };
        let (at, shift) = (i64::from(base / 64), base % 64);
        let low = word(at) >> shift;
        if shift == 0 { low } else { low | word(at + 1) << (64 - shift) }
    }

    fn acknowledge(&mut self, of: &Arrival) -> Acknowledgement {
        self.since = 0;
        let base = match of.is_marked || of.asks {
            true => of.number,
            false => of.number.saturating_sub(63).max(self.expected + 1),
        };
        Acknowledgement {
            expected: self.expected,
            number: of.number,
            received: self.received,
            base,
            bits: self.bits(base),
            is_marked: of.is_marked,
            is_again: of.is_again,
        }
    }

    /// Handles a data frame. Returns whether it is new, and the acknowledgement to send, if any.
    pub(crate) fn receive(&mut self, of: &Arrival, every: u64) -> (bool, Option<Acknowledgement>) {
        if self.has(of.number) {
            return (false, Some(self.acknowledge(of)));
        }
        self.insert(of.number);
        self.received += u64::from(of.bytes);
        self.since += u64::from(of.bytes);
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        self.was_asked |= of.asks;
        let is_whole = self.expected >= self.beyond;
        let closes = is_whole && self.was_asked;
        if is_whole {
            self.was_asked = false;
        }
        let is_due = is_first || of.asks || closes || of.is_marked || self.since >= every;
        (true, is_due.then(|| self.acknowledge(of)))
    }

    /// Handles the header of a trimmed frame. Returns an acknowledgement if the whole frame has arrived before.
    pub(crate) fn trimmed(&mut self, of: &Arrival) -> Option<Acknowledgement> {
        self.has(of.number).then(|| self.acknowledge(&Arrival { is_marked: false, ..*of }))
    }

    /// Handles a request to send.
    pub(crate) fn requested(&mut self, number: u32) -> Acknowledgement {
        let of = Arrival { number, bytes: 0, is_marked: false, is_again: false, asks: true };
        let is_known = self.has(number);
        let since = self.since;
        if !is_known {
            self.insert(number);
            self.has_begun = true;
        }
        let said = self.acknowledge(&of);
        if !is_known {
            self.since = since;
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(number: u32) -> Arrival {
        Arrival { number, bytes: 4_150, is_marked: false, is_again: false, asks: false }
    }

    #[test]
    fn the_first_every_few_bytes_marks_requests_and_closed_gaps_are_acknowledged() {
        let mut receiver = Receiver::default();
        let mut said = |of: Arrival| receiver.receive(&of, 16_384).1.map(|said| (said.expected, said.base, said.bits));
        assert_eq!(said(arrival(0)), Some((1, 2, 0)));
        assert_eq!([said(arrival(1)), said(arrival(2)), said(arrival(3))], [None; 3]);
        // 16 600 bytes since the last one.
        assert_eq!(said(arrival(4)), Some((5, 6, 0)));
        assert_eq!(said(Arrival { is_marked: true, ..arrival(6) }), Some((5, 6, 1)));
        assert_eq!(said(Arrival { asks: true, ..arrival(8) }), Some((5, 8, 1)));
        // The gap below is closed, and one above it not.
        assert_eq!(said(arrival(5)), None);
        assert_eq!(said(arrival(7)), Some((9, 10, 0)));
        assert_eq!(said(arrival(9)), None);
        assert_eq!(said(arrival(3)), Some((10, 11, 0)), "what has come before is acknowledged at once");
    }

    #[test]
    fn bits_span_words_and_what_lies_below() {
        let mut receiver = Receiver::default();
        for number in (0..200).filter(|number| number % 3 != 1) {
            receiver.receive(&arrival(number), 1);
        }
        assert_eq!(receiver.expected, 1);
        for number in (0..200).filter(|number| number % 3 == 1) {
            let before = receiver.expected;
            let (is_new, said) = receiver.receive(&arrival(number), 1);
            let said = said.unwrap();
            assert!(is_new && said.expected > before, "{number}");
            for bit in 0..64 {
                let has = (said.base + bit) % 3 != 1 && said.base + bit < 200 || said.base + bit <= number;
                assert_eq!(said.bits >> bit & 1 == 1, has, "{number}: {bit} from {}", said.base);
            }
        }
        assert_eq!((receiver.expected, receiver.received), (200, 200 * 4_150));
    }

    #[test]
    fn a_request_has_a_number_and_no_bytes() {
        let mut receiver = Receiver::default();
        receiver.receive(&arrival(0), 16_384);
        receiver.receive(&arrival(1), 16_384);
        let said = receiver.requested(2);
        assert_eq!((said.expected, said.received, receiver.since), (3, 8_300, 4_150));
        receiver.requested(2);
        assert_eq!(receiver.since, 0);
        assert_eq!(receiver.trimmed(&arrival(3)), None);
        assert_eq!(receiver.trimmed(&arrival(1)).map(|said| said.expected), Some(3));
    }
}

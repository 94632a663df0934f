//! The transport `roce`: a connection for each message, which goes back to a gap.
//!
//! Sender and receiver are state machines without network and engine. Frames have numbers in their message: all but the
//! last one are full, so that a number is an offset.
//!
//! Source: the sender and receiver of alibaba-edu/High-Precision-Congestion-Control; InfiniBand Architecture
//! Specification, 9.7, for the acknowledgements.

/// \[ps\] The least time between two negative acknowledgements of the same gap.
const NACK_INTERVAL: u64 = 500_000_000;

/// What a receiver answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reply {
    /// Number of the frame that is expected next: all before it have come.
    pub(crate) expected: u64,
    /// True if frames behind a gap have come.
    pub(crate) is_negative: bool,
    /// True if a mark is returned.
    pub(crate) is_marked: bool,
}

/// The sending end.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Sender {
    /// Number of the next frame to send.
    pub(crate) next: u64,
    /// Number of the first frame that is not acknowledged.
    pub(crate) acknowledged: u64,
    /// Number of the first frame that was never sent.
    pub(crate) fresh: u64,
}

impl Sender {
    /// Takes the next frame: its number, and whether it was sent before.
    pub(crate) fn send(&mut self) -> (u64, bool) {
        let number = self.next;
        self.next += 1;
        let is_again = number < self.fresh;
        self.fresh = self.fresh.max(self.next);
        (number, is_again)
    }

    /// Handles an answer; returns whether it acknowledges a frame.
    pub(crate) fn answered(&mut self, reply: &Reply) -> bool {
        let is_new = reply.expected > self.acknowledged;
        self.acknowledged = self.acknowledged.max(reply.expected);
        // An older answer must not lead back to what is acknowledged.
        if reply.is_negative && reply.expected == self.acknowledged {
            self.next = self.acknowledged;
        }
        self.next = self.next.max(self.acknowledged);
        is_new
    }

    /// Goes back to what is not acknowledged.
    pub(crate) const fn go_back(&mut self) {
        self.next = self.acknowledged;
    }
}

/// The receiving end.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Receiver {
    /// Number of the frame that is expected next.
    expected: u64,
    /// The gap of the last negative acknowledgement, and \[ps\] the time from which on it may be repeated.
    refused: Option<(u64, u64)>,
    /// Frames that have come and are not acknowledged.
    pending: u32,
    /// True if a mark has come that is not returned.
    is_marked: bool,
    /// \[ps\] When a mark was last returned.
    notified: Option<u64>,
}

/// How a receiver acknowledges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Manner {
    /// Frames to an acknowledgement.
    pub(crate) every: u32,
    /// \[ps\] The least time between two marks that are returned.
    pub(crate) cnp_interval: u64,
}

impl Receiver {
    /// Handles a frame of a message of `frames` frames that has come completely. Returns whether it is the expected
    /// one, and the answer.
    pub(crate) fn receive(
        &mut self,
        number: u64,
        frames: u64,
        is_marked: bool,
        now: u64,
        manner: &Manner,
    ) -> (bool, Option<Reply>) {
        self.is_marked |= is_marked;
        if number > self.expected {
            let is_due = self.refused.is_none_or(|(gap, from)| gap != self.expected || now >= from);
            if !is_due {
                return (false, None);
            }
            self.refused = Some((self.expected, now.saturating_add(NACK_INTERVAL)));
            return (false, Some(self.reply(true, now, manner)));
        }
        let is_new = number == self.expected;
        self.expected += u64::from(is_new);
        self.pending += u32::from(is_new);
        // What has come before is acknowledged at once: the acknowledgement was lost.
        let is_due = !is_new || self.pending >= manner.every || self.expected == frames;
        (is_new, is_due.then(|| self.reply(false, now, manner)))
    }

    fn reply(&mut self, is_negative: bool, now: u64, manner: &Manner) -> Reply {
        self.pending = 0;
        let may_notify = self.notified.is_none_or(|last| now - last >= manner.cnp_interval);
        let is_marked = std::mem::take(&mut self.is_marked) && may_notify;
        if is_marked {
            self.notified = Some(now);
        }
        Reply { expected: self.expected, is_negative, is_marked }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;

    /// Frames as they come, and the answers: number, mark, time; expected, negative, mark.
    #[test]
    fn a_receiver_answers_by_the_rules() {
        let manner = Manner { every: 1, cnp_interval: 50 * US };
        let mut receiver = Receiver::default();
        let table = [
            ((0, false, 0), true, Some((1, false, false))),
            ((1, true, US), true, Some((2, false, true))),
            // Within the interval no second mark is returned.
            ((2, true, 2 * US), true, Some((3, false, false))),
            ((4, false, 3 * US), false, Some((3, true, false))),
            ((5, false, 4 * US), false, None),
            ((6, false, 502 * US), false, None),
            ((7, false, 503 * US), false, Some((3, true, false))),
            ((3, true, 504 * US), true, Some((4, false, true))),
            ((2, false, 505 * US), false, Some((4, false, false))),
            ((5, false, 506 * US), false, Some((4, true, false))),
        ];
        for ((number, is_marked, now), is_new, reply) in table {
            let answered = receiver.receive(number, 100, is_marked, now, &manner);
            let reply = reply.map(|(expected, is_negative, is_marked)| Reply { expected, is_negative, is_marked });
            assert_eq!(answered, (is_new, reply), "frame {number} at {now}");
        }
    }

    #[test]
    fn the_end_is_acknowledged_whatever_is_pending() {
        let manner = Manner { every: 4, cnp_interval: 0 };
        let mut receiver = Receiver::default();
        let replies: Vec<_> =
            (0..6).map(|number| receiver.receive(number, 6, number == 1, number, &manner).1).collect();
        let reply = |expected, is_marked| Some(Reply { expected, is_negative: false, is_marked });
        assert_eq!(replies, [None, None, None, reply(4, true), None, reply(6, false)]);
    }

    #[test]
    fn a_sender_goes_back_to_the_gap() {
        let mut sender = Sender::default();
        let sent: Vec<_> = (0..5).map(|_| sender.send()).collect();
        assert_eq!(sent, [(0, false), (1, false), (2, false), (3, false), (4, false)]);
        assert!(sender.answered(&Reply { expected: 2, is_negative: false, is_marked: false }));
        assert!(!sender.answered(&Reply { expected: 2, is_negative: true, is_marked: false }));
        assert_eq!(sender.send(), (2, true));
        // An answer that was overtaken.
        assert!(!sender.answered(&Reply { expected: 1, is_negative: true, is_marked: false }));
        assert_eq!([sender.send(), sender.send(), sender.send()], [(3, true), (4, true), (5, false)]);
    }
}

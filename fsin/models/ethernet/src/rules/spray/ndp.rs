//! NDP: frames until the first window is out, then a frame for each pull of the receiver.
//!
//! State machines, independent of network and engine. Sizes are in frames, times in ps.
//!
//! Source: Handley, Raiciu, Agache, Voinescu, Moore, Antichi, Wójcik, *Re-architecting datacenter networks and stacks
//! for low latency and high performance*, SIGCOMM 2017.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;

/// The sending end of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    pub(crate) frames: u32,
    /// The frame that is sent next for the first time.
    next: u32,
    /// Frames to be sent again.
    again: BTreeSet<u32>,
    /// The highest pull so far, and frames that are due and could not be sent.
    pulled: u64,
    due: u64,
    pub(crate) is_over: bool,
}

impl Sender {
    /// Of `frames` frames, of which `window` may be sent at once.
    pub(crate) const fn new(frames: u32, window: u64) -> Self {
        Self { frames, next: 0, again: BTreeSet::new(), pulled: 0, due: window, is_over: false }
    }

    /// Number of frames that were never sent.
    pub(crate) const fn unsent(&self) -> u32 {
        self.frames - self.next
    }

    /// True if a frame was never sent.
    pub(crate) const fn is_unsent(&self, number: u32) -> bool {
        number >= self.next
    }

    /// Takes the next frame that is due: its number, and whether it was sent before.
    pub(crate) fn send(&mut self) -> Option<(u32, bool)> {
        if self.due == 0 || self.is_over {
            return None;
        }
        let (number, is_again) = match self.again.pop_first() {
            Some(number) => (number, true),
            None if self.next < self.frames => {
                self.next += 1;
                (self.next - 1, false)
            }
            None => return None,
        };
        self.due -= 1;
        Some((number, is_again))
    }

    /// Ends the first window: its unused part expires.
    pub(crate) const fn begun(&mut self) {
        self.due = 0;
    }

    /// A frame was trimmed.
    pub(crate) fn trimmed(&mut self, number: u32) {
        self.again.insert(number);
    }

    /// A pull has come.
    pub(crate) const fn pulled(&mut self, number: u64) {
        if number > self.pulled {
            self.due += number - self.pulled;
            self.pulled = number;
        }
    }

    /// All frames before a number have arrived. Returns true if the message is complete now.
    pub(crate) const fn acknowledged(&mut self, expected: u32) -> bool {
        let is_over = expected >= self.frames && !self.is_over;
        self.is_over |= is_over;
        is_over
    }
}

/// The receiving end of a connection.
#[derive(Clone, Default, Debug)]
pub(crate) struct Receiver {
    /// All frames before it have arrived.
    pub(crate) expected: u32,
    /// Frames beyond it that have arrived.
    beyond: BTreeSet<u32>,
    /// Number of the last pull.
    pub(crate) pulls: u64,
}

impl Receiver {
    /// True if a frame has arrived.
    pub(crate) fn has(&self, number: u32) -> bool {
        number < self.expected || self.beyond.contains(&number)
    }

    /// Handles the arrival of a frame. Returns whether it is new.
    pub(crate) fn receive(&mut self, number: u32) -> bool {
        if self.has(number) {
            return false;
        }
        if number > self.expected {
            return self.beyond.insert(number);
        }
        self.expected += 1;
        while self.beyond.first() == Some(&self.expected) {
            self.beyond.pop_first();
            self.expected += 1;
        }
        true
    }
}

/// The pacer of pulls of a host.
#[derive(Clone, Default, Debug)]
pub(crate) struct Pacer {
    /// Pulls that wait, by the key of their connection: its handle and the number.
    waiting: BTreeMap<(u64, u32), VecDeque<u64>>,
    /// The connection that was served last.
    served: Option<(u64, u32)>,
    /// \[ps\] When a pull last left; `None`: never.
    last: Option<u64>,
    /// \[ps\] When the timer expires.
    pub(crate) next_at: Option<u64>,
}

impl Pacer {
    /// True if an answer at time `now` carries its pull itself: none waits, and none has left within `gap`.
    pub(crate) fn carries(&mut self, now: u64, gap: u64) -> bool {
        let carries = self.waiting.is_empty() && self.last.is_none_or(|last| now - last >= gap);
        if carries {
            self.last = Some(now);
        }
        carries
    }

    /// A pull of a connection waits.
    pub(crate) fn wait(&mut self, key: (u64, u32), pull: u64, now: u64, gap: u64) {
        self.waiting.entry(key).or_default().push_back(pull);
        if self.next_at.is_none() {
            self.next_at = Some(self.last.unwrap_or(now).saturating_add(gap).max(now));
        }
    }

    /// Discards the pulls of a connection that is complete. Returns their number.
    pub(crate) fn forget(&mut self, key: (u64, u32)) -> u32 {
        self.waiting.remove(&key).map_or(0, |pulls| pulls.len() as u32)
    }

    /// Handles the expiry of the timer. Returns the connection whose pull leaves, and the number of the pull.
    pub(crate) fn expire(&mut self, now: u64, gap: u64) -> Option<(u32, u64)> {
        self.next_at = None;
        let after = (self.served.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
        let key = *self.waiting.range(after).next().or(self.waiting.iter().next())?.0;
        let pulls = self.waiting.get_mut(&key)?;
        let pull = pulls.pop_front()?;
        if pulls.is_empty() {
            self.waiting.remove(&key);
        }
        self.served = Some(key);
        self.last = Some(now);
        if !self.waiting.is_empty() {
            self.next_at = Some(now.saturating_add(gap));
        }
        Some((key.1, pull))
    }
}

/// \[ps\] The time between two pulls: that of a frame of `bytes` bytes at 99 % of a rate \[b/s\].
pub(crate) fn pull_gap(bytes: u32, rate: u64) -> u64 {
    ((f64::from(8 * bytes) * 1e12 / rate as f64).trunc() / 0.99) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_then_a_frame_for_each_pull_trimmed_ones_first() {
        let mut sender = Sender::new(6, 3);
        let sent: Vec<_> = std::iter::from_fn(|| sender.send()).collect();
        assert_eq!(sent, [(0, false), (1, false), (2, false)]);
        sender.begun();
        sender.trimmed(1);
        assert_eq!(sender.send(), None);
        sender.pulled(2);
        assert_eq!([sender.send(), sender.send(), sender.send()], [Some((1, true)), Some((3, false)), None]);
        sender.pulled(2);
        assert_eq!(sender.send(), None);
        sender.pulled(6);
        assert_eq!([sender.send(), sender.send(), sender.send()], [Some((4, false)), Some((5, false)), None]);
        // Due, and sent as soon as there is something to send.
        sender.trimmed(4);
        assert_eq!(sender.send(), Some((4, true)));
        assert!(!sender.acknowledged(5) && sender.acknowledged(6) && !sender.acknowledged(6));
    }

    #[test]
    fn pulls_leave_at_the_rate_of_the_host_in_turn() {
        assert_eq!([pull_gap(4_160, 400_000_000_000), pull_gap(9_064, 100_000_000_000)], [84_040, 732_444]);
        let mut pacer = Pacer::default();
        assert!(pacer.carries(100, 10) && !pacer.carries(109, 10));
        for (key, pull) in [((7, 0), 2), ((7, 0), 3), ((8, 1), 1), ((9, 2), 1)] {
            pacer.wait(key, pull, 107, 10);
        }
        assert!(!pacer.carries(115, 10), "others wait");
        assert_eq!(pacer.next_at, Some(110));
        assert_eq!(pacer.forget((9, 2)), 1);
        let left: Vec<_> = [110, 120, 130].into_iter().map(|now| pacer.expire(now, 10)).collect();
        assert_eq!(left, [Some((0, 2)), Some((1, 1)), Some((0, 3))]);
        assert!(pacer.next_at.is_none() && !pacer.carries(139, 10) && pacer.carries(140, 10));
    }

    #[test]
    fn a_receiver_knows_what_has_come_in_order() {
        let mut receiver = Receiver::default();
        let came: Vec<_> = [1, 0, 1, 3, 3, 2].map(|number| (receiver.receive(number), receiver.expected)).into();
        assert_eq!(came, [(true, 0), (true, 2), (false, 2), (true, 2), (false, 2), (true, 4)]);
    }
}

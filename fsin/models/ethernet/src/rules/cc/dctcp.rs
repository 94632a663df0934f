//! DCTCP: a window that falls with the share of marked bytes. Losses and slow start are those of [`NewReno`].
//!
//! Window and threshold are whole segments, as RFC 8257 leaves open and Linux has them: the threshold is rounded down,
//! and the window grows by a segment when as much as it holds has been acknowledged. Within a round, a window in
//! proportion counts bytes.
//!
//! Source: RFC 8257; RFC 6937 for the reduction in proportion.
//!
//! Decision: docs/decisions/0525-windows-of-dctcp.md.

use trgen::catalog::{Component, Parameter};

use super::newreno::NewReno;
use super::share;
use crate::cc::{Acknowledged, Built, CongestionControl, Environment, Machine, Row, Signal};

/// The row of the table.
pub(crate) static ROW: Row = Row {
    component: Component {
        name: "dctcp",
        about: "a window that falls with the share of marked bytes, once for each round trip",
        parameters: &[
            Parameter {
                name: "g",
                about: "weight of a new share of marks in alpha",
                range: "above 0, up to 1: 1/16",
                default: "1/16",
            },
            Parameter {
                name: "reduction",
                about: "how the window falls: prr (in proportion to what is delivered, within a round trip), at-once",
                range: "prr or at-once",
                default: "prr",
            },
        ],
        source: "RFC 8257; RFC 6937 (prr)",
    },
    aliases: &[],
    transports: &["window"],
    needs: &[Signal::Marks],
    build: |call| {
        let g = share(call, "g")?.unwrap_or(1.0 / 16.0);
        let is_at_once = call.choice("reduction", &[("prr", false), ("at-once", true)])?;
        Ok(Built::of(move |of| Machine::Dctcp(Dctcp::new(g, is_at_once, of))))
    },
};

/// A round in which the window falls.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// \[bytes\] What had been sent at the mark: the acknowledgement that passes it ends the round.
    end: u64,
    /// \[bytes\] In flight at the mark.
    flight: u64,
    /// \[bytes\] Acknowledged since.
    delivered: u64,
}

/// The state of a connection.
#[derive(Debug)]
pub(crate) struct Dctcp {
    g: f64,
    is_at_once: bool,
    /// Window, threshold and losses.
    base: NewReno,
    /// Estimate of the share of marked bytes.
    alpha: f64,
    /// \[bytes\] Acknowledged, and of these marked, in this observation window.
    acked: u64,
    marked: u64,
    /// \[bytes\] End of the observation window.
    observed: u64,
    /// \[bytes\] Acknowledged since the window last grew by a segment beyond the threshold.
    counted: u64,
    round: Option<Round>,
}

impl Dctcp {
    fn new(g: f64, is_at_once: bool, of: &Environment) -> Self {
        let base = NewReno::new(of);
        Self { g, is_at_once, base, alpha: 1.0, acked: 0, marked: 0, observed: 0, counted: 0, round: None }
    }

    /// The window grows, outside of rounds.
    fn grow(&mut self, acknowledged: u64) {
        let (most, window) = (self.base.most, self.base.window);
        if window <= self.base.threshold {
            self.base.window += acknowledged.min(most);
            return;
        }
        self.counted += acknowledged;
        if self.counted >= window {
            self.counted -= window;
            self.base.window += most;
        }
    }

    /// The window within a round, after an acknowledgement (RFC 6937, 3).
    fn reduced(&self, round: Round, of: &Acknowledged<'_>) -> u64 {
        let (threshold, pipe) = (self.base.threshold, of.flight.saturating_sub(of.bytes));
        let sent = of.next.saturating_sub(round.end);
        let more = if pipe > threshold {
            let due = u128::from(round.delivered) * u128::from(threshold);
            u64::try_from(due.div_ceil(u128::from(round.flight.max(1)))).unwrap_or(u64::MAX).saturating_sub(sent)
        } else {
            let limit = round.delivered.saturating_sub(sent).max(of.bytes) + self.base.most;
            (threshold - pipe).min(limit)
        };
        pipe + more
    }
}

impl CongestionControl for Dctcp {
    #[inline]
    fn window(&mut self, now: u64) -> u64 {
        self.base.window(now)
    }

    fn acknowledged(&mut self, of: &Acknowledged<'_>) {
        self.acked += of.bytes;
        self.marked += if of.is_marked { of.bytes } else { 0 };
        if of.offset > self.observed {
            if self.acked > 0 {
                let share = self.marked as f64 / self.acked as f64;
                self.alpha = (1.0 - self.g) * self.alpha + self.g * share;
            }
            (self.acked, self.marked, self.observed) = (0, 0, of.next);
        }
        if self.round.is_none() && of.is_marked {
            let reduced = (self.base.window as f64 * (1.0 - self.alpha / 2.0)) as u64;
            let most = self.base.most;
            self.base.threshold = (reduced / most * most).max(2 * most);
            if self.is_at_once {
                self.base.window = self.base.threshold;
            }
            self.round = Some(Round { end: of.next, flight: of.flight, delivered: 0 });
        }
        let Some(mut round) = self.round else { return self.grow(of.bytes) };
        if of.offset > round.end {
            self.base.window = self.base.threshold;
            self.round = None;
            return;
        }
        round.delivered += of.bytes;
        self.round = Some(round);
        if !self.is_at_once {
            self.base.window = self.reduced(round, of);
        }
    }

    fn duplicate(&mut self) {
        self.base.duplicate();
    }

    fn lost(&mut self, now: u64, flight: u64) {
        self.round = None;
        self.base.lost(now, flight);
    }

    fn repaired(&mut self, bytes: u64) {
        self.base.repaired(bytes);
    }

    fn recovered(&mut self) {
        self.base.recovered();
    }

    fn timed_out(&mut self, now: u64, flight: u64) {
        self.round = None;
        self.base.timed_out(now, flight);
    }

    fn idle(&mut self) {
        self.base.idle();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Control;

    /// Acknowledgements of segments of 1 000 bytes: window, and what follows from the formulas.
    fn windows(text: &str, events: &[(u64, u64, u64, bool)]) -> Vec<u64> {
        let of =
            Environment { line_rate: 1, segment: 1_000, initial_window: 10, dup_acks: 3, round_trip: 0, product: 0 };
        let mut machine = Control::parse(text).expect("known").begin(&of);
        let each = events.iter().map(|&(offset, next, flight, is_marked)| {
            machine.acknowledged(&Acknowledged {
                now: 0,
                bytes: 1_000,
                offset,
                next,
                flight,
                is_marked,
                stamps: &[],
                round_trip: None,
                is_last: false,
            });
            machine.window(0)
        });
        each.collect()
    }

    #[test]
    fn windows_follow_the_formulas() {
        // The first acknowledgement passes 0: alpha = 15/16 x 1 + 1/16 x 0. The second grows too, the third is marked.
        let alpha = 15.0 / 16.0;
        let events = [
            (1_000, 10_000, 10_000, false),
            (2_000, 12_000, 10_000, false),
            (3_000, 13_000, 11_000, true),
            (4_000, 13_000, 10_000, true),
            (12_000, 14_000, 3_000, true),
            (13_000, 14_000, 2_000, true),
            (14_000, 20_000, 7_000, true),
            (15_000, 20_000, 6_000, false),
            (16_000, 22_000, 7_000, false),
        ];
        // 6 375 bytes are six segments.
        let threshold = (12_000.0 * (1.0 - alpha / 2.0) / 1_000.0_f64).floor() as u64 * 1_000;
        let at_once = windows("dctcp:reduction=at-once", &events);
        // The acknowledgement of 13 000 does not pass it, the next one ends the round without growth; the window grows
        // up to and at the threshold, and beyond it when all of it has been acknowledged.
        let (grown, start) = (threshold + 1_000, [11_000, 12_000]);
        let rest = [threshold; 5];
        assert_eq!(at_once, [&start[..], &rest, &[grown, grown]].concat());
        // In proportion: what is in flight, and what is due of the threshold for what was delivered; below the
        // threshold no more than was delivered and not replaced, and a segment.
        let due = |delivered: u64| (delivered * threshold).div_ceil(11_000);
        let prr = windows("dctcp", &events);
        let within = [10_000 + due(1_000), 9_000 + due(2_000), 2_000 + (3_000 - 1_000) + 1_000, 1_000 + 3_000 + 1_000];
        assert_eq!(prr, [&start[..], &within, &[threshold, grown, grown]].concat());
    }

    #[test]
    fn beyond_the_threshold_a_window_grows_by_a_segment_when_all_of_it_was_acknowledged() {
        let start = [(1_000, 11_000, 10_000, true), (12_000, 20_000, 9_000, false), (13_000, 20_000, 8_000, false)];
        let more = (14..34).map(|at| (1_000 * at, 50_000, 8_000, false));
        let found = windows("dctcp:reduction=at-once", &start.into_iter().chain(more).collect::<Vec<_>>());
        // Half of 10 000, since alpha is 1; at the threshold as in slow start; then 6 acknowledgements, 7, and 8.
        let expected = [[5_000; 2].as_slice(), &[6_000; 6], &[7_000; 7], &[8_000; 8]].concat();
        assert_eq!(found, expected);
    }
}

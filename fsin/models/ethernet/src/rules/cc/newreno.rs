//! NewReno: slow start and congestion avoidance (RFC 5681, 3.1), fast recovery (RFC 6582).
//!
//! The window grows once for each acknowledgement. Windows count in bytes.

use trgen::catalog::Component;

use crate::cc::{Acknowledged, Built, CongestionControl, Environment, Machine, Row};

/// The row of the table.
pub(crate) static ROW: Row = Row {
    component: Component {
        name: "newreno",
        about: "slow start, additive increase, and half the window for a loss, as TCP without marks; the default of window",
        parameters: &[],
        source: "RFC 5681, RFC 6582",
    },
    aliases: &[],
    transports: &["window"],
    needs: &[],
    build: |_| Ok(Built::of(|of| Machine::NewReno(NewReno::new(of)))),
};

/// The state of a connection.
#[derive(Debug)]
pub(crate) struct NewReno {
    /// \[bytes\] The congestion window.
    pub(super) window: u64,
    /// \[bytes\] The slow start threshold.
    pub(super) threshold: u64,
    /// \[bytes\] A segment.
    pub(super) most: u64,
    /// \[segments\] The window at the beginning.
    initial: u64,
    dup_acks: u64,
}

impl NewReno {
    pub(crate) const fn new(of: &Environment) -> Self {
        let Environment { segment, initial_window, dup_acks, .. } = *of;
        Self { window: segment * initial_window, threshold: u64::MAX, most: segment, initial: initial_window, dup_acks }
    }
}

impl CongestionControl for NewReno {
    #[inline]
    fn window(&mut self, _now: u64) -> u64 {
        self.window
    }

    #[inline]
    fn acknowledged(&mut self, of: &Acknowledged<'_>) {
        let most = self.most;
        self.window = match self.window < self.threshold {
            true => self.window + of.bytes.min(most),
            false => self.window + (most * most / self.window).max(1),
        };
    }

    fn duplicate(&mut self) {
        self.window += self.most;
    }

    fn lost(&mut self, _now: u64, flight: u64) {
        self.threshold = (flight / 2).max(2 * self.most);
        self.window = self.threshold + self.dup_acks * self.most;
    }

    fn repaired(&mut self, bytes: u64) {
        self.window = self.window.saturating_sub(bytes).max(self.most) + self.most;
    }

    fn recovered(&mut self) {
        self.window = self.threshold;
    }

    fn timed_out(&mut self, _now: u64, flight: u64) {
        self.threshold = (flight / 2).max(2 * self.most);
        self.window = self.most;
    }

    fn idle(&mut self) {
        self.window = self.window.min(self.most * self.initial);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events, and the window that follows from the formulas of the RFCs, in segments of 1 000 bytes.
    #[test]
    fn windows_follow_the_rfcs() {
        let of =
            Environment { line_rate: 1, segment: 1_000, initial_window: 2, dup_acks: 3, round_trip: 0, product: 0 };
        let mut machine = NewReno::new(&of);
        let ack = |bytes| Acknowledged {
            now: 0,
            bytes,
            offset: 0,
            next: 0,
            flight: 0,
            is_marked: true,
            stamps: &[],
            round_trip: None,
            is_last: false,
        };
        let mut windows = vec![machine.window(0)];
        let mut then = |machine: &mut NewReno| windows.push(machine.window(0));
        machine.acknowledged(&ack(1_000));
        then(&mut machine);
        // At most a segment for each acknowledgement.
        machine.acknowledged(&ack(2_000));
        then(&mut machine);
        machine.lost(0, 8_000);
        then(&mut machine);
        machine.duplicate();
        then(&mut machine);
        machine.repaired(3_000);
        then(&mut machine);
        machine.recovered();
        then(&mut machine);
        machine.acknowledged(&ack(1_000));
        then(&mut machine);
        machine.timed_out(0, 1_000);
        then(&mut machine);
        machine.acknowledged(&ack(1_000));
        then(&mut machine);
        machine.acknowledged(&ack(1_000));
        then(&mut machine);
        assert_eq!(windows, [2_000, 3_000, 4_000, 7_000, 8_000, 6_000, 4_000, 4_250, 1_000, 2_000, 2_500]);
    }
}

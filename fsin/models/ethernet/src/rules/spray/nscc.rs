//! NSCC: the sender's window of Ultra Ethernet, by marks and delay.
//!
//! A state machine of a connection, independent of network and engine. Sizes are in bytes on the wire, times in ps. All
//! state is integer, truncated after each step.
//!
//! Source: Ultra Ethernet Specification 1.0, 3.6.13 (network signal based congestion control).

/// \[ps\] The delay up to which an unmarked acknowledgement shows an empty network.
const FAST: u64 = 1_000_000;
/// Weight of a new delay in their average.
const WEIGHT: f64 = 0.0125;

/// Constants of all connections from hosts of one rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Constants {
    /// \[bytes\] Full frame.
    frame: u64,
    /// \[ps\] Round trip of the network.
    round_trip: u64,
    /// \[ps\] Target of the queueing delay.
    target: u64,
    /// \[1/ps\] Increase for each byte and ps below the target.
    alpha: f64,
    /// Increase for each byte acknowledged without a mark at or above the target.
    fair: f64,
    /// \[bytes\] Increase once a round trip.
    eta: f64,
    /// Increase for each byte while the network is empty.
    fast: f64,
    /// Binary logarithm of the share of the window below which a quick adaptation is made.
    gate: u32,
}

impl Constants {
    /// `product` is that of round trip and rate \[bytes\]; `payload` that of a full frame.
    pub(crate) fn new(frame: u64, payload: u64, round_trip: u64, product: u64, trims: bool, gate: u32) -> Self {
        let scale = product as f64 / 150_000.0;
        let target = if trims { (round_trip as f64 * 0.75) as u64 } else { round_trip };
        let payload = payload as f64;
        let of_delay = target as f64 / 12_000_000.0;
        Self {
            frame,
            round_trip,
            target,
            alpha: 4.0 * payload * scale * of_delay / target.max(1) as f64,
            fair: 5.0 * payload * scale,
            eta: 0.15 * payload * scale,
            fast: 0.25 * scale,
            gate,
        }
    }
}

/// The window of a connection and the state from which it is computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nscc {
    /// \[bytes\] The window.
    pub(crate) window: u64,
    /// \[bytes\] The largest window.
    pub(crate) most: u64,
    /// \[ps\] Average of delays.
    pub(crate) average: u64,
    /// Pending increase, times the window.
    increase: u64,
    /// \[bytes\] Acknowledged since the pending increase was last applied or discarded.
    since: u64,
    /// \[bytes\] Acknowledged since the last check for a quick adaptation.
    achieved: u64,
    /// \[bytes\] Acknowledged or trimmed since the last quick adaptation, and the amount to ignore after it.
    ignored: u64,
    to_ignore: u64,
    /// \[ps\] When the next check for a quick adaptation is due; 0 before the first.
    end: u64,
    /// \[ps\] When the window was last raised by eta.
    last: u64,
    /// \[ps\] When it was last lowered by marks.
    lowered: u64,
    /// \[bytes\] Acknowledged while the network is empty.
    fast: u64,
    is_increasing: bool,
    has_trimmed: bool,
}

impl Nscc {
    pub(crate) const fn new(most: u64) -> Self {
        Self {
            window: most,
            most,
            average: 0,
            increase: 0,
            since: 0,
            achieved: 0,
            ignored: 0,
            to_ignore: 0,
            end: 0,
            last: 0,
            lowered: 0,
            fast: 0,
            is_increasing: false,
            has_trimmed: false,
        }
    }

    /// Counts `new` bytes that are acknowledged.
    #[inline]
    pub(crate) const fn count(&mut self, new: u64) {
        self.achieved += new;
        self.since += new;
        self.ignored += new;
    }

    /// Takes a delay into the average. `base` is the round trip of the connection.
    #[inline]
    pub(crate) fn measure(&mut self, of: &Constants, is_marked: bool, delay: u64, base: u64) {
        let new = if !is_marked && delay > of.target { base as f64 * 0.25 } else { delay as f64 };
        self.average = (WEIGHT * new + (1.0 - WEIGHT) * self.average as f64) as u64;
    }

    /// Makes a quick adaptation if one is due. Returns true if it was made or its effect is still awaited, so that the
    /// window must not change otherwise.
    fn adapts(&mut self, of: &Constants, is_marked: bool, delay: u64, now: u64, flight: i64, base: u64) -> bool {
        let mut skips = false;
        if self.ignored < self.to_ignore && is_marked {
            skips = true;
        } else if now > self.end {
            let is_due = self.has_trimmed || delay > 4 * of.target;
            if self.end != 0 && is_due && self.achieved < self.most >> of.gate {
                self.window = self.achieved.max(of.frame);
                self.to_ignore = flight.max(0) as u64;
                self.ignored = 0;
                self.has_trimmed = false;
                skips = true;
            }
            self.achieved = 0;
            self.end = now + base + of.target;
        }
        if skips {
            (self.increase, self.since) = (0, 0);
        }
        skips
    }

    fn bound(&mut self, of: &Constants) {
        self.window = self.window.min(self.most).max(of.frame);
    }

    /// Handles an acknowledgement of `new` bytes with a delay, while `flight` bytes are in flight.
    #[expect(clippy::too_many_arguments, reason = "fields of the acknowledgement and state of its connection")]
    pub(crate) fn acknowledged(
        &mut self,
        of: &Constants,
        is_marked: bool,
        delay: u64,
        new: u64,
        now: u64,
        flight: i64,
        base: u64,
    ) {
        if self.adapts(of, is_marked, delay, now, flight, base) {
            return;
        }
        match (is_marked, delay >= of.target) {
            (false, true) => self.raise(of.fair * new as f64),
            (false, false) => self.below_target(of, delay, new),
            (true, true) => self.lower(of, now, base),
            (true, false) => {}
        }
        self.bound(of);
        if self.since > 8 * of.frame || now - self.last > of.round_trip {
            self.window += self.increase / self.window;
            if now - self.last >= of.round_trip {
                self.window = (self.window as f64 + of.eta) as u64;
                self.last = now;
            }
            (self.increase, self.since) = (0, 0);
            self.bound(of);
        }
    }

    fn raise(&mut self, by: f64) {
        self.increase = (self.increase as f64 + by) as u64;
    }

    fn below_target(&mut self, of: &Constants, delay: u64, new: u64) {
        if delay < FAST {
            self.fast += new;
            if self.fast > self.window || self.is_increasing {
                self.window = (self.window as f64 + of.fast * new as f64) as u64;
                self.is_increasing = true;
                return;
            }
        } else {
            (self.fast, self.is_increasing) = (0, false);
        }
        self.raise(of.alpha * new as f64 * (of.target - delay) as f64);
    }

    fn lower(&mut self, of: &Constants, now: u64, base: u64) {
        (self.fast, self.is_increasing) = (0, false);
        if self.average > of.target && now - self.lowered > base {
            let (average, target) = (self.average as f64, of.target as f64);
            let factor = (1.0 - 0.8 * (average - target) / average).max(0.5);
            self.window = ((self.window as f64 * factor) as u64).max(of.frame);
            self.lowered = now;
        }
    }

    /// Handles a frame of `size` bytes that was trimmed. `pays` is false where the receiver's credits already reduce
    /// the rate, so that the window is not lowered.
    pub(crate) fn trimmed(&mut self, of: &Constants, size: u64, now: u64, flight: i64, base: u64, pays: bool) {
        self.ignored += size;
        self.measure(of, true, of.round_trip, base);
        self.has_trimmed = true;
        if self.adapts(of, true, 0, now, flight, base) {
            return;
        }
        if pays {
            self.window = self.window.saturating_sub(size);
            self.bound(of);
        }
    }

    /// Handles a time-out of a frame of `size` bytes.
    pub(crate) fn timed_out(&mut self, of: &Constants, size: u64) {
        self.window = self.window.saturating_sub(size).max(of.frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;

    /// Round trip 10 us at 100 Gb/s: 125 000 bytes; frames of 4 150.
    fn constants() -> Constants {
        Constants::new(4_150, 4_086, 10 * US, 125_000, true, 3)
    }

    #[test]
    fn an_empty_network_raises_the_window_after_one_of_it() {
        let of = constants();
        let mut nscc = Nscc::new(187_500);
        nscc.window = 8_300;
        for at in 1..=2 {
            nscc.count(4_150);
            nscc.acknowledged(&of, false, 0, 4_150, at * 1_000, 4_150, 10 * US);
            assert_eq!(nscc.window, 8_300, "{at}");
        }
        nscc.count(4_150);
        nscc.acknowledged(&of, false, 0, 4_150, 3_000, 4_150, 10 * US);
        // 0.25 x 125 000 / 150 000 of each byte.
        assert_eq!(nscc.window, 8_300 + (4_150.0_f64 * 0.25 * 125.0 / 150.0) as u64);
    }

    #[test]
    fn marks_with_delay_lower_the_window_once_a_round_trip() {
        let of = constants();
        let mut nscc = Nscc::new(187_500);
        (nscc.end, nscc.average) = (u64::MAX, 15 * US);
        nscc.acknowledged(&of, true, 15 * US, 4_150, 20 * US, 0, 10 * US);
        let lowered = (187_500.0_f64 * (1.0 - 0.8 * 0.5)) as u64;
        assert!(nscc.window.abs_diff(lowered + (of.eta as u64)) <= 1, "{}", nscc.window);
        let before = nscc.window;
        nscc.acknowledged(&of, true, 15 * US, 4_150, 21 * US, 0, 10 * US);
        assert_eq!(nscc.window, before);
    }

    #[test]
    fn a_trim_of_a_small_share_adapts_quickly_and_what_was_in_flight_is_ignored() {
        let of = constants();
        let mut nscc = Nscc::new(187_500);
        nscc.trimmed(&of, 4_150, US, 100_000, 10 * US, true);
        assert_eq!(nscc.window, 187_500 - 4_150);
        // After the round trip and the target that follow the first look.
        nscc.count(8_000);
        nscc.trimmed(&of, 4_150, 19 * US, 100_000, 10 * US, true);
        assert_eq!((nscc.window, nscc.to_ignore), (8_000, 100_000));
        nscc.trimmed(&of, 4_150, 20 * US, 90_000, 10 * US, true);
        assert_eq!(nscc.window, 8_000, "within what is ignored");
        nscc.timed_out(&of, 4_150);
        assert_eq!(nscc.window, 4_150, "never below a frame");
    }
}

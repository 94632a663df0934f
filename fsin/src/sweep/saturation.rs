//! Where a network saturates, by bisection.

/// A load that was tried.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Probe {
    /// \[phits/node/cycle\] That was asked for.
    pub load: f64,
    /// Whether the network was saturated.
    pub saturated: bool,
}

/// The largest load known to be carried, and the smallest known not to be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bracket {
    /// \[phits/node/cycle\] Carried; 0 at first, which every network carries.
    pub low: f64,
    /// \[phits/node/cycle\] Not carried; `None` until one is found.
    pub high: Option<f64>,
    most: f64,
    tolerance: f64,
}

impl Bracket {
    /// Between 0 and `most`, to a width of at most `tolerance` (phits/node/cycle, both positive).
    #[must_use]
    pub const fn new(most: f64, tolerance: f64) -> Self {
        Self { low: 0.0, high: None, most, tolerance }
    }

    /// The next load to try; `None` when it is narrow enough, or the largest load is carried.
    #[must_use]
    pub fn next(&self) -> Option<f64> {
        match self.high {
            None if self.low < self.most => Some(self.most),
            None => None,
            // A little slack: 0.005 is not a sum of halves.
            Some(high) if high - self.low <= self.tolerance * (1.0 + 1e-9) => None,
            Some(high) => Some((((self.low + high) / 2.0) * 1e9).round() / 1e9),
        }
    }

    /// Takes what a load showed.
    pub fn observe(&mut self, probe: Probe) {
        if probe.saturated {
            self.high = Some(probe.load);
        } else {
            self.low = probe.load;
        }
    }

    /// The middle of the bracket: off the load at which the answer changes by at most half of its width. `None` if the
    /// largest load is carried, or while loads are left to try.
    #[must_use]
    pub fn load(&self) -> Option<f64> {
        self.high.filter(|_| self.next().is_none()).map(|high| (self.low + high) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(threshold: f64) -> (Bracket, usize) {
        let mut bracket = Bracket::new(1.0, 0.01);
        let mut probes = 0;
        while let Some(load) = bracket.next() {
            bracket.observe(Probe { load, saturated: load >= threshold });
            probes += 1;
            assert!(probes < 50);
        }
        (bracket, probes)
    }

    #[test]
    fn it_closes_in_on_the_threshold() {
        let mut interrupted = Bracket::new(1.0, 0.01);
        interrupted.observe(Probe { load: 1.0, saturated: true });
        assert_eq!(interrupted.load(), None, "there are loads left to try");
        for threshold in [0.003, 0.25, 0.6180, 0.999] {
            let (bracket, probes) = find(threshold);
            assert!((bracket.load().unwrap() - threshold).abs() <= 0.005, "{bracket:?}");
            assert!(probes <= 8);
        }
    }

    #[test]
    fn a_network_that_carries_everything_has_none() {
        assert_eq!(find(2.0), (Bracket { low: 1.0, high: None, most: 1.0, tolerance: 0.01 }, 1));
    }
}

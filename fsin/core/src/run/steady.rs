//! Tests for saturation of a measured network, and for a steady state.
//!
//! Both are tests on increments: rates over successive intervals of the measured time ([`Interval`]), each as a mean
//! with its 95 % confidence interval by Student's t. In a saturated network the increments of a queue are independent
//! and their mean is positive; in a steady one they cancel, and the interval is wider than necessary. A test holds only
//! if it also holds for the later half of the measured time, since the filling of an initially empty network comes to
//! an end.
//!
//! Decision: docs/decisions/0014-saturation.md.

use crate::stats::{Counts, Estimate, Whole, estimate, trend};

/// Minimum number of intervals of the measured time.
pub(super) const INTERVALS: u64 = 20;
/// Minimum number of intervals for a judgement: each half needs two for a confidence interval.
const FEWEST: usize = 4;
/// Share of the offered load. If the accepted load is lower by more than this share, the network holds throttled
/// sources back; a smaller difference can come from chance encounters with a full buffer.
pub const SHORTFALL: f64 = 0.03;
/// Share of the mean latency. A greater change over the measured time counts as a trend.
pub const DRIFT: f64 = 0.05;

/// Counts over an interval of the measured time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    /// \[cycles\] Length of the interval.
    pub cycles: u64,
    /// \[packets\] Counts within the interval.
    pub counts: Counts,
    /// \[cycles\] Sum of the latencies of the packets received within the interval.
    pub latency_sum: u128,
}

/// The offered load.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Demand {
    /// \[packets/cycle\] Load offered by all nodes together.
    pub packets_per_cycle: f64,
    /// True if sources stop generating while the network refuses their packets, so that their queues are bounded.
    pub throttled: bool,
    /// True if measuring began with an empty network.
    pub from_empty: bool,
}

/// Why a network is saturated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Saturation {
    /// The queues of open sources grow as long as the run lasts, and latency with them.
    Growing,
    /// Throttled sources are held back: the accepted load is below the offered load.
    HeldBack,
}

/// The combined result of the intervals of the measured time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Steadiness {
    /// \[packets/cycle\] Growth of all queues together, those of sources and those of the network: packets generated
    /// and not received.
    pub queue_growth: Option<Estimate>,
    /// \[packets/cycle\] Packets offered and not accepted; `None` without an offered load.
    pub shortfall: Option<Estimate>,
    /// \[share of the mean\] Change of mean latency from the beginning of the measured time to its end; `None` for
    /// fewer than four parts with packets.
    pub drift: Option<Estimate>,
    /// Whether and how the network is saturated; `None` without an offered load, or if too little was measured.
    pub saturation: Option<Option<Saturation>>,
}

impl Steadiness {
    /// Evaluates the intervals of a measured time, in order. Packets are counted by their length, of which
    /// `packet_phits` is the longest.
    #[must_use]
    pub fn of(intervals: &[Interval], packet_phits: u32, demand: Option<Demand>) -> Self {
        let rate = |count: &dyn Fn(&Counts) -> f64| -> Vec<f64> {
            intervals.iter().map(|interval| count(&interval.counts) / interval.cycles as f64).collect()
        };
        let waiting = rate(&|counts| counts.waiting());
        let unserved = rate(&|counts| {
            let Whole { generated, received, dropped, .. } = counts.whole(packet_phits);
            generated - dropped - received
        });
        let total: Counts = intervals.iter().fold(Counts::default(), |sum, interval| sum.plus(&interval.counts));
        // Packets without a route place no load on the network: they reduce the load by their share of the generated
        // packets.
        let carried = 1.0 - total.dropped as f64 / total.generated.max(1) as f64;
        let asked = demand.map(|demand| demand.packets_per_cycle * carried);
        let missing = asked.map(|asked| -> Vec<f64> {
            let accepted = rate(&|counts| counts.whole(packet_phits).received);
            accepted.iter().map(|accepted| asked - accepted).collect()
        });
        let saturation = demand.zip(asked).zip(missing.as_ref()).filter(|_| intervals.len() >= FEWEST);
        let saturation = saturation.map(|((demand, asked), missing)| {
            let (grows, kind) = match (demand.throttled, demand.from_empty) {
                // Packets under way in a network that fills up have not been refused.
                (true, true) => {
                    let refused: Vec<f64> = rate(&|counts| counts.whole(packet_phits).injected)
                        .iter()
                        .map(|injected| asked - injected)
                        .collect();
                    (lasts(&refused, SHORTFALL * asked), Saturation::HeldBack)
                }
                (true, false) => (lasts(missing, SHORTFALL * asked), Saturation::HeldBack),
                (false, true) => (lasts(&waiting, 0.0), Saturation::Growing),
                (false, false) => {
                    // The offered load is known without the randomness of generation, so its test is more sensitive.
                    // But sources that generated little by chance leave no queue behind.
                    let found = lasts(&unserved, 0.0) || (lasts(missing, 0.0) && is_up(&unserved));
                    // The number of packets under way grows by chance, more so if packets are long. A network that
                    // cannot take more packets leaves them at their sources.
                    (found && is_up(&waiting), Saturation::Growing)
                }
            };
            grows.then_some(kind)
        });
        Self {
            queue_growth: estimate(&unserved).filter(|_| demand.is_some()),
            shortfall: missing.as_deref().and_then(estimate),
            drift: drift(intervals),
            saturation,
        }
    }

    /// True if latency depends significantly on the length of the run: queues grow, or its mean has a trend.
    #[must_use]
    pub fn is_changing(&self) -> bool {
        self.saturation == Some(Some(Saturation::Growing)) || self.has_drift()
    }

    /// True if mean latency changed by more than [`DRIFT`], and by more than its spread explains.
    #[must_use]
    pub fn has_drift(&self) -> bool {
        let is_large = |drift: Estimate| drift.ci95.is_some_and(|ci95| drift.mean.abs() > ci95.max(DRIFT));
        self.drift.is_some_and(is_large)
    }
}

/// True if the mean of the values exceeds `least` with confidence, both over all values and over their later half.
fn lasts(values: &[f64], least: f64) -> bool {
    let exceeds = |values: &[f64]| {
        let clear = |found: Estimate| found.ci95.is_some_and(|ci95| found.mean - ci95 > least);
        estimate(values).is_some_and(clear)
    };
    exceeds(values) && exceeds(&values[values.len() / 2..])
}

/// True if the sum of the values and the sum of their later half are positive.
fn is_up(values: &[f64]) -> bool {
    let sum = |values: &[f64]| values.iter().sum::<f64>();
    sum(values) > 0.0 && sum(&values[values.len() / 2..]) > 0.0
}

/// \[share of the mean\] Change of mean latency over the measured time, by least squares.
fn drift(intervals: &[Interval]) -> Option<Estimate> {
    let served = intervals.iter().filter(|interval| interval.counts.received > 0);
    let latencies: Vec<f64> =
        served.map(|interval| interval.latency_sum as f64 / interval.counts.received as f64).collect();
    let mean = latencies.iter().sum::<f64>() / latencies.len() as f64;
    let trend = trend(&latencies).filter(|_| latencies.len() >= FEWEST && mean > 0.0)?;
    let scale = latencies.len() as f64 / mean;
    Some(Estimate { mean: trend.mean * scale, ci95: trend.ci95.map(|ci95| ci95 * scale), ..trend })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts of 1000 cycles; packets generated, injected and received in each, and their mean latency.
    fn intervals(rows: impl IntoIterator<Item = (u64, u64, u64, u64)>) -> Vec<Interval> {
        let interval = |(generated, injected, received, latency)| Interval {
            cycles: 1000,
            counts: Counts { generated, injected, received, ..Counts::default() },
            latency_sum: u128::from(received * latency),
        };
        rows.into_iter().map(interval).collect()
    }

    fn demand(packets_per_cycle: f64) -> Option<Demand> {
        Some(Demand { packets_per_cycle, throttled: false, from_empty: false })
    }

    /// Deterministic integers around zero that resemble noise, with a small sum.
    fn noise(index: u64) -> i64 {
        [7, -12, 3, 15, -9, -4, 11, -13, 6, -3][(index % 10) as usize]
    }

    fn about(mean: u64, index: u64) -> u64 {
        mean.saturating_add_signed(noise(index))
    }

    #[test]
    fn a_growing_queue_is_saturation_though_97_per_cent_are_accepted() {
        let growing = intervals((0..20).map(|at| (about(920, at), about(900, at + 3), 900, 500 + 20 * at)));
        let found = Steadiness::of(&growing, 1, demand(0.92));
        assert_eq!(found.saturation, Some(Some(Saturation::Growing)));
        assert!(found.is_changing() && found.has_drift(), "{found:?}");
        let growth = found.queue_growth.unwrap();
        assert!((growth.mean - 0.02).abs() < 0.002 && growth.ci95.unwrap() < 0.01, "{growth:?}");
    }

    #[test]
    fn chance_is_not() {
        let steady = intervals((0..20).map(|at| (about(900, at), about(900, at), about(900, at + 1), about(100, at))));
        let found = Steadiness::of(&steady, 1, demand(0.9));
        assert_eq!((found.saturation, found.is_changing()), (Some(None), false), "{found:?}");
        // Sources that generated less than the load asked for, all of which was accepted.
        let found = Steadiness::of(&steady, 1, demand(0.95));
        assert_eq!(found.saturation, Some(None), "{found:?}");
    }

    #[test]
    fn packets_on_their_way_are_no_queue() {
        let more_on_their_way = intervals((0..20).map(|at| (about(900, at), about(900, at), about(880, at + 1), 100)));
        let found = Steadiness::of(&more_on_their_way, 1, demand(0.9));
        assert!(found.queue_growth.is_some_and(|growth| growth.mean > growth.ci95.unwrap()), "{found:?}");
        assert_eq!(found.saturation, Some(None), "every packet has left its source");
    }

    #[test]
    fn what_fills_a_network_ends() {
        let filling = |at: u64| if at < 6 { 800 } else { 900 };
        let intervals = intervals((0..20).map(|at| (about(900, at), about(900, at), filling(at) + at % 3, 100)));
        for from_empty in [false, true] {
            let demand = Some(Demand { packets_per_cycle: 0.9, throttled: false, from_empty });
            assert_eq!(Steadiness::of(&intervals, 1, demand).saturation, Some(None));
        }
    }

    #[test]
    fn a_throttled_source_is_judged_by_what_it_was_asked_for() {
        let demand = |packets_per_cycle| Some(Demand { packets_per_cycle, throttled: true, from_empty: false });
        let intervals =
            intervals((0..20).map(|at| (about(900, at), about(900, at), about(900, at + 1), about(400, at))));
        assert_eq!(Steadiness::of(&intervals, 1, demand(1.0)).saturation, Some(Some(Saturation::HeldBack)));
        assert!(!Steadiness::of(&intervals, 1, demand(1.0)).is_changing(), "its queues are bounded");
        assert_eq!(Steadiness::of(&intervals, 1, demand(0.92)).saturation, Some(None), "2 % are lost at full buffers");
    }

    #[test]
    fn sources_that_sent_little_by_chance_were_not_held_back() {
        // 4 % below the load asked for, with a spread of as much.
        let intervals = intervals((0..20).map(|at| {
            let sent = about(48, at) + 3 * (at % 3);
            (sent, sent, sent, 20)
        }));
        let demand = Some(Demand { packets_per_cycle: 0.053, throttled: true, from_empty: false });
        assert_eq!(Steadiness::of(&intervals, 1, demand).saturation, Some(None));
    }

    #[test]
    fn too_little_is_not_judged() {
        let few = intervals((0..3).map(|at| (900, 880, 880, 100 * at)));
        let found = Steadiness::of(&few, 1, demand(0.9));
        assert_eq!((found.saturation, found.drift), (None, None));
        assert_eq!(Steadiness::of(&few, 1, None).queue_growth, None);
    }
}

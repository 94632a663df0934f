//! DCQCN: rates fall with the share of marked frames, and rise again by time and by bytes sent.
//!
//! Sources: Zhu and others, Congestion control for large-scale RDMA deployments, SIGCOMM 2015, section 3; the settings
//! and instants are those of bobzhuyb/ns3-rdma and alibaba-edu/High-Precision-Congestion-Control.

use trgen::catalog::{Component, ErrorKind, Parameter, SpecError};
use trgen::synthetic::expr::Call;

use super::{count, rate, share, span, switch};
use crate::cc::{Acknowledged, Built, CongestionControl, Environment, Machine, Row, Signal};

/// A parameter whose default is that of the preset.
const fn preset(name: &'static str, about: &'static str, range: &'static str) -> Parameter {
    Parameter { name, about, range, default: "that of the preset" }
}

/// The row of the table.
pub(crate) static ROW: Row = Row {
    component: Component {
        name: "dcqcn",
        about: "a rate that falls with the share of marked frames, and rises in stages of time and of bytes (RoCE)",
        parameters: &[
            Parameter {
                name: "preset",
                about: "where the other parameters come from: hpcc (as the simulator of HPCC sets it: decreases every 4 us, no \
                        byte counter), hpcc-paper (the same, but every 50 us), sigcomm2015 (the paper: at each notification)",
                range: "hpcc, hpcc-paper or sigcomm2015",
                default: "hpcc",
            },
            preset("g", "weight of a new share of marks in alpha", "above 0, up to 1: 1/256"),
            preset("alpha-interval", "time between two updates of alpha", "a time above 0"),
            preset("decrease-interval", "time between two decreases; 0: at each notification", "a time"),
            preset("increase-interval", "time between two increases", "a time above 0"),
            preset("byte-counter", "bytes sent between two increases; 0: increases by time alone", "0.. bytes"),
            preset("fast-recovery", "increases that only go half the way back to the target", "0.."),
            preset("ai", "additive increase of the target", "a data rate"),
            preset("hai", "hyper increase of the target", "a data rate"),
            Parameter { name: "min-rate", about: "the lowest rate", range: "a data rate above 0", default: "100Mb/s" },
            preset("clamp", "the target falls with every decrease", "true or false"),
        ],
        source: "Zhu and others, Congestion control for large-scale RDMA deployments, SIGCOMM 2015",
    },
    aliases: &[],
    transports: &["roce"],
    needs: &[Signal::Marks],
    build,
};

/// The parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Settings {
    g: f64,
    /// \[ps\]
    alpha_interval: u64,
    /// \[ps\] 0 if every notification decreases.
    decrease_interval: u64,
    /// \[ps\]
    increase_interval: u64,
    /// \[bytes\] 0 if there is none.
    byte_counter: u64,
    fast_recovery: u64,
    /// \[b/s\] `None`: by the rate of the link.
    ai: Option<u64>,
    hai: Option<u64>,
    /// \[b/s\]
    min_rate: u64,
    clamp: bool,
}

/// \[ps\]
const US: u64 = 1_000_000;

/// \[ps\] How long a decrease follows the interval, so that it follows the update of alpha.
const AFTER: u64 = 1_000;

fn build(call: &Call<'_>) -> Result<Built, SpecError> {
    let hpcc = Settings {
        g: 1.0 / 256.0,
        alpha_interval: US,
        decrease_interval: 4 * US,
        increase_interval: 300 * US,
        byte_counter: 0,
        fast_recovery: 1,
        ai: None,
        hai: None,
        min_rate: 100_000_000,
        clamp: false,
    };
    let paper = Settings { alpha_interval: 50 * US, decrease_interval: 50 * US, increase_interval: 55 * US, ..hpcc };
    let sigcomm = Settings {
        alpha_interval: 55 * US,
        decrease_interval: 0,
        increase_interval: 55 * US,
        byte_counter: 10_000_000,
        fast_recovery: 5,
        ai: Some(40_000_000),
        hai: Some(400_000_000),
        clamp: true,
        ..hpcc
    };
    let presets = [("hpcc", (hpcc, 0)), ("hpcc-paper", (paper, 0)), ("sigcomm2015", (sigcomm, 50 * US))];
    let (of, cnp_interval) = call.choice("preset", &presets)?;
    let bytes = |parameter| match call.given(parameter) {
        Some(_) => call.bytes(parameter, 0..=1 << 50).map(|bytes| Some(bytes as u64)),
        None => Ok(None),
    };
    let settings = Settings {
        g: share(call, "g")?.unwrap_or(of.g),
        alpha_interval: span(call, "alpha-interval")?.unwrap_or(of.alpha_interval),
        decrease_interval: span(call, "decrease-interval")?.unwrap_or(of.decrease_interval),
        increase_interval: span(call, "increase-interval")?.unwrap_or(of.increase_interval),
        byte_counter: bytes("byte-counter")?.unwrap_or(of.byte_counter),
        fast_recovery: count(call, "fast-recovery", 0)?.unwrap_or(of.fast_recovery),
        ai: rate(call, "ai")?.or(of.ai),
        hai: rate(call, "hai")?.or(of.hai),
        min_rate: rate(call, "min-rate")?.unwrap_or(of.min_rate),
        clamp: switch(call, "clamp")?.unwrap_or(of.clamp),
    };
    let zeros = [
        ("alpha-interval", settings.alpha_interval),
        ("increase-interval", settings.increase_interval),
        ("min-rate", settings.min_rate),
    ];
    if let Some((name, _)) = zeros.into_iter().find(|&(_, value)| value == 0) {
        let argument = call.given(name).ok_or_else(|| call.refuse_all(&format!("{name} is 0"), "use more"))?;
        let error = call.refuse(argument, &format!("{name} = 0 would never end"), "use more than 0");
        return Err(error.of_kind(ErrorKind::OutOfRange));
    }
    let built = Built::of(move |of| Machine::Dcqcn(Dcqcn::new(settings, of)));
    Ok(Built { cnp_interval: Some(cnp_interval), ..built })
}

/// Timers and flags from the first notification on.
#[derive(Clone, Copy, Debug)]
struct Timers {
    /// \[ps\] Next update of alpha.
    alpha_at: u64,
    /// \[ps\] Next check for a decrease; the greatest number where each notification decreases.
    decrease_at: u64,
    /// \[ps\] Next increase by time; the greatest number before the first decrease.
    increase_at: u64,
    /// A notification has come since the last update of alpha.
    is_marked: bool,
    /// A notification has come since the last check for a decrease.
    is_notified: bool,
}

/// The state of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Dcqcn {
    of: Settings,
    /// \[b/s\] Increases of the target.
    ai: u64,
    hai: u64,
    /// \[b/s\] Rate of the link.
    line_rate: u64,
    /// \[b/s\] Present rate, and target.
    rate: u64,
    target: u64,
    alpha: f64,
    /// Increases by time and by bytes since the last decrease.
    time_stages: u64,
    byte_stages: u64,
    /// \[bytes\] Sent since the last increase by bytes.
    counted: u64,
    /// `None` before the first notification.
    timers: Option<Timers>,
}

impl Dcqcn {
    fn new(of: Settings, environment: &Environment) -> Self {
        let line_rate = environment.line_rate;
        // 5 and 50 Mb/s for each 25 Gb/s.
        let share = |mega: u64| (u128::from(line_rate) * u128::from(mega) / 25_000) as u64;
        Self {
            ai: of.ai.unwrap_or_else(|| share(5)),
            hai: of.hai.unwrap_or_else(|| share(50)),
            of,
            line_rate,
            rate: line_rate,
            target: line_rate,
            alpha: 1.0,
            time_stages: 0,
            byte_stages: 0,
            counted: 0,
            timers: None,
        }
    }

    /// Handles a notification at time `now`.
    fn notify(&mut self, now: u64) {
        self.catch_up(now);
        let of = self.of;
        let is_at_once = of.decrease_interval == 0;
        match &mut self.timers {
            Some(timers) => (timers.is_marked, timers.is_notified) = (true, true),
            None => {
                (self.alpha, self.target) = (1.0, self.rate);
                let decrease_at = if is_at_once { u64::MAX } else { now.saturating_add(of.decrease_interval + AFTER) };
                self.timers = Some(Timers {
                    alpha_at: now.saturating_add(of.alpha_interval),
                    decrease_at,
                    increase_at: u64::MAX,
                    is_marked: false,
                    is_notified: true,
                });
            }
        }
        if is_at_once {
            self.decrease(now);
        }
    }

    /// Makes up for all timers that were due before `now`. Timers that are due at an instant are the last of it.
    fn catch_up(&mut self, now: u64) {
        while let Some(timers) = self.timers {
            let Timers { alpha_at, decrease_at, increase_at, .. } = timers;
            let next = alpha_at.min(decrease_at).min(increase_at);
            if next >= now {
                return;
            }
            // Of timers that are due at once, alpha's is first, and then that which was set first.
            if next == alpha_at {
                self.update_alpha();
            } else if next == increase_at
                && (next != decrease_at || self.of.increase_interval > self.of.decrease_interval)
            {
                self.time_stages += 1;
                self.set_increase(next);
                self.increase();
            } else {
                if let Some(timers) = &mut self.timers {
                    timers.decrease_at = next.saturating_add(self.of.decrease_interval);
                }
                if timers.is_notified {
                    self.decrease(next);
                }
            }
        }
    }

    fn update_alpha(&mut self) {
        let g = self.of.g;
        let Some(timers) = &mut self.timers else { return };
        timers.alpha_at = timers.alpha_at.saturating_add(self.of.alpha_interval);
        let marked = if std::mem::take(&mut timers.is_marked) { g } else { 0.0 };
        self.alpha = (1.0 - g) * self.alpha + marked;
    }

    fn decrease(&mut self, now: u64) {
        if self.of.clamp || self.time_stages + self.byte_stages > 0 {
            self.target = self.rate;
        }
        self.rate = ((self.rate as f64 * (1.0 - self.alpha / 2.0)) as u64).max(self.of.min_rate).min(self.line_rate);
        (self.time_stages, self.byte_stages, self.counted) = (0, 0, 0);
        self.set_increase(now);
        if let Some(timers) = &mut self.timers {
            timers.is_notified = false;
        }
    }

    /// Sets the timer of increases anew.
    fn set_increase(&mut self, now: u64) {
        if let Some(timers) = &mut self.timers {
            timers.increase_at = now.saturating_add(self.of.increase_interval);
        }
    }

    /// An increase, after its stage was counted.
    fn increase(&mut self) {
        let (last, first) = (self.time_stages.max(self.byte_stages), self.time_stages.min(self.byte_stages));
        let recovery = self.of.fast_recovery;
        let more = if self.of.byte_counter == 0 {
            // By the number of earlier increases.
            match (last - 1).cmp(&recovery) {
                std::cmp::Ordering::Less => 0,
                std::cmp::Ordering::Equal => self.ai,
                std::cmp::Ordering::Greater => self.hai,
            }
        } else if last < recovery {
            0
        } else if first < recovery {
            self.ai
        } else {
            self.hai.saturating_mul(first - recovery + 1)
        };
        self.target = self.target.saturating_add(more).min(self.line_rate);
        self.rate = self.rate / 2 + self.target / 2;
    }
}

impl CongestionControl for Dcqcn {
    #[inline]
    fn rate(&mut self, now: u64) -> u64 {
        if self.timers.is_some() {
            self.catch_up(now);
        }
        self.rate
    }

    #[inline]
    fn sent(&mut self, now: u64, wire_bytes: u32) {
        if self.of.byte_counter == 0 || self.timers.is_none() {
            return;
        }
        self.catch_up(now);
        self.counted += u64::from(wire_bytes);
        while self.counted >= self.of.byte_counter {
            self.counted -= self.of.byte_counter;
            self.byte_stages += 1;
            self.increase();
        }
    }

    #[inline]
    fn acknowledged(&mut self, of: &Acknowledged<'_>) {
        if of.is_marked {
            self.notify(of.now);
        }
    }

    fn changes_at(&self) -> Option<u64> {
        self.timers.map(|timers| timers.decrease_at.min(timers.increase_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Control;

    const ENVIRONMENT: Environment = Environment {
        line_rate: 40_000_000_000,
        segment: 1_000,
        initial_window: 0,
        dup_acks: 0,
        round_trip: 0,
        product: 0,
    };

    fn machine(text: &str) -> Machine {
        Control::parse(text).expect("known").begin(&ENVIRONMENT)
    }

    fn ack(now: u64, is_marked: bool) -> Acknowledged<'static> {
        Acknowledged {
            now,
            bytes: 1_000,
            offset: 0,
            next: 0,
            flight: 0,
            is_marked,
            stamps: &[],
            round_trip: None,
            is_last: false,
        }
    }

    /// Events, and the rates that follow from the formulas.
    #[test]
    fn rates_follow_the_formulas() {
        let mut machine = machine(
            "dcqcn:ai=40Mb/s,hai=400Mb/s,alpha-interval=55us,decrease-interval=50us,\
                                   increase-interval=55us,fast-recovery=1",
        );
        assert_eq!(machine.rate(0), 40_000_000_000);
        machine.acknowledged(&ack(10 * US, true));
        // The first notification changes nothing at once; the decrease comes 1 ns behind the interval, with alpha 1.
        assert_eq!(machine.rate(60 * US + 1_000), 40_000_000_000);
        assert_eq!(machine.rate(60 * US + 1_001), 20_000_000_000);
        // Increases by time: to half the way, to half the way with AI, and then with HAI.
        let first = 60 * US + 1_000 + 55 * US;
        assert_eq!(machine.rate(first + 1), 30_000_000_000);
        assert_eq!(machine.rate(first + 55 * US + 1), 35_000_000_000);
        // Alpha: not marked since, and again.
        machine.acknowledged(&ack(first + 56 * US, true));
        let alpha = {
            let keep = 1.0 - 1.0 / 256.0;
            // Updates at 65, 120 and 175 us, the last one with a notification before it.
            let mut alpha: f64 = 1.0;
            alpha *= keep;
            alpha *= keep;
            alpha = keep * alpha + 1.0 / 256.0;
            alpha
        };
        // The next check is at 60 us + 1 ns + 3 x 50 us = 210 us + 1 ns.
        let expected = (35_000_000_000.0 * (1.0 - alpha / 2.0)) as u64;
        assert_eq!(machine.rate(210 * US + 1_001), expected);
    }

    #[test]
    fn with_a_byte_counter_both_stages_count() {
        let mut machine = machine("dcqcn:preset=sigcomm2015,byte-counter=1000,fast-recovery=1");
        machine.acknowledged(&ack(US, true));
        // At once, with alpha 1.
        assert_eq!(machine.rate(US + 1), 20_000_000_000);
        machine.sent(US + 2, 999);
        assert_eq!(machine.rate(US + 2), 20_000_000_000);
        // One stage of bytes, none of time: additive, up to the rate of the link.
        machine.sent(US + 3, 1);
        assert_eq!(machine.rate(US + 3), 30_000_000_000);
        // The target falls with the rate.
        machine.acknowledged(&ack(US + 4, true));
        machine.acknowledged(&ack(US + 5, true));
        assert_eq!(machine.rate(US + 6), 7_500_000_000);
        machine.sent(US + 7, 1_000);
        assert_eq!(machine.rate(US + 8), 3_750_000_000 + (15_000_000_000 + 40_000_000) / 2);
    }

    #[test]
    fn wrong_parameters_are_refused() {
        for wrong in ["g=0", "g=2", "ai=40", "alpha-interval=0", "preset=thesis", "min-rate=0b/s", "clamp=1", "beta=2"]
        {
            let error = Control::parse(&format!("dcqcn:{wrong}")).expect_err(wrong);
            assert!(!error.remedy().to_string().is_empty(), "{wrong}: {error}");
        }
    }
}

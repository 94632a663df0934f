//! HPCC: a window and a rate from what switches say of their links.
//!
//! Source: Li and others, HPCC: high precision congestion control, SIGCOMM 2019, algorithm 1; the widths of fields are
//! those of alibaba-edu/High-Precision-Congestion-Control.

use trgen::catalog::{Component, Parameter, SpecError};
use trgen::synthetic::expr::Call;

use super::{count, rate, share, switch};
use crate::cc::{Acknowledged, Built, CongestionControl, Environment, Machine, Row, Signal, Stamp};

/// The row of the table.
pub(crate) static ROW: Row = Row {
    component: Component {
        name: "hpcc",
        about: "a window and a rate that follow the utilisation and the queue of the fullest link, which switches report in \
                each frame",
        parameters: &[
            Parameter {
                name: "eta",
                about: "utilisation that is aimed at",
                range: "above 0, up to 1",
                default: "0.95",
            },
            Parameter {
                name: "max-stage",
                about: "additive increases before a multiplicative one",
                range: "0..",
                default: "0",
            },
            Parameter {
                name: "fast-react",
                about: "every acknowledgement changes the rate, and not one of each round trip",
                range: "true or false",
                default: "true",
            },
            Parameter {
                name: "ai",
                about: "additive increase",
                range: "a data rate",
                default: "10 Mb/s for each 25 Gb/s of the link",
            },
            Parameter { name: "min-rate", about: "the lowest rate", range: "a data rate above 0", default: "100Mb/s" },
            Parameter {
                name: "int",
                about: "numbers in stamps: hpcc (in the units and widths of its header), exact",
                range: "hpcc or exact",
                default: "hpcc",
            },
            Parameter {
                name: "int-multi",
                about: "factor of the units of bytes and queue in stamps, which are 128 and 80 bytes (INT_MULTI of HPCC)",
                range: "1..",
                default: "1",
            },
        ],
        source: "Li and others, HPCC: high precision congestion control, SIGCOMM 2019",
    },
    aliases: &[],
    transports: &["roce"],
    needs: &[Signal::Stamps],
    build,
};

/// The parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Settings {
    eta: f64,
    max_stage: u64,
    fast_react: bool,
    /// \[b/s\] `None`: by the rate of the link.
    ai: Option<u64>,
    /// \[b/s\]
    min_rate: u64,
    is_exact: bool,
    /// Factor of the units of bytes and queue in stamps.
    int_multi: u64,
}

fn build(call: &Call<'_>) -> Result<Built, SpecError> {
    let min_rate = rate(call, "min-rate")?.unwrap_or(100_000_000);
    if min_rate == 0 {
        return Err(call.refuse_all("min-rate is 0", "use more than 0"));
    }
    let settings = Settings {
        eta: share(call, "eta")?.unwrap_or(0.95),
        max_stage: count(call, "max-stage", 0)?.unwrap_or(0),
        fast_react: switch(call, "fast-react")?.unwrap_or(true),
        ai: rate(call, "ai")?,
        min_rate,
        is_exact: call.choice("int", &[("hpcc", false), ("exact", true)])?,
        int_multi: count(call, "int-multi", 1)?.unwrap_or(1),
    };
    if settings.is_exact && settings.int_multi > 1 {
        return Err(call.refuse_all("int-multi is of the units of int = hpcc", "leave it out with int = exact"));
    }
    let built = Built::of(move |of| Machine::Hpcc(Box::new(Hpcc::new(settings, of))));
    Ok(Built { needs_network: true, ..built })
}

/// The state of a connection.
#[derive(Debug)]
pub(crate) struct Hpcc {
    of: Settings,
    /// \[b/s\] Additive increase, and rate of the link.
    ai: u64,
    line_rate: u64,
    /// \[ns\] T: the base round trip.
    round_trip: u64,
    /// \[bytes\] W: the window at the rate of the link.
    product: u64,
    /// \[b/s\] R, and the reference R_r.
    rate: u64,
    reference: u64,
    /// U: the utilisation.
    utilisation: f64,
    stage: u64,
    /// The stamps of last time, in units of the header; empty before the first.
    stamps: Vec<Stamp>,
    /// \[bytes\] The end of the last update; `None` before the first acknowledgement.
    updated: Option<u64>,
}

/// Widths \[bits\] and units \[bytes\] of the fields of a header.
const TIME_BITS: u32 = 24;
const SENT_BITS: u32 = 20;
const SENT_UNIT: u64 = 128;
const QUEUE_BITS: u32 = 17;
const QUEUE_UNIT: u64 = 80;

/// The lowest `bits` bits.
const fn low(number: u64, bits: u32) -> u64 {
    number & ((1 << bits) - 1)
}

impl Hpcc {
    fn new(of: Settings, environment: &Environment) -> Self {
        let line_rate = environment.line_rate;
        Self {
            ai: of.ai.unwrap_or((u128::from(line_rate) * 10 / 25_000) as u64),
            of,
            line_rate,
            round_trip: (environment.round_trip / 1_000).max(1),
            product: environment.product.max(1),
            rate: line_rate,
            reference: line_rate,
            utilisation: 1.0,
            stage: 0,
            stamps: Vec::new(),
            updated: None,
        }
    }

    /// The stamp as its fields hold it.
    const fn fields(&self, stamp: Stamp) -> Stamp {
        if self.of.is_exact {
            return stamp;
        }
        Stamp {
            at: low(stamp.at, TIME_BITS),
            sent: low(stamp.sent / (SENT_UNIT * self.of.int_multi), SENT_BITS),
            queue: low(stamp.queue / (QUEUE_UNIT * self.of.int_multi), QUEUE_BITS),
            ..stamp
        }
    }

    /// \[ns, bytes, bytes\] Time and bytes between two stamps of a link, and the shorter of their queues.
    fn between(&self, last: Stamp, new: Stamp) -> (u64, u64, u64) {
        let queue = new.queue.min(last.queue);
        if self.of.is_exact {
            return (new.at.saturating_sub(last.at), new.sent.saturating_sub(last.sent), queue);
        }
        let bytes = low(new.sent.wrapping_sub(last.sent), SENT_BITS) * SENT_UNIT * self.of.int_multi;
        (low(new.at.wrapping_sub(last.at), TIME_BITS), bytes, queue * QUEUE_UNIT * self.of.int_multi)
    }

    /// Takes new stamps, and updates U by the hop that is used most; false if none has changed.
    fn measure(&mut self, stamps: &[Stamp]) -> bool {
        let mut most: Option<(f64, u64)> = None;
        for (at, &stamp) in stamps.iter().enumerate() {
            let new = self.fields(stamp);
            let Some(&last) = self.stamps.get(at) else {
                self.stamps.push(new);
                continue;
            };
            self.stamps[at] = new;
            let (time, bytes, queue) = self.between(last, new);
            if time == 0 {
                continue;
            }
            let sent = bytes as f64 * 8.0 / (time as f64 * 1e-9);
            let capacity = stamp.rate as f64;
            let used = sent / capacity + queue as f64 * self.line_rate as f64 / capacity / self.product as f64;
            if most.is_none_or(|(highest, _)| used > highest) {
                most = Some((used, time));
            }
        }
        self.stamps.truncate(stamps.len());
        let Some((used, time)) = most else { return false };
        let (time, whole) = (time.min(self.round_trip) as f64, self.round_trip as f64);
        self.utilisation = (self.utilisation * (whole - time) + used * time) / whole;
        true
    }
}

impl CongestionControl for Hpcc {
    #[inline]
    fn window(&mut self, _now: u64) -> u64 {
        let window = u128::from(self.product) * u128::from(self.rate) / u128::from(self.line_rate);
        (window as u64).max(1)
    }

    #[inline]
    fn rate(&mut self, _now: u64) -> u64 {
        self.rate
    }

    fn acknowledged(&mut self, of: &Acknowledged<'_>) {
        if of.is_last {
            return;
        }
        let Some(updated) = self.updated else {
            self.stamps = of.stamps.iter().map(|&stamp| self.fields(stamp)).collect();
            self.updated = Some(of.next);
            return;
        };
        let is_new_round = of.offset > updated;
        if self.measure(of.stamps) && (is_new_round || self.of.fast_react) {
            let excess = self.utilisation / self.of.eta;
            let (rate, stage) = if excess >= 1.0 || self.stage >= self.of.max_stage {
                ((self.reference as f64 / excess) as u64, 0)
            } else {
                (self.reference, self.stage + 1)
            };
            self.rate = rate.saturating_add(self.ai).max(self.of.min_rate).min(self.line_rate);
            if is_new_round {
                (self.reference, self.stage) = (self.rate, stage);
            }
        }
        if is_new_round {
            self.updated = Some(of.next);
        }
    }

    fn moves_next(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Control;

    /// Events, and what the formulas give: T 10 us, W 12 500 bytes, one hop of 10 Gb/s.
    #[test]
    fn rates_follow_the_formulas() {
        let of = Environment {
            line_rate: 10_000_000_000,
            segment: 1_000,
            initial_window: 0,
            dup_acks: 0,
            round_trip: 10_000_000,
            product: 12_500,
        };
        let mut machine = Control::parse("hpcc:int=exact,ai=20Mb/s,max-stage=1").expect("known").begin(&of);
        let mut told = |offset, next, at, sent, queue| {
            let stamps = [Stamp { at, sent, queue, rate: 10_000_000_000 }];
            machine.acknowledged(&Acknowledged {
                now: at * 1_000,
                bytes: 1_000,
                offset,
                next,
                flight: 0,
                is_marked: false,
                stamps: &stamps,
                round_trip: None,
                is_last: false,
            });
            (machine.rate(0), machine.window(0))
        };
        assert_eq!(told(1_000, 12_000, 1_000, 0, 0), (10_000_000_000, 12_500));
        // The link is fully used for 5 us, and its queue was empty at first: u = 1.
        let rate = |utilisation: f64| (10e9 / (utilisation / 0.95)) as u64 + 20_000_000;
        assert_eq!(told(2_000, 13_000, 6_000, 6_250, 2_500).0, rate(1.0));
        // Now 2 500 bytes, .2 of W, waited both times. The reference stays until the round is over.
        let utilisation: f64 = (1.0 * 5.0 + 1.2 * 5.0) / 10.0;
        let new = rate(utilisation);
        let window = (12_500 * u128::from(new) / 10_000_000_000) as u64;
        assert_eq!(told(3_000, 14_000, 11_000, 12_500, 2_500), (new, window));
    }

    /// Fields of 24, 20 and 17 bits, in units of 1 ns, 128 and 80 bytes.
    #[test]
    fn fields_wrap_round() {
        let of = Environment {
            line_rate: 1_000_000_000,
            segment: 1_000,
            initial_window: 0,
            dup_acks: 0,
            round_trip: 1_000_000,
            product: 1_000,
        };
        let settings = Settings {
            eta: 0.95,
            max_stage: 0,
            fast_react: true,
            ai: None,
            min_rate: 1,
            is_exact: false,
            int_multi: 1,
        };
        let machine = Hpcc::new(settings, &of);
        let stamp = |at, sent, queue| machine.fields(Stamp { at, sent, queue, rate: 1 });
        let (last, new) = (stamp((1 << 24) - 5, (1 << 27) - 129, 81), stamp((1 << 24) + 7, (1 << 27) + 128, 170));
        assert_eq!(machine.between(last, new), (12, 384, 80));
        // Units of 512 and 320 bytes.
        let machine = Hpcc::new(Settings { int_multi: 4, ..settings }, &of);
        let stamp = |sent, queue| machine.fields(Stamp { at: 0, sent, queue, rate: 1 });
        assert_eq!(machine.between(stamp(511, 700), stamp(1_536, 640)), (0, 1_536, 640));
    }
}

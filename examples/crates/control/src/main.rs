//! fsin with a congestion control of its own: `fsin-control run --network ethernet --transport roce --cc aimd:step=20`.

use std::process::ExitCode;

use fsin::Registry;
use fsin_ethernet::cc::{Acknowledged, Built, CongestionControl, Row, Signal};
use trgen::catalog::{Component, Parameter};

/// A rate that rises by a step for each acknowledgement, and falls to half for a mark.
#[derive(Debug)]
struct Aimd {
    rate: u64,
    line_rate: u64,
    step: u64,
}

impl CongestionControl for Aimd {
    fn rate(&mut self, _: u64) -> u64 {
        self.rate
    }

    fn acknowledged(&mut self, of: &Acknowledged<'_>) {
        let rate = if of.is_marked { self.rate / 2 } else { self.rate + self.step };
        self.rate = rate.clamp(self.step, self.line_rate);
    }
}

static AIMD: Row = Row {
    component: Component {
        name: "aimd",
        about: "a rate that rises by a step for each acknowledgement, and falls to half for each mark",
        parameters: &[Parameter { name: "step", about: "the step in Mb/s", range: "1..100000", default: "10" }],
        source: "Chiu, Jain, Computer Networks and ISDN Systems 17(1), 1989",
    },
    aliases: &[],
    transports: &["roce"],
    needs: &[Signal::Marks],
    build: |call| {
        let step = call.integer("step", 1..=100_000)? as u64 * 1_000_000;
        Ok(Built::new(move |of| Box::new(Aimd { rate: of.line_rate, line_rate: of.line_rate, step })))
    },
};

fn main() -> ExitCode {
    let mut registry = Registry::standard();
    registry.congestion_controls.push(&AIMD);
    fsin::main_with(registry)
}

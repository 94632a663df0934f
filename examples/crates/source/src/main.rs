//! fsin with traffic of its own: `fsin-source run --temporal 'tide(500)'`.

use std::process::ExitCode;

use fsin::Registry;
use trgen::catalog::{Component, Parameter};
use trgen::rng::Stream;
use trgen::synthetic::draw::chance;
use trgen::synthetic::temporal::{Entry, Process, Temporal};
use trgen::{Cycle, NodeId};

/// Length of a period, and the probability of a message in each cycle of its first half.
#[derive(Debug)]
struct Tide(u64, f64);

impl Process for Tide {
    fn next(&mut self, _: NodeId, from: Cycle, rng: &mut Stream) -> Cycle {
        let Self(period, rate) = *self;
        let mut flood = (1..).map(|gap| from + gap).filter(|cycle| cycle.0 % period < period / 2);
        if rate > 0.0 { flood.find(|_| chance(rate, rng)).unwrap_or(Cycle::NEVER) } else { Cycle::NEVER }
    }
}

const PERIOD: Parameter = Parameter { name: "period", about: "[cycles]", range: "2..=1000000", default: "1000" };
const ABOUT: &str = "Bernoulli traffic in the first half of every period, and none in the second";
static TIDE: Entry = Entry {
    component: Component { name: "tide", about: ABOUT, parameters: &[PERIOD], source: "fsin's book" },
    aliases: &[],
    build: |call, context| {
        let period = call.integer("period", 2..=1_000_000)? as u64;
        let rate = context.rate()? * period as f64 / (period / 2) as f64;
        let tide = Temporal::Process(Box::new(Tide(period, rate)));
        (rate <= 1.0).then_some(tide).ok_or_else(|| call.refuse_all("the flood is too high", "use a lower load"))
    },
};

fn main() -> ExitCode {
    let mut registry = Registry::standard();
    registry.processes.push(&TIDE);
    fsin::main_with(registry)
}

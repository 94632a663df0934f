//! fsin with an all-reduce of its own: `fsin-collective run --kernel all-reduce:algorithm=star --topology star:8`.

use std::process::ExitCode;

use fsin::Registry;
use trgen::catalog::Component;
use trgen::collective::{Action, Row, Schedule, Shape, Step};
use trgen::trace::kind::CollectiveKind;

/// Rank 0 sums all vectors, and gives the sum to all.
#[derive(Debug)]
struct Star;

impl Schedule for Star {
    fn pieces(&self, _: &Shape) -> u32 {
        1
    }

    fn steps(&self, shape: &Shape, _lane: u32, rank: u32, out: &mut dyn FnMut(Step)) {
        let mut step = |action, peer, round| out(Step { action, peer, pieces: (0, 1), round });
        if rank == 0 {
            (1..shape.size).for_each(|peer| step(Action::Combine, peer, 0));
            (1..shape.size).for_each(|peer| step(Action::Send, peer, 1));
        } else {
            step(Action::Send, 0, 0);
            step(Action::Keep, 0, 1);
        }
    }
}

static STAR: Row = Row::new(
    Component {
        name: "star",
        about: "all-reduce: rank 0 sums all vectors, and gives the sum to all",
        parameters: &[],
        source: "fsin's book",
    },
    &[CollectiveKind::AllReduce],
    &Star,
);

fn main() -> ExitCode {
    let mut registry = Registry::standard();
    registry.collectives.push(&STAR);
    fsin::main_with(registry)
}

//! fsin with a transport of its own: `fsin-transport run --network ethernet --forwarding static --transport fixed`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use fsin::Registry;
use fsin_ethernet::transport::{Answered, Arrived, Built, Connection, Opened, Row};
use trgen::catalog::{Component, Parameter};

/// At most `window` frames are under way. Frames that were trimmed, or are not answered in time, are sent again.
#[derive(Debug)]
struct Fixed {
    window: usize,
    of: Opened,
    due: BTreeSet<u32>,
    out: BTreeMap<u32, u64>,
}

impl Connection for Fixed {
    fn next(&self) -> Option<u32> {
        self.due.first().copied().filter(|_| self.out.len() < self.window)
    }
    fn sent(&mut self, now: u64, number: u32) {
        self.due.remove(&number);
        self.out.insert(number, now);
    }
    fn arrived(&mut self, of: &Arrived) -> Option<u64> {
        Some(u64::from(of.number) << 1 | u64::from(of.is_trimmed))
    }
    fn answered(&mut self, of: &Answered) -> bool {
        let (number, is_trimmed) = ((of.answer >> 1) as u32, of.answer & 1 == 1);
        self.out.remove(&number);
        let _ = if is_trimmed { self.due.insert(number) } else { self.due.remove(&number) };
        self.due.is_empty() && self.out.is_empty()
    }
    fn deadline(&self) -> Option<u64> {
        self.out.values().min().map(|sent| sent + self.of.time_out)
    }
    fn expired(&mut self, now: u64) {
        let late = self.out.extract_if(.., |_, sent| *sent + self.of.time_out <= now);
        self.due.extend(late.map(|(number, _)| number));
    }
}

static WINDOW: &[Parameter] = &[Parameter { name: "window", about: "in frames", range: "1..10000", default: "16" }];
static FIXED: Row = Row {
    component: Component { name: "fixed", about: "a fixed window", parameters: WINDOW, source: "an example" },
    aliases: &[],
    build: |call| {
        let window = call.integer("window", 1..=10_000)? as usize;
        Ok(Built::new(move |of| Box::new(Fixed { window, of: *of, due: (0..of.frames).collect(), out: [].into() })))
    },
};

fn main() -> ExitCode {
    let mut registry = Registry::standard();
    registry.transports.push(&FIXED);
    fsin::main_with(registry)
}

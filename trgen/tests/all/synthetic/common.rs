//! Helpers for the tests of synthetic sources.

#![allow(dead_code, clippy::unwrap_used, reason = "each test uses a part; a test may panic")]

use trgen::synthetic::Config;
use trgen::{Cycle, Delivery, Geometry, Message, Next, Outbox, TrGen};

/// A configuration for nodes in a line.
pub(crate) fn line(nodes: u32) -> Config {
    Config::new(Geometry::new(&[nodes]).unwrap())
}

/// Drives a source up to cycle `until` over a network that accepts everything and delivers it in the same cycle.
pub(crate) fn ideal(source: &mut dyn TrGen, until: Cycle, mut see: impl FnMut(Cycle, &Message)) {
    let mut out = Outbox::new(source.nodes());
    let mut taken = Vec::new();
    while let Next::At(now) = source.next()
        && now <= until
    {
        source.generate(now, &mut out).unwrap();
        out.offer(|message| {
            taken.push(message);
            true
        });
        for message in &taken {
            see(now, message);
            source.sent(now, message);
        }
        for message in taken.drain(..) {
            source.delivered(now, &Delivery { message, offered: now, delivered: now });
        }
    }
}

/// Messages of each node in each full window of `window` cycles: one row per node.
pub(crate) fn counts(source: &mut dyn TrGen, cycles: u64, window: u64) -> Vec<Vec<u32>> {
    let windows = (cycles / window) as usize;
    let mut counts = vec![vec![0; windows]; source.nodes()];
    ideal(source, Cycle(windows as u64 * window), |cycle, message| {
        counts[message.source.index()][((cycle.0 - 1) / window) as usize] += 1;
    });
    counts
}

//! Messages per second that a source generates on one core, over a network that accepts everything at once.

#![allow(missing_docs, clippy::unwrap_used, reason = "a bench")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use trgen::synthetic::{Config, Mode, Traffic};
use trgen::{Geometry, Next, Outbox, TrGen};

/// \[messages\] Per measurement.
const MESSAGES: u64 = 1_000_000;

/// Generates this many messages.
fn generate(source: &mut Traffic, out: &mut Outbox, throttled: bool) -> u64 {
    let mut taken = Vec::new();
    let mut sum = 0;
    let mut count = 0;
    while count < MESSAGES {
        let Next::At(now) = source.next() else { break };
        source.generate(now, out).unwrap();
        out.offer(|message| {
            count += 1;
            sum += u64::from(message.destination.0);
            if throttled {
                taken.push(message);
            }
            true
        });
        for message in taken.drain(..) {
            source.sent(now, &message);
        }
    }
    sum
}

fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("generate");
    group.throughput(Throughput::Elements(MESSAGES)).sample_size(20);
    for (mode, throttled) in [(Mode::Open, false), (Mode::Throttled, true)] {
        for side in [8, 32] {
            for load in [0.1, 1.0] {
                let grid = Geometry::new(&[side, side]).unwrap();
                let config = Config { load, mode, ..Config::new(grid) };
                let name = format!("uniform bernoulli constant, {} nodes, load {load}, {mode:?}", side * side);
                group.bench_function(name, |bencher| {
                    let mut source = Traffic::new(&config).unwrap();
                    let mut out = Outbox::new(source.nodes());
                    bencher.iter(|| black_box(generate(&mut source, &mut out, throttled)));
                });
            }
        }
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);

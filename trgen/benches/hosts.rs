//! The speed of hosts that execute graphs over an ideal network: `cargo bench -p trgen --bench hosts`.
//!
//! Each row is a graph, executed `BENCH_RUNS` times (default 3); the best by processor time is shown. `BENCH_ONLY`
//! selects rows by a part of their names. The time includes preparing the execution, but not building the graph.
//! Instructions of the execution alone: `valgrind --tool=callgrind --collect-atstart=no
//! --toggle-collect='*ideal::execute*' BINARY --bench`.

#![allow(clippy::expect_used, reason = "a bench may panic")]
#![allow(clippy::print_stdout, reason = "the table is what the bench is for")]

use cpu_time::ProcessTime;
use trgen::trace::goal::hosts::HostParams;
use trgen::trace::goal::{Graph, chain, ideal, patterns};
use trgen::trace::kernels;

/// \[ns\] L.
const LATENCY: u64 = 2500;

fn pattern(spec: &str) -> Graph {
    patterns::parse(spec).expect("a pattern of the table")
}

fn kernel(spec: &str) -> Graph {
    let program = kernels::parse(spec, 64, None).expect("a kernel of the table");
    chain::graph(&program).expect("a kernel waits for no one of several")
}

/// A name, and the function that builds the graph.
type Row = (&'static str, fn() -> Graph);

const ROWS: [Row; 4] = [
    ("ring all-reduce, 1024 ranks", || pattern("allreduce_ring:ranks=1024,bytes=1048576")),
    ("linear all-to-all, 1024 ranks", || pattern("linear_alltoall:ranks=1024,bytes=1024")),
    ("dissemination, 16384 ranks", || pattern("dissemination:ranks=16384,bytes=8")),
    ("LU-like (waterfall), 64 ranks", || kernel("waterfall:tasks=64,bytes=200,iterations=10000")),
];

fn main() {
    let runs = std::env::var("BENCH_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(3);
    let only = std::env::var("BENCH_ONLY").unwrap_or_default();
    println!("| graph | events | best, s | million events/s | last host done, ns |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    for (name, make) in ROWS.into_iter().filter(|(name, _)| name.contains(&only)) {
        let graph = make();
        let once = |_| {
            let graph = graph.clone();
            let begin = ProcessTime::now();
            let execution = ideal::execute(graph, HostParams::default(), LATENCY, &mut |_| true);
            (begin.elapsed().as_secs_f64(), execution)
        };
        let runs = (0..runs).map(once).min_by(|one, other| one.0.total_cmp(&other.0));
        let Some((seconds, execution)) = runs else { continue };
        assert!(execution.remains.is_nothing(), "{name}: {:?}", execution.remains);
        let (events, last) = (execution.events, execution.last().map_or(0, |(_, time)| time));
        println!("| {name} | {events} | {seconds:.3} | {:.1} | {last} |", events as f64 / seconds / 1e6);
    }
}

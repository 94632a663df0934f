//! Live guests: the same results as in one process, whatever the transport, the order of connection and the step.

use std::sync::Arc;

use adapters::guest::program::Script;
use adapters::guest::{Config, Guest, GuestError};
use adapters::live::{Live, LiveReport, Overheads};
use adapters::protocol::{Class, Mode};
use fsin::engine::reference::Reference;
use fsin::router::RouterParams;
use fsin::run::Outcome;
use fsin::topology;
use tests::live::{Part, Table, play, start};
use tests::programs::{CYCLE, Replayed};
use trgen::conformance;
use trgen::trace::kernels;
use trgen::{Cycle, Geometry};

fn network(spec: &str) -> Reference {
    Reference::new(topology::parse(spec, 2).unwrap(), RouterParams::default())
}

/// Each task of a kernel as a guest; they connect in the order of their numbers times `stride`, modulo their count.
fn tasks(kernel: &str, nodes: usize, geometry: &Geometry, stride: usize) -> (Vec<(Config, Part)>, Replayed) {
    let program = kernels::parse_seeded(kernel, nodes, Some(geometry), 1).unwrap();
    let replayed = Replayed::of(program.clone(), &spec(geometry), RouterParams::default(), 1.0);
    let count = program.tasks.len();
    let script = Arc::new(Script::new(program));
    let parts = (0..count)
        .map(|index| {
            let task = ((index * stride) % count) as u32;
            let script = Arc::clone(&script);
            let part: Part = Box::new(move |guest| script.play(task, guest));
            (Config::new(format!("task {task}"), task), part)
        })
        .collect();
    (parts, replayed)
}

fn spec(geometry: &Geometry) -> String {
    let sizes: Vec<String> = geometry.sizes().iter().map(ToString::to_string).collect();
    format!("torus:{}", sizes.join("x"))
}

fn kernel_agrees(kernel: &str, sizes: &[u32], stride: usize, tcp: bool) {
    let geometry = Geometry::new(sizes).unwrap();
    let (parts, replayed) = tasks(kernel, geometry.nodes(), &geometry, stride);
    let table = Table { tcp, ..Table::new(geometry.nodes()) };
    let (outcome, report) = play(&table, &mut network(&spec(&geometry)), parts);
    assert_eq!(outcome.digest, replayed.outcome.digest, "{kernel}");
    assert_eq!(outcome.completion, replayed.outcome.completion, "{kernel}");
    assert_eq!(report.deliveries, replayed.deliveries.len() as u64, "{kernel}");
    assert_eq!(report.undelivered, 0);
}

#[test]
fn kernels_of_64_guests_give_the_digest_of_one_process() {
    for kernel in ["all-to-all:tasks=64,bytes=256", "bintree:tasks=64", "sweep2d:tasks=64"] {
        kernel_agrees(kernel, &[8, 8], 1, true);
    }
}

#[test]
fn neither_the_order_of_connection_nor_the_transport_shows() {
    for (repeat, stride) in [1, 3, 5, 7, 9, 11, 13, 15, 1, 3, 5, 7, 9, 11, 13, 15, 1, 3, 5, 7].into_iter().enumerate() {
        kernel_agrees("all-to-all:tasks=16,bytes=1024", &[4, 4], stride, repeat % 2 == 0);
    }
}

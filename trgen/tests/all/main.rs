//! Traffic from outside: synthetic sources, readers of traces, graphs, replays, placements.

mod chakra;
mod conformance;
mod container;
mod doors;
mod formats;
mod goal;
mod jobs;
mod kernels_programs;
mod kernels_second;
mod placement_traffic;
mod replay_sources;
mod synthetic;
mod zipf;

#[allow(dead_code, unreachable_pub, reason = "these tests need a part of it")]
#[path = "../../../tests/src/shared.rs"]
mod shared;

#[allow(dead_code, unreachable_pub, reason = "these tests need a part of it")]
#[path = "../../../tests/src/chakra.rs"]
mod chakra_writer;

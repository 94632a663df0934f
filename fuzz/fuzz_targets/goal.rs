//! Any graph, as text or binary: whatever is accepted is written, read again, and executed to some end.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trgen::trace::formats::{Application, ReadOptions, open_bytes};
use trgen::trace::goal::{binary, hosts::HostParams, ideal};

fuzz_target!(|bytes: &[u8]| {
    let options = ReadOptions { max_events: 10_000, ..ReadOptions::default() };
    if let Ok(Application::Graphs(trace)) = open_bytes("fuzz", bytes, &options) {
        let mut packed = Vec::new();
        binary::write(&trace.graph, &mut packed).expect("memory takes everything");
        assert_eq!(binary::read(packed.as_slice()).expect("what was written is a graph"), trace.graph);
        ideal::execute(trace.graph, HostParams::default(), 1, &mut |_| true);
    }
});

//! Any bytes, read as every format: an application or an error, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trgen::trace::formats::{FORMATS, ReadOptions, open_bytes};

fuzz_target!(|bytes: &[u8]| {
    let names = FORMATS.components().map(|format| Some(format.name.to_owned()));
    for from in std::iter::once(None).chain(names) {
        let options = ReadOptions { from, max_events: 100_000, ..ReadOptions::default() };
        if let Err(error) = open_bytes("fuzz", bytes, &options) {
            let _ = (error.to_string(), error.remedy());
        }
    }
});

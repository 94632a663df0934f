//! Any bytes after the magic number and version of a container.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use trgen::trace::container::Reader;

fuzz_target!(|bytes: &[u8]| {
    let mut container = b"FSIN\x89TRG\x01\0\0\0".to_vec();
    container.extend(bytes);
    if let Ok(reader) = Reader::open(Cursor::new(container)) {
        let _ = (reader.program(100_000), reader.graph());
    }
});

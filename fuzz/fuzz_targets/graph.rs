//! Any description of a network: whatever is accepted is written, and read again.
#![no_main]

use fsin_networks::{dot, network as network_of_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(network) = network_of_text(text, "graph:fuzz".to_owned(), None) {
        network_of_text(&dot(&network, &[]), "graph:fuzz".to_owned(), None).expect("what was written is a network");
    }
});

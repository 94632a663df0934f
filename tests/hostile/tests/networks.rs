//! Every reader of networks against mutated files: no panic, no hang, and memory in proportion to the file and to the network
//! that is in it.
//!
//! The long form reads a million mutations: `cargo test -p hostile --release --test networks -- --ignored --nocapture`.

#![allow(clippy::print_stderr, reason = "the tests say how far they are")]

use fsin_core::topology::Topology as _;
use fsin_networks::network;
use hostile::mutate::{self, Draw};
use hostile::{allocations, networks};

/// \[bytes\] Memory allowed for each byte of a file.
const OF_FILE: usize = 8;
/// \[bytes\] Memory allowed for each node and each link of a network, while it is built.
const OF_NETWORK: usize = 4096;
/// \[bytes\] Memory allowed in addition.
const ALLOWANCE: usize = 1 << 20;

/// Reads a text. True if it is a network.
fn read(text: &str, of: &str) -> bool {
    let attempt = std::panic::catch_unwind(|| {
        allocations::of(|| {
            let network = network(text, "graph:hostile".to_owned(), None);
            network.map(|network| network.nodes() + network.understood().map_or(0, |found| found.links)).ok()
        })
    });
    let (size, usage) = attempt.unwrap_or_else(|cause| {
        let why = cause.downcast_ref::<String>().map_or("a panic", String::as_str);
        panic!("{of}: {why}\n{}", text.escape_debug())
    });
    let limit = OF_FILE * text.len() + OF_NETWORK * size.unwrap_or(0) + ALLOWANCE;
    assert!(usage.peak < limit, "{of}: {} bytes for {size:?} nodes and links\n{}", usage.peak, text.escape_debug());
    size.is_some()
}

/// Reads mutations of every sample, from a number on.
fn attack(count: u64, first: u64) {
    for sample in networks::ALL {
        let of: String = sample.chars().take(24).collect();
        let mut accepted = 0;
        for number in first..first + count {
            let mut bytes = sample.as_bytes().to_vec();
            mutate::bytes(&mut bytes, &mut Draw::new(number));
            accepted += u64::from(read(&String::from_utf8_lossy(&bytes), &format!("{of:?}, change {number}")));
        }
        eprintln!("{of:?}: {count} read, {accepted} accepted");
        // Otherwise nothing beyond the first check would be tested.
        assert!(accepted > 0, "{of:?}: none accepted");
    }
}

#[test]
fn samples_are_sound() {
    for sample in networks::ALL {
        assert!(read(sample, "a sample"), "{sample}");
    }
}

#[test]
fn changed_networks_keep_every_promise() {
    attack(1000, 1);
}

#[test]
#[ignore = "a hundred thousand changed files of each format: minutes"]
fn a_million_changed_networks_keep_every_promise() {
    attack(100_000, 1 << 32);
}

/// Mutations of digits: a number in a file must not cause allocations before it is known to be possible.
#[test]
fn numbers_take_no_memory() {
    for sample in networks::ALL {
        let digits: Vec<usize> =
            sample.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit()).map(|of| of.0).collect();
        for at in digits {
            for more in ["9", "99", "9999", "999999", "4294967296"] {
                let text = format!("{}{more}{}", &sample[..at], &sample[at..]);
                read(&text, &format!("{more} at {at} of {:?}", &sample[..20]));
            }
        }
    }
}

#[test]
fn every_cut_of_a_network_is_read_or_refused() {
    for sample in networks::ALL {
        for length in (0..sample.len()).filter(|&length| sample.is_char_boundary(length)) {
            read(&sample[..length], "a cut");
        }
    }
}

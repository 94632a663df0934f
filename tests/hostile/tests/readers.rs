//! Every reader against mutated files: no panic, no hang, memory in proportion to the file, errors with their place.
//!
//! The long form reads a million mutations of each seed: `cargo test -p hostile --release -- --ignored --nocapture`.
//! `HOSTILE_ONLY` selects seeds by a part of their names.

#![allow(clippy::print_stderr, reason = "the long form says how far it is")]

use std::hint::black_box;

use hostile::mutate::{self, Draw};
use hostile::probe::{self, Outcome};
use hostile::seeds::{self, Seed};
use hostile::{allocations, repair};
use trgen::trace::formats::{Application, FORMATS, ReadOptions, open_bytes};

/// Reads `count` mutations of a seed; returns how many were accepted.
fn attack(seed: &Seed, count: u64, first: u64) -> u64 {
    let mut accepted = 0;
    for number in first..first + count {
        let mut draw = Draw::new(number);
        // Without a matching checksum, no change of a container reaches its contents.
        let bytes = if seed.format == "trg" && number % 4 != 0 {
            repair::container(&seed.bytes, &mut draw)
        } else {
            let mut bytes = seed.bytes.clone();
            mutate::bytes(&mut bytes, &mut draw);
            bytes
        };
        accepted += u64::from(matches!(read(seed, &bytes, number), Outcome::Accepted));
    }
    accepted
}

fn read(seed: &Seed, bytes: &[u8], number: u64) -> Outcome {
    let attempt = std::panic::catch_unwind(|| probe::read(seed.format, bytes));
    attempt.unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<String>().map_or("a panic", String::as_str);
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(600)]).escape_debug().to_string();
        panic!("{}, change {number}: {text}\n{shown}", seed.name)
    })
}

#[test]
fn seeds_are_sound_and_cover_every_format() {
    let seeds = seeds::all();
    for seed in &seeds {
        assert!(matches!(read(seed, &seed.bytes, 0), Outcome::Accepted), "{}", seed.name);
    }
    for format in FORMATS.components() {
        assert!(seeds.iter().any(|seed| seed.format == format.name), "no seed of {}", format.name);
    }
}

#[test]
fn changed_files_keep_every_promise() {
    for seed in seeds::all() {
        let accepted = attack(&seed, 3000, 1);
        // Otherwise nothing beyond the first check would be tested.
        assert!((1..2900).contains(&accepted), "{}: {accepted} of 3000 accepted", seed.name);
    }
}

#[test]
#[ignore = "a million changed files of each seed: half an hour"]
fn a_million_changed_files_keep_every_promise() {
    let only = std::env::var("HOSTILE_ONLY").unwrap_or_default();
    std::thread::scope(|scope| {
        let mut seeds = seeds::all();
        seeds.retain(|seed| seed.name.contains(&only));
        let (left, right) = seeds.split_at(seeds.len() / 2);
        for half in [left.to_vec(), right.to_vec()] {
            scope.spawn(move || {
                for seed in half {
                    let begin = std::time::Instant::now();
                    let accepted = attack(&seed, 1_000_000, 1 << 32);
                    eprintln!("{}: 1000000 read, {accepted} accepted, {:.0?}", seed.name, begin.elapsed());
                }
            });
        }
    });
}

/// \[bytes\] Size of one event in memory; an operation of a graph is smaller.
const EVENT: usize = 48;

#[test]
fn memory_follows_the_file_and_what_is_in_it() {
    for seed in seeds::large() {
        let options = ReadOptions { from: Some(seed.format.to_owned()), ..ReadOptions::default() };
        let (read, usage) = allocations::of(|| open_bytes("rank-0", &seed.bytes, &options));
        let events = match read {
            Ok(Application::Programs(trace)) => trace.program.tasks.iter().map(Vec::len).sum::<usize>(),
            Ok(Application::Graphs(trace)) => trace.graph.ranks().iter().map(|rank| rank.nodes().len()).sum(),
            // A node holds its name and lists beside itself.
            Ok(Application::Chakra(trace)) => 4 * trace.trace.ranks.iter().map(Vec::len).sum::<usize>(),
            Err(error) => panic!("{}: {error}", seed.name),
        };
        let limit = 4 * (seed.bytes.len() + EVENT * events) + probe::ALLOWANCE;
        let (peak, file) = (usage.peak, seed.bytes.len());
        eprintln!("{}: file {file}, {events} events, {peak} bytes held at most", seed.name);
        assert!(events > 5000 && peak < limit, "{}: {peak} bytes for a file of {file}, {events} events", seed.name);
    }
}

#[test]
fn every_cut_of_a_file_is_read_or_refused() {
    for seed in seeds::all() {
        for length in 0..seed.bytes.len() {
            let _ = read(&seed, &seed.bytes[..length], length as u64);
        }
    }
}

#[test]
fn the_count_of_memory_counts() {
    let (length, usage) = allocations::of(|| {
        // An optimiser removes allocations that are not used.
        let first = black_box(vec![1_u8; 1000]);
        let second = black_box(vec![2_u8; 5000]);
        drop(second);
        first.len() + black_box(vec![3_u8; 100]).len()
    });
    assert_eq!((length, usage.peak, usage.largest), (1100, 6000, 5000));
}

//! Random calls with bad arguments: each returns an error class or succeeds, and no run ends by a fault of the library.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use tests::mpi::{program, said};

/// Makes so many random calls of each seed on two ranks.
fn calls(seeds: std::ops::Range<u32>, calls: u32) {
    let Some(program) = program("hostile.c") else { return };
    for seed in seeds {
        for flags in ["", "--rendezvous 4"] {
            let flags = format!("-q -n 2 --network constant-delay:delay=1us {flags}");
            let output = program.run(&flags, &format!("{seed} {calls}"));
            let (out, errors) = said(&output);
            assert!(output.status.success(), "seed {seed}: {out}{errors}");
            assert!(out.ends_with("hostile VERIFIED\n"), "seed {seed}: {out}{errors}");
            // Most calls have a bad argument, and some have none.
            let counts: Vec<u32> =
                out.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
            let [wrong, right] = counts[..] else { panic!("{out}") };
            assert!(wrong + right == calls && wrong > calls / 2 && right > calls / 20, "seed {seed}: {out}");
        }
    }
}

#[test]
fn bad_arguments_are_errors_and_never_a_fault_of_the_library() {
    calls(1..4, 2000);
}

#[test]
#[ignore = "minutes: 100 000 calls"]
fn many_bad_arguments_are_errors_and_never_a_fault_of_the_library() {
    calls(100..110, 10_000);
}

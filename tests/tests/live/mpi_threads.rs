//! Threads of MPI programs: several call at once, and runs repeat.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use tests::mpi::{Program, program, program_with, said};

const NETWORK: &str = "--network constant-delay:delay=1us,nodes=8";

/// Runs the program, which must verify itself. Returns what else it has printed, and the digest.
fn verified(program: &Program, flags: &str, words: &str) -> (String, String) {
    let output = program.run(&format!("{flags} {NETWORK}"), words);
    let (out, errors) = said(&output);
    assert!(output.status.success(), "{flags} {words}: {out}{errors}");
    let own = out.strip_suffix(" VERIFIED\n").unwrap_or_else(|| panic!("{flags} {words}: {out}{errors}"));
    let own = own.trim_end_matches(char::is_alphabetic);
    let digest = errors.split("digest ").nth(1).and_then(|rest| rest.lines().next());
    (own.to_owned(), digest.unwrap_or_else(|| panic!("{errors}")).to_owned())
}

/// The program with and without OpenMP, which the compilers of Debian have.
fn with_openmp() -> Option<Program> {
    program_with("threads.c", &["-fopenmp".to_owned(), "-pthread".to_owned()])
}

/// Runs this often, in both ways.
fn repeats(times: usize) {
    let Some(program) = with_openmp() else { return };
    for how in ["pthread", "openmp"] {
        for compute in ["none", "fixed:100ns"] {
            let run = || verified(&program, &format!("-n 3 --compute {compute}"), &format!("{how} 4 2")).1;
            let first = run();
            for repetition in 1..times {
                assert_eq!(run(), first, "{how} {compute}, repetition {repetition}");
            }
        }
    }
}

#[test]
fn calls_of_four_threads_repeat_to_the_bit() {
    repeats(4);
}

#[test]
#[ignore = "minutes"]
fn calls_of_four_threads_repeat_a_thousand_times() {
    repeats(250);
}

#[test]
fn threads_compute_and_sleep_at_the_same_time() {
    let Some(program) = with_openmp() else { return };
    // Ten probes of each thread, each of which takes 100 ns after 1 us of computing; the barrier takes the fixed time, too.
    let (one, _) = verified(&program, "-n 2 --compute fixed:1us", "side 1");
    let (four, _) = verified(&program, "-n 2 --compute fixed:1us", "side 4");
    assert_eq!(one, "12001 ns\n");
    assert_eq!(four, one);
    verified(&program, "-n 2", "within 2");
}

#[test]
fn threads_repeat_wherever_they_are_created_and_until_they_have_ended() {
    let Some(program) = program_with("births.c", &["-pthread".to_owned()]) else { return };
    for how in ["later", "within", "hidden", "ends"] {
        for compute in ["none", "fixed:100ns"] {
            let run = || verified(&program, &format!("-n 2 --compute {compute}"), how).1;
            let first = run();
            for repetition in 1..3 {
                assert_eq!(run(), first, "{how} {compute}, repetition {repetition}");
            }
        }
    }
}

#[test]
fn a_deadlock_names_what_each_thread_waits_for() {
    let Some(program) = with_openmp() else { return };
    let output = program.run(&format!("-n 2 {NETWORK}"), "deadlock 2");
    let (_, errors) = said(&output);
    assert_eq!(output.status.code(), Some(3), "{errors}");
    for tag in ["tag 77", "tag 78"] {
        assert!(errors.contains(tag), "{errors}");
    }
}

#[test]
fn the_level_of_support_is_less_where_threads_could_not_repeat() {
    let Some(program) = program("threads.c") else { return };
    for (flags, level) in
        [("", "3\n"), ("--record a.trg", "2\n"), ("--sync deterministic", "2\n"), ("--mode realtime --factor 1", "2\n")]
    {
        let output = program.run(&format!("-n 2 {NETWORK} {flags}"), "level");
        assert_eq!(said(&output).0, level, "{flags}: {}", said(&output).1);
    }
}

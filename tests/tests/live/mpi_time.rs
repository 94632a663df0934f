//! MPI programs whose time is approximate: in real time, and with quanta longer than the delay.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use serde_json::Value;
use tests::mpi::{Program, program, program_with, said};

/// Runs a program that succeeds, and returns its results and what it has written to stderr.
fn results(program: &Program, flags: &str, words: &str) -> (Value, String) {
    let file = program.folder().join("result.json");
    let _ = fs::remove_file(&file);
    let output = program.run(&format!("{flags} -o result.json"), words);
    let (out, errors) = said(&output);
    assert!(output.status.success(), "{flags}: {}: {out}{errors}", output.status);
    (serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap(), errors)
}

#[test]
fn a_quantum_longer_than_the_delay_is_approximate_and_says_so() {
    let Some(program) = program("is.c") else { return };
    let flags = "-n 8 --network switch:delay=1us,nodes=8 --compute fixed:100ns";
    let (exact, _) = results(&program, flags, "");
    let number = |result: &Value, figure: &str| result[figure].as_f64().unwrap();
    let mut before = f64::INFINITY;
    for (quantum, picoseconds) in [("8us", 8e6), ("4us", 4e6), ("2us", 2e6)] {
        let (first, errors) = results(&program, &format!("{flags} --sync quantum:{quantum}"), "");
        let (second, _) = results(&program, &format!("{flags} --sync quantum:{quantum}"), "");
        for figure in ["guest_digest", "digest", "completion_cycles", "messages_late", "late_max_ps"] {
            assert_eq!(first[figure], second[figure], "{quantum}: {figure}");
        }
        assert_eq!(first["experiment"]["mode"], "quantised");
        assert!(number(&first, "messages_late") > 0.0);
        // A message may wait from its arrival to the end of the quantum in which it was sent.
        assert!(number(&first, "late_max_ps") <= picoseconds - 1e6, "{quantum}: {}", first["late_max_ps"]);
        let completion = number(&first, "completion_seconds");
        assert!(completion < before && completion > number(&exact, "completion_seconds"), "{quantum}: {completion}");
        before = completion;
        assert!(errors.contains("approximate") && errors.contains("handed over late"), "{errors}");
    }
    let (found, errors) = results(&program, &format!("{flags} --sync quantum:1us"), "");
    assert_eq!((&found["guest_digest"], &found["messages_late"]), (&exact["guest_digest"], &Value::from(0)));
    assert_eq!(found["experiment"]["mode"], "exact");
    assert!(!errors.contains("approximate"), "{errors}");
}

#[test]
fn in_real_time_programs_run_and_results_say_how_late_they_are() {
    for (source, words) in [("is.c", ""), ("cg.c", ""), ("calls.c", ""), ("pingpong.c", "32 100")] {
        let Some(program) = program(source) else { return };
        let ranks = if source == "pingpong.c" { 2 } else { 4 };
        let flags = format!("-n {ranks} --network switch:delay=1us,nodes=4 --mode realtime --factor 16");
        let (result, errors) = results(&program, &flags, words);
        let number = |figure: &str| result[figure].as_f64().unwrap();
        assert_eq!(
            (&result["experiment"]["mode"], &result["experiment"]["factor"]),
            (&"realtime".into(), &16.0.into())
        );
        assert_eq!(result["experiment"]["compute"], "measured");
        assert!(errors.contains("not deterministic") && !errors.contains("digest"), "{errors}");
        // Whatever the machine does, wake-ups are late, and nothing is faster than the wall clock.
        assert!(number("behind_max_ps") > 0.0);
        assert!(number("completion_seconds") * 16.0 <= number("wall_seconds") * 1.001, "{result}");
        let received: u64 =
            result["ranks"].as_array().unwrap().iter().map(|rank| rank["messages_received"].as_u64().unwrap()).sum();
        assert_eq!(number("messages_expected") + number("messages_unexpected"), received as f64);
    }
}

#[test]
fn a_stretched_ping_pong_comes_near_the_modelled_delay() {
    let Some(program) = program("pingpong.c") else { return };
    let half = |flags: &str| -> f64 {
        let (out, errors) = said(&program.run(&format!("-n 2 --network switch:delay=1ms,nodes=2 {flags}"), "32 50"));
        let half = out.trim().strip_prefix("half ").and_then(|rest| rest.strip_suffix(" ps"));
        half.unwrap_or_else(|| panic!("{out}{errors}")).parse().unwrap()
    };
    // Never earlier than the network says; how much later depends on the machine.
    for factor in [1, 16] {
        let found = half(&format!("--mode realtime --factor {factor}"));
        assert!(found >= 1e9, "factor {factor}: {found}");
    }
    assert!((half("") - 1e9).abs() <= 1000.0);
}

#[test]
fn a_factor_is_found() {
    let Some(program) = program("is.c") else { return };
    // Settling depends on the machine, and is tested without one in the command; a table and a verdict come in any case.
    let flags = "-n 2 --network switch:delay=10ms,nodes=2 --find-factor --find-limit 20s --factor 0.5 -o last.json";
    let output = program.run(flags, "");
    let (out, errors) = said(&output);
    assert!(out.starts_with("   factor virtual time (s)"), "{out}{errors}");
    let factors: Vec<f64> =
        out.lines().skip(1).map(|line| line.split_whitespace().next().unwrap().parse().unwrap()).collect();
    assert!(factors.first().is_none_or(|&first| first == 0.5), "{out}");
    assert!(factors.windows(2).all(|pair| pair[1] == 2.0 * pair[0]), "{out}");
    assert!(!out.contains("VERIFIED"), "{out}");
    match output.status.code() {
        Some(0) => assert!(factors.len() >= 3 && errors.contains("settled at factor"), "{out}{errors}"),
        status => {
            assert_eq!(status, Some(3), "{errors}");
            assert!(errors.contains("not settled after") && errors.contains("--find-limit 20s"), "{errors}");
        }
    }
    assert_eq!(program.folder().join("last.json").is_file(), !factors.is_empty());
}

#[test]
fn a_search_that_has_no_time_left_says_that_nothing_has_settled() {
    let Some(program) = program("is.c") else { return };
    let flags = "-n 2 --network switch:delay=10ms,nodes=2 --find-factor --find-limit";
    let output = program.run(&format!("{flags} 1ps"), "");
    assert_eq!(output.status.code(), Some(3), "{}", said(&output).1);
    assert!(said(&output).1.contains("not settled after 0 runs"), "{}", said(&output).1);
    // A run that does not end is interrupted.
    let Some(endless) = tests::mpi::program("faults.c") else { return };
    let output = endless.run(&format!("{flags} 1s"), "computes");
    assert_eq!(output.status.code(), Some(3), "{}", said(&output).1);
    assert!(said(&output).1.contains("the first run did not end"), "{}", said(&output).1);
    let output = program.run(&format!("{flags} soon"), "");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output).1);
}

/// Figures of a program that is linked with other libraries of its language than those of C.
#[test]
fn computing_is_measured_alike_in_c_and_in_fortran() {
    // With -O2 the loops are the same instructions. With -O1 that of C has a move more, which some processors make free and
    // on others costs an eighth.
    let optimised = |source| program_with(source, &["-O2", "-falign-loops=64"].map(str::to_owned));
    let (Some(c), Some(fortran)) = (optimised("work.c"), optimised("work.f90")) else { return };
    let flags = "-n 2 --network switch:delay=1us,nodes=2";
    let computing = |program: &Program, more: &str| -> f64 {
        let (result, _) = results(program, &format!("{flags} {more}"), "");
        let ranks = result["ranks"].as_array().unwrap();
        ranks.iter().map(|rank| rank["computing_ps"].as_u64().unwrap()).min().unwrap() as f64
    };
    // Processor time, which other programs disturb by what they leave in caches: the least of several measurements. More
    // are made until both have had a quiet moment.
    let (mut least, mut tries) = ([f64::INFINITY; 2], 0);
    while tries < 3 || (least[0] / least[1] - 1.0).abs() > 0.1 {
        assert!(tries < 30, "{least:?}");
        tries += 1;
        least = [
            least[0].min(computing(&c, "--compute measured")),
            least[1].min(computing(&fortran, "--compute measured")),
        ];
    }
    // 50 million steps of 3 operations that wait for each other.
    assert!(least[0] > 50e6 * 3.0 * 100.0, "{least:?}");
    let stretched = computing(&fortran, "--compute measured:4");
    assert!(stretched > 3.6 * least[1], "{stretched} {least:?}");
    // In real time it is at least what has been computed.
    let real = computing(&fortran, "--mode realtime --factor 2");
    assert!(real > 0.9 * least[1], "{real} {least:?}");
}

#[test]
fn the_clocks_of_fortran_are_virtual() {
    let Some(program) = program("work.f90") else { return };
    let run = || {
        let output = program.run("-n 2 --network switch:delay=1us,nodes=2 --compute fixed:10us", "");
        let (out, errors) = said(&output);
        assert!(output.status.success(), "{errors}");
        out
    };
    let out = run();
    // The date and all clocks are the same in each repetition.
    assert_eq!(out, run());
    let words: Vec<&str> = out.lines().nth(1).unwrap().split_whitespace().collect();
    let number = |index: usize| words[index].parse::<f64>().unwrap();
    assert_eq!((words[0], words[4]), ("clocks", "2000"), "{out}");
    // Five barriers, each after 10 us of computing and with a delay of 1 us. Readings take 1 ns; the processor time of
    // Fortran is in microseconds.
    for index in 1..=3 {
        assert!((number(index) - 55.0).abs() <= 1.0, "{out}");
    }
}

#[test]
fn what_has_no_meaning_in_real_time_is_refused() {
    let Some(program) = program("is.c") else { return };
    for (flags, reason) in [
        ("--mode realtime --sync combined", "in real time the wall clock keeps ranks together"),
        ("--mode realtime --compute none", "in real time computing takes time"),
        ("--factor 5", "--factor has a meaning in real-time mode only"),
        ("--mode realtime --factor 0", "--factor takes a number from 0.001 to 1000000"),
    ] {
        let output = program.run(&format!("-n 2 --network switch:delay=1us,nodes=2 {flags}"), "");
        assert_eq!(output.status.code(), Some(2), "{flags}");
        assert!(said(&output).1.contains(reason), "{flags}: {}", said(&output).1);
    }
}

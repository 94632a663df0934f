//! Faulty MPI programs: each ends with its fault named, and with a status that says so.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use tests::mpi::{program, said};

const FLAGS: &str = "-n 4 --network switch:delay=1us,nodes=4";

#[test]
fn each_fault_is_named_and_ends_the_program() {
    let Some(program) = program("faults.c") else { return };
    let run = |word: &str| {
        let output = program.run(FLAGS, word);
        let (out, errors) = said(&output);
        // Long messages are broken into lines.
        let words: Vec<&str> =
            errors.split(|c: char| c.is_whitespace() || c == '|').filter(|word| !word.is_empty()).collect();
        (output.status.code(), format!("{out}{}", words.join(" ")))
    };
    for (word, status, texts) in [
        ("early", 1, &["rank 0 ended with exit status 0 before MPI_Init", "linked dynamically with MPICH"][..]),
        (
            "deadlock",
            3,
            &[
                "the program is in deadlock",
                "rank 0, MPI_Recv: waits for a message from rank 1, tag 5, on MPI_COMM_WORLD",
                "rank 3, MPI_Recv: waits for a message from rank 0, tag 5, on MPI_COMM_WORLD",
            ],
        ),
        (
            "ssend",
            3,
            &["rank 0, MPI_Ssend: waits for rank 1 to receive its synchronous message, tag 5, on MPI_COMM_WORLD"],
        ),
        ("half", 3, &["rank 0, MPI_Barrier: waits for rank 2 in barrier, collective 1 of MPI_COMM_WORLD"]),
        ("collectives", 1, &["collective 1 of MPI_COMM_WORLD is", "bcast with root 0", "barrier"]),
        (
            "truncated",
            14,
            &["rank 1: MPI_Recv: message truncated: 40 bytes from rank 0 with tag 3 do not fit a buffer of 8"],
        ),
        ("unsupported", 1, &["rank 1: MPI_Win_create is not supported on a simulated network"]),
        ("killed", 137, &["rank 1 was ended by signal 9"]),
        ("leaves", 1, &["rank 1 ended without a call of MPI_Finalize"]),
        ("abort", 9, &["rank 1: MPI_Abort with code 9"]),
        ("rank", 6, &["MPI_Send: rank 4 is not one of the 4 ranks of MPI_COMM_WORLD"]),
        ("status", 5, &[]),
        ("hostile", 1, &["rank 1 ended with exit status 1, and the other ranks were ended", "it does not speak TGP/1"]),
        ("unreceived", 0, &["1 message was never received"]),
    ] {
        let (found, said) = run(word);
        assert_eq!(found, Some(status), "{word}: {said}");
        for text in texts {
            assert!(said.contains(text), "{word}: no `{text}` in: {said}");
        }
    }
}

#[test]
fn unusable_words_are_refused_with_a_remedy() {
    let Some(program) = program("pingpong.c") else { return };
    for (flags, text) in [
        ("-n 4 --topology torus:2x1", "4 ranks, 1 on a node, need 4 nodes, and the network has 2"),
        ("-n 2 --compute fixed:1", "--compute fixed:1: `1` is not a time with its unit"),
        ("-n 2 --compute measured:0", "is not a factor"),
        ("-n 2 --compute often", "it is neither none"),
        ("-n 2 --collectives allreduce=magic", "--collectives allreduce=magic"),
        ("-n 2 --network nowhere", "--network does not know `nowhere`"),
        ("-n 0", "invalid value '0'"),
    ] {
        let output = program.run(flags, "");
        let (out, errors) = said(&output);
        assert_eq!(output.status.code(), Some(2), "{flags}: {out}{errors}");
        let errors = errors.split(|c: char| c.is_whitespace() || c == '|').filter(|word| !word.is_empty());
        let errors: Vec<&str> = errors.collect();
        assert!(errors.join(" ").contains(text), "{flags}: {errors:?}");
    }
}

#[test]
fn a_flag_before_the_program_is_never_taken_for_it() {
    let folder = tempfile::tempdir().unwrap();
    for (flags, texts) in [
        ("--placement random --", ["'--placement'", "it is a flag of fsin run"]),
        ("--link-loads --", ["'--link-loads'", "it is a flag of fsin run"]),
        ("--placement=random", ["'--placement'", "it is a flag of fsin run"]),
        ("--topolgy torus:4x4 --", ["'--topolgy'", "a similar argument exists: '--topology'"]),
        ("--topology --", ["'--topology <SPEC>'", "a value is required"]),
    ] {
        let line = format!("mpirun -n 2 {flags} ./program --load 3");
        let output = tests::command::run(folder.path(), &line);
        let (_, errors) = said(&output);
        assert_eq!(output.status.code(), Some(2), "{flags}: {errors}");
        assert!(texts.iter().all(|text| errors.contains(text)), "{flags}: {errors}");
    }
}

#[test]
fn a_variable_that_a_rank_cannot_read_ends_it_by_name() {
    let Some(program) = program("pingpong.c") else { return };
    for (name, value) in [
        ("FSIN_MPI_PATIENCE", "long"),
        ("FSIN_MPI_BUFFERED", "64k"),
        ("FSIN_MPI_SIZE", "two"),
        ("FSIN_MPI_RANK", "-1"),
        ("FSIN_MPI_COMPUTE", "fixed:1us"),
        ("FSIN_MPI_COMPUTE", "meassured:2"),
        ("FSIN_MPI_COLLECTIVES", "allreduce=magic"),
        ("FSIN_MPI_MODE", "real-time"),
        ("FSIN_MPI_SYNC", "determinstic"),
        ("FSIN_MPI_RECORD", "yes"),
    ] {
        let mut command = tests::command::fsin(program.folder());
        command.env("FSIN_MPI_LIBRARY", tests::command::mpi_library());
        let script = format!("{name}={value} exec ./program");
        let output = command.args(["mpirun", "-n", "2", "--topology", "torus:2x2", "--", "sh", "-c", &script]).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}: {}", said(&output).1);
        assert!(said(&output).1.contains(&format!("{name}={value}")), "{name}: {}", said(&output).1);
    }
}

#[test]
fn a_missing_program_and_a_missing_library_are_named() {
    let Some(program) = program("pingpong.c") else { return };
    let output =
        program.command("-n 2 --network switch:delay=1us,nodes=2", "").env("FSIN_MPI_LIBRARY", "nothing.so").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).1.contains("FSIN_MPI_LIBRARY=nothing.so"), "{}", said(&output).1);
    let mut missing = tests::command::fsin(program.folder());
    missing.env("FSIN_MPI_LIBRARY", tests::command::mpi_library());
    let output = missing.args(["mpirun", "-n", "2", "--topology", "torus:2x2", "--", "./nothing"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).1.contains("cannot start rank 0, ./nothing"), "{}", said(&output).1);
}

#[test]
fn nothing_is_left_behind() {
    let Some(program) = program("faults.c") else { return };
    let folder = program.folder().join("temporary");
    std::fs::create_dir(&folder).unwrap();
    for word in ["unreceived", "deadlock", "killed", "status", "abort"] {
        let output = program.command(FLAGS, word).env("TMPDIR", &folder).output().unwrap();
        let left: Vec<_> = std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.path()).collect();
        assert!(left.is_empty(), "{word}: {left:?} {}", said(&output).1);
    }
}

#[test]
fn ranks_have_the_environment_of_the_user() {
    let Some(program) = program("faults.c") else { return };
    let mut command = program.command("-n 2 -q --network switch:delay=1us,nodes=2", "environment");
    command.env("MINE", "my own").env("LD_LIBRARY_PATH", "/some/where");
    let before: BTreeMap<String, String> = std::env::vars().collect();
    let output = command.output().unwrap();
    let (out, errors) = said(&output);
    assert!(output.status.success(), "{errors}");
    let found: BTreeMap<&str, &str> = out.lines().filter_map(|line| line.split_once('=')).collect();
    assert_eq!(found["MINE"], "my own");
    assert!(found["LD_LIBRARY_PATH"].ends_with(":/some/where"), "{}", found["LD_LIBRARY_PATH"]);
    for (name, value) in &found {
        let is_own = name.starts_with("FSIN_MPI_") || ["MINE", "LD_LIBRARY_PATH", "NO_COLOR", "COLUMNS"].contains(name);
        assert!(
            is_own || before.get(*name).is_some_and(|before| before.lines().next().unwrap_or_default() == *value),
            "{name}={value}"
        );
    }
}

#[test]
fn ranks_end_when_their_network_is_killed() {
    let Some(program) = program("faults.c") else { return };
    let mut command = program.command(FLAGS, "forever");
    command.env("TMPDIR", program.folder()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut run = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(run.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "going on\n");
    run.kill().unwrap();
    run.wait().unwrap();
    // The end of this stream is the end of all ranks, which have inherited it.
    let mut errors = String::new();
    run.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert!(errors.contains("the endpoint was lost"), "{errors}");
}

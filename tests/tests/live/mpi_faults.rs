//! Faulty MPI programs: each ends with its fault named, and with a status that says so.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tests::mpi::{Program, folder_of_mpich, program, program_with, said};
use tests::shared::skipped;

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
        ("unsupported", 1, &["rank 1: MPI_Open_port is not supported on a simulated network"]),
        ("killed", 137, &["rank 1 was ended by signal 9"]),
        ("leaves", 1, &["rank 1 ended without a call of MPI_Finalize"]),
        ("seven", 7, &["rank 1 ended with exit status 7, and the other ranks were ended"]),
        ("usage", 6, &["rank", "ended with exit status 6 before MPI_Init"]),
        ("abort", 9, &["rank 1: MPI_Abort with code 9"]),
        ("rank", 6, &["MPI_Send: rank 4 is not one of the 4 ranks of MPI_COMM_WORLD"]),
        ("status", 5, &[]),
        ("hostile", 1, &["rank 1 ended with exit status 1, and the other ranks were ended", "it does not speak TGP/1"]),
        ("unreceived", 0, &["1 message was never received"]),
        (
            "interrupted",
            1,
            &[
                "MPI_Comm_rank is called while another call of this thread is in progress",
                "a signal handler must not call MPI",
            ],
        ),
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
        ("--traffic uniform --", ["'--traffic'", "it is a flag of fsin run"]),
        ("--node-stats --", ["'--node-stats'", "it is a flag of fsin run"]),
        ("--traffic=uniform", ["'--traffic'", "it is a flag of fsin run"]),
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
        ("FSIN_MPI_SIZE", "0"),
        ("FSIN_MPI_RANK", "2"),
        ("FSIN_MPI_ADDRESS", "nowhere"),
        ("FSIN_MPI_COMPUTE", "measured:NaN"),
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
        let errors = said(&output).1;
        assert!(errors.contains(&format!("{name}={value} cannot be used")), "{name}: {errors}");
        assert!(errors.contains("unset it"), "{name}: {errors}");
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
    assert!(found["LD_PRELOAD"].ends_with("/libmpich.so.12"), "{}", found["LD_PRELOAD"]);
    for (name, value) in &found {
        let is_own = name.starts_with("FSIN_MPI_")
            || ["MINE", "LD_LIBRARY_PATH", "LD_PRELOAD", "ASAN_OPTIONS", "NO_COLOR", "COLUMNS"].contains(name);
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

/// A program in a shell that sets limits first.
fn limited(program: &Program, limits: &str, flags: &str, word: &str) -> (Option<i32>, String) {
    let direct = program.command(flags, word);
    let mut command = Command::new("bash");
    command.current_dir(program.folder()).arg("-c").arg(format!("{limits}; exec \"$@\"")).arg("bash");
    command.arg(direct.get_program()).args(direct.get_args());
    for (name, value) in direct.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command.output().unwrap();
    let (out, errors) = said(&output);
    (output.status.code(), format!("{out}{}", one_line(&errors)))
}

/// An error without its line breaks.
fn one_line(errors: &str) -> String {
    let words: Vec<&str> =
        errors.split(|c: char| c.is_whitespace() || c == '|').filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Files in a folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect()
}

#[test]
fn a_report_that_cannot_be_written_is_an_error_and_not_a_time_of_zero() {
    let Some(program) = program("faults.c") else { return };
    for flags in [FLAGS.to_owned(), format!("{FLAGS} --find-factor"), format!("{FLAGS} --record app.trg")] {
        let (status, said) = limited(&program, "ulimit -f 0", &flags, "unreceived");
        assert_eq!(status, Some(1), "{flags}: {said}");
        for text in ["rank", "cannot be written in", "File too large", "set TMPDIR", "ulimit -f"] {
            assert!(said.contains(text), "{flags}: no `{text}` in: {said}");
        }
        assert!(!said.contains("virtual time 0") && !said.contains("settled"), "{flags}: {said}");
        assert!(!program.folder().join("app.trg").exists());
    }
}

#[test]
fn a_full_folder_for_temporary_files_is_an_error() {
    let Some(program) = program("faults.c") else { return };
    let folder = program.folder().join("tiny");
    fs::create_dir(&folder).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=16k", "tmpfs"]).arg(&folder).output();
    if !mounted.is_ok_and(|mounted| mounted.status.success()) {
        return skipped("a small file system cannot be mounted (needs root)");
    }
    // Writes until the file system is full.
    let filled = fs::write(folder.join("fill"), vec![1; 1 << 20]);
    let output = program.command(FLAGS, "unreceived").env("TMPDIR", &folder).output();
    let left = entries(&folder);
    assert!(Command::new("umount").arg(&folder).status().unwrap().success());
    let output = output.unwrap();
    let words = one_line(&said(&output).1);
    assert!(filled.is_err(), "the file system is not full");
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("its report cannot be written in") && words.contains("No space left"), "{words}");
    assert_eq!(left, [folder.join("fill")]);
}

#[test]
fn descriptors_that_do_not_suffice_are_refused_with_the_number_needed() {
    let Some(program) = program("faults.c") else { return };
    let flags = "-n 60 -q --network switch:delay=1us,nodes=60";
    let (status, said) = limited(&program, "ulimit -n 64", flags, "unreceived");
    assert_eq!(status, Some(1), "{said}");
    let number: u64 = said.split("60 ranks: ").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    assert!(
        said.contains("open files are needed, and the system allows 64")
            && said.contains(&format!("ulimit -n {number}")),
        "{said}"
    );
    // The number suffices, and no less is accepted; a soft limit is raised.
    for (limits, status) in
        [(format!("ulimit -n {number}"), 0), (format!("ulimit -n {}", number - 1), 1), ("ulimit -Sn 64".to_owned(), 0)]
    {
        let (found, said) = limited(&program, &limits, flags, "unreceived");
        assert_eq!(found, Some(status), "{limits}: {said}");
    }
    assert_eq!(limited(&program, "ulimit -n 64", FLAGS, "unreceived").0, Some(0));
}

#[test]
fn nothing_is_left_of_a_run_whose_command_is_killed() {
    let Some(program) = program("faults.c") else { return };
    // Ranks that make no call do not notice that the network is gone, and a shell between does not end by itself.
    for wrapped in [false, true] {
        let folder = program.folder().join(format!("temporary{wrapped}"));
        fs::create_dir(&folder).unwrap();
        let mut command = program.command(&format!("{FLAGS} --record app.trg -o result.json"), "computes");
        if wrapped {
            let path = program.folder().join("program");
            command = program.shell(FLAGS, &format!("setsid {} computes; sleep 1000", path.display()));
        }
        let mut run = command.env("TMPDIR", &folder).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(run.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(line, "going on\n");
        run.kill().unwrap();
        run.wait().unwrap();
        // The end of this stream is the end of all ranks and shells, which have inherited it.
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        // The folder follows.
        let begin = Instant::now();
        while !entries(&folder).is_empty() && begin.elapsed() < Duration::from_secs(300) {
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(entries(&folder), Vec::<PathBuf>::new());
        assert!(!program.folder().join("app.trg").exists() && !program.folder().join("result.json").exists());
    }
}

#[test]
fn a_folder_that_was_left_behind_is_removed_by_a_later_run() {
    let Some(program) = program("faults.c") else { return };
    let folder = program.folder().join("temporary");
    let old = folder.join("fsin-mpi.1.1");
    for (name, is_old) in [("fsin-mpi.1.1", true), ("fsin-mpi.1.2", false), ("other", true)] {
        let path = folder.join(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("lock"), "").unwrap();
        // A time to come is that of a folder that has just been made, however long this test takes.
        let moment = if is_old { "1 hour ago" } else { "1 day" };
        let touched = Command::new("touch").args(["-d", moment]).arg(&path).status().unwrap();
        assert!(touched.success());
    }
    // In use: another process holds the lock.
    let used = fs::File::open(old.join("lock")).unwrap();
    used.lock().unwrap();
    let run = || assert!(program.command(FLAGS, "unreceived").env("TMPDIR", &folder).status().unwrap().success());
    run();
    assert!(old.exists());
    used.unlock().unwrap();
    run();
    let mut left = entries(&folder);
    left.sort();
    assert_eq!(left, [folder.join("fsin-mpi.1.2"), folder.join("other")]);
}

#[test]
fn programs_that_name_another_library_or_folder_run_on_the_simulated_network() {
    let path = folder_of_mpich();
    let rpath = format!("-Wl,--disable-new-dtags,-rpath,{}", path.display());
    let Some(program) = program_with("pingpong.c", &[rpath]) else { return };
    let words = "32 10";
    let expected = said(&program.run("-n 2 --network switch:delay=1us,nodes=2", words));
    assert!(expected.0.starts_with("half "), "{expected:?}");
    let long = "x".repeat(120);
    // A program that checks its memory has libraries of its own to be loaded first.
    if let Some(checked) = program_with("pingpong.c", &["-fsanitize=address".to_owned()]) {
        let mut command = checked.command("-n 2 --network switch:delay=1us,nodes=2", words);
        let output = command.env("ASAN_OPTIONS", "detect_leaks=0").output().unwrap();
        assert_eq!(said(&output).0, expected.0, "{}", said(&output).1);
    }
    for name in ["a:b", "a b", "a;b$ORIGIN", &long] {
        let folder = program.folder().join(name);
        fs::create_dir(&folder).unwrap();
        let output = program.command("-n 2 --network switch:delay=1us,nodes=2", words).env("TMPDIR", &folder).output();
        assert_eq!(said(&output.unwrap()).0, expected.0, "{name}");
        assert!(entries(&folder).is_empty(), "{name}");
    }
}

#[test]
fn programs_that_cannot_load_the_library_are_told_why() {
    let Some(program) = program("faults.c") else { return };
    let source = program.folder().join("static.c");
    fs::write(&source, "int main(void) { return 0; }").unwrap();
    let file = program.folder().join("static");
    let built = Command::new("gcc").args(["-static", "-o"]).arg(&file).arg(&source).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let output = program.shell(FLAGS, "true").output().unwrap();
    assert!(one_line(&said(&output).1).contains("before MPI_Init"), "{}", said(&output).1);
    let mut command = tests::command::fsin(program.folder());
    command.env("FSIN_MPI_LIBRARY", tests::command::mpi_library()).args(["mpirun", "-n", "2", "--", "./static"]);
    let output = command.output().unwrap();
    let words = one_line(&said(&output).1);
    assert!(output.status.code() == Some(1) && words.contains("it is linked statically"), "{words}");
    // Open MPI's handles are others.
    let built = Command::new("mpicc.openmpi")
        .args(["-w", "-o"])
        .arg(program.folder().join("open"))
        .arg(tests::shared::workspace().join("tests/programs/mpi/pingpong.c"))
        .output();
    if !built.is_ok_and(|built| built.status.success()) {
        return skipped("no compiler of Open MPI (Debian: libopenmpi-dev)");
    }
    let mut command = tests::command::fsin(program.folder());
    command.env("FSIN_MPI_LIBRARY", tests::command::mpi_library()).args(["mpirun", "-n", "2", "--", "./open"]);
    let output = command.output().unwrap();
    let words = one_line(&said(&output).1);
    assert!(output.status.code() == Some(1) && words.contains("this program is linked with Open MPI"), "{words}");
}

#[test]
fn an_interrupted_recording_does_not_block_the_next_one() {
    let Some(program) = program("faults.c") else { return };
    let run = |word: &str| program.command(&format!("{FLAGS} -q --record app.trg --heat-map who.svg -o r.json"), word);
    let mut first = run("computes").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(first.stdout.take().unwrap()).read_line(&mut line).unwrap();
    tests::command::interrupt(&first, Duration::ZERO);
    assert_eq!(first.wait().unwrap().code(), Some(130));
    assert!(!program.folder().join("app.trg").exists());
    for file in ["r.json", "who.svg"] {
        let _ = fs::remove_file(program.folder().join(file));
    }
    let output = run("unreceived").output().unwrap();
    assert!(output.status.success(), "{}", said(&output).1);
    assert!(fs::metadata(program.folder().join("app.trg")).unwrap().len() > 0);
    let output = run("unreceived").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "nothing is overwritten");
}

#[test]
fn output_that_cannot_be_passed_on_is_an_error() {
    let Some(program) = program("faults.c") else { return };
    if !Path::new("/dev/full").exists() {
        return skipped("there is no /dev/full");
    }
    let full = fs::File::create("/dev/full").unwrap();
    let output = program.command(&format!("{FLAGS} --label"), "environment").stdout(full).output().unwrap();
    let words = one_line(&said(&output).1);
    assert!(output.status.code() == Some(1) && words.contains("cannot pass on the output of the ranks"), "{words}");
}

//! Every algorithm of collectives has the same messages, in the same rounds, by every door of the command: kernel, trace of
//! MPI, graph, Chakra trace, and ranks of a program that runs now (`tests/programs/mpi/doors.c`).
//!
//! Each message takes a tenth of a millisecond, and nothing else takes any time, so that a message leaves in round
//! `ts` / 100 us of the timeline.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tests::chakra;
use tests::command::{run, trace_prep};
use tests::mpi::{program, said};
use trgen::collective::Row;
use trgen::trace::kernels::parse;
use trgen::trace::kind::CollectiveKind;

use CollectiveKind::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scatter};

/// The kinds, in the order in which the program calls them.
const KINDS: [CollectiveKind; 9] =
    [AllReduce, AllGather, ReduceScatter, Broadcast, Reduce, Gather, Scatter, AllToAll, Barrier];

/// Numbers of ranks, each with the size of a block \[bytes\].
const SIZES: [(usize, u64); 5] = [(1, 64), (3, 840), (4, 77), (7, 1001), (12, 36)];

/// Sender, receiver, size \[bytes\] and round.
type Messages = Vec<(u64, u64, u64, u64)>;

/// The messages of a timeline that leave in the second after `begin` \[s\].
fn messages(timeline: &Path, begin: u64) -> Messages {
    let value: Value = serde_json::from_str(&fs::read_to_string(timeline).unwrap()).unwrap();
    let of = |event: &Value| {
        let number = |name: &str| event["args"][name].as_u64().unwrap();
        let since = event["ts"].as_f64().unwrap() - begin as f64 * 1e6;
        let round = (since / 100.0).round();
        // A blocking send ends a cycle later, which adds up to less than a hundredth of a round.
        assert!((since / 100.0 - round).abs() < 0.05 || !(-50.0..1e6 - 50.0).contains(&since), "{event}");
        (-50.0..1e6 - 50.0).contains(&since).then_some((number("from"), number("to"), number("bytes"), round as u64))
    };
    let events = value["traceEvents"].as_array().unwrap();
    let mut all: Messages = events.iter().filter(|event| event["cat"] == "message").filter_map(of).collect();
    all.sort_unstable();
    all
}

/// The messages of a run with these words.
fn of_run(folder: &Path, words: &str) -> Messages {
    let _ = fs::remove_file(folder.join("door.json"));
    let output = run(folder, &format!("run {words} --timeline door.json -q"));
    assert!(output.status.success(), "{words}: {}", said(&output).1);
    messages(&folder.join("door.json"), 0)
}

/// The network of every door, with a node more than there are ranks, so that no kernel takes its grid for its own.
const NETWORK: &str = "--network constant-delay:delay=100us";

/// Name of the kernel of a kind, its action in a trace of SimGrid, and its sizes \[bytes\] in a kernel and in a Chakra trace.
fn words(kind: CollectiveKind, size: usize, block: u64) -> (&'static str, String, u64, u64) {
    let whole = block * size as u64;
    match kind {
        AllReduce => ("all-reduce", format!("allreduce {whole} 0"), whole, whole),
        AllGather => ("all-gather", format!("allgather {block} {block}"), whole, block),
        ReduceScatter => {
            ("reduce-scatter", format!("reducescatter {}0", format!("{block} ").repeat(size)), whole, whole)
        }
        Broadcast => ("broadcast", format!("bcast {whole}"), whole, whole),
        Reduce => ("reduce", format!("reduce {whole} 0"), whole, whole),
        Gather => ("gather", format!("gather {block} {block}"), block, whole),
        Scatter => ("scatter", format!("scatter {block} {block}"), block, whole),
        AllToAll => ("all-to-all", format!("alltoall {block} {block}"), block, whole),
        Barrier => ("barrier", "barrier".to_owned(), 0, 0),
    }
}

/// The messages by kernel, trace, graph and Chakra trace; all the same.
fn by_command(folder: &Path, (kind, algorithm): (CollectiveKind, &str), size: usize, block: u64) -> Messages {
    let (name, action, of_kernel, of_chakra) = words(kind, size, block);
    let what = format!("{name} by {algorithm} of {size}");
    let bytes = if kind == Barrier { String::new() } else { format!(",bytes={of_kernel}") };
    let kernel = format!("{name}:tasks={size}{bytes}");
    let by = format!("--collectives {name}={algorithm}");
    let found = of_run(folder, &format!("--kernel {kernel} {by} {NETWORK},nodes={}", size + 1));

    let lines = |text: &str| (0..size).map(|rank| format!("{rank} {text}\n")).collect::<String>();
    fs::write(folder.join("trace.ti"), lines("init 1").replace(" 1\n", "\n") + &lines(&action)).unwrap();
    let of_trace = of_run(folder, &format!("--trace trace.ti {by} {NETWORK},nodes={}", size + 1));
    assert_eq!(found, of_trace, "{what}: a trace of MPI");

    let _ = fs::remove_file(folder.join("graph.goal"));
    let generated = Command::new(trace_prep())
        .current_dir(folder)
        .args([
            "generate",
            "-q",
            &format!("pattern/{name}:tasks={size},algorithm={algorithm}{bytes}"),
            "-o",
            "graph.goal",
        ])
        .output()
        .unwrap();
    assert!(generated.status.success(), "{what}: {}", said(&generated).1);
    let hosts = "--network loggops:L=100000,G=0 --hosts o=0,g=0,S=1000000";
    assert_eq!(found, of_run(folder, &format!("--trace graph.goal {hosts}")), "{what}: a graph");

    let number = (0..10).find(|&number| CollectiveKind::of_number(number) == Some(kind)).unwrap();
    let mut steps = folder.join("steps");
    let _ = fs::remove_dir_all(&steps);
    fs::create_dir(&steps).unwrap();
    for rank in 0..size {
        let nodes = [chakra::collective(0, number, of_chakra as i64, "", &[])];
        steps.push(format!("step.{rank}.et"));
        fs::write(&steps, chakra::file(&nodes, Some("0.0.4"), true)).unwrap();
        steps.pop();
    }
    let of_chakra = of_run(folder, &format!("--trace steps {by} {NETWORK},nodes={}", size + 1));
    assert_eq!(found, of_chakra, "{what}: a Chakra trace");
    found
}

/// The algorithms of a kind that a kernel of so many ranks has.
fn algorithms(kind: CollectiveKind, size: usize, block: u64) -> Vec<&'static str> {
    let (name, _, bytes, _) = words(kind, size, block);
    let bytes = if kind == Barrier { String::new() } else { format!(",bytes={bytes}") };
    let taken = |row: &&Row| parse(&format!("{name}:tasks={size},algorithm={}{bytes}", row.name()), size, None).is_ok();
    Row::of(kind).filter(|row| !row.has_levels(kind)).filter(taken).map(Row::name).collect()
}

#[test]
fn an_algorithm_has_the_same_messages_by_every_door_of_the_command() {
    let program = program("doors.c");
    let folder = tempfile::tempdir().unwrap();
    let (mut seen, mut live) = (0, 0);
    for (size, block) in SIZES {
        let mut expected: BTreeMap<(usize, &str), Messages> = BTreeMap::new();
        for (at, &kind) in KINDS.iter().enumerate() {
            for algorithm in algorithms(kind, size, block) {
                expected.insert((at, algorithm), by_command(folder.path(), (kind, algorithm), size, block));
                seen += 1;
            }
        }
        let Some(program) = &program else { continue };
        // Each run has the next algorithm of each kind.
        for turn in 0.. {
            let of_kind = |at: usize| expected.keys().filter(move |key| key.0 == at).nth(turn).map(|key| key.1);
            let chosen: Vec<(usize, &str)> = (0..KINDS.len()).filter_map(|at| Some((at, of_kind(at)?))).collect();
            if chosen.is_empty() {
                break;
            }
            let mut rules = String::new();
            for (at, algorithm) in &chosen {
                let _ = write!(rules, ",{}={algorithm}", KINDS[*at].name());
            }
            let timeline = program.folder().join("live.json");
            let _ = fs::remove_file(&timeline);
            let flags = format!("-q -n {size} {NETWORK} --collectives {} --timeline live.json", &rules[1..]);
            let output = program.run(&flags, &block.to_string());
            assert!(output.status.success(), "{flags}: {}", said(&output).1);
            for key in chosen {
                let what = format!("{} by {} of {size} live ranks", KINDS[key.0].name(), key.1);
                assert_eq!(messages(&timeline, key.0 as u64 + 1), expected[&key], "{what}");
                live += 1;
            }
        }
    }
    assert!(seen > 100 && (program.is_none() || live == seen), "{seen} {live}");
}

/// Above the limit a piece is announced, answered and sent: three messages, each under the name of its collective.
#[test]
fn pieces_that_wait_for_their_receive_have_the_name_of_their_collective() {
    let Some(program) = program("doors.c") else { return };
    let timeline = program.folder().join("long.json");
    for limit in ["0", "1000"] {
        let _ = fs::remove_file(&timeline);
        let flags = format!("-q -n 3 {NETWORK} --rendezvous {limit} --timeline long.json");
        let output = program.run(&flags, "840");
        assert!(output.status.success(), "{flags}: {}", said(&output).1);
        let value: Value = serde_json::from_str(&fs::read_to_string(&timeline).unwrap()).unwrap();
        let events = value["traceEvents"].as_array().unwrap();
        let messages: Vec<&Value> = events.iter().filter(|event| event["cat"] == "message").collect();
        let names = |event: &&&Value| event["args"]["collective"].as_str().is_some_and(|name| name.contains(' '));
        let nameless: Vec<&&Value> = messages.iter().filter(|event| !names(event)).collect();
        assert!(messages.len() > 20 && nameless.is_empty(), "{flags}: {nameless:?}");
    }
}

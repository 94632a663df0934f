//! The command: round trips between formats, executable transformations, and error messages.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::TempDir;
use trgen::trace::formats::{Application, ReadOptions, Trace, open, read};
use trgen::trace::goal::Graph;
use trgen::trace::program::Event;

struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Runs the command in this folder: exit status, stdout, stderr.
    fn run(&self, words: &str) -> (i32, String, String) {
        let mut command = Command::cargo_bin("trace-prep").unwrap();
        let output = command.current_dir(self.0.path()).args(words.split_whitespace()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    }

    fn succeeds(&self, words: &str) -> String {
        let (status, out, err) = self.run(words);
        assert_eq!(status, 0, "{words}: {err}");
        out
    }

    fn trace(&self, name: &str) -> Trace {
        read(&self.path(name), &ReadOptions::default()).unwrap()
    }
}

fn graph(path: &Path) -> Graph {
    let Application::Graphs(trace) = open(path, &ReadOptions::default()).unwrap() else { panic!("no graph") };
    trace.graph
}

const TI: &str = "0 init\n1 init\n2 init\n0 compute 12345\n0 isend 1 7 100 6\n0 irecv 2 8 50 6\n0 waitall 2\n\
                  1 irecv -555 -444 100 6\n1 compute 5e6\n1 wait -555 1 -444\n1 send 2 9 0 6\n2 recv 1 9 0 6\n\
                  2 send 0 8 50 6\n0 finalize\n1 finalize\n2 finalize\n";

const TRC: &str = "c 0 1.25\ns 0 1 7 64\nr 0 1 7 64\ns 1 2 7 32\nr 1 2 7 32\nc 2 9\nc 4 0\n";

#[test]
fn trc_ti_and_goal_come_back_as_they_were() {
    let desk = Desk::new();
    desk.write("a.ti", TI);
    desk.succeeds("import -q a.ti -o a.trg");
    desk.succeeds("export -q a.trg --to simgrid-ti -o ti");
    assert_eq!(desk.trace("ti").program, desk.trace("a.ti").program);
    desk.write("b.trc", TRC);
    desk.succeeds("import -q b.trc -o b.trg");
    desk.succeeds("export -q b.trg --to fsin-trc -o again.trc");
    assert_eq!(desk.trace("again.trc").program, desk.trace("b.trc").program);
    assert_eq!(desk.trace("b.trg").program.tasks.len(), 5);
    desk.succeeds("generate pipelinedringdep:ranks=6,bytes=3000,segment=512 -o g.trg");
    desk.succeeds("export -q g.trg --to goal -o g.goal");
    desk.succeeds("export -q g.goal --to goal-bin -o g.bin");
    desk.succeeds("import -q g.bin -o h.trg");
    desk.succeeds("export -q h.trg --to goal-bin -o h.bin");
    assert_eq!(graph(&desk.path("g.trg")), graph(&desk.path("h.bin")));
    assert_eq!(fs::read(desk.path("g.bin")).unwrap(), fs::read(desk.path("h.bin")).unwrap());
}

#[test]
fn programs_become_graphs_that_end() {
    let desk = Desk::new();
    desk.write("a.ti", TI);
    desk.succeeds("export -q a.ti --to goal -o a.goal");
    let counts = graph(&desk.path("a.goal")).counts();
    assert_eq!((counts.sends, counts.recvs, counts.bytes), (3, 3, 150));
    let out = desk.succeeds("check -q a.goal");
    assert!(out.contains("messages received           3"), "{out}");
}

#[test]
fn empty_messages_stay_empty_in_graphs_and_back() {
    let desk = Desk::new();
    desk.write("b.trc", "s 0 1 7 0\nr 0 1 7 0\ns 1 0 8 1\nr 1 0 8 1\n");
    for format in ["goal", "goal-bin", "trg"] {
        let (status, _, said) = desk.run(&format!("export b.trc --to {format} -o b.{format}"));
        assert_eq!(status, 0, "{said}");
        assert_eq!(said.contains("1 message is empty and written with size 0"), format != "trg", "{format}: {said}");
    }
    desk.succeeds("export -q b.goal --to goal-bin -o c.bin");
    desk.succeeds("export -q c.bin --to goal -o c.goal");
    assert_eq!(fs::read(desk.path("b.goal-bin")).unwrap(), fs::read(desk.path("c.bin")).unwrap());
    assert_eq!(fs::read(desk.path("b.goal")).unwrap(), fs::read(desk.path("c.goal")).unwrap());
    let counts = graph(&desk.path("c.goal")).counts();
    assert_eq!((counts.sends, counts.bytes), (2, 1));
    let text = fs::read_to_string(desk.path("c.goal")).unwrap();
    assert!(text.contains("send 0b to 1 tag 7") && text.contains("recv 0b from 0 tag 7"), "{text}");
}

#[test]
fn what_a_graph_does_not_say_is_said() {
    let desk = Desk::new();
    desk.write("b.trc", TRC);
    let (status, _, said) = desk.run("export b.trc --to goal -o b.goal");
    assert!(status == 0 && said.contains("o=1500,g=1000") && said.contains("--hosts"), "{said}");
    // Neither a graph nor another format loses information.
    let (_, _, said) = desk.run("export b.goal --to goal-bin -o b.bin");
    assert!(!said.contains("--hosts"), "{said}");
    let (_, _, said) = desk.run("export b.trc --to simgrid-ti -o b.ti");
    assert!(!said.contains("--hosts"), "{said}");
}

#[test]
fn the_page_of_the_book_is_what_the_command_says() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/book/src/reference/trace-prep.md");
    let desk = Desk::new();
    desk.succeeds("generate reference pages");
    let same = fs::read_to_string(kept).unwrap() == fs::read_to_string(desk.path("pages/trace-prep.md")).unwrap();
    assert!(same, "not current: trace-prep generate reference docs/book/src/reference");
}

#[test]
fn a_deadlock_is_exit_3_and_names_who_waits_for_what() {
    let desk = Desk::new();
    desk.write("d.trc", "r 1 0 5 8\ns 0 1 5 8\nr 0 1 5 8\ns 1 0 5 8\n");
    let (status, out, err) = desk.run("check -q d.trc --recv-order src-dst");
    assert_eq!(status, 3, "{err}");
    assert!(out.contains("task 0 on node 0, event 1 of 2: waits for a message from task 1 with tag 5"), "{out}");
    // Two sends that wait for their receives: fine with buffers, a deadlock without.
    desk.write("s.trc", "s 0 1 5 8\nr 1 0 5 8\ns 1 0 5 8\nr 0 1 5 8\n");
    desk.succeeds("check -q s.trc --recv-order src-dst");
    assert_eq!(desk.run("check -q --synchronous s.trc --recv-order src-dst").0, 3);
    desk.write("u.trc", "s 0 1 5 8\nr 0 1 5 8\ns 0 1 6 8\n");
    let (status, out, _) = desk.run("check -q u.trc --recv-order src-dst");
    assert_eq!(status, 3);
    assert!(out.contains("task 1: nobody received a message from task 0 with tag 6"), "{out}");
}

#[test]
fn wildcards_that_several_could_answer_are_races() {
    let desk = Desk::new();
    let ti = "0 init\n1 init\n2 init\n0 recv -555 1 8 6\n0 recv -555 1 8 6\n1 send 0 1 8 6\n2 send 0 1 8 6\n";
    desk.write("r.ti", ti);
    let out = desk.succeeds("check -q r.ti");
    assert!(out.contains("receives from any source    2"), "{out}");
    assert!(out.contains("tasks with wildcard races   1"), "{out}");
}

#[test]
fn parts_and_sums_can_be_executed() {
    let desk = Desk::new();
    desk.succeeds("generate all-to-all:tasks=8,bytes=100,iterations=3 -o a.trg");
    desk.succeeds("slice -q a.trg --events 17 -o b.trg");
    desk.succeeds("check -q b.trg");
    let whole = desk.trace("a.trg").program.totals().point_to_point_messages;
    let part = desk.trace("b.trg").program.totals().point_to_point_messages;
    assert!(0 < part && part < whole, "{part} of {whole}");
    desk.succeeds("slice -q a.trg --tasks 2..5 -o c.trg");
    desk.succeeds("check -q c.trg");
    assert_eq!(desk.trace("c.trg").program.totals().point_to_point_messages, 3 * 3 * 2);
    desk.succeeds("merge -q a.trg c.trg -o d.trg");
    desk.succeeds("check -q d.trg");
    let merged = desk.trace("d.trg").program;
    assert_eq!((merged.tasks.len(), merged.totals().point_to_point_messages), (11, whole + 18));
    desk.succeeds("remap -q a.trg --permutation reverse -o e.trg");
    desk.succeeds("remap -q e.trg --permutation 7,6,5,4,3,2,1,0 -o f.trg");
    assert_eq!(desk.trace("f.trg").program, desk.trace("a.trg").program);
    desk.write("t.trc", TRC);
    desk.succeeds("scale -q t.trc --compute 2 --bytes 0.5 -o g.trg");
    let totals = desk.trace("g.trg").program.totals();
    assert_eq!((totals.compute.0, totals.point_to_point_bytes), (2 * 10_250, 48));
}

#[test]
fn the_matrix_counts_messages_and_bytes_of_every_pair() {
    let desk = Desk::new();
    desk.write("t.trc", TRC);
    let out = desk.succeeds("matrix -q t.trc --svg m.svg");
    assert_eq!(out, "source,destination,messages,bytes\n0,1,1,64\n1,2,1,32\n");
    let picture = fs::read_to_string(desk.path("m.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    // Its scale: least, middle and most with the shades of the cells, unit, and kind of scale.
    for words in [">32 B<", ">45 B<", ">64 B<", ">bytes of each pair of tasks, logarithmic scale"] {
        assert!(picture.contains(words), "{words}: {picture}");
    }
    for shade in ["#c8dcf0", "#08306b"] {
        assert_eq!(picture.matches(shade).count(), 2, "{shade}: a cell and an end of the scale");
    }
    let facts: serde_json::Value = serde_json::from_str(&desk.succeeds("info -q t.trc --format json")).unwrap();
    assert_eq!((&facts["tasks"], &facts["point_to_point_bytes"]), (&serde_json::json!(5), &serde_json::json!(96)));
}

/// Two tasks with four calls of barrier (0 to 3); a message crosses call 1, one crosses call 2, three cross none.
const TIMED: &str = "0 init\n1 init\n0 compute 5\n0 barrier\n0 send 1 1 10 6\n0 isend 1 2 20 6\n0 barrier\n0 compute 15\n\
                     0 send 1 3 30 6\n0 wait 0 1 2\n0 isend 1 3 30 6\n0 barrier\n0 compute 25\n0 wait 0 1 3\n0 send 1 3 50 6\n\
                     0 barrier\n0 finalize\n\
                     1 barrier\n1 recv 0 1 10 6\n1 barrier\n1 compute 35\n1 recv 0 2 20 6\n1 recv 0 3 30 6\n1 barrier\n\
                     1 recv 0 3 30 6\n1 recv 0 3 50 6\n1 compute 45\n1 barrier\n1 finalize\n";

#[test]
fn a_timed_section_lies_between_calls_of_collectives() {
    let desk = Desk::new();
    desk.write("t.ti", TIMED);
    // Bytes of the program's own messages, and computing time.
    let section = |calls: &str| {
        desk.succeeds(&format!("slice -q t.ti --between {calls} -o s{calls}.trg"));
        desk.succeeds(&format!("check -q s{calls}.trg"));
        let events = desk.trace(&format!("s{calls}.trg")).program.tasks.into_iter().flatten();
        events.fold((Vec::new(), 0), |(mut bytes, mut picoseconds), event| {
            match event {
                Event::Send(send) | Event::Isend(send, _) if !send.tag.is_collective() => bytes.push(send.bytes),
                Event::Compute(time) => picoseconds += time.0,
                _ => {}
            }
            (bytes, picoseconds)
        })
    };
    // At 5 flops per nanosecond.
    assert_eq!(section("0..1"), (vec![10], 0));
    assert_eq!(section("1..2"), (vec![30], (3 + 7) * 1000));
    assert_eq!(section("2..3"), (vec![50], (5 + 9) * 1000));
    assert_eq!(section("0..2"), (vec![10, 20, 30], (3 + 7) * 1000));
    assert_eq!(section("..1"), (vec![10], 1000));
    assert_eq!(section("1.."), (vec![30, 30, 50], (3 + 5 + 7 + 9) * 1000));
    for (words, expected) in
        [("1..4", "makes 4 calls"), ("2..1", "does not come after"), ("..", "3..34"), ("x..1", "`x..1`")]
    {
        let (status, _, err) = desk.run(&format!("slice -q t.ti --between {words} -o out"));
        assert_eq!(status, 2, "{words}: {err}");
        assert!(err.contains(expected), "{words}: {err}");
    }
}

#[test]
fn what_is_wrong_is_exit_2_with_a_remedy_and_leaves_no_file() {
    let desk = Desk::new();
    desk.write("bad.trc", "s 0 1 5 8\nr 0 1 5\n");
    desk.write("t.trc", TRC);
    desk.write("w.ti", TI);
    desk.succeeds("import -q t.trc -o t.trg");
    let whole = fs::read(desk.path("t.trg")).unwrap();
    fs::write(desk.path("cut.trg"), &whole[..whole.len() / 2]).unwrap();
    for (words, expected) in [
        ("import bad.trc -o out", "bad.trc:2:"),
        ("import absent -o out", "no such file"),
        ("import cut.trg -o out", "cut short"),
        ("export w.ti --to fsin-trc -o out", "does not block"),
        ("slice t.trc -o out", "--tasks"),
        ("slice t.trc --tasks 3..9 -o out", "0..5"),
        ("slice w.ti --events 2 -o out", "wildcard"),
        ("scale t.trc --compute -1 -o out", "--compute"),
        ("scale t.trc --compute 50% -o out", "it is a factor: write 0.5"),
        ("scale t.trc --bytes half -o out", "it is a factor: write 0.5 for half"),
        ("scale t.trc -o out", "nothing to scale by"),
        ("export t.trc --to ti -o out", "did you mean `simgrid-ti`?"),
        ("export t.trc --to gaol -o out", "did you mean `goal`"),
        ("export t.trc --to csv -o out", "known: trg, fsin-trc"),
        ("remap t.trc --permutation 0,0,1,2,3 -o out", "of its own"),
        ("generate waterfal:tasks=4 -o out", "`waterfall`"),
    ] {
        let (status, _, err) = desk.run(words);
        assert_eq!(status, 2, "{words}: {err}");
        assert!(err.contains(expected), "{words}: {err}");
        assert!(!desk.path("out").exists(), "{words}");
    }
    let left: Vec<String> = fs::read_dir(desk.0.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains("partial"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_critical_path_is_computing_along_what_waits_for_what() {
    let desk = Desk::new();
    // Task 1 computes for 2 us after the message that task 0 sends after 1 us; task 2 computes for 2.5 us alone.
    desk.write("p.trc", "c 0 1000\ns 0 1 7 64\nr 0 1 7 64\nc 1 2000\nc 2 2500\n");
    let out = desk.succeeds("check -q p.trc");
    assert!(out.contains("critical path (s)           0.000003000"), "{out}");
    desk.write(
        "p.goal",
        "num_ranks 2\nrank 0 {\nl1: calc 1000\nl2: send 8b to 1\nl2 requires l1\n}\nrank 1 {\n\
                          l1: recv 8b from 0\nl2: calc 2000\nl2 requires l1\n}\n",
    );
    let out = desk.succeeds("check -q p.goal");
    assert!(out.contains("critical path (s)           0.000003000"), "{out}");
}

#[test]
fn processors_of_another_speed() {
    let desk = Desk::new();
    desk.write("s.trc", "c 0 1000\nc 1 1000\nc 2 1000\n");
    desk.succeeds("scale -q s.trc --compute 2.5 --tasks 1..3 -o t.trg");
    let work: Vec<u64> = desk
        .trace("t.trg")
        .program
        .tasks
        .iter()
        .map(|events| events.iter().map(|event| if let Event::Compute(time) = event { time.0 } else { 0 }).sum())
        .collect();
    assert_eq!(work, [1_000_000, 2_500_000, 2_500_000]);
    for (words, expected) in [
        ("scale -q s.trc --compute 2 --tasks 1..4 -o u.trg", "tasks 1..4 are not a range of the 3 tasks of the trace"),
        ("scale -q s.trc --bytes 2 --tasks 1..3 -o u.trg", "--bytes with --tasks"),
        ("scale -q s.trc --compute 2 --tasks 1 -o u.trg", "`1` is no range"),
    ] {
        let (status, _, err) = desk.run(words);
        assert_eq!(status, 2, "{words}");
        assert!(err.contains(expected), "{words}: {err}");
    }
}

#[test]
fn collectives_are_expanded_as_asked_for() {
    let desk = Desk::new();
    let call = |line: &str| (0..16).map(|rank| format!("{rank} {line}\n")).collect::<String>();
    desk.write("c.ti", &format!("{}{}", call("allreduce 1000 0 0"), call("alltoall 4 4 1 1")));
    let table = desk.succeeds("expand -q c.ti -o c.trg");
    // Halving and doubling: 4 + 4 rounds; four rounds of Bruck with half of the blocks of 16 bytes each.
    assert!(table.contains("allreduce       rabenseifner                  16"), "{table}");
    assert!(table.contains("alltoall        bruck                         16"), "{table}");
    let bytes = 16 * 2 * 8000 * 15 / 16 + 16 * 4 * 8 * 16;
    assert!(table.contains(&format!("messages {}, bytes {bytes}", 16 * 8 + 16 * 4)), "{table}");
    assert_eq!(desk.trace("c.trg").program.totals().collective_messages, 192);
    let table = desk.succeeds("expand -q c.ti --collectives basic,allreduce=ring");
    assert!(table.contains("allreduce       ring") && table.contains("alltoall        pairwise-exchange"), "{table}");
    assert!(table.contains(&format!("messages {}", 16 * 30 + 16 * 15)), "{table}");
    for (words, expected) in [
        ("expand -q c.ti --collectives openmpi", "unknown rules of collectives `openmpi`"),
        ("import -q c.ti --collectives bcast=ring -o x.trg", "unknown collective algorithm `ring`"),
        ("expand -q c.trg", "expanded before"),
        ("check c.ti --collectives mpich=1", "unknown collective operation `mpich`"),
        ("info c.trg --recv-order src-dst", "--recv-order says how fsin-trc is read, and this is trg"),
        ("info c.trg --collectives basic", "nothing to act on"),
    ] {
        let (status, _, err) = desk.run(words);
        assert_eq!(status, 2, "{words}");
        assert!(err.contains(expected), "{words}: {err}");
    }
}

#[test]
fn operations_are_written_for_a_speed_that_is_said() {
    let desk = Desk::new();
    let compute = |folder: &str| {
        let text = fs::read_to_string(desk.path(folder).join("rank-0.txt")).unwrap();
        text.lines().find_map(|line| line.strip_prefix("0 compute ").map(str::to_owned)).unwrap()
    };
    desk.write("b.ti", "0 init\n0 compute 30195\n0 finalize\n");
    let (_, _, said) = desk.run("export b.ti --to simgrid-ti -o same");
    assert!(said.contains("tasks with 5e9 flop/s") && said.contains("--flop-rate 5e9"), "{said}");
    assert_eq!(compute("same"), "30195");
    // Imported at a speed other than that of the output: the number of operations fits the same time.
    desk.succeeds("import -q --flop-rate 1e9 b.ti -o b.trg");
    desk.succeeds("export -q b.trg --to simgrid-ti -o five");
    assert_eq!(compute("five"), "150975");
    let (status, _, said) = desk.run("export b.trg --flop-rate 1e9 --to simgrid-ti -o one");
    assert!(status == 0 && said.contains("tasks with 1e9 flop/s"), "{said}");
    assert_eq!(compute("one"), "30195");
    // No other format requires a speed.
    assert_eq!(desk.run("export -q b.trg --flop-rate 1e9 --to goal -o g.goal").0, 2);
}

#[test]
fn receives_that_are_too_small_are_counted_with_both_places_and_sizes() {
    let desk = Desk::new();
    desk.write("a.trc", "s 0 1 7 64\nr 0 1 7 32\n");
    desk.write("b.goal", "num_ranks 2\nrank 0 {\nl1: send 20b to 1 tag 3\n}\nrank 1 {\nl1: recv 10b from 0 tag 3\n}\n");
    desk.write("c.ti", "0 init\n1 init\n0 send 1 0 64 6\n1 recv 0 0 1 6\n0 finalize\n1 finalize\n");
    desk.write("d.ti", "0 init\n1 init\n0 bcast 10 0 6\n1 bcast 20 0 6\n0 finalize\n1 finalize\n");
    desk.write("e.ti", "0 init\n1 init\n0 bcast 20 0 6\n1 bcast 10 0 6\n0 finalize\n1 finalize\n");
    desk.write(
        "f.ti",
        "0 init\n1 init\n0 isend 1 0 64 6\n0 waitall 1\n1 recv -555 -444 63 6\n0 finalize\n1 finalize\n",
    );
    for (file, line) in [
        ("a.trc", "task 1, event 1: a receive of 32 bytes gets 64 bytes from task 0, event 1"),
        ("b.goal", "rank 1, operation 1: a receive of 10 bytes gets 20 bytes from rank 0, operation 1"),
        ("c.ti", "task 1, event 1: a receive of 1 byte gets 64 bytes from task 0, event 1"),
        ("d.ti", "task 1, event 1: a receive of 20 bytes gets 10 bytes from task 0, event 1 in collective 0"),
        ("e.ti", "task 1, event 1: a receive of 10 bytes gets 20 bytes from task 0, event 1 in collective 0"),
        ("f.ti", "task 1, event 1: a receive of 63 bytes gets 64 bytes from task 0, event 1"),
    ] {
        let (status, out, said) = desk.run(&format!("check {file}"));
        assert_eq!(status, 0, "{file}: a replay goes on");
        assert!(out.contains("receives that do not fit    1\n") && out.contains(line), "{file}: {out}");
        assert!(said.contains("warning: 1 receive does not fit"), "{file}: {said}");
    }
    // A buffer may be larger.
    desk.write("g.trc", "s 0 1 7 64\nr 0 1 7 100\n");
    assert!(desk.succeeds("check -q g.trc").contains("receives that do not fit    0\n"));
}

#[test]
fn tasks_that_wait_in_a_circle_lack_no_message() {
    let desk = Desk::new();
    desk.write("c.trc", "r 1 0 5 8\ns 0 1 5 8\nr 0 1 5 8\ns 1 0 5 8\n");
    let rank = |other: u32| format!("l1: recv 10b from {other} tag 1\nl2: send 10b to {other} tag 1\nl2 requires l1\n");
    desk.write("c.goal", &format!("num_ranks 2\nrank 0 {{\n{}}}\nrank 1 {{\n{}}}\n", rank(1), rank(0)));
    desk.succeeds("import -q c.trc --recv-order src-dst -o c.trg");
    for words in ["c.trc --recv-order src-dst", "c.trg", "c.goal"] {
        let (status, out, said) = desk.run(&format!("check -q {words}"));
        assert_eq!(status, 3, "{words}");
        assert!(
            out.contains("without counterpart         0\n") && out.contains("messages                    0\n"),
            "{out}"
        );
        assert_eq!(out.lines().filter(|line| line.starts_with("  ")).count(), 2, "each wait once: {out}");
        assert!(said.contains("2 tasks wait for ever") && said.contains("in a circle"), "{said}");
    }
    // One that lacks a message, and one whose message would never be received.
    desk.write("l.trc", "r 1 0 5 8\ns 0 1 6 8\n");
    let (status, out, said) = desk.run("check -q l.trc --recv-order src-dst");
    assert_eq!(status, 3);
    assert!(out.contains("without counterpart         2\n"), "{out}");
    assert!(out.contains("task 0: nobody sends a message from task 1 with tag 5"), "{out}");
    assert!(out.contains("task 1: no receive for a message from task 0 with tag 6"), "{out}");
    assert!(said.contains("1 task waits for ever") && said.contains("every receive needs a send"), "{said}");
}

#[test]
fn a_recording_that_is_not_complete_is_not_blamed() {
    use trgen::trace::container::{Content, Header, Writer};
    let desk = Desk::new();
    desk.write("u.trc", "s 0 1 5 8\nr 0 1 5 8\ns 0 1 6 8\n");
    let program = desk.trace("u.trc").program;
    let notes = vec!["warning: not complete: the recorded program ended with signal: 9".to_owned()];
    let origin = "record".to_owned();
    let header = Header { content: Content::Programs, tasks: 2, origin, collectives: Vec::new(), notes };
    let mut writer = Writer::new(fs::File::create(desk.path("u.trg")).unwrap(), &header).unwrap();
    writer.program(&program).unwrap();
    writer.finish().unwrap();
    let (status, _, said) = desk.run("check -q u.trg");
    assert_eq!(status, 3);
    assert!(said.contains("1 send or receive has no counterpart; the trace is not complete"), "{said}");
    assert!(said.contains("signal: 9") && said.contains("slice --events"), "{said}");
}

#[test]
fn what_a_slice_leaves_out_is_said_and_kept() {
    let desk = Desk::new();
    let call = (0..4).map(|rank| format!("{rank} barrier\n")).collect::<String>();
    desk.write("a.ti", &format!("{call}0 send 1 1 10 6\n1 recv 0 1 10 6\n1 send 2 2 5 6\n2 recv 1 2 5 6\n"));
    let (_, _, said) = desk.run("slice a.ti --tasks 0..2 -o b.trg");
    // A barrier of four by dissemination: two messages of each task, of which task 0 and 1 exchange one.
    let left = "messages with tasks outside are left out: 4 messages sent (5 bytes), 3 messages received (0 bytes)";
    assert!(said.contains(left), "{said}");
    let (_, _, said) = desk.run("info b.trg");
    assert!(
        said.contains("note: imported from simgrid-ti, then slice --tasks 0..2\n") && said.contains(left),
        "{said}"
    );
    assert!(said.contains("before the slice: 4 collective calls"), "{said}");
}

#[test]
fn a_container_keeps_where_it_came_from_and_all_that_was_done() {
    let desk = Desk::new();
    let origin = |name: &str| desk.run(&format!("info {name}")).2.lines().next().unwrap_or_default().to_owned();
    desk.succeeds("generate torus2d:tasks=16,bytes=4096 --repeat 3 -o g.trg");
    assert_eq!(origin("g.trg"), "note: generated as torus2d:tasks=16,bytes=4096 --repeat 3");
    desk.succeeds("generate torus2d:tasks=16 -o once.trg");
    assert_eq!(origin("once.trg"), "note: generated as torus2d:tasks=16");
    desk.succeeds("generate binomialtreebcast:ranks=4 -o graph.trg");
    assert_eq!(origin("graph.trg"), "note: generated as binomialtreebcast:ranks=4");
    // In the order in which the flags were given.
    desk.succeeds("scale -q g.trg --bytes 0.5 --compute 2 -o s.trg");
    let scaled = "note: generated as torus2d:tasks=16,bytes=4096 --repeat 3, then scale --bytes 0.5 --compute 2";
    assert_eq!(origin("s.trg"), scaled);
    desk.succeeds("remap -q s.trg --permutation reverse -o r.trg");
    desk.succeeds("slice -q r.trg --tasks 0..8 -o c.trg");
    assert_eq!(origin("c.trg"), format!("{scaled}, then remap --permutation reverse, then slice --tasks 0..8"));
    // An unchanged trace has no remarks.
    desk.succeeds("import -q c.trg -o i.trg");
    assert_eq!(origin("i.trg"), origin("c.trg"));
    desk.write("a.trc", "s 0 1 0 64\nr 0 1 0 64\n");
    desk.succeeds("merge -q s.trg a.trc -o m.trg");
    let (_, _, said) = desk.run("info m.trg");
    let traces = scaled.replace("note: ", "note: 16 tasks from s.trg: ");
    let expected = format!("note: merged from 2 traces\n{traces}\nnote: 2 tasks from a.trc: imported from fsin-trc\n");
    assert!(said.starts_with(&expected), "{said}");
    assert_eq!(said.matches("imported from").count(), 1, "{said}");
}

#[test]
fn what_cannot_be_done_is_said_without_notes_before_it() {
    let desk = Desk::new();
    desk.succeeds("generate torus2d:tasks=16 -o g.trg");
    for line in [
        "scale g.trg --bytes=-1 -o x.trg",
        "slice g.trg --tasks 3..99 -o x.trg",
        "remap g.trg --permutation odd -o x.trg",
    ] {
        let (status, _, said) = desk.run(line);
        assert_eq!(status, 2, "{line}: {said}");
        assert!(!said.contains("note:"), "{line}: {said}");
    }
    let (_, _, said) = desk.run("scale g.trg --bytes 2 -o x.trg");
    assert_eq!(said, "note: generated as torus2d:tasks=16\n");
}

#[test]
fn graphs_are_scaled_like_programs() {
    let desk = Desk::new();
    desk.write("a.goal", "num_ranks 2\nrank 0 {\nl1: calc 100\nl2: send 8b to 1\nl2 requires l1\n}\nrank 1 {\ncalc 50\nrecv 8b from 0\n}\n");
    desk.succeeds("scale -q a.goal --compute 2.5 --bytes 3 -o b.trg");
    let counts = graph(&desk.path("b.trg")).counts();
    assert_eq!((counts.work, counts.bytes, counts.dependencies), (375, 24, 1));
    desk.succeeds("scale -q b.trg --compute 0 --tasks 1..2 -o c.trg");
    assert_eq!(graph(&desk.path("c.trg")).counts().work, 250);
    assert!(
        desk.run("info c.trg")
            .2
            .contains("imported from goal, then scale --compute 2.5 --bytes 3, then scale --compute 0")
    );
    for (words, expected) in [
        ("scale a.goal --compute 2 --tasks 1..3 -o d.trg", "within 0..2"),
        ("scale a.goal --bytes 2 --tasks 0..1 -o d.trg", "same size on both sides"),
        ("scale a.goal --compute -1 -o d.trg", "--compute -1 is out of range"),
    ] {
        let (status, _, said) = desk.run(words);
        assert!(status == 2 && said.contains(expected), "{words}: {said}");
        assert!(!desk.path("d.trg").exists());
    }
}

#[test]
fn a_kernel_and_a_pattern_of_one_name_can_be_told_apart() {
    let desk = Desk::new();
    let (status, _, said) = desk.run("generate gather -o x.trg");
    assert!(status == 2 && said.contains("kernel/gather or pattern/gather"), "{said}");
    for (spec, is_graph) in [
        ("kernel/gather", false),
        ("kernel/gather:tasks=4", false),
        ("gather:tasks=4", false),
        ("pattern/gather:ranks=4", true),
        ("gather:ranks=4", true),
        ("waterfall", false),
        ("pattern/dissemination:ranks=4", true),
    ] {
        let name = spec.replace(['/', ':', '='], "-");
        desk.succeeds(&format!("generate {spec} -o {name}.trg"));
        let read = open(&desk.path(&format!("{name}.trg")), &ReadOptions::default()).unwrap();
        assert_eq!(matches!(read, Application::Graphs(_)), is_graph, "{spec}");
    }
    for spec in ["kernel/dissemination:ranks=4", "pattern/waterfall"] {
        assert_eq!(desk.run(&format!("generate {spec} -o y.trg")).0, 2, "{spec}");
    }
}

#[test]
fn collectives_that_become_messages_are_spoken_of() {
    let desk = Desk::new();
    desk.write("a.ti", "0 init\n1 init\n0 bcast 10 0 6\n1 bcast 10 0 6\n0 finalize\n1 finalize\n");
    for (format, is_said) in [("simgrid-ti", true), ("goal", true), ("fsin-trc", true), ("trg", false)] {
        let (status, _, said) = desk.run(&format!("export a.ti --to {format} -o {format}"));
        assert_eq!((status, said.contains("expanded to: 1 message point to point, 10 bytes")), (0, is_said), "{said}");
    }
}

#[test]
fn sizes_that_a_log_leaves_open_are_those_of_the_messages() {
    let desk = Desk::new();
    fs::create_dir(desk.path("logs")).unwrap();
    for rank in 0..2 {
        // Only sent sizes are recorded.
        let line = format!("MPI_Init:-:0:0:1\nMPI_Alltoallv:2:0:{rank};7:0,4,0:0,{rank},2:3\nMPI_Finalize:4:-\n");
        desk.write(&format!("logs/rank-{rank}.txt"), &line);
    }
    assert!(desk.succeeds("check -q logs").contains("receives that do not fit    0\n"));
    desk.succeeds("export -q logs --to simgrid-ti -o ti");
    assert!(desk.succeeds("check -q ti").contains("receives that do not fit    0\n"));
    assert!(fs::read_to_string(desk.path("ti/rank-1.txt")).unwrap().contains("recv 0 0 28 6"));
}

#[test]
fn words_and_numbers_are_those_of_the_case() {
    let desk = Desk::new();
    desk.write("t.trc", "c 0 32771114.999\ns 0 1 7 1\nr 0 1 7 1\n");
    let out = desk.succeeds("info -q t.trc");
    assert!(out.contains("messages up to 1 byte  ") && out.contains("(s)    0.032771114999\n"), "{out}");
    desk.write("self.trc", "s 0 0 7 64\nr 0 0 7 64\n");
    assert!(!desk.run("check self.trc").2.contains("equally well"));
    desk.write("empty", "");
    for (words, expected) in [
        ("scale t.trc --compute 2 --tasks 1..9 -o out", "within 0..2"),
        ("scale t.trc --bytes 1e300 -o out", "--bytes 1e300 is out of range"),
        ("scale t.trc --compute -1 -o out", "--compute -1 is out of range"),
        ("info empty", "how the file was made"),
        ("generate foo -o out", "dissemination"),
        ("generate disemination:ranks=4 -o out", "`dissemination`"),
    ] {
        let (status, _, said) = desk.run(words);
        assert_eq!(status, 2, "{words}: {said}");
        assert!(said.contains(expected), "{words}: {said}");
    }
    desk.succeeds("generate all-to-all:tasks=8,bytes=100,iterations=3 -o a.trg");
    let mut bytes = fs::read(desk.path("a.trg")).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle] ^= 0x55;
    fs::write(desk.path("damaged.trg"), bytes).unwrap();
    let (status, _, said) = desk.run("check damaged.trg");
    assert!(status == 2 && said.contains("damaged.trg at byte"), "{said}");
}

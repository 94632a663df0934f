//! The command: round trips between formats, executable transformations, and error messages.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod change;
mod check;

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
        ("import -q c.ti --collectives bcast=ring -o x.trg", "`ring` is no algorithm of bcast"),
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
        ("pattern/all-reduce:tasks=4,algorithm=ring", true),
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

/// Files of graphs know no context of collectives: a receive with any tag would take their messages, and what waits for
/// them would wait for ever.
#[test]
fn wildcards_beside_collectives_are_in_no_file_of_a_graph() {
    let desk = Desk::new();
    let calls = |any: &str| {
        format!(
            "#DIMEMAS:seed:1,100:2(1,1)\nd:1:0:2:0:1\n3:0:0:{any}:0:1\n10:0:0:9:0:0:0:300:300\n3:0:0:{any}:0:2\n\
             10:1:0:9:0:0:0:300:300\n2:1:0:0:100:5:0:0\n"
        )
    };
    desk.write("any.dim", &calls("-1:100:-1"));
    desk.write("exact.dim", &calls("1:100:5"));
    for format in ["goal", "goal-bin"] {
        let (status, _, said) = desk.run(&format!("export any.dim --to {format} -o any.{format}"));
        assert!(status == 2 && said.contains("any tag") && said.contains("help: "), "{said}");
        assert!(!desk.path(&format!("any.{format}")).exists());
        desk.succeeds(&format!("export -q exact.dim --to {format} -o exact.{format}"));
        desk.succeeds(&format!("check exact.{format}"));
    }
    desk.succeeds("export -q any.dim --to trg -o any.trg");
    desk.succeeds("check any.trg");
}

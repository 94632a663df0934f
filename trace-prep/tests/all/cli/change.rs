//! Commands that change a trace: scale, slice, merge.

use super::*;

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

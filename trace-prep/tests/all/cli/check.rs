//! `trace-prep check`: deadlocks, races, and what is left over.

use super::*;

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

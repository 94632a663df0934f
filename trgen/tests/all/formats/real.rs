//! Real traces: the counts of the reader agree with the tables beside the traces.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use trgen::trace::formats::{Fault, ReadOptions, Trace, read};
use trgen::trace::program::{Event, Program, Receive, Request, Tag, TagFilter};
use trgen::{Picoseconds, TaskId};

/// The folder of this name among the shared traces.
fn traces(name: &str) -> Option<PathBuf> {
    crate::shared::shared_folder(&format!("traces/{name}"))
}

/// Events of one kind in all tasks.
fn count(trace: &Trace, is: impl Fn(&Event) -> bool) -> u64 {
    trace.program.tasks.iter().flatten().filter(|event| is(event)).count() as u64
}

fn is_user(receive: &Receive) -> bool {
    matches!(receive.tag, TagFilter::Exactly(tag) if tag.context == Tag::POINT_TO_POINT)
}

/// Runs the program with sends that complete at once: every task must finish, and every message be received. Receives
/// name source and tag, so that the k-th receive posted for a pair and tag gets the k-th message.
fn run(program: &Program) {
    let p = program.tasks.len();
    type Lane = (TaskId, TaskId, Tag);
    let mut sent: HashMap<Lane, u64> = HashMap::new();
    let mut posted: HashMap<Lane, u64> = HashMap::new();
    let mut pc = vec![0; p];
    let mut blocking: Vec<Option<(Lane, u64)>> = vec![None; p];
    let mut requests: Vec<HashMap<Request, Option<(Lane, u64)>>> = vec![HashMap::new(); p];
    let mut moved = true;
    while moved {
        moved = false;
        for task in 0..p {
            let me = TaskId::at(task);
            while let Some(event) = program.tasks[task].get(pc[task]) {
                let mut post = |receive: &Receive| {
                    let TagFilter::Exactly(tag) = receive.tag else { panic!("a wildcard") };
                    let lane = (receive.from.unwrap(), me, tag);
                    let slot = posted.entry(lane).or_default();
                    *slot += 1;
                    (lane, *slot)
                };
                let arrived = |sent: &HashMap<Lane, u64>, wanted: &(Lane, u64)| {
                    sent.get(&wanted.0).is_some_and(|count| *count >= wanted.1)
                };
                let over = match event {
                    Event::Compute(_) => true,
                    Event::Send(send) => {
                        *sent.entry((me, send.to, send.tag)).or_default() += 1;
                        true
                    }
                    Event::Isend(send, request) => {
                        *sent.entry((me, send.to, send.tag)).or_default() += 1;
                        assert_eq!(requests[task].insert(*request, None), None, "a request in use");
                        true
                    }
                    Event::Irecv(receive, request) => {
                        let wanted = post(receive);
                        assert_eq!(requests[task].insert(*request, Some(wanted)), None, "a request in use");
                        true
                    }
                    Event::Recv(receive) => {
                        let wanted = *blocking[task].get_or_insert_with(|| post(receive));
                        arrived(&sent, &wanted)
                    }
                    Event::Wait(request) => requests[task][request].is_none_or(|wanted| arrived(&sent, &wanted)),
                    Event::After(_) | Event::WaitAny(_) => panic!("none of these formats has it"),
                    Event::WaitAll(list) => {
                        list.iter().all(|request| requests[task][request].is_none_or(|wanted| arrived(&sent, &wanted)))
                    }
                };
                if !over {
                    break;
                }
                match event {
                    Event::Wait(request) => requests[task].retain(|other, _| other != request),
                    Event::WaitAll(list) => requests[task].retain(|other, _| !list.contains(other)),
                    _ => {}
                }
                blocking[task] = None;
                pc[task] += 1;
                moved = true;
            }
        }
    }
    for (task, (events, &reached)) in program.tasks.iter().zip(&pc).enumerate() {
        assert_eq!(reached, events.len(), "task {task} hangs at {:?}", events.get(reached));
    }
    assert_eq!(sent, posted, "messages and receives differ");
}

#[test]
fn facts_of_the_npb_traces() {
    let Some(folder) = traces("npb-ti") else { return };
    let table = std::fs::read_to_string(folder.join("trace_facts.csv")).unwrap();
    let mut rows = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = rows.next().unwrap();
    let mut traces = 0;
    for row in rows {
        let field = |name: &str| row[header.iter().position(|column| *column == name).unwrap()];
        let number = |name: &str| field(name).parse::<u64>().unwrap();
        let variant = if field("compute_included") == "no" { ".nocompute" } else { "" };
        let path = folder.join(format!("{}{variant}.ti.tar.xz", field("trace")));
        let trace = read(&path, &ReadOptions::default()).unwrap();
        let name = field("trace");
        let totals = trace.program.totals();

        assert_eq!(trace.program.tasks.len() as u64, number("ranks"), "{name}");
        // Lines of the index are not actions.
        assert_eq!(trace.lines, number("actions") + number("ranks"), "{name}");
        assert_eq!(totals.point_to_point_messages, number("p2p_messages"), "{name}");
        assert_eq!(totals.compute, Picoseconds(1000 * number("compute_ns_summed_over_ranks")), "{name}");
        let element = if name.starts_with("is") { 4 } else { 8 };
        assert_eq!(totals.point_to_point_bytes, element * number("p2p_elements_sum"), "{name}");
        let irecv = count(&trace, |event| matches!(event, Event::Irecv(receive, _) if is_user(receive)));
        assert_eq!(irecv, number("irecv"), "{name}");
        let recv = count(&trace, |event| matches!(event, Event::Recv(receive) if is_user(receive)));
        assert_eq!(recv, number("recv"), "{name}");

        let mut pairs = BTreeMap::new();
        for (task, events) in trace.program.tasks.iter().enumerate() {
            for event in events {
                if let Event::Send(send) | Event::Isend(send, _) = event
                    && send.tag.context == Tag::POINT_TO_POINT
                {
                    *pairs.entry((task, send.to)).or_insert(0_u64) += 1;
                }
            }
        }
        assert_eq!(pairs.len() as u64, number("distinct_pairs"), "{name}");

        let calls: u64 = trace.collectives.values().sum();
        assert_eq!(calls, number("collective_calls_summed_over_ranks"), "{name}");
        let kinds: Vec<String> = trace.collectives.iter().map(|(kind, calls)| format!("{kind}:{calls}")).collect();
        assert_eq!(kinds.join(" "), field("collectives"), "{name}");
        assert_eq!(trace.warnings, Vec::<String>::new(), "{name}");
        run(&trace.program);
        traces += 1;
    }
    assert_eq!(traces, 8);
}

#[test]
fn an_archive_unpacked_to_a_folder_reads_the_same() {
    let Some(folder) = traces("npb-ti") else { return };
    let archive = folder.join("is.S.16.ti.tar.xz");
    let scratch = tempfile::tempdir().unwrap();
    let packed = std::fs::File::open(&archive).unwrap();
    tar::Archive::new(liblzma::read::XzDecoder::new(packed)).unpack(scratch.path()).unwrap();
    let options = ReadOptions::default();
    let expected = read(&archive, &options).unwrap();
    // The enclosing folder, the trace's own folder (whose index names it), and the index.
    for path in ["", "is.S.16", "is.S.16/index.txt"] {
        assert_eq!(read(&scratch.path().join(path), &options).unwrap(), expected, "{path}");
    }
    let chosen = format!("{}#is.S.16", archive.display());
    assert_eq!(read(Path::new(&chosen), &options).unwrap(), expected);
}

#[test]
fn the_time_of_computing_follows_the_flop_rate() {
    let Some(folder) = traces("npb-ti") else { return };
    let path = folder.join("ep.S.16.ti.tar.xz");
    let slow = read(&path, &ReadOptions { flop_rate: 5e8, ..ReadOptions::default() }).unwrap().program.totals();
    let fast = read(&path, &ReadOptions::default()).unwrap().program.totals();
    assert_eq!(slow.compute.0, 10 * fast.compute.0);
    assert_eq!(slow.collective_messages, fast.collective_messages);
}

#[test]
fn an_archive_of_several_traces_asks_for_a_choice() {
    let Some(folder) = traces("third-party") else { return };
    let options = ReadOptions::default();
    let archive = folder.join("batsim_ti_small.tar.xz");
    let error = read(&archive, &options).unwrap_err();
    let Fault::SeveralTraces { choices, archive: true } = error.fault.as_ref() else { panic!("{error}") };
    assert_eq!(
        choices.join(" "),
        "workloads/smpi/collectives workloads/smpi/compute_only workloads/smpi/mixed_comm_comp"
    );
    assert!(error.remedy().unwrap().to_string().ends_with("batsim_ti_small.tar.xz#workloads/smpi/collectives"));
    let choose = |name: &str| read(Path::new(&format!("{}#{name}", archive.display())), &options);

    let mixed = choose("workloads/smpi/mixed_comm_comp").unwrap();
    run(&mixed.program);
    let totals = mixed.program.totals();
    assert_eq!((totals.point_to_point_messages, totals.point_to_point_bytes), (4, 4_000_000_000));
    assert_eq!(totals.compute, Picoseconds(4_000_000_000_000));
    let collectives = choose("workloads/smpi/collectives/traces.txt").unwrap();
    run(&collectives.program);
    let calls: u64 = collectives.collectives.values().sum();
    assert_eq!(calls, 8);
    // Broadcast 4 bytes, reduce 16 double complex, exchange 10 double complex each way, barrier.
    assert_eq!(collectives.program.totals().collective_bytes, 4 + 16 * 16 + 2 * 160);
    choose("workloads/smpi/compute_only").unwrap();
    let error = choose("workloads/smpi/colectives").unwrap_err();
    assert!(error.remedy().unwrap().to_string().contains("workloads/smpi/collectives"), "{error:?}");
}

#[test]
fn rank_files_without_an_index() {
    let Some(folder) = traces("third-party") else { return };
    let archive = folder.join("simgrid_ti_32_ranks.tar.xz");
    let choose = |name: &str| read(Path::new(&format!("{}#{name}", archive.display())), &ReadOptions::default());
    let large = choose("examples/smpi/replay_multiple/ti_traces_32_1").unwrap();
    assert_eq!(large.program.tasks.len(), 32);
    let calls: Vec<String> = large.collectives.iter().map(|(kind, calls)| format!("{kind}:{calls}")).collect();
    assert_eq!(calls.join(" "), "allreduce:192 alltoall:160 alltoallv:64 barrier:512 bcast:288 gather:32");
    run(&large.program);

    let small = choose("examples/smpi/replay").unwrap();
    assert_eq!(small.program.tasks.len(), 2);
    assert_eq!(small.program.totals().point_to_point_bytes, 3_000_000);
    assert_eq!(small.warnings, ["requests that are never waited for: 1"]);
    run(&small.program);
}

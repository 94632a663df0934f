//! What a trace means, by small traces of our own.

use trgen::trace::chakra::replay::{Params, Replay};
use trgen::trace::chakra::{Dependencies, Trace, Work};
use trgen::trace::formats::{Application, ReadOptions, open};
use trgen::{NodeId, Picoseconds, TrGen};

use super::peer::run;
use crate::chakra_writer::{Attr, Node, collective, compute, file, receive, send};

/// Reads the files of ranks, and a file of groups if given.
fn read(ranks: &[Vec<u8>], groups: Option<&str>) -> Result<Trace, String> {
    let folder = tempfile::tempdir().unwrap();
    for (rank, bytes) in ranks.iter().enumerate() {
        std::fs::write(folder.path().join(format!("x.{rank}.et")), bytes).unwrap();
    }
    if let Some(groups) = groups {
        std::fs::write(folder.path().join("groups.json"), groups).unwrap();
    }
    match open(folder.path(), &ReadOptions::default()) {
        Ok(Application::Chakra(read)) => Ok(read.trace),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(format!("{error} / {}", error.remedy().unwrap_or_default())),
    }
}

fn ranks(all: &[&[Node]]) -> Vec<Vec<u8>> {
    all.iter().map(|nodes| file(nodes, Some("0.0.4"), true)).collect()
}

/// \[ns\] End of each rank, over links of 100 ns and 1 byte/ns.
fn ends(trace: Trace, params: Params) -> Vec<u64> {
    run(trace, params, 100.0, 1.0).finish().iter().map(|ps| ps / 1000).collect()
}

#[test]
fn lists_may_be_packed_and_a_version_absent() {
    let nodes = [
        compute(0, 5, &[]),
        compute(7, 2, &[0]),
        Node { control: vec![0, 7], ..compute(3, 1, &[]) },
        send(9, 0, 1, 0, &[3, 7]),
    ];
    let expected = read(&[file(&nodes, Some("0.0.4"), true)], None).unwrap();
    for (version, packed) in [(None, true), (None, false), (Some("0.0.4"), false)] {
        assert_eq!(read(&[file(&nodes, version, packed)], None).unwrap(), expected, "{version:?} {packed}");
    }
    // By number, whatever the order in the file.
    assert_eq!(expected.ranks[0].iter().map(|node| node.id).collect::<Vec<_>>(), [0, 3, 7, 9]);
    assert_eq!((&*expected.ranks[0][1].control, &*expected.ranks[0][3].data), (&[0, 7][..], &[3, 7][..]));
}

#[test]
fn computations_run_one_after_another_beside_communication() {
    // Two computations of 3 us and a message of 900 bytes, all ready at once; then one that needs both kinds.
    let first = [compute(1, 3, &[]), compute(2, 3, &[]), send(3, 1, 0, 900, &[]), compute(4, 1, &[2, 3])];
    let second = [receive(1, 0, 0, 900, &[]), compute(2, 2, &[1])];
    let trace = read(&ranks(&[&first, &second]), None).unwrap();
    assert_eq!(ends(trace.clone(), Params::default()), [7000, 3000]);
    assert_eq!(ends(trace, Params { engines: 2, ..Params::default() }), [4000, 3000]);
}

#[test]
fn a_ring_passes_pieces_when_they_arrive() {
    // All-reduce of 4 x 800 bytes over 4 ranks: 6 steps of 100 + 800 ns; rank 2 begins 1 us later.
    let all = |wait: u64| vec![compute(1, wait, &[]), collective(2, 0, 3200, "", &[1])];
    let files: Vec<Vec<Node>> = [1, 1, 2, 1].into_iter().map(all).collect();
    let trace = read(&ranks(&files.iter().map(Vec::as_slice).collect::<Vec<_>>()), None).unwrap();
    let replay = run(trace, Params::default(), 100.0, 1.0);
    assert!(replay.report().unmatched.is_empty());
    // What rank 2 passes on late reaches every rank in its last step.
    assert_eq!(replay.finish().iter().map(|ps| ps / 1000).max(), Some(2000 + 6 * 900));
    let records = replay.records();
    assert_eq!((records.len(), records[0].kind.name(), records[0].parts.len()), (1, "allreduce", 4));
}

#[test]
fn groups_are_named_beside_the_trace_or_within() {
    let pair = |id: u64| collective(id, 2, 1000, "pair", &[]);
    let files = ranks(&[&[pair(1)], &[], &[pair(1)]]);
    let error = read(&files, None).unwrap_err();
    assert!(error.contains("x.0.et") && error.contains("group `pair`, which nothing defines"), "{error}");
    let trace = read(&files, Some("{\"pair\": [2, 0]}")).unwrap();
    assert_eq!(&*trace.groups[0].ranks, [2, 0]);
    assert_eq!(ends(trace, Params::default()), [1100, 0, 1100]);
    let init = Node {
        name: "## process_group:init ##",
        kind: 1,
        input: Some("[{\"pg_name\": \"pair\", \"ranks\": [0, 2]}]"),
        ..Node::default()
    };
    let trace = read(&ranks(&[&[init, pair(1)], &[], &[pair(1)]]), None).unwrap();
    assert_eq!(&*trace.groups[0].ranks, [0, 2]);
}

#[test]
fn rates_time_what_has_no_duration() {
    let attributes = vec![("num_ops", Attr::Int64(3_000_000)), ("tensor_size", Attr::Uint64(4_000_000))];
    let trace = read(&ranks(&[&[Node { attributes, ..compute(1, 0, &[]) }]]), None).unwrap();
    let rates = |peak: f64, memory: f64| Params { peak: Some(peak), memory: Some(memory), ..Params::default() };
    // 3e6 operations at 1 Tflop/s are 3 us, 4 MB at 2 TB/s 2 us; at 1 TB/s 4 us.
    assert_eq!(ends(trace.clone(), rates(1e12, 2e12)), [3000]);
    assert_eq!(ends(trace.clone(), rates(1e12, 1e12)), [4000]);
    assert_eq!(ends(trace.clone(), Params::default()), [0]);
    assert_eq!(ends(trace, Params { least: 7000, ..Params::default() }), [7]);
}

/// The error of a trace that cannot run.
fn refusal(trace: Trace, dependencies: Dependencies) -> String {
    let placement: Vec<NodeId> = (0..trace.ranks.len() as u32).map(NodeId).collect();
    let params = Params { dependencies, ..Params::default() };
    Replay::new(trace, params, &placement, 4, Picoseconds(1000)).unwrap_err().to_string()
}

#[test]
fn dependencies_that_cannot_be_met_are_named() {
    for (nodes, expected) in [
        (vec![compute(4, 1, &[4])], "rank 0: node 4 `compute` waits for itself (data_deps)"),
        (vec![compute(4, 1, &[9])], "rank 0: node 4 `compute` waits for node 9 (data_deps), which the file lacks"),
        (
            vec![compute(1, 1, &[3]), compute(2, 1, &[1]), compute(3, 1, &[2]), compute(5, 1, &[3])],
            "rank 0: 1 `compute`, 3 `compute`, 2 `compute` wait for each other",
        ),
        (vec![send(1, 3, 0, 8, &[])], "rank 0: node 1 `send` names rank 3, and the trace has 1"),
    ] {
        let error = refusal(read(&ranks(&[&nodes]), None).unwrap(), Dependencies::All);
        assert_eq!(error, expected);
    }
    // Dependencies of control alone can be left out.
    let nested =
        vec![Node { control: vec![1], ..compute(1, 2, &[]) }, Node { control: vec![77], ..compute(2, 3, &[1]) }];
    let trace = read(&ranks(&[&nested]), None).unwrap();
    assert!(refusal(trace.clone(), Dependencies::All).contains("(ctrl_deps)"));
    assert_eq!(ends(trace, Params { dependencies: Dependencies::Data, ..Params::default() }), [5000]);
    let uneven = read(&ranks(&[&[collective(1, 0, 8, "", &[])], &[]]), None).unwrap();
    assert_eq!(refusal(uneven, Dependencies::All), "group ``: rank 0 takes part in 1 collectives, rank 1 in 0");
}

#[test]
fn a_rank_that_waits_for_ever_says_for_whom() {
    // Rank 1 waits for a message that nobody sends before it takes part.
    let trace = read(
        &ranks(&[&[collective(1, 0, 80, "", &[])], &[receive(1, 0, 9, 8, &[]), collective(2, 0, 80, "", &[1])]]),
        None,
    )
    .unwrap();
    let replay = run(trace, Params::default(), 100.0, 1.0);
    let waits: Vec<String> = replay.waits().into_iter().map(|wait| wait.text).collect();
    assert_eq!(
        waits,
        [
            "rank 0: node 1 `collective` waits for rank 1",
            "rank 1: node 1 `receive` waits for a message from rank 0 with tag 9"
        ]
    );
}

#[test]
fn wrong_files_are_refused_with_their_byte() {
    let good = file(&[compute(1, 5, &[]), send(2, 0, 1, 8, &[1])], Some("0.0.4"), true);
    let cut = read(&[good[..good.len() - 3].to_vec()], None).unwrap_err();
    assert!(cut.contains("x.0.et at byte 24") && cut.contains("of which the file has"), "{cut}");
    for (node, expected) in [
        (Node { kind: 12, ..compute(1, 1, &[]) }, "node 1 `compute`: type 12; 1 metadata"),
        (Node { attributes: vec![], ..send(1, 0, 0, 8, &[]) }, "a send without attribute `comm_dst`"),
        (collective(1, 40, 8, "", &[]), "collective 40 (`comm_type`); 0 to 9 are known"),
        (
            Node { attributes: vec![("comm_size", Attr::Int64(8))], ..collective(1, 0, 8, "", &[]) },
            "without attribute `comm_type`",
        ),
        (send(1, -4, 0, 8, &[]), "attribute `comm_dst` is -4, which is no rank"),
        (
            Node { attributes: vec![("comm_dst", Attr::Text("x"))], ..send(1, 0, 0, 8, &[]) },
            "attribute `comm_dst` is no whole number",
        ),
    ] {
        let error = read(&[file(&[node], Some("0.0.4"), true)], None).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let twice = read(&[file(&[compute(1, 5, &[]), compute(1, 5, &[])], None, true)], None).unwrap_err();
    assert!(twice.contains("two nodes have the number 1"), "{twice}");
}

#[test]
fn a_collective_without_data_is_a_call_on_the_host() {
    let trace = read(&ranks(&[&[collective(1, 0, 0, "", &[]), collective(2, 9, 0, "", &[1])]]), None).unwrap();
    assert_eq!(trace.ranks[0][0].work, Work::Nothing);
    assert!(matches!(trace.ranks[0][1].work, Work::Collective { .. }));
}

//! Real traces: counts, and the end of every rank to the ns, agree with the tables of `shared/reference`.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use trgen::trace::chakra::Trace;
use trgen::trace::chakra::Work;
use trgen::trace::chakra::replay::{Params, Replay};
use trgen::trace::formats::{Application, ReadOptions, open};
use trgen::{Cycle, Delivery, Message, Next, NodeId, Outbox, Picoseconds, TrGen};

use crate::shared::shared_file;

fn trace(path: &Path) -> Trace {
    match open(path, &ReadOptions::default()).unwrap() {
        Application::Chakra(read) => read.trace,
        other => panic!("{other:?}"),
    }
}

/// Runs a trace over links between all pairs: a message takes `latency` + bytes / `rate` ns, rounded down, and occupies
/// its link for bytes / `rate`, rounded down.
pub(super) fn run(trace: Trace, params: Params, latency: f64, rate: f64) -> Replay {
    let ranks = trace.ranks.len();
    let placement: Vec<NodeId> = (0..ranks as u32).map(NodeId).collect();
    let mut replay = Replay::new(trace, params, &placement, ranks, Picoseconds(1000)).unwrap();
    let mut out = Outbox::new(ranks);
    let mut free: HashMap<(NodeId, NodeId), u64> = HashMap::new();
    let mut under_way: BTreeMap<(u64, u64), Message> = BTreeMap::new();
    let (mut now, mut sent) = (Cycle::FIRST, 0);
    loop {
        replay.generate(now, &mut out).unwrap();
        let mut fresh = Vec::new();
        out.offer(|message| {
            fresh.push(message);
            true
        });
        for message in fresh {
            let begin = (now.0 - 1).max(free.get(&(message.source, message.destination)).copied().unwrap_or(0));
            let bytes = message.bytes as f64;
            free.insert((message.source, message.destination), begin + (bytes / rate) as u64);
            // An arrival at time t is at the end of cycle t.
            under_way.insert((begin + (latency + bytes / rate) as u64, sent), message);
            sent += 1;
        }
        while let Some((&(arrival, number), &message)) = under_way.first_key_value() {
            if arrival > now.0 {
                break;
            }
            under_way.remove(&(arrival, number));
            replay.delivered(now, &Delivery { message, offered: now, delivered: now });
        }
        let arrival = under_way.first_key_value().map(|(&(arrival, _), _)| Cycle(arrival));
        let own = match replay.next() {
            Next::At(cycle) => Some(cycle),
            Next::Waiting => None,
            Next::Done if arrival.is_none() => break,
            Next::Done => None,
        };
        match own.into_iter().chain(arrival).min() {
            Some(next) => now = next.max(now.next()),
            None => break,
        }
    }
    replay
}

#[test]
fn counts_of_a_training_step_are_those_of_its_table() {
    let (Some(table), Some(archive)) =
        (shared_file("reference/fabrics-chakra-facts.csv"), shared_file("traces/chakra/stage_llama_8ranks.tar.xz"))
    else {
        return;
    };
    let trace = trace(&archive);
    let mut rows = 0;
    for line in fs::read_to_string(table).unwrap().lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let rank: usize = fields[1].parse().unwrap();
        let counts = trace.counts(rank);
        let found = [
            counts.nodes,
            counts.computations,
            counts.sends,
            counts.receives,
            counts.collectives,
            counts.dependencies,
            counts.operations,
            counts.tensor_bytes,
            counts.sent_bytes,
            counts.collective_bytes,
        ];
        let expected: Vec<u64> = fields[2..12].iter().map(|field| field.parse().unwrap()).collect();
        assert_eq!(found, expected[..], "{line}");
        let mut kinds: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        for node in &trace.ranks[rank] {
            if let Work::Collective { kind, group, .. } = node.work {
                *kinds.entry((kind.name(), &trace.groups[group as usize].name)).or_default() += 1;
            }
        }
        let names = [("allreduce", "0"), ("allgather", "2"), ("reduce_scatter", "7")];
        let number = |kind: &str| names.iter().find(|(name, _)| *name == kind).unwrap().1;
        let mut found: Vec<String> =
            kinds.iter().map(|((kind, group), count)| format!("{}:{group}x{count}", number(kind))).collect();
        found.sort();
        assert_eq!(found.join(" "), fields[12], "{line}");
        rows += 1;
    }
    assert_eq!(rows, 8);
}

#[test]
fn every_rank_of_a_training_step_ends_when_the_peer_says() {
    let (Some(table), Some(archive)) =
        (shared_file("reference/fabrics-chakra-astra.csv"), shared_file("traces/chakra/stage_llama_8ranks.tar.xz"))
    else {
        return;
    };
    let trace = trace(&archive);
    let mut rows = 0;
    for line in fs::read_to_string(table).unwrap().lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields[at].parse::<f64>().unwrap();
        let params = Params {
            peak: (fields[6] == "1").then(|| number(7) * 1e12),
            memory: Some(number(8) * 1e9),
            least: 1000,
            group_delay: 10_000,
            ..Params::default()
        };
        let replay = run(trace.clone(), params, number(5), number(4) * (1_u64 << 30) as f64 / 1e9);
        let ends: Vec<String> = replay.finish().iter().map(|ps| (ps / 1000).to_string()).collect();
        assert_eq!(ends.join(";"), fields[9], "{line}");
        rows += 1;
    }
    assert!(rows > 0);
}

/// Computations of no duration release what waits for them after what begins at their instant: 32 of 64 ranks depend on it.
#[test]
fn l2_sixty_four_ranks_of_a_training_step_end_when_the_peer_says() {
    let Some(archive) = shared_file("cases/second/stage_llama_64ranks.tar.xz") else { return };
    let params =
        Params { peak: Some(100e12), memory: Some(1e18), least: 1000, group_delay: 10_000, ..Params::default() };
    let ends = run(trace(&archive), params, 500.0, 50.0 * (1_u64 << 30) as f64 / 1e9).finish();
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    ends.iter().for_each(|ps| *counts.entry(ps / 1000).or_default() += 1);
    assert_eq!(counts, BTreeMap::from([(765_873, 32), (496_489, 32)]));
}

/// Messages of an all-to-all of a group arrive together, and each is delayed by itself: 10 ns for each of four, not 30.
#[test]
fn l7_a_delay_of_groups_is_no_occupation() {
    let Some(folder) = shared_file("cases/second/moe8") else { return };
    let end = |group_delay: u64, rate: f64| {
        let params = Params { least: 1000, group_delay, ..Params::default() };
        let ends = run(trace(&folder), params, 500.0, rate).finish();
        assert!(ends.iter().all(|end| end == &ends[0]), "{ends:?}");
        ends[0] / 1000
    };
    assert_eq!((end(10_000, 50.0 * (1_u64 << 30) as f64 / 1e9), end(10_000, 50.0)), (31_798, 33_414));
    // Before the first message of a collective, and after each of its arrivals that another one follows.
    assert!(end(0, 50.0) < 33_414);
}

//! What is in order, what shares, and who is busy until when: every cell of the table that network models state of
//! themselves (`Discipline`) is measured.
//!
//! The order of messages of a pair in `flow` is measured beside that model.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use fsin::experiment::{Origin, Settings, network_of};
use fsin::models::MODELS;
use fsin::network::{Injected, Network, Notices};
use serde_json::Value;
use trgen::{Cycle, Message, NodeId};

use tests::command::run;

/// \[bytes\] A long message: 1 MB, that is 62 500 flits of 16 bytes.
const LONG: u64 = 1_000_000;

/// What is measured of a model.
struct Case {
    model: &'static str,
    /// Settings of a network of at least 4 nodes in which each pair has one path.
    settings: &'static [(&'static str, &'static str)],
    /// Whether a pair's messages, long ones first, arrive in order.
    in_order: Option<bool>,
    /// How two nodes that send to a third share, and a node that sends to two others.
    merging: Sharing,
    leaving: Sharing,
    /// When a send ends.
    busy: Busy,
}

/// How two messages of equal length divide what they share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sharing {
    /// Both take the time of one.
    Nothing,
    /// One takes the time of one, the other that of two.
    MessageByMessage,
    /// Both take nearly the time of two.
    Evenly,
}

/// When a send ends.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Busy {
    /// At once.
    AtOnce,
    /// When its message has arrived.
    Arrival,
    /// At this share of the time to the arrival, to a hundredth: its link is free.
    Link(f64),
}

const STAR: (&str, &str) = ("topology", "star:4");

const CASES: &[Case] = &[
    Case {
        model: "vct",
        settings: &[STAR, ("vcs", "1")],
        in_order: Some(true),
        merging: Sharing::Evenly,
        leaving: Sharing::MessageByMessage,
        busy: Busy::Link(1.0),
    },
    Case {
        model: "wormhole",
        settings: &[STAR, ("vcs", "1"), ("buffer", "32")],
        in_order: Some(true),
        merging: Sharing::Evenly,
        leaving: Sharing::MessageByMessage,
        busy: Busy::Link(1.0),
    },
    Case {
        model: "ethernet",
        settings: &[STAR, ("link-rate", "10Gb/s")],
        in_order: Some(true),
        merging: Sharing::Evenly,
        leaving: Sharing::MessageByMessage,
        busy: Busy::Link(1.0),
    },
    Case {
        model: "myrinet",
        settings: &[STAR],
        in_order: Some(true),
        merging: Sharing::Evenly,
        leaving: Sharing::MessageByMessage,
        busy: Busy::Link(1.0),
    },
    Case {
        model: "flow",
        settings: &[STAR, ("link-rate", "10Gb/s")],
        in_order: None,
        merging: Sharing::Evenly,
        leaving: Sharing::Evenly,
        busy: Busy::Arrival,
    },
    Case {
        model: "bus",
        settings: &[("nodes", "4")],
        in_order: Some(true),
        merging: Sharing::Evenly,
        leaving: Sharing::MessageByMessage,
        busy: Busy::Arrival,
    },
    Case {
        model: "constant-delay",
        settings: &[("nodes", "4"), ("delay", "100us"), ("rate", "10Gb/s")],
        in_order: Some(true),
        merging: Sharing::Nothing,
        leaving: Sharing::MessageByMessage,
        // 800 us of 900.
        busy: Busy::Link(8.0 / 9.0),
    },
    Case {
        model: "zero",
        settings: &[("nodes", "4")],
        in_order: Some(true),
        merging: Sharing::Nothing,
        leaving: Sharing::Nothing,
        busy: Busy::AtOnce,
    },
];

fn network(case: &Case) -> Box<dyn Network> {
    let mut settings = Settings::default();
    settings.set("network", case.model, Origin::Flag).unwrap();
    for (key, value) in case.settings {
        settings.set(key, *value, Origin::Flag).unwrap();
    }
    // Interfaces of tasks: they take a message when the one before has been sent.
    settings.set("source", "throttled", Origin::Default).unwrap();
    network_of(settings).unwrap().1.build().unwrap()
}

/// Messages from the first to the second node of each pair, offered at once and in this order; when each was sent, and
/// the order and times of the deliveries \[cycles\].
fn carry(network: &mut dyn Network, messages: &[(u32, u32, u64)]) -> (Vec<u64>, Vec<(u64, u64)>) {
    let message = |(id, &(from, to, bytes)): (usize, &(u32, u32, u64))| Message {
        id: id as u64,
        source: NodeId(from),
        destination: NodeId(to),
        bytes,
        class: 0,
    };
    let mut waiting: Vec<Message> = messages.iter().enumerate().map(message).collect();
    // A message without bytes may be sent at time 0.
    let (mut sent, mut delivered) = (vec![None; messages.len()], Vec::new());
    let mut notices = Notices::default();
    while sent.contains(&None) || delivered.len() < messages.len() {
        let mut refused: Vec<NodeId> = Vec::new();
        waiting.retain(|message| {
            let is_next = !refused.contains(&message.source);
            let is_taken = is_next && network.inject(*message) == Injected::Accepted;
            if !is_taken && is_next {
                refused.push(message.source);
            }
            !is_taken
        });
        network.advance(Cycle(u64::MAX >> 8), &mut notices).unwrap();
        let now = (network.clock() - 1).0;
        notices.sent.iter().for_each(|message| sent[message.id as usize] = Some(now));
        delivered.extend(notices.delivered.iter().map(|delivery| (delivery.message.id, delivery.delivered.0)));
    }
    (sent.into_iter().flatten().collect(), delivered)
}

/// The times of the deliveries, shortest first.
fn times(case: &Case, messages: &[(u32, u32, u64)]) -> Vec<u64> {
    let mut times: Vec<u64> = carry(&mut *network(case), messages).1.into_iter().map(|(_, time)| time).collect();
    times.sort_unstable();
    times
}

fn is_near(found: u64, expected: f64) -> bool {
    (found as f64 - expected).abs() <= 0.02 * expected.max(1.0)
}

#[test]
fn every_model_is_measured() {
    let measured: Vec<&str> = CASES.iter().map(|case| case.model).chain(["loggops"]).collect();
    for model in MODELS.rows() {
        assert!(
            measured.contains(&model.component.name),
            "{} states a discipline that no test measures",
            model.component.name
        );
    }
}

#[test]
fn messages_of_a_pair_arrive_in_the_order_that_the_table_states() {
    for case in CASES {
        let Some(in_order) = case.in_order else { continue };
        // Each shorter than the one before; none a multiple of a packet.
        let messages: Vec<(u32, u32, u64)> =
            [90_001, 40_003, 9_001, 1_501, 65, 1, 30_011].iter().map(|&bytes| (0, 1, bytes)).collect();
        let order: Vec<u64> = carry(&mut *network(case), &messages).1.into_iter().map(|(id, _)| id).collect();
        assert_eq!(order.is_sorted(), in_order, "{}: {order:?}", case.model);
    }
}

#[test]
fn messages_share_what_the_table_states() {
    for case in CASES {
        let alone = times(case, &[(0, 1, LONG)])[0];
        // What precedes the capacity that is shared, and is not doubled.
        let latency = times(case, &[(0, 1, 0)])[0].saturating_sub(1) as f64;
        let one = alone as f64;
        let two = 2.0 * one - latency;
        for (sharing, messages) in
            [(case.merging, [(0, 1, LONG), (2, 1, LONG)]), (case.leaving, [(0, 1, LONG), (0, 2, LONG)])]
        {
            let found = times(case, &messages);
            let holds = match sharing {
                Sharing::Nothing => is_near(found[0], one) && is_near(found[1], one),
                Sharing::MessageByMessage => is_near(found[0], one) && is_near(found[1], two),
                // No faster than the link, whose gaps between packets of one message the other may fill.
                Sharing::Evenly => {
                    is_near(found[0], found[1] as f64) && (1.8 * one..1.02 * two).contains(&(found[1] as f64))
                }
            };
            assert!(holds, "{}: {messages:?} {sharing:?} {found:?}, alone {alone}", case.model);
        }
    }
}

#[test]
fn sends_end_when_the_table_states() {
    for case in CASES {
        let (sent, delivered) = carry(&mut *network(case), &[(0, 1, LONG)]);
        let (sent, delivered) = (sent[0], delivered[0].1);
        let holds = match case.busy {
            Busy::AtOnce => sent == 1,
            Busy::Arrival => sent == delivered,
            Busy::Link(share) => is_near(sent, share * delivered as f64),
        };
        assert!(holds, "{}: sent {sent}, delivered {delivered}", case.model);
    }
}

/// Of three sends of a node under constant delay each ends when the link has carried it and all before it.
#[test]
fn a_link_of_constant_delay_is_busy_with_one_message_after_another() {
    for (links, ends) in [("node", [800_000, 1_600_000, 2_400_000]), ("pair", [800_000, 1_600_000, 800_000])] {
        let case = Case {
            model: "constant-delay",
            settings: match links {
                "node" => &[("nodes", "4"), ("delay", "1us"), ("rate", "10Gb/s")],
                _ => &[("nodes", "4"), ("delay", "1us"), ("rate", "10Gb/s"), ("links", "pair")],
            },
            in_order: None,
            merging: Sharing::Nothing,
            leaving: Sharing::Nothing,
            busy: Busy::AtOnce,
        };
        let (sent, delivered) = carry(&mut *network(&case), &[(0, 1, LONG), (0, 1, LONG), (0, 2, LONG)]);
        assert_eq!(sent, ends, "{links}");
        assert!(delivered.iter().all(|&(id, at)| at == ends[id as usize] + 1000), "{links} {delivered:?}");
    }
}

/// Hosts of graphs are busy by their own numbers, whatever the network: o for a send.
#[test]
fn a_send_over_the_wire_of_loggops_ends_when_the_processor_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let graph = "num_ranks 2\nrank 0 {\nl1: send 1000000b to 1 tag 0\nl2: calc 500\nl2 requires l1\n}\nrank 1 {\nl1: recv 1000000b from 0 tag 0\n}\n";
    fs::write(folder.path().join("two.goal"), graph).unwrap();
    let line = "run --trace two.goal --network loggops:L=1000,G=1 --hosts o=200,g=0,O=0,S=2000000 --format json -q";
    let output = run(folder.path(), line);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let ends: Vec<u64> = (0..2).map(|rank| found["per_task"][rank]["finish_ns"].as_u64().unwrap()).collect();
    // The processor: 200 + 500. The message: 200 + 999 999 + 1000, and 200 at the receiver.
    assert_eq!(ends, [700, 1_001_399]);
}

/// `fsin explain` and the page of the book say what the models state.
#[test]
fn the_book_and_explain_say_what_models_state() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/book/src/reference/disciplines.md");
    let page = fs::read_to_string(page).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for model in MODELS.rows() {
        let name = model.component.name;
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
        assert_eq!(row.map(|row| row.split(" | ").count()), Some(4), "{name}");
        let output = run(folder.path(), &format!("explain networks/{name}"));
        let explained = String::from_utf8_lossy(&output.stdout).into_owned();
        for (what, _) in model.discipline.named() {
            let said = explained.lines().find_map(|line| line.trim().strip_prefix(&format!("{what}: ")));
            assert!(said.is_some_and(|said| row.unwrap_or_default().contains(said)), "{name}: {what}\n{explained}");
        }
    }
}

//! Flows of transports that spray frames, to the picosecond, against rows of an independent simulator. The rows are
//! kept outside the repository.

#![allow(clippy::print_stdout, reason = "what is compared, or skipped, is said aloud")]
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::common::graph;
use crate::data_centre::{Row, number, rows};
use fsin_core::network::{Injected, Notices};
use fsin_core::stats::Keep;
use fsin_core::topology::Topology;
use fsin_ethernet::cc::Control;
use fsin_ethernet::entropy::{Balancing, Rule};
use fsin_ethernet::switch::{MarkAt, Switch, Trim, TrimMode};
use fsin_ethernet::{Ethernet, Forwarding, Frames, Params, Spraying, TieOrder, Transport, fast, reference};
use trgen::{Cycle, Message, NodeId};

/// Two tiers: leaves with their hosts, each with one link to each spine.
fn topology(case: &Row) -> Box<dyn Topology> {
    let [hosts, each, spines] = ["nodes", "hosts_per_leaf", "spines"].map(|name| number(case, name));
    let rate = format!("rate=\"{}Gb/s\"", case["rate_gbps"]);
    let mut text = String::from("graph {\n");
    for host in 0..hosts {
        text += &format!("H{host};\n");
    }
    for host in 0..hosts {
        text += &format!("H{host} -- S{} [{rate}, propagation=\"{}ns\"];\n", host / each, case["delay_host_ns"]);
    }
    let leaves = hosts / each;
    for (leaf, spine) in (0..leaves).flat_map(|leaf| (0..spines).map(move |spine| (leaf, spine))) {
        text += &format!("S{leaf} -- S{} [{rate}, propagation=\"{}ns\"];\n", leaves + spine, case["delay_spine_ns"]);
    }
    graph(&(text + "}\n"))
}

fn params(case: &Row) -> Params {
    let is_ndp = case["mode"] == "ndp";
    let frame = number(case, "frame") as u32;
    let control = match case["mode"].as_str() {
        "rccc" => Some("rccc"),
        "both" => Some("both"),
        _ => None,
    };
    let rule = match case["balance"].as_str() {
        "oblivious" => Rule::Oblivious,
        "bitmap" => Rule::Bitmap,
        _ => Rule::Cycle,
    };
    let mode = if case["mode"] == "nscc-drop" { TrimMode::Off } else { TrimMode::Arriving };
    Params {
        transport: if is_ndp { Transport::Ndp } else { Transport::Uec },
        control: control.map(|word| Control::parse(word).unwrap()),
        spraying: Spraying {
            initial_window: if is_ndp { number(case, "initial_window_frames") } else { 15 },
            ..Spraying::default()
        },
        balancing: Balancing { rule, paths: number(case, "paths") as u32, draws: false },
        is_acked: true,
        forwarding: Forwarding::Static,
        spread: "ecmp:hash=digit".parse().unwrap(),
        switch_latency: 1_000 * number(case, "latency_switch_ns"),
        ties: TieOrder::Hash,
        frames: Frames { mtu: frame - 64, ..Frames::UEC },
        segment: frame - 64,
        segment_header: 0,
        switch: Switch {
            marking: case.get("ecn_step_bytes").map(|step| format!("step:{step}").parse().unwrap()),
            mark_at: MarkAt::Sent,
            trim: Some(Trim { mode, room: Some(number(case, "queue_bytes")), size: 64 }),
            ..Switch::default()
        },
        ..Params::default()
    }
}

/// Runs to a time, and records what is delivered.
fn until(network: &mut dyn Ethernet, end: Cycle, notices: &mut Notices) {
    while network.clock() < end {
        network.advance(end, notices).unwrap();
        for delivery in &notices.delivered {
            network.recorder_mut().delivered(delivery);
        }
        notices.clear();
    }
}

/// \[ps\] By flow: when its source learnt that all data had arrived; 0 if it never did.
fn ends(network: &mut dyn Ethernet, flows: &[&Row]) -> Vec<u64> {
    let mut starts: Vec<(u64, usize)> =
        flows.iter().enumerate().map(|(at, flow)| (1_000 * number(flow, "start_ns"), at)).collect();
    starts.sort_unstable();
    network.recorder_mut().keep(Keep { messages: true, ..Keep::default() });
    let mut notices = Notices::default();
    for (start, at) in starts {
        until(network, Cycle(start + 1), &mut notices);
        let flow = flows[at];
        let [source, destination] = ["src", "dst"].map(|end| NodeId(number(flow, end) as u32));
        let message = Message { id: at as u64, source, destination, bytes: number(flow, "bytes"), class: 0 };
        network.recorder_mut().offered(Cycle(start), &message);
        assert_eq!(network.inject(message), Injected::Accepted);
    }
    // Until no event is left.
    let end = Cycle(network.clock().0 + 50_000_000_000);
    until(network, end, &mut notices);
    let mut ends = vec![0; flows.len()];
    for one in network.settled().recorder.details().unwrap().completed() {
        ends[one.message.id as usize] = one.acknowledged.map_or(0, |at| at.0);
    }
    ends
}

/// The figures of a table, computed by a network.
fn figures(network: &mut dyn Ethernet) -> Vec<(&'static str, u64)> {
    network.settled();
    let details = network.details();
    let marks = details.by_class.iter().flat_map(|of| of.ports.iter().flatten()).map(|class| class.marked).sum();
    vec![
        ("retransmitted", details.totals.retransmissions),
        ("rts", details.totals.requests),
        ("acks", details.totals.acknowledgements),
        ("nacks", details.totals.negative_acknowledgements),
        ("pulls", details.totals.pulls),
        ("trims", details.ports.iter().map(|port| port.trimmed).sum()),
        ("drops", details.losses().0),
        ("marks", marks),
        ("timeouts", details.totals.timeouts),
        ("frame_hops", details.frame_hops()),
    ]
}

/// The flows of all cases of a table, on both engines.
fn check(name: &str) {
    let tables = ["cases", "flows"].map(|table| rows(&format!("{name}-{table}.csv")));
    let [Some(cases), Some(flows)] = tables else { return };
    let (mut count, mut wrong) = (0, Vec::new());
    for case in &cases {
        let topology = topology(case);
        let flows: Vec<&Row> = flows.iter().filter(|flow| flow["case"] == case["case"]).collect();
        let params = params(case);
        let mut engines: Vec<Box<dyn Ethernet>> =
            [1, 3, 8].map(|threads| fast::build_for(&*topology, params.clone(), threads, 0).unwrap()).into();
        engines.push(reference::build(&*topology, params.clone()).unwrap());
        for (engine, mut network) in engines.into_iter().enumerate() {
            for (flow, end) in flows.iter().zip(ends(&mut *network, &flows)) {
                count += 1;
                if end != number(flow, "finish_ps") {
                    wrong.push(format!(
                        "case {} {} engine {engine}: {end}, not that of {flow:?}",
                        case["case"], case["mode"]
                    ));
                }
            }
            for (figure, value) in figures(&mut *network) {
                if case.get(figure).is_some_and(|expected| *expected != value.to_string()) {
                    wrong
                        .push(format!("case {} engine {engine}: {figure} {value}, not {}", case["case"], case[figure]));
                }
            }
        }
    }
    println!("{count} flows, {} differences", wrong.len());
    assert!(count > flows.len() && wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn flows_of_uec_end_to_the_picosecond() {
    check("nextgen-uec");
}

#[test]
fn flows_of_ndp_end_to_the_picosecond() {
    check("nextgen-ndp");
}

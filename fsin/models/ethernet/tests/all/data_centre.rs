//! Flows of data centres, to the picosecond: rows that an independent simulator has computed, which are kept beside the
//! clone.

#![allow(clippy::print_stdout, reason = "what is compared, or skipped, is said aloud")]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::common::graph;
use fsin_core::network::{Injected, Notices};
use fsin_core::topology::Topology;
use fsin_ethernet::cc::{Control, STAMP_BYTES, Signal};
use fsin_ethernet::switch::{Buffer, Pfc, Switch};
use fsin_ethernet::{Ethernet, Forwarding, Frames, Params, TieOrder, Transport, fast, reference};
use trgen::{Cycle, Message, NodeId};

/// A row of a table: its columns by name.
pub(crate) type Row = BTreeMap<String, String>;

/// The rows of a table; `None` where it is not kept.
pub(crate) fn rows(name: &str) -> Option<Vec<Row>> {
    let folder = std::env::var_os("FSIN_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../../shared"), PathBuf::from);
    let path = folder.join("reference").join(name);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("SKIPPED: {} is not there", path.display());
        return None;
    };
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next()?.split(',').collect();
    let row =
        |line: &str| names.iter().zip(line.split(',')).map(|(name, value)| ((*name).into(), value.into())).collect();
    Some(lines.map(row).collect())
}

/// A number of a row.
pub(crate) fn number(row: &Row, name: &str) -> u64 {
    row[name].parse().unwrap_or_else(|_| panic!("{name} of {row:?}"))
}

/// The hosts and switches of a case: by number in the table, names in order.
fn topology(case: &Row, links: &[Row]) -> Box<dyn Topology> {
    let mut text = String::from("graph {\n");
    for host in case["hosts"].split(' ') {
        text += &format!("H{host};\n");
    }
    let is_switch = |name: &str| case["switches"].split(' ').any(|switch| switch == name);
    for link in links.iter().filter(|link| link["case"] == case["case"]) {
        let [a, b] = ["a", "b"].map(|end| {
            let name = &link[end];
            if is_switch(name) { format!("S{name}") } else { format!("H{name}") }
        });
        let (rate, delay) = (&link["rate_gbps"], &link["delay_ns"]);
        text += &format!("{a} -- {b} [rate=\"{rate}Gb/s\", propagation=\"{delay}ns\"];\n");
    }
    graph(&(text + "}\n"))
}

/// The congestion control of a case.
fn control(case: &Row) -> Option<Control> {
    let mega = |name: &str| format!("{}Mb/s", case[name]);
    let text = match case["cc"].as_str() {
        "none" => return None,
        "hpcc" => format!("hpcc:max-stage={},ai={},min-rate={}", case["stage"], mega("ai_mbps"), mega("min_rate_mbps")),
        _ => format!(
            "dcqcn:g=1/256,alpha-interval={}us,decrease-interval={}us,increase-interval={}us,ai={},hai={},\
             fast-recovery={},min-rate={}",
            case["alpha_interval_us"],
            case["decrease_interval_us"],
            case["increase_interval_us"],
            mega("ai_mbps"),
            mega("hai_mbps"),
            case["fast_recovery"],
            mega("min_rate_mbps")
        ),
    };
    Some(Control::parse(&text).unwrap())
}

fn params(case: &Row, is_acked: bool) -> Params {
    let control = control(case);
    let has_stamps = control.as_ref().is_some_and(|control| control.needs(Signal::Stamps));
    let step = case.get("ecn_step").filter(|step| !step.is_empty() && *step != "0");
    let pfc = Pfc {
        classes: u8::MAX,
        headroom: Some(number(case, "headroom")),
        xon_offset: 3_072,
        quanta: None,
        response: 0,
        watchdog: None,
    };
    let buffer = Buffer { bytes: number(case, "buffer_total"), alpha: case["alpha"].parse().unwrap(), reserve: 4_096 };
    Params {
        transport: Transport::Roce,
        control,
        is_acked,
        forwarding: Forwarding::Static,
        ties: TieOrder::Hash,
        segment: number(case, "mtu") as u32,
        segment_header: 0,
        frames: Frames {
            mtu: number(case, "mtu") as u32,
            stamps: if has_stamps { STAMP_BYTES } else { 0 },
            ..Frames::ROCE
        },
        switch: Switch {
            used: 1 << 3,
            marking: step.map(|step| format!("step:{step}").parse().unwrap()),
            buffer: Some(buffer),
            pfc: Some(pfc),
            ..Switch::default()
        },
        ..Params::default()
    }
}

/// \[ps\] By flow: its time.
fn times(network: &mut dyn Ethernet, case: &Row, flows: &[&Row]) -> Vec<u64> {
    let hosts: Vec<&str> = case["hosts"].split(' ').collect();
    let host = |name: &str| NodeId::at(hosts.iter().position(|host| *host == name).unwrap());
    let mut starts: Vec<(u64, usize)> =
        flows.iter().enumerate().map(|(at, flow)| (1_000 * number(flow, "start_ns"), at)).collect();
    starts.sort_unstable();
    network.settled();
    let mut times = vec![0; flows.len()];
    let mut notices = Notices::default();
    let mut next = starts.into_iter().peekable();
    let mut left = flows.len();
    while left > 0 {
        let until = next.peek().map_or(Cycle::NEVER, |&(start, _)| Cycle(start + 1));
        while network.clock() < until && left > 0 {
            network.advance(until, &mut notices).unwrap();
            for delivery in notices.delivered.drain(..) {
                let (id, start) =
                    (delivery.message.id as usize, number(flows[delivery.message.id as usize], "start_ns"));
                times[id] = delivery.delivered.0 - 1_000 * start;
                left -= 1;
            }
        }
        if let Some((start, at)) = next.next() {
            assert_eq!(network.clock(), Cycle(start + 1));
            let (flow, id) = (flows[at], at as u64);
            let (source, destination) = (host(&flow["src"]), host(&flow["dst"]));
            let message = Message { id, source, destination, bytes: number(flow, "bytes"), class: 3 };
            assert_eq!(network.inject(message), Injected::Accepted);
        }
    }
    // What is left on links: acknowledgements, pauses.
    let end = Cycle(network.clock().0 + 10_000_000_000);
    while network.clock() < end {
        network.advance(end, &mut notices).unwrap();
    }
    times
}

/// The flows of all cases of a table, on both engines.
fn check(name: &str) {
    let tables = ["cases", "links", "flows"].map(|table| rows(&format!("{name}-{table}.csv")));
    let [Some(cases), Some(links), Some(flows)] = tables else { return };
    let (mut count, mut wrong) = (0, Vec::new());
    for case in &cases {
        let topology = topology(case, &links);
        let flows: Vec<&Row> = flows.iter().filter(|flow| flow["case"] == case["case"]).collect();
        let params = params(case, false);
        let mut engines = vec![
            fast::build(&*topology, params.clone(), 1).unwrap(),
            fast::build_for(&*topology, params.clone(), 3, 0).unwrap(),
        ];
        // The reference engine searches its whole list for each event.
        if number(case, "frame_hops") < 4_000 {
            engines.push(reference::build(&*topology, params.clone()).unwrap());
        }
        for (engine, mut network) in engines.into_iter().enumerate() {
            let found = times(&mut *network, case, &flows);
            network.settled();
            let details = network.details();
            let figures = [("pause_frames", details.totals.pauses), ("frame_hops", details.frame_hops())];
            for (figure, value) in figures {
                if value != number(case, figure) {
                    wrong
                        .push(format!("case {} engine {engine}: {figure} {value}, not {}", case["case"], case[figure]));
                }
            }
            for (flow, time) in flows.iter().zip(found) {
                count += 1;
                if time != number(flow, "last_byte_ps") {
                    wrong.push(format!("case {} engine {engine}: {time}, not that of {flow:?}", case["case"]));
                }
            }
        }
    }
    assert!(count > flows.len() && wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn flows_under_dcqcn_and_pfc_end_to_the_picosecond() {
    check("dc");
}

#[test]
fn flows_under_hpcc_end_to_the_picosecond() {
    check("dc-hpcc");
}

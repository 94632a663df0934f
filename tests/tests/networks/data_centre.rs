//! Flows of data centres by the command, as a user types it: times of last bytes and of acknowledgements to the picosecond, ideal
//! times and counts of pause frames, against tables that are kept beside the clone.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tests::command::run;
use tests::parallel::parallel;
use tests::shared::{aloud, shared_file};

type Row = BTreeMap<String, String>;

/// The rows of a table; `None` where it is not kept.
fn rows(name: &str) -> Option<Vec<Row>> {
    let mut table = csv::Reader::from_path(shared_file(&format!("reference/{name}.csv"))?).unwrap();
    Some(table.deserialize().map(Result::unwrap).collect())
}

/// Writes the network and the flows of a case.
fn write(folder: &Path, case: &Row, links: &[Row], flows: &[&Row]) {
    let is_switch = |name: &str| case["switches"].split(' ').any(|switch| switch == name);
    let named = |name: &String| if is_switch(name) { format!("S{name}") } else { format!("H{name}") };
    let mut text = String::from("graph {\n");
    text.extend(case["hosts"].split(' ').map(|host| format!("H{host};\n")));
    text.extend(links.iter().filter(|link| link["case"] == case["case"]).map(|link| {
        let (a, b) = (named(&link["a"]), named(&link["b"]));
        format!("{a} -- {b} [rate=\"{}Gb/s\", propagation=\"{}ns\"];\n", link["rate_gbps"], link["delay_ns"])
    }));
    std::fs::write(folder.join("net.dot"), text + "}\n").unwrap();
    let list = flows
        .iter()
        .map(|flow| format!("H{},H{},{},{}ns,3\n", flow["src"], flow["dst"], flow["bytes"], flow["start_ns"]));
    std::fs::write(folder.join("flows.csv"), format!("src,dst,bytes,start,class\n{}", list.collect::<String>()))
        .unwrap();
}

/// The command of a case.
fn line(case: &Row) -> String {
    let of = |name: &str| &case[name];
    let control = match of("cc").as_str() {
        "none" => "none".to_owned(),
        "hpcc" => {
            format!("hpcc:max-stage={},ai={}Mb/s,min-rate={}Mb/s", of("stage"), of("ai_mbps"), of("min_rate_mbps"))
        }
        _ => format!(
            "dcqcn:g=1/256,alpha-interval={}us,decrease-interval={}us,increase-interval={}us,ai={}Mb/s,hai={}Mb/s,\
             fast-recovery={},min-rate={}Mb/s",
            of("alpha_interval_us"),
            of("decrease_interval_us"),
            of("increase_interval_us"),
            of("ai_mbps"),
            of("hai_mbps"),
            of("fast_recovery"),
            of("min_rate_mbps")
        ),
    };
    let step = case.get("ecn_step").filter(|step| !["", "0"].contains(&step.as_str()));
    let ecn = step.map_or_else(String::new, |step| format!("--ecn step:{step} "));
    format!(
        "run --network ethernet --topology graph:net.dot --flows flows.csv --frames roce --mtu {} --transport roce --cc {control} \
         --pause pfc --forwarding static --buffer {} --buffer-alpha {} --headroom {} --reserve 4096 --xon-offset 3072 \
         {ecn}--message-stats --format json -q",
        of("mtu"),
        of("buffer_total"),
        of("alpha"),
        of("headroom")
    )
}

/// What differs between a run and the rows of its flows.
fn wrong(case: &Row, flows: &[&Row], folder: &Path, more: &str) -> Vec<String> {
    let is_acked = more.contains("acked");
    let log = folder.join("out.jsonl");
    let output = run(folder, &format!("{} {more} --message-log out.jsonl", line(case)));
    assert!(output.status.success(), "{}: {}", line(case), String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let log_text = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(&log).unwrap();
    let messages: Vec<Value> = log_text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let hosts: Vec<&str> = case["hosts"].split(' ').collect();
    let host = |name: &str| hosts.iter().position(|host| *host == name).unwrap() as u64;
    let is = |value: &Value, stated: &str| stated.parse().is_ok_and(|stated: u64| value.as_u64() == Some(stated));
    let mut wrong = Vec::new();
    if !is(&found["pause_frames"], &case["pause_frames"]) {
        wrong.push(format!("{} pause frames, not {}", found["pause_frames"], case["pause_frames"]));
    }
    for flow in flows {
        let start = 1_000 * flow["start_ns"].parse::<u64>().unwrap();
        let is_it = |message: &&Value| {
            message["source"] == host(&flow["src"])
                && message["destination"] == host(&flow["dst"])
                && message["generated_cycle"] == start
                && is(&message["bytes"], &flow["bytes"])
        };
        let mut figures = vec![("completion_cycles", if is_acked { "last_ack_ps" } else { "last_byte_ps" })];
        if is_acked {
            figures.push(("alone_cycles", "ideal_ps"));
        }
        let is_right = messages
            .iter()
            .filter(is_it)
            .any(|message| figures.iter().all(|&(figure, column)| is(&message[figure], &flow[column])));
        if !is_right {
            wrong.push(format!("{more}: {flow:?} is not {:?}", messages.iter().filter(is_it).collect::<Vec<_>>()));
        }
    }
    wrong
}

/// The flows of all cases of a table.
fn check(name: &str) {
    let tables = ["cases", "links", "flows"].map(|table| rows(&format!("{name}-{table}")));
    let [Some(cases), Some(links), Some(flows)] = tables else { return };
    let found = parallel(&cases, |case| {
        let flows: Vec<&Row> = flows.iter().filter(|flow| flow["case"] == case["case"]).collect();
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), case, &links, &flows);
        let ways = ["--engine fast", "--engine reference", "--threads 3", "--completion acked --ideal hpcc"];
        // The reference engine searches its whole list for each event.
        let is_short = case["frame_hops"].parse::<u64>().unwrap() < 4_000;
        let ways = ways.into_iter().filter(|way| is_short || !way.contains("reference"));
        let wrong: Vec<String> = ways.flat_map(|way| wrong(case, &flows, folder.path(), way)).collect();
        wrong.into_iter().map(|wrong| format!("case {}: {wrong}\n", case["case"])).collect::<String>()
    });
    aloud(&format!("{name}: {} cases, {} flows\n", cases.len(), flows.len()));
    assert!(!flows.is_empty() && found.iter().all(String::is_empty), "{}", found.concat());
}

#[test]
fn flows_under_dcqcn_and_pfc_end_as_published() {
    check("dc");
}

#[test]
fn flows_under_hpcc_end_as_published() {
    check("dc-hpcc");
}

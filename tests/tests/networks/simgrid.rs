//! Platforms of SimGrid beside SimGrid: links, latency and bandwidth between every two hosts, and the time of a message.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::path::Path;
use std::process::Command;

use fsin::topology::switched::{Delay, Switched};
use fsin::topology::{self, Port, Topology as _};
use serde_json::Value;
use tests::command::fsin;
use tests::shared::{skipped, workspace};
use trgen::NodeId;

/// Platforms, each with the words after its file.
const PLATFORMS: [(&str, &str); 9] = [
    (
        "<cluster id='f' prefix='n' suffix='.org' radical='0-5' speed='1Gf' bw='125MBps' lat='50us' bb_bw='2.25GBps' bb_lat='500us'/>",
        "",
    ),
    (
        "<cluster id='t' topology='TORUS' topo_parameters='3,2,4' prefix='n' suffix='' radical='0-23' speed='1Gf' bw='1Gbps' lat='7us'/>",
        "",
    ),
    (
        "<cluster id='t' topology='TORUS' topo_parameters='5' prefix='n' suffix='' radical='0-4' speed='1Gf' bw='1Gbps' lat='7us'/>",
        "",
    ),
    (
        "<cluster id='t' topology='FAT_TREE' topo_parameters='2;4,4;1,2;1,2' prefix='n' suffix='' radical='0-15' speed='1Gf' bw='1Gbps' \
         lat='2us'/>",
        "",
    ),
    (
        "<cluster id='t' topology='FAT_TREE' topo_parameters='3;2,3,4;1,2,2;1,1,2' prefix='n' suffix='' radical='0-23' speed='1Gf' \
         bw='1Gbps' lat='2us'/>",
        "",
    ),
    (
        "<cluster id='d' topology='DRAGONFLY' topo_parameters='3,4;4,3;5,1;2' prefix='n' suffix='' radical='0-119' speed='1Gf' bw='1Gbps' \
         lat='2us'/>",
        "",
    ),
    // A traceroute between hosts: one of them lies on the way of another.
    (
        "<zone id='w' routing='Full'><host id='Anna' speed='1Gf'/><host id='Bert' speed='1Gf'/><host id='Carl' speed='1Gf'/>\
         <host id='Dora' speed='1Gf'/>\
         <link id='1' bandwidth='41.279125MBps' latency='59.904us'/><link id='2' bandwidth='11.618875MBps' latency='189.98us'/>\
         <link id='3' bandwidth='8.158MBps' latency='270.544us'/><link id='4' bandwidth='1Gbps' latency='5us'/>\
         <link id='lo' bandwidth='498MBps' latency='15us' sharing_policy='FATPIPE'/>\
         <route src='Anna' dst='Anna'><link_ctn id='lo'/></route>\
         <route src='Anna' dst='Bert'><link_ctn id='1'/><link_ctn id='2'/></route>\
         <route src='Anna' dst='Carl'><link_ctn id='1'/><link_ctn id='3'/></route>\
         <route src='Bert' dst='Carl'><link_ctn id='2'/><link_ctn id='3'/></route>\
         <route src='Anna' dst='Dora'><link_ctn id='4'/></route>\
         <route src='Dora' dst='Bert'><link_ctn id='4'/><link_ctn id='1'/><link_ctn id='2'/></route>\
         <route src='Carl' dst='Dora'><link_ctn id='3'/><link_ctn id='1'/><link_ctn id='4'/></route></zone>",
        ",shared=duplex",
    ),
    (
        "<zone id='w' routing='Floyd'><host id='a' speed='1Gf'/><host id='b' speed='1Gf'/><host id='c' speed='1Gf'/><router id='r'/>\
         <router id='s'/>\
         <link id='1' bandwidth='1Gbps' latency='10us' sharing_policy='SPLITDUPLEX'/>\
         <link id='2' bandwidth='1Gbps' latency='20us' sharing_policy='SPLITDUPLEX'/>\
         <link id='3' bandwidth='100Mbps' latency='1ms' sharing_policy='SPLITDUPLEX'/>\
         <link id='4' bandwidth='1Gbps' latency='30us' sharing_policy='SPLITDUPLEX'/>\
         <route src='a' dst='r'><link_ctn id='1' direction='UP'/></route><route src='b' dst='r'><link_ctn id='2' direction='UP'/></route>\
         <route src='r' dst='s'><link_ctn id='3' direction='UP'/></route><route src='s' dst='c'><link_ctn id='4' direction='UP'/></route>\
         </zone>",
        "",
    ),
    (
        "<zone id='w' routing='Full'><cluster id='a' prefix='a' suffix='' radical='0-3' speed='1Gf' bw='1Gbps' lat='50us'/>\
         <cluster id='b' prefix='b' suffix='' radical='0-2,9' speed='1Gf' bw='2Gbps' lat='20us'/>\
         <link id='l' bandwidth='1.5Gbps' latency='1ms' sharing_policy='SPLITDUPLEX'/>\
         <zoneRoute src='a' dst='b' gw_src='aa_router' gw_dst='bb_router'><link_ctn id='l' direction='UP'/></zoneRoute></zone>",
        "",
    ),
];

/// By the names of two hosts: links, \[ps\], \[b/s\].
type Ways = HashMap<(String, String), (usize, u64, u64)>;

/// What SimGrid says of a platform.
fn theirs(program: &Path, platform: &Path) -> Ways {
    let output = Command::new(program).arg(platform).output().expect("it has just been built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("names are text");
    let way = |line: &str| {
        let [from, to, links, latency, bandwidth] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let number = |text: &str, unit: f64| (text.parse::<f64>().expect("a number") * unit).round() as u64;
        let figures = (links.parse().expect("a number"), number(latency, 1e12), number(bandwidth, 8.0));
        ((from.to_owned(), to.to_owned()), figures)
    };
    text.lines().map(way).collect()
}

/// What the network says of it, along shortest paths.
fn ours(net: &Switched) -> Ways {
    let name = |node: usize| net.name(NodeId::at(node)).expect("a platform names its nodes").to_owned();
    let mut ways = Ways::new();
    for from in 0..net.endpoints() {
        let mut found: Vec<Option<(usize, u64, u64)>> = vec![None; net.nodes()];
        found[from] = Some((0, 0, u64::MAX));
        let mut reached = VecDeque::from([from]);
        while let Some(here) = reached.pop_front() {
            let (links, latency, least) = found[here].expect("it has been reached");
            for port in (0..net.fabric().ports()).map(Port::at) {
                let Some(next) = net.neighbour(NodeId::at(here), port).map(NodeId::index) else { continue };
                if found[next].is_some() {
                    continue;
                }
                let link = net.link(NodeId::at(here), port);
                let Some(Delay::Time(delay)) = link.delay else { panic!("every link has a delay") };
                // That between a host with several links and its switch is none of the platform.
                let is_own = [name(here), name(next)].iter().any(|name| name.ends_with(".router"));
                let is_own = is_own && (here < net.endpoints() || next < net.endpoints());
                found[next] =
                    Some((links + usize::from(!is_own), latency + delay, least.min(link.rate.expect("a rate"))));
                reached.push_back(next);
            }
        }
        for (to, way) in found.into_iter().enumerate().take(net.endpoints()).filter(|&(to, _)| to != from) {
            ways.insert((name(from), name(to)), way.expect("every host is reached"));
        }
    }
    ways
}

/// \[ps\] Time that a million bytes take between two hosts, by the model `flow`: SimGrid's, without its factors for TCP.
fn flow(folder: &Path, topology: &str, [from, to]: [usize; 2]) -> u64 {
    fs::write(folder.join("flows.csv"), format!("src,dst,bytes,start\n{from},{to},1MB,0\n")).expect("a file");
    let _ = fs::remove_file(folder.join("log.jsonl"));
    let output = fsin(folder)
        .args(["run", "-q", "--network", "flow", "--hop-delay", "0ps", "--topology", topology, "--flows", "flows.csv"])
        .args(["--message-stats", "--message-log", "log.jsonl"])
        .output()
        .expect("fsin has just been built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let log = fs::read_to_string(folder.join("log.jsonl")).expect("a log");
    let message: Value = serde_json::from_str(&log).expect("one message");
    message["delivered_cycle"].as_u64().expect("a time")
}

/// \[ps\] The same by SimGrid.
fn simulated(program: &Path, platform: &Path, [from, to]: [&str; 2]) -> u64 {
    let model = ["--cfg=network/model:CM02", "--cfg=network/crosstraffic:0"];
    let output =
        Command::new(program).arg(platform).args([from, to]).args(model).output().expect("it has just been built");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    (said.trim().parse::<f64>().unwrap_or_else(|_| panic!("{said}")) * 1e12).round() as u64
}

#[test]
fn every_two_hosts_of_a_platform_are_as_far_as_in_simgrid() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("routes");
    let source = workspace().join("tests/programs/simgrid/routes.cpp");
    let built = Command::new("g++").arg("-std=c++17").arg(source).arg("-o").arg(&program).arg("-lsimgrid").output();
    if !built.as_ref().is_ok_and(|built| built.status.success()) {
        skipped("no SimGrid to compile with (Debian: g++ libsimgrid-dev)");
        return;
    }
    for (elements, words) in PLATFORMS {
        let text = format!(
            "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n{elements}\n</platform>\n"
        );
        let path = folder.path().join("platform.xml");
        fs::write(&path, &text).expect("a file");
        let spec = format!("graph:{}{words}", path.display());
        let net = topology::parse(&spec, 2);
        let net = net.unwrap_or_else(|error| panic!("{text}: {error}"));
        let switched = net.switched().expect("a network of switches");
        let ends = [0, net.endpoints() - 1];
        let names = ends.map(|end| switched.name(NodeId::at(end)).expect("hosts have names"));
        let (time, expected) = (flow(folder.path(), &spec, ends), simulated(&program, &path, names));
        assert!(time.abs_diff(expected) <= 1000, "{time} ps, by SimGrid {expected}: {text}");
        let (ours, theirs) = (ours(switched), theirs(&program, &path));
        assert_eq!(ours.len(), theirs.len(), "{text}");
        // SimGrid counts the backbone of a cluster as a link.
        let more = usize::from(elements.contains("bb_bw"));
        for (pair, &(links, latency, bandwidth)) in &theirs {
            let own = ours[pair];
            // Its routes in dragonflies take links within the first chassis of a group for those of the others (3.32).
            match elements.contains("DRAGONFLY") {
                true => assert!(own.0.abs_diff(links) <= 1, "{pair:?} of {text}: {own:?}, SimGrid {links}"),
                false => assert_eq!((own.0 + more, own.1, own.2), (links, latency, bandwidth), "{pair:?} of {text}"),
            }
        }
    }
}

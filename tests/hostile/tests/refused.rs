//! Texts of networks that are refused at their ends, or for their number, take little memory: of every format, of many
//! short statements and of few long ones.

use std::fmt::Write as _;

use fsin_networks::network;
use hostile::allocations;

/// \[bytes\] Length of a text: nearly the longest that is read. Nodes and links of shorter ones, which may be as many as
/// of long ones, take more of it.
const LENGTH: usize = (1 << 24) - 4096;
/// \[bytes\] Memory allowed for each byte of a text, beside the text itself. What moves counts twice while it does.
const OF_TEXT: usize = 7;

/// Checks that a text is refused in little memory: a beginning, then lines by their numbers, then an end.
fn refused(what: &str, begin: &str, line: impl Fn(usize) -> String, end: &str) {
    let mut text = begin.to_owned();
    for number in 0.. {
        if text.len() + end.len() >= LENGTH {
            break;
        }
        let _ = write!(text, "{}", line(number));
    }
    text.push_str(end);
    let (error, usage) = allocations::of(|| network(&text, "graph:x".to_owned(), None).err());
    let error = error.unwrap_or_else(|| panic!("{what} is read"));
    let limit = OF_TEXT * text.len();
    assert!(usage.peak < limit, "{what}: {:.2} times the text: {error}", usage.peak as f64 / text.len() as f64);
}

#[test]
fn lists_of_links() {
    refused("pairs", "", |at| format!("a{at} b{at}\n"), "");
    refused("short links", "", |at| format!("{} {}\n", at % 7, at % 5), "0\n");
    refused("rates", "", |at| format!("a{at} a{} rate {}b/s\n", at + 1, at + 1000), "x\n");
    refused("like rates", "", |at| format!("{at} {} rate 10Gb/s delay 4us\n", at + 1), "x\n");
    refused("four attributes", "", |at| format!("a b rate {at}0b/s delay {at}ps queue {at} count 2\n"), "x\n");
    refused("directions", "", |at| format!("a{at} -> a{} delay {}\n", at + 1, at % 999), "");
    refused("hosts", "", |at| format!("H{at} s{}\n", at / 3), "a b\n");
    refused("nodes", "", |at| format!("n{at} endpoints {}\n", at % 7), "x\n");
    refused("a line", "a b", |_| " x".to_owned(), "\n");
    refused("empty lines", "a b\n", |_| "\n".to_owned(), "x\n");
}

#[test]
fn dot() {
    refused("edges", "graph {\n", |at| format!("a{at}--b{at};\n"), "}\n");
    refused("nodes", "graph {\n", |at| format!("{at};"), "}\n");
    refused("rates", "graph {\n", |at| format!("a{at}--a{}[rate=\"{}b/s\"];", at + 1, at + 1000), "x--y}\n");
    refused("a chain", "graph { a", |at| format!("--a{at}"), "; x--y }\n");
    refused("a list", "graph { a [", |_| "a=b,".to_owned(), "rate=x] }\n");
    refused("strict", "strict graph { ", |at| format!("a{at}--b{at}[queue={at}];"), "}\n");
    refused("subgraphs", "graph { {{{", |at| format!("a{at}--b{at};"), "}}} -- x [rate=x] }\n");
}

#[test]
fn lists_of_others() {
    refused("CSV", "source,target,rate\n", |at| format!("a{at},a{},{}b/s\n", at + 1, at + 1000), "a,b\n");
    let kinds = "source,target,source_kind,target_kind\n";
    refused("kinds", kinds, |at| format!("a{at},b{at},host,switch\n"), "a,b\n");
    refused("columns", "source,target", |at| format!(",c{at}"), "\na,b\n");
    refused("a row", "source,target\na,b", |_| ",".to_owned(), "\n");
    refused("edges", "", |at| format!("a{at} a{} {{'rate': '{}b/s'}}\n", at + 1, at + 1000), "a b c {}\n");
    refused("a dictionary", "a b {", |at| format!("'a{at}':1,"), "}\n");
    refused("anynet", "", |at| format!("router {at} node {at} router {} 5\n", at + 1), "router 5 router 5\n");
    refused("a router", "router 0", |at| format!(" router {}", at + 1), "\n");
    let ns3 = |at: usize| format!("{} {} {}.0Gbps 0.001ms 0\n", at % 100_000, (at + 1) % 100_000, at + 1);
    refused("ns-3", "100000 0 900000\n", ns3, "\n");
    refused("BRITE", "Topology: ( 10 Nodes, 10 Edges )\nNodes: ( 1 )\n", |at| format!("{at} 1\n"), "\n");
    let cable = |at: usize| format!("Ca 1 \"H{at}\"\n[1] \"S0\"[{}] # 4xNDR\n", at + 2);
    refused("InfiniBand", "Switch 36 \"S0\"\n[1] \"H0\"[1]\n\n", cable, "Ca 1 \"X\"\nx\n");
    refused("ports", "Switch 36 \"S0\"\n", |at| format!("[{at}]\"S0\"[{}]\n", at + 1), "x\n");
    refused("Slurm", "", |at| format!("SwitchName=s{at} Nodes=n{at}\n"), "SwitchName=s0\n");
    refused("names", "SwitchName=top Nodes=a", |at| format!(",n{at}"), "\nSwitchName=x Nodes=y\n");
    refused("htsim", "Nodes 16\nTiers 3\nPodsize 4\nTier 0\n", |at| format!("Tier {}\n", at + 1), "");
}

#[test]
fn json_and_gml() {
    let nodes = "{\"links\":[],\"nodes\":[";
    refused("ids", nodes, |at| format!("{{\"id\":{at}}},"), "{\"id\":\"z\"}]}");
    refused("names", nodes, |at| format!("{{\"id\":{at},\"name\":\"n{at}\"}},"), "{\"id\":\"z\"}]}");
    refused("no objects", nodes, |_| "1,".to_owned(), "1]}");
    let link = |at: usize| format!("{{\"source\":0,\"target\":0,\"rate\":\"{}b/s\"}},", at + 1000);
    refused("links", "{\"nodes\":[{\"id\":0}],\"links\":[", link, "{\"source\":1,\"target\":0}]}");
    refused("members", "{", |at| format!("\"{at}\":1,"), "\"nodes\":[],\"links\":[]}");
    refused("labels", "graph [\n", |at| format!("node [ id {at} label \"n{at}\" ]\n"), "edge [ source 0 ] ]\n");
    refused("numbers", "graph [\n", |at| format!("node[id {at}]"), "]\n");
    let edge = |at: usize| format!("edge [ source 0 target 0 rate \"{}b/s\" ]\n", at + 1000);
    refused("edges", "graph [ node [ id 0 ]\n", edge, "edge [ source 0 ] ]\n");
}

#[test]
fn xml() {
    let begin = "<graphml><key id=\"d\" for=\"edge\" attr.name=\"rate\"/><graph><node id=\"n\"/>";
    let edge = |at: usize| format!("<edge source=\"n\" target=\"n\"><data key=\"d\">{}b/s</data></edge>\n", at + 1000);
    refused("GraphML", begin, edge, "<edge source=\"x\" target=\"n\"/></graph></graphml>");
    refused("nodes", "<graphml><graph>", |at| format!("<node id=\"n{at}\"/>"), "</graph></graphml>");
    refused("attributes", "<graphml ", |at| format!(" a{at}=\"\""), "/>");
    refused("keys", "<graphml>", |at| format!("<key id=\"{at}\"/>"), "</graphml>");
    let begin =
        "<network xmlns=\"http://sndlib.zib.de/network\"><networkStructure><nodes><node id=\"a\"/></nodes><links>";
    let link = |at: usize| format!("<link id=\"L{at}\"><source>a</source><target>a</target></link>\n");
    refused("SNDlib", begin, link, "<link id=\"x\"><source>c</source></link></links></networkStructure></network>");
    let begin = "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">";
    let end = "<link id=\"l0\" bandwidth=\"1Bps\" latency=\"1us\"/></zone></platform>";
    let both = |at: usize| {
        format!("<host id=\"h{at}\" speed=\"1Gf\"/><link id=\"l{at}\" bandwidth=\"{at}1Bps\" latency=\"{at}us\"/>\n")
    };
    refused("hosts and links", begin, both, end);
    refused("links", begin, |at| format!("<link id=\"l{at}\" bandwidth=\"1Bps\" latency=\"1us\"/>\n"), end);
}

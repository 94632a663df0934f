//! One meaning behind every syntax.

use proptest::prelude::*;

use fsin_core::topology::switched::{Delay, Destinations, LinkAttributes, Switched};
use fsin_core::topology::{Port, Topology as _};
use trgen::NodeId;
use trgen::catalog::SpecError;

use crate::{dot, network};

fn read(text: &str) -> Switched {
    network(text, "graph:x".to_owned(), None).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> SpecError {
    network(text, "graph:x".to_owned(), None).err().unwrap_or_else(|| panic!("{text} is read"))
}

/// Everything that a network is, by the names of its nodes: endpoints by their switch, switches, and links with their
/// attributes in each direction.
pub(crate) fn facts(net: &Switched) -> (usize, Vec<String>, Vec<String>) {
    let name = |node: NodeId| net.name(node).map_or_else(|| node.to_string(), str::to_owned);
    let homes = (0..net.endpoints()).map(|node| name(net.fabric().home(NodeId::at(node)).0)).collect();
    let mut links = Vec::new();
    for node in (0..net.nodes()).map(NodeId::at) {
        for port in (0..net.fabric().ports()).map(Port::at) {
            if let Some(there) = net.neighbour(node, port) {
                links.push(format!("{} to {}: {:?}", name(node), name(there), net.link(node, port)));
            }
        }
    }
    links.sort();
    (net.endpoints(), homes, links)
}

/// What leaves a node for another one, by their names.
fn toward(net: &Switched, from: &str, to: &str) -> Vec<(NodeId, Port)> {
    let find = |name: &str| (0..net.nodes()).map(NodeId::at).find(|&node| net.name(node) == Some(name)).unwrap();
    let (from, to) = (find(from), find(to));
    let ports = (0..net.fabric().ports()).map(Port::at);
    ports.filter(|&port| net.neighbour(from, port) == Some(to)).map(|port| (from, port)).collect()
}

fn link(net: &Switched, from: &str, to: &str) -> LinkAttributes {
    let (node, port) = toward(net, from, to)[0];
    net.link(node, port)
}

#[test]
fn one_meaning_in_every_syntax() {
    let list = "# a ring, two hosts\ns2 s10 delay 5\ns10 s1 rate 10Gb/s\ns1 s2 delay 4us # slow\nHa s10\ns1 H5\n";
    let graph = "graph x { s2 -- s10 [delay=5]; s10 -- s1 [rate=\"10Gb/s\", color=red]; s1 -- s2 [delay=\"4 us\"]; Ha -- s10; s1 -- H5 }";
    let one_way = |text: &str| text.replace("graph x", "digraph x").replace("--", "->");
    let both = one_way(graph).replace(
        '}',
        "; s10 -> s2 [delay=5]; s1 -> s10 [rate=\"10Gbps\"]; s2 -> s1 [propagation=\"4us\"]; s10 -> Ha; H5 -> s1 }",
    );
    let drawn = one_way(graph).replace("digraph x {", "digraph x { edge [dir=both];");
    let directed = "s2 -> s10 delay 5\ns10 -> s2 delay 5\ns10 s1 rate 10Gb/s\ns1 s2 latency 4us\nHa s10\ns1 H5\n";
    let expected = facts(&read(graph));
    assert_eq!((expected.0, &*expected.1), (2, &["s10".to_owned(), "s1".to_owned()][..]));
    for text in [list, &format!("\u{feff}{list}"), &format!("# 1 \"net.dot\"\n{graph}\n#"), &both, &drawn, directed] {
        assert_eq!(facts(&read(text)), expected, "{text}");
    }
}

#[test]
fn nodes_are_numbered_in_order_of_first_appearance() {
    for text in ["graph { s10 -- s9; s9 -- s2 }", "s10 s9\ns9 s2", "digraph { s10 -> s9 -> s2 -> s9 -> s10 }"] {
        let net = read(text);
        let names: Vec<_> = (3..6).map(|node| net.name(NodeId(node)).unwrap()).collect();
        assert_eq!(names, ["s10", "s9", "s2"], "{text}");
        assert_eq!((0..3).map(|node| net.fabric().home(NodeId(node)).0.0).collect::<Vec<_>>(), [3, 4, 5]);
    }
    // Hosts and the endpoints of switches in one order.
    let net = read("a H1\nb H0\na b\nb endpoints 2\nc b\nc endpoints 1");
    let homes: Vec<_> = (0..5).map(|node| net.name(net.fabric().home(NodeId(node)).0).unwrap()).collect();
    assert_eq!(homes, ["a", "b", "b", "b", "c"]);
    assert_eq!((net.name(NodeId(0)), net.name(NodeId(1)), net.name(NodeId(3))), (Some("H1"), None, Some("H0")));
}

#[test]
fn hosts_are_hosts_by_one_rule() {
    for text in [
        "graph g { H1 -- S1; H2 -- S1; H3 -- S2; S1 -- S2; }",
        "H1 S1\nH2 S1\nH3 S2\nS1 S2",
        "digraph { edge [dir=both]; H1 -> S1; H2 -> S1; H3 -> S2; S1 -> S2 }",
        "graph { node [kind=host]; a; b; c; node [kind=switch]; a -- Hamburg; b -- Hamburg; c -- S; Hamburg -- S }",
        "a kind host\nb kind host\nc kind host\nHamburg kind switch\na Hamburg\nb Hamburg\nc S\nHamburg S",
    ] {
        let net = read(text);
        assert_eq!((net.endpoints(), net.nodes()), (3, 5), "{text}");
    }
    // Without hosts, each switch has an endpoint.
    for text in ["graph { a -- b }", "digraph { a -> b; b -> a }", "a b"] {
        assert_eq!(read(text).endpoints(), 2, "{text}");
        assert_eq!(network(text, "graph:x".to_owned(), Some(3)).unwrap().endpoints(), 6, "{text}");
    }
    let error = refused("graph { Hamburg -- Hannover }");
    assert!(error.to_string().contains("line 1, column 20: hosts `Hamburg` and `Hannover` are linked"), "{error}");
    assert!(error.remedy().to_string().contains("kind=switch"));
}

#[test]
fn directions_have_attributes_of_their_own() {
    for text in [
        "digraph { Ha -> Sa; Sa -> Ha; Hb -> Sb; Sb -> Hb; Sa -> Sb [delay=9]; Sb -> Sa [delay=1, queue=7, rate=\"1Gb/s\"]; }",
        "Ha Sa\nHb Sb\nSa -> Sb delay 9\nSb -> Sa delay 1 queue 7 rate 1000Mbps",
        "graph { Ha -- Sa; Hb -- Sb; Sa -- Sb [dir=forward, delay=9]; Sa -- Sb [dir=back, delay=1, queue=7, speed=\"1Gbit/s\"] }",
    ] {
        let net = read(text);
        let nothing = LinkAttributes::default();
        assert_eq!(link(&net, "Sa", "Sb"), LinkAttributes { delay: Some(Delay::Cycles(9)), ..nothing }, "{text}");
        let back = LinkAttributes { rate: Some(1_000_000_000), delay: Some(Delay::Cycles(1)), queue: Some(7) };
        assert_eq!(link(&net, "Sb", "Sa"), back, "{text}");
        assert_eq!(link(&net, "Ha", "Sa"), nothing);
        let (node, port) = toward(&net, "Sa", "Sb")[0];
        assert_eq!((net.wire(node, port), net.fabric().back(node, port)), (9, Some(toward(&net, "Sb", "Sa")[0].1)));
    }
}

#[test]
fn parallel_links_are_counted() {
    for text in ["a b count 3", "graph { a -- b -- a -- b }", "digraph { a -> b [count=2]; b -> a [count=3]; a -> b }"]
    {
        assert_eq!(toward(&read(text), "a", "b").len(), 3, "{text}");
    }
    assert_eq!(
        toward(&read("strict graph { edge [delay=9]; a -- b; b -- a [delay=2]; a -- b; a -- c }"), "a", "b").len(),
        1
    );
    let strict = read("strict digraph { edge [delay=9]; a -> b -> a; a -> b [delay=2] }");
    assert_eq!(
        (link(&strict, "a", "b").delay, link(&strict, "b", "a").delay),
        (Some(Delay::Cycles(2)), Some(Delay::Cycles(9)))
    );
}

#[test]
fn defaults_are_for_what_comes_after_them_in_the_same_graph() {
    let net = read(
        "graph { a; node [endpoints=4, shape=box]; b; edge [delay=3]; a -- b -- c [delay=1];
         subgraph x { node [endpoints=0]; edge [delay=7]; d -- a }; e -- d; b [endpoints=2]; \"e\" -- a }",
    );
    let homes = (0..net.endpoints()).map(|node| net.name(net.fabric().home(NodeId::at(node)).0).unwrap());
    assert_eq!(homes.collect::<String>(), "abbcccceeee");
    for (from, to, delay) in [("a", "b", 1), ("d", "a", 7), ("e", "d", 3), ("e", "a", 3), ("b", "c", 1)] {
        assert_eq!(link(&net, from, to).delay, Some(Delay::Cycles(delay)), "{from} {to}");
    }
}

#[test]
fn subgraphs_are_linked_node_by_node() {
    let net = read("graph { {a b} -- {c; d -- c} -- a }");
    let count = |from, to| toward(&net, from, to).len();
    assert_eq!(
        [count("a", "c"), count("a", "d"), count("b", "c"), count("b", "d"), count("c", "d"), count("a", "b")],
        [2, 2, 1, 1, 1, 0]
    );
    assert_eq!(toward(&read("digraph { edge [dir=both]; H0 -> {S T}; S -> T; H0 [kind=switch] }"), "H0", "T").len(), 1);
}

#[test]
fn routes_name_hosts_and_remarks_do_not() {
    let net = read(
        "digraph { Hb -> S [comment=\"*\"]; S -> Hb [comment=\"Hb\"]; Ha -> S; S -> Ha [routes=\"Ha, Hb\"];
         S -> T [comment=\"Hc\"]; T -> S [comment=\"*\"]; Hc -> T; T -> Hc [comment=\"10 m of copper\"] }",
    );
    let route = |from, to| {
        let (node, port) = toward(&net, from, to)[0];
        net.route(node, port)
    };
    assert_eq!(route("S", "Ha"), Destinations::Only(&[1, 0]));
    assert_eq!(route("S", "T"), Destinations::Only(&[2]));
    assert_eq!(route("T", "S"), Destinations::All);
    assert_eq!(route("T", "Hc"), Destinations::Only(&[]));
    let order = |from, to| {
        let (node, port) = toward(&net, from, to)[0];
        net.link_order(node, port).unwrap()
    };
    assert!(order("S", "Hb") < order("S", "Ha"));
}

#[test]
fn dead_links_are_dead_both_ways() {
    let net = read("a b\nb c\nc a dead true");
    assert_eq!((net.faults(), toward(&net, "a", "c").len(), toward(&net, "c", "a").len()), (1, 0, 0));
    let [dead] = net.dead_links()[..] else { panic!("one") };
    assert_eq!((net.name(dead.from), net.name(dead.to)), (Some("c"), Some("a")));
    assert!(
        refused("a b\nb a\na -> c dead true\nc -> a")
            .to_string()
            .contains("line 3, column 8: the link of `a` and `c` is dead one way only")
    );
    assert!(refused("a b dead true").to_string().contains("cannot reach"));
}

#[test]
fn bad_files_say_where_and_what_would_do() {
    for (text, expected, remedy) in [
        ("a b\na b c\n", "line 2, column 5: `c`: an attribute without a value", "`A B delay 5`"),
        ("a endpoints many", "line 1, column 13: endpoints=many of a node: not a whole number", "endpoints=4"),
        (
            "a b\na endpoints 2\n\na endpoints 3",
            "line 4, column 3: the endpoints of `a` stand in line 2, column 3 already",
            "once",
        ),
        ("graph { a -- ", "not DOT: at its end 1 brace is not closed", "graph { a -- b }"),
        ("graph {\n a -- \n}", "not DOT: line 3", "graph { a -- b }"),
        ("graph { a -> b }", "found `->`", "graph { a -- b }"),
        ("graph { a -- b } graph { c -- d }", "more than one graph", "one graph"),
        ("graph { a -- b } c -- d", "behind the graph", "one graph"),
        (
            "a b\nc d",
            "line 2, column 1: the network does not hang together: no links lead from `a` to `c`",
            "add links",
        ),
        ("a b delay 65537", "line 1, column 11: delay=65537 of an edge: use 0 to 65536 cycles", "delay=\"4us\""),
        ("# nothing", "has no switches", "`A B`"),
        (
            "a b\na endpoints 4194304",
            "line 2, column 3: 4194304 endpoints of switch `a` are out of range",
            "0 to 4194303",
        ),
        (
            "digraph { H0 -> S; H1 -> S; S -> H1 }",
            "line 1, column 17: no edge leads back from `S` to `H0`",
            "each direction",
        ),
        ("graph { H0 }", "host `H0` has no link", "to a switch"),
        ("H0 a rate 1Gb/s\nH0 b\nH1 a\na b", "line 1, column 1: some links of host `H0` have a rate", "all of them"),
        (
            "digraph { H0 -> S; S -> H0 [comment=\"H7\"] }",
            "column 29: comment of an edge names `H7`, which is no host",
            "`*`",
        ),
        ("graph { H0 -- S [routes=H0] }", "routes=H0 of an edge both ways", "a direction"),
        ("graph { a -- b [rate=fast] }", "line 1, column 22: rate=fast of an edge: no data rate", "rate=\"10Gb/s\""),
        ("graph { a -- b [capacity=10] }", "capacity=10 of an edge: no data rate", "rate=\"10Gb/s\""),
        ("graph { a -- b [latency=10] }", "latency=10 of an edge: its unit is missing", "delay=\"4us\""),
        ("graph { a -- b [delay=1.5] }", "delay=1.5 of an edge", "delay-unit=ms"),
        ("graph { a -- b [bandwith=3] }", "unknown attribute bandwith=3 of an edge", "ignore=bandwith"),
        ("graph { a -- b [jitter=3] }", "jitter=3 of an edge is not known", "ignore=jitter"),
        ("H0 s rate 10Gb/s\nH1 s rate 10Gb/s rate 5Gb/s", "line 2, column 18: rate of an edge stands twice", "one"),
        ("0 1 10\n1 2 10\n2 0 40\n", "this is a list of edges with a weight as third number", "rate 10Gb/s"),
        ("0 1 1 0\n1 0 1 0\n1 1 0 0\n0 0 0 0\n", "this is a matrix", "from_numpy_array"),
        ("57.65 47.6\n57.5 47\n", "this is a matrix", "coordinates"),
        ("graph { a -- b [queue=-1] }", "queue=-1", "queue=200"),
        (
            "graph { a -- b [delay=5, latency=\"1us\"] }",
            "column 26: delay and latency of an edge are one property",
            "one",
        ),
        ("graph { H0 -- a; H0 [endpoints=2] }", "host `H0` is given endpoints", "kind=switch"),
        ("graph { a -- b [endpoints=2] }", "endpoints=2 of an edge has no meaning", "`a [endpoints=4]`"),
        ("graph { a [delay=2] }", "delay=2 of a node has no meaning", "`edge [delay=\"4us\""),
        (
            "graph { endpoints=4; a -- b }",
            "line 1, column 9: endpoints=4 of a graph has no meaning",
            "`node [endpoints=4]`",
        ),
        ("graph { graph [\"delay\"=\"4\"]; a -- b }", "delay=4 of a graph has no meaning", "edge"),
        ("graph { a -- b [weight=3] }", "column 17: weight=3 of an edge would be ignored", "rate="),
        ("graph { a -- b [width=3] }", "width=3 of an edge is not known", "count="),
        ("graph { a -- b [rat=3] }", "unknown attribute rat=3 of an edge", "`rate`"),
        ("graph { a [endpoint=3] }", "unknown attribute endpoint=3 of a node", "`endpoints`"),
        ("graph { a [hosts=3] }", "hosts=3 of a node is not known", "endpoints=4"),
        ("graph { a [kind=rotuer] }", "kind=rotuer of a node: neither host nor switch", "kind=host"),
        ("graph { a -- b [count=0] }", "count=0", "count=2"),
        ("a b rate=10Gb/s", "`rate=10Gb/s` is no word of a list of links", "`A B delay 5`"),
    ] {
        let error = refused(text);
        assert!(error.to_string().contains(expected), "{text}: {error}");
        assert!(error.remedy().to_string().contains(remedy), "{text}: {error}: {}", error.remedy());
    }
}

#[test]
fn synonyms_are_understood_whatever_their_case() {
    for word in ["rate", "Rate", "capacity", "bandwidth", "BW", "speed", "data_rate", "linkSpeed"] {
        assert_eq!(link(&read(&format!("a b {word} 10Gbps")), "a", "b").rate, Some(10_000_000_000), "{word}");
    }
    for word in ["delay", "latency", "Latency", "propagation", "link-delay"] {
        assert_eq!(link(&read(&format!("a b {word} 4us")), "a", "b").delay, Some(Delay::Time(4_000_000)), "{word}");
    }
}

/// `scontrol show topology` names, of a switch above others, all nodes below it.
#[test]
fn what_slurm_prints_is_the_file_that_it_has_read() {
    let file = "SwitchName=top Switches=s[0-1]\nSwitchName=s0 Nodes=n[1-2]\nSwitchName=s1 Nodes=m,n3\n";
    let printed = "SwitchName=top Level=1 LinkSpeed=1 Nodes=m,n[1-3] Switches=s[0-1]\n\
                   SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[1-2]\nSwitchName=s1 Level=0 LinkSpeed=1 Nodes=m,n3\n";
    assert_eq!(facts(&read(printed)), facts(&read(file)));
    let lost = refused(&printed.replace("n[1-3]", "n[1-4]"));
    assert!(lost.to_string().contains("line 1, column 42: node `n4` is named by no switch"), "{lost}");
    // Without levels, a switch may have both.
    assert_eq!(read("SwitchName=top Switches=s0 Nodes=m\nSwitchName=s0 Nodes=n[1-2]\n").endpoints(), 3);
}

/// Names of columns as tables have them: with the unit of their numbers, with `link` in front, in any case.
#[test]
fn names_of_columns_state_units() {
    let plain = facts(&read("source,target,rate,delay\na,b,10Gb/s,5us\nb,c,2.5Gb/s,7us\n"));
    for names in [
        "bandwidth_gbps,latency_us",
        "Bandwidth (Gbps),Latency (us)",
        "linkCapacityGbps,linkDelayUs",
        "LINK_SPEED_GBPS,PROPAGATION_DELAY_US",
    ] {
        assert_eq!(facts(&read(&format!("source,target,{names}\na,b,10,5\nb,c,2.5,7\n"))), plain, "{names}");
    }
    let other = facts(&read("source,target,bandwidth_mbps,delay_ms\na,b,10000,0.005\nb,c,2500,.007\n"));
    assert_eq!(other, plain);
    for (names, remedy) in [
        ("max_bandwidth,delay_us", "ignore=max_bandwidth"),
        ("rate_gbps,avg_latency", "ignore=avg_latency"),
        ("link_capacity,delay_us", "rate-unit=Gb/s"),
    ] {
        let error = refused(&format!("source,target,{names}\na,b,10,5\n"));
        assert!(error.remedy().to_string().contains(remedy), "{error}: {}", error.remedy());
    }
}

#[test]
fn ports_comments_and_labels_say_nothing() {
    let plain = facts(&read("graph { a -- b; b -- c; c -- a }"));
    for text in [
        "graph { a:e1 -- b:ne; b:\"x y\":sw -- c : n; c -- a:east:_ }",
        "/* {{{{{{{{{{ */ graph { a -- b // }}\n; b -- c; c -- a } // done {{{{{{{{{{",
        "graph { rankdir=LR; node [label=\"{{{{{{{{{{ /* \\\" //\", style=filled]; a -- b; b -- c [penwidth=3, label=\"1\"]; c -- a }",
    ] {
        assert_eq!(facts(&read(text)), plain, "{text}");
    }
}

#[test]
fn long_chains_and_lists_are_read() {
    let chain: Vec<String> = (0..4_000).map(|node| node.to_string()).collect();
    assert_eq!(read(&format!("graph {{ {} }}", chain.join(" -- "))).nodes(), 8_000);
    let list = |count: usize| format!("graph {{ a [{}][endpoints=3]; b -- a }}", "label=1;".repeat(count));
    assert_eq!(read(&list(100_000)).endpoints(), 4);
    // As long as files of other formats.
    let long = format!("graph {{{}", " a -- b;".repeat(1 << 17));
    assert!(refused(&long).to_string().contains("1 brace is not closed"), "{}", refused(&long));
    assert!(read(&format!("graph {{{} a -- b }}", " ".repeat(1 << 21))).nodes() == 4);
    let depth = |depth: usize| format!("graph {{ {} a -- b {} }}", "{".repeat(depth), "}".repeat(depth));
    assert_eq!(read(&depth(8)).endpoints(), 2);
    assert!(refused(&depth(9)).to_string().contains("more than 8 deep"));
}

proptest! {
    /// Neither the readers nor the builder panic on any text.
    #[test]
    fn any_text_is_read_or_refused(
        text in prop_oneof![
            "\\PC{0,80}",
            "(strict |)(graph|digraph)? ?[a-c]{0,2} ?\\{([a-cH] ?(--|->) ?[a-cH] ?(\\[(delay|rate|count|dead|dir|comment|queue)=(9|\"1us\"|\"1Gbps\"|true|back|Ha|\"\\*\")\\])?[;\n]|node ?\\[(kind|endpoints)=(host|switch|2)\\];|subgraph [a-c]? ?\\{|\\}|//x\n){0,8}\\}?",
            "([a-dH] (-> |-- )?([a-dH]|endpoints|kind)( (delay|rate|count|dead|dir|routes|weight))?( ([0-9a]{1,3}|1us|host|true|H))?\n){0,9}"
        ],
        endpoints in proptest::option::of(0u32..3),
    ) {
        let _ = network(&text, "graph:x".to_owned(), endpoints);
    }

    /// Valid files with a few changes: what is accepted is written, and read again as the same network.
    #[test]
    fn changed_files_are_read_or_refused(
        seed in 0..SEEDS.len(),
        edits in proptest::collection::vec((0usize..400, 0usize..8, 0..WORDS.len()), 0..5),
    ) {
        let mut text: Vec<char> = SEEDS[seed].chars().collect();
        for (at, gone, word) in edits {
            let begin = at % (text.len() + 1);
            let end = (begin + gone).min(text.len());
            text.splice(begin..end, WORDS[word].chars());
        }
        let text: String = text.into_iter().collect();
        if let Ok(net) = network(&text, "graph:x".to_owned(), None) {
            let written = dot(&net, &[]);
            let again = network(&written, "graph:x".to_owned(), None);
            let again = again.unwrap_or_else(|error| panic!("{text}\n{written}\n{error}"));
            prop_assert_eq!(facts(&again), facts(&net), "{}\n{}", text, written);
        }
    }
}

/// Valid files.
const SEEDS: [&str; 4] = [
    "H1 S1\nH2 S1\nS1 S2 rate 10Gb/s delay 4us queue 7 # x\nS2 -> S3 delay 9\nS3 -> S2 delay 1\nS3 endpoints 2\nS1 S3 count 2\n",
    "graph g { node [endpoints=2]; a -- b -- {c d} [delay=3, color=red]; b -- H0; edge [rate=\"1Gbps\"]; d -- a [dead=true]; c [kind=switch] }",
    "digraph { H0 -> S [routes=\"*\"]; S -> H0 [comment=\"H0\"]; H1 -> T [dir=both]; S -> T [latency=\"1us\"]; T -> S; subgraph x { T -> U [dir=both] } }",
    "strict graph { a -- b [delay=2]; b -- a [queue=4]; b -- c; c -- a [capacity=\"2.5 Gb/s\"] }",
];

/// What changes write.
const WORDS: [&str; 14] = [
    "",
    "a",
    "H0",
    "H1",
    " -- ",
    " -> ",
    "{",
    "}",
    "[kind=host]",
    "[dead=true]",
    "\"",
    "endpoints 3",
    "[dir=back]",
    "\n",
];

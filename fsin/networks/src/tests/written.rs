//! What is written in DOT is read back as the same network.

use fsin_core::route::given::{self, Form};
use fsin_core::route::{Routers, balance};
use fsin_core::topology::switched::Switched;
use fsin_core::topology::{DeadLink, Faults, TOPOLOGIES, Topology, parse, with_faults};
use trgen::NodeId;

use crate::{dot, network};

/// What a file with this text describes.
fn read(text: &str) -> Switched {
    network(text, "graph:x".to_owned(), None).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// \[hops\] By node: distances to all others.
fn distances(topology: &dyn Topology, from: usize) -> Vec<Option<u32>> {
    let mut found = vec![None; topology.nodes()];
    let mut reached = std::collections::VecDeque::from([(from, 0)]);
    while let Some((node, hops)) = reached.pop_front() {
        if found[node].is_none() {
            found[node] = Some(hops);
            let ports = topology.ports_of(NodeId::at(node));
            reached
                .extend(ports.filter_map(|port| Some((topology.neighbour(NodeId::at(node), port)?.index(), hops + 1))));
        }
    }
    found
}

/// Links with all that is said of them, by their ends, dead ones included.
fn links(topology: &dyn Topology) -> Vec<String> {
    let mut all = Vec::new();
    for node in (0..topology.nodes()).map(NodeId::at) {
        for port in topology.ports_of(node) {
            if let Some(there) = topology.neighbour(node, port) {
                let said = topology.switched().map(|network| (network.link(node, port), network.route(node, port)));
                all.push(format!("{node} {there} {said:?}"));
            }
        }
    }
    for dead in topology.dead_links() {
        let (one, other) = (dead.from.min(dead.to), dead.from.max(dead.to));
        all.push(format!("dead {one} {other}"));
    }
    all.sort();
    all
}

/// The same network, where a node of a direct network is a switch with one endpoint.
fn check(topology: &dyn Topology, what: &str) {
    let text = dot(topology, &[]);
    let again = read(&text);
    assert_eq!(again.endpoints(), topology.endpoints(), "{what}");
    if topology.switched().is_some() {
        assert_eq!((again.nodes(), links(&again)), (topology.nodes(), links(topology)), "{what}\n{text}");
        // Written again it is the same text, but for the names of nodes that had none.
        let lines = |text: &str| text.lines().skip(1).map(|line| line.replace('"', "")).collect::<Vec<_>>();
        assert_eq!(lines(&dot(&again, &[])), lines(&text), "{what}");
        return;
    }
    let nodes = topology.nodes();
    assert_eq!(again.nodes(), 2 * nodes, "{what}");
    for node in [0, nodes / 2, nodes - 1] {
        let of_switches = distances(&again, nodes + node)[nodes..].to_vec();
        assert_eq!(of_switches, distances(topology, node), "{what}");
        let degree = |topology: &dyn Topology, node: usize| {
            let node = NodeId::at(node);
            topology.ports_of(node).filter(|&port| topology.neighbour(node, port).is_some()).count()
        };
        assert_eq!(degree(&again, nodes + node), degree(topology, node) + 1, "{what}");
    }
    let ends = |topology: &dyn Topology, first: usize| -> Vec<(usize, usize)> {
        let ends = |dead: DeadLink| (dead.from.index() - first, dead.to.index() - first);
        let mut all: Vec<_> = topology.dead_links().into_iter().map(ends).map(|(a, b)| (a.min(b), a.max(b))).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(ends(&again, nodes), ends(topology, 0), "{what}");
}

#[test]
fn every_topology_is_read_back_as_it_was_written() {
    let more = [
        "torus:2x2",
        "torus:3",
        "mesh:1x5",
        "hyperx:3x2:2",
        "thintree:4,2,3",
        "slimtree:4,2,2",
        "dragonfly:p=1,a=2,h=1",
    ];
    let examples = TOPOLOGIES.rows().iter().map(|row| row.example).filter(|example| !example.starts_with("graph:"));
    for spec in examples.chain(more) {
        let topology = parse(spec, 2).unwrap();
        if topology.nodes() > 600 {
            continue;
        }
        if topology.switched().is_some_and(|network| network.fabric().leads_one_way()) {
            // Each link once, which a description refuses.
            let text = dot(&*topology, &[]);
            assert_eq!(text.matches("->").count(), links(&*topology).len(), "{text}");
            let error = network(&text, "graph:x".to_owned(), None).unwrap_err();
            assert!(error.to_string().contains("no edge leads back"), "{error}");
            continue;
        }
        check(&*topology, spec);
        for count in [1, 2] {
            let faults = Faults { count, one_way: false, seed: 3 };
            let damaged = with_faults(parse(spec, 2).unwrap(), &faults);
            // What hangs together no more is refused when it is read.
            if let Ok(damaged) = damaged
                && distances(&*damaged, 0).iter().all(Option::is_some)
            {
                check(&*damaged, &format!("{spec} with {count} dead links"));
            }
        }
    }
}

#[test]
fn every_description_is_read_back_as_it_was_written() {
    for text in [
        "H1 S1\nH2 S1\nH3 S2\nS1 S2 rate 10Gb/s delay 4us queue 7",
        "b a\na -> c delay 9\nc -> a delay 1\nb c count 3\nc endpoints 0\na endpoints 3",
        "graph { Hamburg [kind=switch]; x [kind=host]; x -- Hamburg; y -- Hamburg [dead=true]; y -- z; z -- Hamburg; z [endpoints=2] }",
        "digraph { H0 -> S [routes=\"*\"]; S -> H0 [routes=\"H0\"]; H1 -> T; T -> H1 [routes=\"H1\"]; S -> T [routes=\"*\", rate=\"2500Mb/s\"]; T -> S [routes=\"*\"] }",
        "graph { \"a \\\"b\\\"\" -- \"c d\"; \"c d\" -- e [delay=\"1500ps\"] }",
        "a H1\nb H0\na b\nb endpoints 2\nc b\nc endpoints 1",
    ] {
        check(&read(text), text);
    }
}

#[test]
fn what_leads_one_way_cannot_be_read_back_in_silence() {
    let text = dot(&*parse("torus:4", 1).unwrap(), &[]);
    let error = network(&text, "graph:x".to_owned(), None).unwrap_err();
    assert!(error.to_string().contains("no edge leads back"), "{error}");
}

#[test]
fn tables_of_routes_have_every_name_that_networks_have() {
    let text = "source,target\nNew York,\"Rio, BR\"\n\"Rio, BR\",a>b\na>b,New York\nx,New York\n";
    let network = read(text);
    for name in ["New York", "Rio, BR", "a>b", "x"] {
        assert!((0..network.nodes()).any(|node| network.name(NodeId::at(node)) == Some(name)), "{name}");
    }
    let routers = Routers::new(&network).unwrap();
    let table = balance(&routers, None, 1).unwrap().table;
    for form in [Form::Hops, Form::Paths] {
        let [mut first, mut second] = [Vec::new(), Vec::new()];
        given::write(&table, &routers, form, &mut first).unwrap();
        let again = given::read(std::str::from_utf8(&first).unwrap(), &routers).unwrap();
        given::write(&again, &routers, form, &mut second).unwrap();
        assert_eq!(String::from_utf8(first), String::from_utf8(second));
    }
}

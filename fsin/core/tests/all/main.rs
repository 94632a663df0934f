//! The links of every topology, the routes of every routing over them, what they say of themselves, and runs over a
//! small network, each beside what it was.
//!
//! Of each family three sizes that share no factor, where it has them. A change fails here: if it is meant, CHANGELOG
//! says so under **results change**, and the list is accepted with `INSTA_UPDATE=always cargo test -p fsin-core`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod facts;
mod runs;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fsin_core::route::proof::Network as _;
use fsin_core::route::{
    self, Build, ByKey, Function, Masks, ROUTINGS, Routers, RoutingFunction as _, Row, Visit, follow,
};
use fsin_core::topology::{self, Survey, TOPOLOGIES, Topology, parse};
use trgen::NodeId;
use trgen::rng::mix2;

/// Topologies: of each family three sizes.
const TOPOLOGIES_OF_ALL: [&str; 73] = [
    "torus:4x4",
    "torus:3x5",
    "torus:2x3x5",
    "torus:7",
    "mesh:4x4",
    "mesh:3x5",
    "mesh:2x3x5",
    "twisted:4x2:2",
    "twisted:6x3:3",
    "twisted:10x5:5",
    "tpu:2x2x2",
    "tpu:4x4",
    "tpu:4x4x4",
    "hypercube:2",
    "hypercube:3",
    "hypercube:5",
    "circulant:8:1,3",
    "circulant:15:1,4",
    "circulant:49:1,7",
    "midimew:8",
    "midimew:15",
    "midimew:49",
    "circpk:2^3",
    "circpk:3^2",
    "circpk:5^2",
    "spidergon:8",
    "spidergon:14",
    "spidergon:30",
    "spinnaker:3x3",
    "spinnaker:4x5",
    "spinnaker:2x7",
    "fattree:2,3",
    "fattree:3,2",
    "fattree:5,2",
    "thintree:4,2,2",
    "thintree:6,3,2",
    "thintree:10,5,2",
    "slimtree:4,2,2",
    "slimtree:6,3,2",
    "slimtree:10,5,2",
    "dragonfly:p=1,a=2,h=1",
    "dragonfly:p=2,a=4,h=2",
    "dragonfly:p=1,a=3,h=2",
    "dragonfly+:p=1,l=2,s=2,h=2",
    "dragonfly+:p=2,l=3,s=3,h=1",
    "dragonfly+:p=1,l=5,s=5,h=1",
    "hyperx:2x2:1",
    "hyperx:3x3:2",
    "hyperx:2x5:3",
    "icube:2x2:2",
    "icube:3x3:2",
    "icube:2x5:3",
    "cmesh:2x2:4",
    "cmesh:3x3:2",
    "cmesh:4x4:4:express",
    "fly:2,2",
    "fly:3,2",
    "fly:5,2",
    "slimfly:q=4,p=1",
    "slimfly:q=5,p=1",
    "star:4",
    "star:7",
    "star:15",
    "rail:k=2,of=(star:4),rate=100Gb/s",
    "rail:k=3,of=(fattree:2,2),rate=100Gb/s",
    "rail:k=5,of=(hyperx:2x2:2),rate=100Gb/s",
    "rrg:s=8,d=3,p=2",
    "rrg:s=10,d=4,p=1",
    "rrg:s=21,d=4,p=1",
    "cluster:nodes=2,gpus=3,up-rate=400Gb/s,up-delay=100ns,out-rate=100Gb/s,out-delay=1us",
    "cluster:nodes=4,gpus=4,up-rate=400Gb/s,up-delay=100ns,out-rate=100Gb/s,out-delay=1us",
    "cluster:nodes=5,gpus=2,up-rate=400Gb/s,up-delay=100ns,out-rate=100Gb/s,out-delay=1us",
    "slimfly:q=7,p=2",
];

/// Lists of links, by name: written as files, and read as networks.
const LISTS: [(&str, &str); 4] = [
    ("ring", "0 1\n1 2\n2 3\n3 0\n0 2\n"),
    ("hosts", "h0 endpoints 1\ns0 s1 delay 5\ns1 s2\ns2 s0 delay 3\ns1 endpoints 2\ns0 endpoints 0\nh0 s2\n"),
    ("one-way", "a -> b delay 4\nb -> c\nc -> a\nb -> a delay 2\n"),
    ("several", "a b\na b\nb c delay 1us\nc endpoints 3\n# the end\n"),
];

fn crc(text: &str) -> u32 {
    crc32fast::hash(text.as_bytes())
}

/// The checksum of a text. The text itself is written to a folder below `target/tmp`, to be read when the checksum
/// changes.
fn kept(folder: &str, name: &str, text: &str) -> u32 {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{}.txt", name.replace(['/', ':'], "-"))), text).unwrap();
    crc(text)
}

/// Holds a list beside what it was.
fn same(name: &str, list: &str) {
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, list);
    });
}

/// The links of a topology in words, with its names and distances.
fn links(topology: &dyn Topology) -> String {
    let mut text = format!("{:?} {:?}\n", topology.link_classes(), topology.usual());
    if let Some(network) = topology.switched() {
        writeln!(text, "{} {}", network.is_paced(), network.longest_crossing()).unwrap();
    }
    for node in (0..topology.nodes()).map(NodeId::at) {
        for port in topology.ports_of(node) {
            let to = topology.neighbour(node, port);
            writeln!(
                text,
                "{node:?} {port:?} {to:?} {} {}",
                topology.link_class(node, port),
                topology.wire(node, port)
            )
            .unwrap();
        }
    }
    text
}

/// Every hop that a packet of each pair may take at each router that it may come to.
fn hops(routers: &Routers<'_>, function: &Function) -> String {
    let mut text = String::new();
    let endpoints = routers.endpoints();
    for (source, destination) in (0..endpoints).flat_map(|source| (0..endpoints).map(move |to| (source, to))) {
        let (first, home) = (routers.entry(source), routers.home(destination));
        let mut draw = ByKey(mix2(source as u64, destination as u64));
        let at = Visit { source: source as u32, destination: destination as u32, first, here: first, home, phase: 0 };
        let mut seen = BTreeSet::new();
        let mut open: Vec<_> = function.decisions(&at, &mut draw).all().map(|phase| (first, phase)).collect();
        let mut arrives = false;
        while let Some((here, phase)) = open.pop() {
            arrives |= here == home;
            if here == home || !seen.insert((here, phase)) {
                continue;
            }
            let at = Visit { here, phase, ..at };
            let mut found = Vec::new();
            function.hops(&at, &mut draw, |hop| found.push(hop));
            let _ =
                writeln!(text, "{source} {destination} {here} {phase} {found:?} {}", function.length(&at, &mut draw));
            for hop in found {
                if let Some(next) = routers.next(here, hop.port as usize) {
                    open.push((next, function.hop(&at, next, &mut draw)));
                }
            }
        }
        assert!(arrives, "{}: {source} to {destination}", routers.topology.spec());
    }
    text
}

#[test]
fn links_and_routes_are_those_that_they_were() {
    let mut list = String::new();
    let mut families = BTreeSet::new();
    for spec in TOPOLOGIES_OF_ALL {
        let topology = parse(spec, 2).unwrap_or_else(|error| panic!("{spec}: {error}"));
        families.insert(topology::row(spec).unwrap().component.name);
        let survey = Survey::of(&*topology);
        let (links, counts) = (crc(&links(&*topology)), crc(&format!("{survey:?}")));
        writeln!(list, "{spec}: diameter {}, links {links:08x}, survey {counts:08x}", survey.diameter).unwrap();
        let routers = Routers::new(&*topology).unwrap();
        // The routing of a file has no routes without one.
        let serving = |row: &&Row| row.serves.includes(spec) && row.component.name != "routes";
        for row in ROUTINGS.rows().iter().copied().chain([&route::rows::DRAGONFLY_UGAL_APART]).filter(serving) {
            let name = row.component.name;
            match Build::new(row, &*topology, 4, row.policy).function() {
                Err(error) => writeln!(list, "  {name}: refused: {error}").unwrap(),
                Ok(function) => {
                    let masks = Masks::of_function(row.policy, &function, 4);
                    let table = follow(&routers, &function, row.choice, &masks, 7).map_or_else(
                        |error| error.to_string(),
                        |followed| {
                            let endpoints = routers.endpoints();
                            let pairs = (0..endpoints).flat_map(|from| (0..endpoints).map(move |to| (from, to)));
                            let paths: Vec<Vec<_>> =
                                pairs.map(|pair| followed.table.path(&routers, pair).collect()).collect();
                            format!("{:08x}, {} drawn", crc(&format!("{paths:?}")), followed.drawn)
                        },
                    );
                    writeln!(list, "  {name}: hops {:08x}; paths {table}", crc(&hops(&routers, &function))).unwrap();
                }
            }
        }
    }
    for (name, text) in LISTS {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.txt"));
        fs::write(&file, text).unwrap();
        let found = match parse(&format!("graph:{}", file.display()), 2) {
            Ok(topology) => format!("links {:08x} {:?}", crc(&links(&*topology)), Survey::of(&*topology)),
            Err(error) => error.to_string().replace(&file.display().to_string(), "FILE"),
        };
        writeln!(list, "graph {name}: {found}").unwrap();
    }
    let missing: Vec<_> =
        TOPOLOGIES.rows().iter().map(|row| row.component.name).filter(|name| !families.contains(name)).collect();
    assert_eq!(missing, ["graph"], "a family without a size");
    same("links_and_routes", &list);
}

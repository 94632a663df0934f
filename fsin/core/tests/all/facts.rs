//! What topologies say of themselves: capacities, distances, names, failures, tables of routes, and why wrong ones are
//! refused; each beside what it was.

use std::fmt::{Debug, Write as _};
use std::path::Path;
use std::sync::Arc;

use fsin_core::failures::{self, Failures, Timetable};
use fsin_core::route::given::{Form, read, write};
use fsin_core::route::{Routers, balance, proof::Network as _};
use fsin_core::topology::{
    self, Capacities, Distances, Faults, Spans, Survey, Topology, cuts, dead_link_name, least_busiest_load, links_of,
    node_name, parse, port_name, way_back,
};
use fsin_core::view::Occupancy;
use fsin_core::wiring::Wiring;
use trgen::rng::mix2;
use trgen::trace::placement::Distance;
use trgen::{NodeId, catalog::SpecError};

use super::{TOPOLOGIES_OF_ALL, crc, kept, same};

/// The endpoints of a topology, or some of them where there are many.
fn some(topology: &dyn Topology) -> Vec<NodeId> {
    let endpoints = topology.endpoints();
    (0..endpoints).step_by(endpoints.div_ceil(20)).map(NodeId::at).collect()
}

/// Text that grows by lines.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn say(&mut self, name: &str, what: &dyn Debug) {
        writeln!(self.0, "{name}: {what:?}").unwrap();
    }
}

/// What a topology says of itself.
fn said(shared: &Arc<dyn Topology>) -> String {
    let topology = &**shared;
    let mut lines = Lines::default();
    let (shape, geometry) = (topology.shape(), topology.geometry());
    lines.say("spec", &(topology.spec(), geometry.sizes(), shape, topology.is_grid(), topology.is_vertex_transitive()));
    lines.say("nodes", &(topology.nodes(), topology.endpoints(), topology.faults(), topology.outputs().count()));
    let names = (0..topology.nodes()).map(|node| node_name(topology, NodeId::at(node)));
    lines.say("names", &names.collect::<Vec<_>>());
    lines.say("ports", &(0..shape.ports()).map(|port| port_name(topology, port)).collect::<Vec<_>>());
    if topology.switched().is_none() {
        let outputs = topology.outputs();
        lines.say("back", &outputs.all().map(|(node, port)| way_back(topology, node, port)).collect::<Vec<_>>());
    }
    lines.say("links", &links_of(topology));
    let capacities = Capacities::of(topology);
    lines.say("capacities", &(capacities.total(), capacities.leaving(), capacities.entering()));
    lines.say("cuts", &cuts(topology, &capacities));
    let unequal = Capacities::limited(topology, |node, port| 1.0 / (1 + (node.index() + port.index()) % 3) as f64);
    lines.say("cuts of unequal links", &(unequal.total(), cuts(topology, &unequal)));
    let survey = Survey::with(topology, &unequal);
    lines.say("loads", &(survey.hops(), survey.exchange_load(), least_busiest_load(topology)));
    lines.say("farthest", &Spans::of(topology, |_, _| Some(3)).farthest());
    let unlike = |node: NodeId, port: topology::Port| {
        let number = mix2(node.index() as u64, port.index() as u64);
        (!number.is_multiple_of(9)).then_some(number % 50)
    };
    lines.say("farthest of unequal links", &Spans::of(topology, unlike).farthest());
    let ends = some(topology);
    let pairs = || ends.iter().flat_map(|&from| ends.iter().map(move |&to| (from, to)));
    lines.say("offsets", &pairs().map(|(from, to)| topology.routes(from, to)).collect::<Vec<_>>());
    for distances in [Distances::few(shared.clone()), Distances::many(shared.clone())] {
        let hops = distances.map(|distances| pairs().map(|(from, to)| distances.hops(from, to)).collect::<Vec<_>>());
        lines.say("distances", &hops);
    }
    if let Ok(wiring) = Wiring::new(topology) {
        let ports: Vec<_> = (0..wiring.hosts + wiring.switches).map(|device| wiring.ports(device)).collect();
        lines.say("wiring", &(wiring.links(), ports, wiring.router_outputs()));
        let mut occupancy = Occupancy::default();
        let crossed: Vec<u64> = (0..wiring.links().len() as u64).map(|port| port * 5 % 13).collect();
        wiring.show(|port| port as u32 % 11, &crossed, &mut occupancy);
        lines.say("shown", &occupancy);
        lines.say("homes", &(0..wiring.hosts).map(|host| wiring.home(host)).collect::<Vec<_>>());
        let farthest = Spans::of_wiring(&wiring, |port| Some(port as u64 % 7)).farthest();
        lines.say("farthest by wiring", &farthest);
    }
    lines.0
}

fn refused(error: &SpecError) -> String {
    format!("refused: {error}; {}", error.remedy())
}

/// What failures do to a topology.
fn failing(whole: &Arc<dyn Topology>, failures: &Failures) -> String {
    let mut lines = Lines::default();
    lines.say("failures", failures);
    lines.say("unreachable", &failures.unreachable(&**whole).as_ref().map(refused));
    lines.say("warnings", &failures.warnings(&**whole).iter().map(ToString::to_string).collect::<Vec<_>>());
    lines.say("phases", &failures.phases().collect::<Vec<_>>());
    for topology in failures.topologies(whole) {
        let dead: Vec<_> = topology.dead_links().iter().map(|dead| dead_link_name(&*topology, dead)).collect();
        let ports = failures::dead_ports(&topology.dead_links());
        lines.say("dead", &(topology.spec(), topology.faults(), dead, failures::parts(&**whole, &ports)));
    }
    let timetable = Timetable::new(failures.clone(), whole);
    lines.say("outages", &timetable.outages());
    lines.say("later", &timetable.later().map(|(at, topology)| (at, topology.faults())).collect::<Vec<_>>());
    lines.0
}

/// Balanced routes as tables, which are read as they were written.
fn tables(topology: &dyn Topology) -> String {
    let routers = Routers::new(topology).unwrap();
    let mut found = Vec::new();
    for vcs in [None, Some(4)] {
        let balanced = match balance(&routers, vcs, 3) {
            Ok(balanced) => balanced,
            Err(error) => return refused(&error),
        };
        let loads = balanced.table.loads(&routers, balanced.vcs);
        found.push(format!("{} channels, {:?}, {}", balanced.vcs, loads.busiest(), loads.mean()));
        for form in [Form::Hops, Form::Paths] {
            let mut written = Vec::new();
            match write(&balanced.table, &routers, form, &mut written) {
                Err(error) => found.push(error.to_string()),
                Ok(()) => {
                    let text = String::from_utf8(written).unwrap();
                    let table = read(&text, &routers)
                        .unwrap_or_else(|error| panic!("{} {form:?}: {error}\n{text}", topology.spec()));
                    let mut again = Vec::new();
                    write(&table, &routers, form, &mut again).unwrap();
                    assert_eq!(String::from_utf8(again).unwrap(), text, "{}", topology.spec());
                    found.push(format!("{:08x} with {}", crc(&text), table.least_channels()));
                    // A table without its last rows, without a column, and with a hop too far.
                    let short = &text[..text.len() * 2 / 3];
                    let narrow: String =
                        text.lines().map(|line| format!("{}\n", line.rsplit_once(',').unwrap_or_default().0)).collect();
                    let far = text.replacen(",1", ",9999", 3);
                    found.extend([short, &narrow, &far].map(|text| match read(text, &routers) {
                        Ok(table) => format!("read: {}", table.has_choices()),
                        Err(error) => format!("{:08x}", crc(&refused(&error))),
                    }));
                }
            }
        }
    }
    let names = (0..routers.routers()).map(|router| routers.name(router)).collect::<Vec<_>>();
    found.push(format!("{:08x} {}", crc(&format!("{names:?}")), routers.has_parallel_links()));
    found.join("\n")
}

#[test]
fn topologies_say_what_they_said() {
    let mut list = String::new();
    for (spec, ways) in TOPOLOGIES_OF_ALL.into_iter().flat_map(|spec| [(spec, 2), (spec, 1)]) {
        let whole: Arc<dyn Topology> = match parse(spec, ways) {
            Ok(topology) if ways == 1 && topology.switched().is_some() => continue,
            Ok(topology) => topology.into(),
            Err(error) => {
                writeln!(list, "{spec} {ways}: {}", refused(&error)).unwrap();
                continue;
            }
        };
        let draws: Vec<u64> = (0..12).map(|number| mix2(number, 5)).collect();
        let drawn = failures::drawn(&*whole, &draws, 1_000);
        let mut found = vec![said(&whole), tables(&*whole), failing(&whole, &drawn)];
        for (count, one_way) in [(1, false), (3, false), (2, true), (500, false)] {
            let faults = Faults { count, one_way, seed: 7 };
            found.push(match topology::parse_with_faults(spec, ways, &faults) {
                Ok(damaged) => {
                    let damaged: Arc<dyn Topology> = damaged.into();
                    said(&damaged) + &tables(&*damaged)
                }
                Err(error) => refused(&error),
            });
        }
        let names = ["whole", "tables", "failing", "1 dead", "3 dead", "2 dead one way", "500 dead"];
        let sums = names
            .into_iter()
            .zip(found)
            .map(|(name, found)| format!("{name} {:08x}", kept("facts", &format!("{spec} {ways} {name}"), &found)));
        writeln!(list, "{spec} {ways}: {}", sums.collect::<Vec<_>>().join(", ")).unwrap();
    }
    same("facts", &list);
}

#[test]
fn failures_are_read_as_they_were() {
    let words = [
        "link:0-1@0",
        "link:0-1@7",
        "link:0-1@5us",
        "link:1-0@5us,repair:link:0-1@9us",
        "node:2@3ms",
        "node:2@3,node:2@4",
        "class:dimension 0#2@0",
        "class:dimension 0@4,repair:class:dimension 0#1@9",
        "class:level 1 to 2#1@5",
        "class:no#1@5",
        "link:0-0@5",
        "link:0-99@5",
        "link:a-b@5",
        "repair:link:0-1@5",
        "link:0-1@5,link:0-1@5",
        "link:0-1#2@5",
        "node:0@18446744073709551615s",
        "node:@5",
        "link:0-1",
        "0-1@5",
        "",
        "@",
    ];
    let mut list = String::new();
    for spec in ["torus:3x4", "mesh:3x3", "fattree:3,2", "dragonfly:p=1,a=3,h=2", "hyperx:3x3:2"] {
        let whole: Arc<dyn Topology> = parse(spec, 2).unwrap().into();
        let mut found_here = String::new();
        for word in words {
            for cycle in [(1, 1), (1_000, 3)] {
                let found = match Failures::parse(word, Path::new("nowhere"), &*whole, 3, cycle) {
                    Ok(failures) => format!("{:08x}", crc(&failing(&whole, &failures))),
                    Err(error) => refused(&error),
                };
                writeln!(found_here, "{word} {cycle:?}: {found}").unwrap();
            }
        }
        writeln!(list, "{spec}: {:08x}", kept("failures", spec, &found_here)).unwrap();
    }
    same("failures", &list);
}

#[test]
fn wrong_topologies_are_refused_as_they_were() {
    let mut list = String::new();
    for spec in TOPOLOGIES_OF_ALL {
        let digit = spec.find(|letter: char| letter.is_ascii_digit()).unwrap();
        let last = spec.rfind(|letter: char| letter.is_ascii_digit()).unwrap();
        let (family, rest) = spec.split_once(':').unwrap();
        let wrong = [
            format!("{}0{}", &spec[..digit], &spec[digit + 1..]),
            format!("{}1{}", &spec[..digit], &spec[digit + 1..]),
            format!("{}7{}", &spec[..last], &spec[last + 1..]),
            format!("{}99999{}", &spec[..digit], &spec[digit + 1..]),
            format!("{}-2{}", &spec[..last], &spec[last + 1..]),
            format!("{spec},x=3"),
            format!("{spec}:"),
            format!("{spec}x3"),
            format!("{family}:"),
            format!("{family}:{},{rest}", rest.split(',').next().unwrap()),
            family.to_owned(),
            format!("{family}s:{rest}"),
            spec.replace(',', "x"),
            spec.replace('=', ":"),
        ];
        let mut found_here = String::new();
        for wrong in wrong {
            let found = match parse(&wrong, 2) {
                Ok(topology) => format!("{} nodes", topology.nodes()),
                Err(error) => refused(&error),
            };
            writeln!(found_here, "{wrong}: {found}").unwrap();
        }
        writeln!(list, "{spec}: {:08x}", kept("wrong", spec, &found_here)).unwrap();
    }
    same("wrong_topologies", &list);
}

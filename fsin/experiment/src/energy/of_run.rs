//! The counts of a run.

use fsin_core::network::{EventEnd, PortFigures, RouterEvents};
use fsin_core::run::Outcome;
use fsin_core::topology::switched::BETWEEN_SWITCHES;
use fsin_core::topology::{Port, Topology};
use trgen::NodeId;
use trgen::catalog::SpecError;

use super::counts::{BORDER, Channel, ChannelKind, Counts, Hosts, Ports, RouterCounts};
use super::events::NETWORK;
use super::{Estimate, Named};
use crate::execute::link_packets;
use crate::resolve::Experiment;

/// \[b/s\] The rate of a link that takes a phit in each cycle.
fn rate_of(experiment: &Experiment) -> f64 {
    let bits = f64::from(experiment.units.phit_bytes) * 8.0 * experiment.units.capacity;
    if experiment.cycle_seconds > 0.0 { bits / experiment.cycle_seconds } else { 0.0 }
}

/// The class of the links that leave a node through a port, as tables name it.
fn class_of(topology: &dyn Topology, node: NodeId, port: Port) -> String {
    let is_end = |node: NodeId| topology.switched().is_some() && node.index() < topology.endpoints();
    if is_end(node) || topology.neighbour(node, port).is_some_and(is_end) {
        return "host".to_owned();
    }
    let classes = topology.link_classes();
    match classes.get(topology.link_class(node, port)).map(String::as_str) {
        Some("within groups") => "local".to_owned(),
        Some("between groups") => "global".to_owned(),
        None | Some(BETWEEN_SWITCHES) => NETWORK.to_owned(),
        Some(other) => other.replace(' ', "-"),
    }
}

/// The counts of a run over a network with links; `None` without links. `events` are those of routers, if the model
/// counts them; `ports` are figures of ports, if the model has them: they have the bits of each link, also if packets
/// differ in length.
pub(crate) fn counts_of_run(
    experiment: &Experiment,
    outcome: &Outcome,
    events: Option<&[RouterEvents]>,
    ports: &[PortFigures],
) -> Option<Counts> {
    let topology = &**experiment.topology()?;
    let units = experiment.units;
    let has_flits = events.is_some() || units.is_padded;
    let flit_bits = f64::from(units.phit_bytes) * 8.0;
    let by_ports = ports.iter().any(|port| port.bits.is_some());
    let cycles = if by_ports { outcome.cycles } else { outcome.measured_cycles() } as f64;
    let received = if by_ports { &outcome.totals } else { &outcome.measured.counts };
    let packets = |packets: u64, short: u64| (packets as f64) * f64::from(units.packet_phits) - short as f64;
    let delivered = packets(received.received, received.short.received) * flit_bits;
    let injected = packets(received.injected, received.short.injected) * flit_bits;
    let mut counts = Counts {
        case: String::new(),
        subnet: 0,
        cycles,
        seconds: Some(cycles * experiment.cycle_seconds),
        width: None,
        flit_bits,
        has_flits,
        buffers: None,
        delivered_bits: Some(delivered.max(0.0)),
        channels: Vec::new(),
        routers: Vec::new(),
        hosts: vec![Hosts {
            class: "host".to_owned(),
            nodes: outcome.nodes as u64,
            bits: (delivered + injected).max(0.0),
        }],
    };
    match events {
        Some(events) => of_events(&mut counts, experiment, topology, events),
        None if by_ports => of_ports(&mut counts, experiment, topology, ports),
        None => of_links(&mut counts, experiment, topology, outcome),
    }
    Some(counts)
}

/// Links and routers by the flits from each input to each output.
fn of_events(counts: &mut Counts, experiment: &Experiment, topology: &dyn Topology, events: &[RouterEvents]) {
    let settled = experiment.network.settled();
    let value = |name: &str| settled.iter().find(|(key, _)| *key == name).and_then(|(_, value)| value.parse().ok());
    counts.buffers = value("vcs").zip(value("buffer"));
    let rate = rate_of(experiment);
    for router in events {
        let (inputs, outputs) = (router.inputs.len(), router.outputs.len());
        let reads: Vec<u64> = router.traversals.chunks(outputs.max(1)).map(|row| row.iter().sum()).collect();
        for (at, link) in router.inputs.iter().enumerate().filter(|(_, link)| link.end == EventEnd::Endpoint) {
            let flits = vec![reads[at] as f64];
            let (kind, class) = (ChannelKind::Injection, "host".to_owned());
            counts.channels.push(Channel { kind, class, latency: link.delay, rate, flits });
        }
        for (at, link) in router.outputs.iter().enumerate() {
            let flits: u64 = router.traversals.iter().skip(at).step_by(outputs).sum();
            let (kind, class) = match link.end {
                EventEnd::Endpoint => (ChannelKind::Ejection, "host".to_owned()),
                EventEnd::Router => (ChannelKind::Network, class_of(topology, router.node, Port(link.port.into()))),
                EventEnd::Nothing => (ChannelKind::Network, BORDER.to_owned()),
            };
            counts.channels.push(Channel { kind, class, latency: link.delay, rate, flits: vec![flits as f64] });
        }
        counts.routers.push(RouterCounts {
            class: "router".to_owned(),
            routers: 1,
            inputs,
            outputs,
            flits: reads.iter().map(|&flits| flits as f64).sum(),
            ports: Some(Ports { writes: reads.clone(), reads, traversals: router.traversals.clone() }),
        });
    }
}

/// Links and routers by the packets on links.
fn of_links(counts: &mut Counts, experiment: &Experiment, topology: &dyn Topology, outcome: &Outcome) {
    let links = link_packets(topology, &outcome.crossings);
    let (rate, length) = (rate_of(experiment), f64::from(experiment.units.packet_phits));
    // Mean length of packets: short packets are counted in full by `crossings`.
    let received = &outcome.measured.counts;
    let full = received.received as f64 * length;
    let share = if full > 0.0 { 1.0 - received.short.received as f64 / full } else { 1.0 };
    let network = topology.switched();
    let first = if network.is_some() { topology.endpoints() } else { 0 };
    let mut passed = 0.0;
    let mut outputs = 0;
    for (node, ports) in links.iter().enumerate() {
        for (port, packets) in ports.iter().enumerate() {
            let Some(packets) = packets else { continue };
            let (node, port) = (NodeId::at(node), Port::at(port));
            let flits = *packets as f64 * length * share;
            let pace = network.map_or(1, |network| network.pace(node, port).crossing());
            let kind = match (node.index() < first, topology.neighbour(node, port)) {
                (true, _) => ChannelKind::Injection,
                (false, Some(there)) if there.index() < first => ChannelKind::Ejection,
                _ => ChannelKind::Network,
            };
            if kind != ChannelKind::Injection {
                passed += flits;
                outputs += 1;
            }
            let class = class_of(topology, node, port);
            let latency = 1 + topology.wire(node, port);
            counts.channels.push(Channel { kind, class, latency, rate: rate / f64::from(pace), flits: vec![flits] });
        }
    }
    let routers = topology.nodes() - first;
    if network.is_none() {
        // The ports to the nodes themselves are not links of the topology.
        passed += counts.delivered_bits.unwrap_or(0.0) / counts.flit_bits;
        outputs += routers;
    }
    push_routers(counts, routers, outputs, passed);
}

/// Links and routers by the bits that ports have sent.
fn of_ports(counts: &mut Counts, experiment: &Experiment, topology: &dyn Topology, ports: &[PortFigures]) {
    use fsin_core::capture::Place;
    let usual = rate_of(experiment);
    let network = topology.switched();
    let (mut passed, mut outputs) = (0.0, 0);
    for port in ports {
        let flits = port.bits.unwrap_or(0.0) / counts.flit_bits;
        let kind = match (port.at.place, port.to.place) {
            (Place::Host(_), _) => ChannelKind::Injection,
            (_, Place::Host(_)) => ChannelKind::Ejection,
            _ => ChannelKind::Network,
        };
        let class = match (kind, port.at.place) {
            (ChannelKind::Network, Place::Switch(node)) => {
                // At a switch of a direct network the port to the host follows all others.
                class_of(topology, node, Port::at(port.at.port))
            }
            _ => "host".to_owned(),
        };
        if kind != ChannelKind::Injection {
            passed += flits;
            outputs += 1;
        }
        let rate = port.rate.unwrap_or(usual);
        counts.channels.push(Channel { kind, class, latency: 1, rate, flits: vec![flits] });
    }
    let routers = topology.nodes() - if network.is_some() { topology.endpoints() } else { 0 };
    push_routers(counts, routers, outputs, passed);
}

/// Adds `routers` routers with `outputs` output ports in total.
fn push_routers(counts: &mut Counts, routers: usize, outputs: usize, flits: f64) {
    if routers == 0 {
        return;
    }
    let each = outputs.div_ceil(routers);
    counts.routers.push(RouterCounts {
        class: "router".to_owned(),
        routers: routers as u64,
        inputs: each,
        outputs: each,
        flits,
        ports: None,
    });
}

/// The energy of a run by a model.
///
/// # Errors
/// Those of the model; a network without links.
pub(crate) fn energy_of(named: &Named, counts: Option<&Counts>) -> Result<Estimate, SpecError> {
    match counts {
        Some(counts) => named.model.estimate(counts),
        None => Err(no_links()),
    }
}

/// The classes of the links of a topology, as tables name them.
pub(crate) fn classes_of(topology: &dyn Topology) -> Vec<String> {
    let nodes = (0..topology.nodes()).map(NodeId::at);
    let links = nodes.flat_map(|node| topology.ports_of(node).map(move |port| (node, port)));
    let links = links.filter(|&(node, port)| topology.neighbour(node, port).is_some());
    let mut classes: Vec<String> = links.map(|(node, port)| class_of(topology, node, port)).collect();
    classes.sort_unstable();
    classes.dedup();
    classes
}

/// The error for a network that does not count flits at routers, for the model of that name.
pub(crate) fn no_routers(model: &str) -> SpecError {
    let what = format!(
        "the energy model {model} needs the flits from each input to each output of each router, which this network does \
         not count"
    );
    SpecError::new(trgen::catalog::ErrorKind::Unsupported, what, "use network wormhole, or the energy model events")
        .of("energy")
}

/// The error for counts whose time is not known, for tables with static powers.
pub(crate) fn no_time() -> SpecError {
    let what = "the table has static powers, and the time of these counts is not known";
    let remedy = "say the length of a cycle, such as 1ns, with the flag cycle";
    SpecError::new(trgen::catalog::ErrorKind::Unsupported, what, remedy).of("energy")
}

/// The error for a network without links.
pub(crate) fn no_links() -> SpecError {
    let what = "energy is that of links and routers, of which this network has none";
    SpecError::new(trgen::catalog::ErrorKind::Unsupported, what, "use a network with a topology").of("energy")
}

//! Hosts, switches and full-duplex links between their ports, as models of local area networks see a topology.
//!
//! Devices are numbered hosts first. In a network of switches they are the topology's endpoints and switches. In a
//! direct network each node is a switch with a host of its own: host `i` is device `i`, its switch device `hosts + i`,
//! and the link between them is none of the topology's: it has no port number below [`Wiring::node_ports`] and is not
//! counted among the hops.
//!
//! A port sends and receives. The link that leaves through it has its number; the ports of all devices are numbered in
//! one row, device by device.

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};

use crate::route::Links;
use crate::topology::{Outputs, Port, Topology};
use crate::view::Occupancy;

/// Maximum number of hosts: pairs of hosts are keys of tables.
const MAX_HOSTS: usize = 1 << 24;

/// A port, and the link that leaves through it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// The port at the other end.
    pub peer: u32,
    /// The device whose port this is.
    pub owner: u32,
    /// The device at the other end.
    pub device: u32,
    /// Number of the port at its device, as users know it.
    pub number: u32,
    /// True if the other end is a switch.
    pub is_to_switch: bool,
    /// True if the link is one of the topology's.
    pub is_visible: bool,
}

/// Hosts, switches, and the links between their ports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wiring {
    /// Number of hosts.
    pub hosts: usize,
    /// Number of switches.
    pub switches: usize,
    /// Number of ports of each node of the topology, or the greatest.
    pub node_ports: usize,
    /// The ports of all nodes of the topology in one row.
    outputs: Outputs,
    /// Number of nodes of the topology.
    node_count: usize,
    /// True for a network of switches.
    is_switched: bool,
    /// By device: the number of its first port; then the number of all ports.
    starts: Vec<u32>,
    /// By port: the link that leaves through it.
    links: Vec<Link>,
}

impl Wiring {
    /// The wiring of a topology.
    ///
    /// # Errors
    /// Too many hosts; a link that leads only one way.
    pub fn new(topology: &dyn Topology) -> Result<Self, SpecError> {
        let is_switched = topology.shape().is_switched();
        let (hosts, nodes) = (topology.endpoints(), topology.nodes());
        let switches = if is_switched { nodes - hosts } else { nodes };
        if hosts > MAX_HOSTS {
            let what = format!("{} has {hosts} hosts", topology.spec());
            return Err(SpecError::new(ErrorKind::TooLarge, what, format!("use at most {MAX_HOSTS}")).of("topology"));
        }
        let node_ports = topology.shape().ports();
        let (starts, links) = (vec![0], Vec::new());
        let outputs = topology.outputs();
        let ends = Ends::new(topology, outputs.clone())?;
        let mut new = Self { hosts, switches, node_ports, outputs, node_count: nodes, is_switched, starts, links };
        for device in 0..hosts + switches {
            let is_host = device < hosts;
            if is_switched || !is_host {
                for (port, _) in ends.of_node(new.node(device).index()) {
                    new.add(device, port, true);
                }
            }
            if !is_switched {
                new.add(device, if is_host { 0 } else { node_ports }, false);
            }
            new.starts.push(new.links.len() as u32);
        }
        new.connect(&ends);
        Ok(new)
    }

    /// Adds a port of device `owner`. `number` is its number there.
    fn add(&mut self, owner: usize, number: usize, is_visible: bool) {
        let (peer, device, is_to_switch) = (u32::MAX, u32::MAX, false);
        self.links.push(Link { peer, owner: owner as u32, device, number: number as u32, is_to_switch, is_visible });
    }

    /// Sets the other end of every port.
    fn connect(&mut self, ends: &Ends) {
        for port in 0..self.links.len() {
            let Link { owner, number, is_visible, .. } = self.links[port];
            let device = owner as usize;
            let (there, at) = match is_visible {
                true => {
                    let (there, back) = ends.other_end(self.node(device).index(), number as usize);
                    (if self.is_switched { there } else { self.hosts + there }, back)
                }
                // A host of a direct network and its switch.
                false if device < self.hosts => (self.hosts + device, self.node_ports),
                false => (device - self.hosts, 0),
            };
            let peer = self.numbered(there, at);
            // Each port was added with its other end.
            let peer = peer.unwrap_or(port);
            let link = &mut self.links[port];
            (link.peer, link.device, link.is_to_switch) = (peer as u32, there as u32, there >= self.hosts);
        }
    }

    /// All links, by the port through which they leave.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The port with a number at its device. The ports of a device are in the order of their numbers.
    fn numbered(&self, device: usize, number: usize) -> Option<usize> {
        let ports = self.ports(device);
        let at = self.links[ports.clone()].partition_point(|link| (link.number as usize) < number);
        ports.clone().nth(at).filter(|&port| self.links[port].number as usize == number)
    }

    /// The ports of a device.
    #[must_use]
    #[inline]
    pub fn ports(&self, device: usize) -> std::ops::Range<usize> {
        self.starts[device] as usize..self.starts[device + 1] as usize
    }

    /// The port of a link of the topology, by the node and port that it leaves.
    #[must_use]
    pub fn port_of(&self, node: NodeId, port: Port) -> Option<usize> {
        let device = node.index() + if self.is_switched { 0 } else { self.hosts };
        self.numbered(device, port.index()).filter(|&port| self.links[port].is_visible)
    }

    /// The place of the link that leaves a router through a port of the topology, among those of all routers.
    #[must_use]
    #[inline]
    pub fn output_of(&self, router: usize, port: usize) -> usize {
        let first = if self.is_switched { self.hosts } else { 0 };
        self.outputs.at(router + first, port) - self.outputs.first(first)
    }

    /// Number of ports of all routers.
    #[must_use]
    pub fn router_outputs(&self) -> usize {
        self.outputs.count() - self.outputs.first(if self.is_switched { self.hosts } else { 0 })
    }

    /// True if a device is a host.
    #[must_use]
    #[inline(always)]
    pub const fn is_host(&self, device: u32) -> bool {
        (device as usize) < self.hosts
    }

    /// The only port of a host.
    #[must_use]
    #[inline(always)]
    pub fn host_port(&self, host: u32) -> usize {
        self.starts[host as usize] as usize
    }

    /// The switch of a host, by its number among switches, and the port there that leads to the host.
    #[must_use]
    pub fn home(&self, host: usize) -> (usize, usize) {
        let link = &self.links[self.host_port(host as u32)];
        (link.device as usize - self.hosts, link.peer as usize)
    }

    /// \[links\] Links on the way between two hosts that are not links of the topology.
    #[must_use]
    pub const fn hidden_hops(&self) -> u64 {
        if self.is_switched { 0 } else { 2 }
    }

    /// The node of the topology to which a device belongs.
    #[must_use]
    pub fn node(&self, device: usize) -> NodeId {
        NodeId::at(if self.is_switched || device < self.hosts { device } else { device - self.hosts })
    }

    /// By switch: its ports that lead to other switches and satisfy `is_left`, each with the switch at the other end.
    #[must_use]
    pub fn links_between_switches(&self, is_left: impl Fn(usize) -> bool) -> Links {
        let links_of = |switch: usize| {
            let ports = self.ports(self.hosts + switch);
            let ports = ports.filter(|&port| self.links[port].is_to_switch && is_left(port));
            ports.map(|port| (port as u32, self.links[port].device - self.hosts as u32)).collect()
        };
        (0..self.switches).map(links_of).collect()
    }

    /// Writes the lengths of queues, by port, and the packets that links have carried.
    pub fn show(&self, waiting: impl Fn(usize) -> u32, crossed: &[u64], into: &mut Occupancy) {
        into.reset_outputs(self.node_count, &self.outputs);
        if !crossed.is_empty() {
            into.crossed.resize(self.outputs.count(), 0);
        }
        for (port, link) in self.links.iter().enumerate() {
            let node = self.node(link.owner as usize).index();
            if link.is_visible {
                let at = self.outputs.at(node, link.number as usize);
                into.transit[at] += waiting(port);
                if let Some(&packets) = crossed.get(port) {
                    into.crossed[at] = packets;
                }
            } else if let Some(injection) = into.injection.get_mut(node) {
                *injection += waiting(port);
            }
        }
    }
}

/// By port of the topology: the node at the other end, and the port there that leads back.
struct Ends {
    /// The ports of all nodes in one row.
    outputs: Outputs,
    /// By output: the node at the other end, and the port there that leads back.
    ends: Vec<Option<(u32, u32)>>,
}

impl Ends {
    fn new(topology: &dyn Topology, outputs: Outputs) -> Result<Self, SpecError> {
        let nodes: Vec<Option<NodeId>> = outputs.all().map(|(node, port)| topology.neighbour(node, port)).collect();
        let mut ends = vec![None; outputs.count()];
        for (output, (node, port)) in outputs.all().enumerate() {
            let Some(there) = nodes[output] else { continue };
            let back = match topology.switched() {
                Some(network) => network.fabric().back(node, port),
                None => way_back(&outputs, &nodes, node, port, there),
            };
            let back = back.ok_or_else(|| {
                let what = format!("a link of {} leads from node {node} to {there} only one way", topology.spec());
                let remedy = "use links that lead both ways: they are full duplex in this model";
                SpecError::new(ErrorKind::Unsupported, what, remedy).of("topology")
            })?;
            ends[output] = Some((there.0, back.0));
        }
        Ok(Self { outputs, ends })
    }

    /// The linked ports of a node, each with its other end.
    fn of_node(&self, node: usize) -> impl Iterator<Item = (usize, (u32, u32))> + '_ {
        let ends = self.ends[self.outputs.of(node)].iter().enumerate();
        ends.filter_map(|(port, end)| Some((port, (*end)?)))
    }

    /// The other end of a linked port: node, and the port there that leads back.
    fn other_end(&self, node: usize, port: usize) -> (usize, usize) {
        let end = self.ends[self.outputs.at(node, port)];
        end.map_or((node, port), |(there, back)| (there as usize, back as usize))
    }
}

/// The port of node `there` of a direct network that leads back over the link that leaves `node` through `port`. By
/// output, `nodes` has the node at the other end. Where several links join the same two nodes, the n-th links of both
/// directions belong together.
fn way_back(outputs: &Outputs, nodes: &[Option<NodeId>], node: NodeId, port: Port, there: NodeId) -> Option<Port> {
    let leading = |from: NodeId, to: NodeId| {
        let ends = nodes[outputs.of(from.index())].iter().enumerate();
        ends.filter(move |&(_, end)| *end == Some(to)).map(|(port, _)| Port(port as u32))
    };
    let rank = leading(node, there).take_while(|&before| before != port).count();
    leading(there, node).nth(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_both_ways() {
        for spec in [
            "torus:4x3",
            "torus:2x2",
            "mesh:3x3",
            "hypercube:3",
            "circulant:8:1,4",
            "fattree:2,3",
            "slimtree:4,2,2",
            "dragonfly:p=1,a=2,h=1",
            "hyperx:3x2:2",
            "dragonfly:p=2,a=4,h=2,g=4",
            "icube:2x2:1",
            "cmesh:3x2:2",
        ] {
            let topology = crate::topology::parse(spec, 2).unwrap();
            let wiring = Wiring::new(&*topology).unwrap();
            let mut visible = 0;
            for (port, link) in wiring.links.iter().enumerate() {
                let back = &wiring.links[link.peer as usize];
                assert_eq!((back.peer as usize, back.device, back.owner), (port, link.owner, link.device), "{spec}");
                assert_eq!(back.is_visible, link.is_visible, "{spec}");
                visible += usize::from(link.is_visible);
            }
            for host in 0..wiring.hosts {
                let (switch, port) = wiring.home(host);
                assert_eq!(wiring.ports(host).len(), 1, "{spec}");
                assert_eq!(wiring.links[port].device as usize, host, "{spec}");
                assert_eq!(wiring.links[port].owner as usize, wiring.hosts + switch, "{spec}");
            }
            let ports = (0..topology.nodes()).flat_map(|node| (0..wiring.node_ports).map(move |port| (node, port)));
            let linked = ports.filter(|&(node, port)| topology.neighbour(NodeId::at(node), Port::at(port)).is_some());
            assert_eq!(linked.count(), visible, "{spec}");
        }
    }

    #[test]
    fn one_way_links_are_refused() {
        let topology = crate::topology::parse("torus:4", 1).unwrap();
        let error = Wiring::new(&*topology).unwrap_err();
        assert!(error.to_string().contains("only one way"), "{error}");
    }
}

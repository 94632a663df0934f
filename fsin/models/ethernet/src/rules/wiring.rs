//! Hosts, switches, and the links between their ports.
//!
//! Devices are numbered hosts first. In a network of switches they are the topology's endpoints and switches. In a
//! direct network each node is a switch with a host of its own: host `i` is device `i`, its switch device `hosts + i`,
//! and the link between them, of the usual rate and delay, is none of the topology's: it has no port number below
//! [`Wiring::node_ports`] and is not counted among the hops.
//!
//! A port sends and receives. The link that leaves through it has its number; the ports of all devices are numbered in
//! one row, device by device.

use fsin_core::capture::{Interface, Place};
use fsin_core::topology::{Port, Topology};
use fsin_core::view::Occupancy;
use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};

use super::frame::{GAP_BITS, HEADER, MAX_WIRE, MIN_WIRE, NONE, bit_time};
use crate::params::{MAX_TIME, Params, RATES};

/// Most hosts: pairs of them are keys of timers.
const MAX_HOSTS: usize = 1 << 24;

/// A port, and the link that leaves through it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(64))]
pub(crate) struct Link {
    /// The port at the other end.
    pub(crate) peer: u32,
    /// The device whose port this is.
    pub(crate) owner: u32,
    /// The device at the other end.
    pub(crate) device: u32,
    /// Number of the port at its device, as users know it.
    pub(crate) number: u16,
    /// The other end is a switch.
    pub(crate) is_to_switch: bool,
    /// The link is one of the topology's.
    pub(crate) is_visible: bool,
    /// \[b/s\]
    pub(crate) rate: u64,
    /// \[ps\] Of propagation.
    pub(crate) delay: u64,
    /// \[ps\] Between two frames.
    pub(crate) gap: u64,
    /// \[ps\] Of preamble and header.
    pub(crate) header: u64,
    /// \[ps\] Of the longest frame, and of the shortest: most frames are one or the other.
    longest: u64,
    shortest: u64,
}

impl Link {
    /// \[ps\] Of a frame of this many bytes.
    #[inline(always)]
    pub(crate) const fn time(&self, bytes: u16) -> u64 {
        match bytes as u32 {
            MAX_WIRE => self.longest,
            MIN_WIRE => self.shortest,
            bytes => bit_time(8 * bytes, self.rate),
        }
    }
}

/// Who is linked with whom.
#[derive(Clone, Debug)]
pub(crate) struct Wiring {
    pub(crate) hosts: usize,
    pub(crate) switches: usize,
    /// Ports of a node of the topology.
    pub(crate) node_ports: usize,
    node_count: usize,
    /// True of a network of switches.
    is_switched: bool,
    /// By device: its first port; then the number of all.
    starts: Vec<u32>,
    pub(crate) links: Vec<Link>,
    /// \[frames\] By port: room of its queue. Apart from the links, each of which fills a cache line.
    pub(crate) rooms: Vec<u32>,
}

impl Wiring {
    pub(crate) fn new(topology: &dyn Topology, params: &Params) -> Result<Self, SpecError> {
        let is_switched = topology.shape().is_switched();
        let (hosts, nodes) = (topology.endpoints(), topology.nodes());
        let switches = if is_switched { nodes - hosts } else { nodes };
        if hosts > MAX_HOSTS {
            let what = format!("{} has {hosts} hosts", topology.spec());
            return Err(SpecError::new(ErrorKind::TooLarge, what, format!("use at most {MAX_HOSTS}")).of("topology"));
        }
        let node_ports = topology.shape().ports();
        let mut new = Self {
            hosts,
            switches,
            node_ports,
            node_count: nodes,
            is_switched,
            starts: vec![0],
            links: Vec::new(),
            rooms: Vec::new(),
        };
        let ends = Ends::new(topology)?;
        for device in 0..hosts + switches {
            if !is_switched {
                let number = if device < hosts { 0 } else { node_ports };
                if device >= hosts {
                    new.add_ports(topology, params, device, device - hosts, &ends)?;
                }
                new.add(device, number, params.link_rate, params.propagation, false);
                new.rooms.push(params.port_queue);
            } else {
                new.add_ports(topology, params, device, device, &ends)?;
            }
            new.starts.push(new.links.len() as u32);
        }
        new.connect(&ends);
        for link in &new.links {
            if link.is_to_switch {
                params.check_headroom(link.rate, link.delay)?;
            }
        }
        Ok(new)
    }

    /// The ports of a node of the topology.
    fn add_ports(
        &mut self,
        topology: &dyn Topology,
        params: &Params,
        device: usize,
        node: usize,
        ends: &Ends,
    ) -> Result<(), SpecError> {
        let notes = topology.switched().and_then(fsin_core::topology::Switched::notes);
        for (port, _) in ends.of(node) {
            let (node, port) = (NodeId::at(node), Port(port as u8));
            let note = notes.and_then(|notes| notes.of(node, port));
            let rate = note.and_then(|note| note.rate).unwrap_or(params.link_rate);
            let delay = note.and_then(|note| note.propagation).unwrap_or(params.propagation);
            let delay = delay.saturating_add(topology.wire(node, port).into());
            if !RATES.contains(&rate) || delay > MAX_TIME {
                let what = format!("a link of node {node} of {} has {rate} b/s and {delay} ps", topology.spec());
                let remedy = format!("use {} to {} b/s, and at most {MAX_TIME} ps", RATES.start(), RATES.end());
                return Err(SpecError::new(ErrorKind::OutOfRange, what, remedy).of("topology"));
            }
            let room = note.and_then(|note| note.queue);
            if let Some(room) = room {
                params.check_room(room)?;
            }
            self.add(device, port.index(), rate, delay, true);
            self.rooms.push(room.unwrap_or(params.port_queue));
        }
        Ok(())
    }

    fn add(&mut self, owner: usize, number: usize, rate: u64, delay: u64, is_visible: bool) {
        self.links.push(Link {
            peer: NONE,
            owner: owner as u32,
            device: NONE,
            number: number as u16,
            is_to_switch: false,
            is_visible,
            rate,
            delay,
            gap: bit_time(GAP_BITS, rate),
            header: bit_time(8 * HEADER, rate),
            longest: bit_time(8 * MAX_WIRE, rate),
            shortest: bit_time(8 * MIN_WIRE, rate),
        });
    }

    fn connect(&mut self, ends: &Ends) {
        for port in 0..self.links.len() {
            let Link { owner, number, is_visible, .. } = self.links[port];
            let device = owner as usize;
            let (there, at) = match is_visible {
                true => {
                    let node = self.node(device).index();
                    let (there, back) = ends.at(node, number.into());
                    (if self.is_switched { there } else { self.hosts + there }, back)
                }
                // A host of a direct network and its switch.
                false if device < self.hosts => (self.hosts + device, self.node_ports),
                false => (device - self.hosts, 0),
            };
            let peer = self.ports(there).find(|&port| usize::from(self.links[port].number) == at);
            // Each port was added with its other end.
            let peer = peer.unwrap_or(port);
            let link = &mut self.links[port];
            (link.peer, link.device, link.is_to_switch) = (peer as u32, there as u32, there >= self.hosts);
        }
    }

    /// The ports of a device.
    #[inline]
    pub(crate) fn ports(&self, device: usize) -> std::ops::Range<usize> {
        self.starts[device] as usize..self.starts[device + 1] as usize
    }

    /// True of a device that is a host.
    #[inline(always)]
    pub(crate) const fn is_host(&self, device: u32) -> bool {
        (device as usize) < self.hosts
    }

    /// The only port of a host.
    #[inline(always)]
    pub(crate) fn host_port(&self, host: u32) -> usize {
        self.starts[host as usize] as usize
    }

    /// The switch of a host, by its number among switches, and the port there that leads to the host.
    pub(crate) fn home(&self, host: usize) -> (usize, usize) {
        let link = &self.links[self.host_port(host as u32)];
        (link.device as usize - self.hosts, link.peer as usize)
    }

    /// \[links\] Between two hosts that are none of the topology's.
    pub(crate) const fn hidden_hops(&self) -> u64 {
        if self.is_switched { 0 } else { 2 }
    }

    /// The node of a device.
    pub(crate) fn node(&self, device: usize) -> NodeId {
        NodeId::at(if self.is_switched || device < self.hosts { device } else { device - self.hosts })
    }

    /// A port as users know it.
    pub(crate) fn interface(&self, port: usize) -> Interface {
        let Link { owner, number, .. } = self.links[port];
        Interface { place: self.place(owner as usize), port: number.into() }
    }

    /// A device as users know it.
    pub(crate) fn place(&self, device: usize) -> Place {
        let node = self.node(device);
        if device < self.hosts { Place::Host(node) } else { Place::Switch(node) }
    }

    /// Writes down the lengths of queues, by port, and the frames that links have carried.
    pub(crate) fn show(&self, waiting: impl Fn(usize) -> u32, crossed: &[u64], into: &mut Occupancy) {
        into.reset(self.node_count, self.node_ports);
        if !crossed.is_empty() {
            into.crossed.resize(self.node_count * self.node_ports, 0);
        }
        for (port, link) in self.links.iter().enumerate() {
            let node = self.node(link.owner as usize).index();
            if link.is_visible {
                let at = node * self.node_ports + usize::from(link.number);
                into.transit[at] += waiting(port);
                if let Some(&frames) = crossed.get(port) {
                    into.crossed[at] = frames;
                }
            } else if let Some(injection) = into.injection.get_mut(node) {
                *injection += waiting(port);
            }
        }
    }
}

/// The other end of each port of the topology, and the port there that leads back.
struct Ends {
    ports: usize,
    /// By node and port.
    ends: Vec<Option<(u32, u8)>>,
}

impl Ends {
    fn new(topology: &dyn Topology) -> Result<Self, SpecError> {
        let (nodes, ports) = (topology.nodes(), topology.shape().ports());
        let mut ends = vec![None; nodes * ports];
        // Of links between the same two nodes the first belong together.
        for node in 0..nodes {
            let mut seen: Vec<usize> = Vec::new();
            for port in order(topology, node) {
                let Some(there) = topology.neighbour(NodeId::at(node), port) else { continue };
                let rank = seen.iter().filter(|&&before| before == there.index()).count();
                seen.push(there.index());
                let back = order(topology, there.index())
                    .into_iter()
                    .filter(|&back| topology.neighbour(there, back) == Some(NodeId::at(node)))
                    .nth(rank);
                let Some(back) = back else {
                    let what = format!("a link of {} leads from node {node} to {there} only one way", topology.spec());
                    let remedy = "use links that lead both ways: Ethernet is full duplex";
                    return Err(SpecError::new(ErrorKind::Unsupported, what, remedy).of("topology"));
                };
                ends[node * ports + port.index()] = Some((there.0, back.0));
            }
        }
        Ok(Self { ports, ends })
    }

    /// The linked ports of a node.
    fn of(&self, node: usize) -> impl Iterator<Item = (usize, (u32, u8))> + '_ {
        let ends = self.ends[node * self.ports..][..self.ports].iter().enumerate();
        ends.filter_map(|(port, end)| Some((port, (*end)?)))
    }

    fn at(&self, node: usize, port: usize) -> (usize, usize) {
        self.ends[node * self.ports + port].map_or((node, port), |(there, back)| (there as usize, back.into()))
    }
}

/// The ports of a node in the order of its links.
fn order(topology: &dyn Topology, node: usize) -> Vec<Port> {
    match topology.switched() {
        Some(network) => {
            let fabric = network.fabric();
            (0..fabric.degree(NodeId::at(node))).map(|place| fabric.port(NodeId::at(node), place)).collect()
        }
        None => (0..topology.shape().ports()).map(|port| Port(port as u8)).collect(),
    }
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
            "icube:2x2:1",
        ] {
            let topology = fsin_core::topology::parse(spec, 2).unwrap();
            let wiring = Wiring::new(&*topology, &Params::default()).unwrap();
            let mut visible = 0;
            for (port, link) in wiring.links.iter().enumerate() {
                let back = &wiring.links[link.peer as usize];
                assert_eq!((back.peer as usize, back.device, back.owner), (port, link.owner, link.device), "{spec}");
                assert_eq!((back.is_visible, back.rate), (link.is_visible, link.rate), "{spec}");
                visible += usize::from(link.is_visible);
            }
            for host in 0..wiring.hosts {
                let (switch, port) = wiring.home(host);
                assert_eq!(wiring.ports(host).len(), 1, "{spec}");
                assert_eq!(wiring.links[port].device as usize, host, "{spec}");
                assert_eq!(wiring.links[port].owner as usize, wiring.hosts + switch, "{spec}");
            }
            let ports = (0..topology.nodes()).flat_map(|node| (0..wiring.node_ports).map(move |port| (node, port)));
            let linked = ports.filter(|&(node, port)| topology.neighbour(NodeId::at(node), Port(port as u8)).is_some());
            assert_eq!(linked.count(), visible, "{spec}");
        }
    }

    #[test]
    fn one_way_links_are_refused() {
        let topology = fsin_core::topology::parse("torus:4", 1).unwrap();
        let error = Wiring::new(&*topology, &Params::default()).unwrap_err();
        assert!(error.to_string().contains("only one way"), "{error}");
    }
}

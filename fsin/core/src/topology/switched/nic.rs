//! Network interfaces: switches that are parts of hosts.
//!
//! A host has one link in every model. One with several links, or with one to another host, has a switch of its own,
//! its interface, from which they lead to other switches. A host does not forward packets of others, so no route leads
//! through an interface, unless some hosts could not reach each other otherwise: then interfaces forward like all
//! switches.
//!
//! Decisions: docs/decisions/0284-hosts-with-several-links.md, docs/decisions/0460-hosts-linked-to-hosts.md.

use trgen::NodeId;

use super::{Fabric, Switched};
use crate::topology::Topology;

/// Which switches are network interfaces. Switches are numbered from 0 here.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Nics {
    /// By switch; empty if none is.
    are: Vec<bool>,
    /// Switches of two hosts that reach each other only through interfaces of other hosts, if there are such hosts:
    /// then interfaces forward packets of other hosts.
    apart: Option<[u32; 2]>,
}

impl Nics {
    /// Those of a topology; none in a direct network.
    #[must_use]
    pub fn of(topology: &dyn Topology) -> Self {
        topology.switched().map_or_else(Self::default, |network| network.fabric().nics().clone())
    }

    /// True if a switch is an interface.
    #[must_use]
    pub fn contain(&self, switch: usize) -> bool {
        self.are.get(switch).is_some_and(|&is| is)
    }

    /// True if no route leads through a switch: it may begin and end there.
    #[must_use]
    pub fn bar(&self, switch: usize) -> bool {
        self.apart.is_none() && self.contain(switch)
    }

    /// Switches of two hosts that reach each other only through interfaces of other hosts, if there are such hosts:
    /// then interfaces forward packets of other hosts.
    #[must_use]
    pub const fn apart(&self) -> Option<[u32; 2]> {
        self.apart
    }

    /// True if packets to switch `home` may enter a switch.
    #[must_use]
    pub fn admit(&self, switch: usize, home: usize) -> bool {
        switch == home || !self.bar(switch)
    }

    /// The same interfaces in a network of other links. `homes` are the switches of hosts, and `near` says to which
    /// other switches links lead from a switch.
    #[must_use]
    pub fn among(&self, homes: impl Iterator<Item = usize>, near: impl Fn(usize) -> Vec<usize>) -> Self {
        if !self.are.contains(&true) {
            return Self::default();
        }
        let near: Vec<Vec<usize>> = (0..self.are.len()).map(near).collect();
        Self { are: self.are.clone(), apart: self.first_apart(homes, &near) }
    }

    /// Two home switches in one part of the network that do not reach each other without the interfaces of other hosts.
    fn first_apart(&self, homes: impl Iterator<Item = usize>, near: &[Vec<usize>]) -> Option<[u32; 2]> {
        let whole = parts(near, |_| true);
        let parts = parts(near, |switch| !self.contain(switch));
        // Identifies the link between two interfaces, as a part of its own in which a route begins and ends.
        let between = |one: usize, other: usize| near.len() * (1 + one.min(other)) + one.max(other);
        // Beside the part of each home: those in which its routes can begin and end.
        let begins = |home: usize| {
            let mut begins: Vec<usize> = match self.contain(home) {
                true => {
                    let there = |&next: &usize| if self.contain(next) { between(home, next) } else { parts[next] };
                    near[home].iter().map(there).collect()
                }
                false => vec![parts[home]],
            };
            begins.sort_unstable();
            begins.dedup();
            (whole[home], begins)
        };
        let mut homes: Vec<usize> = homes.collect();
        homes.sort_unstable();
        homes.dedup();
        let mut kinds: Vec<((usize, Vec<usize>), usize)> = homes.into_iter().map(|home| (begins(home), home)).collect();
        kinds.sort_unstable();
        kinds.dedup_by(|one, other| one.0 == other.0);
        let meet = |one: &[usize], other: &[usize]| one.iter().any(|part| other.binary_search(part).is_ok());
        kinds.iter().enumerate().find_map(|(at, ((part, one), home))| {
            let mut others = kinds[at + 1..].iter().take_while(|((other, _), _)| other == part);
            let apart = others.find(|((_, other), _)| !meet(one, other));
            apart.map(|(_, other)| [*home as u32, *other as u32])
        })
    }
}

/// By switch: the number of its part of the network, where paths lead through switches for which `pass` holds.
fn parts(near: &[Vec<usize>], pass: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut parts = vec![usize::MAX; near.len()];
    for start in (0..near.len()).filter(|&switch| pass(switch)) {
        let mut reached = vec![start];
        while let Some(switch) = reached.pop() {
            if parts[switch] == usize::MAX {
                parts[switch] = start;
                reached.extend(near[switch].iter().copied().filter(|&next| pass(next)));
            }
        }
    }
    parts
}

impl Fabric {
    /// The switches that are network interfaces.
    #[must_use]
    pub const fn nics(&self) -> &Nics {
        &self.nics
    }

    /// The interface of an endpoint, if it has one.
    #[must_use]
    pub fn nic(&self, endpoint: NodeId) -> Option<NodeId> {
        if endpoint.index() >= self.endpoints {
            return None;
        }
        let home = self.home(endpoint).0;
        self.nics.contain(home.index() - self.endpoints).then_some(home)
    }

    /// Finds out whether interfaces must forward. Called whenever links have changed.
    pub(super) fn update_nics(&mut self) {
        let homes = (0..self.endpoints).map(|node| self.home(NodeId::at(node)).0.index() - self.endpoints);
        let near = |switch: usize| {
            let node = NodeId::at(switch + self.endpoints);
            let near = self.ports_of(node).filter_map(|port| self.neighbour(node, port));
            near.filter_map(|node| node.index().checked_sub(self.endpoints)).collect()
        };
        self.nics = self.nics.among(homes, near);
    }
}

impl Switched {
    /// This network, of whose switches those are network interfaces for which `is_nic` holds, by their numbers among
    /// the nodes.
    pub(super) fn with_nics(self, is_nic: impl Fn(NodeId) -> bool) -> Self {
        let mut fabric = (*self.fabric).clone();
        let are: Vec<bool> = (fabric.endpoints..fabric.nodes).map(|node| is_nic(NodeId::at(node))).collect();
        fabric.nics = Nics { are, apart: None };
        fabric.update_nics();
        Self { fabric: fabric.into(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use trgen::NodeId;

    use super::super::network_of_text;
    use crate::topology::Topology as _;

    /// Those that a host gets stand for no link of the file, and those that a file names do.
    #[test]
    fn links_of_a_file_are_told_from_those_of_interfaces() {
        for (text, implied, all) in
            [("H0 a\nH0 b\nH1 a\nH1 b", 4, 12), ("H0 x\nH1 x\nx kind nic\nx a\nx b\nH2 a\nH3 a\na b", 0, 14)]
        {
            let net = network_of_text(text, "graph:x".to_owned(), None).unwrap();
            let ports = |node| net.ports_of(NodeId::at(node)).map(move |port| (NodeId::at(node), port));
            let links = || (0..net.nodes()).flat_map(ports).filter(|&(node, port)| net.neighbour(node, port).is_some());
            let found = links().filter(|&(node, port)| net.is_implied(node, port)).count();
            assert_eq!((found, links().count()), (implied, all), "{text}");
        }
    }

    #[test]
    fn interfaces_forward_only_where_they_must() {
        for (text, forward) in [
            // Two leaves with a spine; hosts with a link to both.
            ("H0 a\nH0 b\nH1 a\nH1 b\nH2 a\nH3 b\na s\nb s", false),
            // Two planes.
            ("H0 a\nH0 b\nH1 a\nH1 b", false),
            // H1 and H2 meet in H0 alone.
            ("H0 a\nH0 b\nH1 a\nH2 b", true),
            // Every two hosts share a plane, and no plane has all hosts.
            ("H0 a\nH0 b\nH1 a\nH1 c\nH2 b\nH2 c", false),
            // Hosts that are linked to each other, and to switches.
            ("H0 kind host\nH1 kind host\nH0 H1\nH0 a\nH1 a\nH2 a", false),
            ("H0 kind host\nH1 kind host\nH0 H1", false),
            ("H0 kind host\nH1 kind host\nH0 H1\nH1 a\nH2 a", true),
            ("H0 kind host\nH1 kind host\nH2 kind host\nH0 H1\nH1 H2", true),
            // Given as such, with two hosts.
            ("H0 x\nH1 x\nx kind nic\nx a\nx b\nH2 a\nH3 a\na b", false),
        ] {
            let net = network_of_text(text, "graph:x".to_owned(), None).unwrap();
            let nics = net.fabric().nics();
            assert_eq!((nics.apart.is_some(), nics.are.contains(&true)), (forward, true), "{text}");
        }
    }
}

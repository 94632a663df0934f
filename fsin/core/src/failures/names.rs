//! Names of nodes and links, and the links that a name means.

use std::collections::{BTreeMap, HashSet};

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError, suggestion};

use super::parse::{Event, What};
use crate::topology::switched::BETWEEN_SWITCHES;
use crate::topology::{DeadLink, Topology, links_both_ways, node_name};

/// Other names of classes of links, each with that of the topology.
const CLASS_NAMES: [(&str, &str); 6] = [
    ("hosts", "to endpoints"),
    ("local", "within groups"),
    ("global", "between groups"),
    ("x", "dimension 0"),
    ("y", "dimension 1"),
    ("z", "dimension 2"),
];

/// The links of a topology and the names of its nodes.
pub(super) struct Names<'a> {
    topology: &'a dyn Topology,
    /// By name: the node. A number is a name where no other node is called so.
    nodes: BTreeMap<String, NodeId>,
    /// All links, each once.
    pub(super) links: Vec<DeadLink>,
}

impl<'a> Names<'a> {
    pub(super) fn new(topology: &'a dyn Topology) -> Self {
        let all = || (0..topology.nodes()).map(NodeId::at);
        let numbers = all().map(|node| (node.to_string(), node));
        let names = all().map(|node| (node_name(topology, node), node));
        Self { topology, nodes: numbers.chain(names).collect(), links: links_both_ways(topology) }
    }

    /// The indices among [`Self::links`] of the links that an event names, however many of them it means.
    pub(super) fn links_of(&self, event: &Event) -> Result<Vec<usize>, SpecError> {
        let found = |is_meant: &dyn Fn(&DeadLink) -> bool| -> Vec<usize> {
            (0..self.links.len()).filter(|&at| is_meant(&self.links[at])).collect()
        };
        match &event.what {
            What::Link(names) => {
                let (one, other) = self.ends(event, names)?;
                let links = found(&|link| Self::joins(link, one, other));
                match links.is_empty() {
                    true => Err(self.no_link(event, one, other)),
                    false => Ok(links),
                }
            }
            What::Node(name) => {
                let node = self.interface(self.node(event, name)?);
                Ok(found(&|link| link.from == node || link.to == node))
            }
            What::Class(name) => {
                let class = self.class(event, name)?;
                let names = self.topology.link_classes();
                let name = names.get(class).map(String::as_str);
                Ok(found(&|link| self.is_of(link, class, name)))
            }
        }
    }

    /// True if a link joins two nodes.
    fn joins(link: &DeadLink, one: NodeId, other: NodeId) -> bool {
        [(one, other), (other, one)].contains(&(link.from, link.to))
    }

    /// The node from which the links of a node lead: the interface of a host with several links, else itself.
    fn interface(&self, node: NodeId) -> NodeId {
        self.topology.switched().and_then(|network| network.fabric().nic(node)).unwrap_or(node)
    }

    /// The node of a name.
    fn node(&self, event: &Event, name: &str) -> Result<NodeId, SpecError> {
        self.nodes.get(name).copied().ok_or_else(|| self.no_node(event, name))
    }

    /// The error of a name that no node has.
    fn no_node(&self, event: &Event, name: &str) -> SpecError {
        /// Names that are compared with the wrong one.
        const MOST: usize = 10_000;
        let what = format!("there is no node `{name}` in {}", self.topology.spec());
        let named: Vec<&str> =
            self.nodes.keys().map(String::as_str).filter(|name| name.parse::<u64>().is_err()).collect();
        match named.is_empty() || named.len() > MOST {
            true => {
                let last = self.topology.nodes() - 1;
                let switches = self.topology.endpoints();
                let remedy = match self.topology.switched() {
                    Some(_) => format!("its endpoints are 0 to {}, its switches {switches} to {last}", switches - 1),
                    None => format!("its nodes are 0 to {last}"),
                };
                event.error(ErrorKind::UnknownName, &what, remedy)
            }
            false => event.error(ErrorKind::UnknownName, &what, &suggestion(name, &named)),
        }
    }

    /// The two nodes of `A-B`. Names may contain hyphens: that hyphen parts them at which both sides are names.
    fn ends(&self, event: &Event, names: &str) -> Result<(NodeId, NodeId), SpecError> {
        let splits: Vec<(&str, &str)> =
            names.match_indices('-').map(|(at, _)| (&names[..at], &names[at + 1..])).collect();
        let pairs: Vec<(NodeId, NodeId)> =
            splits.iter().filter_map(|(one, other)| Some((*self.nodes.get(*one)?, *self.nodes.get(*other)?))).collect();
        // The links of a host with several links are those of its interface.
        let pairs: Vec<(NodeId, NodeId)> = pairs.into_iter().map(|ends| self.with_interfaces(ends)).collect();
        let is_link = |&&(one, other): &&(NodeId, NodeId)| self.links.iter().any(|link| Self::joins(link, one, other));
        let linked: Vec<_> = pairs.iter().filter(is_link).collect();
        match (&*linked, &*pairs, &*splits) {
            ([_, _, ..], ..) => {
                let what = "its hyphens part it into two names in several ways";
                Err(event.error(ErrorKind::Conflict, what, "use the numbers of the nodes (fsin topology shows them)"))
            }
            ([ends], ..) => Ok(**ends),
            ([], [ends, ..], _) => Ok(*ends),
            ([], [], []) => {
                Err(event.error(ErrorKind::Malformed, "a link has two ends", "write link:A-B, with the names of both"))
            }
            ([], [], [(one, other), ..]) => {
                Err(self.no_node(event, if self.nodes.contains_key(*one) { other } else { one }))
            }
        }
    }

    /// Two ends of a link, with the interfaces of hosts in place of these unless it is the link between both.
    fn with_interfaces(&self, (one, other): (NodeId, NodeId)) -> (NodeId, NodeId) {
        let (from, to) = (self.interface(one), self.interface(other));
        if from == to { (one, other) } else { (from, to) }
    }

    /// The error of two nodes without a link between them.
    fn no_link(&self, event: &Event, one: NodeId, other: NodeId) -> SpecError {
        let name = |node| node_name(self.topology, node);
        if self.topology.dead_links().iter().any(|dead| Self::joins(dead, one, other)) {
            let what = "the description of the network says that it is dead";
            return event.error(ErrorKind::Conflict, what, "leave it out");
        }
        let far = |link: &DeadLink| match (link.from == one, link.to == one) {
            (true, _) => Some(link.to),
            (_, true) => Some(link.from),
            _ => None,
        };
        let near: HashSet<NodeId> = self.links.iter().filter_map(far).collect();
        let mut near: Vec<NodeId> = near.into_iter().collect();
        near.sort_unstable();
        let names: Vec<String> = near.into_iter().take(12).map(name).collect();
        let what = format!("no link joins {} and {}", name(one), name(other));
        event.error(ErrorKind::UnknownName, &what, format!("{} has links to {}", name(one), names.join(", ")))
    }

    /// The classes of links; in a network of switches also all between switches together.
    fn classes(&self) -> Vec<String> {
        let mut classes = self.topology.link_classes();
        if self.topology.switched().is_some() && !classes.iter().any(|class| class == BETWEEN_SWITCHES) {
            classes.push(BETWEEN_SWITCHES.to_owned());
        }
        classes
    }

    /// The class that a word names.
    fn class(&self, event: &Event, word: &str) -> Result<usize, SpecError> {
        let classes = self.classes();
        let name = CLASS_NAMES.iter().find(|(name, _)| *name == word).map_or(word, |(_, class)| class);
        classes.iter().position(|class| class == name || class.replace(' ', "-") == name).ok_or_else(|| {
            let known: Vec<String> = classes.iter().map(|class| class.replace(' ', "-")).collect();
            let short =
                CLASS_NAMES.iter().filter(|(_, class)| classes.iter().any(|own| own == class)).map(|(name, _)| *name);
            let known: Vec<&str> = known.iter().map(String::as_str).chain(short).collect();
            let what = format!("{} has no class of links `{word}`", self.topology.spec());
            event.error(ErrorKind::UnknownName, &what, &suggestion(word, &known))
        })
    }

    /// True if a link is of a class, which has this name if it is one of the topology. That between a host and its
    /// interface is part of the host, and of none; those from the interface on lead to the host, whatever else they
    /// are.
    fn is_of(&self, link: &DeadLink, class: usize, name: Option<&str>) -> bool {
        let own = self.topology.link_class(link.from, link.port);
        let Some(network) = self.topology.switched() else { return own == class };
        let is_nic = |node: NodeId| {
            let number = node.index().checked_sub(self.topology.endpoints());
            number.is_some_and(|number| network.fabric().nics().contain(number))
        };
        let is_endpoint = |node: NodeId| node.index() < self.topology.endpoints();
        let leads_to_host = match (is_endpoint(link.from) || is_endpoint(link.to), is_nic(link.from) || is_nic(link.to))
        {
            (true, true) => return false,
            (one, other) => one || other,
        };
        match name {
            Some(_) if class == 0 => leads_to_host,
            Some(BETWEEN_SWITCHES) | None => !leads_to_host,
            Some(_) => own == class,
        }
    }
}

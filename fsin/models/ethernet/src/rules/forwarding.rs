//! How a switch finds the ports for a frame.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use fsin_core::route::{FAR, Links, RouteTable, Routers, distances_past};
use fsin_core::topology::switched::{Destinations, Nics};
use fsin_core::topology::{Port, Topology};
use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use super::alive::Alive;
use super::frame::{Frame, NONE};
use super::kept::Choices;
use super::tree::spanning;
use super::trim::TwoLevels;
use super::wiring::Wiring;
use crate::params::{Forwarding, Params};
use crate::spread::{Choosing, hash};

/// Maximum number of entries of all tables.
const MAX_ENTRIES: usize = 1 << 27;

/// Factor that packs a set of ports into a number; greater than the number of ports of a switch.
const SET: usize = 256;

/// An address that a switch has learnt.
#[derive(Clone, Copy, Debug)]
struct Learnt {
    /// \[ps\] Time at which a frame last came from the address.
    seen: u64,
    /// The port through which the frame came.
    port: u32,
}

/// The tables of all switches.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    /// Number of hosts.
    hosts: usize,
    /// Seed of the run.
    seed: u64,
    /// Which of several ports a frame takes; `None`: by the [`hash`].
    choose: Option<fn(&Choosing) -> u32>,
    /// State of switches, if the choice depends on it.
    kept: Option<Box<Choices>>,
    /// The entries, by the kind of forwarding.
    kind: Kind,
}

/// Entries of the tables, by the kind of forwarding.
#[derive(Clone, Debug)]
enum Kind {
    Learning {
        /// By port: whether the spanning tree lets it forward frames.
        forwards: Vec<bool>,
        /// \[ps\] Time after which an address is forgotten.
        ageing: u64,
        /// By switch and host: where frames of the host have come from.
        learnt: Vec<Learnt>,
    },
    Static {
        /// True if the routes are those of the description of the network.
        are_given: bool,
        /// By host: the column of its routes.
        columns: Vec<u32>,
        /// Number of columns.
        width: usize,
        /// By switch and column: a set of ports, each of which leads to the column's destinations. A set is packed as
        /// the index of its first port in `ports` x 256 + number of ports. Shared by all copies of the tables.
        sets: Arc<[u32]>,
        /// The ports of all sets, set after set.
        ports: Vec<u32>,
        /// By host: its switch, and the port there, or [`NONE`] if the link is dead.
        homes: Vec<(u32, u32)>,
        /// Paths of a file, which depend on the source too, in place of sets.
        paths: Option<Given>,
    },
}

/// The paths of a file: by source and destination.
#[derive(Clone, Debug)]
struct Given {
    /// By source and destination: the index in `ports` of the first port of their path; then the length of `ports`.
    starts: Vec<u32>,
    /// The ports of switches through which frames leave, path after path.
    ports: Vec<u32>,
}

/// The error of a network whose tables would have `entries` entries.
fn too_large(topology: &dyn Topology, entries: usize) -> SpecError {
    let what = format!("the switches of {} would keep {entries} addresses", topology.spec());
    SpecError::new(ErrorKind::TooLarge, what, format!("use a smaller network: at most {MAX_ENTRIES}")).of("topology")
}

impl Tables {
    pub(crate) fn new(
        topology: &dyn Topology,
        wiring: &Wiring,
        params: &Params,
        alive: &Alive,
    ) -> Result<Self, SpecError> {
        if let Some(network) = topology.switched()
            && (params.forwarding != Forwarding::Static || params.routes.is_some())
        {
            network.check_rails(&"a spanning tree, or routes of a file,".into())?;
        }
        let kind = match params.forwarding {
            Forwarding::Learning => {
                let entries = wiring.switches.saturating_mul(wiring.hosts);
                if entries > MAX_ENTRIES {
                    return Err(too_large(topology, entries));
                }
                let forwards = match params.spanning_tree {
                    true => spanning(wiring, alive),
                    false => (0..wiring.links.len()).map(|port| !alive.is_dead(port)).collect(),
                };
                Kind::Learning {
                    forwards,
                    ageing: params.ageing,
                    learnt: vec![Learnt { seen: 0, port: NONE }; entries],
                }
            }
            Forwarding::Static => Builder::new(topology, wiring, params, alive)?.finish(),
        };
        let choose = params.spread.other().filter(|_| params.spread.kept().is_none());
        let kept = params.spread.kept().map(|rule| {
            let rooms = match params.switch.trim {
                Some(_) => TwoLevels::new(params, wiring, alive).rooms,
                None => vec![0; wiring.links.len()],
            };
            Box::new(Choices::new(rule, params.seed, rooms, wiring.switches))
        });
        Ok(Self { hosts: wiring.hosts, seed: params.seed, choose, kept, kind })
    }

    /// The tables after links have died or were repaired: routes and trees of the links that are alive, and no address
    /// that was learnt before.
    pub(crate) fn renew(&mut self, wiring: &Wiring, params: &Params, alive: &Alive) {
        if let Some(kept) = &mut self.kept {
            kept.forget_orders();
        }
        match &mut self.kind {
            Kind::Learning { forwards, learnt, .. } => {
                *forwards = match params.spanning_tree {
                    true => spanning(wiring, alive),
                    false => (0..wiring.links.len()).map(|port| !alive.is_dead(port)).collect(),
                };
                learnt.fill(Learnt { seen: 0, port: NONE });
            }
            Kind::Static { columns, width, sets, ports, homes, .. } => {
                let mut new = Sets { width: *width, sets: vec![0; sets.len()], ..Sets::default() };
                let between = Between::new(wiring, alive);
                for (column, goal) in goals(wiring, columns) {
                    new.shortest_paths(wiring, &between, goal, column as usize, params.spread.is_several());
                }
                (*sets, *ports) = (new.sets.into(), new.ports);
                *homes = self::homes(wiring, alive);
            }
        }
    }

    /// The ports that the spanning tree blocks; empty without one.
    pub(crate) fn blocked(&self, alive: &Alive) -> Vec<usize> {
        match &self.kind {
            Kind::Learning { forwards, .. } => {
                (0..forwards.len()).filter(|&port| !forwards[port] && !alive.is_dead(port)).collect()
            }
            Kind::Static { .. } => Vec::new(),
        }
    }

    /// With shortest paths and without a [spread](Params::spread) over several paths: the number of links between
    /// switches that lie on shortest paths between hosts, and of these the number that the tables do not use. With a
    /// spanning tree: the number of links between switches, and of those that it blocks. Each direction of a link
    /// counts by itself. Zeros otherwise.
    pub(crate) fn unused(&self, wiring: &Wiring, alive: &Alive) -> [usize; 2] {
        let is_inner = |port: usize| {
            wiring.links[port].is_to_switch && !wiring.is_host(wiring.links[port].owner) && !alive.is_dead(port)
        };
        match &self.kind {
            Kind::Learning { forwards, .. } => {
                let inner = (0..wiring.links.len()).filter(|&port| is_inner(port));
                [inner.clone().count(), inner.filter(|&port| !forwards[port]).count()]
            }
            Kind::Static { are_given: true, .. } => [0, 0],
            Kind::Static { columns, width, sets, ports, .. } => {
                let first = wiring.hosts;
                let (mut shortest, mut taken) = (vec![false; wiring.links.len()], vec![false; wiring.links.len()]);
                let mut starts = vec![false; wiring.switches];
                (0..wiring.hosts).for_each(|host| starts[wiring.home(host).0] = true);
                let between = Between::new(wiring, alive);
                for (column, goal) in goals(wiring, columns) {
                    let hops = between.hops_to(goal);
                    let mut order: Vec<usize> =
                        (0..wiring.switches).filter(|&at| hops[at] != FAR && at != goal).collect();
                    order.sort_unstable_by_key(|&at| Reverse(hops[at]));
                    // By switch: whether a shortest path of a host passes it, and whether a route of the tables does.
                    let (mut reached, mut passed) = (starts.clone(), starts.clone());
                    for switch in order {
                        let next = |port: usize| wiring.links[port].device as usize - first;
                        if reached[switch] {
                            for (port, next) in between.nearer(&hops, switch, goal) {
                                (shortest[port as usize], reached[next as usize]) = (true, true);
                            }
                        }
                        if passed[switch] {
                            let set = sets[switch * width + column as usize] as usize;
                            for &port in &ports[set / SET..][..set % SET] {
                                (taken[port as usize], passed[next(port as usize)]) = (true, true);
                            }
                        }
                    }
                }
                let of_paths = shortest.iter().zip(&taken).filter(|&(&shortest, _)| shortest);
                [of_paths.clone().count(), of_paths.filter(|&(_, &taken)| !taken).count()]
            }
        }
    }

    /// If switches learn addresses: by switch, the port through which it sees a host once frames of it have come
    /// everywhere, the first that they reach in a network with loops; [`NONE`] where they do not come.
    pub(crate) fn learnt_of(&self, wiring: &Wiring, host: usize) -> Option<Vec<u32>> {
        let Kind::Learning { forwards, .. } = &self.kind else { return None };
        let (home, port) = wiring.home(host);
        let mut ports = vec![NONE; wiring.switches];
        ports[home] = port as u32;
        let mut reached = VecDeque::from([home]);
        while let Some(switch) = reached.pop_front() {
            for port in wiring.ports(wiring.hosts + switch).filter(|&port| forwards[port]) {
                let link = &wiring.links[port];
                let next = (link.device as usize).wrapping_sub(wiring.hosts);
                if link.is_to_switch && forwards[link.peer as usize] && ports[next] == NONE {
                    ports[next] = link.peer;
                    reached.push_back(next);
                }
            }
        }
        Some(ports)
    }

    /// Learns the source of a frame that comes to a switch through its port `input`, unless the frame
    /// is outdated: sent before links have last changed, and perhaps on a way that leads elsewhere now. Returns the
    /// port through which the frame goes on. If there are several, returns `None` and writes them to `out`; `out` stays
    /// empty if the frame is filtered. `length` gives \[bytes\] the length of the queue of a port.
    #[inline]
    #[expect(
        clippy::too_many_arguments,
        reason = "the engine's arrays and the state of one frame: no group of them is one thing"
    )]
    pub(crate) fn forward(
        &mut self,
        wiring: &Wiring,
        input: usize,
        frame: &Frame,
        is_outdated: bool,
        now: u64,
        out: &mut Vec<u32>,
        length: impl Fn(usize) -> u64,
    ) -> Option<u32> {
        out.clear();
        let device = wiring.links[input].owner;
        let switch = device as usize - wiring.hosts;
        let (source, destination) = (frame.source as usize, frame.destination as usize);
        match &mut self.kind {
            Kind::Learning { forwards, ageing, learnt } => {
                if !forwards[input] {
                    return None;
                }
                let table = &mut learnt[switch * self.hosts..][..self.hosts];
                if !is_outdated {
                    table[source] = Learnt { seen: now, port: input as u32 };
                }
                let known = table[destination];
                if known.port == NONE || now - known.seen > *ageing {
                    let others = wiring.ports(wiring.hosts + switch).filter(|&port| port != input && forwards[port]);
                    out.extend(others.map(|port| port as u32));
                    return None;
                }
                (known.port as usize != input).then_some(known.port)
            }
            Kind::Static { columns, width, sets, ports, homes, paths, .. } => {
                let (home, last) = homes[destination];
                if home as usize == switch {
                    return (last != NONE).then_some(last);
                }
                if let Some(given) = paths {
                    let pair = source * self.hosts + destination;
                    let path = &given.ports[given.starts[pair] as usize..given.starts[pair + 1] as usize];
                    return path.iter().copied().find(|&port| wiring.links[port as usize].owner == device);
                }
                let set = sets[switch * *width + columns[destination] as usize];
                let (first, count) = (set as usize / SET, set as usize % SET);
                match count {
                    0 => None,
                    1 => Some(ports[first]),
                    several => {
                        let of = Choosing {
                            seed: self.seed,
                            switch: switch as u32,
                            source: frame.source,
                            destination: frame.destination,
                            entropy: frame.entropy,
                            links: several as u32,
                        };
                        let link = match self.choose {
                            None => hash(&of),
                            Some(choose) => choose(&of) % of.links,
                        };
                        let port = ports[first + link as usize];
                        match &mut self.kept {
                            None => Some(port),
                            Some(kept) => {
                                let set = (first, &ports[first..first + several]);
                                Some(kept.choose(switch, set, port, frame.bytes, now, length))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The columns of tables, each with the switch to which its routes lead.
fn goals(wiring: &Wiring, columns: &[u32]) -> BTreeMap<u32, usize> {
    (0..wiring.hosts).map(|host| (columns[host], wiring.home(host).0)).collect()
}

/// By host: its switch, and the port there, or [`NONE`] if the link is dead.
fn homes(wiring: &Wiring, alive: &Alive) -> Vec<(u32, u32)> {
    let homes = (0..wiring.hosts).map(|host| wiring.home(host));
    homes.map(|(switch, port)| (switch as u32, if alive.is_dead(port) { NONE } else { port as u32 })).collect()
}

/// The links between switches that are alive, and the switches that are network interfaces.
#[derive(Debug)]
pub(crate) struct Between {
    links: Links,
    /// Interfaces forward only where nothing else connects what is alive.
    nics: Nics,
}

impl Between {
    pub(crate) fn new(wiring: &Wiring, alive: &Alive) -> Self {
        let links = wiring.links_between_switches(|port| !alive.is_dead(port));
        let near = |switch: usize| links[switch].iter().map(|&(_, next)| next as usize).collect();
        let nics = wiring.nics.among((0..wiring.hosts).map(|host| wiring.home(host).0), near);
        Self { links, nics }
    }

    /// \[hops\] By switch: its distance to switch `goal`; [`FAR`] where it cannot be reached.
    pub(crate) fn hops_to(&self, goal: usize) -> Vec<u16> {
        distances_past(&self.links, &self.nics, goal)
    }

    /// The ports of a switch that lead nearer to the goal of `hops`, each with the switch at the other end.
    pub(crate) fn nearer(&self, hops: &[u16], switch: usize, goal: usize) -> impl Iterator<Item = (u32, u32)> {
        let is_nearer = move |next: usize| hops[next] < hops[switch] && self.nics.admit(next, goal);
        self.links[switch].iter().copied().filter(move |&(_, next)| is_nearer(next as usize))
    }
}

/// Builds the tables of static forwarding.
struct Builder<'a> {
    topology: &'a dyn Topology,
    wiring: &'a Wiring,
    alive: &'a Alive,
    are_given: bool,
    /// By host: the column of its routes.
    columns: Vec<u32>,
    sets: Sets,
    /// Paths of a file, where its routes depend on the source.
    paths: Option<Given>,
}

/// Sets of ports by switch and column, as [`Kind::Static`] has them.
#[derive(Default)]
struct Sets {
    width: usize,
    sets: Vec<u32>,
    ports: Vec<u32>,
    /// The sets stored so far, by their ports.
    known: HashMap<Vec<u32>, u32>,
}

impl Sets {
    /// Stores a set of ports once, and returns it in packed form.
    fn set(&mut self, ports: &[u32]) -> u32 {
        if let Some(&set) = self.known.get(ports) {
            return set;
        }
        let set = (self.ports.len() * SET + ports.len()) as u32;
        self.ports.extend(ports);
        self.known.insert(ports.to_vec(), set);
        set
    }

    /// Fills a column with shortest paths to switch `goal`: every port that leads one hop nearer if `all`, else the one
    /// with the lowest number. At an interface of a host the one port depends on the number of the interface and on
    /// that of the column, so that hosts send and receive on all their links.
    fn shortest_paths(&mut self, wiring: &Wiring, between: &Between, goal: usize, column: usize, all: bool) {
        let hops = between.hops_to(goal);
        let (mut found, mut ports): (Vec<(u32, u32)>, Vec<u32>) = (Vec::new(), Vec::new());
        for switch in 0..wiring.switches {
            let keeps = |next: u32| {
                let [here, there, home] = [switch, next as usize, goal].map(|at| NodeId::at(wiring.hosts + at));
                wiring.rails.as_ref().is_none_or(|rails| rails.keep(here, there, home))
            };
            let all_nearer = || between.nearer(&hops, switch, goal);
            // Dead links may leave none that keeps to the rule.
            let keep_to_rule = wiring.rails.is_some() && all_nearer().any(|(_, next)| keeps(next));
            found.clear();
            found.extend(all_nearer().filter(|&(_, next)| !keep_to_rule || keeps(next)));
            if !all && !found.is_empty() {
                let mut turn = 0;
                if between.nics.contain(switch) {
                    // In the order of the switches that they lead to, which all interfaces have in common.
                    found.sort_by_key(|&(port, next)| (next, port));
                    turn = (switch + column) % found.len();
                }
                found.swap(0, turn);
                found.truncate(1);
            }
            ports.clear();
            ports.extend(found.iter().map(|&(port, _)| port));
            self.sets[switch * self.width + column] = self.set(&ports);
        }
    }
}

impl<'a> Builder<'a> {
    fn new(
        topology: &'a dyn Topology,
        wiring: &'a Wiring,
        params: &Params,
        alive: &'a Alive,
    ) -> Result<Self, SpecError> {
        let (columns, sets) = (Vec::new(), Sets::default());
        let mut new = Self { topology, wiring, alive, are_given: false, columns, sets, paths: None };
        let has_routes = topology.switched().is_some_and(|network| {
            let mut switches = (topology.endpoints()..topology.nodes()).map(NodeId::at);
            let is_routed = |node, port| network.route(node, port) != Destinations::Only(&[]);
            switches.any(|node| topology.ports_of(node).any(|port| is_routed(node, port)))
        });
        new.are_given = has_routes || params.routes.is_some();
        if new.are_given && !alive.is_always() {
            let what = phrase![["fail"], (": the routes that {} gives are not computed anew", topology.spec())];
            let remedy = phrase!["leave the routes out, or use ", ["forwarding" => "learning"]];
            return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("fail"));
        }
        if let Some(table) = &params.routes {
            if has_routes {
                let what = phrase![["routes"], (" gives routes, and the file of {} too", topology.spec())];
                return Err(SpecError::new(ErrorKind::Conflict, what, "leave out one of them").of("routes"));
            }
            new.columns = (0..wiring.hosts as u32).collect();
            new.routes_of_file(table)?;
        } else if has_routes {
            new.columns = (0..wiring.hosts as u32).collect();
            new.resize(wiring.hosts)?;
            new.routes_of_description();
            new.check()?;
        } else {
            // A column for each switch that has hosts.
            let mut switches = HashMap::new();
            for host in 0..wiring.hosts {
                let count = switches.len() as u32;
                new.columns.push(*switches.entry(wiring.home(host).0).or_insert(count));
            }
            new.resize(switches.len())?;
            let mut switches: Vec<(usize, u32)> = switches.into_iter().collect();
            switches.sort_unstable();
            let between = Between::new(wiring, alive);
            for (switch, column) in switches {
                new.sets.shortest_paths(wiring, &between, switch, column as usize, params.spread.is_several());
            }
        }
        Ok(new)
    }

    /// Sets the number of columns, and makes every set empty.
    ///
    /// # Errors
    /// The tables would have more than [`MAX_ENTRIES`] entries.
    fn resize(&mut self, width: usize) -> Result<(), SpecError> {
        let entries = self.wiring.switches.saturating_mul(width);
        if entries > MAX_ENTRIES {
            return Err(too_large(self.topology, entries));
        }
        self.sets.width = width;
        self.sets.sets = vec![0; entries];
        Ok(())
    }

    /// Fills the columns with the routes of the description of the network: the first link that names a destination, or
    /// names all.
    fn routes_of_description(&mut self) {
        let Some(network) = self.topology.switched() else { return };
        for switch in 0..self.wiring.switches {
            let node = NodeId::at(self.wiring.hosts + switch);
            let ports = self.wiring.ports(self.wiring.hosts + switch);
            let mut ports: Vec<_> = ports.map(|port| (Port(self.wiring.links[port].number), port)).collect();
            // Of parallel edges with one position, the first port comes first.
            ports.sort_by_key(|&(number, _)| network.link_order(node, number));
            for (number, port) in ports.into_iter().rev() {
                let set = self.sets.set(&[port as u32]);
                let width = self.sets.width;
                let row = &mut self.sets.sets[switch * width..][..width];
                match network.route(node, number) {
                    Destinations::All => row.fill(set),
                    Destinations::Only(hosts) => hosts.iter().for_each(|&host| row[host as usize] = set),
                }
            }
        }
    }

    /// Fills the columns with the next hops of a file, or takes its paths.
    fn routes_of_file(&mut self, table: &RouteTable) -> Result<(), SpecError> {
        let (wiring, topology) = (self.wiring, self.topology);
        // By switch and port of the topology: the port.
        let mut outputs = vec![NONE; wiring.router_outputs()];
        for (port, link) in wiring.links.iter().enumerate() {
            if let Some(switch) = (link.owner as usize).checked_sub(wiring.hosts).filter(|_| link.is_visible) {
                outputs[wiring.output_of(switch, link.number as usize)] = port as u32;
            }
        }
        let output = |switch: usize, port: u32| outputs[wiring.output_of(switch, port as usize)];
        if table.next_ports(0, 0).is_some() {
            self.resize(wiring.hosts)?;
            for switch in 0..wiring.switches {
                for host in 0..wiring.hosts {
                    let ports = table.next_ports(switch, host).into_iter().flatten();
                    let ports: Vec<u32> = ports.map(|port| output(switch, port)).collect();
                    let set = self.sets.set(&ports);
                    self.sets.sets[switch * self.sets.width + host] = set;
                }
            }
            return Ok(());
        }
        let routers = Routers::new(topology)?;
        let mut given = Given { starts: vec![0], ports: Vec::new() };
        for pair in (0..wiring.hosts).flat_map(|source| (0..wiring.hosts).map(move |to| (source, to))) {
            given.ports.extend(table.path(&routers, pair).map(|(switch, port, _)| output(switch, port)));
            given.starts.push(given.ports.len() as u32);
        }
        self.paths = Some(given);
        Ok(())
    }

    /// Follows the routes of the description from every host to every other host.
    fn check(&self) -> Result<(), SpecError> {
        let wiring = self.wiring;
        let malformed = |from: usize, to: usize, why: String| {
            let what = format!("the routes of {} from host {from} to host {to} {why}", self.topology.spec());
            let remedy = "name each destination in the comment of an edge that leads nearer to it";
            SpecError::new(ErrorKind::Malformed, what, remedy).of("topology")
        };
        for to in 0..wiring.hosts {
            // By switch: whether the routes from it are known to arrive.
            let mut arrives = vec![false; wiring.switches];
            for from in (0..wiring.hosts).filter(|&from| from != to) {
                let (mut switch, mut path) = (wiring.home(from).0, Vec::new());
                while switch != wiring.home(to).0 && !arrives[switch] {
                    let set = self.sets.sets[switch * self.sets.width + to] as usize;
                    let Some(&port) = self.sets.ports[set / SET..][..set % SET].first() else {
                        let node = wiring.hosts + switch;
                        return Err(malformed(from, to, format!("end at node {node}")));
                    };
                    path.push(switch);
                    let there = wiring.links[port as usize].device as usize;
                    let next = there.checked_sub(wiring.hosts).filter(|next| !path.contains(next));
                    let Some(next) = next else {
                        let node = wiring.hosts + switch;
                        let why = if there < wiring.hosts { "lead to another host" } else { "lead round a loop" };
                        return Err(malformed(from, to, format!("{why} from node {node} on")));
                    };
                    switch = next;
                }
                path.into_iter().for_each(|switch| arrives[switch] = true);
            }
        }
        Ok(())
    }

    /// The finished tables.
    fn finish(self) -> Kind {
        let homes = homes(self.wiring, self.alive);
        Kind::Static {
            are_given: self.are_given,
            columns: self.columns,
            width: self.sets.width,
            sets: self.sets.sets.into(),
            ports: self.sets.ports,
            homes,
            paths: self.paths,
        }
    }
}

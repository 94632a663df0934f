//! The routes of a platform, link by link, as SimGrid takes them: no graph, but a table of which constraints each pair
//! of hosts crosses.
//!
//! A link that is SHARED is one constraint whatever crosses it, either way; SPLITDUPLEX are two; FATPIPE limits each
//! flow alone. A backbone is a constraint of all hosts of its cluster, a limiter one of both ways of a host.
//!
//! Rules of zones: docs/book/src/howto/networks.md; SimGrid's manual, "Platform descriptions". Dragonflies take links
//! within the first chassis of a group for those of its others, as SimGrid 3.32 does.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::OnceLock;

use trgen::catalog::{ErrorKind, SpecError};

use super::cluster::{Form, Radical};
use super::{Element, Policy};
use fsin_core::topology::graph::{Labels, short};
use fsin_core::topology::switched::{Constraint, StatedRoutes};

/// \[levels\] Of zones in zones, and of routes over gateways.
const MAX_DEPTH: usize = 32;

/// The halves of a link: what leaves by its two directions.
type Halves = [u32; 2];

/// A point of a zone: a host or router, or a zone within it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Point {
    Node(u32),
    Zone(u32),
}

/// A route that is declared between two points of a zone.
#[derive(Clone, Debug)]
struct Declared {
    links: Vec<u32>,
    /// The nodes at which it begins and ends, where its points are zones.
    gates: [u32; 2],
}

/// How a zone leads from point to point.
#[derive(Clone, Debug)]
enum Routing {
    Full,
    Shortest(Paths),
    /// Hosts at a router: by node, links up and down, and a limiter.
    Star {
        own: HashMap<u32, (Halves, Option<u32>)>,
        backbone: Option<u32>,
    },
    /// A cluster of a shape, whose hosts are consecutive.
    Shape(Shape),
}

/// A cluster that is no star.
#[derive(Clone, Debug)]
struct Shape {
    /// The first node, and how many.
    first: u32,
    hosts: u32,
    kind: Kind,
    limiters: Vec<u32>,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Sizes; by node and dimension, the link to the next one.
    Torus { sizes: Vec<usize>, links: Vec<Halves> },
    FatTree {
        down: Vec<usize>,
        up: Vec<usize>,
        count: Vec<usize>,
        cables: HashMap<(usize, usize, usize, usize), Halves>,
    },
    Dragonfly {
        sizes: [usize; 4],
        own: Vec<Halves>,
        /// By group, chassis and two blades; by group, blade and two chassis; by two groups.
        green: HashMap<(usize, usize, usize, usize), Halves>,
        black: HashMap<(usize, usize, usize, usize), Halves>,
        blue: HashMap<(usize, usize), Halves>,
    },
}

/// Shortest paths of a zone, found when a route of it is asked for: all of them together would take far more memory
/// than the file.
#[derive(Clone, Default, Debug)]
struct Paths {
    points: Vec<Point>,
    numbers: HashMap<Point, u32>,
    /// By point: declared routes to others, with their links.
    edges: Vec<Vec<(u32, u64)>>,
    /// By source: by point, the one before it on a shortest path; [`NOWHERE`] if none leads there.
    before: Vec<OnceLock<Vec<u32>>>,
}

/// No point.
const NOWHERE: u32 = u32::MAX;

impl Paths {
    /// Those over declared routes, of which the first in `order` counts among equals.
    fn new(declared: &HashMap<(Point, Point), Declared>, order: &[(Point, Point)]) -> Self {
        let mut new = Self::default();
        for &point in order.iter().flat_map(|(from, to)| [from, to]) {
            new.numbers.entry(point).or_insert_with(|| {
                new.points.push(point);
                new.points.len() as u32 - 1
            });
        }
        new.edges = vec![Vec::new(); new.points.len()];
        for edge in order {
            let links = declared.get(edge).map_or(0, |declared| declared.links.len() as u64);
            new.edges[new.numbers[&edge.0] as usize].push((new.numbers[&edge.1], links));
        }
        new.before = vec![OnceLock::new(); new.points.len()];
        new
    }

    /// By point: the one before it on a shortest path from `source`.
    fn from(&self, source: u32) -> &[u32] {
        self.before[source as usize].get_or_init(|| {
            let mut before = vec![NOWHERE; self.points.len()];
            let mut costs = vec![u64::MAX; self.points.len()];
            costs[source as usize] = 0;
            let mut open = BinaryHeap::from([Reverse((0, source))]);
            while let Some(Reverse((cost, here))) = open.pop() {
                if cost > costs[here as usize] {
                    continue;
                }
                for &(there, length) in &self.edges[here as usize] {
                    if cost + length < costs[there as usize] {
                        costs[there as usize] = cost + length;
                        before[there as usize] = here;
                        open.push(Reverse((cost + length, there)));
                    }
                }
            }
            before
        })
    }

    /// The points of a shortest path, both ends included; `None` if there is none.
    fn between(&self, source: Point, destination: Point) -> Option<Vec<Point>> {
        let (source, mut here) = (*self.numbers.get(&source)?, *self.numbers.get(&destination)?);
        let before = self.from(source);
        let mut path = vec![self.points[here as usize]];
        while here != source {
            here = before[here as usize];
            path.push(*self.points.get(here as usize)?);
        }
        path.reverse();
        Some(path)
    }
}

#[derive(Debug)]
struct Zone {
    parent: Option<u32>,
    routing: Routing,
    declared: HashMap<(Point, Point), Declared>,
    /// Declared edges in their order, for shortest paths.
    order: Vec<(Point, Point)>,
}

/// A platform of routes.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) constraints: Vec<Constraint>,
    /// By node: its zone.
    nodes: Vec<u32>,
    names: Labels,
    zones: Vec<Zone>,
    zones_by_name: HashMap<String, u32>,
    links: Vec<(Halves, Policy)>,
    link_names: Labels,
    hosts: Vec<u32>,
    /// The first name of a host, router or link that stands twice.
    twice: Option<String>,
}

impl Table {
    /// Puts the hosts in the order of these names.
    pub(super) fn ordered(mut self, names: &[&str]) -> Self {
        self.hosts = names.iter().filter_map(|name| self.names.get(name)).collect();
        self
    }

    /// The hosts, in their order.
    pub(super) fn hosts(&self) -> impl Iterator<Item = &str> {
        self.hosts.iter().map(|&host| self.names.name(host))
    }

    fn constraint(&mut self, name: String, rate: u64, delay: u64, is_fat: bool) -> u32 {
        self.constraints.push(Constraint { name, rate, delay, is_fat });
        self.constraints.len() as u32 - 1
    }

    /// The constraints of a link: one, or one for each direction.
    fn halves(&mut self, name: &str, rate: u64, delay: u64, policy: Policy) -> Halves {
        match policy {
            Policy::Duplex => ["_UP", "_DOWN"].map(|way| self.constraint(format!("{name}{way}"), rate, delay, false)),
            Policy::Shared | Policy::Fat => [self.constraint(name.to_owned(), rate, delay, policy == Policy::Fat); 2],
        }
    }

    fn node(&mut self, name: &str, zone: u32, is_host: bool) -> u32 {
        let number = self.names.number(name);
        if number as usize != self.nodes.len() {
            self.twice.get_or_insert_with(|| name.to_owned());
            return number;
        }
        if is_host {
            self.hosts.push(number);
        }
        self.nodes.push(zone);
        number
    }

    fn zone(&mut self, name: &str, parent: Option<u32>, routing: Routing) -> u32 {
        let number = self.zones.len() as u32;
        self.zones.push(Zone { parent, routing, declared: HashMap::new(), order: Vec::new() });
        self.zones_by_name.insert(name.to_owned(), number);
        number
    }

    /// Reads the elements of a platform.
    pub(super) fn read(root: &Element<'_>) -> Result<Self, SpecError> {
        let mut new = Self {
            constraints: Vec::new(),
            nodes: Vec::new(),
            names: Labels::default(),
            zones: Vec::new(),
            zones_by_name: HashMap::new(),
            links: Vec::new(),
            link_names: Labels::default(),
            hosts: Vec::new(),
            twice: None,
        };
        // A platform may be one cluster alone.
        let top = new.zone("", None, Routing::Full);
        new.children(root, top, 0)?;
        if let Some(name) = &new.twice {
            let what = format!("`{}` stands twice", short(name));
            return Err(root.refusal(ErrorKind::Conflict, what, "give every host, router and link a name of its own"));
        }
        for zone in &mut new.zones {
            if matches!(zone.routing, Routing::Shortest(_)) {
                zone.routing = Routing::Shortest(Paths::new(&zone.declared, &zone.order));
            }
        }
        Ok(new)
    }

    /// Reads what stands in a zone: its nodes and links first, then its routes.
    fn children(&mut self, of: &Element<'_>, zone: u32, depth: usize) -> Result<(), SpecError> {
        if depth > MAX_DEPTH {
            return Err(of.refusal(ErrorKind::TooLarge, "zones stand in each other too deep", "use fewer levels"));
        }
        for child in of.children() {
            match child.name() {
                "zone" | "AS" => {
                    let routing = match child.routing()? {
                        "Floyd" | "Dijkstra" | "DijkstraCache" => Routing::Shortest(Paths::default()),
                        "Cluster" => Routing::Star { own: HashMap::new(), backbone: None },
                        _ => Routing::Full,
                    };
                    let inner = self.zone(child.need("id")?, Some(zone), routing);
                    self.children(&child, inner, depth + 1)?;
                }
                "host" => _ = self.node(child.need("id")?, zone, true),
                "router" => _ = self.node(child.need("id")?, zone, false),
                "link" => {
                    let name = child.need("id")?;
                    let policy = child.policy("sharing_policy", Policy::Shared)?;
                    let halves = self.halves(name, child.bandwidth("bandwidth")?, child.time("latency")?, policy);
                    if self.link_names.number(name) as usize == self.links.len() {
                        self.links.push((halves, policy));
                    } else {
                        self.twice.get_or_insert_with(|| name.to_owned());
                    }
                }
                "cluster" => self.cluster(&child, zone)?,
                "cabinet" => self.cabinet(&child, zone)?,
                "backbone" => {
                    let policy = child.policy("sharing_policy", Policy::Shared)?;
                    let link =
                        self.halves(child.need("id")?, child.bandwidth("bandwidth")?, child.time("latency")?, policy);
                    if let Routing::Star { backbone, .. } = &mut self.zones[zone as usize].routing {
                        *backbone = Some(link[0]);
                    }
                }
                _ => {}
            }
        }
        for child in of.children() {
            match child.name() {
                "route" | "zoneRoute" | "ASroute" => self.route(&child, zone)?,
                "host_link" => {
                    let host = self.named(&child, "id")?;
                    let [up, down] = [self.link(&child, "up")?, self.link(&child, "down")?];
                    let half = |name: &str, (halves, _): (Halves, Policy), way: usize| match name {
                        name if name.ends_with("_UP") => halves[0],
                        name if name.ends_with("_DOWN") => halves[1],
                        _ => halves[way],
                    };
                    let halves = [half(child.need("up")?, up, 0), half(child.need("down")?, down, 1)];
                    if let Routing::Star { own, .. } = &mut self.zones[zone as usize].routing {
                        own.insert(host, (halves, None));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn named(&self, element: &Element<'_>, attribute: &'static str) -> Result<u32, SpecError> {
        let name = element.need(attribute)?;
        self.names.get(name).ok_or_else(|| {
            let what = format!("{attribute} `{}` is no host and no router of the file", short(name));
            element.refusal(ErrorKind::UnknownName, what, "name the id of one")
        })
    }

    /// The link that an attribute names, perhaps as one of its halves.
    fn link(&self, element: &Element<'_>, attribute: &'static str) -> Result<(Halves, Policy), SpecError> {
        let name = element.need(attribute)?;
        let find = |name: &str| self.link_names.get(name).map(|link| self.links[link as usize]);
        let whole = || name.strip_suffix("_UP").or_else(|| name.strip_suffix("_DOWN")).and_then(find);
        find(name).or_else(whole).ok_or_else(|| {
            let what = format!("`{}` is no link of the file", short(name));
            element.refusal(ErrorKind::UnknownName, what, "name the id of a <link>")
        })
    }

    /// Reads a route.
    fn route(&mut self, element: &Element<'_>, zone: u32) -> Result<(), SpecError> {
        let of_zones = element.name() != "route";
        let mut points = [Point::Node(0); 2];
        let mut gates = [0; 2];
        for (end, (attribute, gate)) in [("src", "gw_src"), ("dst", "gw_dst")].into_iter().enumerate() {
            if of_zones {
                let name = element.need(attribute)?;
                let inner = self.zones_by_name.get(name).copied().ok_or_else(|| {
                    element.refusal(
                        ErrorKind::UnknownName,
                        format!("{attribute} `{}` is no zone", short(name)),
                        "name the id of one",
                    )
                })?;
                (points[end], gates[end]) = (Point::Zone(inner), self.named(element, gate)?);
                if !self.zones_of(gates[end]).contains(&inner) {
                    let what =
                        format!("{gate} `{}` does not lie in zone `{}`", short(element.need(gate)?), short(name));
                    return Err(element.refusal(ErrorKind::Conflict, what, "name a gateway within the zone"));
                }
            } else {
                let node = self.named(element, attribute)?;
                (points[end], gates[end]) = (Point::Node(node), node);
            }
        }
        let mut there = Vec::new();
        let mut back = Vec::new();
        for child in element.children().filter(|child| child.name() == "link_ctn") {
            let name = child.need("id")?;
            let (halves, policy) = self.link(&child, "id")?;
            let way = match child.get("direction") {
                Some("DOWN") => 1,
                Some("UP") => 0,
                _ if name.ends_with("_DOWN") && policy == Policy::Duplex => 1,
                _ => 0,
            };
            there.push(halves[way]);
            back.push(halves[1 - way]);
        }
        back.reverse();
        let is_symmetrical = element.is_yes("symmetrical", true)?;
        let ways = [(there, points, gates), (back, [points[1], points[0]], [gates[1], gates[0]])];
        for (links, [from, to], gates) in
            ways.into_iter().take(1 + usize::from(is_symmetrical && points[0] != points[1]))
        {
            let zone = &mut self.zones[zone as usize];
            // A route that is declared in its own direction stays.
            if zone.declared.contains_key(&(from, to)) {
                continue;
            }
            zone.declared.insert((from, to), Declared { links, gates });
            zone.order.push((from, to));
        }
        Ok(())
    }

    /// Makes the hosts of a cluster or cabinet, whose numbers have been counted.
    fn numbered(&mut self, element: &Element<'_>, radical: &Radical<'_>, zone: u32) -> Vec<u32> {
        let (prefix, suffix) = (element.get("prefix").unwrap_or(""), element.get("suffix").unwrap_or(""));
        radical.numbers().map(|number| self.node(&format!("{prefix}{number}{suffix}"), zone, true)).collect()
    }

    fn cabinet(&mut self, element: &Element<'_>, zone: u32) -> Result<(), SpecError> {
        let (rate, delay) = (element.bandwidth("bw")?, element.time("lat")?);
        let radical = element.radical(self.hosts.len())?;
        for host in self.numbered(element, &radical, zone) {
            let name = format!("link_{}", self.names.name(host));
            let halves = self.halves(&name, rate, delay, Policy::Duplex);
            if let Routing::Star { own, .. } = &mut self.zones[zone as usize].routing {
                own.insert(host, (halves, None));
            }
        }
        Ok(())
    }

    fn cluster(&mut self, element: &Element<'_>, parent: u32) -> Result<(), SpecError> {
        let id = element.need("id")?.to_owned();
        let (rate, delay) = (element.bandwidth("bw")?, element.time("lat")?);
        let policy = element.policy("sharing_policy", Policy::Duplex)?;
        let radical = element.radical(self.hosts.len())?;
        let form = Form::of(element, radical.count)?;
        let zone = self.zone(&id, Some(parent), Routing::Full);
        let hosts = self.numbered(element, &radical, zone);
        let mut limiters = Vec::new();
        if element.get("limiter_link").is_some() {
            let limit = element.bandwidth("limiter_link")?;
            limiters.extend(hosts.iter().map(|host| self.constraint(format!("{id}.limiter.{host}"), limit, 0, false)));
        }
        let (prefix, suffix) = (element.get("prefix").unwrap_or(""), element.get("suffix").unwrap_or(""));
        if form == Form::Flat {
            let mut own = HashMap::new();
            for (number, &host) in hosts.iter().enumerate() {
                let halves = self.halves(&format!("{id}.{number}"), rate, delay, policy);
                own.insert(host, (halves, limiters.get(number).copied()));
            }
            let backbone = match element.get("bb_bw").or(element.get("bb_lat")) {
                Some(_) => {
                    let policy = element.policy("bb_sharing_policy", Policy::Shared)?;
                    Some(
                        self.halves(
                            &format!("{id}.backbone"),
                            element.bandwidth("bb_bw")?,
                            element.time("bb_lat")?,
                            policy,
                        )[0],
                    )
                }
                None => None,
            };
            let name = element.get("router_id").filter(|name| !name.is_empty()).map(str::to_owned);
            self.node(&name.unwrap_or_else(|| format!("{prefix}{id}_router{suffix}")), zone, false);
            self.zones[zone as usize].routing = Routing::Star { own, backbone };
            return Ok(());
        }
        let wrong = || {
            let what = "links of the cluster are too fast, or its groups are more than the routers of a chassis";
            element.refusal(ErrorKind::OutOfRange, what, "write fewer links, a lower bandwidth, or fewer groups")
        };
        let mut link = |name: String, times: usize| {
            rate.checked_mul(times as u64).map(|rate| self.halves(&name, rate, delay, policy)).ok_or_else(wrong)
        };
        let kind = match form {
            Form::Flat => return Ok(()),
            Form::Torus(sizes) => {
                let mut links = Vec::new();
                for (node, dimension) in
                    (0..hosts.len()).flat_map(|node| (0..sizes.len()).map(move |dimension| (node, dimension)))
                {
                    links.push(link(format!("{id}.{node}.{dimension}"), 1)?);
                }
                Kind::Torus { sizes, links }
            }
            Form::FatTree { down, up, parallel: count } => {
                let mut cables = HashMap::new();
                for level in 0..down.len() {
                    for (node, (parent, cable)) in (0..nodes_of(level, &down, &up))
                        .flat_map(|node| (0..up[level]).map(move |parent| (node, parent)))
                        .flat_map(|(node, parent)| (0..count[level]).map(move |cable| (node, (parent, cable))))
                    {
                        cables.insert(
                            (level, node, parent, cable),
                            link(format!("{id}.{level}.{node}.{parent}.{cable}"), 1)?,
                        );
                    }
                }
                Kind::FatTree { down, up, count, cables }
            }
            Form::Dragonfly { sizes: [groups, chassis, blades], links, hosts: nodes } => {
                // Its routes name the blade of each other group.
                if groups > blades {
                    return Err(wrong());
                }
                let [blue_count, black_count, green_count] = links;
                let mut own = Vec::new();
                for node in 0..hosts.len() {
                    own.push(link(format!("{id}.{node}"), 1)?);
                }
                let pairs =
                    |count: usize| (0..count).flat_map(move |one| (one + 1..count).map(move |other| (one, other)));
                let (mut green, mut black, mut blue) = (HashMap::new(), HashMap::new(), HashMap::new());
                for group in 0..groups {
                    for (chassis, (one, other)) in
                        (0..chassis).flat_map(|chassis| pairs(blades).map(move |pair| (chassis, pair)))
                    {
                        let name = format!("{id}.green.{group}.{chassis}.{one}.{other}");
                        green.insert((group, chassis, one, other), link(name, green_count)?);
                    }
                    for (blade, (one, other)) in
                        (0..blades).flat_map(|blade| pairs(chassis).map(move |pair| (blade, pair)))
                    {
                        let name = format!("{id}.black.{group}.{blade}.{one}.{other}");
                        black.insert((group, blade, one, other), link(name, black_count)?);
                    }
                }
                for (one, other) in pairs(groups) {
                    blue.insert((one, other), link(format!("{id}.blue.{one}.{other}"), blue_count)?);
                }
                Kind::Dragonfly { sizes: [groups, chassis, blades, nodes], own, green, black, blue }
            }
        };
        let first = hosts.first().copied().unwrap_or(0);
        self.zones[zone as usize].routing = Routing::Shape(Shape { first, hosts: hosts.len() as u32, kind, limiters });
        Ok(())
    }

    /// The zones of a node, from the outermost.
    fn zones_of(&self, node: u32) -> Vec<u32> {
        let mut zones = vec![self.nodes[node as usize]];
        while let Some(parent) = zones.last().and_then(|&zone| self.zones[zone as usize].parent) {
            zones.push(parent);
        }
        zones.reverse();
        zones
    }

    /// Appends the constraints from node to node.
    fn between(&self, from: u32, to: u32, depth: usize, into: &mut Vec<u32>) -> Option<()> {
        if from == to {
            return Some(());
        }
        if depth > MAX_DEPTH || into.len() > 1 << 16 {
            return None;
        }
        let (one, other) = (self.zones_of(from), self.zones_of(to));
        let common = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
        let zone = *one.get(common.checked_sub(1)?)?;
        let point = |zones: &[u32], node: u32| zones.get(common).map_or(Point::Node(node), |&zone| Point::Zone(zone));
        let (source, destination) = (point(&one, from), point(&other, to));
        self.local(zone, (source, destination), (from, to), depth, into)
    }

    /// Appends what a zone has between two of its points, with what leads to its gates.
    fn local(
        &self,
        zone: u32,
        (source, destination): (Point, Point),
        (from, to): (u32, u32),
        depth: usize,
        into: &mut Vec<u32>,
    ) -> Option<()> {
        let of = &self.zones[zone as usize];
        match &of.routing {
            Routing::Star { own, backbone } => {
                let (Point::Node(source), Point::Node(destination)) = (source, destination) else { return None };
                if let Some(&(halves, limiter)) = own.get(&source) {
                    into.push(halves[0]);
                    into.extend(limiter);
                }
                into.extend(backbone);
                if let Some(&(halves, limiter)) = own.get(&destination) {
                    into.push(halves[1]);
                    into.extend(limiter);
                }
                Some(())
            }
            Routing::Shape(shape) => {
                let (Point::Node(source), Point::Node(destination)) = (source, destination) else { return None };
                let place = |node: u32| {
                    node.checked_sub(shape.first).filter(|&place| place < shape.hosts).map(|place| place as usize)
                };
                shape.route(place(source)?, place(destination)?, into)
            }
            Routing::Full => {
                let edge = of.declared.get(&(source, destination))?;
                self.between(from, edge.gates[0], depth + 1, into)?;
                into.extend(&edge.links);
                self.between(edge.gates[1], to, depth + 1, into)
            }
            Routing::Shortest(paths) => {
                let path = paths.between(source, destination)?;
                let mut here = from;
                for edge in path.windows(2) {
                    let edge = of.declared.get(&(edge[0], edge[1]))?;
                    self.between(here, edge.gates[0], depth + 1, into)?;
                    into.extend(&edge.links);
                    here = edge.gates[1];
                }
                self.between(here, to, depth + 1, into)
            }
        }
    }
}

impl StatedRoutes for Table {
    fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    fn route(&self, from: u32, to: u32) -> Option<Vec<u32>> {
        let mut links = Vec::new();
        let [from, to] = [from, to].map(|host| self.hosts.get(host as usize).copied());
        self.between(from?, to?, 0, &mut links)?;
        Some(links)
    }
}

/// Number of nodes of a level of a fat tree.
fn nodes_of(level: usize, down: &[usize], up: &[usize]) -> usize {
    up[..level].iter().chain(&down[level..]).fold(1_usize, |product, &size| product.saturating_mul(size))
}

impl Shape {
    /// Appends the links between two hosts.
    fn route(&self, from: usize, to: usize, into: &mut Vec<u32>) -> Option<()> {
        match &self.kind {
            Kind::Torus { sizes, links } => self.torus(sizes, links, (from, to), into),
            Kind::FatTree { down, up, count, cables } => {
                into.extend(self.limiters.get(from));
                fat_tree([down, up, count], cables, (from, to), into)?;
                into.extend(self.limiters.get(to));
                Some(())
            }
            Kind::Dragonfly { sizes, own, green, black, blue } => {
                into.extend(self.limiters.get(from));
                into.push(own[from][0]);
                dragonfly(*sizes, [green, black], blue, (from, to), into)?;
                into.push(own[to][1]);
                into.extend(self.limiters.get(to));
                Some(())
            }
        }
    }

    /// Dimensions in order; round each the way that the coordinate of the source says.
    fn torus(&self, sizes: &[usize], links: &[Halves], (from, to): (usize, usize), into: &mut Vec<u32>) -> Option<()> {
        let (mut here, mut stride) = (from, 1);
        for (dimension, &size) in sizes.iter().enumerate() {
            let (own, target) = (from / stride % size, to / stride % size);
            let is_up =
                (target > own && target <= own + size / 2) || (own > size / 2 && (own + size / 2) % size >= target);
            while here / stride % size != target {
                let coordinate = here / stride % size;
                let base = here - coordinate * stride;
                into.extend(self.limiters.get(here));
                if is_up {
                    into.push(links[here * sizes.len() + dimension][0]);
                    here = base + (coordinate + 1) % size * stride;
                } else {
                    here = base + (coordinate + size - 1) % size * stride;
                    into.push(links[here * sizes.len() + dimension][1]);
                }
            }
            stride *= size;
        }
        into.extend(self.limiters.get(to));
        Some(())
    }
}

/// Up by the digits of the destination, down by ports in their order.
fn fat_tree(
    [down, up, count]: [&[usize]; 3],
    cables: &HashMap<(usize, usize, usize, usize), Halves>,
    (from, to): (usize, usize),
    into: &mut Vec<u32>,
) -> Option<()> {
    let levels = down.len();
    let digits = |node: usize| -> Vec<usize> {
        down.iter()
            .scan(node, |rest, &size| {
                let digit = *rest % size;
                *rest /= size;
                Some(digit)
            })
            .collect()
    };
    let number = |level: usize, label: &[usize]| {
        let radix = |digit: usize| if digit < level { up[digit] } else { down[digit] };
        (0..levels).rev().fold(0, |number, digit| number * radix(digit) + label[digit])
    };
    let target = digits(to);
    let (mut label, mut level) = (digits(from), 0);
    while label[level..] != target[level..] {
        let above: usize = up[..level].iter().product();
        let port = to / above.max(1) % (up[level] * count[level]);
        let (parent, cable) = (port % up[level], port / up[level]);
        into.push(cables.get(&(level, number(level, &label), parent, cable))?[0]);
        label[level] = parent;
        level += 1;
    }
    while level > 0 {
        let before = level;
        let mut port = from % count[level - 1] * down[level - 1];
        while level > 0 && port < down[level - 1] * count[level - 1] {
            if port % down[level - 1] == target[level - 1] {
                let (parent, cable) = (label[level - 1], port / down[level - 1]);
                label[level - 1] = target[level - 1];
                level -= 1;
                into.push(cables.get(&(level, number(level, &label), parent, cable))?[1]);
            }
            port += 1;
        }
        if level == before {
            return None;
        }
    }
    Some(())
}

/// Links by four numbers.
type ByFour = HashMap<(usize, usize, usize, usize), Halves>;

/// Links between groups, chassis and blades.
fn dragonfly(
    [_, chassis, blades, nodes]: [usize; 4],
    [green, black]: [&ByFour; 2],
    blue: &HashMap<(usize, usize), Halves>,
    (from, to): (usize, usize),
    into: &mut Vec<u32>,
) -> Option<()> {
    let router =
        |node: usize| (node / nodes / blades / chassis, node / nodes / blades % chassis, node / nodes % blades);
    let ((mut group, mut own_chassis, mut blade), (to_group, to_chassis, to_blade)) = (router(from), router(to));
    let way =
        |map: &HashMap<(usize, usize, usize, usize), Halves>, one: usize, other: usize, from: usize, to: usize| {
            map.get(&(one, other, from.min(to), from.max(to))).map(|halves| halves[usize::from(from > to)])
        };
    if (group, own_chassis, blade) == (to_group, to_chassis, to_blade) {
        return Some(());
    }
    if group != to_group {
        if blade != to_group {
            into.push(way(green, group, own_chassis, blade, to_group)?);
            blade = to_group;
        }
        if own_chassis != 0 {
            into.push(way(black, group, blade, own_chassis, 0)?);
        }
        let halves = blue.get(&(group.min(to_group), group.max(to_group)))?;
        into.push(halves[usize::from(group > to_group)]);
        (blade, own_chassis, group) = (group, 0, to_group);
    }
    if blade != to_blade {
        into.push(way(green, group, own_chassis, blade, to_blade)?);
        // As SimGrid: it takes itself to be in the first chassis.
        own_chassis = 0;
    }
    if own_chassis != to_chassis {
        into.push(way(black, group, to_blade, own_chassis, to_chassis)?);
    }
    Some(())
}

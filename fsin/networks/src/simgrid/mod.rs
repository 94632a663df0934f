//! Platforms of SimGrid: hosts, routers, links and the routes over them, and clusters.
//!
//! A route says which links it crosses; [`junctions`] finds where they meet. Of zones with the routings `Floyd` and
//! `Dijkstra` the routes are edges of a graph; of `Full` they are the ways of messages, and a way that is not shortest
//! is refused. A host with one link is a host; one with several becomes a switch with that host, over a link that holds
//! nothing back. What concerns computation alone (speeds, disks) and what a host sends itself over (loopbacks) is left
//! out. A link with the policy `SHARED` whose directions share one bandwidth is full duplex with `shared=duplex` alone.
//!
//! Decision: docs/decisions/0260-platforms-of-simgrid.md.
//!
//! Format: SimGrid's manual, "Platform descriptions", DTD 4.1; Casanova, Giersch, Legrand, Quinson, Suter, Versatile,
//! scalable, and accurate simulation of distributed applications and platforms, JPDC 74(10), 2014.

mod cluster;
mod element;
mod emit;
mod junctions;
mod quantity;
mod table;

use std::collections::HashSet;
use std::sync::Arc;

use trgen::catalog::{ErrorKind, SpecError, suggestion};

use super::word;
use super::xml::{Document, is_xml};
use cluster::{Cluster, Form, Radical};
use element::{Element, IDLE};
use emit::Wired;
use fsin_core::topology::graph::{Description, Labels, Places, Reading, refusal, short};
use junctions::{Fault, Route, Step};
use table::Table;

/// True for XML whose outermost element is `platform`.
pub(crate) fn begins(text: &str) -> bool {
    is_xml(text, "<platform")
}

/// How traffic shares a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Policy {
    /// Both directions share the bandwidth.
    Shared,
    /// Each direction has the bandwidth.
    Duplex,
    /// Each message has the bandwidth.
    Fat,
}

/// A link as it is declared.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// \[b/s\], \[ps\]
    rate: u64,
    delay: u64,
    policy: Policy,
    at: usize,
}

/// Something that links join.
#[derive(Clone, Copy, Debug)]
struct Point {
    is_host: bool,
    at: u32,
}

/// Parallel links between two points.
#[derive(Clone, Copy, Debug)]
struct Cable {
    ends: [usize; 2],
    /// By direction: \[b/s\], \[ps\].
    rate: [u64; 2],
    delay: [u64; 2],
    policy: Policy,
    count: usize,
    at: usize,
}

/// A platform while it is read.
struct Platform<'p> {
    places: &'p Places<'p>,
    /// By their numbers, those of their names.
    points: Vec<Point>,
    names: Labels,
    cables: Vec<Cable>,
    links: Vec<Link>,
    link_names: Labels,
    routes: Vec<Route>,
    /// Links of hosts to the routers of their zones, and whether the half of the way down is meant.
    of_hosts: HashSet<(usize, bool)>,
    /// Routers whose hosts reach each other through a backbone.
    with_backbone: Vec<usize>,
}

/// A backbone of hosts at a router.
struct Backbone {
    rate: u64,
    delay: u64,
    policy: Policy,
}

/// States a platform. Links whose directions share a bandwidth are taken as full duplex with `shared=duplex`.
///
/// The text is read as a graph and again as a table of routes, so that neither takes memory beside the other.
pub(crate) fn parse(text: &str, to: &mut Description<'_>) -> Result<(), SpecError> {
    let of = to.reading();
    let why = match wired(text, of) {
        Ok(graph) => {
            graph.state(to)?;
            if of.options.duplex {
                return Ok(());
            }
            let document = Document::new(text, &of.places)?;
            let root = Element { node: document.root(), places: &of.places };
            let Ok(table) = Table::read(&root) else { return Ok(()) };
            // In the order of the graph, which leaves no host out.
            let names = to.stated_hosts();
            let table = table.ordered(&names);
            if table.hosts().count() == names.len() {
                to.set_platform(Arc::new(table), None);
                of.option("the setting routing: in the model flow, routes of the graph in place of the platform's own");
            }
            return Ok(());
        }
        Err((why, is_right)) if of.options.duplex || !is_right => return Err(why),
        Err((why, _)) => why,
    };
    let document = Document::new(text, &of.places)?;
    match Table::read(&Element { node: document.root(), places: &of.places }) {
        Ok(table) if table.hosts().next().is_some() => {
            drop(document);
            hub(table, why, to)
        }
        _ => Err(why),
    }
}

/// A platform as a graph; why it is none, and whether the file is right all the same.
fn wired<'r>(text: &str, of: &'r Reading<'_>) -> Result<Wired<'r>, (SpecError, bool)> {
    let places = &of.places;
    let wrong = |error: SpecError| (error, false);
    let document = Document::new(text, places).map_err(wrong)?;
    let root = Element { node: document.root(), places };
    for element in root.elements() {
        element.check().map_err(wrong)?;
    }
    for idle in document.root().descendants().filter(|node| IDLE.contains(&node.name())) {
        of.decorated(idle.name());
    }
    let platform = Platform {
        places,
        points: Vec::new(),
        names: Labels::default(),
        cables: Vec::new(),
        links: Vec::new(),
        link_names: Labels::default(),
        routes: Vec::new(),
        of_hosts: HashSet::new(),
        with_backbone: Vec::new(),
    };
    platform.wired(&root, of.options.duplex)
}

/// States the hosts of a table of routes, which no graph has, at switches that stand for the platform.
fn hub(table: Table, why: SpecError, to: &mut Description<'_>) -> Result<(), SpecError> {
    /// \[links\] Of a switch.
    const PORTS: usize = 200;
    let of = to.reading();
    let mut level: Vec<String> = table.hosts().map(str::to_owned).collect();
    for name in &level {
        to.declare(&word(name, 0), true)?;
    }
    let mut number = 0;
    loop {
        let count = level.len().div_ceil(PORTS);
        let above: Vec<String> = (0..count)
            .map(|_| {
                number += 1;
                format!("platform.{number}")
            })
            .collect();
        for name in &above {
            to.declare(&word(name, 0), false)?;
        }
        for (place, name) in level.iter().enumerate() {
            to.edge([&word(name, 0), &word(&above[place / PORTS], 0)], false, &[])?;
        }
        if count <= 1 {
            break;
        }
        level = above;
    }
    of.note(format!(
        "its routes are no graph, and stand as a table of what each pair of hosts crosses: the model flow runs it, and models of packets do not ({why})"
    ));
    of.option("shared=duplex: links whose directions share one bandwidth are full duplex, for models of packets");
    to.set_platform(Arc::new(table), Some(why));
    Ok(())
}

impl<'p> Platform<'p> {
    /// Reads elements, whose routes may name what is declared later.
    fn understand(&mut self, root: &Element<'_>) -> Result<(), SpecError> {
        if let Some(cluster) = root.elements().find(|element| element.get("limiter_link").is_some()) {
            let what = "limiter_link: what a host sends and receives shares no bandwidth in a graph";
            return Err(cluster.refusal(ErrorKind::Unsupported, what, "leave it out, or use the model flow"));
        }
        for element in root.elements() {
            self.declare(&element)?;
        }
        for element in root.elements() {
            self.lead(&element)?;
        }
        let is_of_host = |link: usize| [false, true].iter().any(|&down| self.of_hosts.contains(&(link, down)));
        if let Some(route) = self.routes.iter().find(|route| route.steps.iter().any(|step| is_of_host(step.link))) {
            let what = "the link of a <host_link> in a route, which would share it";
            return Err(refusal(
                self.places,
                route.at,
                ErrorKind::Unsupported,
                what,
                "give the route a link of its own",
            ));
        }
        Ok(())
    }

    /// The platform as a graph; why it is none, and whether the file is right all the same.
    fn wired(mut self, root: &Element<'_>, is_duplex: bool) -> Result<Wired<'p>, (SpecError, bool)> {
        self.understand(root).map_err(|error| {
            let is_right = error.kind() == ErrorKind::Unsupported;
            (error, is_right)
        })?;
        self.graph(is_duplex).map_err(|error| (error, true))
    }

    /// A new point with a name of a file.
    fn point(&mut self, element: &Element<'_>, name: String, is_host: bool) -> Result<usize, SpecError> {
        if self.names.get(&name).is_some() {
            let what = format!("`{}` stands twice", short(&name));
            return Err(element.refusal(ErrorKind::Conflict, what, "give every host and router a name of its own"));
        }
        self.points.push(Point { is_host, at: element.at() as u32 });
        Ok(self.names.number(&name) as usize)
    }

    /// A new switch that the file does not name.
    fn invent(&mut self, mut name: String, at: usize) -> usize {
        while self.names.get(&name).is_some() {
            name.push('\'');
        }
        self.points.push(Point { is_host: false, at: at as u32 });
        self.names.number(&name) as usize
    }

    /// The name of a point.
    fn name(&self, point: usize) -> &str {
        self.names.name(point as u32)
    }

    /// The point that an attribute names.
    fn named(&self, element: &Element<'_>, attribute: &'static str) -> Result<usize, SpecError> {
        let name = element.need(attribute)?;
        self.names.get(name).map(|point| point as usize).ok_or_else(|| {
            let what = format!("{attribute} `{}` is no host and no router of the file", short(name));
            element.refusal(ErrorKind::UnknownName, what, "name the id of one")
        })
    }

    /// The link that a word names; a link with two directions also as `NAME_UP` and `NAME_DOWN`.
    fn link(&self, element: &Element<'_>, name: &str) -> Result<usize, SpecError> {
        let find = |name: &str| self.link_names.get(name).map(|link| link as usize);
        let exact = find(name);
        let half = || {
            let whole = name.strip_suffix("_UP").or_else(|| name.strip_suffix("_DOWN"))?;
            find(whole).filter(|&link| self.links[link].policy == Policy::Duplex)
        };
        exact.or_else(half).ok_or_else(|| {
            let what = format!("`{}` is no link of the file", short(name));
            element.refusal(ErrorKind::UnknownName, what, "name the id of a <link>")
        })
    }

    /// Reads what an element declares.
    fn declare(&mut self, element: &Element<'_>) -> Result<(), SpecError> {
        match element.name() {
            "zone" | "AS" => element.routing().map(|_| ()),
            "host" => self.point(element, element.need("id")?.to_owned(), true).map(|_| ()),
            "router" => self.point(element, element.need("id")?.to_owned(), false).map(|_| ()),
            "link" => {
                let name = element.need("id")?;
                let link = Link {
                    rate: element.bandwidth("bandwidth")?,
                    delay: element.time("latency")?,
                    policy: element.policy("sharing_policy", Policy::Shared)?,
                    at: element.at(),
                };
                if self.link_names.number(name) as usize != self.links.len() {
                    let what = format!("link `{}` stands twice", short(name));
                    return Err(element.refusal(ErrorKind::Conflict, what, "give every link a name of its own"));
                }
                self.links.push(link);
                Ok(())
            }
            "cluster" => self.cluster(element),
            "cabinet" => {
                let radical = element.radical(self.points.len())?;
                element.bandwidth("bw")?;
                element.time("lat")?;
                self.hosts(element, &radical).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// Makes the hosts `PREFIX NUMBER SUFFIX` of a cluster or cabinet, whose numbers have been counted.
    fn hosts(&mut self, element: &Element<'_>, radical: &Radical<'_>) -> Result<Vec<usize>, SpecError> {
        let (prefix, suffix) = (element.get("prefix").unwrap_or(""), element.get("suffix").unwrap_or(""));
        radical.numbers().map(|number| self.point(element, format!("{prefix}{number}{suffix}"), true)).collect()
    }

    /// Reads a cluster.
    fn cluster(&mut self, element: &Element<'_>) -> Result<(), SpecError> {
        let id = element.need("id")?.to_owned();
        // Everything that a number could say wrongly comes before the hosts, which take memory.
        let (rate, delay) = (element.bandwidth("bw")?, element.time("lat")?);
        let policy = element.policy("sharing_policy", Policy::Duplex)?;
        let backbone = match element.get("bb_bw").or(element.get("bb_lat")) {
            Some(_) => Some(Backbone {
                rate: element.bandwidth("bb_bw")?,
                delay: element.time("bb_lat")?,
                policy: element.policy("bb_sharing_policy", Policy::Shared)?,
            }),
            None => None,
        };
        let radical = element.radical(self.points.len())?;
        let form = Form::of(element, radical.count)?;
        if form != Form::Flat && backbone.is_some() {
            let what = "a backbone of a cluster that is not flat";
            return Err(element.refusal(ErrorKind::Meaningless, what, "leave bb_bw and bb_lat out"));
        }
        let cluster = Cluster { hosts: self.hosts(element, &radical)?, rate, delay, policy, at: element.at(), id };
        if form != Form::Flat {
            return cluster.wire(&form, self).ok_or_else(|| {
                let what = "links of the cluster's bandwidth times their number are too fast";
                element.refusal(ErrorKind::OutOfRange, what, "write fewer links, or a lower bandwidth")
            });
        }
        let (prefix, suffix) = (element.get("prefix").unwrap_or(""), element.get("suffix").unwrap_or(""));
        let name = element.get("router_id").filter(|name| !name.is_empty()).map(str::to_owned);
        let name = name.unwrap_or_else(|| format!("{prefix}{}_router{suffix}", cluster.id));
        let router = self.point(element, name, false)?;
        let cables: Vec<Cable> = cluster
            .hosts
            .iter()
            .map(|&host| Cable {
                ends: [host, router],
                rate: [cluster.rate; 2],
                delay: [cluster.delay; 2],
                policy: cluster.policy,
                count: 1,
                at: cluster.at,
            })
            .collect();
        self.star(element, router, cables, backbone)
    }

    /// Adds the links of hosts to their router, and what a backbone between them means: it adds to the time of
    /// messages, and holds them back nowhere.
    fn star(
        &mut self,
        element: &Element<'_>,
        router: usize,
        mut cables: Vec<Cable>,
        backbone: Option<Backbone>,
    ) -> Result<(), SpecError> {
        if let Some(backbone) = backbone {
            let fastest = cables.iter().flat_map(|cable| cable.rate).max().unwrap_or(0);
            let all = cables.iter().fold(0_u64, |sum, cable| sum.saturating_add(cable.rate[0]));
            let is_wide = match backbone.policy {
                Policy::Fat => backbone.rate >= fastest,
                Policy::Duplex | Policy::Shared => backbone.rate >= all,
            };
            if !is_wide {
                let what = "a backbone that all hosts share is a bus, which no link of a graph is";
                let remedy = "leave the backbone out, or give it the bandwidth of all hosts together, or the policy FATPIPE and \
                              that of a host";
                return Err(element.refusal(ErrorKind::Unsupported, what, remedy));
            }
            for cable in &mut cables {
                cable.delay[1] = cable.delay[1].saturating_add(backbone.delay);
            }
            self.with_backbone.push(router);
        }
        self.cables.extend(cables);
        Ok(())
    }

    /// Reads what an element says of ways between points.
    fn lead(&mut self, element: &Element<'_>) -> Result<(), SpecError> {
        match element.name() {
            "route" => {
                let ends = [self.named(element, "src")?, self.named(element, "dst")?];
                self.route(element, ends)
            }
            "zoneRoute" | "ASroute" => {
                element.need("src")?;
                element.need("dst")?;
                let ends = [self.named(element, "gw_src")?, self.named(element, "gw_dst")?];
                if ends.iter().any(|end| self.with_backbone.contains(end)) {
                    let what = "a route between zones ends at a cluster with a backbone";
                    let remedy = "leave the backbone out, and add its latency to that of the links";
                    return Err(element.refusal(ErrorKind::Unsupported, what, remedy));
                }
                self.route(element, ends)
            }
            "zone" | "AS" if element.routing()? == "Cluster" => self.zone_of_hosts(element),
            _ => Ok(()),
        }
    }

    /// Reads a route between two points.
    fn route(&mut self, element: &Element<'_>, ends: [usize; 2]) -> Result<(), SpecError> {
        let zone = element.parent().filter(|zone| matches!(zone.name(), "zone" | "AS"));
        let routing = zone.map_or(Ok("Full"), |zone| zone.routing())?;
        if !matches!(routing, "Full" | "Floyd" | "Dijkstra" | "DijkstraCache") {
            let what = format!("a route in a zone with routing {routing}");
            return Err(element.refusal(ErrorKind::Meaningless, what, "give the zone the routing Full or Floyd"));
        }
        let is_symmetrical = element.is_yes("symmetrical", true)?;
        let mut steps = Vec::new();
        for child in element.children() {
            let name = child.need("id")?;
            let link = self.link(&child, name)?;
            let forward = match child.get("direction") {
                Some("UP") => Some(true),
                Some("DOWN") => Some(false),
                None | Some("NONE") => None,
                Some(other) => {
                    let near = suggestion(other, &["UP", "DOWN", "NONE"]).to_string();
                    return Err(child.refusal(ErrorKind::UnknownName, format!("direction `{}`", short(other)), &near));
                }
            };
            let is_duplex = self.links[link].policy == Policy::Duplex;
            if is_duplex != forward.is_some() && !name.ends_with("_UP") && !name.ends_with("_DOWN") {
                let what = format!("link `{}` has {}", short(name), if is_duplex { "two directions" } else { "none" });
                let remedy = if is_duplex { "write direction=\"UP\" or \"DOWN\"" } else { "leave direction out" };
                return Err(child.refusal(ErrorKind::Conflict, what, remedy));
            }
            let forward = forward.or_else(|| is_duplex.then(|| name.ends_with("_UP")));
            steps.push(Step { link, forward });
        }
        // A loopback: what a host sends to itself crosses no network.
        if ends[0] == ends[1] {
            return Ok(());
        }
        if steps.is_empty() {
            return Err(element.refusal(
                ErrorKind::Malformed,
                "a route without links",
                "name its links: <link_ctn id=\"l\"/>",
            ));
        }
        self.routes.push(Route { at: element.at(), ends, steps, is_symmetrical, is_fixed: routing == "Full" });
        Ok(())
    }

    /// Reads a zone with routing `Cluster`: hosts with links of their own to a router, cabinets of hosts, a backbone.
    fn zone_of_hosts(&mut self, element: &Element<'_>) -> Result<(), SpecError> {
        let children: Vec<Element<'_>> = element.children().collect();
        let mut routers = children.iter().filter(|child| child.name() == "router");
        let router = match routers.next() {
            Some(router) => self.named(router, "id")?,
            None => self.invent(format!("{}.router", element.need("id")?), element.at()),
        };
        let mut cables = Vec::new();
        for child in children.iter().filter(|child| child.name() == "host_link") {
            let host = self.named(child, "id")?;
            let links = [self.link(child, child.need("up")?)?, self.link(child, child.need("down")?)?];
            let half = |way| child.need(way).map(|name| name.ends_with("_DOWN"));
            let own = HashSet::from([(links[0], half("up")?), (links[1], half("down")?)]);
            if !self.of_hosts.is_disjoint(&own) {
                let what = "a link of two hosts, which would share it".to_owned();
                return Err(child.refusal(ErrorKind::Unsupported, what, "give each host links of its own"));
            }
            self.of_hosts.extend(own);
            let [up, down] = links.map(|link| self.links[link]);
            let is_shared = links[0] == links[1] && up.policy == Policy::Shared;
            if [up.policy, down.policy].contains(&Policy::Fat) {
                return Err(fat(self.places, child.at(), "up or down"));
            }
            cables.push(Cable {
                ends: [host, router],
                rate: [up.rate, down.rate],
                delay: [up.delay, down.delay],
                policy: if is_shared { Policy::Shared } else { Policy::Duplex },
                count: 1,
                at: child.at(),
            });
        }
        for child in children.iter().filter(|child| child.name() == "cabinet") {
            let (prefix, suffix) = (child.get("prefix").unwrap_or(""), child.get("suffix").unwrap_or(""));
            let (rate, delay) = (child.bandwidth("bw")?, child.time("lat")?);
            for number in child.radical(0)?.numbers() {
                let host = self.names.number(&format!("{prefix}{number}{suffix}")) as usize;
                let (rate, delay) = ([rate; 2], [delay; 2]);
                cables.push(Cable {
                    ends: [host, router],
                    rate,
                    delay,
                    policy: Policy::Duplex,
                    count: 1,
                    at: child.at(),
                });
            }
        }
        let mut backbones = children.iter().filter(|child| child.name() == "backbone");
        let (first, second) = (backbones.next(), backbones.next());
        if let Some(second) = second {
            return Err(second.refusal(ErrorKind::Conflict, "a second backbone of a zone", "give one"));
        }
        let backbone = match first {
            Some(backbone) => Some(Backbone {
                rate: backbone.bandwidth("bandwidth")?,
                delay: backbone.time("latency")?,
                policy: backbone.policy("sharing_policy", Policy::Shared)?,
            }),
            None => None,
        };
        self.star(first.unwrap_or(element), router, cables, backbone)
    }
}

/// The error of a link that holds back each message for itself.
fn fat(places: &Places<'_>, at: usize, name: &str) -> SpecError {
    let what =
        format!("link `{}` gives every message its whole bandwidth (FATPIPE), which no link here does", short(name));
    refusal(
        places,
        at,
        ErrorKind::Unsupported,
        what,
        "write sharing_policy=\"SPLITDUPLEX\" with the bandwidth that all share",
    )
}

#[cfg(test)]
mod tests;

//! `fsin topology`: properties of a topology.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use clap::ArgMatches;
use clap::parser::ValueSource;
use fsin::experiment::{self, Origin, Settings};
use fsin::failures::{Change, Failures};
use fsin::family::{Ends, PHITS_PER_NODE_CYCLE, capacities};
use fsin::networks::{Syntax, dot, rewritten};
use fsin::route::Routers;
use fsin::route::proof::Network as _;
use fsin::surveyed::{check_size, surveyed_with};
use fsin::topology::switched::{Delay, Demands, Destinations, LinkAttributes, Understood, network_of_text};
use fsin::topology::{self, Capacities, DeadLink, Port, Survey, Topology};
use fsin::words::counted;
use serde_json::{Map, Value, json};
use trgen::NodeId;
use trgen::catalog::SpecError;

use super::picture;
use crate::cli::output::Document;
use crate::cli::{Complaint, Exit};

/// Output formats.
pub(crate) const FORMATS: [&str; 7] = ["table", "json", "dot", "list", "csv", "node-link", "svg"];

/// Largest number of blocked or dead links that the table names.
const MAX_BLOCKED: usize = 16;

/// Largest number of hosts that the table names.
const MAX_NAMED: usize = 16;

/// Describes the topology of a specification.
pub(crate) fn topology(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let word = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let ways = matches.get_one::<usize>("ways").copied().unwrap_or(2);
    let found = match matches.get_one::<String>("network") {
        Some(network) => of_network(network, word("spec"), matches)?,
        None => {
            let refused = |refusal: SpecError| Complaint::new(Exit::Usage, refusal.what(), refusal.remedy());
            let whole: Arc<dyn Topology> = Arc::from(topology::parse(word("spec"), ways).map_err(refused)?);
            let failures = match matches.get_one::<String>("fail") {
                Some(fail) => {
                    let seed = experiment::key("seed").and_then(|key| key.default?.parse().ok()).unwrap_or(1);
                    Failures::parse(fail, Path::new(""), &*whole, seed, (1, 1)).map_err(refused)?
                }
                None => Failures::default(),
            };
            let topology = failures.at_first(&whole);
            let dead = topology.dead_links();
            let capacities = Capacities::of(&*topology);
            Found { topology, capacities, with_room: false, unit: PHITS_PER_NODE_CYCLE, blocked: None, dead, failures }
        }
    };
    let topology = &found.topology;
    check_size(&**topology).map_err(|(what, remedy)| Complaint::new(Exit::Usage, what, remedy))?;
    let text = match word("format") {
        "dot" => readable("dot", dot(&**topology, found.blocked.as_deref().unwrap_or_default()))?,
        syntax @ ("list" | "csv" | "node-link") => {
            let syntax = match syntax {
                "list" => Syntax::List,
                "csv" => Syntax::Csv,
                _ => Syntax::NodeLink,
            };
            let text = rewritten(&**topology, syntax).map_err(|refusal| {
                Complaint::new(
                    Exit::Usage,
                    format!("--format {}: {}", word("format"), refusal.what()),
                    refusal.remedy(),
                )
            })?;
            readable(word("format"), text)?
        }
        "svg" => picture::svg(&**topology, found.blocked.as_deref().unwrap_or_default(), &found.dead)?,
        "json" => format!("{:#}\n", Value::Object(figures(&found))),
        _ => table(&found),
    };
    Document::open(matches)?.print(&text)?;
    Ok(Exit::Done)
}

/// What is written in a form that `graph:FILE` reads must be read there.
fn readable(format: &str, text: String) -> Result<String, Complaint> {
    match network_of_text(&text, "graph:FILE".to_owned(), None) {
        Ok(_) => Ok(text),
        Err(refusal) => {
            let what = format!("--format {format}: graph:FILE could not read it: {}", refusal.what());
            Err(Complaint::new(Exit::Usage, what, "use --format json, or svg for a picture"))
        }
    }
}

/// A topology and its network.
struct Found {
    topology: Arc<dyn Topology>,
    /// What links carry.
    capacities: Capacities,
    /// True if that is by the room behind links too, of a network with its settings.
    with_room: bool,
    /// The unit of load of the network.
    unit: &'static str,
    /// The links that the network blocks, if it ever blocks any.
    blocked: Option<Vec<Ends>>,
    /// The dead links at the start.
    dead: Vec<DeadLink>,
    /// What happens later. Times are picoseconds.
    failures: Failures,
}

/// The topology of a specification as a network model uses it.
fn of_network(network: &str, spec: &str, matches: &ArgMatches) -> Result<Found, Complaint> {
    let mut settings = Settings::default();
    settings.set("network", network, Origin::Flag)?;
    settings.set("topology", spec, Origin::Flag)?;
    if matches.value_source("ways") == Some(ValueSource::CommandLine) {
        settings.set("ways", matches.get_one::<usize>("ways").map_or(2, |&ways| ways).to_string(), Origin::Flag)?;
    }
    if let Some(fail) = matches.get_one::<String>("fail") {
        settings.set("fail", fail, Origin::Flag)?;
    }
    let (model, network) = experiment::network_of(settings)?;
    if matches.contains_id("fail") && !model.understands("fail") {
        let what = format!("--fail has no meaning with --network {}", model.component.name);
        return Err(Complaint::new(
            Exit::Usage,
            what,
            "leave it out, or name a network with links: vct, ethernet, flow",
        ));
    }
    let topology = network.topology().ok_or_else(|| {
        let what = format!("--network {}: this model has no topology", model.component.name);
        Complaint::new(Exit::Usage, what, "leave it out, or name a network with links: vct, wormhole, ethernet")
    })?;
    let (topology, dead) = (Arc::clone(topology), network.dead_links());
    let capacities = capacities(&*network, &*topology);
    let has_room = (0..topology.nodes()).map(NodeId::at).any(|node| network.link_room(node, Port(0)).is_some());
    let mut failures = network.failures().cloned().unwrap_or_default();
    let bandwidth = experiment::key("bandwidth").and_then(|key| key.default).unwrap_or_default();
    let cycle = network.cycle().or_else(|| experiment::cycle_ratio(bandwidth, network.units().phit_bytes));
    for change in &mut failures.changes {
        let (picoseconds, cycles) = cycle.unwrap_or((1, 1));
        let at = u128::from(change.at) * u128::from(picoseconds) / u128::from(cycles.max(1));
        change.at = u64::try_from(at).unwrap_or(u64::MAX);
    }
    let (unit, blocked) = (model.load_unit, network.blocked_links());
    Ok(Found { topology, capacities, with_room: has_room, unit, blocked, dead, failures })
}

/// What is said of the links of a network: how many directions of links have which rate, delay and queue.
struct Described {
    /// By what is said: \[links, one way\] how many it is said of.
    rates: BTreeMap<Option<u64>, usize>,
    delays: BTreeMap<Option<Delay>, usize>,
    queues: BTreeMap<Option<u32>, usize>,
    /// \[links, one way\] Links with a static route.
    routed: usize,
    /// Endpoints that the file names.
    hosts: Vec<String>,
    /// Hosts with several links, and how many they have.
    several: Vec<(String, usize)>,
    /// What was understood of the file.
    understood: Option<Understood>,
}

impl Described {
    /// `None` unless a file, or the specification, describes the links of the network.
    fn of(topology: &dyn Topology) -> Option<Self> {
        let network = topology.switched().filter(|network| network.is_described())?;
        let mut new = Self {
            rates: BTreeMap::new(),
            delays: BTreeMap::new(),
            queues: BTreeMap::new(),
            routed: 0,
            hosts: (0..network.endpoints())
                .filter_map(|node| network.name(NodeId::at(node)))
                .map(str::to_owned)
                .collect(),
            several: Vec::new(),
            understood: network.understood().cloned(),
        };
        for host in (0..network.endpoints()).map(NodeId::at) {
            if let Some(nic) = network.fabric().nic(host) {
                let to_switches = network.ports_of(nic).filter_map(|port| network.neighbour(nic, port));
                let links = to_switches.filter(|there| there.index() >= network.endpoints()).count();
                new.several.push((topology::node_name(topology, host), links));
            }
        }
        if let Some(routes) = network.stated_routes() {
            for link in routes.constraints() {
                *new.rates.entry(Some(link.rate)).or_default() += 1;
                *new.delays.entry(Some(Delay::Time(link.delay))).or_default() += 1;
                // Flows do not queue.
                *new.queues.entry(None).or_default() += 1;
            }
            return Some(new);
        }
        for node in (0..network.nodes()).map(NodeId::at) {
            for port in network.ports_of(node) {
                // What joins a host to the interface that it gets is no link of the file.
                if network.neighbour(node, port).is_some() && !network.is_implied(node, port) {
                    let LinkAttributes { rate, delay, queue } = network.link(node, port);
                    *new.rates.entry(rate).or_default() += 1;
                    *new.delays.entry(delay).or_default() += 1;
                    *new.queues.entry(queue).or_default() += 1;
                    new.routed += usize::from(network.route(node, port) != Destinations::Only(&[]));
                }
            }
        }
        Some(new)
    }

    /// True if some links have rates, and others that of the network's settings.
    fn is_partly_rated(&self) -> bool {
        self.rates.len() > 1 && self.rates.contains_key(&None)
    }

    /// Lines of the table.
    fn rows(&self) -> Vec<(&'static str, String)> {
        /// Counts by what is said, if anything is.
        fn counts<T: Copy + Ord>(counts: &BTreeMap<Option<T>, usize>, text: impl Fn(T) -> String) -> String {
            if counts.keys().all(Option::is_none) {
                return String::new();
            }
            let said = counts.iter().filter_map(|(&said, count)| Some(format!("{count} of {}", text(said?))));
            let rest = counts.get(&None).map(|count| format!("{count} as the network's settings say"));
            said.chain(rest).collect::<Vec<_>>().join(", ")
        }
        let delay = |delay| match delay {
            Delay::Cycles(cycles) => counted(cycles, "cycle", "cycles"),
            Delay::Time(span) => topology::time_text(span),
        };
        let more = if self.hosts.len() > MAX_NAMED { ", ..." } else { "" };
        let hosts = match &*self.hosts {
            [] => String::new(),
            hosts => format!("{} by name: {}{more}", hosts.len(), hosts[..hosts.len().min(MAX_NAMED)].join(", ")),
        };
        let some = self.several.iter().take(MAX_NAMED).map(|(name, links)| format!("{name} ({links})"));
        let rate = match self.rates.keys().all(Option::is_none) {
            true => "; without rates, a host sends and receives what one link carries",
            false => "",
        };
        let more = if self.several.len() > MAX_NAMED { ", ..." } else { "" };
        let several = match self.several.len() {
            0 => String::new(),
            count => format!(
                "{} with several links, each behind an interface that is a hop: {}{more}{rate}",
                counted(count, "host", "hosts"),
                some.collect::<Vec<_>>().join(", ")
            ),
        };
        let routed =
            if self.routed == 0 { String::new() } else { counted(self.routed, "link, one way", "links, one way") };
        let of_file = self.understood.as_ref().map_or_else(Vec::new, understood_rows);
        let rows = vec![
            ("hosts", hosts),
            ("interfaces", several),
            ("link rates", counts(&self.rates, topology::rate_text)),
            ("link delays", counts(&self.delays, delay)),
            ("link queues", counts(&self.queues, |frames| counted(frames, "frame", "frames"))),
            ("static routes", routed),
        ];
        of_file.into_iter().chain(rows).collect()
    }

    /// The same as JSON.
    fn json(&self) -> Value {
        let rates = self.rates.iter().map(|(rate, links)| json!({ "bits_per_second": rate, "links": links }));
        let delays = self.delays.iter().map(|(delay, links)| match delay {
            Some(Delay::Cycles(cycles)) => json!({ "cycles": cycles, "links": links }),
            Some(Delay::Time(span)) => json!({ "ps": span, "links": links }),
            None => json!({ "ps": null, "links": links }),
        });
        let queues = self.queues.iter().map(|(queue, links)| json!({ "frames": queue, "links": links }));
        let several = self.several.iter().map(|(name, links)| json!({ "host": name, "links": links }));
        let mut json = json!({
            "hosts": self.hosts,
            "hosts_with_several_links": several.collect::<Vec<_>>(),
            "link_rates": rates.collect::<Vec<_>>(),
            "link_delays": delays.collect::<Vec<_>>(),
            "link_queues": queues.collect::<Vec<_>>(),
            "links_with_routes": self.routed,
        });
        if let (Some(understood), Some(members)) = (&self.understood, json.as_object_mut()) {
            members.extend(understood_json(understood));
        }
        json
    }
}

/// What was understood of a file, as lines of the table.
fn understood_rows(of: &Understood) -> Vec<(&'static str, String)> {
    let demands = |demands: &Demands| {
        let unit = match demands.unit {
            Some(unit) => format!(" x {}", topology::rate_text(unit as u64)),
            None => " in a unit that the file does not state".to_owned(),
        };
        format!(
            "{}, {} in all{unit}; runs use them with --traffic demands alone",
            counted(demands.count, "demand", "demands"),
            demands.total()
        )
    };
    let mut rows = vec![
        ("format", of.format.to_owned()),
        (
            "file",
            format!(
                "{}, {}, both ways; hosts {}",
                counted(of.switches, "switch", "switches"),
                counted(of.links, "link", "links"),
                of.hosts
            ),
        ),
        ("units", of.units.join("; ")),
        ("demands", of.demands.as_ref().map_or_else(String::new, demands)),
        ("decoration", of.ignored().unwrap_or_default()),
    ];
    rows.extend(of.notes.iter().map(|note| ("note", note.clone())));
    rows.extend(of.options.iter().map(|option| ("option", option.clone())));
    rows
}

/// The same as members of JSON.
fn understood_json(of: &Understood) -> Map<String, Value> {
    let mut members = Map::new();
    members.insert("format".to_owned(), json!(of.format));
    members.insert(
        "understood".to_owned(),
        json!({ "switches": of.switches, "links": of.links, "hosts": of.hosts, "units": of.units }),
    );
    members.insert("decoration".to_owned(), json!(of.decoration));
    members.insert("notes".to_owned(), json!(of.notes));
    members.insert("options".to_owned(), json!(of.options));
    if let Some(demands) = &of.demands {
        let demands = json!({ "pairs": demands.count, "total": demands.total(), "bits_per_second": demands.unit });
        members.insert("demands".to_owned(), demands);
    }
    members
}

/// The properties of a topology as JSON.
fn figures(found: &Found) -> Map<String, Value> {
    let topology = &*found.topology;
    let mut figures = surveyed_with(topology, &found.capacities);
    if let Some(described) = Described::of(topology) {
        figures.insert("described".to_owned(), described.json());
    }
    if !found.dead.is_empty() {
        let link = |dead: &DeadLink| {
            json!({ "name": topology::dead_link_name(topology, dead), "node": dead.from.0, "port": dead.port.0,
                    "to_node": dead.to.0, "to_port": dead.back.map(|port| port.0) })
        };
        figures.insert("dead_links".to_owned(), found.dead.iter().map(link).collect());
    }
    if !found.failures.changes.is_empty() {
        let names =
            |links: &[DeadLink]| links.iter().map(|link| topology::dead_link_name(topology, link)).collect::<Vec<_>>();
        let phases = found.failures.changes.iter().zip(found.failures.phases().skip(1));
        let phase = |(change, dead): (&Change, Vec<DeadLink>)| {
            json!({ "at_ps": change.at, "events": change.words, "dies": names(&change.dies),
                    "revives": names(&change.revives), "dead_links": dead.len() })
        };
        figures.insert("failures".to_owned(), phases.map(phase).collect());
    }
    if let Some(blocked) = &found.blocked {
        let link = |&[(node, port), (to_node, to_port)]: &Ends| json!({ "node": node.0, "port": port.0, "to_node": to_node.0, "to_port": to_port.0 });
        figures.insert("blocked_links".to_owned(), blocked.iter().map(link).collect());
    }
    figures
}

/// How many links these are, and the names of the first ones; nothing if there are none.
fn named(topology: &dyn Topology, links: &[DeadLink]) -> String {
    match links.len() {
        0 => String::new(),
        count => {
            let some = links.iter().take(MAX_BLOCKED).map(|link| topology::dead_link_name(topology, link));
            let more = if count > MAX_BLOCKED { ", ... (all with --format json)" } else { "" };
            format!("{}: {}{more}", counted(count, "link", "links"), some.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The pairs of routers that several links join, as two equal lines of a file do; empty if there are none. `router` is
/// what a router is called.
fn parallel(topology: &dyn Topology, router: &str) -> String {
    let Ok(routers) = Routers::new(topology) else { return String::new() };
    let mut links: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for here in 0..routers.routers() {
        for (_, there) in routers.links(here).filter(|&(_, there)| here < there) {
            *links.entry((here, there)).or_default() += 1;
        }
    }
    links.retain(|_, count| *count > 1);
    let Some((&(one, other), count)) = links.first_key_value() else { return String::new() };
    let plural = if router == "switch" { "switches" } else { "nodes" };
    let pairs = counted(links.len(), "pair", "pairs");
    format!(
        "{pairs} of {plural} with several links, such as {} and {} with {count}",
        routers.name(one),
        routers.name(other)
    )
}

/// The classes of links, as `--link-delay` takes them, each with its number of links; empty if there is only one.
fn classes(topology: &dyn Topology) -> String {
    let names = topology.link_classes();
    let mut counts = vec![0_usize; names.len()];
    for (node, port) in topology.outputs().all().filter(|&(node, port)| topology.neighbour(node, port).is_some()) {
        if let Some(count) = counts.get_mut(topology.link_class(node, port)) {
            *count += 1;
        }
    }
    let classes: Vec<String> = names.iter().zip(counts).map(|(name, count)| format!("{name} {count}")).collect();
    if names.len() > 1 { classes.join(", ") } else { String::new() }
}

/// The properties of a topology as lines of text.
fn table(found: &Found) -> String {
    let (topology, unit, blocked) = (&*found.topology, found.unit, found.blocked.as_deref());
    let survey = Survey::with(topology, &found.capacities);
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.4}"));
    let degree = match (survey.degree_min, survey.degree_max) {
        (least, most) if least == most => counted(most, "link", "links"),
        (least, most) => format!("{least} to {most} links"),
    };
    let endpoints = counted(survey.nodes, "endpoint", "endpoints");
    let (router, halves) = match survey.switches {
        0 => ("node", "from the lower to the upper half of the numbers"),
        _ => ("switch", "must be cut to part the lower from the upper half of the endpoints"),
    };
    let described = Described::of(topology);
    let remark = match survey.uniform_load_bound {
        // A slower link would lower the bound.
        Some(_) if described.as_ref().is_some_and(Described::is_partly_rated) => {
            " if links without a rate are as fast as the fastest"
        }
        // A bound above 1 exceeds what one injector sends.
        Some(bound) if bound > 1.0 && unit == PHITS_PER_NODE_CYCLE => " (each injector sends up to 1: --injectors)",
        _ => "",
    };
    let blocked = blocked.map_or_else(String::new, |blocked| {
        let name = |(node, port): (NodeId, Port)| format!("{node} port {}", port.0);
        let some = blocked.iter().take(MAX_BLOCKED).map(|&[one, other]| format!("{} - {}", name(one), name(other)));
        let more = if blocked.len() > MAX_BLOCKED { ", ... (all with --format json)" } else { "" };
        let named = if blocked.is_empty() { String::new() } else { ": ".to_owned() };
        let links = counted(blocked.len(), "link", "links");
        format!("{links}, both ways{named}{}{more}", some.collect::<Vec<_>>().join(", "))
    });
    let from = match survey.is_exact() {
        true => String::new(),
        false => format!(", estimated from {} of {endpoints}", survey.counted),
    };
    let rows = [
        ("topology", topology.spec()),
        (
            "nodes",
            match survey.switches {
                0 => survey.nodes.to_string(),
                switches => format!("{endpoints}, {}", counted(switches, "switch", "switches")),
            },
        ),
        ("links", format!("{}, one way", survey.links)),
        ("degree", format!("{degree} from each {router}")),
        ("classes", classes(topology)),
        (
            "diameter",
            format!("{}{}", if survey.is_exact() { "" } else { "at least " }, counted(survey.diameter, "hop", "hops")),
        ),
        ("distance", format!("{} hops, mean over different nodes{from}", number(survey.distance_mean))),
        (
            "all-to-all",
            match survey.hops() {
                Some(hops) => format!(
                    "{} over {}: {} a link, mean, of a message for each pair",
                    counted(hops, "hop", "hops"),
                    counted(survey.pairs(), "pair", "pairs"),
                    number(survey.exchange_load())
                ),
                None => String::new(),
            },
        ),
        (
            "middle",
            survey
                .middle_links
                .map_or_else(String::new, |links| format!("{}, one way, {halves}", counted(links, "link", "links"))),
        ),
        (
            "uniform load",
            // Platforms whose routes are those of no graph have no such bound.
            survey.uniform_load_bound.map_or_else(String::new, |bound| {
                let by = match found.with_room {
                    true =>
                        "the rates of links and the room behind them: a link carries no more than that room in a round trip",
                    false => "the rates of links alone: delays, buffers and credits may allow less",
                };
                format!("{} {unit} at most{remark}, by {by}", number(Some(bound)))
                        }),
        ),
    ];
    let parallel = parallel(topology, router);
    let dead = named(topology, &found.dead);
    let later = found.failures.changes.iter().map(|change| {
        let parts = [("dies", "die", &change.dies), ("is repaired", "are repaired", &change.revives)];
        let parts = parts.into_iter().filter(|(.., links)| !links.is_empty());
        let texts = parts.map(|(one, several, links)| {
            format!("{} {}", named(topology, links), if links.len() == 1 { one } else { several })
        });
        ("later", format!("{}: {}", topology::time_text(change.at), texts.collect::<Vec<_>>().join("; ")))
    });
    let described = described.map_or_else(Vec::new, |described| described.rows());
    let rows = rows
        .into_iter()
        .chain(described)
        .chain([("parallel", parallel), ("dead", dead)])
        .chain(later)
        .chain([("blocked", blocked)])
        .filter(|(_, value)| !value.is_empty());
    rows.fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "{name:<14}{value}");
        text
    })
}

//! Lower bounds of a program's completion time in any network with these links: the greatest bound is the bottleneck.
//!
//! Every bound counts whole packets, as the network does, and assumes minimal routes and evenly spread load. The rates are
//! those of the settings in force: links, injectors, ports of consumption.
//!
//! Decisions: docs/decisions/0341-bounds-of-links.md, docs/decisions/0535-observers-and-bounds.md,
//! docs/decisions/0631-bounds-of-graphs-in-place.md.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use trgen::phrase::Phrase;
use trgen::trace::flow::Flow;
use trgen::trace::placement::{Distance, Placement, hop_bytes};
use trgen::trace::replay::{Rule, TimesAlone};
use trgen::{Cycle, Message, NodeId, TrGen, phrase};

use super::execute::run;
use super::plan::RunPlan;
use super::resolve::Experiment;
use super::trouble::Trouble;
use super::workload::{Driven, Driver};
use fsin_core::couple::Coupled;
use fsin_core::family::{Rates, Units, capacities};
use fsin_core::topology::{Capacities, Distances, Port, Topology, cuts, links_of, node_name};
use fsin_core::words::counted;
use fsin_models::ConstantDelay;
use fsin_models::constant_delay::Passage;

/// Maximum number of messages for which the critical path is computed: computing it takes as long as reading and
/// replaying the program again.
const MOST_MESSAGES: u64 = 1 << 20;

/// \[%\] A bound of this share of the completion time is a sufficient explanation: the rest is not mentioned.
const ENOUGH: f64 = 90.0;

/// A time below which the completion of a program cannot be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// \[cycles\] That time.
    pub cycles: u64,
    /// What needs that time, as a clause.
    pub reason: Phrase,
}

impl Bound {
    /// \[%\] Its share of a completion time.
    fn share(&self, completion: u64) -> f64 {
        100.0 * self.cycles as f64 / completion.max(1) as f64
    }
}

/// Lower bounds of a program's completion; `None` where unknown.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Bounds {
    /// Time in which the node that sends most moves its phits out of its interface, and onto its links.
    pub injection: Option<Bound>,
    /// Time in which an interface sends its messages one after another, each over the links that lead towards its
    /// destination.
    pub interface: Option<Bound>,
    /// Time in which the node that receives most takes its phits from its links, and consumes them.
    pub ejection: Option<Bound>,
    /// Time in which the phits that cross a middle of the network in one direction cross it, spread over the links
    /// there. Middles are that of the node numbers and, in a direct network, that of each dimension; in a network of
    /// switches the borders of parts with few links count too.
    pub bisection: Option<Bound>,
    /// Time in which all links carry all phits over their minimal routes, evenly spread.
    pub links: Option<Bound>,
    /// Time in which the link that carried most of all carried that: of networks that choose paths by a hash.
    pub fullest_link: Option<Bound>,
    /// Completion time over a zero-latency network: computation and dependencies.
    pub critical_path: Option<Bound>,
    /// Completion time over a network in which every message is alone: computation, dependencies, and the time that each
    /// message takes to leave its node and to arrive. Not computed where another bound is the whole completion time,
    /// which none exceeds: it may take as long as replaying the program again.
    pub sequence: Option<Bound>,
    /// Computing of the rank that computes longest; of programs that run live, whose critical path is not known.
    pub computing: Option<Bound>,
}

impl Bounds {
    /// The bounds with their names.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, Option<&Bound>); 9] {
        [
            ("injection", self.injection.as_ref()),
            ("interface", self.interface.as_ref()),
            ("ejection", self.ejection.as_ref()),
            ("bisection", self.bisection.as_ref()),
            ("links", self.links.as_ref()),
            ("critical path", self.critical_path.as_ref()),
            ("sequence", self.sequence.as_ref()),
            ("fullest link", self.fullest_link.as_ref()),
            ("computing", self.computing.as_ref()),
        ]
    }

    /// The greatest bound, with its name; ties go to the first.
    #[must_use]
    pub fn binding(&self) -> Option<(&'static str, &Bound)> {
        let known = self.named().into_iter().filter_map(|(name, bound)| Some((name, bound?)));
        known.reduce(|most, one| if most.1.cycles >= one.1.cycles { most } else { one })
    }

    /// Names what binds, and its share of the completion time.
    #[must_use]
    pub fn explain(&self, completion: u64) -> Option<Phrase> {
        let (name, bound) = self.binding().filter(|(_, bound)| bound.cycles > 0)?;
        let share = bound.share(completion);
        let rest = match (share >= ENOUGH, self.sequence.is_some()) {
            (true, _) => "",
            (_, true) => "; the rest is congestion, or latency of hops that nothing hides",
            (_, false) => "; the rest is congestion, or latency that nothing hides",
        };
        Some(phrase![
            ("completion is bound by {name}: at least {} cycles, {share:.0} % of the time, because ", bound.cycles),
            bound.reason.clone(),
            rest
        ])
    }

    /// Lets a program find the completions without contention while it runs, which bound it afterwards.
    pub(super) fn prepare(experiment: &Experiment, driven: &mut dyn Driven) {
        // The critical path is that of tasks in the order of nodes: only which of them share a node matters.
        let is_usual = |places: &[NodeId]| {
            let groups = places.chunks(experiment.tasks_per_node.max(1));
            let mut firsts: Vec<NodeId> = groups.clone().map(|group| group[0]).collect();
            let count = firsts.len();
            firsts.sort_unstable();
            firsts.dedup();
            firsts.len() == count && groups.into_iter().all(|group| group.iter().all(|node| *node == group[0]))
        };
        if matches!(experiment.plan, RunPlan::ToEnd(_)) && !driven.has_background() && is_usual(&driven.places()) {
            driven.keep_clocks(MOST_MESSAGES, &|| alone(experiment));
        }
    }

    /// The bounds of a program that was complete at `completion` \[cycles\] and sent `messages` messages. `crossings`
    /// is the number of packets by router and port, of runs that count it by themselves.
    pub(super) fn of(
        experiment: &Experiment,
        driven: &mut dyn Driven,
        completion: u64,
        messages: u64,
        crossings: &[u64],
        stop: &AtomicBool,
    ) -> Result<Option<Self>, Trouble> {
        let Some(flows) = driven.flows().filter(|_| !driven.has_background()) else { return Ok(None) };
        let mut bounds = Self::of_flows(experiment, &flows);
        bounds.fullest_link = fullest_link(experiment, crossings, &flows);
        if messages <= MOST_MESSAGES {
            let found = driven.completions_alone();
            let at_once = match found {
                Some((clock, _)) => Some(self::completion(experiment, clock)),
                None => critical_path(experiment, driven, stop)?,
            };
            bounds.critical_path = at_once.map(|cycles| {
                let reason = "the program takes that long over a network that delivers at once".into();
                Bound { cycles, reason }
            });
            if bounds.binding().is_none_or(|(_, bound)| bound.cycles < completion) {
                let alone = match found {
                    Some((_, clock)) => clock.map(|clock| self::completion(experiment, clock)),
                    None => sequence(experiment, driven, stop)?,
                };
                bounds.sequence = alone.map(|cycles| {
                    let reason =
                        "its messages follow one another: the program takes that long if each of them is alone in the \
                                  network"
                            .into();
                    Bound { cycles, reason }
                });
            }
        }
        Ok(Some(bounds))
    }

    /// The bounds of a program that has run live: of what its ranks sent over the network of an experiment, and of the rank
    /// that computed longest, with its time \[cycles\].
    #[must_use]
    pub fn of_ranks(experiment: &Experiment, flows: &[Flow], computing: Option<(u64, u64)>) -> Self {
        let bound = |(rank, cycles)| Bound { cycles, reason: format!("rank {rank} computes that long").into() };
        Self { computing: computing.map(bound), ..Self::of_flows(experiment, flows) }
    }

    /// The bounds of what nodes send to each other; none over a network without links.
    fn of_flows(experiment: &Experiment, flows: &[Flow]) -> Self {
        let (Some(topology), Some(rates)) = (experiment.topology(), experiment.network.rates()) else {
            return Self::default();
        };
        let flows = flows.iter().filter(|flow| flow.from != flow.to);
        let flows: Vec<Load> = flows.map(|flow| Load::of(flow, experiment.units)).collect();
        Self::of_network(topology, &capacities(&*experiment.network, &**topology), &rates, &flows)
    }

    /// The bounds that follow from the rates of nodes and links.
    fn of_network(topology: &Arc<dyn Topology>, capacities: &Capacities, rates: &Rates, flows: &[Load]) -> Self {
        let leaving = links_of(&**topology);
        let mut bounds = Self::of_nodes(&leaving, capacities, rates, flows);
        bounds.bisection = bisection(&**topology, capacities, rates, flows);
        let Some(distances) = Distances::few(Arc::clone(topology)) else { return bounds };
        let links: usize = leaving.iter().map(Vec::len).sum();
        if links > 0 {
            let hops = hop_bytes(flows.iter().map(|load| (load.from, load.to, load.phits)), &distances);
            let cycles = time(hops, capacities.total() * rates.link);
            bounds.links = Some(Bound { cycles, reason: format!("{hops} phits x hops cross {links} links").into() });
        }
        if rates.is_serial && topology.switched().is_none() {
            bounds.interface = interface(&leaving, rates, flows, rates.queued_phits, &distances);
        }
        bounds
    }

    /// Injection and ejection.
    fn of_nodes(leaving: &[Vec<usize>], capacities: &Capacities, rates: &Rates, flows: &[Load]) -> Self {
        let mut entering = vec![0usize; leaving.len()];
        for &there in leaving.iter().flatten() {
            entering[there] += 1;
        }
        let (mut sent, mut received) = (vec![0u64; leaving.len()], vec![0u64; leaving.len()]);
        for load in flows {
            sent[load.from.index()] += load.phits;
            received[load.to.index()] += load.phits;
        }
        // The node that needs most time, and whether its links or its interface limit it.
        let most = |phits: &[u64], links: &dyn Fn(usize) -> usize, all: &[f64], own: &[f64], verb: &str, port: &str| {
            let busy = own.iter().enumerate().map(|(node, &own)| {
                let links = links(node);
                let of_links = all[node] * rates.link;
                let limit = match own < of_links {
                    true => format!("its {port} moves {}", rate(own)),
                    false => format!("its {} {}", counted(links, "link moves", "links move"), rate(of_links)),
                };
                (time(phits[node].into(), own.min(of_links)), node, limit)
            });
            let (cycles, node, limit) = busy.reduce(|most, one| if most.0 >= one.0 { most } else { one })?;
            let reason = format!("node {node} {verb} {} phits, and {limit}", phits[node]).into();
            Some(Bound { cycles, reason })
        };
        Self {
            injection: most(
                &sent,
                &|node| leaving[node].len(),
                &capacities.leaving(),
                &rates.injection,
                "sends",
                "interface",
            ),
            ejection: most(
                &received,
                &|node| entering[node],
                &capacities.entering(),
                &rates.ejection,
                "receives",
                "consumption port",
            ),
            ..Self::default()
        }
    }
}

/// What one node sends to another.
#[derive(Clone, Copy, Debug)]
struct Load {
    from: NodeId,
    to: NodeId,
    messages: u64,
    /// \[phits\] Length of all their packets, at least.
    phits: u64,
}

impl Load {
    fn of(flow: &Flow, units: Units) -> Self {
        let packet = u64::from(units.packet_phits);
        let phits = match units.is_padded {
            true => units.packets_of(flow.bytes).max(flow.messages).saturating_mul(packet),
            false => flow.bytes.div_ceil(u64::from(units.phit_bytes)).max(flow.messages),
        };
        Self { from: flow.from, to: flow.to, messages: flow.messages, phits }
    }
}

/// \[cycles\] Time of so many phits at a rate in phits/cycle; 0 where nothing moves.
fn time(phits: u128, rate: f64) -> u64 {
    // Less the error of the division, which must not make the bound too great.
    let cycles = phits as f64 / rate;
    if phits == 0 || !cycles.is_finite() { 0 } else { (cycles * (1.0 - 4.0 * f64::EPSILON)).ceil() as u64 }
}

/// A rate in words.
fn rate(phits_per_cycle: f64) -> String {
    match phits_per_cycle {
        1.0 => "one phit a cycle".to_owned(),
        1.0.. => format!("{phits_per_cycle} phits a cycle"),
        // Where a cycle is a picosecond and a phit a byte.
        _ => format!("{phits_per_cycle:.3e} phits a cycle"),
    }
}

/// The time in which the phits that cross a middle of the network, or leave or enter a part of it with few links to the
/// rest, do so.
fn bisection(topology: &dyn Topology, capacities: &Capacities, rates: &Rates, flows: &[Load]) -> Option<Bound> {
    let bound = |is_lower: &[bool], is_middle: bool, up: bool, links: f64| {
        let crosses = |load: &&Load| is_lower[load.from.index()] == up && is_lower[load.to.index()] != up;
        let phits: u64 = flows.iter().filter(crosses).map(|load| load.phits).sum();
        // Links of unlike rates count as so many of the fastest.
        let links_there = match links.fract() {
            0.0 => counted(links as usize, "link", "links"),
            _ => format!("links, as many as {links:.3} of the fastest,"),
        };
        let parts = if is_middle { "halves" } else { "parts" };
        let reason = format!("{phits} phits cross the {links_there} between two {parts} of the network").into();
        (links > 0.0).then(|| Bound { cycles: time(phits.into(), links * rates.link), reason })
    };
    let both = cuts(topology, capacities).into_iter().flat_map(|cut| {
        [(true, cut.upwards), (false, cut.downwards)].map(|(up, links)| bound(&cut.is_lower, cut.is_middle, up, links))
    });
    both.flatten().reduce(|most, one| if most.cycles >= one.cycles { most } else { one })
}

/// The time of the interface that needs most to send its messages one after another: a message moves at the rate of the
/// links that lead towards its destination over minimal routes, and the next begins when all of it but what its queues
/// hold has left.
fn interface(
    leaving: &[Vec<usize>],
    rates: &Rates,
    flows: &[Load],
    queued: u64,
    distances: &Distances,
) -> Option<Bound> {
    let mut cycles = vec![0u64; rates.injection.len()];
    for &Load { from, to, messages, phits } in flows {
        let far = distances.hops(from, to);
        let nearer = |&&there: &&usize| distances.hops(NodeId::at(there), to) < far;
        let ways = leaving[from.index()].iter().filter(nearer).count().max(1);
        let left = phits.saturating_sub(messages.saturating_mul(queued));
        cycles[from.index()] += time(left.into(), (ways as f64 * rates.link).min(rates.injection[from.index()]));
    }
    let (node, &cycles) = cycles.iter().enumerate().rev().max_by_key(|(_, cycles)| **cycles)?;
    let reason = phrase![
        ("the interface of node {node} sends one message at a time, each over the links that lead towards its \
             destination only")
    ];
    Some(Bound { cycles, reason })
}

/// Largest number of endpoints of which the routes of all pairs are kept: a word each.
const MOST_ENDPOINTS: usize = 1024;

/// The times of each message over a network in which it is alone: it leaves its node and arrives at the rate of the links
/// that lead towards its destination, a cycle for each hop later. `None` over a network without links, and where distances
/// would take too long.
fn alone(experiment: &Experiment) -> Option<TimesAlone> {
    let (topology, rates) = (experiment.topology()?, experiment.network.rates()?);
    let distances = Distances::many(Arc::clone(topology))?;
    let (leaving, units) = (links_of(&**topology), experiment.units);
    let (is_direct, is_continuous) = (topology.switched().is_none(), is_continuous(experiment));
    let route = move |from: NodeId, to: NodeId| {
        let far = distances.hops(from, to);
        // In a network of switches all links of a host lead there.
        let nearer = |&&there: &&usize| !is_direct || distances.hops(NodeId::at(there), to) < far;
        (leaving[from.index()].iter().filter(nearer).count().max(1) as u32, far)
    };
    // By source and destination: the links and the hops, or 0.
    let ends = Some(topology.endpoints()).filter(|&ends| ends <= MOST_ENDPOINTS).unwrap_or(0);
    let known: Vec<AtomicU32> = (0..ends * ends).map(|_| AtomicU32::new(0)).collect();
    let route = move |from: NodeId, to: NodeId| {
        let Some(known) = known.get(from.index() * ends + to.index()) else { return route(from, to) };
        let word = known.load(Ordering::Relaxed);
        if word > 0 {
            return (word >> 16, word & 0xffff);
        }
        let (ways, far) = route(from, to);
        if ways < 1 << 16 && far < 1 << 16 {
            known.store(ways << 16 | far, Ordering::Relaxed);
        }
        (ways, far)
    };
    Some(Arc::new(move |message: &Message| {
        let (from, to) = (message.source, message.destination);
        if from == to {
            return (0, 0);
        }
        let Load { phits, .. } = Load::of(&Flow { from, to, bytes: message.bytes, messages: 1 }, units);
        let (ways, far) = route(from, to);
        let sending = (f64::from(ways) * rates.link).min(rates.injection[from.index()]);
        let leaves = time(phits.saturating_sub(rates.queued_phits).into(), sending);
        // In continuous time the delay of a hop is a setting of the model, which may be 0.
        let hops = if is_continuous { 0 } else { far.into() };
        (leaves, time(phits.into(), sending.min(rates.ejection[to.index()])) + hops)
    }))
}

/// \[cycles\] Completion over a network in which every message is [`alone`]; `None` without such times, and if the run was
/// stopped.
fn sequence(experiment: &Experiment, driven: &mut dyn Driven, stop: &AtomicBool) -> Result<Option<u64>, Trouble> {
    let Some(rule) = alone(experiment) else { return Ok(None) };
    let alone = || {
        let rule = Arc::clone(&rule);
        let rule = Box::new(move |_: Cycle, message: &Message| {
            let (leaves, arrives) = rule(message);
            Passage { leaves, arrives }
        });
        ConstantDelay::ruled(experiment.geometry().nodes(), rule)
    };
    if let Some(found) = run_again(experiment, driven, &alone, stop) {
        return Ok(found);
    }
    if let Some(clock) = followed(experiment, &mut |message| rule(message))? {
        return Ok(Some(completion(experiment, clock)));
    }
    simulated(experiment, alone(), stop)
}

/// \[cycle\] The clock after a program over a network in which messages take what a rule says; `None` if it has to be
/// simulated.
fn followed(experiment: &Experiment, rule: Rule<'_>) -> Result<Option<Cycle>, Trouble> {
    let mut driver = Driver::new(experiment, experiment.geometry())?;
    // A program that cannot be read has failed before.
    Ok(driver.driven.completion_alone(rule).ok().flatten())
}

/// The completion \[cycles\] of a program that has ended over another network, by the same source, which begins anew: it
/// is neither read nor kept twice. `None` if the source cannot.
fn run_again(
    experiment: &Experiment,
    driven: &mut dyn Driven,
    network: &dyn Fn() -> ConstantDelay<'static>,
    stop: &AtomicBool,
) -> Option<Option<u64>> {
    driven.begin_anew().then(|| completed(experiment, driven.source(), network(), stop))
}

/// \[cycles\] Completion of a program over a network; `None` if the run was stopped.
fn simulated(experiment: &Experiment, network: ConstantDelay<'_>, stop: &AtomicBool) -> Result<Option<u64>, Trouble> {
    let mut driver = Driver::new(experiment, experiment.geometry())?;
    Ok(completed(experiment, driver.source(), network, stop))
}

/// The completion \[cycles\] of a program over a network; `None` if it is not complete.
fn completed(
    experiment: &Experiment,
    source: &mut dyn TrGen,
    mut network: ConstantDelay<'_>,
    stop: &AtomicBool,
) -> Option<u64> {
    let outcome = run(experiment, Coupled::new(source, &mut network, stop), &mut |_| {});
    outcome.completion.filter(|_| outcome.complete).map(|clock| completion(experiment, clock))
}

/// True if a cycle is a picosecond of continuous time.
fn is_continuous(experiment: &Experiment) -> bool {
    experiment.network.cycle() == Some((1, 1))
}

/// \[cycles\] Completion of a program with this clock after it, over a network that counts cycles, as the network of the
/// experiment counts it: in continuous time an event in cycle n is n - 1 later than the start, and the clock stands one
/// further.
fn completion(experiment: &Experiment, clock: Cycle) -> u64 {
    if is_continuous(experiment) { clock.0.saturating_sub(2) } else { clock.0 }
}

/// The time of the link that carried most, relative to what it carries; `None` where links were not counted.
fn fullest_link(experiment: &Experiment, crossings: &[u64], flows: &[Flow]) -> Option<Bound> {
    if crossings.is_empty() || !experiment.network.packets_are_payload() {
        return None;
    }
    let (topology, rates) = (experiment.topology()?, experiment.network.rates()?);
    // \[phits\] Of the pair whose packets are shortest: of each message one packet more than its full ones, at most.
    let of_pair = |flow: &Flow| match experiment.units.is_padded {
        true => f64::from(experiment.units.packet_phits),
        false => {
            let packets = flow.bytes / experiment.units.packet_bytes() + flow.messages;
            Load::of(flow, experiment.units).phits as f64 / packets.max(1) as f64
        }
    };
    let phits = flows.iter().filter(|flow| flow.from != flow.to).map(of_pair).reduce(f64::min)?;
    let outputs = topology.outputs();
    let packets = |node: usize, port: Port| crossings.get(outputs.at(node, port.index())).copied().unwrap_or(0);
    let ends = if topology.switched().is_some() { topology.endpoints() } else { 0 };
    let capacities = capacities(&*experiment.network, &**topology);
    let mut most: Option<(f64, usize, usize, u64)> = None;
    // Links between switches, or between nodes of a direct network, that carry something.
    let (mut carried, mut links) = (0, 0u64);
    for node in 0..topology.nodes() {
        let present = topology.ports_of(NodeId::at(node));
        let present = present.filter_map(|port| Some((port, topology.neighbour(NodeId::at(node), port)?)));
        for ((port, there), parts) in present.zip(capacities.of_node(node)) {
            let count = packets(node, port);
            if node >= ends && there.index() >= ends {
                carried += count;
                links += 1;
            }
            let share = count as f64 / parts.max(f64::MIN_POSITIVE);
            if count > 0 && most.is_none_or(|(least, ..)| share > least) {
                most = Some((share, node, there.index(), count));
            }
        }
    }
    let (share, from, to, count) = most?;
    let cycles = (share * phits / rates.link * (1.0 - 4.0 * f64::EPSILON)) as u64;
    let name = |node: usize| node_name(&**topology, NodeId::at(node));
    let mean = carried as f64 / links.max(1) as f64;
    let beside = match from >= ends && to >= ends && links > 0 && mean > 0.0 {
        true => format!(", {:.1} times the mean of such links", count as f64 / mean),
        false => String::new(),
    };
    let hashed = match experiment.network.chooses_by_hash() && count as f64 > 1.5 * mean && !beside.is_empty() {
        true => ": paths are chosen by a hash, and meet there",
        false => "",
    };
    let reason = format!("the link from {} to {} carries {count} packets{beside}{hashed}", name(from), name(to));
    Some(Bound { cycles, reason: reason.into() })
}

/// \[cycles\] Completion over a zero-latency network; `None` if the run was stopped.
fn critical_path(experiment: &Experiment, driven: &mut dyn Driven, stop: &AtomicBool) -> Result<Option<u64>, Trouble> {
    let at_once = || ConstantDelay::new(experiment.geometry().nodes(), 0);
    if let Some(found) = run_again(experiment, driven, &at_once, stop) {
        return Ok(found);
    }
    // Where tasks are makes no difference to a network without distances, and finding out where may take long.
    let mut experiment = experiment.clone();
    experiment.placement = Placement::default();
    if let Some(clock) = followed(&experiment, &mut |_| (0, 0))? {
        return Ok(Some(completion(&experiment, clock)));
    }
    simulated(&experiment, ConstantDelay::new(experiment.geometry().nodes(), 0), stop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsin_core::topology::parse;

    fn of(spec: &str, (injectors, ejection): (f64, f64), flows: &[(u32, u32, u64)]) -> Bounds {
        let load = |&(from, to, phits)| Load { from: NodeId(from), to: NodeId(to), messages: 1, phits };
        let flows: Vec<_> = flows.iter().map(load).collect();
        let topology: Arc<dyn Topology> = parse(spec, 2).unwrap().into();
        let nodes = topology.endpoints();
        let rates = Rates {
            link: 1.0,
            injection: vec![injectors; nodes],
            ejection: vec![ejection; nodes],
            queued_phits: 10,
            is_serial: true,
        };
        Bounds::of_network(&topology, &Capacities::of(&*topology), &rates, &flows)
    }

    fn cycles(bound: &Option<Bound>) -> u64 {
        bound.as_ref().unwrap().cycles
    }

    #[test]
    fn bounds_are_those_counted_by_hand() {
        let many = (f64::INFINITY, f64::INFINITY);
        // A ring of eight: two links leave each node, and two cross its middle each way.
        let ring = of("torus:8", many, &[(0, 4, 100), (1, 5, 60), (7, 0, 11)]);
        assert_eq!([&ring.injection, &ring.ejection, &ring.bisection].map(cycles), [50, 50, 80]);
        // Two ways lead to the opposite node, one to all others; ten phits still wait when the next message begins.
        assert_eq!(cycles(&ring.interface), 45);
        // A mesh of 4 x 2: four links cross the middle of its rows, two that of its columns.
        let mesh = of("mesh:4x2", many, &[(0, 3, 10), (4, 7, 10)]);
        assert_eq!([&mesh.injection, &mesh.bisection].map(cycles), [5, 10]);
        // An endpoint has one link, and a thin tree of 2 x 2 endpoints one between its halves.
        let tree = of("thintree:2,1,2", many, &[(0, 2, 30), (1, 3, 30), (3, 0, 7)]);
        assert_eq!([&tree.injection, &tree.ejection, &tree.bisection].map(cycles), [30, 30, 60]);
        assert_eq!(tree.interface, None);
        assert_eq!(
            of("torus:8", many, &[]).binding().map(|(name, bound)| (name, bound.cycles)),
            Some(("injection", 0))
        );
    }

    #[test]
    fn the_settings_of_the_interface_bind() {
        let halo = [(0, 1, 100), (0, 3, 100), (0, 4, 100), (0, 12, 100)];
        let torus = |rates| of("torus:4x4", rates, &halo);
        // One injector moves all; four injectors still send the messages one after another.
        assert_eq!(cycles(&torus((1.0, f64::INFINITY)).injection), 400);
        let many = torus((4.0, f64::INFINITY));
        assert_eq!((cycles(&many.injection), cycles(&many.interface)), (100, 360));
        assert_eq!(many.binding().unwrap().0, "interface");
        // One port of consumption takes what four links bring.
        let gather = [(1, 0, 100), (3, 0, 100), (4, 0, 100), (12, 0, 100)];
        assert_eq!(cycles(&of("torus:4x4", (1.0, 1.0), &gather).ejection), 400);
        assert_eq!(cycles(&of("torus:4x4", (1.0, f64::INFINITY), &gather).ejection), 100);
        let said = torus((1.0, 1.0)).explain(410).unwrap().to_string();
        assert_eq!(
            said,
            "completion is bound by injection: at least 400 cycles, 98 % of the time, because node 0 sends 400 phits, \
             and its interface moves one phit a cycle"
        );
    }

    #[test]
    fn the_greatest_binds() {
        let bound = |cycles| Some(Bound { cycles, reason: Phrase::default() });
        let bounds = Bounds { injection: bound(5), bisection: bound(9), critical_path: bound(9), ..Bounds::default() };
        assert_eq!(bounds.binding().map(|(name, bound)| (name, bound.cycles)), Some(("bisection", 9)));
        assert_eq!(Bounds::default().binding(), None);
    }
}

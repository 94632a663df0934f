//! Open-loop traffic with its own loop, and measurement as `booksim-rules` states them: nodes may send to themselves,
//! which the contract of traffic sources excludes, so that no source of `trgen` is used here.

#![allow(dead_code, missing_docs, unreachable_pub, reason = "shared by tests, each of which uses some of it")]

use proptest::test_runner::Config as ProptestConfig;
use std::collections::VecDeque;

use fsin_core::network::{Network, Notices};
use fsin_wormhole::{Params, Routing, Speedup, VcClasses};
use rand::Rng as _;
use trgen::rng::{Purpose, Stream, stream};
use trgen::{Cycle, Message, NodeId};

#[path = "../../../../../tests/src/shared.rs"]
pub mod shared;

/// Destinations.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// Any node, the sender included.
    Uniform,
    /// Halves of the number's bits exchanged.
    Transpose,
    /// All bits of the number inverted.
    BitComplement,
    /// ceil(k/2) - 1 further in every dimension.
    Tornado,
    /// 1 further in every dimension.
    Neighbor,
    /// By weight.
    Hotspot(Vec<u64>),
}

/// An experiment of the tables.
#[derive(Clone, Debug)]
pub struct Experiment {
    pub topology: String,
    pub size: u32,
    pub dimensions: u32,
    pub pattern: Pattern,
    pub params: Params,
    /// \[flits/node/cycle\]
    pub rate: f64,
    /// \[cycles\]
    pub period: u64,
    pub warmup_periods: u64,
    pub max_periods: u64,
    /// No test of stability, no injection in the drain.
    pub is_throughput: bool,
    pub seed: u64,
}

/// What was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    pub latency: f64,
    pub latency_min: u64,
    pub latency_max: u64,
    /// Without waiting in the source.
    pub network_latency: f64,
    /// Routers.
    pub hops: f64,
    /// \[flits/node/cycle\]
    pub accepted: f64,
    pub is_unstable: bool,
}

impl Experiment {
    pub fn nodes(&self) -> u32 {
        self.size.pow(self.dimensions)
    }

    fn destination(&self, source: u32, rng: &mut Stream) -> u32 {
        let (nodes, size) = (self.nodes(), self.size);
        let shift = |by: u32| {
            let (mut rest, mut stride, mut to) = (source, 1, 0);
            for _ in 0..self.dimensions {
                to += (rest % size + by) % size * stride;
                (rest, stride) = (rest / size, stride * size);
            }
            to
        };
        match &self.pattern {
            Pattern::Uniform => below(rng, nodes.into()) as u32,
            Pattern::Transpose => {
                let half = nodes.ilog2() / 2;
                source >> half | (source & ((1 << half) - 1)) << half
            }
            Pattern::BitComplement => !source & (nodes - 1),
            Pattern::Tornado => shift(size.div_ceil(2) - 1),
            Pattern::Neighbor => shift(1),
            Pattern::Hotspot(weights) => {
                let mut draw = below(rng, weights.iter().sum());
                let hit = weights.iter().position(|&weight| {
                    let is_it = draw < weight;
                    draw = draw.wrapping_sub(weight);
                    is_it
                });
                hit.expect("a draw below the sum of weights hits one") as u32
            }
        }
    }
}

fn below(rng: &mut Stream, bound: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// \[cycles\] To the next success of trials with this probability, 1 or more.
fn gap(rng: &mut Stream, probability: f64) -> u64 {
    if probability >= 1.0 {
        return 1;
    }
    let uniform = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    1 + ((1.0 - uniform).ln() / (1.0 - probability).ln()) as u64
}

struct Packet {
    created: u64,
    /// \[cycle\] In which it was the first of its source.
    first: u64,
    destination: u32,
    is_recorded: bool,
}

#[derive(Default)]
struct Sums {
    packets: u64,
    latency: u64,
    network: u64,
    min: u64,
    max: u64,
    hops: u64,
    flits: u64,
}

/// Runs an experiment over a network, which has been built for it.
pub fn run(experiment: &Experiment, network: &mut dyn Network) -> Measured {
    let flits = u64::from(experiment.params.packet_flits);
    let bytes = flits * u64::from(experiment.params.flit_bytes);
    let probability = experiment.rate / flits as f64;
    let nodes = experiment.nodes() as usize;
    let mut rngs: Vec<(Stream, Stream)> = (0..nodes as u64)
        .map(|node| (stream(experiment.seed, node, Purpose::Temporal), stream(experiment.seed, node, Purpose::Spatial)))
        .collect();
    let start = network.clock().0;
    let mut due: std::collections::BinaryHeap<std::cmp::Reverse<(u64, usize)>> = rngs
        .iter_mut()
        .enumerate()
        .map(|(node, rng)| std::cmp::Reverse((start + gap(&mut rng.0, probability) - 1, node)))
        .collect();
    let mut packets: Vec<Packet> = Vec::new();
    // By node: packets that have not been sent in full.
    let mut waiting: Vec<VecDeque<usize>> = vec![VecDeque::new(); nodes];
    let mut in_flight: std::collections::HashSet<usize> = std::collections::HashSet::new();
    let (mut sums, mut notices) = (Sums { min: u64::MAX, ..Sums::default() }, Notices::default());
    let (mut measured, mut outstanding) = (Measured::default(), 0u64);
    let (mut period, mut converged, mut before) = (0, 0, (0.0f64, 0.0f64));
    let mut window_start = start;
    let mut window_end = None;
    let mut next_test = start + experiment.period;
    loop {
        let now = network.clock().0;
        let is_warming = period < experiment.warmup_periods;
        let is_injecting = window_end.is_none() || !experiment.is_throughput;
        while let Some(&std::cmp::Reverse((cycle, node))) = due.peek() {
            if cycle > now || !is_injecting {
                break;
            }
            due.pop();
            let (temporal, spatial) = &mut rngs[node];
            due.push(std::cmp::Reverse((cycle + gap(temporal, probability), node)));
            let destination = experiment.destination(node as u32, spatial);
            let id = packets.len();
            packets.push(Packet { created: now, first: 0, destination, is_recorded: false });
            let message = Message {
                id: id as u64,
                source: NodeId(node as u32),
                destination: NodeId(destination),
                bytes,
                class: 0,
            };
            network.inject(message);
            waiting[node].push_back(id);
            if waiting[node].len() == 1 {
                leave_queue(&mut packets[id], now, is_warming, window_end, &mut outstanding);
                in_flight.insert(id);
            }
        }
        let next = due.peek().map_or(u64::MAX, |next| next.0.0);
        let target = if is_injecting { next.max(now + 1) } else { next_test }.min(next_test);
        network.advance(Cycle(target), &mut notices).expect("open-loop traffic is free of deadlock here");
        let at = network.clock().0 - 1;
        for message in &notices.sent {
            let queue = &mut waiting[message.source.index()];
            queue.pop_front();
            if let Some(&id) = queue.front() {
                // It leaves the queue in the next cycle; a window that ends there ends before.
                let first = at + 1;
                let warming = if first >= next_test && window_end.is_none() {
                    period + 1 < experiment.warmup_periods
                } else {
                    is_warming
                };
                leave_queue(&mut packets[id], first, warming, window_end, &mut outstanding);
                in_flight.insert(id);
            }
        }
        for delivery in &notices.delivered {
            let id = delivery.message.id as usize;
            in_flight.remove(&id);
            let packet = &packets[id];
            let counts = if window_end.is_none() { at >= window_start } else { false };
            sums.flits += if counts { flits } else { 0 };
            if packet.is_recorded {
                outstanding -= 1;
            }
            if packet.is_recorded || (is_warming && window_end.is_none()) {
                let latency = at - packet.created;
                sums.packets += 1;
                sums.latency += latency;
                sums.network += at - packet.first;
                (sums.min, sums.max) = (sums.min.min(latency), sums.max.max(latency));
                sums.hops += routers(experiment, delivery.message.source.0, packet.destination);
            }
        }
        if let Some(end) = window_end
            && outstanding == 0
        {
            let _ = end;
            break;
        }
        if network.clock().0 < next_test {
            continue;
        }
        let clock = network.clock().0;
        if !experiment.is_throughput {
            let ages: u64 = in_flight.iter().map(|&id| (clock - packets[id].created) * flits).sum();
            let weight = sums.packets + in_flight.len() as u64 * flits;
            if (sums.latency + ages) as f64 > 500.0 * weight as f64 {
                measured.is_unstable = true;
                break;
            }
        }
        if window_end.is_some() {
            next_test = clock + 1000;
            continue;
        }
        period += 1;
        let cycles = clock - window_start;
        let now = (sums.latency as f64 / sums.packets as f64, sums.flits as f64 / nodes as f64 / cycles as f64);
        measured.accepted = now.1;
        if period <= experiment.warmup_periods {
            sums = Sums { min: u64::MAX, ..Sums::default() };
            window_start = clock;
        } else {
            let steady = |before: f64, now: f64| ((now - before) / now).abs() <= 0.05;
            converged = if steady(before.0, now.0) && steady(before.1, now.1) { converged + 1 } else { 0 };
            if converged >= 3 || period >= experiment.max_periods {
                window_end = Some(clock);
            }
        }
        before = now;
        next_test = clock + if window_end.is_some() { 1000 } else { experiment.period };
        if window_end.is_some() && outstanding == 0 {
            break;
        }
    }
    let mean = |sum: u64| sum as f64 / sums.packets as f64;
    Measured {
        latency: mean(sums.latency),
        latency_min: sums.min,
        latency_max: sums.max,
        network_latency: mean(sums.network),
        hops: mean(sums.hops),
        ..measured
    }
}

fn leave_queue(packet: &mut Packet, first: u64, is_warming: bool, window_end: Option<u64>, outstanding: &mut u64) {
    packet.first = first;
    packet.is_recorded = !is_warming && window_end.is_none_or(|end| packet.created < end);
    *outstanding += u64::from(packet.is_recorded);
}

/// Routers on the way.
fn routers(experiment: &Experiment, source: u32, destination: u32) -> u64 {
    let (mut from, mut to, mut routers) = (source, destination, 1);
    let size = experiment.size;
    for _ in 0..experiment.dimensions {
        let direct = (from % size).abs_diff(to % size);
        let wraps = experiment.topology.starts_with("torus");
        routers += u64::from(if wraps { direct.min(size - direct) } else { direct });
        (from, to) = (from / size, to / size);
    }
    routers
}

/// A row of a table, by its columns.
pub fn experiment(field: impl Fn(&str) -> String) -> Option<Experiment> {
    let extra = field("extra_params");
    let option = |name: &str| {
        let given = extra.split('|').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        given.map(str::to_owned)
    };
    let number = |name: &str, default: f64| option(name).map_or(default, |text| text.parse().expect("a number"));
    let whole = |name: &str, default: u32| number(name, default.into()) as u32;
    let (kind, routing) = (field("topology"), field("routing"));
    let (size, dimensions): (u32, u32) = (field("k").parse().ok()?, field("n").parse().ok()?);
    let vc_classes = match routing.as_str() {
        "dor" | "dim_order" => VcClasses::PerDimension,
        "dim_order_bal" => VcClasses::Balanced,
        _ => return None,
    };
    let traffic = field("traffic");
    let pattern = match traffic.split('(').next()? {
        "uniform" => Pattern::Uniform,
        "transpose" => Pattern::Transpose,
        "bitcomp" => Pattern::BitComplement,
        "tornado" => Pattern::Tornado,
        "neighbor" => Pattern::Neighbor,
        "hotspot" => {
            let lists: Vec<Vec<u64>> = traffic
                .split(|c: char| !(c.is_ascii_digit() || c == ',' || c == '}'))
                .filter(|list| list.contains(','))
                .flat_map(|lists| lists.split('}').map(str::to_owned).collect::<Vec<_>>())
                .map(|list| list.split(',').filter_map(|word| word.parse().ok()).collect::<Vec<u64>>())
                .filter(|list| !list.is_empty())
                .collect();
            let [nodes, weights] = &lists[..] else { return None };
            let mut by_node = vec![0; size.pow(dimensions) as usize];
            nodes.iter().zip(weights).for_each(|(&node, &weight)| by_node[node as usize] = weight);
            Pattern::Hotspot(by_node)
        }
        _ => return None,
    };
    let speedup = number("internal_speedup", 1.0);
    let is_mesh = kind == "mesh";
    let params = Params {
        packet_flits: field("packet_size").parse().ok()?,
        vcs: field("vcs").parse().ok()?,
        buffer: field("buf").parse().ok()?,
        route_delay: whole("routing_delay", 1),
        vc_alloc_delay: whole("vc_alloc_delay", 1),
        switch_alloc_delay: whole("sw_alloc_delay", 1),
        traverse_delay: whole("st_prepare_delay", 0) + whole("st_final_delay", 1),
        speculative: whole("speculative", 0) == 1,
        speedup: Speedup::new((speedup * 1000.0) as u32, 1000)?,
        link_delay: if is_mesh || option("use_noc_latency").as_deref() == Some("0") { 1 } else { 2 },
        credit_delay: whole("credit_delay", 0),
        vc_classes,
        routing: Routing::DOR,
        ..Params::booksim()
    };
    Some(Experiment {
        topology: format!("{kind}:{}", vec![size.to_string(); dimensions as usize].join("x")),
        size,
        dimensions,
        pattern,
        params,
        rate: field("inj_rate").parse().ok()?,
        period: whole("sample_period", 1000).into(),
        warmup_periods: whole("warmup_periods", 3).into(),
        max_periods: whole("max_samples", 10).into(),
        is_throughput: option("sim_type").as_deref() == Some("throughput"),
        seed: 1,
    })
}

/// The rows of a table in the folder `shared`, as functions from column to text; `None` without it.
pub fn rows(name: &str) -> Option<Vec<std::collections::HashMap<String, String>>> {
    let path = shared::shared_file(name)?;
    let mut reader = csv::Reader::from_path(path).expect("the table can be read");
    Some(reader.deserialize().map(|row| row.expect("a row of columns")).collect())
}

/// A configuration of so many cases. Simpler ones than the first that fails are looked for during a minute at most: each
/// may take seconds.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, max_shrink_time: 60_000, ..ProptestConfig::default() }
}

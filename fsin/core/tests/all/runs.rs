//! Runs of every kind over a network of lanes, each with all that it finds, beside what they found.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use fsin_core::couple::Coupled;
use fsin_core::difference::{self, Recording};
use fsin_core::engine::Engine;
use fsin_core::messages::{Messages, Payload, SendQueue};
use fsin_core::network::{Injected, Network, NetworkFailure, Notices};
use fsin_core::run::{self, BatchPlan, Outcome};
use fsin_core::stats::{Arrival, Distribution, Keep, Receipt};
use fsin_core::view::Occupancy;
use trgen::synthetic::{Config, Mode, Traffic};
use trgen::trace::kernels;
use trgen::trace::replay::{Pace, Replay};
use trgen::{Cycle, Delivery, Geometry, Message, Next, NodeId, Outbox, SourceError, TrGen};

use super::{crc, kept, same};

/// Data of a packet.
const PAYLOAD: Payload = Payload(64);

/// Lanes from every node to every other one. A node begins a packet in each cycle that `begins` allows, and it arrives
/// after its `delay`.
#[derive(Clone, Copy)]
struct Rules {
    delay: u64,
    /// \[messages\] Room of a node for messages that wait; more are refused.
    room: usize,
    /// Each packet with a number that it divides is damaged; 0: none.
    damages: u64,
    /// Cycles between two packets of a node.
    interval: u64,
}

struct Lanes {
    rules: Rules,
    clock: Cycle,
    messages: Messages<()>,
    queues: Vec<SendQueue>,
    /// By node: messages that wait.
    waiting: Vec<usize>,
    /// By node: the first cycle in which it may send.
    free: Vec<Cycle>,
    /// By cycle: packets that arrive, with their slots and lengths.
    arriving: BTreeMap<Cycle, Vec<(u32, Receipt, u64)>>,
    /// By node: packets begun.
    begun: Vec<u64>,
}

impl Lanes {
    fn new(rules: Rules, nodes: usize) -> Self {
        Self {
            rules,
            clock: Cycle::FIRST,
            messages: Messages::new(nodes),
            queues: vec![SendQueue::default(); nodes],
            waiting: vec![0; nodes],
            free: vec![Cycle::FIRST; nodes],
            arriving: BTreeMap::new(),
            begun: vec![0; nodes],
        }
    }
}

impl Engine for Lanes {
    type More = ();

    fn messages(&self) -> &Messages<()> {
        &self.messages
    }

    fn messages_mut(&mut self) -> &mut Messages<()> {
        &mut self.messages
    }

    fn clock(&self) -> Cycle {
        self.clock
    }

    fn inject(&mut self, message: Message) -> Injected {
        let node = message.source.index();
        let (packets, short) = (PAYLOAD.packets_of(message.bytes), PAYLOAD.short(message.bytes));
        if self.rules.damages > 0 && message.destination.index() == 0 {
            return self.messages.drop_at_source(packets, short);
        }
        if self.waiting[node] >= self.rules.room {
            return Injected::Refused;
        }
        self.waiting[node] += 1;
        let slot = self.messages.accept(message, packets, short, self.clock, ());
        self.queues[node].push(slot);
        Injected::Accepted
    }

    fn step(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        let ready = (0..self.queues.len()).filter(|&node| !self.queues[node].is_empty()).map(|node| self.free[node]);
        let next = ready.chain(self.arriving.keys().next().copied()).min().unwrap_or(until).max(self.clock);
        if next >= until {
            self.clock = until;
            return Ok(());
        }
        for node in 0..self.queues.len() {
            if self.free[node] > next || self.queues[node].is_empty() {
                continue;
            }
            let (slot, index) = self.queues[node].pop(&self.messages).unwrap();
            let underway = *self.messages.get(slot);
            let Message { source, destination, bytes, .. } = underway.message;
            let hops = source.0.abs_diff(destination.0).into();
            let at = next + self.rules.delay + hops;
            let sequence = self.begun[node];
            let latency = at.since(underway.offered);
            let receipt = Receipt { source, destination, sequence, latency, hops };
            self.begun[node] += 1;
            self.messages.recorder.injected(1);
            self.messages.recorder.departed(at.since(next));
            self.messages.recorder.hops(hops);
            if self.rules.damages > 0 && sequence % self.rules.damages == 1 {
                self.messages.damage(source, sequence);
            }
            self.arriving.entry(at).or_default().push((slot, receipt, PAYLOAD.short_of(bytes, index)));
            self.free[node] = next + self.rules.interval;
            if index + 1 == underway.packets {
                self.waiting[node] -= 1;
                self.messages.sent(slot, notices);
            }
        }
        for (slot, receipt, short) in self.arriving.remove(&next).unwrap_or_default() {
            self.messages.arrive(slot, next, &receipt, short, notices);
        }
        self.clock = next.next();
        Ok(())
    }

    fn count_crossings(&mut self) {}

    fn show(&self, into: &mut Occupancy) {
        into.waiting.extend(self.queues.iter().map(|queue| queue.waiting(&self.messages)));
    }
}

/// Everything that a run finds, in words.
fn written(outcome: &Outcome, network: &mut dyn Network) -> String {
    let mut text = format!("{outcome:?}\n");
    let moments = |of: &Distribution| {
        format!("{:?} {:?}", of.moments(), [0.0, 0.1, 0.5, 0.9, 0.99, 1.0].map(|share| of.quantile(share)))
    };
    let samples = outcome.samples.iter().map(|sample| &sample.summary);
    writeln!(text, "{:?}", samples.collect::<Vec<_>>()).unwrap();
    writeln!(text, "{:?}", moments(&outcome.measured.latency)).unwrap();
    let settled = network.settled();
    let recorder = settled.recorder;
    writeln!(text, "{:?} {:?} {:?}", recorder.totals(), recorder.marks(), recorder.received_by_source()).unwrap();
    writeln!(text, "{:?}", recorder.observed().as_ref().map(moments)).unwrap();
    if let Some(details) = recorder.details() {
        let flows: Vec<_> = details.flows().map(|flow| format!("{flow:?}")).collect();
        writeln!(text, "{:?} {flows:?}", details.nodes()).unwrap();
        writeln!(text, "{} {:?}", details.unfinished(), details.completed()).unwrap();
    }
    if let Some(view) = settled.view {
        let mut occupancy = Occupancy::default();
        view.occupancy(&mut occupancy);
        writeln!(text, "{occupancy:?}").unwrap();
    }
    text
}

/// The rules of the networks, by name.
const NETWORKS: [(&str, Rules); 5] = [
    ("wide", Rules { delay: 10, room: 1_000, damages: 0, interval: 1 }),
    ("narrow", Rules { delay: 3, room: 1, damages: 0, interval: 4 }),
    ("far", Rules { delay: 3_000, room: 50, damages: 0, interval: 2 }),
    ("damaged", Rules { delay: 20, room: 1_000, damages: 5, interval: 2 }),
    ("slow", Rules { delay: 7, room: 1_000, damages: 0, interval: 40 }),
];

/// How runs end, by name.
const PLANS: [(&str, Option<BatchPlan>); 5] = [
    ("fixed", None),
    ("batches", Some(plan(200, 100, 20_000, 5, 300, 0))),
    ("no wait", Some(plan(0, 100, 0, 3, 50, 40))),
    ("short wait", Some(plan(10, 50, 120, 2, 40, 500))),
    ("settles late", Some(BatchPlan { settles: 2_500, ..plan(100, 100, 9_000, 4, 200, 10) })),
];

const fn plan(
    warmup: u64,
    conv_period: u64,
    max_conv_time: u64,
    samples: u64,
    sample_size: u64,
    min_batch_packets: u64,
) -> BatchPlan {
    BatchPlan {
        warmup,
        conv_period,
        conv_threshold: 0.05,
        max_conv_time,
        samples,
        sample_size,
        min_batch_packets,
        settles: 0,
    }
}

/// Traffic: the load, the pattern, the process and the sizes.
const TRAFFIC: [(f64, &str, &str, &str, Mode); 5] = [
    (0.2, "uniform", "bernoulli", "constant(64)", Mode::Open),
    (1.5, "shift(5)", "periodic", "constant(200)", Mode::Open),
    (0.9, "hotspot(0.3,0)", "markov(0.3,0.2)", "uniform(1,300)", Mode::Throttled),
    (0.4, "neighbor", "bernoulli", "bimodal(4,200,0.2)", Mode::Throttled),
    (0.01, "uniform", "shot(6)", "constant(64)", Mode::Throttled),
];

const EVERYTHING: Keep = Keep { nodes: true, flows: true, messages: true, packets: true };

/// A run of a source over a network: what it finds, what its observers see.
fn performed(source: &mut dyn TrGen, rules: Rules, keep: Keep, plan: Option<&BatchPlan>, limit: Cycle) -> String {
    let mut network = Lanes::new(rules, 12);
    network.messages.recorder.keep(keep);
    let stop = AtomicBool::new(false);
    let (mut log, mut progress) = (String::new(), String::new());
    let mut see = |seen: run::Progress| writeln!(progress, "{seen:?}").unwrap();
    let outcome = {
        let mut note = |arrivals: &[Arrival]| writeln!(log, "{arrivals:?}").unwrap();
        let mut recording = Recording::new(&mut network);
        let mut coupled = Coupled::new(source, &mut recording, &stop);
        if keep.packets {
            coupled = coupled.logged(&mut note);
        }
        match plan {
            _ if limit < Cycle::NEVER => run::to_end(&mut coupled, limit, &mut see),
            Some(plan) => run::batch(&mut coupled, plan, &mut see),
            None => run::fixed(&mut coupled, 2_011, &mut see),
        }
    };
    let found = written(&outcome, &mut network) + &log;
    let verdict = outcome.failure.map_or_else(|| format!("{:?}", outcome.converged), |failure| failure.to_string());
    let warnings: Vec<_> = outcome.warnings.iter().map(|warning| format!("; {warning}")).collect();
    format!(
        "{:08x} {verdict}, {} cycles, {} samples{}",
        crc(&found),
        outcome.cycles,
        outcome.samples.len(),
        warnings.concat()
    )
}

#[test]
fn runs_find_what_they_found() {
    let mut list = String::new();
    for (load, pattern, process, size, mode) in TRAFFIC {
        for (name, rules) in NETWORKS {
            for (how, plan) in &PLANS {
                let config = Config {
                    load,
                    pattern: pattern.parse().unwrap(),
                    process: process.parse().unwrap(),
                    size: size.parse().unwrap(),
                    mode,
                    packet_phits: 16,
                    phit_bytes: 4,
                    shots: 9,
                    seed: 3,
                    ..Config::new(Geometry::new(&[4, 3]).unwrap())
                };
                let mut source = Traffic::new(&config).unwrap();
                let keep = if load > 1.0 { EVERYTHING } else { Keep::default() };
                let found = performed(&mut source, rules, keep, plan.as_ref(), Cycle::NEVER);
                writeln!(list, "{process} {pattern} {name} {how}: {found}").unwrap();
            }
        }
    }
    same("runs", &list);
}

#[test]
fn programs_end_as_they_ended() {
    let mut list = String::new();
    for kernel in
        ["all-to-all:tasks=12,bytes=300", "sweep2d:tasks=12,bytes=90,grid=3x4", "all-reduce:tasks=12,bytes=900"]
    {
        for (name, rules) in NETWORKS {
            for limit in [Cycle(60), Cycle(1_000_000)] {
                let program = kernels::parse(kernel, 12, None).unwrap();
                let places: Vec<_> = (0..12).map(|task| NodeId::at((task * 5) % 12)).collect();
                let pace = Pace { cycle: trgen::clock::Clock::whole(1_000), compute_scale: 1.0 };
                let mut source = Replay::new(program, &places, 12, pace).unwrap();
                let found = performed(&mut source, rules, EVERYTHING, None, limit);
                writeln!(list, "{kernel} {name} {}: {found}", limit.0).unwrap();
            }
        }
    }
    same("programs", &list);
}

/// A program of which a part is measured: a message every 7 cycles, in three phases.
struct Regions {
    now: Cycle,
    /// The first cycles of the phases after the first.
    begins: [u64; 2],
}

impl Regions {
    const MESSAGES: u64 = 90;
}

impl TrGen for Regions {
    fn nodes(&self) -> usize {
        12
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        let id = now.0 / 7;
        self.now = now;
        if now.0.is_multiple_of(7) && id <= Self::MESSAGES {
            let [source, destination] = [id % 12, (id * 5 + 1) % 12].map(|node| NodeId(node as u32));
            if source != destination {
                out.push(Message { id, source, destination, bytes: id * 11 % 300, class: 0 });
            }
        }
        Ok(())
    }

    fn sent(&mut self, _: Cycle, _: &Message) {}

    fn delivered(&mut self, _: Cycle, _: &Delivery) {}

    fn dropped(&mut self, _: Cycle, _: &Message) {}

    fn next(&self) -> Next {
        match self.now.0 / 7 {
            Self::MESSAGES.. => Next::Done,
            number => Next::At(Cycle(7 * (number + 1))),
        }
    }

    fn phase(&self) -> u64 {
        self.begins.iter().filter(|&&begin| begin <= self.now.0).count() as u64
    }
}

#[test]
fn the_second_phase_is_measured() {
    let mut list = String::new();
    for begins in [[0, 600], [100, 400], [399, 400], [200, 9_000]] {
        for (name, rules) in NETWORKS {
            let mut source = Regions { now: Cycle(0), begins };
            let found = performed(&mut source, rules, EVERYTHING, None, Cycle(1_000_000));
            writeln!(list, "{begins:?} {name}: {found}").unwrap();
        }
    }
    same("regions", &list);
}

#[test]
fn the_first_difference_is_found() {
    let mut list = String::new();
    let messages = (0..40_u64).map(|id| {
        let (source, destination) = (NodeId((id * 7 % 12) as u32), NodeId((id * 5 % 11 + 1) as u32 % 12));
        (Cycle(1 + id * 9), Message { id, source, destination, bytes: id * 13 % 200, class: 0 })
    });
    let offers: Vec<_> = messages.filter(|(_, message)| message.source != message.destination).collect();
    let rules = NETWORKS[0].1;
    let others = [
        ("alike", rules),
        ("longer", Rules { delay: 11, ..rules }),
        ("slower", Rules { interval: 2, ..rules }),
        ("room", Rules { room: 1, ..rules }),
        ("damaged", Rules { damages: 3, ..rules }),
        ("damaged late", Rules { damages: 1_000, ..rules }),
    ];
    for (name, other) in others {
        for end in [Cycle(5), Cycle(150), Cycle(2_000)] {
            let mut build = || [rules, other].map(|rules| Box::new(Lanes::new(rules, 12)) as Box<dyn Network>);
            let found = difference::first(&mut build, &offers, end);
            let words = found.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
            let cycle = found.map(|difference| (difference.cycle.0, difference.object.to_string()));
            writeln!(list, "{name} to {}: {cycle:?} {:08x}", end.0, kept("differences", name, &words)).unwrap();
        }
    }
    same("differences", &list);
}

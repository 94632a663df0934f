//! Flows in simulated time: entries, ends, and shares between them.
//!
//! Decision: docs/decisions/0632-parts-of-an-instant.md.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use fsin_core::connections::Turns;
use fsin_core::engine::Engine;
use fsin_core::failures::{Change, Failures, dead_ports};
use fsin_core::messages::Messages;
use fsin_core::network::{Injected, Measure, NetworkFailure, Notices};
use fsin_core::stats::Receipt;
use fsin_core::topology::{DeadLink, Topology, node_name};
use fsin_core::view::Occupancy;
use fsin_core::words::counted;
use trgen::catalog::SpecError;
use trgen::phrase::Phrase;
use trgen::{Cycle, Message, NodeId, phrase};

use crate::carried::Carried;
use crate::params::{Fairness, MILLION, Params, Paths};
use crate::paths::{Routes, Use, WHOLE};
use crate::repair::Repairs;
use crate::services::{NEVER, Pace, Services};
use crate::share::{Flow, Law, OPEN, Share, Shares};
use crate::wiring::Wiring;

/// \[2^-50 bytes/ns x ps\] A byte.
const BYTE: u128 = 1000 << 50;

/// Ends of the past that are kept in any case.
const SPARE: usize = 1024;

const MEASURES: [Measure; 3] = [
    Measure { name: "flows_max", unit: "flows", about: "most flows under way at a time" },
    Measure { name: "fills", unit: "", about: "instants at which shares were computed" },
    Measure { name: "rate_changes", unit: "", about: "changes of the rate of a flow" },
];

/// A measure of networks whose links fail.
static MESSAGES_LOST: Measure =
    Measure { name: "messages_lost", unit: "messages", about: "that had no route, or none any more when a link died" };

/// The entry of a flow: time \[ps\], source, number of the message, slot.
type Entry = (u64, u32, u64, u32);

/// The end of a flow: time \[ps\], source, number of the message, slot, number of the change.
type End = (u64, u32, u64, u32, u32);

/// The state of links from some time on.
#[derive(Debug)]
struct Later {
    /// \[ps\] The time.
    at: u64,
    /// By link: true if it is dead from then on.
    dead: Vec<bool>,
    /// The routes from then on.
    routes: Routes,
}

/// A network of flows.
#[derive(Debug)]
pub(crate) struct Flows {
    params: Params,
    wiring: Arc<Wiring>,
    routes: Routes,
    /// Failures and repairs to come.
    later: VecDeque<Later>,
    shares: Shares,
    messages: Messages,
    /// Messages that wait until those of their connection before them have left.
    turns: Turns,
    /// By slot of the message: its flow.
    flows: Vec<Flow>,
    /// Slots of the flows that have entered and not ended.
    active: Vec<u32>,
    /// By slot: its place among the active ones.
    places: Vec<u32>,
    /// Flows that will enter.
    entries: BinaryHeap<Reverse<Entry>>,
    /// Ends of flows, unless they are kept by links; only the last change of a flow counts.
    ends: BinaryHeap<Reverse<End>>,
    /// Repairs, if shares are computed where a change reaches, and ends kept by links.
    local: Option<(Repairs, Services)>,
    /// By host: its messages so far, and its packets that have arrived.
    counts: Vec<(u64, u64)>,
    /// By link: flows that have chosen it, from their injection to their end.
    chosen: Vec<u32>,
    /// Memory in which paths are found.
    found: Vec<Use>,
    /// What links have carried since observation began.
    carried: Carried,
    /// \[ps\] Time of the clock, or of the instant in progress.
    now: u64,
    /// True if flows have entered or ended since shares were computed.
    is_stale: bool,
    most: usize,
    fills: u64,
    changes: u64,
    /// \[messages\] Messages without a route; `None` where links never fail.
    lost: Option<u64>,
    /// Where the file of the network states the routes: how many messages had none, and the ends of the first.
    unstated: Option<(u64, [NodeId; 2])>,
}

impl Flows {
    /// `wiring` is that of `topology` with `params`.
    pub(crate) fn new(
        topology: &Arc<dyn Topology>,
        wiring: &Arc<Wiring>,
        params: &Params,
        is_reference: bool,
    ) -> Result<Self, SpecError> {
        params.check()?;
        let routes = Routes::new(&params.failures.at_first(topology), params)?;
        routes.check(wiring, &**topology)?;
        let later = later(topology, params, wiring)?;
        let (hosts, links) = (wiring.ports.hosts, wiring.capacities.len());
        Ok(Self {
            shares: Shares::new(Law::new(params), Arc::clone(&wiring.capacities)),
            turns: Turns::new(params.connections),
            params: params.clone(),
            routes,
            later,
            messages: Messages::new(hosts),
            flows: Vec::new(),
            active: Vec::new(),
            places: Vec::new(),
            // A flow may use parts of a link where it is split, and of the other direction; or have a greatest rate of
            // its own.
            local: (!is_reference
                && params.fairness == Fairness::MaxMin
                && params.paths != Paths::Spray
                && params.cross_millionths == 0
                && wiring.alone.iter().all(|&rate| rate == u64::MAX))
            .then(|| (Repairs::new(&wiring.capacities), Services::new(params, links))),
            entries: BinaryHeap::new(),
            ends: BinaryHeap::new(),
            counts: vec![(0, 0); hosts],
            chosen: vec![0; links],
            found: Vec::new(),
            carried: Carried::default(),
            now: 0,
            is_stale: false,
            most: 0,
            fills: 0,
            changes: 0,
            lost: (!params.failures.is_empty()).then_some(0),
            unstated: None,
            wiring: Arc::clone(wiring),
        })
    }

    /// \[ps\] Latency of a path: its links, and the routers between them.
    fn latency(&self, path: &[Use]) -> u64 {
        let of_link = |of: &Use| u128::from(self.wiring.delays.at(of.link as usize)) * u128::from(of.share);
        // A router follows every link but the last one.
        let shares: u128 = path.iter().map(|of| u128::from(of.share)).sum();
        let routers = shares.saturating_sub(u128::from(WHOLE)) * u128::from(self.params.router_delay);
        ((path.iter().map(of_link).sum::<u128>() + routers) / u128::from(WHOLE)) as u64
    }

    /// \[ps\] Time of the next instant at which something happens.
    fn next_at(&mut self) -> Option<u64> {
        while let Some(&Reverse((_, _, _, slot, change))) = self.ends.peek() {
            if self.flows[slot as usize].changes == change {
                break;
            }
            self.ends.pop();
        }
        let entry = self.entries.peek().map(|Reverse((at, ..))| *at);
        let end = match &mut self.local {
            Some((_, services)) => services.next_end(self.now),
            None => self.ends.peek().map(|Reverse((at, ..))| *at).filter(|&at| at < NEVER),
        };
        let change = self.later.front().map(|later| later.at);
        entry.into_iter().chain(end).chain(change).min()
    }

    /// The message of a flow arrives.
    fn arrive(&mut self, slot: u32, notices: &mut Notices) {
        let underway = *self.messages.get(slot);
        let Message { source, destination, bytes, .. } = underway.message;
        let at = Cycle(self.now);
        let flow = &mut self.flows[slot as usize];
        let path = std::mem::take(&mut flow.uses);
        flow.changes = flow.changes.wrapping_add(1);
        let hops = flow.hops.saturating_sub(self.wiring.ports.hidden_hops());
        for of in &path {
            self.chosen[of.link as usize] -= 1;
            self.carried.add(of, underway.packets);
        }
        self.messages.recorder.hops(hops * underway.packets);
        self.messages.sent(slot, notices);
        let payload = self.params.payload();
        let latency = self.now.saturating_sub(underway.offered.0);
        let sequence = self.counts[source.index()].1;
        self.counts[source.index()].1 += underway.packets;
        let receipt = Receipt { source, destination, sequence, latency, hops };
        self.messages.receive_all(slot, at, &receipt, payload.short(bytes));
        self.messages.deliver(slot, at, notices);
        let left = self.now.saturating_sub(self.flows[slot as usize].latency);
        self.next_turn(&underway.message, left, notices);
    }

    /// A message is not in the network any more; its last byte left the source at `left` \[ps\]. The message of its
    /// connection whose turn it is now starts.
    fn next_turn(&mut self, message: &Message, mut left: u64, notices: &mut Notices) {
        let mut over = *message;
        while let Some(slot) = self.turns.end(&over) {
            let underway = *self.messages.get(slot);
            over = underway.message;
            if let Some(path) = self.path(over.source.0, over.destination.0, self.flows[slot as usize].number) {
                self.start(slot, path, left);
                return;
            }
            let short = self.params.payload().short(over.bytes);
            self.messages.abandon(slot, underway.packets, short, notices);
            self.count_unrouted(&over);
            left = self.now;
        }
    }

    /// A message starts on a path. Those before it in its connection had left the source at `left` \[ps\].
    fn start(&mut self, slot: u32, path: Vec<Use>, left: u64) {
        let latency = self.take(slot, path);
        let issued = self.messages.get(slot).offered.0;
        // The former one has its links until now. Over another path it may have held them longer than it was sent.
        let at = issued.max(left).saturating_add(latency).max(self.now);
        let Flow { source, number, .. } = self.flows[slot as usize];
        self.entries.push(Reverse((at, source, number, slot)));
    }

    /// Links die and are repaired. Flows over links that are dead then, in the order of their sources and numbers, take
    /// other paths, or are lost.
    fn change(&mut self, later: Later, notices: &mut Notices) {
        self.routes = later.routes;
        self.messages.recorder.mark(Cycle(self.now + 1));
        let is_hit = |slot: &u32| self.flows[*slot as usize].uses.iter().any(|of| later.dead[of.link as usize]);
        let waiting = self.entries.iter().map(|Reverse((.., slot))| (*slot, false));
        let all = self.active.iter().map(|&slot| (slot, true)).chain(waiting);
        let mut hit: Vec<(u32, bool)> = all.filter(|(slot, _)| is_hit(slot)).collect();
        hit.sort_unstable_by_key(|&(slot, _)| (self.flows[slot as usize].source, self.flows[slot as usize].number));
        for (slot, is_active) in hit {
            if is_active {
                self.leave(slot);
                self.is_stale = true;
                let flow = &mut self.flows[slot as usize];
                let key = self.shares.key(slot);
                if let Some((_, services)) = self.local.as_mut().filter(|_| key != OPEN) {
                    flow.left = services.take_off(slot, key.1, self.now);
                    self.shares.of_flows[slot as usize].rate = key.0;
                }
            }
            for of in &self.flows[slot as usize].uses {
                self.chosen[of.link as usize] -= 1;
            }
            let Message { source, destination, .. } = self.messages.get(slot).message;
            match self.path(source.0, destination.0, self.flows[slot as usize].number) {
                Some(path) => {
                    self.take(slot, path);
                    if is_active {
                        self.shares.enter(slot, &mut self.flows[slot as usize]);
                    }
                }
                None => self.lose(slot, is_active, notices),
            }
        }
    }

    /// A flow is lost whole, which is not on its links any more.
    fn lose(&mut self, slot: u32, is_active: bool, notices: &mut Notices) {
        if is_active {
            self.remove(slot);
        } else {
            self.depart(slot);
            self.entries.retain(|Reverse((.., other))| *other != slot);
        }
        let flow = &mut self.flows[slot as usize];
        flow.uses.clear();
        flow.changes = flow.changes.wrapping_add(1);
        let message = self.messages.get(slot).message;
        self.messages.lose_all(slot, self.params.payload().short(message.bytes));
        self.messages.sent(slot, notices);
        self.count_lost();
        self.next_turn(&message, self.now, notices);
    }

    /// Counts a lost message.
    fn count_lost(&mut self) {
        self.lost = self.lost.map(|lost| lost + 1);
    }

    /// Counts a message that is lost since it has no route.
    fn count_unrouted(&mut self, &Message { source, destination, .. }: &Message) {
        self.count_lost();
        if self.routes.stated().is_some() {
            self.unstated.get_or_insert((0, [source, destination])).0 += 1;
        }
    }

    /// Takes a flow from the active ones.
    fn remove(&mut self, slot: u32) {
        let place = self.places[slot as usize];
        self.active.swap_remove(place as usize);
        if let Some(&moved) = self.active.get(place as usize) {
            self.places[moved as usize] = place;
        }
    }

    /// What a message uses of links, without cross traffic; `None` if no route is left.
    fn path(&mut self, source: u32, destination: u32, number: u64) -> Option<Vec<Use>> {
        let flows = |link: u32| self.chosen[link as usize] as usize;
        self.routes.uses(&self.wiring, flows, (source, destination), number, &mut self.found)?;
        // A copy has its length as its capacity, and is the only allocation for the path.
        Some(self.found.as_slice().to_vec())
    }

    /// A flow takes a path. Returns the latency \[ps\] of the path, with its factor.
    fn take(&mut self, slot: u32, mut uses: Vec<Use>) -> u64 {
        let latency = self.latency(&uses);
        let (weight, bound) = self.shares.law().weight(&uses, &self.wiring, latency);
        let alone = &self.wiring.alone;
        let bound = uses.iter().filter_map(|of| alone.get(of.link as usize)).fold(bound, |least, &one| least.min(one));
        let late = u128::from(latency) * u128::from(self.params.latency_millionths) + u128::from(MILLION / 2);
        let latency = u64::try_from(late / u128::from(MILLION)).unwrap_or(NEVER);
        let hops = uses.iter().map(|of| u128::from(of.share)).sum::<u128>() / u128::from(WHOLE);
        let back = match self.shares.law().has_cross_traffic() {
            true => {
                let Message { source, destination, .. } = self.messages.get(slot).message;
                self.routes.stated_back(&self.wiring, (source.0, destination.0))
            }
            false => None,
        };
        self.shares.law().complete(&mut uses, &self.wiring, back);
        // As long as the flow lives.
        uses.shrink_to_fit();
        for of in &uses {
            self.chosen[of.link as usize] += 1;
        }
        let flow = &mut self.flows[slot as usize];
        (flow.uses, flow.weight, flow.bound, flow.hops, flow.latency) = (uses, weight, bound, hops as u64, latency);
        flow.released = 0;
        self.shares.of_flows[slot as usize].open(&flow.uses);
        latency
    }

    /// A flow leaves its links.
    fn leave(&mut self, slot: u32) {
        if let Some((repairs, _)) = &mut self.local {
            repairs.leave(slot, &self.shares, &self.flows[slot as usize]);
        }
        self.shares.leave(slot, &mut self.flows);
    }

    /// A flow ends.
    fn end(&mut self, slot: u32, notices: &mut Notices) {
        self.leave(slot);
        self.remove(slot);
        self.arrive(slot, notices);
    }

    /// Flows end at this instant: source, number and slot.
    fn end_all(&mut self, ended: &[(u32, u64, u32)], notices: &mut Notices) {
        let mut are_others_repaired = false;
        for (&(_, _, slot), left) in ended.iter().zip((0..ended.len()).rev()) {
            if are_others_repaired && let Some((_, services)) = &mut self.local {
                // It may have its rate from another link since.
                services.leave(slot);
            }
            self.end(slot, notices);
            // The last one is repaired together with the flows that enter now.
            if left > 0
                && let Some((repairs, services)) = &mut self.local
                && repairs.is_cheap(left + 1, &self.shares)
            {
                repairs.repair_one(&mut self.shares, &mut self.flows, services, self.now);
                are_others_repaired = true;
            }
        }
    }

    /// Records that the packets of a message depart.
    fn depart(&mut self, slot: u32) {
        let underway = self.messages.get(slot);
        let (packets, bytes) = (underway.packets, underway.message.bytes);
        let offered = underway.offered.0;
        let payload = self.params.payload();
        let recorder = &mut self.messages.recorder;
        recorder.injected(packets);
        recorder.short().injected += payload.short(bytes);
        recorder.departed_together(self.now.saturating_sub(offered), packets);
    }

    /// A flow enters. True if it gets a share; otherwise it arrives at once.
    fn enter(&mut self, slot: u32, notices: &mut Notices) -> bool {
        self.depart(slot);
        let flow = &mut self.flows[slot as usize];
        if flow.left == 0 || flow.uses.is_empty() {
            self.arrive(slot, notices);
            return false;
        }
        flow.since = self.now;
        self.shares.enter(slot, flow);
        self.places[slot as usize] = self.active.len() as u32;
        self.active.push(slot);
        true
    }

    /// Computes the shares of all flows, and the ends of those whose rates change.
    fn share(&mut self) {
        self.fills += 1;
        self.is_stale = false;
        let (now, pace) = (self.now, Pace::new(&self.params));
        let (ends, changes) = (&mut self.ends, &mut self.changes);
        if let Some((repairs, services)) = &mut self.local {
            *changes += repairs.repair(&mut self.shares, &mut self.flows, services, now);
            services.settle(now);
            return;
        }
        let changed = |slot, flow: &mut Flow, [before, rate]: [u64; 2]| {
            let passed = u128::from(pace.effective(before)) * u128::from(now - flow.since);
            flow.left = flow.left.saturating_sub(passed);
            flow.since = now;
            flow.changes = flow.changes.wrapping_add(1);
            flow.end = pace.end(flow.left, pace.effective(rate), now, now);
            ends.push(Reverse((flow.end, flow.source, flow.number, slot, flow.changes)));
            *changes += 1;
        };
        self.shares.fill(&mut self.flows, &self.active, changed);
        // Where all rates change again and again, most ends are of the past.
        if self.ends.len() > 4 * self.active.len() + SPARE {
            let flows = &self.flows;
            self.ends.retain(|Reverse((_, _, _, slot, change))| flows[*slot as usize].changes == *change);
        }
    }
}

/// The states of links after the failures and repairs to come.
fn later(topology: &Arc<dyn Topology>, params: &Params, wiring: &Wiring) -> Result<VecDeque<Later>, SpecError> {
    let Failures { changes, .. } = &params.failures;
    let phases = params.failures.phases().zip(params.failures.topologies(topology)).skip(1);
    let of = |(change, (dead, topology)): (&Change, (Vec<DeadLink>, Arc<dyn Topology>))| {
        let mut by_link = vec![false; wiring.capacities.len()];
        for (node, port) in dead_ports(&dead) {
            wiring.ports.port_of(node, port).into_iter().for_each(|link| by_link[link] = true);
        }
        Ok(Later { at: change.at, dead: by_link, routes: Routes::new(&topology, params)? })
    };
    changes.iter().zip(phases).map(of).collect()
}

#[cfg(test)]
impl Flows {
    /// Every change of shares is repaired where it reaches, however far that is.
    pub(crate) fn always_repair(mut self) -> Self {
        if let Some((repairs, _)) = &mut self.local {
            repairs.part = 1;
        }
        self
    }

    /// What flows use of each link is at most its capacity, and each flow has a rate. While shares wait for entries at
    /// the same instant, nothing is checked.
    pub(crate) fn check_capacities(&self) {
        if self.is_stale {
            return;
        }
        let mut used = vec![0_u128; self.wiring.capacities.len()];
        for &slot in &self.active {
            let flow = &self.flows[slot as usize];
            let rate = self.shares.rate(slot);
            assert!(rate > 0);
            for of in &flow.uses {
                used[of.link as usize] += u128::from(crate::share::taken(rate, of.share));
            }
        }
        for (used, &capacity) in used.iter().zip(&*self.wiring.capacities) {
            // Each part of a link is rounded up to a unit of 2^-50 bytes/ns.
            assert!(*used <= u128::from(capacity) + self.active.len() as u128, "{used} of {capacity}");
        }
    }
}

impl Engine for Flows {
    type More = ();

    fn messages(&self) -> &Messages {
        &self.messages
    }

    fn messages_mut(&mut self) -> &mut Messages {
        &mut self.messages
    }

    fn clock(&self) -> Cycle {
        Cycle(self.now + 1)
    }

    /// A tick is a picosecond, and figures count them from 0.
    fn instant(&self, clock: Cycle) -> Cycle {
        clock - 1
    }

    fn inject(&mut self, message: Message) -> Injected {
        let Message { source, destination, bytes, .. } = message;
        let payload = self.params.payload();
        let (packets, short) = (payload.packets_of(bytes), payload.short(bytes));
        let number = self.counts[source.index()].0;
        self.counts[source.index()].0 += 1;
        let starts = self.turns.begin(&message);
        let path = match starts && source != destination {
            true => match self.path(source.0, destination.0, number) {
                Some(path) => path,
                None => {
                    let waiting = self.turns.end(&message);
                    debug_assert!(waiting.is_none(), "a message that may begin has none behind it");
                    self.count_unrouted(&message);
                    return self.messages.drop_at_source(packets, short);
                }
            },
            false => Vec::new(),
        };
        let slot = self.messages.accept(message, packets, short, Cycle(self.now), ());
        if slot as usize == self.flows.len() {
            self.places.push(0);
            self.flows.push(Flow::default());
            self.shares.of_flows.push(Share::NONE);
        }
        let left = u128::from(self.params.carried(bytes)) * BYTE;
        let flow = &mut self.flows[slot as usize];
        (flow.left, flow.number, flow.source) = (left, number, source.0);
        self.shares.of_flows[slot as usize].rate = 0;
        flow.changes = flow.changes.wrapping_add(1);
        match starts {
            true => self.start(slot, path, 0),
            false => self.turns.wait(&message, slot),
        }
        Injected::Accepted
    }

    fn step(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        // Who has been told of an end may send at the same instant: shares are computed once for both.
        if self.is_stale && self.entries.peek().is_none_or(|Reverse((entry, ..))| *entry > self.now) {
            self.share();
        }
        let Some(at) = self.next_at().filter(|&at| at < until.0) else {
            self.now = until.0 - 1;
            return Ok(());
        };
        debug_assert!(at >= self.now, "an instant of the past: {at} after {}", self.now);
        self.now = at;
        // Between two parts of an instant rates are those of no time: what ends now has ended in the first part.
        let is_settled = !self.is_stale;
        if let Some(later) = self.later.pop_front_if(|later| later.at == at) {
            self.change(later, notices);
        }
        let of = |slot: u32| (self.flows[slot as usize].source, self.flows[slot as usize].number, slot);
        let local = self.local.as_mut().filter(|_| is_settled);
        let ended = local.map_or_else(Vec::new, |(_, services)| services.take_ended(at, of));
        self.is_stale |= !ended.is_empty();
        self.end_all(&ended, notices);
        while let Some(&Reverse((end, _, _, slot, change))) = self.ends.peek() {
            if end > at {
                break;
            }
            self.ends.pop();
            if self.flows[slot as usize].changes == change {
                self.end(slot, notices);
                self.is_stale = true;
            }
        }
        while let Some(&Reverse((entry, _, _, slot))) = self.entries.peek() {
            if entry > at {
                break;
            }
            self.entries.pop();
            self.is_stale |= self.enter(slot, notices);
        }
        self.most = self.most.max(self.active.len());
        Ok(())
    }

    fn count_crossings(&mut self) {
        self.carried.observe(self.wiring.capacities.len());
    }

    fn show(&self, into: &mut Occupancy) {
        self.wiring.ports.show(|link| self.chosen[link], self.carried.packets(), into);
        into.waiting.resize(self.wiring.ports.hosts, 0);
        for slot in self.turns.waiting() {
            let underway = self.messages.get(slot);
            into.waiting[underway.message.source.index()] += underway.packets;
        }
    }

    fn notes(&self) -> Vec<Phrase> {
        let named = self.unstated.zip(self.routes.stated()).map(|((count, ends), network)| {
            let [from, to] = ends.map(|end| node_name(network, end));
            let messages = counted(count, "message was", "messages were");
            phrase![("{messages} lost: the file of the network states no route for them, as from {from} to {to}")]
        });
        named.into_iter().collect()
    }

    fn figures(&self) -> Vec<(&'static Measure, f64)> {
        let [most, fills, changes] = &MEASURES;
        let lost = self.lost.map(|lost| (&MESSAGES_LOST, lost as f64));
        [(most, self.most as f64), (fills, self.fills as f64), (changes, self.changes as f64)]
            .into_iter()
            .chain(lost)
            .collect()
    }
}

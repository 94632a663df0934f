//! [Trains](super::super::trains) in a partition that is the whole network.

use trgen::NodeId;
use trgen::recurrence::State;

use super::super::chain::{Chain, NONE};
use super::super::mask::Mask;
use super::super::moves::Ahead;
use super::super::rules::Rules;
use super::super::state::{Buffer, Endpoint, Packet, Router, Sender};
use super::super::trains::{Flow, Remembered, Sight, Sights, Step, Track, Ways};
use super::{Event, Left, Part, Works};
use crate::engine::messages::Unsent;
use crate::router::layout::{Layout, is_switched};
use crate::router::request::{Head, Input, RouteRules, outputs_of, packet_key};
use crate::router::{Inject, Injection, Interface, SourceQueue};
use crate::routing::lots;
use fsin_core::interface::Lane;

/// \[periods\] For each channel among which is drawn: those after which each has usually been drawn.
const USUAL: u64 = 8;

/// True if periods of a network with these rules can be [passed](super::super::trains).
pub(in crate::engine::fast) fn may_pass<L: Layout>(rules: &Rules<L>) -> bool {
    let draws_at_most_channels = match rules.layout.is_switched() {
        true => rules.requests.takes_any_roomy() && rules.requests.keeps_state(),
        false => rules.requests.is_plain() && !rules.compares_space,
    };
    let one_lane_an_injector = match rules.interface {
        Interface::PerPort => true,
        Interface::Serial => rules.injectors == 1 && rules.injection == Injection::Shortest,
        Interface::Interleaved(_) => false,
    };
    let plain_router = rules.plain_arbitration
        && !(rules.more_than_heads || rules.keeps_since || rules.keeps_moves || rules.is_paced)
        && rules.global_cc.is_none()
        && rules.timetable.is_empty()
        && rules.hop_delays.longest() == 0;
    draws_at_most_channels
        && one_lane_an_injector
        && plain_router
        && rules.inject == Inject::Parallel
        && rules.source_queue == SourceQueue::Throttled
        && rules.queue_packets >= 2
        && rules.tail >= 1
}

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Part<L, M, D, Q, P> {
    /// True if a period may begin in which packets wait for nothing.
    pub(in crate::engine::fast) fn may_flow(&self) -> bool {
        let works = &self.works;
        works.waiting_heads == 0 && !works.is_dense() && !works.is_watched && works.sights.is_none()
    }

    /// Begins a period: headers are seen from now on.
    pub(in crate::engine::fast) fn begin_sights(&mut self) {
        self.works.sights = Some(Box::new(Sights { all: Vec::new(), is_roomy: true }));
        self.works.is_watched = true;
    }

    /// Ends a period. Returns what was seen.
    pub(in crate::engine::fast) fn end_sights(&mut self) -> Option<Sights> {
        self.works.is_watched = false;
        self.works.sights.take().map(|sights| *sights)
    }

    /// By endpoint: packets sent so far.
    pub(in crate::engine::fast) fn sequences(&self) -> Vec<u64> {
        self.works.senders.iter().map(|sender| sender.sequence).collect()
    }

    /// The messages in progress, with their nodes.
    pub(in crate::engine::fast) fn in_progress(&self) -> Vec<(u32, Unsent)> {
        let works = &self.works;
        let mut all = Vec::new();
        for (node, sender) in (0..).zip(&works.senders) {
            all.extend(sender.waiting.all(&works.unsent).next().map(|waiting| (node, waiting.message)));
        }
        for (node, lanes) in (0..).zip(&works.lanes) {
            all.extend(lanes.iter().filter_map(|lane| lane.all().next()).map(|of| (node, of.message)));
        }
        all
    }

    /// Writes the state of all that lies before the first links of packets, but for counters of packets.
    pub(in crate::engine::fast) fn write_sides(&self, into: &mut State) {
        let works = &self.works;
        let (outputs, injectors) = (works.rules.outputs(), works.rules.injectors);
        for (node, router) in self.routers.iter().enumerate() {
            router.write_injection(into, outputs, injectors);
            let sequence = works.senders.get(node).map_or(0, |sender| sender.sequence);
            let buffers = works.buffers[node * injectors..].iter().map(|&Buffer { waiting, count }| (waiting, count));
            let queues = router.waiting[outputs..outputs + injectors].iter().map(|&queue| (queue, 0));
            for (queue, count) in buffers.take(injectors).chain(queues) {
                into.put(count.into());
                works.put_waiting(into, queue, sequence);
            }
        }
        works.endpoints.iter().for_each(|endpoint: &Endpoint<M>| endpoint.write_state(into));
        for &Sender { sequence: _, key: _, waiting, tried, is_sending } in &works.senders {
            into.put(is_sending.into());
            // When an interface without messages sent last does not matter.
            let last = if waiting.is_empty() { into.now() } else { trgen::Cycle(tried) };
            into.put_time(last);
            waiting.all(&works.unsent).for_each(|waiting| put_message(into, &waiting.message));
            into.put(u64::MAX);
        }
        for lane in works.lanes.iter().flatten() {
            Lane::all(lane).for_each(|of| put_message(into, &of.message));
            into.put(u64::MAX);
        }
        works.due.iter().chain(&works.fillable).for_each(|&mask| into.put(mask));
        for list in [&works.sending, &works.injecting] {
            let mut list = list.clone();
            list.sort_unstable();
            list.iter().for_each(|&node| into.put(node.into()));
            into.put(u64::MAX);
        }
        works.looking.sorted().into_iter().for_each(|node| into.put(node.into()));
    }

    /// The tracks of the flows of a period that ends before cycle `now`, of which each source has sent so many packets;
    /// `None` unless the whole state follows from them.
    pub(in crate::engine::fast) fn tracks(&self, flows: Vec<Flow>, now: u64, sent: &[u64]) -> Option<Vec<Track>> {
        let works = &self.works;
        let mut siblings = vec![0u64; works.senders.len()];
        flows.iter().for_each(|flow| siblings[flow.source as usize] += 1);
        if siblings != sent {
            return None;
        }
        let mut claims = vec![u32::MAX; works.gates.len()];
        let mut tracks = Vec::with_capacity(flows.len());
        for flow in flows {
            let ways = self.claim(&flow, tracks.len() as u32, &mut claims)?;
            let siblings = siblings[flow.source as usize];
            tracks.push(Track { flow, siblings, ways, riders: [None; 2] });
        }
        self.place_riders(&mut tracks, now)?;
        (self.is_all_of_them(&tracks, now) && self.is_as_drawn(&tracks, now)).then_some(tracks)
    }

    /// Claims the links that packets of a flow may take, and finds the ways of packets in a network of switches. `None`
    /// if another flow may take one of the links, or if ways have unlike lengths.
    fn claim(&self, flow: &Flow, number: u32, claims: &mut [u32]) -> Option<Ways> {
        let rules = &self.works.rules;
        let mut claim = |node: u32, port: usize| {
            let place = &mut claims[rules.place(node, port)];
            std::mem::replace(place, number) == u32::MAX
        };
        if !is_switched!(rules.layout, L) {
            let is_adaptive = |step: &Step| rules.channel(step.output.into()).vc > 0;
            let is_drawn = rules.interface != Interface::PerPort
                && rules.draws_direction(NodeId(flow.source), NodeId(flow.destination));
            let is_free = flow.path.iter().all(|step| claim(step.node, rules.port_of(step.output.into())));
            return (is_free && !is_drawn && flow.path.iter().all(is_adaptive)).then(Vec::new);
        }
        let mut ways = Vec::with_capacity(flow.path.len());
        let mut here = vec![flow.source];
        for _ in &flow.path {
            let (mut places, mut next) = (Vec::with_capacity(here.len()), Vec::new());
            for node in here {
                if node == flow.destination {
                    return None;
                }
                let candidates = rules.requests.free_candidates(&head_of(flow, node, 0, 0))?;
                for port in candidates.iter().step_by(rules.layout.vcs()).map(|&first| rules.port_of(first.into())) {
                    if !claim(node, port) {
                        return None;
                    }
                    next.push(self.routers[node as usize].downstream[port]);
                }
                places.push((node, candidates));
            }
            next.sort_unstable();
            next.dedup();
            ways.push(places);
            here = next;
        }
        (here == [flow.destination]).then_some(ways)
    }

    /// Finds the packets of all flows under way. `None` if one is not where and what it must be.
    fn place_riders(&self, tracks: &mut [Track], now: u64) -> Option<()> {
        let works = &self.works;
        let cycles = works.rules.tail + 1;
        let mut place = |handle: u32, begin: u64, node: u32, input: u16| {
            let packet = &works.packets[handle];
            let pair = (packet.source(), packet.destination);
            let found = tracks.binary_search_by_key(&pair, |track| (track.flow.source, track.flow.destination));
            let Track { flow, siblings, riders, .. } = &mut tracks[found.ok()?];
            let before = flow.begin.checked_sub(begin)?;
            let (age, last) = (before / cycles, flow.path.get((packet.hops as usize).checked_sub(1)?)?);
            let is_there = self.routers[last.node as usize].downstream[works.rules.port_of(last.output.into())] == node
                && last.output == input;
            let is_that = before % cycles == 0
                && packet.message == flow.message
                && packet.sequence == flow.sequence.wrapping_sub(age * *siblings)
                && begin.wrapping_sub(packet.start) == flow.waited;
            let rider = riders.get_mut(age as usize)?;
            (is_there && is_that && rider.replace(handle).is_none()).then_some(())
        };
        for &(node, input, handle) in &works.headers {
            place(handle, now.checked_sub(works.packets[handle].hops.into())?, node, input)?;
        }
        for (at, event) in works.ring.entries(now) {
            let &Event::Consumed { node, input, packet: handle, .. } = event else { return None };
            let hops = u64::from(works.packets[handle].hops);
            if works.packets[handle].destination != node {
                return None;
            }
            place(handle, (at + 1).checked_sub(cycles + hops)?, node, input)?;
        }
        tracks.iter().all(|track| track.are_there(now)).then_some(())
    }

    /// True if there is nothing in the network but the packets of these tracks: those under way, and others of the same
    /// sources before their first link.
    fn is_all_of_them(&self, tracks: &[Track], now: u64) -> bool {
        let (works, rules) = (&self.works, &self.works.rules);
        let (outputs, injectors) = (rules.outputs(), rules.injectors);
        let mut sends = vec![false; self.routers.len() * injectors];
        for Track { flow, .. } in tracks {
            let Some(first) = flow.path.first() else { return false };
            let Some(injector) = usize::from(first.input).checked_sub(outputs) else { return false };
            if std::mem::replace(&mut sends[flow.source as usize * injectors + injector], true) {
                return false;
            }
        }
        let (mut totals, mut waiting) = ([0; 3], 0);
        for (node, router) in self.routers.iter().enumerate() {
            let here = router.in_transit(outputs, rules.queue_packets as usize);
            totals.iter_mut().zip(here).for_each(|(total, here)| *total += here);
            for injector in 0..injectors {
                let place = node * injectors + injector;
                let chains = [works.buffers[place].waiting, router.waiting[outputs + injector]];
                let packets: usize = chains.iter().map(|chain| chain.all(&works.packets).count()).sum();
                if !sends[place] && (packets > 0 || router.count(outputs + injector) > 0) {
                    return false;
                }
                waiting += packets;
            }
            if !router.is_flowing(outputs) {
                return false;
            }
        }
        let riders: usize = tracks.iter().map(|track| track.riders.iter().flatten().count()).sum();
        let crossing: Vec<u16> = works.crossing.entries(now).map(|(_, left)| left.input).collect();
        let (headers, consumed) = (works.headers.len(), works.ring.entries(now).count());
        let leaving = crossing.iter().filter(|&&input| usize::from(input) < outputs).count() + consumed;
        riders == headers + consumed
            && totals == [leaving, leaving + headers, crossing.len()]
            && works.packets.len() == waiting + riders
            && works.waiting_heads == 0
            && !works.is_dense()
            && works.freed.all().is_empty()
            && works.dozing.is_empty()
            && works.wire.is_empty()
            && works.accepted.is_empty()
    }

    /// True if each channel that was seen in use is one that the draw gives.
    fn is_as_drawn(&self, tracks: &[Track], now: u64) -> bool {
        let cycles = self.works.rules.tail + 1;
        tracks.iter().all(|track| {
            let flow = &track.flow;
            (0..).zip(&flow.path).all(|(hop, &step)| {
                // The hop was made in the period by the packet that began in it, or by the one before.
                let age = u64::from(flow.begin + hop >= now);
                let at = flow.begin + hop - age * cycles;
                let key = self.works.key_of(track, age.wrapping_neg());
                let draw = |last| self.works.draw(track, hop as usize, step.node, step.input, (key, at), last);
                let first = draw(None);
                first == Some(step.output) || draw(first.filter(|_| !track.ways.is_empty())) == Some(step.output)
            })
        })
    }

    /// Puts the partition into the state so many periods later than cycle `now`.
    pub(in crate::engine::fast) fn pass_trains(&mut self, tracks: &[Track], now: u64, times: u64) {
        self.take_riders_off(now);
        let cycles = self.works.rules.tail + 1;
        let (works, later) = (&mut self.works, times * cycles);
        works.clock += later;
        works.previous += later;
        let mut more = vec![0; works.senders.len()];
        for Track { flow, siblings, .. } in tracks {
            more[flow.source as usize] = times * siblings;
            works.pass_front(flow, times);
        }
        for (sender, more) in works.senders.iter_mut().zip(&more) {
            sender.sequence += more;
            sender.tried += later;
        }
        for packet in works.packets.all_mut() {
            let source = packet.source() as usize;
            packet.start = packet.start.wrapping_add(later);
            packet.sequence = packet.sequence.wrapping_add(more[source]);
            packet.key = packet_key(works.senders[source].key, packet.sequence);
        }
        for track in tracks {
            let paths = self.ride(track, now, times);
            self.put_riders_on(track, paths, now + later, times);
        }
    }

    /// Takes all packets off queues and links whose headers have left their injection queues.
    fn take_riders_off(&mut self, now: u64) {
        let (routers, works) = (&mut self.routers, &mut self.works);
        let outputs = works.rules.outputs();
        let mut take = |node: u32, behind: u32, input: u16| {
            if usize::from(input) < outputs {
                routers[node as usize].take_leaving(input.into());
                routers[behind as usize].put_credit(input.into());
                if let Some(ahead) = works.ahead.get_mut(behind as usize * Q + usize::from(input)) {
                    ahead.departed = Ahead::NEVER;
                }
            }
        };
        let crossing = works.crossing.take_all(now);
        crossing.iter().for_each(|(_, left)| take(left.node, left.behind, left.input));
        for (_, event) in works.ring.take_all(now) {
            if let Event::Consumed { node, behind, input, .. } = event {
                take(node, behind, input);
            }
        }
        crossing.iter().for_each(|(_, left)| routers[left.node as usize].take_owned(left.output.into()));
        for (_, input, packet) in std::mem::take(&mut works.headers) {
            routers[works.packets[packet].behind as usize].put_credit(input.into());
        }
    }

    /// Draws the paths of the packets of a track in the periods after cycle `now`, and lets arbiters remember them.
    /// Returns the path of the packet before the last, and the hops that the last has made.
    fn ride(&mut self, track: &Track, now: u64, times: u64) -> [Vec<Step>; 2] {
        let channels = track.ways.iter().map(|ways| ways.iter().map(|way| way.1.len()).sum::<usize>()).max();
        let mut window = times.min(USUAL * channels.unwrap_or(self.works.rules.layout.vcs()) as u64);
        loop {
            let (paths, is_known) = self.ride_from(track, now, times - window, times);
            if is_known || window == times {
                return paths;
            }
            window = times.min(4 * window);
        }
    }

    /// As [`ride`](Self::ride), for packets from number `first` on. Returns also whether everything is known then that
    /// depends on draws: which channel each packet took from some number on, and, of each channel, which was the last.
    fn ride_from(&mut self, track: &Track, now: u64, first: u64, times: u64) -> ([Vec<Step>; 2], bool) {
        let cycles = self.works.rules.tail + 1;
        let flow = &track.flow;
        let end = now + times * cycles;
        // By hop: where the packet before made it.
        let mut path = flow.path.clone();
        let mut is_known = vec![first == 0; path.len()];
        let layout = self.works.rules.layout;
        let escapes = self.works.rules.requests.escapes();
        let adaptive = |step: &Step| {
            let port = layout.port_of(step.output.into());
            outputs_of(layout.channels(port) & !escapes).map(|output| output as u16).collect()
        };
        let mut remembered = Remembered::new(track, adaptive);
        let (mut before, mut last) = (Vec::new(), Vec::new());
        for number in first..=times {
            if number == times {
                before.clone_from(&path);
            }
            let key = self.works.key_of(track, number);
            let (mut node, mut input) = (flow.source, flow.path[0].input);
            for hop in 0..path.len() {
                let at = flow.begin + number * cycles + hop as u64;
                if at >= end {
                    break;
                }
                let step = if number == 0 && at < now {
                    path[hop]
                } else {
                    let draw = |number: u64, key, last| {
                        self.works.draw(track, hop, node, input, (key, flow.begin + number * cycles + hop as u64), last)
                    };
                    let output = if is_known[hop] {
                        draw(number, key, Some(path[hop]).filter(|step| step.node == node).map(|step| step.output))
                    } else {
                        // The packet before took one of two channels, if it passed here.
                        let key_before = self.works.key_of(track, number - 1);
                        let likely = draw(number - 1, key_before, None);
                        let is_possible = |output| likely == output || draw(number - 1, key_before, likely) == output;
                        draw(number, key, None).filter(|&output| track.ways.is_empty() || !is_possible(Some(output)))
                    };
                    let Some(output) = output else {
                        is_known[hop..].fill(false);
                        remembered.clear();
                        break;
                    };
                    Step { node, input, output }
                };
                is_known[hop] = true;
                let port = self.works.rules.port_of(step.output.into());
                let router = &mut self.routers[step.node as usize];
                router.remember(step.input.into(), step.output.into(), port);
                remembered.add(hop, step);
                (node, input) = (router.downstream[port], step.output);
                path[hop] = step;
                if number == times {
                    last.push(step);
                }
            }
        }
        ([before, last], is_known.iter().all(|&is_known| is_known) && remembered.is_all())
    }

    /// Puts the packets of a track onto their paths, `now` being the cycle after `times` periods.
    fn put_riders_on(&mut self, track: &Track, [before, last]: [Vec<Step>; 2], now: u64, times: u64) {
        let cycles = self.works.rules.tail + 1;
        for (age, path) in (0..).zip([last, before]) {
            if let Some(handle) = track.riders[age as usize] {
                self.put_rider_on(&path, handle, track.flow.begin + (times - age) * cycles, now);
            }
        }
    }

    /// Puts a packet onto its path, that left its injection queue in cycle `begin`.
    fn put_rider_on(&mut self, path: &[Step], handle: u32, begin: u64, now: u64) {
        let (routers, works) = (&mut self.routers, &mut self.works);
        let cycles = works.rules.tail + 1;
        let mut behind = NONE;
        for (at, &Step { node, input, output }) in (begin..).zip(path) {
            let (next, is_last) = (at + 1, at + 1 == begin + path.len() as u64);
            let router = &mut routers[node as usize];
            let there = router.downstream[works.rules.port_of(output.into())];
            // The tail leaves in this cycle or a later one.
            if at + cycles > now {
                works.crossing.add(at + cycles - 1, Left { node, behind, output, input });
                router.put_owned(output.into());
            }
            // It leaves the next queue a cycle later.
            if at + cycles >= now {
                router.take_credit(output.into());
                if let Some(ahead) = works.ahead.get_mut(node as usize * Q + usize::from(output)) {
                    *ahead = Ahead { sent: at, departed: if next < now { next } else { Ahead::NEVER } };
                }
                if next < now {
                    routers[there as usize].put_leaving(output.into());
                }
            }
            let packet = &mut works.packets[handle];
            packet.behind = node;
            if next == now {
                works.headers.push((there, output, handle));
            } else if is_last {
                let event = Event::Consumed { node: there, behind: node, input: output, packet: handle };
                works.ring.add(at + cycles, event);
            }
            behind = node;
        }
    }
}

impl Track {
    /// True if the packets under way before cycle `now` are all there.
    fn are_there(&self, now: u64) -> bool {
        // The tail of the packet before has not been ejected.
        let two = self.flow.begin + self.flow.hops() > now;
        self.riders[0].is_some() && self.riders[1].is_some() == two
    }
}

/// Writes a message at an interface, without how much of it is left.
fn put_message(into: &mut State, message: &Unsent) {
    let &Unsent { slot, destination, offered: _, packets: _, is_long: _ } = message;
    into.put(u64::from(slot) << 32 | u64::from(destination.0));
}

/// The head of a packet of a flow at a node, for draws that depend on no more.
const fn head_of(flow: &Flow, node: u32, key: u64, now: u64) -> Head<'static> {
    Head {
        node: NodeId(node),
        input: Input::Injection,
        queue: 0,
        source: NodeId(flow.source),
        destination: NodeId(flow.destination),
        offsets: &[0],
        key,
        now,
        long: true,
    }
}

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Works<L, M, D, Q, P> {
    /// Notes a header that leaves a node through an output, or to its destination.
    #[inline(never)]
    pub(super) fn see(&mut self, router: &Router<M, Q, P>, node: u32, input: usize, output: Option<u16>, handle: u32) {
        let Some(sights) = &mut self.sights else { return };
        let packet: &Packet<D> = &self.packets[handle];
        let layout = self.rules.layout;
        let links = (0..layout.shape().ports()).filter(|&port| router.downstream[port] != NONE);
        sights.is_roomy &= links
            .map(|port| router.fitting().word(port * layout.vcs()) as u32 & layout.all_vcs())
            .all(|fitting| fitting == layout.all_vcs());
        sights.all.push(Sight {
            at: self.clock,
            node: self.first + node,
            input: input as u16,
            output,
            source: packet.source(),
            destination: packet.destination,
            // A header that takes a channel has been counted already.
            hops: packet.hops - u32::from(output.is_some()),
            sequence: packet.sequence,
            start: packet.start,
            message: packet.message,
        });
    }

    /// Writes the packets of a source in a queue before their first link; `sequence` is the number of its next.
    fn put_waiting(&self, into: &mut State, queue: Chain, sequence: u64) {
        for packet in queue.all(&self.packets) {
            into.put(u64::from(packet.message) << 32 | u64::from(packet.destination));
            into.put_time(trgen::Cycle(packet.start));
            into.put(sequence.wrapping_sub(packet.sequence));
        }
        into.put(u64::MAX);
    }

    /// The key of the packet of a track so many periods after that of its period.
    fn key_of(&self, track: &Track, periods: u64) -> u64 {
        let sequence = track.flow.sequence.wrapping_add(periods.wrapping_mul(track.siblings));
        packet_key(self.senders[track.flow.source as usize].key, sequence)
    }

    /// The channel that a packet takes, which is the first to ask and finds all links free. `last` is that of the packet
    /// before at this node, if it passed there.
    fn draw(
        &self,
        track: &Track,
        hop: usize,
        node: u32,
        input: u16,
        (key, now): (u64, u64),
        last: Option<u16>,
    ) -> Option<u16> {
        let rules = &self.rules;
        if !is_switched!(rules.layout, L) {
            let (vcs, port) = (rules.layout.vcs(), rules.port_of(track.flow.path[hop].output.into()));
            let is_transit = usize::from(input) < rules.outputs();
            if is_transit && rules.port_of(input.into()) == port && rules.channel(input.into()).vc > 0 {
                return Some(input);
            }
            let (dimension, queue) = (port / rules.layout.shape().ways, usize::from(input));
            let lots = lots(self.bets.get(node as usize)?.key(), now);
            let vc = RouteRules::<L>::smart_vc(lots, queue, dimension, vcs as u32 - 1);
            return Some((port * vcs + 1 + usize::from(vc)) as u16);
        }
        let ways = track.ways.get(hop)?;
        let candidates = &*ways[ways.binary_search_by_key(&node, |way| way.0).ok()?].1;
        if let &[only] = candidates {
            return Some(only);
        }
        // A phit of the packet before is still in its queue.
        let others = candidates.iter().filter(|&&output| Some(output) != last).map(|&output| output.into());
        Some(rules.requests.draw_of_equals(&head_of(&track.flow, node, key, now), others) as u16)
    }

    /// Takes packets off the message of a flow that is in progress.
    fn pass_front(&mut self, flow: &Flow, packets: u64) {
        let source = flow.source as usize;
        if let Some(sender) = self.senders.get(source).filter(|sender| !sender.waiting.is_empty()) {
            let front = sender.waiting.first();
            self.unsent[front].message.packets -= packets;
        }
        for lane in self.lanes.get_mut(source).into_iter().flatten() {
            if let Some(of) = lane.all_mut().next().filter(|of| of.message.slot == flow.message) {
                of.message.packets -= packets;
            }
        }
    }
}

//! Ports of switches with classes, marks, shared buffers and PFC, for both engines.
//!
//! An engine knows time, links and hosts ([`Ports`]); here is what happens when a frame comes to a switch, when a port
//! may send, and when a pause frame arrives.
//!
//! Decision: docs/decisions/0380-classes-and-pfc.md.

use super::alive::Alive;
use super::buffer::{Admission, Buffers, Pfc};
use super::frame::{CLASSES, CONTROL, Frame};
use super::marking::{MarkAt, MarkDraws, Marking, Thresholds};
use super::queues::{Next, Queues};
use super::schedule::Plan;
use super::tally::Event;
use super::trim::{Admission as Fits, Trimming, TwoLevels};
use super::wiring::Wiring;
use crate::cc::Stamp;
use crate::params::Params;
use fsin_core::network::Notices;

/// What a timer of a port and a class does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Timer {
    /// The class stops: a pause frame has been processed.
    Stop,
    /// The class goes on: likewise.
    GoOn,
    /// The class has been paused for too long.
    Watchdog,
    /// The pause ends, unless it was renewed.
    Expire,
    /// The pause of the other end is renewed.
    Renew,
}

impl Timer {
    /// All timers, in their order.
    pub(crate) const ALL: [Self; 5] = [Self::Stop, Self::GoOn, Self::Watchdog, Self::Expire, Self::Renew];

    /// True if a paused port may be able to send afterwards, other than by a pause that is renewed for ever.
    pub(crate) const fn may_free(self) -> bool {
        matches!(self, Self::GoOn | Self::Watchdog)
    }
}

/// By class: how often something has happened, so that timers of before do nothing.
#[derive(Clone, Copy, Default, Debug)]
struct Epochs {
    /// The class was stopped or went on.
    pauses: [u32; CLASSES],
    /// A pause of the class began or was renewed.
    renewals: [u32; CLASSES],
    /// The other end was told to stop or to go on.
    told: [u32; CLASSES],
    /// The link died.
    link: u32,
    /// Classes of which a watchdog drops everything.
    tripped: u16,
}

/// The state of all ports; `T` is what an engine knows a frame by.
#[derive(Clone, Debug)]
pub(crate) struct Managed<T> {
    plan: Plan,
    mark_at: MarkAt,
    draws: MarkDraws,
    /// By class: thresholds of marking, for each rate.
    thresholds: Vec<[Thresholds; CLASSES]>,
    /// By port: the index of its thresholds.
    rates: Vec<u32>,
    pub(crate) buffers: Option<Buffers>,
    /// Queues of two levels, which cut frames.
    pub(crate) trimming: Option<Box<Trimming>>,
    pub(crate) pfc: Option<Pfc>,
    /// By port.
    pub(crate) queues: Vec<Queues<T>>,
    /// By port, with PFC.
    epochs: Vec<Epochs>,
    /// \[bytes\] By port: what it has sent.
    pub(crate) sent: Vec<u64>,
}

impl<T: Copy> Managed<T> {
    /// The state of an empty network; `None` where no port has classes.
    pub(crate) fn new(params: &Params, wiring: &Wiring, alive: &Alive) -> Option<Box<Self>> {
        if !params.is_managed() {
            return None;
        }
        let ports = wiring.links.len();
        let none = Marking::default();
        let levels = params.switch.trim.map(|trim| (trim, TwoLevels::new(params, wiring, alive)));
        let of_levels = levels.as_ref().and_then(|(_, levels)| levels.marking.clone());
        let marking = params.switch.marking.as_ref().or(of_levels.as_ref()).unwrap_or(&none);
        let marks_at_hosts = params.marks_at_hosts();
        let (mut known, mut thresholds, mut rates) = (Vec::new(), Vec::new(), Vec::new());
        for link in &wiring.links {
            let kind = (link.rate, link.is_to_switch || marks_at_hosts);
            let at = known.iter().position(|&one| one == kind).unwrap_or_else(|| {
                known.push(kind);
                thresholds.push(match (&levels, kind.1) {
                    (_, false) => [Thresholds::NEVER; CLASSES],
                    (Some((_, levels)), _) => marking.in_proportion(link.rate, levels.rate),
                    (None, _) => marking.of(link.rate),
                });
                known.len() - 1
            });
            rates.push(at as u32);
        }
        let trimming = levels.map(|(trim, levels)| Box::new(Trimming::new(trim, params, wiring, levels.rooms)));
        Some(Box::new(Self {
            plan: Plan::new(&params.switch.schedule.unwrap_or_default(), params.switch.headers_per_frame),
            mark_at: params.switch.mark_at,
            draws: MarkDraws::new(params.seed),
            thresholds,
            rates,
            buffers: Buffers::new(params, wiring),
            trimming,
            pfc: params.switch.pfc,
            queues: (0..ports).map(|_| Queues::default()).collect(),
            epochs: if params.switch.pfc.is_some() { vec![Epochs::default(); ports] } else { Vec::new() },
            sent: vec![0; ports],
        }))
    }

    /// \[bytes\] Length of the queue of a port; with queues of two levels, the frame in transmission included.
    pub(crate) fn length(&self, port: usize, now: u64) -> u64 {
        let sending = |of: &Trimming| of.sending(port, 0, now) + of.sending(port, 1, now);
        self.queues[port].all_bytes() + self.trimming.as_deref().map_or(0, sending)
    }

    /// True if a frame of a class is marked at a port, where `queue` bytes of the class wait.
    #[inline]
    fn marks(&self, port: usize, class: u8, queue: u64, key: u64) -> bool {
        let thresholds = &self.thresholds[self.rates[port] as usize][usize::from(class)];
        thresholds.marks(queue, || self.draws.draw(port, key))
    }

    /// True if a timer is of the present.
    pub(crate) fn is_current(&self, port: usize, class: u8, timer: Timer, epoch: u32) -> bool {
        let (epochs, class) = (&self.epochs[port], usize::from(class));
        epoch
            == match timer {
                Timer::Stop | Timer::GoOn => epochs.link,
                Timer::Watchdog => epochs.pauses[class],
                Timer::Expire => epochs.renewals[class],
                Timer::Renew => epochs.told[class],
            }
    }
}

/// An engine, as its managed ports see it.
pub(crate) trait Ports {
    /// What it knows a frame in a queue by.
    type Entry: Copy;

    fn managed(&mut self) -> &mut Managed<Self::Entry>;
    fn wiring(&self) -> &Wiring;
    /// \[ps\]
    fn now(&self) -> u64;
    fn frame(&self, entry: Self::Entry) -> Frame;
    /// The key of the draws of a frame.
    fn key(&self, entry: Self::Entry) -> u64;
    /// A switch marks a frame.
    fn mark(&mut self, entry: &mut Self::Entry);
    /// Cuts off the data of a frame: `bytes` bytes are left. `is_last_hop` is true at the port to its destination.
    fn trim(&mut self, entry: &mut Self::Entry, bytes: u16, is_last_hop: bool);
    /// A switch adds a stamp to a frame.
    fn stamp(&mut self, entry: Self::Entry, stamp: Stamp);
    fn is_dead(&self, port: usize) -> bool;
    /// True if a port is neither transmitting nor in the gap after it.
    fn is_free(&self, port: usize) -> bool;
    /// A port that is not free has something to send, perhaps: it is asked again when it is free.
    fn wait(&mut self, port: usize);
    fn transmit(&mut self, port: usize, entry: Self::Entry);
    fn transmit_pause(&mut self, port: usize, class: u8, is_off: bool);
    /// The port of a host that has nothing else to send takes the next frame of the host.
    fn send_of_host(&mut self, port: usize);
    /// Sets a timer.
    fn set_timer(&mut self, at: u64, port: usize, class: u8, timer: Timer, epoch: u32);
    /// Lets a frame be marked when its last bit leaves a port, now or later.
    fn mark_when_sent(&mut self, port: usize, entry: Self::Entry);
    /// A frame of an input is in the switch until so many copies have left.
    fn hold(&mut self, entry: &mut Self::Entry, input: usize, copies: u32);
    /// A copy has left. The input, if it was the last one of a frame that was held.
    fn let_go(&mut self, entry: Self::Entry) -> Option<usize>;
    /// A copy finds no room.
    fn drop_copy(&mut self, entry: Self::Entry, notices: &mut Notices);
    fn lose_on_dead_link(&mut self, entry: Self::Entry, notices: &mut Notices);
    /// A frame is dropped at the queue of a port, and its host receives no notice.
    fn lost_at(&mut self, port: usize, entry: Self::Entry);
    /// Counts a dropped frame at a port.
    fn count_dropped(&mut self, port: usize, is_tied: bool);
    /// Counts a frame whose data were cut off at a port.
    fn count_trimmed(&mut self, port: usize);
    /// Counts a frame that joins a queue of so many.
    fn count_joins(&mut self, port: usize, length: u32);
    /// Counts a frame that leaves a queue of so many.
    fn count_leaves(&mut self, port: usize, length: u32);
    fn count_pause(&mut self, port: usize);
    fn tally(&mut self, port: usize, event: Event);
    /// True if a frame has entered the queue of a port at this instant; one does so now.
    fn is_tied(&self, port: usize) -> bool;
    fn enters(&mut self, port: usize);
}

/// The number of the switch of a port.
fn switch_of<P: Ports>(p: &P, port: usize) -> usize {
    let wiring = p.wiring();
    wiring.links[port].owner as usize - wiring.hosts
}

/// Counts what the buffer of a switch holds.
fn count_held<P: Ports>(p: &mut P, port: usize, switch: usize) {
    let Some(bytes) = p.managed().buffers.as_ref().map(|buffers| buffers.held(switch)) else { return };
    p.tally(port, Event::Held { switch: switch as u32, bytes });
}

/// Takes in a frame that has come to a switch through an input, to leave in so many copies. False if there is no room,
/// and it was dropped.
#[inline]
pub(crate) fn arrive<P: Ports>(
    p: &mut P,
    input: usize,
    entry: &mut P::Entry,
    copies: u32,
    notices: &mut Notices,
) -> bool {
    let Frame { class, bytes, .. } = p.frame(*entry);
    if p.managed().buffers.as_ref().is_none_or(|buffers| !buffers.is_lossless(class)) {
        return true;
    }
    let switch = switch_of(p, input);
    let Some(buffers) = &mut p.managed().buffers else { return true };
    let admission = buffers.take(switch, input, class, bytes.into());
    if admission == Admission::Dropped {
        p.count_dropped(input, false);
        p.tally(input, Event::Dropped { class });
        p.drop_copy(*entry, notices);
        return false;
    }
    p.hold(entry, input, copies);
    count_held(p, input, switch);
    if admission == Admission::TakenAndOff {
        tell(p, input, class, true);
    }
    true
}

/// Tells the other end of a link to stop sending a class, or to go on.
fn tell<P: Ports>(p: &mut P, port: usize, class: u8, is_off: bool) {
    if p.is_dead(port) {
        return;
    }
    let rate = p.wiring().links[port].rate;
    let now = p.now();
    let managed = p.managed();
    managed.queues[port].push_pause(class, is_off);
    let told = &mut managed.epochs[port].told[usize::from(class)];
    *told = told.wrapping_add(1);
    let epoch = *told;
    let lasts = managed.pfc.and_then(|pfc| pfc.duration(rate)).filter(|_| is_off);
    if let Some(lasts) = lasts {
        p.set_timer(now.saturating_add(lasts / 2), port, class, Timer::Renew, epoch);
    }
    send(p, port);
}

/// Renews a pause of the other end, unless a pause frame still waits.
fn renew<P: Ports>(p: &mut P, port: usize, class: u8, epoch: u32) {
    if !p.managed().queues[port].has_pause(class) {
        return tell(p, port, class, true);
    }
    let (now, rate) = (p.now(), p.wiring().links[port].rate);
    if let Some(lasts) = p.managed().pfc.and_then(|pfc| pfc.duration(rate)) {
        p.set_timer(now.saturating_add(lasts / 2), port, class, Timer::Renew, epoch);
    }
}

/// Puts a frame into the queue of an output, or sends it at once, or drops it.
pub(crate) fn enqueue<P: Ports>(p: &mut P, output: usize, mut entry: P::Entry, notices: &mut Notices) {
    if p.is_dead(output) {
        release(p, entry);
        return p.lose_on_dead_link(entry, notices);
    }
    if p.managed().trimming.is_some() {
        return enqueue_by_level(p, output, entry, notices);
    }
    let Frame { class, bytes, takes_marks, is_marked, .. } = p.frame(entry);
    if class != CONTROL && !has_room(p, output, class, bytes.into()) {
        let is_tied = p.is_tied(output);
        p.count_dropped(output, is_tied);
        p.tally(output, Event::Dropped { class });
        release(p, entry);
        return p.drop_copy(entry, notices);
    }
    p.enters(output);
    let is_free = p.is_free(output);
    let managed = p.managed();
    let before = if class == CONTROL { 0 } else { managed.queues[output].bytes(class) };
    if managed.mark_at == MarkAt::Arrival && takes_marks && !is_marked {
        let key = p.key(entry);
        if p.managed().marks(output, class, before, key) {
            p.mark(&mut entry);
            p.tally(output, Event::Marked { class });
        }
    }
    let managed = p.managed();
    let queues = &mut managed.queues[output];
    if is_free && !queues.has_next() && queues.paused >> class & 1 == 0 {
        queues.pass(&managed.plan, class);
        return depart(p, output, entry, class, None);
    }
    let length = queues.waiting();
    queues.push(class, bytes, entry);
    p.count_joins(output, length);
    if class != CONTROL {
        p.tally(output, Event::Queue { class, bytes: (before + u64::from(bytes)) as u32 });
    }
    send(p, output);
}

/// The lower of two levels: data.
const LOW: u8 = 0;

/// Puts a frame into a queue of two levels, cuts it or another one, or drops it.
fn enqueue_by_level<P: Ports>(p: &mut P, output: usize, mut entry: P::Entry, notices: &mut Notices) {
    let (now, key) = (p.now(), p.key(entry));
    let Frame { class, bytes, takes_marks, .. } = p.frame(entry);
    p.enters(output);
    if class == CONTROL {
        return join_high(p, output, entry, notices);
    }
    let managed = p.managed();
    let Some(trimming) = &managed.trimming else { return };
    let (size, is_last_hop) = (trimming.size, trimming.to_host[output]);
    let low = managed.queues[output].bytes(LOW) + trimming.sending(output, 0, now);
    match trimming.admit(output, low, bytes.into(), key) {
        Fits::Joins => {
            if managed.mark_at == MarkAt::Arrival && takes_marks && managed.marks(output, LOW, low, key) {
                p.mark(&mut entry);
                p.tally(output, Event::Marked { class });
            }
            return join(p, output, LOW, entry);
        }
        Fits::Dropped => {
            p.count_dropped(output, false);
            p.tally(output, Event::Dropped { class });
            return p.drop_copy(entry, notices);
        }
        Fits::Cut => {}
        Fits::Replaces => {
            if let Some(last) = managed.queues[output].replace_last(LOW, bytes, entry) {
                entry = last;
            }
            let bytes = p.managed().queues[output].bytes(LOW) as u32;
            p.tally(output, Event::Queue { class: LOW, bytes });
        }
    }
    p.trim(&mut entry, size, is_last_hop);
    p.count_trimmed(output);
    join_high(p, output, entry, notices);
}

/// Puts a frame into the upper level of a queue of two, or drops it.
fn join_high<P: Ports>(p: &mut P, output: usize, entry: P::Entry, notices: &mut Notices) {
    let (now, bytes) = (p.now(), p.frame(entry).bytes);
    let managed = p.managed();
    let Some(trimming) = &managed.trimming else { return };
    let high = managed.queues[output].bytes_of_control() + trimming.sending(output, 1, now);
    if trimming.has_high_room(output, high, bytes.into()) {
        return join(p, output, CONTROL, entry);
    }
    p.count_dropped(output, false);
    p.lost_at(output, entry);
    p.drop_copy(entry, notices);
}

/// Puts a frame into a level, and sends it at once if nothing waits.
fn join<P: Ports>(p: &mut P, output: usize, level: u8, entry: P::Entry) {
    let bytes = p.frame(entry).bytes;
    let is_free = p.is_free(output);
    let queues = &mut p.managed().queues[output];
    if is_free && !queues.has_next() {
        return depart(p, output, entry, level, None);
    }
    let length = queues.waiting();
    queues.push(level, bytes, entry);
    p.count_joins(output, length);
    if level == LOW {
        let bytes = p.managed().queues[output].bytes(LOW) as u32;
        p.tally(output, Event::Queue { class: LOW, bytes });
    }
    send(p, output);
}

/// True if there is room for a frame of a class of data at an output. It is counted there, if the class has no PFC.
fn has_room<P: Ports>(p: &mut P, output: usize, class: u8, bytes: u64) -> bool {
    let managed = p.managed();
    if managed.epochs.get(output).is_some_and(|epochs| epochs.tripped >> class & 1 == 1) {
        return false;
    }
    if managed.buffers.as_ref().is_some_and(|buffers| buffers.is_lossless(class)) {
        return true;
    }
    let (switch, room) = (switch_of(p, output), p.wiring().rooms[output]);
    let managed = p.managed();
    let queues = &managed.queues[output];
    match &mut managed.buffers {
        None => queues.waiting_data() < room,
        Some(buffers) => {
            let has_room = buffers.join(switch, queues.bytes(class), bytes);
            if has_room {
                count_held(p, output, switch);
            }
            has_room
        }
    }
}

/// Begins the next transmission of a port, if it can.
pub(crate) fn send<P: Ports>(p: &mut P, port: usize) {
    if p.is_dead(port) {
        return;
    }
    if !p.is_free(port) {
        return p.wait(port);
    }
    let managed = p.managed();
    let length = managed.queues[port].waiting();
    match managed.queues[port].pop(&managed.plan) {
        Some(Next::Pause { class, is_off }) => {
            p.count_pause(port);
            p.tally(port, Event::Pause { class });
            p.transmit_pause(port, class, is_off);
            p.wait(port);
        }
        Some(Next::Frame { frame, class, behind }) => {
            p.count_leaves(port, length);
            if class != CONTROL {
                p.tally(port, Event::Queue { class, bytes: behind as u32 });
            }
            depart(p, port, frame, class, Some(behind));
        }
        None => p.send_of_host(port),
    }
}

/// Transmits a frame that leaves a switch, of whose class `behind` bytes wait behind it; `None` if it has not waited, and
/// nothing else does.
#[inline]
fn depart<P: Ports>(p: &mut P, port: usize, mut entry: P::Entry, class: u8, behind: Option<u64>) {
    let (may_have_more, behind) = (behind.is_some(), behind.unwrap_or(0));
    let Frame { bytes, takes_marks, is_marked, takes_stamps, .. } = p.frame(entry);
    let trims = p.managed().trimming.is_some();
    // Queues of two levels count a mark at each port, also of frames that are marked already.
    if takes_marks && (!is_marked || trims) {
        match p.managed().mark_at {
            MarkAt::Departure => {
                let key = p.key(entry);
                if p.managed().marks(port, class, behind, key) {
                    p.mark(&mut entry);
                    p.tally(port, Event::Marked { class });
                }
            }
            MarkAt::Sent => p.mark_when_sent(port, entry),
            MarkAt::Arrival => {}
        }
    }
    if trims {
        let until = p.now().saturating_add(p.wiring().links[port].time(bytes));
        if let Some(trimming) = &mut p.managed().trimming {
            trimming.serve(port, usize::from(class == CONTROL), bytes.into(), until);
        }
    }
    if takes_stamps {
        let (at, rate) = (p.now() / 1_000, p.wiring().links[port].rate);
        let managed = p.managed();
        let stamp = Stamp { at, sent: managed.sent[port], queue: managed.queues[port].all_bytes(), rate };
        p.stamp(entry, stamp);
    }
    if class != CONTROL && p.managed().buffers.as_ref().is_some_and(|buffers| !buffers.is_lossless(class)) {
        leave(p, port, bytes.into());
    }
    // An engine that hands the frame over does not know it any more.
    let input = p.let_go(entry);
    p.transmit(port, entry);
    if may_have_more {
        p.wait(port);
    }
    if let Some(input) = input {
        give_back(p, input, class, bytes.into());
    }
}

/// Releases a frame of a class without PFC.
fn leave<P: Ports>(p: &mut P, output: usize, bytes: u64) {
    let switch = switch_of(p, output);
    if let Some(buffers) = &mut p.managed().buffers {
        buffers.leave(switch, bytes);
    }
    count_held(p, output, switch);
}

/// Releases a copy of a frame where it came in.
pub(crate) fn release<P: Ports>(p: &mut P, entry: P::Entry) {
    if let Some(input) = p.let_go(entry) {
        let Frame { class, bytes, .. } = p.frame(entry);
        give_back(p, input, class, bytes.into());
    }
}

/// Releases a frame that came in through an input, whose last copy has left.
fn give_back<P: Ports>(p: &mut P, input: usize, class: u8, bytes: u64) {
    let switch = switch_of(p, input);
    let Some(buffers) = &mut p.managed().buffers else { return };
    let goes_on = buffers.give_back(switch, input, class, bytes);
    count_held(p, input, switch);
    if goes_on {
        tell(p, input, class, false);
    }
}

/// Marks a frame whose last bit has left a port, if the queue of its class is long. With queues of two levels, the
/// length includes the frame whose transmission has begun since.
pub(crate) fn mark_sent<P: Ports>(p: &mut P, port: usize, entry: &mut P::Entry) {
    let (class, key, now) = (p.frame(*entry).class, p.key(*entry), p.now());
    let managed = p.managed();
    let (class, next) = match &managed.trimming {
        Some(trimming) => (LOW, trimming.sending(port, 0, now)),
        None => (class, 0),
    };
    let queue = managed.queues[port].bytes(class) + next;
    if managed.marks(port, class, queue, key) {
        p.mark(entry);
        p.tally(port, Event::Marked { class });
    }
}

/// A pause frame for a class of a port has arrived.
pub(crate) fn pause_arrived<P: Ports>(p: &mut P, port: usize, class: u8, is_off: bool) {
    let now = p.now();
    let managed = p.managed();
    let (response, epoch) = (managed.pfc.map_or(0, |pfc| pfc.response), managed.epochs[port].link);
    if response > 0 {
        let timer = if is_off { Timer::Stop } else { Timer::GoOn };
        return p.set_timer(now.saturating_add(response), port, class, timer, epoch);
    }
    take_effect(p, port, class, is_off);
}

/// A class of a port stops, or goes on.
fn take_effect<P: Ports>(p: &mut P, port: usize, class: u8, is_off: bool) {
    let (now, link) = (p.now(), p.wiring().links[port]);
    let is_of_switch = !p.wiring().is_host(link.owner);
    let managed = p.managed();
    let Some(pfc) = managed.pfc else { return };
    let (queues, epochs, at) = (&mut managed.queues[port], &mut managed.epochs[port], usize::from(class));
    let was_off = queues.paused >> class & 1 == 1;
    epochs.renewals[at] = epochs.renewals[at].wrapping_add(1);
    let renewals = epochs.renewals[at];
    if is_off {
        queues.paused |= 1 << class;
    } else {
        queues.paused &= !(1 << class);
        epochs.tripped &= !(1 << class);
    }
    if was_off != is_off {
        epochs.pauses[at] = epochs.pauses[at].wrapping_add(1);
        let pauses = epochs.pauses[at];
        if let Some(watchdog) = pfc.watchdog.filter(|_| is_off && is_of_switch) {
            p.set_timer(now.saturating_add(watchdog), port, class, Timer::Watchdog, pauses);
        }
        p.tally(port, Event::Paused { class, is_off });
    }
    if let Some(lasts) = pfc.duration(link.rate).filter(|_| is_off) {
        p.set_timer(now.saturating_add(lasts), port, class, Timer::Expire, renewals);
    }
    if !is_off {
        send(p, port);
    }
}

/// A timer expires.
pub(crate) fn expire<P: Ports>(p: &mut P, port: usize, class: u8, timer: Timer, epoch: u32, notices: &mut Notices) {
    if !p.managed().is_current(port, class, timer, epoch) {
        return;
    }
    match timer {
        Timer::Stop => take_effect(p, port, class, true),
        Timer::GoOn | Timer::Expire => take_effect(p, port, class, false),
        Timer::Renew => renew(p, port, class, epoch),
        Timer::Watchdog => trip(p, port, class, notices),
    }
}

/// Drops what waits of a class that has been paused for too long, and what comes until it goes on.
fn trip<P: Ports>(p: &mut P, port: usize, class: u8, notices: &mut Notices) {
    let managed = p.managed();
    managed.epochs[port].tripped |= 1 << class;
    let mut length = managed.queues[port].waiting();
    let dropped = managed.queues[port].clear_class(class);
    let is_lossless = managed.buffers.as_ref().is_some_and(|buffers| buffers.is_lossless(class));
    p.tally(port, Event::Watchdog { class });
    for &entry in &dropped {
        p.count_leaves(port, length);
        length -= 1;
        p.count_dropped(port, false);
        p.tally(port, Event::Dropped { class });
        if !is_lossless {
            let bytes = p.frame(entry).bytes;
            leave(p, port, bytes.into());
        }
        release(p, entry);
        p.drop_copy(entry, notices);
    }
    if !dropped.is_empty() {
        p.tally(port, Event::Queue { class, bytes: 0 });
    }
}

/// Empties the queues of a port whose link has died. Returns the frames that waited, whose classes have been released.
pub(crate) fn cut<P: Ports>(p: &mut P, port: usize) -> Vec<P::Entry> {
    let managed = p.managed();
    let paused = managed.queues[port].paused;
    let mut length = managed.queues[port].waiting();
    let lost = managed.queues[port].clear();
    if let Some(trimming) = &mut managed.trimming {
        trimming.cut(port);
    }
    if let Some(epochs) = managed.epochs.get_mut(port) {
        epochs.link = epochs.link.wrapping_add(1);
        epochs.tripped = 0;
        for list in [&mut epochs.pauses, &mut epochs.renewals, &mut epochs.told] {
            list.iter_mut().for_each(|epoch| *epoch = epoch.wrapping_add(1));
        }
    }
    for class in (0..CLASSES as u8).filter(|class| paused >> class & 1 == 1) {
        p.tally(port, Event::Paused { class, is_off: false });
    }
    for &entry in &lost {
        p.count_leaves(port, length);
        length -= 1;
        let Frame { class, bytes, .. } = p.frame(entry);
        if class == CONTROL {
            continue;
        }
        p.tally(port, Event::Queue { class, bytes: 0 });
        if p.managed().buffers.as_ref().is_some_and(|buffers| !buffers.is_lossless(class)) {
            leave(p, port, bytes.into());
        }
    }
    lost
}

/// A link has been repaired: the other end is told again of what is paused.
pub(crate) fn resume<P: Ports>(p: &mut P, port: usize) {
    let off: Vec<u8> = p.managed().buffers.as_ref().map_or_else(Vec::new, |buffers| buffers.off(port).collect());
    for class in off {
        tell(p, port, class, true);
    }
    send(p, port);
}

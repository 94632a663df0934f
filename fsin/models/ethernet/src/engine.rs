//! Both engines as networks: the state that they share, and the interface of every network in terms of it.

use std::borrow::Cow;

use fsin_core::capture::Place;
use fsin_core::engine::Engine;
use fsin_core::messages::Messages;
use fsin_core::network::{Deadlock, Injected, Livelock, Measure, NetworkFailure, Notices, PortFigures, QueueFigures};
use fsin_core::stats::Distribution;
use fsin_core::view::Occupancy;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::{Cycle, Message};

use crate::capture::Capture;
use crate::details::{ByClass, FRAMES_LOST, OF_CLASSES, OF_SPRAY};
use crate::params::{Params, PortStats, TieOrder, Transport};
use crate::rules::alive::Alive;
use crate::rules::forwarding::Tables;
use crate::rules::frame::CLASSES;
use crate::rules::frame::{Errors, Frame, NONE};
use crate::rules::hosts::{Hosts, Origin};
use crate::rules::lengths::Lengths;
use crate::rules::port::{Counts, Taps};
use crate::rules::tally::Tally;
use crate::rules::ties::Ties;
use crate::rules::wait::cyclic_wait;
use crate::rules::wiring::{Link, Wiring};
use crate::{Details, Ethernet, PortDetails, Prepared, Totals};

/// \[frames\] Number of frames dropped without an arrival between, below which no livelock is looked for.
const DROPS_IN_VAIN: u64 = 100_000;

/// Most instants that are simulated before the caller looks at the clock again.
const INSTANTS: u32 = 16;

/// The state that every engine has. `H` is what it knows of hosts.
#[derive(Debug)]
pub(crate) struct Base<H = Hosts> {
    pub(crate) params: Params,
    pub(crate) wiring: Wiring,
    /// Which links are dead, now and later.
    pub(crate) alive: Alive,
    /// The forwarding tables of all switches.
    pub(crate) tables: Tables,
    /// The order of frames that arrive at the same instant.
    pub(crate) ties: Ties,
    /// Draws of transmission errors.
    pub(crate) errors: Errors,
    pub(crate) hosts: H,
    /// \[ps\] Time of the clock, or of the event that is being processed.
    pub(crate) now: u64,
    /// Number of PAUSE frames sent by switches.
    pub(crate) pauses: u64,
    /// \[frames\] By port: frames on its link, if that is a link of the topology, since observation began.
    pub(crate) crossed: Vec<u64>,
    /// The observer of frames.
    pub(crate) taps: Taps,
    /// \[ps\] By port: times for which its queue had each length. Empty unless these are kept.
    pub(crate) lengths: Vec<Lengths>,
    /// \[ps\] Time within which every frame arrives that no queue drops: on a path through all switches, with all
    /// queues full.
    patience: u64,
    /// What is counted of classes and buffers.
    pub(crate) tally: Tally,
    /// True if ports may be paused.
    pub(crate) can_pause: bool,
    /// A failure that ends the run.
    pub(crate) failure: Option<NetworkFailure>,
    /// \[ps\] Time at which a frame last arrived.
    pub(crate) last_moved: u64,
}

impl Base {
    /// The network that was prepared with these parameters.
    pub(crate) fn new(Prepared { wiring, alive, tables }: Prepared, params: Params) -> Self {
        let slowest = wiring.links.iter().zip(&wiring.rooms).map(|(link, &room)| {
            let frame = link.time(params.frames.longest() as u16) + link.gap;
            frame.saturating_mul(u64::from(room) + 1).saturating_add(link.delay).saturating_add(params.switch_latency)
        });
        let patience = slowest.max().unwrap_or(0).saturating_mul(wiring.switches as u64 + 1);
        let lengths = if params.port_stats == PortStats::Histogram { wiring.links.len() } else { 0 };
        Self {
            lengths: vec![Lengths::default(); lengths],
            ties: Ties::new(params.seed, params.ties == TieOrder::Hash, wiring.hosts + wiring.switches),
            errors: Errors::new(params.seed, params.per),
            hosts: Hosts::new(&params, &wiring, &alive),
            now: 0,
            pauses: 0,
            crossed: Vec::new(),
            taps: Taps::default(),
            patience,
            tally: if params.is_managed() { Tally::new(wiring.links.len(), wiring.switches) } else { Tally::default() },
            can_pause: params.can_pause(),
            failure: None,
            last_moved: 0,
            params,
            wiring,
            alive,
            tables,
        }
    }

    /// The same network without its hosts, of which `hosts` takes the place. The network must not have run.
    pub(crate) fn with_hosts<H>(&self, hosts: H) -> Base<H> {
        Base {
            hosts,
            params: self.params.clone(),
            wiring: self.wiring.clone(),
            alive: self.alive.clone(),
            tables: self.tables.clone(),
            ties: self.ties.clone(),
            errors: self.errors,
            now: 0,
            pauses: 0,
            crossed: Vec::new(),
            taps: Taps::default(),
            lengths: self.lengths.clone(),
            patience: self.patience,
            tally: self.tally.clone(),
            can_pause: self.can_pause,
            failure: None,
            last_moved: 0,
        }
    }
}

impl<H> Base<H> {
    /// True if a frame has passed more switches than there are, as often as routes have changed: it circulates.
    /// `changes` is the number of changes of links since the frame was sent.
    #[inline]
    pub(crate) fn circulates(&self, frame: &Frame, changes: u32) -> bool {
        let (hops, switches) = (usize::from(frame.hops), self.wiring.switches);
        hops > switches && hops > switches * (1 + changes as usize)
    }
}

/// The state of a port between two events.
pub(crate) struct PortSnapshot {
    pub(crate) counts: Counts,
    /// \[frames\] Frames in its queue.
    pub(crate) waiting: usize,
    /// \[frames x ps\] Length of its queue, summed over time up to now.
    pub(crate) area: u128,
    /// Classes with frames in its queues, a bit for each; without classes, the first for all.
    pub(crate) ready: u16,
    /// Classes that the other end has paused.
    pub(crate) paused: u16,
    /// True if it has a PAUSE frame to send by which the other end may go on, or any without classes.
    pub(crate) has_control: bool,
}

/// An engine: how events follow each other. The methods of [`Simulated`] call it.
pub(crate) trait Events: std::fmt::Debug + Send {
    /// True if [`next_at`](Self::next_at) returns the next event whatever `until` is.
    const LOOKS_AHEAD: bool = true;

    fn base(&self) -> &Base;

    fn base_mut(&mut self) -> &mut Base;

    /// \[ps\] Time of the next event that hosts may learn of, if it is before `until`; a later one, or `None`, if none
    /// is. No message is injected before time `until` - 1, unless such an event comes first.
    fn next_at(&mut self, until: u64) -> Option<u64>;

    /// Processes the event whose time [`next_at`](Self::next_at) has returned last. The clock stands at that time.
    fn step(&mut self, notices: &mut Notices);

    /// Lets hosts send that may have become able to, and sets the timers of connections.
    fn serve_hosts(&mut self);

    /// Completes what is in progress, so that the state up to the clock can be read.
    fn settle(&mut self) {}

    /// Begins to count the frames that cross each link of the topology.
    fn count_crossings(&mut self) {
        let base = self.base_mut();
        base.crossed.resize(base.wiring.links.len(), 0);
    }

    /// Takes over the links that are alive from now on, and the forwarding tables, which [`base`](Self::base) has.
    fn renew(&mut self) {}

    /// Loses all frames on the link of a port, which has died, and in the queue before it: first those that left first.
    fn cut(&mut self, port: usize, notices: &mut Notices);

    /// Lets a port send whose link has been repaired.
    fn resume(&mut self, port: usize);

    /// True if a frame, or the end of a frame, is on a link.
    fn is_moving(&self) -> bool;

    /// The state of a port now.
    fn port(&self, port: usize) -> PortSnapshot;

    /// Number of PAUSE frames sent by switches up to now.
    fn pauses(&self) -> u64 {
        self.base().pauses
    }

    /// \[frames\] By port: frames on its link up to now, if they are [counted](Self::count_crossings).
    fn crossed(&self) -> Cow<'_, [u64]> {
        Cow::Borrowed(&self.base().crossed)
    }

    /// \[ps\] Times for which the queue of a port had each length, up to now; `None` where these are not kept.
    fn lengths(&self, port: usize) -> Option<Lengths>;

    /// True if a frame that came through `input` waits at `output` of the same switch, in the queue of a class where
    /// ports have classes.
    fn holds(&self, input: usize, output: usize, class: u8) -> bool;

    /// What is counted of classes and buffers up to now.
    fn tally(&self) -> Cow<'_, Tally> {
        Cow::Borrowed(&self.base().tally)
    }

    /// \[frames\] Copies on links and in queues, without PAUSE frames.
    fn copies(&self) -> u64;
}

/// The remark that shares follow the numbers of ports and not the senders. `fates` has the frames of each source that
/// were received, and dropped; `tied` is the number of frames dropped because another one came at the same instant.
fn shares_by_port_number(fates: &[[u64; 2]], tied: u64) -> Option<Phrase> {
    /// \[frames\] Sources with fewer dropped frames do not count.
    const LEAST: u64 = 100;
    /// Shares are unequal from this ratio on.
    const RATIO: f64 = 4.0;
    let dropped: u64 = fates.iter().map(|[_, dropped]| dropped).sum();
    if tied < LEAST || 2 * tied < dropped {
        return None;
    }
    let share = |&[received, dropped]: &[u64; 2]| received as f64 / (received + dropped) as f64;
    let tried = fates.iter().enumerate().filter(|(_, [received, dropped])| received + dropped >= LEAST);
    let by_share = |a: &(usize, &[u64; 2]), b: &(usize, &[u64; 2])| share(a.1).total_cmp(&share(b.1));
    let (most, least) =
        (tried.clone().max_by(by_share)?, tried.filter(|(_, [_, dropped])| *dropped >= LEAST).min_by(by_share)?);
    // Where all is repeated until it has come, senders of equal data get equal amounts through.
    let is_unequal = share(most.1) > RATIO * share(least.1) && most.1[0] as f64 > RATIO * least.1[0] as f64;
    is_unequal.then(|| {
        let of = |(node, &[received, dropped]): (usize, &[u64; 2])| {
            format!("{received} of {} frames of node {node}", received + dropped)
        };
        phrase![(
            "shares of senders follow the numbers of ports: {tied} of {dropped} dropped frames came to a full queue at the \
             same instant as one that took the last place, and such ties go to the port of lowest number; {} got through, \
             and {}: real clocks differ, and would mix them",
            of(most),
            of(least)
        )]
    })
}

/// An engine in simulated time.
#[derive(Debug)]
pub(crate) struct Simulated<E>(pub(crate) E);

impl<E: Events> Simulated<E> {
    /// The deadlock, if frames wait at paused ports for ever: no frame is on a link and none can be sent.
    #[cold]
    fn find_deadlock(&self) -> Option<NetworkFailure> {
        let Base { wiring, hosts, .. } = self.0.base();
        let host = |port: usize| Some(wiring.links[port].owner).filter(|&owner| wiring.is_host(owner));
        let waits = |port: usize| self.0.port(port).ready != 0 || host(port).is_some_and(|host| hosts.has_next(host));
        let can_send = |port: usize| {
            let state = self.0.port(port);
            let of_host = |host: u32| hosts.is_ending(host) || hosts.can_send(host, state.paused as u8);
            state.has_control || state.ready & !state.paused != 0 || host(port).is_some_and(of_host)
        };
        let mut ports = 0..wiring.links.len();
        let is_deadlock = !ports.clone().any(can_send) && ports.any(waits);
        is_deadlock.then(|| self.deadlock())
    }

    /// The livelock, if frames are dropped and sent again for ever: all that was on its way when a frame last arrived
    /// has been dropped, and all since.
    #[cold]
    fn find_livelock(&self) -> Option<NetworkFailure> {
        let Base { hosts, params, now, patience, .. } = self.0.base();
        let is_livelock = params.transport == Transport::Oracle && now - hosts.last_received > *patience;
        is_livelock.then(|| Livelock { at: Cycle(*now), dropped: hosts.dropped_in_vain }.into())
    }

    /// The report of a deadlock, with a cycle of ports that wait for each other.
    fn deadlock(&self) -> NetworkFailure {
        let Base { wiring, hosts, last_moved, params, .. } = self.0.base();
        let of_class = |class: u8| {
            let is_blocked = |port: usize| {
                let state = self.0.port(port);
                (state.ready & state.paused) >> class & 1 == 1
            };
            let named = params.switch.pfc.map(|_| class);
            cyclic_wait(wiring, named, is_blocked, |input, output| self.0.holds(input, output, class))
        };
        let cycle = (0..CLASSES as u8).map(of_class).find(|cycle| !cycle.is_empty()).unwrap_or_default();
        let (since, in_flight) = (Cycle(*last_moved), hosts.messages.in_flight());
        Deadlock { since, in_flight, cycle, refusing: Vec::new() }.into()
    }
}

impl<E: Events> Simulated<E> {
    /// Why the network cannot go on, if it cannot. It is asked after every event: what is usual comes first.
    #[inline(always)]
    fn failure(&mut self) -> Result<(), NetworkFailure> {
        let Base { can_pause, failure, hosts, .. } = self.0.base();
        if failure.is_none() && hosts.dropped_in_vain <= DROPS_IN_VAIN && (!*can_pause || self.0.is_moving()) {
            return Ok(());
        }
        self.find_failure()
    }

    /// [`failure`](Self::failure) of a network in which something unusual is the case.
    #[cold]
    #[inline(never)]
    fn find_failure(&mut self) -> Result<(), NetworkFailure> {
        let base = self.0.base();
        let may_wait = base.alive.next_at().is_none();
        if base.can_pause && may_wait && base.failure.is_none() && !base.hosts.messages.is_idle() && !self.0.is_moving()
        {
            self.0.base_mut().failure = self.find_deadlock();
        }
        if self.0.base().hosts.dropped_in_vain > DROPS_IN_VAIN {
            let found = self.find_livelock();
            let base = self.0.base_mut();
            base.failure = base.failure.take().or(found);
        }
        match &self.0.base().failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(()),
        }
    }
}

impl<E: Events> Simulated<E> {
    /// Simulates the next instants at which something happens, up to one of which a source must know.
    fn advance_to(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        self.failure()?;
        let was_idle = self.0.base().hosts.messages.is_idle();
        let mut next = self.0.next_at(until.0);
        for _ in 0..INSTANTS {
            next = self.advance_once(next, until, notices)?;
            let base = self.0.base_mut();
            if base.params.is_acked {
                base.hosts.messages.tell_known(notices);
            }
            if !notices.is_empty() || base.now + 1 >= until.0 || base.hosts.messages.is_idle() != was_idle {
                break;
            }
            if !E::LOOKS_AHEAD {
                next = self.0.next_at(until.0);
            }
        }
        Ok(())
    }

    /// Simulates the next instant at which something happens, of which [`next_at`](Events::next_at) has returned `next`.
    /// Returns what that returned last.
    #[inline(always)]
    fn advance_once(
        &mut self,
        mut next: Option<u64>,
        until: Cycle,
        notices: &mut Notices,
    ) -> Result<Option<u64>, NetworkFailure> {
        if let Some(change) = self.0.base().alive.next_at()
            && change < until.0
            && next.is_none_or(|next| change <= next)
        {
            self.change(change, notices);
            self.failure()?;
            // Sources may react at this instant.
            next = self.0.next_at(change + 1);
            if next != Some(change) {
                return Ok(next);
            }
        }
        let Some(at) = next.filter(|&at| at < until.0) else {
            let Base { hosts, now, .. } = self.0.base_mut();
            let given_up = hosts.gives_up_at().map(|at| at.max(*now));
            if let Some(at) = given_up.filter(|&at| next.is_none() && at < until.0)
                && !hosts.messages.is_idle()
                && hosts.abandon(notices)
            {
                *now = at;
                return Ok(next);
            }
            *now = until.0 - 1;
            return Ok(next);
        };
        self.0.base_mut().now = at;
        loop {
            self.0.step(notices);
            self.failure()?;
            // Events at the same time are one step.
            next = self.0.next_at(at + 1);
            if next != Some(at) {
                return Ok(next);
            }
        }
    }

    /// Links die and are repaired at time `at`, before all else at that time.
    #[cold]
    fn change(&mut self, at: u64, notices: &mut Notices) {
        let base = self.0.base_mut();
        base.now = at;
        self.0.settle();
        let base = self.0.base_mut();
        base.hosts.messages.recorder.mark(Cycle(at + 1));
        let [dying, repaired] = base.alive.advance();
        base.tables.renew(&base.wiring, &base.params, &base.alive);
        base.hosts.parts.clone_from(&base.alive.parts);
        base.hosts.changes += 1;
        self.0.renew();
        for &port in &dying {
            self.0.cut(port, notices);
        }
        let Base { wiring, hosts, .. } = self.0.base_mut();
        for port in dying.into_iter().filter(|&port| wiring.is_host(wiring.links[port].owner)) {
            hosts.lose_all(wiring.links[port].owner, at, notices);
        }
        for port in repaired {
            self.0.resume(port);
        }
        self.0.serve_hosts();
    }
}

impl<E: Events> Engine for Simulated<E> {
    type More = Origin;

    fn messages(&self) -> &Messages<Origin> {
        &self.0.base().hosts.messages
    }

    fn messages_mut(&mut self) -> &mut Messages<Origin> {
        &mut self.0.base_mut().hosts.messages
    }

    fn clock(&self) -> Cycle {
        Cycle(self.0.base().now + 1)
    }

    /// A tick is a picosecond, and figures count them from 0.
    fn instant(&self, clock: Cycle) -> Cycle {
        clock - 1
    }

    fn inject(&mut self, message: Message) -> Injected {
        let base = self.0.base_mut();
        let outcome = base.hosts.inject(message, base.now);
        self.0.serve_hosts();
        outcome
    }

    fn acknowledges(&self) -> bool {
        self.0.base().params.is_acked
    }

    fn step(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        let outcome = self.advance_to(until, notices);
        let base = self.0.base_mut();
        if base.params.is_acked {
            base.hosts.messages.tell_known(notices);
        }
        outcome
    }

    fn settle(&mut self) {
        self.0.settle();
    }

    fn count_crossings(&mut self) {
        self.0.count_crossings();
    }

    fn show(&self, into: &mut Occupancy) {
        let Base { wiring, hosts, .. } = self.0.base();
        wiring.show(|port| self.0.port(port).waiting as u32, &self.0.crossed(), into);
        into.waiting.extend((0..wiring.hosts as u32).map(|host| hosts.waiting(host)));
    }

    fn figures(&self) -> Vec<(&'static Measure, f64)> {
        let mut measures = self.details().measures(self.message_latency());
        let base = self.0.base();
        if !base.alive.is_always() {
            measures.push((&FRAMES_LOST, base.hosts.totals.lost_on_dead_links as f64));
        }
        if let Some(queues) = self.queue_figures() {
            let marked: u64 = queues.classes.iter().map(|of| of.marked).sum();
            measures.extend(OF_CLASSES.iter().zip([marked as f64, queues.pause_frames as f64]));
        }
        if base.params.transport.sprays() || base.params.switch.trim.is_some() {
            let Details { totals, ports, .. } = self.details();
            let trimmed: u64 = ports.iter().map(|port| port.trimmed).sum();
            let values = [trimmed, totals.negative_acknowledgements, totals.pulls, totals.requests];
            measures.extend(OF_SPRAY.iter().zip(values.map(|value| value as f64)));
        }
        measures
    }

    fn port_figures(&self) -> Vec<PortFigures> {
        match self.0.base().params.port_stats {
            PortStats::None => Vec::new(),
            PortStats::Figures | PortStats::Histogram => self.details().figures(),
        }
    }

    fn queue_figures(&self) -> Option<QueueFigures> {
        self.details().queues()
    }

    fn notes(&self) -> Vec<Phrase> {
        let base = self.0.base();
        let tied = (0..base.wiring.links.len()).map(|port| self.0.port(port).counts.tied).sum();
        let stuck = base.hosts.stuck.first().map(|first| {
            let (count, wiring) = (base.hosts.stuck.len(), &base.wiring);
            let place = match first.lost_at {
                NONE => "on a link that failed or damages frames".to_owned(),
                port => format!("at the full queue of {}", wiring.interface(port as usize)),
            };
            phrase![
                ["transport" => base.params.transport.name()],
                (
                    " has no time-out: {count} connections waited for ever for a frame that was lost, and are given up when \
                     nothing else moves; of the first one, from node {} to node {}, a frame was lost {place}",
                    first.source,
                    first.destination
                )
            ]
        });
        shares_by_port_number(&base.hosts.fates, tied).into_iter().chain(stuck).collect()
    }
}

impl<E: Events> Ethernet for Simulated<E> {
    fn details(&self) -> Details {
        let base = self.0.base();
        let totals = Totals { pauses: self.0.pauses(), ..base.hosts.totals() };
        let of_port = |(port, link): (usize, &Link)| {
            let (now, lengths) = (self.0.port(port), self.0.lengths(port));
            PortDetails {
                at: base.wiring.interface(port),
                to: base.wiring.interface(link.peer as usize),
                frames: now.counts.frames,
                busy: now.counts.busy,
                rate: link.rate,
                dropped: now.counts.dropped,
                trimmed: now.counts.trimmed,
                damaged: now.counts.damaged,
                longest: now.counts.longest,
                area: now.area,
                lengths: lengths.filter(|_| !base.wiring.is_host(link.owner)).map(|lengths| lengths.bins),
            }
        };
        let ports = base.wiring.links.iter().enumerate().map(of_port).collect();
        let by_class =
            base.params.is_managed().then(|| ByClass::new(&self.0.tally(), &base.params, &base.wiring, base.now));
        Details { elapsed: base.now, totals, ports, by_class }
    }

    fn message_latency(&self) -> &Distribution {
        &self.0.base().hosts.message_latency
    }

    fn copies_in_flight(&self) -> u64 {
        self.0.copies()
    }

    fn capture(&mut self, places: &[Place], observer: Box<dyn Capture>) {
        let base = self.0.base_mut();
        base.taps = Taps::new(&base.wiring, places, observer);
    }
}

//! The loop that couples a traffic source to a network.
//!
//! Decision: docs/decisions/0148-end-of-the-clock.md.

use std::sync::atomic::{AtomicBool, Ordering};

use trgen::{Cycle, Message, Next, Outbox, Reads, SourceError, TrGen, Wait};

use crate::network::{Injected, Network, NetworkFailure, Notices, STEPS};
use crate::repetition::{Repetition, Skipped};
use crate::run::Progress;
use crate::stats::{Arrival, Details, Keep};
use crate::watch::{Glimpse, Watch};
use crate::words::counted;

/// Why the loop returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reached {
    /// The clock has reached the target cycle.
    Target,
    /// The source is done and the network is empty: no further event is possible.
    End,
    /// The source has entered another phase ([`TrGen::phase`]); the messages of this cycle have not been injected yet.
    Phase,
    /// The user stopped the run.
    Interrupted,
}

/// Why a run cannot go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Failure {
    /// The network cannot go on.
    #[error(transparent)]
    Network(#[from] NetworkFailure),
    /// The network is empty and every task waits for a message.
    #[error("the traffic is in deadlock at cycle {at}: the network is empty and every task waits")]
    TrafficDeadlock {
        /// \[cycle\] Clock.
        at: Cycle,
        /// What each blocked task waits for.
        waits: Vec<Wait>,
    },
    /// Every task has ended, and some message or receive is unmatched: the recorded program cannot have ended so.
    #[error("{} no counterpart", unmatched_in_words(*count))]
    Unmatched {
        /// Messages that no task received, and receives without a message.
        count: u64,
        /// The first of them, one line each.
        shown: Vec<String>,
    },
    /// No further event is possible over an ideal network, and some tasks are not done.
    #[error("the trace deadlocks: nothing can happen any more, and not everything is done")]
    Stuck {
        /// What each blocked task waits for.
        waits: Vec<Wait>,
    },
    /// The clock has reached its [end](Network::last).
    #[error("the clock ends: simulated time exceeds {at} cycles, beyond which times cannot be computed")]
    ClockEnd {
        /// \[cycle\] The end of the clock.
        at: Cycle,
    },
    /// The source failed.
    #[error("the source of traffic failed: {0}")]
    Source(#[from] SourceError),
}

/// The beginning of a sentence about `count` unmatched messages and receives.
fn unmatched_in_words(count: u64) -> String {
    counted(count, "send or receive has", "sends or receives have")
}

/// An observer of the packets that arrive.
pub type PacketLog<'a> = &'a mut dyn FnMut(&[Arrival]);

/// A source coupled to a network.
pub struct Coupled<'a> {
    source: &'a mut dyn TrGen,
    network: &'a mut dyn Network,
    /// Messages that the source sends in this cycle.
    outbox: Outbox,
    /// What the network reports to the source.
    notices: Notices,
    /// The notices that the source or the record reads.
    reads: Reads,
    /// Messages that the network dropped at injection, and that the source does not know of yet.
    dropped: Vec<Message>,
    /// True once the user has stopped the run.
    stop: &'a AtomicBool,
    /// The observer of the run, if there is one.
    watch: Option<&'a mut dyn Watch>,
    /// The phase of the source when it was last called.
    phase: u64,
    /// True if the source has been called for the cycle at which the clock stands.
    generated: bool,
    /// What the record of the network keeps of messages and packets.
    keep: Keep,
    /// Gets the packets that arrive, if they are kept.
    log: Option<PacketLog<'a>>,
    /// Whether the interface of a node refuses messages until one of the node has been sent.
    refuses_until_sent: bool,
    /// Whether nodes can refuse messages in this network, if the source has nodes that do.
    refuses: Option<bool>,
    /// The search for repetition; `None` where everything is simulated.
    repetition: Option<Repetition>,
}

impl<'a> Coupled<'a> {
    /// Couples a source to a network. The run stops soon after `stop` becomes true.
    ///
    /// # Panics
    /// When the source addresses more nodes than the network has.
    pub fn new(source: &'a mut dyn TrGen, network: &'a mut dyn Network, stop: &'a AtomicBool) -> Self {
        assert!(source.nodes() <= network.nodes(), "the source addresses nodes that the network lacks");
        let outbox = Outbox::new(network.nodes());
        let phase = source.phase();
        let keep = network.recorder_mut().details().map_or(Keep::default(), Details::keep);
        let refuses_until_sent = network.refuses_until_sent();
        let refuses = source.refusable().map(|class| network.let_refuse(class));
        Self {
            reads: if keep.any() { Reads::ALL } else { source.reads() },
            source,
            network,
            outbox,
            notices: Notices::default(),
            dropped: Vec::new(),
            stop,
            watch: None,
            phase,
            generated: false,
            keep,
            log: None,
            refuses_until_sent,
            refuses,
            repetition: None,
        }
    }

    /// Skips periods in which the run repeats itself exactly, and lets the network [skip](Network::let_skip) what
    /// repeats itself within messages. Without `digest` the digest of the run does not cover them, and means nothing. A
    /// run that is observed or whose record keeps single nodes, flows, messages or packets is simulated in full. Whole
    /// rounds are skipped where the source works in [rounds](TrGen::round).
    #[must_use]
    pub fn skipping(mut self, digest: bool) -> Self {
        let is_observed = self.network.recorder_mut().is_observed();
        let is_full = self.keep.any() || self.log.is_some() || self.watch.is_some() || is_observed;
        if !is_full {
            self.network.let_skip(digest);
        }
        self.repetition = (!is_full && self.source.round().is_some()).then(|| Repetition::new(digest));
        self
    }

    /// What of the run was not simulated; `None` where everything is.
    #[must_use]
    pub fn skipped(&self) -> Option<Skipped> {
        self.repetition.as_ref().map(Repetition::skipped)
    }

    /// Passes every packet that arrives to `log`, in the order of arrival, source, destination and number. The record
    /// of the network must [keep](crate::stats::Recorder::keep) packets.
    #[must_use]
    pub fn logged(self, log: PacketLog<'a>) -> Self {
        Self { log: Some(log), ..self }
    }

    /// Attaches `watch` as the observer of the run, and enables the optional statistics from now on.
    #[must_use]
    pub fn watched(self, watch: &'a mut dyn Watch) -> Self {
        self.network.observe();
        Self { watch: Some(watch), ..self }
    }

    /// Notifies the observer. Returns the interval in \[cycles\] to the next notification; `None` without an observer.
    pub(crate) fn show(&mut self, progress: Progress) -> Option<u64> {
        let network = self.network.settled();
        let glimpse = Glimpse { progress, network, source: &*self.source };
        self.watch.as_mut().map(|watch| watch.look(glimpse).max(1))
    }

    /// Adds the notices of the last cycle to the record, and passes the packets that have arrived to their observer.
    #[cold]
    fn keep_notices(&mut self) {
        let recorder = self.network.recorder_mut();
        for delivery in &self.notices.delivered {
            recorder.delivered(delivery);
        }
        for message in &self.notices.dropped {
            recorder.lost(message);
        }
        if self.keep.packets {
            let arrivals = recorder.take_arrivals();
            if let Some(log) = self.log.as_mut().filter(|_| !arrivals.is_empty()) {
                log(&arrivals);
            }
        }
    }

    /// The network.
    pub fn network(&mut self) -> &mut dyn Network {
        self.network
    }

    /// \[nodes\] Nodes that never send.
    #[must_use]
    pub fn silent_nodes(&self) -> usize {
        self.source.silent_nodes()
    }

    /// \[phits\] Load that the source has not generated so far because nodes waited for the network
    /// ([`TrGen::held_back_phits`]).
    #[must_use]
    pub(crate) fn held_back_phits(&self) -> Option<f64> {
        self.source.held_back_phits(self.network.clock())
    }

    /// Advances the clock of an empty network to `until`, after the traffic has ended.
    ///
    /// # Errors
    /// Failure of the network, if it was not empty after all.
    pub fn pass(&mut self, until: Cycle) -> Result<(), Failure> {
        while self.network.clock() < until {
            self.network.advance(until, &mut self.notices)?;
        }
        Ok(())
    }

    /// Runs up to the beginning of cycle `until`, or to the end of the traffic.
    ///
    /// # Errors
    /// Failure of the network or of the source, or deadlock of the traffic.
    pub fn run(&mut self, until: Cycle) -> Result<Reached, Failure> {
        loop {
            if let Some(reached) = self.run_some(until)? {
                return Ok(reached);
            }
        }
    }

    /// As [`run`](Self::run), but returns `None` after a bounded amount of work: a number of calls of the network, of
    /// which each ends after a bounded number of steps. That number counts what happens, not cycles.
    pub(crate) fn run_some(&mut self, until: Cycle) -> Result<Option<Reached>, Failure> {
        let last = self.network.last();
        if self.refuses == Some(false) {
            let what = "nodes of this network take whatever arrives, and the source has nodes that refuse messages";
            return Err(SourceError::of_input(what).into());
        }
        for _ in 0..STEPS {
            let mut now = self.network.clock();
            if now >= until {
                return Ok(Some(Reached::Target));
            }
            if now >= last {
                return Err(Failure::ClockEnd { at: last });
            }
            if self.stop.load(Ordering::Relaxed) {
                return Ok(Some(Reached::Interrupted));
            }
            self.source.attend()?;
            if let Some(repetition) = &mut self.repetition
                && !self.generated
                && self.outbox.is_empty()
            {
                repetition.look(self.source, self.network, until, self.stop);
                now = self.network.clock();
                if now >= until {
                    return Ok(Some(Reached::Target));
                }
            }
            if !std::mem::take(&mut self.generated) {
                let idle = self.network.is_idle() && self.outbox.is_empty();
                let due = match self.source.next() {
                    Next::At(cycle) => cycle <= now,
                    Next::Waiting if idle => {
                        return Err(Failure::TrafficDeadlock { at: now, waits: self.source.waits() });
                    }
                    Next::Done if idle => return Ok(Some(Reached::End)),
                    Next::Waiting | Next::Done => false,
                };
                if due {
                    self.source.generate(now, &mut self.outbox)?;
                    let phase = self.source.phase();
                    if std::mem::replace(&mut self.phase, phase) != phase {
                        self.generated = true;
                        return Ok(Some(Reached::Phase));
                    }
                }
            }
            if self.keep.any() {
                let instant = self.network.instant(now);
                for message in self.outbox.fresh() {
                    self.network.recorder_mut().offered(instant, message);
                }
            }
            let network = &mut *self.network;
            let (source, dropped) = (&mut *self.source, &mut self.dropped);
            let is_held = !self.outbox.is_empty() && network.holds_back();
            let take = |message: Message| {
                if is_held && source.take_back(now, &message) {
                    network.withhold(&message);
                    return true;
                }
                match network.inject(message) {
                    Injected::Accepted => true,
                    Injected::Refused => false,
                    Injected::Dropped => {
                        dropped.push(message);
                        true
                    }
                }
            };
            match is_held || !self.refuses_until_sent {
                true => self.outbox.offer(take),
                false => self.outbox.offer_after_sent(take),
            }
            for message in self.dropped.drain(..) {
                if self.keep.any() {
                    self.network.recorder_mut().lost(&message);
                }
                self.source.sent(now, &message);
                self.source.dropped(now, &message);
            }

            // A source that has just ended is still active in this cycle, which its clock reading counts. In continuous
            // time that takes none.
            let is_continuous = self.network.instant(now) < now;
            let target = match self.source.next() {
                Next::At(cycle) => cycle.max(now.next()).min(until),
                Next::Done if is_continuous && self.network.is_idle() && self.outbox.is_empty() => now,
                Next::Waiting | Next::Done if self.network.is_idle() => now.next(),
                Next::Waiting | Next::Done => until,
            };
            let target = target.min(last);
            if self.refuses.is_some() {
                self.source.take_refusals(&mut |node, admits| self.network.admit(node, admits));
            }
            // A message that was refused is offered again when another one has been sent.
            self.notices.reads = Reads { sent: self.reads.sent || !self.outbox.is_empty(), ..self.reads };
            let advanced = self.network.advance(target, &mut self.notices);
            let acknowledges = self.network.acknowledges();
            let at = self.network.clock() - 1;
            if self.keep.any() {
                self.keep_notices();
            }
            for message in &self.notices.sent {
                self.outbox.sent(message.source);
                self.source.sent(at, message);
            }
            for delivery in &self.notices.delivered {
                self.source.delivered(at, delivery);
                if !acknowledges {
                    self.source.known(at, &delivery.message);
                }
            }
            for message in &self.notices.known {
                self.source.known(at, message);
            }
            for message in &self.notices.dropped {
                self.source.dropped(at, message);
            }
            advanced?;
            // It has made its steps. An empty network has no more to make.
            if self.notices.is_empty() && self.network.clock() < target && !self.network.is_idle() {
                break;
            }
        }
        Ok(None)
    }
}

//! Engines: networks in which one step follows another.
//!
//! An engine states how a message enters, what a step does, and what its state is. That every [`Engine`] is a
//! [`Network`] is stated once, here: when a run returns, the order of notices, what must be settled before it is read.

use trgen::phrase::Phrase;
use trgen::recurrence::State;
use trgen::{Cycle, Message, NodeId};

use crate::messages::Messages;
use crate::network::{
    Figures, Injected, Measure, Network, NetworkFailure, Notices, PortFigures, QueueFigures, RouterEvents, STEPS,
    Settled,
};
use crate::stats::Recorder;
use crate::view::{Occupancy, View};

/// A network that simulates step by step.
pub trait Engine: Send {
    /// What the engine keeps of each message under way, beside what every engine does.
    type More;

    /// The messages under way, and the record.
    fn messages(&self) -> &Messages<Self::More>;

    /// The messages under way, and the record. The state must be [settled](Self::settle).
    fn messages_mut(&mut self) -> &mut Messages<Self::More>;

    /// \[cycle\] As [`Network::clock`].
    fn clock(&self) -> Cycle;

    /// \[cycle\] As [`Network::last`].
    fn last(&self) -> Cycle {
        Cycle::LAST
    }

    /// As [`Network::instant`].
    fn instant(&self, clock: Cycle) -> Cycle {
        clock
    }

    /// As [`Network::inject`].
    fn inject(&mut self, message: Message) -> Injected;

    /// As [`Network::refuses_until_sent`].
    fn refuses_until_sent(&self) -> bool {
        false
    }

    /// As [`Network::holds_back`].
    fn holds_back(&mut self) -> bool {
        false
    }

    /// As [`Network::withhold`].
    fn withhold(&mut self, _message: &Message) {}

    /// As [`Network::let_refuse`].
    fn let_refuse(&mut self, _class: u8) -> bool {
        false
    }

    /// As [`Network::acknowledges`].
    fn acknowledges(&self) -> bool {
        false
    }

    /// As [`Network::admit`].
    fn admit(&mut self, _node: NodeId, _admits: bool) {}

    /// Simulates the next cycle in which something happens, to its end. If that is not before `until`, which is after
    /// the clock, the clock advances to `until`. Appends the events of the cycle to the empty `notices`, in any order.
    ///
    /// # Errors
    /// A state in which the network cannot go on.
    fn step(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure>;

    /// Completes deferred work of the last step. No notice depends on it.
    fn settle(&mut self) {}

    /// As [`Network::state`]. The state is [settled](Self::settle).
    fn write_state(&mut self, _into: &mut State) -> bool {
        false
    }

    /// As [`Network::pass_periods`]. The state is [settled](Self::settle).
    fn pass_periods(&mut self, _cycles: u64, _packets: &[u64]) {}

    /// As [`Network::let_skip`].
    fn let_skip(&mut self, _digest: bool) {}

    /// As [`Network::cycles_skipped`].
    fn cycles_skipped(&self) -> u64 {
        0
    }

    /// Begins to count the packets that cross each link.
    fn count_crossings(&mut self);

    /// As [`Network::count_events`].
    fn count_events(&mut self) {}

    /// As [`View::occupancy`].
    fn show(&self, into: &mut Occupancy);

    /// Begins the time that [figures](Self::figures) are of which are measured. The state is [settled](Self::settle).
    fn begin_figures(&mut self) {}

    /// As [`Figures::measures`].
    fn figures(&self) -> Vec<(&'static Measure, f64)> {
        Vec::new()
    }

    /// As [`Figures::ports`].
    fn port_figures(&self) -> Vec<PortFigures> {
        Vec::new()
    }

    /// As [`Figures::queues`].
    fn queue_figures(&self) -> Option<QueueFigures> {
        None
    }

    /// As [`Figures::events`].
    fn events(&self) -> Option<Vec<RouterEvents>> {
        None
    }

    /// As [`Figures::remarks`].
    fn notes(&self) -> Vec<Phrase> {
        Vec::new()
    }
}

impl<E: Engine> Network for E {
    fn nodes(&self) -> usize {
        self.messages().nodes()
    }

    fn clock(&self) -> Cycle {
        Engine::clock(self)
    }

    fn last(&self) -> Cycle {
        Engine::last(self)
    }

    fn instant(&self, clock: Cycle) -> Cycle {
        Engine::instant(self, clock)
    }

    fn acknowledges(&self) -> bool {
        Engine::acknowledges(self)
    }

    fn inject(&mut self, message: Message) -> Injected {
        Engine::inject(self, message)
    }

    fn refuses_until_sent(&self) -> bool {
        Engine::refuses_until_sent(self)
    }

    fn holds_back(&mut self) -> bool {
        Engine::holds_back(self)
    }

    fn withhold(&mut self, message: &Message) {
        Engine::withhold(self, message);
    }

    fn let_refuse(&mut self, class: u8) -> bool {
        Engine::let_refuse(self, class)
    }

    fn admit(&mut self, node: NodeId, admits: bool) {
        Engine::admit(self, node, admits);
    }

    fn advance(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        notices.clear();
        let mut result = Ok(());
        for _ in 0..STEPS {
            if Engine::clock(self) >= until || result.is_err() || !notices.is_empty() {
                break;
            }
            let was_idle = self.messages().is_idle();
            result = self.step(until, notices);
            // No notice tells that the last packets of a lost message have ended, for which the caller may be waiting.
            if !was_idle && self.messages().is_idle() {
                break;
            }
        }
        notices.sort();
        result
    }

    fn in_flight(&self) -> u64 {
        self.messages().in_flight()
    }

    fn is_idle(&self) -> bool {
        self.messages().is_idle()
    }

    fn begin_measuring(&mut self) {
        Network::recorder_mut(self).begin();
        self.begin_figures();
    }

    fn settled(&mut self) -> Settled<'_> {
        self.settle();
        Settled { recorder: &self.messages().recorder, view: Some(self), figures: Some(self) }
    }

    fn state(&mut self, into: &mut State) -> bool {
        self.settle();
        self.write_state(into)
    }

    fn pass_periods(&mut self, cycles: u64, packets: &[u64]) {
        self.settle();
        Engine::pass_periods(self, cycles, packets);
    }

    fn let_skip(&mut self, digest: bool) {
        Engine::let_skip(self, digest);
    }

    fn cycles_skipped(&self) -> u64 {
        Engine::cycles_skipped(self)
    }

    fn recorder_mut(&mut self) -> &mut Recorder {
        self.settle();
        &mut self.messages_mut().recorder
    }

    fn observe(&mut self) {
        Network::recorder_mut(self).observe();
        self.count_crossings();
    }

    fn count_events(&mut self) {
        self.settle();
        Engine::count_events(self);
    }
}

impl<E: Engine> View for E {
    fn occupancy(&self, into: &mut Occupancy) {
        self.show(into);
    }
}

impl<E: Engine> Figures for E {
    fn measures(&self) -> Vec<(&'static Measure, f64)> {
        self.figures()
    }

    fn ports(&self) -> Vec<PortFigures> {
        self.port_figures()
    }

    fn queues(&self) -> Option<QueueFigures> {
        self.queue_figures()
    }

    fn events(&self) -> Option<Vec<RouterEvents>> {
        Engine::events(self)
    }

    fn remarks(&self) -> Vec<Phrase> {
        self.notes()
    }
}

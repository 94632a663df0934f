//! Guests as a source of traffic: keeps their clocks and the network's in step.
//!
//! # How
//! Each guest has made a **promise**: the earliest time of anything that it will still inject. A cycle of the network is
//! simulated once every promise lies past it, so that all its injections are known. A guest whose promise holds the
//! network up is given its turn: what has arrived for it, and a GoAhead; then its turn is waited for.
//!
//! A GoAhead reaches no further than what is decided: an injection that is not known yet, at the earliest promise t or
//! later, changes nothing before t + H, where H is the interference horizon ([`Overheads::horizon`]). So in exact mode
//! a message is always handed over before the guest's clock reaches its arrival, and results do not depend on the step.
//! In quantised mode a grant is a step whatever the horizon; what arrives within it is handed over at its end, late.
//!
//! Everything is ordered by (time, source node, number of the message): the order in which guests connect, answer or are
//! scheduled cannot show.
//!
//! # How the model departs from reality, and who could notice
//! - The overheads of sending and receiving are constants; a real stack's depend on load and size.
//! - A guest's messages to itself are its own affair: they are refused.

mod hub;
mod inbox;
mod player;
mod report;
mod turn;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use trgen::{Activity, Cycle, Delivery, Message, Next, NodeId, Outbox, SourceError, TrGen};

use crate::clock::{Clock, FOREVER, Time};
use crate::endpoint::{Connection, Terms};
use crate::protocol::{Body, Code, Mode};

use hub::Hub;
use player::{Player, State};

pub use report::{GuestReport, LiveReport, Mark};

/// What lies between a guest and the network's interface of its node, and what is known of the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overheads {
    /// \[ps\] From a guest's injection to the network.
    pub send: Time,
    /// \[ps\] From the network's delivery to the guest.
    pub receive: Time,
    /// \[cycles\] That the network needs at least, from an injection to the end of the first cycle in which a delivery
    /// can be different for it: 1 for routers, the delay for a network of constant delay.
    pub response: u64,
}

impl Overheads {
    /// \[ps\] The interference horizon: an injection changes nothing that a guest sees earlier than this after it.
    #[must_use]
    pub fn horizon(&self, clock: Clock) -> Time {
        self.send.saturating_add(self.receive).saturating_add(clock.span(self.response.max(1)))
    }
}

/// What to do about a guest that is lost: it dies, stalls, or breaks the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LostGuest {
    /// End the run.
    Abort,
    /// Go on without it; messages to it travel and are not handed over.
    DropNode,
}

/// How to deal with guests.
#[derive(Clone, Debug)]
pub struct Rules {
    /// What guests have been told.
    pub terms: Terms,
    /// What lies between them and the network.
    pub overheads: Overheads,
    /// What to do about lost ones.
    pub lost: LostGuest,
    /// How long the network waits before it says for whom.
    pub warn: Duration,
    /// \[bytes\] Carried by messages on their way, of all guests.
    pub payload_limit: u64,
    /// Ends the run when it becomes true.
    pub stop: &'static AtomicBool,
}

/// Guests as a source of traffic.
pub struct Live {
    rules: Rules,
    players: Vec<Player>,
    hub: Hub,
    /// When `generate` is to be called.
    due: Next,
    tell: Box<dyn FnMut(String) + Send>,
    closed: bool,
}

impl Live {
    /// A source made of these guests; `tell` hears what people should know while it goes on.
    #[must_use]
    pub fn new(connections: Vec<Connection>, rules: Rules, tell: Box<dyn FnMut(String) + Send>) -> Self {
        let mut hub = Hub::new(rules.terms.nodes, rules.terms.clock, rules.overheads, rules.payload_limit);
        let players: Vec<Player> = connections.into_iter().map(Player::new).collect();
        for (index, player) in players.iter().enumerate() {
            hub.seat(index, &player.nodes, player.is_stepped());
        }
        let mut live = Self { rules, players, hub, due: Next::Done, tell, closed: false };
        live.plan();
        live
    }

    /// What has happened so far.
    #[must_use]
    pub fn report(&self) -> LiveReport {
        report::report(&self.players, &self.hub)
    }

    /// Ends the connections, and tells the guests why the run is over.
    pub fn close(&mut self, reason: &str) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        for player in &mut self.players {
            if player.is_playing() {
                player.refuse(Code::Run, reason);
            }
        }
    }

    /// When the next cycle is that some guest holds up, or in which something enters the network.
    fn plan(&mut self) {
        let clock = self.rules.terms.clock;
        let send = self.rules.overheads.send;
        let mut earliest = FOREVER;
        let mut playing = false;
        for (index, player) in self.players.iter().enumerate() {
            playing |= player.is_playing();
            earliest = earliest.min(player.promise(self.hub.first_notice(index)));
        }
        let entering = clock.cycle(earliest.saturating_add(send)).min(self.hub.first_entry());
        self.due = match entering {
            Cycle::NEVER if playing => Next::Waiting,
            Cycle::NEVER => Next::Done,
            cycle => Next::At(cycle),
        };
    }

    /// Lets guests play until none can inject into cycle `now` any more.
    fn settle(&mut self, now: Cycle) -> Result<(), SourceError> {
        let (clock, send) = (self.rules.terms.clock, self.rules.overheads.send);
        loop {
            let due: Vec<usize> = (0..self.players.len())
                .filter(|&index| {
                    let promise = self.players[index].promise(self.hub.first_notice(index));
                    promise != FOREVER && clock.cycle(promise.saturating_add(send)) <= now
                })
                .collect();
            if due.is_empty() {
                return Ok(());
            }
            for &index in &due {
                if let Err(loss) = self.grant(index, now) {
                    self.lose(index, &loss)?;
                }
            }
            for (position, &index) in due.iter().enumerate() {
                if matches!(self.players[index].state, State::Running { .. })
                    && let Err(loss) = self.await_turn(index, &due[position..])
                {
                    self.lose(index, &loss)?;
                }
            }
        }
    }

    /// A guest is lost.
    fn lose(&mut self, index: usize, loss: &turn::Loss) -> Result<(), SourceError> {
        let what = format!("{}: {}", self.players[index].who(), loss.what);
        let interrupted = self.rules.stop.load(Ordering::Relaxed);
        let text = if interrupted { "the run was interrupted" } else { &loss.what };
        self.players[index].refuse(loss.code, text);
        self.players[index].state = State::Lost { why: loss.what.clone() };
        self.hub.forget(index);
        if self.rules.lost == LostGuest::DropNode && !interrupted {
            (self.tell)(format!("lost {what}; the run goes on without it"));
            return Ok(());
        }
        self.close(&format!("the run has ended because of {what}"));
        Err(SourceError { what })
    }
}

impl TrGen for Live {
    fn nodes(&self) -> usize {
        self.rules.terms.nodes
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        let settled = self.settle(now);
        self.hub.enter(now, out);
        self.plan();
        settled
    }

    fn sent(&mut self, now: Cycle, message: &Message) {
        self.hub.sent(now, message);
        self.plan_for(message.source);
    }

    fn delivered(&mut self, _: Cycle, delivery: &Delivery) {
        self.hub.delivered(delivery);
        self.plan_for(delivery.message.destination);
    }

    fn next(&self) -> Next {
        self.due
    }

    fn silent_nodes(&self) -> usize {
        self.hub.empty_nodes()
    }

    fn waits(&self) -> Vec<String> {
        self.players.iter().filter(|player| player.is_playing()).map(Player::who).collect()
    }

    fn activity(&self) -> Activity {
        Activity::Guests(self.players.iter().map(Player::activity).collect())
    }
}

impl Live {
    /// A notice for the guest at `node` may make it due.
    fn plan_for(&mut self, node: NodeId) {
        let Some(index) = self.hub.guest_at(node) else { return };
        let promise = self.players[index].promise(self.hub.first_notice(index));
        if promise == FOREVER {
            return;
        }
        let cycle = self.rules.terms.clock.cycle(promise.saturating_add(self.rules.overheads.send));
        self.due = match self.due {
            Next::At(due) => Next::At(due.min(cycle)),
            Next::Waiting | Next::Done => Next::At(cycle),
        };
    }

    /// \[ps\] How far a grant in cycle `now` may reach.
    fn until(&self, index: usize, from: Time, now: Cycle) -> Time {
        let Rules { terms, overheads, .. } = &self.rules;
        let player = &self.players[index];
        let step = from.saturating_add(player.step);
        match (player.is_stepped(), terms.mode) {
            (false, _) => FOREVER,
            (true, Mode::Quantised) => step,
            (true, Mode::Exact) => {
                let known = terms.clock.end(now + (overheads.response.max(1) - 1)).saturating_add(overheads.receive);
                step.min(known)
            }
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.close("the run has ended");
    }
}

/// The farewell of an endpoint.
fn farewell(injects: u64, notices: u64) -> Body {
    Body::Bye { reason: String::new(), injects, notices }
}

//! Drives one instance over one toy network and records its behaviour.

use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::toy::{Notices, Toy, ToyNetwork};
use super::{End, Place, Run, Violation};
use crate::message::Message;
use crate::source::{Next, Outbox, Reads, TrGen};
use crate::units::{Cycle, NodeId};

/// When `generate` is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Drive {
    /// When `next` says, and not otherwise; idle time is skipped.
    AsAsked,
    /// In every cycle, without the notices that the source does not read.
    EveryCycle,
    /// In every cycle, twice.
    Twice,
}

impl Drive {
    /// The drive in words.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::AsAsked => "as `next` asks",
            Self::EveryCycle => "in every cycle, with the notices that it reads",
            Self::Twice => "twice in every cycle",
        }
    }
}

/// The messages generated, with their cycles, and the outcome.
#[derive(Debug)]
pub(super) struct Record {
    /// Messages in the order of generation, each with its cycle.
    pub(super) log: Vec<(Cycle, Message)>,
    /// Statistics of the run.
    pub(super) run: Run,
}

/// \[cycle\] How long a source that is done is still called, to check that it stays done.
const AFTERWARDS: u64 = 10;

/// Couples `source` to a `toy` network until the source is done and the network empty, or `horizon` has passed.
pub(super) fn drive(
    name: &str,
    source: Box<dyn TrGen>,
    toy: Toy,
    how: Drive,
    horizon: Cycle,
) -> Result<Record, Violation> {
    let nodes = source.nodes();
    let place = Place { name: name.to_owned(), network: toy.name, drive: how.text(), cycle: Cycle::FIRST };
    let mut watched = Watched {
        source,
        nodes,
        place,
        outbox: Outbox::new(nodes),
        queues: vec![VecDeque::new(); nodes],
        in_flight: BTreeSet::new(),
        senders: BTreeSet::new(),
        generated: None,
        done: false,
        log: Vec::new(),
    };
    let mut network = ToyNetwork::new(toy, nodes);
    let mut delivered = 0;
    let mut now = Cycle::FIRST;
    // Cycles since the source was done and the network empty.
    let mut cycles_done = 0;
    let mut answer = watched.next()?;
    let end = loop {
        if now > horizon {
            break End::Horizon;
        }
        watched.place.cycle = now;
        let asked = matches!(answer, Next::At(cycle) if cycle <= now);
        if asked || how != Drive::AsAsked {
            let fresh = watched.generate(now)?;
            if let (false, Some(&message)) = (asked, fresh.first()) {
                return Err(watched.unasked(answer, message));
            }
            if how == Drive::Twice
                && let Some(&message) = watched.generate(now)?.first()
            {
                return Err(Violation::Twice { at: watched.here(), message });
            }
        }
        watched.offer(now, &mut network)?;
        let Notices { sent, delivered: arrived } = network.simulate(now);
        delivered += arrived.len() as u64;
        let reads = if how == Drive::EveryCycle { watched.source.reads() } else { Reads::ALL };
        for message in sent.iter().filter(|_| reads.sent) {
            watched.source.sent(now, message);
        }
        for delivery in &arrived {
            watched.in_flight.remove(&key(&delivery.message));
            if reads.delivered {
                watched.source.delivered(now, delivery);
            }
        }
        answer = watched.next()?;

        let idle = watched.outbox.is_empty() && network.in_flight == 0;
        if idle && answer == Next::Waiting {
            return Err(Violation::Deadlock { waits: watched.source.waits(), at: watched.here() });
        }
        if idle && answer == Next::Done {
            // Keep calling for a while, to check that nothing follows.
            cycles_done += 1;
            if cycles_done > AFTERWARDS {
                break End::Done;
            }
        }
        now = match (how, answer) {
            // Refused messages are offered in every cycle.
            (Drive::AsAsked, _) if watched.outbox.is_empty() && cycles_done == 0 => {
                let asked = if let Next::At(cycle) = answer { cycle } else { Cycle::NEVER };
                network.next().map_or(asked, |event| asked.min(event)).max(now.next())
            }
            _ => now.next(),
        };
    };
    watched.check_silence()?;
    let run = Run { network: toy.name, messages: watched.log.len() as u64, delivered, end, last: watched.place.cycle };
    Ok(Record { log: watched.log, run })
}

/// The key by which messages in flight are distinguished: source and id.
fn key(message: &Message) -> (NodeId, u64) {
    (message.source, message.id)
}

/// A source under test and its history.
struct Watched {
    source: Box<dyn TrGen>,
    nodes: usize,
    /// Where the run is; its cycle advances.
    place: Place,
    /// Messages waiting for the network.
    outbox: Outbox,
    /// The messages waiting for the network, by source node, in the order of generation.
    queues: Vec<VecDeque<Message>>,
    /// Keys of the messages that are generated and not yet delivered.
    in_flight: BTreeSet<(NodeId, u64)>,
    /// Nodes that have sent a message.
    senders: BTreeSet<NodeId>,
    /// Last cycle for which `generate` was called.
    generated: Option<Cycle>,
    /// True if the last answer of `next` was `Done`.
    done: bool,
    /// Messages generated, with their cycles.
    log: Vec<(Cycle, Message)>,
}

impl Watched {
    /// The current place, for a violation.
    fn here(&self) -> Box<Place> {
        Box::new(self.place.clone())
    }

    /// Calls `generate` with an outbox of its own, to tell new messages from waiting ones.
    fn generate(&mut self, now: Cycle) -> Result<Vec<Message>, Violation> {
        self.generated = Some(now);
        let mut out = Outbox::new(self.nodes);
        let source = &mut self.source;
        // A source that has panicked is not used again.
        let outcome = catch_unwind(AssertUnwindSafe(|| source.generate(now, &mut out)));
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(Violation::Failed { at: self.here(), what: error.what }),
            Err(payload) => {
                let text = payload.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no text");
                return Err(Violation::Panicked { at: self.here(), nodes: self.nodes, text: text.to_owned() });
            }
        }
        let mut fresh = Vec::new();
        out.offer(|message| {
            fresh.push(message);
            true
        });
        for &message in &fresh {
            if self.done {
                return Err(Violation::NotDone { at: self.here(), found: format!("{message:?}") });
            }
            if !self.in_flight.insert(key(&message)) {
                return Err(Violation::Repeated { at: self.here(), message });
            }
            self.log.push((now, message));
            self.senders.insert(message.source);
            self.queues[message.source.index()].push_back(message);
            self.outbox.push_to_any(message);
        }
        Ok(fresh)
    }

    /// Calls `next` and checks the answer against the history.
    fn next(&mut self) -> Result<Next, Violation> {
        let found = self.source.nodes();
        if found != self.nodes {
            return Err(Violation::Nodes { at: self.here(), expected: self.nodes, found });
        }
        let answer = self.source.next();
        if self.done && answer != Next::Done {
            return Err(Violation::NotDone { at: self.here(), found: format!("`next` = {answer:?}") });
        }
        self.done = answer == Next::Done;
        match (answer, self.generated) {
            (Next::At(asked), Some(generated)) if asked <= generated => {
                Err(Violation::NextInPast { at: self.here(), generated, asked })
            }
            _ => Ok(answer),
        }
    }

    /// The violation of a source that generates `message` although `next` gave `answer`.
    fn unasked(&self, answer: Next, message: Message) -> Violation {
        let said = match answer {
            Next::At(cycle) => format!("cycle {cycle}"),
            Next::Waiting => "that it waits".to_owned(),
            Next::Done => "that it is done".to_owned(),
        };
        Violation::Unasked { at: self.here(), said, message }
    }

    /// Offers the waiting messages to the network and checks their order.
    fn offer(&mut self, now: Cycle, network: &mut ToyNetwork) -> Result<(), Violation> {
        let (queues, place) = (&mut self.queues, &self.place);
        let mut wrong = None;
        self.outbox.offer(|message| {
            let taken = network.offer(now, message);
            if taken {
                let expected = queues[message.source.index()].pop_front();
                if expected != Some(message) {
                    wrong.get_or_insert(Violation::OutOfOrder { at: Box::new(place.clone()), expected, message });
                }
            }
            taken
        });
        wrong.map_or(Ok(()), Err)
    }

    /// Checks that no more nodes sent than the number of silent nodes permits.
    fn check_silence(&self) -> Result<(), Violation> {
        let (nodes, silent, senders) = (self.nodes, self.source.silent_nodes(), self.senders.len());
        if silent + senders > nodes {
            return Err(Violation::SilentNodeSent { at: self.here(), nodes, silent, senders });
        }
        Ok(())
    }
}

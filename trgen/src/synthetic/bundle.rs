//! Several sources behind one; the id of a message encodes its source.

use crate::message::{Delivery, Message};
use crate::source::{Next, Outbox, Reads, SourceError, TrGen, Wait};
use crate::units::{Cycle, NodeId};

/// A source that can tell which nodes are silent.
pub(crate) trait Part: TrGen + std::fmt::Debug + Send {
    /// True if this node never sends.
    fn is_silent(&self, node: NodeId) -> bool;
}

/// Sources over the same nodes. A message with id i of part p of n has the id n i + p.
///
/// The methods are those of [`TrGen`]: a message goes to the part that generated it; `generate` and `next` are called
/// for one part, whose number is given.
#[derive(Debug)]
pub(super) struct Bundle {
    parts: Vec<Box<dyn Part>>,
    /// Messages that one part generates in one call.
    scratch: Outbox,
}

impl Bundle {
    /// Combines parts: at least one, all with the same number of nodes.
    pub(super) fn new(parts: Vec<Box<dyn Part>>) -> Self {
        let scratch = Outbox::new(parts[0].nodes());
        Self { parts, scratch }
    }

    pub(super) fn nodes(&self) -> usize {
        self.parts[0].nodes()
    }

    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    pub(super) fn generate(&mut self, part: usize, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        let count = self.parts.len() as u64;
        self.parts[part].generate(now, &mut self.scratch)?;
        self.scratch.offer(|message| {
            out.push_to_any(Message { id: message.id * count + part as u64, ..message });
            true
        });
        Ok(())
    }

    /// The notices that some part reads.
    pub(super) fn reads(&self) -> Reads {
        self.parts.iter().map(|part| part.reads()).fold(Reads { sent: false, delivered: false }, Reads::or)
    }

    /// The part that generated a message.
    pub(super) fn owner(&self, message: &Message) -> usize {
        (message.id % self.parts.len() as u64) as usize
    }

    /// A message with the id that it has within its part.
    fn with_own_id(&self, message: &Message) -> Message {
        Message { id: message.id / self.parts.len() as u64, ..*message }
    }

    pub(super) fn sent(&mut self, now: Cycle, message: &Message) {
        let (part, own) = (self.owner(message), self.with_own_id(message));
        self.parts[part].sent(now, &own);
    }

    pub(super) fn take_back(&mut self, now: Cycle, message: &Message) -> bool {
        let (part, own) = (self.owner(message), self.with_own_id(message));
        self.parts[part].take_back(now, &own)
    }

    pub(super) fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        let part = self.owner(&delivery.message);
        let own = Delivery { message: self.with_own_id(&delivery.message), ..*delivery };
        self.parts[part].delivered(now, &own);
    }

    pub(super) fn dropped(&mut self, now: Cycle, message: &Message) {
        let (part, own) = (self.owner(message), self.with_own_id(message));
        self.parts[part].dropped(now, &own);
    }

    pub(super) fn next(&self, part: usize) -> Next {
        self.parts[part].next()
    }

    pub(super) fn waits(&self) -> Vec<Wait> {
        self.parts.iter().flat_map(|part| part.waits()).collect()
    }

    pub(super) fn held_back_phits(&self, now: Cycle) -> Option<f64> {
        self.parts.iter().map(|part| part.held_back_phits(now)).sum()
    }

    pub(super) fn is_silent(&self, node: NodeId) -> bool {
        self.parts.iter().all(|part| part.is_silent(node))
    }

    pub(super) fn silent_nodes(&self) -> usize {
        (0..self.nodes()).filter(|&node| self.is_silent(NodeId::at(node))).count()
    }
}

/// Combines the answers of two sources: the earlier cycle; without a cycle, waiting if either waits.
pub(crate) fn earlier(a: Next, b: Next) -> Next {
    match (a, b) {
        (Next::At(a), Next::At(b)) => Next::At(a.min(b)),
        (Next::At(cycle), _) | (_, Next::At(cycle)) => Next::At(cycle),
        (Next::Waiting, _) | (_, Next::Waiting) => Next::Waiting,
        (Next::Done, Next::Done) => Next::Done,
    }
}

/// Sources that run at the same time.
#[derive(Debug)]
pub(super) struct Sum {
    parts: Bundle,
}

impl Sum {
    pub(super) fn new(parts: Vec<Box<dyn Part>>) -> Self {
        Self { parts: Bundle::new(parts) }
    }
}

impl Part for Sum {
    fn is_silent(&self, node: NodeId) -> bool {
        self.parts.is_silent(node)
    }
}

impl TrGen for Sum {
    fn nodes(&self) -> usize {
        self.parts.nodes()
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        (0..self.parts.len()).try_for_each(|part| self.parts.generate(part, now, out))
    }

    fn reads(&self) -> Reads {
        self.parts.reads()
    }

    fn sent(&mut self, now: Cycle, message: &Message) {
        self.parts.sent(now, message);
    }

    fn take_back(&mut self, now: Cycle, message: &Message) -> bool {
        self.parts.take_back(now, message)
    }

    fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        self.parts.delivered(now, delivery);
    }

    fn dropped(&mut self, now: Cycle, message: &Message) {
        self.parts.dropped(now, message);
    }

    fn next(&self) -> Next {
        (0..self.parts.len()).map(|part| self.parts.next(part)).fold(Next::Done, earlier)
    }

    fn silent_nodes(&self) -> usize {
        self.parts.silent_nodes()
    }

    fn held_back_phits(&self, now: Cycle) -> Option<f64> {
        self.parts.held_back_phits(now)
    }

    fn waits(&self) -> Vec<Wait> {
        self.parts.waits()
    }
}

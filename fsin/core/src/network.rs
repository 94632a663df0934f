//! The interface of every network model.

use std::fmt;

use trgen::phrase::Phrase;
use trgen::recurrence::State;
use trgen::{Cycle, Delivery, Message, NodeId, Reads};

use crate::capture::Interface;
use crate::stats::Recorder;
use crate::view::View;

/// Outcome of an offered message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Injected {
    /// The node's interface has accepted it. Notices report when it has been sent, and when it has arrived.
    Accepted,
    /// The node's interface is full: offer the message again after a message of this node has been sent.
    Refused,
    /// No route leads to the destination. The message counts as dropped, and no notice follows. Its source is told that
    /// the message is sent and lost.
    Dropped,
}

/// Events of the last cycle of [`Network::advance`], each list ordered by node and then by message.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Notices {
    /// Messages whose last packet has entered the source buffer.
    pub sent: Vec<Message>,
    /// Messages whose last phit has been ejected. Each of them is also in `sent`, of this cycle or an earlier one.
    pub delivered: Vec<Delivery>,
    /// Messages of which the network has lost a part for good. Each of them is also in `sent`, of this cycle or an
    /// earlier one.
    pub dropped: Vec<Message>,
    /// Messages that have arrived and of which their source knows it now, where it [learns](Network::acknowledges) of
    /// it later than they arrive.
    pub known: Vec<Message>,
    /// Which of these lists the caller reads. A network may leave the others empty.
    pub reads: Reads,
}

impl Notices {
    /// True if there is no event that a source must know.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.sent.is_empty() && self.delivered.is_empty() && self.dropped.is_empty() && self.known.is_empty()
    }

    /// Records that the last packet of a message has entered the source buffer, for those who read it.
    #[inline]
    pub fn add_sent(&mut self, message: &Message) {
        if self.reads.sent {
            self.sent.push(*message);
        }
    }

    /// Records that a message has arrived in full, for those who read it.
    #[inline]
    pub fn add_delivered(&mut self, message: &Message, offered: Cycle, delivered: Cycle) {
        if self.reads.delivered {
            self.delivered.push(Delivery { message: *message, offered, delivered });
        }
    }

    /// Sorts each list by node and then by message: the order in which every network gives them.
    #[inline]
    pub fn sort(&mut self) {
        sort_by_key(&mut self.sent, |message| (message.source, message.id));
        sort_by_key(&mut self.delivered, |Delivery { message, .. }| (message.destination, message.source, message.id));
        sort_by_key(&mut self.dropped, |message| (message.source, message.id));
        sort_by_key(&mut self.known, |message| (message.source, message.id));
    }

    /// Clears all lists.
    #[inline]
    pub fn clear(&mut self) {
        self.sent.clear();
        self.delivered.clear();
        self.dropped.clear();
        self.known.clear();
    }
}

/// Sorts a list of notices, which mostly is in order.
#[inline]
fn sort_by_key<T, K: Ord>(notices: &mut [T], key: impl Fn(&T) -> K) {
    if notices.len() > 1 && !notices.is_sorted_by_key(&key) {
        notices.sort_unstable_by_key(key);
    }
}

/// A figure that a model measures beside those of every model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measure {
    /// Name of the figure.
    pub name: &'static str,
    /// Unit of the figure; empty if it has none.
    pub unit: &'static str,
    /// Meaning of the figure, in one line.
    pub about: &'static str,
}

impl Measure {
    /// A figure with this name, unit and meaning.
    #[must_use]
    pub const fn new(name: &'static str, unit: &'static str, about: &'static str) -> Self {
        Self { name, unit, about }
    }
}

/// Figures of an output port, and of the link that leaves through it, since the start of the run.
#[derive(Clone, PartialEq, Debug)]
pub struct PortFigures {
    /// The port.
    pub at: Interface,
    /// The port at the other end of the link.
    pub to: Interface,
    /// \[packets\] Packets that have come through the link.
    pub packets: u64,
    /// \[packets\] Packets dropped because the queue was full.
    pub dropped: u64,
    /// \[packets\] Packets damaged by the link.
    pub damaged: u64,
    /// \[packets\] Mean length of the queue over time.
    pub queue_mean: f64,
    /// \[packets\] Greatest length of the queue.
    pub queue_max: u64,
    /// Share of the time in which the link was occupied.
    pub utilisation: f64,
    /// \[bits\] Bits carried by the link, headers included; `None` if they are not known.
    pub bits: Option<f64>,
    /// \[b/s\] Rate of the link; `None` where it is not known.
    pub rate: Option<f64>,
    /// Share of the time in which 0, 1, 2 to 3, 4 to 7, ... packets waited; `None` where that is not kept.
    pub queue_shares: Option<Vec<f64>>,
    /// By class, where ports have classes: those of which something happened here.
    pub classes: Vec<ClassFigures>,
}

/// Figures of a traffic class since the start of the run: at an output port, or in the whole network.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct ClassFigures {
    /// The class.
    pub class: u8,
    /// \[frames\] Frames that were marked.
    pub marked: u64,
    /// \[frames\] Frames that found no room.
    pub dropped: u64,
    /// \[frames\] Pause frames for the other end, to stop and to go on.
    pub pause_frames: u64,
    /// Number of times that a watchdog has dropped what waited.
    pub watchdogs: u64,
    /// \[ps\] Time for which the other end has paused the class; in the network, summed over ports.
    pub paused: u64,
    /// \[bytes\] Mean length of the queue over time; in the network, that of the switch port where it is largest.
    pub queue_mean: f64,
    /// \[bytes\] Greatest length of the queue.
    pub queue_max: u64,
    /// Packets that have arrived while measuring, in models that know their classes there.
    pub arrived: Option<ArrivedFigures>,
}

/// Packets of a class that have arrived at their destinations while measuring.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct ArrivedFigures {
    /// Number of packets.
    pub packets: u64,
    /// \[phits\] Their lengths, summed.
    pub phits: u64,
    /// \[cycles\] Mean latency, as of all packets; `None` without any.
    pub latency_mean: Option<f64>,
    /// \[links\] Mean length of their paths.
    pub hops_mean: Option<f64>,
}

impl ClassFigures {
    /// True if something happened.
    #[must_use]
    pub fn is_any(&self) -> bool {
        let Self { class: _, marked, dropped, pause_frames, watchdogs, paused, queue_mean: _, queue_max, arrived: _ } =
            *self;
        [marked, dropped, pause_frames, watchdogs, paused, queue_max].iter().any(|&count| count > 0)
    }
}

/// Figures of the buffer of a switch since the start of the run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BufferFigures {
    /// The switch.
    pub node: NodeId,
    /// \[bytes\] Mean over time of what it holds.
    pub mean: f64,
    /// \[bytes\] The most that it has held.
    pub max: u64,
}

/// Figures of a network whose ports have classes.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct QueueFigures {
    /// Each class of which something happened.
    pub classes: Vec<ClassFigures>,
    /// Each buffer that ports share.
    pub buffers: Vec<BufferFigures>,
    /// \[frames\] Pause frames of all classes, to stop and to go on.
    pub pause_frames: u64,
}

/// Device at the other end of a port of a router.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventEnd {
    /// Nothing: the border of a mesh.
    Nothing,
    /// Another router.
    Router,
    /// An end node.
    Endpoint,
}

/// A port of a router, and the link of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventPort {
    /// Number of the port at its router.
    pub port: u8,
    /// Device at the other end.
    pub end: EventEnd,
    /// \[cycles\] Delay of the link, 1 or more; of a port without a link, that of its neighbours.
    pub delay: u32,
}

/// The flits that have passed a router since counting began, or since measuring began if that was later. All flits of a
/// packet are counted when its head passes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RouterEvents {
    /// The router.
    pub node: NodeId,
    /// Its input ports.
    pub inputs: Vec<EventPort>,
    /// Its output ports.
    pub outputs: Vec<EventPort>,
    /// \[flits\] By input x outputs + output.
    pub traversals: Vec<u64>,
}

/// The state of a network between two cycles, of which the last one is complete.
#[derive(Clone, Copy)]
pub struct Settled<'a> {
    /// The record of all measurements.
    pub recorder: &'a Recorder,
    /// A view of the network's routers; `None` if it has none.
    pub view: Option<&'a dyn View>,
    /// What only this model measures; `None` if it has no such figures.
    pub figures: Option<&'a dyn Figures>,
}

impl<'a> Settled<'a> {
    /// The state of a network that keeps a record and nothing else.
    #[must_use]
    pub const fn new(recorder: &'a Recorder) -> Self {
        Self { recorder, view: None, figures: None }
    }
}

/// What only one model measures, since the start of the run.
pub trait Figures {
    /// Figures of the whole network: always the same ones in the same order.
    fn measures(&self) -> Vec<(&'static Measure, f64)> {
        Vec::new()
    }

    /// Figures of each output port, in the order of devices and their ports; empty where nothing is kept of them.
    fn ports(&self) -> Vec<PortFigures> {
        Vec::new()
    }

    /// Figures of traffic classes and of shared buffers; `None` where ports have no classes.
    fn queues(&self) -> Option<QueueFigures> {
        None
    }

    /// The flits through each router, if they are [counted](Network::count_events); `None` in models that do not.
    fn events(&self) -> Option<Vec<RouterEvents>> {
        None
    }

    /// Remarks of the model about this run for readers of the results, beside the warnings of every run.
    fn remarks(&self) -> Vec<Phrase> {
        Vec::new()
    }
}

/// \[cycles or events\] Number of steps after which [`Network::advance`] returns: cycles in which something moves
/// where a model simulates cycle by cycle, events where it simulates these.
pub const STEPS: u64 = 10_000;

/// A network model in simulated time.
///
/// The clock stands at the next cycle to be simulated. Messages are injected at the clock and take part from then on.
pub trait Network: Send {
    /// Number of end nodes.
    fn nodes(&self) -> usize;

    /// \[cycle\] The next cycle to be simulated; [`Cycle::FIRST`] at the start.
    fn clock(&self) -> Cycle;

    /// \[cycle\] The end of the clock, before which all times are exact. A run that reaches it fails.
    fn last(&self) -> Cycle {
        Cycle::LAST
    }

    /// The number by which figures name the instant at which the clock stands at the beginning of a cycle. A cycle of
    /// phits is named by its number: an event in it is that many cycles after one in the first, cycle 1. Where cycles
    /// are units of continuous time, from 1 on, the instant is named by the time since the start, which is one less.
    fn instant(&self, clock: Cycle) -> Cycle {
        clock
    }

    /// True if sources learn by acknowledgements that a message has arrived, and notices say when they do. Never
    /// changes.
    fn acknowledges(&self) -> bool {
        false
    }

    /// Offers a message to its source's interface, at the clock.
    fn inject(&mut self, message: Message) -> Injected;

    /// True if a [refused](Injected::Refused) message would always be refused again until a message of its node has
    /// been sent, so that it need not be offered before. False: it is offered in every cycle. Constant during a run.
    fn refuses_until_sent(&self) -> bool {
        false
    }

    /// True if congestion control keeps nodes from generating in the cycle at which the clock stands.
    fn holds_back(&mut self) -> bool {
        false
    }

    /// Records that congestion control kept this message from being sent: its source has taken it back. A model that
    /// never [holds back](Self::holds_back) is never called.
    fn withhold(&mut self, _message: &Message) {}

    /// Lets nodes refuse messages of a class from now on, as [`admit`](Self::admit) says. To be called while the
    /// network is empty. Returns false in a model whose nodes take whatever arrives.
    fn let_refuse(&mut self, _class: u8) -> bool {
        false
    }

    /// Lets a node take messages of the class that nodes [may refuse](Self::let_refuse), or refuse them, from the clock
    /// on. All nodes take them at first. What a node has begun to take, it takes to its end.
    fn admit(&mut self, _node: NodeId, _admits: bool) {}

    /// Simulates up to the beginning of cycle `until`, or to the end of the first cycle that has notices which are
    /// [read](Notices::reads), whichever comes first. An empty network skips to `until`. After about [`STEPS`] steps,
    /// cycles or events, returns at the end of any cycle, so that a run can be watched and stopped at a cost that does
    /// not depend on the length of a cycle.
    ///
    /// # Errors
    /// A state in which the network cannot go on: a deadlock, or packets that multiply without end.
    fn advance(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure>;

    /// \[packets\] Accepted packets that have been neither received nor dropped.
    fn in_flight(&self) -> u64;

    /// True if nothing that was offered can lead to a further notice: nothing is in flight, and no source waits for an
    /// acknowledgement.
    fn is_idle(&self) -> bool {
        self.in_flight() == 0
    }

    /// Begins the measured time: the record and the figures of single models that are of this time start anew.
    fn begin_measuring(&mut self) {
        self.recorder_mut().begin();
    }

    /// Completes deferred work of the last cycle of [`advance`](Self::advance), and gives the state after it. No notice
    /// depends on that work, so it can overlap with the generation of the next cycle's messages.
    fn settled(&mut self) -> Settled<'_>;

    /// Writes everything on which the future of the network depends, with every message under way, at the beginning of
    /// the cycle at which the clock stands. Returns false if that cannot be done, or if something since the last call
    /// depended on what the state does not have: a random draw. A network that is never compared returns false.
    fn state(&mut self, _into: &mut State) -> bool {
        false
    }

    /// Puts the network into the state that it had so many cycles later if the time between repeated itself, and each
    /// source had sent `packets` packets more in it. The [state](Self::state) is the same before and after. The record
    /// is the caller's.
    fn pass_periods(&mut self, _cycles: u64, _packets: &[u64]) {}

    /// Lets the network pass over cycles whose results follow from earlier ones, from now on; without `digest` the
    /// digest does not cover them. Every figure is that of a run in which all cycles are simulated. Single packets are
    /// not reported, so that the record must not keep any.
    fn let_skip(&mut self, _digest: bool) {}

    /// \[cycles\] Cycles that were [passed over](Self::let_skip) so far.
    fn cycles_skipped(&self) -> u64 {
        0
    }

    /// The record of all measurements, to open and close windows. Settles the network.
    fn recorder_mut(&mut self) -> &mut Recorder;

    /// Enables the link statistics of the view, which are off by default because they cost a little. No result depends
    /// on them.
    fn observe(&mut self) {
        self.recorder_mut().observe();
    }

    /// Begins to count the flits from each input to each output of each router, which a model without such routers
    /// ignores. Nothing is counted unless it is called; no result depends on it.
    fn count_events(&mut self) {}
}

/// A queue of a router, as users know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Channel {
    /// The transit queue of packets that arrived in this direction.
    Transit {
        /// The node at whose input the queue is.
        node: NodeId,
        /// Dimension that the packets travelled in.
        dimension: usize,
        /// True if they travelled in + direction.
        positive: bool,
        /// Virtual channel.
        vc: usize,
    },
    /// The transit queue of a port, in a network of switches.
    Switch {
        /// The node at whose input the queue is.
        node: NodeId,
        /// The port.
        port: usize,
        /// Virtual channel.
        vc: usize,
    },
    /// The queue of a traffic class at a port, in a network whose ports can be paused class by class.
    Class {
        /// The node at whose output the queue is.
        node: NodeId,
        /// The port.
        port: usize,
        /// The class.
        class: u8,
    },
    /// An injection queue.
    Injection {
        /// The node of the queue.
        node: NodeId,
        /// Number of the queue at the node.
        injector: usize,
    },
}

impl Channel {
    /// The node of the queue.
    #[must_use]
    pub const fn node(&self) -> NodeId {
        match *self {
            Self::Transit { node, .. }
            | Self::Switch { node, .. }
            | Self::Class { node, .. }
            | Self::Injection { node, .. } => node,
        }
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Transit { node, dimension, positive, vc } => {
                let axis = match dimension {
                    0..3 => ["X", "Y", "Z"][dimension].to_owned(),
                    _ => format!("dimension {dimension} "),
                };
                write!(f, "node {node} {axis}{} vc {vc}", if positive { '+' } else { '-' })
            }
            Self::Switch { node, port, vc } => write!(f, "node {node} port {port} vc {vc}"),
            Self::Class { node, port, class } => write!(f, "node {node} port {port} class {class}"),
            Self::Injection { node, injector } => write!(f, "node {node} injector {injector}"),
        }
    }
}

/// Why a network cannot go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NetworkFailure {
    /// No packet will ever move again.
    #[error(transparent)]
    Deadlock(#[from] Deadlock),
    /// Packets circulate without end.
    #[error(transparent)]
    Storm(#[from] Storm),
    /// Packets are lost and sent again without end.
    #[error(transparent)]
    Livelock(#[from] Livelock),
}

/// A network in which copies of flooded packets circulate for ever.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "packets circulate without end: by cycle {at} a packet of node {source_node} has been forwarded {forwarded} times"
)]
pub struct Storm {
    /// \[cycle\] Cycle in which the storm was noticed.
    pub at: Cycle,
    /// Sender of the packet with most copies.
    pub source_node: NodeId,
    /// Number of times that switches have forwarded that packet.
    pub forwarded: u64,
    /// A cycle of channels through which the packet goes; empty if none was found.
    pub cycle: Vec<Channel>,
}

/// A network in which every packet is dropped and sent again, for ever: senders that agree to the last bit of time meet
/// the same full queues again and again.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "packets are dropped and sent again without end: by cycle {at} queues have dropped {dropped} packets, and none has \
     reached its destination between"
)]
pub struct Livelock {
    /// \[cycle\] Cycle in which the livelock was noticed.
    pub at: Cycle,
    /// \[packets\] Packets dropped by full queues since a packet last reached its destination.
    pub dropped: u64,
}

/// A network in which packets are in flight and none will ever move again.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the network is in deadlock: {in_flight} packets undelivered, no phit has moved since cycle {since}{}",
    refusals(.refusing.len())
)]
pub struct Deadlock {
    /// \[cycle\] The last cycle in which a phit moved.
    pub since: Cycle,
    /// \[packets\] Packets that have been generated and not delivered, in the network and in their sources.
    pub in_flight: u64,
    /// A cyclic wait: the head of each channel waits for room in the next one, and the last for the first. Empty if
    /// none was found. A channel whose head a node [refuses](Network::admit) waits for the channel into which that node
    /// sends.
    pub cycle: Vec<Channel>,
    /// Nodes that refuse a packet which has come to them; empty where nodes take whatever arrives.
    pub refusing: Vec<NodeId>,
}

impl Deadlock {
    /// A line for each node that refuses a packet.
    pub fn refusals(&self) -> impl Iterator<Item = String> {
        self.refusing.iter().map(|node| format!("node {node} takes no request before it has sent a reply"))
    }
}

/// The end of a sentence about `count` nodes that refuse packets.
fn refusals(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "; 1 node refuses requests until it has sent replies".to_owned(),
        _ => format!("; {count} nodes refuse requests until they have sent replies"),
    }
}

//! A battery of checks of the [`TrGen`] contract, for any traffic source.
//!
//! The tests of an implementation of [`TrGen`] call [`check`], which couples fresh instances of it to three toy
//! networks in four ways each and compares their behaviour. It checks:
//!
//! - **determinism**: two fresh instances generate the same messages in the same cycles;
//! - **[`next`](TrGen::next) is never late**: calling [`generate`](TrGen::generate) in every cycle yields no message
//!   earlier than `next` announced, and calling it twice or early changes nothing;
//! - **[`reads`](TrGen::reads) is true**: leaving out the other notices changes nothing;
//! - **`next` is never in the past**: it names no cycle for which `generate` has been called;
//! - **conservation**: no message is generated twice (no two in flight share source and id), and every message handed
//!   to the network enters it exactly once and in order, however many earlier offers were refused;
//! - **addresses**: every source and destination is a node, and they differ unless the source says that they may
//!   ([`Outbox::push_to_any`](crate::Outbox::push_to_any)); silent nodes are silent;
//! - **termination**: [`Next::Done`](crate::Next::Done) is final;
//! - **no deadlock**: a source that waits while the network is empty is reported, with [`TrGen::waits`].
//!
//! # How the toys depart from networks, and who could notice
//! Messages do not delay each other beyond their own node's interface, and all have the same latency; a source whose
//! behaviour depends on the order of deliveries from different nodes is tested for one order only.

mod drive;
mod toy;

use crate::message::Message;
use crate::source::{TrGen, Wait};
use crate::units::Cycle;

use drive::{Drive, drive};
use toy::Toy;

/// One run of a source over one toy network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// Name of the toy network.
    pub network: &'static str,
    /// Messages generated.
    pub messages: u64,
    /// Messages delivered.
    pub delivered: u64,
    /// How it ended.
    pub end: End,
    /// \[cycle\] The last cycle in which any method was called.
    pub last: Cycle,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The source was done and the network empty.
    Done,
    /// The horizon was reached before the source was done.
    Horizon,
}

/// Statistics of a source that keeps to the contract.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// One run per toy network, with `generate` called exactly when [`TrGen::next`] says.
    pub runs: Vec<Run>,
}

/// The situation in which a source broke the contract.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The name given to [`check`].
    pub name: String,
    /// Name of the toy network.
    pub network: &'static str,
    /// How the source was driven.
    pub drive: &'static str,
    /// The cycle of the violation.
    pub cycle: Cycle,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, network, drive, cycle } = self;
        write!(f, "{name} over `{network}`, driven {drive}, cycle {cycle}")
    }
}

/// The first message in which two runs differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Position of the message among all messages generated.
    pub index: usize,
    /// The message of the instance driven by `next`, and its cycle.
    pub expected: Option<(Cycle, Message)>,
    /// The message of the other instance, and its cycle.
    pub found: Option<(Cycle, Message)>,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { index, expected, found } = self;
        let text = |side: &Option<(Cycle, Message)>| {
            side.map_or_else(|| "nothing".to_owned(), |(cycle, message)| format!("{message:?} in cycle {cycle}"))
        };
        let (expected, found) = (text(expected), text(found));
        write!(f, "expected what a fresh instance driven as `next` asks generates; message {index} was ")?;
        write!(f, "{expected} there and is {found} here")
    }
}

/// How a source broke the contract.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Violation {
    /// Two instances, or one instance driven in two ways, generated different messages.
    #[error("{at}: {difference} ({what})")]
    Differs {
        /// Situation of the violation.
        at: Box<Place>,
        /// "determinism", or how the second instance was driven.
        what: &'static str,
        /// The first difference.
        difference: Box<Difference>,
    },
    /// `generate` yielded a message in a cycle earlier than `next` had announced.
    #[error("{at}: expected nothing before `next` asks, which said {said}; got {message:?}")]
    Unasked {
        /// Situation of the violation.
        at: Box<Place>,
        /// The previous answer of `next`.
        said: String,
        /// The message generated.
        message: Message,
    },
    /// A second call of `generate` for the same cycle yielded a message.
    #[error("{at}: expected nothing from a second call of `generate` for the same cycle; got {message:?}")]
    Twice {
        /// Situation of the violation.
        at: Box<Place>,
        /// The message generated.
        message: Message,
    },
    /// `next` names a cycle for which `generate` has already been called.
    #[error("{at}: expected `next` to ask for a later cycle than {generated}, which it has had; it asks for {asked}")]
    NextInPast {
        /// Situation of the violation.
        at: Box<Place>,
        /// The last cycle for which `generate` was called.
        generated: Cycle,
        /// The cycle that `next` names.
        asked: Cycle,
    },
    /// Two messages in flight share source and id.
    #[error(
        "{at}: expected every message once; {message:?} was generated while one of that source and id is in flight"
    )]
    Repeated {
        /// Situation of the violation.
        at: Box<Place>,
        /// The later of the two messages.
        message: Message,
    },
    /// The source panicked; the outbox panics when the address of a message is not a node.
    #[error("{at}: expected messages from one node to another of {nodes} nodes, and no panic; got `{text}`")]
    Panicked {
        /// Situation of the violation.
        at: Box<Place>,
        /// Number of nodes.
        nodes: usize,
        /// The text of the panic.
        text: String,
    },
    /// More nodes sent than may, given the number of silent nodes.
    #[error("{at}: expected {silent} of {nodes} nodes to be silent, but {senders} sent")]
    SilentNodeSent {
        /// Situation of the violation.
        at: Box<Place>,
        /// Number of nodes.
        nodes: usize,
        /// Number of silent nodes that the source reports.
        silent: usize,
        /// Number of nodes that sent.
        senders: usize,
    },
    /// [`Next::Done`](crate::Next::Done) was not the last answer.
    #[error("{at}: expected nothing after `Done`; got {found}")]
    NotDone {
        /// Situation of the violation.
        at: Box<Place>,
        /// The later answer or message.
        found: String,
    },
    /// The source waits for a delivery, but no message is in flight.
    #[error("{at}: expected the source to go on; it waits, and the network is empty ({})", waits.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Deadlock {
        /// Situation of the violation.
        at: Box<Place>,
        /// The waits that the source reports.
        waits: Vec<Wait>,
    },
    /// The messages of one node did not enter the network exactly once and in the order of generation.
    #[error(
        "{at}: expected the messages of a node to enter the network in order; {message:?} entered instead of {expected:?}"
    )]
    OutOfOrder {
        /// Situation of the violation.
        at: Box<Place>,
        /// The message that should have entered.
        expected: Option<Message>,
        /// The message that entered.
        message: Message,
    },
    /// `generate` failed.
    #[error("{at}: expected no failure; got `{what}`")]
    Failed {
        /// Situation of the violation.
        at: Box<Place>,
        /// The text of the error.
        what: String,
    },
    /// The number of nodes changed.
    #[error("{at}: expected {expected} nodes as before, got {found}")]
    Nodes {
        /// Situation of the violation.
        at: Box<Place>,
        /// Number of nodes at first.
        expected: usize,
        /// Number of nodes later.
        found: usize,
    },
}

/// Drives fresh instances from `make` over every toy network up to cycle `horizon` and makes all checks that the
/// [module](self) lists. `name` appears in the text of a violation.
///
/// Twelve instances are made and each is driven for up to `horizon` cycles. Some are called in every cycle, so a
/// horizon of 10^4 to 10^5 suits most tests.
///
/// # Errors
/// The first violation found.
pub fn check(name: &str, make: &mut dyn FnMut() -> Box<dyn TrGen>, horizon: Cycle) -> Result<Report, Violation> {
    let mut runs = Vec::new();
    for toy in Toy::ALL {
        let reference = drive(name, make(), toy, Drive::AsAsked, horizon)?;
        for (how, what) in [
            (Drive::AsAsked, "determinism"),
            (Drive::EveryCycle, "`generate` called in every cycle, and unread notices left out"),
            (Drive::Twice, "`generate` called twice in every cycle"),
        ] {
            let other = drive(name, make(), toy, how, horizon)?;
            let (expected, found) = (&reference.log, &other.log);
            let index = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
            let (expected, found) = (expected.get(index).copied(), found.get(index).copied());
            if expected != found {
                let cycle = found.or(expected).map_or(horizon, |(cycle, _)| cycle);
                let at = Box::new(Place { name: name.to_owned(), network: toy.name, drive: how.text(), cycle });
                let difference = Box::new(Difference { index, expected, found });
                return Err(Violation::Differs { at, what, difference });
            }
        }
        runs.push(reference.run);
    }
    Ok(Report { runs })
}

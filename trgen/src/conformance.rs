//! What every source of traffic must keep to, as a battery of checks.
//!
//! The tests of an implementation of [`TrGen`] call [`check`], which couples fresh instances of it to three toy networks
//! in four ways each and compares what they do. It holds:
//!
//! - **determinism**: two fresh instances generate the same messages in the same cycles;
//! - **[`next`](TrGen::next) is never late**: calling [`generate`](TrGen::generate) in every cycle brings no message
//!   that was not asked for, and calling it twice or early changes nothing;
//! - **`next` is never in the past**: it names no cycle for which `generate` has been called;
//! - **conservation**: no message is generated twice (no two in flight share source and id), and what is handed to the
//!   network arrives there once, in order, whatever it refused before;
//! - **addresses**: every source and destination is a node, and they differ; silent nodes are silent;
//! - **termination**: after [`Next::Done`](crate::Next::Done) there is nothing but `Done`;
//! - **no deadlock**: a source that waits while the network is empty is reported, with [`TrGen::waits`].
//!
//! # How the toys depart from networks, and who could notice
//! Messages do not hinder each other beyond their own node's interface, and all take equally long; a source whose answer
//! depends on the order of deliveries from different nodes is tested for one order only.

mod drive;
mod toy;

use crate::message::Message;
use crate::source::{TrGen, Wait};
use crate::units::Cycle;

use drive::{Drive, drive};
use toy::Toy;

/// What a source did over one toy network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// Which network.
    pub network: &'static str,
    /// Messages generated.
    pub messages: u64,
    /// Messages delivered.
    pub delivered: u64,
    /// How it ended.
    pub end: End,
    /// \[cycle\] The last cycle in which anything was called.
    pub last: Cycle,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The source was done and the network empty.
    Done,
    /// At the horizon, while the source had more to say.
    Horizon,
}

/// What a source that keeps to the contract did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// One run per toy network, driven as [`TrGen::next`] asks.
    pub runs: Vec<Run>,
}

/// Where and how a source was driven when it broke the contract.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The name given to [`check`].
    pub name: String,
    /// Which toy network.
    pub network: &'static str,
    /// How it was driven.
    pub drive: &'static str,
    /// In which cycle.
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
    /// Its position among all messages.
    pub index: usize,
    /// What the instance that was driven as asked generated, and when.
    pub expected: Option<(Cycle, Message)>,
    /// What this one did.
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
    /// Two instances, or the same one driven in two ways, did not generate the same.
    #[error("{at}: {difference} ({what})")]
    Differs {
        /// Where.
        at: Box<Place>,
        /// Determinism, or what the other drive did beside.
        what: &'static str,
        /// What differs first.
        difference: Box<Difference>,
    },
    /// `generate` brought a message in a cycle that `next` had not asked for.
    #[error("{at}: expected nothing before `next` asks, which said {said}; got {message:?}")]
    Unasked {
        /// Where.
        at: Box<Place>,
        /// What `next` had said.
        said: String,
        /// What was generated.
        message: Message,
    },
    /// A second call of `generate` for the same cycle brought a message.
    #[error("{at}: expected nothing from a second call of `generate` for the same cycle; got {message:?}")]
    Twice {
        /// Where.
        at: Box<Place>,
        /// What was generated.
        message: Message,
    },
    /// `next` asks for a cycle for which `generate` has been called.
    #[error("{at}: expected `next` to ask for a later cycle than {generated}, which it has had; it asks for {asked}")]
    NextInPast {
        /// Where.
        at: Box<Place>,
        /// The last cycle for which `generate` was called.
        generated: Cycle,
        /// What `next` asks for.
        asked: Cycle,
    },
    /// Two messages in flight share source and id.
    #[error(
        "{at}: expected every message once; {message:?} was generated while one of that source and id is in flight"
    )]
    Repeated {
        /// Where.
        at: Box<Place>,
        /// The later one.
        message: Message,
    },
    /// The source panicked, as the outbox does when a message's address is not one.
    #[error("{at}: expected messages from one node to another of {nodes} nodes, and no panic; got `{text}`")]
    Panicked {
        /// Where.
        at: Box<Place>,
        /// Number of nodes.
        nodes: usize,
        /// What it said.
        text: String,
    },
    /// More nodes sent than are not silent.
    #[error("{at}: expected {silent} of {nodes} nodes to be silent, but {senders} sent")]
    SilentNodeSent {
        /// Where.
        at: Box<Place>,
        /// Number of nodes.
        nodes: usize,
        /// What the source says.
        silent: usize,
        /// Nodes that sent.
        senders: usize,
    },
    /// After [`Next::Done`](crate::Next::Done) came something else.
    #[error("{at}: expected nothing after `Done`; got {found}")]
    NotDone {
        /// Where.
        at: Box<Place>,
        /// What came.
        found: String,
    },
    /// The source waits for a delivery, and nothing is on its way.
    #[error("{at}: expected the source to go on; it waits, and the network is empty ({})", waits.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Deadlock {
        /// Where.
        at: Box<Place>,
        /// What the source says of it.
        waits: Vec<Wait>,
    },
    /// Messages of one node did not enter the network in the order in which they were generated, each once.
    #[error(
        "{at}: expected the messages of a node to enter the network in order; {message:?} entered instead of {expected:?}"
    )]
    OutOfOrder {
        /// Where.
        at: Box<Place>,
        /// What should have entered.
        expected: Option<Message>,
        /// What did.
        message: Message,
    },
    /// `generate` failed.
    #[error("{at}: expected no failure; got `{what}`")]
    Failed {
        /// Where.
        at: Box<Place>,
        /// What the source said.
        what: String,
    },
    /// The number of nodes changed.
    #[error("{at}: expected {expected} nodes as before, got {found}")]
    Nodes {
        /// Where.
        at: Box<Place>,
        /// At first.
        expected: usize,
        /// Later.
        found: usize,
    },
}

/// Drives fresh instances from `make` over every toy network up to cycle `horizon` and checks all that the
/// [module](self) lists. `name` appears in the violation's text.
///
/// Twelve instances are made and each driven for up to `horizon` cycles; some are called in every cycle, so that a
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
            (Drive::EveryCycle, "`generate` called in every cycle"),
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

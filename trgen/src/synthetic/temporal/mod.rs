//! Temporal processes: when a node generates a message.
//!
//! Most are a [`Process`]: each node draws the cycle of its next message independently of the others. Three are not,
//! since they depend on receptions or on the placement of tasks: [`Temporal`] tells them apart.
//!
//! # Throttled nodes
//! A node whose message the network does not accept generates nothing meanwhile. Every process then goes on from the
//! cycle in which the node became free, as if the blocked time had not existed; missed messages are not made up for.

mod bernoulli;
mod burst;
mod coupled;
mod markov;
mod renewal;

use std::fmt::Debug;

use crate::catalog::{Component, ErrorKind, SpecError, Table};
use crate::phrase;
use crate::rng::Stream;
use crate::synthetic::expr::{self, Call, Expr};
use crate::synthetic::{Group, Spec};
use crate::units::{Cycle, NodeId};

/// Draws when a node generates its next message. All state is per node.
pub trait Process: Debug + Send {
    /// The cycle of the next message of `node`, later than `from`; [`Cycle::NEVER`] if there is none.
    ///
    /// `from` is the cycle in which the node became free: 0 at the start of a run, then that of its last message
    /// (open-loop sources) or that in which its last message had been sent (throttled ones). `rng` is the node's stream
    /// of temporal draws.
    fn next(&mut self, node: NodeId, from: Cycle, rng: &mut Stream) -> Cycle;
}

/// Meaning of a temporal expression.
#[derive(Debug)]
pub enum Temporal {
    /// Each node generates independently.
    Process(Box<dyn Process>),
    /// Every node sends the same number of messages at full speed, and again when all have been received.
    Shot {
        /// Messages per node and shot, 1 or more.
        messages: u64,
        /// The most requests of a node that are on their way; `None` without a bound.
        outstanding: Option<u64>,
        /// Size law of replies; `None` without replies.
        reply: Option<Expr>,
        /// The requests that are writes; `None` if all are alike.
        writes: Option<Writes>,
    },
    /// A process, and messages caused by receptions.
    Reactive {
        /// Generates the messages that no reception causes.
        process: Box<dyn Process>,
        /// Messages caused by receptions.
        reaction: Reaction,
    },
    /// Events in which several nodes send to one, or one to several.
    Group {
        /// Which of them.
        group: Group,
        /// Number of messages of an event, 1 or more.
        members: usize,
        /// \[events/cycle\] Of the whole network.
        rate: f64,
    },
    /// Requests, and replies to them.
    Reply {
        /// Size law of replies; `None` if it is that of requests.
        size: Option<Expr>,
        /// Process of requests; `None` for Bernoulli trials.
        process: Option<Expr>,
        /// \[cycles\] From the arrival of a request to its reply, 1 or more.
        service: u64,
        /// \[replies\] Number to send from which on a node refuses requests, and where it stands in the text; `None` if
        /// nodes never refuse.
        room: Option<(u64, usize)>,
        /// The requests that are writes; `None` if all are alike.
        writes: Option<Writes>,
    },
    /// Bernoulli traffic of the nodes without a task, beside a trace or kernel.
    Background {
        /// The process.
        process: Box<dyn Process>,
    },
}

/// Requests that write.
#[derive(Clone, Debug)]
pub struct Writes {
    /// Share of the requests, 0 to 1.
    pub fraction: f64,
    /// Size law of these requests; `None` if it is that of replies to the others.
    pub size: Option<Expr>,
    /// Size law of the replies to them; `None` if it is that of the other requests.
    pub reply: Option<Expr>,
}

/// The effect of a reception.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reaction {
    /// Probability that a reception causes messages.
    pub probability: f64,
    /// \[messages\] Least number caused in that case.
    pub min: u32,
    /// \[messages\] Largest number; all from least to largest are equally likely.
    pub max: u32,
}

impl Reaction {
    /// \[messages\] Mean number caused by a reception.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.probability * (f64::from(self.min) + f64::from(self.max)) / 2.0
    }
}

/// The context in which a process is built.
#[derive(Clone, Copy, Debug)]
pub struct ProcessContext {
    /// Number of nodes.
    pub nodes: usize,
    /// \[phit/node/cycle\] Load of a node that is not silent.
    pub load: f64,
    /// \[phit/cycle\] Load 1 in the unit in which a process states a load of its own.
    pub capacity: f64,
    /// \[phit\] Mean size of a message.
    pub mean_phits: f64,
    /// Run seed.
    pub seed: u64,
}

impl ProcessContext {
    /// \[message/node/cycle\] The rate that yields the load, at most 1.
    ///
    /// # Errors
    /// A load that needs a higher rate.
    pub fn rate(&self) -> Result<f64, SpecError> {
        let rate = self.load / self.mean_phits;
        if rate > 1.0 {
            let Self { load, mean_phits, .. } = self;
            return Err(SpecError::new(
                ErrorKind::OutOfRange,
                format!(
                    "load {load} phits/node/cycle with messages of L = {mean_phits} phits needs {rate:.3} messages per \
                     node and cycle; a node generates at most one"
                ),
                format!("a load of at most {mean_phits}, or messages of at least {} phits", load.ceil()),
            ));
        }
        Ok(rate)
    }
}

/// A process, or the error of its arguments.
type Built = Result<Temporal, SpecError>;
/// A row of the table. Its function builds the process.
pub type Entry = expr::Entry<fn(&Call, ProcessContext) -> Built>;

/// All processes. One line per member.
pub static PROCESSES: Table<Entry> = Table::new(
    "temporal process",
    &[
        &bernoulli::BERNOULLI,
        &renewal::POISSON,
        &renewal::UNIFORM_GAPS,
        &renewal::PARETO,
        &renewal::LOGNORMAL,
        &renewal::WEIBULL,
        &renewal::GAMMA,
        &burst::PERIODIC,
        &burst::CBURST,
        &markov::MARKOV,
        &coupled::SHOT,
        &coupled::REACTIVE,
        &coupled::REQUEST_REPLY,
        &coupled::INCAST,
        &coupled::MULTICAST,
        &coupled::BACKGROUND,
    ],
);

/// The description of every process.
pub fn components() -> impl Iterator<Item = &'static Component> {
    PROCESSES.components()
}

/// Builds a process of any form.
///
/// # Errors
/// When the process is unknown, a parameter unusable, or the load negative, not a number, or more than the process can
/// generate.
pub fn read(spec: &Spec, context: ProcessContext) -> Result<Temporal, SpecError> {
    build(spec.text(), spec.expr(), context)
}

/// Builds the process described by `expr`, which was parsed from `text`.
pub(super) fn build(text: &str, expr: &Expr, context: ProcessContext) -> Built {
    let entry = expr::find(PROCESSES.family(), PROCESSES.rows(), text, expr)?;
    if !(context.load >= 0.0 && context.load.is_finite()) {
        return Err(SpecError::new(
            ErrorKind::Malformed,
            format!("load {} is not a number of phits per node and cycle", context.load),
            "a load of 0 or more",
        ));
    }
    (entry.build)(&Call::bind(text, expr, &entry.component)?, context)
}

/// Builds the process that `text` describes, if every node runs it independently.
///
/// # Errors
/// As [`read`]; a text that is malformed; and `shot`, `reactive`, `request-reply`, `incast`, `multicast` and
/// `background`.
pub fn parse(text: &str, context: ProcessContext) -> Result<Box<dyn Process>, SpecError> {
    parse_independent(text, &Expr::parse(text)?, context)
}

/// As [`parse`], from `expr`, which was parsed from `text`.
pub(super) fn parse_independent(
    text: &str,
    expr: &Expr,
    context: ProcessContext,
) -> Result<Box<dyn Process>, SpecError> {
    match build(text, expr, context)? {
        Temporal::Process(process) => Ok(process),
        _ => Err(expr::refuse(
            text,
            expr.position,
            &format!("`{}` is not a process that every node runs for itself", expr.name),
            phrase![
                "use it as the whole ",
                ["temporal"],
                " of a single pattern; here bernoulli, poisson, periodic, cburst or markov"
            ],
        )),
    }
}

//! Size laws: how long a message is.
//!
//! Decisions: docs/decisions/0024-offered-load.md, docs/decisions/0210-heavy-tails.md.

mod cdf;
mod constant;
mod heavy;
mod weighted;

use std::fmt::Debug;
use std::path::Path;

use crate::catalog::{Component, SpecError, Table};
use crate::rng::Stream;
use crate::synthetic::Spec;
use crate::synthetic::expr::{self, Call, Expr};

pub(super) use cdf::is_built_in;

/// Law of message sizes. It is the same for every node; each draws from its own stream.
pub trait Law: Debug + Send {
    /// \[phit\] Size of the next message of the node whose stream of size draws is `rng`; at least 1.
    fn phits(&mut self, rng: &mut Stream) -> u64;

    /// \[phit\] Exact mean of [`phits`](Self::phits).
    fn mean(&self) -> f64;

    /// \[phit\] Exact mean size in full packets, as the network carries it. The message rate is the load divided by
    /// this mean.
    fn carried(&self) -> f64;
}

/// A law, or the error of its arguments.
type Built = Result<Box<dyn Law>, SpecError>;
/// A row of the table. Its function builds the law.
pub type Entry = expr::Entry<fn(&Call, LawContext) -> Built>;

/// The context in which a law is built.
#[derive(Clone, Copy, Debug)]
pub struct LawContext<'a> {
    /// \[phit\] Packet length, 1 or more.
    pub packet_phits: u32,
    /// \[bytes\] Size of a phit, 1 or more.
    pub phit_bytes: u32,
    /// Base folder of relative paths; empty for the working directory.
    pub folder: &'a Path,
}

impl LawContext<'_> {
    /// Packets of `packet_phits` phits of `phit_bytes` bytes, and files relative to the working directory.
    #[must_use]
    pub fn new(packet_phits: u32, phit_bytes: u32) -> Self {
        Self { packet_phits, phit_bytes, folder: Path::new("") }
    }
}

/// All laws. One line per member.
pub static SIZES: Table<Entry> = Table::new(
    "size law",
    &[
        &constant::CONSTANT,
        &weighted::UNIFORM,
        &weighted::BIMODAL,
        &weighted::DISCRETE,
        &weighted::POLYNOMIAL,
        &heavy::PARETO,
        &heavy::LOGNORMAL,
        &heavy::WEIBULL,
        &heavy::GAMMA,
        &cdf::CDF,
    ],
);

/// The description of every law.
pub fn components() -> impl Iterator<Item = &'static Component> {
    SIZES.components()
}

/// Builds the law that `text` describes.
///
/// # Errors
/// When the text is malformed, the law unknown, or a parameter unusable.
pub fn parse(text: &str, context: LawContext) -> Result<Box<dyn Law>, SpecError> {
    read(&text.parse()?, context)
}

/// Builds a law.
///
/// # Errors
/// When the law is unknown, or a parameter unusable.
pub fn read(spec: &Spec, context: LawContext) -> Built {
    build(spec.text(), spec.expr(), context)
}

/// Builds the law described by `expr`, which was parsed from `text`.
pub(super) fn build(text: &str, expr: &Expr, context: LawContext) -> Built {
    let entry = expr::find(SIZES.family(), SIZES.rows(), text, expr)?;
    (entry.build)(&Call::bind(text, expr, &entry.component)?, context)
}

/// \[phit\] A message of this size, rounded up to full packets.
#[must_use]
pub const fn in_full_packets(phits: u64, packet_phits: u32) -> u64 {
    phits.next_multiple_of(packet_phits as u64)
}

/// \[phit\] The longest message: a million packets of the usual size. Longer ones are typing errors.
const LONGEST: i64 = 1 << 24;

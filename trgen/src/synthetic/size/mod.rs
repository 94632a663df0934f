//! Size laws: how long a message is.
//!
//! Decision: docs/decisions/0024-offered-load.md.

mod constant;
mod weighted;

use std::fmt::Debug;

use crate::catalog::{Component, SpecError, Table};
use crate::rng::Stream;
use crate::synthetic::expr::{self, Call, Expr};

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
/// A row of the table. Its function builds the law, for packets of the given length \[phit\].
pub type Entry = expr::Entry<fn(&Call, u32) -> Built>;

/// All laws. One line per member.
pub static SIZES: Table<Entry> = Table::new(
    "size law",
    &[&constant::CONSTANT, &weighted::UNIFORM, &weighted::BIMODAL, &weighted::DISCRETE, &weighted::POLYNOMIAL],
);

/// The description of every law.
pub fn components() -> impl Iterator<Item = &'static Component> {
    SIZES.components()
}

/// Builds the law that `text` describes, for packets of `packet_phits` phits.
///
/// # Errors
/// When the text is malformed, the law unknown, or a parameter unusable.
pub fn parse(text: &str, packet_phits: u32) -> Result<Box<dyn Law>, SpecError> {
    build(text, &Expr::parse(text)?, packet_phits)
}

/// Builds the law described by `expr`, which was parsed from `text`.
pub(super) fn build(text: &str, expr: &Expr, packet_phits: u32) -> Built {
    let entry = expr::find(SIZES.family(), SIZES.rows(), text, expr)?;
    (entry.build)(&Call::bind(text, expr, &entry.component)?, packet_phits)
}

/// \[phit\] A message of this size, rounded up to full packets.
#[must_use]
pub const fn in_full_packets(phits: u64, packet_phits: u32) -> u64 {
    phits.next_multiple_of(packet_phits as u64)
}

/// \[phit\] The longest message: a million packets of the usual size. Longer ones are typing errors.
const LONGEST: i64 = 1 << 24;

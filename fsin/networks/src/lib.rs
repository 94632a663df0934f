//! Files of networks in the formats of other tools, for [`fsin_core`]: readers, and writers of DOT, lists, CSV and
//! JSON.
//!
//! Each format that is read is a file that states the nodes and edges of a text to a
//! [description](graph::Description), which alone gives them a meaning, and a row of the [table](rows). The core's
//! table of formats has the list of links alone until [`install`] adds these rows; the command and the crate
//! `fsin-experiment` do it themselves.
//!
//! ```
//! fsin_networks::install();
//! let read = fsin_core::topology::switched::network_of_text;
//! let ring = read("graph { a -- b -- c -- a }", "graph:ring".to_owned(), None)?;
//! assert_eq!(fsin_core::topology::Topology::endpoints(&ring), 3);
//! # Ok::<(), trgen::catalog::SpecError>(())
//! ```
//!
//! Decisions: docs/decisions/0190-formats-of-networks.md, docs/decisions/0400-files-of-the-field.md,
//! docs/decisions/0570-formats-of-networks-outside.md, docs/decisions/0571-nothing-is-kept-of-a-text.md.

mod anynet;
mod brite;
mod csv;
mod dot;
mod edge_list;
mod foreign;
mod gml;
mod graphml;
mod htsim;
mod infiniband;
mod json;
mod lines;
mod ns3;
mod simgrid;
mod slurm;
mod sndlib;
mod speeds;
mod table;
mod write;
mod xml;

use std::borrow::Cow;

use fsin_core::topology::Switched;
use fsin_core::topology::graph::{self, FORMATS, Places, Word, refusal};
use trgen::catalog::{ErrorKind, SpecError};

pub use table::rows;
pub use write::{Syntax, dot, rewritten};

/// Makes these formats those of this process, unless a program has installed rows of its own.
pub fn install() {
    FORMATS.provide(rows);
}

/// The network of a text, in whatever of the formats it is; `endpoints` of each switch where the specification gives
/// it.
///
/// # Errors
/// Those of [`network_of_text`](graph::network).
pub fn network(text: &str, spec: String, endpoints: Option<u32>) -> Result<Switched, SpecError> {
    install();
    graph::network(text, spec, endpoints)
}

/// Maximum number of attributes of a node or an edge. They take more memory than their text.
const MOST_ATTRIBUTES: usize = 1 << 15;

/// The text from its first word on, without comments, declarations of XML and empty lines before it.
pub(crate) fn head(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let after = [("<!--", "-->"), ("<?", "?>"), ("/*", "*/"), ("//", "\n"), ("#", "\n")]
            .iter()
            .find_map(|(begin, end)| Some(rest.strip_prefix(begin)?.split_once(end).map_or("", |(_, after)| after)));
        match after {
            Some(after) => rest = after.trim_start(),
            None => return rest,
        }
    }
}

/// A word that stands at an offset, as it is or as it is meant.
fn word<'a>(text: impl Into<Cow<'a, str>>, at: usize) -> Word<'a> {
    Word::new(text, at)
}

/// An attribute that a format implies; errors name the place `at`.
fn implied<'a>(key: &'static str, value: impl Into<Cow<'a, str>>, at: usize) -> (Word<'a>, Word<'a>) {
    (word(key, at), word(value, at))
}

/// The error of a text of another form than its format has.
fn malformed(places: &Places<'_>, at: usize, what: impl std::fmt::Display, remedy: &str) -> SpecError {
    refusal(places, at, ErrorKind::Malformed, what, remedy)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;

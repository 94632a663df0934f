//! Tests of all formats.

mod formats;
mod meaning;
pub(crate) mod samples;
mod written;

use fsin_core::topology::Switched;
use fsin_core::topology::graph::{self, Options};
use trgen::catalog::SpecError;

pub(crate) use meaning::facts;

/// The network of a text, with options of its specification.
pub(crate) fn described(text: &str, spec: String, options: &Options) -> Result<Switched, SpecError> {
    crate::install();
    graph::described(text, spec, options)
}

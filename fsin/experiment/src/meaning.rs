//! The meaning of a configuration of another simulator, or the reasons for its refusal.

use std::ops::Range;

use trgen::catalog::SpecError;

/// An error of a configuration, with its place in the text.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Refusal {
    pub(super) error: SpecError,
    /// \[bytes\]
    pub(super) span: Range<usize>,
}

/// A setting with the place of its statement in the text; for a default, the whole text.
pub(super) type Meant = (&'static str, String, Range<usize>);

/// The meaning of a configuration.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Meaning {
    /// Settings of an experiment.
    pub(super) settings: Vec<Meant>,
    /// Statements without a meaning in this run, and others whose meaning is not evident.
    pub(super) notes: Vec<String>,
}

/// All refusals of a configuration as one error, at the place of the first one.
pub(super) fn together(refusals: Vec<Refusal>) -> Refusal {
    let span = refusals.first().map_or(0..0, |first| first.span.clone());
    Refusal { error: crate::together::together(refusals.into_iter().map(|refusal| refusal.error).collect()), span }
}

//! Routes that are stated link by link, as platforms of SimGrid do, and need be neither those of a graph nor symmetric.

use std::fmt::Debug;

use trgen::catalog::SpecError;

use super::Switched;

/// Something that flows cross and share: a link, a direction of one, or a bus.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constraint {
    /// Its name.
    pub name: String,
    /// \[b/s\] What all flows that cross it have together; each alone if it is fat.
    pub rate: u64,
    /// \[ps\] What it adds to the latency of a route.
    pub delay: u64,
    /// True if every flow has the whole rate.
    pub is_fat: bool,
}

/// Routes between endpoints.
pub trait Routes: Debug + Send + Sync {
    /// All constraints.
    fn constraints(&self) -> &[Constraint];

    /// The constraints from endpoint to endpoint, in their order; `None` without a route.
    fn route(&self, from: u32, to: u32) -> Option<Vec<u32>>;
}

impl Switched {
    /// The routes that the file states link by link, if it is a platform.
    #[must_use]
    pub fn stated_routes(&self) -> Option<&dyn Routes> {
        self.platform.as_ref().map(|(routes, _)| &**routes)
    }

    /// Why no graph has the routes of the file, so that models of packets cannot run; `None` if one has.
    #[must_use]
    pub fn no_graph(&self) -> Option<&SpecError> {
        self.platform.as_ref().and_then(|(_, why)| why.as_ref())
    }
}

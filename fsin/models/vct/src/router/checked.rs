//! Settings of a router that have passed their check.

use std::ops::Deref;
use std::sync::Arc;

use super::RouterParams;
use super::guide::Guide;
use fsin_core::topology::Topology;

/// Settings that make sense together in one topology, and what the check has made of them: there is no other way to come by
/// them than [`RouterParams::check`]. They can be read, and not changed. Copies share the routing tables.
#[derive(Clone, Debug)]
pub struct CheckedParams {
    params: RouterParams,
    /// In a network of switches.
    guide: Option<Arc<Guide>>,
    /// Specification and dead links of the topology.
    topology: (String, usize),
}

impl CheckedParams {
    pub(super) fn new(params: RouterParams, guide: Option<Guide>, topology: &dyn Topology) -> Self {
        Self { params, guide: guide.map(Arc::new), topology: (topology.spec(), topology.faults()) }
    }

    /// The settings alone.
    #[must_use]
    pub fn into_params(self) -> RouterParams {
        self.params
    }

    /// How packets find their way through the switches of this topology; `None` in a direct network.
    ///
    /// # Panics
    /// When it is another topology than the one that the settings were checked for.
    #[must_use]
    pub fn guide(&self, topology: &dyn Topology) -> Option<Arc<Guide>> {
        let given = (topology.spec(), topology.faults());
        assert_eq!(self.topology, given, "the settings were checked for another topology");
        self.guide.clone()
    }
}

impl Deref for CheckedParams {
    type Target = RouterParams;

    fn deref(&self) -> &RouterParams {
        &self.params
    }
}

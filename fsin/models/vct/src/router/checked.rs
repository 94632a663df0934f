//! Router settings that have passed their check.

use std::ops::Deref;
use std::sync::Arc;

use super::RouterParams;
use super::guide::Guide;
use fsin_core::topology::Topology;

/// Settings that are consistent with each other and with one topology, and the routing function built from them.
/// [`RouterParams::check`] is the only constructor.
#[derive(Clone, Debug)]
pub struct CheckedParams {
    params: RouterParams,
    /// The routing function, in a network of switches.
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

    /// The routing function for the switches of this topology; `None` in a direct network.
    ///
    /// # Panics
    /// When the settings were checked for another topology.
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

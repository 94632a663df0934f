//! Router settings that have passed their check.

use std::ops::Deref;
use std::sync::Arc;

use super::RouterParams;
use crate::routing::switched::RoutingFunction;
use fsin_core::topology::Topology;

/// Settings that are consistent with each other and with one topology, and the routing function built from them.
/// [`RouterParams::check`] is the only constructor.
#[derive(Clone, Debug)]
pub struct CheckedParams {
    params: RouterParams,
    /// The routing function, in a network of switches.
    function: Option<Arc<RoutingFunction>>,
    /// Specification of the topology, and its number of dead links.
    topology: (String, usize),
}

impl CheckedParams {
    pub(super) fn new(params: RouterParams, function: Option<RoutingFunction>, topology: &dyn Topology) -> Self {
        Self { params, function: function.map(Arc::new), topology: (topology.spec(), topology.faults()) }
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
    pub fn function(&self, topology: &dyn Topology) -> Option<Arc<RoutingFunction>> {
        let given = (topology.spec(), topology.faults());
        assert_eq!(self.topology, given, "the settings were checked for another topology");
        self.function.clone()
    }
}

impl Deref for CheckedParams {
    type Target = RouterParams;

    fn deref(&self) -> &RouterParams {
        &self.params
    }
}

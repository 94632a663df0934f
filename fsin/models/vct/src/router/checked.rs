//! Router settings that have passed their check.

use std::ops::Deref;
use std::sync::Arc;

use super::RouterParams;
use crate::routing::switched::RoutingFunction;
use fsin_core::topology::Topology;

/// Settings that are consistent with each other and with one topology, and the routing functions built from them.
/// [`RouterParams::check`] is the only constructor.
#[derive(Clone, Debug)]
pub struct CheckedParams {
    params: RouterParams,
    /// The routing function at the start and after each change of links; `None` in a direct network.
    functions: Vec<Option<Arc<RoutingFunction>>>,
    /// Specification of the topology, and its number of dead links.
    topology: (String, usize),
}

impl CheckedParams {
    /// `functions` are those at the start and after each change of links.
    pub(super) fn new(params: RouterParams, functions: Vec<Option<RoutingFunction>>, topology: &dyn Topology) -> Self {
        let functions = functions.into_iter().map(|function| function.map(Arc::new)).collect();
        Self { params, functions, topology: (topology.spec(), topology.faults()) }
    }

    /// The settings alone.
    #[must_use]
    pub fn into_params(self) -> RouterParams {
        self.params
    }

    /// The routing function for the switches of this topology, at the start and after each change of links; `None` in a
    /// direct network.
    ///
    /// # Panics
    /// When the settings were checked for another topology.
    #[must_use]
    pub fn functions(&self, topology: &dyn Topology) -> &[Option<Arc<RoutingFunction>>] {
        let given = (topology.spec(), topology.faults());
        assert_eq!(self.topology, given, "the settings were checked for another topology");
        &self.functions
    }
}

impl Deref for CheckedParams {
    type Target = RouterParams;

    fn deref(&self) -> &RouterParams {
        &self.params
    }
}

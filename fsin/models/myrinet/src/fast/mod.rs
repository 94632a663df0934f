//! The fast engine.
use crate::{Myrinet, Params};
use fsin_core::topology::Topology;
use std::sync::Arc;
use trgen::catalog::SpecError;
/// Builds a network.
///
/// # Errors
/// Settings that are out of range or do not fit the topology.
pub fn build(topology: &Arc<dyn Topology>, params: Params) -> Result<Box<dyn Myrinet>, SpecError> {
    Ok(Box::new(crate::reference::Reference::new(topology, params)?))
}

//! Topologies: their figures, and their networks as node-link JSON.

use std::sync::Arc;

use fsin::experiment::{Origin, Settings, network_of};
use fsin::networks::{Syntax, rewritten};
use fsin::surveyed::{check_size, surveyed};
use fsin::topology::{Topology, parse};
use pyo3::prelude::*;
use serde_json::Value;

use crate::calls::interruptible;
use crate::fault::Fault;
use crate::install;

/// The figures of a topology as JSON, by the names of `fsin topology --format json`.
#[pyfunction]
pub(crate) fn topology(py: Python<'_>, spec: String, ways: Option<usize>, network: Option<String>) -> PyResult<String> {
    install();
    let ended = interruptible(py, None, move |_| {
        let topology = built(&spec, ways, network.as_deref())?;
        check_size(&*topology).map_err(|(what, remedy)| Fault::new(what, remedy).of("topology"))?;
        Ok(Value::Object(surveyed(&*topology)).to_string())
    })?;
    Ok(ended.value)
}

/// The network of a topology as node-link JSON.
#[pyfunction]
pub(crate) fn node_link(
    py: Python<'_>,
    spec: String,
    ways: Option<usize>,
    network: Option<String>,
) -> PyResult<String> {
    install();
    let ended = interruptible(py, None, move |_| {
        let topology = built(&spec, ways, network.as_deref())?;
        rewritten(&*topology, Syntax::NodeLink).map_err(|error| Fault::from(&error).or_of("topology"))
    })?;
    Ok(ended.value)
}

/// The topology of a specification, alone or as a network model uses it.
fn built(spec: &str, ways: Option<usize>, network: Option<&str>) -> Result<Arc<dyn Topology>, Fault> {
    let Some(network) = network else {
        return parse(spec, ways.unwrap_or(2)).map(Arc::from).map_err(|error| Fault::from(&error).or_of("topology"));
    };
    let mut settings = Settings::default();
    settings.set("network", network, Origin::Flag)?;
    settings.set("topology", spec, Origin::Flag)?;
    if let Some(ways) = ways {
        settings.set("ways", ways.to_string(), Origin::Flag)?;
    }
    let (_, built) = network_of(settings)?;
    built.topology().cloned().ok_or_else(|| {
        let what = format!("network={network:?}: this model has no topology");
        Fault::new(what, "leave it out, or name a network with links: vct, wormhole, ethernet").of("network")
    })
}

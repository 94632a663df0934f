//! Whether a network fits in this machine: an allocation that fails ends the process without a word of advice.

use std::fs;

use fsin::engine::fast;
use fsin::experiment::{EngineKind, Experiment};
use fsin::topology;

use super::Complaint;

/// \[bytes\] At least, of each node and of each queue of it, in the reference engine: measured on networks of 2^18 nodes,
/// rounded down.
const NODE: u64 = 256;
const QUEUE: u64 = 30;

/// Refuses a network that needs more memory than there is.
pub(crate) fn check(experiment: &Experiment) -> Result<(), Complaint> {
    let Some(installed) = installed() else { return Ok(()) };
    let settings = experiment.settings();
    let topology = topology::parse(&experiment.topology, experiment.ways)
        .map_err(|refusal| settings.refused("topology", &refusal))?;
    let router = &experiment.router;
    let shape = topology.shape();
    let node = match experiment.engine {
        EngineKind::Fast => fast::node_bytes(shape, router.vcs, router.injectors, router.queue_packets) as u64,
        EngineKind::Reference => NODE + QUEUE * (shape.ports() * router.vcs + router.injectors) as u64,
    };
    let nodes = topology.nodes() as u64;
    let needed = nodes.saturating_mul(node);
    if needed <= installed {
        return Ok(());
    }
    let gib = |bytes: u64| bytes.div_ceil(1 << 30);
    let what = format!(
        "--topology {}: {nodes} nodes need at least {} GiB of memory, and this machine has {}",
        experiment.topology,
        gib(needed),
        gib(installed)
    );
    Err(settings.error("topology", what, format!("use at most {} nodes", installed / node)).into())
}

/// \[bytes\] Memory of this machine, where the system tells (Linux).
fn installed() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

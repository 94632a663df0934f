//! Memory that a process may have, and whether a network fits in it.
//!
//! An allocation that fails, or a system without memory, ends a process without advice. So the memory of networks is
//! estimated before they are built.

use std::fs;
use std::path::{Path, PathBuf};

use trgen::catalog::ErrorKind;
use trgen::phrase;

use crate::resolve::Experiment;
use crate::settings::{Settings, SettingsError};
use fsin_core::family::NetworkSpec;

/// \[bytes\] A gibibyte.
const GIB: f64 = (1 << 30) as f64;

/// Rejects a network that needs more memory than is available, where the system reports the amount (Linux). An
/// experiment over an ideal network needs none.
///
/// # Errors
/// The setting `topology`, with the number of nodes that fit.
pub fn check(experiment: &Experiment) -> Result<(), SettingsError> {
    if experiment.runs.by_hosts() { Ok(()) } else { fits(experiment.settings(), &*experiment.network) }
}

/// As [`check`], for an experiment that is still being resolved. Call before anything traverses the network.
pub(crate) fn fits(settings: &Settings, network: &dyn NetworkSpec) -> Result<(), SettingsError> {
    let Some(Limit { bytes: installed, whose, .. }) =
        limits(&control_groups()).into_iter().min_by_key(|limit| limit.bytes)
    else {
        return Ok(());
    };
    let Some(topology) = network.topology() else { return Ok(()) };
    let (node, nodes) = (network.node_bytes().max(1), topology.nodes() as u64);
    let needed = nodes.saturating_mul(node);
    if needed <= installed {
        return Ok(());
    }
    let gib = |bytes: u64| bytes.div_ceil(1 << 30);
    let (needed, installed_gib) = (gib(needed), installed as f64 / GIB);
    let what = phrase![
        ["topology" => topology.spec()],
        ": {nodes} nodes need at least {needed} GiB of memory, and {whose} {installed_gib:.1}"
    ];
    Err(settings.error("topology", ErrorKind::TooLarge, what, format!("use at most {} nodes", installed / node)))
}

/// A limit on the memory of this process.
#[derive(Debug)]
pub struct Limit {
    /// \[bytes\] The limit.
    pub bytes: u64,
    /// \[bytes\] Unused by all processes under this limit.
    pub left: u64,
    /// What has the limit, as the beginning of a sentence that goes on with an amount: "this machine has".
    pub whose: &'static str,
}

/// The limits on the memory of this process, as far as the system reports them. `groups` are the folders of its control
/// groups.
#[must_use]
pub fn limits(groups: &[PathBuf]) -> Vec<Limit> {
    let machine = || {
        let (bytes, left) =
            (bytes_in_file("/proc/meminfo", "MemTotal:")?, bytes_in_file("/proc/meminfo", "MemAvailable:")?);
        let swap = bytes_in_file("/proc/meminfo", "SwapFree:").unwrap_or(0);
        Some(Limit { bytes, left: left + swap, whose: "this machine has" })
    };
    let addresses = || {
        let limits = fs::read_to_string("/proc/self/limits").ok()?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
        let bytes = line.split_whitespace().next()?.parse().ok()?;
        let used = bytes_in_file("/proc/self/status", "VmSize:")?;
        Some(Limit { bytes, left: bytes.saturating_sub(used), whose: "a process may have (ulimit -v)" })
    };
    machine().into_iter().chain(addresses()).chain(groups.iter().filter_map(|folder| limit_of_group(folder))).collect()
}

/// Folders of the control groups of this process, in both versions.
#[must_use]
pub fn control_groups() -> Vec<PathBuf> {
    let root = Path::new("/sys/fs/cgroup");
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = text.lines().find_map(|line| line.strip_prefix("0::/")).map(|path| root.join(path));
    let above = own.iter().flat_map(|own| own.ancestors()).filter(|folder| folder.starts_with(root));
    above.map(Path::to_owned).chain([root.join("memory")]).collect()
}

/// The limit of a control group, if it has one. Memory of cached files is released on demand and counts as free.
fn limit_of_group(folder: &Path) -> Option<Limit> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let bytes = read("memory.max").or_else(|| read("memory.limit_in_bytes"))?.trim().parse().ok()?;
    let used: u64 = read("memory.current").or_else(|| read("memory.usage_in_bytes"))?.trim().parse().ok()?;
    let stat = read("memory.stat")?;
    let inactive = |name: &str| stat.lines().find_map(|line| line.strip_prefix(name))?.trim().parse::<u64>().ok();
    let files = inactive("total_inactive_file ").or_else(|| inactive("inactive_file ")).unwrap_or(0);
    let left = u64::saturating_sub(bytes, used.saturating_sub(files));
    Some(Limit { bytes, left, whose: "its control group has" })
}

/// \[bytes\] A value of a system file, which is given in kB; `None` if the system has no such file.
#[must_use]
pub fn bytes_in_file(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

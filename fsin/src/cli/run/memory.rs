//! Memory: checks that a network fits, and reports exhaustion.
//!
//! An allocation that fails, or a system without memory, ends a process without advice. So the memory of networks is
//! estimated before they are built, and growth during the run, such as messages that wait at saturated nodes, is
//! monitored.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use fsin::experiment::Experiment;
use trgen::catalog::ErrorKind;
use trgen::phrase;

use crate::cli::{Complaint, Exit, diagnostic};

/// \[bytes\] A gibibyte.
const GIB: f64 = (1 << 30) as f64;

/// Rejects a network that needs more memory than is available.
pub(crate) fn check(experiment: &Experiment) -> Result<(), Complaint> {
    let Some(Limit { bytes: installed, whose, .. }) =
        limits(&control_groups()).into_iter().min_by_key(|limit| limit.bytes)
    else {
        return Ok(());
    };
    let settings = experiment.settings();
    let Some(topology) = experiment.topology() else { return Ok(()) };
    let (node, nodes) = (experiment.network.node_bytes().max(1), topology.nodes() as u64);
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
    Err(settings.error("topology", ErrorKind::TooLarge, what, format!("use at most {} nodes", installed / node)).into())
}

/// Interval between two checks of the memory left.
const PERIOD: Duration = Duration::from_millis(100);

/// \[bytes\] A process with less memory does not cause a shortage, and is not checked.
const SMALL: u64 = 64 << 20;

/// A limit on the memory of this process.
#[derive(Debug)]
struct Limit {
    /// \[bytes\] The limit.
    bytes: u64,
    /// \[bytes\] Unused by all processes under this limit.
    left: u64,
    /// What has the limit, as the beginning of a sentence that goes on with an amount: "this machine has".
    whose: &'static str,
}

/// Monitors the memory of this process from now on, and ends it with an error when memory is nearly exhausted, where
/// the system reports the amount (Linux).
pub(crate) fn watch() {
    let monitor = || {
        let groups = control_groups();
        while let Some(own) = bytes_in_file("/proc/self/status", "VmRSS:") {
            if own >= SMALL
                && let Some(limit) = limits(&groups).iter().find(|limit| is_exhausted(limit, own))
            {
                end_process(limit, own);
            }
            thread::sleep(PERIOD);
        }
    };
    // Without a thread there is no monitoring, as on other systems.
    let _ = thread::Builder::new().name("memory".to_owned()).spawn(monitor);
}

/// True if little memory is left and this process, which holds `own` bytes, is a cause. If others exhaust the memory,
/// the system chooses which of them to end.
fn is_exhausted(limit: &Limit, own: u64) -> bool {
    let reserve = (limit.bytes / 16).min(512 << 20);
    limit.left < reserve && own > limit.bytes / 4
}

/// Ends the process, which holds `own` bytes, with an error.
fn end_process(limit: &Limit, own: u64) -> ! {
    crate::cli::watch::looking::terminal::restore();
    let gib = |bytes: u64| bytes as f64 / GIB;
    let what = format!(
        "out of memory: this process holds {:.2} GiB, and {} {:.2} GiB, of which {:.2} are left; the run has ended without results",
        gib(own),
        limit.whose,
        gib(limit.bytes),
        gib(limit.left)
    );
    let remedy = "beyond saturation the messages that wait grow as long as the run lasts: lower --load, or run for fewer cycles; else \
                  use a smaller network or trace, or fewer --jobs at the same time";
    diagnostic::show(&Complaint::new(Exit::Failed, what, remedy));
    std::process::exit(Exit::Failed as i32);
}

/// The limits on the memory of this process, as far as the system reports them. `groups` are the folders of its control
/// groups.
fn limits(groups: &[PathBuf]) -> Vec<Limit> {
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
fn control_groups() -> Vec<PathBuf> {
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

/// \[bytes\] A value of a system file, which is given in kB.
fn bytes_in_file(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_little_is_not_ended_for_others() {
        const MIB: u64 = 1 << 20;
        let limit = |left: u64| Limit { bytes: 4096 * MIB, left: left * MIB, whose: "this machine has" };
        assert!(is_exhausted(&limit(200), 2000 * MIB));
        assert!(!is_exhausted(&limit(300), 2000 * MIB), "there is enough left");
        assert!(!is_exhausted(&limit(200), 1000 * MIB), "others hold it");
    }
}

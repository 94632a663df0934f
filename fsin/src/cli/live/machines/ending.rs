//! How machines have ended, and whose fault it is.

use std::fs;
use std::path::Path;
use std::process::ExitStatus;

use adapters::live::LiveReport;
use fsin::couple::Failure;
use fsin::result::MachineRow;
use fsin::run::Outcome;

use super::qemu::{self, Plan};
use super::{agent, folder};
use crate::cli::live::processes::{self, Processes};
use crate::cli::{Complaint, Exit};

/// \[bytes\] Largest part of the output of a command that is kept in the results.
const KEPT: usize = 1 << 20;

/// The error of a machine that has ended before virtual time began.
pub(super) fn never_began(folder: &Path, machine: usize, status: ExitStatus) -> Complaint {
    let said = qemu::last_lines(folder, machine);
    let said = if said.is_empty() { String::new() } else { format!(":\n  {said}") };
    let what =
        format!("the QEMU of machine {machine} {} before the machine began{said}", processes::describe_end(status));
    let remedy = "it takes QEMU 7.2 with its plugin interface (apt install qemu-system-x86), and no KVM";
    Complaint::new(Exit::Failed, what, remedy)
}

/// The rows of the machines in the results. For a machine that has run the command: its exit status and output.
pub(super) fn rows(plan: &Plan, folder: &Path) -> Vec<MachineRow> {
    let row = |(machine, &node): (usize, &u32)| {
        let written = plan.runners.contains(&machine).then(|| fs::read(folder.join(folder::output(machine))));
        let written = written.map(Result::unwrap_or_default);
        let parts = written.as_deref().map(agent::parts);
        let text = |(output, _): (&[u8], _)| String::from_utf8_lossy(&output[..output.len().min(KEPT)]).into_owned();
        MachineRow {
            machine: machine as u64,
            node: node.into(),
            status: parts.and_then(|(_, status)| status).map(u64::from),
            output: parts.map(text),
        }
    };
    plan.nodes.iter().enumerate().map(row).collect()
}

/// The error of a run, if it has failed.
pub(super) fn complaint(
    outcome: &Outcome,
    report: &LiveReport,
    plan: &Plan,
    processes: &Processes,
    rows: &[MachineRow],
    path: &Path,
) -> Option<Complaint> {
    let logs = path.display();
    if let Some(failure) = &outcome.failure {
        let lost = report.guests.iter().find_map(|guest| Some((*guest.nodes.first()?, guest.lost.as_ref()?)));
        let machine = lost.and_then(|(node, _)| plan.nodes.iter().position(|&of| of == node));
        let (Some((node, why)), Some(machine)) = (lost, machine) else {
            let remedy = "machines wait for messages as long as they run: see what their consoles say";
            return Some(match failure {
                Failure::TrafficDeadlock { .. } => Complaint::of_failure(failure).with_remedy(remedy),
                _ => Complaint::of_failure(failure),
            });
        };
        let said = qemu::last_lines(path, machine);
        let said = if said.is_empty() { String::new() } else { format!("\n  {said}") };
        // The status of a process that ended without an error, because the run ended, explains nothing.
        let how = processes.status(machine).filter(|status| !status.success());
        let how = how.map_or_else(|| "was lost".to_owned(), processes::describe_end);
        let what = format!("machine {machine} (node {node}) {how}, and the others were ended: {why}{said}");
        let remedy = format!("see {logs}/{} and {logs}/{}", folder::console(machine), folder::errors(machine));
        return Some(Complaint::new(Exit::Failed, what, remedy));
    }
    let of_runner = |row: &&MachineRow| plan.runners.contains(&(row.machine as usize)) && row.status != Some(0);
    let row = rows.iter().find(of_runner)?;
    let (machine, status) = (row.machine, row.status);
    let what = match status {
        Some(127) => format!("the command on machine {machine} ended with exit status 127: it was not found"),
        Some(status) => format!("the command on machine {machine} ended with exit status {status}"),
        None => format!("machine {machine} ended before its command did"),
    };
    let number = machine as usize;
    let remedy = format!("see {logs}/{} and {logs}/{}", folder::output(number), folder::console(number));
    Some(Complaint::new(Exit::Failed, what, remedy))
}

//! Jobs of a mix beside what each of them takes alone, and the distances that messages of applications cross.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use trgen::trace::jobs::{Job, JobMix, JobRecord};
use trgen::trace::matrix::Matrix;
use trgen::trace::placement::hop_bytes;
use trgen::trace::program::Program;
use trgen::trace::replay::Replay;
use trgen::{Cycle, NodeId};

use super::{JobFacts, network, run};
use crate::resolve::Experiment;
use crate::trouble::Trouble;
use crate::workload::Driven;
use fsin_core::couple::Coupled;
use fsin_core::run::Progress;
use fsin_core::topology::Distances;

/// \[bytes x hops\] Sum over the messages that an application sends.
pub(super) fn hop_bytes_of_application(experiment: &Experiment, driven: &dyn Driven) -> Option<u128> {
    let flows = driven.flows()?;
    let distances = Distances::few(Arc::clone(experiment.topology()?))?;
    Some(hop_bytes(flows.iter().map(|flow| (flow.from, flow.to, flow.bytes)), &distances))
}

/// \[bytes x hops\] Sum over the messages of a job that has finished.
fn hop_bytes_of_job(job: &Job, record: &JobRecord, distances: &Distances) -> Option<u128> {
    record.finish?;
    let node = |task: u32| record.placement[task as usize];
    let matrix = Matrix::of_program(&job.program);
    let flows = matrix.pairs().iter().map(|pair| (node(pair.source), node(pair.destination), pair.bytes));
    Some(hop_bytes(flows, distances))
}

/// The outcome of each job of a mix, with its run time alone.
pub(super) fn compare_with_alone(
    experiment: &Experiment,
    mix: &JobMix,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<JobFacts>, Trouble> {
    // Instances of one job on the same nodes have the same run time alone.
    let mut known: Vec<(&Arc<Program>, Vec<NodeId>, Option<u64>)> = Vec::new();
    let mut facts = Vec::new();
    let distances = experiment.topology().and_then(|topology| Distances::few(Arc::clone(topology)));
    for (job, record) in mix.jobs().iter().zip(mix.records()) {
        let same = |other: &&(&Arc<Program>, Vec<NodeId>, Option<u64>)| {
            Arc::ptr_eq(other.0, &job.program) && other.1 == record.placement
        };
        let alone_cycles = match (record.finish, known.iter().find(same)) {
            (None, _) => None,
            (Some(_), Some(&(_, _, alone))) => alone,
            (Some(_), None) => {
                let alone = run_job_alone(experiment, &job.program, &record.placement, stop, progress)?;
                known.push((&job.program, record.placement.clone(), alone));
                alone
            }
        };
        let hop_bytes = distances.as_ref().and_then(|distances| hop_bytes_of_job(job, &record, distances));
        facts.push(JobFacts { record, alone_cycles, hop_bytes });
    }
    Ok(facts)
}

/// \[cycles\] Run time of a program alone, with its tasks on these nodes; `None` if it does not finish.
fn run_job_alone(
    experiment: &Experiment,
    program: &Program,
    placement: &[NodeId],
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<u64>, Trouble> {
    let mut network = network(experiment)?;
    let nodes = network.nodes();
    let Ok(replay) = Replay::new(program.clone(), placement, nodes, experiment.pace) else {
        return Ok(None);
    };
    let mut replay = replay.with_protocol(experiment.protocol);
    let outcome = run(experiment, Coupled::new(&mut replay, &mut *network, stop), progress);
    let last = replay.report().tasks.iter().map(|task| task.finished).max().flatten();
    Ok(last.filter(|_| outcome.complete).map(|last| last.since(Cycle::FIRST)))
}

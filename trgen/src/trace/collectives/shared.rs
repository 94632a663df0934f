//! Operations of MPI by the steps of the table of all collectives.

use super::{Algorithm, Collective, ExpandError, Script};
use crate::collective::{Action, RING, Row, Shared, Step, script as steps_of, shape};
use crate::trace::kind::CollectiveKind;
use crate::trace::program::Event;

/// The row by whose steps an operation is done, its kind, and the size \[bytes\] of the whole vector. `None` if the operation
/// has messages of its own.
pub(super) fn vector(
    collective: &Collective,
    algorithm: Algorithm,
    size: usize,
) -> Option<(&'static Row, CollectiveKind, u64)> {
    let row = match algorithm {
        Algorithm::Shared(Shared(row)) => row,
        Algorithm::Ring if matches!(collective, Collective::Allreduce { .. }) => &RING,
        _ => return None,
    };
    let all = |bytes: u64| bytes.saturating_mul(size as u64);
    let bytes = match collective {
        Collective::Barrier => 0,
        Collective::Broadcast { bytes, .. } | Collective::Reduce { bytes, .. } | Collective::Allreduce { bytes } => {
            *bytes
        }
        Collective::Alltoall { bytes }
        | Collective::Gather { bytes, .. }
        | Collective::Scatter { bytes, .. }
        | Collective::Allgather { bytes } => all(*bytes),
        Collective::ReduceScatter { blocks } => blocks.iter().fold(0_u64, |sum, &block| sum.saturating_add(block)),
        _ => return None,
    };
    Some((row, CollectiveKind::of_operation(collective.name())?, bytes))
}

/// Appends the operations of a rank: those of a round begin together, and it waits for all of them.
pub(super) fn expand(
    row: &'static Row,
    kind: CollectiveKind,
    bytes: u64,
    root: usize,
    mut script: Script<'_>,
) -> Result<(), ExpandError> {
    let size = script.size();
    let ranks = u32::try_from(size).unwrap_or(u32::MAX);
    let shape = shape(row, kind, ranks);
    let Some(schedule) = row.steps_of(kind) else {
        return Err(ExpandError::Algorithm { algorithm: row.name(), operation: kind.name() });
    };
    if let Some(needs) = (row.refuses)(&shape) {
        return Err(ExpandError::Ranks { algorithm: row.name(), needs, size });
    }
    // Steps number the ranks from the root.
    let own = (script.rank + size - root) % size;
    let rank_of = |peer: u32| (peer as usize + root) % size;
    let steps = steps_of(schedule, &shape, own as u32, bytes);
    for round in steps.chunk_by(|one, other| one.1.round == other.1.round) {
        if let [(_, Step { action, peer, .. }, bytes)] = *round {
            match action {
                Action::Send => script.send(rank_of(peer), bytes),
                Action::Combine | Action::Keep => script.receive(rank_of(peer), bytes),
            }
            continue;
        }
        let mut begun = Vec::new();
        // Receives stand after sends, and are posted before them.
        let first = round.partition_point(|(_, step, _)| step.action == Action::Send);
        for &(_, Step { action, peer, .. }, bytes) in round[first..].iter().chain(&round[..first]) {
            let request = script.requests.take();
            begun.push(request);
            script.out.push(match action {
                Action::Send => Event::Isend(script.outgoing(rank_of(peer), bytes), request),
                Action::Combine | Action::Keep => Event::Irecv(script.incoming(rank_of(peer), bytes), request),
            });
        }
        begun.iter().rev().for_each(|&request| script.requests.give_back(request));
        script.out.push(Event::WaitAll(begun.into_boxed_slice()));
    }
    Ok(())
}

//! Expands collective calls into sends and receives, and counts them.

use std::collections::BTreeMap;

use super::error::{Fault, Place};
use super::text::invalid;
use crate::trace::collectives::{Agreement, Algorithm, Collective, Disagreement, RequestPool, expand};
use crate::trace::program::{Event, Tag};
use crate::trace::timeline::Called;
use crate::units::TaskId;

/// A process that calls a collective on a communicator of the trace.
pub(super) struct Caller<'a> {
    /// The number of the communicator.
    pub(super) number: u32,
    /// Members of the communicator.
    pub(super) members: &'a [TaskId],
    /// The number of the process among all processes.
    pub(super) task: usize,
    /// The rank of the process in the communicator.
    pub(super) rank: usize,
    /// Line of the call, or another number that identifies its place.
    pub(super) line: u64,
}

/// Calls of collectives.
#[derive(Clone, Default, Debug)]
pub(super) struct Calls {
    /// By operation and algorithm, summed over ranks.
    counts: BTreeMap<(&'static str, &'static str), u64>,
    /// One by one.
    called: Called,
}

impl Calls {
    /// Counts a call, whose messages have this tag.
    pub(super) fn count(&mut self, collective: &Collective, algorithm: Algorithm, tag: Tag) {
        let (operation, algorithm) = (collective.name(), algorithm.name());
        *self.counts.entry((operation, algorithm)).or_default() += 1;
        self.called.add(tag, operation, algorithm);
    }

    /// Counts a call and appends its expansion to `events`. `index` is the number of collectives that the process has
    /// called on the communicator before; the call must agree with those of the other members with the same index.
    pub(super) fn expand(
        &mut self,
        collective: &Collective,
        caller: &Caller<'_>,
        index: &mut usize,
        agreement: &mut Agreement<u64>,
        requests: &mut RequestPool,
        events: &mut Vec<Event>,
    ) -> Result<(), Fault> {
        let &Caller { number, members, task, rank, line } = caller;
        let called = agreement.call(task, *index, collective, || line);
        let algorithm = called.map_err(|disagreement| mismatch(task, disagreement, None))?;
        let tag = Tag { context: Tag::context_of(number) + 1, label: *index as i64 };
        self.count(collective, algorithm, tag);
        *index += 1;
        let done = expand(collective, algorithm, members, rank, tag, requests, events);
        done.map_err(|error| invalid("collective", collective.name(), error.to_string()))
    }

    /// Numbers of calls by operation.
    pub(super) fn by_operation(&self) -> BTreeMap<&'static str, u64> {
        let mut sums = BTreeMap::new();
        for (&(operation, _), calls) in &self.counts {
            *sums.entry(operation).or_default() += calls;
        }
        sums
    }

    /// Numbers of calls by operation and algorithm.
    pub(super) fn by_algorithm(&self) -> BTreeMap<(&'static str, &'static str), u64> {
        self.counts.clone()
    }

    /// Which collective a message belongs to.
    pub(super) fn called(&self) -> Called {
        self.called.clone()
    }

    /// A note for the user on the algorithms used; none without calls. `how` names the kind of calls.
    pub(super) fn note(&self, how: &str) -> Option<String> {
        let total: u64 = self.counts.values().sum();
        let parts =
            self.counts.iter().map(|((operation, algorithm), calls)| format!("{calls} {operation} by {algorithm}"));
        let parts: Vec<String> = parts.collect();
        (total > 0).then(|| format!("{total} collective calls were expanded, {how}: {}", parts.join(", ")))
    }
}

/// The error if ranks call different collectives. `place_of` gives the place of another rank's line, if lines have
/// places.
pub(super) fn mismatch(
    rank: usize,
    disagreement: Disagreement<u64>,
    place_of: Option<&dyn Fn(usize) -> Place>,
) -> Fault {
    let Disagreement { index, expected, expected_rank, expected_place, found } = disagreement;
    let place = |(line, place_of): (u64, &dyn Fn(usize) -> Place)| Box::new(place_of(expected_rank).line(line));
    Fault::CollectiveMismatch {
        index: index + 1,
        rank: rank as u32,
        found,
        other_rank: expected_rank as u32,
        other: expected,
        other_place: expected_place.zip(place_of).map(place),
    }
}

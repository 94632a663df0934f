//! Collective calls that a reader expands, and their counts.

use std::collections::BTreeMap;

use super::error::{Fault, Place};
use super::text::bad;
use crate::trace::collectives::{Agreement, Algorithm, Collective, Disagreement, RequestPool, expand};
use crate::trace::program::{Event, Tag};
use crate::units::TaskId;

/// A process that calls a collective of a communicator that the format numbers.
pub(super) struct Caller<'a> {
    /// The communicator, and its members.
    pub(super) number: u32,
    pub(super) members: &'a [TaskId],
    /// The process, among all and among the members.
    pub(super) task: usize,
    pub(super) rank: usize,
    /// Line of the call, or what else names its place.
    pub(super) line: u64,
}

/// Calls by operation and algorithm, summed over ranks.
#[derive(Clone, Default, Debug)]
pub(super) struct Calls(BTreeMap<(&'static str, &'static str), u64>);

impl Calls {
    pub(super) fn count(&mut self, collective: &Collective, algorithm: Algorithm) {
        *self.0.entry((collective.name(), algorithm.name())).or_default() += 1;
    }

    /// Counts a call, which must agree with what the other members have called as their `index`-th of the communicator (from
    /// 0), and adds what it becomes to `events`.
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
        self.count(collective, algorithm);
        let tag = Tag { context: Tag::context_of(number) + 1, label: *index as i64 };
        *index += 1;
        let done = expand(collective, algorithm, members, rank, tag, requests, events);
        done.map_err(|error| bad("collective", collective.name(), error.to_string()))
    }

    /// By operation.
    pub(super) fn by_operation(&self) -> BTreeMap<&'static str, u64> {
        let mut sums = BTreeMap::new();
        for (&(operation, _), calls) in &self.0 {
            *sums.entry(operation).or_default() += calls;
        }
        sums
    }

    /// By operation and algorithm.
    pub(super) fn by_algorithm(&self) -> BTreeMap<(&'static str, &'static str), u64> {
        self.0.clone()
    }

    /// What was expanded by which algorithm, for the user; none without calls. `how` says what each is one of.
    pub(super) fn note(&self, how: &str) -> Option<String> {
        let total: u64 = self.0.values().sum();
        let each = self.0.iter().map(|((operation, algorithm), calls)| format!("{calls} {operation} by {algorithm}"));
        let each: Vec<String> = each.collect();
        (total > 0).then(|| format!("{total} collective calls were expanded, {how}: {}", each.join(", ")))
    }
}

/// What is wrong where ranks differ. `place_of` is where a line of another rank stands, if there are such places.
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

//! Counts of collective calls that a reader has expanded.

use std::collections::BTreeMap;

use crate::trace::collectives::{Algorithm, Collective};

/// Calls by operation and algorithm, summed over ranks.
#[derive(Clone, Default, Debug)]
pub(super) struct Calls(BTreeMap<(&'static str, &'static str), u64>);

impl Calls {
    pub(super) fn count(&mut self, collective: &Collective, algorithm: Algorithm) {
        *self.0.entry((collective.name(), algorithm.name())).or_default() += 1;
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

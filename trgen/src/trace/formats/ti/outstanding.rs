//! The non-blocking operations of one rank that have not been waited for.

use std::collections::{HashMap, VecDeque};

use crate::trace::program::Request;

/// The identification of an operation in a wait: source, destination, tag. `None` in an operation means any.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    pub(super) from: Option<u32>,
    pub(super) to: u32,
    pub(super) label: Option<i64>,
}

/// Operations in the order of their start.
#[derive(Default)]
pub(super) struct Outstanding {
    /// By identification: running number and request of each operation, in the order of their start.
    by_key: HashMap<Key, VecDeque<(u64, Request)>>,
    /// Number of operations started so far.
    begun: u64,
    /// Number of operations that have not been waited for.
    count: usize,
}

impl Outstanding {
    /// Adds an operation.
    pub(super) fn begin(&mut self, key: Key, request: Request) {
        self.by_key.entry(key).or_default().push_back((self.begun, request));
        self.begun += 1;
        self.count += 1;
    }

    /// Removes the first operation that matches `key`, including by wildcards in the operation.
    pub(super) fn take(&mut self, key: Key) -> Option<Request> {
        let wild = [key, Key { from: None, ..key }, Key { label: None, ..key }, Key { from: None, label: None, ..key }];
        let first = |key: &Key| self.by_key.get(key).and_then(VecDeque::front).map(|&(begun, _)| begun);
        let (_, key) = wild.into_iter().filter_map(|key| Some((first(&key)?, key))).min_by_key(|&(begun, _)| begun)?;
        let queue = self.by_key.get_mut(&key)?;
        let (_, request) = queue.pop_front()?;
        if queue.is_empty() {
            self.by_key.remove(&key);
        }
        self.count -= 1;
        Some(request)
    }

    /// Removes all operations, in the order of their start.
    pub(super) fn take_all(&mut self) -> Vec<Request> {
        let mut all: Vec<(u64, Request)> = self.by_key.drain().flat_map(|(_, queue)| queue).collect();
        self.count = 0;
        all.sort_unstable_by_key(|&(begun, _)| begun);
        all.into_iter().map(|(_, request)| request).collect()
    }

    pub(super) const fn len(&self) -> usize {
        self.count
    }
}

//! The port of a host whose transport sprays frames: the order of connections and control frames.
//!
//! State machines, independent of network and engine; `T` is the waiting item.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

/// Control frames that go before a frame of data.
const CONTROLS: u8 = 10;

/// Ultra Ethernet: control frames and connections, ten to one where both wait.
#[derive(Clone, Debug)]
pub(crate) struct Turns<T> {
    pub(crate) controls: VecDeque<T>,
    /// Connections that wait, each once.
    pub(crate) flows: VecDeque<u32>,
    turn: u8,
}

impl<T> Turns<T> {
    pub(crate) const fn new() -> Self {
        Self { controls: VecDeque::new(), flows: VecDeque::new(), turn: 0 }
    }

    /// True if a connection is served next, at a port that becomes free. Advances the turn.
    pub(crate) fn is_of_flows(&mut self) -> bool {
        if self.controls.is_empty() || self.flows.is_empty() {
            return self.controls.is_empty();
        }
        self.turn = if self.turn == CONTROLS { 0 } else { self.turn + 1 };
        self.turn == 0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.controls.is_empty() && self.flows.is_empty()
    }
}

/// The key of a connection among those of a port: its number, and its handle.
pub(crate) type Key = (u64, u32);

/// NDP: levels, the first before others; within a level connections in turn by number.
#[derive(Clone, Debug)]
pub(crate) struct Levels<T> {
    levels: [Level<T>; 2],
}

#[derive(Clone, Debug)]
struct Level<T> {
    waiting: BTreeMap<Key, VecDeque<T>>,
    served: Option<Key>,
}

impl<T> Levels<T> {
    pub(crate) fn new() -> Self {
        Self { levels: std::array::from_fn(|_| Level { waiting: BTreeMap::new(), served: None }) }
    }

    pub(crate) fn push(&mut self, is_high: bool, key: Key, item: T) {
        self.levels[usize::from(!is_high)].waiting.entry(key).or_default().push_back(item);
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        self.levels.iter_mut().find_map(Level::pop)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.levels.iter().all(|level| level.waiting.is_empty())
    }

    /// Number of waiting items.
    pub(crate) fn len(&self) -> usize {
        self.levels.iter().flat_map(|level| level.waiting.values()).map(VecDeque::len).sum()
    }
}

impl<T> Level<T> {
    fn pop(&mut self) -> Option<T> {
        let after = self.served.map_or(Bound::Unbounded, Bound::Excluded);
        let next = self.waiting.range_mut((after, Bound::Unbounded)).next().map(|(&key, _)| key);
        let key = next.or_else(|| self.waiting.keys().next().copied())?;
        let of = self.waiting.get_mut(&key)?;
        let item = of.pop_front();
        if of.is_empty() {
            self.waiting.remove(&key);
        }
        self.served = Some(key);
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_control_frames_go_before_one_of_data() {
        let mut turns = Turns::new();
        turns.controls.push_back('a');
        assert!((0..3).all(|_| !turns.is_of_flows()), "control frames alone do not count");
        turns.flows.push_back(0);
        let order: Vec<bool> = (0..22).map(|_| turns.is_of_flows()).collect();
        assert_eq!(order.iter().filter(|&&is| is).count(), 2);
        assert!(order[10] && order[21]);
        turns.controls.clear();
        assert!(turns.is_of_flows());
    }

    #[test]
    fn connections_of_a_level_take_turns_by_number() {
        let mut levels = Levels::new();
        for (is_high, number, item) in
            [(false, 2, 'a'), (false, 2, 'b'), (false, 5, 'c'), (true, 9, 'd'), (false, 1, 'e')]
        {
            levels.push(is_high, (number, 0), item);
        }
        assert_eq!(levels.len(), 5);
        let mut order = vec![levels.pop(), levels.pop(), levels.pop()];
        levels.push(false, (3, 0), 'f');
        order.extend(std::iter::from_fn(|| levels.pop()).map(Some));
        let order: String = order.into_iter().flatten().collect();
        assert_eq!(order, "deafcb");
        assert!(levels.is_empty());
    }
}

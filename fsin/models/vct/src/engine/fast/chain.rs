//! Intrusive FIFO queues of items in a slab.

use fsin_core::slab::Slab;

/// The null handle, of items and of nodes.
pub(super) const NONE: u32 = u32::MAX;

/// An item of a [`Slab`] that can be linked into a [`Chain`].
pub(super) trait Linked {
    /// The handle of the next item in the chain; [`NONE`] for the last item, and for one outside of chains.
    fn next(&self) -> u32;

    /// Sets the next item, or [`NONE`].
    fn link(&mut self, next: u32);
}

/// A FIFO queue of items in a slab, linked through the items themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    /// The front item; [`NONE`] if the queue is empty.
    first: u32,
    /// The last item; [`NONE`] if the queue is empty.
    last: u32,
}

impl Chain {
    /// A queue without items.
    pub(super) const EMPTY: Self = Self { first: NONE, last: NONE };

    #[inline(always)]
    pub(super) const fn is_empty(&self) -> bool {
        self.first == NONE
    }

    /// The front item; [`NONE`] if the queue is empty.
    #[inline]
    pub(super) const fn first(&self) -> u32 {
        self.first
    }

    /// Appends an item that is in no chain.
    #[inline]
    pub(super) fn push<T: Linked>(&mut self, slab: &mut Slab<T>, thing: u32) {
        if self.first == NONE {
            self.first = thing;
        } else {
            slab[self.last].link(thing);
        }
        self.last = thing;
    }

    /// Removes the front item, `first`.
    #[inline]
    pub(super) fn pop(&mut self, first: &mut impl Linked) {
        self.first = first.next();
        first.link(NONE);
    }

    /// All items, from the front.
    pub(super) fn all<T: Linked>(self, slab: &Slab<T>) -> impl Iterator<Item = &T> {
        std::iter::successors(slab.get(self.first), |thing| slab.get(thing.next()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Link {
        next: u32,
        value: u32,
    }

    impl Linked for Link {
        fn next(&self) -> u32 {
            self.next
        }

        fn link(&mut self, next: u32) {
            self.next = next;
        }
    }

    #[test]
    fn chains_are_queues_and_handles_are_used_again() {
        let mut slab = Slab::new();
        let mut chains = [Chain::EMPTY; 2];
        let mut queues = [const { std::collections::VecDeque::new() }; 2];
        for value in 0..200u32 {
            let at = value as usize * 7 % 5 % 2;
            if value % 3 < 2 {
                let handle = slab.store(Link { next: NONE, value });
                chains[at].push(&mut slab, handle);
                queues[at].push_back(value);
            } else if !chains[at].is_empty() {
                let first = chains[at].first();
                assert_eq!(Some(slab[first].value), queues[at].pop_front());
                chains[at].pop(&mut slab[first]);
                slab.release(first);
            }
            for (chain, queue) in chains.iter().zip(&queues) {
                assert!(chain.all(&slab).map(|link| link.value).eq(queue.iter().copied()));
                assert_eq!(chain.is_empty(), queue.is_empty());
            }
        }
        assert!(slab.get(100).is_none(), "places are used again");
    }
}

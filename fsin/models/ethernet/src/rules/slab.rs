//! A list of items with handles, in which the places of released items are used again.

use std::ops::{Index, IndexMut};

/// Items by handle. The handles of released items are given out again.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    /// By handle: the item, or the last item if the handle is vacant.
    places: Vec<T>,
    /// Handles of removed items.
    vacant: Vec<u32>,
}

impl<T> Slab<T> {
    /// An empty list.
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), vacant: Vec::new() }
    }

    /// Stores an item and returns its handle.
    #[inline]
    pub(crate) fn store(&mut self, item: T) -> u32 {
        if let Some(handle) = self.vacant.pop() {
            self.places[handle as usize] = item;
            return handle;
        }
        self.places.push(item);
        (self.places.len() - 1) as u32
    }

    /// Makes a handle free for another item.
    #[inline]
    pub(crate) fn release(&mut self, handle: u32) {
        self.vacant.push(handle);
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, handle: u32) -> &T {
        &self.places[handle as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline(always)]
    fn index_mut(&mut self, handle: u32) -> &mut T {
        &mut self.places[handle as usize]
    }
}

//! A slab: items with reusable handles in one vector.

use std::ops::{Index, IndexMut};

/// Items by handle. Handles of removed items are reused.
#[derive(Debug)]
pub struct Slab<T> {
    /// By handle: the item, or the last item if the handle is vacant.
    places: Vec<T>,
    /// Handles of removed items.
    vacant: Vec<u32>,
}

impl<T> Slab<T> {
    /// No items.
    #[must_use]
    pub const fn new() -> Self {
        Self { places: Vec::new(), vacant: Vec::new() }
    }

    /// Stores an item and returns its handle.
    #[inline]
    pub fn store(&mut self, item: T) -> u32 {
        if let Some(handle) = self.vacant.pop() {
            self.places[handle as usize] = item;
            handle
        } else {
            self.places.push(item);
            (self.places.len() - 1) as u32
        }
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len() - self.vacant.len()
    }

    /// True if there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All items, and some that have been removed, by handle.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut()
    }

    /// The item of a handle; `None` if no such handle was ever issued.
    #[must_use]
    pub fn get(&self, handle: u32) -> Option<&T> {
        self.places.get(handle as usize)
    }

    /// Removes an item. Its value can be read until another is stored.
    #[inline(always)]
    pub fn release(&mut self, handle: u32) {
        self.vacant.push(handle);
    }
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self::new()
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

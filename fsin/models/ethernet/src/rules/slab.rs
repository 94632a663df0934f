//! Things that come and go, in one list.

use std::ops::{Index, IndexMut};

/// Things by handle. The handles of those that are gone are given out again.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    places: Vec<T>,
    vacant: Vec<u32>,
}

impl<T> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), vacant: Vec::new() }
    }

    #[inline]
    pub(crate) fn store(&mut self, thing: T) -> u32 {
        if let Some(handle) = self.vacant.pop() {
            self.places[handle as usize] = thing;
            return handle;
        }
        self.places.push(thing);
        (self.places.len() - 1) as u32
    }

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

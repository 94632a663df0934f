//! Objects of the program by handle.

use std::ffi::c_int;

/// The objects of one kind that the program has created, by handle.
#[derive(Debug)]
pub(crate) struct Table<T> {
    /// The upper bits of all handles of the table; the lower bits are the index.
    kind: c_int,
    /// The objects by index; `None` for an index that is not in use.
    all: Vec<Option<T>>,
    /// Indices that can be used again.
    free: Vec<usize>,
}

impl<T> Table<T> {
    /// An empty table of handles of this kind. The first `reserved` indices are never used.
    pub(crate) fn new(kind: u32, reserved: usize) -> Self {
        Self { kind: kind as c_int, all: (0..reserved).map(|_| None).collect(), free: Vec::new() }
    }

    /// Adds an object and returns its handle.
    pub(crate) fn add(&mut self, object: T) -> c_int {
        let index = self.free.pop().unwrap_or_else(|| {
            self.all.push(None);
            self.all.len() - 1
        });
        self.all[index] = Some(object);
        self.kind | index as c_int
    }

    /// The index of a handle; `None` if it is of another kind or predefined.
    fn index(&self, handle: c_int) -> Option<usize> {
        (handle & 0x7c00_0000 == self.kind & 0x7c00_0000 && handle < 0).then_some((handle & 0x03ff_ffff) as usize)
    }

    pub(crate) fn get(&self, handle: c_int) -> Option<&T> {
        self.all.get(self.index(handle)?)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, handle: c_int) -> Option<&mut T> {
        let index = self.index(handle)?;
        self.all.get_mut(index)?.as_mut()
    }

    pub(crate) fn remove(&mut self, handle: c_int) -> Option<T> {
        let index = self.index(handle)?;
        let object = self.all.get_mut(index)?.take()?;
        self.free.push(index);
        Some(object)
    }

    /// Handles in use.
    pub(crate) fn handles(&self) -> Vec<c_int> {
        let used = self.all.iter().enumerate().filter(|(_, object)| object.is_some());
        used.map(|(index, _)| self.kind | index as c_int).collect()
    }
}

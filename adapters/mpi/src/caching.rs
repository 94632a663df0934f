//! Attributes that a program caches on communicators, datatypes and windows, and their keys.
//!
//! An attribute has the language that has set it. What the other language reads follows from it (MPI-4.0, 19.3.7): C reads
//! an integer of Fortran through a pointer to it, Fortran reads a pointer of C as an integer.

use std::cell::Cell;
use std::ffi::c_int;
use std::rc::Rc;

use crate::abi::F;

/// Objects that have attributes of their own keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Holder {
    Communicator,
    Datatype,
    Window,
}

impl Holder {
    /// The noun, for messages.
    pub(crate) const fn plural(self) -> &'static str {
        match self {
            Self::Communicator => "communicators",
            Self::Datatype => "datatypes",
            Self::Window => "windows",
        }
    }
}

/// A key of attributes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keyval {
    /// The objects whose attributes have it.
    pub(crate) holder: Holder,
    /// The copy function.
    pub(crate) copy: F,
    /// The delete function.
    pub(crate) delete: F,
    /// The extra state that the program has given, which is passed to both functions.
    pub(crate) extra: isize,
    /// The functions of Fortran's library that call the copy and the delete function; null for functions of C.
    pub(crate) proxies: (F, F),
    /// True once the program has freed it. Attributes that have it keep it.
    pub(crate) is_freed: bool,
}

/// Kinds of values, as MPICH's Fortran library numbers them.
pub(crate) const POINTER: c_int = 0;

/// The value of an attribute.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    /// The value. The program may have a pointer to it, which stays when the object is copied within the library.
    value: Rc<Cell<isize>>,
    /// [`POINTER`] for a pointer of C; else an integer of Fortran, in one of the kinds of MPICH.
    kind: c_int,
}

impl Attribute {
    pub(crate) fn new(value: isize, kind: c_int) -> Self {
        Self { value: Rc::new(Cell::new(value)), kind }
    }

    /// The value as the program has set it.
    pub(crate) fn value(&self) -> isize {
        self.value.get()
    }

    /// Who has set it, as a kind of value.
    pub(crate) const fn kind(&self) -> c_int {
        self.kind
    }

    /// The value as C reads it: a pointer to an integer of Fortran, otherwise the pointer that was set.
    pub(crate) fn for_c(&self) -> isize {
        if self.kind == POINTER { self.value.get() } else { self.value.as_ptr() as isize }
    }
}

/// The attributes of an object, in the order in which they were set.
#[derive(Clone, Default, Debug)]
pub(crate) struct Attributes(Vec<(c_int, Attribute)>);

impl Attributes {
    /// The attribute with this key.
    pub(crate) fn get(&self, keyval: c_int) -> Option<&Attribute> {
        self.0.iter().find(|(key, _)| *key == keyval).map(|(_, attribute)| attribute)
    }

    /// Sets an attribute. One that has a value already keeps its place, as in MPICH, and pointers to its value.
    pub(crate) fn set(&mut self, keyval: c_int, value: isize, kind: c_int) {
        match self.0.iter_mut().find(|(key, _)| *key == keyval) {
            Some((_, attribute)) => {
                attribute.value.set(value);
                attribute.kind = kind;
            }
            None => self.0.push((keyval, Attribute::new(value, kind))),
        }
    }

    /// Removes an attribute.
    pub(crate) fn remove(&mut self, keyval: c_int) -> Option<Attribute> {
        let place = self.0.iter().position(|(key, _)| *key == keyval)?;
        Some(self.0.remove(place).1)
    }

    /// The keys, in the order in which the attributes were set.
    pub(crate) fn keys(&self) -> Vec<c_int> {
        self.0.iter().map(|(key, _)| *key).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Attributes, POINTER};

    #[test]
    fn attributes_are_in_the_order_of_setting_and_pointers_to_them_stay() {
        let mut all = Attributes::default();
        for (key, value) in [(9, 1), (3, 2), (5, 3)] {
            all.set(key, value, 1);
        }
        assert_eq!(all.keys(), [9, 3, 5]);
        let pointer = all.get(3).map(super::Attribute::for_c).unwrap_or_default();
        all.set(3, 7, 1);
        assert_eq!(all.keys(), [9, 3, 5]);
        // SAFETY: the attribute is there.
        assert_eq!(unsafe { *(pointer as *const isize) }, 7);
        all.set(3, 8, POINTER);
        assert_eq!(all.get(3).map(super::Attribute::for_c), Some(8));
        assert!(all.remove(9).is_some() && all.remove(9).is_none());
    }
}

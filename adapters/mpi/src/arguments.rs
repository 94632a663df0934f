//! Checks of arguments before they are used.
//!
//! An argument that is a pointer must not be null, unless its name says that it may be: the names of parameters in
//! `calls` are a table of these rules. Buffers of messages have the type of `void *`, and are checked with their count
//! and datatype by [`buffer`].

use std::ffi::{c_char, c_int, c_void};

use crate::abi::*;
use crate::datatype::Type;
use crate::error::{Outcome, error};
use crate::file::Fh;

/// Names of parameters that may be null: arrays without elements or for another rank, and what a program may ignore.
const OPTIONAL: &[&str] = &[
    "status",
    "statuses",
    "requests",
    "indices",
    "counts",
    "places",
    "sent",
    "sent_places",
    "sent_types",
    "types",
    "sizes",
    "periods",
    "at",
    "edges",
    "weights",
    "from_weights",
    "to_weights",
    "integers",
    "addresses",
    "ranks",
    "triplets",
    "translated",
    "lengths",
    "parts",
    "starts",
    "remain",
    "sources",
    "degrees",
    "destinations",
    "into",
    "memory",
];

/// True if two names are the same, also where only constants are computed.
const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// True if a parameter of this name must not be null. Names of parameters that are not used begin with `_`.
pub(crate) const fn is_required(name: &str) -> bool {
    if name.as_bytes()[0] == b'_' {
        return false;
    }
    let mut at = 0;
    while at < OPTIONAL.len() {
        if is_same(OPTIONAL[at], name) {
            return false;
        }
        at += 1;
    }
    true
}

/// An argument of a call.
pub(crate) trait Argument: Copy {
    /// True for a null pointer to something other than a buffer or a function.
    fn is_missing(self) -> bool {
        false
    }

    /// The handle that the argument is or points to.
    fn handle(self) -> c_int {
        COMM_WORLD
    }
}

impl Argument for c_int {
    fn handle(self) -> c_int {
        self
    }
}

/// A file is checked when it is used: `MPI_FILE_NULL` has an error handler.
impl Argument for Fh {
    fn handle(self) -> c_int {
        Self::handle(self)
    }
}

impl Argument for *mut Fh {
    fn is_missing(self) -> bool {
        self.is_null()
    }

    fn handle(self) -> c_int {
        // SAFETY: the pointer of the program, unless it is null.
        if self.is_null() { Fh::NULL.handle() } else { unsafe { *self }.handle() }
    }
}

/// Arguments that are numbers or addresses.
macro_rules! values {
    ($($t:ty)*) => { $(impl Argument for $t {})* };
}

/// Arguments that are pointers.
macro_rules! pointers {
    ($($t:ty)*) => { $(
        impl Argument for *const $t {
            fn is_missing(self) -> bool {
                self.is_null()
            }
        }
        impl Argument for *mut $t {
            fn is_missing(self) -> bool {
                self.is_null()
            }
        }
    )* };
}

values! { i64 isize usize P M }
pointers! { i64 usize c_char [c_int; 3] M *mut c_char *mut *mut c_char }

/// `MPI_STATUS_IGNORE`, which is 1, is no status either.
impl Argument for *const Status {
    fn is_missing(self) -> bool {
        self as usize <= 1
    }
}

impl Argument for *mut Status {
    fn is_missing(self) -> bool {
        self as usize <= 1
    }
}

impl Argument for *mut isize {
    fn is_missing(self) -> bool {
        self.is_null()
    }
}

impl Argument for *const c_int {
    fn is_missing(self) -> bool {
        self.is_null()
    }
}

impl Argument for Ip {
    fn is_missing(self) -> bool {
        self.is_null()
    }

    fn handle(self) -> c_int {
        // SAFETY: the pointer of the program, unless it is null.
        if self.is_null() { COMM_WORLD } else { unsafe { *self } }
    }
}

/// The error of an argument that must not be null.
pub(crate) fn missing<T>(name: &str) -> Outcome<T> {
    error(ERR_ARG, format!("the address of `{name}` is null"))
}

/// A count of the program; an error if it is negative.
pub(crate) fn count(count: i64) -> Outcome<i64> {
    if count < 0 { error(ERR_COUNT, format!("count {count} is negative")) } else { Ok(count) }
}

/// Checks the address and count of a buffer. Null is `MPI_BOTTOM`: the datatype must place the data elsewhere.
pub(crate) fn buffer(address: usize, count: i64, ty: &Type) -> Outcome {
    self::count(count)?;
    if ty.size.checked_mul(count).is_none() {
        return error(ERR_COUNT, format!("{count} values of {} bytes are more than 2^63 bytes", ty.size));
    }
    if address == 0 && count > 0 && ty.size > 0 && ty.true_bounds().0 == 0 {
        return error(ERR_BUFFER, format!("the buffer of {count} values is null"));
    }
    Ok(())
}

/// The number of elements of an array of the program; an error if it is negative.
pub(crate) fn length(count: i64) -> Outcome<usize> {
    self::count(count).map(|count| usize::try_from(count).unwrap_or(usize::MAX))
}

/// A copy of an array of the program of integers of 32 or 64 bits; an error if it is null and has elements.
pub(crate) unsafe fn array<T: Copy + Into<i64>>(from: *const T, count: usize, name: &str) -> Outcome<Vec<i64>> {
    if from.is_null() && count > 0 {
        return missing(name);
    }
    // SAFETY: the array of the program.
    Ok(unsafe { whole(from, count) })
}

/// A view of an array of the program; an error if it is null and has elements.
pub(crate) unsafe fn view<'a, T>(from: *const T, count: usize, name: &str) -> Outcome<&'a [T]> {
    if from.is_null() && count > 0 {
        return missing(name);
    }
    // SAFETY: the array of the program.
    Ok(unsafe { slice(from, count) })
}

/// Writes values to an array of the program; an error if it is null and there are values.
pub(crate) unsafe fn store<T>(to: *mut T, values: impl IntoIterator<Item = T>, name: &str) -> Outcome {
    for (index, value) in values.into_iter().enumerate() {
        if to.is_null() {
            return missing(name);
        }
        // SAFETY: the array of the program.
        unsafe { to.add(index).write(value) };
    }
    Ok(())
}

/// Checks the address of a function of the program.
pub(crate) fn function(address: *const c_void) -> Outcome {
    if address.is_null() { error(ERR_ARG, "the address of the function is null") } else { Ok(()) }
}

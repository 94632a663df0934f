//! Reduction operations.

use std::ffi::c_int;
use std::rc::Rc;

use crate::abi::*;
use crate::datatype::{self, Basic, Type};
use crate::error::{Outcome, error};
use crate::table::Table;

#[cfg_attr(not(target_arch = "x86_64"), path = "operation/unknown.rs")]
mod extended;

/// `MPI_User_function`.
pub(crate) type Function = unsafe extern "C" fn(M, M, *mut c_int, *mut c_int);

/// An operation of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    /// The address of the function.
    pub(crate) function: F,
    /// True if the function takes counts of type `MPI_Count`.
    pub(crate) is_large: bool,
    pub(crate) commutes: bool,
}

/// Names of the predefined operations. The last byte of a handle is the index, which is called `number` below.
const NAMES: [&str; 15] = [
    "MPI_OP_NULL",
    "MPI_MAX",
    "MPI_MIN",
    "MPI_SUM",
    "MPI_PROD",
    "MPI_LAND",
    "MPI_BAND",
    "MPI_LOR",
    "MPI_BOR",
    "MPI_LXOR",
    "MPI_BXOR",
    "MPI_MINLOC",
    "MPI_MAXLOC",
    "MPI_REPLACE",
    "MPI_NO_OP",
];

/// Index of a predefined operation in [`NAMES`]; `None` for an operation of the program.
fn number(op: c_int) -> Option<usize> {
    (0x5800_0001..=OP_NO_OP).contains(&op).then_some((op & 0xff) as usize)
}

/// True if the operation commutes.
pub(crate) fn commutes(ops: &Table<Op>, op: c_int) -> Outcome<bool> {
    match (number(op), ops.get(op)) {
        (Some(_), _) => Ok(op != OP_REPLACE && op != OP_NO_OP),
        (None, Some(found)) => Ok(found.commutes),
        (None, None) => error(ERR_OP, format!("{op:#x} is not an operation")),
    }
}

/// Checks that the operation applies to the type.
pub(crate) fn check(ops: &Table<Op>, op: c_int, handle: c_int, ty: &Type) -> Outcome {
    commutes(ops, op)?;
    let Some(number) = number(op) else { return Ok(()) };
    let kind = ty.basic().and_then(datatype::kind);
    /// Bytes are sets of bits, and wide characters are no numbers.
    const BYTE: c_int = 0x4c00_010d;
    const WIDE: c_int = 0x4c00_040e;
    let fits = match (number, kind) {
        (13 | 14, _) => true,
        _ if ty.basic() == Some(WIDE) || ty.basic() == Some(BYTE) && !matches!(number, 6 | 8 | 10) => false,
        (_, None) => false,
        (1 | 2, Some(kind)) => matches!(kind, Basic::Signed | Basic::Unsigned | Basic::Float | Basic::Extended),
        (3 | 4, Some(kind)) => !matches!(kind, Basic::Logical | Basic::Bytes | Basic::Pair(..) | Basic::Twins(..)),
        (5 | 7 | 9, Some(kind)) => {
            matches!(kind, Basic::Signed | Basic::Unsigned | Basic::Logical | Basic::Float | Basic::Extended)
        }
        (6 | 8 | 10, Some(kind)) => matches!(kind, Basic::Signed | Basic::Unsigned | Basic::Logical),
        (_, Some(Basic::Pair(inner, _) | Basic::Twins(inner, _))) => *inner != Basic::Bytes,
        (_, Some(_)) => false,
    };
    if fits || ty.size == 0 {
        return Ok(());
    }
    let name = if ty.name.is_empty() { format!("{handle:#x}") } else { ty.name.clone() };
    error(ERR_OP, format!("{} is not supported for values of type {name}", NAMES[number]))
}

/// Returns an error if the type is not predefined, as `MPI_Fetch_and_op` needs it (MPI-4.0, 12.3.4).
pub(crate) fn predefined_type(handle: c_int) -> Outcome {
    match datatype::is_builtin(handle) {
        true => Ok(()),
        false => error(ERR_TYPE, format!("{handle:#x} is not a predefined datatype")),
    }
}

/// Returns an error unless values of the type can be compared and swapped: integers of C and Fortran, logical and
/// multi-language types, and bytes (MPI-4.0, 12.3.4).
pub(crate) fn comparable_type(handle: c_int) -> Outcome {
    /// `MPI_WCHAR`, which is a character.
    const WIDE: c_int = 0x4c00_040e;
    match datatype::kind(handle) {
        Some(Basic::Signed | Basic::Unsigned | Basic::Logical) if handle != WIDE => Ok(()),
        _ => error(ERR_TYPE, format!("values of type {handle:#x} are neither integers, logical values nor bytes")),
    }
}

/// Replaces each number in `right` by the result of `apply` on the numbers at its place in `left` and `right`.
macro_rules! numbers {
    ($left:expr, $right:expr, $int:ty, $apply:expr) => {{
        const SIZE: usize = std::mem::size_of::<$int>();
        for (left, right) in $left.chunks_exact(SIZE).zip($right.chunks_exact_mut(SIZE)) {
            let a = <$int>::from_ne_bytes(left.try_into().unwrap_or_default());
            let b = <$int>::from_ne_bytes((&*right).try_into().unwrap_or_default());
            let result: $int = $apply(a, b);
            right.copy_from_slice(&result.to_ne_bytes());
        }
    }};
}

/// Applies a predefined operation to integers of type `int`.
macro_rules! integer {
    ($number:expr, $left:expr, $right:expr, $int:ty) => {{
        let logical = |value: bool| if value { 1 } else { 0 };
        match $number {
            1 => numbers!($left, $right, $int, |a: $int, b| a.max(b)),
            2 => numbers!($left, $right, $int, |a: $int, b| a.min(b)),
            3 => numbers!($left, $right, $int, |a: $int, b| a.wrapping_add(b)),
            4 => numbers!($left, $right, $int, |a: $int, b| a.wrapping_mul(b)),
            5 => numbers!($left, $right, $int, |a: $int, b| logical(a != 0 && b != 0)),
            6 => numbers!($left, $right, $int, |a: $int, b| a & b),
            7 => numbers!($left, $right, $int, |a: $int, b| logical(a != 0 || b != 0)),
            8 => numbers!($left, $right, $int, |a: $int, b| a | b),
            9 => numbers!($left, $right, $int, |a: $int, b| logical((a != 0) != (b != 0))),
            10 => numbers!($left, $right, $int, |a: $int, b| a ^ b),
            _ => {}
        }
    }};
}

/// Applies a predefined operation to floating-point numbers of type `float`.
macro_rules! real {
    ($number:expr, $left:expr, $right:expr, $float:ty) => {{
        let logical = |value: bool| if value { 1.0 } else { 0.0 };
        match $number {
            1 => numbers!($left, $right, $float, |a: $float, b: $float| if a > b { a } else { b }),
            2 => numbers!($left, $right, $float, |a: $float, b: $float| if a < b { a } else { b }),
            3 => numbers!($left, $right, $float, |a: $float, b: $float| a + b),
            4 => numbers!($left, $right, $float, |a: $float, b: $float| a * b),
            5 => numbers!($left, $right, $float, |a: $float, b: $float| logical(a != 0.0 && b != 0.0)),
            7 => numbers!($left, $right, $float, |a: $float, b: $float| logical(a != 0.0 || b != 0.0)),
            9 => numbers!($left, $right, $float, |a: $float, b: $float| logical((a != 0.0) != (b != 0.0))),
            _ => {}
        }
    }};
}

/// Multiplies complex numbers, whose parts are of type `float`.
macro_rules! complex {
    ($left:expr, $right:expr, $float:ty) => {{
        const SIZE: usize = std::mem::size_of::<$float>();
        for (left, right) in $left.chunks_exact(2 * SIZE).zip($right.chunks_exact_mut(2 * SIZE)) {
            let part = |from: &[u8], index: usize| {
                <$float>::from_ne_bytes(from[index * SIZE..][..SIZE].try_into().unwrap_or_default())
            };
            let (a, b, c, d) = (part(left, 0), part(left, 1), part(right, 0), part(right, 1));
            right[..SIZE].copy_from_slice(&(a * c - b * d).to_ne_bytes());
            right[SIZE..].copy_from_slice(&(a * d + b * c).to_ne_bytes());
        }
    }};
}

/// `right` becomes `left op right`, for numbers of this kind and of `size` bytes.
fn arithmetic(number: usize, kind: Basic, size: i64, left: &[u8], right: &mut [u8]) {
    match (kind, size) {
        (Basic::Extended, _) => extended::apply(number, left, right),
        (Basic::ExtendedComplex, _) if number == 3 => extended::apply(number, left, right),
        (Basic::ExtendedComplex, _) => extended::multiply_complex(left, right),
        (Basic::Float, 4) => real!(number, left, right, f32),
        (Basic::Float, _) => real!(number, left, right, f64),
        (Basic::Complex, 8) if number == 3 => real!(number, left, right, f32),
        (Basic::Complex, _) if number == 3 => real!(number, left, right, f64),
        (Basic::Complex, 8) => complex!(left, right, f32),
        (Basic::Complex, _) => complex!(left, right, f64),
        (Basic::Unsigned | Basic::Logical, 1) => integer!(number, left, right, u8),
        (Basic::Unsigned, 2) => integer!(number, left, right, u16),
        (Basic::Unsigned | Basic::Logical, 4) => integer!(number, left, right, u32),
        (Basic::Unsigned, _) => integer!(number, left, right, u64),
        (_, 1) => integer!(number, left, right, i8),
        (_, 2) => integer!(number, left, right, i16),
        (_, 4) => integer!(number, left, right, i32),
        _ => integer!(number, left, right, i64),
    }
}

/// A number of a pair as a floating-point value, which is only compared.
fn value(kind: Basic, bytes: &[u8]) -> f64 {
    match (kind, bytes.len()) {
        (Basic::Float, 4) => f64::from(f32::from_ne_bytes(bytes.try_into().unwrap_or_default())),
        (Basic::Float, _) => f64::from_ne_bytes(bytes.try_into().unwrap_or_default()),
        (_, 2) => f64::from(i16::from_ne_bytes(bytes.try_into().unwrap_or_default())),
        (_, 4) => f64::from(i32::from_ne_bytes(bytes.try_into().unwrap_or_default())),
        _ => i64::from_ne_bytes(bytes.try_into().unwrap_or_default()) as f64,
    }
}

/// Whether the first number of two is less than the second, and whether it is greater.
fn order(kind: Basic, left: &[u8], right: &[u8]) -> (bool, bool) {
    if kind == Basic::Extended {
        return extended::order(left, right);
    }
    let (a, b) = (value(kind, left), value(kind, right));
    (a < b, a > b)
}

/// `MPI_MINLOC` and `MPI_MAXLOC`: the least or greatest value with its index; the lower index if values are equal.
/// `size` and `index` are the sizes of the value and the index in bytes.
fn location(number: usize, kind: Basic, size: usize, index: usize, left: &[u8], right: &mut [u8]) {
    for (left, right) in left.chunks_exact(size + index).zip(right.chunks_exact_mut(size + index)) {
        let (less, greater) = order(kind, &left[..size], &right[..size]);
        let index_kind = if index == size { kind } else { Basic::Signed };
        let (i, j) = (value(index_kind, &left[size..]), value(index_kind, &right[size..]));
        let better = if number == 11 { less } else { greater };
        if better || (!less && !greater && i < j) {
            right.copy_from_slice(left);
        }
    }
}

/// What a reduction applies to its contributions.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    /// Handle of the operation, and the operation if it is the program's. The program may free it meanwhile.
    pub(crate) op: c_int,
    pub(crate) function: Option<Op>,
    /// Handle of the datatype.
    pub(crate) handle: c_int,
    pub(crate) ty: Rc<Type>,
    /// Number of values in each contribution.
    pub(crate) count: i64,
}

impl Terms {
    /// The terms of a reduction of `count` values of a type.
    ///
    /// # Errors
    /// The operation does not exist, or does not apply to the type.
    pub(crate) fn of(ops: &Table<Op>, op: c_int, handle: c_int, ty: &Rc<Type>, count: i64) -> Outcome<Self> {
        check(ops, op, handle, ty)?;
        // Of derived types only those of Fortran's kinds are numbers (MPI-4.0, 6.9.2).
        let is_number = datatype::is_builtin(handle) || matches!(ty.made.combiner, 15..=17);
        if number(op).is_some() && !is_number {
            return error(ERR_OP, "a predefined operation needs values of a predefined datatype");
        }
        if [OP_REPLACE, OP_NO_OP].contains(&op) {
            return error(ERR_OP, "MPI_REPLACE and MPI_NO_OP are no operations of reductions");
        }
        Ok(Self { op, function: ops.get(op).copied(), handle, ty: Rc::clone(ty), count })
    }
}

/// `right` becomes `left op right`: packed data, `left` of lower ranks. Returns false if the operation is not predefined.
pub(crate) fn predefined(terms: &Terms, left: &[u8], right: &mut [u8]) -> bool {
    let Some(number) = number(terms.op) else { return false };
    let Some(basic) = terms.ty.basic() else { return true };
    match (number, datatype::kind(basic)) {
        (13, _) => {}
        (14, _) => right.copy_from_slice(left),
        (11 | 12, Some(Basic::Pair(kind, size))) => location(number, *kind, size as usize, 4, left, right),
        (11 | 12, Some(Basic::Twins(kind, size))) => {
            location(number, *kind, size as usize, size as usize, left, right);
        }
        (_, Some(kind)) => arithmetic(number, kind, i64::from(basic >> 8 & 0xff), left, right),
        (_, None) => {}
    }
    true
}

impl Op {
    /// Calls the function of the program: `right` becomes `left op right`, packed data. `handle` is a handle of the type.
    ///
    /// # Safety
    /// The function is one that the program has given with `MPI_Op_create`, and no state of the library is borrowed.
    pub(crate) unsafe fn call(&self, terms: &Terms, mut handle: c_int, left: &[u8], right: &mut [u8]) {
        let Self { function, is_large, .. } = *self;
        let &Terms { ref ty, count, .. } = terms;
        // The function expects unpacked values, at the offsets that the datatype gives. It may read a little beyond the
        // last value, if that ends with a gap.
        let spread = |data: &[u8]| {
            let ((first, last), rest) = (ty.true_bounds(), (count - 1).max(0) * ty.extent());
            // In units of 16 bytes values keep the alignment that their offsets give them.
            let lower = (first + rest.min(0)).div_euclid(16);
            let mut memory = vec![0_u128; (last + rest.max(0)).div_euclid(16).max(lower).abs_diff(lower) as usize + 2];
            // SAFETY: the memory holds all values.
            unsafe { ty.unpack(data, memory.as_mut_ptr().wrapping_offset(-lower as isize).cast(), count) };
            (memory, lower)
        };
        let ((mut a, lower), (mut b, _)) = (spread(left), spread(right));
        let (from, to) =
            (a.as_mut_ptr().wrapping_offset(-lower as isize), b.as_mut_ptr().wrapping_offset(-lower as isize));
        // SAFETY: the program has given this function with `MPI_Op_create`.
        unsafe {
            if is_large {
                type Large = unsafe extern "C" fn(M, M, *mut i64, *mut c_int);
                let mut count = count;
                let function = std::mem::transmute::<F, Large>(function);
                function(from.cast(), to.cast(), &raw mut count, &raw mut handle);
            } else {
                let mut count = count as c_int;
                let function = std::mem::transmute::<F, Function>(function);
                function(from.cast(), to.cast(), &raw mut count, &raw mut handle);
            }
            let mut packed = Vec::new();
            // As many bytes as were unpacked: there is memory for them.
            if ty.pack(to.cast(), count, &mut packed).is_ok() {
                right.copy_from_slice(&packed);
            }
        }
    }
}

#[cfg(test)]
mod tests;

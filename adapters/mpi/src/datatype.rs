//! Datatypes. A datatype is a list of runs of basic elements; values are packed and unpacked run after run.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ffi::c_int;
use std::rc::Rc;

use crate::abi::*;
use crate::caching::Attributes;
use crate::error::{Outcome, error};
use crate::table::Table;

/// Consecutive elements of one basic type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    /// \[bytes\] Distance from the beginning of the value.
    pub(crate) offset: i64,
    /// \[bytes\] Length of the run.
    pub(crate) length: i64,
    /// The handle of the basic type.
    pub(crate) basic: c_int,
}

/// How a type was made: the arguments of its constructor.
#[derive(Clone, Default, Debug)]
pub(crate) struct Made {
    /// The constructor, as a constant `MPI_COMBINER_...` of `mpi.h`.
    pub(crate) combiner: c_int,
    /// Arguments that are integers, in the order of `MPI_Type_get_contents`.
    pub(crate) integers: Vec<i64>,
    /// \[bytes\] Arguments that are addresses or distances.
    pub(crate) addresses: Vec<i64>,
    /// Arguments of type `MPI_Count`, of the constructors with large counts.
    pub(crate) counts: Vec<i64>,
    /// Handles of the types of which it was made.
    pub(crate) types: Vec<c_int>,
    /// Those types themselves, which the program may have freed meanwhile.
    held: Vec<Rc<Type>>,
}

impl Made {
    /// How a type is made by the constructor with this number, from these arguments.
    pub(crate) fn by(combiner: c_int, integers: Vec<i64>, addresses: Vec<i64>, types: Vec<c_int>) -> Self {
        Self { combiner, integers, addresses, counts: Vec::new(), types, held: Vec::new() }
    }

    /// How the same type is made by the constructor with large counts. These are its counts, lengths and displacements; other
    /// arguments stay integers.
    pub(crate) fn enlarge(&mut self) {
        const SUBARRAY: c_int = 13;
        const DARRAY: c_int = 14;
        let integers = std::mem::take(&mut self.integers);
        (self.integers, self.counts) = match (self.combiner, &integers[..]) {
            // Sizes, sizes of the part and its beginnings stand between the number of axes and the order.
            (SUBARRAY, [axes, counts @ .., order]) => (vec![*axes, *order], counts.to_vec()),
            (DARRAY, [size, rank, axes, rest @ ..]) if rest.len() as i64 >= *axes => {
                let (counts, rest) = rest.split_at(*axes as usize);
                ([&[*size, *rank, *axes], rest].concat(), counts.to_vec())
            }
            _ => (Vec::new(), [integers, std::mem::take(&mut self.addresses)].concat()),
        };
    }
}

/// A datatype.
#[derive(Clone, Debug)]
pub(crate) struct Type {
    /// \[bytes\] Size of the data of one value, without gaps.
    pub(crate) size: i64,
    /// \[bytes\] Offset of the lower bound of a value from its address.
    pub(crate) lower: i64,
    /// \[bytes\] Offset of the upper bound; the next value of an array follows at the distance of both bounds.
    pub(crate) upper: i64,
    /// The data of one value, in the order in which they are packed.
    pub(crate) runs: Rc<Vec<Run>>,
    pub(crate) name: String,
    pub(crate) made: Made,
    pub(crate) attributes: Attributes,
    /// True if it is predefined, or the program has committed it.
    pub(crate) is_committed: bool,
    /// See [`Type::pieces`], once it has been needed.
    pub(crate) pieces: OnceCell<Option<Pieces>>,
}

/// Pieces of memory of one length \[bytes\], each at the same distance \[bytes\] from the one before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pieces {
    /// \[bytes\] Offset of the first one.
    pub(crate) first: i64,
    pub(crate) length: i64,
    pub(crate) count: i64,
    /// 0 if there is one alone.
    pub(crate) distance: i64,
}

/// The pieces of memory of these runs: offset and length \[bytes\] of each, with those that touch joined.
fn touching(runs: impl Iterator<Item = (i64, i64)>) -> impl Iterator<Item = (i64, i64)> {
    let mut runs = runs.peekable();
    std::iter::from_fn(move || {
        let (offset, mut length) = runs.next()?;
        while let Some((_, more)) = runs.next_if(|&(next, _)| next == offset.wrapping_add(length)) {
            length = length.saturating_add(more);
        }
        Some((offset, length))
    })
}

/// Kind of a basic type, for arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Basic {
    Signed,
    Unsigned,
    Float,
    Complex,
    Logical,
    /// `long double` of x86-64, and complex numbers of two.
    Extended,
    ExtendedComplex,
    /// No arithmetic is defined: characters, and other numbers of 16 bytes or more.
    Bytes,
    /// A value and an index of 4 bytes: the kind of the value and its size.
    Pair(&'static Basic, i64),
    /// Two values of the same kind: the kind and size of each.
    Twins(&'static Basic, i64),
}

use Basic::{Bytes, Complex, Float, Logical, Pair, Signed, Twins, Unsigned};

/// The kinds of `long double` and of complex numbers of two: arithmetic on them is that of x86-64.
const LONG: Basic = if cfg!(target_arch = "x86_64") { Basic::Extended } else { Bytes };
/// See [`LONG`].
const LONG_COMPLEX: Basic = if cfg!(target_arch = "x86_64") { Basic::ExtendedComplex } else { Bytes };

/// The predefined types: handle, name, kind. The second byte of a handle is the size of the type \[bytes\], except for
/// pairs.
const BUILTIN: &[(u32, &str, Basic)] = &[
    (0x4c00_0101, "MPI_CHAR", Signed),
    (0x4c00_0118, "MPI_SIGNED_CHAR", Signed),
    (0x4c00_0102, "MPI_UNSIGNED_CHAR", Unsigned),
    (0x4c00_010d, "MPI_BYTE", Unsigned),
    (0x4c00_040e, "MPI_WCHAR", Signed),
    (0x4c00_0203, "MPI_SHORT", Signed),
    (0x4c00_0204, "MPI_UNSIGNED_SHORT", Unsigned),
    (0x4c00_0405, "MPI_INT", Signed),
    (0x4c00_0406, "MPI_UNSIGNED", Unsigned),
    (0x4c00_0807, "MPI_LONG", Signed),
    (0x4c00_0808, "MPI_UNSIGNED_LONG", Unsigned),
    (0x4c00_040a, "MPI_FLOAT", Float),
    (0x4c00_080b, "MPI_DOUBLE", Float),
    (0x4c00_100c, "MPI_LONG_DOUBLE", LONG),
    (0x4c00_0809, "MPI_LONG_LONG_INT", Signed),
    (0x4c00_0819, "MPI_UNSIGNED_LONG_LONG", Unsigned),
    (0x4c00_010f, "MPI_PACKED", Bytes),
    (0x4c00_0010, "MPI_LB", Bytes),
    (0x4c00_0011, "MPI_UB", Bytes),
    (0x8c00_0000, "MPI_FLOAT_INT", Pair(&Float, 4)),
    (0x8c00_0001, "MPI_DOUBLE_INT", Pair(&Float, 8)),
    (0x8c00_0002, "MPI_LONG_INT", Pair(&Signed, 8)),
    (0x8c00_0003, "MPI_SHORT_INT", Pair(&Signed, 2)),
    (0x8c00_0004, "MPI_LONG_DOUBLE_INT", Pair(&LONG, 16)),
    (0x4c00_0816, "MPI_2INT", Twins(&Signed, 4)),
    (0x4c00_081e, "MPI_COMPLEX", Complex),
    (0x4c00_1022, "MPI_DOUBLE_COMPLEX", Complex),
    (0x4c00_041d, "MPI_LOGICAL", Logical),
    (0x4c00_041c, "MPI_REAL", Float),
    (0x4c00_081f, "MPI_DOUBLE_PRECISION", Float),
    (0x4c00_041b, "MPI_INTEGER", Signed),
    (0x4c00_0820, "MPI_2INTEGER", Twins(&Signed, 4)),
    (0x4c00_0821, "MPI_2REAL", Twins(&Float, 4)),
    (0x4c00_1023, "MPI_2DOUBLE_PRECISION", Twins(&Float, 8)),
    (0x4c00_011a, "MPI_CHARACTER", Bytes),
    (0x4c00_0427, "MPI_REAL4", Float),
    (0x4c00_0829, "MPI_REAL8", Float),
    (0x4c00_102b, "MPI_REAL16", Bytes),
    (0x4c00_0828, "MPI_COMPLEX8", Complex),
    (0x4c00_102a, "MPI_COMPLEX16", Complex),
    (0x4c00_202c, "MPI_COMPLEX32", Bytes),
    (0x4c00_012d, "MPI_INTEGER1", Signed),
    (0x4c00_022f, "MPI_INTEGER2", Signed),
    (0x4c00_0430, "MPI_INTEGER4", Signed),
    (0x4c00_0831, "MPI_INTEGER8", Signed),
    (0x4c00_0137, "MPI_INT8_T", Signed),
    (0x4c00_0238, "MPI_INT16_T", Signed),
    (0x4c00_0439, "MPI_INT32_T", Signed),
    (0x4c00_083a, "MPI_INT64_T", Signed),
    (0x4c00_013b, "MPI_UINT8_T", Unsigned),
    (0x4c00_023c, "MPI_UINT16_T", Unsigned),
    (0x4c00_043d, "MPI_UINT32_T", Unsigned),
    (0x4c00_083e, "MPI_UINT64_T", Unsigned),
    (0x4c00_013f, "MPI_C_BOOL", Logical),
    (0x4c00_0840, "MPI_C_FLOAT_COMPLEX", Complex),
    (0x4c00_1041, "MPI_C_DOUBLE_COMPLEX", Complex),
    (0x4c00_2042, "MPI_C_LONG_DOUBLE_COMPLEX", LONG_COMPLEX),
    (0x4c00_0246, "MPIX_C_FLOAT16", Bytes),
    (0x4c00_0843, "MPI_AINT", Signed),
    (0x4c00_0844, "MPI_OFFSET", Signed),
    (0x4c00_0845, "MPI_COUNT", Signed),
    (0x4c00_0133, "MPI_CXX_BOOL", Logical),
    (0x4c00_0834, "MPI_CXX_FLOAT_COMPLEX", Complex),
    (0x4c00_1035, "MPI_CXX_DOUBLE_COMPLEX", Complex),
    (0x4c00_2036, "MPI_CXX_LONG_DOUBLE_COMPLEX", LONG_COMPLEX),
];

/// The description of a predefined type; `None` for another handle.
fn builtin(handle: c_int) -> Option<Type> {
    let &(_, name, kind) = BUILTIN.iter().find(|&&(known, ..)| known as c_int == handle)?;
    let (size, extent, runs) = match kind {
        // As a structure of C: the index is aligned to 4 bytes, and the structure to the larger of both.
        Pair(_, value) => {
            let index = value.max(4);
            let extent = (index + 4 + index - 1) / index * index;
            let runs = [(0, value), (index, 4)].map(|(offset, length)| Run { offset, length, basic: handle });
            (value + 4, extent, runs.to_vec())
        }
        _ => {
            let size = i64::from(handle >> 8 & 0xff);
            (size, size, vec![Run { offset: 0, length: size, basic: handle }])
        }
    };
    let made = Made { combiner: 1, ..Made::default() };
    let (runs, name) = (Rc::new(runs), name.to_owned());
    let attributes = Attributes::default();
    let is_committed = true;
    Some(Type { size, lower: 0, upper: extent, runs, name, made, attributes, is_committed, pieces: OnceCell::new() })
}

/// The kind of a basic type; `None` if the handle is not that of a predefined type.
pub(crate) fn kind(basic: c_int) -> Option<Basic> {
    BUILTIN.iter().find(|&&(known, ..)| known as c_int == basic).map(|&(_, _, kind)| kind)
}

/// True for a predefined type.
pub(crate) fn is_builtin(handle: c_int) -> bool {
    kind(handle).is_some()
}

/// The datatypes by handle: those of the program, and the predefined ones.
#[derive(Debug)]
pub(crate) struct Types {
    made: Table<Rc<Type>>,
    predefined: HashMap<c_int, Rc<Type>>,
}

impl Types {
    pub(crate) fn new() -> Self {
        let handles = BUILTIN.iter().map(|&(handle, ..)| handle as c_int);
        let predefined = handles.filter_map(|handle| Some((handle, Rc::new(builtin(handle)?)))).collect();
        Self { made: Table::new(0x8c00_0000, 16), predefined }
    }

    /// The type of a handle.
    pub(crate) fn get(&self, handle: c_int) -> Outcome<Rc<Type>> {
        match self.made.get(handle).or_else(|| self.predefined.get(&handle)) {
            Some(found) => Ok(Rc::clone(found)),
            None => error(ERR_TYPE, format!("{handle:#x} is not a datatype")),
        }
    }

    /// The type of a handle, for data that are sent, received or packed: it must be committed.
    pub(crate) fn committed(&self, handle: c_int) -> Outcome<Rc<Type>> {
        let found = self.get(handle)?;
        match found.is_committed {
            true => Ok(found),
            false => error(ERR_TYPE, format!("the datatype {handle:#x} is not committed: call MPI_Type_commit first")),
        }
    }

    /// The attributes of the type of a handle.
    pub(crate) fn attributes(&self, handle: c_int) -> Outcome<&Attributes> {
        match self.made.get(handle).or_else(|| self.predefined.get(&handle)) {
            Some(found) => Ok(&found.attributes),
            None => error(ERR_TYPE, format!("{handle:#x} is not a datatype")),
        }
    }

    /// The type of a handle, whose name or attributes the caller changes.
    pub(crate) fn get_mut(&mut self, handle: c_int) -> Outcome<&mut Type> {
        match self.made.get_mut(handle).or_else(|| self.predefined.get_mut(&handle)) {
            Some(found) => Ok(Rc::make_mut(found)),
            None => error(ERR_TYPE, format!("{handle:#x} is not a datatype")),
        }
    }

    /// Adds a type of the program, which keeps those of which it was made, and returns its handle.
    pub(crate) fn add(&mut self, mut ty: Type) -> c_int {
        ty.made.held = ty.made.types.iter().filter_map(|&handle| self.get(handle).ok()).collect();
        self.made.add(Rc::new(ty))
    }

    /// Handles of the types of which a type was made: new ones, which the program frees, of those that are not predefined.
    pub(crate) fn parts(&mut self, ty: &Type) -> Vec<c_int> {
        let parts = ty.made.types.iter().zip(&ty.made.held);
        parts.map(|(&handle, held)| if is_builtin(handle) { handle } else { self.made.add(Rc::clone(held)) }).collect()
    }

    /// A handle of a type that an operation has kept: the one that the program has used, or, if it has been freed, a new
    /// one, which the caller removes.
    pub(crate) fn handle_of(&mut self, ty: &Rc<Type>, handle: c_int) -> (c_int, bool) {
        match self.get(handle) {
            Ok(found) if Rc::ptr_eq(&found, ty) => (handle, false),
            _ => (self.made.add(Rc::clone(ty)), true),
        }
    }

    /// A new handle of a type that an object has kept, which the program frees; that of a predefined type itself.
    pub(crate) fn share(&mut self, (ty, handle): &(Rc<Type>, c_int)) -> c_int {
        if is_builtin(*handle) { *handle } else { self.made.add(Rc::clone(ty)) }
    }

    /// Removes a type of the program; an error for a predefined one.
    pub(crate) fn remove(&mut self, handle: c_int) -> Outcome {
        match self.made.remove(handle) {
            Some(_) => Ok(()),
            None => error(ERR_TYPE, "predefined datatypes cannot be freed"),
        }
    }
}

impl Type {
    /// \[bytes\] Distance between consecutive values.
    pub(crate) fn extent(&self) -> i64 {
        self.upper.saturating_sub(self.lower)
    }

    /// \[bytes\] Offsets of the first byte of data, and of the byte after the last one.
    pub(crate) fn true_bounds(&self) -> (i64, i64) {
        let lower = self.runs.iter().map(|run| run.offset).min().unwrap_or(0);
        (lower, self.runs.iter().map(|run| run.offset.saturating_add(run.length)).max().unwrap_or(0))
    }

    /// \[bytes\] Offset and length of each contiguous piece of a value, in the order in which they are packed.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (i64, i64)> {
        self.runs.iter().map(|run| (run.offset, run.length))
    }

    /// The pieces of memory of a value, if they are alike and at one distance. Runs that touch are one piece, whatever their basic
    /// types.
    pub(crate) fn pieces(&self) -> Option<Pieces> {
        *self.pieces.get_or_init(|| {
            let mut all = touching(self.runs());
            let (first, length) = all.next()?;
            let mut pieces = Pieces { first, length, count: 1, distance: 0 };
            let mut before = first;
            for (offset, length) in all {
                let distance = offset.wrapping_sub(before);
                if pieces.count == 1 {
                    pieces.distance = distance;
                }
                if length != pieces.length || distance != pieces.distance {
                    return None;
                }
                (pieces.count, before) = (pieces.count + 1, offset);
            }
            Some(pieces)
        })
    }

    /// True if values of this type have the same layout in memory and packed.
    pub(crate) fn is_contiguous(&self) -> bool {
        self.size == self.extent() && matches!(self.runs[..], [] | [Run { offset: 0, .. }])
    }

    /// The basic type, if there is only one.
    pub(crate) fn basic(&self) -> Option<c_int> {
        let first = self.runs.first()?.basic;
        self.runs.iter().all(|run| run.basic == first).then_some(first)
    }

    /// The type that consists of blocks of other types: for each, its displacement in bytes, its number of values, and
    /// their type.
    pub(crate) fn compose(blocks: &[(i64, i64, &Self)], made: Made) -> Self {
        let mut runs: Vec<Run> = Vec::new();
        let (mut size, mut lower, mut upper) = (0, i64::MAX, i64::MIN);
        let mut push = |run: Run| match runs.last_mut() {
            // Each run of a pair stays a number of its own: `external32` and the count of elements ask for its width.
            Some(last)
                if last.basic == run.basic
                    && last.offset.wrapping_add(last.length) == run.offset
                    && !matches!(kind(run.basic), Some(Pair(..))) =>
            {
                last.length = last.length.saturating_add(run.length);
            }
            _ if run.length == 0 => {}
            _ => runs.push(run),
        };
        for &(displacement, count, inner) in blocks {
            if count <= 0 {
                continue;
            }
            let extent = inner.extent();
            size = count.saturating_mul(inner.size).saturating_add(size);
            let ends = [0, (count - 1).saturating_mul(extent)];
            let bound = |end: i64, edge: i64| displacement.saturating_add(edge).saturating_add(end);
            lower = lower.min(bound(ends[0].min(ends[1]), inner.lower));
            upper = upper.max(bound(ends[0].max(ends[1]), inner.upper));
            match inner.runs[..] {
                // However many values: there is nothing to copy.
                [] => {}
                [run] if inner.is_contiguous() => {
                    push(Run { offset: displacement, length: run.length.saturating_mul(count), basic: run.basic });
                }
                _ => {
                    for index in 0..count {
                        for run in inner.runs.iter() {
                            push(Run {
                                offset: index.wrapping_mul(extent).wrapping_add(displacement).wrapping_add(run.offset),
                                ..*run
                            });
                        }
                    }
                }
            }
        }
        if lower > upper {
            (lower, upper) = (0, 0);
        }
        Self {
            size,
            lower,
            upper,
            runs: Rc::new(runs),
            name: String::new(),
            made,
            attributes: Attributes::default(),
            is_committed: false,
            pieces: OnceCell::new(),
        }
    }

    /// Appends the layout of a value: the number of runs, the bounds, and the runs.
    pub(crate) fn write_layout(&self, out: &mut Vec<u8>) {
        for number in [self.runs.len() as i64, self.lower, self.upper] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for run in self.runs.iter() {
            for number in [run.offset, run.length, run.basic.into()] {
                out.extend_from_slice(&number.to_le_bytes());
            }
        }
    }

    /// Reads a layout, which may be empty, and returns the bytes after it; `None` if it is malformed.
    pub(crate) fn read_layout(from: &[u8]) -> Option<(Option<Self>, &[u8])> {
        let mut rest = from;
        let mut number = || {
            let (bytes, after) = rest.split_first_chunk::<8>()?;
            rest = after;
            Some(i64::from_le_bytes(*bytes))
        };
        let count = number()?;
        if count == 0 {
            return Some((None, rest));
        }
        let (lower, upper) = (number()?, number()?);
        let mut runs = Vec::new();
        for _ in 0..count {
            let (offset, length, basic) = (number()?, number()?, number()?);
            runs.push(Run { offset, length, basic: basic as c_int });
        }
        let size = runs.iter().fold(0_i64, |sum, run| sum.saturating_add(run.length));
        let (name, made) = (String::new(), Made::default());
        let ty = Self {
            size,
            lower,
            upper,
            runs: Rc::new(runs),
            name,
            made,
            attributes: Attributes::default(),
            is_committed: false,
            pieces: OnceCell::new(),
        };
        Some((Some(ty), rest))
    }

    /// \[bytes\] Size of the data of `count` values.
    pub(crate) fn bytes(&self, count: i64) -> u64 {
        self.size.saturating_mul(count).max(0) as u64
    }

    /// Number of basic elements in `bytes` bytes of packed data.
    pub(crate) fn elements(&self, bytes: u64) -> i64 {
        let in_run = |run: &Run| elements_of_run(run.basic, run.length);
        let each: i64 = self.runs.iter().map(in_run).sum();
        if self.size == 0 {
            return 0;
        }
        let (whole, mut rest) = (bytes as i64 / self.size, bytes as i64 % self.size);
        let mut count = whole * each;
        for run in self.runs.iter() {
            if rest == 0 {
                break;
            }
            let length = run.length.min(rest);
            count += elements_of_run(run.basic, length);
            rest -= length;
        }
        count
    }
}

/// Number of basic elements in a run of `length` bytes. A pair with an index has two runs, each of which counts as one.
fn elements_of_run(basic: c_int, length: i64) -> i64 {
    match kind(basic) {
        Some(Pair(..)) => i64::from(length > 0),
        Some(Twins(_, size)) => length / size,
        _ => length / i64::from(basic >> 8 & 0xff).max(1),
    }
}

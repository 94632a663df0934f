//! Constructors of datatypes: what each makes of the types that it is given.

use std::ffi::c_int;
use std::rc::Rc;

use crate::abi::*;
use crate::datatype::{self, Made, Type, Types};
use crate::error::{Outcome, error};

/// The description of a constructor: its number `MPI_COMBINER_...` in `mpi.h`, and its arguments.
pub(crate) fn constructor(combiner: c_int, integers: Vec<i64>, addresses: Vec<i64>, types: Vec<c_int>) -> Made {
    Made::by(combiner, integers, addresses, types)
}

/// A type of blocks of one type. The lengths are in values, the displacements `bytes` in bytes.
pub(crate) fn blocks(types: &Types, lengths: &[i64], bytes: &[i64], handle: c_int, how: Made) -> Outcome<Type> {
    if lengths.iter().any(|&length| length < 0) {
        return error(ERR_COUNT, "a block has a negative length");
    }
    let inner = types.get(handle)?;
    check_pieces(lengths.iter().map(|&length| (length, &*inner)))?;
    let all: Vec<(i64, i64, &Type)> = lengths.iter().zip(bytes).map(|(&length, &at)| (at, length, &*inner)).collect();
    Ok(Type::compose(&all, how))
}

/// Largest number of pieces of a type: 24 bytes of memory each.
const MOST_PIECES: i64 = 1 << 24;

/// An error if a type of blocks of so many values would have too many pieces.
fn check_pieces<'a>(blocks: impl Iterator<Item = (i64, &'a Type)>) -> Outcome {
    let in_block =
        |(count, ty): (i64, &Type)| if ty.is_contiguous() { 1 } else { count.saturating_mul(ty.runs.len() as i64) };
    let pieces = blocks.map(in_block).fold(0, i64::saturating_add);
    if pieces > MOST_PIECES {
        return error(ERR_NO_MEM, format!("a datatype of {pieces} pieces; at most {MOST_PIECES} are supported"));
    }
    Ok(())
}

/// \[bytes\] Extent of the type of a handle.
pub(crate) fn extent(types: &Types, handle: c_int) -> Outcome<i64> {
    Ok(types.get(handle)?.extent())
}

/// A type of `count` blocks of `length` values, `stride` bytes apart.
pub(crate) fn vector(types: &Types, count: i64, length: i64, stride: i64, handle: c_int, how: Made) -> Outcome<Type> {
    if count < 0 || length < 0 {
        return error(ERR_COUNT, "a vector has a negative count");
    }
    let inner = types.get(handle)?;
    if inner.is_contiguous() && stride == length.saturating_mul(inner.extent()) {
        return Ok(Type::compose(&[(0, count.saturating_mul(length), &inner)], how));
    }
    if count > MOST_PIECES {
        return error(ERR_NO_MEM, format!("a vector of {count} blocks; at most {MOST_PIECES} are supported"));
    }
    let places: Vec<i64> = (0..count).map(|index| index.wrapping_mul(stride)).collect();
    blocks(types, &vec![length; count as usize], &places, handle, how)
}

/// Converts displacements in values to bytes.
pub(crate) fn scaled(places: &[i64], extent: i64) -> Vec<i64> {
    places.iter().map(|place| place.wrapping_mul(extent)).collect()
}

/// A type of blocks of different types, with lengths in values and places in bytes. The pseudo-types `MPI_LB` and
/// `MPI_UB` occupy no data and set the bounds.
pub(crate) fn structure(types: &Types, lengths: &[i64], places: &[i64], handles: &[c_int], how: Made) -> Outcome<Type> {
    /// Handles of `MPI_LB` and `MPI_UB`.
    const LOWER: c_int = 0x4c00_0010;
    const UPPER: c_int = 0x4c00_0011;
    let found: Outcome<Vec<Rc<Type>>> = handles.iter().map(|&handle| types.get(handle)).collect();
    let found = found?;
    let parts = lengths.iter().zip(places).zip(found.iter().zip(handles));
    if lengths.iter().any(|&length| length < 0) {
        return error(ERR_COUNT, "a block has a negative length");
    }
    check_pieces(lengths.iter().copied().zip(found.iter().map(|ty| &**ty)))?;
    let all: Vec<(i64, i64, &Type)> = parts
        .filter(|(_, (_, handle))| ![LOWER, UPPER].contains(*handle))
        .map(|((&length, &place), (ty, _))| (place, length, &**ty))
        .collect();
    let mut ty = Type::compose(&all, how);
    let bound = |wanted: c_int| handles.iter().position(|&handle| handle == wanted).map(|index| places[index]);
    // As in C: padding at the end keeps the members aligned in an array of the structure.
    if bound(UPPER).is_none() {
        let alignment = |ty: &Type| ty.runs.iter().filter_map(|run| alignment_of(types, run.basic)).max().unwrap_or(1);
        let members = all.iter().filter(|(_, length, _)| *length > 0);
        let alignment = members.map(|(_, _, ty)| alignment(ty)).max().unwrap_or(1);
        let rest = (ty.upper - ty.lower) % alignment;
        if rest != 0 {
            ty.upper += alignment - rest;
        }
    }
    ty.lower = bound(LOWER).unwrap_or(ty.lower);
    ty.upper = bound(UPPER).unwrap_or(ty.upper);
    Ok(ty)
}

/// \[bytes\] Alignment of a basic type in C.
fn alignment_of(types: &Types, basic: c_int) -> Option<i64> {
    let size = types.get(basic).ok()?.extent();
    let complex = matches!(datatype::kind(basic), Some(datatype::Basic::Complex | datatype::Basic::Twins(..)));
    Some(if complex { size / 2 } else { size }.clamp(1, 16))
}

/// A type that is a part of an array: sizes of the array, sizes of the part, and where the part begins, by dimension.
pub(crate) fn subarray(
    types: &Types,
    sizes: &[i64],
    parts: &[i64],
    starts: &[i64],
    order: c_int,
    handle: c_int,
    how: Made,
) -> Outcome<Type> {
    let inner = types.get(handle)?;
    let fits =
        |axis: usize| parts[axis] >= 1 && starts[axis] >= 0 && starts[axis].saturating_add(parts[axis]) <= sizes[axis];
    if ![56, 57].contains(&order) {
        return error(ERR_ARG, format!("{order} is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN"));
    }
    if sizes.is_empty() || !(0..sizes.len()).all(fits) {
        return error(ERR_ARG, "the part of an array does not lie within it");
    }
    // The axes, beginning with the one whose elements are adjacent. 57 is MPI_ORDER_FORTRAN.
    let axes: Vec<usize> = if order == 57 { (0..sizes.len()).collect() } else { (0..sizes.len()).rev().collect() };
    let (mut stride, mut places, mut length) = (inner.extent(), vec![0], 1);
    for (level, &axis) in axes.iter().enumerate() {
        if level == 0 {
            length = parts[axis];
            places[0] += starts[axis] * stride;
        } else {
            if parts[axis].saturating_mul(places.len() as i64) > MOST_PIECES {
                return error(ERR_NO_MEM, format!("a part of an array of more than {MOST_PIECES} rows"));
            }
            let rows = (starts[axis]..starts[axis] + parts[axis]).map(|row| row * stride);
            places = rows.flat_map(|row| places.iter().map(move |place| place + row).collect::<Vec<i64>>()).collect();
        }
        stride = stride.saturating_mul(sizes[axis]);
    }
    let mut ty = blocks(types, &vec![length; places.len()], &places, handle, how)?;
    (ty.lower, ty.upper) = (0, stride);
    Ok(ty)
}

/// How an axis of an array is divided among processes: its length, the distribution as `mpi.h` numbers it, the argument of it,
/// number of processes, and this one.
pub(crate) type Division = (i64, i64, i64, i64, i64);

/// The runs of an axis that belong to a process: their beginnings and lengths.
fn owned((size, how, argument, processes, own): Division) -> Outcome<Vec<(i64, i64)>> {
    const BLOCK: i64 = 121;
    const CYCLIC: i64 = 122;
    const NONE: i64 = 123;
    const DEFAULT: i64 = -49767;
    let block = match (how, argument) {
        (NONE, _) if processes == 1 => size,
        (BLOCK, DEFAULT) => (size + processes - 1) / processes,
        (BLOCK, block) if block > 0 && block.saturating_mul(processes) >= size => block,
        (CYCLIC, DEFAULT) => 1,
        (CYCLIC, block) if block > 0 => block,
        _ => {
            return error(
                ERR_ARG,
                format!("an axis of {size} elements is not divided by {how} and {argument} among {processes}"),
            );
        }
    };
    let first = own.saturating_mul(block);
    let step = usize::try_from(block.saturating_mul(processes)).unwrap_or(usize::MAX).max(1);
    Ok((first..size).step_by(step).map(|at| (at, block.min(size - at))).collect())
}

/// The part of a process in an array that is divided along each axis. Processes are numbered with the last axis first.
pub(crate) fn darray(
    types: &Types,
    rank: i64,
    axes: &[(i64, i64, i64, i64)],
    order: c_int,
    handle: c_int,
    how: Made,
) -> Outcome<Type> {
    if ![56, 57].contains(&order) {
        return error(ERR_ARG, format!("{order} is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN"));
    }
    if axes.is_empty() || axes.iter().any(|&(size, .., processes)| size < 1 || processes < 1) {
        return error(ERR_ARG, "an array has axes of one or more elements, each for one or more processes");
    }
    let mut places: Vec<i64> = Vec::new();
    let mut rest = rank;
    for &(.., processes) in axes.iter().rev() {
        places.push(rest % processes);
        rest /= processes;
    }
    if rank < 0 || rest > 0 {
        return error(ERR_ARG, format!("rank {rank} is not one of the processes"));
    }
    places.reverse();
    let mut numbers: Vec<usize> = (0..axes.len()).collect();
    if order == 56 {
        numbers.reverse();
    }
    let mut ty = (*types.get(handle)?).clone();
    let mut stride = ty.extent();
    for axis in numbers {
        let (size, kind, argument, processes) = axes[axis];
        let runs = owned((size, kind, argument, processes, places[axis]))?;
        let blocks: Vec<(i64, i64, &Type)> =
            runs.iter().map(|&(at, length)| (at.saturating_mul(stride), length, &ty)).collect();
        check_pieces(blocks.iter().map(|&(_, count, inner)| (count, inner)))?;
        let mut whole = Type::compose(&blocks, Made::default());
        stride = stride.saturating_mul(size);
        (whole.lower, whole.upper) = (0, stride);
        ty = whole;
    }
    Ok(Type { made: how, ..ty })
}

/// A copy of a predefined type of Fortran that was chosen by precision and range, as a constructor returns it.
pub(crate) fn chosen(types: &Types, handle: Option<c_int>, combiner: c_int, integers: Vec<i64>) -> Outcome<Type> {
    let Some(handle) = handle else { return error(ERR_ARG, "no type of Fortran has this precision and range") };
    let how = constructor(combiner, integers, Vec::new(), Vec::new());
    Ok(Type { made: how, ..(*types.get(handle)?).clone() })
}

/// Index of the smallest kind of real numbers (4, 8, 16 bytes) with this many decimal digits and this decimal exponent.
pub(crate) fn real_kind(digits: c_int, range: c_int) -> Option<usize> {
    const HOLD: [(c_int, c_int); 3] = [(6, 37), (15, 307), (33, 4931)];
    HOLD.iter().position(|&(most, largest)| digits <= most && range <= largest)
}

/// A copy of a type with other bounds, in bytes.
pub(crate) fn resized(types: &Types, handle: c_int, lower: i64, extent: i64) -> Outcome<Type> {
    let inner = types.get(handle)?;
    let how = constructor(18, Vec::new(), vec![lower, extent], vec![handle]);
    Ok(Type { lower, upper: lower.saturating_add(extent), made: how, name: String::new(), ..(*inner).clone() })
}

/// A type of `count` consecutive values.
pub(crate) fn contiguous(types: &Types, count: i64, handle: c_int) -> Outcome<Type> {
    if count < 0 {
        return error(ERR_COUNT, format!("count {count} is negative"));
    }
    let inner = types.get(handle)?;
    check_pieces(std::iter::once((count, &*inner)))?;
    Ok(Type::compose(&[(0, count, &inner)], constructor(3, vec![count], Vec::new(), vec![handle])))
}

/// The integer arguments of a constructor: the count, then the elements of each slice.
pub(crate) fn counted(count: i64, more: &[&[i64]]) -> Vec<i64> {
    std::iter::once(count).chain(more.iter().flat_map(|part| part.iter().copied())).collect()
}

#[cfg(test)]
mod tests;

//! Datatypes.

use std::ffi::{c_char, c_int};
use std::rc::Rc;

use crate::abi::*;
use crate::calls::attributes;
use crate::calls::information::{put_text, text};
use crate::datatype::{self, Made, Type, Types};
use crate::error::{Outcome, error};

/// The description of a constructor: its number `MPI_COMBINER_...` in `mpi.h`, and its arguments.
fn constructor(combiner: c_int, integers: Vec<i64>, addresses: Vec<i64>, types: Vec<c_int>) -> Made {
    Made { combiner, integers, addresses, types }
}

/// Adds a type to those of the program and writes its handle.
unsafe fn new(types: &mut Types, to: Ip, ty: Type) -> Outcome {
    // SAFETY: the pointer of the program.
    unsafe { put(to, types.add(ty)) };
    Ok(())
}

/// A type of blocks of one type. The lengths are in values, the displacements `bytes` in bytes.
fn blocks(types: &Types, lengths: &[i64], bytes: &[i64], handle: c_int, how: Made) -> Outcome<Type> {
    if lengths.iter().any(|&length| length < 0) {
        return error(ERR_COUNT, "a block has a negative length");
    }
    let inner = types.get(handle)?;
    let all: Vec<(i64, i64, &Type)> = lengths.iter().zip(bytes).map(|(&length, &at)| (at, length, &*inner)).collect();
    Ok(Type::compose(&all, how))
}

/// \[bytes\] Extent of the type of a handle.
fn extent(types: &Types, handle: c_int) -> Outcome<i64> {
    Ok(types.get(handle)?.extent())
}

/// A type of `count` blocks of `length` values, `stride` bytes apart.
fn vector(types: &Types, count: i64, length: i64, stride: i64, handle: c_int, how: Made) -> Outcome<Type> {
    if count < 0 || length < 0 {
        return error(ERR_COUNT, "a vector has a negative count");
    }
    let places: Vec<i64> = (0..count).map(|index| index * stride).collect();
    blocks(types, &vec![length; count as usize], &places, handle, how)
}

/// Converts displacements in values to bytes.
fn scaled(places: &[i64], extent: i64) -> Vec<i64> {
    places.iter().map(|place| place * extent).collect()
}

/// A type of blocks of different types, with lengths in values and places in bytes. The pseudo-types `MPI_LB` and
/// `MPI_UB` occupy no data and set the bounds.
fn structure(types: &Types, lengths: &[i64], places: &[i64], handles: &[c_int], how: Made) -> Outcome<Type> {
    /// Handles of `MPI_LB` and `MPI_UB`.
    const LOWER: c_int = 0x4c00_0010;
    const UPPER: c_int = 0x4c00_0011;
    let found: Outcome<Vec<Rc<Type>>> = handles.iter().map(|&handle| types.get(handle)).collect();
    let found = found?;
    let parts = lengths.iter().zip(places).zip(found.iter().zip(handles));
    let all: Vec<(i64, i64, &Type)> = parts
        .filter(|(_, (_, handle))| ![LOWER, UPPER].contains(*handle))
        .map(|((&length, &place), (ty, _))| (place, length, &**ty))
        .collect();
    let mut ty = Type::compose(&all, how);
    let bound = |wanted: c_int| handles.iter().position(|&handle| handle == wanted).map(|index| places[index]);
    // As in C: padding at the end keeps the members aligned in an array of the structure.
    if bound(UPPER).is_none() {
        let alignment = |ty: &Type| ty.runs.iter().filter_map(|run| alignment_of(types, run.basic)).max().unwrap_or(1);
        let alignment = all.iter().map(|(_, _, ty)| alignment(ty)).max().unwrap_or(1);
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
fn subarray(
    types: &Types,
    sizes: &[i64],
    parts: &[i64],
    starts: &[i64],
    order: c_int,
    handle: c_int,
    how: Made,
) -> Outcome<Type> {
    let inner = types.get(handle)?;
    let fits = |axis: usize| parts[axis] >= 1 && starts[axis] >= 0 && starts[axis] + parts[axis] <= sizes[axis];
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
            let rows = (starts[axis]..starts[axis] + parts[axis]).map(|row| row * stride);
            places = rows.flat_map(|row| places.iter().map(move |place| place + row).collect::<Vec<i64>>()).collect();
        }
        stride *= sizes[axis];
    }
    let mut ty = blocks(types, &vec![length; places.len()], &places, handle, how)?;
    (ty.lower, ty.upper) = (0, stride);
    Ok(ty)
}

/// A copy of a predefined type of Fortran that was chosen by precision and range, as a constructor returns it.
fn chosen(types: &Types, handle: Option<c_int>, combiner: c_int, integers: Vec<i64>) -> Outcome<Type> {
    let Some(handle) = handle else { return error(ERR_ARG, "no type of Fortran has this precision and range") };
    let how = constructor(combiner, integers, Vec::new(), Vec::new());
    Ok(Type { made: how, ..(*types.get(handle)?).clone() })
}

/// Index of the smallest kind of real numbers (4, 8, 16 bytes) with this many decimal digits and this decimal exponent.
fn real_kind(digits: c_int, range: c_int) -> Option<usize> {
    const HOLD: [(c_int, c_int); 3] = [(6, 37), (15, 307), (33, 4931)];
    HOLD.iter().position(|&(most, largest)| digits <= most && range <= largest)
}

/// A copy of a type with other bounds, in bytes.
fn resized(types: &Types, handle: c_int, lower: i64, extent: i64) -> Outcome<Type> {
    let inner = types.get(handle)?;
    let how = constructor(18, Vec::new(), vec![lower, extent], vec![handle]);
    Ok(Type { lower, upper: lower + extent, made: how, name: String::new(), ..(*inner).clone() })
}

/// A type of `count` consecutive values.
fn contiguous(types: &Types, count: i64, handle: c_int) -> Outcome<Type> {
    if count < 0 {
        return error(ERR_COUNT, format!("count {count} is negative"));
    }
    let inner = types.get(handle)?;
    Ok(Type::compose(&[(0, count, &inner)], constructor(3, vec![count], Vec::new(), vec![handle])))
}

/// Writes the arguments of a type's constructor to the arrays of the program, which have these lengths.
unsafe fn contents(
    types: &mut Types,
    handle: c_int,
    [most_integers, most_addresses, most_types]: [usize; 3],
    integers: Ip,
    addresses: *mut i64,
    into: Ip,
) -> Outcome {
    let found = types.get(handle)?.made.clone();
    if datatype::is_builtin(handle) {
        return error(ERR_TYPE, "a predefined datatype has no contents");
    }
    // SAFETY: the arrays of the program, of these lengths.
    unsafe {
        for (at, &value) in found.integers.iter().take(most_integers).enumerate() {
            *integers.add(at) = value as c_int;
        }
        for (at, &value) in found.addresses.iter().take(most_addresses).enumerate() {
            *addresses.add(at) = value;
        }
        for (at, &inner) in found.types.iter().take(most_types).enumerate() {
            // A derived type is returned as a new handle, which the program frees.
            *into.add(at) = if datatype::is_builtin(inner) { inner } else { types.add_again(inner)? };
        }
    }
    Ok(())
}

/// The integer arguments of a constructor: the count, then the elements of each slice.
fn counted(count: i64, more: &[&[i64]]) -> Vec<i64> {
    std::iter::once(count).chain(more.iter().flat_map(|part| part.iter().copied())).collect()
}

large! {
    |world|
    fn MPI_Type_contiguous / MPI_Type_contiguous_c(count: N, handle: I, to: Ip) {
        let ty = contiguous(&world.types, count.into(), handle)?;
        new(&mut world.types, to, ty)
    }
    fn MPI_Type_vector / MPI_Type_vector_c(count: N, length: N, stride: N, handle: I, to: Ip) {
        let (count, length, stride): (i64, i64, i64) = (count.into(), length.into(), stride.into());
        let how = constructor(4, vec![count, length, stride], Vec::new(), vec![handle]);
        let ty = vector(&world.types, count, length, stride * extent(&world.types, handle)?, handle, how)?;
        new(&mut world.types, to, ty)
    }
    fn MPI_Type_create_hvector / MPI_Type_create_hvector_c(count: N, length: N, stride: i64, handle: I, to: Ip) {
        let (count, length): (i64, i64) = (count.into(), length.into());
        let how = constructor(6, vec![count, length], vec![stride], vec![handle]);
        let ty = vector(&world.types, count, length, stride, handle, how)?;
        new(&mut world.types, to, ty)
    }
    fn MPI_Type_indexed / MPI_Type_indexed_c(count: N, lengths: *const N, places: *const N, handle: I, to: Ip) {
        let count: i64 = count.into();
        let (lengths, places) = (whole(lengths, count.max(0) as usize), whole(places, count.max(0) as usize));
        let how = constructor(7, counted(count, &[&lengths, &places]), Vec::new(), vec![handle]);
        let ty = blocks(&world.types, &lengths, &scaled(&places, extent(&world.types, handle)?), handle, how)?;
        new(&mut world.types, to, ty)
    }
    fn MPI_Type_create_hindexed / MPI_Type_create_hindexed_c(
        count: N, lengths: *const N, places: *const i64, handle: I, to: Ip,
    ) {
        let count: i64 = count.into();
        let (lengths, places) = (whole(lengths, count.max(0) as usize), whole(places, count.max(0) as usize));
        let how = constructor(9, counted(count, &[&lengths]), places.clone(), vec![handle]);
        let ty = blocks(&world.types, &lengths, &places, handle, how)?;
        new(&mut world.types, to, ty)
    }
    fn MPI_Type_create_indexed_block / MPI_Type_create_indexed_block_c(
        count: N, length: N, places: *const N, handle: I, to: Ip,
    ) {
        let (count, length): (i64, i64) = (count.into(), length.into());
        let places = whole(places, count.max(0) as usize);
        let how = constructor(10, counted(count, &[&[length], &places]), Vec::new(), vec![handle]);
        let ty = blocks(&world.types, &vec![length; places.len()], &scaled(&places, extent(&world.types, handle)?), handle, how)?;
        new(&mut world.types, to, ty)
    }
    fn MPI_Type_create_hindexed_block / MPI_Type_create_hindexed_block_c(
        count: N, length: N, places: *const i64, handle: I, to: Ip,
    ) {
        let (count, length): (i64, i64) = (count.into(), length.into());
        let places = whole(places, count.max(0) as usize);
        let how = constructor(19, vec![count, length], places.clone(), vec![handle]);
        let ty = blocks(&world.types, &vec![length; places.len()], &places, handle, how)?;
        new(&mut world.types, to, ty)
    }
    fn MPI_Type_create_struct / MPI_Type_create_struct_c(
        count: N, lengths: *const N, places: *const i64, types: *const c_int, to: Ip,
    ) {
        let count: i64 = count.into();
        let size = count.max(0) as usize;
        let (lengths, places, types) = (whole(lengths, size), whole(places, size), slice(types, size).to_vec());
        let how = constructor(12, counted(count, &[&lengths]), places.clone(), types.clone());
        let ty = structure(&world.types, &lengths, &places, &types, how)?;
        new(&mut world.types, to, ty)
    }
    fn MPI_Type_create_subarray / MPI_Type_create_subarray_c(
        count: I, sizes: *const N, parts: *const N, starts: *const N, order: I, handle: I, to: Ip,
    ) {
        let size = count.max(0) as usize;
        let (sizes, parts, starts) = (whole(sizes, size), whole(parts, size), whole(starts, size));
        let how = constructor(
            13,
            counted(count.into(), &[&sizes, &parts, &starts, &[i64::from(order)]]),
            Vec::new(),
            vec![handle],
        );
        let ty = subarray(&world.types, &sizes, &parts, &starts, order, handle, how)?;
        new(&mut world.types, to, ty)
    }
    fn MPI_Type_create_resized / MPI_Type_create_resized_c(handle: I, lower: i64, extent: i64, to: Ip) {
        let ty = resized(&world.types, handle, lower, extent)?;
        new(&mut world.types, to, ty)
    }
    fn MPI_Type_size / MPI_Type_size_c(handle: I, size: *mut N) {
        put(size, world.types.get(handle)?.size as N);
        Ok(())
    }
    fn MPI_Type_get_extent / MPI_Type_get_extent_c(handle: I, lower: *mut i64, extent: *mut i64) {
        let ty = world.types.get(handle)?;
        put(lower, ty.lower);
        put(extent, ty.extent());
        Ok(())
    }
    fn MPI_Type_get_true_extent / MPI_Type_get_true_extent_c(handle: I, lower: *mut i64, extent: *mut i64) {
        let (from, to) = world.types.get(handle)?.true_bounds();
        put(lower, from);
        put(extent, to - from);
        Ok(())
    }
}

mpi! {
    |world|
    fn MPI_Type_create_f90_real(digits: I, range: I, to: Ip) {
        const KINDS: [c_int; 3] = [0x4c00_0427, 0x4c00_0829, 0x4c00_102b];
        let handle = real_kind(digits, range).map(|kind| KINDS[kind]);
        let ty = chosen(&world.types, handle, 15, vec![digits.into(), range.into()])?;
        new(&mut world.types, to, ty)
    }
    fn MPI_Type_create_f90_complex(digits: I, range: I, to: Ip) {
        const KINDS: [c_int; 3] = [0x4c00_0828, 0x4c00_102a, 0x4c00_202c];
        let handle = real_kind(digits, range).map(|kind| KINDS[kind]);
        let ty = chosen(&world.types, handle, 16, vec![digits.into(), range.into()])?;
        new(&mut world.types, to, ty)
    }
    fn MPI_Type_create_f90_integer(range: I, to: Ip) {
        const KINDS: [(c_int, c_int); 4] = [(2, 0x4c00_012d), (4, 0x4c00_022f), (9, 0x4c00_0430), (18, 0x4c00_0831)];
        let handle = KINDS.iter().find(|(most, _)| range <= *most).map(|&(_, handle)| handle);
        let ty = chosen(&world.types, handle, 17, vec![range.into()])?;
        new(&mut world.types, to, ty)
    }
}

mpi! {
    |world|
    fn MPI_Type_commit(handle: *const c_int) { world.types.get(*handle).map(|_| ()) }
    fn MPI_Type_free(handle: Ip) {
        let attributes = world.types.get(*handle)?.attributes.clone();
        for (&keyval, &value) in attributes.iter().rev() {
            attributes::call_delete(world, *handle, keyval, value)?;
        }
        world.types.remove(*handle)?;
        put(handle, DATATYPE_NULL);
        Ok(())
    }
    fn MPI_Type_dup(handle: I, to: Ip) {
        let old = world.types.get(handle)?;
        let mut copy = Type { made: constructor(2, Vec::new(), Vec::new(), vec![handle]), ..(*old).clone() };
        copy.attributes.clear();
        for (&keyval, &value) in &old.attributes {
            if let Some(value) = attributes::call_copy(world, handle, keyval, value)? {
                copy.attributes.insert(keyval, value);
            }
        }
        new(&mut world.types, to, copy)
    }
    fn MPI_Type_hvector(count: I, length: I, stride: i64, handle: I, to: Ip) {
        let how = constructor(6, vec![count.into(), length.into()], vec![stride], vec![handle]);
        let ty = vector(&world.types, count.into(), length.into(), stride, handle, how)?;
        new(&mut world.types, to, ty)
    }
    fn MPI_Type_hindexed(count: I, lengths: *const c_int, places: *const i64, handle: I, to: Ip) {
        let (lengths, places) = (whole(lengths, count.max(0) as usize), whole(places, count.max(0) as usize));
        let how = constructor(9, counted(count.into(), &[&lengths]), places.clone(), vec![handle]);
        let ty = blocks(&world.types, &lengths, &places, handle, how)?;
        new(&mut world.types, to, ty)
    }
    fn MPI_Type_struct(count: I, lengths: *const c_int, places: *const i64, types: *const c_int, to: Ip) {
        let size = count.max(0) as usize;
        let (lengths, places, types) = (whole(lengths, size), whole(places, size), slice(types, size).to_vec());
        let how = constructor(12, counted(count.into(), &[&lengths]), places.clone(), types.clone());
        let ty = structure(&world.types, &lengths, &places, &types, how)?;
        new(&mut world.types, to, ty)
    }
    fn MPI_Type_extent(handle: I, extent: *mut i64) { put(extent, world.types.get(handle)?.extent()); Ok(()) }
    fn MPI_Type_lb(handle: I, lower: *mut i64) { put(lower, world.types.get(handle)?.lower); Ok(()) }
    fn MPI_Type_ub(handle: I, upper: *mut i64) { put(upper, world.types.get(handle)?.upper); Ok(()) }
    fn MPI_Type_size_x(handle: I, size: *mut i64) { put(size, world.types.get(handle)?.size); Ok(()) }
    fn MPI_Type_get_extent_x(handle: I, lower: *mut i64, extent: *mut i64) {
        let ty = world.types.get(handle)?;
        put(lower, ty.lower);
        put(extent, ty.extent());
        Ok(())
    }
    fn MPI_Type_get_true_extent_x(handle: I, lower: *mut i64, extent: *mut i64) {
        let (from, to) = world.types.get(handle)?.true_bounds();
        put(lower, from);
        put(extent, to - from);
        Ok(())
    }
    fn MPI_Type_set_name(handle: I, name: *const c_char) { world.types.get_mut(handle)?.name = text(name); Ok(()) }
    fn MPI_Type_get_name(handle: I, name: *mut c_char, length: Ip) {
        put(length, put_text(name, &world.types.get(handle)?.name, 127));
        Ok(())
    }
    fn MPI_Type_get_envelope(handle: I, integers: Ip, addresses: Ip, types: Ip, combiner: Ip) {
        let found = &world.types.get(handle)?.made;
        put(integers, found.integers.len() as c_int);
        put(addresses, found.addresses.len() as c_int);
        put(types, found.types.len() as c_int);
        put(combiner, found.combiner);
        Ok(())
    }
    // Counts of all constructors are kept as integers: there are no large ones.
    fn MPI_Type_get_envelope_c(
        handle: I, integers: *mut i64, addresses: *mut i64, counts: *mut i64, types: *mut i64, combiner: Ip,
    ) {
        let found = &world.types.get(handle)?.made;
        put(integers, found.integers.len() as i64);
        put(addresses, found.addresses.len() as i64);
        put(counts, 0);
        put(types, found.types.len() as i64);
        put(combiner, found.combiner);
        Ok(())
    }
    fn MPI_Type_get_contents(
        handle: I, most_integers: I, most_addresses: I, most_types: I,
        integers: Ip, addresses: *mut i64, types: Ip,
    ) {
        let most = |count: c_int| count.max(0) as usize;
        contents(&mut world.types, handle, [most(most_integers), most(most_addresses), most(most_types)], integers, addresses, types)
    }
    fn MPI_Type_get_contents_c(
        handle: I, most_integers: i64, most_addresses: i64, _most_counts: i64, most_types: i64,
        integers: Ip, addresses: *mut i64, _counts: *mut i64, types: Ip,
    ) {
        let most = |count: i64| count.max(0) as usize;
        contents(&mut world.types, handle, [most(most_integers), most(most_addresses), most(most_types)], integers, addresses, types)
    }
    fn MPI_Type_match_size(class: I, size: I, to: Ip) {
        let found: u32 = match (class, size) {
            (1, 4) => 0x4c00_0427,
            (1, 8) => 0x4c00_0829,
            (2, 1) => 0x4c00_012d,
            (2, 2) => 0x4c00_022f,
            (2, 4) => 0x4c00_0430,
            (2, 8) => 0x4c00_0831,
            (3, 8) => 0x4c00_0828,
            (3, 16) => 0x4c00_102a,
            _ => return error(ERR_ARG, format!("there is no type of class {class} and {size} bytes")),
        };
        put(to, found as c_int);
        Ok(())
    }
    fn MPI_Get_address(at: P, address: *mut i64) { put(address, at as i64); Ok(()) }
    fn MPI_Address(at: P, address: *mut i64) { put(address, at as i64); Ok(()) }
}

//! Datatypes.

use std::ffi::{c_char, c_int};

use crate::abi::*;
use crate::arguments::{array, length, missing, store, view};
use crate::caching::Holder;
use crate::calls::attributes;
use crate::calls::information::{put_text, text};
use crate::constructors::{
    blocks, chosen, constructor, contiguous, counted, darray, extent, real_kind, resized, scaled, structure, subarray,
    vector,
};
use crate::datatype::{self, Type, Types};
use crate::error::{Outcome, error};

/// Adds a type to those of the program and writes its handle.
unsafe fn new(types: &mut Types, to: Ip, ty: Type) -> Outcome {
    // SAFETY: the pointer of the program.
    unsafe { put(to, types.add(ty)) };
    Ok(())
}

/// The same for a type that was made by a call with counts of type `N`.
unsafe fn new_of<N>(types: &mut Types, to: Ip, mut ty: Type) -> Outcome {
    if size_of::<N>() == size_of::<i64>() {
        ty.made.enlarge();
    }
    // SAFETY: as above.
    unsafe { new(types, to, ty) }
}

/// An error if a type has large counts, which a call without such counts cannot return.
fn check_small(types: &Types, handle: c_int) -> Outcome {
    if types.get(handle)?.made.counts.is_empty() {
        return Ok(());
    }
    error(ERR_TYPE, "the datatype was made with large counts: use MPI_Type_get_envelope_c and MPI_Type_get_contents_c")
}

/// The arrays of the program for the arguments of a type's constructor, each with its length.
struct Arrays {
    integers: (i64, Ip),
    addresses: (i64, *mut i64),
    counts: (i64, *mut i64),
    types: (i64, Ip),
}

/// Writes the arguments of a type's constructor to the arrays of the program.
unsafe fn contents(types: &mut Types, handle: c_int, arrays: Arrays) -> Outcome {
    let Arrays { integers, addresses, counts, types: into } = arrays;
    let ty = types.get(handle)?;
    let found = &ty.made;
    if datatype::is_builtin(handle) {
        return error(ERR_TYPE, "a predefined datatype has no contents");
    }
    let room = [
        (integers.0, found.integers.len()),
        (addresses.0, found.addresses.len()),
        (counts.0, found.counts.len()),
        (into.0, found.types.len()),
    ];
    if into.1.is_null() && !found.types.is_empty() {
        return missing("types");
    }
    if let Some((room, needed)) = room.into_iter().find(|&(room, needed)| room < needed as i64) {
        return error(ERR_ARG, format!("an array of {room} elements is too short for {needed}"));
    }
    // SAFETY: the arrays of the program, of these lengths.
    unsafe {
        store(integers.1, found.integers.iter().map(|&value| value as c_int), "integers")?;
        store(addresses.1, found.addresses.iter().copied(), "addresses")?;
        store(counts.1, found.counts.iter().copied(), "counts")?;
        store(into.1, types.parts(&ty), "types")?;
    }
    Ok(())
}

large! {
    |world|
    fn MPI_Type_contiguous / MPI_Type_contiguous_c(count: N, handle: I, to: Ip) {
        let ty = contiguous(&world.types, count.into(), handle)?;
        new_of::<N>(&mut world.types, to, ty)
    }
    fn MPI_Type_vector / MPI_Type_vector_c(count: N, each: N, stride: N, handle: I, to: Ip) {
        let (count, each, stride): (i64, i64, i64) = (count.into(), each.into(), stride.into());
        let how = constructor(4, vec![count, each, stride], Vec::new(), vec![handle]);
        let ty = vector(&world.types, count, each, stride.saturating_mul(extent(&world.types, handle)?), handle, how)?;
        new_of::<N>(&mut world.types, to, ty)
    }
    fn MPI_Type_create_hvector / MPI_Type_create_hvector_c(count: N, each: N, stride: i64, handle: I, to: Ip) {
        let (count, each): (i64, i64) = (count.into(), each.into());
        let how = constructor(6, vec![count, each], vec![stride], vec![handle]);
        let ty = vector(&world.types, count, each, stride, handle, how)?;
        new_of::<N>(&mut world.types, to, ty)
    }
    fn MPI_Type_indexed / MPI_Type_indexed_c(count: N, lengths: *const N, places: *const N, handle: I, to: Ip) {
        let count: i64 = count.into();
        let (lengths, places) = (array(lengths, length(count.into())?, "lengths")?, array(places, length(count.into())?, "places")?);
        let how = constructor(7, counted(count, &[&lengths, &places]), Vec::new(), vec![handle]);
        let ty = blocks(&world.types, &lengths, &scaled(&places, extent(&world.types, handle)?), handle, how)?;
        new_of::<N>(&mut world.types, to, ty)
    }
    fn MPI_Type_create_hindexed / MPI_Type_create_hindexed_c(
        count: N, lengths: *const N, places: *const i64, handle: I, to: Ip,
    ) {
        let count: i64 = count.into();
        let (lengths, places) = (array(lengths, length(count.into())?, "lengths")?, array(places, length(count.into())?, "places")?);
        let how = constructor(9, counted(count, &[&lengths]), places.clone(), vec![handle]);
        let ty = blocks(&world.types, &lengths, &places, handle, how)?;
        new_of::<N>(&mut world.types, to, ty)
    }
    fn MPI_Type_create_indexed_block / MPI_Type_create_indexed_block_c(
        count: N, each: N, places: *const N, handle: I, to: Ip,
    ) {
        let (count, each): (i64, i64) = (count.into(), each.into());
        let places = array(places, length(count.into())?, "places")?;
        let how = constructor(10, counted(count, &[&[each], &places]), Vec::new(), vec![handle]);
        let ty = blocks(&world.types, &vec![each; places.len()], &scaled(&places, extent(&world.types, handle)?), handle, how)?;
        new_of::<N>(&mut world.types, to, ty)
    }
    fn MPI_Type_create_hindexed_block / MPI_Type_create_hindexed_block_c(
        count: N, each: N, places: *const i64, handle: I, to: Ip,
    ) {
        let (count, each): (i64, i64) = (count.into(), each.into());
        let places = array(places, length(count.into())?, "places")?;
        let how = constructor(19, vec![count, each], places.clone(), vec![handle]);
        let ty = blocks(&world.types, &vec![each; places.len()], &places, handle, how)?;
        new_of::<N>(&mut world.types, to, ty)
    }
    fn MPI_Type_create_struct / MPI_Type_create_struct_c(
        count: N, lengths: *const N, places: *const i64, types: *const c_int, to: Ip,
    ) {
        let count: i64 = count.into();
        let size = length(count.into())?;
        let (lengths, places, types) = (array(lengths, size, "lengths")?, array(places, size, "places")?, view(types, size, "types")?.to_vec());
        let how = constructor(12, counted(count, &[&lengths]), places.clone(), types.clone());
        let ty = structure(&world.types, &lengths, &places, &types, how)?;
        new_of::<N>(&mut world.types, to, ty)
    }
    fn MPI_Type_create_subarray / MPI_Type_create_subarray_c(
        count: I, sizes: *const N, parts: *const N, starts: *const N, order: I, handle: I, to: Ip,
    ) {
        let size = length(count.into())?;
        let (sizes, parts, starts) = (array(sizes, size, "sizes")?, array(parts, size, "parts")?, array(starts, size, "starts")?);
        let how = constructor(
            13,
            counted(count.into(), &[&sizes, &parts, &starts, &[i64::from(order)]]),
            Vec::new(),
            vec![handle],
        );
        let ty = subarray(&world.types, &sizes, &parts, &starts, order, handle, how)?;
        new_of::<N>(&mut world.types, to, ty)
    }
    fn MPI_Type_create_darray / MPI_Type_create_darray_c(
        size: I, rank: I, count: I, sizes: *const N, ways: *const I, arguments: *const I, processes: *const I,
        order: I, handle: I, to: Ip,
    ) {
        let axes = length(count.into())?;
        let (sizes, ways) = (array(sizes, axes, "sizes")?, array(ways, axes, "ways")?);
        let (arguments, processes) = (array(arguments, axes, "arguments")?, array(processes, axes, "processes")?);
        if processes.iter().product::<i64>() != i64::from(size) {
            return error(ERR_ARG, format!("the grid of processes has not {size} of them"));
        }
        let mut integers: Vec<i64> = vec![size.into(), rank.into()];
        integers.extend(counted(count.into(), &[&sizes, &ways, &arguments, &processes, &[i64::from(order)]]));
        let all: Vec<(i64, i64, i64, i64)> = (0..axes).map(|axis| (sizes[axis], ways[axis], arguments[axis], processes[axis])).collect();
        let how = constructor(14, integers, Vec::new(), vec![handle]);
        let ty = darray(&world.types, rank.into(), &all, order, handle, how)?;
        new_of::<N>(&mut world.types, to, ty)
    }
    fn MPI_Type_create_resized / MPI_Type_create_resized_c(handle: I, lower: i64, extent: i64, to: Ip) {
        let ty = resized(&world.types, handle, lower, extent)?;
        new_of::<N>(&mut world.types, to, ty)
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
    fn MPI_Type_commit(handle: *const c_int) {
        // A type that others hold is copied by a change.
        if !world.types.get(*handle)?.is_committed {
            world.types.get_mut(*handle)?.is_committed = true;
        }
        Ok(())
    }
    fn MPI_Type_free(handle: Ip) {
        attributes::delete_all(world, Holder::Datatype, *handle)?;
        world.types.remove(*handle)?;
        put(handle, DATATYPE_NULL);
        Ok(())
    }
    fn MPI_Type_dup(handle: I, to: Ip) {
        let old = world.types.get(handle)?;
        let made = constructor(2, Vec::new(), Vec::new(), vec![handle]);
        let attributes = attributes::copied(world, Holder::Datatype, handle)?;
        // A name belongs to the type that the program has named.
        new(&mut world.types, to, Type { made, attributes, name: String::new(), ..(*old).clone() })
    }
    fn MPI_Type_hvector(count: I, each: I, stride: i64, handle: I, to: Ip) {
        let how = constructor(6, vec![count.into(), each.into()], vec![stride], vec![handle]);
        let ty = vector(&world.types, count.into(), each.into(), stride, handle, how)?;
        new(&mut world.types, to, ty)
    }
    fn MPI_Type_hindexed(count: I, lengths: *const c_int, places: *const i64, handle: I, to: Ip) {
        let (lengths, places) = (array(lengths, length(count.into())?, "lengths")?, array(places, length(count.into())?, "places")?);
        let how = constructor(9, counted(count.into(), &[&lengths]), places.clone(), vec![handle]);
        let ty = blocks(&world.types, &lengths, &places, handle, how)?;
        new(&mut world.types, to, ty)
    }
    fn MPI_Type_struct(count: I, lengths: *const c_int, places: *const i64, types: *const c_int, to: Ip) {
        let size = length(count.into())?;
        let (lengths, places, types) = (array(lengths, size, "lengths")?, array(places, size, "places")?, view(types, size, "types")?.to_vec());
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
        check_small(&world.types, handle)?;
        let found = &world.types.get(handle)?.made;
        put(integers, found.integers.len() as c_int);
        put(addresses, found.addresses.len() as c_int);
        put(types, found.types.len() as c_int);
        put(combiner, found.combiner);
        Ok(())
    }
    fn MPI_Type_get_envelope_c(
        handle: I, integers: *mut i64, addresses: *mut i64, counts: *mut i64, types: *mut i64, combiner: Ip,
    ) {
        let found = &world.types.get(handle)?.made;
        put(integers, found.integers.len() as i64);
        put(addresses, found.addresses.len() as i64);
        put(counts, found.counts.len() as i64);
        put(types, found.types.len() as i64);
        put(combiner, found.combiner);
        Ok(())
    }
    fn MPI_Type_get_contents(
        handle: I, most_integers: I, most_addresses: I, most_types: I,
        integers: Ip, addresses: *mut i64, types: Ip,
    ) {
        check_small(&world.types, handle)?;
        let arrays = Arrays {
            integers: (most_integers.into(), integers),
            addresses: (most_addresses.into(), addresses),
            counts: (0, std::ptr::null_mut()),
            types: (most_types.into(), types),
        };
        contents(&mut world.types, handle, arrays)
    }
    fn MPI_Type_get_contents_c(
        handle: I, most_integers: i64, most_addresses: i64, most_counts: i64, most_types: i64,
        integers: Ip, addresses: *mut i64, counts: *mut i64, types: Ip,
    ) {
        let arrays = Arrays {
            integers: (most_integers, integers),
            addresses: (most_addresses, addresses),
            counts: (most_counts, counts),
            types: (most_types, types),
        };
        contents(&mut world.types, handle, arrays)
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

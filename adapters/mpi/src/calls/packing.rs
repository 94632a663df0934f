//! Packing, and counts of statuses.

use crate::abi::*;
use crate::arguments;
use crate::datatype::Type;
use crate::error::{Outcome, error};

/// Makes a status report `count` basic elements of the type.
unsafe fn set_elements(given: *mut Status, ty: &Type, count: i64) -> Outcome {
    // A number of basic elements, which is a number of whole values in practice.
    let each = ty.elements(ty.bytes(1)).max(1);
    // SAFETY: the status of the program.
    unsafe { (*given).set_bytes(ty.bytes(count) / each as u64) };
    Ok(())
}

/// Number of whole values in the received data; `MPI_UNDEFINED` if a part of a value remains.
fn count_in(status: &Status, ty: &Type) -> i64 {
    let bytes = status.bytes() as i64;
    match ty.size {
        0 => 0,
        size if bytes % size == 0 => bytes / size,
        _ => UNDEFINED.into(),
    }
}

/// Packs values into `out`, which has `room` bytes, at `position` \[bytes\]. Returns the position after them.
unsafe fn pack(from: P, count: i64, ty: &Type, out: M, room: i64, position: i64) -> Outcome<i64> {
    arguments::buffer(from as usize, count, ty)?;
    let bytes = ty.bytes(count);
    let end = position.saturating_add_unsigned(bytes);
    if position < 0 || end > room || out.is_null() && bytes > 0 {
        return error(ERR_ARG, format!("{bytes} packed bytes do not fit at {position} of a buffer of {room}"));
    }
    // SAFETY: there is room, as the program says.
    unsafe { ty.pack_to(from, count, out.cast::<u8>().offset(position as isize)) };
    Ok(end)
}

/// Unpacks values from `from`, which has `length` bytes, at `position` \[bytes\]. Returns the position after them.
unsafe fn unpack(from: P, length: i64, position: i64, to: M, count: i64, ty: &Type) -> Outcome<i64> {
    arguments::buffer(to as usize, count, ty)?;
    let end = position.saturating_add(ty.bytes(count) as i64);
    if position < 0 || end > length || from.is_null() && ty.bytes(count) > 0 {
        return error(ERR_ARG, format!("{} bytes are to be unpacked at {position} of {length}", ty.bytes(count)));
    }
    // SAFETY: the buffers of the program.
    unsafe {
        let data = slice(from.cast::<u8>().offset(position as isize), ty.bytes(count) as usize);
        ty.unpack(data, to, count);
    }
    Ok(end)
}

large! {
    |world|
    fn MPI_Pack / MPI_Pack_c(from: P, count: N, ty: I, out: M, room: N, position: *mut N, comm: I) {
        world.comms.get(comm)?;
        let ty = world.types.committed(ty)?;
        *position = pack(from, count.into(), &ty, out, room.into(), (*position).into())? as N;
        Ok(())
    }
    fn MPI_Unpack / MPI_Unpack_c(from: P, length: N, position: *mut N, to: M, count: N, ty: I, comm: I) {
        world.comms.get(comm)?;
        let ty = world.types.committed(ty)?;
        *position = unpack(from, length.into(), (*position).into(), to, count.into(), &ty)? as N;
        Ok(())
    }
    fn MPI_Pack_size / MPI_Pack_size_c(count: N, ty: I, comm: I, size: *mut N) {
        world.comms.get(comm)?;
        put(size, world.types.get(ty)?.bytes(arguments::count(count.into())?) as N);
        Ok(())
    }
    fn MPI_Get_count / MPI_Get_count_c(given: *const Status, ty: I, count: *mut N) {
        let ty = world.types.get(ty)?;
        put(count, count_in(&*given, &ty) as N);
        Ok(())
    }
    fn MPI_Get_elements / MPI_Get_elements_c(given: *const Status, ty: I, count: *mut N) {
        put(count, world.types.get(ty)?.elements((*given).bytes()) as N);
        Ok(())
    }
}

mpi! {
    |world|
    fn MPI_Get_elements_x(given: *const Status, ty: I, count: *mut i64) {
        put(count, world.types.get(ty)?.elements((*given).bytes()));
        Ok(())
    }
    fn MPI_Status_set_elements(given: *mut Status, ty: I, count: I) {
        let ty = world.types.get(ty)?;
        set_elements(given, &ty, count.into())
    }
    fn MPI_Status_set_elements_x(given: *mut Status, ty: I, count: i64) {
        let ty = world.types.get(ty)?;
        set_elements(given, &ty, count)
    }
    fn MPI_Status_set_cancelled(given: *mut Status, flag: I) { (*given).cancel(flag != 0); Ok(()) }
}

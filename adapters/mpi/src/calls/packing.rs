//! Packing, and counts of statuses.

use crate::abi::*;
use crate::datatype::Type;
use crate::error::{Outcome, error};

/// Makes a status report `count` basic elements of the type.
unsafe fn set_elements(status: *mut Status, ty: &Type, count: i64) -> Outcome {
    // A number of basic elements, which is a number of whole values in practice.
    let each = ty.elements(ty.bytes(1)).max(1);
    // SAFETY: the status of the program.
    unsafe { (*status).set_bytes(ty.bytes(count) / each as u64) };
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
    let mut data = Vec::new();
    // SAFETY: the buffer of the program.
    unsafe { ty.pack(from, count, &mut data) };
    let end = position + data.len() as i64;
    if end > room {
        return error(
            ERR_ARG,
            format!("{} packed bytes do not fit {} left of the buffer", data.len(), room - position),
        );
    }
    // SAFETY: there is room, as the program says.
    unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), out.cast::<u8>().offset(position as isize), data.len()) };
    Ok(end)
}

/// Unpacks values from `from`, which has `length` bytes, at `position` \[bytes\]. Returns the position after them.
unsafe fn unpack(from: P, length: i64, position: i64, to: M, count: i64, ty: &Type) -> Outcome<i64> {
    let end = position + ty.bytes(count) as i64;
    if end > length {
        return error(
            ERR_ARG,
            format!("{} bytes are to be unpacked, and {} are left", ty.bytes(count), length - position),
        );
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
    fn MPI_Pack / MPI_Pack_c(from: P, count: N, ty: I, out: M, room: N, position: *mut N, _comm: I) {
        let ty = world.types.get(ty)?;
        *position = pack(from, count.into(), &ty, out, room.into(), (*position).into())? as N;
        Ok(())
    }
    fn MPI_Unpack / MPI_Unpack_c(from: P, length: N, position: *mut N, to: M, count: N, ty: I, _comm: I) {
        let ty = world.types.get(ty)?;
        *position = unpack(from, length.into(), (*position).into(), to, count.into(), &ty)? as N;
        Ok(())
    }
    fn MPI_Pack_size / MPI_Pack_size_c(count: N, ty: I, _comm: I, size: *mut N) {
        put(size, world.types.get(ty)?.bytes(count.into()) as N);
        Ok(())
    }
    fn MPI_Get_count / MPI_Get_count_c(status: *const Status, ty: I, count: *mut N) {
        let ty = world.types.get(ty)?;
        put(count, count_in(&*status, &ty) as N);
        Ok(())
    }
    fn MPI_Get_elements / MPI_Get_elements_c(status: *const Status, ty: I, count: *mut N) {
        put(count, world.types.get(ty)?.elements((*status).bytes()) as N);
        Ok(())
    }
}

mpi! {
    |world|
    fn MPI_Get_elements_x(status: *const Status, ty: I, count: *mut i64) {
        put(count, world.types.get(ty)?.elements((*status).bytes()));
        Ok(())
    }
    fn MPI_Status_set_elements(status: *mut Status, ty: I, count: I) {
        let ty = world.types.get(ty)?;
        set_elements(status, &ty, count.into())
    }
    fn MPI_Status_set_elements_x(status: *mut Status, ty: I, count: i64) {
        let ty = world.types.get(ty)?;
        set_elements(status, &ty, count)
    }
    fn MPI_Status_set_cancelled(status: *mut Status, flag: I) { (*status).cancel(flag != 0); Ok(()) }
}

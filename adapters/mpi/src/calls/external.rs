//! Packing in the representation `external32`.

use std::ffi::{c_char, c_int};
use std::rc::Rc;

use crate::abi::*;
use crate::arguments;
use crate::calls::information::text;
use crate::datatype::Type;
use crate::error::{Outcome, error};
use crate::external;
use crate::world::World;

/// The type of values in a representation, which must be `external32`.
unsafe fn values(world: &World, representation: *const c_char, count: i64, ty: c_int) -> Outcome<Rc<Type>> {
    // SAFETY: the string of the program.
    let name = unsafe { text(representation) };
    if name != "external32" {
        return error(ERR_ARG, format!("the representation `{name}` is not external32"));
    }
    arguments::count(count)?;
    world.types.committed(ty)
}

/// The end of `bytes` bytes at a position of a buffer of `room`.
fn end(position: i64, bytes: u64, room: i64) -> Outcome<i64> {
    let end = position.saturating_add_unsigned(bytes);
    if position < 0 || end > room {
        return error(ERR_ARG, format!("{bytes} bytes do not fit at {position} of a buffer of {room}"));
    }
    Ok(end)
}

large! {
    |world|
    fn MPI_Pack_external / MPI_Pack_external_c(
        representation: *const c_char, from: P, count: N, ty: I, out: M, room: i64, position: *mut i64,
    ) {
        let ty = values(world, representation, count.into(), ty)?;
        arguments::buffer(from as usize, count.into(), &ty)?;
        let after = end(*position, external::bytes(&ty, count.into()), room)?;
        let mut data = Vec::new();
        ty.pack(from, count.into(), &mut data)?;
        let data = external::write(&ty, count.into(), &data);
        std::ptr::copy_nonoverlapping(data.as_ptr(), out.cast::<u8>().offset(*position as isize), data.len());
        *position = after;
        Ok(())
    }
    fn MPI_Unpack_external / MPI_Unpack_external_c(
        representation: *const c_char, from: P, length: i64, position: *mut i64, to: M, count: N, ty: I,
    ) {
        let ty = values(world, representation, count.into(), ty)?;
        arguments::buffer(to as usize, count.into(), &ty)?;
        let bytes = external::bytes(&ty, count.into());
        let after = end(*position, bytes, length)?;
        let data = slice(from.cast::<u8>().offset(*position as isize), bytes as usize);
        ty.unpack(&external::read(&ty, count.into(), data), to, count.into());
        *position = after;
        Ok(())
    }
    fn MPI_Pack_external_size / MPI_Pack_external_size_c(representation: *const c_char, count: N, ty: I, size: *mut i64) {
        let ty = values(world, representation, count.into(), ty)?;
        put(size, external::bytes(&ty, count.into()) as i64);
        Ok(())
    }
}

//! Files: reading and writing.
//!
//! An access is complete when its call returns, non-blocking ones too. In order of virtual time, ranks with earlier
//! clocks access shared pointers and atomic files first.

use std::ffi::c_int;

use crate::abi::*;
use crate::calls::blocks::{Block, block};
use crate::calls::communicators::exchange;
use crate::calls::windows;
use crate::engine::requests::Request;
use crate::engine::waiting;
use crate::error::{Outcome, error};
use crate::file::{Direction, Fh};
use crate::world::World;
use Direction::{Read, Write};

/// Where in a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At an explicit offset \[etypes\].
    At(i64),
    /// At the individual pointer, which moves.
    Own,
    /// At the shared pointer, which moves.
    Shared,
    /// At the shared pointer, in the order of ranks; all take part.
    Ordered,
}

/// A buffer of the program: address, number of values, datatype.
type Buffer = (usize, i64, c_int);

/// Reads or writes the values of a buffer. Returns the status.
fn access(world: &mut World, file: Fh, place: Place, direction: Direction, buffer: Buffer) -> Outcome<Status> {
    world.charge();
    let block = block(world, buffer)?;
    let found = world.files.get(file)?;
    found.check(direction, matches!(place, Place::At(_) | Place::Own))?;
    let (unit, bytes) = (found.view.unit(), block.bytes() as i64);
    if bytes % unit != 0 {
        return error(ERR_IO, format!("{bytes} bytes do not consist of etypes of {unit}"));
    }
    if let Place::At(offset) = place
        && offset < 0
    {
        return error(ERR_ARG, format!("offset {offset} is negative"));
    }
    let (window, comm, is_atomic) = (found.window, found.comm, found.is_atomic);
    let at = match place {
        Place::At(offset) => offset,
        Place::Own => found.position,
        Place::Shared => windows::move_pointer(world, window, bytes / unit)?,
        Place::Ordered => ordered(world, window, comm, bytes / unit)?,
    };
    if is_atomic {
        waiting::poll(world);
    }
    let done = transfer(world, file, at, direction, &block)?;
    if place == Place::Own {
        world.files.get_mut(file)?.position = at + done as i64 / unit;
    }
    let mut status = Status { source: 0, tag: 0, ..Status::EMPTY };
    status.set_bytes(done);
    Ok(status)
}

/// Moves data between a buffer and a place \[etypes\] of a file. Returns how many \[bytes\].
fn transfer(world: &World, file: Fh, at: i64, direction: Direction, block: &Block) -> Outcome<u64> {
    let found = world.files.get(file)?;
    if direction == Write {
        let data = block.pack()?;
        let lock = found.lock()?;
        found.write(at, &data)?;
        drop(lock);
        return Ok(data.len() as u64);
    }
    let lock = found.lock()?;
    let data = found.read(at, block.bytes())?;
    drop(lock);
    // SAFETY: the buffer of the program.
    unsafe { block.ty.unpack(&data, block.address as M, block.count) };
    Ok(data.len() as u64)
}

/// \[etypes\] Moves the shared pointer by what all ranks access, and returns the place of this one, in the order of ranks.
fn ordered(world: &mut World, window: c_int, comm: c_int, own: i64) -> Outcome<i64> {
    let rank = world.comms.get(comm)?.rank;
    let halves = |number: i64| [number as c_int, (number >> 32) as c_int];
    let whole = |[low, high]: [c_int; 2]| i64::from(low.cast_unsigned()) | i64::from(high) << 32;
    let all: Vec<i64> = exchange(world, comm, halves(own))?.into_iter().map(whole).collect();
    let first = if rank == 0 { windows::move_pointer(world, window, all.iter().sum())? } else { 0 };
    let first = exchange(world, comm, halves(first))?.first().copied().map_or(0, whole);
    Ok(first + all[..rank].iter().sum::<i64>())
}

/// Begins a split collective, which is complete at once.
fn begin(
    world: &mut World,
    file: Fh,
    kind: &'static str,
    place: Place,
    direction: Direction,
    buffer: Buffer,
) -> Outcome {
    if let Some((other, _)) = world.files.get(file)?.split {
        return error(ERR_OTHER, format!("{kind} begins before {other} has ended"));
    }
    let status = access(world, file, place, direction, buffer)?;
    world.files.get_mut(file)?.split = Some((kind, status));
    Ok(())
}

/// Ends a split collective.
fn end(world: &mut World, file: Fh, kind: &'static str) -> Outcome<Status> {
    let found = world.files.get_mut(file)?;
    match found.split.take_if(|(begun, _)| *begun == kind) {
        Some((_, status)) => Ok(status),
        None => error(ERR_OTHER, format!("{kind} ends and has not begun")),
    }
}

/// Defines calls that read or write: each with its direction, its place, and what it returns, a status or a request
/// (which has the name of a status, which may be ignored).
macro_rules! accesses {
    ($( $name:ident / $large:ident: $direction:ident $place:expr, ($($offset:ident)?) $result:ident; )*) => {
        large! { |world| $(
            fn $name / $large(file: Fh, $($offset: i64,)? buffer: M, count: N, ty: I, status: accesses!(@type $result)) {
                let done = access(world, file, $place, $direction, (buffer as usize, count.into(), ty))?;
                accesses!(@result $result world, done, status);
                Ok(())
            }
        )* }
    };
    (@type status) => { *mut Status };
    (@type request) => { Ip };
    (@result status $world:ident, $done:ident, $to:ident) => { put_status($to, &$done) };
    (@result request $world:ident, $done:ident, $to:ident) => { put($to, $world.requests.add(Request::done($done))) };
}

/// Defines split collectives: their beginning and their end.
macro_rules! splits {
    ($( $begin:ident / $large:ident, $end:ident / $kind:literal: $direction:ident $place:expr, ($($offset:ident)?); )*) => {
        large! { |world| $(
            fn $begin / $large(file: Fh, $($offset: i64,)? buffer: M, count: N, ty: I) {
                begin(world, file, $kind, $place, $direction, (buffer as usize, count.into(), ty))
            }
        )* }
        mpi! { |world| $(
            fn $end(file: Fh, _buffer: M, status: *mut Status) {
                let done = end(world, file, $kind)?;
                put_status(status, &done);
                Ok(())
            }
        )* }
    };
}

accesses! {
    MPI_File_read_at / MPI_File_read_at_c: Read Place::At(offset), (offset) status;
    MPI_File_read_at_all / MPI_File_read_at_all_c: Read Place::At(offset), (offset) status;
    MPI_File_iread_at / MPI_File_iread_at_c: Read Place::At(offset), (offset) request;
    MPI_File_iread_at_all / MPI_File_iread_at_all_c: Read Place::At(offset), (offset) request;
    MPI_File_read / MPI_File_read_c: Read Place::Own, () status;
    MPI_File_read_all / MPI_File_read_all_c: Read Place::Own, () status;
    MPI_File_iread / MPI_File_iread_c: Read Place::Own, () request;
    MPI_File_iread_all / MPI_File_iread_all_c: Read Place::Own, () request;
    MPI_File_read_shared / MPI_File_read_shared_c: Read Place::Shared, () status;
    MPI_File_iread_shared / MPI_File_iread_shared_c: Read Place::Shared, () request;
    MPI_File_read_ordered / MPI_File_read_ordered_c: Read Place::Ordered, () status;
    MPI_File_write_at / MPI_File_write_at_c: Write Place::At(offset), (offset) status;
    MPI_File_write_at_all / MPI_File_write_at_all_c: Write Place::At(offset), (offset) status;
    MPI_File_iwrite_at / MPI_File_iwrite_at_c: Write Place::At(offset), (offset) request;
    MPI_File_iwrite_at_all / MPI_File_iwrite_at_all_c: Write Place::At(offset), (offset) request;
    MPI_File_write / MPI_File_write_c: Write Place::Own, () status;
    MPI_File_write_all / MPI_File_write_all_c: Write Place::Own, () status;
    MPI_File_iwrite / MPI_File_iwrite_c: Write Place::Own, () request;
    MPI_File_iwrite_all / MPI_File_iwrite_all_c: Write Place::Own, () request;
    MPI_File_write_shared / MPI_File_write_shared_c: Write Place::Shared, () status;
    MPI_File_iwrite_shared / MPI_File_iwrite_shared_c: Write Place::Shared, () request;
    MPI_File_write_ordered / MPI_File_write_ordered_c: Write Place::Ordered, () status;
}

splits! {
    MPI_File_read_at_all_begin / MPI_File_read_at_all_begin_c, MPI_File_read_at_all_end / "MPI_File_read_at_all": Read Place::At(offset), (offset);
    MPI_File_read_all_begin / MPI_File_read_all_begin_c, MPI_File_read_all_end / "MPI_File_read_all": Read Place::Own, ();
    MPI_File_read_ordered_begin / MPI_File_read_ordered_begin_c, MPI_File_read_ordered_end / "MPI_File_read_ordered": Read Place::Ordered, ();
    MPI_File_write_at_all_begin / MPI_File_write_at_all_begin_c, MPI_File_write_at_all_end / "MPI_File_write_at_all": Write Place::At(offset), (offset);
    MPI_File_write_all_begin / MPI_File_write_all_begin_c, MPI_File_write_all_end / "MPI_File_write_all": Write Place::Own, ();
    MPI_File_write_ordered_begin / MPI_File_write_ordered_begin_c, MPI_File_write_ordered_end / "MPI_File_write_ordered": Write Place::Ordered, ();
}

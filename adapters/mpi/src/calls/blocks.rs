//! Buffers of the program, as collectives and accesses to windows send and receive them.

use std::ffi::c_int;
use std::rc::Rc;

use bytes::Bytes;

use crate::abi::*;
use crate::arguments::{self, array, view};
use crate::data::{Data, Share};
use crate::datatype::Type;
use crate::engine::collectives::Form;
use crate::error::{Fatal, Outcome, error};
use crate::world::World;

/// A buffer of the program: address, number of values, datatype.
pub(crate) type Buffer = (usize, i64, c_int);

/// A collective whose arguments have been read. Each call begins it and returns the handle of its request.
pub(crate) type Plan = Box<dyn Fn(&mut World, Form) -> Outcome<c_int>>;

/// Values of the program that are sent or received as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) address: usize,
    pub(crate) count: i64,
    pub(crate) ty: Rc<Type>,
}

impl Block {
    /// \[bytes\] Size of the data.
    pub(crate) fn bytes(&self) -> u64 {
        self.ty.bytes(self.count)
    }

    /// The packed data.
    pub(crate) fn pack(&self) -> Outcome<Vec<u8>> {
        let mut data = Vec::new();
        // SAFETY: the buffer of the program.
        unsafe { self.ty.pack(self.address as P, self.count, &mut data) }?;
        Ok(data)
    }

    /// The packed data, as a view of the buffer where its values are already packed.
    ///
    /// # Safety
    /// The view is dropped before the operation ends that sends the buffer, and nothing is written to it meanwhile.
    pub(crate) unsafe fn view(&self) -> Outcome<Bytes> {
        match self.ty.is_contiguous() && self.bytes() > 0 {
            // SAFETY: the buffer of the program, which it leaves alone while it is sent.
            true => Ok(Bytes::from_static(unsafe {
                std::slice::from_raw_parts(self.address as *const u8, self.bytes() as usize)
            })),
            false => self.pack().map(Bytes::from),
        }
    }

    /// Writes packed data, which come from where `origin` says.
    pub(crate) fn unpack(&self, data: &[u8], origin: &str) -> Result<(), Fatal> {
        let (found, room) = (data.len(), self.bytes());
        // SAFETY: the buffer of the program.
        unsafe { self.ty.unpack(data, self.address as M, self.count) };
        if found as u64 <= room {
            return Ok(());
        }
        Err(Fatal { text: format!("message truncated: {found} bytes{origin} do not fit {room}"), code: ERR_TRUNCATE })
    }
}

/// A block for each rank.
pub(crate) type Blocks = Vec<Block>;

/// The values of a buffer.
pub(crate) fn block(world: &World, (address, count, handle): Buffer) -> Outcome<Block> {
    if is_in_place(address as P) {
        return error(ERR_BUFFER, "MPI_IN_PLACE is not a buffer of this argument");
    }
    let ty = world.types.committed(handle)?;
    arguments::buffer(address, count, &ty)?;
    Ok(Block { address, count, ty })
}

/// An error if a rank sends from the buffer into which it receives. Two buffers at `MPI_BOTTOM` are told apart by where
/// their datatypes place the data.
pub(crate) fn distinct(from: &Block, into: &Block) -> Outcome {
    let is_same = from.address == into.address && from.ty.true_bounds().0 == into.ty.true_bounds().0;
    if from.bytes() > 0 && into.bytes() > 0 && is_same {
        return error(ERR_BUFFER, "the same buffer is sent from and received into: use MPI_IN_PLACE");
    }
    Ok(())
}

/// The blocks of a regular collective: one of `count` values for each rank, one after another.
pub(crate) fn regular(world: &World, (address, count, handle): Buffer, size: usize) -> Outcome<Blocks> {
    let first = block(world, (address, count, handle))?;
    let step = first.ty.extent().wrapping_mul(count);
    let place = |rank: usize| address.wrapping_add_signed(step.wrapping_mul(rank as i64) as isize);
    Ok((0..size).map(|rank| Block { address: place(rank), ..first.clone() }).collect())
}

/// The blocks of a buffer of one datatype, by the arrays of counts and displacements that the program passes.
pub(crate) unsafe fn irregular<N: Copy + Into<i64>, D: Copy + Into<i64>>(
    world: &World,
    buffer: P,
    counts: *const N,
    displacements: *const D,
    handle: c_int,
    size: usize,
) -> Outcome<Blocks> {
    if size == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the arrays of the program, of the size of the communicator.
    let (counts, places) = unsafe { (array(counts, size, "counts")?, array(displacements, size, "displacements")?) };
    let extent = world.types.get(handle)?.extent();
    let all = counts.into_iter().zip(places).map(|(count, place)| {
        let ty = world.types.committed(handle)?;
        arguments::buffer(buffer as usize, count, &ty)?;
        Ok(Block { address: (buffer as usize).wrapping_add_signed(place.wrapping_mul(extent) as isize), count, ty })
    });
    all.collect()
}

/// The blocks of a buffer with a datatype for each rank and displacements in bytes, by the arrays that the program
/// passes.
pub(crate) unsafe fn irregular_typed<N: Copy + Into<i64>, D: Copy + Into<i64>>(
    world: &World,
    buffer: P,
    counts: *const N,
    displacements: *const D,
    types: *const c_int,
    size: usize,
) -> Outcome<Blocks> {
    // SAFETY: the arrays of the program, of the size of the communicator.
    let (counts, places, types) = unsafe {
        (array(counts, size, "counts")?, array(displacements, size, "displacements")?, view(types, size, "types")?)
    };
    let all = counts.into_iter().zip(places).zip(types).map(|((count, place), &handle)| {
        // A rank that gets nothing needs no datatype.
        if count == 0 && handle == DATATYPE_NULL {
            return Ok(Block { address: 0, count, ty: world.types.get(BYTE)? });
        }
        let ty = world.types.committed(handle)?;
        let address = (buffer as usize).wrapping_add_signed(place as isize);
        arguments::buffer(address, count, &ty)?;
        Ok(Block { address, count, ty })
    });
    all.collect()
}

/// Who gets which part of the result of a reduction.
#[derive(Clone, PartialEq)]
pub(crate) enum Kept {
    /// All ranks get the whole result.
    All,
    /// This rank alone gets it.
    Root(c_int),
    /// Each rank gets a part.
    Share(Share),
}

/// Writes the block of each rank to its place. `key` gives the origin and destination of a rank's block.
pub(crate) fn write_blocks(data: &Data, into: &[Block], key: impl Fn(u32) -> (u32, u32)) -> Result<(), Fatal> {
    let Data::Blocks { all, .. } = data else { return Ok(()) };
    let mut outcome = Ok(());
    for (rank, block) in into.iter().enumerate() {
        if let Some(bytes) = all.get(&key(rank as u32)) {
            outcome = outcome.and(block.unpack(bytes, &format!(" from rank {rank}")));
        }
    }
    outcome
}

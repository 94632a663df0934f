//! The collectives of MPI: what each packs, sends and writes to the buffers of the program.

use std::ffi::c_int;
use std::rc::Rc;

use trgen::trace::collectives::{Algorithm, Collective};

use crate::abi::*;
use crate::calls::messages::persistent;
use crate::data::{Combine, Data, Reduction, Share};
use crate::datatype::Type;
use crate::engine::collectives::{Form, begin};
use crate::engine::completion::wait_own;
use crate::error::{Error, Fatal, Outcome, error};
use crate::operation::{self, Terms};
use crate::world::World;

/// A buffer of the program: address, number of values, datatype.
pub(crate) type Buffer = (usize, i64, c_int);
/// A buffer of the program with a block for each rank: address, counts, displacements (in extents or bytes), and either
/// one datatype for all or one for each rank.
pub(crate) type Buffers = (usize, Vec<i64>, Vec<i64>, Vec<c_int>);

/// Rank and size of a communicator.
fn shape(world: &World, comm: c_int) -> Outcome<(usize, usize)> {
    world.comms.get(comm).map(|comm| (comm.rank, comm.size()))
}

/// The root as an index; an error if it is not a rank of the communicator.
fn root_of(root: c_int, size: usize, comm: c_int) -> Outcome<usize> {
    match usize::try_from(root) {
        Ok(root) if root < size => Ok(root),
        _ => Err(Error { class: ERR_ROOT, text: format!("root {root} is not one of {size} ranks"), comm }),
    }
}

/// The datatype of a handle; an error if the count that goes with it is negative.
fn ty(world: &World, handle: c_int, count: i64) -> Outcome<Rc<Type>> {
    if count < 0 {
        return error(ERR_COUNT, format!("count {count} is negative"));
    }
    world.types.get(handle)
}

/// The packed data of `count` values at an address.
fn pack(ty: &Type, address: usize, count: i64) -> Vec<u8> {
    let mut data = Vec::new();
    // SAFETY: the buffer of the program.
    unsafe { ty.pack(address as P, count, &mut data) };
    data
}

/// Writes packed data to `count` values at an address.
fn unpack(ty: &Type, data: &[u8], address: usize, count: i64) {
    // SAFETY: the buffer of the program.
    unsafe { ty.unpack(data, address as M, count) };
}

/// An error if `found` bytes, which come from where `origin` says, do not fit a buffer of `room` bytes.
fn check_room(found: usize, room: u64, origin: &str) -> Result<(), Fatal> {
    if found as u64 <= room {
        return Ok(());
    }
    Err(Fatal { text: format!("message truncated: {found} bytes{origin} do not fit {room}"), code: ERR_TRUNCATE })
}

/// Begins a barrier. As for all collectives below, the result is the handle of a request.
pub(crate) fn barrier(world: &mut World, form: Form, comm: c_int) -> Outcome<c_int> {
    begin(world, form, comm, Collective::Barrier, |_, _| Data::Nothing, Box::new(|_, _| Ok(())))
}

/// Begins a broadcast from `root`.
pub(crate) fn broadcast(world: &mut World, form: Form, buffer: Buffer, root: c_int, comm: c_int) -> Outcome<c_int> {
    let (address, count, handle) = buffer;
    let ((rank, size), ty) = (shape(world, comm)?, ty(world, handle, count)?);
    let root = root_of(root, size, comm)?;
    let bytes = (rank == root).then(|| pack(&ty, address, count));
    let operation = Collective::Broadcast { root, bytes: ty.bytes(count) };
    let data = |algorithm, _| Data::Whole {
        bytes,
        by_sends: matches!(algorithm, Algorithm::ScatterRing | Algorithm::ScatterDoubling),
    };
    let finish = move |data: &mut Data, _: Combine<'_>| {
        if let (Data::Whole { bytes: Some(bytes), .. }, true) = (data, rank != root) {
            check_room(bytes.len(), ty.bytes(count), " of a broadcast")?;
            unpack(&ty, bytes, address, count);
        }
        Ok(())
    };
    begin(world, form, comm, operation, data, Box::new(finish))
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

/// Begins a reduction of `count` values at `from` by the operation `op`; the result is written to `to`.
pub(crate) fn reduce(
    world: &mut World,
    form: Form,
    (from, to, count, handle): (usize, usize, i64, c_int),
    op: c_int,
    kept: Kept,
    comm: c_int,
) -> Outcome<c_int> {
    let ((rank, size), ty) = (shape(world, comm)?, ty(world, handle, count)?);
    operation::check(&world.ops, op, handle, &ty).map_err(|failure| Error { comm, ..failure })?;
    let from = if is_in_place(from as P) { to } else { from };
    let own = pack(&ty, from, count);
    let bytes = ty.bytes(count);
    let operation = match &kept {
        Kept::All | Kept::Share(Share::Whole) => Collective::Allreduce { bytes },
        Kept::Root(root) => Collective::Reduce { root: root_of(*root, size, comm)?, bytes },
        Kept::Share(Share::Blocks(counts)) if counts.len() == size => {
            Collective::ReduceScatter { blocks: counts.iter().map(|&count| ty.bytes(count)).collect() }
        }
        Kept::Share(Share::Blocks(_)) => return error(ERR_COUNT, "a count for each rank is needed"),
        Kept::Share(Share::Prefix { inclusive: true }) => Collective::Scan { bytes },
        Kept::Share(Share::Prefix { inclusive: false }) => Collective::Exscan { bytes },
    };
    let gets_none = matches!(kept, Kept::Root(root) if root as usize != rank);
    let share = if let Kept::Share(share) = kept { share } else { Share::Whole };
    let (parts, result) = (share.clone(), Rc::clone(&ty));
    let data = move |algorithm, route| {
        let terms = Terms { op, handle, ty, count };
        Data::Reduction(Box::new(Reduction::new(terms, (rank, size), own, &parts, algorithm, route)))
    };
    let finish = move |data: &mut Data, combine: Combine<'_>| {
        let Data::Reduction(reduction) = data else { return Ok(()) };
        let count = if let Share::Blocks(counts) = &share { counts[rank] } else { count };
        if !gets_none && let Some(bytes) = reduction.result(rank, &share, combine) {
            unpack(&result, &bytes, to, count);
        }
        Ok(())
    };
    begin(world, form, comm, operation, data, Box::new(finish))
}

/// Writes the block of each rank to its place in `into`. `key` gives the origin and destination of a rank's block.
fn write_blocks(
    data: &mut Data,
    into: &Buffers,
    key: impl Fn(u32) -> (u32, u32),
    extents: &[i64],
    types: &[Rc<Type>],
) -> Result<(), Fatal> {
    let Data::Blocks { all, .. } = data else { return Ok(()) };
    let (address, counts, displacements, _) = into;
    for rank in 0..counts.len() {
        let Some(bytes) = all.get(&key(rank as u32)) else { continue };
        let ty = &types[rank];
        check_room(bytes.len(), ty.bytes(counts[rank]), &format!(" from rank {rank}"))?;
        let at = address.wrapping_add_signed((displacements[rank] * extents[rank]) as isize);
        unpack(ty, bytes, at, counts[rank]);
    }
    Ok(())
}

/// The type of each rank's block and the unit of its displacement \[bytes\]: 1 if displacements are in `bytes`,
/// otherwise the extent of the type.
fn types_of(world: &World, buffers: &Buffers, bytes: bool) -> Outcome<(Vec<Rc<Type>>, Vec<i64>)> {
    let found: Outcome<Vec<Rc<Type>>> = buffers
        .1
        .iter()
        .enumerate()
        .map(|(rank, &count)| ty(world, buffers.3[rank.min(buffers.3.len() - 1)], count))
        .collect();
    let types = found?;
    let extents = types.iter().map(|ty| if bytes { 1 } else { ty.extent() }).collect();
    Ok((types, extents))
}

/// The blocks of a regular collective: one of `count` values for each rank, one after another.
pub(crate) fn regular((address, count, handle): Buffer, size: usize) -> Buffers {
    (address, vec![count; size], (0..size as i64).map(|rank| rank * count).collect(), vec![handle])
}

/// Begins a gather, with blocks of the same size if `same`. `into` is used on the root only.
pub(crate) fn gather(
    world: &mut World,
    form: Form,
    from: Buffer,
    into: Buffers,
    same: bool,
    root: c_int,
    comm: c_int,
) -> Outcome<c_int> {
    let (rank, size) = shape(world, comm)?;
    let root = root_of(root, size, comm)?;
    let (types, extents) = if rank == root { types_of(world, &into, false)? } else { (Vec::new(), Vec::new()) };
    let own = if rank == root && is_in_place(from.0 as P) {
        None
    } else {
        let (address, count, handle) = from;
        Some(pack(&*ty(world, handle, count)?, address, count))
    };
    let length = own.as_ref().map_or_else(|| types[root].bytes(into.1[root]), |own| own.len() as u64);
    let receive: Vec<u64> = types.iter().zip(&into.1).map(|(ty, &count)| ty.bytes(count)).collect();
    let operation = if same {
        Collective::Gather { root, bytes: length }
    } else {
        Collective::Gatherv { root, send: length, receive: if rank == root { receive } else { vec![0; size] } }
    };
    let own = own.map(|own| (rank as u32, root as u32, own)).into_iter().collect();
    let finish = move |data: &mut Data, _: Combine<'_>| match rank == root {
        true => write_blocks(data, &into, |from| (from, root as u32), &extents, &types),
        false => Ok(()),
    };
    begin(world, form, comm, operation, |_, route| Data::blocks(own, route), Box::new(finish))
}

/// Begins a scatter, with blocks of the same size if `same`. `from` is used on the root only.
pub(crate) fn scatter(
    world: &mut World,
    form: Form,
    from: Buffers,
    into: Buffer,
    same: bool,
    root: c_int,
    comm: c_int,
) -> Outcome<c_int> {
    let (rank, size) = shape(world, comm)?;
    let root = root_of(root, size, comm)?;
    let mut own = Vec::new();
    let mut send = vec![0; size];
    if rank == root {
        let (types, extents) = types_of(world, &from, false)?;
        for to in 0..size {
            let at = from.0.wrapping_add_signed((from.2[to] * extents[to]) as isize);
            let bytes = pack(&types[to], at, from.1[to]);
            send[to] = bytes.len() as u64;
            own.push((root as u32, to as u32, bytes));
        }
    }
    let in_place = rank == root && is_in_place(into.0 as P);
    let (address, count, handle) = into;
    let result = if in_place { None } else { Some(ty(world, handle, count)?) };
    let length = result.as_ref().map_or(send[root], |ty| ty.bytes(count));
    let operation = if same {
        Collective::Scatter { root, bytes: length }
    } else {
        Collective::Scatterv { root, send, receive: length }
    };
    let finish = move |data: &mut Data, _: Combine<'_>| {
        let Some(ty) = result else { return Ok(()) };
        let one = (address, vec![count], vec![0], vec![handle]);
        write_blocks(data, &one, |_| (root as u32, rank as u32), &[1], &[ty])
    };
    begin(world, form, comm, operation, |_, route| Data::blocks(own, route), Box::new(finish))
}

/// Begins an allgather, with blocks of the same size if `same`.
pub(crate) fn allgather(
    world: &mut World,
    form: Form,
    from: Buffer,
    into: Buffers,
    same: bool,
    comm: c_int,
) -> Outcome<c_int> {
    let (rank, _) = shape(world, comm)?;
    let (types, extents) = types_of(world, &into, false)?;
    let own = if is_in_place(from.0 as P) {
        let at = into.0.wrapping_add_signed((into.2[rank] * extents[rank]) as isize);
        pack(&types[rank], at, into.1[rank])
    } else {
        pack(&*ty(world, from.2, from.1)?, from.0, from.1)
    };
    let sizes: Vec<u64> = types.iter().zip(&into.1).map(|(ty, &count)| ty.bytes(count)).collect();
    let operation =
        if same { Collective::Allgather { bytes: own.len() as u64 } } else { Collective::Allgatherv { blocks: sizes } };
    let own = vec![(rank as u32, Data::ALL, own)];
    let finish =
        move |data: &mut Data, _: Combine<'_>| write_blocks(data, &into, |from| (from, Data::ALL), &extents, &types);
    begin(world, form, comm, operation, |_, route| Data::blocks(own, route), Box::new(finish))
}

/// Begins an all-to-all, with blocks of the same size if `same`. Displacements are in bytes if `bytes`, else in
/// extents.
pub(crate) fn alltoall(
    world: &mut World,
    form: Form,
    from: Buffers,
    into: Buffers,
    same: bool,
    bytes: bool,
    comm: c_int,
) -> Outcome<c_int> {
    let (rank, size) = shape(world, comm)?;
    let from = if is_in_place(from.0 as P) { into.clone() } else { from };
    let ((types, extents), (into_types, into_extents)) =
        (types_of(world, &from, bytes)?, types_of(world, &into, bytes)?);
    let mut own = Vec::new();
    for to in 0..size {
        let at = from.0.wrapping_add_signed((from.2[to] * extents[to]) as isize);
        own.push((rank as u32, to as u32, pack(&types[to], at, from.1[to])));
    }
    let send: Vec<u64> = own.iter().map(|(_, _, bytes)| bytes.len() as u64).collect();
    let receive: Vec<u64> = into_types.iter().zip(&into.1).map(|(ty, &count)| ty.bytes(count)).collect();
    let operation = if same {
        Collective::Alltoall { bytes: send.first().copied().unwrap_or(0) }
    } else {
        Collective::Alltoallv { send, receive }
    };
    let finish = move |data: &mut Data, _: Combine<'_>| {
        write_blocks(data, &into, |from| (from, rank as u32), &into_extents, &into_types)
    };
    begin(world, form, comm, operation, |_, route| Data::blocks(own, route), Box::new(finish))
}

/// The blocks of a buffer of one datatype, by the arrays of counts and displacements that the program passes.
pub(crate) unsafe fn irregular<N: Copy + Into<i64>, D: Copy + Into<i64>>(
    buffer: P,
    counts: *const N,
    displacements: *const D,
    ty: c_int,
    size: usize,
) -> Buffers {
    // SAFETY: the arrays of the program, of the size of the communicator.
    unsafe { (buffer as usize, whole(counts, size), whole(displacements, size), vec![ty]) }
}

/// The blocks of a buffer with a datatype for each rank, by the arrays that the program passes.
pub(crate) unsafe fn irregular_typed<N: Copy + Into<i64>, D: Copy + Into<i64>>(
    buffer: P,
    counts: *const N,
    displacements: *const D,
    types: *const c_int,
    size: usize,
) -> Buffers {
    // SAFETY: the arrays of the program, of the size of the communicator.
    unsafe { (buffer as usize, whole(counts, size), whole(displacements, size), slice(types, size).to_vec()) }
}

/// Number of ranks of a communicator.
pub(crate) fn size_of(world: &World, comm: c_int) -> Outcome<usize> {
    shape(world, comm).map(|(_, size)| size)
}

/// Defines a collective in its blocking, non-blocking and persistent form. The body begins it and returns its request.
/// `$form` is the name by which it knows the [`Form`] of the call.
macro_rules! collectives {
    (|$world:ident, $form:ident| $( $name:ident / $name_c:ident, $begun:ident / $begun_c:ident, $init:ident / $init_c:ident
        ( $($a:ident : $t:ty),* $(,)? ) $body:block )*) => { $(
        large! {
            |$world|
            fn $name / $name_c($($a: $t),*) {
                let $form = Form::Blocking;
                let request = $body?;
                wait_own($world, request)
            }
            fn $begun / $begun_c($($a: $t,)* request: Ip) {
                let $form = Form::NonBlocking;
                put(request, $body?);
                Ok(())
            }
            fn $init / $init_c($($a: $t,)* _info: I, request: Ip) {
                let $form = Form::NonBlocking;
                put(request, persistent($world, move |$world| $body));
                Ok(())
            }
        }
    )* };
}
pub(crate) use collectives;

mpi! {
    |world|
    fn MPI_Barrier(comm: I) {
        let request = barrier(world, Form::Blocking, comm)?;
        wait_own(world, request)
    }
    fn MPI_Ibarrier(comm: I, request: Ip) { put(request, barrier(world, Form::NonBlocking, comm)?); Ok(()) }
    fn MPI_Barrier_init(comm: I, _info: I, request: Ip) {
        put(request, persistent(world, move |world| barrier(world, Form::NonBlocking, comm)));
        Ok(())
    }
}

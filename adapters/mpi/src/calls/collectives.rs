//! The collectives of MPI: what each packs, sends and writes to the buffers of the program.
//!
//! A call reads, checks and resolves its arguments first, and gets a [`Plan`], which begins the operation: once, or at
//! each start of a persistent request. So a persistent request keeps its arrays, datatypes and operation, whatever the
//! program does to its own.
//!
//! Decision: docs/decisions/0223-mpi-plans.md.

use std::ffi::c_int;

use trgen::trace::collectives::{Algorithm, Collective};

use crate::abi::*;
use crate::arguments;
use crate::calls::blocks::{Block, Blocks, Buffer, Kept, Plan, block, distinct, write_blocks};
use crate::calls::intercollectives as between;
use crate::calls::messages::persistent;
use crate::data::{Combine, Data, Reduction, Share};
use crate::engine::collectives::{Form, begin};
use crate::engine::completion::wait_own;
use crate::error::{Outcome, error};
use crate::operation::Terms;
use crate::world::World;

/// Rank and size of a communicator.
fn shape(world: &World, comm: c_int) -> Outcome<(usize, usize)> {
    world.comms.get(comm).map(|comm| (comm.rank, comm.size()))
}

/// True for an intercommunicator.
pub(crate) fn is_inter(world: &World, comm: c_int) -> Outcome<bool> {
    Ok(world.comms.get(comm)?.remote.is_some())
}

/// Number of ranks of this rank's group.
pub(crate) fn group_of(world: &World, comm: c_int) -> Outcome<usize> {
    shape(world, comm).map(|(_, size)| size)
}

/// Number of ranks with which each rank exchanges blocks: those of the communicator, or of the other group.
pub(crate) fn size_of(world: &World, comm: c_int) -> Outcome<usize> {
    Ok(world.comms.get(comm)?.partners().len())
}

/// The root as an index; an error if it is not a rank of the communicator.
fn root_of(root: c_int, size: usize) -> Outcome<usize> {
    match usize::try_from(root) {
        Ok(root) if root < size => Ok(root),
        _ => error(ERR_ROOT, format!("root {root} is not one of {size} ranks")),
    }
}

/// Plans a barrier. As for all collectives below, the plan returns the handle of a request.
pub(crate) fn barrier(world: &World, comm: c_int) -> Outcome<Plan> {
    if is_inter(world, comm)? {
        return between::barrier(comm);
    }
    Ok(Box::new(move |world, form| {
        begin(world, form, comm, Collective::Barrier, |_, _| Data::Nothing, Box::new(|_, _| Ok(())))
    }))
}

/// Plans a broadcast from `root`.
pub(crate) fn broadcast(world: &World, buffer: Buffer, root: c_int, comm: c_int) -> Outcome<Plan> {
    if is_inter(world, comm)? {
        return between::broadcast(world, buffer, root, comm);
    }
    let (rank, size) = shape(world, comm)?;
    let (block, root) = (block(world, buffer)?, root_of(root, size)?);
    Ok(Box::new(move |world, form| {
        let bytes = if rank == root { Some(block.pack()?.into()) } else { None };
        let operation = Collective::Broadcast { root, bytes: block.bytes() };
        let data = |algorithm, _| Data::Whole {
            bytes,
            by_sends: matches!(algorithm, Algorithm::ScatterRing | Algorithm::ScatterDoubling),
        };
        let into = block.clone();
        let finish = move |data: &mut Data, _: Combine<'_>| match data {
            Data::Whole { bytes: Some(bytes), .. } if rank != root => into.unpack(bytes, " of a broadcast"),
            _ => Ok(()),
        };
        begin(world, form, comm, operation, data, Box::new(finish))
    }))
}

/// Plans a reduction of `count` values at `from` by the operation `op`; the result is written to `to`.
pub(crate) fn reduce(
    world: &World,
    (from, to, count, handle): (usize, usize, i64, c_int),
    op: c_int,
    kept: Kept,
    comm: c_int,
) -> Outcome<Plan> {
    let ty = world.types.get(handle)?;
    arguments::count(count)?;
    let terms = Terms::of(&world.ops, op, handle, &ty, count)?;
    if is_inter(world, comm)? {
        return between::reduce(world, (from, to), terms, kept, comm);
    }
    let (rank, size) = shape(world, comm)?;
    if let Kept::Share(Share::Blocks(counts)) = &kept
        && counts.len() != size
    {
        return error(ERR_COUNT, "a count for each rank is needed");
    }
    let root = if let Kept::Root(root) = kept { Some(root_of(root, size)?) } else { None };
    let gets_none = root.is_some_and(|root| root != rank);
    let in_place = is_in_place(from as P);
    if in_place && gets_none {
        return error(ERR_BUFFER, "MPI_IN_PLACE is sent by a rank that is not the root");
    }
    let own = block(world, (if in_place { to } else { from }, count, handle))?;
    let into = Block { address: to, ..own.clone() };
    if !gets_none {
        block(world, (to, count, handle))?;
        if !in_place {
            distinct(&own, &into)?;
        }
    }
    Ok(Box::new(move |world, form| {
        let (bytes, ty) = (own.bytes(), &own.ty);
        let operation = match (&kept, root) {
            (_, Some(root)) => Collective::Reduce { root, bytes },
            (Kept::Share(Share::Blocks(counts)), _) => {
                Collective::ReduceScatter { blocks: counts.iter().map(|&count| ty.bytes(count)).collect() }
            }
            (Kept::Share(Share::Prefix { inclusive: true }), _) => Collective::Scan { bytes },
            (Kept::Share(Share::Prefix { inclusive: false }), _) => Collective::Exscan { bytes },
            _ => Collective::Allreduce { bytes },
        };
        let share = if let Kept::Share(share) = &kept { share.clone() } else { Share::Whole };
        let (contribution, parts, terms) = (own.pack()?, share.clone(), terms.clone());
        let data = move |algorithm, route| {
            Data::Reduction(Box::new(Reduction::new(terms, (rank, size), contribution, &parts, algorithm, route)))
        };
        let mut into = into.clone();
        let finish = move |data: &mut Data, combine: Combine<'_>| {
            let Data::Reduction(reduction) = data else { return Ok(()) };
            if let Share::Blocks(counts) = &share {
                into.count = counts[rank];
            }
            match reduction.result(rank, &share, combine) {
                Some(bytes) if !gets_none => into.unpack(&bytes, " of a reduction"),
                _ => Ok(()),
            }
        };
        begin(world, form, comm, operation, data, Box::new(finish))
    }))
}

/// Plans a gather, with blocks of the same size if `same`. `into` gives the blocks on the root only.
pub(crate) fn gather(
    world: &World,
    from: Buffer,
    into: impl FnOnce() -> Outcome<Blocks>,
    same: bool,
    root: c_int,
    comm: c_int,
) -> Outcome<Plan> {
    if is_inter(world, comm)? {
        return between::gather(world, from, into, root, comm);
    }
    let (rank, size) = shape(world, comm)?;
    let root = root_of(root, size)?;
    let into = if rank == root { into()? } else { Vec::new() };
    let in_place = rank == root && is_in_place(from.0 as P);
    let own = if in_place { None } else { Some(block(world, from)?) };
    if let (Some(own), Some(into)) = (&own, into.get(root)) {
        distinct(own, into)?;
    }
    Ok(Box::new(move |world, form| {
        let length = own.as_ref().map_or_else(|| into[root].bytes(), Block::bytes);
        let operation = if same {
            Collective::Gather { root, bytes: length }
        } else {
            let receive = if rank == root { into.iter().map(Block::bytes).collect() } else { vec![0; size] };
            Collective::Gatherv { root, send: length, receive }
        };
        let own = match &own {
            Some(own) => vec![(rank as u32, root as u32, own.pack()?)],
            None => Vec::new(),
        };
        let into = into.clone();
        let finish = move |data: &mut Data, _: Combine<'_>| write_blocks(data, &into, |from| (from, root as u32));
        begin(world, form, comm, operation, |_, route| Data::blocks(own, route), Box::new(finish))
    }))
}

/// Plans a scatter, with blocks of the same size if `same`. `from` gives the blocks on the root only.
pub(crate) fn scatter(
    world: &World,
    from: impl FnOnce() -> Outcome<Blocks>,
    into: Buffer,
    same: bool,
    root: c_int,
    comm: c_int,
) -> Outcome<Plan> {
    if is_inter(world, comm)? {
        return between::scatter(world, from, into, root, comm);
    }
    let (rank, size) = shape(world, comm)?;
    let root = root_of(root, size)?;
    let from = if rank == root { from()? } else { Vec::new() };
    let in_place = rank == root && is_in_place(into.0 as P);
    let result = if in_place { None } else { Some(block(world, into)?) };
    if let (Some(result), Some(own)) = (&result, from.get(root)) {
        distinct(own, result)?;
    }
    Ok(Box::new(move |world, form| {
        let mut own = Vec::new();
        for (to, block) in from.iter().enumerate() {
            own.push((root as u32, to as u32, block.pack()?));
        }
        let length = result.as_ref().map_or_else(|| from[root].bytes(), Block::bytes);
        let operation = if same {
            Collective::Scatter { root, bytes: length }
        } else {
            let send = if rank == root { from.iter().map(Block::bytes).collect() } else { vec![0; size] };
            Collective::Scatterv { root, send, receive: length }
        };
        let into: Blocks = result.iter().cloned().collect();
        let finish = move |data: &mut Data, _: Combine<'_>| write_blocks(data, &into, |_| (root as u32, rank as u32));
        begin(world, form, comm, operation, |_, route| Data::blocks(own, route), Box::new(finish))
    }))
}

/// Plans an allgather, with blocks of the same size if `same`.
pub(crate) fn allgather(world: &World, from: Buffer, into: Blocks, same: bool, comm: c_int) -> Outcome<Plan> {
    if is_inter(world, comm)? {
        return between::allgather(world, from, into, comm);
    }
    let (rank, _) = shape(world, comm)?;
    let own = if is_in_place(from.0 as P) {
        into[rank].clone()
    } else {
        let own = block(world, from)?;
        distinct(&own, &into[rank])?;
        own
    };
    Ok(Box::new(move |world, form| {
        let operation = if same {
            Collective::Allgather { bytes: own.bytes() }
        } else {
            Collective::Allgatherv { blocks: into.iter().map(Block::bytes).collect() }
        };
        let own = vec![(rank as u32, Data::ALL, own.pack()?)];
        let into = into.clone();
        let finish = move |data: &mut Data, _: Combine<'_>| write_blocks(data, &into, |from| (from, Data::ALL));
        begin(world, form, comm, operation, |_, route| Data::blocks(own, route), Box::new(finish))
    }))
}

/// Plans an all-to-all, with blocks of the same size if `same`. Without `from` the blocks of `into` are sent.
pub(crate) fn alltoall(world: &World, from: Option<Blocks>, into: Blocks, same: bool, comm: c_int) -> Outcome<Plan> {
    if is_inter(world, comm)? {
        let Some(from) = from else { return error(ERR_BUFFER, "MPI_IN_PLACE between two groups") };
        return Ok(between::alltoall(from, into, comm));
    }
    let (rank, _) = shape(world, comm)?;
    if let Some(from) = &from
        && let (Some(from), Some(into)) = (from.first(), into.first())
    {
        distinct(from, into)?;
    }
    let is_in_place = from.is_none();
    let from = from.unwrap_or_else(|| into.clone());
    Ok(Box::new(move |world, form| {
        let mut own = Vec::new();
        for (to, block) in from.iter().enumerate() {
            // What is sent from where it is received is packed before.
            // SAFETY: the data of the collective are dropped with its request, until whose end the program may not write.
            let bytes = if is_in_place { block.pack()?.into() } else { unsafe { block.view() }? };
            own.push((rank as u32, to as u32, bytes));
        }
        let operation = if same {
            Collective::Alltoall { bytes: from.first().map_or(0, Block::bytes) }
        } else {
            let sizes = |blocks: &[Block]| blocks.iter().map(Block::bytes).collect();
            Collective::Alltoallv { send: sizes(&from), receive: sizes(&into) }
        };
        let into = into.clone();
        let finish = move |data: &mut Data, _: Combine<'_>| write_blocks(data, &into, |from| (from, rank as u32));
        begin(world, form, comm, operation, |_, route| Data::blocks(own, route), Box::new(finish))
    }))
}

/// A persistent request of a collective. It gets the next number among those initialized on its communicator.
pub(crate) fn prepared(world: &mut World, comm: c_int, plan: Plan) -> Outcome<c_int> {
    let found = world.comms.get_mut(comm)?;
    let number = found.prepared;
    found.prepared += 1;
    Ok(persistent(world, comm, move |world| plan(world, Form::Started(number))))
}

/// Defines a collective in its blocking, non-blocking and persistent form. The body plans it. The parameters end with the
/// communicator, `$comm`.
macro_rules! collectives {
    (|$world:ident| $( $name:ident / $name_c:ident, $begun:ident / $begun_c:ident, $init:ident / $init_c:ident
        ( $($a:ident : $t:ty),* ; $comm:ident ) $body:block )*) => { $(
        large! {
            |$world|
            fn $name / $name_c($($a: $t,)* $comm: I) {
                let request = $body?($world, Form::Blocking)?;
                wait_own($world, request)
            }
            fn $begun / $begun_c($($a: $t,)* $comm: I, request: Ip) {
                put(request, $body?($world, Form::NonBlocking)?);
                Ok(())
            }
            fn $init / $init_c($($a: $t,)* $comm: I, _info: I, request: Ip) {
                let plan = $body?;
                put(request, prepared($world, $comm, plan)?);
                Ok(())
            }
        }
    )* };
}
pub(crate) use collectives;

mpi! {
    |world|
    fn MPI_Barrier(comm: I) {
        let request = barrier(world, comm)?(world, Form::Blocking)?;
        wait_own(world, request)
    }
    fn MPI_Ibarrier(comm: I, request: Ip) {
        put(request, barrier(world, comm)?(world, Form::NonBlocking)?);
        Ok(())
    }
    fn MPI_Barrier_init(comm: I, _info: I, request: Ip) {
        let plan = barrier(world, comm)?;
        put(request, prepared(world, comm, plan)?);
        Ok(())
    }
}

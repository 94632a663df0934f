//! Neighbourhood collectives: a message to and from each neighbour of a topology.

use std::ffi::c_int;

use crate::abi::*;
use crate::calls::cartesian::neighbourhood;
use crate::calls::collectives::{Buffers, collectives, irregular, irregular_typed, regular};
use crate::calls::messages::{Mode, persistent, receive_in, request_of, send_in, together};
use crate::engine::collectives::Form;
use crate::engine::completion::wait_own;
use crate::error::{Outcome, error};
use crate::world::World;

/// The lane of these messages: it separates them from others of the communicator.
const LANE: u64 = 1 << 61;

/// The block of a buffer for a neighbour: its address, count and type. Displacements are in bytes if `bytes`.
fn block(world: &World, buffers: &Buffers, index: usize, bytes: bool) -> Outcome<(usize, i64, c_int)> {
    let (address, counts, places, types) = buffers;
    let handle = types[index.min(types.len() - 1)];
    let step = if bytes { 1 } else { world.types.get(handle)?.extent() };
    Ok((address.wrapping_add_signed((places[index] * step) as isize), counts[index], handle))
}

/// Begins to send a block to each destination and to receive one from each source; one request stands for all.
fn exchange(world: &mut World, from: &Buffers, into: &Buffers, bytes: bool, comm: c_int) -> Outcome<c_int> {
    let (sources, destinations) = neighbourhood(world, comm)?;
    let mut all = Vec::new();
    for (index, &(source, tag)) in sources.iter().enumerate() {
        let (address, count, ty) = block(world, into, index, bytes)?;
        all.push(receive_in(world, LANE, (address as M, count, ty), source, tag, comm)?);
    }
    for (index, &(destination, tag)) in destinations.iter().enumerate() {
        let (address, count, ty) = block(world, from, index, bytes)?;
        // SAFETY: the buffers of the program.
        let begun = unsafe { send_in(world, LANE, (address as P, count, ty), destination, tag, comm, Mode::Standard) }?;
        all.push(request_of(world, begun));
    }
    Ok(together(world, all))
}

/// The number of sources and the number of destinations of this rank; an error if both are 0.
fn neighbour_counts(world: &World, comm: c_int) -> Outcome<(usize, usize)> {
    let (sources, destinations) = neighbourhood(world, comm)?;
    if sources.is_empty() && destinations.is_empty() {
        return error(ERR_TOPOLOGY, "this rank has no neighbours");
    }
    Ok((sources.len(), destinations.len()))
}

/// A list of blocks for `destinations` ranks, all of which are the same block.
fn repeated((address, count, handle): (usize, i64, c_int), destinations: usize) -> Buffers {
    (address, vec![count; destinations], vec![0; destinations], vec![handle])
}

collectives! {
    |world, _form|
    MPI_Neighbor_allgather / MPI_Neighbor_allgather_c,
    MPI_Ineighbor_allgather / MPI_Ineighbor_allgather_c,
    MPI_Neighbor_allgather_init / MPI_Neighbor_allgather_init_c(
        from: P, sent: N, sent_type: I, to: M, count: N, ty: I, comm: I,
    ) {
        neighbour_counts(world, comm).and_then(|(sources, destinations)| {
            let all = repeated((from as usize, sent.into(), sent_type), destinations);
            exchange(world, &all, &regular((to as usize, count.into(), ty), sources), false, comm)
        })
    }

    MPI_Neighbor_allgatherv / MPI_Neighbor_allgatherv_c,
    MPI_Ineighbor_allgatherv / MPI_Ineighbor_allgatherv_c,
    MPI_Neighbor_allgatherv_init / MPI_Neighbor_allgatherv_init_c(
        from: P, sent: N, sent_type: I, to: M, counts: *const N, places: *const D, ty: I, comm: I,
    ) {
        neighbour_counts(world, comm).and_then(|(sources, destinations)| {
            let all = repeated((from as usize, sent.into(), sent_type), destinations);
            exchange(world, &all, &irregular(to, counts, places, ty, sources), false, comm)
        })
    }

    MPI_Neighbor_alltoall / MPI_Neighbor_alltoall_c,
    MPI_Ineighbor_alltoall / MPI_Ineighbor_alltoall_c,
    MPI_Neighbor_alltoall_init / MPI_Neighbor_alltoall_init_c(
        from: P, sent: N, sent_type: I, to: M, count: N, ty: I, comm: I,
    ) {
        neighbour_counts(world, comm).and_then(|(sources, destinations)| {
            let all = regular((from as usize, sent.into(), sent_type), destinations);
            exchange(world, &all, &regular((to as usize, count.into(), ty), sources), false, comm)
        })
    }

    MPI_Neighbor_alltoallv / MPI_Neighbor_alltoallv_c,
    MPI_Ineighbor_alltoallv / MPI_Ineighbor_alltoallv_c,
    MPI_Neighbor_alltoallv_init / MPI_Neighbor_alltoallv_init_c(
        from: P, sent: *const N, sent_places: *const D, sent_type: I,
        to: M, counts: *const N, places: *const D, ty: I, comm: I,
    ) {
        neighbour_counts(world, comm).and_then(|(sources, destinations)| {
            let all = irregular(from, sent, sent_places, sent_type, destinations);
            exchange(world, &all, &irregular(to, counts, places, ty, sources), false, comm)
        })
    }

    MPI_Neighbor_alltoallw / MPI_Neighbor_alltoallw_c,
    MPI_Ineighbor_alltoallw / MPI_Ineighbor_alltoallw_c,
    MPI_Neighbor_alltoallw_init / MPI_Neighbor_alltoallw_init_c(
        from: P, sent: *const N, sent_places: *const i64, sent_types: *const c_int,
        to: M, counts: *const N, places: *const i64, types: *const c_int, comm: I,
    ) {
        neighbour_counts(world, comm).and_then(|(sources, destinations)| {
            let all = irregular_typed(from, sent, sent_places, sent_types, destinations);
            exchange(world, &all, &irregular_typed(to, counts, places, types, sources), true, comm)
        })
    }
}

//! Neighbourhood collectives: a message to and from each neighbour of a topology.

use std::ffi::c_int;
use std::rc::Rc;

use crate::abi::*;
use crate::calls::blocks::{Blocks, Buffer, Plan, block, irregular, irregular_typed, regular};
use crate::calls::cartesian::neighbourhood;
use crate::calls::collectives::{collectives, prepared};
use crate::calls::messages::{Lane, Mode, receive_in, request_of, send_in, together};
use crate::engine::collectives::Form;
use crate::engine::completion::wait_own;
use crate::error::{Outcome, error};
use crate::world::World;

/// The lane of the messages of a collective in this form: it separates them from others of the communicator, and those of
/// persistent requests from each other.
const fn lane(form: Form) -> Lane {
    let number = match form {
        Form::Blocking | Form::NonBlocking => 0,
        Form::Started(number) => number + 1,
    };
    Lane { bits: 1 << 61, number }
}

/// Plans to send a block to each destination and to receive one from each source; one request stands for all.
fn exchange(world: &World, from: Blocks, into: Blocks, comm: c_int) -> Outcome<Plan> {
    let (sources, destinations) = neighbourhood(world, comm)?;
    Ok(Box::new(move |world, form| {
        let mut all = Vec::new();
        for (block, &(source, tag)) in into.iter().zip(&sources) {
            let values = (block.address as M, block.count, Rc::clone(&block.ty));
            all.push(receive_in(world, lane(form), values, source, tag, comm)?);
        }
        for (block, &(destination, tag)) in from.iter().zip(&destinations) {
            let values = (block.address as P, block.count, Rc::clone(&block.ty));
            // SAFETY: the buffers of the program.
            let begun = unsafe { send_in(world, lane(form), values, destination, tag, comm, Mode::Standard) }?;
            all.push(request_of(world, begun));
        }
        Ok(together(world, all))
    }))
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
fn repeated(world: &World, buffer: Buffer, destinations: usize) -> Outcome<Blocks> {
    Ok(vec![block(world, buffer)?; destinations])
}

collectives! {
    |world|
    MPI_Neighbor_allgather / MPI_Neighbor_allgather_c,
    MPI_Ineighbor_allgather / MPI_Ineighbor_allgather_c,
    MPI_Neighbor_allgather_init / MPI_Neighbor_allgather_init_c(
        from: P, sent: N, sent_type: I, to: M, count: N, ty: I; comm
    ) {
        neighbour_counts(world, comm).and_then(|(sources, destinations)| {
            let all = repeated(world, (from as usize, sent.into(), sent_type), destinations)?;
            exchange(world, all, regular(world, (to as usize, count.into(), ty), sources)?, comm)
        })
    }

    MPI_Neighbor_allgatherv / MPI_Neighbor_allgatherv_c,
    MPI_Ineighbor_allgatherv / MPI_Ineighbor_allgatherv_c,
    MPI_Neighbor_allgatherv_init / MPI_Neighbor_allgatherv_init_c(
        from: P, sent: N, sent_type: I, to: M, counts: *const N, places: *const D, ty: I; comm
    ) {
        neighbour_counts(world, comm).and_then(|(sources, destinations)| {
            let all = repeated(world, (from as usize, sent.into(), sent_type), destinations)?;
            exchange(world, all, irregular(world, to, counts, places, ty, sources)?, comm)
        })
    }

    MPI_Neighbor_alltoall / MPI_Neighbor_alltoall_c,
    MPI_Ineighbor_alltoall / MPI_Ineighbor_alltoall_c,
    MPI_Neighbor_alltoall_init / MPI_Neighbor_alltoall_init_c(
        from: P, sent: N, sent_type: I, to: M, count: N, ty: I; comm
    ) {
        neighbour_counts(world, comm).and_then(|(sources, destinations)| {
            let all = regular(world, (from as usize, sent.into(), sent_type), destinations)?;
            exchange(world, all, regular(world, (to as usize, count.into(), ty), sources)?, comm)
        })
    }

    MPI_Neighbor_alltoallv / MPI_Neighbor_alltoallv_c,
    MPI_Ineighbor_alltoallv / MPI_Ineighbor_alltoallv_c,
    MPI_Neighbor_alltoallv_init / MPI_Neighbor_alltoallv_init_c(
        from: P, sent: *const N, sent_places: *const D, sent_type: I,
        to: M, counts: *const N, places: *const D, ty: I; comm
    ) {
        neighbour_counts(world, comm).and_then(|(sources, destinations)| {
            let all = irregular(world, from, sent, sent_places, sent_type, destinations)?;
            exchange(world, all, irregular(world, to, counts, places, ty, sources)?, comm)
        })
    }

    MPI_Neighbor_alltoallw / MPI_Neighbor_alltoallw_c,
    MPI_Ineighbor_alltoallw / MPI_Ineighbor_alltoallw_c,
    MPI_Neighbor_alltoallw_init / MPI_Neighbor_alltoallw_init_c(
        from: P, sent: *const N, sent_places: *const i64, sent_types: *const c_int,
        to: M, counts: *const N, places: *const i64, types: *const c_int; comm
    ) {
        neighbour_counts(world, comm).and_then(|(sources, destinations)| {
            let all = irregular_typed(world, from, sent, sent_places, sent_types, destinations)?;
            exchange(world, all, irregular_typed(world, to, counts, places, types, sources)?, comm)
        })
    }
}

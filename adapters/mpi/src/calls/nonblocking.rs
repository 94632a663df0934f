//! The collectives with data in all their forms: blocking, non-blocking and persistent, with small and large counts.

use std::ffi::c_int;

use crate::abi::*;
use crate::calls::collectives::*;
use crate::calls::messages::persistent;
use crate::data::Share;
use crate::engine::collectives::Form;
use crate::engine::completion::wait_own;
use crate::error::{Outcome, error};
use crate::operation::{self, Terms};
use crate::world::World;

collectives! {
    |world, form|
    MPI_Bcast / MPI_Bcast_c, MPI_Ibcast / MPI_Ibcast_c, MPI_Bcast_init / MPI_Bcast_init_c(
        buffer: M, count: N, ty: I, root: I, comm: I,
    ) { broadcast(world, form, (buffer as usize, count.into(), ty), root, comm) }

    MPI_Reduce / MPI_Reduce_c, MPI_Ireduce / MPI_Ireduce_c, MPI_Reduce_init / MPI_Reduce_init_c(
        from: P, to: M, count: N, ty: I, op: I, root: I, comm: I,
    ) { reduce(world, form, (from as usize, to as usize, count.into(), ty), op, Kept::Root(root), comm) }

    MPI_Allreduce / MPI_Allreduce_c, MPI_Iallreduce / MPI_Iallreduce_c, MPI_Allreduce_init / MPI_Allreduce_init_c(
        from: P, to: M, count: N, ty: I, op: I, comm: I,
    ) { reduce(world, form, (from as usize, to as usize, count.into(), ty), op, Kept::All, comm) }

    MPI_Scan / MPI_Scan_c, MPI_Iscan / MPI_Iscan_c, MPI_Scan_init / MPI_Scan_init_c(
        from: P, to: M, count: N, ty: I, op: I, comm: I,
    ) { reduce(world, form, (from as usize, to as usize, count.into(), ty), op, Kept::Share(Share::Prefix { inclusive: true }), comm) }

    MPI_Exscan / MPI_Exscan_c, MPI_Iexscan / MPI_Iexscan_c, MPI_Exscan_init / MPI_Exscan_init_c(
        from: P, to: M, count: N, ty: I, op: I, comm: I,
    ) { reduce(world, form, (from as usize, to as usize, count.into(), ty), op, Kept::Share(Share::Prefix { inclusive: false }), comm) }

    MPI_Reduce_scatter_block / MPI_Reduce_scatter_block_c,
    MPI_Ireduce_scatter_block / MPI_Ireduce_scatter_block_c,
    MPI_Reduce_scatter_block_init / MPI_Reduce_scatter_block_init_c(
        from: P, to: M, count: N, ty: I, op: I, comm: I,
    ) {
        let counts = size_of(world, comm).map(|size| vec![count.into(); size]);
        scattered(world, form, (from as usize, to as usize), counts, ty, op, comm)
    }

    MPI_Reduce_scatter / MPI_Reduce_scatter_c,
    MPI_Ireduce_scatter / MPI_Ireduce_scatter_c,
    MPI_Reduce_scatter_init / MPI_Reduce_scatter_init_c(
        from: P, to: M, counts: *const N, ty: I, op: I, comm: I,
    ) {
        let counts = size_of(world, comm).map(|size| whole(counts, size));
        scattered(world, form, (from as usize, to as usize), counts, ty, op, comm)
    }

    MPI_Gather / MPI_Gather_c, MPI_Igather / MPI_Igather_c, MPI_Gather_init / MPI_Gather_init_c(
        from: P, sent: N, sent_type: I, to: M, count: N, ty: I, root: I, comm: I,
    ) {
        size_of(world, comm).and_then(|size| {
            let into = regular((to as usize, count.into(), ty), size);
            gather(world, form, (from as usize, sent.into(), sent_type), into, true, root, comm)
        })
    }

    MPI_Gatherv / MPI_Gatherv_c, MPI_Igatherv / MPI_Igatherv_c, MPI_Gatherv_init / MPI_Gatherv_init_c(
        from: P, sent: N, sent_type: I, to: M, counts: *const N, places: *const D, ty: I, root: I, comm: I,
    ) {
        size_of(world, comm).and_then(|size| {
            let into = irregular(to, counts, places, ty, size);
            gather(world, form, (from as usize, sent.into(), sent_type), into, false, root, comm)
        })
    }

    MPI_Scatter / MPI_Scatter_c, MPI_Iscatter / MPI_Iscatter_c, MPI_Scatter_init / MPI_Scatter_init_c(
        from: P, sent: N, sent_type: I, to: M, count: N, ty: I, root: I, comm: I,
    ) {
        size_of(world, comm).and_then(|size| {
            let all = regular((from as usize, sent.into(), sent_type), size);
            scatter(world, form, all, (to as usize, count.into(), ty), true, root, comm)
        })
    }

    MPI_Scatterv / MPI_Scatterv_c, MPI_Iscatterv / MPI_Iscatterv_c, MPI_Scatterv_init / MPI_Scatterv_init_c(
        from: P, counts: *const N, places: *const D, sent_type: I, to: M, count: N, ty: I, root: I, comm: I,
    ) {
        size_of(world, comm).and_then(|size| {
            let all = irregular(from, counts, places, sent_type, size);
            scatter(world, form, all, (to as usize, count.into(), ty), false, root, comm)
        })
    }

    MPI_Allgather / MPI_Allgather_c, MPI_Iallgather / MPI_Iallgather_c, MPI_Allgather_init / MPI_Allgather_init_c(
        from: P, sent: N, sent_type: I, to: M, count: N, ty: I, comm: I,
    ) {
        size_of(world, comm).and_then(|size| {
            let into = regular((to as usize, count.into(), ty), size);
            allgather(world, form, (from as usize, sent.into(), sent_type), into, true, comm)
        })
    }

    MPI_Allgatherv / MPI_Allgatherv_c, MPI_Iallgatherv / MPI_Iallgatherv_c,
    MPI_Allgatherv_init / MPI_Allgatherv_init_c(
        from: P, sent: N, sent_type: I, to: M, counts: *const N, places: *const D, ty: I, comm: I,
    ) {
        size_of(world, comm).and_then(|size| {
            let into = irregular(to, counts, places, ty, size);
            allgather(world, form, (from as usize, sent.into(), sent_type), into, false, comm)
        })
    }

    MPI_Alltoall / MPI_Alltoall_c, MPI_Ialltoall / MPI_Ialltoall_c, MPI_Alltoall_init / MPI_Alltoall_init_c(
        from: P, sent: N, sent_type: I, to: M, count: N, ty: I, comm: I,
    ) {
        size_of(world, comm).and_then(|size| {
            let all = regular((from as usize, sent.into(), sent_type), size);
            alltoall(world, form, all, regular((to as usize, count.into(), ty), size), true, false, comm)
        })
    }

    MPI_Alltoallv / MPI_Alltoallv_c, MPI_Ialltoallv / MPI_Ialltoallv_c, MPI_Alltoallv_init / MPI_Alltoallv_init_c(
        from: P, sent: *const N, sent_places: *const D, sent_type: I,
        to: M, counts: *const N, places: *const D, ty: I, comm: I,
    ) {
        size_of(world, comm).and_then(|size| {
            let into = irregular(to, counts, places, ty, size);
            let all = if is_in_place(from) { in_place() } else { irregular(from, sent, sent_places, sent_type, size) };
            alltoall(world, form, all, into, false, false, comm)
        })
    }

    MPI_Alltoallw / MPI_Alltoallw_c, MPI_Ialltoallw / MPI_Ialltoallw_c, MPI_Alltoallw_init / MPI_Alltoallw_init_c(
        from: P, sent: *const N, sent_places: *const D, sent_types: *const c_int,
        to: M, counts: *const N, places: *const D, types: *const c_int, comm: I,
    ) {
        size_of(world, comm).and_then(|size| {
            let into = irregular_typed(to, counts, places, types, size);
            let all = if is_in_place(from) { in_place() } else { irregular_typed(from, sent, sent_places, sent_types, size) };
            alltoall(world, form, all, into, false, true, comm)
        })
    }
}

/// Buffers that stand for `MPI_IN_PLACE`.
fn in_place() -> Buffers {
    (usize::MAX, Vec::new(), Vec::new(), Vec::new())
}

/// Begins a reduction of which each rank gets one block; `counts` are the numbers of values by rank.
fn scattered(
    world: &mut World,
    form: Form,
    (from, to): (usize, usize),
    counts: Outcome<Vec<i64>>,
    ty: c_int,
    op: c_int,
    comm: c_int,
) -> Outcome<c_int> {
    let counts = counts?;
    reduce(world, form, (from, to, counts.iter().sum(), ty), op, Kept::Share(Share::Blocks(counts)), comm)
}

large! {
    |world|
    fn MPI_Reduce_local / MPI_Reduce_local_c(from: P, to: M, count: N, handle: I, op: I) {
        let (ty, count): (_, i64) = (world.types.get(handle)?, count.into());
        if count < 0 {
            return error(ERR_COUNT, format!("count {count} is negative"));
        }
        operation::check(&world.ops, op, handle, &ty)?;
        let (mut left, mut right) = (Vec::new(), Vec::new());
        ty.pack(from, count, &mut left);
        ty.pack(to, count, &mut right);
        let terms = Terms { op, handle, ty, count };
        world.combine(&terms, &left, &mut right);
        terms.ty.unpack(&right, to, count);
        Ok(())
    }
}

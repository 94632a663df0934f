//! The collectives with data in all their forms: blocking, non-blocking and persistent, with small and large counts.

use std::ffi::c_int;

use crate::abi::*;
use crate::arguments::{self, array};
use crate::calls::blocks::{Blocks, Kept, Plan, block, irregular, irregular_typed, regular};
use crate::calls::collectives::*;
use crate::data::Share;
use crate::engine::collectives::Form;
use crate::engine::completion::wait_own;
use crate::error::Outcome;
use crate::operation::Terms;
use crate::world::World;

/// The place of a scan: over the lower ranks, and with this one if inclusive.
const fn prefix(inclusive: bool) -> Kept {
    Kept::Share(Share::Prefix { inclusive })
}

collectives! {
    |world|
    MPI_Bcast / MPI_Bcast_c, MPI_Ibcast / MPI_Ibcast_c, MPI_Bcast_init / MPI_Bcast_init_c(
        buffer: M, count: N, ty: I, root: I; comm
    ) { broadcast(world, (buffer as usize, count.into(), ty), root, comm) }

    MPI_Reduce / MPI_Reduce_c, MPI_Ireduce / MPI_Ireduce_c, MPI_Reduce_init / MPI_Reduce_init_c(
        from: P, to: M, count: N, ty: I, op: I, root: I; comm
    ) { reduce(world, (from as usize, to as usize, count.into(), ty), op, Kept::Root(root), comm) }

    MPI_Allreduce / MPI_Allreduce_c, MPI_Iallreduce / MPI_Iallreduce_c, MPI_Allreduce_init / MPI_Allreduce_init_c(
        from: P, to: M, count: N, ty: I, op: I; comm
    ) { reduce(world, (from as usize, to as usize, count.into(), ty), op, Kept::All, comm) }

    MPI_Scan / MPI_Scan_c, MPI_Iscan / MPI_Iscan_c, MPI_Scan_init / MPI_Scan_init_c(
        from: P, to: M, count: N, ty: I, op: I; comm
    ) { reduce(world, (from as usize, to as usize, count.into(), ty), op, prefix(true), comm) }

    MPI_Exscan / MPI_Exscan_c, MPI_Iexscan / MPI_Iexscan_c, MPI_Exscan_init / MPI_Exscan_init_c(
        from: P, to: M, count: N, ty: I, op: I; comm
    ) { reduce(world, (from as usize, to as usize, count.into(), ty), op, prefix(false), comm) }

    MPI_Reduce_scatter_block / MPI_Reduce_scatter_block_c,
    MPI_Ireduce_scatter_block / MPI_Ireduce_scatter_block_c,
    MPI_Reduce_scatter_block_init / MPI_Reduce_scatter_block_init_c(
        from: P, to: M, count: N, ty: I, op: I; comm
    ) {
        let counts = group_of(world, comm).map(|size| vec![count.into(); size]);
        scattered(world, (from as usize, to as usize), counts, ty, op, comm)
    }

    MPI_Reduce_scatter / MPI_Reduce_scatter_c,
    MPI_Ireduce_scatter / MPI_Ireduce_scatter_c,
    MPI_Reduce_scatter_init / MPI_Reduce_scatter_init_c(
        from: P, to: M, counts: *const N, ty: I, op: I; comm
    ) {
        let counts = group_of(world, comm).and_then(|size| array(counts, size, "counts"));
        scattered(world, (from as usize, to as usize), counts, ty, op, comm)
    }

    MPI_Gather / MPI_Gather_c, MPI_Igather / MPI_Igather_c, MPI_Gather_init / MPI_Gather_init_c(
        from: P, sent: N, sent_type: I, to: M, count: N, ty: I, root: I; comm
    ) {
        size_of(world, comm).and_then(|size| {
            let into = || regular(world, (to as usize, count.into(), ty), size);
            gather(world, (from as usize, sent.into(), sent_type), into, true, root, comm)
        })
    }

    MPI_Gatherv / MPI_Gatherv_c, MPI_Igatherv / MPI_Igatherv_c, MPI_Gatherv_init / MPI_Gatherv_init_c(
        from: P, sent: N, sent_type: I, to: M, counts: *const N, places: *const D, ty: I, root: I; comm
    ) {
        size_of(world, comm).and_then(|size| {
            let into = || irregular(world, to, counts, places, ty, size);
            gather(world, (from as usize, sent.into(), sent_type), into, false, root, comm)
        })
    }

    MPI_Scatter / MPI_Scatter_c, MPI_Iscatter / MPI_Iscatter_c, MPI_Scatter_init / MPI_Scatter_init_c(
        from: P, sent: N, sent_type: I, to: M, count: N, ty: I, root: I; comm
    ) {
        size_of(world, comm).and_then(|size| {
            let all = || regular(world, (from as usize, sent.into(), sent_type), size);
            scatter(world, all, (to as usize, count.into(), ty), true, root, comm)
        })
    }

    MPI_Scatterv / MPI_Scatterv_c, MPI_Iscatterv / MPI_Iscatterv_c, MPI_Scatterv_init / MPI_Scatterv_init_c(
        from: P, counts: *const N, places: *const D, sent_type: I, to: M, count: N, ty: I, root: I; comm
    ) {
        size_of(world, comm).and_then(|size| {
            let all = || irregular(world, from, counts, places, sent_type, size);
            scatter(world, all, (to as usize, count.into(), ty), false, root, comm)
        })
    }

    MPI_Allgather / MPI_Allgather_c, MPI_Iallgather / MPI_Iallgather_c, MPI_Allgather_init / MPI_Allgather_init_c(
        from: P, sent: N, sent_type: I, to: M, count: N, ty: I; comm
    ) {
        size_of(world, comm).and_then(|size| {
            let into = regular(world, (to as usize, count.into(), ty), size)?;
            allgather(world, (from as usize, sent.into(), sent_type), into, true, comm)
        })
    }

    MPI_Allgatherv / MPI_Allgatherv_c, MPI_Iallgatherv / MPI_Iallgatherv_c,
    MPI_Allgatherv_init / MPI_Allgatherv_init_c(
        from: P, sent: N, sent_type: I, to: M, counts: *const N, places: *const D, ty: I; comm
    ) {
        size_of(world, comm).and_then(|size| {
            let into = irregular(world, to, counts, places, ty, size)?;
            allgather(world, (from as usize, sent.into(), sent_type), into, false, comm)
        })
    }

    MPI_Alltoall / MPI_Alltoall_c, MPI_Ialltoall / MPI_Ialltoall_c, MPI_Alltoall_init / MPI_Alltoall_init_c(
        from: P, sent: N, sent_type: I, to: M, count: N, ty: I; comm
    ) {
        size_of(world, comm).and_then(|size| {
            let into = regular(world, (to as usize, count.into(), ty), size)?;
            let all = sent_unless_in_place(from, || regular(world, (from as usize, sent.into(), sent_type), size))?;
            alltoall(world, all, into, true, comm)
        })
    }

    MPI_Alltoallv / MPI_Alltoallv_c, MPI_Ialltoallv / MPI_Ialltoallv_c, MPI_Alltoallv_init / MPI_Alltoallv_init_c(
        from: P, sent: *const N, sent_places: *const D, sent_type: I,
        to: M, counts: *const N, places: *const D, ty: I; comm
    ) {
        size_of(world, comm).and_then(|size| {
            let into = irregular(world, to, counts, places, ty, size)?;
            let all = sent_unless_in_place(from, || irregular(world, from, sent, sent_places, sent_type, size))?;
            alltoall(world, all, into, false, comm)
        })
    }

    MPI_Alltoallw / MPI_Alltoallw_c, MPI_Ialltoallw / MPI_Ialltoallw_c, MPI_Alltoallw_init / MPI_Alltoallw_init_c(
        from: P, sent: *const N, sent_places: *const D, sent_types: *const c_int,
        to: M, counts: *const N, places: *const D, types: *const c_int; comm
    ) {
        size_of(world, comm).and_then(|size| {
            let into = irregular_typed(world, to, counts, places, types, size)?;
            let all = sent_unless_in_place(from, || irregular_typed(world, from, sent, sent_places, sent_types, size))?;
            alltoall(world, all, into, false, comm)
        })
    }
}

/// The blocks to be sent; `None` for `MPI_IN_PLACE`.
fn sent_unless_in_place(from: P, blocks: impl FnOnce() -> Outcome<Blocks>) -> Outcome<Option<Blocks>> {
    if is_in_place(from) { Ok(None) } else { blocks().map(Some) }
}

/// Plans a reduction of which each rank gets one block; `counts` are the numbers of values by rank.
fn scattered(
    world: &World,
    (from, to): (usize, usize),
    counts: Outcome<Vec<i64>>,
    ty: c_int,
    op: c_int,
    comm: c_int,
) -> Outcome<Plan> {
    let counts = counts?;
    counts.iter().try_for_each(|&count| arguments::count(count).map(drop))?;
    let total = counts.iter().fold(0_i64, |sum, &count| sum.saturating_add(count));
    reduce(world, (from, to, total, ty), op, Kept::Share(Share::Blocks(counts)), comm)
}

large! {
    |world|
    fn MPI_Reduce_local / MPI_Reduce_local_c(from: P, to: M, count: N, handle: I, op: I) {
        let own = block(world, (from as usize, count.into(), handle))?;
        let into = block(world, (to as usize, count.into(), handle))?;
        let terms = Terms::of(&world.ops, op, handle, &own.ty, own.count)?;
        let (left, mut right) = (own.pack()?, into.pack()?);
        world.combine(&terms, &left, &mut right);
        into.ty.unpack(&right, to, into.count);
        Ok(())
    }
}

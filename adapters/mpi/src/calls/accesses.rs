//! One-sided communication: accesses to windows.

use std::ffi::c_int;

use crate::abi::*;
use crate::arguments;
use crate::calls::blocks::{Block, block};
use crate::engine::windows::{expect, lock, request, send};
use crate::error::{Outcome, error};
use crate::operation;
use crate::window::{Code, Landing, Order};
use crate::world::World;

/// The values of a target that an access concerns: rank, displacement, count, datatype.
type There = (c_int, i64, i64, c_int);

/// An access to a window.
struct Access {
    code: Code,
    there: There,
    /// The data that are sent.
    own: Vec<Block>,
    /// The buffer for the answer, if there is one.
    result: Option<Block>,
    op: c_int,
}

impl Access {
    const fn of(code: Code, there: There) -> Self {
        Self { code, there, own: Vec::new(), result: None, op: OP_NULL }
    }

    fn sending(self, own: Vec<Block>) -> Self {
        Self { own, ..self }
    }

    fn answered(self, result: Block) -> Self {
        Self { result: Some(result), ..self }
    }

    fn by(self, op: c_int) -> Self {
        Self { op, ..self }
    }
}

/// Accesses a window. Returns the request of the access if `asks` for one.
fn access(world: &mut World, window: c_int, access: Access, asks: bool) -> Outcome<c_int> {
    let Access { code, there: (rank, place, count, handle), own, result, op } = access;
    world.charge();
    let found = world.windows.get(window)?;
    let (comm, is_counted) = (found.comm, found.is_fenced);
    if rank == PROC_NULL {
        return Ok(if asks { request(world, false, comm) } else { REQUEST_NULL });
    }
    let target = target_of(world, window, rank)?;
    let ty = world.types.committed(handle)?;
    arguments::count(count)?;
    found.check_place(target, place, count, &ty)?;
    if !found.may_access(target) {
        return error(ERR_RMA_SYNC, format!("rank {rank} is accessed outside of an epoch"));
    }
    if matches!(code, Code::Accumulate | Code::Fetch) {
        operation::check(&world.ops, op, handle, &ty)?;
        if world.ops.get(op).is_some() || op != OP_REPLACE && op != OP_NO_OP && ty.basic().is_none() {
            return error(ERR_OP, "an accumulation needs a predefined operation, and values of one basic type");
        }
    }
    let bytes = ty.bytes(count);
    let differs = |block: &Block| block.bytes() != bytes;
    if own.iter().any(differs) && !(code == Code::Fetch && op == OP_NO_OP)
        || result.as_ref().is_some_and(|result| result.bytes() < bytes)
    {
        return error(ERR_ARG, format!("the data of the origin do not fit {bytes} bytes of the target"));
    }
    let mut data = Vec::new();
    for block in &own {
        data.extend(block.pack()?);
    }
    // `MPI_Win_lock_all` locks a target with the first access to it.
    if found.all_locked && !found.locked.contains_key(&target) {
        lock(world, window, target, false)?;
    }
    let is_expected = result.is_some();
    let made = if asks { request(world, is_expected, comm) } else { REQUEST_NULL };
    let id = match result {
        Some(Block { address, count, ty }) => {
            let landing = Landing { address, count, ty, request: asks.then_some(made) };
            expect(world, window, target, landing)?
        }
        None => 0,
    };
    let sent = data.len() as u64;
    let order = Order { id, is_counted, op, place, count, ty: Some(ty), ..Order::of(code) };
    send(world, window, target, &order, &data, sent)?;
    Ok(made)
}

/// The buffer of an origin whose data are not used if the operation is `MPI_NO_OP`.
fn sent(world: &World, op: c_int, buffer: (usize, i64, c_int)) -> Outcome<Vec<Block>> {
    if op == OP_NO_OP { Ok(Vec::new()) } else { Ok(vec![block(world, buffer)?]) }
}

/// Adds a number to the first of a window's first rank. `before` gets its old value with the answer.
pub(super) fn fetch_and_add(world: &mut World, window: c_int, by: &i64, before: &mut i64) -> Outcome {
    /// `MPI_INT64_T` and `MPI_SUM`.
    const NUMBER: c_int = 0x4c00_083a;
    const SUM: c_int = 0x5800_0003;
    let own = vec![block(world, (std::ptr::from_ref(by) as usize, 1, NUMBER))?];
    let result = block(world, (std::ptr::from_mut(before) as usize, 1, NUMBER))?;
    let wanted = Access::of(Code::Fetch, (0, 0, 1, NUMBER)).sending(own).answered(result).by(SUM);
    access(world, window, wanted, false).map(drop)
}

large! {
    |world|
    fn MPI_Put / MPI_Put_c(from: P, sent: N, sent_type: I, rank: I, place: i64, count: N, ty: I, win: I) {
        let own = vec![block(world, (from as usize, sent.into(), sent_type))?];
        access(world, win, Access::of(Code::Put, (rank, place, count.into(), ty)).sending(own), false).map(drop)
    }
    fn MPI_Rput / MPI_Rput_c(
        from: P, sent: N, sent_type: I, rank: I, place: i64, count: N, ty: I, win: I, request: Ip,
    ) {
        let own = vec![block(world, (from as usize, sent.into(), sent_type))?];
        put(request, access(world, win, Access::of(Code::Put, (rank, place, count.into(), ty)).sending(own), true)?);
        Ok(())
    }
    fn MPI_Get / MPI_Get_c(to: M, room: N, room_type: I, rank: I, place: i64, count: N, ty: I, win: I) {
        let result = block(world, (to as usize, room.into(), room_type))?;
        access(world, win, Access::of(Code::Get, (rank, place, count.into(), ty)).answered(result), false).map(drop)
    }
    fn MPI_Rget / MPI_Rget_c(
        to: M, room: N, room_type: I, rank: I, place: i64, count: N, ty: I, win: I, request: Ip,
    ) {
        let result = block(world, (to as usize, room.into(), room_type))?;
        let wanted = Access::of(Code::Get, (rank, place, count.into(), ty)).answered(result);
        put(request, access(world, win, wanted, true)?);
        Ok(())
    }
    fn MPI_Accumulate / MPI_Accumulate_c(
        from: P, sent: N, sent_type: I, rank: I, place: i64, count: N, ty: I, op: I, win: I,
    ) {
        let own = vec![block(world, (from as usize, sent.into(), sent_type))?];
        let wanted = Access::of(Code::Accumulate, (rank, place, count.into(), ty)).sending(own).by(op);
        access(world, win, wanted, false).map(drop)
    }
    fn MPI_Raccumulate / MPI_Raccumulate_c(
        from: P, sent: N, sent_type: I, rank: I, place: i64, count: N, ty: I, op: I, win: I, request: Ip,
    ) {
        let own = vec![block(world, (from as usize, sent.into(), sent_type))?];
        let wanted = Access::of(Code::Accumulate, (rank, place, count.into(), ty)).sending(own).by(op);
        put(request, access(world, win, wanted, true)?);
        Ok(())
    }
    fn MPI_Get_accumulate / MPI_Get_accumulate_c(
        from: P, sent_count: N, sent_type: I, to: M, room: N, room_type: I,
        rank: I, place: i64, count: N, ty: I, op: I, win: I,
    ) {
        let own = sent(world, op, (from as usize, sent_count.into(), sent_type))?;
        let result = block(world, (to as usize, room.into(), room_type))?;
        let wanted = Access::of(Code::Fetch, (rank, place, count.into(), ty)).sending(own).answered(result).by(op);
        access(world, win, wanted, false).map(drop)
    }
    fn MPI_Rget_accumulate / MPI_Rget_accumulate_c(
        from: P, sent_count: N, sent_type: I, to: M, room: N, room_type: I,
        rank: I, place: i64, count: N, ty: I, op: I, win: I, request: Ip,
    ) {
        let own = sent(world, op, (from as usize, sent_count.into(), sent_type))?;
        let result = block(world, (to as usize, room.into(), room_type))?;
        let wanted = Access::of(Code::Fetch, (rank, place, count.into(), ty)).sending(own).answered(result).by(op);
        put(request, access(world, win, wanted, true)?);
        Ok(())
    }
}

/// A rank as a target of a window.
pub(super) fn target_of(world: &World, window: c_int, rank: c_int) -> Outcome<usize> {
    let ranks = world.windows.get(window)?.shapes.len();
    match usize::try_from(rank) {
        Ok(rank) if rank < ranks => Ok(rank),
        _ => error(ERR_RANK, format!("rank {rank} is not one of the {ranks} ranks of the window")),
    }
}

mpi! {
    |world|
    fn MPI_Fetch_and_op(from: P, to: M, ty: I, rank: I, place: i64, op: I, win: I) {
        operation::predefined_type(ty)?;
        let own = sent(world, op, (from as usize, 1, ty))?;
        let result = block(world, (to as usize, 1, ty))?;
        let wanted = Access::of(Code::Fetch, (rank, place, 1, ty)).sending(own).answered(result).by(op);
        access(world, win, wanted, false).map(drop)
    }
    fn MPI_Compare_and_swap(from: P, compared: P, to: M, ty: I, rank: I, place: i64, win: I) {
        operation::comparable_type(ty)?;
        let own = vec![block(world, (compared as usize, 1, ty))?, block(world, (from as usize, 1, ty))?];
        let result = block(world, (to as usize, 1, ty))?;
        let wanted = Access::of(Code::Compare, (rank, place, 1, ty)).sending(own).answered(result);
        access(world, win, wanted, false).map(drop)
    }
}

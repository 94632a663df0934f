//! Partitioned communication: a message whose parts the program declares ready one by one. It is sent as one message, when
//! all of them are.

use std::ffi::c_int;
use std::rc::Rc;

use crate::abi::*;
use crate::arguments::{array, length};
use crate::calls::messages::{Lane, Mode, Values, persistent, receive_in, request_of, send_in, tag_of, values};
use crate::calls::requests::test;
use crate::engine::requests::{Request, State, What};
use crate::error::{Outcome, error};
use crate::world::{Begin, World};

/// The lane of the next partitioned operation with this rank and tag. Sends and receives match in the order in which they
/// were initialized, whatever the order of their starts (MPI-4.0, 4.2).
fn next_lane(world: &mut World, comm: c_int, sends: bool, other: I, tag: i64) -> Outcome<Lane> {
    let found = world.comms.get_mut(comm)?;
    let number = match other {
        PROC_NULL => 0,
        _ => {
            let key = (sends, found.world_of(other)?, tag);
            let number = found.partitioned.entry(key).or_default();
            *number += 1;
            *number
        }
    };
    Ok(Lane { bits: 1 << 61 | 1, number })
}

/// The values of all partitions together: address, count, type.
fn all<A: Copy>(
    world: &World,
    (buffer, address): (A, usize),
    partitions: c_int,
    count: i64,
    ty: c_int,
) -> Outcome<Values<A>> {
    let parts = length(partitions.into())? as i64;
    match count.checked_mul(parts) {
        Some(total) if count >= 0 => values(world, (buffer, total, ty), address),
        _ => error(ERR_COUNT, format!("{partitions} partitions of {count} values")),
    }
}

/// Declares partitions of a send ready; with the last one the message is sent.
fn ready(world: &mut World, request: c_int, partitions: impl IntoIterator<Item = i64>) -> Outcome {
    let active = world.requests.actual(request);
    let Some(Request { what: What::Parts(parts), .. }) = world.requests.get_mut(active) else {
        return error(ERR_REQUEST, format!("{request:#x} is no partitioned send that has been started"));
    };
    for partition in partitions {
        let count = parts.len();
        match usize::try_from(partition).ok().and_then(|index| parts.get_mut(index)) {
            Some(part) if !*part => *part = true,
            Some(_) => return error(ERR_ARG, format!("partition {partition} is ready already")),
            None => return error(ERR_ARG, format!("partition {partition} is not one of {count}")),
        }
    }
    if !parts.iter().all(|&is_ready| is_ready) {
        return Ok(());
    }
    world.requests.remove(active);
    let Some(begin) = world.whole.remove(&active) else { return Ok(()) };
    let sent = begin(world)?;
    if let Some(Request { what: What::Persistent { active }, .. }) = world.requests.get_mut(request) {
        *active = Some(sent);
    }
    Ok(())
}

mpi! {
    |world|
    fn MPI_Psend_init(
        buffer: P, partitions: I, count: i64, ty: I, to: I, tag: I, comm: I, _info: I, request: Ip,
    ) {
        let found = world.comms.get(comm)?;
        if to != PROC_NULL {
            found.world_of(to)?;
        }
        let checked = tag_of(tag)?;
        let (buffer, count, ty) = all(world, (buffer, buffer as usize), partitions, count, ty)?;
        let lane = next_lane(world, comm, true, to, checked)?;
        let begin: Begin = Rc::new(move |world: &mut World| {
            // SAFETY: the buffer of the program.
            let begun = unsafe { send_in(world, lane, (buffer, count, Rc::clone(&ty)), to, tag, comm, Mode::Standard) }?;
            Ok(request_of(world, begun))
        });
        put(request, persistent(world, comm, move |world| {
            let parts = What::Parts(vec![false; partitions as usize]);
            let active = world.requests.add(Request::new(parts, State::Pending).on(comm));
            world.whole.insert(active, Rc::clone(&begin));
            Ok(active)
        }));
        Ok(())
    }
    fn MPI_Precv_init(
        buffer: M, partitions: I, count: i64, ty: I, from: I, tag: I, comm: I, _info: I, request: Ip,
    ) {
        let found = world.comms.get(comm)?;
        if from != PROC_NULL {
            found.world_of(from)?;
        }
        let checked = tag_of(tag)?;
        let (buffer, count, ty) = all(world, (buffer, buffer as usize), partitions, count, ty)?;
        let lane = next_lane(world, comm, false, from, checked)?;
        put(request, persistent(world, comm, move |world| {
            receive_in(world, lane, (buffer, count, Rc::clone(&ty)), from, tag, comm)
        }));
        Ok(())
    }
    fn MPI_Pready(partition: I, request: I) {
        world.charge();
        ready(world, request, [partition.into()])
    }
    fn MPI_Pready_range(first: I, last: I, request: I) {
        world.charge();
        ready(world, request, (first..=last).map(i64::from))
    }
    fn MPI_Pready_list(count: I, partitions: *const I, request: I) {
        world.charge();
        let partitions = array(partitions, length(count.into())?, "partitions")?;
        ready(world, request, partitions)
    }
    fn MPI_Parrived(request: I, partition: I, flag: Ip) {
        if world.requests.get(request).is_none() {
            return error(ERR_REQUEST, format!("{request:#x} is not a request"));
        }
        if partition < 0 {
            return error(ERR_ARG, format!("partition {partition} is negative"));
        }
        put(flag, c_int::from(test(world, |requests| requests.is_over(request))));
        Ok(())
    }
}

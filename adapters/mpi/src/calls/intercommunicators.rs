//! Intercommunicators: two groups of ranks, each of which sends to the other. They are made, and merged, by messages
//! between ranks.

use std::ffi::c_int;
use std::rc::Rc;

use trgen::rng::mix2;

use crate::abi::*;
use crate::calls::communicators::make;
use crate::calls::messages::{Lane, Mode, receive_in, send_in, tag_of};
use crate::communicator::Comm;
use crate::engine::completion::wait_own;
use crate::error::{Outcome, error};
use crate::world::World;

/// `MPI_INT`.
const INT: c_int = 0x4c00_0405;
/// Tag of all messages in a [lane].
const TAG: c_int = 0;

/// A lane separates messages of this library from those of the program: its bits are combined with the context of the
/// communicator. There is one lane for each tag of `MPI_Intercomm_create`.
pub(crate) const fn lane(tag: c_int) -> Lane {
    Lane { bits: 1 << 61 | (tag as u64 + 1) << 40, number: 0 }
}

/// Sends numbers to a rank: first their count, then the numbers.
pub(crate) fn send_numbers(world: &mut World, numbers: &[c_int], lane: Lane, to: c_int, comm: c_int) -> Outcome {
    let (length, ty) = (numbers.len() as c_int, world.types.get(INT)?);
    for (buffer, count) in [((&raw const length).cast(), 1), (numbers.as_ptr().cast(), i64::from(length))] {
        let values = (buffer, count, Rc::clone(&ty));
        // SAFETY: local variables, which are copied at once.
        if let Some(request) = unsafe { send_in(world, lane, values, to, TAG, comm, Mode::Own) }? {
            wait_own(world, request)?;
        }
    }
    Ok(())
}

/// Receives numbers from a rank.
pub(crate) fn receive_numbers(world: &mut World, lane: Lane, from: c_int, comm: c_int) -> Outcome<Vec<c_int>> {
    let (mut length, ty): (c_int, _) = (0, world.types.get(INT)?);
    let request = receive_in(world, lane, ((&raw mut length).cast(), 1, Rc::clone(&ty)), from, TAG, comm)?;
    wait_own(world, request)?;
    let mut numbers: Vec<c_int> = vec![0; length.max(0) as usize];
    let request = receive_in(world, lane, (numbers.as_mut_ptr().cast(), length.into(), ty), from, TAG, comm)?;
    wait_own(world, request)?;
    Ok(numbers)
}

/// The other group of an intercommunicator, as ranks of the world.
fn remote(world: &World, comm: c_int) -> Outcome<Rc<Vec<usize>>> {
    let found = world.comms.get(comm)?;
    match &found.remote {
        Some(remote) => Ok(Rc::clone(remote)),
        None => error(ERR_COMM, format!("{} is not an intercommunicator", found.title())),
    }
}

/// The context of an intercommunicator, computed by both groups from the two contexts that they propose.
fn agreed(own: u64, other: u64) -> u64 {
    mix2(own.min(other), own.max(other)) >> 3 | 1 << 32
}

/// Makes an intercommunicator of the group of `local`, whose leader is `leader`, and that of `remote_leader` in `peer`.
fn create(
    world: &mut World,
    local: c_int,
    leader: c_int,
    peer: c_int,
    remote_leader: c_int,
    tag: c_int,
) -> Outcome<c_int> {
    world.comms.intra(local, "an intercommunicator of a group")?;
    tag_of(tag)?;
    let comm = world.comms.get_mut(local)?;
    comm.world_of(leader)?;
    let (group, rank, errhandler) = (Rc::clone(&comm.group), comm.rank, comm.errhandler);
    let own = comm.next_context(group[0]);
    let theirs = if rank as c_int == leader {
        world.comms.get(peer)?.world_of(remote_leader)?;
        let members = group.iter().map(|&member| member as c_int);
        let numbers: Vec<c_int> = [own as c_int, (own >> 32) as c_int].into_iter().chain(members).collect();
        send_numbers(world, &numbers, lane(tag), remote_leader, peer)?;
        let theirs = receive_numbers(world, lane(tag), remote_leader, peer)?;
        for other in (0..group.len() as c_int).filter(|&other| other != leader) {
            send_numbers(world, &theirs, lane(tag), other, local)?;
        }
        theirs
    } else {
        receive_numbers(world, lane(tag), leader, local)?
    };
    let [low, high, members @ ..] = &theirs[..] else { return error(ERR_OTHER, "the other group has no context") };
    let other = u64::from(*low as u32) | u64::from(*high as u32) << 32;
    let remote: Vec<usize> = members.iter().map(|&member| member as usize).collect();
    if let Some(both) = remote.iter().find(|member| group.contains(member)) {
        return error(ERR_COMM, format!("rank {both} of MPI_COMM_WORLD is in both groups"));
    }
    let made = Comm::new(agreed(own, other), group.to_vec(), rank, "");
    Ok(world.comms.add(Comm { remote: Some(Rc::new(remote)), errhandler, ..made }))
}

/// Merges both groups into one communicator. The ranks of the group that gives `high` as true come last; if both give
/// the same, the group with the lower first rank in the world comes first.
fn merge(world: &mut World, comm: c_int, high: bool) -> Outcome<c_int> {
    let other = remote(world, comm)?;
    let found = world.comms.get(comm)?;
    let (group, rank) = (Rc::clone(&found.group), found.rank);
    if rank == 0 {
        for to in 0..other.len() as c_int {
            send_numbers(world, &[c_int::from(high)], lane(0), to, comm)?;
        }
    }
    let theirs = receive_numbers(world, lane(0), 0, comm)?.first() == Some(&1);
    let is_first = if high == theirs { group[0] < other[0] } else { theirs };
    let (first, second) = if is_first { (&group, &other) } else { (&other, &group) };
    make(world, comm, first.iter().chain(second.iter()).copied().collect())
}

mpi! {
    |world|
    fn MPI_Intercomm_create(local: I, leader: I, peer: I, remote_leader: I, tag: I, new: Ip) {
        put(new, create(world, local, leader, peer, remote_leader, tag)?);
        Ok(())
    }
    fn MPI_Intercomm_merge(comm: I, high: I, new: Ip) {
        put(new, merge(world, comm, high != 0)?);
        Ok(())
    }
    fn MPI_Comm_remote_size(comm: I, size: Ip) {
        put(size, remote(world, comm)?.len() as c_int);
        Ok(())
    }
    fn MPI_Comm_remote_group(comm: I, group: Ip) {
        let other = remote(world, comm)?;
        put(group, world.groups.add(other.to_vec()));
        Ok(())
    }
    fn MPI_Comm_test_inter(comm: I, flag: Ip) {
        put(flag, c_int::from(world.comms.get(comm)?.remote.is_some()));
        Ok(())
    }
}

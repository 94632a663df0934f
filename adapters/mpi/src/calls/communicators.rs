//! Communicators.

use std::ffi::{c_char, c_int};
use std::rc::Rc;

use trgen::trace::collectives::Collective;

use crate::abi::*;
use crate::caching::Holder;
use crate::calls::information::{self, text};
use crate::calls::messages::tag_of;
use crate::calls::{attributes, intercollectives};
use crate::communicator::Comm;
use crate::data::{Combine, Data};
use crate::engine::collectives::{Form, begin};
use crate::engine::completion::wait_own;
use crate::engine::requests::Request;
use crate::error::{Outcome, error};
use crate::world::World;

/// Divisions by hardware, as `mpi.h` numbers them: by a kind that the program names, and by any.
const HW_GUIDED: c_int = 2;
const HW_UNGUIDED: c_int = 3;

/// Exchanges numbers of each rank by an allgather. Returns the numbers of all ranks, in the order of ranks.
pub(crate) fn exchange<const N: usize>(world: &mut World, comm: c_int, own: [c_int; N]) -> Outcome<Vec<[c_int; N]>> {
    let (rank, size) =
        world.comms.intra(comm, "an exchange within a group").map(|comm| (comm.rank as u32, comm.size()))?;
    let bytes: Vec<u8> = own.iter().flat_map(|number| number.to_le_bytes()).collect();
    let found: Rc<std::cell::RefCell<Vec<[c_int; N]>>> = Rc::default();
    let result = Rc::clone(&found);
    let finish = move |data: &mut Data, _: Combine<'_>| {
        let Data::Blocks { all, .. } = data else { return Ok(()) };
        let number = |bytes: &[u8], at: usize| {
            bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, c_int::from_le_bytes)
        };
        *result.borrow_mut() =
            all.values().map(|bytes| std::array::from_fn(|index| number(bytes, 4 * index))).collect();
        Ok(())
    };
    let data = |_, route| Data::blocks(vec![(rank, Data::ALL, bytes)], route);
    let operation = Collective::Allgather { bytes: 4 * N as u64 };
    let request = begin(world, Form::Blocking, comm, operation, data, Box::new(finish))?;
    wait_own(world, request)?;
    let all = found.take();
    if all.len() == size { Ok(all) } else { error(ERR_OTHER, "not all ranks have taken part") }
}

/// Makes a communicator of these ranks of the world from `parent`; `COMM_NULL` if this rank is not a member.
pub(crate) fn make(world: &mut World, parent: c_int, members: Vec<usize>) -> Outcome<c_int> {
    let own = world.settings.rank;
    let first = members.first().copied().unwrap_or(usize::MAX);
    let parent = world.comms.get_mut(parent)?;
    let (context, errhandler) = (parent.next_context(first), parent.errhandler);
    let Some(rank) = members.iter().position(|&member| member == own) else { return Ok(COMM_NULL) };
    Ok(world.comms.add(Comm { errhandler, ..Comm::new(context, members, rank, "") }))
}

/// Makes one communicator for each colour; its ranks are in the order of their keys. Returns that of this rank's
/// colour.
pub(crate) fn split(world: &mut World, comm: c_int, colour: c_int, key: c_int) -> Outcome<c_int> {
    if world.comms.get(comm)?.remote.is_some() {
        return split_both(world, comm, colour, key);
    }
    let all = exchange(world, comm, [colour, key])?;
    let group = Rc::clone(&world.comms.get(comm)?.group);
    if colour == UNDEFINED {
        return make(world, comm, Vec::new());
    }
    if colour < 0 {
        return error(ERR_ARG, format!("colour {colour} is negative"));
    }
    make(world, comm, of_colour(&all, &group, colour))
}

/// The members of a group whose first number is this colour, in the order of their keys.
fn of_colour(all: &[[c_int; 2]], group: &[usize], colour: c_int) -> Vec<usize> {
    let mut chosen: Vec<(c_int, usize)> = all
        .iter()
        .enumerate()
        .filter(|(_, [other, _])| *other == colour)
        .map(|(rank, [_, key])| (*key, rank))
        .collect();
    chosen.sort_unstable();
    chosen.into_iter().map(|(_, rank)| group[rank]).collect()
}

/// Makes an intercommunicator for each colour that both groups have.
fn split_both(world: &mut World, comm: c_int, colour: c_int, key: c_int) -> Outcome<c_int> {
    let (ours, theirs) = intercollectives::exchange(world, comm, [colour, key])?;
    let parent = world.comms.get_mut(comm)?;
    let (own, other) = (of_colour(&ours, &parent.group, colour), of_colour(&theirs, parent.partners(), colour));
    let first = own.iter().chain(&other).min().copied().unwrap_or(usize::MAX);
    let (context, errhandler) = (parent.next_context(first), parent.errhandler);
    let rank = own.iter().position(|&member| member == world.settings.rank);
    let (Some(rank), false, false) = (rank, other.is_empty(), colour == UNDEFINED) else { return Ok(COMM_NULL) };
    let made = Comm { errhandler, remote: Some(Rc::new(other)), ..Comm::new(context, own, rank, "") };
    Ok(world.comms.add(made))
}

/// Makes a communicator of the members of a group, which all ranks of `comm` give alike; of an intercommunicator, those
/// of each group.
fn create(world: &mut World, comm: c_int, group: c_int) -> Outcome<c_int> {
    let members = world.groups.get(group)?;
    let parent = world.comms.get(comm)?;
    if let Some(other) = members.iter().find(|member| !parent.group.contains(member)) {
        return error(ERR_GROUP, format!("rank {other} of MPI_COMM_WORLD is not in the communicator"));
    }
    if parent.remote.is_none() {
        return make(world, comm, members);
    }
    let place = members.iter().position(|&member| member == world.settings.rank);
    let (colour, key) = place.map_or((UNDEFINED, 0), |place| (0, place as c_int));
    split_both(world, comm, colour, key)
}

/// A copy of a communicator with its topology and attributes.
fn duplicate(world: &mut World, comm: c_int) -> Outcome<c_int> {
    let copy = world.comms.get_mut(comm)?.duplicate();
    let attributes = attributes::copied(world, Holder::Communicator, comm)?;
    Ok(world.comms.add(Comm { attributes, ..copy }))
}

/// Deletes the attributes of a communicator and removes it.
fn free(world: &mut World, comm: Ip) -> Outcome {
    // SAFETY: the handle of the program.
    let handle = unsafe { *comm };
    world.comms.get(handle)?;
    if [COMM_WORLD, COMM_SELF].contains(&handle) {
        return error(ERR_COMM, "MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed");
    }
    attributes::delete_all(world, Holder::Communicator, handle)?;
    world.comms.remove(handle)?;
    // SAFETY: as above.
    unsafe { *comm = COMM_NULL };
    Ok(())
}

mpi! {
    |world|
    fn MPI_Comm_size(comm: I, size: Ip) {
        put(size, world.comms.get(comm)?.size() as c_int);
        Ok(())
    }
    fn MPI_Comm_rank(comm: I, rank: Ip) {
        put(rank, world.comms.get(comm)?.rank as c_int);
        Ok(())
    }
    fn MPI_Comm_group(comm: I, group: Ip) {
        let members = world.comms.get(comm)?.group.to_vec();
        put(group, world.groups.add(members));
        Ok(())
    }
    fn MPI_Comm_compare(a: I, b: I, result: Ip) {
        let (first, second) = (world.comms.get(a)?, world.comms.get(b)?);
        let sorted = |group: &[usize]| {
            let mut group = group.to_vec();
            group.sort_unstable();
            group
        };
        let same = first.group == second.group && first.remote == second.remote;
        let other = |comm: &Comm| comm.remote.as_ref().map(|remote| sorted(remote));
        let similar = sorted(&first.group) == sorted(&second.group) && other(first) == other(second);
        // MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR and MPI_UNEQUAL.
        put(result, if a == b { 0 } else if same { 1 } else if similar { 2 } else { 3 });
        Ok(())
    }
    fn MPI_Comm_dup(comm: I, new: Ip) {
        put(new, duplicate(world, comm)?);
        Ok(())
    }
    fn MPI_Comm_dup_with_info(comm: I, info: I, new: Ip) {
        let made = duplicate(world, comm)?;
        let table = information::table(world, info)?;
        world.comms.get_mut(made)?.info = table;
        put(new, made);
        Ok(())
    }
    fn MPI_Comm_idup(comm: I, new: Ip, request: Ip) {
        put(new, duplicate(world, comm)?);
        put(request, world.requests.add(Request::done(Status::EMPTY)));
        Ok(())
    }
    fn MPI_Comm_idup_with_info(comm: I, info: I, new: Ip, request: Ip) {
        let made = duplicate(world, comm)?;
        let table = information::table(world, info)?;
        world.comms.get_mut(made)?.info = table;
        put(new, made);
        put(request, world.requests.add(Request::done(Status::EMPTY)));
        Ok(())
    }
    fn MPI_Comm_create(comm: I, group: I, new: Ip) {
        put(new, create(world, comm, group)?);
        Ok(())
    }
    fn MPI_Comm_create_group(comm: I, group: I, tag: I, new: Ip) {
        // Only the members make this call. Their count of communicators made must remain the same as that of the other
        // ranks, so it is restored, and the tag determines the context.
        let members = world.groups.get(group)?;
        world.comms.intra(comm, "a communicator of a group")?;
        tag_of(tag)?;
        let made = std::mem::replace(&mut world.comms.get_mut(comm)?.made, (1 << 40) + tag as u64);
        let result = make(world, comm, members);
        world.comms.get_mut(comm)?.made = made;
        put(new, result?);
        Ok(())
    }
    fn MPI_Comm_split(comm: I, colour: I, key: I, new: Ip) {
        put(new, split(world, comm, colour, key)?);
        Ok(())
    }
    fn MPI_Comm_split_type(comm: I, kind: I, key: I, info: I, new: Ip) {
        // No two ranks share memory: each gets a communicator of its own. Nothing is known of other hardware.
        let is_guided_to = |name: &str| {
            kind == HW_GUIDED && information::table(world, info).is_ok_and(|info| info.get("mpi_hw_resource_type").is_some_and(|kind| kind == name))
        };
        let shares = kind != UNDEFINED && kind != HW_GUIDED && kind != HW_UNGUIDED || is_guided_to("mpi_shared_memory");
        let colour = if shares { world.comms.get(comm)?.rank as c_int } else { UNDEFINED };
        put(new, split(world, comm, colour, key)?);
        Ok(())
    }
    fn MPI_Comm_free(comm: Ip) { free(world, comm) }
    fn MPI_Comm_disconnect(comm: Ip) { free(world, comm) }
    fn MPI_Comm_get_parent(parent: Ip) {
        put(parent, COMM_NULL);
        Ok(())
    }
    fn MPI_Comm_set_name(comm: I, name: *const c_char) {
        world.comms.get_mut(comm)?.name = text(name);
        Ok(())
    }
    fn MPI_Comm_get_name(comm: I, name: *mut c_char, length: Ip) {
        put(length, information::put_text(name, &world.comms.get(comm)?.name, 127));
        Ok(())
    }
    fn MPI_Comm_set_info(comm: I, info: I) {
        let table = information::table(world, info)?;
        world.comms.get_mut(comm)?.info = table;
        Ok(())
    }
    fn MPI_Comm_get_info(comm: I, info: Ip) {
        let table = world.comms.get(comm)?.info.clone();
        put(info, world.infos.add(table));
        Ok(())
    }
}

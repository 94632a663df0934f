//! Sessions: one world, whose ranks are those of the run, and communicators that are made from groups alone.

use std::ffi::{c_char, c_int};

use trgen::rng::mix2;

use crate::abi::*;
use crate::calls::environment::{call_handler, check_any_handler, finalize, initialize, new_handler};
use crate::calls::information::{put_text, text};
use crate::calls::intercommunicators::{lane, receive_numbers, send_numbers};
use crate::communicator::Comm;
use crate::error::{Outcome, error};
use crate::threads;
use crate::world::World;

/// The sets of processes: those of the run, and this one.
const SETS: [&str; 2] = ["mpi://WORLD", "mpi://SELF"];

/// The ranks of a set, as ranks of the world.
fn members(world: &World, set: &str) -> Outcome<Vec<usize>> {
    match SETS.iter().position(|&known| known.eq_ignore_ascii_case(set)) {
        Some(0) => Ok((0..world.settings.size).collect()),
        Some(_) => Ok(vec![world.settings.rank]),
        None => error(ERR_ARG, format!("there is no set `{set}`: the sets are {}", SETS.join(" and "))),
    }
}

/// An error if a handle is not that of a session.
fn check(world: &World, session: c_int) -> Outcome {
    match world.sessions.get(session) {
        Some(_) => Ok(()),
        None => error(ERR_SESSION, format!("{session:#x} is not a session")),
    }
}

/// A context that all members of these groups compute alike, from the groups and a word of the program. Groups can have
/// several communicators with the same word, one after the other.
fn context(world: &mut World, groups: [&[usize]; 2], word: &str) -> u64 {
    let number = |sum: u64, number: u64| mix2(sum, number);
    let seed = word.bytes().map(u64::from).fold(0x5e55_1045, number);
    let seed =
        groups.iter().flat_map(|group| group.iter().map(|&rank| rank as u64).chain([u64::MAX])).fold(seed, number);
    let made = world.made_of_groups.entry(seed).or_default();
    *made += 1;
    mix2(seed, *made) >> 3 | 1 << 32
}

/// Makes a communicator of a group.
fn create(world: &mut World, group: c_int, word: &str, handler: c_int) -> Outcome<c_int> {
    check_any_handler(world, handler)?;
    let members = world.groups.get(group)?;
    if members.is_empty() {
        return Ok(COMM_NULL);
    }
    let Some(rank) = members.iter().position(|&member| member == world.settings.rank) else {
        return error(ERR_GROUP, "this rank is not in the group");
    };
    let context = context(world, [&members, &[]], word);
    Ok(world.comms.add(Comm { errhandler: handler, ..Comm::new(context, members, rank, "") }))
}

/// Makes an intercommunicator of two groups. The other group is known to the leader alone, who tells his own group.
fn create_between(
    world: &mut World,
    (group, leader): (c_int, c_int),
    other: c_int,
    word: &str,
    handler: c_int,
) -> Outcome<c_int> {
    let local = create(world, group, word, handler)?;
    if local == COMM_NULL {
        return Ok(COMM_NULL);
    }
    let found = world.comms.get(local)?;
    let (rank, size) = (found.rank as c_int, found.size() as c_int);
    if !(0..size).contains(&leader) {
        return error(ERR_ARG, format!("the leader {leader} is not one of {size} ranks"));
    }
    let numbers = if rank == leader {
        let all: Vec<c_int> = world.groups.get(other)?.iter().map(|&rank| rank as c_int).collect();
        for to in (0..size).filter(|&to| to != leader) {
            send_numbers(world, &all, lane(0), to, local)?;
        }
        all
    } else {
        receive_numbers(world, lane(0), leader, local)?
    };
    let (own, others): (Vec<usize>, Vec<usize>) =
        (world.comms.get(local)?.group.to_vec(), numbers.into_iter().map(|rank| rank as usize).collect());
    world.comms.remove(local)?;
    let both = if own.first() < others.first() { [&*own, &*others] } else { [&*others, &*own] };
    let context = context(world, both, word);
    let made = Comm { errhandler: handler, remote: Some(others.into()), ..Comm::new(context, own, rank as usize, "") };
    Ok(world.comms.add(made))
}

mpi! {
    |world|
    fn MPI_Session_init(_info: I, handler: I, session: Ip) {
        check_any_handler(world, handler)?;
        if !world.initialized {
            initialize(world, threads::MULTIPLE)?;
            world.is_by_session = true;
        }
        put(session, world.sessions.add(handler));
        Ok(())
    }
    fn MPI_Session_finalize(session: Ip) {
        check(world, *session)?;
        world.sessions.remove(*session);
        put(session, SESSION_NULL);
        // What a session has begun the last one ends.
        if world.is_by_session && world.sessions.handles().is_empty() { finalize(world) } else { Ok(()) }
    }
    fn MPI_Session_get_num_psets(session: I, _info: I, count: Ip) {
        check(world, session)?;
        put(count, SETS.len() as c_int);
        Ok(())
    }
    fn MPI_Session_get_nth_pset(session: I, _info: I, index: I, room: Ip, name: *mut c_char) {
        check(world, session)?;
        let Some(set) = usize::try_from(index).ok().and_then(|index| SETS.get(index)) else {
            return error(ERR_ARG, format!("set {index} is not one of {}", SETS.len()));
        };
        if *room > 0 {
            put_text(name, set, *room as usize - 1);
        }
        put(room, set.len() as c_int + 1);
        Ok(())
    }
    fn MPI_Session_get_pset_info(session: I, name: *const c_char, info: Ip) {
        check(world, session)?;
        let size = members(world, &text(name))?.len().to_string();
        put(info, world.infos.add([("mpi_size".to_owned(), size)].into()));
        Ok(())
    }
    fn MPI_Session_get_info(session: I, info: Ip) {
        check(world, session)?;
        let level = ["", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"][threads::level() as usize];
        put(info, world.infos.add([("thread_level".to_owned(), level.to_owned())].into()));
        Ok(())
    }
    fn MPI_Group_from_session_pset(session: I, name: *const c_char, group: Ip) {
        check(world, session)?;
        let all = members(world, &text(name))?;
        put(group, world.groups.add(all));
        Ok(())
    }
    fn MPI_Comm_create_from_group(group: I, word: *const c_char, _info: I, handler: I, new: Ip) {
        put(new, create(world, group, &text(word), handler)?);
        Ok(())
    }
    fn MPI_Intercomm_create_from_groups(
        group: I, leader: I, other: I, _other_leader: I, word: *const c_char, _info: I, handler: I, new: Ip,
    ) {
        put(new, create_between(world, (group, leader), other, &text(word), handler)?);
        Ok(())
    }
    fn MPI_Session_create_errhandler(function: F, handler: Ip) {
        put(handler, new_handler(world, function)?);
        Ok(())
    }
    fn MPI_Session_set_errhandler(session: I, handler: I) {
        check_any_handler(world, handler)?;
        match world.sessions.get_mut(session) {
            Some(own) => *own = handler,
            None => return error(ERR_SESSION, format!("{session:#x} is not a session")),
        }
        Ok(())
    }
    fn MPI_Session_get_errhandler(session: I, handler: Ip) {
        check(world, session)?;
        put(handler, world.sessions.get(session).copied().unwrap_or(ERRORS_ARE_FATAL));
        Ok(())
    }
    fn MPI_Session_call_errhandler(session: I, code: I) {
        check(world, session)?;
        if code == SUCCESS {
            return Ok(());
        }
        call_handler(world, "MPI_Session_call_errhandler", session, code)
    }
}

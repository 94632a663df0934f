//! Groups.

use std::ffi::c_int;

use crate::abi::*;
use crate::arguments;
use crate::error::{Outcome, error};

/// Ranks of a group of `size` that are given by triplets: first, last and stride.
unsafe fn ranges(count: c_int, triplets: *const [c_int; 3], size: usize) -> Outcome<Vec<usize>> {
    let mut all = Vec::new();
    // SAFETY: the array of the program.
    for &[first, last, stride] in unsafe { arguments::view(triplets, arguments::length(count.into())?, "triplets") }? {
        if stride == 0 {
            return error(ERR_ARG, "a stride of 0");
        }
        let mut at = first;
        while (stride > 0 && at <= last) || (stride < 0 && at >= last) {
            all.push(member(at, size)?);
            let Some(next) = at.checked_add(stride) else { break };
            at = next;
        }
    }
    distinct(all)
}

/// A rank as an index into a group of `size`; an error if it is out of range.
fn member(rank: c_int, size: usize) -> Outcome<usize> {
    match usize::try_from(rank) {
        Ok(rank) if rank < size => Ok(rank),
        _ => error(ERR_RANK, format!("rank {rank} is not one of the {size} ranks of the group")),
    }
}

/// The ranks of an array of the program as indices into a group of `size`.
unsafe fn chosen(count: c_int, ranks: *const c_int, size: usize) -> Outcome<Vec<usize>> {
    // SAFETY: the array of the program.
    let ranks = unsafe { arguments::view(ranks, arguments::length(count.into())?, "ranks") }?;
    let all: Outcome<Vec<usize>> = ranks.iter().map(|&rank| member(rank, size)).collect();
    distinct(all?)
}

/// An error if a rank is given twice.
fn distinct(all: Vec<usize>) -> Outcome<Vec<usize>> {
    let mut sorted = all.clone();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => error(ERR_RANK, format!("rank {} is given twice", pair[0])),
        None => Ok(all),
    }
}

/// The members of a group except those at these indices.
fn without(all: &[usize], places: &[usize]) -> Vec<usize> {
    all.iter().enumerate().filter(|(place, _)| !places.contains(place)).map(|(_, &member)| member).collect()
}

mpi! {
    |world|
    fn MPI_Group_size(handle: I, size: Ip) {
        put(size, world.groups.get(handle)?.len() as c_int);
        Ok(())
    }
    fn MPI_Group_rank(handle: I, rank: Ip) {
        let own = world.settings.rank;
        let found = world.groups.get(handle)?.iter().position(|&member| member == own);
        put(rank, found.map_or(UNDEFINED, |rank| rank as c_int));
        Ok(())
    }
    fn MPI_Group_translate_ranks(from: I, count: I, ranks: *const c_int, to: I, translated: Ip) {
        let (from, to) = (world.groups.get(from)?, world.groups.get(to)?);
        let mut all = Vec::new();
        for &rank in arguments::view(ranks, arguments::length(count.into())?, "ranks")? {
            all.push(if rank == PROC_NULL {
                PROC_NULL
            } else {
                let wanted = from[member(rank, from.len())?];
                to.iter().position(|&member| member == wanted).map_or(UNDEFINED, |rank| rank as c_int)
            });
        }
        arguments::store(translated, all, "translated")
    }
    fn MPI_Group_compare(a: I, b: I, result: Ip) {
        let (mut a, mut b) = (world.groups.get(a)?, world.groups.get(b)?);
        let same = a == b;
        a.sort_unstable();
        b.sort_unstable();
        // MPI_IDENT, MPI_SIMILAR and MPI_UNEQUAL.
        put(result, if same { 0 } else if a == b { 2 } else { 3 });
        Ok(())
    }
    fn MPI_Group_union(a: I, b: I, new: Ip) {
        let (mut a, b) = (world.groups.get(a)?, world.groups.get(b)?);
        let more: Vec<usize> = b.into_iter().filter(|member| !a.contains(member)).collect();
        a.extend(more);
        put(new, world.groups.add(a));
        Ok(())
    }
    fn MPI_Group_intersection(a: I, b: I, new: Ip) {
        let (a, b) = (world.groups.get(a)?, world.groups.get(b)?);
        put(new, world.groups.add(a.into_iter().filter(|member| b.contains(member)).collect()));
        Ok(())
    }
    fn MPI_Group_difference(a: I, b: I, new: Ip) {
        let (a, b) = (world.groups.get(a)?, world.groups.get(b)?);
        put(new, world.groups.add(a.into_iter().filter(|member| !b.contains(member)).collect()));
        Ok(())
    }
    fn MPI_Group_incl(handle: I, count: I, ranks: *const c_int, new: Ip) {
        let all = world.groups.get(handle)?;
        put(new, world.groups.add(chosen(count, ranks, all.len())?.into_iter().map(|rank| all[rank]).collect()));
        Ok(())
    }
    fn MPI_Group_excl(handle: I, count: I, ranks: *const c_int, new: Ip) {
        let all = world.groups.get(handle)?;
        put(new, world.groups.add(without(&all, &chosen(count, ranks, all.len())?)));
        Ok(())
    }
    fn MPI_Group_range_incl(handle: I, count: I, triplets: *const [c_int; 3], new: Ip) {
        let all = world.groups.get(handle)?;
        put(new, world.groups.add(ranges(count, triplets, all.len())?.into_iter().map(|rank| all[rank]).collect()));
        Ok(())
    }
    fn MPI_Group_range_excl(handle: I, count: I, triplets: *const [c_int; 3], new: Ip) {
        let all = world.groups.get(handle)?;
        put(new, world.groups.add(without(&all, &ranges(count, triplets, all.len())?)));
        Ok(())
    }
    fn MPI_Group_free(handle: Ip) {
        world.groups.get(*handle)?;
        world.groups.remove(*handle);
        put(handle, GROUP_NULL);
        Ok(())
    }
}

//! Communicators: ranks, contexts, handles.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::rc::Rc;

use super::{Comm, Comms, Groups};
use crate::abi::*;

#[test]
fn ranks_are_translated_both_ways() {
    let comm = Comm::new(9, vec![4, 1, 7], 1, "");
    for (rank, world) in [(0, 4), (1, 1), (2, 7)] {
        assert_eq!((comm.world_of(rank).unwrap(), comm.rank_of(world)), (world, Some(rank as usize)));
    }
    assert_eq!(comm.rank_of(5), None);
    for rank in [-1, 3, i32::MAX] {
        let refused = comm.world_of(rank).unwrap_err();
        assert_eq!(refused.class, ERR_RANK);
        assert!(refused.text.contains(&format!("rank {rank} is not one of the 3 ranks")), "{}", refused.text);
    }
}

#[test]
fn ranks_of_an_intercommunicator_are_those_of_the_other_group() {
    let comm = Comm { remote: Some(Rc::new(vec![5, 6])), ..Comm::new(9, vec![0, 1, 2], 2, "") };
    assert_eq!((comm.size(), comm.world_of(1).unwrap(), comm.rank_of(6), comm.rank_of(1)), (3, 6, Some(1), None));
    assert!(comm.world_of(2).is_err());
    assert_eq!(comm.title(), "an intercommunicator to 2 ranks");
}

#[test]
fn members_compute_the_same_contexts_and_never_one_twice() {
    let members = |rank| Comm::new(1, (0..4).collect(), rank, "MPI_COMM_WORLD");
    let contexts = |mut comm: Comm| -> Vec<u64> {
        let mut all: Vec<u64> = (0..50).map(|_| comm.duplicate().context).collect();
        // Two disjoint halves of one split have different contexts.
        let mut other = comm.clone();
        all.extend([comm.next_context(0), other.next_context(2)]);
        all
    };
    let first = contexts(members(0));
    assert!((1..4).all(|rank| contexts(members(rank)) == first));
    let mut distinct = first.clone();
    distinct.extend([1, 2]);
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), first.len() + 2);
    // The upper bits belong to kinds of messages.
    assert!(first.iter().all(|context| context >> 61 == 0));
}

#[test]
fn both_groups_of_an_intercommunicator_duplicate_it_alike() {
    let group = |own: Vec<usize>, other: Vec<usize>| Comm { remote: Some(Rc::new(other)), ..Comm::new(77, own, 0, "") };
    let (mut a, mut b) = (group(vec![3, 4], vec![1, 2]), group(vec![1, 2], vec![3, 4]));
    let (a, b) = (a.duplicate(), b.duplicate());
    assert_eq!(a.context, b.context);
    assert_eq!((a.remote.as_deref(), b.remote.as_deref()), (Some(&vec![1, 2]), Some(&vec![3, 4])));
}

#[test]
fn a_duplicate_has_neither_name_nor_attributes() {
    let mut comm = Comm::new(1, vec![0, 1], 1, "name");
    comm.attributes.set(1, 2, 0);
    comm.errhandler = ERRORS_RETURN;
    let copy = comm.duplicate();
    assert_eq!((copy.rank, copy.errhandler, copy.name.as_str()), (1, ERRORS_RETURN, ""));
    assert!(copy.attributes.keys().is_empty() && copy.context != comm.context && copy.group == comm.group);
}

#[test]
fn handles_find_their_communicators() {
    let mut comms = Comms::new(1, 3);
    let made = comms.add(Comm::new(5, vec![1, 2], 0, "half"));
    assert_eq!((comms.get(COMM_WORLD).unwrap().rank, comms.get(COMM_SELF).unwrap().size()), (1, 1));
    assert_eq!((comms.title_of(5), comms.title_of(1)), ("half".to_owned(), "MPI_COMM_WORLD".to_owned()));
    for handle in [COMM_NULL, 0, made + 1, REQUEST_NULL] {
        assert_eq!(comms.get(handle).unwrap_err().class, ERR_COMM, "{handle:#x}");
        assert!(comms.get_mut(handle).is_err());
    }
    comms.get_mut(made).unwrap().remote = Some(Rc::new(vec![0]));
    assert!(comms.intra(COMM_WORLD, "a scan").is_ok() && comms.intra(made, "a scan").is_err());
    assert!(comms.remove(made).is_ok() && comms.get(made).is_err() && comms.remove(COMM_WORLD).is_err());
}

#[test]
fn the_empty_group_has_one_handle() {
    let mut groups = Groups::new();
    assert_eq!(groups.add(Vec::new()), GROUP_EMPTY);
    let some = groups.add(vec![2, 0]);
    assert_eq!((groups.get(some).unwrap(), groups.get(GROUP_EMPTY).unwrap()), (vec![2, 0], vec![]));
    groups.remove(some);
    assert!(groups.get(some).is_err() && groups.get(GROUP_NULL).is_err());
}

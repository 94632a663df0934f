//! The state is lent to functions of the program and to nothing else.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::World;
use crate::abi::*;
use crate::calls::collectives::{barrier, broadcast};
use crate::calls::messages::{Mode, receive, send};
use crate::engine::collectives::Form;
use crate::engine::completion::wait_own;
use crate::lending::borrow;
use crate::settings::Settings;

/// `MPI_INT`.
const INT: i32 = 0x4c00_0405;

/// The state of a rank that is alone.
fn alone() -> World {
    World::new(Settings::read(|_| None).unwrap())
}

#[test]
fn nothing_is_lent_outside_functions_of_the_program() {
    assert!(borrow(|_| ()).is_none());
    let mut world = alone();
    let seen = world.lend(|| {
        let seen = borrow(|world| {
            // In the middle of a nested call nothing is lent, as in the middle of the outer one.
            assert!(borrow(|_| ()).is_none());
            world.statistics.received += 1;
            // The nested call calls a function of the program itself.
            world.lend(|| borrow(|world| world.statistics.received += 1)).unwrap();
            assert!(borrow(|_| ()).is_none());
            world.statistics.received
        });
        assert_eq!(borrow(|world| world.statistics.received), Some(2), "it is lent until the function returns");
        seen
    });
    assert_eq!((seen, world.statistics.received), (Some(2), 2));
    assert!(borrow(|_| ()).is_none());
}

#[test]
fn the_state_is_lent_to_one_thread() {
    alone().lend(|| {
        assert!(std::thread::scope(|scope| scope.spawn(|| borrow(|_| ()).is_none()).join().unwrap()));
        assert!(borrow(|_| ()).is_some());
    });
}

#[test]
fn a_rank_sends_to_itself() {
    let mut world = alone();
    for mode in [Mode::Standard, Mode::Synchronous] {
        let (data, mut into) = ([1, 2, 3], [0; 3]);
        let from = (data.as_ptr().cast(), 3, INT);
        // SAFETY: the arrays live until the waits are over.
        let sent = unsafe { send(&mut world, from, 0, 5, COMM_SELF, mode) }.unwrap();
        assert_eq!(sent.is_some(), mode == Mode::Synchronous, "a synchronous send waits for its receive");
        assert!(world.mail.find(None, Some(5), world.comms.get(COMM_SELF).unwrap().context).is_some());
        let received = receive(&mut world, (into.as_mut_ptr().cast(), 3, INT), ANY_SOURCE, ANY_TAG, COMM_SELF).unwrap();
        assert!(sent.is_none_or(|sent| world.requests.is_over(sent)));
        wait_own(&mut world, received).unwrap();
        assert_eq!(into, data);
    }
    assert_eq!((world.statistics.received, world.mail.unreceived()), (2, 0));
}

#[test]
fn a_message_that_is_too_long_fills_the_buffer_and_is_an_error() {
    let mut world = alone();
    let (data, mut into) = ([1, 2, 3], [0; 3]);
    let received = receive(&mut world, (into.as_mut_ptr().cast(), 2, INT), 0, 0, COMM_SELF).unwrap();
    // SAFETY: the array is copied at once.
    unsafe { send(&mut world, (data.as_ptr().cast(), 3, INT), 0, 0, COMM_SELF, Mode::Standard) }.unwrap();
    let refused = wait_own(&mut world, received).unwrap_err();
    assert_eq!((refused.class, refused.comm), (ERR_TRUNCATE, Some(COMM_SELF)));
    assert_eq!(into, [1, 2, 0]);
}

#[test]
fn arguments_are_refused_by_their_class() {
    let mut world = alone();
    let mut refuse = |count, handle, to, tag, comm| {
        let buffer = (std::ptr::null(), count, handle);
        // SAFETY: nothing is read.
        unsafe { send(&mut world, buffer, to, tag, comm, Mode::Standard) }.map_err(|error| error.class)
    };
    assert_eq!(refuse(0, INT, 1, 0, COMM_SELF), Err(ERR_RANK));
    assert_eq!(refuse(0, INT, 0, -1, COMM_SELF), Err(ERR_TAG));
    assert_eq!(refuse(-1, INT, 0, 0, COMM_SELF), Err(ERR_COUNT));
    assert_eq!(refuse(1, INT, 0, 0, COMM_SELF), Err(ERR_BUFFER));
    assert_eq!(refuse(0, DATATYPE_NULL, 0, 0, COMM_SELF), Err(ERR_TYPE));
    assert_eq!(refuse(0, INT, 0, 0, COMM_NULL), Err(ERR_COMM));
    assert_eq!(refuse(0, INT, PROC_NULL, 0, COMM_SELF), Ok(None));
}

#[test]
fn collectives_of_one_rank_end_at_once() {
    let mut world = alone();
    let mut data = [4];
    let forms = [Form::Blocking, Form::NonBlocking];
    for (number, form) in forms.into_iter().enumerate() {
        let request = barrier(&world, COMM_WORLD).unwrap()(&mut world, form).unwrap();
        assert!(world.requests.is_over(request));
        wait_own(&mut world, request).unwrap();
        let plan = broadcast(&world, (data.as_mut_ptr() as usize, 1, INT), 0, COMM_WORLD).unwrap();
        let request = plan(&mut world, form).unwrap();
        wait_own(&mut world, request).unwrap();
        assert_eq!(world.comms.get(COMM_WORLD).unwrap().collectives, 2 * (number as u64 + 1));
    }
    assert_eq!(data, [4]);
}

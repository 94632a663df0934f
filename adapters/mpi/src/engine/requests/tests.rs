//! Requests: what has ended, what is waited for, and whose handles live on.

use std::rc::Rc;

use super::{Request, Requests, State, What};
use crate::abi::*;
use crate::datatype::Types;

/// `MPI_INT`.
const INT: i32 = 0x4c00_0405;

fn send(to: usize, synchronous: bool) -> Request {
    Request::new(What::Send { to, tag: 0, context: 1, bytes: 8, synchronous, rendezvous: false }, State::Pending)
}

fn receive(from: Option<usize>) -> Request {
    let ty = Types::new().get(INT).unwrap_or_else(|error| panic!("{}", error.text));
    let what =
        What::Receive { buffer: 0, count: 1, ty: Rc::clone(&ty), from, tag: None, members: Rc::default(), context: 1 };
    Request::new(what, State::Pending)
}

#[test]
fn handles_of_requests_that_do_not_exist_are_over() {
    let requests = Requests::new();
    for handle in [REQUEST_NULL, 0, -1, COMM_WORLD, 0xac00_0001_u32 as i32] {
        assert!(
            requests.get(handle).is_none() && requests.is_over(handle) && !requests.is_active(handle),
            "{handle:#x}"
        );
    }
}

#[test]
fn several_are_over_when_all_are() {
    let mut requests = Requests::new();
    let (a, b) = (requests.add(send(1, false)), requests.add(receive(Some(2))));
    let both = requests.add(Request::new(What::Several(vec![a, b]), State::Done));
    assert!(!requests.is_over(both));
    requests.end(a);
    assert!(requests.is_over(a) && !requests.is_over(both));
    assert_eq!(requests.sources(both), Some(vec![2]), "the send is over, so the receive is waited for");
    requests.end(b);
    assert!(requests.is_over(both));
    assert_eq!(requests.parts(both), Some(vec![a, b]));
    assert_eq!(requests.parts(a), None);
}

#[test]
fn a_persistent_request_stands_for_its_operation() {
    let mut requests = Requests::new();
    let persistent = requests.add(Request::new(What::Persistent { active: None }, State::Done));
    assert!(requests.is_over(persistent) && !requests.is_active(persistent));
    let operation = requests.add(receive(Some(3)));
    if let Some(request) = requests.get_mut(persistent) {
        request.what = What::Persistent { active: Some(operation) };
    }
    assert!(requests.is_active(persistent) && !requests.is_over(persistent));
    assert_eq!((requests.actual(persistent), requests.peer(persistent)), (operation, Some(3)));
    assert_eq!(requests.first_over(&[REQUEST_NULL, persistent]), None);
    requests.end(operation);
    assert_eq!(requests.first_over(&[REQUEST_NULL, persistent]), Some(1));
}

#[test]
fn a_wait_knows_whose_messages_can_end_it() {
    let mut requests = Requests::new();
    let cases = [
        (send(4, false), Some(vec![])),
        (send(4, true), Some(vec![4])),
        (receive(Some(5)), Some(vec![5])),
        (receive(None), None),
        (Request::done(Status::EMPTY), None),
    ];
    for (request, sources) in cases {
        let handle = requests.add(request);
        assert_eq!(requests.sources(handle), sources);
    }
}

#[test]
fn a_released_request_vanishes_at_its_end_and_its_handle_is_used_again() {
    let mut requests = Requests::new();
    let (kept, released) = (requests.add(send(1, false)), requests.add(send(1, false)));
    if let Some(request) = requests.get_mut(released) {
        request.freed = true;
    }
    requests.end(kept);
    requests.end(released);
    assert!(requests.get(kept).is_some() && requests.get(released).is_none());
    assert_eq!(requests.add(send(2, false)), released);
}

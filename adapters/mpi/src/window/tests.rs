//! Windows: locks, places, and the form of messages.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::rc::Rc;

use proptest::prelude::*;

use super::{Code, Flavor, Order, Window};
use crate::abi::*;
use crate::constructors::{constructor, vector};
use crate::datatype::Types;

/// `MPI_INT`.
const INT: i32 = 0x4c00_0405;

fn window(size: i64) -> Window {
    Window::new(COMM_WORLD, 1, Flavor::Create, (4096, size), 4)
}

#[test]
fn locks_are_granted_in_order_and_exclusively() {
    let mut window = window(8);
    assert_eq!(window.lock((0, false)), [0]);
    assert_eq!(window.lock((1, false)), [1], "shared");
    assert!(window.lock((2, true)).is_empty());
    assert!(window.lock((3, false)).is_empty(), "it does not overtake the exclusive one");
    assert!(window.unlock(0).is_empty());
    assert_eq!(window.unlock(1), [2]);
    assert_eq!(window.unlock(2), [3]);
    assert!(window.unlock(3).is_empty() && window.unlock(3).is_empty());
}

#[test]
fn places_lie_within_the_window_or_are_refused() {
    let mut types = Types::new();
    let int = types.get(INT).unwrap();
    let how = || constructor(4, Vec::new(), Vec::new(), Vec::new());
    let spaced = types.add(vector(&types, 2, 1, 8, INT, how()).unwrap());
    let spaced = types.get(spaced).unwrap();
    let of_unit = |unit| Window { unit, ..window(40) };
    assert_eq!(of_unit(4).address(3, 7, &int).unwrap(), 4096 + 12);
    for (place, unit, count, ty) in [(3, 4, 8, &int), (-1, 4, 1, &int), (i64::MAX, 4, 1, &int), (4, 8, 1, &spaced)] {
        assert_eq!(of_unit(unit).address(place, count, ty).unwrap_err().class, ERR_RMA_RANGE, "{place}");
    }
    assert!(of_unit(1).address(28, 1, &spaced).is_ok() && of_unit(1).address(29, 1, &spaced).is_err());
    assert!(of_unit(1).address(40, 0, &int).is_ok(), "nothing lies anywhere");
}

proptest! {
    #[test]
    fn messages_are_read_as_they_were_written(
        id in any::<u64>(), place in any::<i64>(), count in 0..100_i64, data in proptest::collection::vec(any::<u8>(), 0..50),
    ) {
        let types = Types::new();
        let how = constructor(4, Vec::new(), Vec::new(), Vec::new());
        let ty = Rc::new(vector(&types, 3, 2, 20, INT, how).unwrap());
        let order = Order { code: Code::Fetch, id, is_counted: true, op: 3, place, count, ty: Some(Rc::clone(&ty)) };
        let bytes = order.write(&data).into_data();
        let (read, at) = Order::read(&bytes).unwrap();
        prop_assert_eq!((read.code, read.id, read.is_counted, read.op), (Code::Fetch, id, true, 3));
        prop_assert_eq!((read.place, read.count, &bytes[at..]), (place, count, &data[..]));
        let found = read.ty.unwrap();
        prop_assert_eq!((found.size, found.lower, found.upper), (ty.size, ty.lower, ty.upper));
        prop_assert_eq!(&found.runs, &ty.runs);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Order::read(&bytes);
    }
}

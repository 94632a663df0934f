//! Predefined operations on packed data, and functions of the program.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::c_int;
use std::rc::Rc;

use super::{NAMES, Op, Terms, check, predefined};
use crate::abi::{F, M};
use crate::constructors::{constructor, resized, structure};
use crate::datatype::Types;
use crate::table::Table;

const INT: c_int = 0x4c00_0405;
const BYTE: c_int = 0x4c00_010d;
const DOUBLE: c_int = 0x4c00_080b;
const COMPLEX8: c_int = 0x4c00_0828;
const DOUBLE_INT: c_int = 0x8c00_0001_u32 as c_int;

fn op(name: &str) -> c_int {
    0x5800_0000 | NAMES.iter().position(|&other| other == name).unwrap() as c_int
}

/// The result of a predefined operation on packed data.
fn apply(name: &str, handle: c_int, left: &[u8], right: &[u8]) -> Vec<u8> {
    let ty = Types::new().get(handle).unwrap();
    let mut right = right.to_vec();
    assert!(predefined(&Terms { op: op(name), function: None, handle, ty, count: 1 }, left, &mut right));
    right
}

#[test]
fn integers() {
    let of = |name, a: i32, b: i32| {
        i32::from_ne_bytes(apply(name, INT, &a.to_ne_bytes(), &b.to_ne_bytes()).try_into().unwrap())
    };
    for (name, results) in [
        ("MPI_MAX", [6, 3]),
        ("MPI_MIN", [3, -5]),
        ("MPI_SUM", [9, -2]),
        ("MPI_PROD", [18, -15]),
        ("MPI_LAND", [1, 1]),
        ("MPI_LXOR", [0, 0]),
        ("MPI_BAND", [2, 3 & -5]),
        ("MPI_BOR", [7, 3 | -5]),
        ("MPI_BXOR", [5, 3 ^ -5]),
        ("MPI_REPLACE", [6, -5]),
        ("MPI_NO_OP", [3, 3]),
    ] {
        // A replaced value is that of the right side here: the left one comes from lower ranks.
        assert_eq!([of(name, 3, 6), of(name, 3, -5)], results, "{name}");
    }
    assert_eq!(of("MPI_SUM", i32::MAX, 1), i32::MIN, "sums wrap");
    assert_eq!(apply("MPI_MAX", BYTE, &[200], &[100]), [200], "bytes have no sign");
}

#[test]
fn numbers_with_parts() {
    let bytes = |all: &[f32]| all.iter().flat_map(|part| part.to_ne_bytes()).collect::<Vec<u8>>();
    assert_eq!(apply("MPI_PROD", COMPLEX8, &bytes(&[1.0, 2.0]), &bytes(&[3.0, 4.0])), bytes(&[-5.0, 10.0]));
    assert_eq!(apply("MPI_SUM", COMPLEX8, &bytes(&[1.0, 2.0]), &bytes(&[3.0, 4.0])), bytes(&[4.0, 6.0]));
    let pair = |value: f64, index: i32| [&value.to_ne_bytes()[..], &index.to_ne_bytes()].concat();
    let least = |a: Vec<u8>, b: Vec<u8>| apply("MPI_MINLOC", DOUBLE_INT, &a, &b);
    assert_eq!(least(pair(1.5, 9), pair(2.5, 1)), pair(1.5, 9));
    assert_eq!(least(pair(2.5, 9), pair(2.5, 1)), pair(2.5, 1), "of equal values the lower index counts");
    assert_eq!(apply("MPI_MAXLOC", DOUBLE_INT, &pair(1.5, 0), &pair(2.5, 1)), pair(2.5, 1));
}

#[test]
fn an_operation_that_does_not_apply_is_refused() {
    let (types, ops) = (Types::new(), Table::new(0x9800_0000, 1));
    let checked = |name, handle| check(&ops, op(name), handle, &types.get(handle).unwrap()).map_err(|error| error.text);
    assert!(checked("MPI_SUM", DOUBLE).is_ok() && checked("MPI_MINLOC", DOUBLE_INT).is_ok());
    for (name, handle) in [("MPI_BAND", DOUBLE), ("MPI_MAX", COMPLEX8), ("MPI_MINLOC", INT), ("MPI_SUM", DOUBLE_INT)] {
        assert!(checked(name, handle).unwrap_err().contains(name));
    }
    assert!(check(&ops, 0x1800_0000, INT, &types.get(INT).unwrap()).is_err());
}

/// Adds the integers at the offsets that `spread_type` gives them, and writes to the gap before each.
unsafe extern "C" fn add(from: M, to: M, count: *mut c_int, _type: *mut c_int) {
    // SAFETY: as `MPI_User_function`: `count` values of the type at both addresses.
    unsafe {
        for index in 0..*count as isize {
            let (from, to) = (from.cast::<c_int>().offset(-4 * index), to.cast::<c_int>().offset(-4 * index));
            *to.offset(1) += *from.offset(1);
            *to.offset(2) *= *from.offset(2);
            assert!(to.offset(1).cast::<u8>().align_offset(4) == 0);
        }
    }
}

#[test]
fn a_function_of_the_program_gets_values_at_their_places() {
    let mut types = Types::new();
    // Two integers 4 bytes from the beginning; the next value is 16 bytes before.
    let how = || constructor(12, vec![], vec![], vec![]);
    let members = types.add(structure(&types, &[1, 1], &[4, 8], &[INT, INT], how()).unwrap());
    let ty = Rc::new(resized(&types, members, 0, -16).unwrap());
    let op = Op { function: add as *const () as F, is_large: false, commutes: true };
    let terms = Terms { op: 0x9800_0001_u32 as c_int, function: Some(op), handle: members, ty, count: 3 };
    let bytes = |all: [i32; 6]| all.iter().flat_map(|one| one.to_ne_bytes()).collect::<Vec<u8>>();
    let (left, mut right) = (bytes([1, 2, 3, 4, 5, 6]), bytes([10, 10, 20, 20, 30, 30]));
    assert!(!predefined(&terms, &left, &mut right));
    // SAFETY: `add` is a function of this type.
    unsafe { op.call(&terms, members, &left, &mut right) };
    assert_eq!(right, bytes([11, 20, 23, 80, 35, 180]));
}

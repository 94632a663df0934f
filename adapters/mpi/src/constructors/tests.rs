//! Datatypes against the definition of the standard: a type map, which is a list of basic types and displacements.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::c_int;

use proptest::prelude::*;

use super::{blocks, constructor, contiguous, resized, scaled, structure, subarray, vector};
use crate::datatype::{Made, Type, Types};

const CHAR: c_int = 0x4c00_0101;
const SHORT: c_int = 0x4c00_0203;
const INT: c_int = 0x4c00_0405;
const DOUBLE: c_int = 0x4c00_080b;

/// A type map: for each element its displacement \[bytes\] and basic type, in the order of the data; and both bounds.
#[derive(Clone, Debug)]
struct Map {
    elements: Vec<(i64, c_int)>,
    lower: i64,
    upper: i64,
}

fn size_of(basic: c_int) -> i64 {
    i64::from(basic >> 8 & 0xff)
}

impl Map {
    fn basic(basic: c_int) -> Self {
        Self { elements: vec![(0, basic)], lower: 0, upper: size_of(basic) }
    }

    fn extent(&self) -> i64 {
        self.upper - self.lower
    }

    /// Copies of maps at displacements.
    fn of<'a>(copies: impl Iterator<Item = (i64, &'a Self)>) -> Self {
        let mut all = Self { elements: Vec::new(), lower: i64::MAX, upper: i64::MIN };
        for (at, map) in copies {
            all.elements.extend(map.elements.iter().map(|&(place, basic)| (at + place, basic)));
            (all.lower, all.upper) = (all.lower.min(at + map.lower), all.upper.max(at + map.upper));
        }
        if all.lower > all.upper {
            (all.lower, all.upper) = (0, 0);
        }
        all
    }

    /// Blocks of one type: length in values and displacement in bytes.
    fn blocks(&self, all: &[(i64, i64)]) -> Self {
        let copies = all.iter().flat_map(|&(length, at)| (0..length).map(move |index| at + index * self.extent()));
        Self::of(copies.map(|at| (at, self)))
    }
}

/// A constructor and its arguments.
#[derive(Clone, Debug)]
enum How {
    Contiguous(i64),
    /// Count, length, stride in values.
    Vector(i64, i64, i64),
    /// Length and displacement in values of each block.
    Indexed(Vec<(i64, i64)>),
    /// Of a structure with a character in front: length and displacement of the type [bytes].
    Struct(i64, i64),
    /// Lower bound, extent.
    Resized(i64, i64),
}

fn how() -> impl Strategy<Value = How> {
    prop_oneof![
        (0..4_i64).prop_map(How::Contiguous),
        (0..4_i64, 0..4_i64, -5..6_i64).prop_map(|(count, length, stride)| How::Vector(count, length, stride)),
        prop::collection::vec((0..3_i64, -4..8_i64), 0..4).prop_map(How::Indexed),
        (0..3_i64, 1..40_i64).prop_map(|(length, at)| How::Struct(length, at)),
        (-8..8_i64, 0..64_i64).prop_map(|(lower, extent)| How::Resized(lower, extent)),
    ]
}

/// Makes the type of a type both ways.
fn make(types: &mut Types, (handle, map): (c_int, Map), how: &How) -> (c_int, Map) {
    let none = Made::default;
    let (ty, map) = match how {
        How::Contiguous(count) => (contiguous(types, *count, handle), map.blocks(&[(*count, 0)])),
        How::Vector(count, length, stride) => {
            let stride = stride * map.extent();
            let places: Vec<(i64, i64)> = (0..*count).map(|index| (*length, index * stride)).collect();
            (vector(types, *count, *length, stride, handle, none()), map.blocks(&places))
        }
        How::Indexed(all) => {
            let (lengths, places): (Vec<i64>, Vec<i64>) = all.iter().copied().unzip();
            let places = scaled(&places, map.extent());
            let both: Vec<(i64, i64)> = lengths.iter().copied().zip(places.iter().copied()).collect();
            (blocks(types, &lengths, &places, handle, none()), map.blocks(&both))
        }
        How::Struct(length, at) => {
            let ty = structure(types, &[1, *length], &[0, *at], &[CHAR, handle], none());
            let inner = map.blocks(&[(*length, *at)]);
            let parts = [Map::basic(CHAR), inner];
            // A block of no values has no bounds.
            let mut all = Map::of(parts.iter().take(if *length > 0 { 2 } else { 1 }).map(|map| (0, map)));
            // The padding that keeps the members aligned in an array.
            let members = all.elements.iter().map(|&(_, basic)| size_of(basic)).max().unwrap_or(1);
            all.upper += -all.extent() & (members - 1);
            (ty, all)
        }
        How::Resized(lower, extent) => {
            let all = Map { lower: *lower, upper: lower + extent, ..map };
            (resized(types, handle, *lower, *extent), all)
        }
    };
    (types.add(ty.unwrap_or_else(|error| panic!("{}", error.text))), map)
}

/// A nested type both ways.
fn nested() -> impl Strategy<Value = (c_int, Vec<How>)> {
    (prop::sample::select(vec![CHAR, SHORT, INT, DOUBLE]), prop::collection::vec(how(), 0..4))
}

/// Memory for `count` values, each byte of which is different from its neighbours; and the place of displacement 0.
fn memory(ty: &Type, count: i64) -> (Vec<u8>, i64) {
    let ((first, last), rest) = (ty.true_bounds(), (count - 1).max(0) * ty.extent());
    let origin = -(first + rest.min(0)).min(0);
    let length = origin + (last + rest.max(0)).max(0);
    ((0..length).map(|byte| byte as u8 ^ (byte >> 8) as u8).collect(), origin)
}

proptest! {
    #[test]
    fn types_are_their_type_maps((basic, hows) in nested(), count in 0..4_i64) {
        let mut types = Types::new();
        let (handle, map) =
            hows.iter().fold((basic, Map::basic(basic)), |made, how| make(&mut types, made, how));
        let ty = types.get(handle).unwrap();
        let size: i64 = map.elements.iter().map(|&(_, basic)| size_of(basic)).sum();
        prop_assert_eq!((ty.size, ty.lower, ty.upper), (size, map.lower, map.upper));
        let first = map.elements.iter().map(|&(at, _)| at).min().unwrap_or(0);
        let last = map.elements.iter().map(|&(at, basic)| at + size_of(basic)).max().unwrap_or(0);
        prop_assert_eq!(ty.true_bounds(), (first, last));
        prop_assert_eq!(ty.elements(ty.bytes(count)), map.elements.len() as i64 * count);

        // Packed data are the elements in the order of the map.
        let (mut before, origin) = memory(&ty, count);
        let extent = map.extent();
        let value = |index: i64| map.elements.iter().map(move |&(at, basic)| (origin + index * extent + at, basic));
        let places: Vec<(usize, usize)> =
            (0..count).flat_map(value).map(|(at, basic)| (at as usize, size_of(basic) as usize)).collect();
        let expected: Vec<u8> = places.iter().flat_map(|&(at, size)| before[at..at + size].to_vec()).collect();
        let mut packed = Vec::new();
        let address = before.as_mut_ptr().wrapping_offset(origin as isize);
        // SAFETY: `memory` has room for all values.
        unsafe { ty.pack(address.cast(), count, &mut packed) }.unwrap();
        prop_assert_eq!(&packed, &expected);

        // Unpacked they are where they were, and no other byte changes.
        let mut after: Vec<u8> = before.iter().map(|byte| !byte).collect();
        let mut wanted = after.clone();
        places.iter().for_each(|&(at, size)| wanted[at..at + size].copy_from_slice(&before[at..at + size]));
        let address = after.as_mut_ptr().wrapping_offset(origin as isize);
        // SAFETY: as above.
        unsafe { ty.unpack(&packed, address.cast(), count) };
        prop_assert_eq!(after, wanted);
    }

    #[test]
    fn a_subarray_is_its_elements(
        axes in prop::collection::vec((1..5_i64, any::<(u8, u8)>()), 1..4), fortran in any::<bool>(),
    ) {
        let sizes: Vec<i64> = axes.iter().map(|&(size, _)| size).collect();
        let parts: Vec<i64> = axes.iter().map(|&(size, (part, _))| 1 + i64::from(part) % size).collect();
        let starts: Vec<i64> =
            axes.iter().zip(&parts).map(|(&(size, (_, start)), part)| i64::from(start) % (size - part + 1)).collect();
        let types = Types::new();
        let order = if fortran { 57 } else { 56 };
        let ty = subarray(&types, &sizes, &parts, &starts, order, SHORT, Made::default()).unwrap();
        prop_assert_eq!((ty.lower, ty.upper), (0, 2 * sizes.iter().product::<i64>()));
        // All places of the array in the order of memory: those within the part are the data.
        let total = sizes.iter().product::<i64>();
        let within = |place: &i64| {
            let mut rest = *place;
            let axes: Vec<usize> =
                if fortran { (0..sizes.len()).collect() } else { (0..sizes.len()).rev().collect() };
            axes.into_iter().all(|axis| {
                let at = rest % sizes[axis];
                rest /= sizes[axis];
                (starts[axis]..starts[axis] + parts[axis]).contains(&at)
            })
        };
        let (before, _) = memory(&ty, 1);
        let mut array: Vec<u8> = (0..2 * total).map(|byte| byte as u8).collect();
        array[..before.len()].copy_from_slice(&before);
        let expected: Vec<u8> =
            (0..total).filter(within).flat_map(|at| array[2 * at as usize..][..2].to_vec()).collect();
        let mut packed = Vec::new();
        // SAFETY: the array has room for the value.
        unsafe { ty.pack(array.as_ptr().cast(), 1, &mut packed) }.unwrap();
        prop_assert_eq!(packed, expected);
    }
}

#[test]
fn a_part_of_packed_data_fills_a_part_of_the_values() {
    let mut types = Types::new();
    let every_other = vector(&types, 2, 1, 8, INT, constructor(4, vec![2, 1, 2], vec![], vec![INT])).unwrap();
    let ty = types.add(every_other);
    let ty = types.get(ty).unwrap();
    let mut into = [0_u8; 16];
    // SAFETY: the array has room for one value.
    unsafe { ty.unpack(&[1, 2, 3, 4, 5, 6], into.as_mut_ptr().cast(), 1) };
    assert_eq!(into, [1, 2, 3, 4, 0, 0, 0, 0, 5, 6, 0, 0, 0, 0, 0, 0]);
    assert_eq!((ty.elements(4), ty.elements(6), ty.elements(8)), (1, 1, 2));
}

#[test]
fn handles_that_are_no_types_and_wrong_arguments_are_refused() {
    let mut types = Types::new();
    for handle in [0, -1, 0x0c00_0000, 0x8c00_0040_u32 as c_int] {
        assert!(types.get(handle).is_err() && contiguous(&types, 1, handle).is_err(), "{handle:#x}");
    }
    assert!(contiguous(&types, -1, INT).is_err());
    assert!(vector(&types, 2, -1, 4, INT, Made::default()).is_err());
    assert!(blocks(&types, &[1, -1], &[0, 4], INT, Made::default()).is_err());
    assert!(subarray(&types, &[4], &[3], &[2], 56, INT, Made::default()).is_err());
    assert!(types.remove(INT).is_err());
    let made = types.add(contiguous(&types, 3, INT).unwrap());
    assert!(types.remove(made).is_ok() && types.get(made).is_err());
}

#[test]
fn a_pair_has_the_layout_of_the_structure_in_c() {
    let types = Types::new();
    for (index, size, extent) in [(0, 8, 8), (1, 12, 16), (2, 12, 16), (3, 6, 8), (4, 20, 32)] {
        let ty = types.get((0x8c00_0000_u32 | index) as c_int).unwrap();
        assert_eq!((ty.size, ty.extent()), (size, extent), "{}", ty.name);
    }
}

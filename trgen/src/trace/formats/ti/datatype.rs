//! Datatypes of time-independent traces.

use crate::trace::formats::error::Fault;

/// Sizes in bytes by SimGrid's datatype number, on x86-64 Linux, where SimGrid records. `None`: see [`datatype_bytes`].
///
/// The sizes of pairs of a value and an index include their padding in memory, as in SimGrid.
const SIZES: [Option<u8>; 56] = [
    Some(8),  // 0 double
    Some(4),  // 1 int
    Some(1),  // 2 char
    Some(2),  // 3 short
    Some(8),  // 4 long
    Some(4),  // 5 float
    Some(1),  // 6 byte
    Some(8),  // 7 long long
    Some(1),  // 8 signed char
    Some(1),  // 9 unsigned char
    Some(2),  // 10 unsigned short
    Some(4),  // 11 unsigned
    Some(8),  // 12 unsigned long
    Some(8),  // 13 unsigned long long
    Some(16), // 14 long double
    Some(4),  // 15 wchar
    Some(1),  // 16 C bool
    Some(1),  // 17 int8
    Some(2),  // 18 int16
    Some(4),  // 19 int32
    Some(8),  // 20 int64
    Some(1),  // 21 uint8
    Some(2),  // 22 uint16
    Some(4),  // 23 uint32
    Some(8),  // 24 uint64
    Some(8),  // 25 C float complex
    Some(16), // 26 C double complex
    Some(32), // 27 C long double complex
    Some(8),  // 28 address
    Some(8),  // 29 offset
    Some(8),  // 30 float and int
    Some(16), // 31 long and int
    Some(16), // 32 double and int
    Some(8),  // 33 short and int
    Some(8),  // 34 two ints
    Some(8),  // 35 two floats
    Some(16), // 36 two doubles
    Some(16), // 37 two longs
    Some(4),  // 38 Fortran real
    Some(4),  // 39 Fortran real*4
    Some(8),  // 40 Fortran real*8
    Some(16), // 41 Fortran real*16
    Some(8),  // 42 Fortran complex*8
    Some(16), // 43 Fortran complex*16
    None,     // 44 Fortran complex*32: 32 by the standard, 16 in SimGrid
    None,     // 45 Fortran integer*1: 1 by the standard, 4 in SimGrid
    Some(2),  // 46 Fortran integer*2
    Some(4),  // 47 Fortran integer*4
    Some(8),  // 48 Fortran integer*8
    Some(16), // 49 Fortran integer*16
    Some(32), // 50 long double and int
    Some(0),  // 51 upper bound marker
    Some(0),  // 52 lower bound marker
    Some(1),  // 53 packed
    Some(8),  // 54 pointer, internal to SimGrid
    Some(8),  // 55 count
];

/// \[bytes\] Size of one element of a datatype of a time-independent trace, by SimGrid's number.
///
/// Numbers 0 to 14 are documented by SimGrid; 15 to 55 are those of the predefined types in its versions since 3.19.
/// `None` for unknown numbers, and for 44 and 45 (Fortran `complex*32` and `integer*1`), on whose sizes SimGrid and the
/// MPI standard disagree.
#[must_use]
pub fn datatype_bytes(number: usize) -> Option<u64> {
    SIZES.get(number).copied().flatten().map(u64::from)
}

/// \[bytes\] The size of the datatype that a word names; 0 for the null type (-1), which occurs with a count of 0.
pub(super) fn element_bytes(word: &str) -> Result<u64, Fault> {
    if word == "-1" {
        return Ok(0);
    }
    let number = word.parse::<usize>().map_err(|_| {
        crate::trace::formats::text::invalid("datatype", word, format!("a number from 0 to {}", SIZES.len() - 1))
    })?;
    datatype_bytes(number).ok_or_else(|| Fault::Datatype {
        found: word.to_owned(),
        why: match number {
            44 => "Fortran complex*32 has 32 bytes by the MPI standard and 16 in SimGrid",
            45 => "Fortran integer*1 has 1 byte by the MPI standard and 4 in SimGrid",
            _ => "its size is not known (0 to 55 are)",
        },
        remedy: "write a type of the size that you mean: 6 for 1 byte, 1 for 4, 26 for 16, 27 for 32",
    })
}

//! `external32`: data as the standard lays them down for exchange between machines, the first byte first.
//!
//! `MPI_LONG` has 4 bytes, and `MPI_WCHAR` 2, as in MPICH; the upper bytes are lost. A `long double` is the one of this
//! machine, turned round.

use std::ffi::c_int;

use crate::datatype::{Basic, Type, kind};

/// How the numbers of a basic type are stored: bytes here, bytes outside, and whether the sign is extended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Width {
    here: usize,
    outside: usize,
    is_signed: bool,
}

/// The numbers of which a run of a basic type of `length` bytes consists.
fn width(basic: c_int, length: i64) -> Width {
    const LONG: c_int = 0x4c00_0807;
    const UNSIGNED_LONG: c_int = 0x4c00_0808;
    const WCHAR: c_int = 0x4c00_040e;
    const LONG_INT: c_int = 0x8c00_0002_u32 as c_int;
    let size = (basic >> 8 & 0xff) as usize;
    let same = |here: usize| Width { here, outside: here, is_signed: false };
    match (basic, kind(basic)) {
        (LONG, _) => Width { here: 8, outside: 4, is_signed: true },
        (UNSIGNED_LONG, _) => Width { here: 8, outside: 4, is_signed: false },
        (WCHAR, _) => Width { here: 4, outside: 2, is_signed: false },
        (_, Some(Basic::Complex | Basic::ExtendedComplex)) => same(size / 2),
        // Each run of a pair is a number; the first of `MPI_LONG_INT` is an `MPI_LONG`.
        (LONG_INT, _) if length == 8 => Width { here: 8, outside: 4, is_signed: true },
        (_, Some(Basic::Pair(..))) => same(length as usize),
        (_, Some(Basic::Twins(_, each))) => same(each as usize),
        (_, Some(Basic::Bytes)) | (_, None) => same(1),
        _ => same(size.max(1)),
    }
}

/// \[bytes\] Size of `count` values outside.
pub(crate) fn bytes(ty: &Type, count: i64) -> u64 {
    let of_run = |basic, length: i64| {
        let width = width(basic, length);
        length as u64 / width.here as u64 * width.outside as u64
    };
    let each: u64 = ty.runs.iter().zip(ty.runs()).map(|(run, (_, length))| of_run(run.basic, length)).sum();
    each.saturating_mul(count.max(0) as u64)
}

/// Calls `convert` with the width of each number of packed values.
fn numbers(ty: &Type, count: i64, mut convert: impl FnMut(Width)) {
    for _ in 0..count {
        for (run, (_, length)) in ty.runs.iter().zip(ty.runs()) {
            let width = width(run.basic, length);
            (0..length as usize / width.here).for_each(|_| convert(width));
        }
    }
}

/// Packed values as they are outside.
pub(crate) fn write(ty: &Type, count: i64, packed: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(packed.len()), packed);
    numbers(ty, count, |width| {
        let (number, after) = rest.split_at(width.here.min(rest.len()));
        out.extend(number[..width.outside.min(number.len())].iter().rev());
        rest = after;
    });
    out
}

/// Values from outside, packed as they are here.
pub(crate) fn read(ty: &Type, count: i64, from: &[u8]) -> Vec<u8> {
    let (mut packed, mut rest) = (Vec::with_capacity(from.len()), from);
    numbers(ty, count, |width| {
        let (number, after) = rest.split_at(width.outside.min(rest.len()));
        packed.extend(number.iter().rev());
        let sign = if width.is_signed && number.first().is_some_and(|first| first & 0x80 != 0) { 0xff } else { 0 };
        packed.extend(std::iter::repeat_n(sign, width.here - width.outside));
        rest = after;
    });
    packed
}

#[cfg(test)]
mod tests {
    use super::{bytes, read, write};
    use crate::datatype::{Made, Type, Types};

    #[test]
    fn numbers_are_turned_round_and_come_back() {
        let types = Types::new();
        // What MPICH 4.0.2 writes.
        for (handle, here, outside) in [
            (0x4c00_0807, (-2_i64).to_le_bytes().to_vec(), vec![0xff, 0xff, 0xff, 0xfe]),
            (0x4c00_0405, 0x0102_0304_i32.to_le_bytes().to_vec(), vec![1, 2, 3, 4]),
            (0x4c00_080b, 1.5_f64.to_le_bytes().to_vec(), vec![0x3f, 0xf8, 0, 0, 0, 0, 0, 0]),
            (0x4c00_0816, [1_i32.to_le_bytes(), 2_i32.to_le_bytes()].concat(), vec![0, 0, 0, 1, 0, 0, 0, 2]),
            (0x4c00_0101, vec![7], vec![7]),
        ] {
            let ty = types.get(handle).unwrap();
            assert_eq!(bytes(&ty, 1), outside.len() as u64, "{handle:#x}");
            assert_eq!(write(&ty, 1, &here), outside, "{handle:#x}");
            assert_eq!(read(&ty, 1, &outside), here, "{handle:#x}");
        }
    }

    /// By hand, from the standard's table: two pairs are four numbers, the first byte of each first, without padding.
    #[test]
    fn pairs_that_touch_stay_numbers() {
        let types = Types::new();
        let floats = [1.0_f32.to_le_bytes(), 2_i32.to_le_bytes(), (-2.0_f32).to_le_bytes(), (-1_i32).to_le_bytes()];
        let longs =
            [&[3, 0, 0, 0, 0, 0, 0, 0][..], &[4, 0, 0, 0], &[0xfe, 255, 255, 255, 255, 255, 255, 255], &[5, 0, 0, 0]];
        for (handle, here, outside) in [
            (0x8c00_0000_u32, floats.concat(), [0x3f80_0000_u32, 2, 0xc000_0000, 0xffff_ffff]),
            (0x8c00_0002, longs.concat(), [3, 4, 0xffff_fffe, 5]),
        ] {
            let pair = types.get(handle as i32).unwrap();
            let two = Type::compose(&[(0, 2, &pair)], Made::default());
            let outside = outside.map(u32::to_be_bytes).concat();
            assert_eq!(bytes(&two, 1), 16, "{handle:#x}");
            assert_eq!(write(&two, 1, &here), outside, "{handle:#x}");
            assert_eq!(read(&two, 1, &outside), here, "{handle:#x}");
        }
    }
}

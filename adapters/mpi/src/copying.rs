//! Copies values between memory and packed data.
//!
//! Most strided types consist of pieces of one length, often that of a number, at one distance: for these no list of runs is
//! read, and the length of a copy is known when the loop is compiled. So do arrays of pairs, whose numbers touch.

use crate::abi::*;
use crate::datatype::{Pieces, Type};
use crate::error::{Outcome, error};

/// The direction of a copy: from values to packed data, or the other way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    Packed,
    Values,
}

/// Copies a run. Inlined, so that a known length becomes a load and a store.
#[inline(always)]
unsafe fn copy_one(at: *mut u8, packed: *mut u8, length: usize, to: To) {
    // SAFETY: memory of the program, and packed data of its size.
    unsafe {
        match to {
            To::Packed => std::ptr::copy_nonoverlapping(at, packed, length),
            To::Values => std::ptr::copy_nonoverlapping(packed, at, length),
        }
    }
}

/// Copies runs of `N` bytes at one distance.
unsafe fn copy_many<const N: usize>(first: *mut u8, distance: isize, packed: *mut u8, count: usize, to: To) {
    // The direction is known where the loop is compiled.
    // SAFETY: as the caller's.
    unsafe {
        match to {
            To::Packed => copy_by_fours::<N>(first, distance, packed, count, To::Packed),
            To::Values => copy_by_fours::<N>(first, distance, packed, count, To::Values),
        }
    }
}

/// The loop of [`copy_many`], four runs at a time: counting and the distances then cost less than the copies.
#[inline(always)]
unsafe fn copy_by_fours<const N: usize>(first: *mut u8, distance: isize, packed: *mut u8, count: usize, to: To) {
    let (mut at, mut packed) = (first, packed);
    for _ in 0..count / 4 {
        // SAFETY: as the caller's.
        unsafe {
            copy_one(at, packed, N, to);
            copy_one(at.wrapping_offset(distance), packed.add(N), N, to);
            copy_one(at.wrapping_offset(distance.wrapping_mul(2)), packed.add(2 * N), N, to);
            copy_one(at.wrapping_offset(distance.wrapping_mul(3)), packed.add(3 * N), N, to);
            packed = packed.add(4 * N);
        }
        at = at.wrapping_offset(distance.wrapping_mul(4));
    }
    for _ in 0..count % 4 {
        // SAFETY: as above.
        unsafe {
            copy_one(at, packed, N, to);
            packed = packed.add(N);
        }
        at = at.wrapping_offset(distance);
    }
}

/// Copies pieces at one distance.
unsafe fn copy_even(value: *mut u8, packed: *mut u8, pieces: Pieces, to: To) {
    let first = value.wrapping_offset(pieces.first as isize);
    let (count, distance, length) = (pieces.count as usize, pieces.distance as isize, pieces.length as usize);
    // SAFETY: as the caller's.
    unsafe {
        if pieces.distance == pieces.length {
            return copy_one(first, packed, count * length, to);
        }
        match length {
            1 => copy_many::<1>(first, distance, packed, count, to),
            2 => copy_many::<2>(first, distance, packed, count, to),
            4 => copy_many::<4>(first, distance, packed, count, to),
            6 => copy_many::<6>(first, distance, packed, count, to),
            8 => copy_many::<8>(first, distance, packed, count, to),
            12 => copy_many::<12>(first, distance, packed, count, to),
            16 => copy_many::<16>(first, distance, packed, count, to),
            20 => copy_many::<20>(first, distance, packed, count, to),
            24 => copy_many::<24>(first, distance, packed, count, to),
            32 => copy_many::<32>(first, distance, packed, count, to),
            64 => copy_many::<64>(first, distance, packed, count, to),
            _ => {
                for index in 0..count {
                    let at = first.wrapping_offset(distance.wrapping_mul(index as isize));
                    copy_one(at, packed.add(index * length), length, to);
                }
            }
        }
    }
}

impl Type {
    /// Copies `count` whole values at `buffer`, whose packed data are at `packed`.
    unsafe fn copy(&self, buffer: *mut u8, count: i64, packed: *mut u8, to: To) {
        let (pieces, extent) = (self.pieces(), self.extent());
        // The pieces of all values lie at one distance, too: an array is one value of more pieces.
        let single = |pieces: Pieces| if pieces.count == 1 { Pieces { distance: extent, ..pieces } } else { pieces };
        let (pieces, count) = match pieces.map(single) {
            Some(pieces) if pieces.distance.wrapping_mul(pieces.count) == extent => {
                (Some(Pieces { count: pieces.count.saturating_mul(count), ..pieces }), count.min(1))
            }
            pieces => (pieces, count),
        };
        let mut packed = packed;
        for index in 0..count {
            let value = buffer.wrapping_offset(index.wrapping_mul(extent) as isize);
            // SAFETY: as the caller's.
            unsafe {
                match pieces {
                    Some(pieces) => copy_even(value, packed, pieces, to),
                    None => self.copy_runs(value, packed, to),
                }
                packed = packed.add(self.size as usize);
            }
        }
    }

    /// Copies a value run by run.
    unsafe fn copy_runs(&self, value: *mut u8, packed: *mut u8, to: To) {
        let mut packed = packed;
        for run in self.runs.iter() {
            let at = value.wrapping_offset(run.offset as isize);
            // SAFETY: as the caller's.
            unsafe {
                copy_one(at, packed, run.length as usize, to);
                packed = packed.add(run.length as usize);
            }
        }
    }

    /// Writes the packed data of `count` values at `buffer` to `packed`, where there is room.
    pub(crate) unsafe fn pack_to(&self, buffer: P, count: i64, packed: *mut u8) {
        if self.bytes(count) == 0 {
            return;
        }
        let buffer = buffer.cast::<u8>().cast_mut();
        // SAFETY: the buffer of the program, and room for its data.
        unsafe {
            match self.is_contiguous() {
                true => copy_one(buffer, packed, self.bytes(count) as usize, To::Packed),
                false => self.copy(buffer, count, packed, To::Packed),
            }
        }
    }

    /// Appends the data of `count` values at `buffer` to `into`.
    ///
    /// # Errors
    /// There is no memory for them.
    pub(crate) unsafe fn pack(&self, buffer: P, count: i64, into: &mut Vec<u8>) -> Outcome {
        let bytes = self.bytes(count);
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        if into.try_reserve(length).is_err() {
            return error(ERR_NO_MEM, format!("there is no memory for a copy of {bytes} bytes"));
        }
        if length == 0 {
            return Ok(());
        }
        // SAFETY: the buffer of the program; the room has been reserved, and is filled.
        unsafe {
            let begin = into.len();
            self.pack_to(buffer, count, into.as_mut_ptr().add(begin));
            into.set_len(begin + length);
        }
        Ok(())
    }

    /// Writes packed data into `count` values at `buffer`, as far as there are data.
    pub(crate) unsafe fn unpack(&self, data: &[u8], buffer: M, count: i64) {
        let data = &data[..data.len().min(usize::try_from(self.bytes(count)).unwrap_or(usize::MAX))];
        let Some(size) = usize::try_from(self.size).ok().filter(|&size| size > 0 && !data.is_empty()) else { return };
        let (buffer, packed) = (buffer.cast::<u8>(), data.as_ptr().cast_mut());
        // SAFETY: the buffer of the program; `packed` is only read.
        unsafe {
            if self.is_contiguous() {
                std::ptr::copy_nonoverlapping(data.as_ptr(), buffer, data.len());
                return;
            }
            let whole = data.len() / size;
            self.copy(buffer, whole as i64, packed, To::Values);
            // The part of a value at the end.
            let mut rest = &data[whole * size..];
            let value = buffer.wrapping_offset((whole as i64).wrapping_mul(self.extent()) as isize);
            for run in self.runs.iter() {
                if rest.is_empty() {
                    break;
                }
                let (now, later) = rest.split_at((run.length as usize).min(rest.len()));
                std::ptr::copy_nonoverlapping(now.as_ptr(), value.wrapping_offset(run.offset as isize), now.len());
                rest = later;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::datatype::{Made, Type, Types};

    #[test]
    fn strided_values_are_packed_and_come_back_also_in_part() {
        let types = Types::new();
        // Handles of char, short, int and double; a type of runs of different lengths.
        for (handle, size) in [(0x4c00_0101, 1), (0x4c00_0203, 2), (0x4c00_0405, 4), (0x4c00_080b, 8)] {
            let basic = types.get(handle).unwrap();
            let even = |length| (0..9).map(|run| (run * 10 * size, length, &*basic)).collect();
            for (blocks, runs) in [
                (vec![(0, 1, &*basic), (3 * size, 1, &*basic)], 2),
                (vec![(0, 1, &*basic), (2 * size, 2, &*basic)], 3),
                (even(1), 9),
                (even(3), 27),
                (even(8), 72),
                (vec![(0, 2, &*basic), (3 * size, 2, &*basic), (6 * size, 1, &*basic)], 5),
                (vec![(2 * size, 1, &*basic), (0, 1, &*basic)], 2),
            ] {
                let ty = Type::compose(&blocks, Made::default());
                assert_copies(&ty, runs * size);
            }
        }
        // Pairs, alone, in structures and resized: their numbers touch.
        for (handle, size) in
            [(0x8c00_0000_u32, 8), (0x8c00_0001, 12), (0x8c00_0002, 12), (0x8c00_0003, 6), (0x8c00_0004, 20)]
        {
            let pair = types.get(handle as i32).unwrap();
            assert_copies(&pair, size);
            let int = types.get(0x4c00_0405).unwrap();
            assert_copies(&Type::compose(&[(0, 3, &*pair)], Made::default()), 3 * size);
            assert_copies(
                &Type::compose(&[(0, 1, &*pair), (40, 1, &*int), (44, 2, &*pair)], Made::default()),
                3 * size + 4,
            );
            assert_copies(&Type { upper: 50, ..Type::compose(&[(0, 1, &*pair)], Made::default()) }, size);
        }
    }

    #[test]
    fn values_without_data_cost_nothing_however_many_there_are() {
        let types = Types::new();
        let empty = Type { upper: 7, ..Type::compose(&[(0, 0, &types.get(0x4c00_0405).unwrap())], Made::default()) };
        let many = Type::compose(&[(0, i64::MAX, &empty), (3, i64::MAX, &empty)], Made::default());
        assert_eq!((many.size, many.runs.len()), (0, 0));
    }

    /// Packs values of a type with `size` bytes of data, and unpacks each part of them.
    fn assert_copies(ty: &Type, size: i64) {
        let (count, extent) = (5, ty.extent());
        let memory: Vec<u8> = (0..count * extent).map(|at| at as u8 + 1).collect();
        let mut packed = Vec::new();
        // SAFETY: the memory has room for the values.
        unsafe { ty.pack(memory.as_ptr().cast(), count, &mut packed) }.unwrap();
        assert_eq!(packed.len() as i64, count * size);
        let expected: Vec<u8> = (0..count)
            .flat_map(|index| ty.runs().map(move |(at, length)| (index * extent + at, length)).collect::<Vec<_>>())
            .flat_map(|(at, length)| memory[at as usize..(at + length) as usize].to_vec())
            .collect();
        assert_eq!(packed, expected);
        for length in 0..=packed.len() {
            let mut back = vec![0; memory.len()];
            // SAFETY: as above.
            unsafe { ty.unpack(&packed[..length], back.as_mut_ptr().cast(), count) };
            let mut again = Vec::new();
            // SAFETY: as above.
            unsafe { ty.pack(back.as_ptr().cast(), count, &mut again) }.unwrap();
            assert_eq!(again[..length], packed[..length]);
            assert!(again[length..].iter().all(|&byte| byte == 0));
        }
    }
}

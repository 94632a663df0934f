//! Views: which bytes of a file a rank sees, in which order.

use std::ffi::c_int;
use std::rc::Rc;

use crate::abi::*;
use crate::datatype::Type;
use crate::error::{Outcome, error};

/// A view: from `start` on, values of the filetype lie one behind the other; their data are the elements, of the etype.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// \[bytes\] Where the view begins in the file.
    pub(crate) start: i64,
    /// The unit of places, and the filetype, with the handles by which the program has given them.
    pub(crate) etype: (Rc<Type>, c_int),
    pub(crate) filetype: (Rc<Type>, c_int),
    /// The representation of data.
    pub(crate) representation: &'static str,
}

impl View {
    /// A view; an error if its types do not fit each other.
    pub(crate) fn new(start: i64, etype: (Rc<Type>, c_int), filetype: (Rc<Type>, c_int)) -> Outcome<Self> {
        if start < 0 {
            return error(ERR_ARG, format!("the view begins at byte {start}"));
        }
        let (unit, tile) = (&etype.0, &filetype.0);
        if unit.size <= 0 || tile.size % unit.size != 0 {
            return error(
                ERR_ARG,
                format!("a filetype of {} bytes does not consist of etypes of {}", tile.size, unit.size),
            );
        }
        let is_in_order = tile.runs().zip(tile.runs().skip(1)).all(|((at, length), (next, _))| at + length <= next);
        if !is_in_order || tile.runs().any(|(at, _)| at < 0) || tile.runs().any(|(at, length)| at + length > tile.upper)
        {
            return error(ERR_ARG, "the displacements of a filetype are not negative, and do not decrease");
        }
        Ok(Self { start, etype, filetype, representation: "native" })
    }

    /// \[bytes\] Size of the unit of places.
    pub(crate) fn unit(&self) -> i64 {
        self.etype.0.size
    }

    /// The regions of the file with `bytes` bytes of data from a place \[etypes\]: their offsets and lengths \[bytes\].
    pub(crate) fn regions(&self, place: i64, bytes: u64) -> Outcome<Regions<'_>> {
        let begin = place.checked_mul(self.unit()).filter(|&begin| begin >= 0);
        let end = begin.and_then(|begin| begin.checked_add(i64::try_from(bytes).ok()?));
        let (Some(begin), Some(_)) = (begin, end) else {
            return error(ERR_ARG, format!("the place {place} of {bytes} bytes is not in a file"));
        };
        let tile = &*self.filetype.0;
        if tile.size == 0 {
            return Ok(Regions { start: self.start, tile, rest: 0, run: 0, within: 0 });
        }
        let tiles = (begin / tile.size).checked_mul(tile.extent());
        let Some(start) = tiles.and_then(|tiles| self.start.checked_add(tiles)) else {
            return error(ERR_ARG, format!("the place {place} of {bytes} bytes is not in a file"));
        };
        let (mut run, mut within) = (0, begin % tile.size);
        for (_, length) in tile.runs() {
            if within < length {
                break;
            }
            within -= length;
            run += 1;
        }
        Ok(Regions { start, tile, rest: bytes, run, within })
    }

    /// \[bytes\] The offset in the file of a place \[etypes\].
    pub(crate) fn offset_of(&self, place: i64) -> Outcome<i64> {
        let first = self.regions(place, 1)?.next();
        Ok(first.map_or(self.start, |(at, _)| at as i64))
    }

    /// \[etypes\] The number of etypes of the view before the end of a file of `size` bytes.
    pub(crate) fn length(&self, size: i64) -> i64 {
        let tile = &*self.filetype.0;
        let size = (size - self.start).max(0);
        if tile.extent() <= 0 {
            return 0;
        }
        let (whole, rest) = (size / tile.extent(), size % tile.extent());
        let last: i64 = tile.runs().map(|(at, length)| (rest - at).clamp(0, length)).sum();
        (whole * tile.size + last) / self.unit()
    }
}

/// The regions of a file that a place of a view stands for, in order.
#[derive(Debug)]
pub(crate) struct Regions<'a> {
    /// \[bytes\] Where the current value of the filetype begins.
    start: i64,
    tile: &'a Type,
    /// \[bytes\] Data that are left.
    rest: u64,
    /// The current run of the filetype, and the byte in it.
    run: usize,
    within: i64,
}

impl Iterator for Regions<'_> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        if self.rest == 0 {
            return None;
        }
        if self.tile.is_contiguous() {
            let region = ((self.start + self.within) as u64, self.rest);
            self.rest = 0;
            return Some(region);
        }
        if self.run == self.tile.runs.len() {
            (self.run, self.start) = (0, self.start.saturating_add(self.tile.extent()));
        }
        let (at, length) = self.tile.runs().nth(self.run)?;
        let taken = self.rest.min((length - self.within) as u64);
        let region = (self.start.saturating_add(at + self.within) as u64, taken);
        (self.rest, self.run, self.within) = (self.rest - taken, self.run + 1, 0);
        Some(region)
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::View;
    use crate::abi::BYTE;
    use crate::datatype::{Made, Type, Types};

    const INT: i32 = 0x4c00_0405;

    fn view(start: i64, filetype: Type) -> View {
        let int = Types::new().get(INT).unwrap();
        View::new(start, (int, INT), (Rc::new(filetype), 0)).unwrap()
    }

    fn int() -> Rc<Type> {
        Types::new().get(INT).unwrap()
    }

    #[test]
    fn a_view_of_bytes_is_the_file() {
        let byte = Types::new().get(BYTE).unwrap();
        let view = View::new(0, (Rc::clone(&byte), BYTE), (byte, BYTE)).unwrap();
        assert_eq!(view.regions(7, 100).unwrap().collect::<Vec<_>>(), [(7, 100)]);
        assert_eq!((view.offset_of(9).unwrap(), view.length(12)), (9, 12));
        assert!(view.regions(-1, 4).is_err() && view.regions(i64::MAX, 4).is_err());
    }

    #[test]
    fn a_strided_view_skips_what_belongs_to_others() {
        // Two integers of every six, from byte 100 on: values of 24 bytes with data in bytes 8 to 16.
        let mut tile = Type::compose(&[(8, 2, &int())], Made::default());
        (tile.lower, tile.upper) = (0, 24);
        let view = view(100, tile);
        assert_eq!(view.regions(0, 16).unwrap().collect::<Vec<_>>(), [(108, 8), (132, 8)]);
        assert_eq!(view.regions(1, 12).unwrap().collect::<Vec<_>>(), [(112, 4), (132, 8)]);
        assert_eq!(view.regions(3, 4).unwrap().collect::<Vec<_>>(), [(136, 4)]);
        assert_eq!(view.offset_of(4).unwrap(), 156);
        assert_eq!([100, 108, 112, 116, 124, 140].map(|size| view.length(size)), [0, 0, 1, 2, 2, 4]);
    }

    #[test]
    fn types_that_do_not_fit_are_refused() {
        let byte = Types::new().get(BYTE).unwrap();
        assert!(View::new(0, (int(), INT), (byte, BYTE)).is_err(), "a byte is no integer");
        let backwards = Type::compose(&[(8, 1, &int()), (0, 1, &int())], Made::default());
        assert!(View::new(0, (int(), INT), (Rc::new(backwards), 0)).is_err());
        let negative = Type::compose(&[(-8, 1, &int())], Made::default());
        assert!(View::new(0, (int(), INT), (Rc::new(negative), 0)).is_err());
        assert!(View::new(-1, (int(), INT), (int(), INT)).is_err());
    }
}

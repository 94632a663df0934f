//! What stands for [`packed`](../packed.rs) without the feature `compressed`: each file names the command that unpacks it.

use std::io::{self, BufRead, Read};

use super::{Fault, Place, ReadError, TAR, VisitMember};

/// Refuses what gzip, or xz, has compressed.
pub(super) fn decompressed(_: impl Read, is_xz: bool, place: &Place) -> Result<io::Empty, ReadError> {
    let (name, command) = if is_xz { ("xz", "unxz FILE") } else { ("gzip", "gunzip FILE") };
    Err(place.error(Fault::Packed { name, command }))
}

/// Refuses an archive.
pub(super) fn members(_: Box<dyn BufRead + '_>, whole: &Place, _: &mut VisitMember<'_>) -> Result<(), ReadError> {
    Err(whole.error(TAR))
}

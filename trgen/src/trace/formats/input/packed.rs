//! Text that gzip or xz has compressed, and members of tar archives.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;
use liblzma::read::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};

use super::{Fault, Guard, MAX_TEXT, Place, ReadError, Stop, VisitMember, failed, find_stop, normalised};

/// \[bytes\] Largest memory that an xz file may demand for its decoder; `xz -9` needs 65 MiB.
const MAX_DICTIONARY: u64 = 512 << 20;
/// \[bytes\] Largest header, with extended headers, of one member of a tar archive.
const MAX_HEADER: u64 = 1 << 20;

/// What gzip, or xz, has compressed.
pub(super) fn decompressed<'a>(
    raw: impl Read + 'a,
    is_xz: bool,
    place: &Place,
) -> Result<Box<dyn Read + 'a>, ReadError> {
    if !is_xz {
        return Ok(Box::new(Ungzip::new(raw)));
    }
    let stream = Stream::new_stream_decoder(MAX_DICTIONARY, CONCATENATED)
        .map_err(|error| place.error(Fault::Io(error.into())))?;
    Ok(Box::new(Unxz(XzDecoder::new_stream(raw, stream))))
}

/// Visits the files of an archive until `each` returns false.
pub(super) fn members<'a>(
    reader: Box<dyn BufRead + 'a>,
    whole: &Place,
    each: &mut VisitMember<'_>,
) -> Result<(), ReadError> {
    let allowance = Rc::new(Cell::new(MAX_HEADER));
    let passed = Rc::new(Cell::new(0));
    let guard = Guard { inner: reader, allowance: Rc::clone(&allowance), passed: Rc::clone(&passed) };
    let mut archive = tar::Archive::new(guard);
    let here = || whole.byte(passed.get());
    let mut text_bytes = 0_u64;
    for member in archive.entries().map_err(|error| tar_failed(&here(), error))? {
        let mut member = member.map_err(|error| tar_failed(&here(), error))?;
        let size = member.size();
        text_bytes = text_bytes.saturating_add(size);
        if text_bytes > MAX_TEXT {
            return Err(here().error(Fault::TooLarge { what: "the archive", limit: MAX_TEXT }));
        }
        allowance.set(size.saturating_add(MAX_HEADER));
        let kind = member.header().entry_type();
        if !(kind.is_file() || kind.is_contiguous()) {
            continue;
        }
        let name = normalised(&String::from_utf8_lossy(&member.path_bytes()));
        let place = Place { member: Some(name.clone()), ..whole.clone() };
        let mut counted = BufReader::new(Counted { inner: &mut member, count: 0 });
        let more = each(&name, &place, &mut counted)?;
        if !more {
            return Ok(());
        }
        // The archive library mistakes the end of the file for the end of the member; the count distinguishes them.
        io::copy(&mut counted, &mut io::sink()).map_err(|error| failed(&place, error))?;
        let count = counted.into_inner().count;
        if count != size {
            let what = format!("{count} of {size} bytes");
            return Err(place.byte(passed.get()).error(Fault::Damaged { container: "tar", what }));
        }
        allowance.set(MAX_HEADER);
    }
    // Read beyond the end mark of the archive: the checksums of a compressed file come last.
    allowance.set(MAX_TEXT);
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(|error| failed(whole, error))?;
    Ok(())
}

/// Converts an error of reading the headers between the members of an archive.
fn tar_failed(place: &Place, error: io::Error) -> ReadError {
    match find_stop(&error) {
        Some(Stop::TooLarge) => {
            return place.error(Fault::TooLarge { what: "a header in the archive", limit: MAX_HEADER });
        }
        Some(Stop::Damaged { .. }) => return failed(place, error),
        None if error.raw_os_error().is_some() => return failed(place, error),
        None => {}
    }
    place.error(Fault::Damaged { container: "tar", what: error.to_string() })
}

/// Counts the bytes read.
struct Counted<R> {
    inner: R,
    /// \[bytes\] Number of bytes read so far.
    count: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.count += length as u64;
        Ok(length)
    }
}

/// Marks the errors of the decompressor, to distinguish them from those of the operating system.
struct Unxz<R: Read>(XzDecoder<R>);

impl<R: Read> Read for Unxz<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ if error.raw_os_error().is_some() => error,
            _ => io::Error::other(Stop::Damaged { container: "xz", byte: self.0.total_in(), what: error.to_string() }),
        })
    }
}

/// Marks the errors of the decompressor of gzip, and counts what it has taken.
struct Ungzip<R: Read>(MultiGzDecoder<BufReader<Counted<R>>>);

impl<R: Read> Ungzip<R> {
    fn new(inner: R) -> Self {
        Self(MultiGzDecoder::new(BufReader::new(Counted { inner, count: 0 })))
    }
}

impl<R: Read> Read for Ungzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ if error.raw_os_error().is_some() => error,
            _ => {
                let input = self.0.get_ref();
                let byte = input.get_ref().count - input.buffer().len() as u64;
                io::Error::other(Stop::Damaged { container: "gzip", byte, what: error.to_string() })
            }
        })
    }
}

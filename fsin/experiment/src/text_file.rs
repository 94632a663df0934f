//! Text files as settings name them, plain or, with the feature `archives`, compressed with gzip.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The first bytes of a file that gzip has compressed (RFC 1952).
const GZIP: [u8; 2] = [0x1F, 0x8B];

/// Reads a file as text; one that is compressed with gzip is decompressed.
///
/// # Errors
/// A file that cannot be read or is damaged, text that is not UTF-8, or more than `most` bytes of text.
pub fn read(path: &Path, most: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut beginning = Vec::new();
    (&mut file).take(GZIP.len() as u64).read_to_end(&mut beginning)?;
    let is_packed = beginning == GZIP;
    let whole = io::Cursor::new(beginning).chain(file);
    let mut text = String::new();
    let length = match is_packed {
        true => unpacked(whole)?.take(most + 1).read_to_string(&mut text),
        false => whole.take(most + 1).read_to_string(&mut text),
    }?;
    if length as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes of text")));
    }
    Ok(text)
}

/// What gzip has compressed.
#[cfg(feature = "archives")]
#[allow(clippy::unnecessary_wraps, reason = "without the feature it is refused")]
fn unpacked(whole: impl Read) -> io::Result<impl Read> {
    Ok(flate2::read::MultiGzDecoder::new(whole))
}

/// Refuses what gzip has compressed.
#[cfg(not(feature = "archives"))]
fn unpacked(_: impl Read) -> io::Result<io::Empty> {
    Err(io::Error::other("gzip has compressed it: unpack it first (gunzip FILE), or build with the feature `archives`"))
}

/// A writer that compresses with gzip. Call `finish` at its end.
#[cfg(feature = "archives")]
pub fn packed<W: io::Write>(out: W) -> flate2::write::GzEncoder<W> {
    flate2::write::GzEncoder::new(out, flate2::Compression::default())
}

#[cfg(all(test, feature = "archives"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::io::Write;

    use super::*;

    #[test]
    fn compressed_text_is_read_as_text_and_limits_hold() {
        let folder = std::env::temp_dir().join(format!("fsin-text-file-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (plain, packed) = (folder.join("plain"), folder.join("packed.gz"));
        std::fs::write(&plain, "some text\n").unwrap();
        let mut encoder = super::packed(File::create(&packed).unwrap());
        encoder.write_all(b"some text\n").unwrap();
        encoder.finish().unwrap();
        for path in [&plain, &packed] {
            assert_eq!(read(path, 10).unwrap(), "some text\n");
            assert!(read(path, 9).unwrap_err().to_string().contains("more than 9 bytes"));
        }
        let whole = std::fs::read(&packed).unwrap();
        std::fs::write(&packed, &whole[..whole.len() - 6]).unwrap();
        assert!(read(&packed, 10).is_err(), "a file that is cut short is no text");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

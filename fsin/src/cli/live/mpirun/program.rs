//! Why a program cannot load the library: by its file.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The file of a program, as the system finds it by its name.
fn file(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 || program.as_encoded_bytes().contains(&b'/') {
        return Some(path.to_owned());
    }
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(path)).find(|path| path.is_file())
}

/// Why a program, by its name, does not load the library; `None` if its file gives no reason.
pub(super) fn obstacle(program: &OsStr) -> Option<&'static str> {
    let file = file(program)?;
    if fs::metadata(&file).is_ok_and(|there| there.permissions().mode() & 0o6000 != 0) {
        return Some("it runs with the rights of its owner, so that the system lets it load no library of others");
    }
    let bytes = fs::read(&file).ok()?;
    is_static(&bytes)?.then_some("it is linked statically, and loads no library")
}

/// True if the content of a file is that of a program for 64 bits without a dynamic linker; `None` if it is no such
/// program.
fn is_static(bytes: &[u8]) -> Option<bool> {
    /// `PT_INTERP`: the header that names the dynamic linker.
    const INTERPRETER: u32 = 3;
    /// Magic number, 64 bits, little-endian.
    const MAGIC: &[u8] = b"\x7fELF\x02\x01";
    let number = |at: usize, length: usize| -> Option<u64> {
        let bytes = bytes.get(at..at.checked_add(length)?)?;
        Some(bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
    };
    bytes.starts_with(MAGIC).then_some(())?;
    let (begin, size, count) = (number(32, 8)? as usize, number(54, 2)? as usize, number(56, 2)? as usize);
    for index in 0..count {
        if number(begin.checked_add(index * size)?, 4)? == u64::from(INTERPRETER) {
            return Some(false);
        }
    }
    Some(true)
}

#[cfg(test)]
mod tests {
    use super::is_static;

    #[test]
    fn programs_without_a_dynamic_linker_are_known_by_their_headers() {
        let own = std::fs::read("/proc/self/exe").expect("the file of this test");
        assert_eq!(is_static(&own), Some(false));
        let mut changed = own.clone();
        let begin = u64::from_le_bytes(own[32..40].try_into().expect("8 bytes")) as usize;
        let count = usize::from(own[56]);
        for header in changed[begin..].chunks_mut(56).take(count).filter(|header| header[0] == 3) {
            header[0] = 4;
        }
        assert_eq!(is_static(&changed), Some(true));
        assert_eq!(is_static(b"#!/bin/sh"), None);
        for length in 0..200 {
            let _ = is_static(&own[..length]);
        }
    }
}

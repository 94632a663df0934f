//! Sockets in the file system to which only their owner can connect.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use crate::backlog::lengthen;

/// \[bytes\] Longest path of a socket: `sun_path` of unix(7) has 108 bytes on Linux and 104 on the BSDs and macOS,
/// including the terminating zero.
const LONGEST: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Rejects a path of more than `longest` bytes.
///
/// # Errors
/// The path is too long; the text states the limit.
fn check_length(path: &Path, longest: usize) -> io::Result<()> {
    let length = path.as_os_str().len();
    if length <= longest {
        return Ok(());
    }
    let what = format!("its path has {length} bytes, and that of a socket at most {longest} here; use a shorter one");
    Err(io::Error::new(ErrorKind::InvalidInput, what))
}

/// Connects to a socket.
///
/// # Errors
/// No process listens, or the path is too long for a socket.
pub(crate) fn connect(path: &Path) -> io::Result<UnixStream> {
    check_length(path, LONGEST)?;
    UnixStream::connect(path)
}

/// Binds a socket to which no other user can connect at any moment: it is created in a private folder beside its place,
/// and moved there once its mode is 0600. A socket left behind by an earlier run is replaced.
///
/// # Errors
/// When the name belongs to a socket in use or to something else, the path is too long, or the folder is not writable.
pub fn bind_private(path: &Path) -> io::Result<UnixListener> {
    if let Ok(found) = fs::symlink_metadata(path) {
        if !found.file_type().is_socket() {
            let what = "something of this name exists, and is no socket; it is left as it is";
            return Err(io::Error::new(ErrorKind::AlreadyExists, what));
        }
        if UnixStream::connect(path).is_ok() {
            return Err(io::Error::new(ErrorKind::AddrInUse, "somebody listens on it"));
        }
    }
    let name = path.file_name().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "the path has no file name"))?;
    // The private folder, and the path of the socket in it before it is moved.
    let private = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    let inside = private.join("s");
    // Both paths must fit a socket.
    let longer = inside.as_os_str().len().saturating_sub(path.as_os_str().len());
    check_length(path, LONGEST - longer.min(LONGEST))?;
    fs::DirBuilder::new().mode(0o700).create(&private)?;
    let bound = UnixListener::bind(&inside).and_then(|listener| {
        fs::set_permissions(&inside, fs::Permissions::from_mode(0o600))?;
        let listener = lengthen(listener)?;
        fs::rename(&inside, path)?;
        Ok(listener)
    });
    if bound.is_err() {
        let _ = fs::remove_file(&inside);
    }
    let _ = fs::remove_dir(&private);
    bound
}

//! Sockets in the file system that only their owner can connect to.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

/// Binds a socket that nobody else can connect to at any moment: in a private folder beside its place, from where it is
/// moved once its mode is 0600. A socket that an earlier run has left behind is replaced.
///
/// # Errors
/// When something of this name is there and in use, or the folder cannot be written.
pub fn bind_private(path: &Path) -> io::Result<UnixListener> {
    if let Ok(found) = fs::symlink_metadata(path) {
        let in_use = !found.file_type().is_socket() || UnixStream::connect(path).is_ok();
        if in_use {
            return Err(io::Error::new(ErrorKind::AddrInUse, "something of this name exists, and is in use"));
        }
    }
    let name = path.file_name().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "the path has no file name"))?;
    let private = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    fs::DirBuilder::new().mode(0o700).create(&private)?;
    let inside = private.join("s");
    let bound = UnixListener::bind(&inside).and_then(|listener| {
        fs::set_permissions(&inside, fs::Permissions::from_mode(0o600))?;
        fs::rename(&inside, path)?;
        Ok(listener)
    });
    if bound.is_err() {
        let _ = fs::remove_file(&inside);
    }
    let _ = fs::remove_dir(&private);
    bound
}

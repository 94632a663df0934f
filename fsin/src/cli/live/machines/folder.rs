//! The folder of machines that are up.

use std::env;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::cli::{Complaint, Exit};

/// The file that is locked while machines are up. A folder that contains it is a folder of machines.
const LOCK: &str = "lock";
/// The link to the folder of the sockets, whose paths must be short.
const SOCKETS: &str = "sockets";
/// The beginning of the name of the folder of the sockets.
const PREFIX: &str = "fsin-machines.";
/// The file with the command that machines run once they are up.
pub(super) const COMMAND: &str = "command";

/// The name of the console of a machine, which is a log in the folder and a socket.
pub(super) fn console(machine: usize) -> String {
    format!("console.{machine}")
}

/// The name of the output of a machine's commands, which is a log in the folder and a socket.
pub(super) fn output(machine: usize) -> String {
    format!("output.{machine}")
}

/// The name of the file with the messages of a machine's QEMU.
pub(super) fn errors(machine: usize) -> String {
    format!("qemu.{machine}")
}

/// The folder of a run of machines. Its sockets are removed at the end; logs stay.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// The folder of the sockets.
    sockets: PathBuf,
    /// The file [`LOCK`], which is locked while this value lives.
    _lock: File,
}

/// The error of a folder that cannot be used.
fn failed(path: &Path, error: &io::Error) -> Complaint {
    let what = format!("--folder {}: {error}", path.display());
    Complaint::new(Exit::Usage, what, "name a folder in a place where you may write")
}

impl Folder {
    /// Creates the folder, or reuses that of earlier machines after their logs have been removed.
    pub(super) fn create(path: &Path) -> Result<Self, Complaint> {
        let refused = |error: io::Error| failed(path, &error);
        fs::create_dir_all(path).map_err(refused)?;
        let path = &path.canonicalize().map_err(refused)?;
        let lock = path.join(LOCK);
        if !lock.exists() && fs::read_dir(path).map_err(refused)?.next().is_some() {
            let what = format!("--folder {}: the folder is not empty, and not one of machines", path.display());
            return Err(Complaint::new(Exit::Usage, what, "name another one; nothing is overwritten"));
        }
        let lock = File::create(lock).map_err(refused)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let what = format!("--folder {}: other machines are up in this folder", path.display());
                return Err(Complaint::new(Exit::Usage, what, "name another one, or end them: fsin machines down"));
            }
            Err(TryLockError::Error(error)) => return Err(refused(error)),
        }
        for entry in fs::read_dir(path).map_err(refused)?.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name == SOCKETS {
                remove_left_sockets(&entry.path());
            }
            let old = ["console.", "output.", "qemu."].iter().any(|prefix| name.starts_with(prefix));
            if old || [COMMAND, SOCKETS].contains(&&*name) {
                fs::remove_file(entry.path()).map_err(refused)?;
            }
        }
        let moment = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let sockets = env::temp_dir().join(format!("{PREFIX}{}.{moment:x}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&sockets).map_err(|error| {
            let what = format!("cannot make the folder {} for sockets: {error}", sockets.display());
            Complaint::new(Exit::Failed, what, "free some space, or set TMPDIR to a folder that can be written to")
        })?;
        let folder = Self { path: path.clone(), sockets, _lock: lock };
        symlink(&folder.sockets, path.join(SOCKETS)).map_err(refused)?;
        Ok(folder)
    }

    /// The path of the folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the socket with this name.
    pub(super) fn socket(&self, name: &str) -> PathBuf {
        self.sockets.join(name)
    }
}

/// Removes the folder of the sockets of a command that was killed.
fn remove_left_sockets(link: &Path) {
    let Ok(sockets) = fs::read_link(link) else { return };
    let is_ours = sockets.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    if is_ours && sockets.parent() == Some(&env::temp_dir()) {
        // An error does no harm: it is in the folder for temporary files.
        let _ = fs::remove_dir_all(sockets);
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // An error does no harm: the sockets are in the folder for temporary files.
        let _ = fs::remove_file(self.path.join(SOCKETS));
        let _ = fs::remove_dir_all(&self.sockets);
    }
}

/// The folder of the sockets of machines that are up in `folder`.
pub(super) fn sockets(folder: &Path) -> Result<PathBuf, Complaint> {
    fs::read_link(folder.join(SOCKETS)).map_err(|_| {
        let what = format!("--folder {}: no machines are up there", folder.display());
        Complaint::new(Exit::Usage, what, "start them with `fsin machines up`, or name their --folder")
    })
}

/// The number of machines with sockets in the folder `sockets`.
pub(super) fn count(sockets: &Path) -> usize {
    (0..).take_while(|&machine| sockets.join(output(machine)).exists()).count()
}

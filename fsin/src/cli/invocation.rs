//! How this process was called: the words that start the command again, and its arguments.
//!
//! The command is an executable of its own, or a library that another program loads, such as an interpreter of Python.
//! Then the executable of the process is not the command, and the arguments of the process are not its arguments.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use trgen::quote::shell;

/// The call of a command that is not an executable of its own; set once.
static CALLED: OnceLock<Called> = OnceLock::new();

/// A call by another program.
struct Called {
    /// The words that start the command again, without arguments.
    program: Vec<OsString>,
    /// The name of the command and its arguments.
    words: Vec<OsString>,
}

/// Tells that another program has called the command: `program` starts it again, `words` are its name and arguments.
/// Only the first call of a process counts.
pub(crate) fn called_by(program: Vec<OsString>, words: Vec<OsString>) {
    // A second call finds the table of components installed, which is an error.
    let _ = CALLED.set(Called { program, words });
}

/// The name of the command and its arguments.
pub(crate) fn words() -> Vec<OsString> {
    CALLED.get().map_or_else(|| std::env::args_os().collect(), |called| called.words.clone())
}

/// The name of the command and its arguments, as text.
pub(crate) fn texts() -> Vec<String> {
    words().iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// True if the command is the executable of this process.
#[cfg(feature = "live")]
pub(crate) fn is_executable() -> bool {
    CALLED.get().is_none()
}

/// The words that start this command again, without arguments.
///
/// # Errors
/// When the system does not tell the executable of this process.
pub(crate) fn program() -> io::Result<Vec<OsString>> {
    match CALLED.get() {
        Some(called) => Ok(called.program.clone()),
        None => Ok(vec![std::env::current_exe()?.into_os_string()]),
    }
}

/// The same for a shell.
///
/// # Errors
/// As [`program`].
pub(crate) fn program_for_shell() -> io::Result<String> {
    let words = program()?;
    Ok(words.iter().map(|word| shell(&Path::new(word).to_string_lossy())).collect::<Vec<_>>().join(" "))
}

/// A process of this command, to be started with further arguments.
///
/// # Errors
/// As [`program`].
pub(crate) fn command() -> io::Result<Command> {
    let words = program()?;
    let mut command = Command::new(words.first().map_or("fsin".as_ref(), OsString::as_os_str));
    command.args(words.iter().skip(1));
    Ok(command)
}

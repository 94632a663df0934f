//! Libraries that the command has other programs load.

use std::env;
use std::path::{Path, PathBuf};

use crate::cli::{Complaint, Exit};

/// A library that cargo builds beside the command.
pub(crate) struct Library {
    /// The name of its file.
    pub(crate) file: &'static str,
    /// The environment variable that names another file.
    pub(crate) variable: &'static str,
    /// The cargo package that builds it.
    pub(crate) package: &'static str,
    /// What loads it, as part of a sentence in the error that it is missing.
    pub(crate) role: &'static str,
}

impl Library {
    /// Finds its file: at the path in the environment variable, beside the command, or in `../lib/fsin` from there.
    pub(crate) fn find(&self) -> Result<PathBuf, Complaint> {
        let Self { file, variable, package, role } = self;
        if let Some(path) = env::var_os(variable).map(PathBuf::from) {
            return path.canonicalize().map_err(|error| {
                let what = format!("{variable}={}: {error}", path.display());
                Complaint::new(Exit::Usage, what, format!("name the file {file}, or unset the variable"))
            });
        }
        let folder = env::current_exe().ok().and_then(|path| path.canonicalize().ok());
        let folder = folder.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
        let places = [folder.join(file), folder.join("../lib/fsin").join(file)];
        places.iter().find_map(|path| path.canonicalize().ok()).ok_or_else(|| {
            let what =
                format!("{file}, which {role}, is neither in {} nor in ../lib/fsin from there", folder.display());
            let remedy = format!("build it with `cargo build -p {package}`, copy it there, or name it in {variable}");
            Complaint::new(Exit::Usage, what, remedy)
        })
    }
}

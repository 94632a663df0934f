//! MPI programs of the tests: compiled by MPICH's compilers, run by `fsin mpirun`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::command::{fsin, mpi_library};
use crate::shared::{skipped, workspace};

/// A compiled program in a folder of its own.
#[derive(Debug)]
pub struct Program {
    folder: TempDir,
    path: PathBuf,
}

/// True if a command is on the path.
fn exists(command: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(command).is_file())
}

/// Compiles a program of `tests/programs/mpi`. `None`, aloud, where MPICH or its Fortran compiler is missing.
///
/// # Panics
/// When it cannot be compiled.
#[must_use]
pub fn program(source: &str) -> Option<Program> {
    program_with(source, &[])
}

/// The folder of the installed `libmpich.so.12`.
///
/// # Panics
/// When the compiler does not know it.
#[must_use]
pub fn folder_of_mpich() -> PathBuf {
    let found = Command::new("gcc").arg("-print-file-name=libmpich.so.12").output().expect("there is a compiler");
    let path = PathBuf::from(String::from_utf8_lossy(&found.stdout).trim());
    path.parent().expect("a file in a folder").to_owned()
}

/// The same as [`program`], compiled with further arguments.
///
/// # Panics
/// When it cannot be compiled.
#[must_use]
pub fn program_with(source: &str, arguments: &[String]) -> Option<Program> {
    let fortran = source.ends_with(".f90");
    let names = if fortran { ["mpifort.mpich", "mpifort"] } else { ["mpicc.mpich", "mpicc"] };
    let is_mpich = |compiler: &&str| {
        let shown = Command::new(compiler).arg("-show").output();
        exists(compiler) && shown.is_ok_and(|shown| String::from_utf8_lossy(&shown.stdout).contains("mpich"))
    };
    let Some(compiler) = names.into_iter().find(is_mpich).filter(|_| !fortran || exists("gfortran")) else {
        skipped(&format!("no compiler of MPICH for {source} (Debian: mpich libmpich-dev gfortran)"));
        return None;
    };
    let folder = tempfile::tempdir().expect("a folder for the program");
    let path = folder.path().join("program");
    let source = workspace().join("tests/programs/mpi").join(source);
    let built =
        Command::new(compiler).args(["-O1", "-w", "-o"]).arg(&path).arg(&source).arg("-lm").args(arguments).output();
    let built = built.expect("the compiler has just been found");
    assert!(built.status.success(), "{}: {}", source.display(), String::from_utf8_lossy(&built.stderr));
    Some(Program { folder, path })
}

impl Program {
    /// Its folder, in which it runs.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The program.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `fsin mpirun` with these flags, and the words of the program.
    #[must_use]
    pub fn command(&self, flags: &str, words: &str) -> Command {
        let mut command = fsin(self.folder());
        command.env("FSIN_MPI_LIBRARY", mpi_library());
        command.arg("mpirun").args(flags.split_whitespace()).arg("--").arg(&self.path).args(words.split_whitespace());
        command
    }

    /// `fsin mpirun` with these flags, and a shell with this script as the program of each rank.
    #[must_use]
    pub fn shell(&self, flags: &str, script: &str) -> Command {
        let mut command = fsin(self.folder());
        command.env("FSIN_MPI_LIBRARY", mpi_library());
        command.arg("mpirun").args(flags.split_whitespace()).args(["--", "sh", "-c", script]);
        command
    }

    /// Runs it.
    ///
    /// # Panics
    /// When the command cannot be started.
    #[must_use]
    pub fn run(&self, flags: &str, words: &str) -> Output {
        self.command(flags, words).output().expect("fsin has just been built")
    }
}

/// What a command has written to stdout and stderr.
#[must_use]
pub fn said(output: &Output) -> (String, String) {
    (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
}

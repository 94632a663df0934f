//! Writes the calls of MPICH's ABI that are not implemented: each ends the program with its name.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Adds the paths of all files below `folder` to `all`.
fn collect_files(folder: &Path, all: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect_files(&path, all)?;
        } else {
            all.push(path);
        }
    }
    Ok(())
}

/// Adds to `names` the calls that a source file defines. They are recognized by the notation of the macros `mpi!`,
/// `large!` and `collectives!`.
fn add_defined_calls(text: &str, names: &mut BTreeSet<String>) {
    for line in text.lines() {
        let line = line.trim_start();
        if line.starts_with("MPI") && line.contains(" / MPI") {
            let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            names.extend(words.filter(|word| word.starts_with("MPI")).map(str::to_owned));
        }
        let Some(rest) = line.strip_prefix("fn MPI") else { continue };
        let Some((head, _)) = rest.split_once('(') else { continue };
        for name in head.split('/').map(str::trim) {
            names.insert(if name.starts_with("MPI") { name.to_owned() } else { format!("MPI{name}") });
        }
    }
}

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=calls.txt");
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmpich.so.12");
    let mut files = Vec::new();
    collect_files(Path::new("src"), &mut files)?;
    let mut names = BTreeSet::new();
    for file in files {
        add_defined_calls(&fs::read_to_string(file)?, &mut names);
    }
    let mut stubs = String::from("unsupported! {\n");
    for call in fs::read_to_string("calls.txt")?.lines().filter(|call| !names.contains(*call)) {
        let _ = writeln!(stubs, "    {call}");
    }
    stubs.push_str("}\n");
    let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    fs::write(out.join("unsupported.rs"), stubs)
}

//! The input files of an experiment, and its identity: its settings and the contents of those files.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use sha2::{Digest, Sha256};
use trgen::synthetic::Spec;
use trgen::synthetic::traffic::Sources;
use trgen::trace::formats;
use trgen::trace::formats::is_anchor;
use trgen::trace::kernels::KernelSpec;
use trgen::trace::placement::Placement;

use super::energy;
use super::keys::Kind;
use super::resolve::Experiment;
use fsin_core::failures;
use fsin_core::topology;

/// A file that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// Path of the file.
    pub path: PathBuf,
    /// Name relative to the trace or pattern to which the file belongs.
    pub name: PathBuf,
    /// \[bytes\] Length of the file.
    pub bytes: u64,
    /// SHA-256 of its content, as hexadecimal digits.
    pub sha256: String,
}

/// Digests of files, each read once.
#[derive(Default, Debug)]
pub struct Inputs {
    /// By path given in an experiment: the files there.
    known: HashMap<PathBuf, Vec<Input>>,
}

impl Inputs {
    /// Every file that the experiment reads. Files that cannot be read are left to their parsers, which report the
    /// reason.
    pub fn of(&mut self, experiment: &Experiment) -> Vec<Input> {
        let workload = &experiment.workload;
        let patterns = workload.sources().into_iter().flat_map(|config| {
            let of_pattern = config.pattern.files().into_iter().map(|name| config.folder.join(name));
            of_pattern.chain(config.size.files())
        });
        let placement = experiment.placement.file().map(Path::to_owned);
        let graph = experiment.topology().and_then(|topology| topology::file(&topology.spec()).map(Path::to_owned));
        let settings = experiment.settings();
        let fail = settings.value("fail").filter(|_| experiment.effective().iter().any(|(key, _)| key.name == "fail"));
        let fail = fail.and_then(failures::file).map(|path| settings.folder_of("fail").join(path));
        // The events of an OTF2 archive are beside its anchor file.
        let whole = |path: PathBuf| match path.parent() {
            Some(folder) if is_anchor(&path) => Path::new(".").join(folder),
            _ => path,
        };
        // Files that an index names are part of the trace.
        let files = workload.files();
        let companions: Vec<PathBuf> = files.iter().flat_map(|path| formats::companions(path)).collect();
        let named = files.into_iter().map(whole).chain(companions);
        let routes = experiment.effective().into_iter().find(|(key, _)| key.name == "routes");
        let energy =
            settings.value("energy").and_then(energy::file_of).map(|path| settings.folder_of("energy").join(path));
        let graph = graph.into_iter().chain(routes.map(|(_, path)| PathBuf::from(path))).chain(energy);
        let paths: Vec<PathBuf> = named.chain(graph).chain(fail).chain(placement).chain(patterns).collect();
        paths.iter().flat_map(|path| self.below(path)).collect()
    }

    /// The identity of the experiment, as 64 hexadecimal digits. It depends on the settings and the contents of files,
    /// and not on the location of those files or on the number of threads.
    pub fn identity(&mut self, experiment: &Experiment) -> String {
        let mut hasher = Sha256::new();
        for (key, value) in experiment.effective() {
            if key.kind != Kind::Path && key.name != "threads" {
                hasher.update(format!("{} = {:?}\n", key.name, without_folders(key.name, value)));
            }
        }
        for Input { name, bytes, sha256, .. } in self.of(experiment) {
            hasher.update(format!("{:?} {bytes} {sha256}\n", name.display().to_string()));
        }
        hex(&hasher.finalize())
    }

    /// The file of this path; for a folder, every file in it and in its subfolders, in the order of names.
    pub fn below(&mut self, path: &Path) -> Vec<Input> {
        if let Some(inputs) = self.known.get(path) {
            return inputs.clone();
        }
        // `archive#member` names a trace within an archive.
        let text = path.to_string_lossy();
        let (file, member) = match text.rsplit_once('#') {
            Some((file, member)) if !path.exists() => (Path::new(file), Some(member)),
            _ => (path, None),
        };
        let mut files = Vec::new();
        gather(file, &mut files);
        files.sort();
        let inputs: Vec<Input> = files
            .into_iter()
            .filter_map(|path| {
                let name = path.strip_prefix(file).ok().filter(|name| !name.as_os_str().is_empty());
                let mut name = name.map_or_else(|| PathBuf::from(file.file_name().unwrap_or_default()), Into::into);
                if let Some(member) = member {
                    name.push(member);
                }
                let mut hasher = Sha256::new();
                let bytes = io::copy(&mut fs::File::open(&path).ok()?, &mut hasher).ok()?;
                Some(Input { path, name, bytes, sha256: hex(&hasher.finalize()) })
            })
            .collect();
        self.known.insert(path.to_owned(), inputs.clone());
        inputs
    }
}

/// The value of a setting with bare file names, so that it does not depend on their location.
#[must_use]
pub fn without_folders(key: &str, value: String) -> String {
    match crate::keys::key(key).map(|key| key.kind) {
        // Identities and comparisons leave whole paths out.
        Some(Kind::Path) => value,
        _ => with_paths(key, value, &mut |path| PathBuf::from(path.file_name().unwrap_or_default())),
    }
}

/// The value of a setting with other paths in it.
pub(crate) fn with_paths(key: &str, value: String, path: &mut dyn FnMut(&Path) -> PathBuf) -> String {
    let path = RefCell::new(path);
    let named = |found: &Path| (*path.borrow_mut())(found);
    match key {
        "topology" => topology::file(&value).map(named).map(|name| topology::with_file(&value, &name)),
        "placement" => reworded(&value, |placement: &mut Placement| placement.replace_file(named)),
        "fail" => failures::file(&value).map(|path| named(path).display().to_string()),
        "traffic" => value.parse().ok().map(|sources: Sources| sources.with_files(named)),
        "energy" => energy::file_of(&value).map(|path| energy::with_file(&value, &named(path))),
        "size" => reworded(&value, |law: &mut Spec| law.replace_files(named)),
        "kernel" => reworded(&value, |kernel: &mut KernelSpec| kernel.replace_files(named)),
        name if crate::keys::key(name).is_some_and(|key| key.kind == Kind::Path) => {
            Some(named(Path::new(&value)).display().to_string())
        }
        _ => None,
    }
    .unwrap_or(value)
}

/// A word after a change of its value; `None` if it has none.
fn reworded<T: FromStr + Display>(word: &str, change: impl FnOnce(&mut T)) -> Option<String> {
    let mut value: T = word.parse().ok()?;
    change(&mut value);
    Some(value.to_string())
}

/// Adds every file at or below a path to `files`. Links to folders are not followed, as they may be cyclic.
fn gather(path: &Path, files: &mut Vec<PathBuf>) {
    // Reading a pipe would leave nothing for the reader of the trace, and a device may have no end.
    match path.metadata() {
        Ok(about) if about.is_file() => files.push(path.to_owned()),
        Ok(about) if about.is_dir() => {
            for entry in fs::read_dir(path).into_iter().flatten().flatten() {
                let linked = entry.file_type().is_ok_and(|kind| kind.is_symlink());
                if !(linked && entry.path().is_dir()) {
                    gather(&entry.path(), files);
                }
            }
        }
        _ => {}
    }
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

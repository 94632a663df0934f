//! The input files of results, which are kept with them: `inputs/HASH/NAME` in the folder of the results, named in its
//! experiments relative to it. Such a folder can be moved, or sent to another person, and run again there.
//!
//! HASH is the beginning of the SHA-256 of the file, or, of files that belong together, of the list of their names and
//! hashes. Files that name others (an index of a trace, a file of jobs) are kept with those, in the same places
//! relative to
//! each other.
//!
//! Decision: docs/decisions/0370-folders-to-send.md.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};
use trgen::trace::formats;
use trgen::trace::formats::is_anchor;
use trgen::trace::kernels::KernelSpec;

use super::inputs::{Input, Inputs, hex, with_paths};
use super::keys::key;
use super::resolve::Experiment;
use super::result::{Manifest, RunResult};
use super::settings::toml_value;

/// The folder of inputs in a folder of results.
const FOLDER: &str = "inputs";

/// \[hexadecimal digits\] Number of digits of a hash that name a folder.
const DIGITS: usize = 16;

/// \[bytes\] Most that is kept of one setting. Larger inputs stay where they are.
const MOST: u64 = 1 << 30;

/// A file to be copied.
#[derive(Clone, Debug)]
struct Copied {
    from: PathBuf,
    /// SHA-256 of its content when it was read.
    sha256: String,
}

/// The input files of experiments, by the names that they have with the results.
#[derive(Clone, Default, Debug)]
pub struct Carried {
    /// By absolute path as set in an experiment: the name relative to the folder of results.
    names: HashMap<PathBuf, PathBuf>,
    /// By name: the file. Several settings may name the same one.
    files: HashMap<PathBuf, Copied>,
    /// Inputs that stay where they are, each with the reason.
    left: Vec<String>,
}

impl Carried {
    /// The text of an experiment, as [`Experiment::to_toml`] writes it, with the names that its
    /// inputs have in the folder of results.
    pub fn text(&mut self, inputs: &mut Inputs, text: &str) -> String {
        reworded(text, |key, path| self.name(inputs, key, path))
    }

    /// SHA-256 of an experiment as it is kept with results, as hexadecimal digits: wherever its inputs are.
    #[must_use]
    pub fn sha256(inputs: &mut Inputs, experiment: &Experiment) -> String {
        hex(&Sha256::digest(Self::default().text(inputs, &experiment.to_toml()).as_bytes()))
    }

    /// The value of a setting with these names. Relative paths, which name no folder of a person, stay as they are.
    #[must_use]
    pub fn value(&self, key: &str, value: &str) -> String {
        with_paths(key, value.to_owned(), &mut |path| match path.is_absolute() {
            true => self.known(path).unwrap_or_else(|| path.file_name().unwrap_or_default().into()),
            false => path.to_owned(),
        })
    }

    /// What stays where it is, so that the folder can be run again only there: a line each.
    #[must_use]
    pub fn left(&self) -> &[String] {
        &self.left
    }

    /// Copies the files into a folder of results. Those that are there already stay.
    ///
    /// # Errors
    /// A file that cannot be read or written, or that has changed since its experiment was set up.
    pub fn copy(&self, root: &Path) -> io::Result<()> {
        for (name, Copied { from, sha256 }) in &self.files {
            let to = root.join(name);
            if to.exists() {
                continue;
            }
            let folder = to.parent().unwrap_or(root);
            fs::create_dir_all(folder)?;
            let partial = folder.join(format!(".{}.partial", std::process::id()));
            let copied = copy(from, &partial).and_then(|found| match found == *sha256 {
                true => fs::rename(&partial, &to),
                false => Err(io::Error::other("it has changed since it was read")),
            });
            if let Err(error) = copied {
                let _ = fs::remove_file(&partial);
                return Err(io::Error::new(error.kind(), format!("{}: {error}", from.display())));
            }
        }
        Ok(())
    }

    /// A result without the name and the folders of the machine that made it: inputs by the names that they have
    /// with the
    /// results, other files by their last component.
    pub fn rename(&self, result: &mut RunResult) {
        rename(result, |path| self.known(path));
    }

    /// The name of a path, if it is that of an input.
    fn known(&self, path: &Path) -> Option<PathBuf> {
        let path = std::path::absolute(path).ok()?;
        let of_file = || {
            let physical = physical(&path);
            let same = |copied: &Copied| copied.from == path || physical.as_ref() == Some(&copied.from);
            self.files.iter().find(|(_, copied)| same(copied)).map(|(name, _)| name.clone())
        };
        self.names.get(&path).cloned().or_else(of_file)
    }

    /// The name of the input at an absolute path; the path itself, if it stays where it is.
    fn name(&mut self, inputs: &mut Inputs, key: &str, path: &Path) -> PathBuf {
        if let Some(name) = self.names.get(path) {
            return name.clone();
        }
        let files = read_for(inputs, key, path);
        let name = match bundle(path, &files) {
            Ok((name, files)) => {
                self.files.extend(files);
                name
            }
            Err(why) => {
                self.left.extend(why.map(|why| format!("{}: {why}", path.display())));
                path.to_owned()
            }
        };
        self.names.insert(path.to_owned(), name.clone());
        name
    }
}

/// A result without the name and the folders of the machine that made it, as [`Carried::rename`]: `known` tells the
/// names of
/// inputs.
pub(crate) fn rename(result: &mut RunResult, known: impl Fn(&Path) -> Option<PathBuf>) {
    bare_texts(result);
    let named = |path: &Path| bare(path, &known);
    for (name, value) in &mut result.experiment {
        if let Value::String(word) = value {
            *word = with_paths(name, std::mem::take(word), &mut |path| named(path));
        }
    }
    rename_manifest(&mut result.manifest, &known);
}

/// Names input files by their last components in warnings, notes and failures, so that these do not depend on where
/// the files
/// are.
pub fn bare_texts(result: &mut RunResult) {
    let mut paths: Vec<(String, String)> = Vec::new();
    for input in &result.manifest.inputs {
        let path = Path::new(&input.path);
        let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else { continue };
        if name != input.path {
            paths.push((input.path.clone(), name));
        }
        if let Ok(absolute) = std::path::absolute(path) {
            paths.push((
                absolute.display().to_string(),
                path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            ));
        }
    }
    // A path may be the end of another one.
    paths.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    paths.dedup();
    let texts = result.warnings.iter_mut().chain(&mut result.notes);
    let texts = texts.chain(result.failure.as_mut().map(|failure| &mut failure.what));
    for text in texts {
        for (path, name) in paths.iter().filter(|(path, _)| path.contains('/')) {
            if text.contains(path.as_str()) {
                *text = text.replace(path.as_str(), name);
            }
        }
    }
}

/// A manifest without the folders of the machine that made it: `known` tells the names of inputs.
pub fn rename_manifest(manifest: &mut Manifest, known: impl Fn(&Path) -> Option<PathBuf>) {
    let named = |path: &Path| bare(path, &known);
    for input in &mut manifest.inputs {
        input.path = named(Path::new(&input.path)).to_string_lossy().into_owned();
    }
    for word in &mut manifest.command {
        *word = without_absolute(word, &named);
    }
}

/// The name of an input; of other files, an absolute path is cut to its last component.
fn bare(path: &Path, known: &dyn Fn(&Path) -> Option<PathBuf>) -> PathBuf {
    match known(path) {
        Some(name) => name,
        None if path.is_absolute() => path.file_name().unwrap_or_default().into(),
        None => path.to_owned(),
    }
}

/// The text of an experiment with other paths in it: `path` is called with the name of each key and the path.
pub(crate) fn reworded(text: &str, mut path: impl FnMut(&str, &Path) -> PathBuf) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        // `to_toml` writes a key and its value on each line.
        let value = || toml::from_str::<toml::Table>(line).ok()?.into_iter().next();
        match line.split_once(" = ").and_then(|(name, _)| key(name)).zip(value()) {
            Some((key, (_, toml::Value::String(value)))) => {
                let other = with_paths(key.name, value.clone(), &mut |found| path(key.name, found));
                match other == value {
                    true => out.push_str(line),
                    false => out.push_str(&format!("{} = {}", key.name, toml_value(key, &other))),
                }
            }
            _ => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

/// Every file that is read for a path of a setting.
fn read_for(inputs: &mut Inputs, setting: &str, path: &Path) -> Vec<Input> {
    match setting {
        "trace" => of_trace(inputs, path),
        "job-mix" => {
            let mut files = inputs.below(path);
            let folder = path.parent().unwrap_or(Path::new(""));
            let table = fs::read_to_string(path).ok().and_then(|text| toml::from_str::<toml::Table>(&text).ok());
            let jobs = table.as_ref().and_then(|table| table.get("job")?.as_array());
            for job in jobs.into_iter().flatten() {
                if let Some(trace) = job.get("trace").and_then(toml::Value::as_str) {
                    files.extend(of_trace(inputs, &folder.join(trace)));
                }
                let kernel = job.get("kernel").and_then(toml::Value::as_str).and_then(|text| text.parse().ok());
                let named = kernel.as_ref().map(KernelSpec::files).unwrap_or_default();
                files.extend(named.iter().flat_map(|file| inputs.below(&folder.join(file))));
            }
            files
        }
        _ => inputs.below(path),
    }
}

/// Every file that is read of a trace.
fn of_trace(inputs: &mut Inputs, path: &Path) -> Vec<Input> {
    match path.parent() {
        // The events of an OTF2 archive are beside its anchor file.
        Some(folder) if is_anchor(path) => inputs.below(folder),
        _ => {
            let mut files = inputs.below(path);
            files.extend(formats::companions(path).iter().flat_map(|file| inputs.below(file)));
            files
        }
    }
}

/// The name of a path whose files are these, and the files by their names. An error if it cannot be kept, with the
/// reason if
/// that is to be told.
fn bundle(path: &Path, files: &[Input]) -> Result<(PathBuf, HashMap<PathBuf, Copied>), Option<String>> {
    if files.is_empty() {
        // A pipe, or a file whose absence its reader reports.
        return Err(None);
    }
    let bytes: u64 = files.iter().map(|file| file.bytes).sum();
    if bytes > MOST {
        return Err(Some(format!("{bytes} bytes are more than is kept with results, {MOST}")));
    }
    let cannot = || Some("its path cannot be followed".to_owned());
    // `archive#member` names a trace within an archive.
    let text = path.to_string_lossy();
    let (file, member) = match text.rsplit_once('#') {
        Some((file, member)) if !path.exists() => (PathBuf::from(file), format!("#{member}")),
        _ => (path.to_owned(), String::new()),
    };
    let own = physical(&file).ok_or_else(cannot)?;
    let files: Vec<(PathBuf, &Input)> =
        files.iter().map(|input| Some((physical(&input.path)?, input))).collect::<Option<_>>().ok_or_else(cannot)?;
    let folder = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
    let above = files.iter().fold(folder(&own), |above, (path, _)| common(&above, &folder(path)));
    let relative = |path: &Path| path.strip_prefix(&above).unwrap_or(path).to_owned();
    let hash = match &files[..] {
        [(_, one)] => one.sha256.clone(),
        several => {
            let mut hasher = Sha256::new();
            for (path, input) in several {
                hasher.update(format!("{:?} {}\n", relative(path).display().to_string(), input.sha256));
            }
            hex(&hasher.finalize())
        }
    };
    let place = Path::new(FOLDER).join(&hash[..DIGITS]);
    let copied = |(path, input): &(PathBuf, &Input)| {
        (place.join(relative(path)), Copied { from: path.clone(), sha256: input.sha256.clone() })
    };
    let mut name = place.join(relative(&own)).into_os_string();
    name.push(member);
    Ok((name.into(), files.iter().map(copied).collect()))
}

/// The path without symbolic links in its folders; the last component keeps its name.
fn physical(path: &Path) -> Option<PathBuf> {
    match path.components().next_back() {
        Some(Component::Normal(name)) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(fs::canonicalize(folder).ok()?.join(name))
        }
        _ => fs::canonicalize(path).ok(),
    }
}

/// The deepest folder that two folders are in.
fn common(a: &Path, b: &Path) -> PathBuf {
    a.components().zip(b.components()).take_while(|(a, b)| a == b).map(|(component, _)| component).collect()
}

/// Copies a file, and returns the SHA-256 of what was copied.
fn copy(from: &Path, to: &Path) -> io::Result<String> {
    let (mut from, mut to, mut hasher) = (File::open(from)?, File::create(to)?, Sha256::new());
    let mut part = vec![0; 1 << 16];
    loop {
        match from.read(&mut part)? {
            0 => return Ok(hex(&hasher.finalize())),
            count => {
                hasher.update(&part[..count]);
                to.write_all(&part[..count])?;
            }
        }
    }
}

/// A word of a command line with other names for absolute paths, at its beginning or after one of `=:(,'"`.
fn without_absolute(word: &str, named: &dyn Fn(&Path) -> PathBuf) -> String {
    const BEFORE: &[char] = &['=', ':', '(', ',', '\'', '"'];
    const AFTER: &[char] = &[')', ',', '\'', '"'];
    // A path may contain what ends one in a specification; an input is known by its whole path.
    if word.starts_with('/') {
        return named(Path::new(word)).to_string_lossy().into_owned();
    }
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(at) = rest.find('/') {
        let (before, path) = rest.split_at(at);
        out.push_str(before);
        let end = path.find(AFTER).unwrap_or(path.len());
        match before.ends_with(BEFORE) && !path.starts_with("//") {
            true => out.push_str(&named(Path::new(&path[..end])).to_string_lossy()),
            false => out.push_str(&path[..end]),
        }
        rest = &path[end..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_no_folder_of_their_author() {
        let named = |path: &Path| match path.to_str() {
            Some("/home/me/net.txt") => PathBuf::from("inputs/0/net.txt"),
            _ => path.file_name().unwrap().into(),
        };
        for (word, expected) in [
            ("/usr/bin/fsin", "fsin"),
            ("graph:/home/me/net.txt,endpoints=2", "graph:inputs/0/net.txt,endpoints=2"),
            ("--topology=graph:/home/me/net.txt", "--topology=graph:inputs/0/net.txt"),
            ("rates('/home/me/r.csv')", "rates('r.csv')"),
            ("a/b.txt", "a/b.txt"),
            ("10Gb/s", "10Gb/s"),
            ("load=0.1..0.3/5", "load=0.1..0.3/5"),
            ("file:/x/y,z", "file:y,z"),
        ] {
            assert_eq!(without_absolute(word, &named), expected);
        }
    }
}

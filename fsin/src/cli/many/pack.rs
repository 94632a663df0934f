//! `fsin pack`: packs a folder of results into one file, a parcel, with which others can repeat the runs; and
//! unpacking.
//!
//! A parcel is a tar archive of one folder, compressed by xz: the results with their inputs, and a CITATION.cff of the
//! run. The same results give the same bytes. A parcel does not contain names of the machine or its folders.
//!
//! Decision: docs/decisions/0501-parcels.md.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use clap::ArgMatches;
use fsin::sweep::{Collected, Plan, open_unchecked};
use fsin_archives::scratch::Scratch;
use liblzma::read::XzDecoder;
use liblzma::write::XzEncoder;
use tar::{Archive, Builder, EntryType, Header};

use crate::cli::{Complaint, Exit, output};

/// \[bytes\] Maximum size of the content of a parcel.
const MOST: u64 = 1 << 36;
/// \[entries\] Maximum number in a parcel.
const MOST_ENTRIES: usize = 1 << 22;
/// Files of a folder that are about the process that wrote it.
const OF_PROCESS: &[&str] = &["journal.jsonl"];
/// Suffixes of the files of results, which are text.
const TEXTS: &[&str] = &["csv", "html", "json", "jsonl", "md", "svg", "toml", "txt"];
/// Compression level of xz.
const PRESET: u32 = 6;

/// Writes a parcel.
pub(crate) fn pack(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let folder = matches.get_one::<PathBuf>("folder").cloned().unwrap_or_default();
    let (plan, collected) = open_unchecked(&folder)?;
    let failed = |error: io::Error| {
        let what = format!("{}: cannot be packed: {error}", folder.display());
        Complaint::new(Exit::Failed, what, "name a folder that may be read, and a file in one where you may write")
    };
    let whole = folder.canonicalize().map_err(failed)?;
    let name = whole.file_name().map_or_else(|| "results".to_owned(), |name| name.to_string_lossy().into_owned());
    let parcel = matches.get_one::<PathBuf>("output").cloned().unwrap_or_else(|| format!("{name}.tar.xz").into());
    if parcel.exists() {
        let what = format!("{}: the file exists", parcel.display());
        return Err(Complaint::new(Exit::Usage, what, "remove it, or name another: -o FILE"));
    }
    complete(&folder, &collected)?;
    let mut files = Vec::new();
    below(&whole, Path::new(""), &mut files).map_err(failed)?;
    files.sort();
    for file in &files {
        anonymous(&whole, file).map_err(failed)?.map_or(Ok(()), |found| {
            let what = format!("{}: names a folder of this machine: {found}", folder.join(file).display());
            Err(Complaint::new(
                Exit::Usage,
                what,
                "remove that file, or run the experiment again with paths relative to a folder",
            ))
        })?;
    }
    let partial = PathBuf::from(format!("{}.partial", parcel.display()));
    let written = write(&partial, &whole, &name, &files, &citation(&name, &plan, &collected))
        .and_then(|()| fs::rename(&partial, &parcel));
    if let Err(error) = written {
        let _ = fs::remove_file(&partial);
        return Err(failed(error));
    }
    if !matches.get_flag("quiet") {
        let bytes = fs::metadata(&parcel).map_or(0, |about| about.len());
        output::tell(&format!(
            "{}: {} files, {bytes} bytes; fsin rerun {0} runs it again",
            parcel.display(),
            files.len()
        ));
    }
    Ok(Exit::Done)
}

/// Refuses results with inputs outside the folder.
fn complete(folder: &Path, collected: &Collected) -> Result<(), Complaint> {
    let inputs = collected.rows.iter().flat_map(|row| &row.result.manifest.inputs);
    match inputs.map(|input| Path::new(&input.path)).find(|path| path.is_absolute()) {
        None => Ok(()),
        Some(path) => {
            let what = format!("{}: the input {} is not in the folder", folder.display(), path.display());
            Err(Complaint::new(
                Exit::Usage,
                what,
                "inputs of more than 1 GiB stay where they are: cut it, or send it beside the parcel",
            ))
        }
    }
}

/// The files below a folder, relative to `root`. Hidden ones, and those of the process, are left out.
fn below(root: &Path, part: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(part))? {
        let entry = entry?;
        let name = entry.file_name();
        let shown = name.to_string_lossy();
        if shown.starts_with('.') || (part.as_os_str().is_empty() && OF_PROCESS.contains(&&*shown)) {
            continue;
        }
        let path = part.join(&name);
        let kind = entry.file_type()?;
        if kind.is_dir() {
            below(root, &path, files)?;
        } else if kind.is_file() {
            files.push(path);
        } else {
            return Err(io::Error::other(format!("{} is neither a file nor a folder", path.display())));
        }
    }
    Ok(())
}

/// The name of a folder of this machine in a file of the results: the folder around the results, or the user's home.
/// Inputs are not searched.
fn anonymous(root: &Path, file: &Path) -> io::Result<Option<String>> {
    let is_text = file.extension().is_some_and(|suffix| TEXTS.contains(&&*suffix.to_string_lossy()));
    if !is_text || file.starts_with("inputs") {
        return Ok(None);
    }
    let bytes = fs::read(root.join(file))?;
    let text = String::from_utf8_lossy(&bytes);
    let parent = root.parent().map(Path::to_path_buf);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let folders =
        [parent, home].into_iter().flatten().filter(|folder| folder.is_absolute() && folder.parent().is_some());
    let mut names = folders.map(|folder| format!("{}/", folder.display().to_string().trim_end_matches('/')));
    Ok(names.find(|name| text.contains(name)))
}

/// Writes the archive.
fn write(to: &Path, root: &Path, name: &str, files: &[PathBuf], citation: &str) -> io::Result<()> {
    let mut archive = Builder::new(XzEncoder::new(File::create(to)?, PRESET));
    let mut add = |path: &Path, size: u64, content: &mut dyn Read| {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(size);
        header.set_mode(0o644);
        header.set_mtime(0);
        archive.append_data(&mut header, Path::new(name).join(path), content)
    };
    if !files.iter().any(|file| file == Path::new("CITATION.cff")) {
        add(Path::new("CITATION.cff"), citation.len() as u64, &mut citation.as_bytes())?;
    }
    for file in files {
        let mut content = File::open(root.join(file))?;
        add(file, content.metadata()?.len(), &mut content)?;
    }
    archive.into_inner()?.finish()?.flush()
}

/// A citation of the results: the version that made them, and their digests.
fn citation(name: &str, plan: &Plan, collected: &Collected) -> String {
    let manifest = collected.rows.first().map(|row| row.result.manifest.clone()).unwrap_or_default();
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let version = manifest.version.unwrap_or_default();
    let date = manifest.start.as_deref().and_then(|start| start.split('T').next()).unwrap_or_default().to_owned();
    let identity = match (&manifest.experiment_sha256, collected.rows.first().and_then(|row| row.result.digest.clone()))
    {
        (Some(sha256), Some(digest)) if plan.points.len() == 1 => format!(" Experiment {sha256}, digest {digest}."),
        _ => format!(" {} results.", collected.rows.len()),
    };
    let about = format!(
        "Made by fsin {version}, commit {}.{identity} Run again by: fsin rerun PARCEL",
        manifest.commit.unwrap_or_default()
    );
    format!(
        "cff-version: 1.2.0\nmessage: \"Results of fsin: cite them with the version that made them.\"\ntype: dataset\ntitle: {}\nversion: \
         {}\ndate-released: {}\nabstract: {}\nauthors:\n  - name: \"The authors of these results\"\nreferences:\n  - type: software\n    \
         title: \"fsin: an environment for evaluating interconnection networks\"\n    version: {1}\n    authors:\n      - name: \"The fsin \
         authors\"\n",
        quoted(&format!("Results of fsin: {name}")),
        quoted(&version),
        quoted(&date),
        quoted(&about)
    )
}

/// A parcel that is unpacked into a folder of its own, which is removed when this is dropped.
pub(crate) struct Unpacked {
    root: Scratch,
    /// The folder of the results.
    pub(crate) folder: PathBuf,
}

impl Unpacked {
    /// Unpacks a parcel below the folder for temporary files.
    ///
    /// # Errors
    /// A file that is no parcel, or that cannot be unpacked.
    pub(crate) fn open(parcel: &Path) -> Result<Self, Complaint> {
        let refused = |error: io::Error| {
            let what = format!("{}: is no parcel of results: {error}", parcel.display());
            Complaint::new(Exit::Usage, what, "name a folder of results, or a file that `fsin pack` has written")
        };
        let root = std::env::temp_dir().join(format!("fsin-parcel-{}", std::process::id()));
        let root = Scratch::create(root.clone()).map_err(|error| {
            let what = format!("{}: cannot be made: {error}", root.display());
            Complaint::new(Exit::Failed, what, "set TMPDIR to a folder where you may write")
        })?;
        let mut unpacked = Self { folder: root.path().to_owned(), root };
        unpacked.folder = unpacked.fill(parcel).map_err(refused)?;
        Ok(unpacked)
    }

    /// Unpacks, and returns the folder of the results.
    fn fill(&self, parcel: &Path) -> io::Result<PathBuf> {
        let mut archive = Archive::new(XzDecoder::new(File::open(parcel)?));
        archive.set_preserve_permissions(false);
        let mut bytes = 0u64;
        let mut top: Option<PathBuf> = None;
        for (count, entry) in archive.entries()?.enumerate() {
            let mut entry = entry?;
            let path = entry.path()?.into_owned();
            let is_plain = matches!(entry.header().entry_type(), EntryType::Regular | EntryType::Directory);
            let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
            if !is_plain || !is_below {
                return Err(io::Error::other(format!("{} in it is no file below it", path.display())));
            }
            bytes = bytes.saturating_add(entry.header().size()?);
            if bytes > MOST || count >= MOST_ENTRIES {
                return Err(io::Error::other("it holds more than results can be"));
            }
            let first: PathBuf = path.components().take(1).collect();
            if top.get_or_insert_with(|| first.clone()) != &first {
                return Err(io::Error::other("it holds more than one folder"));
            }
            entry.unpack_in(self.root.path())?;
        }
        top.map(|top| self.root.path().join(top))
            .filter(|folder| folder.is_dir())
            .ok_or_else(|| io::Error::other("it is empty"))
    }
}

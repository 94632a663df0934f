//! DUMPI traces in binary form: finds the files of the ranks of one trace. Only the tool `dumpi2ascii` reads the
//! contents.

use std::fs::File;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use crate::trace::formats::error::{Fault, Place, ReadError};
use crate::trace::formats::input::{Entry, Source, folder_of};
use crate::trace::formats::{Candidate, Layout, mpi};

/// First bytes of a rank's file.
const MAGIC: &[u8] = b"\xFF\xAA\xDDDUMPI";

/// True for the file of a rank.
fn is_binary(entry: &Entry) -> bool {
    entry.magic.starts_with(MAGIC)
}

/// The number of ranks stated in a `.meta` file.
fn stated_ranks(entry: &Entry) -> Option<usize> {
    if !entry.name.ends_with(".meta") {
        return None;
    }
    entry.head.iter().find_map(|line| line.strip_prefix("numprocs=")?.trim().parse().ok())
}

/// True if the source holds a trace in binary form, or the file that names one.
pub(in crate::trace::formats) fn holds_binaries(source: &Source<'_>) -> bool {
    let meta = source.only_entry().is_some_and(|entry| stated_ranks(entry).is_some());
    meta || source.entries().iter().any(is_binary)
}

/// The error for a trace in binary form, which is not read directly.
pub(in crate::trace::formats) const fn unprinted() -> Fault {
    Fault::Unprinted { format: "DUMPI", tool: "dumpi2ascii" }
}

/// Number of rank files in binary form in the folder of a file.
pub(super) fn ranks_beside(source: &Source<'_>, file: &str) -> usize {
    let beside = |entry: &&Entry| is_binary(entry) && folder_of(&entry.name) == folder_of(file);
    source.entries().iter().filter(beside).count()
}

/// The files of the ranks of one trace in binary form.
pub struct DumpiBinaries {
    source: Source<'static>,
    /// Names of the files, by rank.
    files: Vec<String>,
}

/// Finds the trace to which `path` refers: a `.meta` file, the file of a rank, a folder or an archive that holds one
/// trace, or one of several, chosen as `archive.tar.xz#NAME.meta`. `None` if there is no trace in binary form.
///
/// # Errors
/// When the input cannot be read, holds several traces, or files of ranks are missing.
pub fn dumpi_binaries(path: &Path) -> Result<Option<DumpiBinaries>, ReadError> {
    let source = Source::open(path)?;
    // If `path` is a file, the files beside it belong to the trace. If it is a folder with a single file, they do not.
    let file = source.only_entry().filter(|_| !source.is_archive() && source.place().path.is_file());
    let (source, wanted) = match file {
        Some(entry) if is_binary(entry) || stated_ranks(entry).is_some() => {
            let stem = stem(&entry.name);
            // The name of a rank's file ends with its number.
            let stem = if is_binary(entry) { stem.rsplit_once('-').map_or(stem, |(stem, _)| stem) } else { stem };
            let stem = stem.to_owned();
            (Source::beside(path, &|name| name.starts_with(&stem))?, Some(stem))
        }
        _ => {
            let wanted = source.selection().map(str::to_owned);
            (source, wanted)
        }
    };
    let mut found = mpi::families(&source, is_binary);
    if let Some(wanted) = &wanted {
        found.retain(|candidate| has_stem(candidate, stem(wanted)) || candidate.is_selected_by(wanted));
    }
    let candidate = match &found[..] {
        [] => {
            let meta = || source.entries().iter().find(|entry| stated_ranks(entry).is_some()).map(|meta| &meta.name);
            let Some(name) = wanted.as_ref().or_else(meta) else { return Ok(None) };
            return Err(source.place().error(Fault::Structure {
                what: format!("there are no files {}-0000.bin and so on", stem(name)),
                remedy: "the files of the ranks stand beside the .meta file, and begin with its name",
            }));
        }
        [one] => one,
        several => {
            let name =
                |candidate: &Candidate| meta_of(&source, candidate).map_or(&candidate.label, |meta| &meta.name).clone();
            let choices = several.iter().map(name).collect();
            return Err(source.place().error(Fault::SeveralTraces { choices, archive: source.is_archive() }));
        }
    };
    let files = mpi::files_of(&source, candidate)?;
    if let Some(ranks) = meta_of(&source, candidate).and_then(stated_ranks)
        && ranks != files.len()
    {
        return Err(source.place_of(&files[0]).error(Fault::Structure {
            what: format!(
                "the trace has {ranks} ranks, as its .meta file says, and there are files of {}",
                files.len()
            ),
            remedy: "put the files of all ranks beside each other, NAME-0000.bin and so on",
        }));
    }
    Ok(Some(DumpiBinaries { source, files }))
}

/// A name without its extension.
fn stem(name: &str) -> &str {
    name.strip_suffix(".meta").or_else(|| name.strip_suffix(".bin")).unwrap_or(name)
}

/// True if the files of the candidate are `STEM-NUMBER.bin`.
fn has_stem(candidate: &Candidate, stem: &str) -> bool {
    let Layout::PerRank(files) = &candidate.layout else { return false };
    let number = files.first().and_then(|file| self::stem(file).strip_prefix(stem)?.strip_prefix('-'));
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The `.meta` file of a candidate.
fn meta_of<'s>(source: &'s Source<'_>, candidate: &Candidate) -> Option<&'s Entry> {
    source.entries().iter().find(|entry| stated_ranks(entry).is_some() && has_stem(candidate, stem(&entry.name)))
}

impl DumpiBinaries {
    /// Number of ranks.
    #[must_use]
    pub const fn ranks(&self) -> usize {
        self.files.len()
    }

    /// Name of the trace, without folders and ranks.
    #[must_use]
    pub fn name(&self) -> &str {
        let file = self.files[0].rsplit('/').next().unwrap_or_default();
        stem(file).rsplit_once('-').map_or(file, |(name, _)| name)
    }

    /// The path of a rank's file on disk; `None` if it is in an archive, or compressed.
    #[must_use]
    pub fn on_disk(&self, rank: usize) -> Option<PathBuf> {
        let path = self.files.get(rank).and_then(|name| self.source.plain_file(name))?;
        let mut beginning = Vec::new();
        File::open(&path).ok()?.take(MAGIC.len() as u64).read_to_end(&mut beginning).ok()?;
        (beginning == MAGIC).then_some(path)
    }

    /// Passes each rank's place and bytes to `each`, in any order.
    ///
    /// # Errors
    /// When a file cannot be read, or the error of `each`.
    pub fn visit<E: From<ReadError>>(
        &self,
        mut each: impl FnMut(usize, &Place, &mut dyn BufRead) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut stopped = None;
        let visited = self.source.visit(&self.files, &mut |rank, place, reader| {
            each(rank, place, reader).map_err(|error| {
                stopped = Some(error);
                place.error(Fault::Empty)
            })
        });
        match stopped {
            Some(error) => Err(error),
            None => visited.map_err(E::from),
        }
    }
}

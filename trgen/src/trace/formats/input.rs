//! Sources of trace text: a file, a folder, and, with the feature `compressed`, a tar archive, each compressed with xz or
//! gzip or not.
//!
//! An archive is read as a stream, once to list its members and once more for the selected files, so that its size does
//! not matter. Nothing is ever unpacked to disk.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

#[cfg_attr(not(feature = "compressed"), path = "input/unpacked.rs")]
mod packed;

use super::error::{Fault, Place, ReadError};
use super::text;
use crate::catalog;

/// \[bytes\] Largest text of one trace after decompression.
const MAX_TEXT: u64 = 64 << 30;
/// \[bytes\] Beginning of a file that is examined to recognise its format.
const BEGINNING: u64 = 4096;
/// \[bytes\] Beginning of a file that is kept to recognise its format.
const MAGIC: usize = 32;
/// Depth of the search in folders.
const MAX_DEPTH: usize = 3;
/// \[bytes\] Size of a block in a tar archive.
const TAR_BLOCK: u64 = 512;

/// Reads one file: its index among the requested ones, its place, its text.
pub type ReadFile<'f> = dyn FnMut(usize, &Place, &mut dyn BufRead) -> Result<(), ReadError> + 'f;
/// Examines one member of an archive: its name, its place, its text. Returns whether to visit further members.
type VisitMember<'f> = dyn FnMut(&str, &Place, &mut dyn BufRead) -> Result<bool, ReadError> + 'f;
/// A stream whose beginning has been read already.
type Whole<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// An open file, folder or archive, with a list of its contents.
pub struct Source<'a> {
    /// Path as given, without the selection.
    path: PathBuf,
    /// The part after `#`.
    selection: Option<String>,
    store: Store<'a>,
    /// The files in it.
    entries: Vec<Entry>,
    /// Index in `entries`, by name.
    by_name: HashMap<String, usize>,
    /// The archives in a folder.
    archives: Vec<Archive>,
}

/// An archive or compressed file in a folder, which is not searched.
pub(super) struct Archive {
    /// Name relative to the folder.
    pub(super) name: String,
    /// Command that unpacks it, if it cannot be read directly.
    pub(super) command: Option<&'static str>,
}

/// One file of a source.
pub struct Entry {
    /// Name relative to the root of the source, with `/` between folders.
    pub name: String,
    /// Its first lines that are neither blank nor comments.
    pub head: Vec<String>,
    /// Its first bytes, up to 32.
    pub magic: Vec<u8>,
}

/// The beginning of a file.
#[derive(Default)]
struct Beginning {
    /// See [`Entry::head`].
    head: Vec<String>,
    /// See [`Entry::magic`].
    magic: Vec<u8>,
}

impl Beginning {
    fn new(bytes: &[u8]) -> Self {
        Self { head: text::head(bytes), magic: bytes.iter().copied().take(MAGIC).collect() }
    }
}

/// Where the files of a source are.
enum Store<'a> {
    /// Files below a folder; names are relative to it. A single file is listed alone, in its folder.
    Disk { root: PathBuf, single: bool },
    /// One file that is already in memory.
    Memory(&'a [u8]),
    /// The members of an archive.
    Tar(Origin<'a>),
}

/// Where a file or archive itself is.
enum Origin<'a> {
    /// On disk.
    File(PathBuf),
    /// In memory.
    Bytes(&'a [u8]),
}

impl<'a> Source<'a> {
    /// Opens a file, folder or archive. `path#name` chooses `name` inside an archive, if there is no file of that name.
    pub(super) fn open(path: &Path) -> Result<Self, ReadError> {
        let (path, selection) = split_selection(path);
        let place = Place::of(&path);
        let metadata = std::fs::metadata(&path).map_err(|error| failed(&place, error))?;
        if !metadata.is_dir() && !metadata.is_file() {
            return Err(place.error(Fault::NotAFile));
        }
        if metadata.is_dir() {
            let mut source = Self::new(&path, selection, Store::Disk { root: path.clone(), single: false });
            let mut names = Vec::new();
            list_folder(&path, "", 1, &mut names)?;
            for name in names {
                // An unreadable file is assumed not to belong to the trace; if an index names it, the error is reported
                // then.
                let opened = open_text(&Origin::File(path.join(&name)), &place);
                if let Some(command) = unpacked_by(&opened) {
                    source.archives.push(Archive { name: name.clone(), command });
                }
                let head =
                    opened.and_then(|opened| if opened.tar { Ok(Default::default()) } else { opened.head(&place) });
                source.add(name, head.map(|(head, _)| head).unwrap_or_default())?;
            }
            return Ok(source);
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let disk = Store::Disk { root: folder.to_owned(), single: true };
        Self::of_file(&path, selection, &name, Origin::File(path.clone()), disk)
    }

    /// True for one plain file on disk, given as such.
    pub(super) const fn is_single_file(&self) -> bool {
        matches!(self.store, Store::Disk { single: true, .. })
    }

    /// The files in the folder of the file `path` whose names pass `keep`.
    pub(super) fn beside(path: &Path, keep: &dyn Fn(&str) -> bool) -> Result<Self, ReadError> {
        let (path, selection) = split_selection(path);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let place = Place::of(folder);
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(|error| failed(&place, error))? {
            let name = entry.map_err(|error| failed(&place, error))?.file_name();
            names.extend(name.into_string().ok().filter(|name| keep(name) && folder.join(name).is_file()));
        }
        names.sort();
        let mut source = Self::new(&path, selection, Store::Disk { root: folder.to_owned(), single: false });
        for name in names {
            let head = open_text(&Origin::File(folder.join(&name)), &place).and_then(|opened| opened.head(&place));
            source.add(name, head.map(|(head, _)| head).unwrap_or_default())?;
        }
        Ok(source)
    }

    /// A file named `name` that holds `bytes`.
    pub(super) fn memory(name: &str, bytes: &'a [u8]) -> Result<Self, ReadError> {
        Self::of_file(Path::new(name), None, name, Origin::Bytes(bytes), Store::Memory(bytes))
    }

    /// Opens the file or archive `origin`, called `name`. If it is not an archive, `plain` becomes the store.
    fn of_file(
        path: &Path,
        selection: Option<String>,
        name: &str,
        origin: Origin<'a>,
        plain: Store<'a>,
    ) -> Result<Self, ReadError> {
        let place = Place::of(path);
        let opened = open_text(&origin, &place)?;
        if !opened.tar {
            let mut source = Self::new(path, selection, plain);
            let (head, empty) = opened.head(&place)?;
            if empty {
                return Err(place.error(Fault::Empty));
            }
            source.add(name.to_owned(), head)?;
            return Ok(source);
        }
        let mut source = Self::new(path, selection, Store::Tar(origin));
        let mut found = Vec::new();
        source.visit_members(&mut |name, place, reader| {
            let mut beginning = Vec::new();
            reader.take(BEGINNING).read_to_end(&mut beginning).map_err(|error| failed(place, error))?;
            found.push((name.to_owned(), Beginning::new(&beginning)));
            Ok(true)
        })?;
        for (name, head) in found {
            source.add(name, head)?;
        }
        Ok(source)
    }

    fn new(path: &Path, selection: Option<String>, store: Store<'a>) -> Self {
        let (entries, by_name, archives) = (Vec::new(), HashMap::new(), Vec::new());
        Self { path: path.to_owned(), selection, store, entries, by_name, archives }
    }

    /// Adds a file to the list.
    fn add(&mut self, name: String, beginning: Beginning) -> Result<(), ReadError> {
        if self.by_name.insert(name.clone(), self.entries.len()).is_some() {
            let what = "two members have this name".to_owned();
            return Err(
                Place { member: Some(name), ..Place::of(&self.path) }.error(Fault::Damaged { container: "tar", what })
            );
        }
        let Beginning { head, magic } = beginning;
        self.entries.push(Entry { name, head, magic });
        Ok(())
    }

    /// The place of the whole source.
    #[must_use]
    pub fn place(&self) -> Place {
        Place::of(&self.path)
    }

    /// The place of one file.
    #[must_use]
    pub fn place_of(&self, name: &str) -> Place {
        match &self.store {
            Store::Disk { single: true, .. } if self.entries.first().is_some_and(|entry| entry.name == name) => {
                self.place()
            }
            Store::Disk { root, .. } => Place::of(&root.join(name)),
            Store::Memory(_) => self.place(),
            Store::Tar(_) => Place { member: Some(name.to_owned()), ..self.place() },
        }
    }

    /// The listed files; for a single file that file alone.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The file, if there is only one.
    pub(super) fn only_entry(&self) -> Option<&Entry> {
        self.entries.first().filter(|_| self.entries.len() == 1)
    }

    /// Archives in a folder.
    pub(super) fn archives(&self) -> &[Archive] {
        &self.archives
    }

    /// The name selected with `#`.
    pub(super) fn selection(&self) -> Option<&str> {
        self.selection.as_deref()
    }

    /// True if members are selected with `#`.
    pub(super) const fn is_archive(&self) -> bool {
        matches!(self.store, Store::Tar(_))
    }

    /// The file to which the entry `name` of an index in `folder` refers: relative to that folder, to its parent (where
    /// the recording program ran), to the root of the archive, or by its last component beside the index.
    pub(super) fn resolve(&self, folder: &str, name: &str) -> Option<String> {
        let beside = join(folder, name.rsplit('/').next().unwrap_or(name));
        match &self.store {
            Store::Disk { root, .. } => {
                let above = join(folder, &format!("../{name}"));
                [join(folder, name), above, beside].into_iter().find(|name| root.join(name).is_file())
            }
            Store::Memory(_) | Store::Tar(_) => {
                let above = join(folder, &format!("../{name}"));
                [join(folder, name), above, name.to_owned(), beside]
                    .into_iter()
                    .map(|name| normalised(&name))
                    .find(|name| self.by_name.contains_key(name))
            }
        }
    }

    /// The path of `name` on disk, if it is a plain file: formats with random access read it there.
    pub(super) fn plain_file(&self, name: &str) -> Option<PathBuf> {
        match &self.store {
            Store::Disk { root, .. } => Some(root.join(name)),
            Store::Memory(_) | Store::Tar(_) => None,
        }
    }

    /// Reads the files `names`, all different, in any order: calls `read` with the index of the name, the place of the
    /// file, and its text.
    ///
    /// # Errors
    /// A file that cannot be read; those of `read`.
    pub fn visit(&self, names: &[String], read: &mut ReadFile<'_>) -> Result<(), ReadError> {
        match &self.store {
            Store::Disk { root, .. } => {
                for (position, name) in names.iter().enumerate() {
                    let place = self.place_of(name);
                    let origin = Origin::File(root.join(name));
                    let mut opened = open_text(&origin, &place)?;
                    if opened.tar {
                        return Err(place.error(TAR));
                    }
                    read(position, &place, &mut opened.reader)?;
                }
                Ok(())
            }
            Store::Memory(bytes) => {
                let origin = Origin::Bytes(bytes);
                let mut opened = open_text(&origin, &self.place())?;
                read(0, &self.place(), &mut opened.reader)
            }
            Store::Tar(_) => {
                let mut wanted: HashMap<&str, usize> =
                    names.iter().enumerate().map(|(position, name)| (name.as_str(), position)).collect();
                self.visit_members(&mut |name, place, reader| {
                    if let Some(position) = wanted.remove(name) {
                        read(position, place, reader)?;
                    }
                    Ok(!wanted.is_empty())
                })?;
                match wanted.keys().min() {
                    Some(name) => Err(self.place_of(name).error(Fault::NotFound)),
                    None => Ok(()),
                }
            }
        }
    }

    /// Visits the files of the archive until `each` returns false.
    fn visit_members(&self, each: &mut VisitMember<'_>) -> Result<(), ReadError> {
        let Store::Tar(origin) = &self.store else { return Ok(()) };
        let whole = self.place();
        packed::members(open_text(origin, &whole)?.reader, &whole, each)
    }

    /// The error for a selection that names nothing; it lists what can be selected.
    pub(super) fn no_such_member(&self, selection: &str, labels: &[&str]) -> ReadError {
        let remedy = if self.is_archive() && !labels.is_empty() {
            catalog::suggestion(selection, labels).to_string()
        } else {
            "nothing can be chosen here: leave out `#` and what follows".to_owned()
        };
        self.place().error(Fault::NoSuchMember { selection: selection.to_owned(), remedy })
    }
}

/// The folder of a file in a source, empty for the root.
pub(super) fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A name relative to a folder of the source.
fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() || name.starts_with('/') { name.to_owned() } else { format!("{folder}/{name}") }
}

/// A name without `.`, `..`, and empty components; it cannot lead out of the root.
fn normalised(name: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Splits `path#name` into path and name, if there is no file of the whole name.
fn split_selection(path: &Path) -> (PathBuf, Option<String>) {
    let text = path.to_string_lossy();
    match text.rsplit_once('#') {
        Some((file, selection)) if !path.exists() && !file.is_empty() => {
            (PathBuf::from(file), Some(normalised(selection)))
        }
        _ => (path.to_owned(), None),
    }
}

/// Appends the names of the files in a folder and its subfolders, relative to `root`, in order.
fn list_folder(root: &Path, folder: &str, depth: usize, names: &mut Vec<String>) -> Result<(), ReadError> {
    let here = root.join(folder);
    let place = Place::of(&here);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&here).map_err(|error| failed(&place, error))? {
        let entry = entry.map_err(|error| failed(&place, error))?;
        // A name that is not UTF-8 cannot occur in an index either.
        if let Ok(name) = entry.file_name().into_string()
            && !name.starts_with('.')
        {
            found.push((join(folder, &name), entry.path().is_dir()));
        }
    }
    found.sort();
    for (name, is_folder) in found {
        if !is_folder && root.join(&name).is_file() {
            names.push(name);
        } else if is_folder && depth < MAX_DEPTH {
            list_folder(root, &name, depth + 1, names)?;
        }
    }
    Ok(())
}

/// Text after decompression, from the start.
struct Opened<'a> {
    reader: Box<dyn BufRead + 'a>,
    /// True if the text is a tar archive.
    tar: bool,
}

impl Opened<'_> {
    /// The beginning of the file, and whether the file is empty.
    fn head(self, place: &Place) -> Result<(Beginning, bool), ReadError> {
        let mut beginning = Vec::new();
        self.reader.take(BEGINNING).read_to_end(&mut beginning).map_err(|error| failed(place, error))?;
        Ok((Beginning::new(&beginning), beginning.is_empty()))
    }
}

/// Opens a file and decompresses it if it is compressed with xz or gzip.
fn open_text<'a>(origin: &Origin<'a>, place: &Place) -> Result<Opened<'a>, ReadError> {
    let io_failed = |error| failed(place, error);
    let raw: Box<dyn Read + 'a> = match origin {
        Origin::File(path) => Box::new(File::open(path).map_err(io_failed)?),
        Origin::Bytes(bytes) => Box::new(*bytes),
    };
    let (beginning, raw) = peek(raw).map_err(io_failed)?;
    for &(magic, name, command) in PACKED {
        if beginning.starts_with(magic) {
            // What is packed may be known by its name, and then unpacking it does not help.
            if let Origin::File(path) = origin
                && let Some(fault) = super::foreign::packed(&path.to_string_lossy())
            {
                return Err(place.error(fault));
            }
            return Err(place.error(Fault::Packed { name, command }));
        }
    }
    if beginning.starts_with(GZIP) || beginning.starts_with(XZ) {
        return opened(packed::decompressed(raw, beginning.starts_with(XZ), place)?).map_err(io_failed);
    }
    let reader = Guard { inner: raw, allowance: Rc::new(Cell::new(MAX_TEXT)), passed: Rc::default() };
    Ok(Opened { reader: Box::new(BufReader::new(reader)), tar: is_tar(&beginning) })
}

/// The text of a decompressor.
fn opened<'a>(decoder: impl Read + 'a) -> io::Result<Opened<'a>> {
    let (beginning, decoder) = peek(decoder)?;
    let reader = Guard { inner: decoder, allowance: Rc::new(Cell::new(MAX_TEXT)), passed: Rc::default() };
    Ok(Opened { reader: Box::new(BufReader::new(reader)), tar: is_tar(&beginning) })
}

/// The command that unpacks an archive or compressed file; `None` inside if it can be read directly.
fn unpacked_by(opened: &Result<Opened<'_>, ReadError>) -> Option<Option<&'static str>> {
    match opened {
        Ok(opened) => opened.tar.then_some(None),
        Err(error) => match *error.fault {
            // A part of an OTF2 archive, which is reported as such.
            Fault::Packed { name: "OTF2", .. } => None,
            Fault::Packed { command, .. } => Some(Some(command)),
            _ => None,
        },
    }
}

/// The first bytes of a file that gzip has compressed.
const GZIP: &[u8] = b"\x1F\x8B";
/// The first bytes of a file that xz has compressed.
const XZ: &[u8] = b"\xFD7zXZ\0";

/// Compressed files that are not read directly: magic number, name, and command that unpacks them.
const PACKED: &[(&[u8], &str, &str)] = &[
    (b"BZh", "bzip2", "bunzip2 FILE"),
    (b"\x28\xB5\x2F\xFD", "zstd", "unzstd FILE"),
    (b"PK\x03\x04", "zip", "unzip FILE"),
    (b"\x04\x22\x4D\x18", "lz4", "unlz4 FILE"),
    (b"\x5D\x00\x00", "lzma", "unlzma FILE"),
    (b"7z\xBC\xAF\x27\x1C", "7-Zip", "7z x FILE"),
    (b"\x03BOTF2", "OTF2", "otf2-print -A FILE > TRACE.txt"),
];

/// The fault of an archive where no archive can be read.
const TAR: Fault = Fault::Packed { name: "tar", command: "tar xf FILE" };

/// True if a file that begins like this is a tar archive.
fn is_tar(beginning: &[u8]) -> bool {
    beginning.get(257..262) == Some(b"ustar")
}

/// The first block of a stream, and the stream from its start.
fn peek<R: Read>(mut reader: R) -> io::Result<(Vec<u8>, Whole<R>)> {
    let mut beginning = Vec::new();
    reader.by_ref().take(TAR_BLOCK).read_to_end(&mut beginning)?;
    Ok((beginning.clone(), Cursor::new(beginning).chain(reader)))
}

/// Stops reading beyond the allowance: some kilobytes of a compressed file can expand to terabytes.
struct Guard<R> {
    inner: R,
    /// \[bytes\] Number of bytes that may still be read.
    allowance: Rc<Cell<u64>>,
    /// \[bytes\] Number of bytes read so far.
    passed: Rc<Cell<u64>>,
}

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        match self.allowance.get().checked_sub(length as u64) {
            Some(rest) => {
                self.allowance.set(rest);
                self.passed.set(self.passed.get() + length as u64);
            }
            None => return Err(io::Error::other(Stop::TooLarge)),
        }
        Ok(length)
    }
}

/// Why a decoder of this module stops.
#[cfg_attr(not(feature = "compressed"), expect(dead_code, reason = "nothing compressed is read, nothing is damaged"))]
#[derive(Debug, thiserror::Error)]
enum Stop {
    #[error("too large")]
    TooLarge,
    #[error("{what}")]
    Damaged {
        /// The kind of file.
        container: &'static str,
        /// Offset in the compressed file.
        byte: u64,
        what: String,
    },
}

/// Converts an error of reading the file at `place`.
pub(super) fn failed(place: &Place, error: io::Error) -> ReadError {
    let fault = match find_stop(&error) {
        Some(Stop::TooLarge) => Fault::TooLarge { what: "the text", limit: MAX_TEXT },
        Some(Stop::Damaged { container, byte, what }) => {
            return place.byte(*byte).error(Fault::Damaged { container, what: what.clone() });
        }
        None if error.kind() == io::ErrorKind::NotFound => Fault::NotFound,
        None => Fault::Io(error),
    };
    place.error(fault)
}

/// The cause set by this module, below the layers added by libraries.
fn find_stop(error: &io::Error) -> Option<&Stop> {
    let mut cause: &(dyn std::error::Error + 'static) = error.get_ref()?;
    loop {
        if let Some(stop) = cause.downcast_ref::<Stop>() {
            return Some(stop);
        }
        cause = match cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => inner,
            None => cause.source()?,
        };
    }
}

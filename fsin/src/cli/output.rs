//! Results, to stdout or to files.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use fsin::experiment::{Carried, bare_texts, rename_manifest};
use fsin::report::{self, Format};
use fsin::result::{RunResult, WarningKind};
use fsin::sweep::Collected;
use fsin::words::counted;
use trgen::quote::{is_plain, visible};

pub(crate) use super::stderr::tell;
use super::{Complaint, Exit};

/// Stdout for text: what a terminal would obey is written as people can see it. Bytes that are not UTF-8 pass as they
/// are.
struct Visible<W: Write> {
    out: W,
    /// The beginning of a character whose other bytes have not come yet.
    begun: Vec<u8>,
}

impl<W: Write> Visible<W> {
    const fn new(out: W) -> Self {
        Self { out, begun: Vec::new() }
    }
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.begun.is_empty() && is_plain(bytes) {
            return self.out.write(bytes);
        }
        self.begun.extend_from_slice(bytes);
        let begun = std::mem::take(&mut self.begun);
        let mut chunks = begun.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.out.write_all(visible(chunk.valid()).as_bytes())?;
            let is_cut =
                chunks.peek().is_none() && str::from_utf8(chunk.invalid()).is_err_and(|e| e.error_len().is_none());
            if is_cut {
                self.begun = chunk.invalid().to_owned();
            } else {
                self.out.write_all(chunk.invalid())?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Drop for Visible<W> {
    fn drop(&mut self) {
        // The text has ended within a character. A closed stdout is no error.
        let _ = self.out.write_all(&self.begun);
    }
}

/// Writes a result to stdout. A broken pipe is not an error.
pub(crate) fn print(format: Format, result: &RunResult) -> Result<(), Complaint> {
    // What is printed is passed on like a folder of results.
    let mut result = result.clone();
    if format != Format::Table {
        bare_texts(&mut result);
    }
    rename_manifest(&mut result.manifest, |_| None);
    // Thousands of nodes have tens of thousands of lines, each of many pieces.
    let mut out = BufWriter::new(Visible::new(io::stdout().lock()));
    ignore_broken_pipe(report::write(format, &result, &mut out).and_then(|()| out.flush()))
}

/// Writes text to stdout.
pub(crate) fn print_text(text: &str) -> Result<(), Complaint> {
    ignore_broken_pipe(io::stdout().lock().write_all(visible(text).as_bytes()))
}

/// The error of writing to stdout. A broken pipe is not an error.
pub(super) fn ignore_broken_pipe(written: io::Result<()>) -> Result<(), Complaint> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let what = format!("cannot write the results to stdout: {error}");
            Err(Complaint::new(Exit::Failed, what, "free some space, or write elsewhere"))
        }
        _ => Ok(()),
    }
}

/// The output of a command: stdout, or the new file of its `--output`, which appears when it is whole.
#[derive(Debug)]
pub(crate) struct Document {
    /// `None` for stdout.
    file: Option<NewFile>,
}

impl Document {
    /// Opens the output. Call this before work that may take hours.
    ///
    /// # Errors
    /// The file exists, or cannot be created.
    pub(crate) fn open(matches: &ArgMatches) -> Result<Self, Complaint> {
        let file = match matches.get_one::<PathBuf>("output") {
            Some(path) => Some(NewFile::create(format!("-o {}", path.display()), path)?),
            None => None,
        };
        Ok(Self { file })
    }

    /// Writes a text. A broken pipe is not an error.
    pub(crate) fn print(self, text: &str) -> Result<(), Complaint> {
        self.write(&mut |out| out.write_all(text.as_bytes()))
    }

    /// Writes what a program has written, byte for byte, by a call of `write`.
    #[cfg(feature = "live")]
    pub(crate) fn write_raw(
        self,
        write: &mut dyn FnMut(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> Result<(), Complaint> {
        match &self.file {
            None => ignore_broken_pipe(write(&mut io::stdout())),
            Some(_) => self.write(write),
        }
    }

    /// Writes by a call of `write`.
    pub(crate) fn write(
        self,
        write: &mut dyn FnMut(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> Result<(), Complaint> {
        match self.file {
            None => {
                let mut out = BufWriter::new(Visible::new(io::stdout()));
                ignore_broken_pipe(write(&mut out).and_then(|()| out.flush()))
            }
            Some(file) => file.write(write),
        }
    }
}

/// A new file that appears under its name when it is whole: a command that fails, or is killed, leaves nothing behind.
#[derive(Debug)]
pub(crate) struct NewFile {
    /// Its flag and name, for errors.
    named: String,
    path: PathBuf,
    file: File,
    place: Place,
}

/// Where a [`NewFile`] is until it is whole.
#[derive(Debug)]
enum Place {
    /// At its name: a pipe or a device.
    Named,
    /// In its folder without a name (`O_TMPFILE` of Linux).
    Nameless,
    /// Under this name beside it, where the file system has no files without a name.
    Beside(PathBuf),
}

impl NewFile {
    /// Creates the file. `named` is its flag and name, for errors.
    ///
    /// # Errors
    /// The file exists, or cannot be created.
    pub(crate) fn create(named: String, path: &Path) -> Result<Self, Complaint> {
        let made = || -> io::Result<(File, Place)> {
            if is_stream(path) {
                return Ok((File::create(path)?, Place::Named));
            }
            if fs::symlink_metadata(path).is_ok() {
                return Err(ErrorKind::AlreadyExists.into());
            }
            if path.file_name().is_none() {
                return Err(ErrorKind::IsADirectory.into());
            }
            if let Ok(file) = nameless(path) {
                return Ok((file, Place::Nameless));
            }
            let beside = temporary_beside(path);
            Ok((File::create_new(&beside)?, Place::Beside(beside)))
        };
        let (file, place) = made().map_err(|error| cannot_create(&named, &error))?;
        Ok(Self { named, path: path.to_owned(), file, place })
    }

    /// Writes all of it by a call of `write`, and gives it its name.
    ///
    /// # Errors
    /// It cannot be written, or a file of its name exists by now.
    pub(crate) fn write(
        self,
        write: &mut dyn FnMut(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> Result<(), Complaint> {
        let mut out = BufWriter::new(&self.file);
        let written = write(&mut out).and_then(|()| out.flush());
        drop(out);
        let kept = written.and_then(|()| match &self.place {
            Place::Named => Ok(()),
            Place::Nameless => name(&self.file, &self.path),
            Place::Beside(beside) => fs::hard_link(beside, &self.path),
        });
        kept.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => cannot_create(&self.named, &error),
            _ => {
                let what = format!("{}: {error}", self.named);
                Complaint::new(Exit::Failed, what, "free some space, or write elsewhere")
            }
        })
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Place::Beside(beside) = &self.place {
            let _ = fs::remove_file(beside);
        }
    }
}

/// A file without a name in the folder of `path`.
#[cfg(target_os = "linux")]
fn nameless(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666))?.into())
}

/// Gives a file without a name this one, if there is none of this name.
#[cfg(target_os = "linux")]
fn name(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, own, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path) -> io::Result<File> {
    Err(ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
fn name(_: &File, _: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Rejects a results folder that is not empty.
fn check_vacant(folder: &Path) -> Result<(), Complaint> {
    let holds = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some().then_some("the folder is not empty"),
        Err(error) if error.kind() == ErrorKind::NotADirectory && folder.exists() => Some("a file of this name exists"),
        // Any other error appears at the first write.
        Err(_) => None,
    };
    match holds {
        Some(what) => {
            let what = format!("-o {}: {what}", folder.display());
            Err(Complaint::new(Exit::Usage, what, "name a folder that does not exist yet; nothing is overwritten"))
        }
        None => Ok(()),
    }
}

/// Warns the user if the results in a folder are incomplete or damaged, or compare nodes with unequal ports.
pub(crate) fn warn_of_parts(folder: &Path, collected: &Collected) {
    if let Some(what) = collected.reservation() {
        tell(&format!("warning: {}: {what}", folder.display()));
    }
    if let Some(what) = collected.unequal_ports() {
        tell(&format!("note: {}: {what}", folder.display()));
    }
}

/// Prints what the runs warn of, but for verdicts, which are counted: each warning once. `of_what` comes before each.
pub(crate) fn warn_of_runs(of_what: &str, collected: &Collected) {
    /// Warnings that are printed; `fsin report` shows all.
    const MOST: usize = 4;
    let mut points: Vec<(&str, usize)> = Vec::new();
    let of_runs = collected.rows.iter().flat_map(|row| row.result.warnings_by_kind());
    for (text, _) in of_runs.filter(|(_, kind)| matches!(kind, Some(WarningKind::Other) | None)) {
        match points.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => points.push((text, 1)),
        }
    }
    let of = counted(collected.rows.len(), "point", "points");
    for (text, count) in points.iter().take(MOST) {
        tell(&format!("warning: {of_what}{text} ({count} of {of})"));
    }
    if points.len() > MOST {
        tell(&format!("warning: {of_what}and {} more: fsin report shows them", points.len() - MOST));
    }
}

/// Replaces a file named by the user atomically; writes directly to anything but a regular file.
pub(crate) fn replace_file(path: &Path, text: impl AsRef<[u8]>) -> io::Result<()> {
    if is_stream(path) {
        return fs::write(path, text);
    }
    // A symbolic link remains a link: the file to which it leads is replaced.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(path).is_ok_and(|there| there.permissions().readonly()) {
        return Err(ErrorKind::PermissionDenied.into());
    }
    fsin::sweep::replace_file(path, text)
}

/// True for a pipe, a device or a standard stream, which can be written to without a loss of content.
pub(crate) fn is_stream(path: &Path) -> bool {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.starts_with("/dev") || path.starts_with("/proc") || fs::metadata(&path).is_ok_and(|there| !there.is_file())
}

/// Creates a new file, to which a command writes while it works. `named` is its flag and name, for errors.
pub(crate) fn create_file(named: &str, path: &Path) -> Result<File, Complaint> {
    let file = if is_stream(path) { File::create(path) } else { File::create_new(path) };
    file.map_err(|error| cannot_create(named, &error))
}

/// The error of a new file that cannot be created.
fn cannot_create(named: &str, error: &io::Error) -> Complaint {
    let (what, remedy) = match error.kind() {
        ErrorKind::AlreadyExists => {
            (format!("{named}: the file exists"), "name a file that does not exist yet; nothing is overwritten")
        }
        _ => (format!("{named}: {error}"), "name a file in a folder that can be written to"),
    };
    Complaint::new(Exit::Usage, what, remedy)
}

/// Rejects an unusable results folder before a run that may take hours: one that is not empty or cannot be created.
pub(crate) fn check_folder(folder: &Path) -> Result<(), Complaint> {
    check_vacant(folder)?;
    // The last ancestor of a relative path is empty and means the working directory.
    let existing = folder.ancestors().skip(1).find(|ancestor| ancestor.exists()).unwrap_or(Path::new("."));
    let probe = existing.join(format!(".fsin.{}.probe", std::process::id()));
    fs::create_dir(&probe).and_then(|()| fs::remove_dir(&probe)).map_err(|error| {
        let what = format!("-o {}: cannot write in {}: {error}", folder.display(), existing.display());
        Complaint::new(Exit::Usage, what, "name a folder in a place where you may write")
    })
}

/// Stores results in a new folder: written under a temporary name beside it, then renamed, so that a folder of this
/// name is always complete.
pub(crate) fn keep(folder: &Path, result: &RunResult, experiment: &str, inputs: &Carried) -> Result<(), Complaint> {
    let failed = |error: io::Error| {
        let what = format!("-o {}: cannot keep the results: {error}", folder.display());
        Complaint::new(Exit::Failed, what, "they are on stdout; next time name another folder")
    };
    check_vacant(folder)?;
    let temporary = temporary_beside(folder);
    let written = (|| {
        inputs.copy(&temporary)?;
        fsin::sweep::write_result(&temporary, result, experiment)?;
        match fs::remove_dir(folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::rename(&temporary, folder)
    })();
    if written.is_err() {
        let _ = fs::remove_dir_all(&temporary);
    }
    written.map_err(failed)
}

/// A temporary name beside a folder.
fn temporary_beside(folder: &Path) -> PathBuf {
    let name = folder.file_name().map_or_else(|| "results".into(), |name| name.to_string_lossy().into_owned());
    folder.with_file_name(format!(".{name}.{}.partial", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_nothing_however_the_text_is_cut() {
        let text = "a\u{1b}[31m\u{e9}\u{9b}31m\u{1f600}\tb\n\u{202e}".as_bytes();
        let text = [text, b"\xff\xc2"].concat();
        for size in 1..text.len() {
            let mut seen = Vec::new();
            let mut out = Visible::new(&mut seen);
            for part in text.chunks(size) {
                out.write_all(part).expect("memory takes everything");
            }
            drop(out);
            let expected = ["a\\x1b[31m\u{e9}\\u{9b}31m\u{1f600}\tb\n\\u{202e}".as_bytes(), b"\xff\xc2"].concat();
            assert_eq!(seen, expected, "in parts of {size} bytes");
        }
    }
}

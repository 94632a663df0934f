//! Errors in traces: the place, what was found, what was expected, and the remedy.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::catalog::SpecError;
use crate::phrase::Phrase;

/// A place in the input. Displayed as `path#member:line`, as far as known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// File or folder on disk.
    pub path: PathBuf,
    /// File inside the archive, if `path` is one.
    pub member: Option<String>,
    /// Line, counted from 1.
    pub line: Option<u64>,
    /// Byte, counted from 0, in files that have no lines.
    pub byte: Option<u64>,
}

impl Place {
    /// A whole file or folder.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), member: None, line: None, byte: None }
    }

    /// The same file, at a line.
    #[must_use]
    pub fn line(&self, line: u64) -> Self {
        Self { line: Some(line), ..self.clone() }
    }

    /// The same file, at a byte.
    #[must_use]
    pub fn byte(&self, byte: u64) -> Self {
        Self { byte: Some(byte), ..self.clone() }
    }

    /// An error at this place.
    #[must_use]
    pub fn error(&self, fault: Fault) -> ReadError {
        ReadError { place: self.clone(), fault: Box::new(fault) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)?;
        if let Some(member) = &self.member {
            write!(f, "#{}", Quoted(member))?;
        }
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))?;
        self.byte.map_or(Ok(()), |byte| write!(f, " at byte {byte}"))
    }
}

/// A trace cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {fault}")]
pub struct ReadError {
    /// Place of the fault.
    pub place: Place,
    /// The fault.
    pub fault: Box<Fault>,
}

impl ReadError {
    /// The remedy, if known.
    #[must_use]
    pub fn remedy(&self) -> Option<Phrase> {
        self.fault.remedy(&self.place)
    }
}

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// There is no such file or folder.
    #[error("no such file or folder")]
    NotFound,
    /// A pipe or a device, which can be read only once.
    #[error("neither a file nor a folder: a trace is read more than once")]
    NotAFile,
    /// The operating system reports an error.
    #[error("cannot be read: {0}")]
    Io(io::Error),
    /// An option has no usable value.
    #[error("{0}")]
    Option(SpecError),
    /// The file has no content, or only blanks and comments.
    #[error("is empty: a trace was expected")]
    Empty,
    /// A compressed file or an archive is cut short or damaged.
    #[error("damaged or truncated {container} ({})", Quoted(.what))]
    Damaged {
        /// `xz`, `gzip` or `tar`.
        container: &'static str,
        /// The message of the decoder.
        what: String,
    },
    /// The compression or archive format is not supported directly.
    #[error("packed with {name}, which is not read directly")]
    Packed {
        /// Name of the compression or archive.
        name: &'static str,
        /// Command that unpacks it.
        command: &'static str,
    },
    /// A trace in a binary form, which only its own tool can read.
    #[error("holds a {format} trace in its binary form, which is read as the text that its own tool prints")]
    Unprinted {
        /// Name of the format.
        format: &'static str,
        /// Name of the tool.
        tool: &'static str,
    },
    /// An OTF2 archive, which only its own tool can read.
    #[error("holds an OTF2 archive, `{}`{doubt}, which is read as the text that its own tool prints", Quoted(.anchor))]
    Otf2 {
        /// Its anchor file, or another file of it.
        anchor: String,
        /// What is wrong with that file; empty if nothing is.
        doubt: &'static str,
        /// True if it is in a tar archive.
        archive: bool,
    },
    /// A file of a format that is known by name and not read.
    #[error("`{}` is {what}, which is not read", Quoted(.file))]
    Foreign {
        /// The file.
        file: String,
        /// The format.
        what: &'static str,
        /// What helps.
        remedy: &'static str,
    },
    /// The file of one rank alone, beside those of the others.
    #[error("holds rank {rank} of {ranks} alone")]
    OneOfSet {
        /// The rank.
        rank: usize,
        /// Number of files of the set.
        ranks: usize,
    },
    /// No format recognises the text.
    #[error("unknown trace format: the first line is `{}`", Quoted(.found))]
    UnknownFormat {
        /// The first line that is neither blank nor a comment, shortened.
        found: String,
        /// The known formats and their first lines.
        known: String,
    },
    /// A folder or archive holds no file that any format recognises.
    #[error("no trace in it, after a look at {files} {}", plural(*.files, "file", "files"))]
    NoTrace {
        /// Number of files examined.
        files: usize,
        /// The expected formats.
        known: String,
    },
    /// A folder holds no trace, only archives, which are not searched.
    #[error("no trace in it, but {} {}: {}", .names.len(), plural(.names.len(), "archive", "archives"), list(.names))]
    Archives {
        /// Names of the archives in the folder.
        names: Vec<String>,
        /// An archive that can be read, or be unpacked.
        first: String,
        /// Command that unpacks that archive, if it cannot be read directly.
        command: Option<&'static str>,
    },
    /// A folder or archive holds more than one trace.
    #[error("holds {} traces: {}", .choices.len(), list(.choices))]
    SeveralTraces {
        /// Names of the traces inside.
        choices: Vec<String>,
        /// True for an archive, where `#name` chooses.
        archive: bool,
    },
    /// The part after `#` names nothing in the archive.
    #[error("no trace named `{}` in it", Quoted(.selection))]
    NoSuchMember {
        /// The selected name.
        selection: String,
        /// The available names.
        remedy: String,
    },
    /// The file is not text.
    #[error("not text: the line holds bytes that are not UTF-8")]
    NotText,
    /// A line, a member or the whole input is larger than any sensible trace.
    #[error("{what} exceeds {limit} bytes")]
    TooLarge {
        /// The part that is too large.
        what: &'static str,
        /// \[bytes\] The limit.
        limit: u64,
    },
    /// A word is unknown.
    #[error("unknown {what} `{}`", Quoted(.found))]
    UnknownWord {
        /// Kind of the word: `action`, `record`.
        what: &'static str,
        /// The word.
        found: String,
        /// A list of the nearest known words.
        remedy: String,
    },
    /// A line has too few or too many words.
    #[error("`{word}` with {found} {}, expected `{usage}`", plural(*.found, "argument", "arguments"))]
    Arguments {
        /// The line's first word.
        word: String,
        /// Number of arguments found.
        found: usize,
        /// Syntax of the line.
        usage: String,
        /// The remedy.
        remedy: Option<&'static str>,
    },
    /// A word is not a number, or not a permitted one.
    #[error("{what} is `{}`, expected {expected}", Quoted(.found))]
    Number {
        /// Meaning of the number.
        what: &'static str,
        /// The word found.
        found: String,
        /// The permitted values.
        expected: String,
    },
    /// A datatype number whose size is not known.
    #[error("datatype {found}: {why}")]
    Datatype {
        /// The number.
        found: String,
        /// Why it is rejected.
        why: &'static str,
        /// The remedy.
        remedy: &'static str,
    },
    /// A line belongs to another rank than its file.
    #[error("a line of rank {found} in the file of rank {expected}")]
    WrongRank {
        /// The rank that the line starts with.
        found: u32,
        /// The rank whose file it is.
        expected: u32,
    },
    /// The index names a file that does not exist.
    #[error("names `{}` as the file of rank {rank}, and there is no such file", Quoted(.name))]
    MissingFile {
        /// The name in the index.
        name: String,
        /// The rank.
        rank: usize,
    },
    /// The index names a file a second time.
    #[error("names `{}` a second time, as the file of rank {rank}", Quoted(.name))]
    FileTwice {
        /// The name in the index.
        name: String,
        /// The second rank.
        rank: usize,
    },
    /// A rank below the highest has no line.
    #[error("rank {rank} has no lines, but rank {highest} has")]
    MissingRank {
        /// The rank without lines.
        rank: u32,
        /// The highest rank with lines.
        highest: u32,
    },
    /// Two files begin with the same rank, and no index decides between them.
    #[error("begins with rank {rank}, as does `{}`", Quoted(.other))]
    RankTwice {
        /// The rank.
        rank: u32,
        /// The other file.
        other: String,
    },
    /// More tasks than are possible, or than the length of the file makes plausible.
    #[error("{found} tasks, more than {limit} ({why})")]
    TooManyTasks {
        /// Highest task number plus one.
        found: u64,
        /// The limit.
        limit: u64,
        /// Reason for the limit.
        why: &'static str,
    },
    /// The program would exceed the permitted memory.
    #[error("more than {limit} events")]
    TooManyEvents {
        /// The limit.
        limit: u64,
    },
    /// The parts of a trace do not fit together.
    #[error("{what}")]
    Structure {
        /// The fault, and the expected content.
        what: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// Ranks differ in the collectives that they call.
    #[error("rank {rank} calls {found} as collective number {index}, where rank {other_rank} calls {other}{}",
        .other_place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default())]
    CollectiveMismatch {
        /// Running number of the collective, from 1.
        index: usize,
        /// This rank.
        rank: u32,
        /// The call of this rank.
        found: String,
        /// The rank with which it is compared.
        other_rank: u32,
        /// The call of that rank.
        other: String,
        /// Place of that call; `None` if that rank has ended.
        other_place: Option<Box<Place>>,
    },
}

impl Fault {
    /// The remedy, if known; `place` is that of the fault.
    fn remedy(&self, place: &Place) -> Option<Phrase> {
        let words: Option<String> = match self {
            Self::NotFound => {
                Some("check the path; `archive.tar.xz#name` chooses a trace inside an archive".to_owned())
            }
            Self::Empty => Some("check how the file was made; it holds no record".to_owned()),
            Self::NotAFile => Some("write it to a file first, and give that".to_owned()),
            Self::Option(refusal) => return Some(refusal.remedy().clone()),
            Self::Damaged { .. } => Some("the file may be an incomplete copy: fetch it again".to_owned()),
            Self::Packed { command, .. } => Some(format!("unpack it first: {command}")),
            Self::Unprinted { tool, .. } => Some(format!(
                "`trace-prep import` runs `{tool}`, if that is installed; or print each rank elsewhere, \
                 `{tool} NAME-0000.bin > NAME-0000.txt` and so on, and give the folder of the texts"
            )),
            Self::Otf2 { anchor, archive, .. } => {
                let anchor = Quoted(anchor).to_string();
                Some(match archive {
                    true => format!("unpack it, and run `trace-prep import {anchor}`"),
                    false => {
                        let folder = if place.path.is_dir() {
                            &*place.path
                        } else {
                            place.path.parent().unwrap_or(Path::new(""))
                        };
                        let anchor = folder.join(anchor).display().to_string();
                        format!(
                            "run `trace-prep import {anchor}`, or `otf2-print -A {anchor} > TRACE.txt` elsewhere and give that"
                        )
                    }
                })
            }
            Self::Foreign { remedy, .. } => return Some(Phrase::of_template(remedy)),
            Self::OneOfSet { .. } => {
                let folder = place.path.parent().filter(|folder| !folder.as_os_str().is_empty());
                Some(format!("give the folder: {}", folder.unwrap_or(Path::new(".")).display()))
            }
            Self::UnknownFormat { known, .. } | Self::NoTrace { known, .. } => Some(known.clone()),
            Self::Archives { first, command, .. } => {
                let path = place.path.join(Quoted(first).to_string());
                Some(match command {
                    None => format!("give one of them, for instance {}", path.display()),
                    Some(command) => {
                        let command = command.replace("FILE", &path.display().to_string());
                        format!("unpack one, for instance with `{command}`, and give what comes of it")
                    }
                })
            }
            Self::SeveralTraces { choices, archive } => choices.first().map(|first| {
                let joint = if *archive { "#" } else { "/" };
                format!("choose one, for instance {}{joint}{}", place.path.display(), Quoted(first))
            }),
            Self::NoSuchMember { remedy, .. } | Self::UnknownWord { remedy, .. } => Some(remedy.clone()),
            Self::Arguments { remedy, .. } => remedy.map(str::to_owned),
            Self::Datatype { remedy, .. } | Self::Structure { remedy, .. } => return Some(Phrase::of_template(remedy)),
            Self::WrongRank { .. } => Some("the index lists the files in the order of ranks, from 0".to_owned()),
            Self::MissingFile { .. } => Some("names in an index are relative to the folder of the index".to_owned()),
            Self::MissingRank { .. } => {
                Some("if every rank has a file of its own, give the index or the folder".to_owned())
            }
            Self::RankTwice { .. } => Some("write an index that names one file per rank, and give that".to_owned()),
            Self::TooManyEvents { .. } => {
                Some("record fewer iterations or ranks: the whole program is held in memory".to_owned())
            }
            Self::CollectiveMismatch { .. } => Some(
                "collectives of communicators smaller than the whole cannot be told apart in this format: record \
                 another one, or remove those lines"
                    .to_owned(),
            ),
            _ => None,
        };
        words.map(Phrase::from)
    }
}

/// Foreign text in a message: control characters escaped, shortened to 100 characters.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 100;
        for character in self.0.chars().take(SHOWN) {
            if character.is_control() {
                write!(f, "{}", character.escape_default())?;
            } else {
                fmt::Write::write_char(f, character)?;
            }
        }
        if self.0.chars().nth(SHOWN).is_some() { f.write_str("...") } else { Ok(()) }
    }
}

/// The singular or plural for a count.
#[must_use]
pub const fn plural(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// The names, shortened to the first few.
fn list(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text: Vec<String> = names.iter().take(SHOWN).map(|name| Quoted(name).to_string()).collect();
    if names.len() > SHOWN {
        text.push(format!("and {} more", names.len() - SHOWN));
    }
    text.join(", ")
}

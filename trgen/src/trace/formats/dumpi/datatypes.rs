//! Sizes of datatypes: the predefined ones, as stated at the end of a file, and those that the program creates.

use std::collections::HashMap;

use super::text::{Args, Handle, Wrong};
use crate::trace::formats::error::Fault;
use crate::trace::formats::text::MAX_MESSAGE;

/// \[bytes\] Default sizes, on 64-bit machines whose `long` has 8 bytes.
const USUAL: &[(&str, u64)] = &[
    ("MPI_CHAR", 1),
    ("MPI_SIGNED_CHAR", 1),
    ("MPI_UNSIGNED_CHAR", 1),
    ("MPI_BYTE", 1),
    ("MPI_PACKED", 1),
    ("MPI_CHARACTER", 1),
    ("MPI_WCHAR", 4),
    ("MPI_SHORT", 2),
    ("MPI_UNSIGNED_SHORT", 2),
    ("MPI_INT", 4),
    ("MPI_UNSIGNED", 4),
    ("MPI_INTEGER", 4),
    ("MPI_LOGICAL", 4),
    ("MPI_LONG", 8),
    ("MPI_UNSIGNED_LONG", 8),
    ("MPI_LONG_LONG_INT", 8),
    ("MPI_LONG_LONG", 8),
    ("MPI_UNSIGNED_LONG_LONG", 8),
    ("MPI_FLOAT", 4),
    ("MPI_REAL", 4),
    ("MPI_DOUBLE", 8),
    ("MPI_DOUBLE_PRECISION", 8),
    ("MPI_LONG_DOUBLE", 16),
    ("MPI_COMPLEX", 8),
    ("MPI_DOUBLE_COMPLEX", 16),
    ("MPI_FLOAT_INT", 8),
    ("MPI_DOUBLE_INT", 12),
    ("MPI_LONG_INT", 12),
    ("MPI_SHORT_INT", 6),
    ("MPI_2INT", 8),
    ("MPI_2INTEGER", 8),
    ("MPI_2REAL", 8),
    ("MPI_2DOUBLE_PRECISION", 16),
    ("MPI_LONG_DOUBLE_INT", 20),
    ("MPI_LB", 0),
    ("MPI_UB", 0),
    ("MPI_DATATYPE_NULL", 0),
];

/// \[bytes\] The default size of a predefined datatype.
fn default_size(name: &str) -> Option<u64> {
    USUAL.iter().find(|(known, _)| *known == name).map(|&(_, size)| size)
}

/// \[bytes\] Sizes by number, as stated at the end of a file.
pub(super) type StatedSizes = HashMap<i64, u64>;

/// Records the number, name and size \[bytes\] in a line at the end of a file. A size of 0 may mean that the recorder
/// did not know it.
pub(super) fn record_stated(stated: &mut StatedSizes, (number, name, size): (i64, &str, u64)) {
    let size = if size == 0 { default_size(name) } else { Some(size) };
    stated.extend(size.map(|size| (number, size)));
}

/// The datatypes created so far.
#[derive(Default, Debug)]
pub(super) struct Datatypes<'t> {
    /// The sizes at the end of the file; `None` in the first pass, which only collects them.
    stated: Option<&'t StatedSizes>,
    /// By number of a datatype: its size \[bytes\], or the call and its line from which the size cannot be computed.
    created: HashMap<i64, Result<u64, (String, u64)>>,
}

/// Calls that create a datatype from others.
const CREATORS: &[&str] = &[
    "contiguous",
    "vector",
    "hvector",
    "create_hvector",
    "indexed",
    "hindexed",
    "create_hindexed",
    "create_indexed_block",
    "struct",
    "create_struct",
    "create_resized",
    "create_subarray",
    "create_darray",
    "dup",
];

/// True if the call creates a datatype.
pub(super) fn creates(call: &str) -> bool {
    call.strip_prefix("MPI_Type_").is_some_and(|name| CREATORS.contains(&name))
}

// Names under which an argument may appear.
const NEW: &[&str] = &["newtype", "new_type"];
const OLD: &[&str] = &["oldtype", "old_type", "datatype", "type"];
const LENGTHS: &[&str] = &["lengths", "blocklengths", "array_of_blocklengths", "blocklength"];

impl<'t> Datatypes<'t> {
    pub(super) fn new(stated: Option<&'t StatedSizes>) -> Self {
        Self { stated, created: HashMap::new() }
    }

    /// \[bytes\] Size of an element, or why it is unknown.
    pub(super) fn size(&self, handle: Handle<'_>) -> Result<u64, Fault> {
        let (why, remedy) = match self.created.get(&handle.id) {
            Some(Ok(size)) => return Ok(*size),
            // The size at the end of the file may belong to a later datatype of the same number.
            Some(Err((call, line))) => (
                format!("{call} (line {line}) made it, whose result is not followed"),
                "record a run that makes the datatype by other calls, or that asks for its size with MPI_Type_size",
            ),
            None => {
                let stated = self.stated.and_then(|stated| stated.get(&handle.id)).copied();
                let why = match stated.or_else(|| default_size(handle.name)) {
                    Some(size) if size <= MAX_MESSAGE => return Ok(size),
                    Some(size) => format!("{size} bytes are too much"),
                    None => "the file neither tells its size nor how it is made".to_owned(),
                };
                let remedy = "record the calls that make datatypes; a line `Datatype N (NAME) has size S` at the end of \
                              the file tells a size";
                (why, remedy)
            }
        };
        let name = if handle.name.is_empty() { String::new() } else { format!(" ({})", handle.name) };
        Err(Fault::Structure { what: format!("the size of datatype {}{name} is not known: {why}", handle.id), remedy })
    }

    /// Records the datatype that a call creates.
    pub(super) fn record_created(&mut self, args: &Args) -> Result<(), Wrong> {
        let new = args.get(NEW)?.integer()?;
        let created = self.computed_size(args)?.ok_or_else(|| (args.call().to_owned(), args.line()));
        self.created.insert(new, created);
        Ok(())
    }

    /// Records the result of `MPI_Type_size`.
    pub(super) fn record_size(&mut self, args: &Args) -> Result<(), Wrong> {
        if let (Some(datatype), Some(size)) = (args.find(OLD), args.find(&["size"])) {
            let size = size.count(MAX_MESSAGE)?;
            self.created.insert(datatype.integer()?, Ok(size));
        }
        Ok(())
    }

    /// \[bytes\] Size of the data of a new datatype, without gaps. `None` if the arguments do not determine it.
    fn computed_size(&self, args: &Args) -> Result<Option<u64>, Wrong> {
        let name = args.call().strip_prefix("MPI_Type_").unwrap_or_default();
        let counts = |names: &[&str]| args.find(names).map(|arg| arg.counts(MAX_MESSAGE)).transpose();
        let count = |names: &[&str]| args.find(names).map(|arg| arg.count(MAX_MESSAGE)).transpose();
        let sum = |sizes: Vec<u64>| sizes.into_iter().try_fold(0_u64, u64::checked_add);
        if matches!(name, "struct" | "create_struct") {
            let (Some(lengths), Some(types)) = (counts(LENGTHS)?, args.find(&["oldtypes", "types", "array_of_types"]))
            else {
                return Ok(None);
            };
            let mut all = Some(0_u64);
            let mut parts = 0;
            for (handle, length) in types.handles().zip(&lengths) {
                let part = self.size(handle?).ok().and_then(|size| size.checked_mul(*length));
                all = all.zip(part).and_then(|(all, part)| all.checked_add(part));
                parts += 1;
            }
            return Ok(all
                .filter(|_| parts == lengths.len() && types.handles().count() == parts)
                .and_then(within_limit));
        }
        let elements = match name {
            "contiguous" => count(&["count"])?,
            "vector" | "hvector" | "create_hvector" | "create_indexed_block" => {
                count(&["count"])?.zip(count(LENGTHS)?).and_then(|(blocks, length)| blocks.checked_mul(length))
            }
            "indexed" | "hindexed" | "create_hindexed" => counts(LENGTHS)?.and_then(sum),
            "create_resized" | "dup" => Some(1),
            "create_subarray" => {
                let sizes = counts(&["subsizes", "array_of_subsizes"])?;
                sizes.and_then(|sizes| sizes.into_iter().try_fold(1_u64, u64::checked_mul))
            }
            _ => None,
        };
        let Some(old) = args.find(OLD) else { return Ok(None) };
        let size = self.size(old.handle()?).ok();
        Ok(elements.zip(size).and_then(|(elements, size)| elements.checked_mul(size)).and_then(within_limit))
    }
}

/// The size \[bytes\], unless it exceeds that of the largest message.
fn within_limit(size: u64) -> Option<u64> {
    (size <= MAX_MESSAGE).then_some(size)
}

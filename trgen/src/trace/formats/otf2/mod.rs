//! OTF2 archives (Score-P, EZTrace, TAU) in the text form of `otf2-print -A`.
//!
//! ```text
//! GROUP              1  Name: "" <0>, Type: COMM_GROUP, Paradigm: MPI, Flags: NONE, 2 Members: 0 ("P0" <0>), 1 (...
//! COMM               0  Name: "MPI_COMM_WORLD" <7>, Group: "" <1>, Parent: UNDEFINED, Flags: NONE
//! MPI_SEND           0  6990436  Receiver: 1 ("P1" <9>), Communicator: "MPI_COMM_WORLD" <0>, Tag: 1, Length: 8
//! MPI_IRECV_REQUEST  9  6984327  Request: 140721301803892
//! MPI_IRECV          9  7008053  Sender: 0 ("P0" <0>), Communicator: "MPI_COMM_WORLD" <0>, Tag: 1, Length: 8, Req...
//! MPI_COLLECTIVE_END 0  8265721  Operation: BARRIER, Communicator: "MPI_COMM_WORLD" <0>, Root: NONE, Sent: 0, Rec...
//! ```
//!
//! Long lines are cut short here.
//!
//! The binary form is defined by its library alone; its own tool reads every version of it. Tasks are the locations of
//! the group of MPI processes, in its order. Communicators are those of the definitions, so that collectives involve
//! only their members. The time between two MPI regions of a location is computing.
//!
//! # How the model departs from reality, and who could notice
//! - A request is waited for where its completion was recorded: a wait for any of several becomes a wait for the one
//!   that completed. The user of a master-worker program would notice.
//! - A receive without a recorded completion takes a message of any source and tag of the world, and is never waited
//!   for.
//! - Score-P records the total sizes sent and received in a collective, other recorders the argument of one rank. The
//!   creator named in the archive decides.
//! - Recorders other than Score-P write some messages on duplicates of the world as the world's own (EZTrace does so
//!   for sends): there, messages on all communicators of all processes are matched together.
//! - The sizes of the blocks of `v` operations are not recorded: each block is an equal share of the total.
//! - Non-blocking collectives and one-sided operations are omitted, with a warning.
//!
//! Decision: docs/decisions/0043-archives-through-their-tools.md.

use std::fs::File;
use std::io::Read;
use std::path::Path;

mod definitions;
mod line;
mod rank;

use self::definitions::Definitions;
use self::line::Line;
use self::rank::{Rank, Shared};
use super::error::{Fault, Place, ReadError};
use super::input::{Entry, Source};
use super::options::ReadOptions;
use super::text::Lines;
use super::{Application, Candidate, Layout, Reader, Trace};
use crate::catalog::Component;
use crate::trace::program::Program;

/// First bytes of an archive's anchor file.
const MAGIC: &[u8] = b"\x03BOTF2";

/// True for the anchor file of an OTF2 archive; the files beside it hold its events.
#[must_use]
pub fn is_anchor(path: &Path) -> bool {
    let mut beginning = Vec::new();
    let opened = File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut beginning));
    opened.is_ok() && beginning == MAGIC
}

pub(super) const READER: Reader = Reader {
    component: Component {
        name: "otf2-print",
        about: "an OTF2 archive as text: the output of `otf2-print -A ARCHIVE.otf2`",
        parameters: &[],
        source: "Open Trace Format 2 (Score-P, EZTrace, TAU); Eschweiler et al., ParCo 2011",
    },
    find,
    read: |source, candidate, options| read(source, candidate, options).map(Application::Programs),
};

/// The traces in a source.
fn find(source: &Source<'_>) -> Vec<Candidate> {
    let is_header = |line: &String| line.starts_with("=== OTF2-PRINT ===");
    let files = source.entries().iter().filter(|entry| entry.head.first().is_some_and(is_header));
    files.map(|entry| Candidate { label: entry.name.clone(), layout: Layout::Whole(entry.name.clone()) }).collect()
}

/// The fault of a source that holds an OTF2 archive, by its first bytes or its name; `None` if it holds none.
pub(super) fn archive(source: &Source<'_>) -> Option<Fault> {
    let begins = |entry: &&Entry| entry.magic.starts_with(b"\x03BOTF2");
    let anchor = |entry: &&Entry| entry.name.ends_with(".otf2");
    let entries = source.entries();
    let entry = entries.iter().find(|entry| anchor(entry) && begins(entry)).or_else(|| entries.iter().find(anchor));
    let entry = entry.or_else(|| entries.iter().find(begins))?;
    // The beginnings of files in folders that need a tool are not kept.
    let doubt = if begins(&entry) || entry.magic.is_empty() {
        ""
    } else {
        ", whose beginning is not that of one: it may be damaged"
    };
    Some(Fault::Otf2 { anchor: entry.name.clone(), doubt, archive: source.is_archive() })
}

/// Reads a trace.
fn read(source: &Source<'_>, candidate: &Candidate, options: &ReadOptions) -> Result<Trace, ReadError> {
    let Layout::Whole(file) = &candidate.layout else { return Err(source.place().error(Fault::Empty)) };
    let mut trace = None;
    source.visit(std::slice::from_ref(file), &mut |_, place, reader| {
        let mut lines = Lines::new(reader, place);
        trace = Some(read_lines(&mut lines, place, options)?);
        Ok(())
    })?;
    trace.ok_or_else(|| source.place_of(file).error(Fault::Empty))
}

/// Reads the lines of a trace: first the definitions, then the events.
fn read_lines(lines: &mut Lines<'_>, place: &Place, options: &ReadOptions) -> Result<Trace, ReadError> {
    let mut definitions = Definitions::default();
    loop {
        let Some((number, line)) = lines.next()? else {
            return Err(place.line(lines.number()).error(no_events()));
        };
        if line.starts_with("=== Events") {
            break;
        }
        definitions.line(line).map_err(|fault| place.line(number).error(fault))?;
    }
    let mut shared = Shared::new(definitions, options).map_err(|fault| place.line(lines.number()).error(fault))?;
    let mut ranks: Vec<Rank> = (0..shared.tasks()).map(Rank::new).collect();
    while let Some((number, line)) = lines.next()? {
        let Some(event) = Line::parse(line) else {
            line::reject_truncated(line).map_err(|fault| place.line(number).error(fault))?;
            continue;
        };
        shared.event(&mut ranks, &event, number).map_err(|fault| place.line(number).error(fault))?;
    }
    if shared.records() == 0 {
        return Err(place.line(lines.number()).error(no_events()));
    }
    let (calls, notes, warnings) = shared.finish(&ranks);
    let program = Program { tasks: ranks.into_iter().map(Rank::finish).collect() };
    let (format, lines) = (READER.component.name, lines.number());
    let (collectives, algorithms, called) = (calls.by_operation(), calls.by_algorithm(), calls.called());
    Ok(Trace { program, format, lines, collectives, algorithms, called, notes, warnings })
}

/// The error of a file without events.
fn no_events() -> Fault {
    Fault::Structure {
        what: "ends without the events of an archive".to_owned(),
        remedy: "write it by `otf2-print -A ARCHIVE.otf2`, which prints definitions and events",
    }
}

//! GOAL graphs, as text and as the binary form, from files and archives.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use super::error::{Fault, Place, ReadError};
use super::input::{self, Source};
use super::options::ReadOptions;
use super::text::Lines;
use super::{Application, Candidate, GraphTrace, Layout, Reader};
use crate::catalog::Component;
use crate::trace::goal::text::TextError;
use crate::trace::goal::{Graph, binary, text};

pub(super) const TEXT: Reader = Reader {
    component: Component {
        name: "goal",
        about: "text `num_ranks N`, then `rank R { ... }` with send, recv, calc and requires",
        parameters: &[],
        source: "Hoefler, Siebert, Lumsdaine, Group Operation Assembly Language, ICPP 2009",
    },
    find: |source| {
        find(source, |entry| {
            let first = entry.head.iter().find(|line| !line.starts_with("//") && !line.starts_with("/*"));
            first.is_some_and(|line| line.starts_with("num_ranks"))
        })
    },
    read: |source, candidate, options| read(source, candidate, options, &TEXT),
};

pub(super) const BINARY: Reader = Reader {
    component: Component {
        name: "goal-bin",
        about: "the binary form of GOAL, magic number 4223",
        parameters: &[],
        source: "Hoefler, Schneider, Lumsdaine, LogGOPSim, LSAP 2010",
    },
    find: |source| find(source, |entry| binary::is_binary_graph(&entry.magic)),
    read: |source, candidate, options| read(source, candidate, options, &BINARY),
};

/// The files that `belongs` accepts.
fn find(source: &Source<'_>, belongs: impl Fn(&input::Entry) -> bool) -> Vec<Candidate> {
    let files = source.entries().iter().filter(|entry| belongs(entry));
    files.map(|entry| Candidate { label: entry.name.clone(), layout: Layout::Whole(entry.name.clone()) }).collect()
}

fn read(
    source: &Source<'_>,
    candidate: &Candidate,
    options: &ReadOptions,
    reader: &Reader,
) -> Result<Application, ReadError> {
    let Layout::Whole(file) = &candidate.layout else { return Err(source.place().error(Fault::Empty)) };
    let format = reader.component.name;
    let mut graph = Graph::default();
    source.visit(std::slice::from_ref(file), &mut |_, place, input| {
        graph = if format == BINARY.component.name {
            // A plain file is read piece by piece; a member of an archive is read completely first.
            let plain =
                source.plain_file(file).and_then(|path| File::open(path).ok()).and_then(|file| Plain::new(file).ok());
            let read = match plain {
                Some(plain) => binary::read(&plain),
                None => {
                    let mut bytes = Vec::new();
                    input.read_to_end(&mut bytes).map_err(|error| input::failed(place, error))?;
                    binary::read(bytes.as_slice())
                }
            };
            read.map_err(|error| {
                let remedy = "make the file again from the text, or give the text";
                place.byte(error.byte).error(Fault::Structure { what: error.what, remedy })
            })?
        } else {
            read_text(place, input, options.max_events)?
        };
        Ok(())
    })?;
    if operations(&graph) > options.max_events {
        // A binary graph states its number of ranks there, which determines the size of the rest.
        return Err(source.place_of(file).byte(8).error(Fault::TooManyEvents { limit: options.max_events }));
    }
    Ok(Application::Graphs(GraphTrace { graph, format, notes: Vec::new() }))
}

/// A file that is read at arbitrary positions.
struct Plain {
    file: File,
    length: u64,
}

impl Plain {
    /// Fails for files that are not regular, whose length is unknown, and for compressed ones.
    fn new(mut file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let mut magic = [0; 8];
        file.read_exact(&mut magic)?;
        match metadata.is_file() && binary::is_binary_graph(&magic) {
            true => Ok(Self { length: metadata.len(), file }),
            false => Err(io::ErrorKind::InvalidInput.into()),
        }
    }
}

impl binary::Bytes for Plain {
    fn length(&self) -> u64 {
        self.length
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(into)
    }
}

/// Number of operations of all ranks.
fn operations(graph: &Graph) -> u64 {
    let counts = graph.counts();
    counts.sends + counts.recvs + counts.calcs
}

/// Reads a graph as text, of at most `limit` operations.
fn read_text(place: &Place, input: &mut dyn std::io::BufRead, limit: u64) -> Result<Graph, ReadError> {
    let fault = |TextError { what, remedy }: TextError| Fault::Structure { what, remedy };
    let mut lines = Lines::new(input, place);
    let mut reader = text::Reader::default();
    while let Some((number, line)) = lines.next_with_hashes()? {
        reader.line(line).map_err(|error| place.line(number).error(fault(error)))?;
        if reader.operations() > limit {
            return Err(place.line(number).error(Fault::TooManyEvents { limit }));
        }
    }
    let last = place.line(lines.number());
    reader.finish().map_err(|error| last.error(fault(error)))
}

//! The project's own container (see [`crate::trace::container`]).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::path::Path;

use super::error::{Fault, Place, ReadError};
use super::input::{self, Source};
use super::options::ReadOptions;
use super::{Application, Candidate, GraphTrace, Layout, Reader, Trace};
use crate::catalog::Component;
use crate::trace::collectives::NAMES;
use crate::trace::container::{self, ContainerError, Content};
use crate::trace::matrix::Matrix;
use crate::trace::timeline::Called;

pub(super) const READER: Reader = Reader {
    component: Component {
        name: "trg",
        about: "the container that `trace-prep import` writes: compressed blocks with checksums and an index",
        parameters: &[],
        source: "this project",
    },
    find,
    read,
};

/// The containers in the source.
fn find(source: &Source<'_>) -> Vec<Candidate> {
    let files = source.entries().iter().filter(|entry| container::is_container(&entry.magic));
    files.map(|entry| Candidate { label: entry.name.clone(), layout: Layout::Whole(entry.name.clone()) }).collect()
}

/// Converts an error in a container at `place`.
fn located(place: &Place, error: ContainerError) -> ReadError {
    let place = error.byte.map_or_else(|| place.clone(), |byte| place.byte(byte));
    place.error(Fault::Structure { what: error.what, remedy: error.remedy })
}

/// See [`super::open_container`].
pub(super) fn open_file(path: &Path) -> Result<Option<container::Reader>, ReadError> {
    let place = Place::of(path);
    if path.is_dir() {
        return Ok(None);
    }
    let Ok(mut file) = File::open(path) else { return Ok(None) };
    let mut beginning = Vec::new();
    file.by_ref().take(8).read_to_end(&mut beginning).map_err(|error| place.error(Fault::Io(error)))?;
    if !container::is_container(&beginning) {
        return Ok(None);
    }
    let opened = container::Reader::open(BufReader::new(file)).map_err(|error| located(&place, error))?;
    Ok(Some(opened.named(&place.to_string())))
}

/// See [`super::container_matrix`].
pub(super) fn matrix(path: &Path, container: &container::Reader) -> Result<Matrix, ReadError> {
    Matrix::of_container(container).map_err(|error| located(&Place::of(path), error))
}

/// Reads a container completely.
fn read(source: &Source<'_>, candidate: &Candidate, options: &ReadOptions) -> Result<Application, ReadError> {
    let Layout::Whole(name) = &candidate.layout else { return Err(source.place().error(Fault::Empty)) };
    let place = source.place_of(name);
    let container = match source.plain_file(name) {
        Some(path) => open_file(&path)?,
        None => {
            // A member of an archive has no random access: the whole file is held in memory.
            let mut bytes = Vec::new();
            source.visit(std::slice::from_ref(name), &mut |_, place, reader| {
                reader.read_to_end(&mut bytes).map(|_| ()).map_err(|error| input::failed(place, error))
            })?;
            Some(container::Reader::open(Cursor::new(bytes)).map_err(|error| located(&place, error))?)
        }
    };
    let container = container.ok_or_else(|| {
        let (what, remedy) = ("does not begin like a container".to_owned(), "leave out {from}");
        place.error(Fault::Structure { what, remedy })
    })?;
    let header = container.header();
    let format = READER.component.name;
    // The first note is always the history, which a rewritten trace continues.
    let mut notes = vec![header.history()];
    notes.extend(header.notes.iter().cloned());
    match header.content {
        Content::Graphs => {
            let graph = container.graph().map_err(|error| located(&place, error))?;
            Ok(Application::Graphs(GraphTrace { graph, format, notes }))
        }
        Content::Programs => {
            let program = container.program(options.max_events).map_err(|error| located(&place, error))?;
            let mut collectives = BTreeMap::new();
            for (name, calls) in &header.collectives {
                let name = NAMES.iter().copied().find(|known| known == name).unwrap_or("other");
                *collectives.entry(name).or_insert(0_u64) += calls;
            }
            Ok(Application::Programs(Trace {
                program,
                format,
                lines: 0,
                collectives,
                algorithms: BTreeMap::new(),
                called: Called::default(),
                notes,
                warnings: Vec::new(),
            }))
        }
    }
}

//! Sources of a task's events.

use crate::source::SourceError;
#[cfg(feature = "formats")]
use crate::trace::container::Cursor;
use crate::trace::program::Event;

/// The events of one task, one after another.
#[derive(Clone, Debug)]
pub(super) enum Steps {
    /// All in memory.
    Memory { events: Vec<Event>, position: usize },
    /// In a container, block by block.
    #[cfg(feature = "formats")]
    Stored { cursor: Box<Cursor>, position: usize, total: u64 },
}

impl Steps {
    /// Takes the next event; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<Event>, SourceError> {
        let (event, position) = match self {
            Self::Memory { events, position } => (events.get(*position).cloned(), position),
            #[cfg(feature = "formats")]
            Self::Stored { cursor, position, .. } => {
                let event = cursor.next_event().map_err(|error| {
                    let place = error.byte.map_or_else(String::new, |byte| format!(" at byte {byte}"));
                    let name = cursor.name().map_or_else(|| "the trace".to_owned(), str::to_owned);
                    SourceError::of_input(format!("{name}{place}: {error}; {}", error.remedy))
                })?;
                (event, position)
            }
        };
        *position += usize::from(event.is_some());
        Ok(event)
    }

    /// Number of events taken so far, and of all events.
    pub(super) fn progress(&self) -> (usize, u64) {
        match self {
            Self::Memory { events, position } => (*position, events.len() as u64),
            #[cfg(feature = "formats")]
            Self::Stored { position, total, .. } => (*position, *total),
        }
    }
}

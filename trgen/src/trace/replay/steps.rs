//! Sources of a task's events.

use crate::source::SourceError;
#[cfg(feature = "formats")]
use crate::trace::container::Cursor;
use crate::trace::program::Event;
use crate::units::Picoseconds;

/// The events of one task, one after another.
#[derive(Clone, Debug)]
pub(super) enum Steps {
    /// A round in memory, the position in it, and the number of the present round of how many; labels of messages are
    /// greater by `labels` in each round than in the one before.
    Memory { events: Vec<Event>, position: usize, round: u64, rounds: u64, labels: i64 },
    /// In a container, block by block.
    #[cfg(feature = "formats")]
    Stored { cursor: Box<Cursor>, position: usize, total: u64 },
}

impl Steps {
    /// Takes the next event; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<Event>, SourceError> {
        let (event, position) = match self {
            Self::Memory { events, position, round, rounds, labels } => {
                if *position == events.len() && *round + 1 < *rounds {
                    (*position, *round) = (0, *round + 1);
                }
                let event = match events.get_mut(*position) {
                    // With a single round the event is not needed again.
                    Some(event) if *rounds == 1 => Some(std::mem::replace(event, Event::Compute(Picoseconds(0)))),
                    event => event.map(|event| event.relabelled((*round as i64).wrapping_mul(*labels))),
                };
                (event, position)
            }
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
            Self::Memory { events, position, round, rounds, .. } => {
                (*round as usize * events.len() + *position, *rounds * events.len() as u64)
            }
            #[cfg(feature = "formats")]
            Self::Stored { position, total, .. } => (*position, *total),
        }
    }

    /// The number of the present round, from 0.
    pub(super) const fn round(&self) -> u64 {
        match self {
            Self::Memory { round, .. } => *round,
            #[cfg(feature = "formats")]
            Self::Stored { .. } => 0,
        }
    }

    /// Number of events in so many rounds.
    pub(super) fn events_of_rounds(&self, count: u64) -> usize {
        match self {
            Self::Memory { events, .. } => events.len() * count as usize,
            #[cfg(feature = "formats")]
            Self::Stored { .. } => 0,
        }
    }

    /// Continues at the same position so many rounds later. A task without events has no rounds.
    pub(super) fn add_rounds(&mut self, count: u64) {
        if let Self::Memory { events, round, .. } = self
            && !events.is_empty()
        {
            *round += count;
        }
    }
}

//! Energy, power and area of a run, from counts of events and a table with the energy of each event.
//!
//! [`Counts`] holds the events of a network in a run, or those of a file that [`write()`] has written; an
//! [`EnergyModel`] turns them into an [`Estimate`]. No network model depends on energy, and nothing is counted unless a
//! table is named.
//!
//! # How the model departs from reality, and who could notice
//! A table is a few constants of one process, cable or device. Real power depends on data, temperature and voltage;
//! designers of chips measure it with tools of their own. A table serves for comparisons: of two topologies, routings
//! or widths of links under the same table. Results say that they are estimates, and name the table.
//!
//! Decision: docs/decisions/0480-energy.md.

mod booksim;
mod counts;
mod estimate;
mod events;
mod file;
mod noxim;
mod of_run;
mod tech;

use std::fmt;
use std::path::Path;

use trgen::catalog::{Component, Described, SpecError, Table};

pub use counts::{BORDER, Channel, ChannelKind, Counts, Hosts, Ports, RouterCounts};
pub use estimate::six_digits;
pub use estimate::{Area, Component as EnergyComponent, Estimate, Range};
pub use file::{read, write};
pub(crate) use of_run::{classes_of, no_links, no_routers, no_time};
pub(crate) use of_run::{counts_of_run, energy_of};

/// Makes a model from the words behind the colon; files are relative to the folder.
pub type Parse = fn(Option<&str>, &Path) -> Result<Box<dyn EnergyModel>, SpecError>;

/// A member of the family: its description, and how its words become a model.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name, definition, parameters, source.
    pub component: Component,
    /// Parses the words behind the colon. Files are relative to the folder.
    pub parse: Parse,
    /// The file that the words behind the colon name, if they name one.
    pub file: for<'a> fn(&'a str) -> Option<&'a str>,
    /// True if it needs the flits from each input to each output of each router.
    pub needs_routers: bool,
}

impl Described for Row {
    fn component(&self) -> &Component {
        &self.component
    }
}

/// How counts become energy.
pub trait EnergyModel: Send + Sync + fmt::Debug {
    /// The energy of the counted events.
    ///
    /// # Errors
    /// Counts that the model needs and that are missing; a class of links or routers without an entry in its table.
    fn estimate(&self, counts: &Counts) -> Result<Estimate, SpecError>;

    /// Refuses a network whose links have classes that the table does not have.
    ///
    /// # Errors
    /// The first of these classes.
    fn check(&self, _classes: &[String]) -> Result<(), SpecError> {
        Ok(())
    }

    /// Refuses a network whose buffers have a size that the table does not have.
    ///
    /// # Errors
    /// That size, with those of the table.
    fn check_sizes(&self, _sizes: Sizes) -> Result<(), SpecError> {
        Ok(())
    }
}

/// Sizes of the buffers of routers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// \[flits\] The buffer of a virtual channel.
    pub buffer: u64,
    /// \[bits\] A flit.
    pub flit_bits: u64,
}

/// All models of energy. One line per member.
pub static ENERGY_MODELS: Table<Row> = Table::new("energy model", &[&booksim::BOOKSIM, &events::EVENTS, &noxim::NOXIM]);

/// A model of energy with its words.
#[derive(Clone, Debug)]
pub struct Named {
    /// The words that name it.
    pub words: String,
    /// Its member of the family.
    pub row: &'static Row,
    /// The model.
    pub model: std::sync::Arc<dyn EnergyModel>,
}

impl Named {
    /// Its description.
    #[must_use]
    pub const fn component(&self) -> &'static Component {
        &self.row.component
    }
}

/// The row and the words behind the colon.
fn split(words: &str) -> Result<(&'static Row, Option<&str>), SpecError> {
    let (name, rest) = words.split_once(':').map_or((words, None), |(name, rest)| (name, Some(rest)));
    Ok((ENERGY_MODELS.find(name).ok_or_else(|| ENERGY_MODELS.unknown(name))?, rest))
}

/// The model that `words` name, such as `booksim:32nm.txt,width=64`; files are relative to `folder`.
///
/// # Errors
/// Names that are not known, files that cannot be read or are no tables.
pub fn parse(words: &str, folder: &Path) -> Result<Named, SpecError> {
    let (row, rest) = split(words)?;
    Ok(Named { words: words.to_owned(), row, model: (row.parse)(rest, folder)?.into() })
}

/// The file that `words` name, if they name one.
#[must_use]
pub fn file_of(words: &str) -> Option<&Path> {
    let (row, rest) = split(words).ok()?;
    (row.file)(rest?).map(Path::new)
}

/// The words with another file in place of the one that they name.
#[must_use]
pub fn with_file(words: &str, file: &Path) -> String {
    let Some(old) = file_of(words).and_then(Path::to_str) else { return words.to_owned() };
    // `old` is a part of `words`: other parts may have the same text.
    let begin = old.as_ptr().addr() - words.as_ptr().addr();
    format!("{}{}{}", &words[..begin], file.display(), &words[begin + old.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file may be called like a part of the words before it.
    #[test]
    fn another_file_takes_the_place_of_the_file_alone() {
        let with = |words| with_file(words, Path::new("inputs/k.txt"));
        assert_eq!(with("booksim:k"), "booksim:inputs/k.txt");
        assert_eq!(with("booksim:width=64,64"), "booksim:width=64,inputs/k.txt");
        assert_eq!(with("booksim: my.txt ,width=64"), "booksim: inputs/k.txt ,width=64");
        assert_eq!(with("events:my.toml"), "events:inputs/k.txt");
        assert_eq!(with("events:chip-32nm"), "events:chip-32nm");
        assert_eq!(with("booksim"), "booksim");
    }
}

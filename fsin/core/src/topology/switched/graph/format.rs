//! Formats of networks: rows of a table, in which a text is recognised by what it says, whatever its file is called.
//!
//! A format that is read states a text to a [description](Description), which alone gives it a meaning.
//! Formats that are known and not read are rows too, each with its remedy, so that no reader complains about a text of
//! another format. The only row of this crate is the list of links; those of other tools are in the crate
//! `fsin-networks`, and programs add their own.
//!
//! Decisions: docs/decisions/0190-formats-of-networks.md, docs/decisions/0400-files-of-the-field.md,
//! docs/decisions/0570-formats-of-networks-outside.md.

use trgen::catalog::{Component, Described, SpecError, Table};

use super::description::Description;
use super::list;

/// Reads a text: states its nodes and edges one by one.
pub type Reader = fn(&str, &mut Description<'_>) -> Result<(), SpecError>;

/// What the names of nodes say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Names {
    /// A node whose name begins with H is a host.
    Letter,
    /// Nothing: a node is a switch unless an attribute says otherwise.
    Labels,
    /// Nothing: the format says which nodes are hosts.
    Stated,
}

/// What is done with a text of a format.
#[derive(Clone, Copy, Debug)]
pub enum Read {
    /// It is read.
    As(Reader),
    /// It is known and not read: the remedy, with settings in braces.
    Not(&'static str),
}

/// A format: a row of [`FORMATS`].
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Name, definition, parameters (none), source.
    pub component: Component,
    /// What a text of it is, as errors begin and as `fsin topology` says: `a list of ns-3`.
    pub called: &'static str,
    /// True for a text of this format.
    pub is: fn(&str) -> bool,
    /// What is done with it.
    pub read: Read,
    /// What the names of nodes say.
    pub names: Names,
    /// Words that otherwise mean something of a network, and in this format do not; in small letters.
    pub decoration: &'static [&'static str],
    /// True if a line is a statement, so that a text that was cut has a last line without its end.
    pub is_lines: bool,
    /// True if the format requires a rate and a delay for each link: a file cannot leave them out.
    pub has_times: bool,
    /// True if links may have directions that share one bandwidth, which `shared=duplex` concerns.
    pub has_sharing: bool,
    /// True for what a text is that no other format knows. Its refusals do not begin with its name.
    pub takes_the_rest: bool,
}

impl Format {
    /// A format that is read, with nothing special: names of nodes are labels.
    #[must_use]
    pub const fn new(component: Component, called: &'static str, is: fn(&str) -> bool, reader: Reader) -> Self {
        Self {
            component,
            called,
            is,
            read: Read::As(reader),
            names: Names::Labels,
            decoration: &[],
            is_lines: false,
            has_times: false,
            has_sharing: false,
            takes_the_rest: false,
        }
    }

    /// A format that is known and not read; settings of the remedy stand in braces.
    #[must_use]
    pub const fn known(name: &'static str, called: &'static str, is: fn(&str) -> bool, remedy: &'static str) -> Self {
        let component = Component { name, about: "known, and not read", parameters: &[], source: "" };
        let reader: Reader = list::parse;
        Self { read: Read::Not(remedy), ..Self::new(component, called, is, reader) }
    }

    /// True if texts of this format are read.
    #[must_use]
    pub const fn is_read(&self) -> bool {
        matches!(self.read, Read::As(_))
    }
}

impl Described for Format {
    fn component(&self) -> &Component {
        &self.component
    }
}

/// The list of links, fsin's own format.
pub static LIST: Format = Format {
    names: Names::Letter,
    is_lines: true,
    takes_the_rest: true,
    ..Format::new(
        Component {
            name: "links",
            about: "fsin's own list: a line `A B` for each link both ways, `A -> B` for one direction, with words and values behind it \
                    (rate 10Gb/s delay 4us), or `A endpoints 2`; nodes named H... are hosts",
            parameters: &[],
            source: "fsin",
        },
        "a list of links",
        |_| true,
        list::parse,
    )
};

/// The formats of networks. The first one that knows a text counts, and the one that takes the rest comes last,
/// wherever it stands.
pub static FORMATS: Table<Format> = Table::new("format of networks", &[&LIST]);

/// The format of a text.
pub(super) fn of(text: &str) -> &'static Format {
    let rows = FORMATS.rows().iter().copied();
    let known = rows.clone().find(|format| !format.takes_the_rest && (format.is)(text));
    known.or_else(|| rows.clone().find(|format| format.takes_the_rest)).unwrap_or(&LIST)
}

//! The table of spreads: which of several equal links of a switch a frame takes.

use std::fmt;
use std::str::FromStr;

use trgen::catalog::{Component, Described, SpecError, Table};
use trgen::rng::{mix2, pick};

/// The frame for which a switch chooses, and what it chooses from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choosing {
    /// Seed of the run.
    pub seed: u64,
    /// Number of the switch, from 0.
    pub switch: u32,
    /// The hosts between which the frame travels.
    pub source: u32,
    /// The host to which it travels.
    pub destination: u32,
    /// What tells connections of the same hosts apart; 0 where transports have none for each message.
    pub entropy: u16,
    /// Number of links, 2 or more.
    pub links: u32,
}

/// A row of the table.
#[derive(Clone, Copy)]
pub struct Row {
    /// Name, definition, source.
    pub component: Component,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// The link, below [`Choosing::links`]; a greater number is taken modulo these. `None`: every route has one path,
    /// and nothing is chosen.
    pub choose: Option<fn(&Choosing) -> u32>,
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Row").field("name", &self.component.name).finish_non_exhaustive()
    }
}

impl Described for Row {
    fn component(&self) -> &Component {
        &self.component
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }
}

static ONE: Row = Row {
    component: Component {
        name: "one",
        about: "every frame takes the same of several shortest paths: the first, or those of hosts and planes in turn",
        parameters: &[],
        source: "fsin's own",
    },
    aliases: &[],
    choose: None,
};

static ECMP: Row = Row {
    component: Component {
        name: "ecmp",
        about: "a flow takes one of all shortest paths, by a hash of its fields, which differs from switch to switch",
        parameters: &[],
        source: "RFC 2992",
    },
    aliases: &["hash"],
    choose: Some(hash),
};

/// All spreads.
pub static SPREADS: Table<Row> = Table::new("spread", &[&ONE, &ECMP]);

/// A link by a hash of the flow and the switch.
#[inline]
pub(crate) fn hash(of: &Choosing) -> u32 {
    let hosts = u64::from(of.source) << 32 | u64::from(of.destination);
    let flow = if of.entropy == 0 { hosts } else { mix2(hosts, of.entropy.into()) };
    pick(mix2(mix2(of.seed, flow), of.switch.into()), of.links)
}

/// The spread of a run.
#[derive(Clone, Copy, Debug)]
pub struct Spread(&'static Row);

impl Spread {
    /// One path for every frame.
    pub const ONE: Self = Self(&ONE);
    /// All shortest paths, by a hash.
    pub const ECMP: Self = Self(&ECMP);

    /// True if a frame may take any of several paths.
    #[must_use]
    pub const fn is_several(self) -> bool {
        self.0.choose.is_some()
    }

    /// The name of its row.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.component.name
    }

    /// The rule, where it is not the [`hash`] of this crate.
    pub(crate) fn other(self) -> Option<fn(&Choosing) -> u32> {
        self.0.choose.filter(|_| !std::ptr::eq(self.0, &ECMP))
    }
}

/// Rows have names of their own.
impl PartialEq for Spread {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl FromStr for Spread {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        SPREADS.find(text).map(Self).ok_or_else(|| SPREADS.unknown(text))
    }
}

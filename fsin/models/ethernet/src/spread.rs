//! The table of spreads: which of several equal links of a switch a frame takes.

use std::fmt;
use std::str::FromStr;

use trgen::catalog::{Component, Described, Parameter, SpecError, Table};
use trgen::rng::{mix2, pick};
use trgen::synthetic::expr::{Call, Expr, find};

use crate::rules::cc::given;

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
        about: "a frame takes one of all shortest paths, by a hash of its flow and entropy, which differs from switch to switch",
        parameters: &[Parameter {
            name: "hash",
            about: "mixed, or digit: the entropy modulo the number of paths, for comparisons",
            range: "mixed or digit",
            default: "mixed",
        }],
        source: "RFC 2992",
    },
    aliases: &["hash"],
    choose: Some(hash),
};

/// `ecmp:hash=digit`.
static DIGIT: Row = Row { choose: Some(digit), ..ECMP };

/// A row whose choice depends on state of the switch.
const fn kept(name: &'static str, about: &'static str, source: &'static str) -> Row {
    Row { component: Component { name, about, parameters: &[], source }, aliases: &[], choose: Some(hash) }
}

static ADAPTIVE: Row = kept(
    "adaptive",
    "each data frame takes one of the paths whose queue is of the lowest of four grades, drawn among these; short frames as \
     with ecmp; needs {trim}",
    "ultraethernet/uet-htsim",
);
static ROUND_ROBIN: Row = kept(
    "round-robin",
    "data frames take the paths in turn, in an order that each switch draws anew after each round; short frames as with ecmp",
    "ultraethernet/uet-htsim; Broadcom/csg-htsim",
);
static HASH_ADAPTIVE: Row = kept(
    "hash-adaptive",
    "as ecmp, but every second frame, by a coin, leaves a path whose queue is of the worst grade for one of the best; needs \
     {trim}",
    "ultraethernet/uet-htsim",
);

/// All spreads.
pub static SPREADS: Table<Row> = Table::new("spread", &[&ONE, &ECMP, &ADAPTIVE, &ROUND_ROBIN, &HASH_ADAPTIVE]);

/// A link by a hash of the flow and the switch.
#[inline]
pub(crate) fn hash(of: &Choosing) -> u32 {
    let hosts = u64::from(of.source) << 32 | u64::from(of.destination);
    let flow = if of.entropy == 0 { hosts } else { mix2(hosts, of.entropy.into()) };
    pick(mix2(mix2(of.seed, flow), of.switch.into()), of.links)
}

/// A link by the entropy alone.
fn digit(of: &Choosing) -> u32 {
    u32::from(of.entropy) % of.links
}

/// A rule that depends on state of the switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kept {
    /// One of the outputs of the lowest grade.
    Adaptive,
    /// One after the other.
    RoundRobin,
    /// By the hash, away from outputs of the worst grade.
    HashAdaptive,
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

    /// The rule, if it depends on state of the switch.
    pub(crate) fn kept(self) -> Option<Kept> {
        let rules =
            [(&ADAPTIVE, Kept::Adaptive), (&ROUND_ROBIN, Kept::RoundRobin), (&HASH_ADAPTIVE, Kept::HashAdaptive)];
        rules.into_iter().find(|(row, _)| std::ptr::eq(*row, self.0)).map(|(_, rule)| rule)
    }

    /// True if it reads the lengths of queues.
    pub(crate) fn reads_queues(self) -> bool {
        matches!(self.kept(), Some(Kept::Adaptive | Kept::HashAdaptive))
    }

    /// The rule, where it is not the [`hash`] of this crate.
    pub(crate) fn other(self) -> Option<fn(&Choosing) -> u32> {
        self.0.choose.filter(|_| !std::ptr::eq(self.0, &ECMP))
    }
}

impl PartialEq for Spread {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl FromStr for Spread {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let expr = Expr::parse(text)?;
        let row = find("spread", SPREADS.rows(), text, &expr)?;
        let call = Call::bind(text, &expr, &row.component)?;
        if !std::ptr::eq(row, &ECMP) {
            return Ok(Self(row));
        }
        let hash = |expr: &Expr| match expr.word()? {
            "mixed" => Some(Self::ECMP),
            "digit" => Some(Self(&DIGIT)),
            _ => None,
        };
        Ok(given(&call, "hash", "mixed or digit", hash)?.unwrap_or(Self::ECMP))
    }
}

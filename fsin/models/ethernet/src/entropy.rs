//! The table of balancers: how a sender chooses the entropy of each frame, by which switches choose its path.

use trgen::catalog::{Component, Described, ErrorKind, Parameter, SpecError, Table};
use trgen::synthetic::expr::{Call, Expr, find};

use crate::params::Transport;
use crate::rules::cc::{count, switch};
pub use crate::rules::spray::balancer::{Balancing, Rule};

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name, definition, parameters, source.
    pub component: Component,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// Its rule.
    pub rule: Rule,
}

impl Described for Row {
    fn component(&self) -> &Component {
        &self.component
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }
}

const fn row(name: &'static str, rule: Rule, about: &'static str, source: &'static str) -> Row {
    const PARAMETERS: &[Parameter] = &[
        Parameter { name: "paths", about: "number of entropies", range: "a power of two, up to 32768", default: "64" },
        Parameter {
            name: "draw",
            about: "orders are drawn; else they are those of numbers",
            range: "true or false",
            default: "true",
        },
    ];
    let parameters: &[Parameter] = if matches!(rule, Rule::Single) { &[] } else { PARAMETERS };
    Row { component: Component { name, about, parameters, source }, aliases: &[], rule }
}

const UEC: &str = "Ultra Ethernet Specification 1.0; ultraethernet/uet-htsim";
const REPS_PAPER: &str = "Bonato and others, REPS: Recycled Entropy Packet Spraying, 2024";

static OBLIVIOUS: Row = row("oblivious", Rule::Oblivious, "every entropy in turn, in an order that is drawn anew", UEC);
static BITMAP: Row = row(
    "bitmap",
    Rule::Bitmap,
    "every entropy in turn, but those whose frames were marked, trimmed or timed out are passed over for a while",
    UEC,
);
static REPS: Row = row(
    "reps",
    Rule::Reps,
    "entropies whose frames came through unmarked are used again, out of a ring of 8; frozen after a time-out",
    REPS_PAPER,
);
static REPS_LEGACY: Row = row(
    "reps-legacy",
    Rule::RepsLegacy,
    "the same with a list without bound, after one round of all entropies",
    REPS_PAPER,
);
static MIXED: Row = row("mixed", Rule::Mixed, "entropies that came through, else as bitmap; the default of uec", UEC);
static SINGLE: Row = row("single", Rule::Single, "one entropy: all frames of a message on one path", "RFC 2992");
static CYCLE: Row = row(
    "cycle",
    Rule::Cycle,
    "permutations of all entropies, one after the other; the default of ndp",
    "Handley and others, NDP, SIGCOMM 2017",
);

/// All balancers.
pub static ENTROPIES: Table<Row> =
    Table::new("balancer", &[&OBLIVIOUS, &BITMAP, &REPS, &REPS_LEGACY, &MIXED, &SINGLE, &CYCLE]);

/// The balancer that a word names, with its parameters: `bitmap:paths=16,draw=false`.
///
/// # Errors
/// A name that no row has, or a parameter that cannot be used.
pub fn parse(text: &str) -> Result<Balancing, SpecError> {
    let expr = Expr::parse(text)?;
    let row = find("balancer", ENTROPIES.rows(), text, &expr)?;
    let call = Call::bind(text, &expr, &row.component)?;
    if row.rule == Rule::Single {
        return Ok(Balancing { rule: Rule::Single, paths: 1, draws: true });
    }
    let paths = count(&call, "paths", 1)?.unwrap_or(64);
    if !paths.is_power_of_two() || paths > 1 << 15 {
        let error = call.refuse_all(&format!("paths = {paths} is no power of two up to 32768"), "use 16, 64 or 256");
        return Err(error.of_kind(ErrorKind::OutOfRange).given(paths));
    }
    Ok(Balancing { rule: row.rule, paths: paths as u32, draws: switch(&call, "draw")?.unwrap_or(true) })
}

/// The balancer of a transport where none is named.
#[must_use]
pub const fn usual(transport: Transport) -> Balancing {
    let rule = if matches!(transport, Transport::Ndp) { Rule::Cycle } else { Rule::Mixed };
    Balancing { rule, paths: 64, draws: true }
}

//! The table of transports: order, loss and acknowledgement at hosts.

use trgen::catalog::{Component, Described, Parameter, SpecError, Table};
use trgen::synthetic::expr::{Call, Expr, find};
use trgen::units;

use crate::params::Transport;
use crate::rules::cc::{count, given, switch};

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name, definition, source.
    pub component: Component,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// What it is.
    pub(crate) transport: Transport,
}

impl Described for Row {
    fn component(&self) -> &Component {
        &self.component
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }
}

/// The parameters of transports that spray frames over paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spraying {
    /// \[bytes\] Uec: data on the wire after which a receiver acknowledges.
    pub ack_every: u64,
    /// Uec: true if a pair of hosts begins with the round trip of its own path, false if with that of the network.
    pub base_of_pairs: bool,
    /// Uec: true if the round trip of a trimmed frame may lower the base round trip.
    pub base_on_trim: bool,
    /// \[frames\] Ndp: frames that are sent before any answer.
    pub initial_window: u64,
}

impl Default for Spraying {
    fn default() -> Self {
        Self { ack_every: 16_384, base_of_pairs: false, base_on_trim: true, initial_window: 15 }
    }
}

impl Spraying {
    /// The parameters behind the name of a transport: `uec:ack-every=8192B`.
    ///
    /// # Errors
    /// A parameter that the transport does not have, or a value that cannot be used.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let expr = Expr::parse(text)?;
        let row = find("transport", TRANSPORTS.rows(), text, &expr)?;
        let call = Call::bind(text, &expr, &row.component)?;
        let default = Self::default();
        let bytes = |expr: &Expr| units::bytes(expr.word()?).filter(|bytes| (1..1 << 40).contains(bytes));
        let base = |expr: &Expr| match expr.word()? {
            "pair" => Some(true),
            "network" => Some(false),
            _ => None,
        };
        let has = |name: &str| row.component.parameters.iter().any(|one| one.name == name);
        Ok(Self {
            ack_every: if has("ack-every") { given(&call, "ack-every", "a size in bytes", bytes)? } else { None }
                .unwrap_or(default.ack_every),
            base_of_pairs: if has("base-rtt") { given(&call, "base-rtt", "pair or network", base)? } else { None }
                .unwrap_or(default.base_of_pairs),
            base_on_trim: if has("base-rtt-on-trim") { switch(&call, "base-rtt-on-trim")? } else { None }
                .unwrap_or(default.base_on_trim),
            initial_window: if has("initial-window") { count(&call, "initial-window", 1)? } else { None }
                .unwrap_or(default.initial_window),
        })
    }
}

/// A row without parameters.
const fn row(transport: Transport, about: &'static str, source: &'static str) -> Row {
    Row { component: Component { name: transport.name(), about, parameters: &[], source }, aliases: &[], transport }
}

static ORACLE: Row = row(
    Transport::Oracle,
    "the sender of a lost frame learns of the loss at once, and sends the frame again at once",
    "fsin's own",
);
static BACKOFF: Row = row(
    Transport::Backoff,
    "as oracle, but a frame that is lost again is sent after a wait that is drawn",
    "fsin's own",
);
static NONE: Row = row(Transport::None, "the message of a lost frame is lost", "fsin's own");
static WINDOW: Row = row(
    Transport::Window,
    "a sliding window with acknowledgements, as TCP has; {cc} newreno if it is absent",
    "RFC 5681, RFC 6298, RFC 6582",
);
static ROCE: Row = row(
    Transport::Roce,
    "a connection for each message: frames paced at a rate, an acknowledgement of each, and back to the gap after a negative \
     one, as RoCE v2 has; {cc} none if it is absent",
    "InfiniBand Architecture Specification, annex A17; alibaba-edu/High-Precision-Congestion-Control",
);

static UEC: Row = Row {
    component: Component {
        parameters: &[
            Parameter {
                name: "ack-every",
                about: "data on the wire after which a receiver acknowledges",
                range: "a size in bytes",
                default: "16384B",
            },
            Parameter {
                name: "base-rtt",
                about: "the round trip with which a connection begins: of the longest path of the network, or of its own pair",
                range: "network or pair",
                default: "network",
            },
            Parameter {
                name: "base-rtt-on-trim",
                about: "the round trip of a trimmed frame may lower the least",
                range: "true or false",
                default: "true",
            },
        ],
        ..row(
            Transport::Uec,
            "Ultra Ethernet: a connection for each message, whose frames are sprayed over paths by the entropies of {entropy}; \
             selective acknowledgements, trimmed frames sent again at once, time-outs and requests to send; {cc} nscc if it is \
             absent",
            "Ultra Ethernet Specification 1.0; ultraethernet/uet-htsim",
        )
        .component
    },
    ..row(Transport::Uec, "", "")
};
static NDP: Row = Row {
    component: Component {
        parameters: &[Parameter {
            name: "initial-window",
            about: "frames that are sent before any answer",
            range: "1..",
            default: "15",
        }],
        ..row(
            Transport::Ndp,
            "NDP: a connection for each message, whose frames are sprayed over paths; the first window at once, then a frame for \
             each pull of the receiver, which paces them; needs {trim}, and has no time-out",
            "Handley and others, NDP, SIGCOMM 2017; Broadcom/csg-htsim",
        )
        .component
    },
    ..row(Transport::Ndp, "", "")
};

/// All transports.
pub static TRANSPORTS: Table<Row> = Table::new("transport", &[&ORACLE, &BACKOFF, &NONE, &WINDOW, &ROCE, &UEC, &NDP]);

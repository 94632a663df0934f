//! Transports: the table of rows (order, loss and acknowledgement at hosts), and what a row is.
//!
//! A transport from outside is a state machine of one connection, both ends of it, without network and engine. Its
//! frames are sprayed over paths, as those of `uec`: it is asked for frames at its turns at the port of its host, and
//! told of frames that arrive, answers and timers.
//!
//! Decision: docs/decisions/0522-transports-from-outside.md.

use std::fmt;
use std::sync::Arc;

use trgen::catalog::{Component, Described, Parameter, SpecError, Table};
use trgen::synthetic::expr::{Call, Expr, find};
use trgen::units;

use crate::params::Transport;
use crate::rules::cc::{count, given, switch};

/// What a connection is opened for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Opened {
    /// Number of data frames of its message, 1 or more; they are numbered from 0.
    pub frames: u32,
    /// \[bytes\] A full frame on the wire.
    pub frame_bytes: u32,
    /// \[b/s\] Rate of the link of the host that sends.
    pub rate: u64,
    /// \[ps\] Round trip of the longest path over empty links.
    pub round_trip: u64,
    /// \[ps\] Time without an answer after which a frame may be taken as lost: 15 us and six full queues.
    pub time_out: u64,
}

/// A data frame that has come to its destination, or what trimming has left of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrived {
    /// \[ps\] Time.
    pub now: u64,
    /// Number of the frame.
    pub number: u32,
    /// True if a switch has seen a long queue.
    pub is_marked: bool,
    /// True if its data were cut off: it has to be sent again.
    pub is_trimmed: bool,
}

/// An answer that has come back to the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answered {
    /// \[ps\] Time.
    pub now: u64,
    /// What the receiver [has answered](Connection::arrived).
    pub answer: u64,
    /// The mark of the frame that it answers.
    pub is_marked: bool,
}

/// Both ends of a connection of a transport from outside. All times are in ps, and do not decrease from call to call.
pub trait Connection: fmt::Debug + Send {
    /// The number of the frame that may be sent now, if any. It is asked for at each turn at the port, and whenever the
    /// sender was told something. A number that no frame has counts as none.
    fn next(&self) -> Option<u32>;

    /// Is told that the [next](Self::next) frame begins to be sent.
    fn sent(&mut self, now: u64, number: u32);

    /// Is told of a frame that has come to the receiver. Returns what the receiver answers, if it does: a number that
    /// travels back in a control frame.
    fn arrived(&mut self, of: &Arrived) -> Option<u64>;

    /// Is told of an answer that has come to the sender. Returns true if the sender knows now that all frames have
    /// arrived; it has no effect before they have.
    fn answered(&mut self, of: &Answered) -> bool;

    /// \[ps\] When the sender takes something as lost; `None` if it waits for nothing. A time that is over counts as
    /// the next ps. A connection that waits for ever for a frame or an answer that was lost is given up, and the
    /// result says so.
    fn deadline(&self) -> Option<u64> {
        None
    }

    /// Is told that the [deadline](Self::deadline) has come.
    fn expired(&mut self, _now: u64) {}
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name, definition, parameters, source.
    pub component: Component,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// Reads its parameters.
    ///
    /// # Errors
    /// A parameter that cannot be used.
    pub build: fn(&Call<'_>) -> Result<Built, SpecError>,
}

impl Row {
    /// What the row is. Names are unique: another name is of a row from outside.
    pub(crate) fn transport(&self) -> Transport {
        let name = self.component.name;
        Transport::STANDARD.into_iter().find(|one| one.name() == name).unwrap_or(Transport::Own(name))
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

/// A transport with its parameters.
#[derive(Clone, Debug)]
pub struct Built {
    pub(crate) spraying: Spraying,
    pub(crate) connections: Option<Connections>,
}

impl Built {
    /// Of a row from outside: `open` begins the state of a connection.
    pub fn new(open: impl Fn(&Opened) -> Box<dyn Connection> + Send + Sync + 'static) -> Self {
        Self { spraying: Spraying::default(), connections: Some(Connections::new(open)) }
    }

    /// Of a row of this crate.
    const fn of(spraying: Spraying) -> Self {
        Self { spraying, connections: None }
    }

    /// The transport that a word names, with its parameters: `uec:ack-every=8192B`.
    ///
    /// # Errors
    /// A name that no row has, or a parameter that cannot be used.
    pub(crate) fn parse(text: &str) -> Result<Self, SpecError> {
        let expr = Expr::parse(text)?;
        let row = find("transport", TRANSPORTS.rows(), text, &expr)?;
        let mut built = (row.build)(&Call::bind(text, &expr, &row.component)?)?;
        if let Some(connections) = &mut built.connections {
            text.clone_into(&mut connections.text);
        }
        Ok(built)
    }
}

/// Begins the state of a connection.
type Open = dyn Fn(&Opened) -> Box<dyn Connection> + Send + Sync;

/// What opens the connections of a transport from outside.
#[derive(Clone)]
pub struct Connections {
    /// The word that named it.
    text: String,
    open: Arc<Open>,
}

impl Connections {
    /// `open` begins the state of a connection.
    pub fn new(open: impl Fn(&Opened) -> Box<dyn Connection> + Send + Sync + 'static) -> Self {
        Self { text: String::new(), open: Arc::new(open) }
    }

    pub(crate) fn open(&self, of: &Opened) -> Box<dyn Connection> {
        (self.open)(of)
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Connections").field(&self.text).finish()
    }
}

/// Rows have names of their own.
impl PartialEq for Connections {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
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

impl Spraying {
    const USUAL: Self = Self { ack_every: 16_384, base_of_pairs: false, base_on_trim: true, initial_window: 15 };
}

impl Default for Spraying {
    fn default() -> Self {
        Self::USUAL
    }
}

/// A row without parameters.
const fn row(transport: Transport, about: &'static str, source: &'static str) -> Row {
    let component = Component { name: transport.name(), about, parameters: &[], source };
    Row { component, aliases: &[], build: |_| Ok(Built::of(Spraying::USUAL)) }
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
    build: |call| {
        let bytes = |expr: &Expr| units::bytes(expr.word()?).filter(|bytes| (1..1 << 40).contains(bytes));
        let base = |expr: &Expr| match expr.word()? {
            "pair" => Some(true),
            "network" => Some(false),
            _ => None,
        };
        let usual = Spraying::USUAL;
        Ok(Built::of(Spraying {
            ack_every: given(call, "ack-every", "a size in bytes", bytes)?.unwrap_or(usual.ack_every),
            base_of_pairs: given(call, "base-rtt", "pair or network", base)?.unwrap_or(usual.base_of_pairs),
            base_on_trim: switch(call, "base-rtt-on-trim")?.unwrap_or(usual.base_on_trim),
            ..usual
        }))
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
    build: |call| {
        let usual = Spraying::USUAL;
        let initial_window = count(call, "initial-window", 1)?.unwrap_or(usual.initial_window);
        Ok(Built::of(Spraying { initial_window, ..usual }))
    },
    ..row(Transport::Ndp, "", "")
};

/// The names of the transports for which something holds, in the order of the table.
pub(crate) fn names(holds: impl Fn(Transport) -> bool) -> Vec<&'static str> {
    let rows = TRANSPORTS.rows().iter().filter(|row| holds(row.transport()));
    rows.map(|row| row.component.name).collect()
}

/// All transports.
pub static TRANSPORTS: Table<Row> = Table::new("transport", &[&ORACLE, &BACKOFF, &NONE, &WINDOW, &ROCE, &UEC, &NDP]);

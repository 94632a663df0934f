//! The table of transports: what a host does about order, loss and acknowledgement.

use trgen::catalog::{Component, Described, Table};

use crate::params::Transport;

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

/// All transports.
pub static TRANSPORTS: Table<Row> = Table::new("transport", &[&ORACLE, &BACKOFF, &NONE, &WINDOW, &ROCE]);

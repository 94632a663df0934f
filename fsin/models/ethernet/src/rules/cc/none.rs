//! No congestion control: the rate of the link, and the limit of the transport.

use trgen::catalog::Component;

use crate::cc::{Built, Machine, Row};

/// The row of the table.
pub(crate) static ROW: Row = Row {
    component: Component {
        name: "none",
        about: "no congestion control: the rate of the link, and what {window} or {in-flight} allows",
        parameters: &[],
        source: "fsin's own",
    },
    aliases: &[],
    transports: &["oracle", "backoff", "none", "window", "roce", "ndp"],
    needs: &[],
    build: |_| Ok(Built::of(|_| Machine::None)),
};

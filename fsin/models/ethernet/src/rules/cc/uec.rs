//! NSCC and RCCC, the congestion controls of Ultra Ethernet: their rows. Their state machines belong to the
//! [transport](super::super::spray).
//!
//! Source: Ultra Ethernet Specification 1.0, 3.6.13 and 3.6.14.

use trgen::catalog::{Component, Parameter, SpecError};
use trgen::synthetic::expr::Call;

use super::count;
use crate::cc::{Built, Machine, OfUec, Row};

/// The parameters of rows with a window.
const OF_WINDOW: &[Parameter] = &[Parameter {
    name: "qa-gate",
    about: "binary logarithm of the share of the window below which a quick adaptation is made",
    range: "0..31",
    default: "3",
}];

const fn row(name: &'static str, about: &'static str, build: fn(&Call<'_>) -> Result<Built, SpecError>) -> Row {
    let has_window = !matches!(name.as_bytes(), b"rccc");
    Row {
        component: Component {
            name,
            about,
            parameters: if has_window { OF_WINDOW } else { &[] },
            source: "Ultra Ethernet Specification 1.0; ultraethernet/uet-htsim",
        },
        aliases: &[],
        transports: &["uec"],
        needs: &[],
        build,
    }
}

pub(crate) static NSCC: Row = row(
    "nscc",
    "a window at the sender, by marks and the delay of acknowledgements, with a quick adaptation after trims",
    |call| built(call, true, false),
);
pub(crate) static RCCC: Row =
    row("rccc", "credits of the receiver, which shares its link among its senders; no window", |call| {
        built(call, false, true)
    });
pub(crate) static BOTH: Row =
    row("both", "nscc and rccc together: a frame needs room in the window, and credit", |call| built(call, true, true));

fn built(call: &Call<'_>, has_window: bool, has_credits: bool) -> Result<Built, SpecError> {
    let gate = if has_window { count(call, "qa-gate", 0)? } else { None }.unwrap_or(3);
    if gate > 31 {
        return Err(call.refuse_all("qa-gate is above 31", "use 0 to 31"));
    }
    let of_uec = Some(OfUec { has_window, has_credits, qa_gate: gate as u32 });
    Ok(Built { of_uec, ..Built::of(|_| Machine::None) })
}

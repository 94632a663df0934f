//! Messages of one size.

use super::{Entry, LONGEST, Law, LawContext, in_full_packets};
use crate::catalog::{Component, Parameter};
use crate::rng::Stream;

pub(super) static CONSTANT: Entry = Entry {
    component: Component {
        name: "constant",
        about: "every message has the same size",
        parameters: &[Parameter {
            name: "phits",
            about: "size of every message [phit]",
            range: "1..=16777216",
            default: "packet length",
        }],
        source: "the usual assumption",
    },
    aliases: &[],
    build: |call, LawContext { packet_phits, .. }| {
        let phits = if call.given("phits").is_some() {
            call.integer("phits", 1..=LONGEST)? as u64
        } else {
            u64::from(packet_phits)
        };
        Ok(Box::new(Constant { phits, carried: in_full_packets(phits, packet_phits) }))
    },
};

/// The law `constant`.
#[derive(Debug)]
struct Constant {
    /// \[phit\] Size of every message.
    phits: u64,
    /// \[phit\] That size in full packets.
    carried: u64,
}

impl Law for Constant {
    fn phits(&mut self, _: &mut Stream) -> u64 {
        self.phits
    }

    fn mean(&self) -> f64 {
        self.phits as f64
    }

    fn carried(&self) -> f64 {
        self.carried as f64
    }
}

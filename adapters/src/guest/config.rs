//! Who a guest is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::clock::Time;
use crate::protocol::{Class, Role};
use crate::token::Token;

/// Who a guest is.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its name, for messages to people.
    pub name: String,
    /// The nodes that it wants to be.
    pub nodes: Vec<u32>,
    /// How its time passes.
    pub class: Class,
    /// What the connection is for; [`Data`](super::Data) connects those of that role.
    pub role: Role,
    /// Group of a central and its data connections, from 1 on; else 0.
    pub group: u32,
    /// \[ps\] Longest grant; 0: what the endpoint gives.
    pub step: Time,
    /// What it must know to be let in.
    pub token: Option<Token>,
    /// Digest of what it is; zeros if it has none.
    pub manifest: [u8; 32],
    /// How long it tries to connect, and how long it waits for its turn before it gives up.
    pub patience: Duration,
    /// With whom it shares whether anybody listens; a guest by itself has company of its own.
    pub company: Company,
}

/// Guests of one process that are to take part in one run: what one of them has found out, all know.
///
/// An endpoint listens until its guests are there and never again, so a guest that nobody answers where somebody
/// answered before is too late, and need not try any longer.
#[derive(Clone, Debug, Default)]
pub struct Company(Arc<AtomicBool>);

impl Company {
    pub(super) fn has_met_the_endpoint(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn meets_the_endpoint(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Config {
    /// A causal guest at one node, that waits for an hour.
    #[must_use]
    pub fn new(name: impl Into<String>, node: u32) -> Self {
        Self {
            name: name.into(),
            nodes: vec![node],
            class: Class::Causal,
            role: Role::Node,
            group: 0,
            step: 0,
            token: None,
            manifest: [0; 32],
            patience: Duration::from_secs(3600),
            company: Company::default(),
        }
    }

    /// The same as a stepped guest with this step, in picoseconds; 0 takes what the endpoint gives.
    #[must_use]
    pub fn stepped(mut self, step: Time) -> Self {
        self.class = Class::Stepped;
        self.step = step;
        self
    }

    /// The same as the central of a group.
    #[must_use]
    pub fn central(mut self, group: u32) -> Self {
        (self.role, self.group) = (Role::Central, group);
        self
    }
}

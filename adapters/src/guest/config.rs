//! Configuration of a guest.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::clock::Time;
use crate::protocol::{Class, Role};
use crate::token::Token;

/// Identity and settings of a guest.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its name, for messages.
    pub name: String,
    /// The nodes that it requests.
    pub nodes: Vec<u32>,
    /// Its class of time.
    pub class: Class,
    /// The role of the connection: that of a guest by itself ([`Role::Node`]), or the one that takes the turns of a
    /// group of connections ([`Role::Central`]). [`Data`](super::Data) connects the other members of a group.
    pub role: Role,
    /// Number of the group, from 1 on; 0 for a guest by itself.
    pub group: u32,
    /// \[ps\] Longest grant; 0 for the endpoint's default.
    pub step: Time,
    /// The token, if the endpoint requires one.
    pub token: Option<Token>,
    /// Digest of the guest; zeros for none.
    pub manifest: [u8; 32],
    /// How long it tries to connect, and how long it waits for its turn before it gives up.
    pub patience: Duration,
    /// The guests with which it shares its knowledge of the endpoint; by default it is alone.
    pub company: Company,
}

/// Guests of one process that join one run and share their knowledge of the endpoint.
///
/// An endpoint listens until its guests are present and never again. A guest that cannot connect where another one
/// could before is therefore too late, and need not try any longer.
#[derive(Clone, Debug, Default)]
pub struct Company(Arc<AtomicBool>);

impl Company {
    /// True if one of the guests has connected.
    pub(super) fn has_connected(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Records that one of the guests has connected.
    pub(super) fn record_connection(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Config {
    /// A causal guest at one node, with a patience of an hour.
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

    /// The same as a stepped guest with this step, in picoseconds; 0 for the endpoint's default.
    #[must_use]
    pub fn stepped(mut self, step: Time) -> Self {
        self.class = Class::Stepped;
        self.step = step;
        self
    }

    /// The same as a guest that lives by the wall clock, in a run in real time.
    #[must_use]
    pub fn realtime(mut self) -> Self {
        self.class = Class::Realtime;
        self
    }

    /// The same as the central of a group.
    #[must_use]
    pub fn central(mut self, group: u32) -> Self {
        (self.role, self.group) = (Role::Central, group);
        self
    }
}

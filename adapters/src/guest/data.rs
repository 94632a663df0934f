//! A connection that only sends and receives, while the central of its group takes the turns.

use std::time::Duration;

use super::{Arrival, Config, Event, GuestError, connect, flush, next_frame, unexpected};
use crate::address::Address;
use crate::clock::Time;
use crate::protocol::{Body, DELIVER_FIELDS, Frame, Inject, Role, Welcome};
use crate::stream::Link;

/// A data connection of a group.
///
/// A data connection may send while its central has the turn, at times within that turn. The central must count its
/// messages ([`Guest::count_injects`](super::Guest::count_injects)) before the turn ends. Messages for it arrive before
/// the next turn of its central.
#[derive(Debug)]
pub struct Data {
    link: Link,
    /// The endpoint's description of the run.
    welcome: Welcome,
    /// How long a call waits before it gives up.
    patience: Duration,
}

impl Data {
    /// Connects as a member of `group`, with the name, nodes and token of `config`.
    ///
    /// # Errors
    /// No endpoint listens, or it refuses the connection with a reason.
    pub fn connect(address: &Address, config: &Config, group: u32) -> Result<Self, GuestError> {
        let config = Config { role: Role::Data, group, ..config.clone() };
        let (link, welcome) = connect(address, &config)?;
        Ok(Self { link, welcome, patience: config.patience })
    }

    /// The endpoint's description of the run.
    #[must_use]
    pub const fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// Sends a message at `time`, from one of the endpoints.
    ///
    /// # Errors
    /// A payload longer than the size or than agreed; the run has ended.
    pub fn inject(&mut self, endpoint: u16, time: Time, inject: Inject) -> Result<(), GuestError> {
        let length = inject.payload.len() as u64;
        let limit = inject.size.min(u64::from(self.welcome.max_payload).saturating_sub(DELIVER_FIELDS.into()));
        if length > limit {
            return Err(GuestError::Payload { length, limit });
        }
        self.link.put(endpoint, time, &Body::Inject(inject));
        flush(&mut self.link, self.patience, "sending")
    }

    /// The next event; `None` when its central has said goodbye.
    ///
    /// # Errors
    /// The run has ended otherwise.
    pub fn receive(&mut self) -> Result<Option<Event>, GuestError> {
        let doing = "waiting for a message";
        let Frame { endpoint, time, body, .. } = next_frame(&mut self.link, self.patience, doing)?;
        match body {
            Body::Deliver(deliver) => Ok(Some(Event::Message(Arrival::new(endpoint, time, deliver)))),
            Body::Done { cookie } => Ok(Some(Event::Sent { time, cookie })),
            Body::Bye { .. } => Ok(None),
            other => Err(unexpected(&other, doing)),
        }
    }
}

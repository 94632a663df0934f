//! Observation of payloads as packets with virtual times.
//!
//! A program above, such as a writer of pcapng files, implements [`Capture`]. Each node is an interface. A message with
//! a payload is shown twice: outbound at its sender, at injection, and inbound at its receiver, at arrival. Packets
//! come in the order in which the network learned of them, which is not exactly that of their times.

use crate::clock::Time;

/// A payload at a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Payload<'a> {
    /// The node.
    pub node: u32,
    /// \[ps\] Virtual time.
    pub time: Time,
    /// True at its sender, false at its receiver.
    pub is_outbound: bool,
    /// \[bytes\] Size of the message in the model.
    pub size: u64,
    /// The bytes of the payload.
    pub data: &'a [u8],
}

/// An observer of payloads.
pub trait Capture: Send {
    /// A payload is sent or received. The first error is kept, and ends the run.
    fn packet(&mut self, payload: Payload<'_>);

    /// The first error, if any.
    fn failure(&self) -> Option<&str>;

    /// Writes what is buffered.
    ///
    /// # Errors
    /// The first error.
    fn flush(&mut self) -> Result<(), String>;
}

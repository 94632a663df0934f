//! Observation of frames at chosen hosts and switches.
//!
//! A program above, such as a writer of pcap files, implements [`Capture`]. Nothing depends on what it does.

use fsin_core::capture::Interface;
use trgen::{Message, NodeId};

/// Which way a frame goes at a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Its transmission begins.
    Sent,
    /// It has arrived: with its last bit, at a cut-through switch with its header.
    Received,
}

/// What a frame carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// A part of a message.
    Data {
        /// The message.
        message: Message,
        /// \[bytes\] In the message, before this part.
        offset: u64,
        /// \[bytes\] Data of the message in this frame.
        bytes: u32,
        /// The number of the segment in its connection, where there are windows.
        segment: Option<u64>,
    },
    /// All segments below a number have been received.
    Acknowledgement {
        /// The receiver of the segments.
        from: NodeId,
        /// Their sender.
        to: NodeId,
        /// Of the next segment that is expected.
        number: u64,
    },
    /// A PAUSE frame: send no more, or go on.
    Pause {
        /// Send no more.
        is_off: bool,
    },
}

/// A frame at a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Captured {
    /// \[ps\] Since the beginning of the run.
    pub at: u64,
    /// Where; a switch of a direct network has the port to its host behind all others.
    pub interface: Interface,
    /// Which way.
    pub direction: Direction,
    /// \[bytes\] Size on the wire, preamble and check sequence included.
    pub wire_bytes: u32,
    /// A link has damaged it.
    pub is_damaged: bool,
    /// What it carries.
    pub content: Content,
}

/// An observer of frames, in the order of their times; those at the same instant are at different ports, or go
/// different ways, and come in the order in which the engine visits them.
pub trait Capture: Send {
    /// A frame is sent or received.
    fn frame(&mut self, captured: &Captured);
}

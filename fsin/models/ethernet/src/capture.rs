//! Observation of frames at chosen hosts and switches.
//!
//! A program above, such as a writer of pcap files, implements [`Capture`]. Nothing depends on what it does.

use fsin_core::capture::Interface;
use trgen::{Message, NodeId};

/// The direction of a frame at a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// The transmission of the frame begins.
    Sent,
    /// The frame has arrived: with its last bit, or at a cut-through switch with its header.
    Received,
}

/// What a frame carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// A part of a message.
    Data {
        /// The message.
        message: Message,
        /// \[bytes\] Position of this part in the message.
        offset: u64,
        /// \[bytes\] Data of the message in this frame.
        bytes: u32,
        /// The number of the segment in its connection; `None` without windows.
        segment: Option<u64>,
    },
    /// All segments below a number have been received.
    Acknowledgement {
        /// The receiver of the segments, which sends the acknowledgement.
        from: NodeId,
        /// The sender of the segments.
        to: NodeId,
        /// Number of the next segment that is expected.
        number: u64,
    },
    /// A PAUSE frame: the other end must stop sending, or may go on.
    Pause {
        /// True to stop sending, false to go on.
        is_off: bool,
        /// The traffic class that must stop or may go on; `None` for all.
        class: Option<u8>,
    },
}

/// A frame at a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Captured {
    /// \[ps\] Time since the beginning of the run.
    pub at: u64,
    /// The port. At a switch of a direct network, the port to the host follows all others.
    pub interface: Interface,
    /// The direction of the frame.
    pub direction: Direction,
    /// \[bytes\] Size on the wire, preamble and check sequence included.
    pub wire_bytes: u32,
    /// True if a link has damaged the frame.
    pub is_damaged: bool,
    /// What the frame carries.
    pub content: Content,
}

/// An observer of frames. It gets them in the order of their times. Frames at the same time are at different ports or
/// have different directions, and come in the order in which the engine visits them.
pub trait Capture: Send {
    /// A frame is sent or received.
    fn frame(&mut self, captured: &Captured);
}

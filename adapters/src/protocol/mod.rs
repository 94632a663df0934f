//! The frames of TGP/1. `docs/protocol.md` is the specification; the names here are those of the specification.
//!
//! A frame is a header of 24 bytes, little-endian, and a payload. Reading is total: every sequence of bytes is a frame
//! or a [`Malformed`], and no allocation exceeds the data received.

mod body;
mod wire;

use bytes::Bytes;

use crate::clock::Time;

pub use wire::Malformed;
pub(crate) use wire::{Reader, Writer, article};

/// First bytes of every Hello.
pub const MAGIC: [u8; 4] = *b"TGP1";
/// Major version: both sides must agree.
pub const MAJOR: u16 = 1;
/// Minor version: both sides use the smaller one.
pub const MINOR: u16 = 4;
/// First minor version with [`Body::Part`] and [`Inject::unmodelled`].
pub const MINOR_OF_PARTS: u16 = 1;
/// First minor version with [`Body::Awaits`].
pub const MINOR_OF_AWAITS: u16 = 2;
/// First minor version with [`Inject::identified`].
pub const MINOR_OF_IDENTIFIED: u16 = 4;
/// \[bytes\] Length of a header.
pub const HEADER: usize = 24;
/// \[bytes\] Longest payload unless both sides agree on another.
pub const MAX_PAYLOAD: u32 = 1 << 20;
/// \[bytes\] Least value that a guest may announce as its longest payload: every frame without message bytes fits.
pub const MIN_PAYLOAD: u32 = 512;
/// \[bytes\] Fields of a Deliver before its payload bytes.
pub const DELIVER_FIELDS: u32 = 44;
/// \[bytes\] Longest name, label or reason.
pub const MAX_TEXT: usize = 256;
/// \[bytes\] Largest size of a message in the model, as in traces: a larger one could never be simulated to its end.
pub const MAX_MESSAGE: u64 = 1 << 40;
/// Largest number of endpoints of one connection.
pub const MAX_ENDPOINTS: usize = 4096;

/// Header flag: a receiver that does not know the type skips the frame.
pub const OPTIONAL: u8 = 1;
/// Header flag: an answer (the Proof to a Challenge).
pub const REPLY: u8 = 2;

/// A guest's class of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// The clock of the guest runs by itself; the guest stops at the end of each grant.
    Stepped,
    /// The clock of the guest advances only with its actions; the guest stops only to wait.
    Causal,
    /// The clock of the guest is the wall clock, slowed down by [`Welcome::pace`]. The guest stops only to wait, and
    /// the network goes on meanwhile. Only in real-time mode, and from minor version 3 on.
    Realtime,
}

/// When messages are handed over, in relation to the steps of guests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// No delivery is late; steps are at most the horizon.
    Exact,
    /// Steps of any length; messages that arrive within a step are handed over at its end.
    Quantised,
    /// Quantised, and virtual time runs no faster than the wall clock, slowed down by [`Welcome::pace`].
    Realtime,
}

/// Role of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Role {
    /// An independent guest: it sends, receives and takes turns.
    #[default]
    Node,
    /// Takes turns for a group of connections; it may have nodes itself.
    Central,
    /// Sends and receives; the central of its group takes the turns. Its class, step and slack are the central's.
    Data,
}

/// The first frame of a guest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hello {
    /// Major version.
    pub major: u16,
    /// Highest minor version that the guest speaks.
    pub minor: u16,
    /// Bits 0-31 may be ignored, bits 32-63 must be understood. None is defined.
    pub capabilities: u64,
    /// Its class of time.
    pub class: Class,
    /// Role of the connection.
    pub role: Role,
    /// Number of its group, for a central and its data connections; otherwise 0.
    pub group: u32,
    /// \[ps\] Longest grant that it requests; 0 for the endpoint's default.
    pub step: Time,
    /// \[ps\] How far its clock may run beyond the end of a grant.
    pub slack: Time,
    /// \[bytes\] Longest payload that it accepts.
    pub max_payload: u32,
    /// Digest of the guest (program, image, command line), kept with the result; zeros for none.
    pub manifest: [u8; 32],
    /// Its name, for messages.
    pub name: String,
    /// The nodes that it requests, one for each of its endpoints; only a central may have none.
    pub nodes: Vec<u32>,
}

/// The answer to an admitted guest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Welcome {
    /// Minor version in use.
    pub minor: u16,
    /// When messages are handed over, in relation to the steps of guests.
    pub mode: Mode,
    /// Capabilities that both sides have.
    pub capabilities: u64,
    /// Identifier of the run.
    pub session: u64,
    /// Number of nodes of the network, which are 0 to this number - 1.
    pub node_count: u32,
    /// \[ps\] Length of grants.
    pub step: Time,
    /// \[ps\] Interference horizon: an injection affects no delivery within this time.
    pub horizon: Time,
    /// \[ps\] Length of a cycle of the network: numerator and denominator.
    pub cycle: (u64, u64),
    /// \[bytes\] Longest payload.
    pub max_payload: u32,
    /// \[messages\] Largest number of messages of one node that have not left it.
    pub window: u32,
    /// \[ms\] How long a guest may be silent when its turn is awaited.
    pub stall_ms: u32,
    /// Seed of the run.
    pub seed: u64,
    /// \[thousandths\] Wall-clock time divided by virtual time in real-time mode: with 1000 virtual time is as fast as
    /// the wall clock, with 10 000 it is ten times slower. 0 in the other modes.
    pub pace: u32,
}

/// A message that enters the network, at the time of its header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inject {
    /// Destination node.
    pub destination: u32,
    /// True to request a Done when it has left the sender.
    pub notify: bool,
    /// \[bytes\] Size in the model.
    pub size: u64,
    /// The guest's own identifier, returned in the Done and passed to the receiver.
    pub cookie: u64,
    /// True if the payload includes bytes that the model does not count, and may therefore exceed `size`: an
    /// envelope, or data that a simulated protocol would carry in other messages. From minor version 1 on.
    pub unmodelled: bool,
    /// \[bytes\] How many of the first payload bytes tell the message from others, if not all do: digests cover those. The
    /// rest may be where its data are, of which the first have a hash. From minor version 4 on.
    pub identified: Option<u32>,
    /// Payload bytes, at most `size` unless `unmodelled`; never inspected.
    pub payload: Bytes,
}

/// A message that has arrived, at the time of its header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deliver {
    /// Source node.
    pub source: u32,
    /// Sequence number among the messages of that node, from 0.
    pub source_sequence: u64,
    /// The sender's identifier of the message.
    pub cookie: u64,
    /// \[ps\] When it was injected.
    pub injected: Time,
    /// \[ps\] Lateness of its hand-over; 0 in exact mode.
    pub late: Time,
    /// \[bytes\] Size in the model.
    pub size: u64,
    /// Payload bytes.
    pub payload: Bytes,
}

/// Why a side refuses the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub enum Code {
    /// Bytes that are not a frame.
    Malformed = 1,
    /// Another major version, or an unknown capability that must be understood.
    Version = 2,
    /// Wrong or missing proof.
    Token = 3,
    /// A node that does not exist or is taken.
    Node = 4,
    /// A step that the mode does not allow.
    Step = 5,
    /// Out of turn, out of sequence, back in time, or a wrong count.
    Order = 6,
    /// An impossible destination or size.
    Message = 7,
    /// More than the window or another limit allows.
    Limit = 8,
    /// Silent for too long.
    Stalled = 9,
    /// The run failed, possibly because of another guest.
    Run = 10,
}

/// The contents of a frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// Guest: its identity.
    Hello(Box<Hello>),
    /// Endpoint: the guest is admitted.
    Welcome(Box<Welcome>),
    /// Both: demands a proof of the token.
    Challenge([u8; 32]),
    /// Both: the proof.
    Proof([u8; 32]),
    /// Both: the beginning of a payload that is too long for one frame. The payload of the next Inject or Deliver on
    /// the connection continues it. Parts take no time and have no size in the model. From minor version 1 on.
    Part(Bytes),
    /// Guest: it keeps the turn and injects nothing before a time, whatever arrives: it computes. From minor version 1
    /// on.
    Busy {
        /// \[ps\] The guest injects nothing before this time.
        until: Time,
    },
    /// Guest: until its next turn it waits for Dones, and for messages of these nodes alone; the order of others does
    /// not matter to it. From minor version 2 on.
    Awaits {
        /// The nodes.
        sources: Vec<u32>,
    },
    /// Guest: a message enters the network.
    Inject(Inject),
    /// Endpoint: a message has arrived.
    Deliver(Deliver),
    /// Endpoint: a message sent with `notify` has left its sender.
    Done {
        /// The guest's identifier of the message.
        cookie: u64,
    },
    /// Guest: its turn ends, at the time of the header.
    Timestamp {
        /// \[ps\] The guest injects nothing earlier, unless a message arrives first.
        next: Time,
        /// Number of Injects of this connection, or of the whole group, so far.
        injects: u64,
    },
    /// Endpoint: the guest's turn begins.
    GoAhead {
        /// \[ps\] End of the grant; [`FOREVER`](crate::clock::FOREVER) if the turn lasts until the guest waits.
        until: Time,
        /// Number of Delivers and Dones to this connection, or to the whole group, so far.
        notices: u64,
    },
    /// Guest: labels the moment.
    Mark {
        /// The label.
        label: String,
    },
    /// Either: goodbye.
    Bye {
        /// The reason, as text.
        reason: String,
        /// Number of Injects of this connection.
        injects: u64,
        /// Number of Delivers and Dones to this connection.
        notices: u64,
    },
    /// Either: refuses the other side; the connection ends.
    Error {
        /// Kind of the reason.
        code: Code,
        /// The reason, as text.
        text: String,
    },
}

/// A frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Index of the endpoint within the connection.
    pub endpoint: u16,
    /// \[ps\] Virtual time.
    pub time: Time,
    /// Sequence number of the frame in its direction, from 0.
    pub sequence: u64,
    /// Its contents.
    pub body: Body,
}

//! The frames of TGP/1. `docs/protocol.md` is the specification; names here are its names.
//!
//! A frame is a header of 24 bytes, little-endian, and a payload. Reading is total: every sequence of bytes is a frame or
//! a [`Malformed`], and no allocation is larger than what has arrived.

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
/// Minor version: the smaller one of both sides is spoken.
pub const MINOR: u16 = 0;
/// \[bytes\] Length of a header.
pub const HEADER: usize = 24;
/// \[bytes\] Longest payload unless both sides agree on another.
pub const MAX_PAYLOAD: u32 = 1 << 20;
/// \[bytes\] Least that a guest may announce as its longest payload: every frame fits that carries no bytes of a message.
pub const MIN_PAYLOAD: u32 = 512;
/// \[bytes\] Payload of a Deliver before the bytes that it carries.
pub const DELIVER_FIELDS: u32 = 44;
/// \[bytes\] Longest name, label or reason.
pub const MAX_TEXT: usize = 256;
/// \[bytes\] Largest size of a message in the model, as in traces: a larger one could not be simulated to its end.
pub const MAX_MESSAGE: u64 = 1 << 40;
/// Most endpoints of one connection.
pub const MAX_ENDPOINTS: usize = 4096;

/// Header flag: a receiver that does not know the type skips the frame.
pub const OPTIONAL: u8 = 1;
/// Header flag: an answer (the Proof to a Challenge).
pub const REPLY: u8 = 2;

/// How a guest's time passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Its clock runs on by itself; it stops at the end of each grant.
    Stepped,
    /// Its clock runs only with what it does; it stops to wait, and for nothing else.
    Causal,
}

/// How deliveries relate to steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// No delivery is late; steps are at most the horizon.
    Exact,
    /// Steps of any length; what comes within a step is handed over at its end.
    Quantised,
    /// Quantised, and virtual time runs no faster than the clock on the wall, slowed down by [`Welcome::pace`].
    Realtime,
}

/// What a connection is for.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Role {
    /// A guest of its own: it sends, receives and takes turns.
    #[default]
    Node,
    /// Takes turns for a group of connections; it may have nodes itself.
    Central,
    /// Sends and receives; the central of its group takes the turns. Its class, step and slack are the central's.
    Data,
}

/// What a guest says first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hello {
    /// Major version.
    pub major: u16,
    /// Highest minor version that the guest speaks.
    pub minor: u16,
    /// Bits 0-31 may be ignored, bits 32-63 must be understood. None is defined.
    pub capabilities: u64,
    /// How its time passes.
    pub class: Class,
    /// What the connection is for.
    pub role: Role,
    /// Number of its group, for a central and its data connections; else 0.
    pub group: u32,
    /// \[ps\] Longest grant that it wants; 0: as long as the endpoint likes.
    pub step: Time,
    /// \[ps\] How far it may run past a grant.
    pub slack: Time,
    /// \[bytes\] Longest payload that it takes.
    pub max_payload: u32,
    /// Digest of what the guest is (program, image, command line), kept with the result; zeros if it has none.
    pub manifest: [u8; 32],
    /// Its name, for messages to people.
    pub name: String,
    /// The nodes that it wants to be, one for each of its endpoints; only a central may have none.
    pub nodes: Vec<u32>,
}

/// What a guest is told when it has been taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Welcome {
    /// Minor version that is spoken.
    pub minor: u16,
    /// How deliveries relate to steps.
    pub mode: Mode,
    /// Capabilities that both sides have.
    pub capabilities: u64,
    /// Names the run.
    pub session: u64,
    /// Nodes of the network: 0 to this less one.
    pub node_count: u32,
    /// \[ps\] Length of grants.
    pub step: Time,
    /// \[ps\] Interference horizon: an injection changes no delivery earlier than this after it.
    pub horizon: Time,
    /// \[ps\] Length of a cycle of the network: numerator and denominator.
    pub cycle: (u64, u64),
    /// \[bytes\] Longest payload.
    pub max_payload: u32,
    /// \[messages\] Of one node that may be on their way at once.
    pub window: u32,
    /// \[ms\] How long a guest may be silent when its turn is waited for.
    pub stall_ms: u32,
    /// Seed of the run.
    pub seed: u64,
    /// \[thousandths\] Time on the wall over virtual time, in real-time mode: 1000 is as fast as the wall, 10 000 ten times
    /// slower. 0 in the other modes.
    pub pace: u32,
}

/// A message that enters the network, at the time of its header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inject {
    /// Node that it goes to.
    pub destination: u32,
    /// True if a Done is wanted when it has left the sender.
    pub notify: bool,
    /// \[bytes\] Size in the model.
    pub size: u64,
    /// The guest's own name for it, handed back in Done and given to the receiver.
    pub cookie: u64,
    /// Carried bytes, at most `size`; never looked at.
    pub payload: Bytes,
}

/// A message that has arrived, at the time of its header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deliver {
    /// Node that it came from.
    pub source: u32,
    /// Number among the messages of that node, from 0.
    pub source_sequence: u64,
    /// The sender's name for it.
    pub cookie: u64,
    /// \[ps\] When it was injected.
    pub injected: Time,
    /// \[ps\] How much later than it arrived it is handed over; 0 in exact mode.
    pub late: Time,
    /// \[bytes\] Size in the model.
    pub size: u64,
    /// Carried bytes.
    pub payload: Bytes,
}

/// Why a side refuses the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub enum Code {
    /// Bytes that are no frame.
    Malformed = 1,
    /// Another major version, or a capability that must be understood and is not.
    Version = 2,
    /// Wrong or missing proof.
    Token = 3,
    /// A node that does not exist or is taken.
    Node = 4,
    /// A step that the mode does not allow.
    Step = 5,
    /// Out of turn, out of sequence, back in time, or a count that is wrong.
    Order = 6,
    /// A destination or size that cannot be.
    Message = 7,
    /// More than the window or another limit allows.
    Limit = 8,
    /// Too long without a word.
    Stalled = 9,
    /// The run ended in failure; another guest may be the reason.
    Run = 10,
}

/// What a frame says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// Guest: who it is.
    Hello(Box<Hello>),
    /// Endpoint: it is taken.
    Welcome(Box<Welcome>),
    /// Both: prove that you know the token.
    Challenge([u8; 32]),
    /// Both: the proof.
    Proof([u8; 32]),
    /// Guest: a message enters the network.
    Inject(Inject),
    /// Endpoint: a message has arrived.
    Deliver(Deliver),
    /// Endpoint: a message that asked for it has left its sender.
    Done {
        /// The guest's name for the message.
        cookie: u64,
    },
    /// Guest: its turn ends, at the time of the header.
    Timestamp {
        /// \[ps\] It injects nothing earlier, unless a message comes first.
        next: Time,
        /// Injects of this connection, or of the whole group, so far.
        injects: u64,
    },
    /// Endpoint: the guest's turn begins.
    GoAhead {
        /// \[ps\] It runs up to here; [`FOREVER`](crate::clock::FOREVER): until it waits.
        until: Time,
        /// Delivers and Dones to this connection, or to the whole group, so far.
        notices: u64,
    },
    /// Guest: something worth a name happens.
    Mark {
        /// The name.
        label: String,
    },
    /// Either: the end.
    Bye {
        /// Why, in words.
        reason: String,
        /// Injects of this connection.
        injects: u64,
        /// Delivers and Dones to it.
        notices: u64,
    },
    /// Either: the other side is refused; the connection ends.
    Error {
        /// Why.
        code: Code,
        /// Why, in words.
        text: String,
    },
}

/// A frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Endpoint within the connection, 0 to their number less one.
    pub endpoint: u16,
    /// \[ps\] Virtual time.
    pub time: Time,
    /// Number of the frame in its direction, from 0.
    pub sequence: u64,
    /// What it says.
    pub body: Body,
}

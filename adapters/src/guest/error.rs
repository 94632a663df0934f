//! Errors of guests.

use std::io;

use crate::address::Address;
use crate::protocol::Code;

/// Why a guest cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// No endpoint listens.
    #[error("cannot connect to {address}: {error}")]
    Connect {
        /// The address.
        address: Address,
        /// The cause.
        error: io::Error,
    },
    /// An endpoint listened before, and does not any longer.
    #[error("nobody listens at {address} any longer: the run has begun without this guest, or is over")]
    Late {
        /// The address.
        address: Address,
    },
    /// The endpoint requires a token and the guest has none.
    #[error("the endpoint wants a token, and the guest has none")]
    TokenWanted,
    /// The guest has a token, and the endpoint does not prove that it knows the same one.
    #[error("the endpoint does not prove that it knows the token of this guest")]
    Unproved,
    /// The endpoint ended the connection with a reason.
    #[error("the endpoint ended it while {doing}: {text}")]
    Refused {
        /// Kind of reason.
        code: Code,
        /// The reason.
        text: String,
        /// Activity of the guest.
        doing: &'static str,
    },
    /// The connection ended without a reason.
    #[error("the endpoint was lost while {doing}: {why}")]
    Lost {
        /// Activity of the guest.
        doing: &'static str,
        /// The observed symptom.
        why: String,
    },
    /// The endpoint's count of events differs from the guest's.
    #[error("the endpoint says that it has told of {said} events, and {heard} came")]
    Counts {
        /// The endpoint's count.
        said: u64,
        /// The guest's count.
        heard: u64,
    },
    /// A message carries too many bytes.
    #[error("a message carries {length} bytes, and {limit} are allowed")]
    Payload {
        /// \[bytes\] Length of the payload.
        length: u64,
        /// \[bytes\] Size of the message, or the agreed limit.
        limit: u64,
    },
    /// The program or script requests something impossible.
    #[error("{0}")]
    Program(String),
}

impl GuestError {
    /// The remedy for the user.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Connect { .. } => "start `fsin serve`, and give the address on which it says that it listens",
            Self::Late { .. } => "ask `fsin serve` for as many --guests as there are nodes in --node",
            Self::TokenWanted => "give the token of the run: --token-file, or FSIN_TOKEN",
            Self::Unproved => {
                "see who listens at this address; `fsin serve` needs the same token (--token-file, or FSIN_TOKEN), and a \
                 guest of a run without one none"
            }
            Self::Refused { code: Code::Node, .. } => "give it another --node",
            Self::Refused { code: Code::Step, .. } => "give it a shorter --step",
            Self::Refused { code: Code::Token, .. } => "give it the token of the run: --token-file, or FSIN_TOKEN",
            Self::Refused { .. } | Self::Lost { .. } => "see what the endpoint says",
            Self::Counts { .. } => "use guest and endpoint of the same version",
            Self::Payload { .. } => "send less, or in several messages",
            Self::Program(_) => "correct the script",
        }
    }
}

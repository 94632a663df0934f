//! What can go wrong for a guest.

use std::io;

use crate::address::Address;
use crate::protocol::Code;

/// Why a guest cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// Nobody listens.
    #[error("cannot connect to {address}: {error}")]
    Connect {
        /// Where.
        address: Address,
        /// Why.
        error: io::Error,
    },
    /// Somebody listened, and does so no longer.
    #[error("nobody listens at {address} any longer: the run has begun without this guest, or is over")]
    Late {
        /// Where.
        address: Address,
    },
    /// The endpoint wants a token and there is none.
    #[error("the endpoint wants a token, and the guest has none")]
    TokenWanted,
    /// The guest has a token, and the endpoint does not prove that it knows the same one.
    #[error("the endpoint does not prove that it knows the token of this guest")]
    Unproved,
    /// The endpoint ended it, and said why.
    #[error("the endpoint ended it while {doing}: {text}")]
    Refused {
        /// Kind of reason.
        code: Code,
        /// The reason.
        text: String,
        /// What the guest was doing.
        doing: &'static str,
    },
    /// The connection is over, and nobody said why.
    #[error("the endpoint was lost while {doing}: {why}")]
    Lost {
        /// What the guest was doing.
        doing: &'static str,
        /// What showed.
        why: String,
    },
    /// The endpoint says that it has told more or less than came.
    #[error("the endpoint says that it has told of {said} events, and {heard} came")]
    Counts {
        /// As the endpoint says.
        said: u64,
        /// As they came.
        heard: u64,
    },
    /// A message carries more than it may.
    #[error("a message carries {length} bytes, and {limit} are allowed")]
    Payload {
        /// \[bytes\] Carried.
        length: u64,
        /// \[bytes\] The message's size, or what was agreed.
        limit: u64,
    },
    /// The program or script asks for something that cannot be.
    #[error("{0}")]
    Program(String),
}

impl GuestError {
    /// What the user can do about it.
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

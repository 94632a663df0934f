//! How a node's interface shares its links among its messages.
//!
//! Decision: docs/decisions/0202-interfaces.md.

use std::fmt;
use std::str::FromStr;

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

/// How a node's interface shares its links among its messages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Interface {
    /// One message after another.
    Serial,
    /// \[messages\] Up to so many messages to different destinations in progress, whose packets take turns. A message
    /// whose packet finds no room keeps its turn and lets others pass.
    Interleaved(u32),
    /// Each link has an injector with messages of its own, one after another. A message belongs to the link with which
    /// its route begins in the order of dimensions; of two equally short directions one is drawn for each pair of nodes,
    /// and all its packets take it. Where the routing is adaptive, packets may leave through other links.
    PerPort,
}

impl Interface {
    /// \[messages\] Maximum number of messages in progress in a lane.
    pub const MOST: u32 = 1 << 16;

    /// Number of lanes of a node with so many links.
    #[must_use]
    pub const fn lanes(self, links: usize) -> usize {
        match self {
            Self::Serial | Self::Interleaved(_) => 1,
            Self::PerPort => links,
        }
    }

    /// \[messages\] Maximum number of messages in progress in each lane.
    #[must_use]
    pub const fn in_progress(self) -> u32 {
        match self {
            Self::Serial | Self::PerPort => 1,
            Self::Interleaved(most) => most,
        }
    }

    /// \[messages\] Room of a throttled source queue: as many messages as a node with so many links can have in progress.
    #[must_use]
    pub const fn room(self, links: usize) -> u32 {
        self.in_progress() * self.lanes(links) as u32
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serial => f.write_str("serial"),
            Self::Interleaved(most) => write!(f, "interleaved:{most}"),
            Self::PerPort => f.write_str("per-port"),
        }
    }
}

impl FromStr for Interface {
    type Err = SpecError;

    fn from_str(word: &str) -> Result<Self, SpecError> {
        match (word, word.strip_prefix("interleaved:").map(str::parse)) {
            ("serial", _) => Ok(Self::Serial),
            ("per-port", _) => Ok(Self::PerPort),
            (_, Some(Ok(most @ 1..=Self::MOST))) => Ok(Self::Interleaved(most)),
            _ => Err(SpecError::new(
                ErrorKind::UnknownName,
                phrase![("`{word}` is not an interface")],
                phrase![("use serial, per-port, or interleaved:N with 1 to {} messages in progress", Self::MOST)],
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_mean_what_they_say() {
        for word in ["serial", "per-port", "interleaved:1", "interleaved:65536"] {
            assert_eq!(word.parse::<Interface>().unwrap().to_string(), word);
        }
        for word in ["", "interleaved", "interleaved:0", "interleaved:65537", "parallel"] {
            assert!(word.parse::<Interface>().unwrap_err().to_string().contains("is not an interface"), "{word}");
        }
    }
}

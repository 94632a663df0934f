//! Addresses on which an endpoint listens and to which a guest connects.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;

/// An address of an endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// `127.0.0.1:7100`: TCP.
    Tcp(SocketAddr),
    /// `unix:/path`: a socket in the file system.
    Unix(PathBuf),
}

/// A word that is not an address.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{word}` is not an address")]
pub struct NotAnAddress {
    /// The word.
    pub word: String,
}

impl NotAnAddress {
    /// The remedy.
    pub const REMEDY: &'static str =
        "write 127.0.0.1:7100, [::1]:7100, localhost:7100 or unix:/run/user/1000/fsin.sock";
}

impl FromStr for Address {
    type Err = NotAnAddress;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let refused = || NotAnAddress { word: word.to_owned() };
        match word.strip_prefix("unix:") {
            Some("") => Err(refused()),
            Some(path) => Ok(Self::Unix(path.into())),
            None => word.to_socket_addrs().ok().and_then(|mut all| all.next()).map(Self::Tcp).ok_or_else(refused),
        }
    }
}

impl Address {
    /// True if only programs on this machine can connect.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written() {
        for word in ["127.0.0.1:7100", "unix:/tmp/a.sock", "[::1]:80"] {
            assert_eq!(word.parse::<Address>().unwrap().to_string(), word);
        }
        for word in ["", "unix:", "7100", "127.0.0.1"] {
            assert!(word.parse::<Address>().is_err(), "{word}");
        }
        assert!(!"192.0.2.1:7100".parse::<Address>().unwrap().is_local());
    }
}

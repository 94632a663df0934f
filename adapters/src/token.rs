//! The secret that guests and the endpoint prove to each other without revealing it.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use hmac::{Hmac, Mac};
use sha2::Sha256;

/// \[bytes\] Longest accepted token.
const LONGEST: u64 = 4096;

/// Mode bits that let the group and other users read a file.
const OTHERS_READ: u32 = 0o044;

/// A number used once: in each handshake both sides draw one, so that a proof from another handshake is useless.
pub type Nonce = [u8; 32];

/// A nonce; `None` if the system has no random bytes.
#[must_use]
pub fn nonce() -> Option<Nonce> {
    let mut nonce = [0; 32];
    getrandom::fill(&mut nonce).is_ok().then_some(nonce)
}

/// The nonces of both sides of a handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nonces {
    /// The nonce of the endpoint.
    pub endpoint: Nonce,
    /// The nonce of the guest.
    pub guest: Nonce,
}

/// The side that makes a proof.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The endpoint.
    Endpoint,
    /// A guest.
    Guest,
}

impl Side {
    /// The text that precedes the nonces in a proof, so that no side can use the other's proof as its own.
    const fn domain(self) -> &'static [u8] {
        match self {
            Self::Endpoint => b"TGP/1 endpoint",
            Self::Guest => b"TGP/1 guest",
        }
    }
}

/// A secret. It is never displayed: not in messages, not in logs, not by `Debug`.
#[derive(Clone)]
pub struct Token(Vec<u8>);

/// A token that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read.
    #[error("cannot read the token file: {0}")]
    Unreadable(#[from] std::io::Error),
    /// Other users of the machine can read the file.
    #[error("others can read the token file: its mode is {mode:04o}")]
    Exposed {
        /// Its permission bits.
        mode: u32,
    },
    /// Too short to be secure, or too long for a token.
    #[error("the token has {length} bytes; it takes 16 to {LONGEST}")]
    Length {
        /// \[bytes\] Its length without surrounding blanks.
        length: usize,
    },
}

impl TokenError {
    /// The remedy for the user.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Exposed { .. } => {
                "make it yours alone: chmod 600 FILE; if others have had access to it, make a new one, for every side"
            }
            Self::Unreadable(_) | Self::Length { .. } => {
                "make one, for example: (umask 077; head -c 32 /dev/urandom | base64 > token)"
            }
        }
    }
}

impl Token {
    /// A token of these bytes, without surrounding blanks and line ends.
    ///
    /// # Errors
    /// Fewer than 16 bytes, or more than 4096.
    pub fn new(bytes: &[u8]) -> Result<Self, TokenError> {
        let bytes = bytes.trim_ascii();
        if !(16..=LONGEST as usize).contains(&bytes.len()) {
            return Err(TokenError::Length { length: bytes.len() });
        }
        Ok(Self(bytes.to_vec()))
    }

    /// The token in a file that only its owner can read.
    ///
    /// # Errors
    /// A file that cannot be read, that others can read too, or that holds no valid token.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let file = File::open(path)?;
        // This is the mode of the file that was opened, even if the path refers to another file by now.
        let mode = file.metadata()?.mode() & 0o7777;
        if mode & OTHERS_READ != 0 {
            return Err(TokenError::Exposed { mode });
        }
        let mut bytes = Vec::new();
        file.take(LONGEST + 64).read_to_end(&mut bytes)?;
        Self::new(&bytes)
    }

    /// The proof of one side that it knows the token.
    #[must_use]
    pub fn proof(&self, side: Side, nonces: &Nonces) -> [u8; 32] {
        self.mac(side, nonces).finalize().into_bytes().into()
    }

    /// True if `proof` is that of this side; takes constant time.
    #[must_use]
    pub fn proves(&self, side: Side, nonces: &Nonces, proof: &[u8; 32]) -> bool {
        self.mac(side, nonces).verify_slice(proof).is_ok()
    }

    /// The authentication code of a side's proof.
    fn mac(&self, side: Side, nonces: &Nonces) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(side.domain());
        mac.update(&nonces.endpoint);
        mac.update(&nonces.guest);
        mac
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_proof_fits_one_token_one_side_and_one_meeting() {
        let token = Token::new(b"  correct horse battery\n").unwrap();
        let nonces = Nonces { endpoint: [7; 32], guest: [9; 32] };
        let proof = token.proof(Side::Guest, &nonces);
        assert!(Token::new(b"correct horse battery").unwrap().proves(Side::Guest, &nonces, &proof));
        assert!(!token.proves(Side::Endpoint, &nonces, &proof), "an echo proves nothing");
        assert!(!token.proves(Side::Guest, &Nonces { endpoint: [8; 32], ..nonces }, &proof));
        assert!(!token.proves(Side::Guest, &Nonces { guest: [8; 32], ..nonces }, &proof));
        assert!(!Token::new(b"correct horse batterz").unwrap().proves(Side::Guest, &nonces, &proof));
        assert_eq!(format!("{token:?}"), "Token(hidden)");
        assert!(Token::new(b"short").is_err());
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        write(&path, "correct horse battery\n").unwrap();
        for (mode, taken) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o644, false)] {
            set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            match Token::read(&path) {
                Ok(_) => assert!(taken, "{mode:o}"),
                Err(error) => {
                    assert!(!taken && error.to_string().contains(&format!("{mode:04o}")), "{mode:o}: {error}");
                    assert!(error.remedy().contains("chmod 600"));
                }
            }
        }
    }
}

//! The secret that guests prove to know, without saying it.

use std::fmt;
use std::io::Read;
use std::path::Path;

use hmac::{Hmac, Mac};
use sha2::Sha256;

/// Said before the nonce, so that a proof is of use nowhere else.
const DOMAIN: &[u8] = b"TGP/1 guest";

/// \[bytes\] Longest token that is read.
const LONGEST: u64 = 4096;

/// A secret. It is never shown: not in messages, not in logs, not by `Debug`.
#[derive(Clone)]
pub struct Token(Vec<u8>);

/// A token that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read.
    #[error("cannot read the token file: {0}")]
    Unreadable(#[from] std::io::Error),
    /// Too short to protect anything, or too long to be a token.
    #[error("the token has {length} bytes; it takes 16 to {LONGEST}")]
    Length {
        /// \[bytes\] Without blanks at its ends.
        length: usize,
    },
}

impl Token {
    /// A token of these bytes, without blanks and line ends around them.
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

    /// The token in a file.
    ///
    /// # Errors
    /// A file that cannot be read or holds no token.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(LONGEST + 64).read_to_end(&mut bytes)?;
        Self::new(&bytes)
    }

    /// What a guest answers to a nonce.
    #[must_use]
    pub fn proof(&self, nonce: &[u8; 32]) -> [u8; 32] {
        self.mac(nonce).finalize().into_bytes().into()
    }

    /// True if `proof` is the answer to `nonce`; takes as long if it is not.
    #[must_use]
    pub fn proves(&self, nonce: &[u8; 32], proof: &[u8; 32]) -> bool {
        self.mac(nonce).verify_slice(proof).is_ok()
    }

    fn mac(&self, nonce: &[u8; 32]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(DOMAIN);
        mac.update(nonce);
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
    use super::*;

    #[test]
    fn a_proof_fits_one_token_and_one_nonce() {
        let token = Token::new(b"  correct horse battery\n").unwrap();
        let proof = token.proof(&[7; 32]);
        assert!(Token::new(b"correct horse battery").unwrap().proves(&[7; 32], &proof));
        assert!(!token.proves(&[8; 32], &proof));
        assert!(!Token::new(b"correct horse batterz").unwrap().proves(&[7; 32], &proof));
        assert_eq!(format!("{token:?}"), "Token(hidden)");
        assert!(Token::new(b"short").is_err());
    }
}

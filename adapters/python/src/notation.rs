//! Settings as Python writes them: `phit_bytes=4`, `topology="torus:8x8"`.

use trgen::phrase::Notation;

/// Arguments by keyword.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keywords;

/// The name of a key as an argument.
pub(crate) fn argument(key: &str) -> String {
    key.replace('-', "_")
}

impl Notation for Keywords {
    fn setting(&self, key: &str, value: Option<&str>) -> String {
        let key = argument(key);
        match value {
            None => key,
            Some("true") => format!("{key}=True"),
            Some("false") => format!("{key}=False"),
            Some(number) if number.parse::<f64>().is_ok_and(f64::is_finite) => format!("{key}={number}"),
            Some(word) => format!("{key}={word:?}"),
        }
    }
}

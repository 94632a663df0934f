//! The commit that a binary is built from.
//!
//! A macro and not a build script: what a build script tells is new for every target of its package, so that each
//! `git add` would compile the library again. The macro concerns the one crate that calls it.
//!
//! Decision: docs/decisions/0253-release.md (packages of a registry).

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proc_macro::TokenStream;

/// The commit of the package that calls it, as a literal: twelve digits, with `-dirty` behind them where files differ
/// from it, or `unknown` where there is no repository. Of a package of a registry it is the commit that cargo recorded
/// in the package: a repository around it is another project's.
///
/// The crate is compiled again when the commit or the index of the repository changes.
#[proc_macro]
pub fn commit(_: TokenStream) -> TokenStream {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
    if folder.join("Cargo.toml.orig").is_file() {
        let record = fs::read_to_string(folder.join(".cargo_vcs_info.json")).unwrap_or_default();
        let commit = recorded(&record).unwrap_or_else(|| "unknown".to_owned());
        return format!("{commit:?}").parse().unwrap_or_else(|_| TokenStream::new());
    }
    let commit = git(&folder, &["rev-parse", "--short=12", "HEAD"]).map_or_else(
        || "unknown".to_owned(),
        |commit| {
            let changes = git(&folder, &["status", "--porcelain", "--untracked-files=no"]);
            commit + if changes.is_some_and(|changes| !changes.is_empty()) { "-dirty" } else { "" }
        },
    );
    // The compiler remembers what is included, and cargo looks whether that has changed.
    let mut code = "{".to_owned();
    for name in ["HEAD", "index"] {
        let path = git(&folder, &["rev-parse", "--git-path", name]).map(|path| folder.join(path));
        if let Some(path) = path.filter(|path| path.is_file()) {
            let _ = write!(code, "const _: &[u8] = include_bytes!({path:?});");
        }
    }
    let _ = write!(code, "{commit:?}}}");
    code.parse().unwrap_or_else(|_| TokenStream::new())
}

/// The commit in what cargo records of the repository that it packages from.
fn recorded(record: &str) -> Option<String> {
    let (_, rest) = record.split_once("\"sha1\": \"")?;
    let digits = rest.get(..12).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    Some(digits.to_owned() + if record.contains("\"dirty\": true") { "-dirty" } else { "" })
}

/// What git prints. It does not write to its index, which would be a change the next time.
fn git(folder: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("--no-optional-locks").args(words).current_dir(folder).output().ok()?;
    let text = output.status.success().then(|| String::from_utf8(output.stdout).ok())??;
    Some(text.trim().to_owned())
}

//! The commit that a binary is built from.
//!
//! A macro and not a build script: what a build script tells is new for every target of its package, so that each
//! `git add` would compile the library again. The macro concerns the one crate that calls it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use proc_macro::TokenStream;

/// The commit of the package that calls it, as a literal: twelve digits, with `-dirty` behind them where files differ
/// from it, or `unknown` where there is no repository.
///
/// The crate is compiled again when the commit or the index of the repository changes.
#[proc_macro]
pub fn commit(_: TokenStream) -> TokenStream {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
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

/// What git prints. It does not write to its index, which would be a change the next time.
fn git(folder: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("--no-optional-locks").args(words).current_dir(folder).output().ok()?;
    let text = output.status.success().then(|| String::from_utf8(output.stdout).ok())??;
    Some(text.trim().to_owned())
}

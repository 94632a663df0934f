//! Records what the binary was built from, for the manifest of every result.

use std::path::Path;
use std::process::Command;

fn main() {
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).map_or_else(
        || "unknown".to_owned(),
        |commit| {
            let changes = git(&["status", "--porcelain", "--untracked-files=no"]);
            commit + if changes.is_some_and(|changes| !changes.is_empty()) { "-dirty" } else { "" }
        },
    );
    println!("cargo:rustc-env=FSIN_COMMIT={commit}");
    println!("cargo:rustc-env=FSIN_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    // The sources too: an edit makes the tree dirty without touching the repository.
    for watched in ["../.git/HEAD", "../.git/index", "src", "../trgen/src", "../Cargo.lock"] {
        if Path::new(watched).exists() {
            println!("cargo:rerun-if-changed={watched}");
        }
    }
    println!("cargo:rerun-if-changed=build.rs");
}

/// What git prints. It does not write to its index, which would make cargo build everything again the next time.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("--no-optional-locks").args(words).output().ok()?;
    let text = output.status.success().then(|| String::from_utf8(output.stdout).ok())??;
    Some(text.trim().to_owned())
}

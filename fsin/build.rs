//! Records what the binary was built from, for the manifest of every result.

use std::path::Path;
use std::process::Command;

fn main() {
    let commit = Command::new("git")
        .args(["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
        .output()
        .ok()
        .filter(|output| output.status.success())
        .and_then(|output| String::from_utf8(output.stdout).ok());
    println!("cargo:rustc-env=FSIN_COMMIT={}", commit.as_deref().map_or("unknown", str::trim));
    println!("cargo:rustc-env=FSIN_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    // The sources too: an edit makes the tree dirty without touching the repository.
    for watched in ["../.git/HEAD", "../.git/index", "src", "../trgen/src", "../Cargo.lock"] {
        if Path::new(watched).exists() {
            println!("cargo:rerun-if-changed={watched}");
        }
    }
    println!("cargo:rerun-if-changed=build.rs");
}

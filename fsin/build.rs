//! Tells the binary what it is built for, for the manifest of every result.

fn main() {
    println!("cargo:rustc-env=FSIN_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    println!("cargo:rerun-if-changed=build.rs");
}

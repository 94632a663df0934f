//! The `fsin` command.

use std::process::ExitCode;

use fsin::Registry;

fn main() -> ExitCode {
    fsin::main_with(Registry::standard())
}

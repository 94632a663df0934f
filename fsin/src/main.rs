//! The `fsin` command.

use std::process::ExitCode;

use fsin::Registry;
use fsin_allocator::LargePages;

#[global_allocator]
static ALLOCATOR: LargePages = LargePages;

fn main() -> ExitCode {
    fsin::main_with(Registry::standard())
}

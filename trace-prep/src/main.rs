//! The `trace-prep` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(trace_prep::main_called(std::env::args_os()))
}

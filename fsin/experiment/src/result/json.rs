//! JSON: every figure; an undefined figure is null.

use std::io::{self, Write};

use serde::Serialize;

/// One indented object.
///
/// # Errors
/// When `out` fails.
pub fn write_pretty(figures: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, figures)?;
    writeln!(out)
}

/// One object on one line.
///
/// # Errors
/// When `out` fails.
pub fn write_line(figures: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, figures)?;
    writeln!(out)
}

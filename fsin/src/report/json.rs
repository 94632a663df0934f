//! JSON: every figure; what cannot be computed is null.

use std::io::{self, Write};

use serde_json::{Map, Value};

/// One indented object.
pub(super) fn write_pretty(figures: &Map<String, Value>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, figures)?;
    writeln!(out)
}

/// One object on one line.
pub(super) fn write_line(figures: &Map<String, Value>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, figures)?;
    writeln!(out)
}

//! Legends of colours and marks.

use ratatui::text::{Line, Span};

use crate::theme::{LEVELS, Theme};
use crate::view::TaskState;

/// The scale of levels: marks, their meaning in tenths, and the quantity `of`. It is shorter in a narrow area.
#[must_use]
pub fn scale(theme: Theme, of: &str, width: u16) -> Line<'static> {
    // Width of the scale, and of the words around it.
    let (marks, long) = (2 * (LEVELS - 1), 11 + 29);
    let short = usize::from(width) < marks + long + of.len();
    // A digit counts tenths: `0` means less than a tenth, but not none.
    let least = usize::from(width) < marks + 8 + 7;
    let nothing = match (short, least) {
        (false, _) => "· nothing  ",
        (true, false) => "· none  ",
        (true, true) => "· 0 ",
    };
    let mut spans = vec![Span::raw(nothing)];
    for level in 1..LEVELS {
        spans.push(Span::styled(format!("{} ", Theme::mark(level)), theme.cell(level)));
    }
    let words = match short {
        false => format!(" tenths (9: 90 % or more) of {of}"),
        true if usize::from(width) < marks + 8 + 11 + of.len() => " tenths".to_owned(),
        true => format!(" tenths of {of}"),
    };
    spans.push(Span::raw(words));
    Line::from(spans)
}

/// The states of tasks.
#[must_use]
pub fn tasks(theme: Theme) -> Line<'static> {
    let mut spans = Vec::new();
    for (state, name) in [
        (TaskState::Computing, "computing"),
        (TaskState::Sending, "sending"),
        (TaskState::Receiving, "receiving"),
        (TaskState::Waiting, "waiting"),
        (TaskState::Finished, "finished"),
    ] {
        let (letter, style) = theme.task(state);
        spans.push(Span::styled(letter.to_string(), style));
        spans.push(Span::raw(format!(" {name}  ")));
    }
    Line::from(spans)
}

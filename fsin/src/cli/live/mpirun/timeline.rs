//! What the ranks did over time: reads what each has written.

use std::fs;
use std::path::Path;

use trgen::trace::timeline::{Doing, Span};

use super::reports::END;
use crate::cli::{Complaint, Exit};

/// The spans of all ranks.
///
/// # Errors
/// A file that cannot be read or is not whole.
pub(super) fn read(folder: &Path, ranks: usize) -> Result<Vec<Span>, Complaint> {
    let mut all = Vec::new();
    for rank in 0..ranks {
        let path = folder.join(format!("spans.{rank}"));
        let refused = |what: String| {
            let remedy = "the program has run to its end; free space in TMPDIR, and run it again";
            Complaint::new(Exit::Failed, format!("the timeline of rank {rank} {what}"), remedy)
        };
        let text = fs::read_to_string(&path).map_err(|error| refused(format!("cannot be read: {error}")))?;
        let text = text.strip_suffix(&format!("{END}\n")).ok_or_else(|| refused("is cut short".to_owned()))?;
        for (number, line) in text.lines().enumerate() {
            let span = span(rank as u32, line);
            all.push(span.ok_or_else(|| refused(format!("is damaged: line {} is `{line}`", number + 1)))?);
        }
    }
    Ok(all)
}

/// The span of a line; `None` if it has another form.
fn span(rank: u32, line: &str) -> Option<Span> {
    let words: Vec<&str> = line.split(' ').collect();
    let [doing, name, begin, end] = words[..] else { return None };
    let doing = match doing {
        "compute" => Doing::Computing,
        "wait" => Doing::Waiting,
        "collective" => Doing::Collective,
        _ => return None,
    };
    let name = if doing == Doing::Computing { String::new() } else { name.to_owned() };
    let (begin, end) = (begin.parse().ok()?, end.parse().ok()?);
    (begin <= end).then_some(Span { rank, doing, name, begin, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_span_or_damaged() {
        let found = span(2, "wait MPI_Recv 5 7");
        assert_eq!(found, Some(Span { rank: 2, doing: Doing::Waiting, name: "MPI_Recv".to_owned(), begin: 5, end: 7 }));
        assert_eq!(span(0, "compute - 0 1").map(|span| span.name), Some(String::new()));
        for line in ["", "wait MPI_Recv 7 5", "sleep - 0 1", "compute 0 1", "compute - x 1"] {
            assert_eq!(span(0, line), None, "{line}");
        }
    }
}

//! What the ranks did over time: reads what each has written.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use trgen::trace::timeline::{Doing, Passage, Span, Timeline};

use super::reports::END;
use crate::cli::{Complaint, Exit};

/// A line of a timeline.
#[derive(PartialEq, Debug)]
enum Line {
    Span(Span),
    /// Receiver, number, time \[ps\], bytes, and the collective to which it belongs.
    Sent(u32, u64, u64, u64, Option<Arc<str>>),
    /// Sender, number, time \[ps\].
    Arrived(u32, u64, u64),
}

/// Sender, receiver, and the number of a message among those of the one to the other.
type Key = (u32, u32, u64);

/// The timelines of all ranks.
///
/// # Errors
/// A file that cannot be read or is not whole.
pub(super) fn read(folder: &Path, ranks: usize) -> Result<Timeline, Complaint> {
    let mut spans = Vec::new();
    let mut sent: Vec<(Key, u64, u64, Option<Arc<str>>)> = Vec::new();
    let mut arrived: HashMap<Key, u64> = HashMap::new();
    for rank in 0..ranks {
        let path = folder.join(format!("spans.{rank}"));
        let refused = |what: String| {
            let remedy = "the program has run to its end; free space in TMPDIR, and run it again";
            Complaint::new(Exit::Failed, format!("the timeline of rank {rank} {what}"), remedy)
        };
        let text = fs::read_to_string(&path).map_err(|error| refused(format!("cannot be read: {error}")))?;
        let text = text.strip_suffix(&format!("{END}\n")).ok_or_else(|| refused("is cut short".to_owned()))?;
        for (number, line) in text.lines().enumerate() {
            let found = parsed(rank as u32, line);
            match found.ok_or_else(|| refused(format!("is damaged: line {} is `{line}`", number + 1)))? {
                Line::Span(span) => spans.push(span),
                Line::Sent(to, number, time, bytes, of) => sent.push(((rank as u32, to, number), time, bytes, of)),
                Line::Arrived(from, number, time) => {
                    arrived.insert((from, rank as u32, number), time);
                }
            }
        }
    }
    sent.sort_unstable();
    let passage = |(key, time, bytes, collective): (Key, u64, u64, _)| Passage {
        from: key.0,
        to: key.1,
        sent: time,
        arrived: arrived.get(&key).copied(),
        bytes,
        collective,
    };
    Ok(Timeline::of(spans, sent.into_iter().map(passage).collect()))
}

/// Parses a line; `None` if it has another form.
fn parsed(rank: u32, line: &str) -> Option<Line> {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["sent", to, number, time, bytes, ref of @ ..] => {
            let of = (!of.is_empty()).then(|| of.join(" ").into());
            Some(Line::Sent(to.parse().ok()?, number.parse().ok()?, time.parse().ok()?, bytes.parse().ok()?, of))
        }
        ["arrived", from, number, time] => {
            Some(Line::Arrived(from.parse().ok()?, number.parse().ok()?, time.parse().ok()?))
        }
        [doing, name, begin, end] => span(rank, (doing, name), (begin, end)).map(Line::Span),
        _ => None,
    }
}

/// The span of these words; `None` if they are not a span.
fn span(rank: u32, (doing, name): (&str, &str), (begin, end): (&str, &str)) -> Option<Span> {
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
        let span =
            |doing, name: &str, begin, end| Line::Span(Span { rank: 2, doing, name: name.to_owned(), begin, end });
        assert_eq!(parsed(2, "wait MPI_Recv 5 7"), Some(span(Doing::Waiting, "MPI_Recv", 5, 7)));
        assert_eq!(parsed(2, "compute - 0 1"), Some(span(Doing::Computing, "", 0, 1)));
        assert_eq!(parsed(2, "sent 3 0 17 4096"), Some(Line::Sent(3, 0, 17, 4096, None)));
        let of = Some("allreduce 5".into());
        assert_eq!(parsed(2, "sent 3 0 17 4096 allreduce 5"), Some(Line::Sent(3, 0, 17, 4096, of)));
        assert_eq!(parsed(2, "arrived 1 9 17"), Some(Line::Arrived(1, 9, 17)));
        for line in
            ["", "wait MPI_Recv 7 5", "sleep - 0 1", "compute 0 1", "compute - x 1", "sent 1 2 3", "arrived 1 2 -3"]
        {
            assert_eq!(parsed(0, line), None, "{line}");
        }
    }
}

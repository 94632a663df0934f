//! The reports that the ranks have written at their end.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fsin::result::{CollectiveRow, RankRow, SentRow, WaitRow};

/// The report of one rank.
#[derive(Clone, Default, Debug)]
pub(super) struct Report {
    /// Its row in the results.
    pub(super) row: RankRow,
    /// The error that has ended it.
    pub(super) failure: Option<String>,
    /// What helps against that, where it is no error of the program.
    pub(super) remedy: Option<String>,
    /// What it waited for when the run ended.
    pub(super) awaits: Option<String>,
    /// Number of messages to it that were never received.
    pub(super) unreceived: u64,
    /// Number of its collectives, by operation.
    pub(super) collectives: BTreeMap<String, u64>,
}

/// Why the report of a rank cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum Unusable {
    /// The file cannot be read; it is missing if the rank was killed.
    #[error("cannot be read: {0}")]
    Unread(String),
    /// A line has another form.
    #[error("is damaged: line {line} is `{text}`")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// The line.
        text: String,
    },
    /// The last line is missing.
    #[error("is cut short")]
    Short,
}

/// The last line of reports and recordings.
pub(super) const END: &str = "end";

/// Reads the report of each rank.
pub(super) fn read(folder: &Path, ranks: usize) -> Vec<Result<Report, Unusable>> {
    (0..ranks).map(|rank| read_one(folder, rank)).collect()
}

/// Reads the report of a rank.
pub(super) fn read_one(folder: &Path, rank: usize) -> Result<Report, Unusable> {
    let path = folder.join(format!("rank.{rank}"));
    let text = fs::read_to_string(&path).map_err(|error| Unusable::Unread(format!("{}: {error}", path.display())))?;
    Report::parse(rank, &text)
}

impl Report {
    /// Parses a report.
    fn parse(rank: usize, text: &str) -> Result<Self, Unusable> {
        let mut report = Self { row: RankRow { rank: rank as u64, ..RankRow::default() }, ..Self::default() };
        let text = text.strip_suffix(&format!("{END}\n")).ok_or(Unusable::Short)?;
        for (index, line) in text.lines().enumerate() {
            report.line(line).ok_or_else(|| Unusable::Line { line: index + 1, text: line.to_owned() })?;
        }
        Ok(report)
    }

    /// Adds the figure in a line of the report; `None` if it has another form.
    fn line(&mut self, line: &str) -> Option<()> {
        let (name, rest) = line.split_once(' ')?;
        let words: Vec<&str> = rest.split(' ').collect();
        let word = |index: usize| words.get(index).copied();
        let number = |index: usize| word(index)?.parse::<u64>().ok();
        let row = &mut self.row;
        match name {
            "time" => row.time_ps = number(0)?,
            "computing" => row.computing_ps = number(0)?,
            "finalized" => row.finalized = number(0)? == 1,
            "received" => row.messages_received = number(0)?,
            "unexpected" => row.messages_unexpected = number(0)?,
            "unreceived" => self.unreceived = number(0)?,
            "waiting" => {
                let peer = match word(1)? {
                    "any" => None,
                    _ => Some(number(1)?),
                };
                let wait = WaitRow { call: word(0)?.to_owned(), peer, waiting_ps: number(2)? };
                row.waiting_ps += wait.waiting_ps;
                row.waits.push(wait);
            }
            "call" => {
                row.calls.insert(word(0)?.to_owned(), number(1)?);
            }
            "collective" => {
                let (operation, count, time_ps) = (word(0)?.to_owned(), number(1)?, number(2)?);
                self.collectives.insert(operation.clone(), count);
                row.collectives.push(CollectiveRow { operation, count, time_ps });
            }
            "sent" => {
                let sent = SentRow { to: number(0)?, messages: number(1)?, bytes: number(2)? };
                row.messages_sent += sent.messages;
                row.bytes_sent += sent.bytes;
                row.sent.push(sent);
            }
            "failure" => self.failure = Some(rest.to_owned()),
            "remedy" => self.remedy = Some(rest.to_owned()),
            "awaits" => self.awaits = Some(rest.to_owned()),
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_is_not_whole_is_never_read_as_zero() {
        let whole = "time 5\ncomputing 3\nfinalized 1\nwaiting MPI_Recv any 2\nsent 1 2 16\nend\n";
        let report = Report::parse(3, whole).unwrap();
        assert_eq!((report.row.rank, report.row.time_ps, report.row.bytes_sent), (3, 5, 16));
        for length in 0..whole.len() {
            assert_eq!(Report::parse(3, &whole[..length]).unwrap_err(), Unusable::Short, "{length}");
        }
        for line in ["time", "time x", "time -1", "waiting MPI_Recv some 2", "sent 1 2", "other 1", ""] {
            let damaged = format!("received 1\n{line}\nend\n");
            let expected = Unusable::Line { line: 2, text: line.to_owned() };
            assert_eq!(Report::parse(3, &damaged).unwrap_err(), expected);
        }
    }
}

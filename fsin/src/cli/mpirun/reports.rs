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
    /// What it waited for when the run ended.
    pub(super) awaits: Option<String>,
    /// Number of messages to it that were never received.
    pub(super) unreceived: u64,
    /// Number of its collectives, by operation.
    pub(super) collectives: BTreeMap<String, u64>,
}

/// Reads the reports; `None` for a rank without one.
pub(super) fn read(folder: &Path, ranks: usize) -> Vec<Option<Report>> {
    let one = |rank: usize| {
        let text = fs::read_to_string(folder.join(format!("rank.{rank}"))).ok()?;
        let mut report = Report { row: RankRow { rank: rank as u64, ..RankRow::default() }, ..Report::default() };
        text.lines().for_each(|line| report.line(line));
        Some(report)
    };
    (0..ranks).map(one).collect()
}

impl Report {
    /// Adds the figure in a line of the report.
    fn line(&mut self, line: &str) {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        let words: Vec<&str> = rest.split(' ').collect();
        let number = |index: usize| words.get(index).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
        let row = &mut self.row;
        match name {
            "time" => row.time_ps = number(0),
            "computing" => row.computing_ps = number(0),
            "finalized" => row.finalized = number(0) == 1,
            "received" => row.messages_received = number(0),
            "unexpected" => row.messages_unexpected = number(0),
            "unreceived" => self.unreceived = number(0),
            "waiting" => {
                let peer = words.get(1).and_then(|word| word.parse().ok());
                let wait = WaitRow { call: words[0].to_owned(), peer, waiting_ps: number(2) };
                row.waiting_ps += wait.waiting_ps;
                row.waits.push(wait);
            }
            "call" => {
                row.calls.insert(words[0].to_owned(), number(1));
            }
            "collective" => {
                self.collectives.insert(words[0].to_owned(), number(1));
                let (operation, count, time_ps) = (words[0].to_owned(), number(1), number(2));
                row.collectives.push(CollectiveRow { operation, count, time_ps });
            }
            "sent" => {
                row.messages_sent += number(1);
                row.bytes_sent += number(2);
                row.sent.push(SentRow { to: number(0), messages: number(1), bytes: number(2) });
            }
            "failure" => self.failure = Some(rest.to_owned()),
            "awaits" => self.awaits = Some(rest.to_owned()),
            _ => {}
        }
    }
}

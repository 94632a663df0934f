//! Converts the recordings of the ranks to a trace.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use trgen::trace::container::{Content, Header, Writer};
use trgen::trace::program::{Event, Receive, Request, Send, Tag, TagFilter};
use trgen::{Picoseconds, TaskId};

use super::reports::END;

/// Small numbers for the contexts of messages, in the order of their first use, rank by rank.
#[derive(Default)]
struct Contexts(BTreeMap<u64, u32>);

/// Bit that marks the contexts of collectives, and the context of `MPI_COMM_WORLD`: see `adapters/mpi`.
const COLLECTIVE: u64 = 1 << 62;
const WORLD: u64 = 1;

impl Contexts {
    /// The context of a trace: even for messages of the program, odd for those of collectives.
    fn number(&mut self, context: u64) -> u32 {
        let (own, odd) = (context & !COLLECTIVE, u32::from(context & COLLECTIVE != 0));
        let next = self.0.len() as u32 + 1;
        let number = if own == WORLD { 0 } else { *self.0.entry(own).or_insert(next) };
        Tag::context_of(number) + odd
    }
}

/// Parses the recording of one rank, on a network whose cycle has `cycle` picoseconds; `None` if it is damaged.
///
/// In a replay the event after a computation may take place in the last cycle of the computation, also at the beginning
/// of the run (docs/decisions/0010-computation-times.md); a live rank computes to the end of that cycle. An additional
/// cycle at the beginning puts each event of the replay into the cycle of the live run, on which random draws of
/// routers depend.
fn events(text: &str, cycle: u64, contexts: &mut Contexts) -> Option<Vec<Event>> {
    let mut cancelled = HashSet::new();
    let mut open = HashSet::new();
    let mut all = vec![Event::Compute(Picoseconds(cycle))];
    let text = text.strip_suffix(&format!("{END}\n"))?;
    for line in text.lines().filter_map(|line| line.strip_prefix("x ")) {
        cancelled.insert(line.parse::<u32>().ok()?);
    }
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["c", time] => all.push(Event::Compute(Picoseconds(time.parse().ok()?))),
            ["s", to, tag, context, bytes, number] => {
                let tag = Tag { context: contexts.number(context.parse().ok()?), label: tag.parse().ok()? };
                let send = Send { to: TaskId(to.parse().ok()?), tag, bytes: bytes.parse().ok()? };
                let number = number.parse().ok()?;
                open.insert(number);
                all.push(Event::Isend(send, Request(number)));
            }
            ["r", from, tag, context, bytes, number] => {
                let (context, number) = (contexts.number(context.parse().ok()?), number.parse().ok()?);
                if cancelled.contains(&number) {
                    continue;
                }
                let from = if from == "any" { None } else { Some(TaskId(from.parse().ok()?)) };
                let tag = match tag {
                    "any" => TagFilter::AnyIn(context),
                    label => TagFilter::Exactly(Tag { context, label: label.parse().ok()? }),
                };
                open.insert(number);
                all.push(Event::Irecv(Receive { from, tag, bytes: bytes.parse().ok()? }, Request(number)));
            }
            ["w", number] => {
                let number = number.parse().ok()?;
                if open.remove(&number) {
                    all.push(Event::Wait(Request(number)));
                }
            }
            ["x", _] => {}
            _ => return None,
        }
    }
    let mut rest: Vec<u32> = open.into_iter().collect();
    rest.sort_unstable();
    if !rest.is_empty() {
        all.push(Event::WaitAll(rest.into_iter().map(Request).collect()));
    }
    Some(all)
}

/// Writes the recordings of all ranks as a trace. `cycle` is the length of a cycle of the network in picoseconds.
///
/// # Errors
/// A recording is missing or damaged, or the trace cannot be written.
pub(super) fn write(
    folder: &Path,
    collectives: &BTreeMap<String, u64>,
    (ranks, cycle): (usize, u64),
    to: &mut (dyn Write + std::marker::Send),
) -> io::Result<()> {
    let damaged =
        |rank: usize| io::Error::new(io::ErrorKind::InvalidData, format!("the recording of rank {rank} is damaged"));
    let header = Header {
        content: Content::Programs,
        tasks: ranks as u32,
        origin: "recorded by fsin mpirun".to_owned(),
        collectives: collectives.iter().map(|(name, &count)| (name.clone(), count)).collect(),
        notes: Vec::new(),
    };
    let mut writer = Writer::new(to, &header)?;
    let mut contexts = Contexts::default();
    for rank in 0..ranks {
        let text = fs::read_to_string(folder.join(format!("events.{rank}")))?;
        for event in events(&text, cycle, &mut contexts).ok_or_else(|| damaged(rank))? {
            writer.event(rank as u32, &event)?;
        }
    }
    writer.finish()?.flush()
}

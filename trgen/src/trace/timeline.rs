//! What the ranks of an application do over time, and its collectives as measured.
//!
//! Sources of applications keep a [`Timeline`] if asked to; the time during which a rank computes ([`Busy`]) and the
//! [collectives](CollectiveRecord) they always keep.
//!
//! Definitions of bandwidth: `nccl-tests`, *Performance reported by NCCL tests*.

use std::collections::HashMap;
use std::sync::Arc;

use crate::trace::kind::CollectiveKind;
use crate::trace::program::Tag;

/// What a rank does during a [`Span`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Doing {
    /// It computes.
    Computing,
    /// It takes part in a collective.
    Collective,
    /// It sends, and goes on when the message has been sent or has arrived, as the rules of its hosts have it.
    Sending,
    /// It receives.
    Receiving,
    /// It waits for requests.
    Waiting,
}

impl Doing {
    /// Its name, in a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Computing => "compute",
            Self::Collective => "collective",
            Self::Sending => "send",
            Self::Receiving => "receive",
            Self::Waiting => "wait",
        }
    }
}

/// A span of time of a rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Span {
    /// The rank.
    pub rank: u32,
    /// What it does.
    pub doing: Doing,
    /// What exactly, in a few words; empty if nothing more is known.
    pub name: String,
    /// \[ps\] Begin.
    pub begin: u64,
    /// \[ps\] End, at or after the begin.
    pub end: u64,
}

/// A message from one rank to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Passage {
    /// The rank that sends it.
    pub from: u32,
    /// The rank that receives it.
    pub to: u32,
    /// \[ps\] When it is sent.
    pub sent: u64,
    /// \[ps\] When it has arrived in full; `None` if it has not.
    pub arrived: Option<u64>,
    /// \[bytes\] Its size.
    pub bytes: u64,
    /// The collective to which it belongs, in a few words; `None` if it is a message of its own, or that is not known.
    pub collective: Option<Arc<str>>,
}

/// The collectives that programs call: which one a message belongs to, by its tag.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Called {
    /// Operations, each with an algorithm.
    names: Vec<(&'static str, &'static str)>,
    /// By context of the messages: what its collectives are, as indices of `names`, in the order of their numbers.
    calls: HashMap<u32, Vec<u16>>,
}

impl Called {
    /// Adds the collective whose messages have this tag, if no other rank has called it before. Those of a context are
    /// added in the order of their numbers, from 0.
    pub fn add(&mut self, tag: Tag, operation: &'static str, algorithm: &'static str) {
        let calls = self.calls.entry(tag.context).or_default();
        if tag.label != calls.len() as i64 {
            return;
        }
        let name = (operation, algorithm);
        let at = self.names.iter().position(|&known| known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        // There are fewer pairs of operations and algorithms than this can count.
        calls.push(at as u16);
    }

    /// The collective to which a message with this tag belongs: operation, algorithm and number on its communicator. `None`
    /// for a message of its own.
    #[must_use]
    pub fn name(&self, tag: Tag) -> Option<Arc<str>> {
        if !tag.is_collective() {
            return None;
        }
        let call = usize::try_from(tag.label).ok().and_then(|number| self.calls.get(&tag.context)?.get(number));
        let name = call.and_then(|&at| self.names.get(usize::from(at)));
        let name = name.map_or("collective".to_owned(), |(operation, algorithm)| format!("{operation} {algorithm}"));
        let on = if tag.context == Tag::COLLECTIVE {
            String::new()
        } else {
            format!(" of communicator {}", tag.context / 2)
        };
        Some(format!("{name} {}{on}", tag.label).into())
    }
}

/// What the links of a class carry over time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counter {
    /// Name of the class.
    pub name: String,
    /// Times \[ps\], each with the bytes carried until then.
    pub samples: Vec<(u64, u64)>,
}

/// What is kept of a run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Kept {
    spans: Vec<Span>,
    messages: Vec<Passage>,
    counters: Vec<Counter>,
    /// By the source's own name of a message: its number among `messages`, while it is under way.
    under_way: HashMap<(u32, u64), usize>,
}

/// The spans and the messages of all ranks; none is kept before [`record`](Self::record).
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Timeline {
    kept: Option<Box<Kept>>,
}

impl Timeline {
    /// A timeline of these spans and messages.
    #[must_use]
    pub fn of(spans: Vec<Span>, messages: Vec<Passage>) -> Self {
        Self { kept: Some(Box::new(Kept { spans, messages, ..Kept::default() })) }
    }

    /// Adds what links carry, if anything is kept.
    pub fn add_counters(&mut self, counters: Vec<Counter>) {
        if let Some(kept) = &mut self.kept {
            kept.counters.extend(counters);
        }
    }

    /// What links carry, where that is known.
    #[must_use]
    pub fn counters(&self) -> &[Counter] {
        self.kept.as_ref().map_or(&[], |kept| &kept.counters)
    }

    /// Adds collectives that the application is known to consist of: their spans, and the names of their messages.
    pub fn add_collectives(&mut self, records: &[CollectiveRecord]) {
        let Some(kept) = &mut self.kept else { return };
        // By rank: its parts, each with the number of the record.
        let mut parts: HashMap<u32, Vec<(usize, &Part)>> = HashMap::new();
        for (number, record) in records.iter().enumerate() {
            kept.spans.extend(record.spans());
            record.parts.iter().for_each(|part| parts.entry(part.rank).or_default().push((number, part)));
        }
        let names: Vec<Arc<str>> = records.iter().map(|record| record.name().into()).collect();
        for message in &mut kept.messages {
            let (Some(own), Some(others)) = (parts.get(&message.from), parts.get(&message.to)) else { continue };
            let lasts = |part: &Part| part.begin <= message.sent && part.end.is_none_or(|end| message.sent <= end);
            let takes_part = |record: usize| others.iter().any(|(other, _)| *other == record);
            if let Some((record, _)) = own.iter().rev().find(|(record, part)| lasts(part) && takes_part(*record)) {
                message.collective = Some(Arc::clone(&names[*record]));
            }
        }
    }

    /// Keeps spans from now on.
    pub fn record(&mut self) {
        self.kept.get_or_insert_default();
    }

    /// True if spans are kept.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// Adds the span that `span` describes, if spans are kept.
    #[inline]
    pub fn add(&mut self, span: impl FnOnce() -> Span) {
        if let Some(kept) = &mut self.kept {
            kept.spans.push(span());
        }
    }

    /// Adds a message that begins, if messages are kept. `name` stands for it until it [arrives](Self::arrived).
    #[inline]
    pub fn sent(&mut self, name: (u32, u64), message: impl FnOnce() -> Passage) {
        if let Some(kept) = &mut self.kept {
            kept.under_way.insert(name, kept.messages.len());
            kept.messages.push(message());
        }
    }

    /// The message of this name has arrived at `time` \[ps\].
    #[inline]
    pub fn arrived(&mut self, name: (u32, u64), time: impl FnOnce() -> u64) {
        if let Some(kept) = &mut self.kept
            && let Some(number) = kept.under_way.remove(&name)
        {
            kept.messages[number].arrived = Some(time());
        }
    }

    /// The messages so far, in the order of sending.
    #[must_use]
    pub fn messages(&self) -> &[Passage] {
        self.kept.as_ref().map_or(&[], |kept| &kept.messages)
    }

    /// The spans so far, in the order in which they became known.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        self.kept.as_ref().map_or(&[], |kept| &kept.spans)
    }
}

/// The time during which a rank does at least one thing of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Busy {
    total: u64,
    until: u64,
}

impl Busy {
    /// Adds a time from `begin` to `end`; begins come in order.
    #[inline]
    pub const fn add(&mut self, begin: u64, end: u64) {
        let begin = if begin > self.until { begin } else { self.until };
        if end > begin {
            self.total += end - begin;
            self.until = end;
        }
    }

    /// The time up to `now`.
    #[must_use]
    pub const fn up_to(&self, now: u64) -> u64 {
        self.total - self.until.saturating_sub(now)
    }
}

/// The begin and end of a rank's part of a collective.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// The rank.
    pub rank: u32,
    /// \[ps\] Its begin.
    pub begin: u64,
    /// \[ps\] Its end; `None` if it has not ended.
    pub end: Option<u64>,
}

/// A collective as measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CollectiveRecord {
    /// Kind.
    pub kind: CollectiveKind,
    /// Algorithm by which it runs.
    pub algorithm: &'static str,
    /// Name of the group of its ranks; `None` for all ranks.
    pub group: Option<String>,
    /// Number within the group, from 0.
    pub number: u32,
    /// Number of ranks that it has.
    pub size: u32,
    /// How often it runs from the begin to the end.
    pub calls: u64,
    /// \[bytes\] Size of one call, as [`CollectiveKind::bus_factor`] takes it.
    pub bytes: u64,
    /// The ranks that have begun.
    pub parts: Vec<Part>,
}

impl CollectiveRecord {
    /// \[ps\] The longest time that a rank takes, from when it begins to when it ends; `None` unless every rank has ended.
    #[must_use]
    pub fn longest(&self) -> Option<u64> {
        let times = self.parts.iter().map(|part| Some(part.end? - part.begin));
        let longest = times.collect::<Option<Vec<u64>>>()?.into_iter().max();
        longest.filter(|_| self.parts.len() == self.size as usize)
    }

    /// What it is, in words: kind, algorithm, number and group; without a number if it stands for several calls.
    #[must_use]
    pub fn name(&self) -> String {
        let of = self.group.as_ref().map_or(String::new(), |group| format!(" of {group}"));
        let number = if self.calls > 1 { String::new() } else { format!(" {}", self.number) };
        format!("{} {}{number}{of}", self.kind.name(), self.algorithm)
    }

    /// The parts of the ranks that have ended.
    pub fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        let span = |part: &Part| {
            let &Part { rank, begin, end } = part;
            let name = format!("{} {}", self.kind.name(), self.algorithm);
            Some(Span { rank, doing: Doing::Collective, name, begin, end: end? })
        };
        self.parts.iter().filter_map(span)
    }

    /// \[bytes/ns\] Bytes divided by the [longest](Self::longest) time; `None` if that is unknown or 0.
    #[must_use]
    pub fn algorithm_bandwidth(&self) -> Option<f64> {
        let time = self.longest().filter(|&time| time > 0)?;
        Some(self.bytes as f64 * self.calls as f64 * 1e3 / time as f64)
    }

    /// \[bytes/ns\] The [algorithm bandwidth](Self::algorithm_bandwidth) times the [factor](CollectiveKind::bus_factor)
    /// that makes it comparable with the rate of a link.
    #[must_use]
    pub fn bus_bandwidth(&self) -> Option<f64> {
        Some(self.algorithm_bandwidth()? * self.kind.bus_factor(self.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_overlap_count_once() {
        let mut busy = Busy::default();
        for (begin, end) in [(0, 10), (5, 8), (9, 12), (20, 20), (30, 40)] {
            busy.add(begin, end);
        }
        assert_eq!((busy.up_to(40), busy.up_to(35), busy.up_to(100)), (22, 17, 22));
    }

    #[test]
    fn a_timeline_keeps_nothing_until_it_is_asked_to() {
        let mut timeline = Timeline::default();
        timeline.add(|| unreachable!("nothing is kept"));
        timeline.record();
        let span = Span { rank: 1, doing: Doing::Computing, name: "a".into(), begin: 2, end: 3 };
        timeline.add(|| span.clone());
        timeline.record();
        assert_eq!(timeline.spans(), [span]);
    }

    #[test]
    fn a_message_arrives_once_and_its_name_may_be_used_again() {
        let message = |sent| Passage { from: 0, to: 1, sent, arrived: None, bytes: 8, collective: None };
        let mut timeline = Timeline::default();
        timeline.sent((0, 7), || unreachable!("nothing is kept"));
        timeline.record();
        timeline.sent((0, 7), || message(10));
        timeline.sent((1, 7), || message(20));
        timeline.arrived((0, 7), || 30);
        timeline.arrived((0, 7), || 40);
        timeline.sent((0, 7), || message(50));
        let arrived: Vec<Option<u64>> = timeline.messages().iter().map(|message| message.arrived).collect();
        assert_eq!(arrived, [Some(30), None, None]);
    }

    #[test]
    fn messages_of_collectives_are_named_by_their_calls() {
        let mut called = Called::default();
        let on_world = Tag::collective;
        for (tag, operation) in [(on_world(0), "bcast"), (on_world(1), "allreduce"), (on_world(0), "bcast")] {
            called.add(tag, operation, "ring");
        }
        let other = Tag { context: Tag::context_of(3) + 1, label: 0 };
        called.add(other, "barrier", "linear");
        let name = |tag| called.name(tag).map(|name| name.to_string());
        assert_eq!(name(on_world(1)).as_deref(), Some("allreduce ring 1"));
        assert_eq!(name(other).as_deref(), Some("barrier linear 0 of communicator 3"));
        assert_eq!(name(on_world(2)).as_deref(), Some("collective 2"));
        assert_eq!(name(Tag::user(1)), None);
    }

    #[test]
    fn bandwidths_are_those_of_the_slowest_rank() {
        let part = |rank, begin, end| Part { rank, begin, end };
        let mut record = CollectiveRecord {
            kind: CollectiveKind::AllReduce,
            algorithm: "ring",
            group: None,
            number: 0,
            size: 4,
            calls: 1,
            bytes: 4000,
            parts: vec![part(0, 0, Some(900_000)), part(1, 500_000, Some(1_500_000)), part(2, 100, Some(100))],
        };
        assert_eq!(record.longest(), None, "a rank has not begun");
        record.parts.push(part(3, 7, None));
        assert_eq!(record.longest(), None, "a rank has not ended");
        record.parts[3].end = Some(7);
        assert_eq!(record.longest(), Some(1_000_000));
        assert_eq!((record.algorithm_bandwidth(), record.bus_bandwidth()), (Some(4.0), Some(6.0)));
    }
}

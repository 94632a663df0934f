//! What the ranks of an application do over time, and its collectives as measured.
//!
//! Sources of applications keep a [`Timeline`] if asked to; the time during which a rank computes ([`Busy`]) and the
//! [collectives](CollectiveRecord) they always keep.
//!
//! Definitions of bandwidth: `nccl-tests`, *Performance reported by NCCL tests*.

use crate::trace::kind::CollectiveKind;

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

/// The spans of all ranks; none is kept before [`record`](Self::record).
#[derive(Clone, Default, Debug)]
pub struct Timeline {
    spans: Option<Vec<Span>>,
}

impl Timeline {
    /// Keeps spans from now on.
    pub fn record(&mut self) {
        self.spans.get_or_insert_default();
    }

    /// True if spans are kept.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        self.spans.is_some()
    }

    /// Adds the span that `span` describes, if spans are kept.
    #[inline]
    pub fn add(&mut self, span: impl FnOnce() -> Span) {
        if let Some(spans) = &mut self.spans {
            spans.push(span());
        }
    }

    /// The spans so far, in the order in which they became known.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        self.spans.as_deref().unwrap_or_default()
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

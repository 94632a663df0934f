//! A network in partitions, and which thread simulates which stage of a cycle.

use super::{Division, Pool, Work};

/// A partition of a network, and the two stages of a cycle.
pub trait Partition: Send + Sized + 'static {
    /// What the caller's thread must know of a cycle.
    type Report: Default + Send + 'static;
    /// What one partition sends to another at the end of a cycle.
    type Mail;
    /// A message that has been accepted for a node of the partition.
    type Accepted;

    /// True if sources must know something of a cycle before the next one: [`begin_cycle`](Self::begin_cycle) finds it.
    /// Otherwise the caller does not wait for threads to begin.
    const HAS_BEGINNING: bool = true;

    /// Simulates what sources must know before the next cycle. The report of it is complete then.
    fn begin_cycle(&mut self);

    /// Simulates the rest of the cycle.
    fn end_cycle(&mut self);

    /// Messages accepted since the last cycle.
    fn accepted(&mut self) -> &mut Vec<Self::Accepted>;

    /// The report of this cycle.
    fn report(&mut self) -> &mut Self::Report;

    /// By partition: mail from it, and mail to it.
    fn mail(&mut self) -> (&mut [Self::Mail], &mut [Self::Mail]);
}

/// The partitions of a network, their threads, and what passes between them and the caller's thread.
#[derive(Debug)]
pub struct Partitioned<P: Partition> {
    /// The ranges of nodes of the partitions.
    division: Division,
    /// The partitions in the order of their nodes; while threads are at work, only those of the caller's thread.
    parts: Vec<Box<P>>,
    /// By partition: messages that its nodes receive in the next cycle.
    accepted: Vec<Vec<P::Accepted>>,
    /// The threads; `None` if there is one only.
    pool: Option<Pool<P, P::Report>>,
    /// By worker: an emptied report of the beginning of a cycle, kept to reuse its memory.
    begun: Vec<P::Report>,
    /// A cycle whose notices have been given and whose remainder is still in progress.
    unfinished: Option<u64>,
}

impl<P: Partition> Partitioned<P> {
    /// A network of these partitions, one thread for each.
    #[must_use]
    pub fn new(division: Division, parts: Vec<Box<P>>) -> Self {
        let begin = |part: &mut P| {
            part.begin_cycle();
            if P::HAS_BEGINNING { std::mem::take(part.report()) } else { P::Report::default() }
        };
        let work = Work { begin, end: P::end_cycle };
        Self {
            division,
            accepted: parts.iter().map(|_| Vec::new()).collect(),
            pool: (parts.len() > 1).then(|| Pool::new(parts.len() - 1, work)),
            parts,
            begun: Vec::new(),
            unfinished: None,
        }
    }

    /// The ranges of nodes of the partitions.
    #[must_use]
    pub const fn division(&self) -> Division {
        self.division
    }

    /// The partitions in the order of their nodes: all of them, if the network is [settled](Self::settle).
    #[must_use]
    #[inline]
    pub fn parts(&self) -> &[Box<P>] {
        debug_assert!(self.unfinished.is_none(), "settled before its state is read");
        &self.parts
    }

    /// The partitions, to change them. The network must be [settled](Self::settle).
    #[inline]
    pub fn parts_mut(&mut self) -> &mut [Box<P>] {
        &mut self.parts
    }

    /// The only partition, to change it; `None` if there are several.
    #[inline]
    pub fn only_mut(&mut self) -> Option<&mut P> {
        match &mut self.parts[..] {
            [only] if self.pool.is_none() => Some(only),
            _ => None,
        }
    }

    /// True with more than one thread.
    #[must_use]
    #[inline]
    pub const fn has_threads(&self) -> bool {
        self.pool.is_some()
    }

    /// True if the remainder of the last cycle is still in progress.
    #[must_use]
    #[inline]
    pub const fn is_unfinished(&self) -> bool {
        self.unfinished.is_some()
    }

    /// Passes a message to a partition, which receives it in the next cycle.
    #[inline]
    pub fn accept(&mut self, part: usize, message: P::Accepted) {
        self.accepted[part].push(message);
    }

    /// By partition: messages that its nodes receive in the next cycle.
    #[must_use]
    pub fn accepted(&self) -> &[Vec<P::Accepted>] {
        &self.accepted
    }

    /// The partitions, each with the messages that its nodes receive in the next cycle, to change them. The network
    /// must be [settled](Self::settle).
    pub fn with_accepted_mut(&mut self) -> impl Iterator<Item = (&mut P, &mut Vec<P::Accepted>)> {
        self.parts.iter_mut().map(Box::as_mut).zip(&mut self.accepted)
    }

    /// Simulates cycle `now`, on all threads if `is_worth` waking them; the network must be settled. Passes the reports
    /// to `read`: all of them if threads are not at work, or unless the cycle `may_go_on`. Otherwise threads go on, and
    /// only the reports of its beginning are read, of which there is one for each partition.
    #[inline]
    pub fn cycle(&mut self, now: u64, is_worth: bool, may_go_on: bool, read: &mut impl FnMut(&mut P::Report, u64)) {
        for (part, accepted) in self.parts.iter_mut().zip(&mut self.accepted) {
            std::mem::swap(part.accepted(), accepted);
        }
        if let Some(part) = self.only_mut() {
            part.begin_cycle();
            part.end_cycle();
            return read(part.report(), now);
        }
        if is_worth
            && let Some(pool) = &mut self.pool
            && pool.is_ready()
        {
            let kept = self.parts.len() - pool.len();
            self.parts.drain(kept..).enumerate().for_each(|(worker, part)| pool.give(worker, part));
        }
        self.parts.iter_mut().for_each(|part| part.begin_cycle());
        let workers = self.division.parts - self.parts.len();
        let goes_on = workers > 0 && may_go_on;
        if goes_on {
            self.read_own_reports(now, read);
        }
        for worker in 0..(if P::HAS_BEGINNING { workers } else { 0 }) {
            let Some(mut report) = self.pool.as_mut().map(|pool| pool.begun(worker)) else { break };
            read(&mut report, now);
            self.begun.push(report);
        }
        if goes_on {
            self.unfinished = Some(now);
        } else {
            self.finish(now, read);
        }
    }

    /// Waits for the remainder of the last cycle, and reads the reports of it.
    #[inline]
    pub fn settle(&mut self, read: &mut impl FnMut(&mut P::Report, u64)) {
        if let Some(cycle) = self.unfinished.take() {
            self.finish(cycle, read);
        }
    }

    /// Completes cycle `now`, and exchanges mail.
    fn finish(&mut self, now: u64, read: &mut impl FnMut(&mut P::Report, u64)) {
        self.parts.iter_mut().for_each(|part| part.end_cycle());
        let workers = self.division.parts - self.parts.len();
        if let Some(pool) = &mut self.pool {
            self.parts.extend((0..workers).map(|worker| pool.fetch(worker)));
        }
        self.read_own_reports(now, read);
        let kept = self.parts.len() - workers;
        for (part, empty) in self.parts[kept..].iter_mut().zip(self.begun.drain(..)) {
            *part.report() = empty;
        }
        for to in 1..self.parts.len() {
            let (before, after) = self.parts.split_at_mut(to);
            let (inbox, outbox) = after[0].mail();
            for (from, there) in before.iter_mut().enumerate() {
                let (their_inbox, their_outbox) = there.mail();
                std::mem::swap(&mut their_outbox[to], &mut inbox[from]);
                std::mem::swap(&mut outbox[from], &mut their_inbox[to]);
            }
        }
    }

    /// Reads the reports of the partitions on the caller's thread.
    fn read_own_reports(&mut self, now: u64, read: &mut impl FnMut(&mut P::Report, u64)) {
        for part in &mut self.parts {
            read(part.report(), now);
        }
    }
}

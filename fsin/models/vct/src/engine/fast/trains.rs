//! Trains: packets of long messages that are not simulated one by one.
//!
//! While messages are long, the state of the whole network often recurs after the length of a packet, but for counters
//! and for what was drawn: each interface sends a packet of its message in each period, and no packet waits for another.
//! Periods are then passed at once, up to the end of the first message.
//!
//! # Why this is exact
//! A period is **free** if every head was granted an output in the first cycle in which it could ask, and the links that
//! packets of one pair of nodes may take are not taken by those of any other pair, whatever they draw. Packets of a pair
//! then meet only their predecessor, which has left each queue just before they enter it. So draws decide which
//! channels, and in networks of switches which links, a packet takes, but not when. If, besides, all that lies before
//! the first link of packets (interfaces, source buffers, injection queues) is at the end of the period what it was at
//! its beginning, then the next period goes like it, and so does every other until a message ends or a new one comes.
//!
//! What is not periodic is computed: numbers and keys of packets, the digest, and the draws. Draws are made for the
//! packets that are under way at the end, and for those before them whose channels arbiters remember.
//!
//! # A search
//! When no message has come for some time, the state before the first links is written, and for one period each header
//! leaves a [`Sight`] where it leaves a node. These are put together to [flows](Flow). Then the whole state is compared
//! with what follows from the flows. A search that fails is repeated later, at growing distances.
//!
//! Decision: docs/decisions/0640-trains-of-periods.md.

use crate::engine::messages::Slot;

/// A header that left a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    /// \[cycle\] When.
    pub(super) at: u64,
    pub(super) node: u32,
    /// The queue that it left.
    pub(super) input: u16,
    /// The channel that it took; `None` if its ejection began.
    pub(super) output: Option<u16>,
    pub(super) source: u32,
    pub(super) destination: u32,
    /// \[hops\] Those made before.
    pub(super) hops: u32,
    /// The packet's number at its source.
    pub(super) sequence: u64,
    /// \[cycle\] From which its delay counts.
    pub(super) start: u64,
    pub(super) message: Slot,
}

/// What was seen in a period.
#[derive(Debug)]
pub(super) struct Sights {
    pub(super) all: Vec<Sight>,
    /// True if there was room for a packet behind each channel of the nodes that headers left.
    pub(super) is_roomy: bool,
}

/// The passage of a packet through a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    pub(super) node: u32,
    pub(super) input: u16,
    pub(super) output: u16,
}

/// The packets of a pair of nodes, one in each period.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) source: u32,
    pub(super) destination: u32,
    pub(super) message: Slot,
    /// \[cycle\] When the header of the period left its injection queue.
    pub(super) begin: u64,
    /// \[cycles\] From its start to that time.
    pub(super) waited: u64,
    /// The number of that packet at its source.
    pub(super) sequence: u64,
    /// By hop: where a packet was seen to make it, the latest one before the end of the period.
    pub(super) path: Vec<Step>,
}

impl Flow {
    /// \[hops\] Number of hops.
    pub(super) fn hops(&self) -> u64 {
        self.path.len() as u64
    }
}

/// The flows of a period of so many cycles, ordered by source and destination; `None` if some pair did not have each of
/// its hops once, at the distance of one cycle from hop to hop.
pub(super) fn flows(mut sights: Vec<Sight>, cycles: u64) -> Option<Vec<Flow>> {
    sights.sort_unstable_by_key(|sight| (sight.source, sight.destination, sight.hops, sight.output.is_none()));
    let pairs = sights.chunk_by(|one, other| (one.source, one.destination) == (other.source, other.destination));
    pairs.map(|pair| flow(pair, cycles)).collect()
}

/// The flow of a pair, its sights ordered by hops.
fn flow(sights: &[Sight], cycles: u64) -> Option<Flow> {
    let (first, (last, hops)) = (sights.first()?, sights.split_last()?);
    let is_in_order = (0..).zip(sights).all(|(hop, sight)| {
        u64::from(sight.hops) == hop
            && sight.at % cycles == (first.at + hop) % cycles
            && sight.message == first.message
            && (hop > 0) == (sight.node != first.source)
    });
    if !is_in_order || last.output.is_some() || last.node != last.destination || first.source == first.destination {
        return None;
    }
    // Packets that need longer than a period for their headers would be two hops of one in a period.
    if hops.is_empty() || hops.len() as u64 > cycles {
        return None;
    }
    let step = |sight: &Sight| Some(Step { node: sight.node, input: sight.input, output: sight.output? });
    Some(Flow {
        source: first.source,
        destination: first.destination,
        message: first.message,
        begin: first.at,
        waited: first.at - first.start,
        sequence: first.sequence,
        path: hops.iter().map(step).collect::<Option<_>>()?,
    })
}

/// By hop and node: channels.
pub(super) type Ways<Channels = Box<[u16]>> = Vec<Vec<(u32, Channels)>>;

/// A flow, and what is known of it at the end of its period.
#[derive(Debug)]
pub(super) struct Track {
    pub(super) flow: Flow,
    /// Number of flows of its source.
    pub(super) siblings: u64,
    /// In a network of switches, by hop: the nodes where packets may make it in ascending order, each with its candidate
    /// channels.
    pub(super) ways: Ways,
    /// The packets under way: that of the period, and the one before.
    pub(super) riders: [Option<u32>; 2],
}

/// The channels that packets of a track may take, by hop and node, each with whether some packet has taken it.
pub(super) struct Remembered {
    places: Ways<Vec<(u16, bool)>>,
}

impl Remembered {
    /// None taken; in a direct network, `channels` are those of a step.
    pub(super) fn new(track: &Track, channels: impl Fn(&Step) -> Box<[u16]>) -> Self {
        let place = |node: u32, channels: &[u16]| (node, channels.iter().map(|&channel| (channel, false)).collect());
        let here = |(hop, step): (usize, &Step)| match track.ways.get(hop) {
            Some(ways) => ways.iter().map(|(node, candidates)| place(*node, candidates)).collect(),
            None => vec![place(step.node, &channels(step))],
        };
        Self { places: track.flow.path.iter().enumerate().map(here).collect() }
    }

    /// All channels.
    fn all(&mut self) -> impl Iterator<Item = &mut (u16, bool)> {
        self.places.iter_mut().flatten().flat_map(|(_, channels)| channels)
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.all().for_each(|channel| channel.1 = false);
    }

    /// Adds the channel of a step.
    pub(super) fn add(&mut self, hop: usize, step: Step) {
        let places = &mut self.places[hop];
        if let Ok(at) = places.binary_search_by_key(&step.node, |place| place.0)
            && let Some(channel) = places[at].1.iter_mut().find(|channel| channel.0 == step.output)
        {
            channel.1 = true;
        }
    }

    /// True if all channels have been taken that packets may take.
    pub(super) fn is_all(&mut self) -> bool {
        self.all().all(|channel| channel.1)
    }
}

/// A period that has begun.
#[derive(Debug)]
pub(super) struct Begun {
    /// \[cycle\] Its first cycle.
    pub(super) at: u64,
    /// The state before the first links.
    pub(super) words: Vec<u64>,
    /// By endpoint: packets sent so far.
    pub(super) sequences: Vec<u64>,
}

/// The search for periods that can be passed.
#[derive(Debug)]
pub(super) struct Trains {
    /// True if the digest covers packets that are not simulated.
    pub(super) digest: bool,
    /// \[cycle\] The next look.
    next: u64,
    /// \[cycles\] Length of a period.
    cycles: u64,
    /// \[cycles\] Time from the last message to the first search.
    settling: u64,
    /// \[cycles\] From a search that fails to the next.
    pause: u64,
    /// Number of searches that have failed since one succeeded.
    failures: u32,
    /// The period in which headers are seen.
    begun: Option<Begun>,
    /// True if a message has come since it began.
    is_disturbed: bool,
    /// \[cycles\] Passed so far.
    pub(super) passed: u64,
}

impl Trains {
    /// \[packets\] Most packets that are passed at once, so that a user who stops the run is heard.
    pub(super) const MOST: u64 = 1 << 24;
    /// \[periods\] Fewer are not worth it.
    pub(super) const FEWEST: u64 = 4;
    /// \[periods\] Longest pause.
    const LONGEST: u64 = 1 << 8;

    /// A search for periods of so many cycles, where interfaces are `settling` cycles later in a steady state.
    pub(super) const fn new(digest: bool, cycles: u64, settling: u64) -> Self {
        Self {
            digest,
            next: 0,
            cycles,
            settling,
            pause: cycles,
            failures: 0,
            begun: None,
            is_disturbed: false,
            passed: 0,
        }
    }

    /// Notes that a message has come.
    #[inline]
    pub(super) const fn disturb(&mut self, now: u64) {
        self.is_disturbed = true;
        self.next = if self.begun.is_some() { now } else { now + self.patience() };
        self.pause = self.cycles;
    }

    /// \[cycles\] Time from the last message to the first search: longer after searches that failed.
    const fn patience(&self) -> u64 {
        self.settling << if self.failures < 5 { self.failures } else { 5 }
    }

    /// True if it is time to look.
    #[inline]
    pub(super) const fn is_due(&self, now: u64) -> bool {
        now >= self.next
    }

    /// The cycle before which the network must not be simulated at once: the end of the period.
    #[inline]
    pub(super) fn end(&self) -> u64 {
        self.begun.as_ref().map_or(u64::MAX, |begun| begun.at + self.cycles)
    }

    /// Begins a period.
    pub(super) fn begin(&mut self, begun: Begun) {
        self.next = begun.at + self.cycles;
        self.is_disturbed = false;
        self.begun = Some(begun);
    }

    /// Ends the period: what it began with, if it is complete and no message has come. `None` if none has begun.
    pub(super) fn take(&mut self, now: u64) -> Option<Option<Begun>> {
        let end = self.end();
        let begun = self.begun.take()?;
        Some((!self.is_disturbed && now == end).then_some(begun))
    }

    /// Looks again later.
    pub(super) fn wait(&mut self, now: u64) {
        self.next = now + self.pause;
        self.pause = (2 * self.pause).min(Self::LONGEST * self.cycles);
    }

    /// Looks again later, after a search without success.
    pub(super) fn fail(&mut self, now: u64) {
        if self.is_disturbed {
            self.next = now + self.patience();
            return;
        }
        self.failures += 1;
        self.wait(now);
    }

    /// Looks again soon, after periods have been passed.
    pub(super) const fn succeed(&mut self, now: u64, passed: u64) {
        self.passed += passed;
        self.failures = 0;
        self.pause = self.cycles;
        self.next = now + self.cycles;
    }
}

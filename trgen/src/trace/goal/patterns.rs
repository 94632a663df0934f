//! Collective patterns as graphs, with the same operations as in schedgen's output.
//!
//! `ring-allreduce:ranks=16,bytes=65536` becomes a [`Graph`]; all tags are 0, all roots rank 0.
//!
//! Source: Hoefler, Schneider, Lumsdaine, *LogGOPSim*, LSAP 2010, and its schedule generator.

use super::{After, Graph, GraphError, Operation, RankBuilder};
use crate::catalog::{Component, ErrorKind, Parameter, SpecError};
use crate::synthetic::expr::{self, Call, Expr};

/// Most operations of a pattern, over all ranks: graphs are held in memory, at some 50 bytes per operation.
pub const MOST_OPERATIONS: u64 = 100_000_000;

const RANKS: Parameter = Parameter { name: "ranks", about: "number of ranks", range: "1..=1048576", default: "16" };
const BYTES: Parameter =
    Parameter { name: "bytes", about: "size of the data [bytes]", range: "1..=2^36", default: "1024" };
const SEGMENT: Parameter =
    Parameter { name: "segment", about: "size of a segment [bytes]", range: "1..=2^36", default: "1024" };

/// The parameters of a pattern; 1 for one that it does not have.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// Number of ranks.
    ranks: u32,
    /// \[bytes\] Size of the data.
    bytes: u64,
    /// \[bytes\] Size of a segment.
    segment: u64,
}

/// How a pattern is built.
#[derive(Clone, Copy, Debug)]
struct Pattern {
    /// Upper bound on the operations of all ranks.
    operations: fn(&Sizes) -> u128,
    /// What the pattern needs and these sizes lack; `None` if it is defined for them.
    refuses: fn(&Sizes) -> Option<&'static str>,
    /// Adds the operations of one rank, whose number is given.
    rank: fn(&Sizes, u32, &mut Script) -> Result<(), GraphError>,
}

/// A row of the table.
type Entry = expr::Entry<Pattern>;

/// A row of the table.
const fn entry(name: &'static str, about: &'static str, parameters: &'static [Parameter], build: Pattern) -> Entry {
    Entry {
        component: Component { name, about, parameters, source: "schedgen (LogGOPSim), LSAP 2010" },
        aliases: &[],
        build,
    }
}

/// Parameters of a pattern without segments.
const PLAIN: &[Parameter] = &[RANKS, BYTES];
/// Parameters of a pattern with segments.
const SEGMENTED: &[Parameter] = &[RANKS, BYTES, SEGMENT];

/// The condition of a pattern that is defined for all sizes.
const fn any_sizes(_: &Sizes) -> Option<&'static str> {
    None
}

/// All patterns. One line per member.
static TABLE: [&Entry; 13] = [
    &entry(
        "binomialtreebcast",
        "broadcast along a binomial tree",
        PLAIN,
        Pattern { operations: linear, refuses: any_sizes, rank: binomial_broadcast },
    ),
    &entry(
        "binomialtreereduce",
        "reduction along a binomial tree",
        PLAIN,
        Pattern { operations: linear, refuses: any_sizes, rank: binomial_reduce },
    ),
    &entry(
        "binarytreebcast",
        "broadcast along a binary tree, numbered breadth first",
        PLAIN,
        Pattern { operations: linear, refuses: any_sizes, rank: binary_broadcast },
    ),
    &entry(
        "dissemination",
        "for each power of two below the ranks: send as far ahead, receive from as far behind",
        PLAIN,
        Pattern { operations: logarithmic, refuses: any_sizes, rank: dissemination },
    ),
    &entry(
        "pipelinedring",
        "segments passed around a ring",
        SEGMENTED,
        Pattern { operations: segments, refuses: any_sizes, rank: |s, v, b| pipelined(s, v, b, false) },
    ),
    &entry(
        "pipelinedringdep",
        "segments passed around a ring, each received after the one before was sent",
        SEGMENTED,
        Pattern { operations: segments, refuses: any_sizes, rank: |s, v, b| pipelined(s, v, b, true) },
    ),
    &entry(
        "doublering",
        "one message around a ring, forward and backward",
        PLAIN,
        Pattern { operations: |s| u128::from(s.ranks) * 4, refuses: two_ranks, rank: double_ring },
    ),
    &entry(
        "gather",
        "everybody sends to the root",
        PLAIN,
        Pattern { operations: linear, refuses: any_sizes, rank: gather },
    ),
    &entry(
        "scatter",
        "the root sends to everybody",
        PLAIN,
        Pattern { operations: linear, refuses: any_sizes, rank: scatter },
    ),
    &entry(
        "linbarrier",
        "everybody reports to the root with 1 byte, and is answered",
        &[RANKS],
        Pattern { operations: |s| u128::from(s.ranks) * 4, refuses: any_sizes, rank: linear_barrier },
    ),
    &entry(
        "linear_alltoall",
        "everybody sends to everybody, the next rank first; no dependencies",
        PLAIN,
        Pattern {
            operations: |s| u128::from(s.ranks) * u128::from(s.ranks) * 2,
            refuses: any_sizes,
            rank: linear_alltoall,
        },
    ),
    &entry(
        "allreduce_ring",
        "the data in as many parts as ranks, twice around a ring",
        PLAIN,
        Pattern {
            operations: |s| u128::from(s.ranks) * u128::from(s.ranks) * 4,
            refuses: |s| (s.bytes < u64::from(s.ranks)).then_some("at least one byte for each rank"),
            rank: ring_allreduce,
        },
    ),
    &entry(
        "allreduce_recdoub",
        "recursive halving, then doubling",
        PLAIN,
        Pattern {
            operations: |s| logarithmic(s) * 2,
            refuses: |s| (!s.ranks.is_power_of_two()).then_some("a power of two as number of ranks"),
            rank: halving_doubling,
        },
    ),
];

/// Bound on the operations: 2 per rank.
fn linear(sizes: &Sizes) -> u128 {
    u128::from(sizes.ranks) * 2
}

/// Bound on the operations: 2 per rank and power of two.
fn logarithmic(sizes: &Sizes) -> u128 {
    u128::from(sizes.ranks) * 2 * u128::from(32 - sizes.ranks.leading_zeros())
}

/// Bound on the operations: 2 per rank and segment.
fn segments(sizes: &Sizes) -> u128 {
    u128::from(sizes.ranks) * 2 * u128::from(sizes.bytes.div_ceil(sizes.segment))
}

/// The condition of a pattern that is defined for 2 ranks or more.
fn two_ranks(sizes: &Sizes) -> Option<&'static str> {
    (sizes.ranks < 2).then_some("at least 2 ranks")
}

/// The description of every pattern.
pub fn components() -> impl Iterator<Item = &'static Component> {
    TABLE.iter().map(|entry| &entry.component)
}

/// Builds the pattern that `text` describes.
///
/// # Errors
/// Malformed text, an unknown pattern or parameter, sizes for which it is not defined or which yield more than
/// [`MOST_OPERATIONS`].
///
/// # Example
/// ```
/// let graph = trgen::trace::goal::patterns::parse("dissemination:ranks=16,bytes=1")?;
/// assert_eq!(graph.counts().sends, 64);
/// # Ok::<(), trgen::catalog::SpecError>(())
/// ```
pub fn parse(text: &str) -> Result<Graph, SpecError> {
    let expr = Expr::parse(text)?;
    let entry = expr::find("graph pattern", &TABLE, text, &expr)?;
    let call = Call::bind(text, &expr, &entry.component)?;
    let optional = |parameter: &Parameter, range| {
        if entry.component.parameters.iter().any(|known| known.name == parameter.name) {
            call.bytes(parameter.name, range).map(|value| value as u64)
        } else {
            Ok(1)
        }
    };
    let sizes = Sizes {
        ranks: call.integer(RANKS.name, 1..=1 << 20)? as u32,
        bytes: optional(&BYTES, 1..=1 << 36)?,
        segment: optional(&SEGMENT, 1..=1 << 36)?,
    };
    if let Some(needs) = (entry.build.refuses)(&sizes) {
        return Err(call.refuse_all(&format!("`{}` needs {needs}", call.name()), "other sizes"));
    }
    if (entry.build.operations)(&sizes) > u128::from(MOST_OPERATIONS) {
        let what = format!("`{text}` is more than {MOST_OPERATIONS} operations");
        return Err(call.refuse_all(&what, "fewer ranks or segments"));
    }
    let mut ranks = Vec::new();
    let failed = |error: GraphError| SpecError::new(ErrorKind::Malformed, error.to_string(), "other sizes");
    for rank in 0..sizes.ranks {
        let mut script = Script::default();
        (entry.build.rank)(&sizes, rank, &mut script).map_err(failed)?;
        ranks.push(script.builder.build().map_err(failed)?);
    }
    Graph::new(ranks).map_err(failed)
}

/// One rank under construction.
#[derive(Default, Debug)]
struct Script {
    builder: RankBuilder,
    /// The last send.
    send: Option<u32>,
    /// The last receive.
    receive: Option<u32>,
}

impl Script {
    /// Adds a send; returns its number.
    fn send(&mut self, to: u32, bytes: u64) -> Result<u32, GraphError> {
        let node = self.builder.add(Operation::send(bytes, to, 0))?;
        self.send = Some(node);
        Ok(node)
    }

    /// Adds a receive; returns its number.
    fn receive(&mut self, from: u32, bytes: u64) -> Result<u32, GraphError> {
        let node = self.builder.add(Operation::recv(bytes, from, 0))?;
        self.receive = Some(node);
        Ok(node)
    }

    /// Makes the last send wait for the last receive, if there are both.
    fn chain_last(&mut self) -> Result<(), GraphError> {
        match (self.send, self.receive) {
            (Some(send), Some(receive)) => self.builder.depend(send, receive, After::Finish),
            _ => Ok(()),
        }
    }

    /// Makes an operation wait for another one, if that exists.
    fn requires(&mut self, dependent: u32, other: Option<u32>) -> Result<(), GraphError> {
        other.map_or(Ok(()), |other| self.builder.depend(dependent, other, After::Finish))
    }
}

/// The powers of two below the number of ranks.
fn powers(ranks: u32) -> impl Iterator<Item = u32> {
    (0..32)
        .map(|exponent| 1_u64 << exponent)
        .take_while(move |&power| power < u64::from(ranks))
        .map(|power| power as u32)
}

// The functions below add the operations of one rank; `TABLE` describes their patterns.

fn binomial_broadcast(sizes: &Sizes, rank: u32, script: &mut Script) -> Result<(), GraphError> {
    for power in powers(sizes.ranks) {
        if rank < power && rank + power < sizes.ranks {
            script.send(rank + power, sizes.bytes)?;
            script.chain_last()?;
        }
        if (power..2 * power).contains(&rank) {
            script.receive(rank - power, sizes.bytes)?;
        }
    }
    Ok(())
}

fn binomial_reduce(sizes: &Sizes, rank: u32, script: &mut Script) -> Result<(), GraphError> {
    for power in powers(sizes.ranks) {
        if rank < power && rank + power < sizes.ranks {
            script.receive(rank + power, sizes.bytes)?;
            script.chain_last()?;
        }
        if (power..2 * power).contains(&rank) {
            script.send(rank - power, sizes.bytes)?;
        }
    }
    Ok(())
}

fn binary_broadcast(sizes: &Sizes, rank: u32, script: &mut Script) -> Result<(), GraphError> {
    let received = if rank > 0 { Some(script.receive((rank - 1) / 2, sizes.bytes)?) } else { None };
    let mut sends = Vec::new();
    for child in [2 * rank + 1, 2 * rank + 2] {
        if child < sizes.ranks {
            sends.push(script.send(child, sizes.bytes)?);
        }
    }
    sends.into_iter().try_for_each(|send| script.requires(send, received))
}

fn dissemination(sizes: &Sizes, rank: u32, script: &mut Script) -> Result<(), GraphError> {
    for distance in powers(sizes.ranks) {
        script.send((rank + distance) % sizes.ranks, sizes.bytes)?;
        script.chain_last()?;
        script.receive((rank + sizes.ranks - distance) % sizes.ranks, sizes.bytes)?;
    }
    Ok(())
}

/// `ordered` is true if a segment is received only after the previous one was sent.
fn pipelined(sizes: &Sizes, rank: u32, script: &mut Script, ordered: bool) -> Result<(), GraphError> {
    let mut left = sizes.bytes;
    while left > 0 {
        let segment = left.min(sizes.segment);
        left -= segment;
        let before = script.send;
        let received = if rank > 0 { Some(script.receive(rank - 1, segment)?) } else { None };
        if rank + 1 < sizes.ranks {
            let sent = script.send(rank + 1, segment)?;
            script.requires(sent, received)?;
        }
        if let (true, Some(received)) = (ordered, received) {
            script.requires(received, before)?;
        }
    }
    Ok(())
}

fn double_ring(sizes: &Sizes, rank: u32, script: &mut Script) -> Result<(), GraphError> {
    let (next, last) = ((rank + 1) % sizes.ranks, (rank + sizes.ranks - 1) % sizes.ranks);
    for (to, from) in [(next, last), (last, next)] {
        let sent = script.send(to, sizes.bytes)?;
        let received = script.receive(from, sizes.bytes)?;
        if rank > 0 {
            script.requires(sent, Some(received))?;
        }
    }
    Ok(())
}

fn gather(sizes: &Sizes, rank: u32, script: &mut Script) -> Result<(), GraphError> {
    if rank > 0 {
        return script.send(0, sizes.bytes).map(|_| ());
    }
    (1..sizes.ranks).try_for_each(|other| script.receive(other, sizes.bytes).map(|_| ()))
}

fn scatter(sizes: &Sizes, rank: u32, script: &mut Script) -> Result<(), GraphError> {
    if rank > 0 {
        return script.receive(0, sizes.bytes).map(|_| ());
    }
    (1..sizes.ranks).try_for_each(|other| script.send(other, sizes.bytes).map(|_| ()))
}

fn linear_barrier(sizes: &Sizes, rank: u32, script: &mut Script) -> Result<(), GraphError> {
    if rank > 0 {
        script.send(0, 1)?;
        return script.receive(0, 1).map(|_| ());
    }
    let all = script.builder.add(Operation::calc(0))?;
    for other in 1..sizes.ranks {
        let received = script.receive(other, 1)?;
        let sent = script.send(other, 1)?;
        script.requires(all, Some(received))?;
        script.requires(sent, Some(all))?;
    }
    Ok(())
}

fn linear_alltoall(sizes: &Sizes, rank: u32, script: &mut Script) -> Result<(), GraphError> {
    for distance in 1..sizes.ranks {
        script.send((rank + distance) % sizes.ranks, sizes.bytes)?;
        script.receive((rank + sizes.ranks - distance) % sizes.ranks, sizes.bytes)?;
    }
    Ok(())
}

fn ring_allreduce(sizes: &Sizes, rank: u32, script: &mut Script) -> Result<(), GraphError> {
    let part = sizes.bytes / u64::from(sizes.ranks);
    for _ in 0..2 * (sizes.ranks - 1) {
        script.send((rank + 1) % sizes.ranks, part)?;
        script.chain_last()?;
        script.receive((rank + sizes.ranks - 1) % sizes.ranks, part)?;
    }
    Ok(())
}

fn halving_doubling(sizes: &Sizes, rank: u32, script: &mut Script) -> Result<(), GraphError> {
    let steps: Vec<(u32, u64)> = powers(sizes.ranks).map(|bit| (bit, sizes.bytes / 2 / u64::from(bit))).collect();
    for &(bit, bytes) in steps.iter().chain(steps.iter().rev()) {
        script.send(rank ^ bit, bytes)?;
        script.chain_last()?;
        script.receive(rank ^ bit, bytes)?;
    }
    Ok(())
}

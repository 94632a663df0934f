//! GOAL binary: the form that LogGOPSim executes. Little endian, packed; offsets count from byte 8.
//!
//! Each rank's section: number of operations, number of roots, the roots, operations of 39 bytes, an appendix of
//! dependents. Sections may be in any order, so files are read piecewise through [`Bytes`]; the file itself is never
//! held in memory.

use std::io::{self, Write};

use super::{Graph, GraphError, Kind, MAX_BYTES, MAX_CALC, Node, Rank, check};

/// First bytes of every binary graph.
pub const MAGIC: u64 = 4223;
/// First bytes of a graph that an in-place run has destroyed.
const SPENT: u64 = 2342;
/// \[bytes\] Size of an operation.
const NODE: usize = 39;
/// \[bytes\] Size of the header before the jump table: magic, ranks, highest CPU and network interface.
const HEADER: usize = 14;
/// \[bytes\] Size of the magic, from whose end offsets count.
const BASE: u64 = 8;

/// The bytes of a file, with random access.
pub trait Bytes {
    /// \[bytes\] Length of the file.
    fn length(&self) -> u64;

    /// Fills `into` with the bytes from `at` on.
    ///
    /// # Errors
    /// When the bytes cannot be read, or the file ends before.
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()>;
}

impl Bytes for [u8] {
    fn length(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let from = usize::try_from(at).ok().and_then(|at| self.get(at..)?.get(..into.len()));
        into.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// \[bytes\] Least size of a read, except at the end of the file.
const PIECE: u64 = 4 << 20;

/// The part of a file that is in memory.
struct Window<'a, B: ?Sized> {
    file: &'a B,
    /// \[bytes\] Length of the file.
    length: u64,
    /// Offset in the file of the first byte in memory.
    begin: u64,
    /// The bytes in memory.
    bytes: Vec<u8>,
}

impl<'a, B: Bytes + ?Sized> Window<'a, B> {
    fn new(file: &'a B) -> Self {
        Self { file, length: file.length(), begin: 0, bytes: Vec::new() }
    }

    /// The `count` bytes from offset `at` on; `None` if the file ends before their end.
    fn slice(&mut self, at: u64, count: u64) -> Result<Option<&[u8]>, BinaryError> {
        let end = at.checked_add(count).filter(|&end| end <= self.length);
        let Some(end) = end else { return Ok(None) };
        if at < self.begin || end > self.begin + self.bytes.len() as u64 {
            let piece = count.max(PIECE.min(self.length - at));
            let length = usize::try_from(piece).map_err(|_| fault(at, "a section does not fit in memory"))?;
            self.bytes.resize(length, 0);
            self.begin = at;
            self.file.read_at(at, &mut self.bytes).map_err(|error| fault(at, error.to_string()))?;
        }
        let first = (at - self.begin) as usize;
        Ok(self.bytes.get(first..first + count as usize))
    }
}

/// Place and cause of an error in a binary graph.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}")]
pub struct BinaryError {
    /// Offset in the file.
    pub byte: u64,
    /// The fault, and the expected content.
    pub what: String,
}

/// An error at a byte of the file.
fn fault(byte: u64, what: impl Into<String>) -> BinaryError {
    BinaryError { byte, what: what.into() }
}

/// True if a file that begins like this may be a binary graph.
#[must_use]
pub fn is_binary_graph(beginning: &[u8]) -> bool {
    beginning.get(..8).is_some_and(|magic| magic == MAGIC.to_le_bytes() || magic == SPENT.to_le_bytes())
}

/// Reads a graph.
///
/// # Errors
/// Any violation of the format, with its byte.
pub fn read<B: Bytes + ?Sized>(file: &B) -> Result<Graph, BinaryError> {
    let mut window = Window::new(file);
    let header = window.slice(0, window.length.min(HEADER as u64))?.unwrap_or_default().to_vec();
    let bytes = header.as_slice();
    let magic = u64_at(bytes, 0).ok_or_else(|| fault(0, "the file ends within its magic number"))?;
    if magic == SPENT {
        return Err(fault(0, "the graph was destroyed by a run that executed it in place; make it again"));
    }
    if magic != MAGIC {
        return Err(fault(0, format!("the magic number is {magic}, not {MAGIC}")));
    }
    let (Some(ranks), Some(&cpu), Some(&nic)) = (u32_at(bytes, 8), bytes.get(12), bytes.get(13)) else {
        return Err(fault(8, "the file ends within its header"));
    };
    let table_end = HEADER as u64 + u64::from(ranks) * 16;
    let Some(table) = window.slice(HEADER as u64, table_end - HEADER as u64)?.map(<[u8]>::to_vec) else {
        return Err(fault(8, format!("{ranks} ranks need a jump table of {table_end} bytes; the file ends before")));
    };
    let mut read = Vec::new();
    let mut covered = table_end;
    for rank in 0..ranks as usize {
        let entry = (HEADER + 16 * rank) as u64;
        let (Some(start), Some(end)) = (u64_at(&table, 16 * rank), u64_at(&table, 16 * rank + 8)) else {
            return Err(fault(entry, "the file ends within its jump table"));
        };
        let lacks =
            || fault(entry, format!("the section of rank {rank} spans bytes {start} to {end}, which the file lacks"));
        let offset = start.checked_add(BASE).filter(|&offset| offset >= table_end).ok_or_else(lacks)?;
        let length = end.checked_sub(start).ok_or_else(lacks)?;
        // Overlapping sections would let a small file stand for a large graph.
        covered = covered.saturating_add(length);
        let all = window.length;
        let section = window.slice(offset, length)?.ok_or_else(lacks)?;
        if covered > all {
            return Err(fault(entry, format!("the section of rank {rank} overlaps another")));
        }
        read.push(read_rank(section, offset, cpu, nic)?);
    }
    Graph::new(read).map_err(|error| match error {
        GraphError::Peer { rank, .. } => fault((HEADER + 16 * rank) as u64, error.to_string()),
        _ => fault(0, error.to_string()),
    })
}

/// Reads the section of a rank, which is at byte `offset` of the file. `cpu` and `nic` are the highest numbers
/// permitted.
fn read_rank(section: &[u8], offset: u64, cpu: u8, nic: u8) -> Result<Rank, BinaryError> {
    let at = |position: usize| offset + position as u64;
    let (Some(nodes), Some(roots)) = (u32_at(section, 0), u32_at(section, 4)) else {
        return Err(fault(offset, "the section is shorter than its two counts"));
    };
    let (nodes, roots) = (nodes as usize, roots as usize);
    let begin = 8 + 4 * roots;
    let appendix = nodes.checked_mul(NODE).and_then(|length| begin.checked_add(length));
    let Some(appendix) = appendix.filter(|&appendix| appendix <= section.len() && nodes <= check::MAX_NODES) else {
        let what = format!("{nodes} operations and {roots} roots do not fit the section's {} bytes", section.len());
        return Err(fault(offset, what));
    };
    let edges: Vec<u32> = section[appendix..].chunks_exact(4).filter_map(|word| u32_at(word, 0)).collect();
    let mut rank = Rank { nodes: Vec::with_capacity(nodes), edges, ..Rank::default() };
    let (mut total, mut waits) = (0_u64, 0_u64);
    for number in 0..nodes {
        let place = begin + number * NODE;
        let node = read_node(&section[place..place + NODE], cpu, nic, total);
        let (node, on_start) = node.map_err(|what| fault(at(place), what))?;
        total += u64::from(node.on_finish) + u64::from(on_start);
        if total > check::MAX_NODES as u64 {
            return Err(fault(at(place), GraphError::TooManyNodes.to_string()));
        }
        waits += u64::from(node.waits_for);
        rank.push(node, on_start);
    }
    let expected = 4 * total;
    let found = (section.len() - appendix) as u64;
    if found != expected {
        let what = format!(
            "the section has {found} bytes of dependents where its operations name {expected}: damaged, or the longer \
             layout of LogGOPSim2, which is not read"
        );
        return Err(fault(at(appendix), what));
    }
    check_edges(&rank, waits, at(appendix))?;
    let listed = section[8..begin].chunks_exact(4).filter_map(|word| u32_at(word, 0));
    let real = (0..nodes as u32).filter(|&node| rank.nodes[node as usize].waits_for == 0);
    if !listed.eq(real) {
        return Err(fault(at(8), "the roots listed are not the operations without dependencies"));
    }
    check::acyclic(&rank).map_err(|error| fault(offset, error.to_string()))?;
    Ok(rank)
}

/// Checks that the dependents exist, and that each operation is named as often as its number of dependencies.
fn check_edges(rank: &Rank, waits: u64, appendix: u64) -> Result<(), BinaryError> {
    let mut named = vec![0_u32; rank.nodes.len()];
    for (position, &dependent) in rank.edges.iter().enumerate() {
        match named.get_mut(dependent as usize) {
            Some(count) => *count += 1,
            None => {
                let what = format!("dependent {dependent} does not exist: the rank has {}", rank.nodes.len());
                return Err(fault(appendix + 4 * position as u64, what));
            }
        }
    }
    let wrong = named.iter().zip(&rank.nodes).position(|(named, node)| *named != node.waits_for);
    if let Some(number) = wrong {
        let (named, waits) = (named[number], rank.nodes[number].waits_for);
        let what = format!("operation {number} waits for {waits} others, but {named} name it as a dependent");
        return Err(fault(appendix, what));
    }
    debug_assert_eq!(waits, rank.edges.len() as u64);
    Ok(())
}

/// Reads an operation; returns it with the number of operations that wait for its start. `total` is the number of
/// dependents of the operations before it.
fn read_node(bytes: &[u8], cpus: u8, nics: u8, total: u64) -> Result<(Node, u32), String> {
    let word = |position| u32_at(bytes, position).unwrap_or_default();
    let size = u64_at(bytes, 9).unwrap_or_default();
    let kind = match bytes[4] {
        1 => Kind::Send,
        2 => Kind::Recv,
        3 => Kind::Calc,
        other @ 10..=14 => {
            return Err(format!(
                "operation type {other}, a collective of a newer dialect, which is not read; write the graph with its \
                 collectives expanded to sends and receives"
            ));
        }
        other => {
            return Err(format!(
                "operation type {other}; 1 is send, 2 receive, 3 calculate: damaged, or the longer layout of LogGOPSim2, \
                 which is not read"
            ));
        }
    };
    let limit = if kind == Kind::Calc { MAX_CALC } else { MAX_BYTES };
    if size > limit {
        return Err(format!("a size of {size}, more than {limit}"));
    }
    let (cpu, nic) = (bytes[21], bytes[22]);
    if cpu > cpus || nic > nics {
        return Err(format!("CPU {cpu}, NIC {nic}, above the highest that the header gives, {cpus} and {nics}"));
    }
    let (on_finish, on_start) = (word(23), word(31));
    let (first, first_start) = (word(27), word(35));
    let wanted = (total, total + u64::from(on_finish));
    if (u64::from(first), u64::from(first_start)) != wanted {
        return Err(format!(
            "dependents at {first} and {first_start} of the appendix, where {} and {} follow the operation before",
            wanted.0, wanted.1
        ));
    }
    let (peer, tag, waits_for) = (word(5), word(17), word(0));
    Ok((Node { size, peer, tag, waits_for, first, on_finish, on_start: 0, kind, cpu, nic }, on_start))
}

/// Writes a graph.
///
/// # Errors
/// When writing to `out` fails.
pub fn write(graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    let (cpu, nic) = graph.highest_resources();
    out.write_all(&MAGIC.to_le_bytes())?;
    let ranks = u32::try_from(graph.ranks.len()).map_err(|_| io::Error::other("more than 2^32 ranks"))?;
    out.write_all(&ranks.to_le_bytes())?;
    out.write_all(&[cpu, nic])?;
    let mut start = (HEADER + 16 * graph.ranks.len()) as u64 - BASE;
    for rank in &graph.ranks {
        let roots = rank.nodes.iter().filter(|node| node.waits_for == 0).count();
        let length = 8 + 4 * roots + NODE * rank.nodes.len() + 4 * rank.edges.len();
        out.write_all(&start.to_le_bytes())?;
        start += length as u64;
        out.write_all(&start.to_le_bytes())?;
    }
    for rank in &graph.ranks {
        let roots = (0..).zip(&rank.nodes).filter(|(_, node)| node.waits_for == 0);
        let roots: Vec<u32> = roots.map(|(number, _)| number).collect();
        out.write_all(&(rank.nodes.len() as u32).to_le_bytes())?;
        out.write_all(&(roots.len() as u32).to_le_bytes())?;
        for root in roots {
            out.write_all(&root.to_le_bytes())?;
        }
        for node in &rank.nodes {
            let mut bytes = [0; NODE];
            let mut put = |position: usize, word: &[u8]| bytes[position..position + word.len()].copy_from_slice(word);
            put(0, &node.waits_for.to_le_bytes());
            put(4, &[node.kind as u8]);
            put(5, &node.peer.to_le_bytes());
            put(9, &node.size.to_le_bytes());
            put(17, &node.tag.to_le_bytes());
            put(21, &[node.cpu, node.nic]);
            put(23, &node.finishes().to_le_bytes());
            put(27, &node.first.to_le_bytes());
            put(31, &rank.starts(node).to_le_bytes());
            put(35, &(node.first + node.finishes()).to_le_bytes());
            out.write_all(&bytes)?;
        }
        for edge in &rank.edges {
            out.write_all(&edge.to_le_bytes())?;
        }
    }
    Ok(())
}

/// The number of 4 bytes at a position.
fn u32_at(bytes: &[u8], position: usize) -> Option<u32> {
    bytes.get(position..position + 4)?.try_into().ok().map(u32::from_le_bytes)
}

/// The number of 8 bytes at a position.
fn u64_at(bytes: &[u8], position: usize) -> Option<u64> {
    bytes.get(position..position + 8)?.try_into().ok().map(u64::from_le_bytes)
}

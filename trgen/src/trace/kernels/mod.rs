//! Application kernels: the communication skeletons of parallel programs, as programs in memory.
//!
//! A kernel is written `all-to-all:tasks=64,bytes=4096` and becomes a [`Program`] of blocking sends and receives,
//! without computing (except `matmul`); kernels use the same replay as traces. One kernel is one [`Row`] of [`KERNELS`].
//!
//! Iterations follow each other without a barrier. Tags number messages: no two messages between a pair of tasks in one
//! run have the same tag, so that a receive matches exactly one message. With eager sends no kernel can deadlock.
//!
//! # How the model departs from reality, and who could notice
//! Only `matmul` computes between messages, and all sends block; a program that overlaps its exchanges keeps
//! more messages in flight. Where this matters, record a trace.

mod collective;
mod exchange;
mod grid;
mod hierarchical;
mod machine_learning;
mod matmul;
mod named;
mod pairwise;
mod random;
mod ring;
mod schedule;
mod shape;
mod spec;
mod uneven;

use crate::Geometry;
use crate::catalog::{Component, Described, Parameter, SpecError, Table};
use crate::synthetic::expr::{self, Call, Expr};
use crate::trace::kind::CollectiveKind;
use crate::trace::program::{Event, Program, Receive, Request, Send, Tag, TagFilter};
use crate::trace::timeline::CollectiveRecord;
use crate::units::{Picoseconds, TaskId};

use named::Plan;
use shape::Shape;

pub use spec::KernelSpec;
pub use uneven::{Exchanges, Make};

/// Properties of the messages of a kernel whose iterations are all alike.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Permitted numbers of dimensions of the grid of tasks, the default first; empty if the kernel needs no grid.
    dimensions: &'static [usize],
    /// The number of tasks that the kernel needs, in words; `None` if it is defined for the given number.
    refuses: fn(u32) -> Option<&'static str>,
    /// Number of messages in one iteration.
    messages: fn(&Shape) -> u64,
    /// Number of labels that one pair of tasks needs in one iteration.
    labels: fn(&Shape) -> u64,
    /// Writes one task's steps of one iteration.
    task: fn(&Shape, u32, &mut Steps),
    /// The collective that an iteration is, if it is one.
    collective: Option<Collective>,
}

/// A collective.
#[derive(Clone, Copy, Debug)]
struct Collective {
    kind: CollectiveKind,
    algorithm: &'static str,
    /// True if `bytes` is the block of a task or of a pair of tasks, not the whole vector.
    of_blocks: bool,
}

impl Collective {
    /// A collective whose `bytes` are the whole vector.
    const fn of_vectors(kind: CollectiveKind, algorithm: &'static str) -> Option<Self> {
        Some(Self { kind, algorithm, of_blocks: false })
    }

    /// A collective whose `bytes` are a block.
    const fn of_blocks(kind: CollectiveKind, algorithm: &'static str) -> Option<Self> {
        Some(Self { kind, algorithm, of_blocks: true })
    }
}

/// A kernel by the steps of its tasks in an iteration.
pub type Entry = expr::Entry<Kernel>;

/// What a kernel is written for, where its text does not say.
#[derive(Clone, Copy, Debug)]
pub struct KernelContext<'a> {
    /// Number of tasks: the number of nodes.
    pub tasks: usize,
    /// Shape of the nodes, if there is one.
    pub geometry: Option<&'a Geometry>,
    /// Run seed, for kernels with random draws.
    pub seed: u64,
    /// \[bytes\] What a packet of the network carries, for kernels that send packet by packet; `None` if that is not
    /// known, or the network has no packets.
    pub packet_bytes: Option<u64>,
    /// True if a send ends when its message has left the node, so that a kernel can leave room for others between its
    /// messages.
    pub sends_end_at_departure: bool,
    /// Algorithms of collectives that do not name one.
    pub collectives: Option<&'a crate::trace::collectives::Choice>,
}

impl<'a> KernelContext<'a> {
    /// A network of so many nodes of which nothing else is known, with run seed 1.
    #[must_use]
    pub const fn new(tasks: usize, geometry: Option<&'a Geometry>) -> Self {
        Self { tasks, geometry, seed: 1, packet_bytes: None, sends_end_at_departure: false, collectives: None }
    }
}

/// A function that writes the program of every task.
pub type Write = fn(&Call, &KernelContext) -> Result<Program, SpecError>;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub enum Row {
    /// The steps of its tasks in an iteration.
    Steps(&'static Entry),
    /// A function that writes the program of every task.
    Program(&'static expr::Entry<Write>),
    /// All-to-alls of unequal blocks.
    Exchanges(&'static expr::Entry<Make>),
    /// One of two kernels, by the network.
    Choice(&'static expr::Entry<Choice>),
}

/// A kernel whose algorithm depends on whether its tasks form groups, as on machines of two levels.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    levels: &'static Entry,
    flat: &'static Entry,
    /// The kernel by a named algorithm.
    named: &'static Entry,
    /// True if the network decides where the call does not.
    is_by_network: bool,
}

impl Described for Row {
    fn component(&self) -> &Component {
        match self {
            Self::Steps(entry) => &entry.component,
            Self::Program(entry) => &entry.component,
            Self::Exchanges(entry) => &entry.component,
            Self::Choice(entry) => &entry.component,
        }
    }

    fn aliases(&self) -> &'static [&'static str] {
        match self {
            Self::Steps(entry) => entry.aliases,
            Self::Program(entry) => entry.aliases,
            Self::Exchanges(entry) => entry.aliases,
            Self::Choice(entry) => entry.aliases,
        }
    }
}

/// All kernels. One line per member.
pub static KERNELS: Table<Row> = Table::new(
    "kernel",
    &[
        &Row::Steps(&pairwise::ONE_TO_ALL),
        &Row::Steps(&pairwise::ALL_TO_ONE),
        &Row::Choice(&hierarchical::ALL_TO_ALL),
        &Row::Steps(&pairwise::ALL_TO_ALL_PLAIN),
        &Row::Steps(&collective::BINTREE),
        &Row::Steps(&collective::BUTTERFLY),
        &Row::Steps(&ring::N_BODIES),
        &Row::Steps(&grid::MESH2D),
        &Row::Steps(&grid::MESH3D),
        &Row::Steps(&grid::TORUS2D),
        &Row::Steps(&grid::TORUS3D),
        &Row::Steps(&grid::SWEEP2D),
        &Row::Steps(&grid::SWEEP3D),
        &Row::Steps(&grid::WATERFALL),
        &Row::Choice(&hierarchical::GATHER),
        &Row::Steps(&collective::BUTTERFLY_ALL_TO_ALL),
        &Row::Steps(&pairwise::ALL_TO_ALL_PAIRWISE),
        &Row::Steps(&random::GUPS),
        &Row::Steps(&random::RANDOM_WAVES),
        &Row::Steps(&machine_learning::ALL_REDUCE_RING),
        &Row::Steps(&machine_learning::ALL_REDUCE_DOUBLING),
        &Row::Steps(&machine_learning::ALL_REDUCE_HALVING),
        &Row::Steps(&machine_learning::ALL_REDUCE_TORUS2D),
        &Row::Steps(&machine_learning::ALL_REDUCE_TORUS3D),
        &Row::Steps(&machine_learning::ALL_GATHER_RING),
        &Row::Steps(&machine_learning::ALL_GATHER_DOUBLING),
        &Row::Steps(&machine_learning::ALL_GATHER_TORUS2D),
        &Row::Steps(&machine_learning::ALL_GATHER_TORUS3D),
        &Row::Steps(&machine_learning::REDUCE_SCATTER_RING),
        &Row::Steps(&machine_learning::REDUCE_SCATTER_HALVING),
        &Row::Steps(&machine_learning::REDUCE_SCATTER_TORUS2D),
        &Row::Steps(&machine_learning::REDUCE_SCATTER_TORUS3D),
        &Row::Choice(&hierarchical::ALL_REDUCE),
        &Row::Choice(&hierarchical::REDUCE_SCATTER),
        &Row::Choice(&hierarchical::ALL_GATHER),
        &Row::Choice(&hierarchical::BROADCAST),
        &Row::Steps(&named::REDUCE),
        &Row::Steps(&named::SCATTER),
        &Row::Steps(&named::BARRIER),
        &Row::Steps(&hierarchical::ALL_REDUCE_HIERARCHICAL),
        &Row::Steps(&hierarchical::REDUCE_SCATTER_HIERARCHICAL),
        &Row::Steps(&hierarchical::ALL_GATHER_HIERARCHICAL),
        &Row::Steps(&hierarchical::BROADCAST_HIERARCHICAL),
        &Row::Steps(&hierarchical::BROADCAST_TREE),
        &Row::Steps(&hierarchical::ALL_TO_ALL_HIERARCHICAL),
        &Row::Exchanges(&uneven::ALL_TO_ALL_MATRIX),
        &Row::Exchanges(&uneven::MOE),
        &Row::Steps(&matmul::MATMUL),
    ],
);

/// The description of every kernel.
pub fn components() -> impl Iterator<Item = &'static Component> {
    KERNELS.components()
}

/// Aliases of the kernel of this name; none if there is no such kernel.
#[must_use]
pub fn aliases(name: &str) -> &'static [&'static str] {
    KERNELS.rows().iter().find(|row| row.component().name == name).map_or(&[], |row| row.aliases())
}

/// Most tasks of a kernel.
pub const MOST_TASKS: u32 = 1 << 20;
/// Most messages of a kernel that are held in memory, at some 100 bytes per message: of all iterations, or of one in
/// [`rounds`](KernelSpec::rounds).
pub const MOST_MESSAGES: u64 = 50_000_000;
/// Most iterations of a kernel.
const MOST_ITERATIONS: i64 = 1_000_000_000;
/// \[bytes\] Largest size that may be given, 64 GiB: sums over all messages of that size still fit 64 bits.
const LARGEST: i64 = 1 << 36;

const TASKS: Parameter =
    Parameter { name: "tasks", about: "number of tasks", range: "1..=1048576", default: "number of nodes" };
const BYTES: Parameter =
    Parameter { name: "bytes", about: "size of every message [bytes]", range: "0..=2^36", default: "1024" };
const ITERATIONS: Parameter =
    Parameter { name: "iterations", about: "how often everything is done", range: "0..=10^9", default: "1" };
const GRID: Parameter = Parameter {
    name: "grid",
    about: "sizes of the grid of tasks, x first, such as 8x8",
    range: "1.. each",
    default: "the network's if it has these dimensions, else as square as tasks permits",
};

/// Parameters of a kernel without a grid.
const PLAIN: &[Parameter] = &[TASKS, BYTES, ITERATIONS];

/// Builds the program of the kernel that `text` describes.
///
/// `tasks` defaults to `default_tasks` (the number of nodes). A kernel on a grid without `grid` takes the sizes of
/// `default_geometry` if that has as many dimensions as the kernel and as many nodes as there are tasks, and otherwise
/// the most square grid of that many tasks, largest size first.
///
/// # Errors
/// When the text is malformed, the kernel unknown, a parameter unknown (the remedy names the nearest) or out of range,
/// grid and tasks contradict each other, the kernel is not defined for this number of tasks, or there would be more
/// than [`MOST_MESSAGES`].
/// # Example
/// ```
/// let program = trgen::trace::kernels::parse("bintree:bytes=4096", 64, None)?;
/// assert_eq!(program.totals().point_to_point_messages, 63);
/// # Ok::<(), trgen::catalog::SpecError>(())
/// ```
pub fn parse(text: &str, default_tasks: usize, default_geometry: Option<&Geometry>) -> Result<Program, SpecError> {
    parse_in(text, &KernelContext::new(default_tasks, default_geometry))
}

/// The collectives that a kernel is, as far as they are known before the run: one, or one for each group of tasks; none
/// of other kernels. Their ranks have begun at 0 and not ended.
///
/// # Errors
/// As [`parse`].
pub fn collectives(
    text: &str,
    default_tasks: usize,
    default_geometry: Option<&Geometry>,
) -> Result<Vec<CollectiveRecord>, SpecError> {
    text.parse::<KernelSpec>()?.collectives(&KernelContext::new(default_tasks, default_geometry))
}

/// \[bytes\] The parameter `bytes`; 0 of a kernel that has none.
fn bytes_of(call: &Call) -> Result<u64, SpecError> {
    if call.declares("bytes") { Ok(call.bytes("bytes", 0..=LARGEST)? as u64) } else { Ok(0) }
}

/// The groups of a kernel that has a named algorithm.
fn plan(entry: &Entry, call: &Call, tasks: u32, context: &KernelContext) -> Result<Option<Plan>, SpecError> {
    let is_named = entry.component.parameters.iter().any(|parameter| parameter.name == "algorithm");
    let Some(Collective { kind, .. }) = entry.build.collective.filter(|_| is_named) else { return Ok(None) };
    let grid = |group| Shape::grid_of(call, group, context.geometry);
    Plan::read(call, kind, tasks, context.collectives, grid).map(Some)
}

/// Builds the program of a kernel as [`parse`] does, for a context.
///
/// # Errors
/// As [`parse`]; a file that cannot be read.
pub fn parse_in(text: &str, context: &KernelContext) -> Result<Program, SpecError> {
    text.parse::<KernelSpec>()?.program(context)
}

impl Choice {
    /// The kernel that a call means, and its tasks: the one of two levels if the call names that algorithm, or if it
    /// leaves the algorithm and the groups to the network and its nodes have several tasks.
    fn steps(&self, call: &Call, context: &KernelContext) -> Result<(&'static Entry, Shape), SpecError> {
        let given = |parameter: &'static str| call.declares(parameter).then(|| call.given(parameter)).flatten();
        let of_flat = ["group", "stride", "chunks", "grid"].into_iter().find_map(given);
        let shape = Shape::of_levels(call, context)?;
        let kind = self.named.build.collective.map(|collective| collective.kind);
        let chosen = kind.zip(context.collectives).and_then(|(kind, choice)| choice.row(kind.name()));
        let word = given("algorithm").and_then(Expr::word).or_else(|| chosen.map(collective_name));
        let has_levels = kind.is_some_and(|kind| crate::collective::HIERARCHICAL.has_levels(kind));
        let is_asked = has_levels && word == Some(hierarchical::HIERARCHICAL);
        if let Some(argument) = of_flat.filter(|_| is_asked) {
            let problem = "groups, chunks and grids are those of the other algorithms";
            let remedy = format!("use {}:group=N, or leave it out", self.levels.component.name);
            return Err(call.refuse(argument, problem, remedy));
        }
        if is_asked && shape.grid.is_empty() {
            return Err(without_groups(call, shape.tasks));
        }
        let flat = Shape::new(shape.tasks, Vec::new());
        if word.is_some() && !is_asked {
            if let Some(own) = ["order", "piece", "interleave"].into_iter().find_map(given) {
                let problem = format!("`{own}` is of the kernel without a named algorithm");
                return Err(call.refuse(own, &problem, "leave it out, or algorithm"));
            }
            return Ok((self.named, flat));
        }
        if of_flat.is_some() || shape.grid.is_empty() || !is_asked && !self.is_by_network {
            return Ok((self.flat, flat));
        }
        Ok((self.levels, shape))
    }
}

/// The name of an algorithm.
const fn collective_name(row: &crate::collective::Row) -> &'static str {
    row.name()
}

/// A kernel and its tasks, which form groups if it is one of two levels.
fn in_groups(
    entry: &'static Entry,
    call: &Call,
    context: &KernelContext,
) -> Result<(&'static Entry, Shape), SpecError> {
    let shape = Shape::read(call, entry.build.dimensions, context.tasks, context.geometry)?;
    if call.declares("group") && shape.grid.is_empty() {
        return Err(without_groups(call, shape.tasks));
    }
    Ok((entry, shape))
}

/// The refusal of a kernel of two levels where tasks form no groups.
fn without_groups(call: &Call, tasks: u32) -> SpecError {
    let problem = format!("`{}` needs groups of tasks, and {tasks} tasks form none here", call.text());
    let remedy = "give group= to a kernel that ends in -hierarchical (always in a mix of jobs), or use a network whose nodes have several GPUs, such as \
                  cluster:nodes=4,gpus=8";
    call.refuse_all(&problem, remedy)
}

/// A program within the limits of kernels.
fn checked(call: &Call, program: Program) -> Result<Program, SpecError> {
    let (tasks, messages) = (program.tasks.len(), program.totals().point_to_point_messages);
    if tasks == 0 || tasks > MOST_TASKS as usize || messages > MOST_MESSAGES {
        let problem = format!("`{}` is {tasks} tasks and {messages} messages", call.text());
        let remedy = format!("1 to {MOST_TASKS} tasks, and at most {MOST_MESSAGES} messages");
        return Err(call.refuse_all(&problem, remedy));
    }
    Ok(program)
}

/// Writes the steps of one task.
#[derive(Debug)]
struct Steps<'a> {
    /// The program of the task.
    events: &'a mut Vec<Event>,
    /// \[bytes\] Size of the messages that follow.
    bytes: u64,
    /// First tag of the iteration.
    first_label: u64,
    /// Number of the iteration, from 0.
    iteration: u64,
}

impl Steps<'_> {
    /// The tag of a label of this iteration.
    fn tag(&self, label: u64) -> Tag {
        // The sum fits: each label of an iteration is that of a message, and all messages are counted.
        Tag::user((self.first_label + label) as i64)
    }

    /// Sends a message of [`Self::bytes`] bytes.
    fn send(&mut self, to: u32, label: u64) {
        self.events.push(Event::Send(Send { to: TaskId(to), tag: self.tag(label), bytes: self.bytes }));
    }

    /// Starts to send a message of [`Self::bytes`] bytes.
    fn start_send(&mut self, to: u32, label: u64, request: u32) {
        let send = Send { to: TaskId(to), tag: self.tag(label), bytes: self.bytes };
        self.events.push(Event::Isend(send, Request(request)));
    }

    /// Lets the sends that follow begin when these requests have completed.
    fn after(&mut self, requests: &[u32]) {
        self.events.push(Event::After(requests.iter().copied().map(Request).collect()));
    }

    /// Waits until a message has been sent.
    fn wait(&mut self, request: u32) {
        self.events.push(Event::Wait(Request(request)));
    }

    /// Waits until the messages of all these requests have been sent.
    fn wait_all(&mut self, requests: std::ops::Range<u32>) {
        self.events.push(Event::WaitAll(requests.map(Request).collect()));
    }

    /// Posts a receive of a message of [`Self::bytes`] bytes.
    fn start_receive(&mut self, from: u32, label: u64, request: u32) {
        let tag = TagFilter::Exactly(self.tag(label));
        let receive = Receive { from: Some(TaskId(from)), tag, bytes: self.bytes };
        self.events.push(Event::Irecv(receive, Request(request)));
    }

    /// Computes for this many ps.
    fn compute(&mut self, time: u64) {
        self.events.push(Event::Compute(Picoseconds(time)));
    }

    /// Receives a message of [`Self::bytes`] bytes.
    fn receive(&mut self, from: u32, label: u64) {
        let tag = TagFilter::Exactly(self.tag(label));
        self.events.push(Event::Recv(Receive { from: Some(TaskId(from)), tag, bytes: self.bytes }));
    }
}

/// The condition of a kernel that takes any number of tasks.
const fn any_number(_: u32) -> Option<&'static str> {
    None
}

/// The number of labels of a kernel whose pairs exchange at most one message each way in an iteration.
const fn one_label(_: &Shape) -> u64 {
    1
}

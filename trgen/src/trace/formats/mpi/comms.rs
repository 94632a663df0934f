//! The members of communicators, tracked through the calls that create them.
//!
//! Each process has its own handles for communicators, and may reuse them. All members of a communicator create new
//! ones from it in the same order. The k-th creations of all members therefore belong together, whatever their handles.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::call::{Call, Comm, Creation, EMPTY_GROUP, Group};
use crate::trace::formats::error::Fault;
use crate::trace::formats::members::Members;
use crate::trace::formats::text::invalid;
use crate::units::TaskId;

/// Number of a communicator of the application, the same for all processes. Number 0 is the world.
pub(in crate::trace::formats) type Number = usize;

/// The number of `MPI_COMM_SELF`. It is private to each process, so that one number serves all. The context of its
/// messages is the largest one.
pub(super) const OWN: Number = (u32::MAX / 2) as usize;

/// The creation of a communicator or group by one process, and its line in the log.
#[derive(Clone, Debug)]
pub(super) struct Step {
    kind: StepKind,
    line: u64,
}

/// The object that a process creates. `new` is its handle.
#[derive(Clone, Debug)]
enum StepKind {
    Communicator { comm: Comm, how: Creation, new: i64 },
    Group { group: Group, new: i64 },
}

impl Step {
    /// `None` if the call creates nothing.
    pub(super) fn from_call(call: Call, line: u64) -> Option<Self> {
        match call {
            Call::Create { comm, how, new } => Some(Self { kind: StepKind::Communicator { comm, how, new }, line }),
            Call::Group { group, new } => Some(Self { kind: StepKind::Group { group, new }, line }),
            _ => None,
        }
    }
}

/// All communicators, and the result of each process's creations.
#[derive(Clone, Debug)]
pub(super) struct Communicators {
    /// Members of each communicator, by number; [`OWN`] is not among them.
    all: Vec<Members>,
    /// By process and creation: the number of the new communicator; `None` if the process is not a member of it.
    created: Vec<Vec<Option<Number>>>,
}

impl Communicators {
    /// Number of communicators, including the world.
    pub(super) const fn count(&self) -> usize {
        self.all.len()
    }

    /// The members of a communicator. Those of [`OWN`] depend on the calling `task`.
    pub(super) fn members(&self, number: Number, task: usize) -> &[TaskId] {
        if number == OWN { &self.all[0].tasks()[task..=task] } else { self.all[number].tasks() }
    }

    /// The rank of a process in a communicator, if it is a member.
    fn rank_of(&self, number: Number, task: usize) -> Option<usize> {
        if number == OWN { Some(0) } else { self.all[number].rank_of(TaskId::at(task)) }
    }
}

/// The handles of one process at some point of its program.
#[derive(Clone, Default, Debug)]
pub(super) struct Handles {
    /// By handle: the number of the communicator.
    numbers: HashMap<i64, Number>,
    /// Number of communicators that the process has created so far.
    creations: usize,
}

impl Handles {
    /// The communicator to which a handle refers, and the rank of the process in it. If the log records ranks and
    /// sizes, an unknown handle means the world, provided that the size agrees.
    pub(super) fn find(&self, comm: Comm, all: &Communicators, task: usize) -> Result<(Number, usize), Fault> {
        let unknown = |what| Fault::Structure {
            what,
            remedy: "give the files of all ranks; record the calls that create communicators",
        };
        let number = match comm {
            Comm::World => 0,
            Comm::Own => OWN,
            Comm::Handle(id) => self.numbers.get(&id).copied().ok_or_else(|| {
                unknown(format!(
                    "communicator {id} was not created by a call in this trace that is followed (split, dup, create of \
                     a group, cart_create, cart_sub)"
                ))
            })?,
            Comm::Stated { id, rank, size } => {
                let number = self.numbers.get(&id).copied().unwrap_or(0);
                let members = all.members(number, task);
                if members.len() != size as usize || members.get(rank as usize) != Some(&TaskId::at(task)) {
                    return Err(unknown(format!(
                        "communicator {id} of {size} ranks, in which this process is rank {rank}, was not created by a \
                         split or dup in this trace (the world has {} ranks)",
                        all.members(0, task).len()
                    )));
                }
                return Ok((number, rank as usize));
            }
        };
        // Only members have a handle.
        all.rank_of(number, task).map(|rank| (number, rank)).ok_or_else(|| unknown("not a member".to_owned()))
    }

    /// Records that the process creates its next communicator, with the handle `new`.
    pub(super) fn create(&mut self, new: i64, all: &Communicators, task: usize) {
        let made = all.created[task].get(self.creations).copied().flatten();
        self.creations += 1;
        match made {
            Some(number) => self.numbers.insert(new, number),
            None => self.numbers.remove(&new),
        };
    }
}

/// Largest number of members in the groups of all processes together.
const MOST_HELD: usize = 1 << 24;

/// The state of one process while its creations are matched with those of the others.
struct Progress {
    /// Index of the next step of the process.
    next_step: usize,
    handles: Handles,
    /// Members of the groups of the process, by handle.
    groups: HashMap<i64, Arc<[TaskId]>>,
}

impl Progress {
    fn new() -> Self {
        Self { next_step: 0, handles: Handles::default(), groups: HashMap::from([(EMPTY_GROUP, [].into())]) }
    }

    /// Records that the process creates or frees a group. `held` counts the members of the groups of all processes.
    fn record_group(
        &mut self,
        (group, new): (&Group, i64),
        all: &Communicators,
        task: usize,
        held: &mut usize,
    ) -> Result<(), Fault> {
        let made = match group {
            Group::Of(comm) => {
                let (number, _) = self.handles.find(*comm, all, task)?;
                if number == OWN { all.members(OWN, task).into() } else { all.all[number].shared() }
            }
            Group::Unknown => {
                *held -= self.groups.remove(&new).as_ref().map_or(0, unshared_members);
                return Ok(());
            }
            Group::Include(old, ranks) => {
                let old = self.group_members(*old)?;
                let task = |rank: &u32| {
                    let expected = || invalid("rank", &rank.to_string(), format!("a rank of a group of {}", old.len()));
                    old.get(*rank as usize).copied().ok_or_else(expected)
                };
                ranks.iter().map(task).collect::<Result<_, _>>()?
            }
            Group::Exclude(old, ranks) if ranks.is_empty() => Arc::clone(self.group_members(*old)?),
            Group::Exclude(old, ranks) => {
                let mut ranks = ranks.clone();
                ranks.sort_unstable();
                let stays = |rank: &usize| ranks.binary_search(&(*rank as u32)).is_err();
                let old = self.group_members(*old)?;
                (0..old.len()).filter(stays).map(|rank| old[rank]).collect()
            }
        };
        *held += unshared_members(&made);
        if *held > MOST_HELD {
            return Err(Fault::Structure {
                what: format!("processes hold groups of more than {MOST_HELD} members in all"),
                remedy: "record the calls that free groups",
            });
        }
        *held -= self.groups.insert(new, made).as_ref().map_or(0, unshared_members);
        Ok(())
    }

    /// The members of an existing group of the process.
    fn group_members(&self, group: i64) -> Result<&Arc<[TaskId]>, Fault> {
        self.groups.get(&group).ok_or_else(|| Fault::Structure {
            what: format!(
                "group {group} was not made by a call in this trace that is followed (comm_group, group_incl, group_excl)"
            ),
            remedy: "its members cannot be worked out: record the program in another format, or with other calls",
        })
    }
}

/// Number of members of a group, 0 if its list is shared with other groups.
fn unshared_members(group: &Arc<[TaskId]>) -> usize {
    if Arc::strong_count(group) == 1 { group.len() } else { 0 }
}

/// Matches the creations of all processes; `steps` has those of each process in order. An error names process and line.
pub(super) fn resolve(steps: &[Vec<Step>]) -> Result<Communicators, (usize, u64, Fault)> {
    let mut all = Communicators { all: vec![Members::world(steps.len())], created: vec![Vec::new(); steps.len()] };
    let mut progress: Vec<Progress> = (0..steps.len()).map(|_| Progress::new()).collect();
    let mut grids: HashMap<Number, Vec<u64>> = HashMap::new();
    let mut held = 0;
    // By communicator: the processes that have reached their next creation on it and wait for the other members.
    let mut arrived: BTreeMap<Number, Vec<usize>> = BTreeMap::new();
    let mut ready: Vec<usize> = (0..steps.len()).rev().collect();
    while let Some(task) = ready.pop() {
        let Some(step) = steps[task].get(progress[task].next_step) else { continue };
        let failed = |fault| (task, step.line, fault);
        let number = match &step.kind {
            StepKind::Group { group, new } => {
                let process = &mut progress[task];
                process.record_group((group, *new), &all, task, &mut held).map_err(failed)?;
                process.next_step += 1;
                ready.push(task);
                continue;
            }
            StepKind::Communicator { comm, .. } => progress[task].handles.find(*comm, &all, task).map_err(failed)?.0,
        };
        let here = arrived.entry(number).or_default();
        here.push(task);
        if here.len() < all.members(number, task).len() {
            continue;
        }
        let together = arrived.remove(&number).unwrap_or_default();
        let made =
            Meeting { steps, progress: &progress, all: &all, grids: &grids, number, task }.new_communicators()?;
        for (group, grid) in made {
            let made = all.all.len();
            for task in &group {
                all.created[task.index()].push(Some(made));
            }
            all.all.push(Members::new(group));
            grids.extend(grid.map(|grid| (made, grid)));
        }
        for task in together {
            let process = &mut progress[task];
            // The process is a member of none of the new communicators.
            if all.created[task].len() == process.handles.creations {
                all.created[task].push(None);
            }
            if let Some(StepKind::Communicator { new, .. }) = steps[task].get(process.next_step).map(|step| &step.kind)
            {
                process.handles.create(*new, &all, task);
            }
            process.next_step += 1;
            ready.push(task);
        }
    }
    match arrived.into_values().next().and_then(|waiting| waiting.into_iter().min()) {
        None => Ok(all),
        Some(task) => {
            let line = steps[task][progress[task].next_step].line;
            let what = "not all ranks of a communicator take part in the creation of another".to_owned();
            Err((task, line, Fault::Structure { what, remedy: "the files may be cut short, or of different runs" }))
        }
    }
}

/// A communicator whose members have all reached their next creation on it.
struct Meeting<'a> {
    /// The creations of each process.
    steps: &'a [Vec<Step>],
    /// The state of each process.
    progress: &'a [Progress],
    all: &'a Communicators,
    /// Sizes of the communicators that are grids.
    grids: &'a HashMap<Number, Vec<u64>>,
    /// The communicator.
    number: Number,
    /// One of its members.
    task: usize,
}

/// Members of a new communicator, and the sizes of the grid if it is one.
type NewCommunicator = (Vec<TaskId>, Option<Vec<u64>>);

impl Meeting<'_> {
    /// The communicator that a process creates next, and the line of the call.
    fn next(&self, task: usize) -> Option<(&Creation, u64)> {
        let step = self.steps[task].get(self.progress[task].next_step)?;
        if let StepKind::Communicator { how, .. } = &step.kind { Some((how, step.line)) } else { None }
    }

    /// The communicators that result from the creation.
    fn new_communicators(&self) -> Result<Vec<NewCommunicator>, (usize, u64, Fault)> {
        let members = self.all.members(self.number, self.task);
        let first = members.iter().map(|member| member.index()).min().unwrap_or(self.task);
        // By colour: key and task of each member of a new communicator, in the order of their ranks in the old one.
        let mut colours: BTreeMap<u64, Vec<(i64, usize)>> = BTreeMap::new();
        let mut groups: BTreeSet<Arc<[TaskId]>> = BTreeSet::new();
        let mut grid = None;
        for (rank, task) in members.iter().map(|member| member.index()).enumerate() {
            let (Some((how, line)), Some((other, _))) = (self.next(task), self.next(first)) else { continue };
            let failed = |fault| (task, line, fault);
            if how.name() != other.name() {
                let what =
                    format!("a {} here and a {} on rank {first} of the same communicator", how.name(), other.name());
                return Err(failed(Fault::Structure { what, remedy: "the files may belong to different runs" }));
            }
            let colour = match how {
                Creation::Dup => Some((0, 0)),
                Creation::Split { color, key } => u64::try_from(*color).ok().map(|color| (color, *key)),
                Creation::Group(handle) => {
                    let group = self.progress[task].group_members(*handle).map_err(failed)?;
                    if group.contains(&TaskId::at(task)) {
                        groups.insert(Arc::clone(group));
                    }
                    None
                }
                Creation::Grid(sizes) => {
                    let places = sizes.iter().try_fold(1_u64, |all, &size| all.checked_mul(size));
                    let places = places.filter(|&places| places <= members.len() as u64).ok_or_else(|| {
                        failed(invalid("grid", &format!("{sizes:?}"), format!("at most {} places", members.len())))
                    })?;
                    grid = Some(sizes.clone());
                    ((rank as u64) < places).then_some((0, 0))
                }
                Creation::Remain(remain) => {
                    let sizes = self.grids.get(&self.number).filter(|sizes| sizes.len() == remain.len());
                    let sizes = sizes.ok_or_else(|| failed(no_grid(remain.len())))?;
                    grid = Some(sizes.iter().zip(remain).filter(|&(_, &stays)| stays).map(|(&size, _)| size).collect());
                    Some((dropped_index(rank as u64, sizes, remain), 0))
                }
            };
            if let Some((colour, key)) = colour {
                colours.entry(colour).or_default().push((key, task));
            }
        }
        let mut made: Vec<NewCommunicator> = Vec::new();
        for (_, mut group) in colours {
            // Stable: members of one key stay in the order of their ranks.
            group.sort_by_key(|&(key, _)| key);
            made.push((group.into_iter().map(|(_, task)| TaskId::at(task)).collect(), grid.clone()));
        }
        for group in groups {
            self.check(&group).map_err(|fault| {
                let line = self.next(first).map_or(0, |(_, line)| line);
                (first, line, fault)
            })?;
            made.push((group.to_vec(), None));
        }
        Ok(made)
    }

    /// Every member of a group must be a member of the communicator, occur once, and have given the same group.
    fn check(&self, group: &Arc<[TaskId]>) -> Result<(), Fault> {
        let wrong = |what: String| Fault::Structure { what, remedy: "the files may belong to different runs" };
        let mut sorted = group.to_vec();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(wrong("a communicator is created of a group that holds a rank twice".to_owned()));
        }
        for member in group.iter() {
            let named = self.all.rank_of(self.number, member.index()).and_then(|_| self.next(member.index()));
            let named = match named {
                Some((Creation::Group(handle), _)) => self.progress[member.index()].groups.get(handle),
                _ => None,
            };
            if named != Some(group) {
                return Err(wrong(format!(
                    "a communicator is created of a group that rank {member} of the world belongs to and does not name"
                )));
            }
        }
        Ok(())
    }
}

/// The fault of `cart_sub` on a communicator that is not a grid.
fn no_grid(dimensions: usize) -> Fault {
    Fault::Structure {
        what: format!("cart_sub of a communicator that is no grid of {dimensions} dimensions"),
        remedy: "give the files of all ranks; record the calls that create communicators",
    }
}

/// The position of a rank of a grid (the last dimension runs fastest) within the dimensions that are dropped, as an
/// index. Ranks with the same index belong to the same subgrid.
fn dropped_index(rank: u64, sizes: &[u64], remain: &[bool]) -> u64 {
    let (mut rest, mut colour, mut weight) = (rank, 0, 1);
    for (&size, &stays) in sizes.iter().zip(remain).rev() {
        let place = rest % size.max(1);
        rest /= size.max(1);
        if !stays {
            colour += place * weight;
            weight *= size.max(1);
        }
    }
    colour
}

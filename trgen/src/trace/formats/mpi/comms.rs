//! The members of communicators, tracked through the calls that create them.
//!
//! Each process has its own handles for communicators, and may reuse them. All members of a communicator make the same
//! calls on it in the same order, which matches their handles.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::call::{Call, Comm, EMPTY_GROUP, Group, How};
use crate::trace::formats::error::Fault;
use crate::trace::formats::members::Members;
use crate::trace::formats::text::bad;
use crate::units::TaskId;

/// A communicator of the application. Number 0 is the world.
pub(in crate::trace::formats) type Number = usize;

/// `MPI_COMM_SELF`: private to each process, so one number serves all. Its context is the last one of messages.
pub(super) const OWN: Number = (u32::MAX / 2) as usize;

/// The creations of one process, in order, with their lines.
#[derive(Clone, Debug)]
pub(super) struct Step {
    what: What,
    line: u64,
}

#[derive(Clone, Debug)]
enum What {
    Communicator { comm: Comm, how: How, new: i64 },
    Group { group: Group, new: i64 },
}

impl Step {
    pub(super) fn of(call: Call, line: u64) -> Option<Self> {
        match call {
            Call::Create { comm, how, new } => Some(Self { what: What::Communicator { comm, how, new }, line }),
            Call::Group { group, new } => Some(Self { what: What::Group { group, new }, line }),
            _ => None,
        }
    }
}

/// All communicators, and the result of each process's creations.
#[derive(Clone, Debug)]
pub(super) struct Communicators {
    /// By number; [`OWN`] is not among them.
    all: Vec<Members>,
    /// By process and creation; `None` where the process is not a member.
    created: Vec<Vec<Option<Number>>>,
}

impl Communicators {
    /// Their number, including the world.
    pub(super) const fn count(&self) -> usize {
        self.all.len()
    }

    /// The members, as `task` sees them.
    pub(super) fn members(&self, number: Number, task: usize) -> &[TaskId] {
        if number == OWN { &self.all[0].tasks()[task..=task] } else { self.all[number].tasks() }
    }

    /// The rank of a member.
    fn rank_of(&self, number: Number, task: usize) -> Option<usize> {
        if number == OWN { Some(0) } else { self.all[number].rank_of(TaskId::at(task)) }
    }
}

/// The handles of one process at some point of its program.
#[derive(Clone, Default, Debug)]
pub(super) struct Names {
    names: HashMap<i64, Number>,
    creations: usize,
}

impl Names {
    /// The communicator that a handle means, and the rank of the process in it. If the log records ranks and sizes, an
    /// unknown handle means the world, provided that the size agrees.
    pub(super) fn find(&self, comm: Comm, all: &Communicators, task: usize) -> Result<(Number, usize), Fault> {
        let unknown = |what| Fault::Structure {
            what,
            remedy: "give the files of all ranks; record the calls that create communicators",
        };
        let number = match comm {
            Comm::World => 0,
            Comm::Own => OWN,
            Comm::Handle(id) => self.names.get(&id).copied().ok_or_else(|| {
                unknown(format!(
                    "communicator {id} was not created by a call in this trace that is followed (split, dup, create of \
                     a group, cart_create, cart_sub)"
                ))
            })?,
            Comm::Told { id, rank, size } => {
                let number = self.names.get(&id).copied().unwrap_or(0);
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

    /// The process makes its next creation.
    pub(super) fn create(&mut self, new: i64, all: &Communicators, task: usize) {
        let made = all.created[task].get(self.creations).copied().flatten();
        self.creations += 1;
        match made {
            Some(number) => self.names.insert(new, number),
            None => self.names.remove(&new),
        };
    }
}

/// Most members of all groups held by processes.
const MOST_HELD: usize = 1 << 24;

/// Progress of one process through its creations.
struct Walk {
    at: usize,
    names: Names,
    /// Members of its groups.
    groups: HashMap<i64, Arc<[TaskId]>>,
}

impl Walk {
    fn new() -> Self {
        Self { at: 0, names: Names::default(), groups: HashMap::from([(EMPTY_GROUP, [].into())]) }
    }

    /// The process creates a group, or frees it. `held` counts the members of the lists of all processes.
    fn group(
        &mut self,
        (group, new): (&Group, i64),
        all: &Communicators,
        task: usize,
        held: &mut usize,
    ) -> Result<(), Fault> {
        let made = match group {
            Group::Of(comm) => {
                let (number, _) = self.names.find(*comm, all, task)?;
                if number == OWN { all.members(OWN, task).into() } else { all.all[number].shared() }
            }
            Group::Unknown => {
                *held -= self.groups.remove(&new).as_ref().map_or(0, own_members);
                return Ok(());
            }
            Group::Include(old, ranks) => {
                let old = self.old(*old)?;
                let task = |rank: &u32| {
                    let expected = || bad("rank", &rank.to_string(), format!("a rank of a group of {}", old.len()));
                    old.get(*rank as usize).copied().ok_or_else(expected)
                };
                ranks.iter().map(task).collect::<Result<_, _>>()?
            }
            Group::Exclude(old, ranks) if ranks.is_empty() => Arc::clone(self.old(*old)?),
            Group::Exclude(old, ranks) => {
                let mut ranks = ranks.clone();
                ranks.sort_unstable();
                let stays = |rank: &usize| ranks.binary_search(&(*rank as u32)).is_err();
                let old = self.old(*old)?;
                (0..old.len()).filter(stays).map(|rank| old[rank]).collect()
            }
        };
        *held += own_members(&made);
        if *held > MOST_HELD {
            return Err(Fault::Structure {
                what: format!("processes hold groups of more than {MOST_HELD} members in all"),
                remedy: "record the calls that free groups",
            });
        }
        *held -= self.groups.insert(new, made).as_ref().map_or(0, own_members);
        Ok(())
    }

    fn old(&self, group: i64) -> Result<&Arc<[TaskId]>, Fault> {
        self.groups.get(&group).ok_or_else(|| Fault::Structure {
            what: format!(
                "group {group} was not made by a call in this trace that is followed (comm_group, group_incl, group_excl)"
            ),
            remedy: "its members cannot be worked out: record the program in another format, or with other calls",
        })
    }
}

/// Members of a list with no other owner.
fn own_members(group: &Arc<[TaskId]>) -> usize {
    if Arc::strong_count(group) == 1 { group.len() } else { 0 }
}

/// Matches the creations of all processes.
pub(super) fn resolve(steps: &[Vec<Step>]) -> Result<Communicators, (usize, u64, Fault)> {
    let mut all = Communicators { all: vec![Members::world(steps.len())], created: vec![Vec::new(); steps.len()] };
    let mut walks: Vec<Walk> = (0..steps.len()).map(|_| Walk::new()).collect();
    let mut grids: HashMap<Number, Vec<u64>> = HashMap::new();
    let mut held = 0;
    // Processes that have reached the next creation on a communicator, where they wait.
    let mut arrived: BTreeMap<Number, Vec<usize>> = BTreeMap::new();
    let mut ready: Vec<usize> = (0..steps.len()).rev().collect();
    while let Some(task) = ready.pop() {
        let Some(step) = steps[task].get(walks[task].at) else { continue };
        let failed = |fault| (task, step.line, fault);
        let number = match &step.what {
            What::Group { group, new } => {
                let walk = &mut walks[task];
                walk.group((group, *new), &all, task, &mut held).map_err(failed)?;
                walk.at += 1;
                ready.push(task);
                continue;
            }
            What::Communicator { comm, .. } => walks[task].names.find(*comm, &all, task).map_err(failed)?.0,
        };
        let here = arrived.entry(number).or_default();
        here.push(task);
        if here.len() < all.members(number, task).len() {
            continue;
        }
        let together = arrived.remove(&number).unwrap_or_default();
        let made = Meeting { steps, walks: &walks, all: &all, grids: &grids, number, task }.made()?;
        for (group, grid) in made {
            let made = all.all.len();
            for task in &group {
                all.created[task.index()].push(Some(made));
            }
            all.all.push(Members::new(group));
            grids.extend(grid.map(|grid| (made, grid)));
        }
        for task in together {
            let walk = &mut walks[task];
            // A process that is in none of them.
            if all.created[task].len() == walk.names.creations {
                all.created[task].push(None);
            }
            if let Some(What::Communicator { new, .. }) = steps[task].get(walk.at).map(|step| &step.what) {
                walk.names.create(*new, &all, task);
            }
            walk.at += 1;
            ready.push(task);
        }
    }
    match arrived.into_values().next().and_then(|waiting| waiting.into_iter().min()) {
        None => Ok(all),
        Some(task) => {
            let line = steps[task][walks[task].at].line;
            let what = "not all ranks of a communicator take part in the creation of another".to_owned();
            Err((task, line, Fault::Structure { what, remedy: "the files may be cut short, or of different runs" }))
        }
    }
}

/// All members of a communicator at their next creation.
struct Meeting<'a> {
    steps: &'a [Vec<Step>],
    walks: &'a [Walk],
    all: &'a Communicators,
    grids: &'a HashMap<Number, Vec<u64>>,
    number: Number,
    /// One of them.
    task: usize,
}

/// Members of a new communicator, and its sizes if it is a grid.
type Made = (Vec<TaskId>, Option<Vec<u64>>);

impl Meeting<'_> {
    fn next(&self, task: usize) -> Option<(&How, u64)> {
        let step = self.steps[task].get(self.walks[task].at)?;
        if let What::Communicator { how, .. } = &step.what { Some((how, step.line)) } else { None }
    }

    fn made(&self) -> Result<Vec<Made>, (usize, u64, Fault)> {
        let members = self.all.members(self.number, self.task);
        let first = members.iter().map(|member| member.index()).min().unwrap_or(self.task);
        // Members of each colour by key, then by rank in the communicator that is split.
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
                How::Dup => Some((0, 0)),
                How::Split { color, key } => u64::try_from(*color).ok().map(|color| (color, *key)),
                How::Group(handle) => {
                    let group = self.walks[task].old(*handle).map_err(failed)?;
                    if group.contains(&TaskId::at(task)) {
                        groups.insert(Arc::clone(group));
                    }
                    None
                }
                How::Grid(sizes) => {
                    let places = sizes.iter().try_fold(1_u64, |all, &size| all.checked_mul(size));
                    let places = places.filter(|&places| places <= members.len() as u64).ok_or_else(|| {
                        failed(bad("grid", &format!("{sizes:?}"), format!("at most {} places", members.len())))
                    })?;
                    grid = Some(sizes.clone());
                    ((rank as u64) < places).then_some((0, 0))
                }
                How::Remain(remain) => {
                    let sizes = self.grids.get(&self.number).filter(|sizes| sizes.len() == remain.len());
                    let sizes = sizes.ok_or_else(|| failed(no_grid(remain.len())))?;
                    grid = Some(sizes.iter().zip(remain).filter(|&(_, &stays)| stays).map(|(&size, _)| size).collect());
                    Some((without(rank as u64, sizes, remain), 0))
                }
            };
            if let Some((colour, key)) = colour {
                colours.entry(colour).or_default().push((key, task));
            }
        }
        let mut made: Vec<Made> = Vec::new();
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
                Some((How::Group(handle), _)) => self.walks[member.index()].groups.get(handle),
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

fn no_grid(dimensions: usize) -> Fault {
    Fault::Structure {
        what: format!("cart_sub of a communicator that is no grid of {dimensions} dimensions"),
        remedy: "give the files of all ranks; record the calls that create communicators",
    }
}

/// The index of a grid position (the last dimension runs fastest) in the dimensions that are dropped.
fn without(rank: u64, sizes: &[u64], remain: &[bool]) -> u64 {
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

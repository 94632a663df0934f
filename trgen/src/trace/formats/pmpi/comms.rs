//! Communicators: which tasks each of them holds, followed through `MPI_Comm_split` and `MPI_Comm_dup`.
//!
//! A process names a communicator as it likes, and may use a name again. All members of a communicator make the same
//! calls on it in the same order; that is how their names are brought together.

use std::collections::{BTreeMap, HashMap};

use super::call::{Call, Comm};
use crate::trace::formats::error::Fault;
use crate::units::TaskId;

/// A communicator of the application. Number 0 is the world.
pub(super) type Number = usize;

/// What one process creates, in order, and the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Creation {
    comm: Comm,
    /// Colour and key of a split; `None` for a duplicate.
    split: Option<(i64, i64)>,
    new: i64,
    pub(super) line: u64,
}

impl Creation {
    pub(super) fn of(call: &Call, line: u64) -> Option<Self> {
        match *call {
            Call::Split { comm, color, key, new } => Some(Self { comm, split: Some((color, key)), new, line }),
            Call::Dup { comm, new } => Some(Self { comm, split: None, new, line }),
            _ => None,
        }
    }
}

/// All communicators, and what each process's creations became.
#[derive(Clone, Default, Debug)]
pub(super) struct Communicators {
    pub(super) members: Vec<Vec<TaskId>>,
    /// By process and creation; `None` where the process is not a member.
    created: Vec<Vec<Option<Number>>>,
}

/// The names of one process at some point of its program.
#[derive(Clone, Default, Debug)]
pub(super) struct Names {
    names: HashMap<i64, Number>,
    creations: usize,
}

impl Names {
    /// The communicator that a name means. A name that was never given is the world's, if the size is.
    pub(super) fn find(&self, comm: Comm, all: &Communicators, task: usize) -> Result<Number, Fault> {
        let number = self.names.get(&comm.id).copied().unwrap_or(0);
        let members = &all.members[number];
        if members.len() == comm.size as usize && members.get(comm.rank as usize) == Some(&TaskId::at(task)) {
            return Ok(number);
        }
        Err(Fault::Structure {
            what: format!(
                "communicator {} of {} ranks, in which this process is rank {}, was not created by a split or dup in \
                 this trace (the world has {} ranks)",
                comm.id,
                comm.size,
                comm.rank,
                all.members[0].len()
            ),
            remedy: "give the files of all ranks; record the calls that create communicators",
        })
    }

    /// The process makes its next creation.
    pub(super) fn create(&mut self, creation: &Creation, all: &Communicators, task: usize) {
        let made = all.created[task].get(self.creations).copied().flatten();
        self.creations += 1;
        match made {
            Some(number) => self.names.insert(creation.new, number),
            None => self.names.remove(&creation.new),
        };
    }
}

/// Brings the creations of all processes together.
pub(super) fn resolve(creations: &[Vec<Creation>]) -> Result<Communicators, (usize, u64, Fault)> {
    let world: Vec<TaskId> = (0..creations.len()).map(TaskId::at).collect();
    let mut all = Communicators { members: vec![world], created: vec![Vec::new(); creations.len()] };
    let mut names: Vec<Names> = vec![Names::default(); creations.len()];
    // Who has come to the next creation of a communicator; a process waits there.
    let mut arrived: BTreeMap<Number, Vec<usize>> = BTreeMap::new();
    let mut ready: Vec<usize> = (0..creations.len()).rev().collect();
    while let Some(task) = ready.pop() {
        let Some(creation) = creations[task].get(all.created[task].len()) else { continue };
        let number = names[task].find(creation.comm, &all, task).map_err(|fault| (task, creation.line, fault))?;
        let here = arrived.entry(number).or_default();
        here.push(task);
        if here.len() < all.members[number].len() {
            continue;
        }
        let mut together = arrived.remove(&number).unwrap_or_default();
        together.sort_unstable();
        let next = |task: usize| creations[task][all.created[task].len()];
        let first = next(together[0]);
        if let Some(&other) = together.iter().find(|&&task| next(task).split.is_some() != first.split.is_some()) {
            let what = format!("a split here and a dup on rank {} of the same communicator", together[0]);
            let remedy = "the files may belong to different runs";
            return Err((other, next(other).line, Fault::Structure { what, remedy }));
        }
        // Members of each colour by key, then by rank in the communicator that is split.
        let mut groups: BTreeMap<i64, Vec<(i64, usize, usize)>> = BTreeMap::new();
        let mut outside = Vec::new();
        for (rank, task) in all.members[number].iter().map(|task| task.index()).enumerate() {
            match next(task).split {
                None => groups.entry(0).or_default().push((0, rank, task)),
                Some((color, key)) if color >= 0 => groups.entry(color).or_default().push((key, rank, task)),
                Some(_) => outside.push(task),
            }
        }
        for task in outside {
            all.created[task].push(None);
        }
        for mut group in groups.into_values() {
            group.sort_unstable();
            let made = all.members.len();
            all.members.push(group.iter().map(|&(.., task)| TaskId::at(task)).collect());
            for (.., task) in group {
                all.created[task].push(Some(made));
            }
        }
        for task in together {
            let creation = creations[task][all.created[task].len() - 1];
            names[task].create(&creation, &all, task);
            ready.push(task);
        }
    }
    match arrived.into_values().next().and_then(|waiting| waiting.into_iter().min()) {
        None => Ok(all),
        Some(task) => {
            let line = creations[task][all.created[task].len()].line;
            let what = "not all ranks of a communicator take part in the creation of another".to_owned();
            Err((task, line, Fault::Structure { what, remedy: "the files may be cut short, or of different runs" }))
        }
    }
}

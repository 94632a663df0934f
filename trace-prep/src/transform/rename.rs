//! Renumbering of tasks: one program, or several side by side.

use trgen::TaskId;
use trgen::rng::{Purpose, stream};
use trgen::trace::program::{Event, Program};

use super::{TransformError, refuse};

/// Renumbers the peers in the events of a task.
fn rename_peers(events: &mut [Event], number: impl Fn(TaskId) -> TaskId) {
    for event in events {
        match event {
            Event::Send(send) | Event::Isend(send, _) => send.to = number(send.to),
            Event::Recv(receive) | Event::Irecv(receive, _) => receive.from = receive.from.map(&number),
            _ => {}
        }
    }
}

/// Puts programs side by side: the tasks of each follow those of the previous one. The programs do not communicate with
/// each other.
///
/// # Errors
/// More than 2^24 tasks in all.
pub fn merge(programs: Vec<Program>) -> Result<Program, TransformError> {
    let mut merged = Program::new(0);
    for program in programs {
        let first = merged.tasks.len();
        if first + program.tasks.len() > 1 << 24 {
            return refuse("more than 2^24 tasks together", "merge fewer traces");
        }
        for mut events in program.tasks {
            rename_peers(&mut events, |task| TaskId::at(task.index() + first));
            merged.tasks.push(events);
        }
    }
    Ok(merged)
}

/// The permutation that `spec` describes: `reverse`, `shift:S`, `random:SEED`, or the new numbers of tasks 0, 1, 2, ...
/// separated by commas.
///
/// # Errors
/// A word that is none of these, a list that does not contain every task exactly once.
pub fn permutation(spec: &str, tasks: usize) -> Result<Vec<usize>, TransformError> {
    const REMEDY: &str = "write reverse, shift:1, random:1, or a list such as 2,0,1";
    let number = |word: &str| word.parse::<usize>().ok();
    let (name, value) = spec.split_once(':').map_or((spec, None), |(name, value)| (name, Some(value)));
    match (name, value.map(number)) {
        ("reverse", None) => Ok((0..tasks).rev().collect()),
        ("shift", Some(Some(shift))) => {
            Ok((0..tasks).map(|task| (task + shift % tasks.max(1)) % tasks.max(1)).collect())
        }
        ("random", Some(Some(seed))) => {
            use rand::seq::SliceRandom;
            let mut all: Vec<usize> = (0..tasks).collect();
            all.shuffle(&mut stream(seed as u64, 0, Purpose::Placement));
            Ok(all)
        }
        (list, None) if list.starts_with(|first: char| first.is_ascii_digit()) => {
            let numbers: Option<Vec<usize>> = list.split(',').map(|word| number(word.trim())).collect();
            let Some(numbers) = numbers else { return refuse(format!("`{spec}` is no list of numbers"), REMEDY) };
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            if sorted.into_iter().eq(0..tasks) {
                return Ok(numbers);
            }
            refuse(format!("`{spec}` does not give each of {tasks} tasks a number of its own, from 0"), REMEDY)
        }
        _ => refuse(format!("`{spec}` is no permutation"), REMEDY),
    }
}

/// Renumbers tasks: task i becomes task `numbers[i]`; `numbers` is a permutation.
#[must_use]
pub fn remap(program: Program, numbers: &[usize]) -> Program {
    let mut mapped = Program::new(program.tasks.len());
    for (task, mut events) in program.tasks.into_iter().enumerate() {
        rename_peers(&mut events, |task| TaskId::at(numbers[task.index()]));
        mapped.tasks[numbers[task]] = events;
    }
    mapped
}

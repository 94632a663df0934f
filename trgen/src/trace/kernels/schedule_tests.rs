//! Tracks the pieces held by every task after every receive.

use std::collections::{HashMap, VecDeque};

use super::super::hierarchical as levels;
use super::super::machine_learning as ml;
use super::super::{KernelContext, parse, parse_in, shape::Shape};
use super::{Action, Algorithm, Step};
use crate::trace::program::{Event, TagFilter};

/// Contributions to a task's copy of a piece: one bit per contributing task; 0 for no copy.
type Sum = u64;

/// Runs all tasks with the data that each begins with, and returns what each holds in the end. Receives wait for their
/// message; sends do not wait. A contribution that is added twice is an error, and so is a piece that was never there.
fn run(algorithm: &Algorithm, shape: &Shape, begin: impl Fn(u32, u32) -> Sum) -> Vec<Vec<Sum>> {
    let (tasks, pieces) = (shape.tasks, (algorithm.pieces)(shape));
    let scripts: Vec<Vec<Step>> = (0..tasks)
        .map(|task| {
            let mut script = Vec::new();
            (algorithm.steps)(shape, task, &mut |step| script.push(step));
            script
        })
        .collect();
    let mut held: Vec<Vec<Sum>> =
        (0..tasks).map(|task| (0..pieces).map(|piece| begin(task, piece)).collect()).collect();
    let mut next = vec![0; tasks as usize];
    type Letter = ((u32, u32), Vec<Sum>);
    let mut letters: HashMap<(u32, u32, u32), VecDeque<Letter>> = HashMap::new();
    loop {
        let mut moved = false;
        for task in 0..tasks {
            while let Some(step) = scripts[task as usize].get(next[task as usize]) {
                let range = step.pieces.0 as usize..(step.pieces.0 + step.pieces.1) as usize;
                let own = &mut held[task as usize];
                if step.action == Action::Send {
                    let content = own[range].to_vec();
                    assert!(content.iter().all(|&sum| sum != 0), "task {task} sends what it does not have: {step:?}");
                    let letters = letters.entry((task, step.peer, step.round)).or_default();
                    letters.push_back((step.pieces, content));
                    assert_eq!(letters.len(), 1, "one message of a pair in a round");
                } else {
                    let Some(letters) = letters.get_mut(&(step.peer, task, step.round)) else { break };
                    let Some((sent, content)) = letters.pop_front() else { break };
                    assert_eq!(sent, step.pieces, "what is sent is what is awaited");
                    for (own, received) in own[range].iter_mut().zip(content) {
                        if step.action == Action::Combine {
                            assert_eq!(*own & received, 0, "task {task} adds a contribution twice: {step:?}");
                            *own |= received;
                        } else {
                            *own = received;
                        }
                    }
                }
                next[task as usize] += 1;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    assert!((0..tasks as usize).all(|task| next[task] == scripts[task].len()), "a task waits for ever");
    assert!(letters.values().all(VecDeque::is_empty), "every message is received");
    held
}

/// Every grid of this many tasks and dimensions.
fn grids(tasks: u32, dimensions: usize) -> Vec<Vec<u32>> {
    if dimensions == 1 {
        return vec![vec![tasks]];
    }
    let first = (1..=tasks).filter(|size| tasks.is_multiple_of(*size));
    first
        .flat_map(|size| grids(tasks / size, dimensions - 1).into_iter().map(move |rest| [vec![size], rest].concat()))
        .collect()
}

/// The piece that belongs to a task: its position in the grid, last dimension fastest; without a grid its number.
fn own_piece(shape: &Shape, task: u32) -> u32 {
    let mut rest = task;
    let mut piece = 0;
    for &size in &shape.grid {
        piece = piece * size + rest % size;
        rest /= size;
    }
    if shape.grid.is_empty() { task } else { piece }
}

/// Shapes of 2 to 33 tasks: one without a grid, or every grid.
fn shapes(on_grid: bool) -> Vec<Shape> {
    let with_tasks = |tasks| -> Vec<Shape> {
        if !on_grid {
            return vec![Shape::new(tasks, Vec::new())];
        }
        [2, 3].into_iter().flat_map(|d| grids(tasks, d)).map(|grid| Shape::new(tasks, grid)).collect()
    };
    (2..=33).flat_map(with_tasks).collect()
}

/// The sum of the contributions of all tasks.
fn everyone(shape: &Shape) -> Sum {
    (1 << shape.tasks) - 1
}

#[test]
fn all_reduces_give_everyone_the_sum() {
    for (algorithm, on_grid) in [
        (ml::ALL_REDUCE_RING_STEPS, false),
        (ml::ALL_REDUCE_DOUBLING_STEPS, false),
        (ml::ALL_REDUCE_HALVING_STEPS, false),
        (ml::ALL_REDUCE_TORUS_STEPS, true),
    ] {
        for shape in shapes(on_grid) {
            let held = run(&algorithm, &shape, |task, _| 1 << task);
            assert!(held.iter().flatten().all(|&sum| sum == everyone(&shape)), "{shape:?}: {held:x?}");
        }
    }
}

#[test]
fn reduce_scatters_give_everyone_the_sum_of_its_own_piece() {
    for (algorithm, on_grid, any) in [
        (ml::REDUCE_SCATTER_RING_STEPS, false, true),
        (ml::REDUCE_SCATTER_HALVING_STEPS, false, false),
        (ml::REDUCE_SCATTER_TORUS_STEPS, true, true),
    ] {
        for shape in shapes(on_grid).iter().filter(|shape| any || shape.tasks.is_power_of_two()) {
            let held = run(&algorithm, shape, |task, _| 1 << task);
            for task in 0..shape.tasks {
                assert_eq!(
                    held[task as usize][own_piece(shape, task) as usize],
                    everyone(shape),
                    "{shape:?}: task {task}"
                );
            }
        }
    }
}

#[test]
fn all_gathers_give_everyone_every_piece() {
    for (algorithm, on_grid, any) in [
        (ml::ALL_GATHER_RING_STEPS, false, true),
        (ml::ALL_GATHER_DOUBLING_STEPS, false, false),
        (ml::ALL_GATHER_TORUS_STEPS, true, true),
    ] {
        for shape in shapes(on_grid).iter().filter(|shape| any || shape.tasks.is_power_of_two()) {
            // Each task starts with its own piece only.
            let held =
                run(&algorithm, shape, |task, piece| if piece == own_piece(shape, task) { 1 << task } else { 0 });
            for (task, pieces) in held.iter().enumerate() {
                for owner in 0..shape.tasks {
                    assert_eq!(pieces[own_piece(shape, owner) as usize], 1 << owner, "{shape:?}: task {task}");
                }
            }
        }
    }
}

#[test]
fn broadcasts_give_everyone_the_vector_of_the_root() {
    for (algorithm, dimensions) in [(levels::BROADCAST_TREE_STEPS, 0), (levels::BROADCAST_STEPS, 2)] {
        for tasks in 1..=33 {
            let grids = if dimensions == 0 { vec![Vec::new()] } else { grids(tasks, dimensions) };
            for shape in grids.into_iter().map(|grid| Shape::new(tasks, grid)) {
                let held = run(&algorithm, &shape, |task, _| u64::from(task == 0));
                assert!(held.iter().flatten().all(|&sum| sum == 1), "{shape:?}");
            }
        }
    }
}

/// The programs follow these steps: the same peers in the same order, and pieces whose bytes add up to the vector.
#[test]
fn programs_are_the_steps_in_bytes() {
    const BYTES: u64 = 1003;
    let kernels: [(&str, Algorithm, usize); 15] = [
        ("all-reduce-ring", ml::ALL_REDUCE_RING_STEPS, 0),
        ("all-reduce-doubling", ml::ALL_REDUCE_DOUBLING_STEPS, 0),
        ("all-reduce-halving", ml::ALL_REDUCE_HALVING_STEPS, 0),
        ("all-reduce-torus2d", ml::ALL_REDUCE_TORUS_STEPS, 2),
        ("all-reduce-torus3d", ml::ALL_REDUCE_TORUS_STEPS, 3),
        ("reduce-scatter-ring", ml::REDUCE_SCATTER_RING_STEPS, 0),
        ("reduce-scatter-halving", ml::REDUCE_SCATTER_HALVING_STEPS, 0),
        ("reduce-scatter-torus2d", ml::REDUCE_SCATTER_TORUS_STEPS, 2),
        ("all-gather-ring", ml::ALL_GATHER_RING_STEPS, 0),
        ("all-gather-torus3d", ml::ALL_GATHER_TORUS_STEPS, 3),
        ("broadcast-tree", levels::BROADCAST_TREE_STEPS, 0),
        ("all-reduce-hierarchical", ml::ALL_REDUCE_TORUS_STEPS, 2),
        ("reduce-scatter-hierarchical", ml::REDUCE_SCATTER_TORUS_STEPS, 2),
        ("all-gather-hierarchical", ml::ALL_GATHER_TORUS_STEPS, 2),
        ("broadcast-hierarchical", levels::BROADCAST_STEPS, 2),
    ];
    for (name, algorithm, dimensions) in kernels {
        for tasks in 2..=33u32 {
            if name.contains("scatter-halving") && !tasks.is_power_of_two() {
                assert!(parse(&format!("{name}:tasks={tasks}"), 64, None).is_err());
                continue;
            }
            let grid = if dimensions > 0 { grids(tasks, dimensions).pop().unwrap_or_default() } else { Vec::new() };
            let words: Vec<String> = grid.iter().map(u32::to_string).collect();
            let layout = match &*words {
                [] => format!("tasks={tasks}"),
                [group, _] if name.ends_with("hierarchical") => format!("tasks={tasks},group={group}"),
                sizes => format!("grid={}", sizes.join("x")),
            };
            let text = format!("{name}:{layout},bytes={BYTES},iterations=2");
            let program = parse(&text, 64, None).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
            let shape = Shape::new(tasks, grid);
            let count = u64::from((algorithm.pieces)(&shape));
            let size = |piece: u32| BYTES / count + u64::from(u64::from(piece) < BYTES % count);
            let mut tags = HashMap::new();
            for (task, events) in (0..).zip(&program.tasks) {
                let mut steps = Vec::new();
                (algorithm.steps)(&shape, task, &mut |step| steps.push(step));
                assert_eq!(events.len(), 2 * steps.len(), "{text}");
                for (event, step) in events.iter().zip(steps.iter().chain(&steps)) {
                    let bytes: u64 = (step.pieces.0..step.pieces.0 + step.pieces.1).map(size).sum();
                    let (sends, peer, found, key) = match event {
                        Event::Send(send) => (true, send.to.0, send.bytes, (task, send.to.0, send.tag)),
                        Event::Recv(receive) => {
                            let (Some(from), TagFilter::Exactly(tag)) = (receive.from, receive.tag) else {
                                panic!("{event:?}")
                            };
                            (false, from.0, receive.bytes, (from.0, task, tag))
                        }
                        other => panic!("{other:?}"),
                    };
                    assert_eq!((sends, peer, found), (step.action == Action::Send, step.peer, bytes), "{text}");
                    *tags.entry(key).or_insert(0) += if sends { 1 } else { 16 };
                }
            }
            assert!(tags.values().all(|&count| count == 17), "{text}: a tag is one send and one receive");
        }
    }
}

/// Pieces of unequal sizes: within the spread, all different from each other's draws, and the whole vector together.
#[test]
fn unequal_pieces_are_a_cut_of_the_vector() {
    let sizes = |text: &str, seed: u64| -> Vec<u64> {
        let context = KernelContext { seed, ..KernelContext::new(16, None) };
        let program = parse_in(text, &context).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
        let of = |event: &Event| if let Event::Send(send) = event { Some(send.bytes) } else { None };
        // In a turn of the ring task 0 sends all pieces but one.
        let sent: Vec<u64> = program.tasks[0].iter().filter_map(of).collect();
        let to_next: Vec<u64> = program.tasks[1].iter().filter_map(of).collect();
        assert!(to_next[1..].iter().zip(&sent).all(|(later, sent)| later == sent), "a piece keeps its size");
        sent
    };
    assert_eq!(sizes("all-gather-ring:bytes=1600000", 1), [100_000; 15]);
    assert_eq!(sizes("all-gather-ring:bytes=1600000,spread=0", 1), [100_000; 15]);
    for (spread, least) in [(0.01, 300), (0.5, 15_000)] {
        let text = format!("all-gather-ring:bytes=1600000,spread={spread}");
        let found = sizes(&text, 1);
        let apart = |&size: &u64| (size as f64 - 1e5).abs();
        assert!(found.iter().all(|size| apart(size) <= spread * 1e5), "{found:?}");
        assert!(found.iter().map(apart).fold(0.0, f64::max) > f64::from(least), "{found:?}");
        assert_ne!(found, sizes(&text, 2), "the seed decides");
        // The piece that task 0 does not send is within the spread too.
        let last = 1_600_000 - found.iter().sum::<u64>();
        assert!(apart(&last) <= spread * 1e5, "{last}");
    }
    assert!(parse("all-gather-ring:spread=1.1", 16, None).is_err());
}

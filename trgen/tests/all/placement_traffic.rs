//! Placements by communication matrix: compared with every permutation, and with a slow and obvious descent; and local
//! optima.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cmp::Ordering;
use std::path::Path;

use proptest::prelude::*;
use trgen::trace::goal::{Graph, Operation, RankBuilder};
use trgen::trace::kernels;
use trgen::trace::matrix::Matrix;
use trgen::trace::placement::{Descent, Distance, Known, Placed, Placement, PlacementContext, hop_bytes};
use trgen::trace::program::{Event, Program, Send, Tag};
use trgen::{Geometry, NodeId, TaskId};

/// Distances by a table, symmetric or not.
#[derive(Debug)]
struct Table(Vec<Vec<u32>>);

impl Distance for Table {
    fn hops(&self, from: NodeId, to: NodeId) -> u32 {
        self.0[from.index()][to.index()]
    }
}

/// A torus with links in both directions.
#[derive(Debug)]
struct Torus(Geometry);

impl Distance for Torus {
    fn hops(&self, from: NodeId, to: NodeId) -> u32 {
        let (from, to) = (self.0.coordinates(from), self.0.coordinates(to));
        let along = |((one, other), size): ((&u32, &u32), &u32)| {
            let apart = one.abs_diff(*other);
            apart.min(size - apart)
        };
        from.iter().zip(&to).zip(self.0.sizes()).map(along).sum()
    }
}

/// What tasks send: (from, to, bytes).
fn program(tasks: usize, messages: &[(u32, u32, u64)]) -> Program {
    let mut program = Program::new(tasks);
    for &(from, to, bytes) in messages {
        program.tasks[from as usize].push(Event::Send(Send { to: TaskId(to), tag: Tag::user(0), bytes }));
    }
    program
}

fn line(nodes: usize) -> Geometry {
    Geometry::new(&[nodes as u32]).unwrap()
}

fn placed(spec: &str, matrix: &Matrix, geometry: &Geometry, distance: &dyn Distance) -> Placed {
    let context = PlacementContext { geometry, tasks: matrix.tasks(), seed: 7 };
    spec.parse::<Placement>().unwrap().place(&context, Some(Known { matrix, distance })).unwrap()
}

fn cost(matrix: &Matrix, nodes: &[NodeId], distance: &dyn Distance) -> u128 {
    let node = |task: u32| nodes[task as usize];
    hop_bytes(matrix.pairs().iter().map(|pair| (node(pair.source), node(pair.destination), pair.bytes)), distance)
}

/// The least cost over all assignments of tasks to different nodes.
fn least(matrix: &Matrix, nodes: usize, distance: &dyn Distance) -> u128 {
    fn deeper(chosen: &mut Vec<NodeId>, matrix: &Matrix, nodes: usize, distance: &dyn Distance) -> u128 {
        if chosen.len() == matrix.tasks() {
            return cost(matrix, chosen, distance);
        }
        let mut best = u128::MAX;
        for node in (0..nodes).map(NodeId::at) {
            if !chosen.contains(&node) {
                chosen.push(node);
                best = best.min(deeper(chosen, matrix, nodes, distance));
                chosen.pop();
            }
        }
        best
    }
    deeper(&mut Vec::new(), matrix, nodes, distance)
}

/// The least cost that one exchange can achieve from a placement, free nodes included.
fn least_of_exchanges(matrix: &Matrix, start: &[NodeId], nodes: usize, distance: &dyn Distance) -> u128 {
    let mut best = u128::MAX;
    for task in 0..start.len() {
        for node in (0..nodes).map(NodeId::at).filter(|&node| node != start[task]) {
            let mut turned = start.to_vec();
            if let Some(other) = start.iter().position(|&at| at == node) {
                turned[other] = start[task];
            }
            turned[task] = node;
            best = best.min(cost(matrix, &turned, distance));
        }
    }
    best
}

/// `greedy` by its definition, sum by sum.
fn greedy_by_definition(matrix: &Matrix, nodes: usize, distance: &dyn Distance) -> Vec<NodeId> {
    let bytes = |one: usize, other: usize| -> u128 {
        let both = |pair: &&trgen::trace::matrix::Pair| {
            one != other && [(one, other), (other, one)].contains(&(pair.source as usize, pair.destination as usize))
        };
        matrix.pairs().iter().filter(both).map(|pair| u128::from(pair.bytes)).sum()
    };
    let tasks = matrix.tasks();
    let mut places: Vec<Option<NodeId>> = vec![None; tasks];
    for step in 0..tasks {
        let weight = |task: usize| -> u128 {
            (0..tasks).filter(|&other| step == 0 || places[other].is_some()).map(|other| bytes(task, other)).sum()
        };
        // Ties go to the lowest number: `rev` makes it the last, which `max_by_key` takes.
        let task = (0..tasks).rev().filter(|&task| places[task].is_none()).max_by_key(|&task| weight(task)).unwrap();
        let sum = |node: &NodeId| -> u128 {
            let flows = matrix.pairs().iter().filter_map(|pair| {
                let (from, to) = (pair.source as usize, pair.destination as usize);
                match (from == task, to == task) {
                    (true, false) => Some((*node, places[to]?, pair.bytes)),
                    (false, true) => Some((places[from]?, *node, pair.bytes)),
                    _ => None,
                }
            });
            hop_bytes(flows, distance)
        };
        let free = (0..nodes).map(NodeId::at).filter(|node| !places.contains(&Some(*node)));
        places[task] = free.min_by_key(sum);
    }
    places.into_iter().flatten().collect()
}

/// Distances between 7 nodes, messages of 6 tasks.
fn cases() -> impl Strategy<Value = (Table, Matrix)> {
    let hops = prop::collection::vec(prop::collection::vec(1..6_u32, 7), 7);
    let messages = prop::collection::vec((0..6_u32, 0..6_u32, 0..50_u64), 0..20);
    (hops, any::<bool>(), messages).prop_map(|(drawn, alike, messages)| {
        // Symmetric or not.
        let hops = |from: usize, to: usize| match from.cmp(&to) {
            Ordering::Equal => 0,
            Ordering::Less if alike => drawn[to][from],
            _ => drawn[from][to],
        };
        let table = (0..7).map(|from| (0..7).map(|to| hops(from, to)).collect()).collect();
        (Table(table), Matrix::of_program(&program(6, &messages)))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_descent_ends_where_no_exchange_helps((table, matrix) in cases()) {
        let optimum = least(&matrix, 7, &table);
        for start in ["greedy", "consecutive", "random", "shift:1"] {
            let begun = cost(&matrix, &placed(start, &matrix, &line(7), &table).nodes, &table);
            let Placed { nodes, descent } = placed(&format!("optimise:{start}"), &matrix, &line(7), &table);
            let Descent { before, after, local_optimum, swaps, .. } = descent.unwrap();
            // The reported costs are the computed ones.
            prop_assert_eq!((before, after), (begun, cost(&matrix, &nodes, &table)));
            prop_assert!(local_optimum && after <= before && (swaps > 0) == (after < before));
            prop_assert!(optimum <= after && after <= least_of_exchanges(&matrix, &nodes, 7, &table));
            let mut distinct = nodes.clone();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!((distinct.len(), nodes.len()), (6, 6));
        }
    }

    #[test]
    fn rounds_are_a_limit_and_go_on_where_they_ended((table, matrix) in cases()) {
        let whole = placed("optimise:random", &matrix, &line(7), &table);
        let rounds = whole.descent.unwrap().rounds;
        prop_assert_eq!(&placed(&format!("optimise:{rounds}:random"), &matrix, &line(7), &table), &whole);
        let mut last = u128::MAX;
        for limit in 1..rounds {
            let cut = placed(&format!("optimise:{limit}:random"), &matrix, &line(7), &table).descent.unwrap();
            prop_assert!(cut.rounds == limit && !cut.local_optimum && cut.after < last);
            last = cut.after;
        }
    }

    #[test]
    fn greedy_is_its_definition((table, matrix) in cases()) {
        let nodes = placed("greedy", &matrix, &line(7), &table).nodes;
        prop_assert_eq!(nodes, greedy_by_definition(&matrix, 7, &table));
    }
}

#[test]
fn a_pair_that_talks_moves_together_by_hand() {
    // 0 - 1 - 2 - 3 in a row; tasks 0 and 3 exchange most.
    let table = Table((0..4).map(|one| (0..4).map(|other: u32| other.abs_diff(one)).collect()).collect());
    let matrix = Matrix::of_program(&program(4, &[(0, 3, 10), (3, 0, 10), (1, 0, 4), (2, 2, 99)]));
    let order =
        |spec: &str| -> Vec<u32> { placed(spec, &matrix, &line(4), &table).nodes.iter().map(|node| node.0).collect() };
    // 0 first (24 bytes), 3 beside it, then 1 two hops away, then 2, which sends to itself only.
    assert_eq!(order("greedy"), [0, 2, 3, 1]);
    assert_eq!(cost(&matrix, &placed("greedy", &matrix, &line(4), &table).nodes, &table), 20 + 8);
    // 0 moves between the two.
    let descent = placed("optimise", &matrix, &line(4), &table).descent.unwrap();
    assert_eq!((descent.before, descent.after, descent.swaps), (28, 24, 1));
    assert_eq!(placed("optimise:consecutive", &matrix, &line(4), &table).descent.unwrap().before, 64);
}

#[test]
fn neighbours_of_a_mesh_find_each_other_again_on_a_torus() {
    let geometry = Geometry::new(&[6, 6]).unwrap();
    let torus = Torus(geometry.clone());
    let program = kernels::parse("mesh2d:tasks=36,bytes=100", 36, Some(&geometry)).unwrap();
    let matrix = Matrix::of_program(&program);
    let bytes: u128 = matrix.pairs().iter().map(|pair| u128::from(pair.bytes)).sum();
    let of = |spec: &str| cost(&matrix, &placed(spec, &matrix, &geometry, &torus).nodes, &torus);
    // One hop for every byte: no placement can do with less.
    assert_eq!(of("consecutive"), bytes);
    let [random, greedy, optimised, from_random] = ["random", "greedy", "optimise", "optimise:random"].map(of);
    assert!(
        greedy < random && from_random < random && optimised <= greedy,
        "{random} {greedy} {optimised} {from_random}"
    );
    assert!(optimised * 2 <= bytes * 3, "within a half of the optimum: {optimised} of {bytes}");
    assert_eq!(of("optimise:consecutive"), bytes);
}

#[test]
fn programs_graphs_and_groups_have_matrices() {
    let mut rank = RankBuilder::default();
    rank.add(Operation::send(12, 1, 0)).unwrap();
    rank.add(Operation::send(30, 1, 0)).unwrap();
    rank.add(Operation::calc(5)).unwrap();
    let mut other = RankBuilder::default();
    other.add(Operation::recv(12, 0, 0)).unwrap();
    let graph = Graph::new(vec![rank.build().unwrap(), other.build().unwrap()]).unwrap();
    assert_eq!(Matrix::of_graph(&graph), Matrix::of_program(&program(2, &[(0, 1, 12), (0, 1, 30)])));
}

#[test]
fn what_cannot_be_placed_is_refused() {
    let (table, geometry) = (Table(vec![vec![0; 4]; 4]), line(4));
    let matrix = Matrix::of_program(&program(3, &[(0, 1, 1)]));
    let known = Some(Known { matrix: &matrix, distance: &table });
    let context = |tasks| PlacementContext { geometry: &geometry, tasks, seed: 1 };
    for (spec, said) in [
        ("optimise:0", "no number of rounds"),
        ("optimise:", "no number of rounds"),
        ("optimise:optimise", "no number of rounds"),
        ("optimise:5:optimise:3", "no number of rounds"),
        ("optimise:randum", "unknown placement `randum`"),
        ("optimise:10:row", "rows and columns"),
        ("greedy:3", "takes no parameter"),
        ("greed", "unknown placement `greed`"),
    ] {
        let refusal = match spec.parse::<Placement>() {
            Ok(placement) => {
                let refusal = placement.place(&context(3), known).unwrap_err();
                assert_eq!(placement.check(&context(3)).unwrap_err(), refusal);
                refusal.to_string()
            }
            Err(refusal) => refusal.to_string(),
        };
        assert!(refusal.contains(said), "{spec}: {refusal}");
    }
    for spec in ["greedy", "optimise", "optimise:2:shift:1"] {
        let placement: Placement = spec.parse().unwrap();
        let refused = |tasks, known| placement.place(&context(tasks), known).unwrap_err().to_string();
        assert!(placement.looks_at_traffic() && placement.check(&context(3)).is_ok());
        assert!(refused(5, known).contains("do not fit"));
        // No information, or information on another application.
        assert!(refused(3, None).contains("not known of 3 tasks"));
        assert!(refused(4, known).contains("not known of 4 tasks"));
    }
    assert!(!"random".parse::<Placement>().unwrap().looks_at_traffic());
}

#[test]
fn another_file_takes_the_place_of_the_file_alone() {
    for (spec, moved) in [
        ("file:n.txt", "file:sub/n.txt"),
        ("optimise:file:n.txt", "optimise:file:sub/n.txt"),
        ("optimise:10:file:optimise", "optimise:10:file:sub/optimise"),
        ("optimise:4:random", "optimise:4:random"),
        ("optimise", "optimise"),
    ] {
        let mut placement: Placement = spec.parse().unwrap();
        placement.replace_file(|path| Path::new("sub").join(path));
        assert_eq!(placement.to_string(), moved);
        assert_eq!(placement.file(), moved.parse::<Placement>().unwrap().file());
        assert_eq!(placement.file().is_some(), moved.contains("sub"));
    }
}

//! Every kernel of the registry at three sizes: its messages and bytes by formula, and what its definition promises of
//! them. A row of the registry without a formula fails. The sizes share no factor, but for kernels of powers of two.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;

use trgen::trace::kernels::{self, KERNELS};
use trgen::trace::program::{Event, Program};

/// Messages, and bytes; `None` where the definition leaves the number of messages open.
type Formula = fn(&[u64]) -> (Option<u64>, u64);

/// \[bytes\] Divisible by all numbers of tasks.
const VECTOR: u64 = 5040;

fn log2(n: u64) -> u64 {
    n.ilog2().into()
}

/// The links of an open grid, in one direction.
fn open(sizes: &[u64]) -> u64 {
    let all: u64 = sizes.iter().product();
    sizes.iter().map(|size| all / size * (size - 1)).sum()
}

/// Messages of rings in each dimension of a grid, of which each task sends one in every step.
fn turns(sizes: &[u64]) -> u64 {
    let all: u64 = sizes.iter().product();
    all * sizes.iter().map(|size| size - 1).sum::<u64>()
}

/// So many messages of the same size.
const fn alike(messages: u64, bytes: u64) -> (Option<u64>, u64) {
    (Some(messages), messages * bytes)
}

/// By row: a text whose `{}` is the size, three sizes, and the formula of the numbers in the text.
const SECOND: &[(&str, &str, [&str; 3], Formula)] = &[
    ("one-to-all", "tasks={},bytes=10", ["5", "7", "9"], |n| alike(n[0] - 1, 10)),
    ("all-to-one", "tasks={},bytes=10", ["5", "7", "9"], |n| alike(n[0] - 1, 10)),
    ("all-to-all", "tasks={},bytes=10", ["5", "7", "9"], |n| alike(n[0] * (n[0] - 1), 10)),
    ("all-to-all-plain", "tasks={},bytes=10", ["5", "7", "9"], |n| alike(n[0] * (n[0] - 1), 10)),
    ("all-to-all-pairwise", "tasks={},bytes=10", ["5", "7", "9"], |n| alike(n[0] * (n[0] - 1), 10)),
    ("bintree", "tasks={},bytes=10", ["5", "7", "9"], |n| alike(n[0] - 1, 10)),
    ("butterfly", "tasks={},bytes=10", ["4", "8", "16"], |n| alike(n[0] * log2(n[0]), 10)),
    // A body goes half way round, and back in one message.
    ("n-bodies", "tasks={},bytes=10", ["5", "7", "9"], |n| alike(n[0] * (n[0] / 2 + 1), 10)),
    ("mesh2d", "grid={},bytes=10", ["5x7", "3x11", "4x4"], |n| alike(2 * open(&n[..2]), 10)),
    ("mesh3d", "grid={},bytes=10", ["5x7x1", "3x11x3", "2x4x2"], |n| alike(2 * open(&n[..3]), 10)),
    ("torus2d", "grid={},bytes=10", ["5x7", "3x11", "4x4"], |n| alike(n[0] * n[1] * 4, 10)),
    ("torus3d", "grid={},bytes=10", ["5x7x3", "3x11x2", "2x4x2"], |n| alike(n[0] * n[1] * n[2] * 6, 10)),
    ("sweep2d", "grid={},bytes=10", ["5x7", "3x11", "4x4"], |n| alike(open(&n[..2]), 10)),
    ("sweep3d", "grid={},bytes=10", ["5x7x1", "3x11x3", "2x4x2"], |n| alike(open(&n[..3]), 10)),
    ("waterfall", "grid={},bytes=10,iterations=3", ["5x7", "3x11", "4x4"], |n| alike(3 * open(&n[..2]), 10)),
    ("gather", "tasks={},bytes=10", ["5", "7", "9"], |n| {
        // Task i passes on the blocks of as many tasks as its lowest bit counts, as far as there are.
        let blocks = (1..n[0]).map(|task| (1u64 << task.trailing_zeros()).min(n[0] - task)).sum::<u64>();
        (Some(n[0] - 1), 10 * blocks)
    }),
    ("butterfly-all-to-all", "tasks={},bytes=10", ["4", "8", "16"], |n| alike(n[0] * log2(n[0]), 10 * n[0] / 2)),
    ("gups", "tasks={},bytes=10,messages=6", ["5", "7", "9"], |n| alike(6 * n[0], 10)),
    ("random-waves", "tasks={},bytes=10,messages=3,iterations=2", ["5", "7", "9"], |n| alike(6 * n[0], 10)),
    ("all-reduce-ring", "tasks={},bytes=5040", ["5", "7", "9"], |n| alike(2 * n[0] * (n[0] - 1), VECTOR / n[0])),
    ("all-reduce-doubling", "tasks={},bytes=5040", ["5", "7", "9"], |n| {
        let core = 1 << log2(n[0]);
        alike(core * log2(core) + 2 * (n[0] - core), VECTOR)
    }),
    ("all-reduce-halving", "tasks={},bytes=5040", ["5", "7", "9"], |n| {
        let core = 1 << log2(n[0]);
        let messages = 2 * core * log2(core) + 2 * (n[0] - core);
        (Some(messages), 2 * (core - 1) * VECTOR + 2 * (n[0] - core) * VECTOR)
    }),
    ("all-reduce-torus2d", "grid={},bytes=5040", ["5x7", "3x4", "2x9"], |n| {
        (Some(2 * turns(&n[..2])), 2 * (n[0] * n[1] - 1) * VECTOR)
    }),
    ("all-reduce-torus3d", "grid={},bytes=5040", ["5x7x1", "3x4x5", "2x2x2"], |n| {
        (Some(2 * turns(&n[..3])), 2 * (n[0] * n[1] * n[2] - 1) * VECTOR)
    }),
    ("all-gather-ring", "tasks={},bytes=5040", ["5", "7", "9"], |n| alike(n[0] * (n[0] - 1), VECTOR / n[0])),
    ("all-gather-doubling", "tasks={},bytes=5040", ["4", "8", "16"], |n| {
        (Some(n[0] * log2(n[0])), (n[0] - 1) * VECTOR)
    }),
    ("all-gather-torus2d", "grid={},bytes=5040", ["5x7", "3x4", "2x9"], |n| {
        (Some(turns(&n[..2])), (n[0] * n[1] - 1) * VECTOR)
    }),
    ("all-gather-torus3d", "grid={},bytes=5040", ["5x7x1", "3x4x5", "2x2x2"], |n| {
        (Some(turns(&n[..3])), (n[0] * n[1] * n[2] - 1) * VECTOR)
    }),
    ("reduce-scatter-ring", "tasks={},bytes=5040", ["5", "7", "9"], |n| alike(n[0] * (n[0] - 1), VECTOR / n[0])),
    ("reduce-scatter-halving", "tasks={},bytes=5040", ["4", "8", "16"], |n| {
        (Some(n[0] * log2(n[0])), (n[0] - 1) * VECTOR)
    }),
    ("reduce-scatter-torus2d", "grid={},bytes=5040", ["5x7", "3x4", "2x9"], |n| {
        (Some(turns(&n[..2])), (n[0] * n[1] - 1) * VECTOR)
    }),
    ("reduce-scatter-torus3d", "grid={},bytes=5040", ["5x7x1", "3x4x5", "2x2x2"], |n| {
        (Some(turns(&n[..3])), (n[0] * n[1] * n[2] - 1) * VECTOR)
    }),
    ("all-reduce", "tasks={},bytes=5040,algorithm=ring", ["5", "7", "9"], |n| {
        alike(2 * n[0] * (n[0] - 1), VECTOR / n[0])
    }),
    ("all-reduce", "tasks={},bytes=5040,algorithm=tree", ["5", "7", "9"], |n| alike(2 * (n[0] - 1), VECTOR)),
    ("all-reduce", "tasks={},bytes=5040,algorithm=direct", ["5", "7", "9"], |n| {
        alike(2 * n[0] * (n[0] - 1), VECTOR / n[0])
    }),
    ("all-reduce", "tasks={},bytes=10080,algorithm=bidirectional-ring", ["5", "7", "9"], |n| {
        (None, 2 * (n[0] - 1) * 2 * VECTOR)
    }),
    ("reduce-scatter", "tasks={},bytes=5040,algorithm=ring", ["5", "7", "9"], |n| {
        alike(n[0] * (n[0] - 1), VECTOR / n[0])
    }),
    ("all-gather", "tasks={},bytes=5040,algorithm=ring", ["5", "7", "9"], |n| alike(n[0] * (n[0] - 1), VECTOR / n[0])),
    ("broadcast", "tasks={},bytes=5040", ["5", "7", "9"], |n| alike(n[0] - 1, VECTOR)),
    ("broadcast-tree", "tasks={},bytes=5040", ["5", "7", "9"], |n| alike(n[0] - 1, VECTOR)),
    ("reduce", "tasks={},bytes=5040", ["5", "7", "9"], |n| alike(n[0] - 1, VECTOR)),
    ("scatter", "tasks={},bytes=10", ["5", "7", "9"], |n| {
        let blocks: u64 = (1..n[0]).map(|place| (place & place.wrapping_neg()).min(n[0] - place)).sum();
        (Some(n[0] - 1), 10 * blocks)
    }),
    ("barrier", "tasks={}", ["5", "7", "9"], |n| alike(n[0] * u64::from(n[0].next_power_of_two().ilog2()), 0)),
    ("all-reduce-hierarchical", "tasks={},bytes=5040", ["35,group=5", "12,group=3", "18,group=2"], |n| {
        let (groups, group) = (n[0] / n[1], n[1]);
        let messages = 2 * n[0] * (group - 1) + 2 * n[0] * (groups - 1);
        (Some(messages), 2 * n[0] * (group - 1) * VECTOR / group + 2 * (groups - 1) * VECTOR)
    }),
    ("reduce-scatter-hierarchical", "tasks={},bytes=5040", ["35,group=5", "12,group=3", "18,group=2"], |n| {
        let (groups, group) = (n[0] / n[1], n[1]);
        let messages = n[0] * (group - 1) + n[0] * (groups - 1);
        (Some(messages), n[0] * (group - 1) * VECTOR / group + (groups - 1) * VECTOR)
    }),
    ("all-gather-hierarchical", "tasks={},bytes=5040", ["35,group=5", "12,group=3", "18,group=2"], |n| {
        let (groups, group) = (n[0] / n[1], n[1]);
        let messages = n[0] * (group - 1) + n[0] * (groups - 1);
        (Some(messages), n[0] * (group - 1) * VECTOR / group + (groups - 1) * VECTOR)
    }),
    ("broadcast-hierarchical", "tasks={},bytes=5040", ["35,group=5", "12,group=3", "18,group=2"], |n| {
        let (groups, group) = (n[0] / n[1], n[1]);
        alike(group - 1 + group * (groups - 1) + n[0] * (group - 1), VECTOR / group)
    }),
    ("all-to-all-hierarchical", "tasks={},bytes=10", ["35,group=5", "12,group=3", "18,group=2"], |n| {
        let (groups, group) = (n[0] / n[1], n[1]);
        let (within, between) = (n[0] * (group - 1), n[0] * (groups - 1));
        (Some(within + between), 10 * (within * groups + between * group))
    }),
    ("matmul", "n={},bytes=8,madd=0", ["10,tasks=5", "21,tasks=7", "36,tasks=9"], |n| {
        // Each other task gets its rows of A and all of B, and gives its rows of C.
        let (size, tasks) = (n[0], n[1]);
        (None, (tasks - 1) * 8 * (2 * size / tasks * size + size * size))
    }),
];

/// Kernels whose messages are drawn, or are in a file: [`l4_kernels_of_matrices`] has them.
const OF_MATRICES: [&str; 2] = ["moe", "all-to-all-matrix"];

fn program(text: &str) -> Program {
    kernels::parse(text, 64, None).unwrap_or_else(|refusal| panic!("{text}: {refusal}: {}", refusal.remedy()))
}

/// By sender and receiver: messages and bytes.
fn sent(program: &Program) -> BTreeMap<(usize, usize), (u64, u64)> {
    let mut sent: BTreeMap<(usize, usize), (u64, u64)> = BTreeMap::new();
    for (task, events) in program.tasks.iter().enumerate() {
        for event in events {
            if let Event::Send(send) | Event::Isend(send, _) = event {
                let (messages, bytes) = sent.entry((task, send.to.index())).or_default();
                (*messages, *bytes) = (*messages + 1, *bytes + send.bytes);
            }
        }
    }
    sent
}

#[test]
fn l4_every_kernel_at_three_sizes() {
    let mut wrong = Vec::new();
    for component in KERNELS.components() {
        let name = component.name;
        let second: Vec<_> = SECOND.iter().filter(|second| second.0 == name).collect();
        if second.is_empty() && !OF_MATRICES.contains(&name) {
            wrong.push(format!("`{name}` needs a formula here"));
        }
        for (_, text, sizes, formula) in second {
            for size in sizes {
                let words = text.replace("{}", size);
                let numbers: Vec<u64> =
                    words.split(|letter: char| !letter.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
                let sent = sent(&program(&format!("{name}:{words}")));
                let (messages, bytes) = sent.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
                let (expected, expected_bytes) = formula(&numbers);
                if expected.is_some_and(|expected| expected != messages) || bytes != expected_bytes {
                    wrong.push(format!(
                        "{name}:{words}: {messages} with {bytes}, not {expected:?} with {expected_bytes}"
                    ));
                }
                assert!(sent.keys().all(|(from, to)| from != to), "{name}:{words}");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn l4_kernels_of_matrices() {
    let folder = tempfile::tempdir().unwrap();
    for tasks in [5usize, 7, 9] {
        // Results come back from the experts: as many bytes each way.
        let sent_by =
            sent(&program(&format!("moe:ranks={tasks},tokens={},bytes=16,experts={tasks},topk=2", tasks * 100)));
        for (&(from, to), &(_, bytes)) in &sent_by {
            let back = sent_by.get(&(to, from)).map(|&(_, bytes)| bytes);
            assert!(back == Some(bytes) && bytes % 16 == 0, "{from} to {to}: {bytes}, back {back:?}");
        }
        assert!(sent_by.len() > tasks);
        let entry = |from: usize, to: usize| ((3 * from + 5 * to) % 7 * 100) as u64;
        let line = |from| (0..tasks).map(|to| entry(from, to).to_string()).collect::<Vec<_>>().join(",");
        let path = folder.path().join("blocks.csv");
        std::fs::write(&path, (0..tasks).map(line).collect::<Vec<_>>().join("\n") + "\n").unwrap();
        let text = format!("all-to-all-matrix:file=\"{}\"", path.display());
        let program = kernels::parse(&text, tasks, None).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
        for ((from, to), (messages, bytes)) in sent(&program) {
            assert_eq!((messages, bytes), (1, entry(from, to)), "{from} to {to}");
        }
    }
}

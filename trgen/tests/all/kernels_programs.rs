//! Kernels: exact steps, message counts, and a matching receive for every message.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashMap;

use trgen::Geometry;
use trgen::TaskId;
use trgen::catalog::Component;
use trgen::trace::kernels::{self, KernelContext, MOST_MESSAGES};
use trgen::trace::program::{Event, Program, Tag, TagFilter};

fn program(text: &str) -> Program {
    kernels::parse(text, 64, None).unwrap_or_else(|refusal| panic!("{refusal}: {}", refusal.remedy()))
}

fn refused(text: &str) -> (String, String) {
    let refusal = kernels::parse(text, 64, None).unwrap_err();
    (refusal.to_string(), refusal.remedy().to_string())
}

/// Number of messages of a program; each must be sent once, received once, never by its sender, with a unique tag.
fn check_matching(name: &str, program: &Program) -> u64 {
    let mut sent: HashMap<(TaskId, TaskId, Tag), u64> = HashMap::new();
    let mut received: HashMap<(TaskId, TaskId, Tag), u64> = HashMap::new();
    for (task, events) in program.tasks.iter().enumerate() {
        let own = TaskId::at(task);
        for event in events {
            let (key, bytes, side) = match event {
                Event::Send(send) => ((own, send.to, send.tag), send.bytes, &mut sent),
                Event::Recv(receive) => {
                    let TagFilter::Exactly(tag) = receive.tag else { panic!("{name}: {event:?} is a wildcard") };
                    ((receive.from.expect("no wildcards"), own, tag), receive.bytes, &mut received)
                }
                _ => panic!("{name}: {event:?} is neither send nor receive"),
            };
            assert_ne!(key.0, key.1, "{name}: {event:?}");
            assert!(key.0.index().max(key.1.index()) < program.tasks.len(), "{name}: {event:?}");
            assert_eq!(side.insert(key, bytes), None, "{name}: two messages {key:?}");
        }
    }
    assert!(sent == received, "{name}: sends and receives differ");
    sent.len() as u64
}

/// Runs tasks one after another, each as far as possible; sends never block. All must end.
fn check_eager_run(name: &str, program: &Program) {
    let mut next = vec![0; program.tasks.len()];
    let mut arrived: HashMap<(TaskId, TaskId, Tag), u64> = HashMap::new();
    loop {
        let before: usize = next.iter().sum();
        for (task, events) in program.tasks.iter().enumerate() {
            let own = TaskId::at(task);
            while let Some(event) = events.get(next[task]) {
                match event {
                    Event::Send(send) => *arrived.entry((own, send.to, send.tag)).or_default() += 1,
                    Event::Recv(receive) => {
                        let (Some(from), TagFilter::Exactly(tag)) = (receive.from, receive.tag) else { unreachable!() };
                        match arrived.get_mut(&(from, own, tag)) {
                            Some(count) if *count > 0 => *count -= 1,
                            _ => break,
                        }
                    }
                    _ => unreachable!(),
                }
                next[task] += 1;
            }
        }
        if next.iter().sum::<usize>() == before {
            break;
        }
    }
    let stuck: Vec<_> = (0..next.len()).filter(|&task| next[task] < program.tasks[task].len()).collect();
    assert!(stuck.is_empty(), "{name}: tasks {stuck:?} wait for ever");
    assert!(arrived.values().all(|&count| count == 0), "{name}: messages are left over");
}

/// Checks a program and returns its messages per iteration.
fn messages(text: &str) -> u64 {
    let separator = if text.contains(':') { ',' } else { ':' };
    let once = check(&format!("{text}{separator}iterations=1"));
    for iterations in [0, 2, 3] {
        let text = format!("{text}{separator}iterations={iterations}");
        assert_eq!(check(&text), iterations * once, "{text}");
    }
    once
}

fn check(text: &str) -> u64 {
    let program = program(text);
    let count = check_matching(text, &program);
    check_eager_run(text, &program);
    assert_eq!(program.totals().point_to_point_messages, count);
    count
}

const ANY_NUMBER: [&str; 15] = [
    "one-to-all",
    "all-to-one",
    "all-to-all",
    "all-to-all-plain",
    "all-to-all-pairwise",
    "bintree",
    "gather",
    "n-bodies",
    "gups",
    "random-waves",
    "all-reduce-ring",
    "all-gather-ring",
    "reduce-scatter-ring",
    "all-reduce-doubling",
    "all-reduce-halving",
];

#[test]
fn every_kernel_matches_and_ends_for_every_number_of_tasks() {
    for tasks in (1..=20).chain([31, 32, 33, 64, 100]) {
        let n = tasks as u64;
        let core = 1u64 << n.ilog2();
        for kernel in ANY_NUMBER {
            let expected = match kernel {
                "one-to-all" | "all-to-one" | "bintree" | "gather" => n - 1,
                "gups" | "random-waves" if n == 1 => 0,
                "gups" => 64 * n,
                "random-waves" => 2 * n,
                "all-reduce-ring" => 2 * n * (n - 1),
                "all-reduce-doubling" => core * u64::from(core.ilog2()) + 2 * (n - core),
                "all-reduce-halving" => 2 * core * u64::from(core.ilog2()) + 2 * (n - core),
                "n-bodies" if n == 1 => 0,
                "n-bodies" => n * (n / 2 + 1),
                _ => n * (n - 1),
            };
            assert_eq!(messages(&format!("{kernel}:tasks={tasks}")), expected, "{kernel} of {tasks}");
        }
    }
    for k in 0..8 {
        for kernel in ["butterfly", "butterfly-all-to-all", "all-gather-doubling", "reduce-scatter-halving"] {
            assert_eq!(messages(&format!("{kernel}:tasks={}", 1u64 << k)), k << k, "{kernel}");
        }
    }
}

#[test]
fn every_grid_kernel_matches_and_ends_for_every_grid() {
    for (x, y) in [(1, 1), (2, 1), (1, 3), (2, 2), (3, 2), (4, 4), (8, 8), (7, 5)] {
        let grid = format!("grid={x}x{y}");
        let open = (x - 1) * y + x * (y - 1);
        assert_eq!(messages(&format!("mesh2d:{grid}")), 2 * open, "{grid}");
        assert_eq!(messages(&format!("sweep2d:{grid}")), open, "{grid}");
        assert_eq!(messages(&format!("waterfall:{grid}")), open, "{grid}");
        let ring = |size: u64| if size == 1 { 0 } else { 2 };
        assert_eq!(messages(&format!("torus2d:{grid}")), x * y * (ring(x) + ring(y)), "{grid}");
        let turns = x * y * (x - 1 + y - 1);
        assert_eq!(messages(&format!("all-reduce-torus2d:{grid}")), 2 * turns, "{grid}");
        assert_eq!(messages(&format!("all-gather-torus2d:{grid}")), turns, "{grid}");
        assert_eq!(messages(&format!("reduce-scatter-torus2d:{grid}")), turns, "{grid}");
    }
    for (x, y, z) in [(1, 1, 1), (2, 1, 3), (2, 2, 2), (3, 4, 5), (4, 4, 4)] {
        let grid = format!("grid={x}x{y}x{z}");
        let open = (x - 1) * y * z + x * (y - 1) * z + x * y * (z - 1);
        assert_eq!(messages(&format!("mesh3d:{grid}")), 2 * open, "{grid}");
        assert_eq!(messages(&format!("sweep3d:{grid}")), open, "{grid}");
        assert_eq!(messages(&format!("waterfall:{grid}")), open, "{grid}");
        let ring = |size: u64| if size == 1 { 0 } else { 2 };
        assert_eq!(messages(&format!("torus3d:{grid}")), x * y * z * (ring(x) + ring(y) + ring(z)), "{grid}");
        let turns = x * y * z * (x - 1 + y - 1 + z - 1);
        assert_eq!(messages(&format!("all-reduce-torus3d:{grid}")), 2 * turns, "{grid}");
        assert_eq!(messages(&format!("all-gather-torus3d:{grid}")), turns, "{grid}");
        assert_eq!(messages(&format!("reduce-scatter-torus3d:{grid}")), turns, "{grid}");
    }
}

/// One task's steps: `>3.0` sends to 3 with label 0, `<3.0` receives from it.
fn steps(program: &Program, task: usize) -> String {
    let step = |event: &Event| match event {
        Event::Send(send) => format!(">{}.{}", send.to, send.tag.label),
        Event::Recv(receive) => {
            let TagFilter::Exactly(tag) = receive.tag else { panic!("{event:?}") };
            format!("<{}.{}", receive.from.expect("no wildcards"), tag.label)
        }
        other => panic!("{other:?}"),
    };
    program.tasks[task].iter().map(step).collect::<Vec<_>>().join(" ")
}

#[test]
fn orders_are_those_of_the_definitions() {
    let at = |text: &str, task| steps(&program(text), task);
    assert_eq!(at("one-to-all:tasks=4", 0), ">1.0 >2.0 >3.0");
    assert_eq!(at("one-to-all:tasks=4,iterations=2", 2), "<0.0 <0.1");
    assert_eq!(at("all-to-one:tasks=4", 0), "<1.0 <2.0 <3.0");
    assert_eq!(at("all-to-all:tasks=4", 1), ">2.0 >3.0 >0.0 <0.0 <3.0 <2.0");
    assert_eq!(at("all-to-all-plain:tasks=4", 1), ">0.0 >2.0 >3.0 <0.0 <2.0 <3.0");
    assert_eq!(at("bintree:tasks=8", 0), "<1.0 <2.0 <4.0");
    assert_eq!(at("bintree:tasks=8", 4), "<5.0 <6.0 >0.0");
    assert_eq!(at("bintree:tasks=8", 7), ">6.0");
    assert_eq!(at("bintree:tasks=6", 4), "<5.0 >0.0");
    assert_eq!(at("butterfly:tasks=8", 5), ">4.0 <4.0 >7.0 <7.0 >1.0 <1.0");
    // H = 3: own body on, two passed on, one returned to its owner, own body back.
    assert_eq!(at("n-bodies:tasks=6", 1), ">2.0 <0.0 >2.1 <0.1 >2.2 <0.2 >4.3 <4.3");
    assert_eq!(at("n-bodies:tasks=6", 4), ">5.0 <3.0 >5.1 <3.1 >5.2 <3.2 >1.3 <1.3");
    assert_eq!(at("n-bodies:tasks=5", 0), ">1.0 <4.0 >1.1 <4.1 >3.2 <2.2");
    assert_eq!(at("n-bodies:tasks=2", 0), ">1.0 <1.0 >1.1 <1.1");
    // Labels: X+ 0, X- 1, Y+ 2, Y- 3; a message received from X+ was sent in direction X-.
    assert_eq!(at("mesh2d:grid=3x3", 4), ">5.0 >3.1 >7.2 >1.3 <5.1 <3.0 <7.3 <1.2");
    assert_eq!(at("mesh2d:grid=3x3", 2), ">1.1 >5.2 <1.0 <5.3");
    assert_eq!(at("torus2d:grid=3x3", 2), ">0.0 >1.1 >5.2 >8.3 <0.1 <1.0 <5.3 <8.2");
    assert_eq!(at("torus2d:grid=2x1", 0), ">1.0 >1.1 <1.1 <1.0");
    assert_eq!(at("mesh3d:grid=2x2x2", 0), ">1.0 >2.2 >4.4 <1.1 <2.3 <4.5");
    assert_eq!(at("sweep2d:grid=3x3", 4), "<3.0 <1.0 >5.0 >7.0");
    assert_eq!(at("sweep3d:grid=2x2x2", 7), "<6.0 <5.0 <3.0");
    assert_eq!(at("waterfall:grid=2x1,iterations=3", 1), "<0.0 <0.1 <0.2");
}

/// Runs a program and tracks the data. `send` gives the content of a message from one task to another, given the data
/// of the sender, and `bytes` its length; returns the final data of each task.
fn follow<T: Clone>(
    program: &Program,
    begin: impl Fn(u32) -> Vec<T>,
    send: impl Fn(u32, u32, u64, &mut Vec<T>) -> Vec<T>,
    bytes: impl Fn(usize) -> u64,
) -> Vec<Vec<T>> {
    let tasks = program.tasks.len();
    let mut held: Vec<Vec<T>> = (0..tasks as u32).map(begin).collect();
    let mut next = vec![0; tasks];
    let mut letters: HashMap<(u32, u32), std::collections::VecDeque<Vec<T>>> = HashMap::new();
    // Sends to each partner so far; their number is the round.
    let mut rounds: HashMap<(u32, u32), u64> = HashMap::new();
    while (0..tasks).any(|task| next[task] < program.tasks[task].len()) {
        let before: usize = next.iter().sum();
        for task in 0..tasks {
            while let Some(event) = program.tasks[task].get(next[task]) {
                let own = task as u32;
                match event {
                    Event::Send(message) => {
                        let round = rounds.entry((own, message.to.0)).or_default();
                        let content = send(own, message.to.0, *round, &mut held[task]);
                        *round += 1;
                        assert_eq!(message.bytes, bytes(content.len()), "{own} to {}", message.to);
                        letters.entry((own, message.to.0)).or_default().push_back(content);
                    }
                    Event::Recv(receive) => {
                        let from = receive.from.expect("no wildcards").0;
                        let Some(content) = letters.get_mut(&(from, own)).and_then(|letters| letters.pop_front())
                        else {
                            break;
                        };
                        held[task].extend(content);
                    }
                    other => panic!("{other:?}"),
                }
                next[task] += 1;
            }
        }
        assert!(next.iter().sum::<usize>() > before, "all wait");
    }
    held
}

/// Source and destination.
type Block = (u32, u32);
/// The blocks that a message from one task to another takes from the sender.
type Rule<'a> = &'a dyn Fn(u32, u32, u64, &mut Vec<Block>) -> Vec<Block>;

#[test]
fn gathers_and_all_to_alls_bring_every_block_to_its_place() {
    for tasks in 2..=33u32 {
        let all = |program: &str, rule: Rule| {
            let program = kernels::parse(&format!("{program}:tasks={tasks},bytes=10"), 64, None).unwrap();
            let begin = |task| (0..tasks).map(|to| (task, to)).collect();
            let held = follow(&program, begin, rule, |blocks| 10 * blocks as u64);
            for (task, mut blocks) in (0..).zip(held) {
                blocks.retain(|&(_, to)| to == task);
                blocks.sort_unstable();
                assert!(blocks.into_iter().eq((0..tasks).map(|from| (from, task))), "task {task} of {tasks}");
            }
        };
        let direct = |_: u32, to: u32, _: u64, held: &mut Vec<Block>| {
            held.extract_if(.., |block| block.1 == to).collect::<Vec<_>>()
        };
        for kernel in ["all-to-all", "all-to-all-plain", "all-to-all-pairwise", "all-to-all-linear"] {
            all(kernel, &direct);
        }
        if tasks.is_power_of_two() {
            // Blocks of the other half of the cube in the dimension of the exchange.
            all("butterfly-all-to-all", &|from, to, _, held| {
                let bit = from ^ to;
                held.extract_if(.., |block| (block.1 ^ from) & bit != 0).collect()
            });
        }
        let program = kernels::parse(&format!("gather:tasks={tasks},bytes=10"), 64, None).unwrap();
        let mut held =
            follow(&program, |task| vec![task], |_, _, _, held| std::mem::take(held), |blocks| 10 * blocks as u64);
        held[0].sort_unstable();
        assert!(held[0].iter().copied().eq(0..tasks), "task 0 has the blocks of all {tasks}");

        // One value of every task, combined: bintree at task 0, butterfly everywhere.
        let program = kernels::parse(&format!("bintree:tasks={tasks},bytes=10"), 64, None).unwrap();
        let mut held = follow(&program, |task| vec![task], |_, _, _, held| held.clone(), |_| 10);
        held[0].sort_unstable();
        assert!(held[0].iter().copied().eq(0..tasks), "each contribution once");
        if tasks.is_power_of_two() {
            let program = kernels::parse(&format!("butterfly:tasks={tasks},bytes=10"), 64, None).unwrap();
            for mut values in follow(&program, |task| vec![task], |_, _, _, held| held.clone(), |_| 10) {
                values.sort_unstable();
                assert!(values.into_iter().eq(0..tasks), "each contribution once, everywhere");
            }
        }
    }
}

#[test]
fn random_kernels_draw_evenly_and_by_seed() {
    let program = |seed| {
        kernels::parse_in("gups:tasks=20,messages=5000", &KernelContext { seed, ..KernelContext::new(20, None) })
            .unwrap()
    };
    let receivers = |program: &Program| -> Vec<u32> {
        let sends = program.tasks[7].iter().filter_map(|event| match event {
            Event::Send(send) => Some(send.to.0),
            _ => None,
        });
        sends.collect()
    };
    let drawn = receivers(&program(1));
    // 19 classes of 263 in the mean: chi-square below its 0.999 quantile for 18 degrees, 42.3.
    let statistic: f64 = (0..20u32)
        .filter(|&to| to != 7)
        .map(|to| (drawn.iter().filter(|&&other| other == to).count() as f64 - 5000.0 / 19.0).powi(2) / (5000.0 / 19.0))
        .sum();
    assert!(statistic < 42.3 && !drawn.contains(&7), "{statistic}");
    assert_eq!(program(1), program(1));
    assert_ne!(drawn, receivers(&program(2)));
    assert_eq!(program(1).totals().point_to_point_bytes, 20 * 5000 * 8);
    // Waves differ from each other.
    let waves = kernels::parse("random-waves:tasks=64,iterations=2,messages=1", 64, None).unwrap();
    let to = |label: i64| -> Vec<Option<u32>> {
        let of = |events: &Vec<Event>| {
            events.iter().find_map(|event| match event {
                Event::Send(send) if send.tag.label == label => Some(send.to.0),
                _ => None,
            })
        };
        waves.tasks.iter().map(of).collect()
    };
    assert_ne!(to(0), to(1));
    assert!(kernels::parse("gups:messages=0", 64, None).is_err());
}

#[test]
fn defaults() {
    let totals = program("all-to-all").totals();
    assert_eq!((totals.point_to_point_messages, totals.point_to_point_bytes), (64 * 63, 64 * 63 * 1024));
    assert_eq!(program("all-to-all(tasks=4, bytes=0)").totals().point_to_point_bytes, 0);
    // Without a geometry the grid is as square as possible; a fitting geometry sets it.
    assert_eq!(program("mesh2d"), program("mesh2d:grid=8x8"));
    assert_eq!(program("mesh3d"), program("mesh3d:grid=4x4x4"));
    let of = |sizes: &[u32], text| {
        let grid = Geometry::new(sizes).unwrap();
        kernels::parse(text, grid.nodes(), Some(&grid)).unwrap()
    };
    assert_eq!(of(&[16, 4], "mesh2d"), program("mesh2d:grid=16x4"));
    assert_eq!(of(&[16, 4], "mesh2d:tasks=36"), program("mesh2d:grid=6x6"));
    assert_eq!(of(&[4, 4, 4], "mesh2d"), program("mesh2d:grid=8x8"));
    assert_eq!(of(&[4, 4, 4], "waterfall"), program("waterfall:grid=8x8"));
    assert_eq!(of(&[2, 4, 8], "sweep3d"), program("sweep3d:grid=2x4x8"));
    // Waterfall: 20 iterations of 64 bytes.
    let totals = program("waterfall:grid=8x8").totals();
    assert_eq!((totals.point_to_point_messages, totals.point_to_point_bytes), (20 * 112, 20 * 112 * 64));
}

#[test]
fn refusals_name_the_value_and_the_remedy() {
    assert!(refused("all-to-al").1.starts_with("did you mean `all-to-all`"));
    let (what, remedy) = refused("all-to-all:taks=4");
    assert!(what.contains("no parameter `taks`"), "{what}");
    assert_eq!(remedy, "did you mean `tasks`?");
    assert!(refused("all-to-all:tasks=0").0.contains("tasks = 0 is out of range"));
    assert!(refused("one-to-all:tasks=1048577").0.contains("1048577"));
    assert!(refused("one-to-all:tasks=x").0.contains("not a whole number"));
    assert!(refused("one-to-all:bytes=-1").0.contains("bytes = -1"));
    assert!(refused("one-to-all:iterations=1000000001").0.contains("1000000001"));
    assert!(refused("butterfly:tasks=12").0.contains("needs a power of two of tasks, not 12"));
    let (what, remedy) = refused("all-to-all:tasks=1e6");
    assert!(what.contains("999999000000 messages"), "{what}");
    assert!(remedy.contains(&MOST_MESSAGES.to_string()));
    assert!(refused("all-to-all:tasks=1048576,iterations=1e9").0.contains("messages"));
    assert!(refused("mesh2d:grid=8x8x8").0.contains("`8x8x8` is not a grid of 2 dimensions"));
    assert!(refused("waterfall:grid=8").0.contains("not a grid of 2 or 3 dimensions"));
    assert!(refused("mesh2d:grid=0x8").0.contains("`0x8`"));
    assert!(refused("mesh2d:grid=1024x1025").0.contains("1049600 tasks"));
    assert!(refused("mesh2d:grid=8x8,tasks=60").0.contains("64 tasks, not 60"));
    assert!(refused("all-to-all:grid=8x8").0.contains("no parameter `grid`"));
    assert!(kernels::parse("one-to-all", 0, None).is_err());
    assert!(kernels::parse("one-to-all", 1 << 21, None).unwrap_err().to_string().contains("2097152"));
}

#[test]
fn a_task_alone_has_nothing_to_do_however_often() {
    let computes = |component: &Component| component.parameters.iter().any(|parameter| parameter.name == "madd");
    for component in kernels::components().filter(|component| !computes(component)) {
        let has = |name: &str| component.parameters.iter().any(|parameter| parameter.name == name);
        // All-to-alls of unequal blocks make their matrices one by one.
        if has("file") || has("experts") {
            continue;
        }
        let group = if has("group") { ",group=1" } else { "" };
        let text = format!("{}:tasks=1,iterations=1e9{group}", component.name);
        assert!(program(&text).tasks.iter().all(Vec::is_empty), "{text}");
    }
}

#[test]
fn components_describe_themselves() {
    for component in kernels::components() {
        assert!(!component.about.is_empty() && !component.source.is_empty(), "{}", component.name);
        assert!(component.parameters.iter().any(|parameter| parameter.name == "iterations"), "{}", component.name);
    }
}

#[test]
fn matrices_of_unequal_blocks_come_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.csv");
    let text = format!("all-to-all-matrix:file=\"{}\",iterations=2", path.display());
    std::fs::write(&path, "# first\n5,10,0\n1,0,2\n0,0,7\n# second\n0,0,0\n3,0,0\n0,4,0\n").unwrap();
    let program = kernels::parse(&text, 64, None).unwrap();
    let totals = program.totals();
    assert_eq!((program.tasks.len(), totals.point_to_point_messages, totals.point_to_point_bytes), (3, 10, 40));
    let record = kernels::collectives(&text, 64, None).unwrap().remove(0);
    // 25 and 7 bytes of three tasks.
    assert_eq!((record.size, record.calls, record.bytes), (3, 4, 32 / 2 / 3));
    for (wrong, what) in
        [("1,2\n3\n", "line 2: 1 numbers"), ("1,2\n", "1 lines of numbers"), ("1,-2\n1,1\n", "-2 is no number")]
    {
        std::fs::write(&path, wrong).unwrap();
        let error = kernels::parse(&text, 64, None).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

use super::super::{KernelContext, parse, parse_in};
use crate::Geometry;
use crate::trace::program::{Event, Program};

/// What a task sends, in order: destination, piece, bytes.
fn sent(program: &Program, task: usize) -> Vec<(u32, i64, u64)> {
    let sends = program.tasks[task].iter().filter_map(|event| match event {
        Event::Send(send) | Event::Isend(send, _) => Some((send.to.0, send.tag.label, send.bytes)),
        _ => None,
    });
    sends.collect()
}

fn in_context(text: &str, seed: u64) -> Program {
    let context = KernelContext { seed, packet_bytes: Some(64), ..KernelContext::new(8, None) };
    parse_in(text, &context).unwrap()
}

#[test]
fn every_order_sends_to_each_other_task_once() {
    for tasks in [1, 2, 3, 7, 8, 12] {
        for order in ["ring", "pairwise", "latin", "shuffled"] {
            let program = parse(&format!("all-to-all:tasks={tasks},order={order}"), 8, None).unwrap();
            let orders: Vec<Vec<u32>> =
                (0..tasks).map(|task| sent(&program, task).into_iter().map(|(to, ..)| to).collect()).collect();
            for (task, order) in (0..).zip(&orders) {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert!(sorted.into_iter().eq((0..tasks as u32).filter(|&to| to != task)), "{order:?} of {task}");
            }
            // In every step of these orders each task receives one message; in the pairs of an odd number one rests.
            if matches!(order, "ring" | "latin") || order == "pairwise" && tasks.is_power_of_two() {
                for step in 0..tasks - 1 {
                    let mut to: Vec<u32> = orders.iter().map(|order| order[step]).collect();
                    to.sort_unstable();
                    assert!(to.into_iter().eq(0..tasks as u32), "step {step} of {order} of {tasks}");
                }
            }
        }
    }
    let pairs = parse("all-to-all:tasks=8,order=pairwise", 8, None).unwrap();
    assert_eq!(sent(&pairs, 5)[..3], [(4, 0, 1024), (7, 0, 1024), (6, 0, 1024)]);
}

#[test]
fn pieces_of_a_group_take_turns() {
    let program = in_context("all-to-all:tasks=5,bytes=150,piece=packet,interleave=2", 1);
    let expected = [1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4].into_iter().zip([0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]);
    let expected: Vec<_> = expected.map(|(to, piece)| (to, piece, if piece < 2 { 64 } else { 22 })).collect();
    assert_eq!(sent(&program, 0), expected);
    // At most two pieces are under way: from the third on each begins with a wait for the one before the last.
    let events = &program.tasks[0];
    let waits = events.iter().filter(|event| matches!(event, Event::Wait(_))).count();
    let all = events.iter().find_map(|event| if let Event::WaitAll(all) = event { Some(all.len()) } else { None });
    assert_eq!((waits, all), (10, Some(2)));
    // Every byte is received.
    let received: u64 =
        events.iter().map(|event| if let Event::Recv(receive) = event { receive.bytes } else { 0 }).sum();
    assert_eq!(received, 4 * 150);
    let all = in_context("all-to-all:tasks=5,bytes=128,piece=64,interleave=all", 1);
    assert!(sent(&all, 1).into_iter().map(|(to, ..)| to).eq([2, 3, 4, 0, 2, 3, 4, 0]));
}

#[test]
fn whole_messages_one_after_another_are_the_default() {
    let plain = parse("all-to-all:tasks=6,bytes=100", 8, None).unwrap();
    let said = "all-to-all:tasks=6,bytes=100,order=ring,piece=message,interleave=1";
    assert_eq!(parse(said, 8, None).unwrap(), plain);
    assert!(plain.tasks[0].iter().all(|event| matches!(event, Event::Send(_) | Event::Recv(_))));
    let many = parse("all-to-all:tasks=6,bytes=100,interleave=all", 8, None).unwrap();
    assert_eq!((sent(&many, 2), many.totals()), (sent(&plain, 2), plain.totals()));
}

/// Every task sends as far in every dimension as all others in the same step.
#[test]
fn the_order_of_a_torus_moves_all_tasks_alike() {
    let geometry = Geometry::new(&[4, 2, 3]).unwrap();
    let program = parse("all-to-all:order=torus", 24, Some(&geometry)).unwrap();
    let digits = |task: u32| [task % 4, task / 4 % 2, task / 8];
    for (task, k) in (0..24).flat_map(|task| (0..23).map(move |k| (task, k))) {
        let (from, to) = (digits(task), digits(sent(&program, task as usize)[k].0));
        let by: Vec<u32> = [4, 2, 3].iter().enumerate().map(|(at, size)| (to[at] + size - from[at]) % size).collect();
        assert_eq!(by, digits(k as u32 + 1), "task {task}, step {k}");
    }
    for (text, tasks) in [("all-to-all:order=torus", 8), ("all-to-all:order=torus,tasks=12", 24)] {
        let fault = parse(text, tasks, (tasks == 24).then_some(&geometry)).unwrap_err().to_string();
        assert!(fault.contains("not the nodes of a grid"), "{fault}");
    }
}

#[test]
fn random_orders_depend_on_the_seed() {
    for order in ["latin", "shuffled"] {
        let of = |seed| in_context(&format!("all-to-all:tasks=40,order={order}"), seed);
        assert_eq!(of(1), of(1));
        assert_ne!(sent(&of(1), 3), sent(&of(2), 3), "{order}");
    }
}

#[test]
fn files_list_the_orders_of_all_tasks() {
    let path = std::env::temp_dir().join(format!("fsin-orders-{}.csv", std::process::id()));
    let text = format!("all-to-all:tasks=3,order=file:\"{}\"", path.display());
    let read = |content: &str| {
        std::fs::write(&path, content).unwrap();
        parse(&text, 8, None)
    };
    let program = read("# of three\n2,1\n0 2\n0; 1\n").unwrap();
    assert!(sent(&program, 0).iter().map(|&(to, ..)| to).eq([2, 1]));
    for (content, fault) in [
        ("2,1\n0 2\n", "has 2 lines"),
        ("2,1\n1 2\n0 1", "line 2: task 1 of 3 cannot send to `1`"),
        ("2,1\n0 0\n0 1", "line 2: task 1 of 3 cannot send to `0`, or does twice"),
        ("2,1\n0 3\n0 1", "line 2: task 1 of 3 cannot send to `3`"),
        ("2,x\n", "cannot send to `x`"),
        ("2\n0 2\n0 1", "line 1: 1 destinations"),
        ("2 1\n0 2\n0 1\n0 1", "line 4"),
    ] {
        let what = read(content).unwrap_err().to_string();
        assert!(what.contains(fault), "{content:?}: {what}");
    }
    std::fs::remove_file(&path).unwrap();
    assert!(parse(&text, 8, None).unwrap_err().to_string().contains("cannot read"));
}

#[test]
fn words_that_mean_nothing_are_refused() {
    for (text, fault) in [
        ("order=rnig", "order does not know `rnig`"),
        ("order=ring(2)", "order does not know `ring(2)`"),
        ("piece=packets", "piece does not know `packets`"),
        ("piece=0", "piece = 0 is out of range"),
        ("piece=packet", "the network is not known here"),
        ("interleave=0", "interleave = 0 is out of range"),
        ("interleave=some", "`some` is not a whole number"),
        ("tasks=4,bytes=2^36", "`2^36` is not a size"),
        ("tasks=4,bytes=68719476736,piece=1", "messages"),
    ] {
        let what = parse(&format!("all-to-all:{text}"), 8, None).unwrap_err().to_string();
        assert!(what.contains(fault), "{text}: {what}");
    }
}

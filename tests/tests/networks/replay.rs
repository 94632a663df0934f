//! Programs whose every cycle can be computed by hand, on an empty 4x4 torus with the default router: packets of L = 16
//! phits of 4 bytes, source buffers of 8 packets, injection queues of 4.
//!
//! Node i has coordinates (i mod 4, i div 4): 1 is a neighbour of 0, 5 is two hops away, one in each dimension.
//!
//! A message of P packets that is offered in cycle t, alone in the network, leaves its node packet after packet, L
//! cycles each. Its last header starts in cycle t + (P-1)L; D hops later it arrives, and its tail L - 1 cycles after
//! that: it is delivered in cycle t + PL + D - 1. Its receiver goes on one cycle later, in t + PL + D.

use std::collections::BTreeMap;

use fsin::router::RouterParams;
use fsin::routing::Routing;
use tests::programs::{Replayed, compute, irecv, isend, recv, send, wait};
use trgen::NodeId;
use trgen::trace::program::{Event, Program};

/// \[bytes\] Size of a packet.
const PACKET: u64 = 64;
const ANY: Option<u32> = None;

fn replay(tasks: Vec<Vec<Event>>) -> Replayed {
    scaled(tasks, 1.0)
}

fn scaled(tasks: Vec<Vec<Event>>, compute_scale: f64) -> Replayed {
    Replayed::of(Program { tasks }, "torus:4x4", RouterParams::default(), compute_scale)
}

#[test]
fn a_receive_blocks_until_the_message_has_arrived() {
    let replayed = replay(vec![vec![compute(10), send(1, 7, PACKET)], vec![recv(Some(0), Some(7))]]);
    // Task 0 computes in cycles 1 to 10 and sends in 10; the packet enters the empty buffer in the same cycle, and task
    // 0 goes on in 11. It is offered in 10, so that task 1 goes on in 10 + 16 + 1 = 27.
    assert_eq!(replayed.finished(), [Some(11), Some(27)]);
    // The clock reads one more when cycle 27 is over.
    assert_eq!(replayed.completion(), 28);
    assert_eq!(replayed.report.tasks[0].blocked_on_send_cycles, 1);
    assert_eq!(replayed.report.tasks[1].blocked_on_receive_cycles, 26, "from cycle 1 to 26");
}

#[test]
fn a_message_that_is_there_already_costs_no_time() {
    let replayed = replay(vec![vec![send(1, 7, PACKET)], vec![compute(99), recv(Some(0), Some(7))]]);
    // Delivered in cycle 1 + 16 + 1 - 1 = 17, received in 99, the last cycle of computing.
    assert_eq!(replayed.finished(), [Some(2), Some(99)]);
    assert_eq!(replayed.report.tasks[1].blocked_on_receive_cycles, 0);
}

#[test]
fn distance_and_length_add_up() {
    for (to, hops) in [(1, 1), (5, 2), (10, 4)] {
        for packets in [1, 2, 5] {
            let mut tasks = vec![Vec::new(); 16];
            tasks[0] = vec![send(to, 0, packets * PACKET)];
            tasks[to as usize] = vec![recv(Some(0), Some(0))];
            let finished = replay(tasks).finished()[to as usize];
            assert_eq!(finished, Some(1 + 16 * packets + hops), "{packets} packets over {hops} hops");
        }
    }
}

#[test]
fn an_empty_message_is_one_packet() {
    let replayed = replay(vec![vec![send(1, 0, 0)], vec![recv(Some(0), Some(0))]]);
    assert_eq!(replayed.finished(), [Some(2), Some(18)]);
}

#[test]
fn ping_pong_takes_length_plus_distance_each_way() {
    let there_and_back = |_| [send(1, 0, PACKET), recv(Some(1), Some(1))];
    let back_again = |_| [recv(Some(0), Some(0)), send(0, 1, PACKET)];
    let replayed = replay(vec![(0..10).flat_map(there_and_back).collect(), (0..10).flat_map(back_again).collect()]);
    // 20 legs of 16 + 1 cycles, the first in cycle 1. Task 1 completes its last send in the cycle after its start, in 1
    // + 19 * 17 + 1.
    assert_eq!(replayed.finished(), [Some(341), Some(325)]);
}

/// \[cycle\] In which the last of `packets` packets (13 or more) of a message that is offered in cycle 1 enters the
/// source buffer.
///
/// One packet per cycle enters the buffer, and packets move on to the injection queue while they fit. Its 4 packets are
/// there in cycle 4; packets 5 to 12 fill the buffer in cycle 12. The queue begins to drain in cycle 1, a phit per
/// cycle, so that it has room for a fifth packet in cycle 17. That leaves room in the buffer for packet 13 in cycle 18;
/// the next ones follow 16 cycles apart.
const fn last_enters(packets: u64) -> u64 {
    18 + 16 * (packets - 13)
}

#[test]
fn a_long_send_blocks_until_its_last_packet_is_in_the_buffer() {
    let receiver = || vec![recv(Some(0), Some(0))];
    for packets in [13, 14, 40] {
        let left = last_enters(packets) + 1;
        let blocking = replay(vec![vec![send(1, 0, packets * PACKET), compute(100)], receiver()]);
        // The first cycle of computing is `left`.
        assert_eq!(blocking.finished(), [Some(left + 99), Some(1 + 16 * packets + 1)], "{packets} packets");
        assert_eq!(blocking.report.tasks[0].blocked_on_send_cycles, left - 1);
    }
    // Packets 1 to 12 enter in cycles 1 to 12.
    let short = replay(vec![vec![send(1, 0, 12 * PACKET)], receiver()]);
    assert_eq!(short.finished()[0], Some(13));
}

#[test]
fn work_hides_a_send_that_does_not_block() {
    let left = last_enters(40) + 1;
    for work in [100, left - 1, 1_000] {
        let sender = vec![isend(1, 0, 40 * PACKET, 0), compute(work), wait(&[0])];
        let replayed = replay(vec![sender, vec![recv(Some(0), Some(0))]]);
        // The send begins in cycle 1, the computing in cycle 2. The wait ends with the longer of the two.
        assert_eq!(replayed.finished(), [Some(left.max(1 + work)), Some(1 + 16 * 40 + 1)], "{work} cycles of work");
        assert_eq!(replayed.report.tasks[0].blocked_on_wait_cycles, left.saturating_sub(1 + work));
    }
}

#[test]
fn wait_all_ends_with_the_last_of_its_requests() {
    let mut tasks = vec![Vec::new(); 6];
    tasks[0] = vec![irecv(Some(1), Some(0), 1), irecv(Some(5), Some(0), 2), compute(5), wait(&[1, 2])];
    tasks[1] = vec![send(0, 0, PACKET)];
    tasks[5] = vec![compute(5), send(0, 0, 2 * PACKET)];
    let replayed = replay(tasks);
    // From task 1: delivered in 1 + 16 + 1 - 1 = 17. From task 5: offered in cycle 5, delivered in 5 + 32 + 2 - 1 = 38;
    // the two arrive at node 0 in different queues, which drain in parallel.
    assert_eq!(replayed.finished()[0], Some(39));
    assert_eq!(replayed.report.tasks[0].blocked_on_wait_cycles, 39 - 6);
    assert_eq!(replayed.report.tasks[0].received, 2);
}

#[test]
fn a_wait_for_what_is_complete_costs_no_time() {
    let waiter = vec![irecv(Some(1), Some(0), 1), compute(50), wait(&[1]), wait(&[1]), wait(&[1, 2]), wait(&[])];
    let replayed = replay(vec![waiter, vec![send(0, 0, PACKET)]]);
    assert_eq!(replayed.finished()[0], Some(51));
}

/// Computing after a receive begins in the cycle after its completion, and the event after the computing may begin in
/// its last cycle.
#[test]
fn work_begins_after_a_receive_and_its_last_cycle_is_shared() {
    let finished = |work: &[u64]| {
        let then: Vec<Event> = work.iter().map(|&cycles| compute(cycles)).collect();
        let worker = [vec![recv(Some(0), Some(0))], then, vec![send(0, 1, PACKET)]].concat();
        replay(vec![vec![send(1, 0, PACKET), recv(Some(1), Some(1))], worker]).finished()
    };
    // Received in 1 + 16 + 1 = 18, where an answer without computing is sent; it is received 17 cycles later.
    assert_eq!(finished(&[]), [Some(18 + 17), Some(19)]);
    // Computing in 19 to 18 + n, the answer in 18 + n.
    for cycles in [1, 2, 10] {
        assert_eq!(finished(&[cycles]), [Some(18 + cycles + 17), Some(18 + cycles + 1)], "{cycles}");
    }
    // Successive computations do not overlap: each begins in the cycle after the previous one.
    assert_eq!(finished(&[1, 1, 3]), finished(&[5]));
    // A task that has received nothing begins at once: computing in cycles 1 to n, the message in n.
    for cycles in [1, 2, 10] {
        let replayed = replay(vec![vec![compute(cycles), send(1, 0, PACKET)], vec![recv(Some(0), Some(0))]]);
        assert_eq!(replayed.finished(), [Some(cycles + 1), Some(cycles + 17)], "{cycles}");
    }
    // After a wait as after a receive; after a blocking send in the cycle after its last packet (1) went.
    let waiter = vec![irecv(Some(0), Some(0), 1), wait(&[1]), compute(4)];
    let replayed = replay(vec![vec![send(1, 0, PACKET), compute(3)], waiter]);
    assert_eq!(replayed.finished(), [Some(4), Some(18 + 4)]);
    // A receive that completes at once, in the last cycle of computing.
    let replayed = replay(vec![vec![send(1, 0, PACKET)], vec![compute(30), recv(Some(0), Some(0)), compute(7)]]);
    assert_eq!(replayed.finished(), [Some(2), Some(37)]);
}

#[test]
fn computing_scales_and_each_time_is_rounded_down() {
    for (scale, whole, thrice) in [(0.0, 0, 0), (0.25, 7, 0), (0.5, 15, 3), (1.0, 30, 9), (1.9, 57, 15), (2.0, 60, 18)]
    {
        // Three times 1.5 cycles at half scale are three cycles: fractions of a cycle are lost.
        let replayed = scaled(vec![vec![compute(30)], vec![compute(3), compute(3), compute(3)]], scale);
        assert_eq!(replayed.finished(), [Some(whole.max(1)), Some(thrice.max(1))], "scale {scale}");
        let worked: Vec<u64> = replayed.report.tasks.iter().map(|task| task.compute_cycles).collect();
        assert_eq!(worked, [whole, thrice]);
    }
}

#[test]
fn a_message_to_oneself_takes_no_network_and_no_time() {
    let replayed = replay(vec![
        vec![irecv(Some(0), Some(1), 0), send(0, 1, PACKET), wait(&[0]), send(0, 2, 1 << 30), recv(Some(0), Some(2))],
        Vec::new(),
    ]);
    assert_eq!(replayed.finished(), [Some(1), Some(1)]);
    assert_eq!(replayed.completion(), 2);
    assert_eq!(replayed.outcome.totals.generated, 0);
    assert_eq!(replayed.report.tasks[0].received, 2);
}

#[test]
fn a_wildcard_takes_what_arrives_first() {
    // Delivered to task 0: tag 1 of its neighbour in 1 + 16 + 1 - 1 = 17, tag 5 from two hops away in 18.
    let with = |receives: Vec<Event>| {
        let mut tasks = vec![Vec::new(); 6];
        tasks[0] = receives;
        tasks[1] = vec![send(0, 1, PACKET)];
        tasks[5] = vec![send(0, 5, PACKET)];
        let replayed = replay(tasks);
        (replayed.finished()[0], replayed.report.unreceived)
    };
    assert_eq!(with(vec![recv(ANY, None)]), (Some(18), 1));
    assert_eq!(with(vec![recv(ANY, Some(5))]), (Some(19), 1), "any sender, but this tag");
    assert_eq!(with(vec![recv(Some(5), None)]), (Some(19), 1), "any tag, but this sender");
    assert_eq!(with(vec![recv(ANY, None), recv(ANY, None)]), (Some(19), 0));
    assert_eq!(with(vec![recv(ANY, None), compute(1), recv(Some(5), Some(5))]), (Some(19), 0), "the other one is left");
    assert_eq!(with(vec![recv(Some(5), None), recv(ANY, None)]), (Some(19), 0), "the early one has been kept");
}

#[test]
fn the_earlier_of_two_posted_receives_is_served_first() {
    // Both requests accept both messages. If the first message completed the second request, task 0 would go on in 18.
    let task = vec![irecv(ANY, None, 1), irecv(ANY, None, 2), wait(&[2])];
    let mut tasks = vec![task, vec![send(0, 1, PACKET)]];
    tasks.resize(6, Vec::new());
    tasks[5] = vec![send(0, 5, PACKET)];
    assert_eq!(replay(tasks).finished()[0], Some(19));
}

/// Every task sends 8 messages, the longest first, to each of two others, all at once, and then waits only for message
/// `last` of one sender.
fn flood(last: i64) -> Program {
    let task = |task: u32| {
        let messages = (0..8).flat_map(|label| [5, 10].map(|step| (label, (task + step) % 16)));
        let mut events: Vec<Event> = messages
            .enumerate()
            .map(|(request, (label, to))| isend(to, label, (8 - label as u64) * PACKET, request as u32))
            .collect();
        events.push(recv(Some((task + 11) % 16), Some(last)));
        events
    };
    Program { tasks: (0..16).map(task).collect() }
}

#[test]
fn a_message_that_overtakes_waits_for_those_before_it() {
    let router = RouterParams { routing: Routing::BubbleRandom, injectors: 2, ..RouterParams::default() };
    let mut overtaken = 0;
    for last in 0..8 {
        let replayed = Replayed::of(flood(last), "torus:4x4", router.clone(), 1.0);
        // All messages begin in cycle 1, and their numbers increase in the order of sending.
        let mut pairs: BTreeMap<(NodeId, NodeId), Vec<(u64, u64)>> = BTreeMap::new();
        for delivery in &replayed.deliveries {
            let message = delivery.message;
            pairs.entry((message.source, message.destination)).or_default().push((message.id, delivery.delivered.0));
        }
        for ((from, to), arrivals) in &mut pairs {
            overtaken += usize::from(!arrivals.is_sorted());
            arrivals.sort_unstable();
            if (from.0 + 5) % 16 != to.0 {
                continue;
            }
            let visible = arrivals[..=last as usize].iter().map(|&(_, cycle)| cycle).max();
            let finished = replayed.finished()[to.index()];
            assert_eq!(finished, visible.map(|cycle| cycle + 1), "message {last} from {from} to {to}: {arrivals:?}");
        }
    }
    assert!(overtaken > 100, "the network must have let messages overtake, or nothing was tested: {overtaken}");
}

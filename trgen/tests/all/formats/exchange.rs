//! Runs scripts of collectives against each other, message by message, and tracks the data of every rank.

use std::collections::VecDeque;

use trgen::TaskId;
use trgen::trace::program::{Event, Request, Send};

/// Effect of messages on a rank's data; a contribution is the bit of its rank.
pub(crate) trait Data {
    /// The content of a sent message.
    fn send(&self, rank: usize, to: usize, bytes: u64) -> u64;
    /// A message has arrived.
    fn receive(&mut self, rank: usize, from: usize, bytes: u64, content: u64);
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Mode {
    Eager,
    Synchronous,
}

struct Flight {
    from: usize,
    bytes: u64,
    content: u64,
    /// Number of the send, to complete it.
    send: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Operation {
    Sending(usize),
    Receiving { slot: usize },
}

/// Runs one script per rank. Receives name their source; all messages of a run carry the same tag, so that matching is
/// by pair, first in first out.
fn run(scripts: &[Vec<Event>], data: &mut dyn Data, mode: Mode) {
    let p = scripts.len();
    let mut pc = vec![0; p];
    let mut flights: Vec<Vec<VecDeque<Flight>>> = (0..p).map(|_| (0..p).map(|_| VecDeque::new()).collect()).collect();
    let mut posted: Vec<Vec<VecDeque<usize>>> = (0..p).map(|_| (0..p).map(|_| VecDeque::new()).collect()).collect();
    let mut sends_done: Vec<bool> = Vec::new();
    let mut receives_done: Vec<bool> = Vec::new();
    let mut requests: Vec<Vec<Option<Operation>>> = vec![Vec::new(); p];
    // Operations started by a blocking event.
    let mut begun: Vec<Option<Operation>> = vec![None; p];
    loop {
        let mut moved = false;
        for rank in 0..p {
            while let Some(event) = scripts[rank].get(pc[rank]) {
                let mut start_send = |send: &Send, done: &mut Vec<bool>| {
                    let to = send.to.index();
                    let content = data.send(rank, to, send.bytes);
                    done.push(mode == Mode::Eager);
                    flights[to][rank].push_back(Flight {
                        from: rank,
                        bytes: send.bytes,
                        content,
                        send: done.len() - 1,
                    });
                    Operation::Sending(done.len() - 1)
                };
                let mut start_receive = |from: Option<TaskId>| {
                    receives_done.push(false);
                    let slot = receives_done.len() - 1;
                    posted[rank][from.expect("collectives name their sources").index()].push_back(slot);
                    Operation::Receiving { slot }
                };
                match event {
                    Event::Send(send) if begun[rank].is_none() => {
                        begun[rank] = Some(start_send(send, &mut sends_done));
                        moved = true;
                    }
                    Event::Recv(receive) if begun[rank].is_none() => {
                        begun[rank] = Some(start_receive(receive.from));
                        moved = true;
                    }
                    Event::Isend(send, request) => {
                        let operation = start_send(send, &mut sends_done);
                        set(&mut requests[rank], *request, operation);
                        pc[rank] += 1;
                        moved = true;
                        continue;
                    }
                    Event::Irecv(receive, request) => {
                        let operation = start_receive(receive.from);
                        set(&mut requests[rank], *request, operation);
                        pc[rank] += 1;
                        moved = true;
                        continue;
                    }
                    _ => {}
                }
                // Make all possible matches at this rank.
                for from in 0..p {
                    let (posted, flights) = (&mut posted[rank][from], &mut flights[rank][from]);
                    let pairs = posted.len().min(flights.len());
                    for (slot, flight) in posted.drain(..pairs).zip(flights.drain(..pairs)) {
                        receives_done[slot] = true;
                        sends_done[flight.send] = true;
                        data.receive(rank, flight.from, flight.bytes, flight.content);
                        moved = true;
                    }
                }
                let complete = |operation: &Operation| match *operation {
                    Operation::Sending(send) => sends_done[send],
                    Operation::Receiving { slot } => receives_done[slot],
                };
                let over = match event {
                    Event::Send(_) | Event::Recv(_) => begun[rank].as_ref().is_some_and(complete),
                    Event::WaitAll(list) => {
                        list.iter().all(|request| requests[rank][request.0 as usize].as_ref().is_some_and(complete))
                    }
                    other => panic!("no collective is expanded to {other:?}"),
                };
                if !over {
                    break;
                }
                if let Event::WaitAll(list) = event {
                    for request in list {
                        requests[rank][request.0 as usize] = None;
                    }
                }
                begun[rank] = None;
                pc[rank] += 1;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    for rank in 0..p {
        assert_eq!(
            pc[rank],
            scripts[rank].len(),
            "rank {rank} of {p} hangs ({mode:?}) at {:?}",
            scripts[rank][pc[rank]]
        );
        assert!(requests[rank].iter().all(Option::is_none), "rank {rank} leaves a request");
    }
    assert!(flights.iter().flatten().all(VecDeque::is_empty), "a message is never received");
}

fn set(requests: &mut Vec<Option<Operation>>, request: Request, operation: Operation) {
    let index = request.0 as usize;
    requests.resize(requests.len().max(index + 1), None);
    assert!(requests[index].is_none(), "a request in use is begun again");
    requests[index] = Some(operation);
}

pub(crate) fn bytes_sent(script: &[Event]) -> u64 {
    script.iter().map(|event| if let Event::Send(send) | Event::Isend(send, _) = event { send.bytes } else { 0 }).sum()
}

pub(crate) fn bytes_received(script: &[Event]) -> u64 {
    let size = |event: &Event| if let Event::Recv(r) | Event::Irecv(r, _) = event { r.bytes } else { 0 };
    script.iter().map(size).sum()
}

pub(crate) fn messages(scripts: &[Vec<Event>]) -> usize {
    scripts.iter().flatten().filter(|event| matches!(event, Event::Send(_) | Event::Isend(..))).count()
}

/// Runs in both modes and passes the data to `check`.
pub(crate) fn simulate<D: Data>(scripts: &[Vec<Event>], fresh: impl Fn() -> D, check: impl Fn(&D)) {
    for mode in [Mode::Eager, Mode::Synchronous] {
        let mut data = fresh();
        run(scripts, &mut data, mode);
        check(&data);
    }
    let sent: u64 = scripts.iter().map(|script| bytes_sent(script)).sum();
    let received: u64 = scripts.iter().map(|script| bytes_received(script)).sum();
    assert_eq!(sent, received, "what is sent is what is received");
}

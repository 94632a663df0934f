//! The hosts of graphs compared with a plain statement of their rules: one queue by time and number, to which an item
//! that finds its resources busy is returned.

use std::collections::BTreeMap;

use proptest::prelude::*;
use trgen::trace::goal::hosts::HostParams;
use trgen::trace::goal::{ANY, After, Graph, Kind, Node, Operation, Rank, RankBuilder, ideal};

#[derive(Clone, Copy)]
enum Item {
    Operation(usize, usize),
    Message(usize, usize),
}

/// Source, tag and operation of a receive or message.
type Waiting = (u32, u32, usize);

struct Plain<'a> {
    graph: &'a Graph,
    params: HostParams,
    latency: u64,
    left: Vec<Vec<u32>>,
    cpu: Vec<[u64; 256]>,
    sending: Vec<[u64; 256]>,
    receiving: Vec<[u64; 256]>,
    posted: Vec<Vec<Waiting>>,
    unexpected: Vec<Vec<Waiting>>,
    queue: BTreeMap<(u64, u64), Item>,
    numbers: u64,
    unstarted: u64,
    ready: Vec<(usize, usize)>,
}

fn take(list: &mut Vec<Waiting>, peer: u32, tag: u32) -> Option<Waiting> {
    let agree = |one: u32, other: u32| one == other || one == ANY || other == ANY;
    let found = list.iter().position(|waiting| agree(waiting.0, peer) && agree(waiting.1, tag))?;
    Some(list.remove(found))
}

impl<'a> Plain<'a> {
    fn new(graph: &'a Graph, params: HostParams, latency: u64) -> Self {
        let hosts = graph.ranks().len();
        let left = |rank: &Rank| rank.nodes().iter().map(|node| node.waits_for).collect();
        Self {
            graph,
            params,
            latency,
            left: graph.ranks().iter().map(left).collect(),
            cpu: vec![[0; 256]; hosts],
            sending: vec![[0; 256]; hosts],
            receiving: vec![[0; 256]; hosts],
            posted: vec![Vec::new(); hosts],
            unexpected: vec![Vec::new(); hosts],
            queue: BTreeMap::new(),
            numbers: 0,
            unstarted: graph.ranks().iter().map(|rank| rank.nodes().len() as u64).sum(),
            ready: Vec::new(),
        }
    }

    fn node(&self, host: usize, node: usize) -> Node {
        self.graph.ranks()[host].nodes()[node]
    }

    fn enter(&mut self, time: u64, item: Item) {
        self.queue.insert((time, self.numbers), item);
        self.numbers += 1;
    }

    fn free(&self, host: usize, node: &Node) -> u64 {
        let cpu = self.cpu[host][node.cpu as usize];
        if node.kind == Kind::Send { cpu.max(self.sending[host][node.nic as usize]) } else { cpu }
    }

    fn release(&mut self, host: usize, dependents: &[u32]) {
        for &dependent in dependents {
            let left = &mut self.left[host][dependent as usize];
            *left -= 1;
            if *left == 0 {
                self.ready.push((host, dependent as usize));
            }
        }
    }

    fn started(&mut self, host: usize, node: &Node) {
        self.unstarted -= 1;
        self.release(host, self.graph.ranks()[host].on_start(node));
    }

    fn finished(&mut self, host: usize, node: &Node) {
        self.release(host, self.graph.ranks()[host].on_finish(node));
    }

    fn enter_ready(&mut self) {
        let mut ready = std::mem::take(&mut self.ready);
        ready.sort_by_key(|&(host, node)| (host, self.node(host, node).kind));
        for (host, node) in ready {
            self.enter(self.free(host, &self.node(host, node)), Item::Operation(host, node));
        }
    }

    fn end_rendezvous(&mut self, now: u64, from: usize, send: &Node, cpu: u8, nic: u8) {
        for free in [&mut self.cpu[from][cpu as usize], &mut self.sending[from][nic as usize]] {
            *free = now.max(*free);
        }
        if send.size > self.params.rendezvous {
            self.finished(from, send);
        }
    }

    /// The end of each host, the count of numbers given, and the unfinished business.
    fn run(mut self) -> (Vec<u64>, u64, [u64; 3]) {
        let HostParams { overhead, gap, gap_per_byte, overhead_per_byte, rendezvous, .. } = self.params;
        for host in 0..self.left.len() {
            self.ready =
                (0..self.left[host].len()).filter(|&node| self.left[host][node] == 0).map(|n| (host, n)).collect();
            self.enter_ready();
        }
        while let Some(((now, number), item)) = self.queue.pop_first() {
            let (host, at) = match item {
                Item::Operation(host, at) | Item::Message(host, at) => (host, at),
            };
            let node = self.node(host, at);
            let rest = node.size.max(1) - 1;
            match item {
                Item::Operation(..) if node.kind == Kind::Recv => {
                    self.started(host, &node);
                    match take(&mut self.unexpected[host], node.peer, node.tag) {
                        None => self.posted[host].push((node.peer, node.tag, at)),
                        Some((from, _, send)) => {
                            self.finished(host, &node);
                            if node.size > rendezvous {
                                let send = self.node(from as usize, send);
                                self.end_rendezvous(now, from as usize, &send, node.cpu, node.nic);
                            }
                        }
                    }
                }
                Item::Operation(..) => {
                    let free = self.free(host, &node);
                    if free > now {
                        self.queue.insert((free, number), item);
                        continue;
                    }
                    if node.kind == Kind::Send {
                        self.cpu[host][node.cpu as usize] = now + overhead + rest * overhead_per_byte;
                        self.sending[host][node.nic as usize] = now + gap + rest * gap_per_byte;
                        self.enter(now + overhead + self.latency, Item::Message(host, at));
                    } else {
                        self.cpu[host][node.cpu as usize] = now + node.size;
                    }
                    self.started(host, &node);
                    if node.kind == Kind::Calc || node.size <= rendezvous {
                        self.finished(host, &node);
                    }
                }
                Item::Message(..) => {
                    let to = node.peer as usize;
                    let free = self.cpu[to][node.cpu as usize].max(self.receiving[to][node.nic as usize]);
                    if free > now {
                        self.queue.insert((free, number), item);
                        continue;
                    }
                    self.cpu[to][node.cpu as usize] = now + overhead + rest * overhead_per_byte.max(gap_per_byte);
                    self.receiving[to][node.nic as usize] = now + gap + rest * gap_per_byte;
                    match take(&mut self.posted[to], host as u32, node.tag) {
                        None => self.unexpected[to].push((host as u32, node.tag, at)),
                        Some((.., receive)) => {
                            self.finished(to, &self.node(to, receive));
                            if node.size > rendezvous {
                                self.end_rendezvous(now, host, &node, node.cpu, node.nic);
                            }
                        }
                    }
                }
            }
            self.enter_ready();
        }
        let finish = self.cpu.iter().map(|cpus| cpus.iter().copied().max().unwrap()).collect();
        let count = |lists: &[Vec<Waiting>]| lists.iter().map(|list| list.len() as u64).sum();
        (finish, self.numbers, [self.unstarted, count(&self.posted), count(&self.unexpected)])
    }
}

/// Kind, size, peer, tag, CPU, network interface; and the earlier operations on which it depends, with the kind of
/// dependency.
type Drawn = (u8, u64, u32, u32, u8, u8, Vec<(usize, bool)>);

fn drawn() -> impl Strategy<Value = Drawn> {
    let size = prop_oneof![4 => 0..40_u64, 1 => 100..4000_u64];
    let depends = proptest::collection::vec((1..6_usize, any::<bool>()), 0..3);
    (1..4_u8, size, any::<u32>(), 0..5_u32, any::<u8>(), any::<u8>(), depends)
}

/// A graph of up to six hosts, with at most this many CPUs and interfaces.
fn build(ranks: &[Vec<Drawn>], cpus: u8, nics: u8, wild: bool) -> Graph {
    let count = ranks.len() as u32;
    let rank = |drawn: &Vec<Drawn>| {
        let mut builder = RankBuilder::default();
        for (number, (kind, size, peer, tag, cpu, nic, depends)) in drawn.iter().enumerate() {
            let kind = [Kind::Send, Kind::Recv, Kind::Calc][*kind as usize - 1];
            let any_peer = wild && kind == Kind::Recv && peer % 4 == 0;
            let any_tag = wild && kind == Kind::Recv && *tag == 4;
            let (peer, tag) = match kind {
                Kind::Calc => (0, 0),
                _ => (if any_peer { ANY } else { peer % count }, if any_tag { ANY } else { tag / 2 }),
            };
            let (cpu, nic) = (cpu % cpus, nic % nics);
            builder.add(Operation { kind, size: *size, peer, tag, cpu, nic }).unwrap();
            for (back, start) in depends {
                if let Some(other) = number.checked_sub(*back) {
                    let after = if *start { After::Start } else { After::Finish };
                    builder.depend(number as u32, other as u32, after).unwrap();
                }
            }
        }
        builder.build().unwrap()
    };
    Graph::new(ranks.iter().map(rank).collect()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Any graph, with one resource of a kind or many, runs to its end or to a deadlock.
    #[test]
    fn hosts_do_what_the_rules_say(
        ranks in proptest::collection::vec(proptest::collection::vec(drawn(), 0..60), 1..6),
        (cpus, nics, wild) in (1..4_u8, 1..3_u8, any::<bool>()),
        (overhead, gap, gap_per_byte, overhead_per_byte) in (0..30_u64, 0..30_u64, 0..3_u64, 0..3_u64),
        (rendezvous, latency) in (prop_oneof![Just(20_u64), Just(65_535)], 0..60_u64),
    ) {
        let graph = build(&ranks, cpus, nics, wild);
        let params = HostParams { overhead, gap, gap_per_byte, overhead_per_byte, rendezvous, ticks: 1, streams: false };
        let (finish, numbers, left) = Plain::new(&graph, params, latency).run();
        let execution = ideal::execute(graph, params, latency, &mut |_| true);
        prop_assert_eq!(&execution.finish, &finish);
        prop_assert_eq!(execution.events, numbers);
        let remains = &execution.remains;
        prop_assert_eq!([remains.unstarted, remains.unserved, remains.unreceived], left);
    }
}

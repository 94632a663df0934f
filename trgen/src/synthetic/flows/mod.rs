//! Flows: messages of a list, each with its start, whatever happens to the others.
//!
//! # Formats
//! - CSV whose first line names the columns `src`, `dst`, `bytes`, `start` and, optionally, `class` (in any order; also
//!   `source`, `destination`, `size`). Sizes may have a unit (`64kB`, `1MiB`), starts must (`0ns`, `12.5us`), but 0.
//! - The list of HPCC and SimAI: the number of flows, then a line `source destination class port bytes start` for each,
//!   with starts in seconds.
//!
//! - Lines `source destination bytes [start]`, where the first one is none of the above.
//! - A connection matrix of htsim (`.cm`), whose flows may wait for others: `htsim`.
//!
//! `#` begins a comment, and empty lines are skipped. What stands behind the flows that a list announces is text. Nodes
//! are numbers, or names where the network has them.

mod htsim;
mod read;

use std::collections::BTreeMap;

use crate::clock::Clock;
use crate::message::{Delivery, Message};
use crate::source::{Next, Outbox, SourceError, TrGen};
use crate::units::{Cycle, NodeId};

pub use read::{Reading, bytes, parse, read};

/// \[bytes\] The longest flow.
const LONGEST: u64 = 1 << 50;
/// \[ps\] The latest start: eleven days.
const LATEST: u64 = 1_000_000_000_000_000_000;

/// A message of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// The node that sends it.
    pub source: NodeId,
    /// Another node, which receives it.
    pub destination: NodeId,
    /// \[bytes\] Its size; 1 or more, but in a list of htsim.
    pub bytes: u64,
    /// \[ps\] Its start, from the beginning of the run.
    pub start: u64,
    /// Its traffic class, below 8.
    pub class: u8,
}

/// What a flow waits for, and what waits for it: indices of triggers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Links {
    /// The flow starts when this trigger fires; its start counts from there.
    pub after: Option<u32>,
    /// Called when its source knows that it has arrived.
    pub known: Option<u32>,
    /// Called when it has arrived.
    pub arrived: Option<u32>,
}

/// Something that flows wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// The first call starts all of its flows.
    Oneshot,
    /// Each call starts the next one of its flows.
    Multishot,
    /// The call of this number starts all of its flows.
    Barrier(u32),
}

/// A list that has been read.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct List {
    /// The format.
    pub format: &'static str,
    /// The flows, in their order.
    pub flows: Vec<Flow>,
    /// By flow: what it waits for. Empty if none waits.
    pub links: Vec<Links>,
    /// The triggers.
    pub triggers: Vec<Trigger>,
    /// What a reader of results should know.
    pub notes: Vec<String>,
}

impl List {
    /// True for a connection matrix of htsim, the only format whose starts lack a unit.
    #[must_use]
    pub fn is_htsim(&self) -> bool {
        self.format == htsim::FORMAT
    }
}

/// A trigger: its kind, how often it was called, and its flows that have not started, the next one last; each with its
/// start \[ps\] after the call.
type Pulled = (Trigger, u32, Vec<(u64, Message)>);

/// A list that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}{what}", .line.map_or_else(String::new, |line| format!("line {line}: ")))]
pub struct FlowsError {
    /// Number of the line, from 1; `None` if it is about the whole list.
    pub line: Option<usize>,
    /// The fault.
    pub what: String,
    /// The remedy.
    pub remedy: &'static str,
}

/// The source of a list of flows. Flows have the numbers of their order in the list as ids; a flow begins in the first
/// cycle that does not begin before its start, and one that waits for others in the cycle after they are done.
#[derive(Debug)]
pub struct Flows {
    nodes: usize,
    cycle: Clock,
    /// Cycle and message, the latest first.
    waiting: Vec<(Cycle, Message)>,
    /// By flow: what it waits for, and what waits for it. Empty if none waits.
    links: Vec<Links>,
    triggers: Vec<Pulled>,
    /// Flows that a trigger has started, by cycle and id.
    started: BTreeMap<(Cycle, u64), Message>,
}

impl Flows {
    /// The flows between the first `nodes` nodes, in cycles of this length.
    ///
    /// # Errors
    /// The index of a flow of a node that does not exist.
    pub fn new(flows: &[Flow], nodes: usize, cycle: Clock) -> Result<Self, usize> {
        Self::of(&List { flows: flows.to_vec(), ..List::default() }, nodes, cycle)
    }

    /// The flows of a list between the first `nodes` nodes, in cycles of this length.
    ///
    /// # Errors
    /// The index of a flow of a node that does not exist.
    pub fn of(list: &List, nodes: usize, cycle: Clock) -> Result<Self, usize> {
        let is_outside = |flow: &Flow| flow.source.index().max(flow.destination.index()) >= nodes;
        if let Some(outside) = list.flows.iter().position(is_outside) {
            return Err(outside);
        }
        let mut waiting: Vec<(Cycle, Message)> = Vec::new();
        let mut triggers: Vec<Pulled> = list.triggers.iter().map(|&trigger| (trigger, 0, Vec::new())).collect();
        for (id, flow) in (0..).zip(&list.flows) {
            let &Flow { source, destination, bytes, class, start } = flow;
            let message = Message { id, source, destination, bytes, class };
            let after = list.links.get(id as usize).and_then(|links| links.after);
            match after.and_then(|trigger| triggers.get_mut(trigger as usize)) {
                Some((_, _, flows)) => flows.push((start, message)),
                None => waiting.push((cycle.cycle(start), message)),
            }
        }
        waiting.sort_by_key(|&(cycle, message)| std::cmp::Reverse((cycle, message.id)));
        triggers.iter_mut().for_each(|(_, _, flows)| flows.reverse());
        Ok(Self { nodes, cycle, waiting, links: list.links.clone(), triggers, started: BTreeMap::new() })
    }

    /// Calls a trigger in a cycle.
    fn call(&mut self, trigger: Option<u32>, now: Cycle) {
        let Some((kind, calls, flows)) = trigger.and_then(|trigger| self.triggers.get_mut(trigger as usize)) else {
            return;
        };
        *calls = calls.saturating_add(1);
        let count = match *kind {
            Trigger::Oneshot if *calls == 1 => flows.len(),
            Trigger::Barrier(needed) if *calls == needed => flows.len(),
            Trigger::Multishot => 1,
            Trigger::Oneshot | Trigger::Barrier(_) => 0,
        };
        for _ in 0..count {
            let Some((start, message)) = flows.pop() else { return };
            // A start of 0 is the first cycle, 1.
            let at = Cycle(now.0.saturating_add(self.cycle.cycle(start).0.max(1)));
            self.started.insert((at, message.id), message);
        }
    }
}

impl TrGen for Flows {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        while let Some((_, message)) = self.waiting.pop_if(|(cycle, _)| *cycle <= now) {
            out.push(message);
        }
        while let Some(first) = self.started.first_entry().filter(|first| first.key().0 <= now) {
            out.push(first.remove());
        }
        Ok(())
    }

    fn sent(&mut self, _: Cycle, _: &Message) {}

    fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        let trigger = self.links.get(delivery.message.id as usize).and_then(|links| links.arrived);
        self.call(trigger, now);
    }

    fn known(&mut self, now: Cycle, message: &Message) {
        let trigger = self.links.get(message.id as usize).and_then(|links| links.known);
        self.call(trigger, now);
    }

    fn dropped(&mut self, _: Cycle, _: &Message) {}

    fn next(&self) -> Next {
        let waiting = self.waiting.last().map(|&(cycle, _)| cycle);
        let started = self.started.first_key_value().map(|(&(cycle, _), _)| cycle);
        match waiting.into_iter().chain(started).min() {
            Some(cycle) => Next::At(cycle),
            None if self.triggers.iter().any(|(_, _, flows)| !flows.is_empty()) => Next::Waiting,
            None => Next::Done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_may_have_any_order_and_synonyms() {
        let flow = Flow { source: NodeId(3), destination: NodeId(4), bytes: 65_536, start: 7_000, class: 2 };
        let text = "# a list\n\nstart, class, size, Destination, source\n7ns, 2, 64KiB, 4, 3 # one\n";
        assert_eq!(parse(text).unwrap(), [flow]);
        assert_eq!(parse("src,dst,bytes,start\n").unwrap(), []);
    }

    #[test]
    fn faults_are_named_with_their_line() {
        for (text, fault) in [
            ("", "no flows"),
            ("a,b", "line 1: no column is called `a`"),
            ("src,dst,bytes", "line 1: there is no column `start`"),
            ("src,dst,bytes,start\n0,1,5", "line 2: 3 cells in 4 columns"),
            ("src,dst,bytes,start\n0,1,5,7", "line 2: `7` is not a start"),
            ("src,dst,bytes,start\n0,1,0,0", "line 2: `0` is not a size"),
            ("src,dst,bytes,start\n0,1,5TB,0", "line 2: `5TB` is not a size"),
            ("src,dst,bytes,start\n0,x,5,0", "line 2: `x` is not a node"),
            ("src,dst,bytes,start\n\n1,1,5,0", "line 3: node 1 sends to itself"),
            ("src,dst,bytes,start,class\n1,0,5,0,8", "line 2: `8` is not a class"),
            ("src,dst,bytes,start\n1,0,5,1000001s", "line 2: a start of 1000001000000000000 ps"),
            ("2\n0 1 3 100 5 2.0", "line 1: 2 flows are announced, and 1 follow"),
            (
                "2\n0 1 3 100 5 2.0\nsource destination",
                "line 1: 2 flows are announced, and 1 stands before line 3, `source destination`",
            ),
            ("1\n0 1 3 100 5", "line 2: 5 words"),
            ("1\n0 1 3 100 5 -2", "line 2: `-2` is not a start"),
            ("1\n0 1 3 1000 2.0 9.5", "line 2: `2.0` is not a size: packets, start and end, as in lists of ns3-rdma"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.to_string(), fault, "{text}");
            assert!(!error.remedy.is_empty());
        }
    }

    #[test]
    fn flows_begin_when_they_say_and_in_the_order_of_the_list() {
        let text = "src,dst,bytes,start\n2,0,7,10ps\n0,1,5,0\n1,2,6,10ps\n0,2,8,11ps\n";
        let mut flows = Flows::new(&parse(text).unwrap(), 4, Clock::whole(10)).unwrap();
        let (mut out, mut found) = (Outbox::new(4), Vec::new());
        while let Next::At(cycle) = flows.next() {
            flows.generate(cycle, &mut out).unwrap();
            out.offer(|message| {
                found.push((cycle.0, message.id, message.bytes));
                true
            });
        }
        assert_eq!(found, [(1, 1, 5), (2, 0, 7), (2, 2, 6), (3, 3, 8)]);
        assert_eq!(flows.next(), Next::Done);
        assert_eq!(Flows::new(&parse(text).unwrap(), 2, Clock::whole(10)).unwrap_err(), 0);
    }

    #[test]
    fn what_stands_behind_a_list_is_text() {
        let list = read("1\n0 1 3 100 5 2\n\nFirst line: number of flows\nmore\n", &Reading::default()).unwrap();
        assert_eq!((list.flows.len(), list.flows[0].start), (1, 2_000_000_000_000));
        assert_eq!(
            list.notes.join(""),
            "2 lines behind the last flow are left out, from line 4 on: `First line: number of flows`"
        );
        let plain = read(
            "a b 500\nb a 1kB 3us\n",
            &Reading { node: &|word| Ok(NodeId(u32::from(word == "b"))), ..Reading::default() },
        );
        let plain = plain.unwrap();
        assert_eq!((plain.flows[1].source, plain.flows[1].bytes, plain.flows[1].start), (NodeId(1), 1000, 3_000_000));
    }

    /// Two flows in sequence, and one that waits for both.
    const CM: &str = "Nodes 4\nConnections 3\nTriggers 2\n0->1 id 1 start 2.0 size 100 recv_done_trigger 1\n\
                      1->2 id 2 msg 1 trigger 1 size 200 send_done_trigger 2 prio 3\ntrigger id 1 oneshot\n\
                      2->3 id 3 msg trigger 2 size 0\ntrigger id 2 barrier count 1\nwhat else\n";

    #[test]
    fn triggers_of_htsim_are_dependencies() {
        let of = Reading { cm_unit: Some(1_000_000), ..Reading::default() };
        let list = read(CM, &of).unwrap();
        assert_eq!(
            list.flows.iter().map(|flow| (flow.bytes, flow.start, flow.class)).collect::<Vec<_>>(),
            [(100, 2_000_000, 0), (200, 0, 3), (0, 0, 0)]
        );
        assert_eq!((list.triggers.len(), list.notes.len()), (2, 2));
        let mut flows = Flows::of(&list, 4, Clock::whole(1_000_000)).unwrap();
        let mut out = Outbox::new(4);
        let mut found = Vec::new();
        let mut now = Cycle(0);
        // Everything arrives five cycles after it was sent, and is acknowledged three cycles later.
        while let Next::At(cycle) = flows.next() {
            now = cycle.max(now);
            flows.generate(now, &mut out).unwrap();
            let mut sent = Vec::new();
            out.offer(|message| {
                sent.push(message);
                true
            });
            for message in sent {
                found.push((now.0, message.id));
                flows.sent(now, &message);
                let delivered = Cycle(now.0 + 5);
                flows.delivered(delivered, &Delivery { message, offered: now, delivered });
                flows.known(Cycle(now.0 + 8), &message);
            }
        }
        assert_eq!(found, [(3, 0), (9, 1), (18, 2)]);
        assert_eq!(flows.next(), Next::Done);
    }

    #[test]
    fn faults_of_htsim_lists_are_named() {
        let of = Reading { cm_unit: Some(1), ..Reading::default() };
        for (from, to, fault) in [
            (
                "Connections 3",
                "Connections 4",
                "line 3: 4 connections and 2 triggers are announced, and 3 and 2 stand before line 9, `what else`",
            ),
            (
                "Triggers 2",
                "Triggers 3",
                "line 3: 3 connections and 3 triggers are announced, and 3 and 2 stand before line 9, `what else`",
            ),
            (
                "\n2->3 id 3 msg trigger 2 size 0\ntrigger id 2 barrier count 1\nwhat else",
                "",
                "line 3: 3 connections and 2 triggers are announced, and 2 and 1 follow",
            ),
            (
                "Connections 3",
                "Connections 2",
                "line 3: 2 connections and 2 triggers are announced, and 2 and 1 stand before line 7, `2->3 id 3 msg trigger 2 size 0`",
            ),
            (
                "2->3 id 3",
                "2-3 id 3",
                "line 3: 3 connections and 2 triggers are announced, and 2 and 1 stand before line 7, `2-3 id 3 msg trigger 2 size 0`",
            ),
            ("trigger 1 size", "trigger 9 size", "line 5: trigger 9 is none of the list"),
            ("2->3", "2->4", "line 7: node `4` where the list says 4 nodes"),
            ("prio 3", "prio 8", "line 5: `8` is not a class"),
            ("prio 3", "prior 3", "line 5: unknown `prior` of a connection"),
            ("size 200", "size 200 size 3", "line 5: `size` stands twice"),
            ("oneshot", "onceshot", "line 6: `trigger id 1 onceshot` is not a trigger"),
            ("Triggers 2", "Failures 2", "line 3: failures in a list of flows"),
        ] {
            let changed = CM.replacen(from, to, 1);
            assert_ne!(changed, CM, "{from}");
            let error = read(&changed, &of).unwrap_err();
            assert_eq!(error.to_string(), fault, "{from}");
        }
        let error = read(CM, &Reading::default()).unwrap_err();
        assert_eq!(error.to_string(), "line 4: a start of 2.0, whose unit the file does not say");
        assert!(read(&CM.replacen("prio 3", "prio 8", 1), &Reading { ignores_classes: true, ..of }).is_ok());
    }
}

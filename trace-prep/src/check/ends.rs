//! Finds the sends and receives of a trace without a counterpart, whatever their order.
//!
//! Decision: docs/decisions/0121-unmatched-messages.md.

use std::collections::{BTreeMap, HashMap};

use trgen::TaskId;
use trgen::trace::goal::{ANY, Kind, Node};
use trgen::trace::program::{Event, Receive, Tag, TagFilter};
use trgen::trace::replay::wanted;

/// Counts of sends and receives.
#[derive(Default)]
pub(super) struct Ends {
    /// By sender, receiver and tag: the number of sends less the number of receives without wildcards.
    balance: HashMap<(TaskId, TaskId, Tag), i64>,
    /// By receiver, source and tag: the number of receives with a wildcard.
    wild: HashMap<(TaskId, Option<TaskId>, TagFilter), u64>,
}

impl Ends {
    /// Counts an event of a task.
    pub(super) fn add(&mut self, task: TaskId, event: &Event) {
        match event {
            Event::Send(send) | Event::Isend(send, _) => self.send(task, send.to, send.tag),
            Event::Recv(receive) | Event::Irecv(receive, _) => self.receive(task, receive.from, receive.tag),
            _ => {}
        }
    }

    /// Counts an operation of a graph.
    pub(super) fn add_operation(&mut self, rank: TaskId, node: &Node) {
        let tag = Tag::user(i64::from(node.tag));
        match node.kind {
            Kind::Send => self.send(rank, TaskId(node.peer), tag),
            Kind::Recv => {
                let from = (node.peer != ANY).then_some(TaskId(node.peer));
                let any = TagFilter::AnyIn(Tag::POINT_TO_POINT);
                self.receive(rank, from, if node.tag == ANY { any } else { TagFilter::Exactly(tag) });
            }
            Kind::Calc => {}
        }
    }

    /// Counts a send.
    fn send(&mut self, from: TaskId, to: TaskId, tag: Tag) {
        *self.balance.entry((from, to, tag)).or_default() += 1;
    }

    /// Counts a receive; `from` is `None` for any source.
    fn receive(&mut self, task: TaskId, from: Option<TaskId>, tag: TagFilter) {
        match (from, tag) {
            (Some(from), TagFilter::Exactly(tag)) => *self.balance.entry((from, task, tag)).or_default() -= 1,
            _ => *self.wild.entry((task, from, tag)).or_default() += 1,
        }
    }

    /// The number of sends and receives without a counterpart, and descriptions of the first `shown`.
    pub(super) fn unmatched(self, shown: usize) -> (u64, Vec<String>) {
        // By receiver: sender, tag, count.
        let mut sends: BTreeMap<TaskId, Vec<(TaskId, Tag, u64)>> = BTreeMap::new();
        // By task: description, count.
        let mut unmatched: Vec<(TaskId, String, u64)> = Vec::new();
        for ((from, to, tag), balance) in self.balance {
            let count = balance.unsigned_abs();
            if balance > 0 {
                sends.entry(to).or_default().push((from, tag, count));
            } else if balance < 0 {
                let receive = Receive { from: Some(from), tag: TagFilter::Exactly(tag), bytes: 0 };
                unmatched.push((to, format!("nobody sends a message {}", wanted(&receive)), count));
            }
        }
        sends.values_mut().for_each(|sends| sends.sort_unstable());
        // Match the most specific receives first: source or tag given before neither.
        let mut wild: Vec<_> = self.wild.into_iter().collect();
        wild.sort_unstable_by_key(|((task, from, tag), _)| {
            (*task, from.is_none(), matches!(tag, TagFilter::AnyIn(_)), *from, tag.context())
        });
        for ((task, from, tag), mut count) in wild {
            let accepts = |sender: TaskId, sent: Tag| from.is_none_or(|from| from == sender) && tag.accepts(sent);
            for (sender, sent, left) in sends.get_mut(&task).into_iter().flatten() {
                if accepts(*sender, *sent) {
                    let served = count.min(*left);
                    (count, *left) = (count - served, *left - served);
                }
            }
            if count > 0 {
                let receive = Receive { from, tag, bytes: 0 };
                unmatched.push((task, format!("nobody sends a message {}", wanted(&receive)), count));
            }
        }
        for (to, sends) in sends {
            for (from, tag, count) in sends.into_iter().filter(|&(.., count)| count > 0) {
                let message = Receive { from: Some(from), tag: TagFilter::Exactly(tag), bytes: 0 };
                unmatched.push((to, format!("no receive for a message {}", wanted(&message)), count));
            }
        }
        unmatched.sort_unstable();
        let describe = |(task, what, count): &(TaskId, String, u64)| {
            let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
            format!("task {task}: {what}{times}")
        };
        (unmatched.iter().map(|(.., count)| count).sum(), unmatched.iter().take(shown).map(describe).collect())
    }
}

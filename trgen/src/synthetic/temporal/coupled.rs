//! Processes that depend on receptions or on the placement of tasks.

use super::{Built, Entry, ProcessContext, Reaction, Temporal, Writes, bernoulli, parse_independent};
use crate::catalog::{Component, Parameter, SpecError};
use crate::synthetic::Group;
use crate::synthetic::expr::{Call, refuse};

pub(super) static SHOT: Entry = Entry {
    component: Component {
        name: "shot",
        about: "every node owes `messages` at full speed; when all have been received, all owe again: bursts that the \
                whole machine shares, as of programs between barriers. {samples} says how many shots; {load} has no part",
        parameters: &[
            Parameter { name: "messages", about: "of each node and shot", range: "1..=16777216", default: "" },
            Parameter {
                name: "outstanding",
                about: "the most messages of a node that are on their way, or requests without a reply",
                range: "1..=16777216",
                default: "without bound",
            },
            Parameter {
                name: "reply",
                about: "size law of replies: messages are requests (class 0), which are answered (class 1); replies count among \
                        the messages of the node that makes them",
                range: "any law without a file",
                default: "no replies",
            },
            Parameter { name: "write", about: "share of requests that are writes", range: "0..=1", default: "none" },
            Parameter {
                name: "write-size",
                about: "size law of requests that are writes (class 2)",
                range: "any law without a file",
                default: "that of the other replies",
            },
            Parameter {
                name: "write-reply",
                about: "size law of replies to writes (class 3)",
                range: "any law without a file",
                default: "that of the other requests",
            },
        ],
        source: "INSEE, Interconnection Network Simulation and Evaluation Environment; BookSim 2, sim_type = batch",
    },
    aliases: &[],
    build: |call, _| {
        let outstanding = match call.given("outstanding") {
            Some(_) => Some(call.integer("outstanding", 1..=1 << 24)? as u64),
            None => None,
        };
        let reply = call.given("reply").cloned();
        let writes = writes(call)?;
        if let (Some(given), None) = (call.given("write").filter(|_| writes.is_some()), &reply) {
            return Err(call.refuse(
                given,
                "writes, and nothing is answered",
                "give reply=constant(5), or leave it out",
            ));
        }
        let messages = call.integer("messages", 1..=1 << 24)? as u64;
        Ok(Temporal::Shot { messages, outstanding, reply, writes })
    },
};

/// The writes among requests.
fn writes(call: &Call) -> Result<Option<Writes>, SpecError> {
    let owned = |parameter| call.given(parameter).cloned();
    if call.given("write").is_some() {
        let fraction = call.number("write", 0.0..=1.0)?;
        return Ok(Some(Writes { fraction, size: owned("write-size"), reply: owned("write-reply") }));
    }
    match call.given("write-size").or_else(|| call.given("write-reply")) {
        Some(given) => {
            Err(call.refuse(given, "a size of writes, and no request is one", "give write=0.5, or leave it out"))
        }
        None => Ok(None),
    }
}

pub(super) static REACTIVE: Entry = Entry {
    component: Component {
        name: "reactive",
        about: "every reception makes its node owe min to max messages with probability p, sent at full speed; the rest \
                of the load comes from a process of its own, so that both together are the load asked for",
        parameters: &[
            Parameter { name: "p", about: "probability of a reaction", range: "0..=1", default: "" },
            Parameter { name: "min", about: "least number of messages", range: "0..=1048576", default: "1" },
            Parameter { name: "max", about: "largest number of messages", range: "min..=1048576", default: "min" },
            Parameter {
                name: "base",
                about: "process of what is not a reaction",
                range: "bernoulli, poisson, periodic, cburst(B), markov(a,p10)",
                default: "bernoulli",
            },
        ],
        source: "INSEE, Interconnection Network Simulation and Evaluation Environment",
    },
    aliases: &[],
    build: reactive,
};

pub(super) static REQUEST_REPLY: Entry = Entry {
    component: Component {
        name: "request-reply",
        about: "messages of the pattern are requests (class 0), and each node answers those that it receives with a reply \
                to the sender (class 1); the load is that of both together. With `write`, some requests are writes (class 2), \
                which are answered as such (class 3)",
        parameters: &[
            Parameter {
                name: "size",
                about: "size law of replies",
                range: "any law without a file",
                default: "that of the requests",
            },
            Parameter {
                name: "service",
                about: "time from the arrival of a request to its reply [cycles]",
                range: "1..=1000000000000",
                default: "1",
            },
            Parameter {
                name: "base",
                about: "process of requests",
                range: "bernoulli, poisson, periodic, cburst(B), markov(a,p10), ...",
                default: "bernoulli",
            },
            Parameter {
                name: "room",
                about: "number of replies that a node has to send from which on it takes no request: requests wait in the \
                        network, in wormhole [replies]",
                range: "1..=1048576",
                default: "without bound",
            },
            Parameter { name: "write", about: "share of requests that are writes", range: "0..=1", default: "none" },
            Parameter {
                name: "write-size",
                about: "size law of requests that are writes",
                range: "any law without a file",
                default: "that of the other replies",
            },
            Parameter {
                name: "write-reply",
                about: "size law of replies to writes",
                range: "any law without a file",
                default: "that of the other requests",
            },
        ],
        source: "Dally and Towles, Principles and Practices of Interconnection Networks (2004), 24.2",
    },
    aliases: &[],
    build: |call, _| {
        let service = call.integer("service", 1..=1_000_000_000_000)? as u64;
        let owned = |parameter| call.given(parameter).cloned();
        let room = match call.given("room") {
            Some(given) => Some((call.integer("room", 1..=1 << 20)? as u64, given.position)),
            None => None,
        };
        let writes = writes(call)?;
        if let (Some(_), Some((_, position))) = (&writes, room) {
            let problem = "`room` with writes, which are of another class than the requests that nodes refuse";
            return Err(refuse(call.text(), position, problem, "leave out one of them"));
        }
        Ok(Temporal::Reply { size: owned("size"), process: owned("base"), service, room, writes })
    },
};

pub(super) static INCAST: Entry = Entry {
    component: Component {
        name: "incast",
        about: "at the points of a Poisson process of the whole network, `senders` nodes send a message each to one: the \
                pattern gives the receiver as the destination of the first, the others are drawn evenly; events wait for \
                nobody",
        parameters: &[Parameter {
            name: "senders",
            about: "nodes that send to one at once",
            range: "1..=nodes - 1",
            default: "",
        }],
        source: "Phanishayee and others, Measurement and Analysis of TCP Throughput Collapse in Cluster-based Storage Systems \
                 (2008)",
    },
    aliases: &[],
    build: |call, context| group(call, context, Group::Incast, "senders"),
};

pub(super) static MULTICAST: Entry = Entry {
    component: Component {
        name: "multicast",
        about: "at the points of a Poisson process of the whole network, a node sends a copy of one message each to \
                `receivers` nodes, one after the other (no router copies packets: trees are not modelled): the first is its destination by the pattern, the others are drawn \
                evenly; the load counts all copies, and events wait for nobody",
        parameters: &[Parameter {
            name: "receivers",
            about: "nodes that a message is sent to",
            range: "1..=nodes - 1",
            default: "",
        }],
        source: "Dally and Towles, Principles and Practices of Interconnection Networks (2004), 3.2",
    },
    aliases: &[],
    build: |call, context| group(call, context, Group::Multicast, "receivers"),
};

/// Builds the events of `incast` or `multicast`.
fn group(call: &Call, context: ProcessContext, group: Group, members: &'static str) -> Built {
    let most = context.nodes.saturating_sub(1).max(1) as i64;
    let members = call.integer(members, 1..=most)?;
    let rate = context.load * context.nodes as f64 / (context.mean_phits * members as f64);
    Ok(Temporal::Group { group, members: members as usize, rate })
}

pub(super) static BACKGROUND: Entry = Entry {
    component: Component {
        name: "background",
        about: "beside a trace or kernel: Bernoulli traffic of load l from the nodes without a task, among themselves, \
                until the last task is done",
        parameters: &[Parameter { name: "l", about: "load of each, in the unit of {load}", range: "0..", default: "" }],
        source: "INSEE, Interconnection Network Simulation and Evaluation Environment",
    },
    aliases: &[],
    build: |call, context| {
        let load = call.number("l", 0.0..=f64::from(1 << 24))? * context.capacity;
        Ok(Temporal::Background { process: bernoulli::process(ProcessContext { load, ..context })? })
    },
};

/// Builds the process `reactive`.
fn reactive(call: &Call, context: ProcessContext) -> Built {
    const MOST: i64 = 1 << 20;
    let probability = call.number("p", 0.0..=1.0)?;
    let min = call.integer("min", 0..=MOST)?;
    let max = if call.given("max").is_some() { call.integer("max", min..=MOST)? } else { min };
    let reaction = Reaction { probability, min: min as u32, max: max as u32 };
    let mean = reaction.mean();
    if mean >= 1.0 {
        return Err(call.refuse_all(
            &format!("a reception would cause {mean:.3} messages in the mean, and the traffic grow without end"),
            "p x (min + max) / 2 below 1",
        ));
    }
    // Each message causes `mean` others, each of these `mean` more, ...: 1 / (1 - mean) in all.
    let base = ProcessContext { load: context.load * (1.0 - mean), ..context };
    let process = match call.given("base") {
        Some(process) => parse_independent(call.text(), process, base)?,
        None => bernoulli::process(base)?,
    };
    Ok(Temporal::Reactive { process, reaction })
}

//! BookSim's `anynet`: a line for each router or node, `router R node N [latency] router S [latency] ...`.
//!
//! The first pair of words is the head, and each further pair a link to it. A link exists in both directions, even if
//! one line names it. A latency that only one of the two lines states holds for both directions; BookSim gives it to
//! the direction that is written. Latencies are in cycles, and 1 where none is given; a link of latency 1 has no delay
//! beyond the cycle in which a flit crosses it.

use std::collections::BTreeMap;

use trgen::catalog::{ErrorKind, SpecError};

use super::lines::{number, words};
use super::{Builder, implied, malformed, word};
use fsin_core::topology::graph::{Graph, Reading, Word, refusal};

const FORM: &str =
    "write a line `router 0 node 0 router 1 2` for each router: pairs of words, each with an optional latency";

/// A router or a node of the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Item {
    Router(u32),
    Node(u32),
}

impl Item {
    fn name(self) -> String {
        match self {
            Self::Router(number) => format!("router{number}"),
            Self::Node(number) => format!("node{number}"),
        }
    }
}

/// True if every line begins with `router N` or `node N`.
pub(crate) fn begins(text: &str) -> bool {
    let mut lines = words(text).peekable();
    let is_head = |line: Vec<Word<'_>>| matches!(&line[..], [kind, number, ..] if matches!(&*kind.text, "router" | "node") && number.text.parse::<u32>().is_ok());
    lines.peek().is_some() && lines.all(is_head)
}

/// The statements of a file.
pub(crate) fn parse<'a>(text: &'a str, of: &Reading<'_>) -> Result<Graph<'a>, SpecError> {
    let places = &of.places;
    // By both ends: where the line names it, and the latency that it states.
    let mut named: BTreeMap<[Item; 2], (usize, Option<u32>)> = BTreeMap::new();
    let mut items: BTreeMap<Item, usize> = BTreeMap::new();
    for line in words(text) {
        let mut words = line.iter().peekable();
        let mut head = None;
        while let Some(kind) = words.next() {
            let of = words.next().ok_or_else(|| malformed(places, kind.at, "a word without its number", FORM))?;
            let of: u32 = number(places, of, "the number of a router or node", FORM)?;
            let item = match &*kind.text {
                "router" => Item::Router(of),
                "node" => Item::Node(of),
                other => return Err(malformed(places, kind.at, format!("`{other}` is neither router nor node"), FORM)),
            };
            items.entry(item).or_insert(kind.at);
            let Some(head) = head else {
                head = Some(item);
                continue;
            };
            let latency = words.next_if(|word| word.text.parse::<f64>().is_ok());
            let latency = latency.map(|word| match number::<u32>(places, word, "a number of cycles", FORM)? {
                0 => Err(refusal(places, word.at, ErrorKind::OutOfRange, "a latency of 0 cycles", "use 1 or more")),
                cycles => Ok(cycles),
            });
            if head == item {
                return Err(malformed(places, kind.at, format!("a link leads from {} to itself", item.name()), FORM));
            }
            named.insert([head, item], (kind.at, latency.transpose()?));
        }
    }
    let mut builder = Builder::default();
    for (&item, &at) in &items {
        builder.declare(word(item.name(), at), matches!(item, Item::Node(_)));
    }
    for (&[from, to], &(at, latency)) in &named {
        let back = named.get(&[to, from]);
        // The line of the lower end writes the link if both do.
        if back.is_some() && to < from {
            continue;
        }
        let stated = back.and_then(|&(_, latency)| latency);
        let delay = |cycles: Option<u32>| vec![implied("delay", (cycles.unwrap_or(1) - 1).to_string(), at)];
        let ends = [from, to].map(|item| word(item.name(), at));
        let (there, back) = (latency.or(stated), stated.or(latency));
        if there == back {
            builder.edge(ends, false, delay(there));
        } else {
            let [one, other] = ends.clone();
            builder.edge(ends, true, delay(there));
            builder.edge([other, one], true, delay(back));
        }
    }
    Ok(builder.graph())
}

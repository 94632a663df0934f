//! BookSim's `anynet`: a line for each router or node, `router R node N [latency] router S [latency] ...`.
//!
//! The first pair of words is the head, and each further pair a link to it. A link exists in both directions, even if
//! one line names it. A latency that only one of the two lines states holds for both directions; BookSim gives it to
//! the direction that is written. Latencies are in cycles, and 1 where none is given; a link of latency 1 has no delay
//! beyond the cycle in which a flit crosses it.

use std::num::NonZeroU32;

use trgen::catalog::{ErrorKind, SpecError};

use super::lines::number;
use super::{implied, malformed, word};
use fsin_core::topology::graph::{Description, MAX_LINKS, refusal, words};

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
    let mut lines =
        text.lines().map(|line| line.split('#').next().unwrap_or("")).filter(|line| !line.trim().is_empty());
    let is_head = |line: &str| {
        let mut words = line.split_whitespace();
        matches!(words.next(), Some("router" | "node")) && words.next().is_some_and(|word| word.parse::<u32>().is_ok())
    };
    let first = lines.next();
    first.is_some_and(is_head) && lines.all(is_head)
}

/// What a line says of a link: both ends, where it names the link, and the latency if it states one.
#[derive(Clone, Copy)]
struct Named {
    ends: [Item; 2],
    at: u32,
    latency: Option<NonZeroU32>,
}

/// States a file.
pub(crate) fn parse(text: &str, to: &mut Description<'_>) -> Result<(), SpecError> {
    let places = &to.reading().places;
    let mut named: Vec<Named> = Vec::new();
    let mut items: Vec<(Item, u32)> = Vec::new();
    // How many items there were when those that stand twice were last left out.
    let mut distinct = 1 << 10;
    for line in words(text, places) {
        let line = line?;
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
            items.push((item, kind.at as u32));
            let Some(head) = head else {
                head = Some(item);
                continue;
            };
            let latency = words.next_if(|word| word.text.parse::<f64>().is_ok());
            let latency = latency.map(|word| {
                let cycles = NonZeroU32::new(number::<u32>(places, word, "a number of cycles", FORM)?);
                let none = || refusal(places, word.at, ErrorKind::OutOfRange, "a latency of 0 cycles", "use 1 or more");
                cycles.ok_or_else(none)
            });
            if head == item {
                return Err(malformed(places, kind.at, format!("a link leads from {} to itself", item.name()), FORM));
            }
            // Both ends may write it.
            if named.len() > 2 * MAX_LINKS {
                let what = format!("more than {MAX_LINKS} links");
                return Err(refusal(places, kind.at, ErrorKind::TooLarge, what, "use a smaller network"));
            }
            named.push(Named { ends: [head, item], at: kind.at as u32, latency: latency.transpose()? });
        }
        if items.len() > 2 * distinct {
            once(&mut items);
            distinct = items.len().max(distinct);
        }
    }
    once(&mut items);
    for &(item, at) in &items {
        to.declare(&word(item.name(), at as usize), matches!(item, Item::Node(_)))?;
    }
    drop(items);
    // Of what stands twice the last counts.
    named.sort_by_key(|of| of.ends);
    named.dedup_by(|later, earlier| {
        let is_same = later.ends == earlier.ends;
        if is_same {
            *earlier = *later;
        }
        is_same
    });
    for &Named { ends: [from, there], at, latency } in &named {
        let back = named.binary_search_by_key(&[there, from], |of| of.ends).ok().map(|back| named[back]);
        // The line of the lower end writes the link if both do.
        if back.is_some() && there < from {
            continue;
        }
        let at = at as usize;
        let stated = back.and_then(|back| back.latency);
        let delay =
            |cycles: Option<NonZeroU32>| [implied("delay", (cycles.map_or(1, NonZeroU32::get) - 1).to_string(), at)];
        let ends = [from, there].map(|item| word(item.name(), at));
        let [one, other] = [&ends[0], &ends[1]];
        let (forth, back) = (latency.or(stated), stated.or(latency));
        if forth == back {
            to.edge([one, other], false, &delay(forth))?;
        } else {
            to.edge([one, other], true, &delay(forth))?;
            to.edge([other, one], true, &delay(back))?;
        }
    }
    Ok(())
}

/// Items in order, each once, where it first stands.
fn once(items: &mut Vec<(Item, u32)>) {
    items.sort_unstable();
    items.dedup_by_key(|(item, _)| *item);
}

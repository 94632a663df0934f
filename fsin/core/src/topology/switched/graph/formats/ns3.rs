//! Lists of ns-3's RDMA simulations (HPCC, SimAI): a line of counts, a line of switches, then a line for each link.
//!
//! `nodes switches links`, the numbers of the switches, and `source destination rate delay error-rate` a line, as in
//! `0 4 100Gbps 0.001ms 0`. SimAI's first line is `nodes gpus-per-server nvswitches switches links gpu-type`. All other
//! nodes are hosts. Nodes are numbered hosts first, in the order of their numbers in the file.

use std::collections::BTreeSet;

use trgen::catalog::{ErrorKind, SpecError};

use super::super::super::MAX_NODES;
use super::super::attribute::{refusal, short};
use super::super::statement::{Graph, Places, Word};
use super::lines::{number, words};
use super::{Builder, implied, malformed, word};

const FORM: &str = "write `nodes switches links`, a line with the numbers of the switches, and a line for each link, as in \
                    `0 4 100Gbps 0.001ms 0`";

/// True for a text that begins with a line of three numbers, or of five and a word.
pub(super) fn begins(text: &str) -> bool {
    let lines = words(text);
    let Some(first) = lines.first() else { return false };
    let numbers = first.iter().take_while(|word| word.text.parse::<u32>().is_ok()).count();
    matches!((numbers, first.len()), (3, 3) | (5, 6))
}

/// The statements of a list.
pub(super) fn parse<'a>(text: &'a str, places: &Places<'_>) -> Result<Graph<'a>, SpecError> {
    let mut lines = words(text).into_iter();
    let first = lines.next().unwrap_or_default();
    let count = |at: usize| -> Result<usize, SpecError> {
        first.get(at).map_or(Ok(0), |word| number(places, word, "a number", FORM))
    };
    let (nodes, switches, links) = match first.len() {
        3 => (count(0)?, count(1)?, count(2)?),
        _ => (count(0)?, count(2)? + count(3)?, count(4)?),
    };
    let at = first.first().map_or(0, |word| word.at);
    if nodes > MAX_NODES {
        return Err(refusal(places, at, ErrorKind::TooLarge, format!("{nodes} nodes"), "use fewer nodes"));
    }
    // The line of switches is empty, and so left out, if there are none.
    let named: Vec<Word<'a>> = if switches > 0 { lines.next().unwrap_or_default() } else { Vec::new() };
    if named.len() != switches {
        let at = named.first().map_or(at, |word| word.at);
        let what = format!("{} switches are named where the first line says {switches}", named.len());
        return Err(malformed(places, at, what, FORM));
    }
    let known = |word: &Word<'_>| -> Result<usize, SpecError> {
        let node = number(places, word, "the number of a node", FORM)?;
        if node < nodes {
            return Ok(node);
        }
        let what = format!("node {} where the first line says {nodes} nodes", short(&word.text));
        Err(refusal(places, word.at, ErrorKind::OutOfRange, what, "number nodes from 0"))
    };
    let mut is_switch = BTreeSet::new();
    for switch in &named {
        is_switch.insert(known(switch)?);
    }
    let mut builder = Builder::default();
    let rows: Vec<Vec<Word<'a>>> = lines.collect();
    if rows.len() != links {
        let at = rows.get(links).and_then(|row| row.first()).map_or(at, |word| word.at);
        let what = format!("{} links are listed where the first line says {links}", rows.len());
        return Err(malformed(places, at, what, FORM));
    }
    let mut edges = Vec::new();
    for row in rows {
        let [source, destination, rate, delay, rest @ ..] = &row[..] else {
            return Err(malformed(places, row[0].at, "a link lacks its rate or delay", FORM));
        };
        if let [errors, ..] = rest
            && errors.text.parse() != Ok(0.0)
        {
            let what = format!("error rate {} of a link", short(&errors.text));
            let remedy = "write 0: frame errors are a setting of the run, per of ethernet";
            return Err(refusal(places, errors.at, ErrorKind::Unsupported, what, remedy));
        }
        let attributes = vec![
            (word("rate", rate.at), rate.clone()),
            (word("delay", delay.at), word(with_unit(&delay.text), delay.at)),
        ];
        edges.push(([source.clone(), destination.clone()], attributes));
    }
    for node in 0..nodes {
        let kind = if is_switch.contains(&node) { "switch" } else { "host" };
        let mut attributes = vec![implied("kind", kind, at)];
        if kind == "switch" {
            attributes.push(implied("endpoints", "0", at));
        }
        builder.node(word(node.to_string(), at), attributes);
    }
    for ([source, destination], attributes) in edges {
        // Numbers may be written with zeros in front.
        let plain = |end: &Word<'a>| -> Result<Word<'a>, SpecError> { Ok(word(known(end)?.to_string(), end.at)) };
        builder.edge([plain(&source)?, plain(&destination)?], false, attributes);
    }
    Ok(builder.graph())
}

/// A delay of 0 needs no unit.
fn with_unit(delay: &str) -> String {
    if delay.parse() == Ok(0.0) { "0ps".to_owned() } else { delay.to_owned() }
}

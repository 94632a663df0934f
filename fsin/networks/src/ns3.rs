//! Lists of ns-3's RDMA simulations (HPCC, SimAI): a line of counts, a line of switches, then a line for each link.
//!
//! `nodes switches links`, the numbers of the switches, and `source destination rate delay error-rate` a line, as in
//! `0 4 100Gbps 0.001ms 0`. SimAI's first line is `nodes gpus-per-server nvswitches switches links gpu-type`, that of
//! ns3-datacenter `nodes switches leaves links`, perhaps with two rates. A rate without a unit is in b/s, a delay in s.
//! All other nodes are hosts. What follows the last link is text. Nodes are numbered hosts first, in the order of their
//! numbers in the file.

use std::collections::BTreeSet;

use trgen::catalog::{ErrorKind, SpecError};

use super::lines::number;
use super::{malformed, word};
use fsin_core::topology::graph::{Description, MAX_NODES, Places, Word, decimal, refusal, short, words};
use fsin_core::words::counted;

const FORM: &str = "write `nodes switches links`, a line with the numbers of the switches, and a line for each link, as in \
                    `0 4 100Gbps 0.001ms 0`";

/// True for a text that begins with a line of three or four numbers, of six, or of five and a word, and has a link
/// with a rate and a delay behind it.
pub(crate) fn begins(text: &str) -> bool {
    let mut lines =
        text.lines().map(|line| line.split('#').next().unwrap_or("")).filter(|line| !line.trim().is_empty());
    let first: Vec<&str> = lines.next().unwrap_or("").split_whitespace().take(7).collect();
    let numbers = first.iter().take_while(|word| word.parse::<f64>().is_ok()).count();
    // Coordinates and matrices have numbers alone.
    let is_other = || lines.take(8).all(|line| line.split_whitespace().count() == first.len());
    matches!((numbers, first.len()), (3, 3) | (4, 4) | (6, 6) | (5, 6)) && !(numbers == first.len() && is_other())
}

/// States a list.
pub(crate) fn parse(text: &str, to: &mut Description<'_>) -> Result<(), SpecError> {
    let of = to.reading();
    let places = &of.places;
    let mut lines = words(text, places);
    let first = lines.next().transpose()?.unwrap_or_default();
    let count = |at: usize| -> Result<usize, SpecError> {
        first.get(at).map_or(Ok(0), |word| number(places, word, "a number", FORM))
    };
    // SimAI counts GPUs of a server and NVSwitches too, others the switches at hosts, and rates of two kinds of links.
    let (nodes, switches, links) = match first.len() {
        3 => (count(0)?, count(1)?, count(2)?),
        4 => (count(0)?, count(1)?, count(3)?),
        _ if first.last().is_some_and(|word| word.text.parse::<f64>().is_err()) => {
            (count(0)?, count(2)?.saturating_add(count(3)?), count(4)?)
        }
        _ => (count(0)?, count(1)?, count(3)?),
    };
    let at = first.first().map_or(0, |word| word.at);
    if nodes > MAX_NODES || switches > nodes {
        let what = format!("{nodes} nodes, of which {switches} are switches");
        return Err(refusal(places, at, ErrorKind::TooLarge, what, "use fewer nodes, and no more switches than nodes"));
    }
    // Bounds the memory by the length of the file. Nodes without links are left out with part=largest.
    let most = if of.options.largest { links.saturating_add(1).max(text.len()) } else { links.saturating_add(1) };
    if nodes > most {
        let what = format!("{nodes} nodes do not hang together by {links} links");
        return Err(refusal(places, at, ErrorKind::Conflict, what, "make the first line agree with the list"));
    }
    // The line of switches is empty, and so left out, if there are none.
    let named = if switches > 0 { lines.next().transpose()?.unwrap_or_default() } else { Vec::new() };
    if named.len() != switches {
        let at = named.first().map_or(at, |word| word.at);
        let what = format!("{} switches are named in a line where the first line says {switches}", named.len());
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
    // Every row is checked before the numbers of the first line take memory.
    for link in 0..links {
        let Some(row) = lines.next().transpose()? else {
            let what = format!("{link} links are listed where the first line says {links}");
            let remedy = "the file ends too early, or counts more than it has";
            return Err(malformed(places, text.trim_end().len(), what, remedy));
        };
        check(places, &row, link, links)?;
    }
    of.unit("rates and delays: the unit beside the number, else b/s and s (ns-3)".to_owned());
    if let Some(first) = lines.next().transpose()? {
        let behind = 1 + lines.count();
        let line: Vec<&str> = first.iter().map(|word| &*word.text).collect();
        of.note(format!(
            "{}: {} behind the last link {} left out, from `{}` on",
            places.of(first[0].at),
            counted(behind, "line", "lines"),
            if behind == 1 { "is" } else { "are" },
            short(&line.join(" "))
        ));
    }
    for node in 0..nodes {
        to.declare(&word(node.to_string(), at), !is_switch.contains(&node))?;
    }
    for row in words(text, places).skip(if switches > 0 { 2 } else { 1 }).take(links) {
        let row = row?;
        let [source, destination, rate, delay, ..] = &row[..] else { continue };
        let is_plain = rate.text.parse::<f64>().is_ok();
        let rate = word(if is_plain { format!("{}b/s", decimal(&rate.text)) } else { rate.text.to_string() }, rate.at);
        let seconds = delay.text.parse::<f64>().is_ok();
        let delay = word(if seconds { format!("{}s", decimal(&delay.text)) } else { delay.text.to_string() }, delay.at);
        // Numbers may be written with zeros in front.
        let ends = [word(known(source)?.to_string(), source.at), word(known(destination)?.to_string(), destination.at)];
        let attributes = [(word("rate", rate.at), rate), (word("delay", delay.at), delay)];
        to.edge([&ends[0], &ends[1]], false, &attributes)?;
    }
    to.set_numbered();
    Ok(())
}

/// Checks that a line is a link, the number `link` of `links`.
fn check(places: &Places<'_>, row: &[Word<'_>], link: usize, links: usize) -> Result<(), SpecError> {
    // Text behind the list, where a link begins with two numbers.
    if row.iter().take(2).all(|word| word.text.parse::<u64>().is_err()) {
        let line: Vec<&str> = row.iter().take(40).map(|word| &*word.text).collect();
        let what = format!(
            "`{}` where link {} should stand, of {links} that the first line announces",
            short(&line.join(" ")),
            link + 1
        );
        return Err(malformed(places, row[0].at, what, "the list ends too early, or counts more than it has"));
    }
    let [_, _, _, _, rest @ ..] = row else {
        let what = format!("link {} of {links} lacks its rate or delay", link + 1);
        return Err(malformed(places, row[0].at, what, FORM));
    };
    if let [errors, ..] = rest
        && errors.text.parse() != Ok(0.0)
    {
        let what = format!("error rate {} of a link", short(&errors.text));
        let remedy = "write 0: frame errors are a setting of the run, per of ethernet";
        return Err(refusal(places, errors.at, ErrorKind::Unsupported, what, remedy));
    }
    Ok(())
}

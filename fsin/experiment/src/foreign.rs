//! Files of other tools that are given as experiments: configurations that are read, and the right command or setting
//! for the others.
//!
//! A new user begins with `fsin run FILE`. The readers themselves recognise a file: if a reader accepts it, it is of
//! that kind.

use std::path::Path;

use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::synthetic::flows;
use trgen::trace::formats::{ReadOptions, open_bytes};

use fsin_core::topology;

use super::meaning::{Meaning, Refusal};
use super::{booksim, hpcc};

/// True if a text is a configuration of a simulator.
type IsConfig = fn(&str) -> bool;

/// The simulators whose configurations are read, as `fsin import` names them, each with its test of a text.
const SIMULATORS: [(&str, IsConfig); 2] = [("booksim", booksim::is_config), ("hpcc", hpcc::is_config)];

/// The simulator whose configuration a text is, as `fsin import` names it; `None` for any other text.
#[must_use]
pub fn simulator_of(text: &str) -> Option<&'static str> {
    SIMULATORS.iter().find(|(_, is_config)| is_config(text)).map(|&(name, _)| name)
}

/// The meaning of a configuration in a folder; `None` if the text is not a configuration.
///
/// # Errors
/// Everything in it that cannot be taken, in the order of the text.
pub(super) fn meaning(text: &str, folder: &Path) -> Option<Result<Meaning, Vec<Refusal>>> {
    match simulator_of(text)? {
        "booksim" => Some(booksim::meaning(text, &|file| folder.join(file).exists())),
        _ => Some(hpcc::meaning(text, &|file| hpcc::found(folder, file))),
    }
}

/// \[bytes\] Longest text that readers are tried on.
const MOST: usize = 1 << 26;

/// Keys of configurations of the original, of which every file has at least one.
const ORIGINAL: &[&str] = &["topo", "tpattern", "plength", "rmode", "vc", "nsamples", "tracefile"];

/// The remedy for a file of another kind; `None` if its kind is unknown.
pub(super) fn taken_by(path: &Path, text: &str) -> Option<Phrase> {
    let shown = path.display();
    if is_original(text) {
        return Some(format!("this is a configuration of INSEE's simulator: use fsin legacy {shown}").into());
    }
    if text.lines().any(|line| line.trim_start().starts_with("import sst") || line.contains("sst.merlin")) {
        let what = "this is a configuration of SST, a program in Python, which is not read: the book's page \"Coming from SST and Merlin\" has \
                    its words";
        return Some(what.into());
    }
    if text.lines().any(|line| line.trim() == "[General]") && text.contains("network") {
        let what = "this is a configuration of OMNeT++, whose modules are programs: write the topology and the traffic that they mean";
        return Some(what.into());
    }
    fsin_networks::install();
    let graph = path.to_str().map(|name| topology::parse(&format!("graph:{name}"), 2));
    if text.contains("npus_count")
        && let Some(Err(error)) = &graph
    {
        return Some(phrase!["this is a network of ASTRA-sim; ", error.remedy().clone()]);
    }
    if text.len() > MOST {
        return None;
    }
    if flows::parse(text).is_ok_and(|list| !list.is_empty()) {
        return Some(phrase!["this is a list of messages: use ", ["flows" => shown]]);
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if open_bytes(&name, text.as_bytes(), &ReadOptions::default()).is_ok() {
        return Some(phrase!["this is a trace: use ", ["trace" => shown]]);
    }
    match graph {
        Some(Ok(_)) => Some(phrase!["this is a network: use ", ["topology" => format!("graph:{shown}")]]),
        _ => None,
    }
}

/// True for a configuration of the original: lines `key=value` without spaces, with one known key or more.
fn is_original(text: &str) -> bool {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim()).filter(|line| !line.is_empty());
    let mut known = false;
    for line in lines {
        let Some((key, value)) = line.split_once('=') else { return false };
        if key.is_empty() || [key, value].iter().any(|word| word.contains([' ', '"', ';', '['])) {
            return false;
        }
        known |= ORIGINAL.contains(&key);
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_original_are_told_from_experiments() {
        assert!(is_original("topo=torus_16_16\nload=0.3\n"));
        assert!(is_original("# mine\nrseed=13\ntpattern=uniform # all\n"));
        for other in ["", "load=0.3\n", "topology = \"torus:4\"\n", "topo=\"a\"\n", "topo = mesh;\nk = 8;\n", "A B\n"] {
            assert!(!is_original(other), "{other}");
        }
    }
}

//! Files of other tools that are given as experiments: configurations that are read, and the right command or setting
//! for the others.
//!
//! A new user begins with `fsin run FILE`, or gives a file to a setting that takes another kind. The readers themselves
//! recognise a file: if a reader accepts it, or knows it and says why it is not read, it is of that kind.
//!
//! Decision: docs/decisions/0660-files-given-to-another-setting.md.

use std::fs;
use std::path::Path;

use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::synthetic::flows;
use trgen::trace::formats::{Fault, ReadOptions, open};

use fsin_core::topology;
use fsin_core::topology::graph::{FORMATS, Read};

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

/// \[bytes\] Longest file that readers are tried on.
const MOST: u64 = 1 << 26;

/// Keys of configurations of the original, of which every file has at least one.
const ORIGINAL: &[&str] = &["topo", "tpattern", "plength", "rmode", "vc", "nsamples", "tracefile"];

/// The format of networks whose texts are lists of messages.
const MESSAGES: &str = "htsim-matrix";

/// What a file is given as, or is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// An experiment, or a configuration of another simulator.
    Experiment,
    /// A network.
    Network,
    /// A trace, or a part of one.
    Trace,
    /// A list of messages.
    Flows,
    /// A distribution of sizes.
    Sizes,
}

/// The remedy for a file that is given as one kind and is of another; `None` if its kind is unknown or the given one.
pub(super) fn taken_by(path: &Path, given: Kind) -> Option<Phrase> {
    kind(path, given).filter(|&(kind, _)| kind != given || given == Kind::Experiment).map(|(_, remedy)| remedy)
}

/// What a file is, and what takes it.
fn kind(path: &Path, given: Kind) -> Option<(Kind, Phrase)> {
    if fs::metadata(path).ok().filter(fs::Metadata::is_file)?.len() > MOST {
        return None;
    }
    let bytes = fs::read(path).ok()?;
    let shown = path.display();
    let Ok(text) = str::from_utf8(&bytes) else { return trace(path).or_else(|| unread_trace(path)) };
    if let Some(what) = configuration(path, text, given) {
        return Some((Kind::Experiment, what));
    }
    if flows::parse(text).is_ok_and(|list| !list.is_empty()) {
        return Some((Kind::Flows, phrase!["this is a list of messages: use ", ["flows" => shown]]));
    }
    let trace = trace(path);
    if trace.is_some() {
        return trace;
    }
    if is_sizes(text) {
        return Some((
            Kind::Sizes,
            phrase!["this is a distribution of sizes: use ", ["size" => format!("'cdf(\"{shown}\")'")]],
        ));
    }
    fsin_networks::install();
    let formats = FORMATS.rows().iter();
    if let Some(format) = formats.clone().find(|format| !format.takes_the_rest && (format.is)(text)) {
        return Some(match &format.read {
            Read::As(_) => {
                let topology = format!("graph:{shown}");
                (Kind::Network, phrase![("this is {}: use ", format.called), ["topology" => topology]])
            }
            Read::Not(remedy) => {
                let kind = if format.component.name == MESSAGES { Kind::Flows } else { Kind::Network };
                let what = format!("this is {}, and no network that is read: ", format.called);
                (kind, phrase![("{what}"), Phrase::of_template(remedy)])
            }
        });
    }
    let is_network =
        is_list(text) && path.to_str().is_some_and(|name| topology::parse(&format!("graph:{name}"), 2).is_ok());
    let topology = format!("graph:{shown}");
    if is_network {
        return Some((Kind::Network, phrase!["this is a network: use ", ["topology" => topology]]));
    }
    unread_trace(path)
}

/// The remedy for a configuration of a simulator.
fn configuration(path: &Path, text: &str, given: Kind) -> Option<Phrase> {
    let shown = path.display();
    if is_original(text) {
        return Some(format!("this is a configuration of INSEE's simulator: use fsin legacy {shown}").into());
    }
    if let Some(name) = simulator_of(text).filter(|_| given != Kind::Experiment) {
        return Some(
            format!("this is a configuration that fsin import {name} {shown} explains and fsin run {shown} runs")
                .into(),
        );
    }
    if given != Kind::Experiment
        && text.contains('=')
        && text.parse::<toml::Table>().is_ok_and(|table| !table.is_empty())
    {
        return Some(format!("this is an experiment: use fsin run {shown}").into());
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
    None
}

/// What a file is that a reader of traces knows: a trace, one that has to be prepared, or the file of one rank. A file
/// that is given as a trace and is none has an error of its own.
fn trace(path: &Path) -> Option<(Kind, Phrase)> {
    let shown = path.display();
    let Err(error) = open(path, &ReadOptions::default()) else {
        return Some((Kind::Trace, phrase!["this is a trace: use ", ["trace" => shown]]));
    };
    match &*error.fault {
        Fault::UnknownFormat { .. }
        | Fault::NoTrace { .. }
        | Fault::Foreign { .. }
        | Fault::Empty
        | Fault::NotText
        | Fault::NotFound
        | Fault::Io(_) => None,
        _ => {
            let remedy = error.remedy().unwrap_or_else(|| "correct it, or record it again".into());
            Some((Kind::Trace, phrase!["this is of a trace (", ["trace" => shown], ("): {}: ", error.fault), remedy]))
        }
    }
}

/// What a file is that readers of traces know and do not read.
fn unread_trace(path: &Path) -> Option<(Kind, Phrase)> {
    let error = open(path, &ReadOptions::default()).err()?;
    let Fault::Foreign { what, .. } = *error.fault else { return None };
    Some((Kind::Trace, phrase![("this is {what}, which is not read: "), error.remedy()?]))
}

/// True if every line is a link, or has words of links: readers of lists take any words behind two names.
fn is_list(text: &str) -> bool {
    let words_of_links = ["->", "--", "rate", "delay", "endpoints"];
    let mut lines = text.lines().map(|line| line.split('#').next().unwrap_or(""));
    lines.all(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.len() <= 2 || words.iter().any(|word| words_of_links.contains(word))
    })
}

/// True for a cumulative distribution: lines of a size and a share, both ascending, up to 1 or 100. Some files have the
/// mean alone before them.
fn is_sizes(text: &str) -> bool {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim()).filter(|line| !line.is_empty());
    let mut last = (-1.0, -1.0);
    let mut count = 0;
    let is_mean = |&(at, line): &(usize, &str)| at == 0 && line.parse::<f64>().is_ok();
    for (_, line) in lines.enumerate().filter(|line| !is_mean(line)) {
        let numbers: Vec<f64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let [size, .., share] = numbers[..] else { return false };
        if numbers.len() > 3 || size < last.0 || share < last.1 {
            return false;
        }
        last = (size, share);
        count += 1;
    }
    count > 1 && (last.1 == 1.0 || last.1 == 100.0)
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
    fn distributions_are_told_from_lists_of_links() {
        for text in [
            "0 0\n10000 15\n20000 100\n",
            "# sizes\n1 0.1\n7 0.1\n9 1\n",
            "1 1 0\n10 2 0.5\n12 3 1\n",
            "1744.70\n1 0.025\n9 1.0\n",
        ] {
            assert!(is_sizes(text), "{text}");
        }
        for text in ["", "0 1\n", "0 1\n1 0\n", "A B\nB C\n", "0 0.5\n9 0.9\n", "9 0\n3 1\n", "0 1 2 3\n4 5 6 100\n"] {
            assert!(!is_sizes(text), "{text}");
        }
    }

    #[test]
    fn words_of_the_original_are_told_from_experiments() {
        assert!(is_original("topo=torus_16_16\nload=0.3\n"));
        assert!(is_original("# mine\nrseed=13\ntpattern=uniform # all\n"));
        for other in ["", "load=0.3\n", "topology = \"torus:4\"\n", "topo=\"a\"\n", "topo = mesh;\nk = 8;\n", "A B\n"] {
            assert!(!is_original(other), "{other}");
        }
    }
}

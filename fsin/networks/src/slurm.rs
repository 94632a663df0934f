//! Slurm's topology.conf: `SwitchName=s0 Nodes=n[01-04,7]`, `SwitchName=top Switches=s[0-1],s3`.
//!
//! Each switch has a link to each switch and node that it names. `LinkSpeed` is Slurm's own remark. Format: Slurm
//! Workload Manager, topology.conf.

use std::collections::HashMap;

use trgen::catalog::{ErrorKind, SpecError};

use super::lines::words;
use super::{Builder, head, malformed, word};
use fsin_core::topology::graph::{Graph, MAX_LINKS, Reading, Word, refusal, short};

const FORM: &str = "write a line `SwitchName=s0 Nodes=n[01-04,7]` or `SwitchName=top Switches=s0,s1` for each switch";

/// What to do with blocks.
pub(crate) const BLOCKS: &str = "BlockName says which nodes are near each other, and no link: give switches and nodes, `SwitchName=s0 Nodes=n[1-4]`, \
                                 or links, `A B` a line";

/// Maximum number of nodes and switches that all lines name: each stands for a link.
const MOST: usize = MAX_LINKS;

/// What stands below a switch: a list of names, whether they are switches, and where that is written.
type Below<'a> = (&'a str, bool, usize);

/// Maximum number of digits of a number with zeros in front.
const MOST_DIGITS: usize = 20;

/// True for a text that begins with `SwitchName=`.
pub(crate) fn begins(text: &str) -> bool {
    begins_with(text, "SwitchName=")
}

/// True for a text that begins with `BlockName=`.
pub(crate) fn is_blocks(text: &str) -> bool {
    begins_with(text, "BlockName=") || begins_with(text, "BlockSizes=")
}

fn begins_with(text: &str, name: &str) -> bool {
    head(text).get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name))
}

/// The statements of a file.
pub(crate) fn parse<'a>(text: &'a str, of: &Reading<'_>) -> Result<Graph<'a>, SpecError> {
    let places = &of.places;
    // A line that ends with a backslash goes on in the next one.
    let mut lines: Vec<Vec<Word<'_>>> = Vec::new();
    let mut goes_on = false;
    for mut line in words(text) {
        let ends = line.last().is_some_and(|word| word.text == "\\");
        if ends {
            line.pop();
        }
        match lines.last_mut().filter(|_| goes_on) {
            Some(before) => before.extend(line),
            None => lines.push(line),
        }
        goes_on = ends;
    }
    // Every line is checked, and its names counted, before any of them is written out.
    let mut switches: Vec<(Word<'a>, Vec<Below<'_>>)> = Vec::new();
    let mut count = 0;
    for line in lines.iter().filter(|line| !line.is_empty()) {
        let mut name = None;
        let mut below = Vec::new();
        for field in line {
            let text: &str = &field.text;
            let (key, value) = text
                .split_once('=')
                .ok_or_else(|| malformed(places, field.at, format!("`{}` is no `Name=value`", short(text)), FORM))?;
            let at = field.at + key.len() + 1;
            let key_name = key.to_ascii_lowercase();
            match &*key_name {
                "switchname" => name = Some(word(value.to_owned(), at)),
                "nodes" | "switches" => {
                    let more = count_of(value).ok_or_else(|| {
                        let what = format!("`{}` is no list of names", short(value));
                        malformed(places, at, what, "write names with ranges between brackets, n[01-04,7],m2")
                    })?;
                    count += more.min(MOST + 1);
                    if count > MOST {
                        let what = format!("`{}`: more than {MOST} links up to here", short(value));
                        let remedy = "use fewer nodes and switches";
                        return Err(refusal(places, at, ErrorKind::TooLarge, what, remedy));
                    }
                    below.push((value, key_name == "switches", at));
                }
                "linkspeed" => of.decorated(key),
                _ => {
                    let near =
                        trgen::catalog::suggestion(key, &["SwitchName", "Nodes", "Switches", "LinkSpeed"]).to_string();
                    return Err(refusal(
                        places,
                        field.at,
                        ErrorKind::UnknownName,
                        format!("unknown `{}`", short(key)),
                        near,
                    ));
                }
            }
        }
        let name = name.ok_or_else(|| malformed(places, line[0].at, "a line without SwitchName", FORM))?;
        switches.push((name, below));
    }
    let mut is_switch: HashMap<String, bool> = HashMap::new();
    for (name, _) in &switches {
        if is_switch.insert(name.text.to_string(), true).is_some() {
            return Err(refusal(
                places,
                name.at,
                ErrorKind::Conflict,
                format!("switch `{}` stands twice", short(&name.text)),
                "write one line for each switch",
            ));
        }
    }
    let mut builder = Builder::default();
    for (name, _) in &switches {
        builder.declare(name.clone(), false);
    }
    // Switches first: of a list with more names than there are lines, one has no line, so that no more are written out.
    let known = switches.len() + 1;
    for &(list, _, at) in switches.iter().flat_map(|(_, below)| below).filter(|(_, is_switch, _)| *is_switch) {
        if let Some(name) = names(list, known).unwrap_or_default().iter().find(|name| !is_switch.contains_key(*name)) {
            let what = format!("switch `{}` has no line of its own", short(name));
            return Err(refusal(places, at, ErrorKind::UnknownName, what, FORM));
        }
    }
    for (name, _, at) in switches.iter().flat_map(|(_, below)| each(below)).filter(|(_, is_switch, _)| !is_switch) {
        match is_switch.get(&name) {
            Some(true) => {
                let what = format!("`{}` is a switch, and named among Nodes", short(&name));
                return Err(refusal(places, at, ErrorKind::Conflict, what, "name it among Switches"));
            }
            Some(false) => {}
            None => {
                is_switch.insert(name.clone(), false);
                builder.declare(word(name, at), true);
            }
        }
    }
    for (name, below) in &switches {
        for (other, _, at) in each(below) {
            builder.edge([word(other, at), name.clone()], false, Vec::new());
        }
    }
    Ok(builder.graph())
}

/// Each name below a switch, whether it is a switch, and where that is written.
fn each<'b>(below: &'b [(&'b str, bool, usize)]) -> impl Iterator<Item = (String, bool, usize)> + 'b {
    let named = |&(list, is_switch, at): &'b (&'b str, bool, usize)| {
        names(list, MOST).unwrap_or_default().into_iter().map(move |name| (name, is_switch, at))
    };
    below.iter().flat_map(named)
}

/// The parts of a list between commas that stand in no brackets.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |letter: char| {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    })
}

/// How many names a list such as `n[01-04,7],m2` has; `None` for another text.
fn count_of(text: &str) -> Option<usize> {
    parts(text).try_fold(0_usize, |sum, part| {
        let (mut rest, mut product, mut length) = (part, 1_usize, 0_usize);
        while let Some((before, ranges)) = rest.split_once('[') {
            let (ranges, after) = ranges.split_once(']')?;
            let mut count = 0_usize;
            for part in ranges.split(',') {
                let (low, high, width) = range(part)?;
                length = length.max(width);
                count = count.saturating_add(usize::try_from(high - low).ok()?).saturating_add(1);
            }
            product = product.saturating_mul(count);
            length += before.len() + 1;
            rest = after;
        }
        (!rest.contains(']') && length + rest.len() > 0).then(|| sum.saturating_add(product))
    })
}

/// The first and last number of a range between brackets, and how many digits each has at least.
fn range(text: &str) -> Option<(u64, u64, usize)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (low, high) = (first.parse::<u64>().ok()?, last.parse::<u64>().ok()?);
    let width = if first.starts_with('0') { first.len() } else { 0 };
    (low <= high && width <= MOST_DIGITS).then_some((low, high, width))
}

/// The first `most` names of a list such as `n[01-04,7],m2`; `None` for another text.
fn names(text: &str, most: usize) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for part in parts(text) {
        expand("", part, &mut all, most)?;
    }
    Some(all)
}

/// Adds the names of `n[01-04,7]` behind a beginning, up to `most` in all.
fn expand(begin: &str, text: &str, into: &mut Vec<String>, most: usize) -> Option<()> {
    let Some((before, rest)) = text.split_once('[') else {
        let name = format!("{begin}{text}");
        if name.is_empty() || name.contains(']') {
            return None;
        }
        if into.len() < most {
            into.push(name);
        }
        return Some(());
    };
    let (ranges, after) = rest.split_once(']')?;
    for part in ranges.split(',') {
        let (low, high, width) = range(part)?;
        for number in low..=high {
            if into.len() >= most {
                return Some(());
            }
            expand(&format!("{begin}{before}{number:0width$}"), after, into, most)?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{count_of, names};

    #[test]
    fn lists_keep_their_zeros() {
        assert_eq!(names("n[01-03,7],m2", 9).unwrap().join(" "), "n01 n02 n03 n7 m2");
        assert_eq!(names("n[0-99999999]", 2).unwrap().join(" "), "n0 n1");
        assert_eq!(names("r[0-1]n[8-9]", 9).unwrap().join(" "), "r0n8 r0n9 r1n8 r1n9");
        for wrong in ["n[3-1]", "n[", "n]", "", "n[a-b]"] {
            assert_eq!((names(wrong, 9), count_of(wrong)), (None, None), "{wrong}");
        }
        for (text, count) in [("n[01-03,7],m2", 5), ("r[0-1]n[8-9]", 4), ("a,b", 2), ("n[0-99999999]", 100_000_000)] {
            assert_eq!(count_of(text), Some(count), "{text}");
        }
    }
}

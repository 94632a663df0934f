//! Slurm's topology.conf, and what `scontrol show topology` prints of it: `SwitchName=s0 Nodes=n[01-04,7]`,
//! `SwitchName=top Switches=s[0-1],s3`.
//!
//! Each switch has a link to each switch and node that it names. In what is printed, which has a `Level`, a switch
//! above others also names all nodes below these; they have their links there. `LinkSpeed` is Slurm's own remark.
//! Format: Slurm Workload Manager, topology.conf and scontrol.

use trgen::catalog::{ErrorKind, SpecError};

use super::{head, malformed, word};
use fsin_core::topology::graph::{Description, MAX_LINKS, Places, refusal, short};

const FORM: &str = "write a line `SwitchName=s0 Nodes=n[01-04,7]` or `SwitchName=top Switches=s0,s1` for each switch";

/// What to do with blocks.
pub(crate) const BLOCKS: &str = "BlockName says which nodes are near each other, and no link: give switches and nodes, `SwitchName=s0 Nodes=n[1-4]`, \
                                 or links, `A B` a line";

/// Maximum number of nodes and switches that all lines name: each stands for a link.
const MOST: usize = MAX_LINKS;

/// A list of names below a switch, as it is written.
#[derive(Clone, Copy)]
struct Below<'a> {
    list: &'a str,
    at: u32,
    /// Position of the switch among all.
    switch: u32,
    kind: Kind,
}

/// What a list names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Switches with a link to this one.
    Switches,
    /// Nodes with a link to this one.
    Nodes,
    /// Nodes with links to switches below this one.
    Reached,
}

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

/// States a file.
pub(crate) fn parse(text: &str, to: &mut Description<'_>) -> Result<(), SpecError> {
    let of = to.reading();
    let places = &of.places;
    // Every line is checked, and its names counted, before any of them is written out.
    let mut switches: Vec<(&str, u32)> = Vec::new();
    let mut below: Vec<Below<'_>> = Vec::new();
    let mut count = 0;
    // A line that ends with a backslash goes on in the next one.
    let (mut goes_on, mut first, mut name) = (false, 0, None);
    let mut is_open = false;
    // What is printed has levels.
    let mut has_level = false;
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let at = begin;
        begin += line.len();
        let code = line.split('#').next().unwrap_or("");
        if code.trim().is_empty() {
            continue;
        }
        if is_open && !goes_on {
            switches.push(name.take().ok_or_else(|| nameless(places, first))?);
            reach(&mut below, switches.len() as u32 - 1, has_level);
            (is_open, has_level) = (false, false);
        }
        goes_on = false;
        for text in code.split_whitespace() {
            let at = at + (text.as_ptr() as usize - line.as_ptr() as usize);
            goes_on = text == "\\" && code.trim_end().ends_with(text);
            if goes_on {
                continue;
            }
            if !is_open {
                (is_open, first) = (true, at);
            }
            let (key, value) = text
                .split_once('=')
                .ok_or_else(|| malformed(places, at, format!("`{}` is no `Name=value`", short(text)), FORM))?;
            let of_value = at + key.len() + 1;
            let key_name = key.to_ascii_lowercase();
            match &*key_name {
                "switchname" => name = Some((value, of_value as u32)),
                "nodes" | "switches" => {
                    let more = count_of(value).ok_or_else(|| {
                        let what = format!("`{}` is no list of names", short(value));
                        malformed(places, of_value, what, "write names with ranges between brackets, n[01-04,7],m2")
                    })?;
                    count += more.min(MOST + 1);
                    if count > MOST {
                        let what = format!("`{}`: more than {MOST} links up to here", short(value));
                        let remedy = "use fewer nodes and switches";
                        return Err(refusal(places, of_value, ErrorKind::TooLarge, what, remedy));
                    }
                    below.push(Below {
                        list: value,
                        at: of_value as u32,
                        switch: switches.len() as u32,
                        kind: if key_name == "switches" { Kind::Switches } else { Kind::Nodes },
                    });
                }
                "level" => {
                    has_level = true;
                    of.decorated(key);
                }
                "linkspeed" => of.decorated(key),
                _ => {
                    let near =
                        trgen::catalog::suggestion(key, &["SwitchName", "Nodes", "Switches", "LinkSpeed"]).to_string();
                    let what = format!("unknown `{}`", short(key));
                    return Err(refusal(places, at, ErrorKind::UnknownName, what, near));
                }
            }
        }
    }
    if is_open {
        switches.push(name.ok_or_else(|| nameless(places, first))?);
        reach(&mut below, switches.len() as u32 - 1, has_level);
    }
    state(&switches, &below, to)
}

/// Of the lists of one switch: what is printed of a switch above others names the nodes that they reach.
fn reach(below: &mut [Below<'_>], switch: u32, has_level: bool) {
    let first = below.iter().rposition(|below| below.switch != switch).map_or(0, |last| last + 1);
    let lists = &mut below[first..];
    if has_level && lists.iter().any(|below| below.kind == Kind::Switches) {
        lists.iter_mut().filter(|below| below.kind == Kind::Nodes).for_each(|below| below.kind = Kind::Reached);
    }
}

/// The error of a line that names no switch.
fn nameless(places: &Places<'_>, at: usize) -> SpecError {
    malformed(places, at, "a line without SwitchName", FORM)
}

/// States switches and what stands below them.
fn state(switches: &[(&str, u32)], below: &[Below<'_>], to: &mut Description<'_>) -> Result<(), SpecError> {
    let places = &to.reading().places;
    for &(name, at) in switches {
        if to.number_of(name).is_some() {
            let what = format!("switch `{}` stands twice", short(name));
            let remedy = "write one line for each switch";
            return Err(refusal(places, at as usize, ErrorKind::Conflict, what, remedy));
        }
        to.declare(&word(name, at as usize), false)?;
    }
    // Switches have the first numbers.
    let known = switches.len();
    let is_switch = |number: u32| (number as usize) < known;
    // Switches first: of a list with more names than there are lines, one has no line, so that no more are written out.
    for &Below { list, at, .. } in of_kind(below, Kind::Switches) {
        names(list, known + 1, &mut |name| match to.number_of(name) {
            Some(_) => Ok(()),
            None => {
                let what = format!("switch `{}` has no line of its own", short(name));
                Err(refusal(places, at as usize, ErrorKind::UnknownName, what, FORM))
            }
        })?;
    }
    for &Below { list, at, .. } in of_kind(below, Kind::Nodes) {
        names(list, MOST, &mut |name| match to.number_of(name) {
            Some(number) if is_switch(number) => {
                let what = format!("`{}` is a switch, and named among Nodes", short(name));
                Err(refusal(places, at as usize, ErrorKind::Conflict, what, "name it among Switches"))
            }
            Some(_) => Ok(()),
            None => to.declare(&word(name, at as usize), true).map(|_| ()),
        })?;
    }
    for &Below { list, at, .. } in of_kind(below, Kind::Reached) {
        names(list, MOST, &mut |name| match to.number_of(name) {
            Some(_) => Ok(()),
            None => {
                let what = format!("node `{}` is named by no switch that it has a link to", short(name));
                let remedy = "name it in the line of its switch, which has no Switches";
                Err(refusal(places, at as usize, ErrorKind::UnknownName, what, remedy))
            }
        })?;
    }
    for &Below { list, at, switch, .. } in below.iter().filter(|below| below.kind != Kind::Reached) {
        let above = word(switches[switch as usize].0, switches[switch as usize].1 as usize);
        names(list, MOST, &mut |name| to.edge([&word(name, at as usize), &above], false, &[]))?;
    }
    Ok(())
}

/// The lists that name what is so.
fn of_kind<'a, 'b>(below: &'b [Below<'a>], kind: Kind) -> impl Iterator<Item = &'b Below<'a>> {
    below.iter().filter(move |below| below.kind == kind)
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

/// Takes the first `most` names of a list such as `n[01-04,7],m2`, one by one; those of another text up to its fault.
fn names(text: &str, most: usize, take: &mut dyn FnMut(&str) -> Result<(), SpecError>) -> Result<(), SpecError> {
    let mut left = most;
    for part in parts(text) {
        expand("", part, &mut left, take)?;
    }
    Ok(())
}

/// Takes the names of `n[01-04,7]` behind a beginning, as many as are left.
fn expand(
    begin: &str,
    text: &str,
    left: &mut usize,
    take: &mut dyn FnMut(&str) -> Result<(), SpecError>,
) -> Result<(), SpecError> {
    let brackets = text.split_once('[').and_then(|(before, rest)| Some((before, rest.split_once(']')?)));
    let Some((before, (ranges, after))) = brackets else {
        if *left > 0 {
            *left -= 1;
            take(&format!("{begin}{text}"))?;
        }
        return Ok(());
    };
    for (low, high, width) in ranges.split(',').filter_map(range) {
        for number in low..=high {
            if *left == 0 {
                return Ok(());
            }
            expand(&format!("{begin}{before}{number:0width$}"), after, left, take)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{count_of, names};

    /// The first names of a list.
    fn listed(text: &str, most: usize) -> String {
        let mut all = Vec::new();
        let taken = names(text, most, &mut |name| {
            all.push(name.to_owned());
            Ok(())
        });
        assert_eq!(taken, Ok(()));
        all.join(" ")
    }

    #[test]
    fn lists_keep_their_zeros() {
        assert_eq!(listed("n[01-03,7],m2", 9), "n01 n02 n03 n7 m2");
        assert_eq!(listed("n[0-99999999]", 2), "n0 n1");
        assert_eq!(listed("r[0-1]n[8-9]", 9), "r0n8 r0n9 r1n8 r1n9");
        for wrong in ["n[3-1]", "n[", "n]", "", "n[a-b]"] {
            assert_eq!(count_of(wrong), None, "{wrong}");
        }
        for (text, count) in [("n[01-03,7],m2", 5), ("r[0-1]n[8-9]", 4), ("a,b", 2), ("n[0-99999999]", 100_000_000)] {
            assert_eq!(count_of(text), Some(count), "{text}");
        }
    }
}

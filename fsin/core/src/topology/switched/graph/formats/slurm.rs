//! Slurm's topology.conf: `SwitchName=s0 Nodes=n[01-04,7]`, `SwitchName=top Switches=s[0-1],s3`.
//!
//! Each switch has a link to each switch and node that it names. `LinkSpeed` is Slurm's own remark. Format: Slurm
//! Workload Manager, topology.conf.

use std::collections::HashMap;

use trgen::catalog::{ErrorKind, SpecError};

use super::super::attribute::{refusal, short};
use super::super::reading::Reading;
use super::super::statement::{Graph, Word};
use super::lines::words;
use super::{Builder, head, malformed, word};

const FORM: &str = "write a line `SwitchName=s0 Nodes=n[01-04,7]` or `SwitchName=top Switches=s0,s1` for each switch";

/// What to do with blocks.
pub(super) const BLOCKS: &str = "BlockName says which nodes are near each other, and no link: give switches and nodes, `SwitchName=s0 Nodes=n[1-4]`, \
                                 or links, `A B` a line";

/// Maximum number of nodes and switches that a line names.
const MOST: usize = 1 << 13;

/// True for a text that begins with `SwitchName=`.
pub(super) fn begins(text: &str) -> bool {
    begins_with(text, "SwitchName=")
}

/// True for a text that begins with `BlockName=`.
pub(super) fn is_blocks(text: &str) -> bool {
    begins_with(text, "BlockName=") || begins_with(text, "BlockSizes=")
}

fn begins_with(text: &str, name: &str) -> bool {
    head(text).get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name))
}

/// The statements of a file.
pub(super) fn parse<'a>(text: &'a str, of: &Reading<'_>) -> Result<Graph<'a>, SpecError> {
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
    let mut is_switch: HashMap<String, bool> = HashMap::new();
    // Children of a switch: name, whether it is a switch, and its place in the text.
    type Below = Vec<(String, bool, usize)>;
    let mut switches: Vec<(Word<'a>, Below)> = Vec::new();
    for line in lines.iter().filter(|line| !line.is_empty()) {
        let mut name = None;
        let mut below = Vec::new();
        for field in line {
            let (key, value) = field.text.split_once('=').ok_or_else(|| {
                malformed(places, field.at, format!("`{}` is no `Name=value`", short(&field.text)), FORM)
            })?;
            let at = field.at + key.len() + 1;
            let listed = |value: &str| {
                names(value).ok_or_else(|| {
                    malformed(
                        places,
                        at,
                        format!("`{}` is no list of names", short(value)),
                        "write names with ranges between brackets, n[01-04,7],m2, and at most 8192 of them",
                    )
                })
            };
            match &*key.to_ascii_lowercase() {
                "switchname" => name = Some(word(value.to_owned(), at)),
                "nodes" => below.extend(listed(value)?.into_iter().map(|name| (name, false, at))),
                "switches" => below.extend(listed(value)?.into_iter().map(|name| (name, true, at))),
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
        if is_switch.insert(name.text.to_string(), true).is_some() {
            return Err(refusal(
                places,
                name.at,
                ErrorKind::Conflict,
                format!("switch `{}` stands twice", short(&name.text)),
                "write one line for each switch",
            ));
        }
        switches.push((name, below));
    }
    let mut builder = Builder::default();
    for (name, _) in &switches {
        builder.declare(name.clone(), false);
    }
    for (_, below) in &switches {
        for (name, is_below_switch, at) in below {
            match (is_switch.get(name).copied(), *is_below_switch) {
                (None, true) => {
                    let what = format!("switch `{}` has no line of its own", short(name));
                    return Err(refusal(places, *at, ErrorKind::UnknownName, what, FORM));
                }
                (Some(true), false) => {
                    let what = format!("`{}` is a switch, and named among Nodes", short(name));
                    return Err(refusal(places, *at, ErrorKind::Conflict, what, "name it among Switches"));
                }
                (None, false) => {
                    is_switch.insert(name.clone(), false);
                    builder.declare(word(name.clone(), *at), true);
                }
                _ => {}
            }
        }
    }
    for (name, below) in switches {
        for (other, _, at) in below {
            builder.edge([word(other, at), name.clone()], false, Vec::new());
        }
    }
    Ok(builder.graph())
}

/// The names of a list such as `n[01-04,7],m2`; `None` for another text.
fn names(text: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    let mut depth = 0_usize;
    let parts = text.split(|letter: char| {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    for part in parts {
        expand("", part, &mut all)?;
    }
    Some(all)
}

/// Adds the names of `n[01-04,7]` behind a beginning.
fn expand(begin: &str, text: &str, into: &mut Vec<String>) -> Option<()> {
    let Some((before, rest)) = text.split_once('[') else {
        let name = format!("{begin}{text}");
        if name.is_empty() || name.contains(']') || into.len() >= MOST {
            return None;
        }
        into.push(name);
        return Some(());
    };
    let (ranges, after) = rest.split_once(']')?;
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (low, high) = (first.parse::<u64>().ok()?, last.parse::<u64>().ok()?);
        if low > high || high - low >= MOST as u64 {
            return None;
        }
        let width = if first.starts_with('0') { first.len() } else { 0 };
        for number in low..=high {
            expand(&format!("{begin}{before}{number:0width$}"), after, into)?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn lists_keep_their_zeros() {
        assert_eq!(names("n[01-03,7],m2").unwrap().join(" "), "n01 n02 n03 n7 m2");
        assert_eq!(names("r[0-1]n[8-9]").unwrap().join(" "), "r0n8 r0n9 r1n8 r1n9");
        for wrong in ["n[3-1]", "n[", "n]", "", "n[a-b]", "n[0-99999999]"] {
            assert_eq!(names(wrong), None, "{wrong}");
        }
    }
}

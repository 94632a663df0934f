//! A placement that is listed in a file.

use std::path::Path;

use super::{PlacementContext, Row, Rule, needs};
use crate::catalog::{Component, ErrorKind, Parameter, SpecError};
use crate::geometry::Geometry;
use crate::phrase;
use crate::phrase::Phrase;
use crate::units::NodeId;

pub(super) const FILE: Row = Row {
    component: Component {
        name: "file",
        about: "task i on the i-th node that a file names: numbers, or names of the network's file, separated by blanks, commas or line ends; # begins a comment",
        parameters: &[Parameter {
            name: "F",
            about: "the file, from the folder of the experiment file that names it, else from the working directory",
            range: "a path",
            default: "",
        }],
        source: "",
    },
    parse: |words| match words {
        Some(path) if !path.is_empty() => Ok(Rule::Listed(path.into())),
        Some(_) | None => Err(needs("file", "the path of a file", "file:nodes.txt")),
    },
};

/// \[bytes\] Size limit of a file: ten characters for each of 26 million nodes.
const LONGEST: u64 = 256 << 20;

/// The words of a line for nodes. Names that stand alone on a line, or between commas, may have blanks.
fn words<'a>(line: &'a str, geometry: &Geometry) -> Vec<&'a str> {
    let is_node = |word: &str| geometry.find(word).is_ok();
    let line = line.split('#').next().unwrap_or("").trim();
    if is_node(line) {
        return vec![line];
    }
    let parts = line.split([',', ';']).map(str::trim);
    let of_part = |part: &'a str| if is_node(part) { vec![part] } else { part.split_whitespace().collect() };
    parts.flat_map(of_part).collect()
}

/// The nodes listed in a file, one for each task.
pub(super) fn listed(path: &Path, context: &PlacementContext<'_>) -> Result<Vec<NodeId>, SpecError> {
    let PlacementContext { geometry, tasks, .. } = *context;
    let shown = path.display();
    let unreadable = |error: std::io::Error| {
        SpecError::new(
            ErrorKind::Unreadable,
            format!("cannot read {shown}: {error}"),
            "give the path of a text file that you may read",
        )
    };
    let about = std::fs::metadata(path).map_err(unreadable)?;
    if !about.is_file() || about.len() > LONGEST {
        let what = format!("{shown} is no file of at most 256 MiB");
        return Err(SpecError::new(ErrorKind::TooLarge, what, "check that it is the file you mean"));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let mut line_of = vec![0_u64; geometry.nodes()];
    let mut found = Vec::with_capacity(tasks);
    for (number, line) in (1..).zip(text.lines()) {
        for word in words(line, geometry) {
            let refuse = |kind, what: String, remedy: Phrase| {
                SpecError::new(kind, format!("{shown}, line {number}: {what}"), remedy)
            };
            let remedy = "nodes are numbered from 0, or have the names of the network's file";
            let node = geometry.find(word).map_err(|why| refuse(ErrorKind::OutOfRange, why, remedy.into()))?.index();
            if line_of[node] != 0 {
                let what = format!("node {node} stands in line {} already", line_of[node]);
                let remedy = phrase!["name each node once; ", ["tasks-per-node"], " puts several tasks on each"];
                return Err(refuse(ErrorKind::Conflict, what, remedy));
            }
            line_of[node] = number;
            found.push(NodeId::at(node));
        }
    }
    if found.len() < tasks {
        let what = format!("{shown} names {} nodes, and {tasks} are needed", found.len());
        return Err(SpecError::new(ErrorKind::Malformed, what, "add nodes"));
    }
    Ok(found)
}

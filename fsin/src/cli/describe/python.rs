//! The names of the Python package: arguments of `fsin.run` and `fsin.sweep`, and figures of results, with types and
//! meanings. Type checkers and editors read them; at run time the tables of the package decide.
//!
//! Decision: docs/decisions/0500-names-of-python.md.

use fsin::experiment::{self, Key, Kind, MANY_KEYS};
use fsin::result::{Figure, Shape};

use crate::cli::notation::of_table;

/// What precedes the classes.
const HEAD: &str = r#""""Names and types of arguments and figures. Made by `fsin generate python`; do not edit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Optional, Protocol, SupportsFloat, SupportsIndex, TypedDict, Union

if TYPE_CHECKING:
    from fsin._topology import Topology


class Graph(Protocol):
    """A graph of networkx."""

    @property
    def adjacency(self) -> Any: ...


class Table(Protocol):
    """An array of numpy, a table of pandas, or what becomes one."""

    def __array__(self) -> Any: ...


Number = Union[SupportsFloat, SupportsIndex, str]
Switch = Union[bool, str]
Word = Union[str, SupportsFloat, SupportsIndex]
Path = Union[str, "os.PathLike[str]"]
Network = Union[str, "Topology", Mapping[str, Any], Graph]
Pattern = Union[str, Callable[[int], Any], Table, Sequence[Sequence[float]]]
Routes = Union[Path, Mapping[str, Any], Table, Callable[[int, int], Optional[Sequence[int]]]]
"#;

/// The text of the module `fsin._named`.
pub(super) fn module() -> String {
    let mut text = HEAD.to_owned();
    text.push_str("\n\nclass RunKeys(TypedDict, total=False):\n    \"\"\"Arguments of a run.\"\"\"\n");
    for key in experiment::keys() {
        text.push_str(&argument(key, |of| format!("Optional[{of}]")));
    }
    text.push_str(
        "\n\nclass ManyKeys(TypedDict, total=False):\n    \"\"\"Arguments of a sweep and of a search: a value, or several.\"\"\"\n",
    );
    for key in experiment::keys() {
        text.push_str(&argument(key, |of| format!("Union[None, {of}, Iterable[{of}]]")));
    }
    for key in MANY_KEYS {
        text.push_str(&argument(key, |of| format!("Optional[{of}]")));
    }
    text.push_str(
        "\n\nclass Figures:\n    \"\"\"Figures of a result. One that cannot be computed is ``None``.\"\"\"\n",
    );
    let is_list = |figure: &&Figure| figure.shape() == Shape::List;
    let names: Vec<String> =
        Figure::ALL.iter().filter(is_list).map(|figure| format!("    \"{}\",\n", figure.name())).collect();
    for &figure in Figure::ALL {
        let of = match figure.shape() {
            Shape::Integer => "Union[int, Any]",
            Shape::Number => "Union[float, Any]",
            Shape::Boolean => "Union[bool, Any]",
            Shape::Text => "Union[str, Any]",
            Shape::List => "Union[list[Any], Any]",
            Shape::Object => "Union[dict[str, Any], Any]",
        };
        text.push_str(&entry(figure.name(), of, &with_unit(figure.unit(), figure.meaning())));
    }
    text.push_str("\n\n#: Figures that are tables, a row for each node, rank, collective, ...\nTables = Literal[\n");
    text.push_str(&names.concat());
    text.push_str("]\n");
    text
}

/// An argument, whose type is made from that of a value.
fn argument(key: &Key, whole: impl Fn(&str) -> String) -> String {
    let of = match (key.name, key.kind) {
        ("topology", _) => "Network",
        ("traffic", _) => "Pattern",
        ("routes", _) => "Routes",
        (_, Kind::Integer | Kind::Number) => "Number",
        (_, Kind::Switch) => "Switch",
        (_, Kind::Path) => "Path",
        (_, Kind::Word) => "Word",
    };
    let default = key.default.map(|default| format!(" (default {default})")).unwrap_or_default();
    entry(&key.name.replace('-', "_"), &whole(of), &with_unit(key.unit, &format!("{}{default}", of_table(key.about))))
}

/// A meaning after its unit.
fn with_unit(unit: &str, meaning: &str) -> String {
    if unit.is_empty() { meaning.to_owned() } else { format!("[{unit}] {meaning}") }
}

/// A name with its type and meaning.
fn entry(name: &str, of: &str, meaning: &str) -> String {
    // Quotes and backslashes would end or change a text in three quotes.
    let meaning = meaning.replace('\\', "\\\\").replace('"', "'");
    format!("\n    {name}: {of}\n    \"\"\"{meaning}\"\"\"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_and_every_figure_has_a_line() {
        let module = module();
        for key in experiment::keys() {
            let line = format!("\n    {}: ", key.name.replace('-', "_"));
            assert!(module.matches(&line).count() >= 2, "{}", key.name);
        }
        for figure in Figure::ALL {
            assert!(module.contains(&format!("\n    {}: Union[", figure.name())), "{}", figure.name());
        }
        assert!(!entry("a", "b", "says \"c\\d\"").contains("\"\"\"\""));
    }
}

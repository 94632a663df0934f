"""Descriptions of components, figures and arguments."""

from __future__ import annotations

import builtins
import difflib
import json
from typing import Any, Optional

from fsin import _fsin
from fsin._error import Error
from fsin._record import Record


class Component(Record):
    """A component: ``family``, ``name``, ``about``, ``parameters``, ``source``, and by key what else its family has."""

    family: str
    name: str
    about: str
    also_called: builtins.list[str]
    parameters: builtins.list[dict[str, Any]]
    source: str

    def __repr__(self) -> str:
        lines = [f"{self['name']}  ({self['family']})", f"  {self['about']}"]
        for one in self["parameters"]:
            default = "required" if one["default"] is None else one["default"]
            lines.append(f"  {one['name']}: {one['about']} ({one['range']}) [{default}]")
        return "\n".join([*lines, f"  source: {self['source']}"])


def components(network: Optional[str]) -> builtins.list[Component]:
    """Every component, or those of a network model."""
    return [Component(one) for one in json.loads(_fsin.catalogue(network))]


def near(word: str, known: builtins.list[str], whole: str) -> str:
    """The remedy for an unknown name."""
    found = difflib.get_close_matches(word, known, 3)
    return f"did you mean {', '.join(repr(one) for one in found)}?" if found else whole


def list(family: Optional[str] = None, *, network: Optional[str] = None) -> builtins.list[Any]:
    """The components of a family, such as ``"topologies"``; without one, the names of the families."""
    found = components(network)
    families = builtins.list(dict.fromkeys(one["family"] for one in found))
    if family is None:
        return families
    if family not in families:
        remedy = near(family, families, f"known: {', '.join(families)}")
        raise Error(f"there is no list {family!r}", family, remedy)
    return [one for one in found if one["family"] == family]


def explain(name: str, *, network: Optional[str] = None) -> builtins.list[Component]:
    """Every component of this name, or with it as another name."""
    found = components(network)
    named = [one for one in found if one["name"] == name] + [one for one in found if name in one["also_called"]]
    if not named:
        names = [one["name"] for one in found]
        remedy = near(name, names, "fsin.list() names the families, fsin.list(FAMILY) what is of one")
        raise Error(f"no component is called {name!r}", name, remedy)
    return named


def figures() -> dict[str, tuple[str, str]]:
    """Unit and meaning of every figure of results, by name."""
    return {name: (unit, meaning) for name, unit, meaning in _fsin.figures()}


def keys() -> dict[str, dict[str, Any]]:
    """Meaning, unit and default of every argument, by name."""
    return {one.pop("name"): one for one in json.loads(_fsin.keys())}

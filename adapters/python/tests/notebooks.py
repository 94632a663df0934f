"""Runs the notebooks without a server, and compares what they show with what they hold: texts and pictures.

``UPDATE_EXAMPLES=1`` writes what they show instead.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"


def lines(text: str) -> list[str]:
    """A text as notebooks hold it."""
    return text.splitlines(keepends=True)


def show(value: Any) -> list[dict[str, Any]]:
    """The output of a cell whose last expression has this value."""
    if value is None:
        return []
    data = {"text/plain": lines("..." if hasattr(value, "_repr_svg_") else repr(value))}
    for kind, method in [("text/html", "_repr_html_"), ("image/svg+xml", "_repr_svg_")]:
        if hasattr(value, method):
            data[kind] = lines(getattr(value, method)())
    return [{"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data}]


def run(path: Path) -> list[str]:
    """Runs the cells of a notebook; returns the cells that show something else than the notebook holds."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    different = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]), f"{path.name}:{cell['id']}")
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, tree_name := f"{path.name}:{cell['id']}", "exec"), names)
        value = eval(compile(ast.Expression(last.value), tree_name, "eval"), names) if last is not None else None
        outputs = show(value)
        if cell["outputs"] != outputs:
            different.append(f"{path.name}:{cell['id']}")
            cell["outputs"] = outputs
    if os.environ.get("UPDATE_EXAMPLES") == "1":
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return []
    return different


def main() -> int:
    """Runs all notebooks."""
    os.chdir(FOLDER)
    notebooks = sorted(FOLDER.glob("*.ipynb"))
    different = [cell for path in notebooks for cell in run(path)]
    for cell in different:
        print(f"{cell} shows something else than it holds; UPDATE_EXAMPLES=1 renews it", file=sys.stderr)
    print(f"{len(notebooks)} notebooks")
    return 1 if different or not notebooks else 0


if __name__ == "__main__":
    sys.exit(main())

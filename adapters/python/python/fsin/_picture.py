"""Pictures, which notebooks show."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Union, overload

from fsin import _fsin
from fsin._error import Error


class Picture:
    """A picture in SVG, with its data as CSV."""

    def __init__(self, kind: str, name: str, caption: str, svg: str, data: str) -> None:
        self.kind = kind
        self.name = name
        self.caption = caption
        self.svg = svg
        self.data = data

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<picture {self.name}: {self.caption}>"

    def save(self, path: os.PathLike[str] | str) -> None:
        """Writes the picture, in the format of the file's suffix: ``.svg``, ``.pdf``, ``.png``; ``.csv`` has its data."""
        suffix = Path(path).suffix.lower()
        if suffix == ".svg":
            content = self.svg.encode()
        elif suffix in (".pdf", ".png"):
            content = _fsin.converted(self.svg, suffix[1:])
        elif suffix == ".csv" and self.data:
            content = self.data.encode()
        else:
            known = ".svg, .pdf, .png" + (", .csv" if self.data else "")
            what = f"save({os.fspath(path)!r}): " + (f"{suffix} is no format of pictures" if suffix else "there is no suffix")
            raise Error(what, "path", f"give the file one of the suffixes {known}")
        Path(path).write_bytes(content)


class Pictures(Sequence[Picture]):
    """The pictures of a sweep, by number or by kind: ``pictures["latency"]``."""

    def __init__(self, pictures: list[Picture]) -> None:
        self._pictures = pictures

    def __len__(self) -> int:
        return len(self._pictures)

    @overload
    def __getitem__(self, which: Union[int, str]) -> Picture: ...

    @overload
    def __getitem__(self, which: slice) -> Sequence[Picture]: ...

    def __getitem__(self, which: Union[int, str, slice]) -> Union[Picture, Sequence[Picture]]:
        if isinstance(which, str):
            found = [one for one in self._pictures if which in (one.kind, one.name)]
            if not found:
                names = ", ".join(one.name for one in self._pictures)
                raise KeyError(f"there is no picture {which!r}: {names}")
            return found[0]
        return self._pictures[which]

    def __iter__(self) -> Iterator[Picture]:
        return iter(self._pictures)

    def __repr__(self) -> str:
        return "\n".join(repr(one) for one in self._pictures)

    def _repr_html_(self) -> str:
        return "".join(f"<div>{one.svg}</div>" for one in self._pictures)

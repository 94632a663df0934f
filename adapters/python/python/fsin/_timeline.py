"""Timelines of ranks as pictures."""

from __future__ import annotations

from html import escape
from typing import Any

#: The most ranks, and the most spans, that a picture shows.
MOST_RANKS, MOST_SPANS = 64, 20_000

_COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#ee8866")


def svg(timeline: dict[str, Any]) -> str:
    """What each rank does over time, a lane for each."""
    # The first process has the ranks; others have their messages and the links.
    events = [one for one in timeline["traceEvents"] if one.get("ph") == "X" and one["pid"] == 1]
    ranks = sorted({one["tid"] for one in events})
    shown = {rank: at for at, rank in enumerate(ranks[:MOST_RANKS])}
    spans = [one for one in events if one["tid"] in shown][:MOST_SPANS]
    if not spans:
        return ""
    end = max(one["ts"] + one["dur"] for one in spans) or 1
    kinds = {kind: at for at, kind in enumerate(dict.fromkeys(one.get("cat", one["name"]) for one in spans))}
    lane, width, left = 12, 700, 60
    height = lane * len(shown)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 10}" height="{height + 50}" '
        'font-family="sans-serif" font-size="10">',
        '<rect width="100%" height="100%" fill="#FFFFFF"/>',
    ]
    for rank, at in shown.items():
        out.append(f'<text x="{left - 6}" y="{lane * at + 10}" text-anchor="end">{rank}</text>')
    for one in spans:
        x, wide = left + width * one["ts"] / end, max(width * one["dur"] / end, 0.1)
        colour = _COLOURS[kinds[one.get("cat", one["name"])] % len(_COLOURS)]
        title = escape(f"rank {one['tid']}: {one['name']}, {one['dur']:g} us")
        # What a collective consists of is drawn over it, and leaves its edges.
        edge = 1 if one.get("cat") == "collective" else 3
        y = lane * shown[one["tid"]] + edge
        out.append(
            f'<rect x="{x:.2f}" y="{y}" width="{wide:.2f}" height="{lane - 2 * edge}" fill="{colour}"><title>{title}</title></rect>'
        )
    out.append(f'<text x="{left}" y="{height + 14}">0</text>')
    out.append(f'<text x="{left + width}" y="{height + 14}" text-anchor="end">{end:g} us</text>')
    for kind, at in kinds.items():
        x = left + 90 * at
        out.append(f'<rect x="{x}" y="{height + 26}" width="10" height="10" fill="{_COLOURS[at % len(_COLOURS)]}"/>')
        out.append(f'<text x="{x + 14}" y="{height + 35}">{escape(kind)}</text>')
    rest = len(ranks) - len(shown)
    if rest > 0:
        out.append(f'<text x="{left}" y="{height + 48}">and {rest} further ranks</text>')
    return "".join([*out, "</svg>"])

"""An SVG of a sequence of messages, from a text such as:

    Browser | Service | Mailbox
    Browser > Service: POST /magic-link/send
    Service > Mailbox: a link and a code
    Browser: the user opens the mail

The first line has the participants from left to right. `A > B: …` is a message, `A: …` a note at
one participant, and `---` a pause after which something else begins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

COLORS = {
    "light": {
        "ink": "#1b1f24",
        "line": "#8a93a0",
        "box": "#eef2f8",
        "note": "#fff6d9",
        "mark": "#1a56c4",
    },
    "dark": {
        "ink": "#e6e9ee",
        "line": "#7d8794",
        "box": "#252b34",
        "note": "#3b3520",
        "mark": "#82aaff",
    },
}
_CHARACTER, _LANE, _ROW, _TOP, _MARGIN = 7.0, 150, 38, 62, 18
_MESSAGE = re.compile(r"(?P<source>[^>:]+) > (?P<target>[^:]+): (?P<text>.+)")
_NOTE = re.compile(r"(?P<source>[^>:]+): (?P<text>.+)")


@dataclass(frozen=True)
class Step:
    source: str
    target: str
    text: str

    @property
    def is_note(self) -> bool:
        return not self.target


def read(text: str) -> tuple[list[str], list[Step]]:
    """The participants and the steps; a pause is a step without a participant."""
    head, *lines = [line.strip() for line in text.splitlines() if line.strip()]
    names = [name.strip() for name in head.split("|")]
    steps = [_step(line) for line in lines]
    used = {name for step in steps for name in (step.source, step.target) if name}
    assert used == set(names), (names, used)
    return names, steps


def _step(line: str) -> Step:
    if line == "---":
        return Step("", "", "")
    found = _MESSAGE.fullmatch(line) or _NOTE.fullmatch(line)
    assert found, line
    return Step(**{"target": "", **found.groupdict()})


def _places(names: list[str], steps: list[Step]) -> list[float]:
    """Where each participant is, so far from the one before that the texts between them fit."""
    gaps = [float(_LANE)] * (len(names) - 1)
    for step in steps:
        if step.source and not step.is_note:
            first, last = sorted(names.index(name) for name in (step.source, step.target))
            each = (len(step.text) * _CHARACTER + 24) / (last - first)
            for place in range(first, last):
                gaps[place] = max(gaps[place], each)
    half = max(len(name) for name in names) * _CHARACTER / 2 + 16
    notes = [
        len(step.text) * _CHARACTER / 2 + 12
        for step in steps
        if step.is_note and step.source == names[0]
    ]
    places = [_MARGIN + max([half, *notes])]
    for gap in gaps:
        places.append(places[-1] + gap)
    return places


def draw(text: str, scheme: str, title: str) -> str:
    names, steps = read(text)
    color, places = COLORS[scheme], _places(names, steps)
    lines, y, right = [], float(_TOP), places[-1]
    for step in steps:
        y += _ROW if step.source else _ROW / 3
        if not step.source:
            continue
        start = places[names.index(step.source)]
        if step.is_note:
            width = len(step.text) * _CHARACTER + 16
            right = max(right, start + width / 2)
            lines.append(_box(start, y - 17, width, 25, color["note"], color["line"]))
            lines.append(_text(start, y, step.text, color["ink"]))
            continue
        end = places[names.index(step.target)]
        lines.append(_arrow(start, end, y, color["mark"]))
        lines.append(_text((start + end) / 2, y - 7, step.text, color["ink"]))
    height = y + 30
    width = max(right, places[-1] + max(map(len, names)) * _CHARACTER / 2 + 16) + _MARGIN
    boxes = "\n".join(_participant(*one, height, color) for one in zip(names, places, strict=True))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}"'
        f' width="{width:.0f}" height="{height:.0f}" font-family="system-ui, sans-serif"'
        f' font-size="13" role="img">\n<title>{escape(title)}</title>\n{boxes}\n'
        + "\n".join(lines)
        + "\n</svg>\n"
    )


def _participant(name: str, x: float, height: float, color: dict[str, str]) -> str:
    line = f'<path d="M{x:.0f} 46V{height - 8:.0f}" stroke-dasharray="3 4"'
    width = len(name) * _CHARACTER + 26
    return "\n".join(
        [
            f'{line} stroke="{color["line"]}"/>',
            _box(x, 16, width, 30, color["box"], color["line"]),
            _text(x, 36, name, color["ink"], bold=True),
        ]
    )


def _box(x: float, y: float, width: float, height: float, fill: str, line: str) -> str:
    place = f'x="{x - width / 2:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}"'
    return f'<rect {place} rx="5" fill="{fill}" stroke="{line}"/>'


def _arrow(start: float, end: float, y: float, color: str) -> str:
    head = 7 if end > start else -7
    path = f"M{start:.0f} {y:.0f}H{end - head / 4:.0f}m{-head} -4l{head} 4l{-head} 4"
    return f'<path d="{path}" fill="none" stroke="{color}" stroke-width="1.5"/>'


def _text(x: float, y: float, text: str, color: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle" fill="{color}"{weight}>'
        f"{escape(text, quote=False)}</text>"
    )

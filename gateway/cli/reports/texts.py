"""Texts of contracts and callers as a report may show them: inert, and of a bounded length."""

import json
import re
from typing import Final

from gateway.cli.problems import plain, plain_lines
from gateway.cli.reports.record import Check

LONG: Final = 20_000
"""How many characters of one text a report shows. The form JSON has all."""

_NAME: Final = 300


_OTHER: Final = re.compile(r"[^\n -~]")


def line(text: str, limit: int = LONG) -> str:
    """`text` on one line, with control characters and invisible characters as escapes."""
    return plain(cut(text, limit))


def short(text: str) -> str:
    """A subject or an id, of which the beginning is enough."""
    return line(text, _NAME)


def lines(text: str, limit: int = LONG) -> str:
    """The same, but line ends stay, and no line is a command of a CI."""
    return plain_lines(cut(text, limit))


def data(text: str, limit: int = LONG) -> str:
    """JSON text with such characters as escapes of JSON, so that it is the same value."""
    return json_inert(cut(text, limit))


def json_inert(text: str) -> str:
    """The same, of any length."""
    return _OTHER.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1]


def cut(text: str, limit: int) -> str:
    """The beginning of a text that is too long, with a note of what is not shown."""
    left = len(text) - limit
    return text if left <= 0 else f"{text[:limit]}… ({left:,} characters are not shown)"


def place(check: Check) -> str:
    """Where the cause is written: file, line and pointer, as far as they are known."""
    file = check.path or ""
    numbered = f"{file}:{check.line}" if file and check.line else file
    return line(" ".join(each for each in (numbered, check.pointer) if each), 2 * _NAME)


def replay_lines(check: Check, limit: int = LONG) -> list[tuple[str, str]]:
    """What to paste to see a failure again, each with its name."""
    replay = check.replay
    found = (("command", replay.command), ("curl", replay.curl), ("JSON-RPC", replay.rpc))
    return [(name, lines(text, limit)) for name, text in found if text]


def explained(check: Check, limit: int = LONG) -> str:
    """All that is known of a check, as lines: text, place, input, both sides, replay."""
    sides = check.sides
    parts = [("at", place(check)), ("input", data(check.input or "", limit))]
    if sides is not None:
        parts += [
            ("verdict", sides.verdict),
            ("accepted by", sides.accepted_by or ""),
            ("refused because", lines(sides.refusal, limit)),
            ("why", lines(sides.reason, limit)),
        ]
    parts += replay_lines(check, limit)
    said = lines(check.text, limit)
    return "\n".join([said, *(f"{name}: {text}" for name, text in parts if text)])

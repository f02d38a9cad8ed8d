"""Adds entries to files that people edit: other lines, with their comments, stay."""

import re
from collections.abc import Sequence
from typing import Any, Final

from gateway.errors import ConfigurationError

# Adds entries to a YAML file that people edit: its other lines, with their comments, stay.
#
# Only block style is understood: `name:` on a line of its own, and indented entries below it. The
# result is always read again by the lint, so an entry in a wrong place is found.

_TOP: Final = re.compile(r"""[^\s#-]""")
"""The start of a line that ends a section."""
_EMPTY: Final = re.compile(r"\s*(\[\s*\]|\{\s*\})?\s*(#.*)?")
"""What follows the colon of a section in block style, or of one that is empty."""


def with_entries(text: str, section: str, entries: Sequence[str], file: str) -> str:
    """`text` with `entries`, each of one or more lines, at the end of the section `section`.

    The entries have no indentation. A missing section is made at the end of the file. Raises
    `ConfigurationError` for a section in flow style; `file` is the name of the file in the message.
    """
    if not entries:
        return text
    # `splitlines` would also divide a text at U+2028 and others, which are no ends of lines here.
    lines = text.removesuffix("\n").split("\n") if text else []
    end_of_line = "\r" if lines and lines[0].endswith("\r") else ""
    start = next((i for i, line in enumerate(lines) if line.startswith(f"{section}:")), None)
    if start is None:
        added = [f"{section}:", *_indented(entries, "  ")]
        return "\n".join([*lines, *(f"{each}{end_of_line}" for each in added), ""])
    empty = _EMPTY.fullmatch(lines[start].removeprefix(f"{section}:"))
    if not empty:
        raise ConfigurationError(
            f"{file}:{start + 1}: {section} is written on one line, and entries cannot be added "
            "there; write one entry on each line below it"
        )
    end = _end_of(lines, start + 1)
    indent = _indent_of(lines[start + 1 : end])
    comment = f" {empty[2].rstrip()}" if empty[2] else ""
    head = [*lines[:start], f"{section}:{comment}{end_of_line}", *lines[start + 1 : end]]
    added = [f"{each}{end_of_line}" for each in _indented(entries, indent)]
    return "\n".join([*head, *added, *lines[end:], ""])


def with_nested(text: str, steps: Sequence[str], entries: Sequence[str], file: str) -> str:
    """`text` with `entries` at the end of the mapping or list to which the names `steps` lead.

    Raises `ConfigurationError` if one of `steps` is missing or is in flow style.
    """
    lines = text.removesuffix("\n").split("\n")
    end_of_line = "\r" if lines[0].endswith("\r") else ""
    start, end, indent = -1, len(lines), ""
    for step in steps:
        found = _key(lines[start + 1 : end], step, indent)
        if found is None:
            raise ConfigurationError(
                f"{file}: `{step}` of `{'.'.join(steps)}` is not on a line of its own, with its "
                "entries below it, so entries cannot be added; write it in this way"
            )
        start += found + 1
        end = _end_of_block(lines, start, end, indent)
        indent = _indent_of(lines[start + 1 : end])
    added = [f"{each}{end_of_line}" for each in _indented(entries, indent)]
    return "\n".join([*lines[:end], *added, *lines[end:], ""])


def _key(lines: Sequence[str], name: str, indent: str) -> int | None:
    """The index of the line `name:` with `indent`, whose value is below it."""
    head = re.compile(rf"""{indent}["']?{re.escape(name)}["']?:\s*(#.*)?""")
    return next((at for at, line in enumerate(lines) if head.fullmatch(line)), None)


def _end_of_block(lines: Sequence[str], start: int, end: int, indent: str) -> int:
    """The number of the line after the last entry of the block whose head is line `start`."""
    last = start + 1
    for number in range(start + 1, end):
        line = lines[number]
        depth = len(line) - len(line.lstrip())
        # A list may have the indentation of its name.
        is_inside = depth > len(indent) or (depth == len(indent) and line.startswith("- ", depth))
        if not line.strip() or (not is_inside and line.startswith("#", depth)):
            continue
        if not is_inside:
            break
        last = number + 1
    return last


def _end_of(lines: Sequence[str], start: int) -> int:
    """The number of the line after the last entry of the section."""
    end = start
    for number in range(start, len(lines)):
        line = lines[number]
        if _TOP.match(line):
            break
        if line.strip() and not line.startswith("#"):
            end = number + 1
    return end


def _indent_of(lines: Sequence[str]) -> str:
    entries = (line for line in lines if line.strip() and not line.strip().startswith("#"))
    first = next(entries, "  ")
    return first[: len(first) - len(first.lstrip())]


def _indented(entries: Sequence[str], indent: str) -> list[str]:
    return [f"{indent}{line}" for entry in entries for line in entry.split("\n")]


# The comment in `gateway.toml` about an added upstream: its credentials and its settings.


def settings_text(text: str, upstream: dict[str, Any], version: str) -> str:
    """`text` with a comment about `upstream`, unless it already has one or a table for it."""
    table = f"[upstreams.{upstream['name']}]"
    if table in text:
        return text
    title = f"{upstream['title']}, added from contract-gateway {version}"
    lines = [
        "",
        f"# {title}. Without credentials, it is mocked.",
        f"# {table}",
        *(
            f'# {each["name"]}_file = "…"  # {_one_line(each["description"])}'
            for each in upstream.get("credentials", ())
        ),
        *(
            f'# {each["name"]} = "{each.get("default", "")}"  # {_one_line(each["description"])}'
            for each in upstream.get("settings", ())
        ),
    ]
    end = "\r\n" if "\r\n" in text else "\n"
    return text.rstrip("\r\n") + end * bool(text) + end.join(lines) + end


def _one_line(text: str) -> str:
    return " ".join(text.split())

"""Converts the texts of contracts to Markdown. No other module does that.

Texts are escaped (CommonMark 0.31, MyST): they cannot contain HTML, directives, roles, fences,
links or headings. Code spans in single backticks are kept.
"""

import re
from collections.abc import Iterable
from typing import Final

from gateway.codegen.ir import ContractSource
from gateway.codegen.render.artifact import header

_CODE: Final = re.compile(r"(?<![`\\])`([^`]+)`(?!`)")
_MARKUP: Final = re.compile(r"[\\`*\[\]<{}~]|&(?=[#A-Za-z])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_OPENING: Final = re.compile(r"[#>+=:%|-]|\((?=.*\)=$)")
"""Characters that start a block at the beginning of a line."""
_NUMBER: Final = re.compile(r"(\d+)([.)])")


def page_header(source: ContractSource) -> str:
    """The header of a page, as a comment."""
    return f"<!--\n{header(source, comment='').replace('--', '- -')}\n-->"


def joined(parts: Iterable[str]) -> str:
    """A page of `parts`."""
    return "\n\n".join(parts) + "\n"


def prose(text: str) -> str:
    """The `text` of a contract as paragraphs."""
    return "\n\n".join(line for part in text.split("\n\n") if (line := inline(part)))


def inline(text: str) -> str:
    """The `text` of a contract as one line, for headings, cells and sentences."""
    line = " ".join(text.split())
    parts, end = [], 0
    for span in _CODE.finditer(line):
        parts += [_escaped(line[end : span.start()]), span[0]]
        end = span.end()
    return _unopened("".join([*parts, _escaped(line[end:])]))


def code(text: str) -> str:
    """`text` as a code span, also if it contains backticks (CommonMark §6.1)."""
    line = " ".join(str(text).split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def fenced(language: str, text: str) -> str:
    """`text` as a code block, also if it contains fences."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table. Cells are Markdown; line breaks in them become spaces."""
    lines = [_line(head), "|" + "---|" * len(head), *(_line(row) for row in rows)]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", text)


def _unopened(line: str) -> str:
    if number := _NUMBER.match(line):
        return f"{number[1]}\\{line[number.end(1) :]}"
    return f"\\{line}" if _OPENING.match(line) else line


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")

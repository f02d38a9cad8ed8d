"""Pieces of generated Markdown pages: the one place where the text of contracts becomes Markdown.

What a contract says is shown, never obeyed: no HTML, no directive, role, fence, link or heading of
its own (CommonMark 0.31, MyST). Spans of code in single backticks are kept.
"""

import re
from collections.abc import Iterable
from typing import Final

from gateway.codegen.ir import ContractSource
from gateway.codegen.render.artifact import header

_CODE: Final = re.compile(r"(?<![`\\])`([^`]+)`(?!`)")
_MARKUP: Final = re.compile(r"[\\`*\[\]<{}~]|&(?=[#A-Za-z])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_OPENING: Final = re.compile(r"[#>+=:%|-]|\((?=.*\)=$)")
"""What begins a block at the beginning of a line."""
_NUMBER: Final = re.compile(r"(\d+)([.)])")


def page_header(source: ContractSource) -> str:
    """Where the page comes from, as a comment."""
    return f"<!--\n{header(source, comment='').replace('--', '- -')}\n-->"


def joined(parts: Iterable[str]) -> str:
    """The page made of `parts`."""
    return "\n\n".join(parts) + "\n"


def prose(text: str) -> str:
    """The `text` of a contract as paragraphs."""
    return "\n\n".join(line for part in text.split("\n\n") if (line := inline(part)))


def inline(text: str) -> str:
    """The `text` of a contract on one line: for headings, cells and sentences."""
    line = " ".join(text.split())
    shown, end = [], 0
    for span in _CODE.finditer(line):
        shown += [_escaped(line[end : span.start()]), span[0]]
        end = span.end()
    return _unopened("".join([*shown, _escaped(line[end:])]))


def code(text: str) -> str:
    """`text` as a span of code, whatever it holds (CommonMark §6.1)."""
    line = " ".join(str(text).split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def fenced(language: str, text: str) -> str:
    """`text` as a block of code, whatever it holds."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of cells that are Markdown; what is in a cell stays on its line."""
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

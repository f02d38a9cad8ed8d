"""Pieces of generated Markdown pages."""

from collections.abc import Iterable

from gateway.codegen.ir import Source
from gateway.codegen.render.artifact import header


def page_header(source: Source) -> str:
    """Where the page comes from, as a comment."""
    return f"<!--\n{header(source, comment='')}\n-->"


def joined(parts: Iterable[str]) -> str:
    """The page made of `parts`."""
    return "\n\n".join(parts) + "\n"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table; what is in a cell stays on its line."""
    lines = [_line(head), "|" + "---|" * len(head), *(_line(row) for row in rows)]
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")

"""A generated file before it is written, and the words that every one of them opens with."""

import hashlib
import json
import textwrap
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from gateway.codegen.ir import ContractSource

GENERATOR_VERSION: Final = "1"
"""Raise it when the same contracts give other text: headers and cached renderings name it."""

_DIGEST_LENGTH: Final = 32
"""Half of the digest distinguishes closures as well, and the line stays below 100 columns."""

Root = Literal["generated", "docs"]


class Artifact(Struct, frozen=True):
    """One file to be: where, and its whole text."""

    root: Root
    path: PurePosixPath
    text: str

    @property
    def is_python(self) -> bool:
        return self.path.suffix == ".py"


def python(path: str, source: ContractSource, body: str) -> Artifact:
    """A Python module under the generated package; `body` opens with its docstring."""
    return Artifact("generated", PurePosixPath(path), f"{header(source)}\n\n{body}")


def document(path: str, value: Any) -> Artifact:
    """A JSON file under the generated package, in the order of the contract."""
    return Artifact("generated", PurePosixPath(path), f"{pretty(value)}\n")


def pretty(value: Any) -> str:
    """`value` as JSON for readers, members in their order."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def header(source: ContractSource, comment: str = "# ") -> str:
    """The three lines that say where a file comes from and how to make it again."""
    digest = source.sha256[:_DIGEST_LENGTH]
    return "\n".join(
        (
            f"{comment}Generated from schemas/{_one_line(str(source.path))}. DO NOT EDIT.",
            f"{comment}Regenerate with: gateway generate",
            f"{comment}Source closure sha256: {digest}; generator {GENERATOR_VERSION}",
        )
    )


def _one_line(path: str) -> str:
    """A file's name may hold anything but a slash; a comment ends with its line."""
    return path if path.isprintable() else path.encode("unicode_escape").decode("ascii")


def joint_source(path: str, sources: Iterable[ContractSource], *facts: str) -> ContractSource:
    """The source of a file that several contracts decide, and `facts` about others."""
    parts = tuple(sources)
    closure = sorted({member for part in parts for member in part.closure})
    digest = hashlib.sha256("\n".join([*(part.sha256 for part in parts), *facts]).encode())
    return ContractSource(
        path=PurePosixPath(path), closure=tuple(closure), sha256=digest.hexdigest()
    )


def literal(text: str, *, column: int, indent: int, width: int = 100) -> str:
    """`text` as a Python string literal that starts at `column` of a line indented by `indent`.

    What would reach beyond `width` is broken after blanks, into separate lines.
    """
    single = quoted(text)
    if column + len(single) < width:
        return single
    lines = _broken(text, width - indent - 8)
    return "(" + "\n".join(quoted(line) for line in lines) + ")"


def quoted(text: str) -> str:
    """`text` in double quotes, as ruff's formatter would have it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\x7f")


def docstring(text: str, *, indent: int = 0, width: int = 100) -> str:
    """`text` as a docstring whose lines fit; paragraphs stay apart."""
    safe = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"').strip()
    margin = " " * indent
    if "\n" not in safe and indent + len(safe) + 6 <= width and not safe.endswith('"'):
        return f'"""{safe}"""'
    paragraphs = [
        textwrap.fill(part, width - indent, break_long_words=False, break_on_hyphens=False)
        for part in safe.split("\n\n")
    ]
    body = "\n\n".join(paragraphs)
    return '"""' + textwrap.indent(body, margin).lstrip() + f'\n{margin}"""'


def _broken(text: str, width: int) -> list[str]:
    """Pieces of `text`, broken after blanks, that join to exactly `text`."""
    pieces: list[str] = []
    line = ""
    for word in text.replace(" ", " \0").split("\0"):
        if line and len(line) + len(word) > width:
            pieces.append(line)
            line = ""
        line += word
    return [*pieces, line]

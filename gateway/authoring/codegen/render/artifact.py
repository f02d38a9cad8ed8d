"""Generated files before they are written, their headers, and literals in them."""

import hashlib
import json
import textwrap
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from gateway.authoring.codegen.ir import ContractSource

GENERATOR_VERSION: Final = "1"
"""Increase it when the same contracts give other text. It is in headers and in cache keys."""

_DIGEST_LENGTH: Final = 32
"""Half of the digest is enough, and keeps the line below 100 columns."""

Root = Literal["generated", "docs"]


class Artifact(Struct, frozen=True):
    """One generated file: its path and its text."""

    root: Root
    path: PurePosixPath
    text: str | bytes
    """Data as UTF-8: where a vendor writes one emoji, a `str` has four bytes for each character."""

    @property
    def content(self) -> bytes:
        """The bytes of the file."""
        return self.text.encode() if isinstance(self.text, str) else self.text

    @property
    def is_python(self) -> bool:
        return self.path.suffix == ".py"


def python(path: str, source: ContractSource, body: str) -> Artifact:
    """A Python module of the generated package. `body` begins with its docstring."""
    return Artifact("generated", PurePosixPath(path), f"{header(source)}\n\n{body}")


def document(path: str, value: Any) -> Artifact:
    """A JSON file of the generated package, with members in the order of `value`."""
    return Artifact("generated", PurePosixPath(path), _pretty(value) + b"\n")


def pretty(value: Any) -> str:
    """`value` as indented JSON, with members in their order."""
    return _pretty(value).decode()


def _pretty(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2)


def header(source: ContractSource, comment: str = "# ") -> str:
    """The three lines with the source of a file and the command that generates it."""
    digest = source.sha256[:_DIGEST_LENGTH]
    return "\n".join(
        (
            f"{comment}Generated from schemas/{_one_line(str(source.path))}. DO NOT EDIT.",
            f"{comment}Regenerate with: gateway generate",
            f"{comment}Source closure sha256: {digest}; generator {GENERATOR_VERSION}",
        )
    )


def _one_line(path: str) -> str:
    """`path` on one line: a file name may contain line breaks, which would end the comment."""
    return path if path.isprintable() else path.encode("unicode_escape").decode("ascii")


def joint_source(path: str, sources: Iterable[ContractSource], *facts: str) -> ContractSource:
    """The source of a file that is generated from several contracts and from `facts` of others."""
    parts = tuple(sources)
    closure = sorted({member for part in parts for member in part.closure})
    digest = hashlib.sha256("\n".join([*(part.sha256 for part in parts), *facts]).encode())
    return ContractSource(
        path=PurePosixPath(path), closure=tuple(closure), sha256=digest.hexdigest()
    )


def literal(text: str, *, column: int, indent: int, width: int = 100) -> str:
    """`text` as a Python string literal that starts at `column` of a line indented by `indent`.

    A text that is longer than `width` is split after spaces into several lines.
    """
    single = quoted(text)
    if column + len(single) < width:
        return single
    lines = _broken(text, width - indent - 8)
    return "(" + "\n".join(quoted(line) for line in lines) + ")"


def quoted(text: str) -> str:
    """`text` in double quotes, as ruff formats it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\x7f")


def docstring(text: str, *, indent: int = 0, width: int = 100) -> str:
    """`text` as a docstring, wrapped at `width`. Paragraphs are kept."""
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
    """`text` split after spaces. The pieces joined are exactly `text`."""
    pieces: list[str] = []
    line = ""
    for word in text.replace(" ", " \0").split("\0"):
        if line and len(line) + len(word) > width:
            pieces.append(line)
            line = ""
        line += word
    return [*pieces, line]

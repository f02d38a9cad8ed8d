"""Prose uses the field's words: the table at the end of docs/glossary.md names the others."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final

HEADING: Final = "## Words that we do not use\n"
ROW: Final = re.compile(r"^\| ([a-z, ]+) \| (.+) \|$", re.MULTILINE)
SPAN: Final = re.compile(r"`[^`\n]*`|\]\([^)\n]*\)")
"""Code, and where a link leads."""
FIELD: Final = re.compile(r"\{[^{}\n]*\}")
"""What an f-string inserts."""
PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
"""The words of a name in snake_case or CamelCase."""
TEXTS: Final = frozenset({".md", ".yaml", ".json", ".toml"})
FOLDERS: Final = ("docs", "gateway", "scripts", "schemas", "tests")
NOT_OURS: Final = (
    "docs/_build/",
    "tests/clients/node/",
    "tests/golden/",
    "gateway/transports/static/",
)
"""Built, of others, or generated from contracts that are checked."""
QUOTED: Final = {
    "docs/glossary.md": "the table itself",
    "gateway/connectors/avinode/mock/chat.py": "the crew of an aircraft",
    "gateway/connectors/avinode/mock/rfqs.py": "the crew of an aircraft",
    "tests/architecture/test_words.py": "plants such words",
}
"""Files that may hold such words, each with its reason."""


def banned_words(page: str) -> dict[str, str]:
    """Each word that is not used: word to what to write instead."""
    _, _, table = page.partition(HEADING)
    return {
        word: instead
        for words, instead in ROW.findall(table)
        if words != "word"
        for word in words.split(", ")
    }


def prose_of(path: str, text: str) -> Iterator[tuple[int, str]]:
    """The lines that people read: all of a page or a contract, of code what is no name."""
    if not path.endswith(".py"):
        yield from enumerate(text.splitlines(), start=1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (
            token.type == tokenize.STRING and " " in token.string
        ):
            for offset, line in enumerate(token.string.splitlines()):
                yield token.start[0] + offset, FIELD.sub("", line)


def misspoken(path: str, text: str, banned: dict[str, str]) -> list[str]:
    """Each banned word in the prose of one file, with its place and the word to write."""
    pattern = re.compile(rf"\b({'|'.join(banned)})\b", re.IGNORECASE)
    if not pattern.search(text):
        return []
    return [
        f"{path}:{number}: {word!r}: write {banned[word.lower()]}"
        for number, line in prose_of(path, text)
        for word in pattern.findall(SPAN.sub("", line))
    ]


def misnamed(source, banned: dict[str, str]) -> list[str]:
    """Each name in one file of code that has a banned word among its parts."""
    return sorted(
        f"{source.path}: {name}: write {banned[part.lower()]}"
        for name in set(_names(source.tree))
        for part in PARTS.findall(name)
        if part.lower() in banned
    )


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name


def files_of(root: Path) -> Iterator[tuple[str, str]]:
    """Every file with prose that people wrote: path to text."""
    found = [root / "README.md", root / "CHANGELOG.md", root / "Makefile"]
    for folder in FOLDERS:
        found += [file for file in (root / folder).rglob("*") if file.suffix in {".py", *TEXTS}]
    for file in sorted(found):
        path = file.relative_to(root).as_posix()
        if not path.startswith(NOT_OURS) and path not in QUOTED:
            yield path, file.read_text("utf-8")


def test_prose_uses_the_words_of_the_field(root: Path) -> None:
    banned = banned_words((root / "docs" / "glossary.md").read_text("utf-8"))
    files = list(files_of(root))
    assert len(banned) > 20
    assert len(files) > 1000
    assert [found for path, text in files for found in misspoken(path, text, banned)] == []


def test_names_use_the_words_of_the_field(root: Path, written) -> None:
    banned = banned_words((root / "docs" / "glossary.md").read_text("utf-8"))
    assert len(written) > 500
    assert [found for source in written for found in misnamed(source, banned)] == []


def test_each_exception_is_needed(root: Path) -> None:
    banned = banned_words((root / "docs" / "glossary.md").read_text("utf-8"))
    needless = [
        path for path in QUOTED if not misspoken(path, (root / path).read_text("utf-8"), banned)
    ]
    assert needless == []


def test_a_planted_word_is_found() -> None:
    banned = {"door": "transport", "told": "reported"}
    code = '"""Opens a Door."""\nnote = f"he was told {told}"  # the door\nwhere = "door"\n'
    assert [each.rpartition(": write")[0] for each in misspoken("a.py", code, banned)] == [
        "a.py:1: 'Door'",
        "a.py:2: 'told'",
        "a.py:2: 'door'",
    ]
    assert misspoken("a.md", "Open the `door`, or [this](door.md).\n", banned) == []
    assert misspoken("a.yaml", "summary: Open the door.\n", banned)


def test_a_planted_name_is_found(planted) -> None:
    (source,) = planted("class FrontDoor: ...\ndef tell_all(outdoor): ...\n")
    assert misnamed(source, {"door": "transport", "tell": "report"}) == [
        "gateway/planted.py: FrontDoor: write transport",
        "gateway/planted.py: tell_all: write report",
    ]

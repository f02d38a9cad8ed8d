#!/usr/bin/env python3
"""Write the table of attacks in docs/contributing/reports/ from the tests of tests/adversarial/.

Each test names its attack and the required behaviour in a marker, `@pytest.mark.attack("what is
attacked", required="what must happen")`. The script parses the markers and does not import the
tests. `--check` compares and writes nothing.
"""

import argparse
import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = ROOT / "tests" / "adversarial"
PAGE: Final = ROOT / "docs" / "contributing" / "reports" / "attacks.md"
BEGIN: Final = "<!-- Attacks: written by `scripts/attacks.py`. Do not edit. -->\n"
END: Final = "<!-- End of the attacks. -->\n"
MARKER: Final = "pytest.mark.attack"
EXAMPLE: Final = f'@{MARKER}("what is attacked", required="what must happen")'
FORBIDDEN: Final = "|<>\n\r\t"
"""Characters that would end a cell of the table, or would be markup in it."""

TestFunction: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


class Attack(NamedTuple):
    """One attack, as its test describes it."""

    what: str
    required: str
    test: str
    """`file.py::name`, below tests/adversarial."""


class InvalidMarkerError(Exception):
    """A test without a marker, or with an invalid one."""


def main() -> int:
    """Exit 0 if the page is up to date, 1 if it is stale or a marker is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if the page is stale"
    )
    is_check = parser.parse_args().check
    page = PAGE.read_text("utf-8")
    try:
        wanted = with_table(page, read_folder(FOLDER))
    except InvalidMarkerError as error:
        print(error, file=sys.stderr)
        return 1
    if page == wanted:
        return 0
    if is_check:
        print(f"{PAGE.relative_to(ROOT)} is stale\nfix: scripts/attacks.py", file=sys.stderr)
        return 1
    PAGE.write_text(wanted, "utf-8", newline="\n")
    print(f"{PAGE.relative_to(ROOT)} written")
    return 0


def read_folder(folder: Path) -> list[tuple[str, list[Attack]]]:
    """Each file's topic, the first line of its docstring, with its attacks in their order.

    Raises `InvalidMarkerError`, which names the test.
    """
    files = sorted(folder.rglob("test_*.py"))
    return [_read(file.relative_to(folder).as_posix(), file.read_text("utf-8")) for file in files]


def _read(name: str, text: str) -> tuple[str, list[Attack]]:
    tree = ast.parse(text, name)
    topic = (ast.get_docstring(tree) or "").partition("\n")[0].strip()
    _require(
        bool(topic), name, "the file has no docstring; its first line is the heading of its table"
    )
    return topic.removesuffix("."), read_attacks(name, tree)


def read_attacks(name: str, tree: ast.Module) -> list[Attack]:
    """The attack of each test of a file. Raises `InvalidMarkerError`."""
    return [_attack(f"{name}::{test.name}", test) for test in _tests(tree)]


def _tests(tree: ast.Module) -> Iterator[TestFunction]:
    for node in ast.walk(tree):
        if isinstance(node, TestFunction) and node.name.startswith("test_"):
            yield node


def _attack(test: str, function: TestFunction) -> Attack:
    calls = [node for node in function.decorator_list if isinstance(node, ast.Call)]
    marks = [call for call in calls if ast.unparse(call.func) == MARKER]
    _require(len(marks) == 1, test, f"it has {len(marks)} attack markers, not one")
    (mark,) = marks
    required = {keyword.arg: keyword.value for keyword in mark.keywords}
    is_whole = len(mark.args) == 1 and required.keys() == {"required"}
    _require(is_whole, test, "the marker has other arguments")
    return Attack(_text(mark.args[0], test), _text(required["required"], test), test)


def _text(node: ast.expr, test: str) -> str:
    text = node.value if isinstance(node, ast.Constant) else None
    if not isinstance(text, str) or not text.strip():
        raise InvalidMarkerError(_message(test, "the texts of the marker must be literal text"))
    wrong = next((sign for sign in text if sign in FORBIDDEN), None)
    _require(wrong is None, test, f"a text of the marker contains {wrong!r}; use words instead")
    return text.strip()


def _require(condition: bool, test: str, message: str) -> None:
    if not condition:
        raise InvalidMarkerError(_message(test, message))


def _message(test: str, message: str) -> str:
    return f"tests/adversarial/{test}: {message}\nfix: {EXAMPLE}"


def with_table(page: str, topics: list[tuple[str, list[Attack]]]) -> str:
    """`page` with the table of `topics` between its two markers.

    Raises `InvalidMarkerError` if the page does not have them.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        message = f"{PAGE.relative_to(ROOT)} has no place for the table\nfix: {BEGIN}{END}"
        raise InvalidMarkerError(message)
    return f"{before}{BEGIN}{render(topics)}\n{END}{after}"


def render(topics: list[tuple[str, list[Attack]]]) -> str:
    """One section with its table for each topic that has tests."""
    return "".join(_section(topic, attacks) for topic, attacks in topics if attacks)


def _section(topic: str, attacks: list[Attack]) -> str:
    rows = "".join(f"| {a.what} | {a.required} | `{a.test}` |\n" for a in attacks)
    return f"\n## {topic}\n\n| attack | required behaviour | test |\n|---|---|---|\n{rows}"


if __name__ == "__main__":
    sys.exit(main())

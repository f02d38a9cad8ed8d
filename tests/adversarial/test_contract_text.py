"""Contracts by an author who wants the gateway to run code: refused, and nothing runs."""

import importlib
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from gateway.authoring.codegen.generate import PackageNames, generate, render
from gateway.authoring.codegen.lowering import lower
from gateway.authoring.contracts import meta
from gateway.authoring.contracts.finding import ContractRefused, errors
from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.lint import lint
from gateway.backends.mock.application import MockApplication
from gateway.catalogue import open_catalogue
from gateway.clock import SystemClock
from gateway.errors import ContractError

CONTRACTS: Final = Path(__file__).parents[1] / "assets/contracts/minimal"
PACKAGE: Final = "made_by_an_attacker"
CONNECTORS: Final = ("attacked_shop",)

SHOP: Final = """
import os
from functools import wraps
from subprocess import getoutput
from gateway.contract.connector import mapping_function, mock_behaviours, tool_handler
from attacked_elsewhere import *

alias = os.system

async def unmarked(arguments): ...

@mapping_function
def mapping(title): return title

@tool_handler
async def honest(arguments): ...

@tool_handler
async def replaced(arguments): ...
replaced = getoutput

@wraps(honest)
async def copied(arguments): ...

class Marked:
    @tool_handler
    async def method(arguments): ...

if os.name:
    @tool_handler
    async def hidden(arguments): ...
    hidden = getoutput
"""
RAN: Final = """
from pathlib import Path
Path(__file__).with_name("it-ran").touch()
from gateway.contract.connector import mock_behaviours, tool_handler
@tool_handler
async def run(arguments): ...
BEHAVIOURS = mock_behaviours(__name__, {})
refuse = finish = lambda reply: reply
"""
HANDLERS: Final = {
    "a function of the standard library": "os:system",
    "a module beside the connectors, marked": "attacked_elsewhere:run",
    "a package whose name begins like a connector's": "attacked_shop_too:run",
    "the parent of the connectors": "attacked:run",
    "a function that a connector imports": "attacked_shop.till:getoutput",
    "a function that a star brings": "attacked_shop.till:run",
    "another name of a function": "attacked_shop.till:alias",
    "a module that a connector imports": "attacked_shop.till:os",
    "a builtin": "attacked_shop.till:__import__",
    "the builtins": "attacked_shop.till:__builtins__",
    "the loader of the module": "attacked_shop.till:__loader__",
    "a function without a mark": "attacked_shop.till:unmarked",
    "a function with the mark of another use": "attacked_shop.till:mapping",
    "a marked name that was given another function": "attacked_shop.till:replaced",
    "a function that copied a mark": "attacked_shop.till:copied",
    "a class": "attacked_shop.till:Marked",
    "a marked function of a condition": "attacked_shop.till:hidden",
}
SHAPES: Final = {
    "an attribute of a module": "attacked_shop.till:os.system",
    "a call": "attacked_shop.till:honest()",
    "a path": "../../attacked_elsewhere:run",
    "a second line": "attacked_shop.till:honest\nimport os",
    "two colons": "attacked_shop:till:honest",
}
MOCKS: Final = {
    "a module of the standard library": "antigravity",
    "a module beside the connectors, marked": "attacked_elsewhere",
    "a connector that is no mock": "attacked_shop.till",
    "a mock that a connector imports": "attacked_shop.borrowed",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with one connector package, and a module outside of it that shows when it runs."""
    shutil.copytree(CONTRACTS, tmp_path / "schemas")
    meta.install(tmp_path / "schemas")
    shop = tmp_path / "attacked_shop"
    shop.mkdir()
    (shop / "__init__.py").touch()
    (shop / "till.py").write_text(SHOP)
    (shop / "borrowed.py").write_text("from attacked_elsewhere import BEHAVIOURS, finish, refuse\n")
    (tmp_path / "attacked_elsewhere.py").write_text(RAN)
    (tmp_path / "attacked_shop_too.py").write_text(RAN)
    (tmp_path / "attacked.py").write_text(RAN)
    greet = tmp_path / "schemas/tools/hello/greet.yaml"
    text = greet.read_text("utf-8")
    greet.write_text(
        text.replace("gateway.connectors.example.tools:greet", "attacked_shop.till:honest")
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    forget_modules()


def refused_by_lint(root: Path) -> str:
    found = errors(lint(read_tree(root / "schemas"), packages=CONNECTORS))
    return str(found[0]) if found else ""


def refused_by_generate(root: Path) -> str:
    names = PackageNames(of_handlers=CONNECTORS)
    with pytest.raises(ContractRefused) as refused:
        generate(root / "schemas", root / "refused", names=names)
    assert not (root / "refused").exists()
    return str(refused.value.findings[0])


def forget_modules() -> None:
    for name in [each for each in sys.modules if each.startswith(("attacked", PACKAGE))]:
        del sys.modules[name]
    importlib.invalidate_caches()


RENDERED: Final[dict[tuple[str, str], str]] = {}


def remembered(kind: str, basis: str, make: Callable[[], str]) -> str:
    """Makes each text once: most of them are the same in all of these projects."""
    key = kind, basis
    if key not in RENDERED:
        RENDERED[key] = make()
    return RENDERED[key]


def refused_by_start(root: Path) -> str:
    """What a start says of a package that some other generator made of the same contracts."""
    for artifact in render(lower(read_tree(root / "schemas")), PACKAGE, remembered):
        if artifact.root == "generated":
            path = root / PACKAGE / artifact.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(artifact.content)
    with pytest.raises(ContractError) as refused:
        start()
    return refused.value.detail


def start() -> None:
    for upstream in open_catalogue(PACKAGE, CONNECTORS).upstreams.values():
        MockApplication(upstream, SystemClock())


def plant(root: Path, file: str, old: str, new: str) -> None:
    path = root / "schemas" / file
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


@pytest.mark.attack(
    "A contract names a Python function that no connector offers: of the standard library, of"
    " another package, imported by a connector, without the mark, or with another mark.",
    required="`gateway lint`, `gateway generate` and the start refuse it, with the file and the"
    " place; modules outside the connector packages are not imported.",
)
def test_a_handler_is_refused_by_lint_generate_and_start(root: Path) -> None:
    present = "attacked_shop.till:honest"
    for reference in HANDLERS.values():
        plant(root, "tools/hello/greet.yaml", present, reference)
        present = reference
        for refused in (refused_by_lint, refused_by_generate):
            check_refusal(root, reference, refused(root))
            assert not (root / "it-ran").exists()
    # What the start refuses comes after all that must import nothing.
    for reference in HANDLERS.values():
        plant(root, "tools/hello/greet.yaml", present, reference)
        present = reference
        forget_modules()
        check_refusal(root, reference, refused_by_start(root))
        # The module of the connector itself imports the other; only then it may run.
        assert (root / "it-ran").exists() <= (not is_foreign(reference))
        (root / "it-ran").unlink(missing_ok=True)


def is_foreign(reference: str) -> bool:
    return not reference.startswith("attacked_shop.")


def check_refusal(root: Path, reference: str, message: str) -> None:
    assert "tools/hello/greet.yaml" in message
    assert "/post/x-binding/python" in message
    says_so = "lies outside the connector packages (attacked_shop)" in message
    assert says_so == is_foreign(reference)


@pytest.mark.attack(
    "Where a contract names a function stands a path, a call, an attribute or a second line.",
    required="`gateway lint` and `gateway generate` refuse it; the same contract with a marked"
    " function of a connector is generated and opened.",
)
def test_what_names_no_function_is_refused_before_anything_is_made(root: Path) -> None:
    assert refused_by_lint(root) == ""
    generate(root / "schemas", root / PACKAGE, names=PackageNames(of_handlers=CONNECTORS))
    assert open_catalogue(PACKAGE, CONNECTORS).find("hello.greet")
    present = "attacked_shop.till:honest"
    for reference in SHAPES.values():
        written = reference.replace("\n", "\\n")
        plant(root, "tools/hello/greet.yaml", present, f'"{written}"')
        present = f'"{written}"'

        assert "/post/x-binding/python" in refused_by_lint(root), reference
        assert "/post/x-binding/python" in refused_by_generate(root), reference


@pytest.mark.attack(
    "A field map of a tool or the `set` of a webhook calls `subprocess:getoutput`.",
    required="`gateway lint`, `gateway generate` and the start refuse it; the function never runs.",
)
@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (
            "tools/books/find_books.yaml",
            'title: "@/title"',
            'title: {python: "subprocess:getoutput", with: ["@/title"]}',
        ),
        (
            "webhooks/desk/webhook.yaml",
            "loan_number: $request.body#/loan",
            'loan_number: {python: "subprocess:getoutput", with: [$request.body#/loan]}',
        ),
    ],
    ids=["a tool", "a webhook"],
)
def test_a_function_of_a_map_is_refused_by_lint_generate_and_start(
    root: Path, file: str, old: str, new: str
) -> None:
    plant(root, file, old, new)

    for refused in (refused_by_lint, refused_by_generate, refused_by_start):
        message = refused(root)
        assert file in message
        assert "subprocess lies outside the connector packages" in message


@pytest.mark.attack(
    "`x-upstream.mock` names a module that is no mock of a connector.",
    required="`gateway lint`, `gateway generate` and the start of the mock refuse it; a module"
    " outside the connector packages is not imported.",
)
@pytest.mark.parametrize("module", MOCKS.values(), ids=MOCKS)
def test_a_mock_is_refused_by_lint_generate_and_start(root: Path, module: str) -> None:
    plant(
        root,
        "upstreams/books/openapi.yaml",
        "  name: books\n",
        f"  name: books\n  mock: {module}\n",
    )

    for refused in (refused_by_lint, refused_by_generate, refused_by_start):
        message = refused(root)
        assert module in message
        assert ("lies outside the connector packages" in message) != module.startswith(
            "attacked_shop."
        )
    assert (root / "it-ran").exists() == module.startswith("attacked_shop.")

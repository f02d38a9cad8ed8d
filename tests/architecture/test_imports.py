"""Imports stand at the top of a file and point downwards."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest


def local_imports(sources):
    """Each import inside a function or a class."""
    return [
        f"{source.path}:{node.lineno}"
        for source in sources
        for scope in ast.walk(source.tree)
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for node in ast.walk(scope)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]


def test_there_are_no_local_imports(written, tested):
    assert local_imports([*written, *tested]) == []


def test_a_local_import_is_found(planted):
    assert local_imports(planted("def late():\n    import json\n")) == ["gateway/planted.py:2"]


def test_imports_keep_the_contracts_of_import_linter(root):
    """Rooms, cycles and the other rules under `[tool.importlinter]`."""
    lint_imports = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint_imports, "--no-cache"], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("contract", "admitted"),
    [
        ("generator", {"codegen", "contract", "contracts", "errors", "lint", "mapping"}),
        ("generated", {"connectors", "contract", "errors", "ids"}),
    ],
)
def test_a_new_room_is_closed_to_the_generator_and_its_output(root, contract, admitted):
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    declared = {each["id"]: each for each in project["tool"]["importlinter"]["contracts"]}
    layers = declared["rooms"]["layers"]
    rooms = {room.strip() for layer in layers for room in layer.split("|")} - {"__main__"}
    closed = set(declared[contract]["forbidden_modules"]) - {"generated"}
    assert closed == {f"gateway.{room}" for room in rooms - admitted}


def test_importing_the_package_imports_nothing_else():
    """Generation must work while the rest is broken, and the command line must start fast."""
    program = "import sys, gateway; print(*sorted(m for m in sys.modules if 'gateway' in m))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert [name for name in done.stdout.split() if not name.startswith("_")] == ["gateway"]

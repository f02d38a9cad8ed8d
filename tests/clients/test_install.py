"""The lock file of the npm clients is complete, and ties nobody to one registry."""

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parent / "node"


@pytest.fixture(scope="module")
def locked() -> dict[str, dict[str, Any]]:
    """Package path to its entry in the lock file, without the project itself."""
    packages: dict[str, dict[str, Any]] = json.loads((FOLDER / "package-lock.json").read_text())[
        "packages"
    ]
    return {path: entry for path, entry in packages.items() if path}


def test_every_locked_package_is_pinned_by_its_hash(locked: dict[str, dict[str, Any]]) -> None:
    assert locked
    assert [path for path, entry in locked.items() if "integrity" not in entry] == []


def test_no_locked_package_names_a_registry(locked: dict[str, dict[str, Any]]) -> None:
    assert [path for path, entry in locked.items() if "resolved" in entry] == []


def test_every_direct_dependency_is_an_exact_version(locked: dict[str, dict[str, Any]]) -> None:
    wanted = json.loads((FOLDER / "package.json").read_text())
    for name, version in (wanted["dependencies"] | wanted["optionalDependencies"]).items():
        # A second version of a package has another name: `npm:<package>@<version>`.
        assert locked[f"node_modules/{name}"]["version"] == version.rpartition("@")[2]

"""The lock file pins everything that pyproject.toml asks for, and names no index."""

import re
import tomllib
from importlib.metadata import distributions
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PIN: Final = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)


@pytest.fixture(scope="module")
def lock(root):
    """The text of the lock file."""
    return (root / "scripts" / "requirements.lock").read_text("utf-8")


def test_every_dependency_is_locked_within_its_bounds(root, lock):
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    pins = {}
    for name, version in PIN.findall(lock):
        pins.setdefault(canonicalize_name(name), []).append(version)
    missing = [
        wish
        for wish in wanted
        if not any(
            Requirement(wish).specifier.contains(version)
            for version in pins.get(canonicalize_name(Requirement(wish).name), [])
        )
    ]
    assert missing == []


def test_every_pin_has_hashes(lock):
    entries = re.split(r"\n(?=\S)", lock.strip())
    assert len(entries) == len(PIN.findall(lock))
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_the_lock_names_no_index(lock):
    """A checkout installs from whichever index its machine is set to."""
    assert "://" not in lock
    assert "--index" not in lock


def test_the_environment_holds_what_the_lock_names_and_nothing_else(root, lock):
    """Its pip too; and no setuptools, which `venv` copies from the system on Python 3.11."""
    pins = {(canonicalize_name(name), version) for name, version in PIN.findall(lock)}
    installed = {
        (canonicalize_name(each.metadata["Name"]), each.version) for each in distributions()
    }
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    assert ("pip", dict(pins)["pip"]) in installed
    extra = installed - pins - {(project["name"], project["version"])}
    assert extra == set(), "make setup"

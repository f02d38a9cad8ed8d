"""A small valid schemas folder, copied for each test that wants to spoil it."""

import shutil
from pathlib import Path

import pytest

from gateway.contracts import meta

ASSETS = Path(__file__).parents[1] / "assets" / "contracts"


@pytest.fixture
def schemas(tmp_path: Path) -> Path:
    """A private copy of the minimal contracts, complete with meta-schemas."""
    folder = tmp_path / "schemas"
    shutil.copytree(ASSETS / "minimal", folder)
    meta.install(folder)
    return folder

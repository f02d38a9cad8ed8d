"""A small valid schemas folder, copied for each test that wants to spoil it.

And what keeps all of these tests quick.
"""

import asyncio
import logging
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
import structlog

from gateway.authoring.codegen.render import datamodel
from gateway.authoring.contracts import meta
from tests.leaping import Leaping

ASSETS = Path(__file__).parents[1] / "assets" / "contracts"


@pytest.fixture(autouse=True, scope="session")
def models_made_once() -> Iterator[None]:
    """The same models are not made again: that would be a quarter of the time of these tests."""
    make, made = datamodel.pydantic_source, dict[bytes, str]()

    def remembered(definitions: Mapping[str, Any], imports: Mapping[str, str], origin: str) -> str:
        key = msgspec.json.encode((definitions, imports, origin))
        if key not in made:
            made[key] = make(definitions, imports, origin)
        return made[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datamodel, "pydantic_source", remembered)
        yield


@pytest.fixture
def own_log() -> Iterator[None]:
    """Logging belongs to the whole process: put it back as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    logging.captureWarnings(capture=False)
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture
async def time_leaps() -> None:
    """No timer of the test's event loop takes real time. Not for tests with sockets."""
    Leaping(asyncio.get_running_loop())


@pytest.fixture
def schemas(tmp_path: Path) -> Path:
    """A private copy of the minimal contracts, complete with meta-schemas."""
    folder = tmp_path / "schemas"
    shutil.copytree(ASSETS / "minimal", folder)
    meta.install(folder)
    return folder

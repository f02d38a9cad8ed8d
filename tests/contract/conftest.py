"""Property-based contract tests: derived from the catalogue, so a new tool is tested by existing.

`make test` spends a small budget; `--hypothesis-profile=thorough` a large one.
"""

import asyncio
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    with asyncio.Runner() as runner:
        yield runner.get_loop()

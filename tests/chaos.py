"""The chaos scripts as tests run them."""

import json
import os
import subprocess
import sys
from typing import Any, Final

import pytest

from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import REPOSITORY, clean_environment
from tests.postgres import VARIABLE, server_url

CHAOS: Final = REPOSITORY / "scripts" / "chaos"
IS_FULL: Final = os.environ.get("GATEWAY_TESTS_FULL") == "1"
"""`make chaos`: the sizes at which the suite was tried, instead of those of every merge."""
POSTGRES: Final = pytest.param("postgres", marks=pytest.mark.postgres)
BOTH: Final = ["sqlite", POSTGRES]
"""The engines of what works differently on each."""
ALONE: Final = BOTH if IS_FULL else ["sqlite"]
"""Those of other trials."""
_SECONDS: Final = 10 * PATIENCE_SECONDS if IS_FULL else PATIENCE_SECONDS


def figures(script: str, engine: str, *arguments: str) -> dict[str, Any]:
    """What a script found on one engine; everything must hold."""
    more = {VARIABLE: server_url()} if engine == "postgres" else {}
    done = subprocess.run(
        [sys.executable, str(CHAOS / script), "--engine", engine, "--json", *arguments],
        capture_output=True,
        text=True,
        env=clean_environment(more),
        timeout=_SECONDS,
        check=False,
    )
    assert done.stdout, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)["engines"][engine]
    assert (done.returncode, found["failures"]) == (0, [])
    return found

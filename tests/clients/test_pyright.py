"""Generated code satisfies a second type checker too, which forgives other mistakes than mypy."""

import json
import subprocess
import sys

import pytest

from tests.clients.node_clients import PACKAGES, node
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import REPOSITORY


@pytest.mark.node
def test_generated_code_is_clean_under_pyright_strict() -> None:
    command = [node(), str(PACKAGES / "pyright/index.js"), "--outputjson"]
    done = subprocess.run(
        [*command, "--project", "pyproject.toml", "--pythonpath", sys.executable],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    report = json.loads(done.stdout)

    assert report["generalDiagnostics"] == []
    modules = list((REPOSITORY / "generated").rglob("*.py"))
    assert report["summary"]["filesAnalyzed"] == len(modules) > 0

"""The official conformance suites of MCP against the pack of its tools, without a key."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.conformance_legs import ALL_LEGS, Leg, expected, run
from tests.gateway_process import REPOSITORY, clean_environment

pytestmark = pytest.mark.node
PACK = REPOSITORY / "tests" / "conformance_pack"


@pytest.fixture(scope="module")
def url(new_pack: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The pack, served by a process of its own."""
    folder = tmp_path_factory.mktemp("suite")
    shutil.copytree(new_pack, folder / "project")
    command = [sys.executable, str(PACK / "serve.py"), str(folder / "project")]
    with (
        (folder / "stderr.log").open("w") as log,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, env=clean_environment()
        ) as process,
    ):
        assert process.stdout is not None
        found = process.stdout.readline().strip()
        assert found, (folder / "stderr.log").read_text()
        yield found
        process.terminate()


@pytest.mark.parametrize("leg", ALL_LEGS, ids=[leg.name for leg in ALL_LEGS])
def test_the_suite_ends_as_its_file_says(url: str, leg: Leg, tmp_path: Path) -> None:
    """An expected failure that succeeds is reported too, and a scenario that checked nothing."""
    outcome, wanted = run(leg, url, tmp_path), expected(leg)

    assert outcome.exit_code == 0, outcome.output
    assert outcome.ran == set(wanted.scenarios)
    assert outcome.proven >= wanted.proven
    assert not outcome.proven & set(wanted.idle)


@pytest.mark.parametrize("leg", [ALL_LEGS[0], ALL_LEGS[-1]], ids=lambda leg: leg.name)
def test_nothing_is_proven_where_nobody_listens(
    leg: Leg, unused_tcp_port: int, tmp_path: Path
) -> None:
    outcome = run(leg, f"http://localhost:{unused_tcp_port}/mcp", tmp_path)

    assert outcome.exit_code != 0
    assert not outcome.proven & expected(leg).proven

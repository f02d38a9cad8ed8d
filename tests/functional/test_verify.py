"""`gateway verify`: the whole catalogue through the transports of real processes."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from tests.gateway_process import GATEWAY, REPOSITORY, clean_environment, run_gateway

VERIFY_SECONDS = 300.0
"""It starts five gateways, beside whatever else runs here."""


@pytest.mark.slow
def test_every_tool_answers_alike_at_every_transport(tmp_path) -> None:
    """The command as the tour prints it, with the table as its output."""
    printed = run_gateway(tmp_path, "verify", seconds=VERIFY_SECONDS)

    _heading, *rows, summary = printed.splitlines()
    assert re.fullmatch(r"(\d+) of \1 tools verified over 4 transports, \d+ calls", summary)
    found = {operation: counts for operation, *counts in (row.split() for row in rows)}
    assert found.keys() == {
        tool.id for tool in open_catalogue("generated", HANDLER_PACKAGES).entries
    }
    for counts in found.values():
        [verified] = set(counts[:4])
        number, _, examples = verified.partition("/")
        assert number == examples
        assert int(examples) >= 2


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of somebody's own, outside this repository, with a package of another name."""
    shutil.copytree(REPOSITORY / "tests/assets/contracts/minimal", tmp_path / "schemas")
    command = [sys.executable, "-m", "gateway.contracts.meta", "schemas"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    run_gateway(tmp_path, "generate", environment=OWN)
    return tmp_path


OWN = {"GATEWAY_PACKAGE": "libcat", "GATEWAY_SCHEMAS": ""}


@pytest.mark.slow
def test_a_project_of_ones_own_is_verified_where_it_stands(project: Path) -> None:
    printed = run_gateway(
        project,
        *("verify", "--connectors", "--connector", "hello", "--json"),
        environment=OWN,
        seconds=VERIFY_SECONDS,
    )

    [verdict] = json.loads(printed)
    assert (verdict["operation"], verdict["failures"]) == ("hello.greet", [])
    assert set(verdict["verified"].values()) == {verdict["examples"]}


@pytest.mark.slow
def test_a_tool_whose_calls_are_jobs_is_verified_and_tested(project: Path) -> None:
    """By what its jobs end in, which is what the contract describes."""
    contract = project / "schemas/tools/hello/greet.yaml"
    text = contract.read_text("utf-8").replace("x-policy:", "x-policy:\n    task: required")
    contract.write_text(text, "utf-8")
    # A resource comes from a tool that answers at once.
    (project / "schemas/resources/hello/greeting.yaml").unlink()
    run_gateway(project, "generate", environment=OWN)
    printed = run_gateway(
        project,
        *("verify", "--connector", "hello", "--json"),
        environment=OWN,
        seconds=VERIFY_SECONDS,
    )
    tested = run_gateway(
        project, *("test", "-q", "-k", "work_on_every_face"), environment=OWN, seconds=60
    )

    [verdict] = json.loads(printed)
    assert (verdict["operation"], verdict["failures"]) == ("hello.greet", [])
    assert "passed" in tested


@pytest.mark.slow
def test_what_a_process_printed_that_does_not_start_is_shown(project: Path) -> None:
    # Python imports this module when it starts, if it is on the path that the processes get.
    fails = "import sys\nif 'serve' in sys.orig_argv:\n    sys.exit('a canary \\x1b[31m')\n"
    (project / "sitecustomize.py").write_text(fails, "utf-8")
    done = subprocess.run(
        [str(GATEWAY), "verify", "--connector", "hello"],
        cwd=project,
        env=clean_environment(OWN),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert "a canary \\x1b[31m" in done.stderr
    assert "fix: see its output above" in done.stderr

"""The official conformance suite of MCP against the pack of its tools, without a key."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.node_clients import PACKAGES, missing, run_node
from tests.gateway_process import REPOSITORY, clean_environment

pytestmark = pytest.mark.node
PACK = REPOSITORY / "tests" / "conformance_pack"
SUITE = PACKAGES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
SCENARIOS = [
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
    "tasks-status-notifications",
    "tasks-required-task-error",
    "tasks-mrtr-composition",
]
RESULTS = [
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "json-schema-2020-12",
]


ASKING = [
    f"input-required-result-{each}"
    for each in (
        "basic-elicitation",
        "basic-sampling",
        "basic-list-roots",
        "request-state",
        "multiple-input-requests",
        "multi-round",
        "missing-input-response",
        "result-type",
        "unsupported-methods",
        "tampered-state",
        "capability-check",
        "ignore-extra-params",
        "validate-input",
    )
]
"""Without `non-tool-request`, which needs a prompt."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The pack, served by a process of its own."""
    if missing() is not None:
        pytest.skip(str(missing()))
    folder = tmp_path_factory.mktemp("suite")
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


@pytest.mark.parametrize("scenario", [*SCENARIOS, *ASKING])
def test_the_scenario_ends_as_expected(url: str, scenario: str, tmp_path: Path) -> None:
    """A scenario of `expected-failures.yml` that passes is reported too."""
    known = ["--expected-failures", str(PACK / "expected-failures.yml")]
    where = ["--url", url, "--scenario", scenario, "-o", str(tmp_path)]
    done = run_node(str(SUITE), "server", *where, *known)

    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("scenario", RESULTS)
def test_the_results_of_tools_pass_in_both_eras(
    url: str, scenario: str, version: str, tmp_path: Path
) -> None:
    where = ["--url", url, "--scenario", scenario, "--spec-version", version, "-o", str(tmp_path)]
    done = run_node(str(SUITE), "server", *where)

    found = [
        each for file in tmp_path.rglob("checks.json") for each in json.loads(file.read_text())
    ]
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    assert {each["id"] for each in found} > {"wire-schema-valid"}
    assert {each["status"] for each in found} == {"SUCCESS"}

"""Contracts that `gateway new` drafts, in a project of one's own: generated, called and refused."""

import json
from pathlib import Path

import pytest

from tests.gateway_process import run_gateway

ITS_OWN = {"GATEWAY_SCHEMAS": ""}
"""The project is the folder in which the command runs."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("by-hand")
    run(folder, "init")
    return folder


def run(folder: Path, *arguments: str) -> str:
    return run_gateway(folder, *arguments, environment=ITS_OWN)


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and "data" not in path.parts)
    return {str(path): path.read_bytes() for path in files if ".gateway-cache" not in path.parts}


def test_a_drafted_tool_answers_from_the_mock_and_from_python(project: Path) -> None:
    run(project, "new", "connector", "tides", "--url", "https://api.tides.example/v2")
    printed = run(project, "new", "tool", "tides.get_tides", "--path", "/at/{place}", "--json")
    assert json.loads(printed)["is_written"] is True
    assert "schemas/tools/tides/get_tides.yaml" in json.loads(printed)["files"]
    result = run(project, "call", "tides.get_tides", "--json", '{"place": "oslo"}')
    assert json.loads(result) == {"id": "one", "name": "One"}
    run(project, "new", "tool", "notes.take", "--python", "--effect", "write")
    assert json.loads(run(project, "call", "notes.take", "--json", '{"text": "a"}')) == {
        "text": "a"
    }
    run(project, "generate", "--check")


def test_a_dry_run_and_a_refused_draft_write_nothing(project: Path) -> None:
    before = contents(project)
    assert "would be written" in run(project, "new", "event", "order.shipped", "--dry-run")
    with pytest.raises(AssertionError, match=r"taken by tools/store/find_products\.yaml"):
        run(project, "new", "tool", "store.find_products")
    assert contents(project) == before

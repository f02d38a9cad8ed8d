"""The tutorial works: its files, as printed, become the tool that it promises."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial" / "first-tool.md"
BLOCK = re.compile(
    r"^```\{code-block\} \w+\n:caption: ([^\n]+)\n(.*?)^```", re.MULTILINE | re.DOTALL
)
CALL = re.compile(r"gateway (call avinode\.airport_names --json '(.+)')")
INDEX = "schemas/openapi.yaml"


@pytest.fixture(scope="module")
def blocks():
    """The captioned blocks of the page: caption to content."""
    return dict(BLOCK.findall(PAGE.read_text("utf-8")))


@pytest.fixture
def gateway(tmp_path, blocks):
    """A copy of the contracts with the tutorial's files in it, and the command line on it."""
    shutil.copytree(ROOT / "schemas", tmp_path / "schemas")
    for caption, content in blocks.items():
        if caption.startswith("schemas/tools/"):
            (tmp_path / caption).write_text(content, "utf-8")
    index = tmp_path / INDEX
    # The checkout may be of somebody who has followed the tutorial already.
    lines = index.read_text("utf-8").splitlines(keepends=True)
    text = "".join(line for line in lines if "airport_names" not in line)
    index.write_text(text.replace("paths:\n", f"paths:\n{blocks[INDEX]}", 1), "utf-8")
    clean = {name: text for name, text in os.environ.items() if not name.startswith("GATEWAY_")}

    def _run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "gateway", *arguments],
            cwd=tmp_path,
            env=clean | {"PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    return _run


def test_the_tool_of_the_tutorial_answers_as_the_page_says(gateway, blocks):
    lint = gateway("lint", "--errors-only")
    assert lint.returncode == 0, lint.stdout
    generate = gateway("generate")
    assert generate.returncode == 0, generate.stdout + generate.stderr
    _, arguments = CALL.search(PAGE.read_text("utf-8")).groups()
    call = gateway("call", "avinode.airport_names", "--json", arguments)
    assert call.returncode == 0, call.stdout + call.stderr
    assert json.loads(call.stdout) == json.loads(blocks["the answer"])


def test_the_slip_of_the_tutorial_is_found_where_it_was_made(gateway, tmp_path):
    """The page has its reader misspell a member and promises file, line, pointer and fix."""
    tool = tmp_path / "schemas" / "tools" / "avinode" / "airport_names.yaml"
    text = tool.read_text("utf-8")
    assert '"@/name"' in text
    tool.write_text(text.replace('"@/name"', '"@/nmae"'), "utf-8")
    lint = gateway("lint", "--errors-only")
    assert lint.returncode == 1
    line = text[: text.index('"@/name"')].count("\n") + 1
    assert f"schemas/tools/avinode/airport_names.yaml:{line}: error binding/" in lint.stdout
    assert "/post/x-binding/response/200/names/item" in lint.stdout

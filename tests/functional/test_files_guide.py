"""The guide to images, files and blocks, written into a project of one's own as it is printed."""

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.gateway_process import REPOSITORY, run_gateway

PAGE = (REPOSITORY / "docs/how-to/return-images-and-files.md").read_text("utf-8")
CAPTIONED = re.compile(
    r"^```\{code-block\} \w+\n:caption: (\S+)(?:, from (\w+) on)?\n(.*?)^```",
    re.MULTILINE | re.DOTALL,
)
ITS_OWN = {"GATEWAY_SCHEMAS": ""}


@pytest.fixture(scope="module")
def project(new_initial: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = new_initial(tmp_path_factory.mktemp("files"))
    for tool in ("charts.draw_chart", "sites.describe_site"):
        run_gateway(folder, "new", "tool", tool, "--python", environment=ITS_OWN)
    for name, member, text in CAPTIONED.findall(PAGE):
        kept = (folder / name).read_text("utf-8").partition(f"  {member}:\n")[0] if member else ""
        (folder / name).write_text(kept + text, "utf-8")
    run_gateway(folder, "generate", environment=ITS_OWN)
    return folder


def call(project: Path, tool: str, arguments: str) -> Any:
    return json.loads(run_gateway(project, "call", tool, "--json", arguments, environment=ITS_OWN))


def test_the_chart_of_the_guide_is_a_picture(project: Path) -> None:
    (arguments,) = re.findall(r"^gateway call charts.draw_chart --json '(.+)'$", PAGE, re.MULTILINE)
    result = call(project, "charts.draw_chart", arguments)
    data = base64.b64decode(result["data"])
    assert data.startswith(b"\x89PNG\r\n")
    assert (result["content_type"], result["size"]) == ("image/png", len(data))


def test_the_site_of_the_guide_is_a_list_of_blocks(project: Path) -> None:
    result = call(project, "sites.describe_site", '{"text": "North"}')
    assert [each["type"] for each in result["content"]] == [
        "text",
        "image",
        "resource",
        "resource_link",
    ]

"""MCP bundles: the official tool accepts them, and their command serves the gateway's tools."""

import io
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conversation import MODERN, StdioTransport, Step
from tests.clients.node_clients import PACKAGES, run_node
from tests.clients.python_client import converse
from tests.gateway_process import RunningGateway, run_gateway

TOOL = PACKAGES / "@anthropic-ai" / "mcpb" / "dist" / "cli" / "cli.js"


@pytest.fixture(scope="module")
def bundle(gateway: RunningGateway, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of one connector of the running gateway."""
    folder = tmp_path_factory.mktemp("bundle")
    options = ("--connector", "example", "--public-url", gateway.url, "--out", "example.mcpb")
    run_gateway(folder, "describe", "bundle", *options)
    assert run_gateway(folder, "describe", "bundle", *options, "--check") == ""
    return folder / "example.mcpb"


@pytest.mark.node
def test_the_official_tool_accepts_the_manifest(bundle: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(tmp_path)
    done = run_node(str(TOOL), "validate", str(tmp_path / "manifest.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "manifest.json").write_text('{"manifest_version": "0.4"}')
    assert run_node(str(TOOL), "validate", str(tmp_path / "manifest.json")).returncode == 1


def test_its_command_connects_to_the_gateway(
    bundle: Path, gateway: RunningGateway, tmp_path: Path
) -> None:
    """`uv run --directory D` runs a program of D with the interpreter that has the gateway."""
    with zipfile.ZipFile(io.BytesIO(bundle.read_bytes())) as archive:
        archive.extractall(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_bytes())
    config = manifest["server"]["mcp_config"]
    user = {"url": manifest["user_config"]["url"]["default"], "key": gateway.key}
    arguments = [filled(each, user, tmp_path) for each in config["args"]]
    assert [config["command"], *arguments[:3]] == ["uv", "run", "--directory", str(tmp_path)]
    environment = {name: filled(text, user, tmp_path) for name, text in config["env"].items()}
    program = (str(tmp_path / arguments[3]), *arguments[4:])
    heard = converse(
        MODERN,
        StdioTransport(sys.executable, program, environment),
        [Step("greet", {"name": "Ada"})],
    )
    assert [tool["name"] for tool in heard.tools] == ["calculate", "greet"]
    result = heard.answers[0].result
    assert result is not None
    assert result["structuredContent"] == {"greeting": "Hello, Ada!"}


def filled(text: str, user: dict[str, Any], folder: Path) -> str:
    """`text` with what a host puts in the place of `${…}`."""
    for name, value in user.items():
        text = text.replace(f"${{user_config.{name}}}", value)
    return text.replace("${__dirname}", str(folder))

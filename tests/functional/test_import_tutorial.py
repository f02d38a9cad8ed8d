"""The tutorial of `gateway import`: its commands, files and agent, on a small document with the
same operations, because GitHub's is fetched by the reader."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import REPOSITORY, clean_environment, run_gateway, running_gateway

PAGE = (REPOSITORY / "docs/start/api.md").read_text("utf-8")
FILES: dict[str, str] = dict(
    re.findall(
        r"^```\{code-block\} \w+\n:caption: ([^\n]+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL
    )
)
IMPORT = re.search(
    r"^gateway (import \.\./github\.json \\\n.*?[^\\])$", PAGE, re.MULTILINE | re.DOTALL
)
OVERLAY = "schemas/upstreams/github/overlay.yaml"
POLICIES = "schemas/policies/agents.yaml"
TEXT = {"type": "string"}
NUMBER = {"type": "integer", "minimum": 1, "maximum": 99}
LABELS = {"type": "object", "properties": {"labels": {"type": "array", "items": TEXT}}}


def document() -> dict[str, Any]:
    """A document with the operations of the tutorial, and one more."""
    repository = [{"name": each, "in": "path", "required": True} for each in ("owner", "repo")]
    issue = entity(number=NUMBER, state={"enum": ["open"]})
    labels = listed(entity(name=TEXT))
    number = {"name": "issue_number", "in": "path", "required": True, "schema": NUMBER}
    new = {"title": TEXT, "labels": LABELS["properties"]["labels"]}
    paths = {
        "/repos/{owner}/{repo}": {
            "get": replying("repos/get", entity(full_name=TEXT, default_branch=TEXT)),
            "delete": replying("repos/delete", {"type": "object"}),
        },
        "/repos/{owner}/{repo}/issues": {
            "get": replying(
                "issues/list-for-repo",
                listed(issue),
                query("state", TEXT),
                query("per_page", NUMBER),
            ),
            "post": replying("issues/create", issue)
            | taking({"type": "object", "required": ["title"], "properties": new}),
        },
        "/repos/{owner}/{repo}/issues/{issue_number}/labels": {
            "post": replying("issues/add-labels", labels, number)
            | taking({"oneOf": [LABELS, {"type": "array", "items": TEXT}]}),
        },
    }
    for item in paths.values():
        item["parameters"] = [each | {"schema": TEXT} for each in repository]
    found = entity(total_count=NUMBER)
    paths["/search/issues"] = {
        "get": replying("search/issues-and-pull-requests", found, query("q", TEXT))
    }
    return {
        "openapi": "3.0.3",
        "info": {"title": "Small GitHub", "version": "1"},
        "servers": [{"url": "https://api.github.example"}],
        "paths": paths,
        "components": {},
    }


def entity(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": [*properties], "properties": properties}


def listed(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "maxItems": 2, "items": items}


def query(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema}


def replying(operation: str, schema: dict[str, Any], *parameters: Any) -> dict[str, Any]:
    reply = {"description": "Done.", "content": {"application/json": {"schema": schema}}}
    return {"operationId": operation, "parameters": [*parameters], "responses": {"200": reply}}


def taking(schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"content": {"application/json": {"schema": schema}}}}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project of the tutorial, up to `gateway generate`."""
    folder = tmp_path_factory.mktemp("tutorial")
    (folder / "github.json").write_text(json.dumps(document()), "utf-8")
    own(folder, "init", "triage")
    project = folder / "triage"
    assert IMPORT is not None
    own(project, *shlex.split(IMPORT[1].replace("\\\n", " ")))
    (project / OVERLAY).write_text(FILES[OVERLAY], "utf-8")
    with (project / POLICIES).open("a", encoding="utf-8") as policies:
        policies.write(FILES[POLICIES])
    own(project, "generate")
    return project


def own(folder: Path, *arguments: str) -> str:
    """What the command prints in `folder`, whose project is the one that is meant."""
    return run_gateway(folder, *arguments, environment={"GATEWAY_SCHEMAS": ""})


def test_the_agent_of_the_tutorial_uses_the_five_tools(project: Path, tmp_path: Path) -> None:
    schemas = {"GATEWAY_SCHEMAS": str(project / "schemas")}
    with running_gateway(tmp_path / "data", environment=schemas) as gateway:
        key = json.loads(
            run_gateway(
                *(gateway.data, "keys", "create", "triage", "--data", ".", "--json"),
                environment=schemas,
            )
        )["key"]
        program = FILES["agent.py"].replace("http://127.0.0.1:8700", gateway.url)
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=clean_environment({"GATEWAY_KEY": key}),
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    lines = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    granted = re.findall(r"github\.(\w+)", FILES[POLICIES])
    assert lines["tools"].split() == [*granted, "continue_result"]
    assert {*lines} == {"tools", "repository", "search", "created", "open", "labels"}


def test_the_overlay_of_the_tutorial_names_the_token(project: Path) -> None:
    """The setting that the page names makes the upstream live."""
    token = project / "token"
    token.write_text("a-secret", "utf-8")
    settings = project / "live.toml"
    (text,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    settings.write_text(text.replace("/run/secrets/github-token", str(token)), "utf-8")
    printed = own(project, "doctor", "--config", "live.toml", "--port", "0", "--json")
    found = {each["part"]: each["finding"] for each in json.loads(printed)}
    assert found["upstream github"].startswith("live at https://api.github.example")

"""How long `gateway generate` takes: the catalogue, 1,000 made-up tools, and one changed file.

Prints a line per measurement with its limit, and exits 1 when one is missed.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from gateway.codegen import meta

ROOT = Path(__file__).parents[2]
TOOLS_PER_CONNECTOR = 50
DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Measurement(msgspec.Struct, frozen=True):
    """One run of the command in a process of its own, imports included."""

    what: str
    seconds: float
    limit_seconds: float

    def __str__(self) -> str:
        verdict = "ok" if self.seconds < self.limit_seconds else "MISSED"
        return f"{self.what:<42} {self.seconds:7.2f} s   limit {self.limit_seconds:g} s   {verdict}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=int, default=1000, help="made-up tools (default 1000)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gateway-bench-") as folder:
        found = list(measure(Path(folder), arguments.tools))
    if arguments.json:
        print(msgspec.json.encode({**machine(), "measurements": found}).decode())
    else:
        print("\n".join([*(f"{key}: {value}" for key, value in machine().items()), ""]))
        print("\n".join(str(each) for each in found))
    return int(any(each.seconds >= each.limit_seconds for each in found))


def measure(folder: Path, tools: int) -> Iterator[Measurement]:
    """The measurements, each on files of its own under `folder`."""
    catalogue = folder / "catalogue"
    shutil.copytree(ROOT / "schemas", catalogue / "schemas")
    yield Measurement("catalogue, cold", timed(catalogue), 5.0)
    yield Measurement("catalogue, nothing changed", timed(catalogue, "--check"), 5.0)
    synthetic = folder / "synthetic"
    write_contracts(synthetic / "schemas", tools)
    yield Measurement(f"{tools} made-up tools, cold", timed(synthetic), 60.0)
    change_one_file(synthetic / "schemas")
    yield Measurement(f"{tools} made-up tools, one file changed", timed(synthetic), 2.0)


def timed(folder: Path, *options: str) -> float:
    """Seconds that `gateway generate` takes in `folder`."""
    command = [sys.executable, "-m", "gateway", "generate", *options]
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=environment())
    return time.perf_counter() - started


def environment() -> dict[str, str]:
    """The caller's, with this checkout importable from anywhere."""
    return os.environ | {"PYTHONPATH": str(ROOT)}


def machine() -> dict[str, str]:
    """What a reader needs to compare figures."""
    return {
        "command": " ".join(["python", *sys.argv]),
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
    }


def write_contracts(schemas: Path, tools: int) -> None:
    """A schemas folder with `tools` tools, `TOOLS_PER_CONNECTOR` to a connector."""
    names = [
        (f"connector_{number // TOOLS_PER_CONNECTOR:02}", f"list_things_{number:04}")
        for number in range(tools)
    ]
    connectors = sorted({connector for connector, _ in names})
    write(schemas / "openapi.yaml", index(names, connectors))
    write(schemas / "policies/agents.yaml", POLICIES)
    write_json(schemas / "common/problem.json", PROBLEM)
    write_json(schemas / "common/words.json", WORDS)
    for connector in connectors:
        write(schemas / f"upstreams/{connector}/openapi.yaml", UPSTREAM.format(connector=connector))
    for connector, tool in names:
        place = schemas / "tools" / connector
        write(place / f"{tool}.yaml", TOOL.format(connector=connector, tool=tool))
        write_json(place / f"{tool}.input.json", input_schema(tool))
        write_json(place / f"{tool}.output.json", output_schema(tool))
    meta.install(schemas)


def change_one_file(schemas: Path) -> None:
    """An author adds an argument to one tool."""
    path = min(schemas.glob("tools/*/*.input.json"))
    schema = json.loads(path.read_text("utf-8"))
    schema["properties"]["remark"] = {
        "description": "What else matters.",
        "type": "string",
        "maxLength": 100,
    }
    write_json(path, schema)


def index(names: list[tuple[str, str]], connectors: list[str]) -> str:
    """`openapi.yaml` for the made-up tools."""
    lines = [
        "openapi: 3.1.1",
        "info: {title: Made-up tools, version: 1.0.0}",
        "servers: [{url: /}]",
    ]
    lines += ["security: [{key: []}]", "tags:"]
    lines += [f"  - {{name: {each}, description: Tools of {each}.}}" for each in connectors]
    lines += ["components: {securitySchemes: {key: {type: http, scheme: bearer}}}", "paths:"]
    lines += [f"  /v1/{c}/{t}: {{$ref: ./tools/{c}/{t}.yaml}}" for c, t in names]
    lines += ["x-upstreams:", *(f"  - ./upstreams/{each}/openapi.yaml" for each in connectors)]
    return "\n".join([*lines, "x-policies: [./policies/agents.yaml]", ""])


def input_schema(tool: str) -> dict[str, Any]:
    """What the made-up tools ask for."""
    return closed(
        f"{tool} input",
        "Which things.",
        ["owner"],
        {
            "owner": {"description": "Whose things.", "$ref": "../../common/words.json#/$defs/Id"},
            "limit": {
                "description": "How many at most.",
                "type": "integer",
                "minimum": 1,
                "maximum": 50,
                "default": 10,
            },
            "kind": {
                "description": "Only of this kind.",
                "type": "string",
                "enum": ["plain", "fancy"],
            },
        },
    )


def output_schema(tool: str) -> dict[str, Any]:
    """What the made-up tools answer."""
    thing = {
        "description": "One thing.",
        "type": "object",
        "additionalProperties": False,
        "required": ["id", "name"],
        "properties": {
            "id": {"description": "Its id.", "$ref": "../../common/words.json#/$defs/Id"},
            "name": {"description": "Its name.", "type": "string"},
            "weight": {"description": "Its weight in grams.", "type": "number"},
        },
    }
    things = {"description": "The things.", "type": "array", "maxItems": 50, "items": thing}
    total = {"description": "How many there are.", "type": "integer", "minimum": 0}
    return closed(
        f"{tool} output", "The things.", ["things", "total"], {"things": things, "total": total}
    )


def closed(
    title: str, description: str, required: list[str], properties: dict[str, Any]
) -> dict[str, Any]:
    """A closed object schema."""
    return {
        "$schema": DIALECT,
        "title": title,
        "description": description,
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": properties,
    }


def write(path: Path, text: str) -> None:
    """Write `text`, with the folders that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write `value` as an author would."""
    write(path, json.dumps(value, indent=2) + "\n")


PROBLEM = {
    "$schema": DIALECT,
    "title": "Problem",
    "description": "Why a call failed.",
    "type": "object",
    "required": ["title"],
    "properties": {"title": {"description": "The kind of problem.", "type": "string"}},
}
WORDS = {
    "$schema": DIALECT,
    "title": "Words",
    "description": "Words that the tools share.",
    "$defs": {
        "Id": {
            "description": "An id.",
            "type": "string",
            "maxLength": 64,
            "pattern": "^[A-Za-z0-9-]+$",
        }
    },
}
POLICIES = """agents:
  administrator: {description: Everything., grants: ["*"]}
"""
TOOL = """post:
  operationId: {connector}.{tool}
  tags: [{connector}]
  summary: List things
  description: List the things of an owner.
  x-mcp:
    name: {connector}_{tool}
    annotations:
      {{readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true}}
  x-policy:
    effect: read
    timeoutSeconds: 30
    errors:
      no_such_owner: {{status: 404, title: There is no such owner.}}
  x-binding:
    upstream: {connector}
    operationId: listThings
    request:
      path: {{owner: $inputs.owner}}
      query: {{limit: $inputs.limit, kind: {{value: $inputs.kind, omitIfAbsent: true}}}}
    response:
      "200":
        things:
          each: $response.body#/data
          limit: 50
          item: {{id: "@/id", name: "@/name", weight: {{value: "@/weight", omitIfAbsent: true}}}}
        total: {{count: $response.body#/data}}
    errors:
      "404": {{reason: no_such_owner}}
  requestBody:
    required: true
    content:
      application/json:
        schema: {{$ref: ./{tool}.input.json}}
        examples:
          all: {{summary: All things, value: {{owner: O-1}}}}
          fancy: {{summary: Two fancy things, value: {{owner: O-1, limit: 2, kind: fancy}}}}
  responses:
    "200":
      description: The things.
      content:
        application/json:
          schema: {{$ref: ./{tool}.output.json}}
          examples:
            one: {{value: {{things: [{{id: T-1, name: Stone}}], total: 1}}}}
    default:
      description: The call failed.
      content:
        application/problem+json:
          schema: {{$ref: ../../common/problem.json}}
"""
UPSTREAM = """openapi: 3.1.1
info: {{title: Things, version: "1"}}
x-upstream:
  name: {connector}
  title: Things
  baseUrl: https://things.example
  credentials: [{{name: key, description: The key.}}]
  headers: [{{name: Authorization, template: "Bearer {{credential.key}}"}}]
paths:
  /owners/{{owner}}/things:
    get:
      operationId: listThings
      summary: List things
      parameters:
        - {{name: owner, in: path, required: true, description: Whose., schema: {{type: string}}}}
        - {{name: limit, in: query, description: How many., schema: {{type: integer}}}}
        - {{name: kind, in: query, description: Only these., schema: {{type: string}}}}
      responses:
        "200":
          description: The things.
          content:
            application/json:
              schema:
                type: object
                required: [data]
                properties:
                  data:
                    type: array
                    items:
                      type: object
                      required: [id, name]
                      properties:
                        id: {{type: string, maxLength: 64, pattern: "^[A-Za-z0-9-]+$"}}
                        name: {{type: string}}
                        weight: {{type: number}}
              example: {{data: [{{id: T-1, name: Stone, weight: 12}}]}}
        "404":
          description: There is no such owner.
          content: {{application/json: {{schema: {{type: object}}, example: {{}}}}}}
"""

if __name__ == "__main__":
    sys.exit(main())

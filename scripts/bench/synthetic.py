"""Generates any number of made-up contracts of realistic size."""

import json
from pathlib import Path
from typing import Any

from gateway.authoring.contracts import meta

TOOLS_PER_CONNECTOR = 50
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def write_contracts(schemas: Path, tools: int) -> None:
    """Write a schemas folder with `tools` tools, `TOOLS_PER_CONNECTOR` per connector."""
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


def change_one_file(schemas: Path, number: int) -> None:
    """Add an argument to one tool, named by `number`."""
    path = min(schemas.glob("tools/*/*.input.json"))
    schema = json.loads(path.read_text("utf-8"))
    schema["properties"][f"remark_{number}"] = {
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
    """The input schema of the made-up tools."""
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
    """The output schema of the made-up tools."""
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
    """Write `text`, and create missing folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write `value` as formatted JSON."""
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

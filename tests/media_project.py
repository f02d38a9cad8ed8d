"""A project whose tools answer with files and with content blocks."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

HERE: Final = {"GATEWAY_SCHEMAS": ""}
PICTURE: Final[dict[str, Any]] = {
    "required": ["content_type", "size"],
    "properties": {
        "content_type": {"description": "Media type.", "enum": ["image/png", "audio/wav"]},
        "size": {"description": "Bytes.", "type": "integer", "minimum": 0, "maximum": 6_000_000},
        "data": {"description": "In base64.", "type": "string", "maxLength": 8_000_000},
    },
}
FILES: Final = "        image/png: {}\n        audio/wav: {}\n"
IMAGE: Final[Mapping[str, Any]] = {"content_type": "image/png", "size": 4, "data": "iVBORw=="}
_TEXT: Final[Mapping[str, Any]] = {"type": "string", "maxLength": 20}
_TOOL: Final = """post:
  operationId: media.{name}
  tags: [media]
  summary: {title}
  description: Return what is asked for.
  x-mcp:
    name: media_{name}
    annotations: {{{hints}, openWorldHint: false}}
  x-policy:
    effect: {effect}
    timeoutSeconds: 20
{policy}  x-binding:
    python: handlers.media:{handler}
  requestBody:
    required: true
    content:
      application/json:
        schema: {{$ref: ./{name}.input.json}}
        examples:
          first: {{value: {{kind: {kind}}}}}
          second: {{value: {{kind: {kind}}}}}
  responses:
    "200":
      description: What was asked for.
      content:
        application/json:
          schema: {{$ref: ./{name}.output.json}}
          examples:
            first: {{value: {example}}}
{content}    default:
      description: The call failed.
      content:
        application/problem+json:
          schema: {{$ref: ../../common/problem.json}}
"""
_READS: Final = "readOnlyHint: true, destructiveHint: false, idempotentHint: true"
_WRITES: Final = "readOnlyHint: false, destructiveHint: false, idempotentHint: false"


def new_project(folder: Path, handlers: str) -> None:
    """What `gateway init` made, with a handler module and no tool of its own yet."""
    (folder / "handlers/media.py").write_text(handlers)
    index = folder / "schemas/openapi.yaml"
    tag = "tags:\n  - {name: media, description: Files and blocks.}\n"
    index.write_text(index.read_text().replace("tags:\n", tag, 1))


def add_tool(
    folder: Path,
    name: str,
    output: Mapping[str, Any],
    content: str,
    *,
    handler: str,
    kind: str = "png",
    example: Mapping[str, Any] = IMAGE,
    effect: str = "read",
    policy: str = "",
    kinds: Mapping[str, Any] = _TEXT,
) -> None:
    """Add the tool `media.<name>`, which is not generated yet. `kinds`: the schema of `kind`."""
    tools = folder / "schemas/tools/media"
    tools.mkdir(exist_ok=True)
    title = name.replace("_", " ").capitalize()
    text = _TOOL.format(
        name=name,
        title=title,
        hints=_READS if effect == "read" else _WRITES,
        effect=effect,
        policy=policy,
        handler=handler,
        kind=kind,
        example=json.dumps(example),
        content=content,
    )
    (tools / f"{name}.yaml").write_text(text)
    asked = {"kind": {"description": "What to return.", **kinds}}
    arguments = {"required": ["kind"], "properties": asked}
    for half, schema in (("input", arguments), ("output", output)):
        closed = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": f"{title} {half}",
            "description": "A half of the tool.",
            "type": "object",
            "additionalProperties": False,
            **schema,
        }
        (tools / f"{name}.{half}.json").write_text(json.dumps(closed, indent=2))
    with (folder / "schemas/openapi.yaml").open("a") as index:
        index.write(f"  /v1/media/{name}: {{$ref: ./tools/media/{name}.yaml}}\n")

"""Documents by an author who wants the gateway to hang, to grow, or to say what it should not."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from hostile_upstream import ECHOES, NAMES

Document = dict[str, Any]
Schema = dict[str, Any]
_SERVER: Final = "https://api.example.com"
_DEPTHS: Final = (1, 2, 3, 5, 8, 24)
_FORMS: Final[Mapping[str, Callable[[Schema], Schema]]] = {
    "all": lambda step: {"allOf": [step, step]},
    "any": lambda step: {"anyOf": [step, {"allOf": [step]}]},
    "one": lambda step: {"oneOf": [step, {"not": step}]},
    "cond": lambda step: {"if": step, "then": step, "else": step},
    "members": lambda step: {
        "properties": {"x": step},
        "patternProperties": {"^x": step},
        "type": "object",
    },
    "dependent": lambda step: {"allOf": [step], "dependentSchemas": {"x": step}},
}
"""Each reaches the next step at least twice."""
RESULTS: Final[Mapping[str, Schema]] = {
    "plain": {"type": "string"},
    "backtracking": {"type": "string", "pattern": "^(?:[a-z0-9]+)+!$", "format": "uuid"},
    "two_patterns": {"allOf": [{"pattern": "^b{50}c$"}, {"pattern": "^(b|b)+$"}], "type": "string"},
    "nothing_often": {"type": "string", "pattern": "^(?:(?:(?:){9000}){9000}){9000}$"},
    "long_text": {"type": "string", "minLength": 900_000_000},
    "many_items": {"type": "array", "minItems": 900_000_000, "items": {"type": "null"}},
    "many_names": {
        "type": "object",
        "minProperties": 900_000_000,
        "additionalProperties": {"type": "boolean"},
    },
    "two_of_many": {
        "type": "array",
        "minItems": 100_000,
        "uniqueItems": True,
        "items": {"enum": [1, 2]},
    },
    "tiny_steps": {"type": "number", "multipleOf": 1e-290, "minimum": 1e290},
    "huge_number": {"type": "integer", "minimum": 10**350},
}
"""Of operations whose mock is asked to make a value: by operation."""
HIDDEN: Final = "\u202e\u200b\U000e0041\x1b]0;title\x07"
_TEXTS: Final = (
    '"""\nopen("PWNED", "w")\n"""',
    "'); open('PWNED', 'w') #",
    f"shown {HIDDEN} hidden",
    "{{ 7 * 7 }} <script>alert(1)</script>",
    "```{include} /etc/passwd\n```",
    "\n::error::PWNED",
    "${GATEWAY_BOOTSTRAP_KEY} %s {0.__class__}",
)


def chains() -> Document:
    """Operations whose arguments are checked along chains that double at each step."""
    schemas, paths = {}, {}
    for name, form in _FORMS.items():
        for depth in _DEPTHS:
            for step in range(depth):
                following = {"$ref": f"#/components/schemas/{name}_{depth}_{step + 1}"}
                schemas[f"{name}_{depth}_{step}"] = form(following)
            schemas[f"{name}_{depth}_{depth}"] = {"type": ["string", "object"]}
            start = {"$ref": f"#/components/schemas/{name}_{depth}_0"}
            paths[f"/{name}_{depth}"] = {"post": _post(f"{name}_{depth}", start)}
    paths["/plain"] = {"post": _post("plain", {"type": "string"})}
    return _document("Chains", paths, components={"schemas": schemas})


def chained() -> list[str]:
    """The operations of `chains`."""
    return [*(f"{name}_{depth}" for name in _FORMS for depth in _DEPTHS), "plain"]


def patterns() -> Document:
    """Operations whose results a mock makes, from schemas that make that hard."""
    return _document(
        "Patterns", {f"/{name}": {"get": _get(name, schema)} for name, schema in RESULTS.items()}
    )


def injected() -> Document:
    """Operations whose texts want to be code, markup, commands of a terminal, or hidden."""
    paths = {}
    for number, text in enumerate(_TEXTS):
        described = {"type": "string", "title": text, "description": text, "default": text}
        schema = {"type": "object", "description": text, "properties": {"ok": described}}
        operation = {**_get(f"text_{number}", schema), "summary": text, "description": text}
        operation["parameters"][0]["description"] = text
        paths[f"/text_{number}"] = {"get": operation}
    return _document("Injected", paths)


def evil() -> Document:
    """One operation for each way in which the upstream misbehaves."""
    return _document("Evil", {f"/{name}": {"get": _get(name)} for name in NAMES})


def secretive() -> Document:
    """Operations that are called with credentials of each kind, which the upstream repeats."""
    every: Document = {"head": [], "query": [], "cookie": [], "basic": []}
    paths: Document = {f"/{name}": {"get": _get(name) | {"security": [every]}} for name in ECHOES}
    flows = {"clientCredentials": {"tokenUrl": f"{_SERVER}/token", "scopes": {}}}
    paths["/oauth/echo"] = {"get": _get("oauth_echo") | {"security": [{"oauth": []}]}}
    schemes = {
        "head": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "query": {"type": "apiKey", "in": "query", "name": "api_key"},
        "cookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
        "basic": {"type": "http", "scheme": "basic"},
        "oauth": {"type": "oauth2", "flows": flows},
    }
    return _document("Secretive", paths, components={"securitySchemes": schemes})


def hanging() -> str:
    """JSON that takes long to read: a name 10,000 times, and a wide chain of `allOf`."""
    names = ",".join(['"x-again":1'] * 10_000)
    steps: Document = {
        f"w{step}": {"allOf": [{"$ref": f"#/components/schemas/w{step + 1}"}] * 30}
        for step in range(6)
    }
    schemas = {"schemas": {**steps, "w6": {"type": "object"}}}
    paths = {"/hang": {"post": _post("hang", {"$ref": "#/components/schemas/w0"})}}
    text = json.dumps(_document("Hanging", paths, components=schemas))
    return text.replace('"version": "1"', f'"version": "1", {names}', 1)


def _document(title: str, paths: Document, **more: Any) -> Document:
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": "1"},
        "servers": [{"url": _SERVER}],
        "paths": paths,
        **more,
    }


def _get(name: str, member: Schema | None = None) -> Document:
    schema = {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}
    schema["properties"] = {"ok": member or {"type": "boolean"}, "text": {"type": "string"}}
    return {
        "operationId": name,
        "summary": f"Show {name}",
        "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}],
        "responses": _responses(schema),
    }


def _post(name: str, argument: Schema) -> Document:
    body = {"type": "object", "required": ["a"], "properties": {"a": argument}}
    return {
        "operationId": name,
        "summary": f"Send {name}",
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": _responses({"type": "object", "properties": {"ok": {"type": "boolean"}}}),
    }


def _responses(schema: Schema) -> Document:
    return {"200": {"description": "ok", "content": {"application/json": {"schema": schema}}}}

"""Payload schemas of drafted webhooks: those of the document, open and without references."""

from collections.abc import Sequence
from typing import Any, Final

from gateway.contract.values.definitions import DATA, MAPS
from gateway.profiles.inlining import inlined
from gateway.project.drafts.names import words
from gateway.project.ejecting.schemas import Definitions, tool_schema

_CLOSING: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
_CONDITIONS: Final = ("not", "if", "then", "else")
_MAX_TITLE: Final = 100
MAX_SUBSCHEMAS: Final = 200
"""The most subschemas of one payload, so that a person can read it. A provider of a large vendor
has hundreds of payloads."""
_KEPT: Final = frozenset({"type", "description"})
_LEAST: Final = 20
"""The subschemas that each of many forms of a payload may have."""
_EXAMPLES: Final = frozenset({"examples", "example"})


def payload_file(
    kind: str,
    descriptions: Sequence[str],
    schemas: Sequence[dict[str, Any]],
    *,
    is_flat: bool = False,
) -> dict[str, Any]:
    """The file of an event whose messages have one of `schemas`.

    It has no references, its objects are open, and it admits all that `schemas` admit. References
    that lead into themselves, or that do not fit into `MAX_SUBSCHEMAS`, are cut to open values.
    `is_flat`: the parts of its members are cut too.
    """
    limit = max(MAX_SUBSCHEMAS // len(schemas), _LEAST)
    bodies = [_body(each, limit) for each in schemas]
    title = words(kind)[:_MAX_TITLE]
    text = next((each.strip() for each in descriptions if each.strip()), f"{title}.")
    head = {"title": title, "description": text}
    forms = [form for body in bodies for form in body.get("anyOf", [body])]
    whole = forms[0] if len(forms) == 1 else _common(forms)
    if is_flat:
        members = {name: _cut(each) for name, each in whole.get("properties", {}).items()}
        whole = {"required": whole.get("required", []), "properties": members}
    return {**head, "type": "object", **{k: v for k, v in whole.items() if k not in head}}


def _common(forms: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """An object that admits all that `forms` admit, with the members that they have in common."""
    members: dict[str, list[Any]] = {}
    for form in forms:
        for name, each in form.get("properties", {}).items():
            members.setdefault(name, []).append(each)
    required = [name for name in members if all(name in form.get("required", ()) for form in forms)]
    return {
        "required": required,
        "properties": {
            name: _either(found) if len(found) == len(forms) else _cut({**found[0], "type": ()})
            for name, found in members.items()
        },
    }


def _either(schemas: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A schema that admits what one of `schemas` admits."""
    first = schemas[0]
    if all(each == first for each in schemas):
        return first
    values = [each.get("enum", [each["const"]] if "const" in each else []) for each in schemas]
    if all(values):
        every = list(dict.fromkeys(value for each in values for value in each))
        return {"description": first["description"], "enum": every}
    same = all(each.get("type") == first.get("type") for each in schemas)
    return _cut(first if same else {**first, "type": ()})


def _cut(schema: dict[str, Any]) -> dict[str, Any]:
    """What is left of a member: its description, and its type if it has one."""
    kept = {name: value for name, value in schema.items() if name in _KEPT and value}
    texts = schema.get("enum", [schema.get("const")])
    is_text = schema.get("type") and all(isinstance(each, str) for each in texts)
    return {**kept, **({"enum": texts} if is_text else {})}


def _body(schema: dict[str, Any], limit: int) -> dict[str, Any]:
    plain = _open(inlined(schema, limit))
    found: dict[str, Any] = _open(tool_schema(Definitions({}), plain))
    return {"type": "object", **found}


def _open(node: Any, *, is_map: bool = False) -> Any:
    """`node` with objects that admit members which the sender adds."""
    if isinstance(node, list):
        return [_open(each) for each in node]
    if not isinstance(node, dict):
        return node
    if is_map:
        return {name: _open(each) for name, each in node.items()}
    # A condition admits less if a part of it admits more.
    dropped = {*_CONDITIONS} if any(_closes(node.get(each)) for each in _CONDITIONS) else set()
    return {
        keyword: value if keyword in DATA else _open(value, is_map=keyword in MAPS)
        for keyword, value in node.items()
        if keyword not in dropped
        and keyword not in _EXAMPLES
        and not (keyword in _CLOSING and value in (False, {}))
    }


def _closes(node: Any) -> bool:
    """Whether an object somewhere in `node` is closed."""
    if isinstance(node, list):
        return any(map(_closes, node))
    if not isinstance(node, dict):
        return False
    return any(node.get(each) is False for each in _CLOSING) or any(map(_closes, node.values()))

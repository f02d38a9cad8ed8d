"""The result of an ejected operation: its members, and where in the reply each of them is."""

from collections.abc import Iterator
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.contract.imported import ImportedOperation, ImportedReply
from gateway.contract.values.pointers import child
from gateway.openapi.reading.schemas import Schema
from gateway.project.ejecting.schemas import MAX_DEFINITIONS, Definitions, uses_keyword

_COMPOSED: Final = ("allOf", "anyOf", "oneOf", "not", "if", "patternProperties", "enum", "const")
_BODILESS: Final = frozenset({"204", "205"})
"""The replies of success that a contract may declare without a schema."""
_WHOLE: Final = "result"
"""The member that holds a reply that is not an object."""
TOO_MANY: Final = f"contains itself, with more than {MAX_DEFINITIONS} definitions around it"
_BODY: Final = "$response.body"


class Unexpressed(Struct, frozen=True):
    """One thing that contract files cannot express."""

    rule: str
    message: str


class MappedResult(Struct, frozen=True, kw_only=True):
    """The result of a tool."""

    schema: dict[str, Any]
    """An object."""
    binding: dict[str, Any] | str
    """As in `x-binding.response`: the value of each member, or the whole body."""
    form: Literal["members", "wrapped", "whole"] = "members"
    """`wrapped`: the reply is the member `result`. `whole`: it is the result."""
    notes: tuple[str, ...] = ()

    def of(self, body: Any) -> dict[str, Any]:
        """The result of a reply with this body."""
        if self.form == "wrapped":
            return {_WHOLE: body}
        if isinstance(self.binding, str):
            return dict(body)
        known = self.schema["properties"]
        nullable = {name for name, each in self.binding.items() if "default" in each}
        return {
            name: value
            for name, value in (body if isinstance(body, dict) else {}).items()
            if name in known and (value is not None or name in nullable)
        }


def successes(operation: ImportedOperation) -> list[ImportedReply]:
    """The declared replies of success."""
    return [each for each in operation.replies if each.status.startswith("2")]


def of_replies(
    operation: ImportedOperation, definitions: Definitions, *, omits_null: bool
) -> Iterator[Unexpressed]:
    """The refusals of the replies of `operation`."""
    found = successes(operation)
    if not found:
        yield Unexpressed("result", "the document declares no reply with a status 2XX")
        return
    if len({(each.kind, str(each.schema)) for each in found}) > 1 or any(
        each.headers for each in found
    ):
        message = "its replies of success have different forms, or their headers are in its result"
        yield Unexpressed("result", message)
        return
    reply = found[0]
    if reply.kind == "empty":
        if any(each.status not in _BODILESS for each in found):
            yield Unexpressed("result", f"its reply with status {reply.status} has no content")
        return
    if reply.kind != "json":
        yield Unexpressed("result", f"its result is {reply.media_type}, and contracts read JSON")
        return
    if uses_keyword(definitions.whole(reply.schema), "unevaluatedProperties"):
        yield Unexpressed("schema", "its result uses unevaluatedProperties")
    if name := definitions.unreadable(reply.schema):
        yield Unexpressed("recursive", f"its result contains {name}, which {TOO_MANY}")
        return
    yield from _of_schema(reply.schema, definitions, omits_null=omits_null)


def _of_schema(
    schema: Schema, definitions: Definitions, *, omits_null: bool
) -> Iterator[Unexpressed]:
    kinds = definitions.kinds(schema)
    if kinds > {"object"}:
        yield Unexpressed("result", "its result may be an object or another value")
    elif "null" in kinds:
        yield Unexpressed("null", "its result may be null, which field maps take for nothing")
    elif members := _members(definitions.resolved(schema)):
        properties, required = members
        for name, each in properties.items():
            if name not in required and not omits_null and definitions.admits_null(each):
                yield Unexpressed(
                    "null",
                    f"the member {name} of its result may be null or absent, and contracts do not"
                    " distinguish that",
                )


def _members(root: Schema) -> tuple[dict[str, Schema], set[str]] | None:
    """The members of `root` and the required ones, if it is an object with no other rules."""
    if not isinstance(root, dict) or root.get("type") != "object":
        return None
    properties, required = root.get("properties"), set(root.get("required", ()))
    if any(each in root for each in _COMPOSED) or not properties or required - properties.keys():
        return None
    return properties, required


def result_of(operation: ImportedOperation, definitions: Definitions) -> MappedResult:
    """The result of an operation without refusals."""
    reply = successes(operation)[0]
    if reply.kind == "empty":
        return MappedResult(schema={"properties": {}}, binding={})
    root = definitions.resolved(reply.schema)
    members = _members(root)
    if "object" not in definitions.kinds(reply.schema):
        return MappedResult(
            schema={"required": [_WHOLE], "properties": {_WHOLE: reply.schema}},
            binding={_WHOLE: _BODY},
            form="wrapped",
        )
    if members is None:
        return MappedResult(schema=_listed(root), binding=_BODY, form="whole")
    properties, required = members
    nullable = {name for name, each in properties.items() if definitions.admits_null(each)}
    schema: dict[str, Any] = {"properties": properties}
    if required:
        schema["required"] = sorted(required, key=list(properties).index)
    notes = [f"a null of its member {each} is left out" for each in sorted(nullable - required)]
    if not isinstance(root, dict) or root.get("additionalProperties", True) is not False:
        notes.append("members that the document does not declare are left out of its result")
    binding = {name: _read(name, required, nullable) for name in properties}
    return MappedResult(schema=schema, binding=binding, notes=tuple(notes))


def _listed(root: Schema) -> dict[str, Any]:
    """The schema of a whole result. The reply is checked by the contract of the upstream, so this
    one allows more where clients accept no such root."""
    is_plain = isinstance(root, dict) and not any(each in root for each in (*_COMPOSED, "$ref"))
    return dict(root) if isinstance(root, dict) and is_plain else {}


def _read(name: str, required: set[str], nullable: set[str]) -> Any:
    """Where the member `name` is in a reply."""
    read = f"$response.body#{child('', name)}"
    if name not in required:
        return {"value": read, "omitIfAbsent": True}
    return {"value": read, "default": None} if name in nullable else read

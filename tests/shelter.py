"""A small imported document: a shelter with pets, and replies of every kind."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from gateway.backends.mock.application import MockApplication, MockOptions
from gateway.backends.mock.state import StoredState
from gateway.backends.wire import WireReply, WireRequest
from gateway.contract.imported import (
    ImportedBody,
    ImportedConnector,
    ImportedOperation,
    ImportedParameter,
    ImportedReply,
    SecurityUse,
)
from gateway.contract.operation import Effect
from gateway.contract.slots import CredentialSlot
from tests.clocks import ManualClock

DEFINITIONS = {
    "Pet": {
        "type": "object",
        "required": ["id", "name", "kind", "born"],
        "properties": {
            "id": {"type": "integer", "minimum": 1},
            "name": {"type": "string", "minLength": 1, "maxLength": 40},
            "kind": {"enum": ["cat", "dog"]},
            "born": {"type": "string", "format": "date"},
            "note": {"type": "string"},
            "chip": {"type": ["string", "null"], "pattern": "^[0-9]{15}$"},
            "owner": {"$ref": "#/$defs/Owner"},
        },
        "additionalProperties": False,
    },
    "Owner": {
        "type": "object",
        "required": ["mail"],
        "properties": {
            "mail": {"type": "string", "format": "email"},
            "pets": {"type": "array", "items": {"$ref": "#/$defs/Pet"}},
        },
    },
    "Error": {
        "type": "object",
        "required": ["message", "status"],
        "properties": {"message": {"type": "string"}, "status": {"type": "integer"}},
    },
}
PET = {"$ref": "#/$defs/Pet"}
PETS = {"type": "array", "items": PET}
NAMED = {
    "name": DEFINITIONS["Pet"]["properties"]["name"],
    "kind": {"enum": ["cat", "dog"]},
    "note": {"type": "string"},
    "chip": DEFINITIONS["Pet"]["properties"]["chip"],
}
MISSING = ImportedReply(
    status="404", kind="json", media_type="application/json", schema={"$ref": "#/$defs/Error"}
)


def answers(schema: Any, status: str = "200") -> ImportedReply:
    return ImportedReply(status=status, kind="json", media_type="application/json", schema=schema)


def operation(tool: str, method: str, path: str, *replies: ImportedReply, **more: Any):
    """An operation whose path parameters are texts, unless `inputs` says otherwise."""
    inputs = {"type": "object", "properties": more.pop("inputs", {})}
    return ImportedOperation(
        id=f"shelter.{tool}",
        tool=tool,
        title=tool,
        description=tool,
        effect=Effect.READ if method == "GET" else Effect.WRITE,
        is_idempotent=method != "POST",
        pointer=f"/paths/{path.replace('~', '~0').replace('/', '~1')}/{method.lower()}",
        method=method,
        path=path,
        input_schema=inputs,
        replies=replies,
        **more,
    )


def body_of(inputs: dict[str, Any], *, is_required: bool = True) -> ImportedBody:
    return ImportedBody(
        kind="json",
        media_type="application/json",
        members={name: name for name in inputs},
        is_required=is_required,
    )


def id_parameter() -> ImportedParameter:
    return ImportedParameter(member="id", name="petId", location="path", is_required=True)


ID = {"id": {"type": "integer"}}
GONE = ImportedReply(status="204", kind="empty")
OPERATIONS = (
    operation(
        "create_pet", "POST", "/pets", answers(PET, "201"), inputs=NAMED, body=body_of(NAMED)
    ),
    operation("list_pets", "GET", "/pets", answers(PETS)),
    operation(
        "read_pet", "GET", "/pets/{petId}", answers(PET), MISSING, parameters=(id_parameter(),),
        inputs=ID,
    ),
    operation(
        "replace_pet", "PUT", "/pets/{petId}", answers(PET), MISSING, inputs=NAMED,
        body=body_of(NAMED),
    ),
    operation(
        "change_pet", "PATCH", "/pets/{petId}", answers(PET), MISSING, inputs=NAMED,
        body=body_of(NAMED),
    ),
    operation("delete_pet", "DELETE", "/pets/{petId}", GONE, MISSING),
    operation("newest_pet", "GET", "/pets/newest", answers(PET)),
    operation(
        "search", "GET", "/search",
        answers({"type": "object", "required": ["found"], "properties": {"found": PETS}}),
        parameters=(
            ImportedParameter(
                member="q", name="q", location="query", style="form", is_required=True
            ),
            ImportedParameter(member="n", name="n", location="query", style="form"),
        ),
        inputs={"q": {"type": "string"}, "n": {"type": "integer", "maximum": 9}},
    ),
    operation(
        "impossible", "GET", "/impossible",
        answers({"type": "object", "required": ["a"], "properties": {"a": {
            "type": "integer", "minimum": 5, "maximum": 4}}}),
    ),
    operation(
        "secret", "GET", "/secret", answers({"type": "object"}),
        security=((SecurityUse(slot="key"),),),
    ),
    operation(
        "events", "GET", "/events",
        ImportedReply(status="200", kind="events", media_type="text/event-stream", schema=PET),
    ),
    operation(
        "page", "GET", "/page",
        ImportedReply(status="200", kind="text", media_type="text/html", schema={"type": "string"}),
    ),
    operation(
        "photo", "GET", "/photo",
        ImportedReply(status="200", kind="binary", media_type="image/*"),
    ),
)  # fmt: skip
KEY = CredentialSlot(name="key", kind="api_key", location="query", key_name="api_key")


def connector(*operations: ImportedOperation, **more: Any) -> ImportedConnector:
    return ImportedConnector(
        connector="shelter",
        title="Shelter",
        base_url="https://shelter.example.com/v2",
        sha256="0" * 64,
        operations=operations,
        slots=(KEY,),
        definitions=more.pop("definitions", DEFINITIONS),
        **more,
    )


def opened(found: ImportedConnector, path: Any = None, **options: Any) -> MockApplication:
    """A mock, which keeps its state in the file `path`."""
    return MockApplication(
        found,
        ManualClock(),
        options=MockOptions(**options),
        state=StoredState(path),
    )


Send = Callable[..., Awaitable[WireReply]]


def sender(application: MockApplication) -> Send:
    """Sends requests with JSON bodies to a mock."""

    async def send(method: str, target: str, body: Any = None, **headers: str) -> WireReply:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            given.setdefault("Content-Type", "application/json")
        return await application.handle(
            WireRequest(
                method=method,
                target=target,
                headers=tuple(given.items()),
                body=None if body is None else json.dumps(body).encode(),
            )
        )

    return send

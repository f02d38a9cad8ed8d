"""Our contract of Gmail beside Google's: the discovery document that Google's client brings."""

import json
from functools import cache
from importlib.resources import files
from typing import Any, Final

import pytest

from gateway.contract.upstream import UpstreamOperation
from tests.clients.contracts import upstream

METHODS: Final = {
    "sendMessage": ("messages", "send"),
    "readMessage": ("messages", "get"),
    "readThread": ("threads", "get"),
    "createDraft": ("drafts", "create"),
}
ISSUE_TOKEN: Final = "issueToken"  # of another service, with its own document
TYPES: Final = {"string": str, "integer": int, "array": list, "boolean": bool}


@cache
def _discovery() -> dict[str, Any]:
    folder = files("googleapiclient") / "discovery_cache" / "documents"
    found: dict[str, Any] = json.loads((folder / "gmail.v1.json").read_text())
    return found


def _google(operation: str) -> dict[str, Any]:
    resource, method = METHODS[operation]
    resources = _discovery()["resources"]["users"]["resources"]
    found: dict[str, Any] = resources[resource]["methods"][method]
    return found


@pytest.fixture(params=METHODS)
def operation(request: pytest.FixtureRequest) -> UpstreamOperation:
    return next(each for each in upstream("gmail").operations if each.id == request.param)


def test_every_operation_is_compared() -> None:
    assert {each.id for each in upstream("gmail").operations} - {ISSUE_TOKEN} == set(METHODS)
    assert upstream("gmail").base_url == _discovery()["rootUrl"].rstrip("/")


def test_method_and_path_are_googles(operation: UpstreamOperation) -> None:
    google = _google(operation.id)
    assert operation.method == google["httpMethod"]
    assert operation.path == f"/{google['path']}"


def test_parameters_are_googles(operation: UpstreamOperation) -> None:
    google = _google(operation.id)["parameters"] | _discovery()["parameters"]
    for parameter in operation.parameters:
        theirs = google[parameter["name"]]
        schema = parameter["schema"]
        assert parameter["in"] == theirs["location"]
        assert parameter.get("required", False) == theirs.get("required", False)
        assert (schema["type"] == "array") == theirs.get("repeated", False)
        # Of `alt` the gateway knows but one value.
        assert set(schema.get("enum", ())) <= set(theirs.get("enum", ()))
        assert parameter["name"] == "alt" or len(schema.get("enum", ())) == len(
            theirs.get("enum", ())
        )


def test_what_is_sent_and_answered_has_googles_members(operation: UpstreamOperation) -> None:
    google = _google(operation.id)
    assert operation.replies["200"] is not None
    assert _unknown_members(operation.replies["200"], google["response"]) == []
    if operation.request_schema is not None:
        assert _unknown_members(operation.request_schema, google["request"]) == []


def test_the_examples_are_of_googles_types(operation: UpstreamOperation) -> None:
    assert _mistyped(operation.examples["200"], _google(operation.id)["response"]) == []


def test_a_member_that_google_does_not_have_is_found() -> None:
    """The comparison itself."""
    message = {"properties": {"id": {}, "payload": {"properties": {"colour": {}}}}}
    assert _unknown_members(message, {"$ref": "Message"}) == ["payload.colour"]
    assert _mistyped({"id": 1, "labelIds": ["a", 2]}, {"$ref": "Message"}) == ["id", "labelIds.1"]


def _unknown_members(ours: dict[str, Any], theirs: dict[str, Any], path: str = "") -> list[str]:
    """Members of our schema that Google's lacks."""
    theirs = _resolved(theirs)
    if "items" in ours:
        return _unknown_members(ours["items"], theirs["items"], path)
    found = []
    for name, schema in ours.get("properties", {}).items():
        if name not in theirs.get("properties", {}):
            found.append(f"{path}{name}")
        else:
            found += _unknown_members(schema, theirs["properties"][name], f"{path}{name}.")
    return found


def _mistyped(value: Any, theirs: dict[str, Any], path: str = "") -> list[str]:
    """Places where an example is of another type than Google says."""
    theirs = _resolved(theirs)
    if isinstance(value, dict):
        members = theirs.get("properties", {})
        return [
            place
            for name, member in value.items()
            for place in _mistyped(member, members[name], f"{path}{name}.")
        ]
    if isinstance(value, list):
        return [
            place
            for index, item in enumerate(value)
            for place in _mistyped(item, theirs["items"], f"{path}{index}.")
        ]
    return [] if isinstance(value, TYPES[theirs["type"]]) else [path.rstrip(".")]


def _resolved(theirs: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = _discovery()["schemas"][theirs["$ref"]] if "$ref" in theirs else theirs
    return schema

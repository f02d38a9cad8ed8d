"""JSON-RPC messages, and what the gateway knows of the protocol, by the SDK."""

import base64

import mcp_types
import mcp_types as types
import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp.server.streamable_http import REQUEST_CANCELLED
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS, decode_header_value
from mcp_types import DEFAULT_NEGOTIATED_VERSION
from mcp_types.jsonrpc import MISSING_REQUIRED_CLIENT_CAPABILITY
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from gateway.contract.server_description import Icon, ServerDescription
from gateway.errors import MalformedRequest, PayloadTooLarge
from gateway.transports import json_rpc
from gateway.transports.http.problems import problem_of
from gateway.transports.json_rpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    refusal,
    too_large,
)
from gateway.transports.mcp import errors, results
from gateway.transports.mcp.descriptions import full_info, server_info
from gateway.transports.mcp.protocol import (
    HANDSHAKE_VERSIONS,
    MODERN_VERSIONS,
    header_text,
    revision_of,
    version_of,
)


def message(arguments: bytes) -> bytes:
    return (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":'
        + arguments
        + b"}}"
    )


def test_arguments_may_nest_as_deep_as_over_rest() -> None:
    deepest = b'{"a":' * 64 + b"1" + b"}" * 64

    assert refusal(message(deepest), "r") is None
    assert refusal(message(b'{"a":' + deepest + b"}"), "r") is not None


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (b"[" + b"1," * 100_000 + b"1]", "more than 100000 values"),
        (b"{" + b",".join(b'"%d":1' % n for n in range(10_001)) + b"}", "more than 10000 names"),
        (b"[" * 65 + b"]" * 65, "nested deeper than 66 levels"),
        (b"[" * 10_000 + b"]" * 10_000, "nested deeper than 66 levels"),
        (b'"\\ud800"', "a lone surrogate"),
        (b'"\\udc00 x"', "a lone surrogate"),
        (b"1e999", "Number out of range"),
        (b'{"a":1,"a":1}', "a name occurs twice"),
    ],
)
def test_json_that_is_not_accepted_is_an_invalid_request_with_its_id(
    arguments: bytes, why: str
) -> None:
    refused = refusal(message(arguments), "r")

    assert refused is not None
    assert (refused.id, refused.code, refused.may_be_answer) == (1, INVALID_REQUEST, False)
    assert why in refused.problem["detail"]


@pytest.mark.parametrize("arguments", [b"NaN", b'"\xff"', b"", b'"\\ud800\\q"', b"[1,]"])
def test_what_is_no_json_is_a_parse_error_without_an_id(arguments: bytes) -> None:
    refused = refusal(message(arguments), "r")

    assert refused is not None
    assert (refused.id, refused.code) == (None, PARSE_ERROR)


@pytest.mark.parametrize(
    ("params", "member"),
    [
        ({"name": "greet", "arguments": '{"name":"Ada"}'}, "params.arguments must"),
        ({"name": "greet", "arguments": ["Ada"]}, "params.arguments must"),
        ({"name": "greet", "_meta": []}, "params._meta must"),
        ({"name": "greet", "_meta": {"progressToken": None}}, "params._meta.progressToken must"),
        ({"name": "greet", "_meta": {"progressToken": True}}, "params._meta.progressToken must"),
    ],
)
def test_a_member_of_a_wrong_type_is_named(params: dict[str, object], member: str) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    refused = refusal(msgspec.json.encode(call), "r")

    assert refused is not None
    assert (refused.id, refused.code) == (1, INVALID_PARAMS)
    assert member in refused.problem["detail"]


@pytest.mark.parametrize("value", ["yes", 1, "false", [], {}])
def test_a_kind_of_notification_is_asked_for_by_true_or_false(value: object) -> None:
    asked = {"toolsListChanged": True, "promptsListChanged": value, "io.example/other": "yes"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen"}
    refused = refusal(msgspec.json.encode({**call, "params": {"notifications": asked}}), "r")

    assert refused is not None
    assert (refused.id, refused.code) == (1, INVALID_PARAMS)
    assert "params.notifications.promptsListChanged must" in refused.problem["detail"]


@pytest.mark.parametrize("asked", [None, [], {}, {"toolsListChanged": None, "taskIds": ["a"]}])
def test_other_filters_are_the_sdks_to_judge(asked: object) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen"}
    assert refusal(msgspec.json.encode({**call, "params": {"notifications": asked}}), "r") is None


@pytest.mark.parametrize(
    "params", [None, {}, {"arguments": None, "_meta": None}, {"_meta": {"progressToken": ""}}]
)
def test_members_that_may_be_missing_are_no_errors(params: dict[str, object] | None) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    assert refusal(msgspec.json.encode(call), "r") is None


def test_a_refusal_is_the_problem_that_every_transport_has() -> None:
    refused, large = refusal(b"{", "r"), too_large(b"", 9, "r")

    assert refused is not None
    for each, error in ((refused, MalformedRequest), (large, PayloadTooLarge)):
        same = problem_of(error(each.problem["detail"]), "r")
        assert each.problem == msgspec.to_builtins(same)


def test_the_codes_are_those_of_the_protocol() -> None:
    named = ("INTERNAL_ERROR", "INVALID_PARAMS", "INVALID_REQUEST", "METHOD_NOT_FOUND")
    for name in (*named, "PARSE_ERROR", "HEADER_MISMATCH"):
        assert getattr(json_rpc, name) == getattr(mcp_types, name)


ENCODED = st.binary(max_size=30).map(lambda data: f"=?base64?{base64.b64encode(data).decode()}?=")
LOOKS_ENCODED = st.text("ABYZabz09+/=?-_ \n\x00\x7f\xe9", max_size=12).map("=?base64?{}?=".format)
HEADERS = st.text(st.characters(max_codepoint=255), max_size=40) | ENCODED | LOOKS_ENCODED


def decoded_by_the_sdk(value: str) -> str | None:
    try:
        return decode_header_value(value)
    except ValueError:  # it does not expect what is no ASCII
        return None


@given(HEADERS)
@example("=?base64?ZXhhbXBsZV9ncmVldA==?=")
@example("=?base64?YQ?=")
@example("=?base64?YR==?=")
@example("=?base64?/w==?=")
@example("=?base64?\xe9?=")
@example("=?base64?YQ==?=\n")
@example("=?BASE64?YQ==?=")
@example("=?base64??=")
def test_a_routing_header_says_what_the_sdk_reads(value: str) -> None:
    assert header_text(value) == decoded_by_the_sdk(value)


def test_an_encoded_name_is_read() -> None:
    assert header_text("=?base64?ZXhhbXBsZV9ncmVldA==?=") == "example_greet"


def test_the_revisions_are_the_sdks() -> None:
    assert tuple(HANDSHAKE_PROTOCOL_VERSIONS) == HANDSHAKE_VERSIONS
    assert tuple(MODERN_PROTOCOL_VERSIONS) == MODERN_VERSIONS
    assert version_of(None) == DEFAULT_NEGOTIATED_VERSION


def test_the_server_says_of_itself_what_the_sdk_says() -> None:
    known = ServerDescription(
        name="gmail",
        title="Gmail",
        description="Mail.",
        website_url="https://mail.example",
        icons=(Icon(src="https://mail.example/icon.png", sizes=("48x48",)),),
    )
    short = Server(known.name, version="1.2.3", title=known.title)
    long = Server(
        known.name,
        version="1.2.3",
        title=known.title,
        description=known.description,
        website_url=known.website_url,
        icons=[types.Icon(src="https://mail.example/icon.png", sizes=["48x48"])],
    )
    assert list(server_info(known, "1.2.3").items()) == list(short.server_info_stamp.items())
    assert full_info(known, "1.2.3", revision_of("2026-07-28")) == long.server_info_stamp


@pytest.mark.parametrize("code", errors.HTTP_STATUSES)
def test_an_error_has_the_sdks_status(code: int) -> None:
    assert errors.HTTP_STATUSES[code] == ERROR_CODE_HTTP_STATUS[code]


def test_a_missing_capability_has_the_sdks_code() -> None:
    assert errors.CAPABILITY_MISSING == MISSING_REQUIRED_CLIENT_CAPABILITY


def test_a_cancelled_request_has_the_sdks_code() -> None:
    assert errors.CANCELLED.code == REQUEST_CANCELLED


def test_lists_are_as_fresh_as_the_sdk_can_say() -> None:
    hint = CacheHint(ttl_ms=results.LIST_CACHE.ttl_ms, scope=results.LIST_CACHE.scope)
    assert (hint.ttl_ms, hint.scope) == (60_000, "private")

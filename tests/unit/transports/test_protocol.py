"""What the gateway knows of the protocol by itself is what the SDK knows."""

import base64

import mcp_types as types
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
from gateway.transports.mcp import errors, results
from gateway.transports.mcp.descriptions import full_info, server_info
from gateway.transports.mcp.protocol import (
    HANDSHAKE_VERSIONS,
    MODERN_VERSIONS,
    header_text,
    revision_of,
    version_of,
)

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

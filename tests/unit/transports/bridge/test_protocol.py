"""The bridge's own definitions of the protocol mean what the SDK's do."""

import mcp_types
from hypothesis import example, given
from hypothesis import strategies as st
from mcp.shared import inbound

from gateway.publication import listed
from gateway.transports.bridge import serving
from gateway.transports.mcp import protocol as of_server


def test_the_names_are_those_of_the_sdk() -> None:
    assert serving.METHOD_HEADER == inbound.MCP_METHOD_HEADER
    assert serving.NAME_HEADER == inbound.MCP_NAME_HEADER
    assert serving.VERSION_HEADER == inbound.MCP_PROTOCOL_VERSION_HEADER
    assert serving.VERSION_META == mcp_types.PROTOCOL_VERSION_META_KEY
    assert serving.NAMING_MEMBERS == inbound.NAME_BEARING_METHODS
    assert serving.HEADER_KEYWORD == inbound.X_MCP_HEADER_KEY == listed.KEYWORD
    assert serving.PROGRESS == of_server.PROGRESS


@given(st.text(st.characters(codec="utf-8"), max_size=20))
@example("")
@example(" ")
@example("a\n")
@example("=?base64?!?=")
@example("=?base64??=")
@example("=?base64?\n?=")
def test_a_value_is_written_as_the_sdk_writes_it(value: str) -> None:
    assert serving.header_value(value) == inbound.encode_header_value(value)

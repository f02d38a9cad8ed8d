"""The SDK asks for the schema of a tool by its name only: for the caller that is being served."""

from contextvars import copy_context
from typing import Any

from gateway.transports.mcp.caller import header_schema, header_schemas

SCHEMA: dict[str, Any] = {"type": "object"}


def test_the_schema_is_that_of_the_request() -> None:
    with header_schemas({"known": SCHEMA}.get):
        assert header_schema("known") == SCHEMA
        assert header_schema("unknown") is None
    assert header_schema("known") is None


def test_what_outlives_a_request_does_not_keep_its_caller() -> None:
    """Timers, tasks and connections that begin in a request keep its context."""
    with header_schemas({"known": SCHEMA}.get):
        kept = copy_context()
        assert kept.run(header_schema, "known") == SCHEMA
    assert kept.run(header_schema, "known") is None

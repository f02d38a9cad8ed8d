"""Headers of arguments: shown to exactly the clients that read them, by the request's schema."""

import json
from contextvars import copy_context
from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.catalogue import Entry
from gateway.profiles.clients import PROFILES
from gateway.publication.listed import header_parameters
from gateway.publication.view import ToolView
from gateway.transports.mcp.caller import header_schema, header_schemas
from gateway.transports.mcp.descriptions import ToolTexts
from gateway.transports.mcp.protocol import revision_of
from tests.unit import shipped


class OwnNames:
    """Every tool has its own name."""

    def name(self, tool: Any, connector: str | None, profile: str) -> str:
        return str(tool.name)


@pytest.fixture(scope="module")
def entry() -> Entry:
    """A tool whose first argument is a header too."""
    found = shipped.catalogue().find("example.greet")
    schema = found.listing.input_schema
    members = {**schema["properties"]}
    members["name"] = {**members["name"], "x-mcp-header": "Person"}
    listed = replace(found.listing, input_schema={**schema, "properties": members})
    return replace(found, listed=listed)


@pytest.mark.parametrize(("mode", "profile"), list(product(("full", "slim"), PROFILES)))
def test_every_client_of_the_newest_revision_is_shown_the_header_and_no_other(
    entry: Entry, mode: Any, profile: str
) -> None:
    texts = ToolTexts(OwnNames(), headers=header_parameters([entry]))  # type: ignore[arg-type]  # all that is asked of it
    view = ToolView(mode=mode, profile=profile)
    for version, shown in (("2026-07-28", "Person"), ("2025-11-25", None)):
        tool = json.loads(texts.text(entry, view, revision_of(version), None))
        assert tool["inputSchema"]["properties"]["name"].get("x-mcp-header") == shown


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

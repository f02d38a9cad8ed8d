"""The documents that describe MCP servers keep the rules of their formats."""

import io
import json
import tomllib
import zipfile
from typing import Any

import pytest

from gateway.contract.server_description import Icon, ServerDescription, ServerDescriptions
from gateway.contract.values.schema import Validator
from gateway.errors import ConfigurationError
from gateway.publication.servers import (
    PublishedBundle,
    Wheel,
    bundle,
    manifest,
    published_server,
    server_card,
    server_json,
    shortened,
)
from tests.unit.tables import each_of

URL = "https://gateway.example.com"
SERVERS = ServerDescriptions(
    namespace="com.example",
    connectors={
        "gmail": ServerDescription(
            name="gmail",
            title="Gmail",
            description="Mail of one account. " + "Sending, reading, searching and more. " * 5,
            website_url="https://example.com/mail",
            icons=(
                Icon(src="https://example.com/icon.png", sizes=("48x48",)),
                Icon(src="data:image/png;base64,iVBORw0KGgo="),
            ),
        )
    },
)
INPUT = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "value": {"type": "string"},
        "isRequired": {"type": "boolean"},
        "isSecret": {"type": "boolean"},
        "variables": {"type": "object"},
    },
    "additionalProperties": False,
}


def icons(longest: int | None) -> dict[str, Any]:
    src = {"type": "string"} if longest is None else {"pattern": "^https://", "maxLength": longest}
    return {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["src"],
            "additionalProperties": False,
            "properties": {
                "src": src,
                "mimeType": {"type": "string"},
                "sizes": {"type": "array", "items": {"pattern": "^([0-9]+x[0-9]+|any)$"}},
            },
        },
    }


def rules(schema: str, url: str, icon_length: int | None, **more: Any) -> Validator:
    """What both formats require, as their schemas say it."""
    remote = {
        "type": "object",
        "required": ["type", "url"],
        "additionalProperties": False,
        "properties": {
            "type": {"const": "streamable-http"},
            "url": {"type": "string", "pattern": url},
            "headers": {"type": "array", "items": {**INPUT, "required": ["name"]}},
            "supportedProtocolVersions": {"type": "array", "items": {"type": "string"}},
        },
    }
    members = {
        "$schema": {"const": f"https://static.modelcontextprotocol.io/schemas/{schema}"},
        "name": {
            "type": "string",
            "minLength": 3,
            "maxLength": 200,
            "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$",
        },
        "title": {"type": "string", "minLength": 1, "maxLength": 100},
        "description": {"type": "string", "minLength": 1, "maxLength": 100},
        "version": {"type": "string", "maxLength": 255, "pattern": "^[^^~<>=*]+$"},
        "websiteUrl": {"type": "string", "pattern": "^https?://"},
        "icons": icons(icon_length),
        "remotes": {"type": "array", "items": remote},
        **more,
    }
    return Validator(
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["$schema", "name", "description", "version"],
            "properties": members,
        }
    )


CARD = rules("v1/server-card.schema.json", r"^https?://[^\s]+$", None)
ENTRY = rules(
    "2025-12-11/server.schema.json",
    r"^https?://[^\s]+$",
    255,
    packages={
        "type": "array",
        "items": {
            "type": "object",
            "required": ["registryType", "identifier", "transport", "fileSha256"],
            "properties": {
                "registryType": {"const": "mcpb"},
                "identifier": {"type": "string", "pattern": "^https://.*mcp"},
                "fileSha256": {"type": "string", "pattern": "^[a-f0-9]{64}$"},
                "transport": {"const": {"type": "stdio"}},
            },
        },
    },
)
BUNDLE = PublishedBundle(url="https://example.com/gateway.mcpb", sha256="0" * 64)


def violations(rules: Validator, value: dict[str, Any]) -> Any:
    return list(rules.violations(json.loads(json.dumps(value))))


@each_of("connector", [None, "gmail", "unknown"])
@each_of("url", [None, URL, f"{URL}/gateway/"])
def test_a_card_keeps_the_rules_of_its_format(connector: str | None, url: str | None) -> None:
    published = published_server(SERVERS, connector, "1.2.3", url)
    assert violations(CARD, server_card(published, ("2026-07-28",))) == []


@pytest.mark.parametrize("connector", [None, "gmail"])
def test_an_entry_of_the_registry_keeps_the_rules_of_its_format(connector: str | None) -> None:
    published = published_server(SERVERS, connector, "1.2.3", URL)
    for offered in (None, BUNDLE):
        entry = server_json(published, SERVERS.namespace, offered)
        assert violations(ENTRY, entry) == []
        assert "data:" not in json.dumps(entry)


def test_the_rules_find_what_breaks_them() -> None:
    card = server_card(published_server(SERVERS, "gmail", "1.2.3", URL), ())
    for broken in ({"name": "gmail"}, {"description": "x" * 101}, {"tools": []}, {"title": ""}):
        assert violations(CARD, card | broken)


def test_addresses_are_those_of_the_endpoints() -> None:
    for connector, path in ((None, "/mcp"), ("gmail", "/mcp/gmail")):
        published = published_server(SERVERS, connector, "1.2.3", f"{URL}/")
        (remote,) = server_card(published, ("2026-07-28",))["remotes"]
        assert remote["url"] == URL + path
        assert remote["supportedProtocolVersions"] == ["2026-07-28"]


@pytest.mark.parametrize(
    ("namespace", "url", "offered", "why"),
    [
        (None, URL, None, "x-server.name"),
        ("com.example", None, None, "--public-url"),
        ("com.example", None, PublishedBundle(url="https://x.example/a.zip", sha256=""), "`mcp`"),
        ("com.example", URL, PublishedBundle(url="http://x/mcp", sha256=""), "https://"),
    ],
)
def test_a_registry_is_offered_nothing_that_it_refuses(
    namespace: str | None, url: str | None, offered: PublishedBundle | None, why: str
) -> None:
    published = published_server(SERVERS, None, "1.2.3", url)
    with pytest.raises(ConfigurationError, match=why):
        server_json(published, namespace, offered)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("Short.", "Short."),
        ("x" * 100, "x" * 100),
        ("First sentence. " + "More of it. " * 20, "First sentence."),
        ("word " * 40, "word " * 19 + "word…"),
        ("x" * 200, "x" * 99 + "…"),
    ],
)
def test_a_description_is_cut_at_a_sentence_or_a_word(text: str, short: str) -> None:
    assert shortened(text) == short
    assert len(short) <= 100


def test_a_bundle_is_the_same_each_time_and_holds_no_key() -> None:
    published = published_server(SERVERS, "gmail", "1.2.3", URL)
    packed = bundle(published)
    assert packed == bundle(published)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        found = json.loads(archive.read("manifest.json"))
        project = tomllib.loads(archive.read("pyproject.toml").decode())
    assert found == manifest(published)
    assert project["project"]["dependencies"] == ["contract-gateway==1.2.3"]
    assert found["user_config"]["url"]["default"] == f"{URL}/mcp/gmail"
    assert found["user_config"]["key"]["sensitive"] is True
    assert "default" not in found["user_config"]["key"]
    assert "tools" not in found


def test_a_bundle_can_carry_the_gateway() -> None:
    wheel = Wheel("contract_gateway-1.2.3-py3-none-any.whl", b"wheel")
    packed = bundle(published_server(SERVERS, None, "1.2.3", None), wheel)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        project = tomllib.loads(archive.read("pyproject.toml").decode())
        assert archive.read(wheel.name) == b"wheel"
    assert project["tool"]["uv"]["sources"]["contract-gateway"]["path"] == f"./{wheel.name}"

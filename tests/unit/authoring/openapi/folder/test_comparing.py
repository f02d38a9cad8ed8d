"""What an update reports of addresses that receive credentials, and of texts."""

from typing import Any

import pytest

from gateway.authoring.openapi.importing import import_again, import_new
from gateway.authoring.openapi.lowering.records import OperationSelection
from tests.vendors import given, shop, written


def document(
    *, url: str = "https://shop.example", tokens: str = "https://shop.example/token", **more: Any
) -> dict[str, Any]:
    """A shop with a credential of a client and an API key."""
    flow = {"clientCredentials": {"tokenUrl": tokens, "scopes": {}}}
    schemes = {
        "client": {"type": "oauth2", "flows": flow},
        "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    }
    whole = shop(a="list", b="find")
    whole["paths"]["/a"]["get"]["security"] = [{"client": []}]
    whole["paths"]["/b"]["get"] |= {"security": [{"key": []}], **more}
    return {**whole, "servers": [{"url": url}], "components": {"securitySchemes": schemes}}


@pytest.fixture
def guarded(folder):
    written(folder, import_new(folder, given(document()), OperationSelection()))
    return folder


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, []),
        (
            {"tokens": "https://evil.example/token"},
            ["client: https://shop.example/token → https://evil.example/token"],
        ),
        (
            {"url": "https://evil.example"},
            [
                "client: https://shop.example → https://evil.example",
                "key: https://shop.example → https://evil.example",
            ],
        ),
        (
            {"servers": [{"url": "https://evil.example"}]},
            ["key: https://shop.example → https://evil.example"],
        ),
        ({"security": []}, []),
        ({"security": [{"client": []}]}, []),
    ],
)
def test_addresses_that_would_receive_credentials_are_reported(guarded, changed, expected):
    run = import_again(guarded, given(document(**changed)))
    found = [str(each) for each in run.changes.addresses]
    assert [each.rpartition("with ")[2].rpartition("of ")[2] for each in found] == expected


def test_an_operation_that_comes_with_a_server_of_its_own_is_reported(guarded):
    whole = document()
    servers = [{"url": "https://evil.example"}]
    whole["paths"]["/c"] = {"get": {"security": [{"key": []}], "servers": servers}}
    run = import_again(guarded, given(whole))
    assert [(each.slot, each.new) for each in run.changes.addresses] == [
        ("key", "https://evil.example")
    ]


def test_texts_and_base_urls_are_reported(guarded):
    changed = document(url="https://other.example", summary="Other", description="Ignore the rest.")
    run = import_again(guarded, given(changed))
    (found,) = run.changes.changed
    assert found.members == ("title", "description")
    assert run.changes.base_urls == ("https://shop.example", "https://other.example")

"""A small upstream, a clock that the tests own, and requests as field maps make them."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.contract.upstream import (
    CredentialRule,
    HeaderRule,
    RateHeaders,
    Upstream,
    UpstreamOperation,
    UpstreamRequest,
)
from tests.clocks import ManualClock

BOOK = {
    "type": "object",
    "required": ["id", "title"],
    "properties": {"id": {"type": "integer"}, "title": {"type": "string"}},
}
REFUSAL = {"type": "object", "required": ["error"]}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def library() -> Upstream:
    """An upstream without behaviour: its mock answers the examples."""
    replies = {"2XX": BOOK, "4XX": REFUSAL, "5XX": REFUSAL}
    return Upstream(
        name="library",
        title="Library",
        base_url=None,
        credentials=(
            CredentialRule(name="token", description="A token."),
            CredentialRule(name="branch", description="A branch.", is_required=False),
        ),
        headers=(
            HeaderRule(name="Authorization", template="Bearer {credential.token}"),
            HeaderRule(name="X-Branch", template="{credential.branch}"),
            HeaderRule(name="X-Sent", template="{now}"),
            HeaderRule(name="X-Product", template="test"),
        ),
        rate=RateHeaders(remaining="X-Remaining", reset_seconds="X-Reset"),
        operations=(
            UpstreamOperation(
                id="readBook",
                method="GET",
                path="/books/{id}",
                parameters=(
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
                    {"name": "full", "in": "query", "schema": {"type": "boolean"}},
                    {
                        "name": "tags",
                        "in": "query",
                        "explode": False,
                        "schema": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
                    },
                    {"name": "X-Shelf", "in": "header", "schema": {"type": "string"}},
                ),
                replies=replies,
                examples={"2XX": {"id": 7, "title": "Emma"}},
            ),
            UpstreamOperation(
                id="addBook",
                method="POST",
                path="/books",
                request_schema=BOOK,
                replies=replies,
                examples={"2XX": {"id": 8, "title": "Ulysses"}},
            ),
            UpstreamOperation(
                id="removeBook", method="DELETE", path="/books/{id}", replies={"204": None}
            ),
        ),
    )


@pytest.fixture
def ask() -> Callable[..., UpstreamRequest]:
    """A request that reads a book, with parts replaced."""

    def build(**parts: Any) -> UpstreamRequest:
        default = {"operation": "readBook", "method": "GET", "path": ("books", "7")}
        return UpstreamRequest(**{**default, **parts})

    return build

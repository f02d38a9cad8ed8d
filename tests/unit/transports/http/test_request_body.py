"""Bodies and queries: read within time and bounds, as the arguments that they become."""

import asyncio
import json
from types import SimpleNamespace
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract.schemas.shapes import UNLIMITED, longest_text
from gateway.errors import MalformedRequest
from gateway.transports.errors import RequestTooSlow
from gateway.transports.http.asgi import Message, Scope
from gateway.transports.http.bodies import LARGEST_BYTES, RequestBody, body_limits, note_arrival
from gateway.transports.http.content import arguments_of, readings_of
from gateway.transports.http.senders import Sender
from tests.unit.tables import each_of

ALL_OF_IT = {"type": "http.request", "body": b"{}", "more_body": False}


def body_of(scope: Scope, waits: list[asyncio.Event]) -> RequestBody:
    """A body that comes once the `waits` are over, and has no time at all."""

    async def receive() -> Message:
        for event in waits:
            await event.wait()
        return ALL_OF_IT

    return RequestBody(scope, Sender(None), receive, max_bytes=100, deadline_seconds=0.0)


async def test_a_body_that_is_late_is_refused() -> None:
    with pytest.raises(RequestTooSlow):
        await body_of({"headers": []}, [asyncio.Event()]).receive()


async def test_no_timer_is_set_for_a_body_that_is_there(monkeypatch) -> None:
    scope: Scope = {"headers": []}
    note_arrival(scope)
    monkeypatch.delattr(asyncio, "timeout_at")

    assert await body_of(scope, []).receive() == ALL_OF_IT


READINGS = readings_of(
    {
        "properties": {
            "name": {"type": "string"},
            "limit": {"type": "integer"},
            "price": {"type": "number"},
            "open": {"type": "boolean"},
            "fields": {"type": "array", "items": {"type": "string"}},
        }
    }
)


@each_of(
    ("query", "arguments"),
    [
        (b"", {}),
        (b"&&", {}),
        (b"name=Ada", {"name": "Ada"}),
        (b"name=", {"name": ""}),
        (b"name", {"name": ""}),
        (b"name=Ada+L%C3%B6v%26%3D%22", {"name": 'Ada Löv&="'}),
        (b"name=%", {"name": "%"}),
        (b"fields=a", {"fields": ["a"]}),
        (b"fields=7&fields=a.b", {"fields": ["7", "a.b"]}),
        (b"fields=", {"fields": [""]}),
        (
            b"name=7&limit=7&price=7.5&open=true",
            {"name": "7", "limit": 7, "price": 7.5, "open": True},
        ),
        (b"limit=-0&price=1e2&open=false", {"limit": 0, "price": 100.0, "open": False}),
        (b"limit=07", {"limit": "07"}),
        (b"limit=+7", {"limit": " 7"}),
        (b"limit=7.5", {"limit": 7.5}),
        (b"limit=seven&price=NaN&open=1", {"limit": "seven", "price": "NaN", "open": "1"}),
        (b"limit=%D9%A7", {"limit": "\u0667"}),
        (b"limit=1&limit=2", {"limit": [1, 2]}),
        (b"name=a&name=a", {"name": ["a", "a"]}),
        (b"shoes=9", {"shoes": "9"}),
        (b"=9", {"": "9"}),
        (b"na%6De=a&name=b", {"name": ["a", "b"]}),
    ],
)
def test_parameters_are_read_as_their_types_and_all_are_kept(query, arguments) -> None:
    assert json.loads(arguments_of(query, READINGS)) == arguments


@pytest.mark.parametrize("query", [b"name=%FF", b"%C3=1", b"name=\xff"])
def test_what_is_not_utf8_is_malformed(query) -> None:
    with pytest.raises(MalformedRequest, match="UTF-8"):
        arguments_of(query, READINGS)


def test_more_parameters_than_any_tool_has_are_malformed() -> None:
    with pytest.raises(MalformedRequest, match="more than 100"):
        arguments_of(b"&".join([b"name=a"] * 101), READINGS)


@given(
    names=st.lists(st.text(max_size=5), unique=True, max_size=5),
    texts=st.lists(st.text(), min_size=5),
)
def test_any_texts_arrive_as_they_were_written(names, texts) -> None:
    arguments = {f"x{name}": text for name, text in zip(names, texts, strict=False)}
    for query in (urlencode(arguments), urlencode(arguments, quote_via=quote)):
        assert json.loads(arguments_of(query.encode(), READINGS)) == arguments


@given(query=st.binary(max_size=100))
def test_bytes_at_random_are_arguments_or_malformed(query) -> None:
    try:
        found = json.loads(arguments_of(query, READINGS))
    except MalformedRequest:
        return
    assert isinstance(found, dict)


USUAL = 1024


def limit_for(longest_text):
    entry = SimpleNamespace(id="mail.send", longest_text=longest_text)
    return body_limits([entry], USUAL).get("mail.send")


def test_a_long_text_raises_the_limit():
    assert limit_for(5000) == USUAL + 5000


def test_a_short_text_leaves_it():
    assert limit_for(USUAL) is None


def test_the_operator_limits_what_contracts_allow():
    entry = SimpleNamespace(id="mail.send", longest_text=10**30)
    assert body_limits([entry], USUAL, 5000) == {"mail.send": 5000}
    assert body_limits([entry], USUAL, 10) == {"mail.send": USUAL}


FILE = {"type": "string", "contentEncoding": "base64"}


@pytest.mark.parametrize(
    ("schema", "longest"),
    [
        ({"properties": {"file": FILE, "note": {"type": "string"}}}, UNLIMITED),
        ({"properties": {"files": {"type": "array", "items": FILE}}}, UNLIMITED),
        ({"properties": {"file": FILE | {"maxLength": 9000}}}, 9000),
        ({"properties": {"note": {"type": "string"}}}, 0),
    ],
)
def test_a_file_without_a_limit_may_be_of_any_size(schema, longest):
    assert longest_text(schema) == longest


def test_a_text_of_any_length_raises_it_to_the_largest_limit():
    assert limit_for(10**30) == LARGEST_BYTES

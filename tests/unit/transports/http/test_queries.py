"""Query parameters become the arguments that a body would have held."""

import json
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import MalformedRequest
from gateway.transports.http.content import arguments_of, readings_of
from tests.unit.tables import each_of

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

"""Limits of bodies: contracts raise them, but not without bound."""

from types import SimpleNamespace

import pytest

from gateway.contract.schemas.shapes import UNLIMITED, longest_text
from gateway.transports.http.bodies import LARGEST_BYTES, body_limits

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

"""Limits of bodies: contracts raise them, but not without bound."""

from types import SimpleNamespace

from gateway.transports.http.body_limits import LARGEST_BYTES, body_limits

USUAL = 1024


def limit_for(longest_text):
    entry = SimpleNamespace(id="mail.send", longest_text=longest_text)
    return body_limits([entry], USUAL).get("mail.send")


def test_a_long_text_raises_the_limit():
    assert limit_for(5000) == USUAL + 5000


def test_a_short_text_leaves_it():
    assert limit_for(USUAL) is None


def test_a_text_of_any_length_raises_it_to_the_largest_limit():
    assert limit_for(10**30) == LARGEST_BYTES

"""HTTP Basic as a signature scheme."""

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.signatures.basic import BasicCredentials
from gateway.signatures.received import Received
from gateway.signatures.scheme import InvalidSecret

SECRET = "avinode:a password of the tests"
BASIC = BasicCredentials()
KEY = BASIC.key_of(SECRET)


def is_authentic(value: bytes, *keys: bytes) -> bool:
    return BASIC.verifier(keys or (KEY,))(Received(fields=[(b"authorization", value)], body=b""), 0)


def test_the_credentials_are_shown_as_rfc_7617_says() -> None:
    encoded = b64encode(SECRET.encode())
    assert is_authentic(b"Basic " + encoded)
    assert is_authentic(b"bAsIc   " + encoded)
    assert BASIC.signed_fields([KEY], "", 0, b"") == {"authorization": "Basic " + encoded.decode()}


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"Basic",
        b"Basic ",
        b"Bearer " + KEY,
        b"Basic " + KEY[:-1],
        b"Basic " + KEY + b"=",
        b"Basic " + KEY + b", Basic " + KEY,
        b"Basic " + b64encode(b"avinode:another password"),
        b"Basic " + b64encode(b"other:a password of the tests"),
        b"Basic " + b"A" * 10_000,
        "Basic žluťoučký".encode(),
        b"Basic \xff",
    ],
)
def test_everything_else_is_refused(value) -> None:
    assert not is_authentic(value)


def test_absent_and_doubled_credentials_are_refused() -> None:
    assert not BASIC.verifier([KEY])(Received(fields=[], body=b""), 0)
    field = (b"authorization", b"Basic " + KEY)
    assert not BASIC.verifier([KEY])(Received(fields=[field, field], body=b""), 0)


def test_either_of_two_is_enough_and_a_retired_one_is_not() -> None:
    other = BASIC.key_of("avinode:the next password of it")
    assert is_authentic(b"Basic " + KEY, other, KEY)
    assert not is_authentic(b"Basic " + KEY, other)


@pytest.mark.parametrize(
    "secret", ["", "alone", ":a password of the tests", "user:short", "u:\n" * 9]
)
def test_a_secret_has_a_user_and_a_password_that_is_long_enough(secret) -> None:
    with pytest.raises(InvalidSecret, match="<user>:<password>"):
        BASIC.key_of(secret)


@given(st.binary())
def test_whatever_is_sent_nothing_is_raised(value) -> None:
    assert not is_authentic(value)

"""Credentials come from one well-formed Authorization header, or not at all."""

import string

import pytest

from gateway.contract import credentials
from gateway.transports.http.senders import shown_credentials
from tests.unit.tables import each_of


def presented(*values: bytes) -> str | None:
    """The bearer token of a request with these Authorization headers."""
    return shown_credentials({"headers": [(b"authorization", value) for value in values]}).bearer


@pytest.mark.parametrize("value", [b"Bearer gw_abc", b"bearer  gw_abc", b"BEARER gw_abc"])
def test_the_scheme_is_read_in_any_case(value: bytes) -> None:
    assert presented(value) == "gw_abc"


@each_of("sign", string.printable)
def test_a_key_is_configured_exactly_when_a_request_can_carry_it(sign: str) -> None:
    """Else a gateway would start with a key that opens nothing."""
    key = f"key-with-one{sign}sign"
    assert (presented(b"Bearer " + key.encode()) == key) is credentials.is_key(key)


def test_no_header_presents_nothing() -> None:
    assert presented() is None


@pytest.mark.parametrize("value", [b"Basic YTpi", b"", b"gw_abc", b"Bearer=a", b"bearers a"])
def test_another_scheme_presents_nothing(value: bytes) -> None:
    """The challenge then has no error (RFC 6750 §3.1)."""
    assert presented(value) is None


@each_of(
    "values",
    [
        (b"Bearer a", b"Bearer a"),
        (b"Bearer",),
        (b"Bearer ",),
        (b"Bearer a b",),
        (b"Basic YTpi", b"Bearer a"),
        (b"Bearer a,b",),
        (b"Bearer \xc3\xa4",),
        (b"Bearer a\x00",),
        (b"Bearer a\n",),
        (b"Bearer " + b"a" * 513,),
        (b"Bearer " + b"a" * 500 + b"=" * 13,),
        (b"Bearer gw_abc gw_abc",),
    ],
)
def test_anything_else_presents_a_key_of_nobody(values: tuple[bytes, ...]) -> None:
    assert presented(*values) == ""

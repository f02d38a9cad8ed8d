"""Credentials come from one well-formed Authorization header, or not at all."""

import pytest

from gateway.errors import Unauthenticated
from gateway.transports.credentials import credentials_of


def presented(*values: bytes) -> str | None:
    """The bearer token of a request with these Authorization headers."""
    return credentials_of({"headers": [(b"authorization", value) for value in values]}).bearer


@pytest.mark.parametrize("value", [b"Bearer gw_abc", b"bearer  gw_abc", b"BEARER gw_abc"])
def test_the_scheme_is_read_in_any_case(value: bytes) -> None:
    assert presented(value) == "gw_abc"


def test_no_header_presents_nothing() -> None:
    assert presented() is None


@pytest.mark.parametrize(
    "values",
    [
        (b"Bearer a", b"Bearer a"),
        (b"Basic YTpi",),
        (b"Bearer",),
        (b"Bearer ",),
        (b"",),
        (b"Bearer a b",),
        (b"Bearer a,b",),
        (b"Bearer \xc3\xa4",),
        (b"Bearer a\x00",),
        (b"Bearer a\n",),
        (b"Bearer " + b"a" * 513,),
        (b"gw_abc",),
    ],
)
def test_anything_else_is_refused_as_presented_and_not_repeated(values: tuple[bytes, ...]) -> None:
    with pytest.raises(Unauthenticated) as caught:
        presented(*values)
    assert caught.value.presented is True
    assert "gw_abc" not in str(caught.value)

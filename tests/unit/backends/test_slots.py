"""Credentials of imported operations: which alternative is sent, and how."""

import base64

import pytest

from gateway.backends.slots import sent_slots
from gateway.backends.wire import WireEncoder
from gateway.contract.slots import CredentialSlot
from gateway.contract.upstream import EncodedRequest, Upstream, UpstreamRequest
from gateway.errors import ConfigurationError, UpstreamRefusedCredentials

HEADER = CredentialSlot(name="key", kind="api_key", location="header", key_name="X-Key")
QUERY = CredentialSlot(name="query_key", kind="api_key", location="query", key_name="api key")
COOKIE = CredentialSlot(name="session", kind="api_key", location="cookie", key_name="sid")
BASIC = CredentialSlot(name="basic", kind="basic")
BEARER = CredentialSlot(name="token", kind="bearer")
UPSTREAM = Upstream(
    name="pets", title="Pets", base_url=None, slots=(HEADER, QUERY, COOKIE, BASIC, BEARER)
)
ALL = {
    "key": "k1",
    "query_key": "a&b=c",
    "session": "s;1",
    "basic_username": "ada",
    "basic_password": "pä:ss",
    "token": "t1",
}


def sent(credentials, *alternatives, **parts):
    encoded = EncodedRequest(**({"target": "/pets?limit=2"} | parts))
    request = UpstreamRequest(
        operation="pets.list", method="GET", path=(), encoded=encoded, slots=alternatives
    )
    return WireEncoder(UPSTREAM, credentials).encode(request, "2026-12-01T00:00:00Z")


def headers_of(wire):
    return {name.lower(): value for name, value in wire.headers}


def test_an_operation_without_requirements_gets_no_credential():
    wire = sent(ALL)
    assert wire.target == "/pets?limit=2"
    assert not {"authorization", "x-key", "cookie"} & headers_of(wire).keys()


def test_all_slots_of_an_alternative_are_sent():
    wire = sent(ALL, ("key", "query_key", "session", "token"))
    headers = headers_of(wire)
    assert wire.target == "/pets?limit=2&api%20key=a%26b%3Dc"
    assert headers["x-key"] == "k1"
    assert headers["authorization"] == "Bearer t1"
    assert headers["cookie"] == "sid=s%3B1"


def test_a_user_and_a_password_are_one_header():
    headers = headers_of(sent(ALL, ("basic",)))
    assert headers["authorization"] == "Basic " + base64.b64encode("ada:pä:ss".encode()).decode()


def test_the_first_alternative_whose_slots_are_all_set_is_sent():
    headers = headers_of(sent({"token": "t1"}, ("key", "token"), ("basic",), ("token",)))
    assert headers["authorization"] == "Bearer t1"
    assert "x-key" not in headers


def test_an_empty_alternative_sends_nothing():
    assert "authorization" not in headers_of(sent({}, ("token",), ()))


def test_a_request_without_its_credentials_is_not_sent():
    wanted = "set GATEWAY_PETS_TOKEN, or GATEWAY_PETS_BASIC_USERNAME with"
    with pytest.raises(UpstreamRefusedCredentials, match=wanted):
        sent({"key": "k1"}, ("key", "token"), ("basic",))


def test_arguments_cannot_replace_credentials():
    wire = sent(
        ALL,
        ("key", "query_key"),
        target="/pets?api%20key=mine&limit=2",
        headers=(("x-key", "mine"),),
    )
    assert wire.target == "/pets?limit=2&api%20key=a%26b%3Dc"
    assert headers_of(wire)["x-key"] == "k1"


def test_cookies_of_arguments_and_credentials_are_one_header():
    wire = sent(ALL, ("session",), headers=(("Cookie", "lang=de"),))
    assert headers_of(wire)["cookie"] == "lang=de; sid=s%3B1"


def test_an_argument_cannot_replace_a_cookie_of_a_credential():
    wire = sent(ALL, ("session",), headers=(("Cookie", "sid=mine; lang=de;sid=x"),))
    assert headers_of(wire)["cookie"] == "lang=de; sid=s%3B1"


def test_an_argument_cannot_replace_a_credential_by_another_encoding_of_its_name():
    wire = sent(ALL, ("query_key",), target="/pets?api+key=mine&%61pi%20key=mine")
    assert wire.target == "/pets?api%20key=a%26b%3Dc"


def test_each_header_is_sent_once():
    wire = sent(ALL, ("key",), headers=(("user-agent", "mine"), ("X-KEY", "mine")))
    names = [name.lower() for name, _ in wire.headers]
    assert sorted(names) == ["accept", "user-agent", "x-key"]
    assert headers_of(wire)["user-agent"] == "mine"
    assert headers_of(wire)["x-key"] == "k1"


def test_credentials_with_the_same_place_are_not_sent():
    with pytest.raises(UpstreamRefusedCredentials, match="same place"):
        sent(ALL, ("basic", "token"))
    assert headers_of(sent(ALL, ("basic", "token"), ("token",)))["authorization"] == "Bearer t1"


@pytest.mark.parametrize("value", ["two\nlines", "schlüssel"])
def test_a_value_that_cannot_be_sent_names_its_setting(value):
    with pytest.raises(ConfigurationError, match="GATEWAY_PETS_TOKEN"):
        sent_slots(UPSTREAM, {"token": value})


def test_a_body_is_sent_with_its_media_type():
    wire = sent({}, media_type="text/plain", body=b"hello")
    assert headers_of(wire)["content-type"] == "text/plain"
    assert wire.body == b"hello"
    assert sent({}).body is None

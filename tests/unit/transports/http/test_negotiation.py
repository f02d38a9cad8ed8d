"""What hosts, media types and credentials are admitted: from well-formed headers, or not at all."""

import string

import pytest

from gateway.contract import credentials
from gateway.errors import NotAcceptable, UnsupportedMediaType
from gateway.transports.http.content import require_accept, require_json_body
from gateway.transports.http.heads import HostRules, is_of_operator
from gateway.transports.http.senders import shown_credentials
from tests.unit.tables import each_of


@pytest.mark.parametrize(
    "value",
    [
        b"application/json",
        b"Application/JSON",
        b"application/json;charset=utf-8",
        b'application/json ; charset="UTF-8"',
    ],
)
def test_json_in_utf_8_is_a_body(value: bytes) -> None:
    require_json_body({"headers": [(b"content-type", value)]})


@each_of(
    "values",
    [
        (),
        (b"",),
        (b"text/json",),
        (b"application/jsonp",),
        (b"application/json; charset=utf-16",),
        (b"application/json; boundary=x",),
        (b"application/problem+json",),
        (b"application/json", b"application/json"),
    ],
)
def test_anything_else_is_not(values: tuple[bytes, ...]) -> None:
    with pytest.raises(UnsupportedMediaType):
        require_json_body({"headers": [(b"content-type", value) for value in values]})


@each_of(
    ("accept", "is_taken"),
    [
        (None, True),
        (b"application/json", True),
        (b"*/*", True),
        (b"application/*", True),
        (b"text/html, application/json;q=0.1", True),
        (b"APPLICATION/JSON", True),
        (b"application/json;q=0", False),
        (b"application/json;q=0.000", False),
        (b"application/json;q=0, */*", False),
        (b"*/*, application/json;q=0", False),
        (b"application/*;q=0, */*;q=1", False),
        (b"application/json, application/*;q=0", True),
        (b"*/*;q=0, application/json", True),
        (b"text/html", False),
        (b"", False),
        (b";;,,", False),
        (b"\xff", False),
    ],
)
def test_the_most_specific_range_of_accept_decides(accept: bytes | None, is_taken: bool) -> None:
    scope = {"headers": [] if accept is None else [(b"accept", accept)]}
    if is_taken:
        require_accept(scope, "application/json")
    else:
        with pytest.raises(NotAcceptable):
            require_accept(scope, "application/json")


@pytest.mark.parametrize("accept", [b"application/json", b"text/*", b"*/*;q=0, text/event-stream"])
def test_one_of_several_types_must_be_taken(accept: bytes) -> None:
    require_accept({"headers": [(b"accept", accept)]}, "application/json", "text/event-stream")


def test_a_refusal_names_all_types_of_the_answer() -> None:
    both = ("application/json", "text/event-stream")
    with pytest.raises(NotAcceptable, match="application/json or text/event-stream"):
        require_accept({"headers": [(b"accept", b"text/html")]}, *both)


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


RULES = HostRules(
    ["Gateway.test", "127.0.0.1:*", "[::1]", "pinned.test:8443"], ["https://UI.example.com/"]
)


@each_of(
    ("host", "is_admitted"),
    [
        (b"gateway.test", True),
        (b"GATEWAY.TEST:8700", True),
        (b"127.0.0.1", True),
        (b"127.0.0.1:80", True),
        (b"[::1]", True),
        (b"[::1]:8700", True),
        (b"pinned.test:8443", True),
        (b"pinned.test:8444", False),
        (b"pinned.test", False),
        (b"", False),
        (b":80", False),
        (b"gateway.test:", False),
        (b"gateway.test:123456", False),
        (b"gateway.test:80@evil.example", False),
        (b"gateway.test/", False),
        (b"gateway.test.evil.example", False),
        (b"evil.example", False),
        (b"gateway.test, evil.example", False),
    ],
)
def test_a_host_is_admitted_by_its_exact_name(host: bytes, is_admitted: bool) -> None:
    assert RULES.admits_host(host) is is_admitted


@each_of(
    ("origin", "is_admitted"),
    [
        (b"https://ui.example.com", True),
        (b"https://ui.example.com:8443", False),
        (b"http://ui.example.com", False),
        (b"http://gateway.test:8700", True),
        (b"https://gateway.test:8700", True),
        (b"http://gateway.test", False),
        (b"http://gateway.test:8701", False),
        (b"null", False),
        (b"", False),
        (b"gateway.test:8700", False),
        (b"file://gateway.test:8700", False),
    ],
)
def test_an_origin_is_admitted_when_listed_or_our_own(origin: bytes, is_admitted: bool) -> None:
    assert RULES.admits_origin(origin, b"gateway.test:8700") is is_admitted


def test_the_sdk_is_given_the_same_names() -> None:
    assert "gateway.test" in RULES.host_patterns()
    assert "gateway.test:*" in RULES.host_patterns()
    assert "https://ui.example.com" in RULES.origin_patterns()
    assert "http://127.0.0.1:*" in RULES.origin_patterns()


@each_of(
    ("path", "host", "is_own"),
    [
        ("/readyz", b"127.0.0.1:8700", True),
        ("/healthz", b"LOCALHOST", True),
        ("/metrics", b"[::1]:8700", True),
        ("/metrics.json", b"10.0.0.7:8700", True),
        ("/operator/jobs", b"10.0.0.7", True),
        ("/readyz", b"10.0.0.8", False),
        ("/readyz", b"evil.example", False),
        ("/readyz", b"127.0.0.1.evil.example", False),
        ("/readyz", b"", False),
        ("/v1/store/find", b"127.0.0.1", False),
        ("/mcp", b"10.0.0.7", False),
        ("/operator", b"127.0.0.1", False),
        ("/readyz/x", b"127.0.0.1", False),
    ],
)
def test_operators_and_probes_may_name_this_machine(path: str, host: bytes, is_own: bool) -> None:
    assert is_of_operator(path, host, "10.0.0.7") is is_own


@each_of("host", [b"", b"evil.example", b":80"])
def test_without_an_address_only_the_loopback_is_this_machine(host: bytes) -> None:
    assert not is_of_operator("/readyz", host, "")
    assert is_of_operator("/readyz", b"127.0.0.1", "")


def test_an_address_of_ipv6_is_written_in_brackets() -> None:
    assert is_of_operator("/readyz", b"[2001:db8::7]:8700", "2001:db8::7")
    assert not is_of_operator("/readyz", b"2001:db8::7", "2001:db8::7")

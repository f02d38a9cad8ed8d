"""Which hosts and origins are admitted."""

from gateway.transports.http.heads import HostRules, is_of_operator
from tests.unit.tables import each_of

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

"""Schemes of shared secrets: HTTP Basic and HMACs in headers; each from a secret to a message."""

import hashlib
import hmac
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.signatures.basic import BasicCredentials
from gateway.signatures.hmac_header import HmacSignature
from gateway.signatures.received import Received
from gateway.signatures.registry import InvalidScheme, scheme_of
from gateway.signatures.scheme import InvalidSecret
from gateway.signatures.standard import StandardSignature

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


HMAC_KEY = b"a key of the tests, 32 bytes long"
AT = 1_700_000_000
BODY = b'{"event_id": "e-1"}'
PLAIN = HmacSignature(header="x-hub-signature-256", prefix="sha256=")
TIMED = HmacSignature(
    header="x-signature", prefix="sha256=", timestamp_header="x-timestamp", tolerance_seconds=300
)


def fields_of(**fields: bytes) -> list[tuple[bytes, bytes]]:
    return [(name.replace("_", "-").encode(), value) for name, value in fields.items()]


def test_github_s_published_vector_is_authentic() -> None:
    """From "Validating webhook deliveries" of GitHub's documentation."""
    key = PLAIN.key_of("It's a Secret to Everybody")
    shown = b"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    fields = fields_of(x_hub_signature_256=shown)
    assert PLAIN.verifier([key])(Received(fields=fields, body=b"Hello, World!"), AT)
    assert not PLAIN.verifier([key])(Received(fields=fields, body=b"Hello, World?"), AT)


@pytest.mark.parametrize("algorithm", ["sha256", "sha512"])
@pytest.mark.parametrize("encoding", ["hex", "base64"])
def test_each_form_is_computed_as_the_standard_library_does_it(algorithm, encoding) -> None:
    rule = HmacSignature(header="x-signature", algorithm=algorithm, encoding=encoding)
    digest = hmac.new(HMAC_KEY, BODY, getattr(hashlib, algorithm)).digest()
    text = digest.hex().encode() if encoding == "hex" else b64encode(digest)
    assert rule.verifier([HMAC_KEY])(Received(fields=fields_of(x_signature=text), body=BODY), AT)
    is_caseless = encoding == "hex"
    fields = fields_of(x_signature=text.swapcase())
    assert rule.verifier([HMAC_KEY])(Received(fields=fields, body=BODY), AT) is is_caseless


def test_the_time_is_part_of_what_is_signed() -> None:
    fields = TIMED.signed_fields([HMAC_KEY], "", AT, BODY)
    sent = [(name.encode(), value.encode()) for name, value in fields.items()]
    later = [(n, b"%d" % (AT + 1) if n == b"x-timestamp" else v) for n, v in sent]
    assert TIMED.verifier([HMAC_KEY])(Received(fields=sent, body=BODY), AT)
    assert not TIMED.verifier([HMAC_KEY])(Received(fields=later, body=BODY), AT)
    assert hmac.new(HMAC_KEY, b"%d.%b" % (AT, BODY), hashlib.sha256).hexdigest() in str(fields)


@pytest.mark.parametrize(
    ("now", "expected"), [(300, True), (-300, True), (301, False), (-301, False)]
)
def test_a_timed_message_is_taken_for_its_tolerance_either_way(now, expected) -> None:
    fields = TIMED.signed_fields([HMAC_KEY], "", AT, BODY)
    sent = [(name.encode(), value.encode()) for name, value in fields.items()]
    assert TIMED.verifier([HMAC_KEY])(Received(fields=sent, body=BODY), AT + now) is expected


@pytest.mark.parametrize("missing", ["x-signature", "x-timestamp"])
def test_a_missing_or_doubled_field_proves_nothing(missing) -> None:
    fields = TIMED.signed_fields([HMAC_KEY], "", AT, BODY)
    sent = [(name.encode(), value.encode()) for name, value in fields.items()]
    absent = [field for field in sent if field[0] != missing.encode()]
    doubled = [*sent, *(field for field in sent if field[0] == missing.encode())]
    assert not TIMED.verifier([HMAC_KEY])(Received(fields=absent, body=BODY), AT)
    assert not TIMED.verifier([HMAC_KEY])(Received(fields=doubled, body=BODY), AT)


def test_either_of_two_keys_is_enough_and_a_retired_one_is_not() -> None:
    fields = PLAIN.signed_fields([HMAC_KEY], "", AT, BODY)
    sent = [(name.encode(), value.encode()) for name, value in fields.items()]
    assert PLAIN.verifier([b"another" * 5, HMAC_KEY])(Received(fields=sent, body=BODY), AT)
    assert not PLAIN.verifier([b"another" * 5])(Received(fields=sent, body=BODY), AT)
    assert not PLAIN.verifier([])(Received(fields=sent, body=BODY), AT)


@given(st.binary(), st.binary(), st.binary())
def test_whatever_is_sent_to_hmacs_nothing_is_raised(signature, timestamp, body) -> None:
    for rule in (PLAIN, TIMED):
        fields = [(rule.header.encode(), signature), (b"x-timestamp", timestamp)]
        assert not rule.verifier([HMAC_KEY])(Received(fields=fields, body=body), AT)


def test_a_secret_is_as_long_as_its_vendor_makes_it() -> None:
    """Zoom's have 22 characters. An empty one would let everybody sign."""
    assert PLAIN.key_of("x" * 22) == b"x" * 22
    with pytest.raises(InvalidSecret, match="empty"):
        PLAIN.key_of("")


@pytest.mark.parametrize(
    ("time", "content", "is_covered"),
    [
        ({"header": "X-Time"}, ["$request.body"], False),
        ({"header": "X-Time"}, ["$request.body", "$request.header.x-time"], True),
        ({"header": "X-Time"}, ["$time", "$request.body"], True),
        ({"header": "X-Signature", "prefix": "t="}, ["$request.body"], False),
        ({"query": "at"}, ["$request.query.other", "$request.body"], False),
        ({"query": "at"}, ["$request.query.at", "$request.body"], True),
        ({"query": "at"}, ["$request.url", "$request.body"], True),
        ({"pointer": "/at"}, ["$request.url", "$request.body#/id"], False),
        ({"pointer": "/at"}, ["$request.body#/at"], True),
        ({"pointer": "/at"}, ["$request.body"], True),
    ],
)
def test_a_time_that_nobody_signed_proves_nothing_and_is_refused(time, content, is_covered):
    rules = {"scheme": "hmac", "header": "X-Signature", "time": time, "content": content}
    if is_covered:
        assert scheme_of(rules)
    else:
        with pytest.raises(InvalidScheme, match=r"is not signed.*; add \$time to content"):
            scheme_of(rules)


SCHEMES = [
    StandardSignature(),
    HmacSignature(header="x-signature", timestamp_header="x-timestamp"),
    BasicCredentials(),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: type(scheme).__name__)
def test_what_a_new_secret_signs_its_owner_can_verify_and_nobody_else(scheme) -> None:
    key, other = (scheme.key_of(scheme.new_secret()) for _ in range(2))
    fields = scheme.signed_fields([key], "msg_1", AT, b"{}")
    sent = [(name.encode(), value.encode()) for name, value in fields.items()]

    assert scheme.verifier([key])(Received(fields=sent, body=b"{}"), AT)
    assert not scheme.verifier([other])(Received(fields=sent, body=b"{}"), AT)
    assert not scheme.verifier([])(Received(fields=sent, body=b"{}"), AT)
    assert not scheme.verifier([key])(Received(fields=[], body=b"{}"), AT)

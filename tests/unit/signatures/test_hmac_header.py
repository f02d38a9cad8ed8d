"""HMACs in headers: with and without a time, in each form."""

import hashlib
import hmac
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.signatures.hmac_header import HmacSignature
from gateway.signatures.received import Received
from gateway.signatures.registry import InvalidScheme, scheme_of
from gateway.signatures.scheme import InvalidSecret

KEY = b"a key of the tests, 32 bytes long"
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
    digest = hmac.new(KEY, BODY, getattr(hashlib, algorithm)).digest()
    text = digest.hex().encode() if encoding == "hex" else b64encode(digest)
    assert rule.verifier([KEY])(Received(fields=fields_of(x_signature=text), body=BODY), AT)
    is_caseless = encoding == "hex"
    fields = fields_of(x_signature=text.swapcase())
    assert rule.verifier([KEY])(Received(fields=fields, body=BODY), AT) is is_caseless


def test_the_time_is_part_of_what_is_signed() -> None:
    fields = TIMED.signed_fields([KEY], "", AT, BODY)
    sent = [(name.encode(), value.encode()) for name, value in fields.items()]
    later = [(n, b"%d" % (AT + 1) if n == b"x-timestamp" else v) for n, v in sent]
    assert TIMED.verifier([KEY])(Received(fields=sent, body=BODY), AT)
    assert not TIMED.verifier([KEY])(Received(fields=later, body=BODY), AT)
    assert hmac.new(KEY, b"%d.%b" % (AT, BODY), hashlib.sha256).hexdigest() in str(fields)


@pytest.mark.parametrize(
    ("now", "expected"), [(300, True), (-300, True), (301, False), (-301, False)]
)
def test_a_timed_message_is_taken_for_its_tolerance_either_way(now, expected) -> None:
    fields = TIMED.signed_fields([KEY], "", AT, BODY)
    sent = [(name.encode(), value.encode()) for name, value in fields.items()]
    assert TIMED.verifier([KEY])(Received(fields=sent, body=BODY), AT + now) is expected


@pytest.mark.parametrize("missing", ["x-signature", "x-timestamp"])
def test_a_missing_or_doubled_field_proves_nothing(missing) -> None:
    fields = TIMED.signed_fields([KEY], "", AT, BODY)
    sent = [(name.encode(), value.encode()) for name, value in fields.items()]
    absent = [field for field in sent if field[0] != missing.encode()]
    doubled = [*sent, *(field for field in sent if field[0] == missing.encode())]
    assert not TIMED.verifier([KEY])(Received(fields=absent, body=BODY), AT)
    assert not TIMED.verifier([KEY])(Received(fields=doubled, body=BODY), AT)


def test_either_of_two_keys_is_enough_and_a_retired_one_is_not() -> None:
    fields = PLAIN.signed_fields([KEY], "", AT, BODY)
    sent = [(name.encode(), value.encode()) for name, value in fields.items()]
    assert PLAIN.verifier([b"another" * 5, KEY])(Received(fields=sent, body=BODY), AT)
    assert not PLAIN.verifier([b"another" * 5])(Received(fields=sent, body=BODY), AT)
    assert not PLAIN.verifier([])(Received(fields=sent, body=BODY), AT)


@given(st.binary(), st.binary(), st.binary())
def test_whatever_is_sent_nothing_is_raised(signature, timestamp, body) -> None:
    for rule in (PLAIN, TIMED):
        fields = [
            (rule.header.encode(), signature),
            (b"x-timestamp", timestamp),
        ]
        assert not rule.verifier([KEY])(Received(fields=fields, body=body), AT)


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

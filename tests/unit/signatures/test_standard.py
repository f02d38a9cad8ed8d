"""Standard Webhooks 1.0.0: what is authentic, and that everything else is refused."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.signatures import standard
from gateway.signatures.received import Received
from gateway.signatures.scheme import InvalidSecret

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
STANDARD = standard.StandardSignature()
KEY = STANDARD.key_of(SECRET)
OTHER_KEY = bytes(range(32))
ID = b"msg_p5jXN8AQM9LWM0D4loKWxJek"
AT = 1614265330
BODY = b'{"test": 2432232314}'
SIGNATURE = b"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def sign(key: bytes, message_id: str, timestamp: int, body: bytes) -> str:
    return STANDARD.signed_fields([key], message_id, timestamp, body)[standard.SIGNATURE]


def is_authentic(
    signature: bytes | None = SIGNATURE,
    *,
    message_id: bytes | None = ID,
    timestamp: bytes | None = b"%d" % AT,
    body: bytes = BODY,
    keys: tuple[bytes, ...] = (KEY,),
    now: float = AT,
) -> bool:
    fields = [
        (b"webhook-id", message_id),
        (b"webhook-timestamp", timestamp),
        (b"webhook-signature", signature),
    ]
    present = [(name, value) for name, value in fields if value is not None]
    return STANDARD.verifier(keys)(Received(fields=present, body=body), now)


def test_the_published_vector_is_signed_to_the_byte() -> None:
    """The one that the reference libraries carry."""
    assert sign(KEY, ID.decode(), AT, BODY) == SIGNATURE.decode()
    assert is_authentic()


@pytest.mark.parametrize("text", [SECRET, SECRET.removeprefix("whsec_"), SECRET.rstrip("=")])
def test_a_secret_may_lack_its_prefix_and_its_padding(text) -> None:
    assert STANDARD.key_of(text) == KEY


@pytest.mark.parametrize(
    "text",
    ["", "whsec_", "whsec_" + base64.b64encode(b"x" * 23).decode(), "whsec_a*b", "ключ" * 20],
)
def test_what_is_no_secret_is_refused_without_being_repeated(text) -> None:
    with pytest.raises(InvalidSecret) as raised:
        STANDARD.key_of(text)
    assert not text.removeprefix("whsec_") or text not in str(raised.value)


def test_a_new_secret_carries_256_random_bits() -> None:
    first, second = STANDARD.new_secret(), STANDARD.new_secret()
    assert first != second
    assert len(STANDARD.key_of(first)) == 32


@pytest.mark.parametrize(
    "signature",
    [
        pytest.param(None, id="absent"),
        pytest.param(b"", id="empty"),
        pytest.param(b"v1", id="no-comma"),
        pytest.param(b"v1,", id="empty-signature"),
        pytest.param(SIGNATURE[:-2], id="truncated"),
        pytest.param(SIGNATURE[3:], id="no-version"),
        pytest.param(b"v2," + SIGNATURE[3:], id="v2-only"),
        pytest.param(b"v1a," + SIGNATURE[3:], id="v1a-only"),
        pytest.param(b"v1,a,b", id="two-commas"),
        pytest.param(b"v1," + b"A" * 10_000, id="10-kB"),
        pytest.param(b" ".join([b"v1,AAAA"] * 1000 + [SIGNATURE]), id="1001-signatures"),
        pytest.param("v1,žluťoučký".encode(), id="not-ascii"),
        pytest.param(b"v1,\xff\xfe", id="not-utf-8"),
        pytest.param(SIGNATURE.lower(), id="other-case"),
    ],
)
def test_a_signature_that_is_not_exactly_right_is_refused(signature) -> None:
    assert not is_authentic(signature)


def test_one_right_signature_among_few_is_enough() -> None:
    assert is_authentic(b"v1,AAAA v1a,BBBB " + SIGNATURE + b" v2,CCCC")


@pytest.mark.parametrize(
    "timestamp",
    [
        b"1_0",
        b"+1",
        b" 1",
        b"-1",
        "१६१४२६५३३०".encode(),
        b"1e9",
        b"NaN",
        b"1" * 20,
        b"",
        None,
        b"0x10",
    ],
)
def test_a_time_is_ascii_digits_and_nothing_else(timestamp) -> None:
    shown = timestamp or b""
    content = ID + b"." + shown + b"." + BODY
    signature = standard._signature(KEY, content)
    now = 1.0 if shown in {b"+1", b" 1", b"-1"} else float(AT)
    assert not is_authentic(signature, timestamp=timestamp, now=now)


@pytest.mark.parametrize(
    ("now", "expected"), [(300, True), (-300, True), (301, False), (-301, False)]
)
def test_a_message_is_taken_for_five_minutes_either_way(now, expected) -> None:
    assert is_authentic(now=AT + now) is expected


def test_every_byte_of_the_body_is_signed() -> None:
    assert not is_authentic(body=b'{"test":2432232314}')
    assert not is_authentic(body=BODY + b"\n")
    assert not is_authentic(body=b"\xff" + BODY)


def test_a_message_signed_with_either_of_two_keys_is_authentic_and_with_a_retired_one_is_not() -> (
    None
):
    assert is_authentic(keys=(OTHER_KEY, KEY))
    assert is_authentic(keys=(KEY, OTHER_KEY))
    assert not is_authentic(keys=(OTHER_KEY,))
    assert not is_authentic(keys=())


def test_a_field_that_occurs_twice_proves_nothing() -> None:
    fields = [
        (b"webhook-id", ID),
        (b"webhook-timestamp", b"%d" % AT),
        (b"webhook-signature", SIGNATURE),
    ]
    for twice in fields:
        assert not STANDARD.verifier([KEY])(Received(fields=[*fields, twice], body=BODY), AT)


def test_an_id_with_a_dot_is_never_signed() -> None:
    with pytest.raises(ValueError, match="dot"):
        sign(KEY, "a.1", AT, BODY)


def test_both_secrets_of_a_rotation_sign() -> None:
    fields = STANDARD.signed_fields([KEY, OTHER_KEY], "msg_1", AT, BODY)
    for key in (KEY, OTHER_KEY):
        assert is_authentic(fields[standard.SIGNATURE].encode(), message_id=b"msg_1", keys=(key,))


@given(st.binary(), st.binary(), st.binary(), st.binary())
def test_whatever_is_sent_nothing_is_raised(message_id, timestamp, signature, body) -> None:
    assert not is_authentic(signature, message_id=message_id, timestamp=timestamp, body=body)


@given(st.from_regex(r"[A-Za-z0-9_-]{1,200}", fullmatch=True), st.binary(), st.binary(min_size=24))
def test_what_is_signed_is_authentic_and_nothing_else_is(message_id, body, key) -> None:
    signature = sign(key, message_id, AT, body).encode()
    sent = {"message_id": message_id.encode(), "keys": (key,)}
    assert is_authentic(signature, body=body, **sent)
    assert not is_authentic(signature, body=body + b"x", **sent)
    assert not is_authentic(
        signature, body=body, keys=(key + b"x",), message_id=message_id.encode()
    )

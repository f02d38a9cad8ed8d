"""Requests as they travel."""

import msgspec
import pytest

from gateway.backends.wire import WireEncoder
from gateway.contract.upstream import HeaderRule
from gateway.errors import ConfigurationError, MalformedRequest

NOW = "2026-11-20T14:30:00.000Z"


@pytest.fixture
def sent(library, ask):
    def send(upstream=library, credentials=None, **parts):
        given = {"token": "t0k"} if credentials is None else credentials
        return WireEncoder(upstream, given).encode(ask(**parts), NOW)

    return send


@pytest.mark.parametrize(
    ("segment", "encoded"),
    [
        ("a/b", "a%2Fb"),
        ("?x", "%3Fx"),
        ("#", "%23"),
        ("//evil", "%2F%2Fevil"),
        ("\\", "%5C"),
        (";", "%3B"),
        ("%2e%2e", "%252e%252e"),
        ("...", "..."),
        ("né", "n%C3%A9"),
        ("a b", "a%20b"),
    ],
)
def test_a_path_argument_stays_one_segment(sent, segment, encoded):
    """No text that an argument may hold can add a segment, a query or a fragment."""
    assert sent(path=("books", segment)).target == f"/books/{encoded}"


@pytest.mark.parametrize("segment", ["", ".", "..", "a\x00", "a\nb", "\x7f"])
def test_a_segment_that_climbs_or_hides_is_refused(sent, segment):
    """Dots are unreserved, so encoding would leave them what they are."""
    with pytest.raises(MalformedRequest):
        sent(path=("books", segment))


@pytest.mark.parametrize("segment", ["", "..", "a\x00"])
def test_the_refusal_of_a_segment_names_its_arguments_and_not_their_values(sent, segment):
    with pytest.raises(MalformedRequest) as refused:
        sent(path=("books", segment), path_arguments=("", "/book/id"))
    assert refused.value.detail.endswith("has control characters: /book/id.")


def test_query_names_and_values_are_encoded(sent):
    query = (("page[size]", "10"), ("q", "a&b=c d+é"))
    assert sent(query=query).target == "/books/7?page%5Bsize%5D=10&q=a%26b%3Dc%20d%2B%C3%A9"


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\n", "\x00", "é", "\x7f"])
def test_a_header_value_cannot_begin_another_header(sent, value):
    with pytest.raises(MalformedRequest):
        sent(headers=(("X-Shelf", value),))


def test_a_header_name_is_a_token(sent):
    with pytest.raises(MalformedRequest):
        sent(headers=(("X Shelf", "1"),))


def test_declared_headers_are_filled_in(sent):
    """An absent optional credential leaves its header out."""
    headers = dict(sent().headers)
    assert headers["Authorization"] == "Bearer t0k"
    assert headers["X-Sent"] == NOW
    assert "X-Branch" not in headers


def test_an_optional_credential_that_is_given_is_sent(sent):
    headers = dict(sent(credentials={"token": "t0k", "branch": "north"}).headers)
    assert headers["X-Branch"] == "north"


def test_a_binding_cannot_replace_a_credential(sent):
    """Arguments may be bound to headers; they must not become someone's authorization."""
    headers = sent(headers=(("authorization", "Bearer mine"),)).headers
    assert [value for name, value in headers if name.lower() == "authorization"] == ["Bearer t0k"]


@pytest.mark.parametrize("credentials", [{}, {"token": ""}])
def test_a_needed_credential_that_is_missing_is_named_by_its_setting(library, credentials):
    with pytest.raises(ConfigurationError, match="GATEWAY_LIBRARY_TOKEN is not set"):
        WireEncoder(library, credentials)


@pytest.mark.parametrize("secret", ["s3cret\n", "s3cret\r\nX-Evil: 1", "s3crét"])
def test_a_credential_that_cannot_be_sent_is_the_operators_error(library, secret):
    """A file that ends in a line break is common; the caller is not to blame for it."""
    with pytest.raises(ConfigurationError, match="GATEWAY_LIBRARY_TOKEN") as caught:
        WireEncoder(library, {"token": secret})
    assert "s3cr" not in str(caught.value)


def test_a_value_may_hold_a_placeholder_of_its_own(sent, library):
    """Credentials are filled in, never expanded."""
    rule = HeaderRule(name="X-Key", template="{credential.token}")
    upstream = msgspec.structs.replace(library, headers=(rule,))
    headers = dict(sent(upstream, credentials={"token": "{now}"}).headers)
    assert headers["X-Key"] == "{now}"


def test_a_body_is_json_and_says_so(sent):
    wire = sent(method="POST", path=("books",), body={"title": "Emma", "id": 1})
    assert wire.body == b'{"title":"Emma","id":1}'
    assert ("Content-Type", "application/json") in wire.headers


def test_null_is_a_body_and_nothing_is_none(sent):
    assert sent(method="POST", body=None).body == b"null"
    assert sent().body is None
    assert "Content-Type" not in dict(sent().headers)


def test_a_token_is_put_in_without_encoding_anything_again(library, ask):
    """Also when it was refused and the request goes out a second time; the rest stays as it was."""
    bearer = HeaderRule(name="Authorization", template="Bearer {token}")
    upstream = msgspec.structs.replace(library, headers=(bearer,))
    encoder = WireEncoder(upstream, {})
    unsigned = encoder.encode(ask(headers=(("X-Own", "1"),), body={"title": "Ada"}), NOW)

    first = encoder.signed(unsigned, NOW, "one")
    second = encoder.signed(unsigned, NOW, "two")

    assert dict(first.headers)["Authorization"] == "Bearer one"
    assert dict(second.headers)["Authorization"] == "Bearer two"
    assert dict(second.headers)["X-Own"] == "1"
    assert (second.target, second.method) == (unsigned.target, unsigned.method)
    assert unsigned.body
    assert second.body is unsigned.body

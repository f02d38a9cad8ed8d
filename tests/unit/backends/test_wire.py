"""Requests as they travel: paths, parameters that come more than once, and their bytes."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.backends.mock.requests import RequestReader, RequestRefused, Router
from gateway.backends.wire import WireEncoder, WireRequest
from gateway.contract.mock import MockRequest
from gateway.contract.upstream import (
    CredentialRule,
    HeaderRule,
    QueryRule,
    Upstream,
    UpstreamOperation,
    UpstreamRequest,
)
from gateway.errors import ConfigurationError, MalformedRequest
from tests import clocks
from tests.unit.tables import each_of

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


TEXT = {"type": "string"}
HERE = MockRequest(operation="", now=clocks.NOW, seed="0", fingerprint="")


def operation(id_, method, path, *query, **parts):
    names = [part.split("}")[0] for part in path.split("{")[1:]]
    parameters = [{"name": n, "in": "path", "required": True, "schema": TEXT} for n in names]
    parameters += [{"name": n, "in": "query", "schema": schema} for n, schema in query]
    return UpstreamOperation(
        id=id_, method=method, path=path, parameters=tuple(parameters), replies={}, **parts
    )


SHEET = Upstream(
    name="sheet",
    title="Sheet",
    base_url=None,
    operations=(
        operation("read", "GET", "/v4/{id}/values/{range}"),
        operation("write", "PUT", "/v4/{id}/values/{range}"),
        operation("append", "POST", "/v4/{id}/values/{range}:append"),
        operation("clear", "POST", "/v4/{id}/values/{range}:clear"),
        operation("copy", "POST", "/v4/{id}/values/{range}"),
        operation(
            "batch",
            "GET",
            "/v4/{id}/values:batchGet",
            ("ranges", {"type": "array", "items": TEXT, "maxItems": 3}),
        ),
        operation("between", "GET", "/rates/{start}..{end}"),
        operation("named", "GET", "/rates/latest"),
        operation("dated", "GET", "/rates/{date}"),
    ),
)
OPERATIONS = {each.id: each for each in SHEET.operations}


def encoded(id_, *path, query=(), upstream=SHEET, credentials=None):
    asked = OPERATIONS[id_]
    request = UpstreamRequest(operation=id_, method=asked.method, path=path, query=query)
    return WireEncoder(upstream, credentials or {}).encode(request, NOW)


def found(wire):
    asked, parameters = Router(SHEET.operations).find(wire.method, wire.target)
    return asked.id, parameters


@each_of(
    ("id_", "segments", "target"),
    [
        ("read", ("A1:B2",), "/v4/s/values/A1%3AB2"),
        ("append", ("A1:B2:append",), "/v4/s/values/A1%3AB2:append"),
        ("append", ("'My Sheet'!A1:B2:append",), "/v4/s/values/%27My%20Sheet%27%21A1%3AB2:append"),
        ("append", ("x:clear:append",), "/v4/s/values/x%3Aclear:append"),
        ("read", ("x:append",), "/v4/s/values/x%3Aappend"),
        ("clear", ("a/b:clear",), "/v4/s/values/a%2Fb:clear"),
        ("batch", (), "/v4/s/values:batchGet"),
    ],
)
def test_a_colon_of_the_template_is_syntax_and_one_of_a_value_is_text(id_, segments, target):
    path = ("v4", "s", "values", *segments) if segments else ("v4", "s", "values:batchGet")
    assert encoded(id_, *path).target == target


@pytest.mark.parametrize("value", ["", "..", ".", "a\n", "\x00"])
def test_an_empty_or_climbing_value_before_a_suffix_does_not_become_another_address(value):
    wire_of = {"": None, "..": "/v4/s/values/..:append", ".": "/v4/s/values/.:append"}
    segment = f"{value}:append"
    if wire_of.get(value) is None:
        with pytest.raises(MalformedRequest):
            encoded("append", "v4", "s", "values", segment)
    else:
        assert encoded("append", "v4", "s", "values", segment).target == wire_of[value]


@given(st.text(min_size=1, max_size=20).filter(lambda t: t.isprintable() and t not in {".", ".."}))
def test_whatever_a_value_is_the_operation_stays_what_it_was(value):
    """The mock's router reads back exactly what was encoded, by the rules of another function."""
    for id_, suffix in (("read", ""), ("append", ":append"), ("copy", "")):
        wire = encoded(id_, "v4", "s", "values", f"{value}{suffix}")
        assert found(wire) == (id_, {"id": "s", "range": value})


@each_of(
    ("method", "target", "expected"),
    [
        ("POST", "/v4/s/values/A1:append", ("append", {"id": "s", "range": "A1"})),
        ("POST", "/v4/s/values/A1:B2:append", ("append", {"id": "s", "range": "A1:B2"})),
        ("POST", "/v4/s/values/A1", ("copy", {"id": "s", "range": "A1"})),
        ("POST", "/v4/s/values/A1%3Aappend", ("copy", {"id": "s", "range": "A1:append"})),
        ("GET", "/v4/s/values:batchGet?ranges=A1", ("batch", {"id": "s"})),
        ("GET", "/v4/s/values%3AbatchGet", ("batch", {"id": "s"})),
        ("GET", "/rates/latest", ("named", {})),
        ("GET", "/rates/2026-01-01", ("dated", {"date": "2026-01-01"})),
        ("GET", "/rates/2026..2027", ("between", {"start": "2026", "end": "2027"})),
    ],
)
def test_the_most_fixed_template_wins(method, target, expected):
    wire = WireRequest(method=method, target=target, headers=())
    assert found(wire) == expected


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [("GET", "/v4/s/values", 404), ("DELETE", "/v4/s/values/A1", 405), ("GET", "/", 404)],
)
def test_what_is_no_operation_is_refused(method, target, status):
    with pytest.raises(RequestRefused) as refused:
        Router(SHEET.operations).find(method, target)
    assert refused.value.refusal.status == status


@pytest.mark.parametrize("ranges", [["A1"], ["A1", "B2:C3"], ["a&b=c", "ü", "+"]])
def test_a_parameter_may_come_more_than_once(ranges):
    query = tuple(("ranges", each) for each in ranges)
    wire = encoded("batch", "v4", "s", "values:batchGet", query=query)
    arguments = RequestReader(OPERATIONS["batch"]).read(wire, {"id": "s"}, HERE)
    assert arguments.query == {"ranges": ranges}


KEYED = msgspec.structs.replace(
    SHEET,
    credentials=(
        CredentialRule(name="api_key", description="k"),
        CredentialRule(name="unit", description="u", is_required=False),
    ),
    query=(
        QueryRule(name="appid", template="{credential.api_key}"),
        QueryRule(name="unit", template="u-{credential.unit}"),
    ),
)


def test_a_key_goes_into_the_query_and_no_argument_takes_its_place():
    query = (("q", "x"), ("appid", "mine"))
    wire = encoded(
        "named", "rates", "latest", query=query, upstream=KEYED, credentials={"api_key": "k&1"}
    )
    assert wire.target == "/rates/latest?q=x&appid=k%261"


def test_an_optional_part_of_the_query_is_sent_when_it_is_there():
    credentials = {"api_key": "k", "unit": "7"}
    wire = encoded("named", "rates", "latest", upstream=KEYED, credentials=credentials)
    assert wire.target == "/rates/latest?appid=k&unit=u-7"


def test_nothing_shows_a_request():
    wire = encoded("named", "rates", "latest", upstream=KEYED, credentials={"api_key": "canary"})
    assert "canary" not in repr(wire)


FORM = operation(
    "post",
    "POST",
    "/form",
    request_schema={
        "type": "object",
        "required": ["a"],
        "properties": {"a": TEXT, "b": {"type": "array", "items": TEXT}},
        "additionalProperties": False,
    },
    takes_form=True,
)


@given(st.text(max_size=20), st.lists(st.text(max_size=5), min_size=2, max_size=3))
def test_a_form_comes_back_as_it_was(one, many):
    upstream = msgspec.structs.replace(SHEET, operations=(FORM,))
    request = UpstreamRequest(
        operation="post", method="POST", path=("form",), body={"a": one, "b": many}
    )
    wire = WireEncoder(upstream, {}).encode(request, NOW)
    assert ("Content-Type", "application/x-www-form-urlencoded") in wire.headers
    assert RequestReader(FORM).read(wire, {}, HERE).body == {"a": one, "b": many}


@pytest.mark.parametrize(
    ("media_type", "body", "status"),
    [
        ("application/json", b'{"a": "x"}', 400),
        ("application/x-www-form-urlencoded", b"b=x", 422),
        ("application/x-www-form-urlencoded", b"a=x&c=y", 422),
        ("application/x-www-form-urlencoded", b"\xff", 400),
        ("", b"a=x", 400),
    ],
)
def test_what_is_no_such_form_is_refused(media_type, body, status):
    wire = WireRequest(
        method="POST", target="/form", headers=(("Content-Type", media_type),), body=body
    )
    with pytest.raises(RequestRefused) as refused:
        RequestReader(FORM).read(wire, {}, HERE)
    assert refused.value.refusal.status == status


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("/pets/newest", "/pets/newest"),
        ("/pets/7", "/pets/{id}"),
        ("/pets/name/long", "/pets/{id}/{a_long_name}"),
        ("/towns/pets", "/towns/{id}"),
        ("/cats/pets", "/{kind}/pets"),
    ],
)
def test_concrete_segments_come_before_parameters_from_left_to_right(target, expected):
    templates = ("/{kind}/pets", "/pets/{id}", "/pets/newest", "/pets/{id}/{a_long_name}")
    operations = [
        UpstreamOperation(id=each, method="GET", path=each) for each in (*templates, "/towns/{id}")
    ]
    assert Router(operations).find("GET", target)[0].id == expected

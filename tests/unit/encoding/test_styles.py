"""The wire form of parameters: OpenAPI's and RFC 6570's tables, and what is refused."""

import pytest

from gateway.encoding.encoder import Encoder
from gateway.errors import ContractError, InvalidArguments, MalformedRequest
from tests.decoding.received import received
from tests.unit.encoding.operations import cookie, encoded, header, in_path, operation, query
from tests.unit.tables import each_of

LIST = ["blue", "black", "brown"]
OBJECT = {"R": 100, "G": 200, "B": 150}
TEXTS = {"type": "array", "items": {"type": "string"}}
NUMBERS = {"type": "object", "additionalProperties": {"type": "integer"}}
SCHEMAS = {str: {"type": "string"}, list: TEXTS, dict: NUMBERS}

PATHS = [
    ("matrix", False, "", ";color"),
    ("matrix", False, "blue", ";color=blue"),
    ("matrix", False, LIST, ";color=blue,black,brown"),
    ("matrix", False, OBJECT, ";color=R,100,G,200,B,150"),
    ("matrix", True, "", ";color"),
    ("matrix", True, "blue", ";color=blue"),
    ("matrix", True, LIST, ";color=blue;color=black;color=brown"),
    ("matrix", True, OBJECT, ";R=100;G=200;B=150"),
    ("label", False, "blue", ".blue"),
    ("label", False, LIST, ".blue,black,brown"),
    ("label", False, OBJECT, ".R,100,G,200,B,150"),
    ("label", True, "blue", ".blue"),
    ("label", True, LIST, ".blue.black.brown"),
    ("label", True, OBJECT, ".R=100.G=200.B=150"),
    ("simple", False, "blue", "blue"),
    ("simple", False, LIST, "blue,black,brown"),
    ("simple", False, OBJECT, "R,100,G,200,B,150"),
    ("simple", True, "blue", "blue"),
    ("simple", True, LIST, "blue,black,brown"),
    ("simple", True, OBJECT, "R=100,G=200,B=150"),
]
QUERIES = [
    ("form", False, "", "color="),
    ("form", False, "blue", "color=blue"),
    ("form", False, LIST, "color=blue,black,brown"),
    ("form", False, OBJECT, "color=R,100,G,200,B,150"),
    ("form", True, "", "color="),
    ("form", True, "blue", "color=blue"),
    ("form", True, LIST, "color=blue&color=black&color=brown"),
    ("form", True, OBJECT, "R=100&G=200&B=150"),
    ("spaceDelimited", False, LIST, "color=blue%20black%20brown"),
    ("spaceDelimited", False, OBJECT, "color=R%20100%20G%20200%20B%20150"),
    ("pipeDelimited", False, LIST, "color=blue%7Cblack%7Cbrown"),
    ("pipeDelimited", False, OBJECT, "color=R%7C100%7CG%7C200%7CB%7C150"),
    ("deepObject", True, OBJECT, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
    ("deepObject", False, OBJECT, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
]
HEADERS = [
    (False, "blue", "blue"),
    (False, "a%b, c", "a%b, c"),
    (False, LIST, "blue,black,brown"),
    (False, OBJECT, "R,100,G,200,B,150"),
    (True, LIST, "blue,black,brown"),
    (True, OBJECT, "R=100,G=200,B=150"),
]
COOKIES = [
    ("form", True, "Hello, world!", "color=Hello%2C%20world%21"),
    ("form", False, LIST, "color=blue,black,brown"),
    ("form", True, LIST, "color=blue; color=black; color=brown"),
    ("form", True, OBJECT, "R=100; G=200; B=150"),
    ("cookie", True, "Hello%2C%20world!", "color=Hello%2C%20world!"),
    ("cookie", True, LIST, "color=blue; color=black; color=brown"),
    ("cookie", True, OBJECT, "R=100; G=200; B=150"),
]


@each_of(("style", "explode", "value", "wire"), PATHS)
def test_a_path_parameter_is_sent_as_the_tables_show(style, explode, value, wire) -> None:
    own = operation(
        in_path("color", style, explode=explode), path="/a/{color}/b", color=SCHEMAS[type(value)]
    )
    request = encoded(own, color=value)
    assert request.target == f"/a/{wire}/b"
    assert received(own, request, {}) == {"color": value}


@each_of(("style", "explode", "value", "wire"), QUERIES)
def test_a_query_parameter_is_sent_as_the_tables_show(style, explode, value, wire) -> None:
    own = operation(query("color", style, explode=explode), color=_closed(value))
    request = encoded(own, color=value)
    assert request.target == f"/things?{wire}"
    assert received(own, request, {}) == {"color": value}


@pytest.mark.parametrize(("explode", "value", "wire"), HEADERS)
def test_a_header_parameter_is_sent_as_the_tables_show(explode, value, wire) -> None:
    own = operation(header("X-Color", explode=explode), **{"X-Color": SCHEMAS[type(value)]})
    request = encoded(own, **{"X-Color": value})
    assert request.headers == (("X-Color", wire),)
    assert received(own, request, {}) == {"X-Color": value}


@each_of(("style", "explode", "value", "wire"), COOKIES)
def test_a_cookie_parameter_is_sent_as_cookies(style, explode, value, wire) -> None:
    own = operation(cookie("color", style, explode=explode), color=_closed(value))
    request = encoded(own, color=value)
    assert request.headers == (("Cookie", wire),)
    assert received(own, request, {}) == {"color": value}


def _closed(value):
    if type(value) is not dict:
        return SCHEMAS[type(value)]
    return {"type": "object", "properties": {name: {"type": "integer"} for name in value}}


@each_of(
    ("value", "wire"),
    [
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (1.0, "1"),
        (-0.5, "-0.5"),
        (1e22, "10000000000000000000000"),
        (1e-7, "0.0000001"),
        (123456789012345678901234567890, "123456789012345678901234567890"),
        ("Diṅnāga", "Di%E1%B9%85n%C4%81ga"),
        ("a b+c&d=e#f/g?h%41~", "a%20b%2Bc%26d%3De%23f%2Fg%3Fh%2541~"),
        ("\x00\n", "%00%0A"),
    ],
)
def test_a_primitive_is_text_as_json_writes_it(value, wire) -> None:
    assert encoded(operation(query("q")), q=value).target == f"/things?q={wire}"


def test_reserved_characters_are_kept_where_they_end_nothing() -> None:
    own = operation(query("q", allow_reserved=True), q={"type": "string"})
    request = encoded(own, q="https://a.example/b?c,d;e@f'(*)!$ [x]#&=+%41")
    assert request.target == (
        "/things?q=https://a.example/b?c,d;e@f'(*)!$%20%5Bx%5D%23%26%3D%2B%2541"
    )
    listed = operation(query("q", explode=False, allow_reserved=True), q=TEXTS)
    assert encoded(listed, q=["a/b", "c,d"]).target == "/things?q=a/b,c%2Cd"


def test_a_list_inside_a_deep_object_repeats_its_name() -> None:
    own = operation(query("a", "deepObject"))
    request = encoded(own, a={"b": [1, 2], "c": {"d": "x"}, "e": [{"f": True}, {"f": False}]})
    assert request.target == (
        "/things?a%5Bb%5D=1&a%5Bb%5D=2&a%5Bc%5D%5Bd%5D=x"
        "&a%5Be%5D%5B0%5D%5Bf%5D=true&a%5Be%5D%5B1%5D%5Bf%5D=false"
    )


def test_a_list_or_a_primitive_in_the_style_deep_object_has_a_plain_reading() -> None:
    own = operation(query("expand", "deepObject"))
    assert encoded(own, expand=["a", "b"]).target == "/things?expand%5B0%5D=a&expand%5B1%5D=b"
    assert encoded(own, expand=7).target == "/things?expand=7"


def test_content_of_a_parameter_is_json_wherever_it_is_sent() -> None:
    json = {"media_type": "application/json"}
    where = {"lat": 40.6, "name": "é"}
    assert encoded(operation(query("at", **json)), at=where).target == (
        "/things?at=%7B%22lat%22%3A40.6%2C%22name%22%3A%22%C3%A9%22%7D"
    )
    own = operation(in_path("at", **json), path="/{at}")
    assert encoded(own, at=[1, None]).target == "/%5B1%2Cnull%5D"
    assert encoded(operation(header("at", **json)), at=where).headers == (
        ("at", '{"lat":40.6,"name":"\\u00e9"}'),
    )
    assert encoded(operation(cookie("at", **json)), at=None).headers == (("Cookie", "at=null"),)


@pytest.mark.parametrize(
    ("media_type", "value", "wire"),
    [
        (
            "application/x-www-form-urlencoded",
            {"foo": "a + b", "bar": True},
            "foo=a+%2B+b&bar=true",
        ),
        (
            "application/json",
            {"numbers": [1, 2], "flag": None},
            "%7B%22numbers%22%3A%5B1%2C2%5D%2C%22flag%22%3Anull%7D",
        ),
        ("application/jsonpath", "$.a.b[1:1]", "%24.a.b%5B1%3A1%5D"),
    ],
)
def test_a_querystring_parameter_is_the_whole_query(media_type, value, wire) -> None:
    own = query("metadata", media_type=media_type)
    whole = operation(
        type(own)(member="q", name="q", location="querystring", media_type=media_type)
    )
    assert encoded(whole, q=value).target == f"/things?{wire}"
    assert encoded(whole).target == "/things"


@pytest.mark.parametrize("value", ["", ".", "..", "a\x00b", "\n"])
def test_a_path_segment_with_a_meaning_of_its_own_is_refused(value) -> None:
    own = operation(in_path("id"), path="/things/{id}")
    with pytest.raises(MalformedRequest, match="/id"):
        encoded(own, id=value)


@pytest.mark.parametrize("value", [[], {}, None])
@pytest.mark.parametrize("style", ["simple", "label", "matrix"])
def test_what_a_path_cannot_do_without_is_not_said_to_be_left_out(style, value) -> None:
    own = operation(in_path("a", style, explode=True), path="/things/{a}", a=True)
    with pytest.raises(InvalidArguments) as refused:
        Encoder(own).encode({"a": value})
    (violation,) = refused.value.violations
    assert (violation.pointer, violation.detail) == (
        "/a",
        "it is a part of the address: give it a value",
    )


def test_a_label_that_makes_a_dot_segment_is_refused() -> None:
    own = operation(in_path("id", "label"), path="/things/{id}")
    for value in ("", "."):
        with pytest.raises(MalformedRequest):
            encoded(own, id=value)


def test_a_slash_in_a_path_parameter_stays_in_its_segment() -> None:
    own = operation(in_path("id"), path="/things/{id}:append")
    assert encoded(own, id="a/../b:c").target == "/things/a%2F..%2Fb%3Ac:append"


def test_two_parameters_of_one_segment_must_stay_distinguishable() -> None:
    own = operation(in_path("a"), in_path("b"), path="/{a}-{b}")
    assert encoded(own, a="x", b="y").target == "/x-y"
    for a, b in (("x-z", "y"), ("x", "z-y"), ("-", "y")):
        with pytest.raises(InvalidArguments):
            encoded(own, a=a, b=b)
    styled = operation(in_path("a"), in_path("b", "label"), path="/{a}{b}")
    assert encoded(styled, a="x", b="y").target == "/x.y"
    with pytest.raises(InvalidArguments):
        encoded(styled, a="x.z", b="y")


REFUSED = [
    (query("q"), None, "/q"),
    (query("q"), [], "/q"),
    (query("q"), {}, "/q"),
    (query("q"), [["a"]], "/q/0"),
    (query("q"), {"a/b": {"c": 1}}, "/q/a~1b"),
    (query("q", "spaceDelimited", explode=False), ["a b"], "/q/0"),
    (query("q", "pipeDelimited", explode=False), ["a", "b|c"], "/q/1"),
    (query("q", "deepObject"), {"a": {"b": []}}, "/q/a/b"),
    (query("q", "deepObject"), {"a]": 1}, "/q/a]"),
    (query("q", "deepObject"), {"": 1}, "/q/"),
    (header("q"), ["a,b"], "/q/0"),
    (header("q", explode=True), {"a=b": "c"}, "/q/a=b"),
]


@each_of(("parameter", "value", "pointer"), REFUSED)
def test_what_would_not_decode_to_the_same_value_is_refused(parameter, value, pointer) -> None:
    with pytest.raises(InvalidArguments) as refused:
        encoded(operation(parameter), q=value)
    assert [each.pointer for each in refused.value.violations] == [pointer]


@pytest.mark.parametrize("value", ["a\nb", "é", " a", "a ", "\x7f"])
def test_a_header_must_be_printable_ascii(value) -> None:
    with pytest.raises(MalformedRequest, match="/X-Note"):
        encoded(operation(header("X-Note")), **{"X-Note": value})


@pytest.mark.parametrize("value", ["a b", "a;b", 'a"', "a,b", "é"])
def test_a_cookie_without_encoding_must_be_cookie_octets(value) -> None:
    with pytest.raises(MalformedRequest, match="/id"):
        encoded(operation(cookie("id", "cookie")), id=value)


def test_an_exploded_object_cannot_pass_for_another_parameter() -> None:
    own = operation(
        query("filter"), query("page"), query("sort", "deepObject"), filter={"type": "object"}
    )
    assert encoded(own, filter={"a": 1}, page=2).target == "/things?a=1&page=2"
    for name in ("page", "sort", "sort[x]"):
        with pytest.raises(InvalidArguments):
            encoded(own, filter={name: 1})


def test_only_one_exploded_object_has_undeclared_names() -> None:
    two = {"type": "object", "properties": {"b": {}}}
    own = operation(query("one"), query("two"), one={"type": "object"}, two=two)
    assert encoded(own, one={"x": 1}, two={"b": 2}).target == "/things?x=1&b=2"
    with pytest.raises(InvalidArguments):
        encoded(own, one={"b": 1})
    with pytest.raises(InvalidArguments):
        encoded(own, two={"x": 1})


@pytest.mark.parametrize(
    "own", [operation(query("a/b", is_required=True)), operation(header("a/b", is_required=True))]
)
def test_a_missing_required_argument_is_refused(own) -> None:
    with pytest.raises(InvalidArguments) as refused:
        encoded(own)
    assert [each.pointer for each in refused.value.violations] == ["/a~1b"]


def test_a_template_with_an_undeclared_parameter_is_refused_at_the_start() -> None:
    with pytest.raises(ContractError, match="id"):
        Encoder(operation(path="/{id}"))

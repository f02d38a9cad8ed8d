"""Media types of bodies and answers."""

import pytest

from gateway.errors import NotAcceptable, UnsupportedMediaType
from gateway.transports.http.content import require_accept, require_json_body
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

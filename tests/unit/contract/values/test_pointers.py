"""JSON Pointers, by the examples of RFC 6901 §5 and what else names may hold."""

import pytest

from gateway.contract.values.pointers import NoSuchPlace, child, follow, parent, pointer_of, steps
from tests.unit.tables import each_of

DOCUMENT = {"foo": ["bar", "baz"], "": 0, "a/b": 1, "m~n": 8, "~1": 9, "0": "zero"}


@each_of(
    ("pointer", "value"),
    [
        ("", DOCUMENT),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/", 0),
        ("/a~1b", 1),
        ("/m~0n", 8),
        ("/~01", 9),
        ("/0", "zero"),
    ],
)
def test_a_pointer_is_followed_to_what_it_names(pointer, value):
    assert follow(DOCUMENT, pointer) == value


@pytest.mark.parametrize("pointer", ["/bar", "/foo/2", "/foo/-", "/foo/-1", "/foo/²", "/a~1b/c"])
def test_a_pointer_to_nothing_is_refused(pointer):
    with pytest.raises(NoSuchPlace):
        follow(DOCUMENT, pointer)


def test_names_come_back_from_the_pointer_that_they_made():
    names = ["a/b", "~", "~1", "", "/", "é", "n" * 200]

    assert steps(pointer_of(names)) == names
    assert pointer_of(["x", 0, "y"]) == "/x/0/y"


def test_a_child_has_its_parent_around_it():
    assert parent(child("/a", "b/c")) == "/a"
    assert parent("") == ""

"""A continuation opens only for the caller that it was given to."""

import base64
import random

import pytest

from gateway.publication.continuation import (
    MAX_LENGTH,
    Continuation,
    NotSealed,
    sealed,
    unsealed,
)
from tests.unit.tables import each_of

NEXT = Continuation("shop.list", '{"query":"Löwe","fields":["rows.id"]}', 312, "ab" * 16)
SECRET = b"gw_key"


def text() -> str:
    found = sealed(NEXT, SECRET)
    assert found is not None
    return found


def test_it_opens_for_its_caller() -> None:
    assert unsealed(text(), SECRET) == NEXT
    assert len(text()) < 250


def test_another_key_does_not_open_it() -> None:
    with pytest.raises(NotSealed):
        unsealed(text(), b"gw_other")


@pytest.mark.parametrize("place", [0, 10, 21, 22, 60, -1])
def test_a_changed_character_is_noticed(place: int) -> None:
    given = list(text())
    given[place] = "A" if given[place] != "A" else "B"

    with pytest.raises(NotSealed):
        unsealed("".join(given), SECRET)


@each_of("given", ["", "A", "AAAA", "é", "=", "A" * (MAX_LENGTH + 1), "a b", "\n"])
def test_other_texts_are_refused(given: str) -> None:
    with pytest.raises(NotSealed):
        unsealed(given, SECRET)


def test_arguments_that_are_too_long_have_no_continuation() -> None:
    noise = base64.b64encode(random.Random(1).randbytes(4000)).decode()  # noqa: S311 - only long

    assert sealed(Continuation("shop.list", noise, 1, ""), SECRET) is None

"""Results are cut by whole items, and their parts make up the whole."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract.values.jsontext import encode
from gateway.publication.continuation import cuttable, largest_members
from tests.steps import growth

ROW = {"id": 1, "text": "x" * 90}
ROOM = 2_000


def parts(values: dict[str, Any], max_bytes: int) -> list[Any]:
    found = cuttable(values, len(encode(values)), max_bytes)
    assert found is not None
    parts = [found.part(0)]
    while parts[-1] is not None and parts[-1].end < parts[-1].total:
        parts.append(found.part(parts[-1].end))
    return parts


def test_the_parts_of_a_list_are_the_list() -> None:
    values = {"count": 100, "rows": [ROW | {"id": index} for index in range(100)]}

    found = parts(values, ROOM)

    assert len(found) > 5
    assert [row for part in found for row in part.values["rows"]] == values["rows"]
    assert all(part.values["count"] == 100 for part in found)
    assert all(len(encode(part.values)) <= ROOM for part in found)
    assert {part.lists for part in found} == {("/rows",)}
    assert {part.total for part in found} == {100}


def test_two_large_lists_are_counted_through_and_a_small_one_stays() -> None:
    values = {"out": [ROW] * 30, "back": [ROW] * 30, "warnings": ["w"]}

    found = parts(values, ROOM)

    assert found[0].lists == ("/out", "/back")
    assert sum(len(part.values["out"]) for part in found) == 30
    assert sum(len(part.values["back"]) for part in found) == 30
    assert all(part.values["warnings"] == ["w"] for part in found)
    assert found[0].values["back"] == []


def test_a_list_inside_a_large_item_is_cut_when_no_item_fits() -> None:
    values = {"ranges": [{"name": "a", "values": [[1, 2]] * 900}, {"name": "b", "values": []}]}

    found = parts(values, ROOM)

    assert found[0].lists == ("/ranges/0/values",)
    assert all(len(part.values["ranges"]) == 2 for part in found)
    assert sum(len(part.values["ranges"][0]["values"]) for part in found) == 900


@pytest.mark.parametrize(
    "values",
    [
        {f"member {index}": index for index in range(300)},
        {"rows": [{f"member {index}": index for index in range(300)}]},
        {"rows": [], "texts": {f"member {index}": "a short text" * 9 for index in range(300)}},
    ],
)
def test_what_has_no_items_to_leave_out_cannot_be_cut(values: dict[str, Any]) -> None:
    assert cuttable(values, len(encode(values)), ROOM) is None


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("x" * 5_000, "/text"),
        ("a,b\r\n" * 1_000, "/text"),
        ('é"\\\n\x00' * 900, "/text"),
        ("\n\n", "/rows/0/note"),
        ("one line\n" + "y" * 4_000 + "\nlast", "/text"),
    ],
)
def test_a_text_is_cut_by_lines_if_no_list_can_be(text: str, at: str) -> None:
    values = {"text": text, "rows": [{"note": "n" * 3_000 if at != "/text" else "short"}]}

    found = parts(values, ROOM)

    assert {part.lists for part in found} == {(at,)}
    assert all(part.is_text for part in found)
    assert "".join(part.values["text"] for part in found) == text or at != "/text"
    assert all(len(encode(part.values)) <= ROOM for part in found)
    assert found[0].values["text"].endswith("\n") or "y" in text or "\n" not in text


def test_a_text_beside_lists_stays_whole() -> None:
    values = {"text": "x" * 500, "rows": [ROW] * 200}

    assert {(part.lists, part.is_text) for part in parts(values, ROOM)} == {(("/rows",), False)}


def test_an_item_that_does_not_fit_ends_the_parts() -> None:
    values = {"rows": [ROW, ROW, "x" * 5_000]}
    found = cuttable(values, len(encode(values)), ROOM)

    assert found is not None
    first = found.part(0)
    assert first is not None
    assert first.end == 2
    assert found.part(2) is None


def test_the_digest_is_that_of_the_items_before() -> None:
    rows = [ROW | {"id": index} for index in range(100)]
    size = len(encode({"rows": rows}))

    def digest(values: dict[str, Any], end: int) -> str:
        found = cuttable(values, size, ROOM)
        assert found is not None
        return found.digest(end)

    assert digest({"rows": rows}, 10) == digest({"rows": [*rows, ROW]}, 10)
    assert digest({"rows": rows}, 10) != digest({"rows": [ROW, *rows]}, 10)
    assert digest({"rows": rows}, 10) != digest({"others": rows}, 10)
    assert digest({"rows": rows}, 10) != digest({"rows": rows}, 11)


def test_a_cut_result_leaves_the_whole_as_it_was() -> None:
    values = {"rows": [ROW] * 100}

    parts(values, ROOM)

    assert values == {"rows": [ROW] * 100}


_TREES = st.recursive(
    st.text("ab", max_size=60) | st.integers(0, 9),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text("xyz", max_size=2), inner),
    max_leaves=60,
)


@given(values=st.dictionaries(st.text("abc", max_size=2), _TREES), room=st.integers(40, 400))
def test_parts_fit_and_items_are_complete_whatever_the_result(
    values: dict[str, Any], room: int
) -> None:
    found = cuttable(values, len(encode(values)), room)
    start = 0
    while found is not None and (part := found.part(start)) is not None:
        assert len(encode(part.values)) <= room
        assert part.values.keys() == values.keys()
        start = part.end
        if part.end >= part.total:
            break


def test_the_largest_members_come_first() -> None:
    assert largest_members({"a": 1, "b": "xxx", "c": [1, 2, 3]}, 2) == [("c", 7), ("b", 5)]


def test_the_work_grows_with_the_number_of_lists_and_no_faster() -> None:
    def cut(count: int) -> None:
        lists = {f"l{index}": ["x" * 40] * 3 for index in range(count)}
        values: dict[str, Any] = {**lists, **{f"s{index}": 1 for index in range(count)}}
        found = cuttable(values, len(encode(values)), 100 * count)
        assert found is not None
        assert found.part(0) is not None

    assert growth(cut, 100) < 5

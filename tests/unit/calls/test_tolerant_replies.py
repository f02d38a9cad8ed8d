"""Replies of vendors are read tolerantly, and what a result lacks because of that is told."""

import copy
import json
from typing import Any

import pytest

from gateway.backends.oauth import (
    UNKNOWN_LIFETIME_SECONDS,
    IssuedToken,
    TokenReplyReader,
    token_operation,
)
from gateway.calls.replies import ReplyReader
from gateway.contract.upstream import Reply, Upstream, UpstreamOperation
from gateway.contract.values.pointers import follow, parent, steps
from gateway.encoding.replies.content import ReplySchema
from gateway.errors import InvalidReply, UpstreamError
from tests.unit import shipped

ROWS = "/data"
ROW = {
    "type": "object",
    "required": ["id"],
    "properties": {"id": {"type": "string"}, "note": {"type": "string"}},
}
SCHEMA = {
    "type": "object",
    "required": ["data"],
    "properties": {"data": {"type": "array", "items": ROW}},
}
SHOP = Upstream(
    name="shop",
    title="Shop",
    base_url=None,
    operations=(
        UpstreamOperation(id="list", method="GET", path="/", replies={"200": SCHEMA}, rows=ROWS),
    ),
)
GOOD = {"id": "a", "note": "x"}


def admitted(body: Any) -> Any:
    return ReplyReader(SHOP).admit("list", reply(200, body), ())


def reply(status: int, body: Any, kind: str = "application/json") -> Reply:
    return Reply(status=status, headers={"content-type": kind}, body=json.dumps(body).encode())


def test_null_in_an_optional_member_is_as_no_member() -> None:
    found = admitted({"data": [{"id": "a", "note": None}], "next": None})

    assert found.body == {"data": [{"id": "a"}], "next": None}
    assert found.left_out == ()


def test_a_broken_row_is_that_rows_and_is_told() -> None:
    found = admitted({"data": [GOOD, {"note": "no id"}, {"id": None}, {"id": "b"}]})

    assert found.body == {"data": [GOOD, {"id": "b"}]}
    assert [each.partition(":")[0] for each in found.left_out] == ["/data/1/id", "/data/2/id"]


@pytest.mark.parametrize("body", [{"data": [{}]}, {"data": [{}, {"id": 7}]}, {"data": None}, {}])
def test_where_nothing_is_right_it_is_an_error(body: Any) -> None:
    with pytest.raises(InvalidReply):
        admitted(body)


def examples() -> list[Any]:
    """Each example of a success in the contracts of the shipped upstreams."""
    return [
        pytest.param(name, operation, status, id=f"{name} {operation.id} {status}")
        for name in sorted(shipped.catalogue().upstreams)
        for operation in shipped.upstream(name).operations
        for status in operation.examples
        if status.startswith("2") and operation.id != "issueToken"
    ]


@pytest.mark.parametrize(("name", "operation", "status"), examples())
def test_mutations_of_a_vendors_reply_end_in_a_reply_or_one_clear_error(
    name: str, operation: UpstreamOperation, status: str
) -> None:
    """Absent, null, extra, empty and reordered: whatever the schema calls optional may be so."""
    reader, example = ReplyReader(shipped.upstream(name)), operation.examples[status]
    code = int(status.replace("XX", "00"))
    kind = "application/vnd.amadeus+json" if name == "amadeus" else "application/json"
    schema = schema_of(operation, status)
    for mutant in mutations(example):
        is_valid = schema.admits(schema.lenient(copy.deepcopy(mutant))[0])
        try:
            reader.admit(operation.id, reply(code, mutant, kind), ())
        except UpstreamError:
            assert not is_valid
        else:
            assert is_valid


@pytest.mark.parametrize(("name", "operation", "status"), examples())
def test_every_optional_member_may_be_null(
    name: str, operation: UpstreamOperation, status: str
) -> None:
    """What may be absent may be null."""
    schema = schema_of(operation, status)
    for place in places(operation.examples[status]):
        absent, null = (copy.deepcopy(operation.examples[status]) for _ in "ab")
        holder, name_ = parent(place), steps(place)[-1]
        if not isinstance(follow(absent, holder), dict):
            continue
        del follow(absent, holder)[name_]
        follow(null, holder)[name_] = None
        if schema.admits(absent):
            assert schema.admits(schema.lenient(null)[0]), place


def schema_of(operation: UpstreamOperation, status: str) -> ReplySchema:
    declared = operation.replies[status]
    assert declared is not None
    return ReplySchema(declared, operation.rows)


def mutations(example: Any) -> list[Any]:
    found: list[Any] = [{**example, "unknown": 1}] if isinstance(example, dict) else [[]]
    kinds: tuple[Any, ...] = (None, "", [], {}, 7)
    for place in places(example):
        holder, step = parent(place), steps(place)[-1]
        for value in kinds:
            mutant = copy.deepcopy(example)
            inside = follow(mutant, holder)
            inside[int(step) if isinstance(inside, list) else step] = value
            found.append(mutant)
        mutant = copy.deepcopy(example)
        inside = follow(mutant, holder)
        if isinstance(inside, dict):
            del inside[step]
            inside["unknown"] = None
        else:
            inside.reverse()
        found.append(mutant)
    return found


def places(value: Any, at: str = "") -> list[str]:
    """The pointers to all values in `value`."""
    match value:
        case dict():
            inner = list(value.items())
        case list():
            inner = [(str(index), each) for index, each in enumerate(value)]
        case _:
            return []
    found = []
    for name, each in inner:
        pointer = f"{at}/{str(name).replace('~', '~0').replace('/', '~1')}"
        found += [pointer, *places(each, pointer)]
    return found


@pytest.mark.parametrize("name", ["amadeus", "gmail", "golf", "sheets"])
@pytest.mark.parametrize("lifetime", [{}, {"expires_in": None}, {"expires_in": "1799"}])
def test_a_token_without_a_lifetime_is_a_token(name: str, lifetime: dict[str, Any]) -> None:
    upstream = shipped.upstream(name)
    operation = token_operation(upstream, upstream.tokens[0])
    body = {"access_token": "a", "scope": None, **lifetime}

    issued = TokenReplyReader(operation).read(reply(200, body))

    assert isinstance(issued, IssuedToken)
    expected = 1799 if lifetime.get("expires_in") else UNKNOWN_LIFETIME_SECONDS
    assert issued.lifetime_seconds == expected

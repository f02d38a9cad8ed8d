"""MCP and REST never disagree, whatever the arguments, for every operation of the catalogue."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.catalogue import Entry
from gateway.contract.operation import Effect
from tests.contract.examples import examples_of
from tests.contract.faces import HANDSHAKE, MODERN, Faces, Verdict
from tests.contract.generation import budget, invalid_arguments, valid_arguments, with_known_values


async def ask_all(faces: Faces, entry: Entry, arguments: bytes) -> list[Verdict]:
    verdicts = [
        await faces.rest(entry, arguments),
        await faces.mcp(entry, arguments, MODERN),
        await faces.mcp(entry, arguments, HANDSHAKE),
    ]
    query = parameters(entry, arguments)
    return verdicts if query is None else [*verdicts, await faces.get(entry, query)]


def parameters(entry: Entry, arguments: bytes) -> dict[str, Any] | None:
    """The arguments of a query, where query parameters can say them."""
    if not entry.operation.is_query:
        return None
    try:
        values = json.loads(arguments)
    except ValueError:
        return None
    if not isinstance(values, dict):
        return None
    members = entry.listing.input_schema["properties"]
    kinds = {name: members.get(name, {"type": "string"})["type"] for name in values}
    return values if all(is_sayable(kinds[name], values[name]) for name in values) else None


def is_sayable(kind: str, value: Any) -> bool:
    """Whether a parameter of this type can say `value`.

    Null and an object have no form there; a list has one by repetition; and text that reads like a
    number cannot be distinguished from the number.
    """
    match value:
        case str():
            return kind == "string" or not value[:2].strip("-").isdecimal()
        case bool() | int() | float():
            return kind != "string"
        case [_, _, *_]:
            return all(not isinstance(each, list) and is_sayable(kind, each) for each in value)
    return False


async def known_values(faces: Faces) -> dict[str, list[Any]]:
    """By property name, the values that results of the contracts' own examples hold."""
    found: dict[str, list[Any]] = {}
    for entry in faces.catalogue.entries:
        for example in examples_of(faces.catalogue, entry):
            verdict = await faces.rest(entry, json.dumps(example).encode())
            for name, value in verdict.body.items() if verdict.accepted else ():
                found.setdefault(name, []).append(value)
    return found


def test_valid_arguments_are_accepted_alike(
    faces: Faces, loop: asyncio.AbstractEventLoop, operation_id: str
) -> None:
    """Accepted, or refused by a declared error: the same on every face, and never a failure.

    Or refused as invalid by what no schema can say, and then nothing has been sent.
    """
    entry = faces.catalogue.find(operation_id)
    declared = {error.status for error in entry.operation.errors}
    known = loop.run_until_complete(known_values(faces))

    @budget()
    @given(arguments=valid_arguments(entry), names_known=st.booleans())
    def check(arguments: bytes, names_known: bool) -> None:
        if names_known:
            arguments = with_known_values(entry, arguments, known)
        sent = faces.sent
        verdicts = loop.run_until_complete(ask_all(faces, entry, arguments))

        first = verdicts[0]
        if first.code == "VALIDATION_ERROR":
            assert (first.status, faces.sent) == (422, sent)
            assert first.errors
        else:
            assert first.accepted or first.status in declared, first
        assert {(v.accepted, v.status, v.code, v.errors) for v in verdicts} == {
            (first.accepted, first.status, first.code, first.errors)
        }
        if first.accepted:
            assert entry.output.admits(first.body)

    check()


def test_invalid_arguments_are_refused_alike_and_nothing_is_sent(
    faces: Faces, loop: asyncio.AbstractEventLoop, operation_id: str
) -> None:
    entry = faces.catalogue.find(operation_id)

    @budget()
    @given(arguments=invalid_arguments(entry))
    def check(arguments: bytes) -> None:
        sent = faces.sent

        rest, *mcp = loop.run_until_complete(ask_all(faces, entry, arguments))

        assert (rest.status, rest.code) == (422, "VALIDATION_ERROR")
        assert rest.errors
        if isinstance(json.loads(arguments), dict):
            assert {(v.status, v.code, v.errors) for v in mcp} == {
                (rest.status, rest.code, rest.errors)
            }
        else:
            # MCP's own schema says that arguments are an object (JSON-RPC invalid params).
            assert [(v.accepted, v.status) for v in mcp] == [(False, -32602)] * 2
        assert faces.sent == sent

    check()


def test_the_examples_of_the_contract_work_on_every_face(
    faces: Faces, loop: asyncio.AbstractEventLoop, operation_id: str
) -> None:
    """Reads answer the same body; writes make something new each time."""
    entry = faces.catalogue.find(operation_id)
    examples = examples_of(faces.catalogue, entry)

    assert len(examples) >= 2
    for example in examples:
        arguments = json.dumps(example).encode()
        verdicts = loop.run_until_complete(ask_all(faces, entry, arguments))
        bodies = [verdict.body for verdict in verdicts if verdict.accepted]
        assert len(bodies) in {0, len(verdicts)}
        if bodies and entry.operation.effect is Effect.READ:
            assert bodies == [bodies[0]] * len(bodies)


@pytest.mark.parametrize(
    "arguments",
    [
        b'{"a":1,"a":1}',
        b'{"a":NaN}',
        b'{"a":"\\ud800 x"}',
        b'{"a":"\xff"}',
        b'{"a":' * 70 + b"1" + b"}" * 70,
        b'{"a":',
        b'{"a":1e999}',
    ],
)
def test_text_that_is_not_strict_json_is_refused_on_every_face(
    faces: Faces, loop: asyncio.AbstractEventLoop, arguments: bytes
) -> None:
    entry = faces.catalogue.entries[0]
    sent = faces.sent

    rest, *mcp = loop.run_until_complete(ask_all(faces, entry, arguments))

    assert (rest.status, rest.code) == (400, "VALIDATION_ERROR")
    assert [verdict.status for verdict in mcp] == [-32700, -32700]
    assert faces.sent == sent


@budget()
@given(text=st.binary(max_size=200))
def test_bytes_at_random_never_break_a_face(
    faces: Faces, loop: asyncio.AbstractEventLoop, text: bytes
) -> None:
    entry = faces.catalogue.entries[0]

    rest, *mcp = loop.run_until_complete(ask_all(faces, entry, text))

    assert rest.status in {400, 422}
    assert not any(verdict.accepted for verdict in mcp)

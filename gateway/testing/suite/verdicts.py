"""MCP and REST never disagree, whatever the arguments, for every operation of the project."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.catalogue import Entry
from gateway.contract.operation import Effect, ImportedBinding
from gateway.contract.selection.argument import FIELDS
from gateway.contract.selection.relaxing import published_output
from gateway.contract.values.schema import Validator
from gateway.testing.examples import callable_alone, examples_of
from gateway.testing.faces import HANDSHAKE, MODERN, Faces, Verdict
from gateway.testing.generation import budget, invalid_arguments, valid_arguments, with_known_values

__all__ = [
    "test_a_selection_is_answered_alike_and_fits_what_is_published",
    "test_bytes_at_random_never_break_a_face",
    "test_invalid_arguments_are_refused_alike_and_nothing_is_sent",
    "test_text_that_is_not_strict_json_is_refused_on_every_face",
    "test_the_examples_of_the_contract_work_on_every_face",
    "test_valid_arguments_are_accepted_alike",
]

_MEMBERS_ASKED = 2
_UNSENDABLE = 400
"""Of arguments that the schema admits and no request can carry, such as an empty path segment."""
_INVALID = frozenset({_UNSENDABLE, 422})


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
    if kind == "array":
        return isinstance(value, list) and bool(value) and all(type(each) is str for each in value)
    match value:
        case str():
            return kind == "string" or not value[:2].strip("-").isdecimal()
        case bool() | int() | float():
            return kind != "string"
        case [_, _, *_]:
            return all(not isinstance(each, list) and is_sayable(kind, each) for each in value)
    return False


async def known_values(faces: Faces, entry: Entry) -> dict[str, list[Any]]:
    """By name of an argument, the values that results of the contracts' own examples hold.

    Operations whose results have no property of that name are not asked.
    """
    names = set(entry.listing.input_schema.get("properties", ()))
    found: dict[str, list[Any]] = {}
    for each in callable_alone(faces.catalogue):
        if names.isdisjoint(result_properties(each)):
            continue
        for example in examples_of(faces.catalogue, each):
            verdict = await faces.rest(each, json.dumps(example).encode())
            for name, value in verdict.body.items() if verdict.accepted else ():
                found.setdefault(name, []).append(value)
    return found


def result_properties(entry: Entry) -> list[str]:
    return list(entry.listing.output_schema.get("properties", ()))


def is_rejected(verdict: Verdict) -> bool:
    """Whether the upstream refused the request."""
    return bool(verdict.body["type"] == "/problems/upstream-rejected")


def test_valid_arguments_are_accepted_alike(
    gateway_faces: Faces, gateway_loop: asyncio.AbstractEventLoop, gateway_operation: str
) -> None:
    """Accepted, or refused by a declared error: the same on every face, and never a failure.

    Or refused as invalid by what no schema can say, and then nothing has been sent. The upstream of
    an imported operation may refuse more than its document declares, and its mock keeps what the
    calls change, so such results need not be equal.
    """
    entry = gateway_faces.catalogue.find(gateway_operation)
    is_imported = isinstance(entry.operation.binding, ImportedBinding)
    declared = {error.status for error in entry.operation.errors}
    known = gateway_loop.run_until_complete(known_values(gateway_faces, entry))

    @budget()
    @given(arguments=valid_arguments(entry), names_known=st.booleans())
    def check(arguments: bytes, names_known: bool) -> None:
        if names_known:
            arguments = with_known_values(entry, arguments, known)
        sent = gateway_faces.sent
        verdicts = gateway_loop.run_until_complete(ask_all(gateway_faces, entry, arguments))

        first = verdicts[0]
        if first.code == "VALIDATION_ERROR":
            assert (first.status in _INVALID, gateway_faces.sent) == (True, sent)
            assert first.errors or first.status == _UNSENDABLE
        elif is_imported:
            assert all(v.accepted or v.status in declared or is_rejected(v) for v in verdicts)
        else:
            assert first.accepted or first.status in declared, first
        if first.code == "VALIDATION_ERROR" or not is_imported:
            assert {(v.accepted, v.status, v.code, v.errors) for v in verdicts} == {
                (first.accepted, first.status, first.code, first.errors)
            }
        if first.accepted:
            assert entry.output.admits(first.body)

    check()


def test_invalid_arguments_are_refused_alike_and_nothing_is_sent(
    gateway_faces: Faces, gateway_loop: asyncio.AbstractEventLoop, gateway_operation: str
) -> None:
    entry = gateway_faces.catalogue.find(gateway_operation)

    @budget()
    @given(arguments=invalid_arguments(entry))
    def check(arguments: bytes) -> None:
        sent = gateway_faces.sent

        rest, *mcp = gateway_loop.run_until_complete(ask_all(gateway_faces, entry, arguments))

        assert (rest.status, rest.code) == (422, "VALIDATION_ERROR")
        assert rest.errors
        if isinstance(json.loads(arguments), dict):
            assert {(v.status, v.code, v.errors) for v in mcp} == {
                (rest.status, rest.code, rest.errors)
            }
        else:
            # MCP's own schema says that arguments are an object (JSON-RPC invalid params).
            assert [(v.accepted, v.status) for v in mcp] == [(False, -32602)] * 2
        assert gateway_faces.sent == sent

    check()


def test_the_examples_of_the_contract_work_on_every_face(
    gateway_faces: Faces, gateway_loop: asyncio.AbstractEventLoop, gateway_written_operation: str
) -> None:
    """Reads answer the same body; writes make something new each time."""
    entry = gateway_faces.catalogue.find(gateway_written_operation)
    examples = examples_of(gateway_faces.catalogue, entry)

    assert len(examples) >= 2
    for example in examples:
        arguments = json.dumps(example).encode()
        verdicts = gateway_loop.run_until_complete(ask_all(gateway_faces, entry, arguments))
        bodies = [verdict.body for verdict in verdicts if verdict.accepted]
        assert len(bodies) in {0, len(verdicts)}
        if bodies and entry.operation.effect is Effect.READ:
            assert bodies == [bodies[0]] * len(bodies)


def test_a_selection_is_answered_alike_and_fits_what_is_published(
    gateway_faces: Faces, gateway_loop: asyncio.AbstractEventLoop, gateway_written_operation: str
) -> None:
    """Of the operations with `fields`: for each member of a result, the result without others."""
    entry = gateway_faces.catalogue.find(gateway_written_operation)
    if entry.members is None:
        return
    example = examples_of(gateway_faces.catalogue, entry)[0]
    whole = gateway_loop.run_until_complete(gateway_faces.rest(entry, json.dumps(example).encode()))
    listing = entry.listing
    published = Validator(published_output(listing.input_schema, listing.output_schema))
    for name in [*whole.body][:_MEMBERS_ASKED] if whole.accepted else ():
        arguments = json.dumps({**example, FIELDS: [name]}).encode()
        verdicts = gateway_loop.run_until_complete(ask_all(gateway_faces, entry, arguments))
        assert [verdict.body for verdict in verdicts] == [{name: whole.body[name]}] * len(verdicts)
        assert published.admits(verdicts[0].body)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (b'{"a":1,"a":1}', -32600),
        (b'{"a":NaN}', -32700),
        (b'{"a":"\\ud800 x"}', -32600),
        (b'{"a":"\xff"}', -32700),
        (b'{"a":' * 70 + b"1" + b"}" * 70, -32600),
        (b'{"a":', -32700),
        (b'{"a":1e999}', -32600),
    ],
)
def test_text_that_is_not_strict_json_is_refused_on_every_face(
    gateway_faces: Faces, gateway_loop: asyncio.AbstractEventLoop, arguments: bytes, code: int
) -> None:
    sent = gateway_faces.sent

    for entry in callable_alone(gateway_faces.catalogue)[:1]:
        rest, *mcp = gateway_loop.run_until_complete(ask_all(gateway_faces, entry, arguments))

        assert (rest.status, rest.code) == (400, "VALIDATION_ERROR")
        assert [verdict.status for verdict in mcp] == [code, code]
    assert gateway_faces.sent == sent


@budget()
@given(text=st.binary(max_size=200))
def test_bytes_at_random_never_break_a_face(
    gateway_faces: Faces, gateway_loop: asyncio.AbstractEventLoop, text: bytes
) -> None:
    for entry in callable_alone(gateway_faces.catalogue)[:1]:
        rest, *mcp = gateway_loop.run_until_complete(ask_all(gateway_faces, entry, text))

        assert rest.status in {400, 422}
        assert not any(verdict.accepted for verdict in mcp)

"""Imported operations: MCP and REST never disagree, and each result fits the vendor's document."""

import asyncio
import json
from typing import Any

import pytest

from gateway.catalogue import Entry, StoredOperation
from gateway.contract.operation import Effect
from gateway.contract.upstream import UpstreamRequest
from gateway.testing.faces import HANDSHAKE, MODERN, Faces, Verdict
from gateway.testing.imported.arguments import made_arguments, wrong_arguments
from gateway.testing.imported.results import breaks_document, is_declared, is_impossible
from gateway.testing.imported.selection import draw_of, stored_operation

__all__ = [
    "test_made_arguments_of_an_imported_operation_are_answered_alike",
    "test_wrong_arguments_of_an_imported_operation_are_refused_alike",
]

_NO_ARGUMENTS = "the schema of the arguments has no sample"
_INVALID = frozenset({400, 422})


async def _ask_all(
    faces: Faces, entry: Entry, arguments: bytes
) -> tuple[list[Verdict], list[UpstreamRequest | None]]:
    """The verdict of each face, and the request that it sent; None if it sent nothing."""
    verdicts: list[Verdict] = []
    requests: list[UpstreamRequest | None] = []
    for version in (None, MODERN, HANDSHAKE):
        before = faces.sent
        if version is None:
            verdicts.append(await faces.rest(entry, arguments))
        else:
            verdicts.append(await faces.mcp(entry, arguments, version))
        is_sent = faces.sent > before
        requests.append(faces.last_sent(entry.operation.connector) if is_sent else None)
    return verdicts, requests


def _check(stored: StoredOperation, entry: Entry, verdicts: list[Verdict]) -> None:
    """Refuse answers that are wrong by the document, or that depend on the face."""
    first = verdicts[0]
    for verdict in verdicts:
        if verdict.accepted:
            assert breaks_document(stored, verdict.body) is None
        else:
            assert is_declared(stored, verdict), verdict.body
    if entry.operation.effect is Effect.READ:
        # The mock keeps what writes change, so only reads are answered with the same each time.
        assert [_shown(verdict) for verdict in verdicts] == [_shown(first)] * len(verdicts)


def _shown(verdict: Verdict) -> Any:
    return verdict.body if verdict.accepted else (verdict.status, verdict.code)


def test_made_arguments_of_an_imported_operation_are_answered_alike(
    gateway_faces: Faces,
    gateway_loop: asyncio.AbstractEventLoop,
    gateway_imported_operation: str,
    pytestconfig: pytest.Config,
) -> None:
    """Each face sends the same request. What no request can carry is refused, and nothing sent."""
    entry = gateway_faces.catalogue.find(gateway_imported_operation)
    stored = stored_operation(gateway_faces.catalogue, gateway_imported_operation)
    made = made_arguments(entry, draw_of(pytestconfig).seed)
    if not made:
        pytest.skip(_NO_ARGUMENTS)
    impossible = 0
    for arguments in made:
        text = json.dumps(arguments).encode()
        verdicts, requests = gateway_loop.run_until_complete(_ask_all(gateway_faces, entry, text))
        first = verdicts[0]
        assert requests == [requests[0]] * len(requests)
        if first.code == "VALIDATION_ERROR":
            assert (first.status in _INVALID, requests[0]) == (True, None)
            assert {(v.status, v.code, v.errors) for v in verdicts} == {
                (first.status, first.code, first.errors)
            }
            continue
        assert requests[0] is not None
        if any(is_impossible(verdict) for verdict in verdicts):
            impossible += 1
            continue
        _check(stored, entry, verdicts)
    if impossible == len(made):
        pytest.skip("the mock finds no answer that the document allows")


def test_wrong_arguments_of_an_imported_operation_are_refused_alike(
    gateway_faces: Faces,
    gateway_loop: asyncio.AbstractEventLoop,
    gateway_imported_operation: str,
    pytestconfig: pytest.Config,
) -> None:
    """An unknown argument, a missing one, one of another type: nothing is sent."""
    entry = gateway_faces.catalogue.find(gateway_imported_operation)
    made = made_arguments(entry, draw_of(pytestconfig).seed)
    if not made:
        pytest.skip(_NO_ARGUMENTS)
    for what, text in wrong_arguments(entry, made[-1]):
        asking = _ask_all(gateway_faces, entry, text)
        (rest, *mcp), requests = gateway_loop.run_until_complete(asking)
        assert (rest.status, rest.code) == (422, "VALIDATION_ERROR"), what
        assert rest.errors, what
        assert requests == [None] * len(requests), what
        if what == "no object":
            # MCP's own schema says that arguments are an object (JSON-RPC invalid params).
            assert [(v.accepted, v.status) for v in mcp] == [(False, -32602)] * len(mcp)
        else:
            assert [(v.status, v.code, v.errors) for v in mcp] == [
                (rest.status, rest.code, rest.errors)
            ] * len(mcp), what

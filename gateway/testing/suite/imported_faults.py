"""Imported operations against every way in which their upstream can fail, and odd replies.

An upstream's reply ends as a result that the document allows, as an error that it declares, or as
an error of the upstream: never as a defect of the gateway.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import pytest

from gateway.backends.mock.replies import body_of, media_type_of, success_of
from gateway.calls.call import Result
from gateway.catalogue import Entry, StoredOperation
from gateway.contract.schemas.flattening import NoSample
from gateway.contract.schemas.samples import Schemas
from gateway.errors import UpstreamError
from gateway.testing.cases import sent_arguments, stored_operation
from gateway.testing.fixtures import Loop, draw_of
from gateway.testing.judging import breaks_document
from gateway.testing.live import LiveGateway, answering, is_certified
from gateway.testing.suite.faults import CASES, defect
from gateway.testing.suite.replies import odd_bodies

__all__ = [
    "test_a_fault_of_an_imported_upstream_is_the_right_problem",
    "test_no_reply_of_an_imported_upstream_is_so_odd_that_the_gateway_fails",
]

_ODD_REPLIES: Final = 40
_SUCCESSES: Final = frozenset({"truncated JSON", "no JSON", "wrong schema", "unknown success"})
"""The faults with a status of success: a document may allow such replies."""


def _callable(
    live: LiveGateway, tool: str, config: pytest.Config
) -> tuple[StoredOperation, Entry, Mapping[str, Any]]:
    """The operation, and arguments for it. Skips the test if it cannot be called."""
    stored, entry = stored_operation(live.catalogue, tool), live.catalogue.find(tool)
    if is_certified(stored):
        pytest.skip("it needs a client certificate, which the faulty upstream does not ask for")
    arguments = sent_arguments(entry, draw_of(config).seed)
    if arguments is None:
        pytest.skip("no arguments are found that a request can carry")
    return stored, entry, arguments


def test_a_fault_of_an_imported_upstream_is_the_right_problem(
    gateway_loop: Loop,
    gateway_live: LiveGateway,
    gateway_imported_operation: str,
    pytestconfig: pytest.Config,
) -> None:
    live = gateway_live
    stored, entry, arguments = _callable(live, gateway_imported_operation, pytestconfig)
    results = _SUCCESSES.union(reply.kind for reply in stored.whole().replies)
    defects: dict[str, str | None] = {}
    for name, case in CASES.items():
        calling = live.outcome(entry.id, arguments, fault=case.fault)
        found = gateway_loop.run_until_complete(calling)
        defects[name] = defect(live, entry.id, case, found, may_answer=name in results)
        assert live.upstreams.seen
    assert {name: each for name, each in defects.items() if each} == {}


def test_no_reply_of_an_imported_upstream_is_so_odd_that_the_gateway_fails(
    gateway_loop: Loop,
    gateway_live: LiveGateway,
    gateway_imported_operation: str,
    pytestconfig: pytest.Config,
) -> None:
    """Replies that differ from one that the document allows in one place, each time another."""
    live = gateway_live
    stored, entry, arguments = _callable(live, gateway_imported_operation, pytestconfig)
    usual = _reply(stored)
    if usual is None:
        pytest.skip("no reply is found that the document allows")
    status, body, media_type = usual
    is_json = media_type.endswith("json")
    odd = {str(path): each for path, each in odd_bodies(body)} if is_json else {}
    drawn = sorted(odd, key=lambda each: hashlib.sha256(each.encode()).digest())[:_ODD_REPLIES]
    defects: dict[str, str | None] = {}
    for place, text in [("usual", body), *((each, odd[each]) for each in drawn)]:
        fault = answering(status, text, media_type)
        calling = live.outcome(entry.id, arguments, fault=fault)
        found = gateway_loop.run_until_complete(calling)
        if isinstance(found, Result):
            defects[place] = breaks_document(stored, found.values)
        elif place == "usual" or not isinstance(found, UpstreamError):
            defects[place] = repr(found)
    assert {place: each for place, each in defects.items() if each} == {}


def _reply(stored: StoredOperation) -> tuple[int, bytes, str] | None:
    """Status, body and media type of a success that the document allows, or None."""
    operation, connector = stored.whole(), stored.document.whole()
    declared = success_of(operation)
    reply = declared.reply
    if reply.kind == "events" or operation.method == "HEAD" or declared.status >= 300:
        return None
    try:
        value = Schemas(connector.definitions).samples(reply.schema).sample(operation.id)
        return declared.status, body_of(reply, value), media_type_of(reply) or "text/plain"
    except NoSample:
        return None

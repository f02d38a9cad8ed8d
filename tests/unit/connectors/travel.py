"""What the tests of the travel tools share: scripted upstreams, and replies made from contracts."""

import asyncio
import json
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from gateway.calls.replies import ReplyReader
from gateway.contract.context import CallFacts, UpstreamCall, UpstreamReply
from gateway.contract.upstream import Reply, UpstreamOperation
from gateway.contract.values.schema import Validator
from gateway.errors import UpstreamTimeout
from tests.unit import shipped

HANGS = object()
"""In a script: no answer, ever."""
LIVE_RATES = {"base": "EUR", "date": "2026-11-20", "rates": {"USD": 1.25, "GBP": 0.8, "JPY": 160}}
"""A pound is worth 1.5625 dollars, a hundred yen 78.125 cents."""


class Scripted:
    """The context of one call. Replies come as scripted, and pass the upstreams' contracts.

    `script` gives the answers of each operation in turn, the last one for ever: a body (of status
    200), a status and a body, an error to raise, or `HANGS`.
    """

    def __init__(self, **script: Any) -> None:
        self.call = CallFacts(id="call-1", now="2026-11-21T09:00:00.000Z")
        self.asked: list[UpstreamCall] = []
        self.fallbacks: list[str] = []
        self.lacking: list[str] = []
        self._script = {
            name: list(answers) if isinstance(answers, list) else [answers]
            for name, answers in {"readLatestRates": LIVE_RATES, **script}.items()
        }

    def queries(self, operation: str) -> list[dict[str, Any]]:
        """The queries that were sent to an operation."""
        return [dict(asked.query) for asked in self.asked if asked.operation == operation]

    def left_out(self, rows: Sequence[str]) -> None:
        self.lacking += rows

    def fell_back(self, upstream: str, error: Exception) -> None:
        self.fallbacks.append(f"{upstream}: {error}")

    async def send(self, asked: UpstreamCall, *, expect: Collection[int] = ()) -> UpstreamReply:
        self.asked.append(asked)
        answers = self._script[asked.operation]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if answer is HANGS and asked.timeout_seconds is not None:
            raise UpstreamTimeout
        if answer is HANGS:
            await asyncio.Event().wait()
        if isinstance(answer, Exception):
            raise answer
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        media = {"content-type": "application/vnd.amadeus+json"}
        reply = Reply(status=status, headers=media, body=json.dumps(body).encode())
        return ReplyReader(shipped.upstream(asked.upstream)).admit(asked.operation, reply, expect)


def errors(*codes: int | str, parameter: str | None = None) -> tuple[int, dict[str, Any]]:
    """Amadeus refusing a request with status 400."""
    source = {} if parameter is None else {"source": {"parameter": parameter}}
    rows = [{"status": 400, "code": code, "title": "REFUSED", **source} for code in codes]
    return 400, {"errors": rows}


def operation(upstream: str, operation_id: str) -> UpstreamOperation:
    """An operation of an upstream's contract."""
    (found,) = (each for each in shipped.upstream(upstream).operations if each.id == operation_id)
    return found


def answers(operation_id: str) -> st.SearchStrategy[Any]:
    """Bodies of Amadeus that its contract admits, each with one to three rows of data.

    The lists in a row have at most three items too, except in `make contract`: a first, a middle
    and a last one. Longer lists make most bodies too large for Hypothesis, which drops them.
    """
    return st.deferred(lambda: _answers(operation_id))


def _answers(operation_id: str) -> st.SearchStrategy[Any]:
    schema = operation("amadeus", operation_id).replies["200"]
    assert schema is not None
    row = {**schema["properties"]["data"]["items"], "$defs": schema.get("$defs", {})}
    if settings.get_current_profile_name() != "thorough":
        row = _with_short_lists(row)
    cases = _generator(json.dumps(row))
    rows = st.lists(cases.map(lambda case: case.body), min_size=1, max_size=3)
    return rows.map(lambda data: {"data": data}).filter(Validator(schema).admits)


def _with_short_lists(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_with_short_lists(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    short = {name: _with_short_lists(member) for name, member in schema.items()}
    if schema.get("type") == "array":
        short["maxItems"] = min(schema.get("maxItems", 3), max(schema.get("minItems", 0), 3))
    return short


@lru_cache
def _generator(schema: str) -> st.SearchStrategy[Any]:
    import schemathesis  # noqa: PLC0415 - it takes a second

    media = {"application/json": {"schema": json.loads(schema)}}
    post = {
        "requestBody": {"required": True, "content": media},
        "responses": {"200": {"description": "OK"}},
    }
    info = {"title": "replies", "version": "1"}
    document = {"openapi": "3.1.0", "info": info, "paths": {"/": {"post": post}}}
    made = schemathesis.openapi.from_dict(document)["/"]["POST"]
    return made.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE)


def admits_result(operation_id: str, result: Any) -> bool:
    """Whether the tool's output schema admits what its handler made."""
    entry = shipped.catalogue().find(operation_id)
    return entry is not None and entry.output.admits(json.loads(json.dumps(result)))

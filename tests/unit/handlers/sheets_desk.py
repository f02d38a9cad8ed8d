"""The sheets tools over a fresh mock, with every request on record and people at the sheet."""

from datetime import UTC, datetime

import msgspec

import generated
from gateway.auth.principal import Grant, Permit, Principal
from gateway.backends.faults import parse_step
from gateway.backends.mock import MockBackend
from gateway.backends.upstream_app import UpstreamApplication
from gateway.calls.call import Arguments, Call
from gateway.calls.delivery import Line
from gateway.calls.dispatch import Dispatcher
from gateway.calls.replies import ReplyReader
from gateway.catalogue import open_catalogue
from gateway.contract import jsontext
from gateway.contract.upstream import Reply, UpstreamRequest

CATALOGUE = open_catalogue(generated.__name__)
UPSTREAM = CATALOGUE.upstreams["sheets"]
BOOK = "mock-client-database"


class StoppedClock:
    def now(self):
        return datetime(2026, 11, 20, 14, 30, tzinfo=UTC)

    def monotonic(self):
        return 1000.0


class Desk:
    """Calls tools and checks their results; `meddle` is what people do before a request.

    `answers` are bodies by operation that are answered instead of the mock's.
    """

    def __init__(self, *steps, book=BOOK, readable=""):
        self._book = book
        self.requests = []
        self.meddle = {}
        self.answers = {}
        clock = StoppedClock()
        scenario = list(map(parse_step, steps))
        application = UpstreamApplication(UPSTREAM, clock, scenario=scenario)
        backend = MockBackend(UPSTREAM, clock, application=application)
        self._send, backend.send = backend.send, self._recorded
        settings = {"spreadsheet_id": book, "readable_sheets": readable}
        line = Line(UPSTREAM, backend, ReplyReader(UPSTREAM), settings)
        self._dispatcher = Dispatcher({"sheets": line}, clock)

    async def _recorded(self, request, *, timeout_seconds):
        meddled = self.meddle.pop(request.operation, None)
        if meddled is not None:
            await self.ask(*meddled)
        self.requests.append(request)
        if request.operation in self.answers:
            body = jsontext.encode(self.answers[request.operation])
            return Reply(status=200, headers={"content-type": "application/json"}, body=body)
        return await self._send(request, timeout_seconds=timeout_seconds)

    @property
    def operations(self):
        """What was asked, in order."""
        return [request.operation for request in self.requests]

    async def ask(self, operation, place, rows=None, **query):
        """A request by somebody else than the gateway."""
        facts = next(each for each in UPSTREAM.operations if each.id == operation)
        given = {} if operation == "readValues" else {"valueInputOption": "RAW"}
        suffix = ":append" if operation == "appendValues" else ""
        request = UpstreamRequest(
            operation=operation,
            method=facts.method,
            path=("v4", "spreadsheets", self._book, "values", f"{place}{suffix}"),
            query=tuple({**given, **query}.items()),
            **({} if rows is None else {"body": {"values": rows}}),
        )
        reply = await self._send(request, timeout_seconds=5)
        assert reply.status == 200
        return jsontext.decode(reply.body)

    async def cells(self, place, render="UNFORMATTED_VALUE"):
        """What is in the cells."""
        return (await self.ask("readValues", place, valueRenderOption=render)).get("values")

    async def call(self, tool, **values):
        """The tool's result, which its contract admits."""
        entry = CATALOGUE.find(f"sheets.{tool}")
        assert entry.input.violations(values) == ()
        permit = Permit(Grant(Principal(subject="test", agent="administrator"), entry))
        call = Call(
            operation_id=entry.id,
            credentials=None,
            arguments=msgspec.json.encode(values),
            transport="local",
            request_id="request-1",
        )
        arguments = Arguments(values, entry.operation.effect)
        result = (await self._dispatcher.dispatch(permit, arguments, call)).values
        assert entry.output.violations(result) == ()
        return result

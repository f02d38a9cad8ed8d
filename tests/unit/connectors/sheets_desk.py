"""The sheets tools over a fresh mock, with people at the sheet."""

from typing import Any

from gateway.backends.mock.backend import MockBackend
from gateway.contract.upstream import Reply, UpstreamRequest
from gateway.contract.values import jsontext
from tests.eventually import PATIENCE_SECONDS
from tests.unit import shipped
from tests.unit.connectors.tools import ConnectorTools

BOOK = "mock-client-database"


class Desk(ConnectorTools):
    """The tools; `meddle` is what people do before a request, by its operation.

    `answers` are bodies by operation that are answered instead of the mock's.
    """

    def __init__(self, *steps: str, book: str = BOOK, readable: str = "") -> None:
        settings = {"spreadsheet_id": book, "readable_sheets": readable}
        super().__init__("sheets", *steps, settings=settings)
        self.meddle: dict[str, tuple[Any, ...]] = {}
        self.answers: dict[str, Any] = {}
        self._book = book
        upstream = shipped.upstream("sheets")
        self._people = MockBackend(upstream, self.clock, application=self.applications["sheets"])

    async def on_request(self, request: UpstreamRequest) -> Reply | None:
        meddled = self.meddle.pop(request.operation, None)
        if meddled is not None:
            await self.ask(*meddled)
        await super().on_request(request)
        if request.operation not in self.answers:
            return None
        body = jsontext.encode(self.answers[request.operation])
        return Reply(status=200, headers={"content-type": "application/json"}, body=body)

    async def ask(self, operation: str, place: str, rows: Any = None, **query: str) -> Any:
        """A request by somebody else than the gateway."""
        facts = shipped.upstream("sheets").find(operation)
        given = {} if operation == "readValues" else {"valueInputOption": "RAW"}
        suffix = ":append" if operation == "appendValues" else ""
        request = UpstreamRequest(
            operation=operation,
            method=facts.method,
            path=("v4", "spreadsheets", self._book, "values", f"{place}{suffix}"),
            query=tuple({**given, **query}.items()),
            **({} if rows is None else {"body": {"values": rows}}),
        )
        reply = await self._people.send(request, timeout_seconds=PATIENCE_SECONDS)
        assert reply.status == 200
        return jsontext.decode(reply.body)

    async def cells(self, place: str, render: str = "UNFORMATTED_VALUE") -> Any:
        """What is in the cells."""
        return (await self.ask("readValues", place, valueRenderOption=render)).get("values")

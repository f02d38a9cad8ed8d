"""What the mocks of a project are sent and answer is judged, and what breaks a contract is kept."""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import unquote, unquote_plus

import msgspec
from msgspec import UNSET

from gateway.authoring.contracts.document import read_document
from gateway.authoring.openapi.folder import IMPORT_FILE, ImportFolder, served_document
from gateway.backends.mock.application import MockApplication
from gateway.backends.mock.backend import MockBackend
from gateway.backends.wire import WireReply, WireRequest
from gateway.contract.imported import ImportedOperation
from gateway.contract.upstream import UpstreamRequest
from gateway.testing.texts import pairs_of
from gateway.testing.upstream_contracts import (
    ROOT,
    ContractBreach,
    UpstreamDocument,
    WantedArguments,
)


@lru_cache(maxsize=64)
def contract_of(schemas: Path, upstream: str) -> UpstreamDocument:
    """The contract of an upstream of a project. Raises `ContractError`."""
    folder = ImportFolder(schemas=schemas, connector=upstream)

    def retrieve(uri: str) -> Any:
        path = PurePosixPath(unquote(uri.removeprefix(ROOT)))
        found = read_document(schemas, path).value
        return {n: v for n, v in found.items() if n != "$id"} if isinstance(found, dict) else found

    if not (folder.files / IMPORT_FILE).is_file():
        path = PurePosixPath(f"upstreams/{upstream}/openapi.yaml")
        document = read_document(schemas, path)
        return UpstreamDocument(
            upstream, document.value, lambda pointer: (f"{schemas}/{path}", pointer), retrieve
        )
    normal = served_document(folder)

    def placed(pointer: str) -> tuple[str, str]:
        place = normal.place_of(pointer)
        return f"{folder.files}/{place.path}:{place.line}", place.pointer

    return UpstreamDocument(upstream, normal.value, placed, retrieve)


_untaken: Final[list[ContractBreach]] = []


def taken() -> list[ContractBreach]:
    """What all judges of this process have found since this was asked last."""
    found = [*_untaken]
    _untaken.clear()
    return found


class UpstreamJudge:
    """Judges what mocks are sent and answer, by the documents of the project in `schemas`.

    By default, `taken` has what it finds.
    """

    def __init__(
        self, schemas: Path, report: Callable[[ContractBreach], None] = _untaken.append
    ) -> None:
        self._schemas = schemas
        self._report = report

    def watch(self, backend: MockBackend, upstream: str) -> None:
        """Judge all that a backend sends from now on, also for access tokens."""
        self.over(upstream, backend.application)
        encode = backend._encoder.encode

        def judged(request: UpstreamRequest, now: str) -> WireRequest:
            wire = encode(request, now)
            if what := breach_of_encoding(request, wire):
                contract = contract_of(self._schemas, upstream)
                self._report(contract.changed(what, wire))
            return wire

        backend._encoder.encode = judged  # type: ignore[method-assign]  # of this one

    def over(self, upstream: str, application: MockApplication) -> MockApplication:
        """`application`, whose requests and answers are judged from now on."""
        handle = application.handle

        async def judged(request: WireRequest) -> WireReply:
            contract = contract_of(self._schemas, upstream)
            if breach := contract.breach_of_request(request):
                self._report(breach)
            reply = await handle(request)
            if breach := contract.breach_of_reply(request, reply):
                self._report(breach)
            return reply

        application.handle = judged  # type: ignore[method-assign]  # of this one
        return application

    def must_say(
        self, operation: ImportedOperation, arguments: Mapping[str, Any], request: WireRequest
    ) -> None:
        """Judge whether a request of an imported operation says its arguments, and only them."""
        contract = contract_of(self._schemas, operation.id.partition(".")[0])
        breach = contract.breach_of_request(request, arguments_of(operation, arguments))
        if breach is not None:
            self._report(breach)


def arguments_of(operation: ImportedOperation, arguments: Mapping[str, Any]) -> WantedArguments:
    """What the request of an imported operation has to say."""
    found: dict[tuple[str, str], Any] = {
        (each.location, each.name): arguments.get(each.member)
        for each in operation.parameters
        if each.location != "querystring"
    }
    described = operation.body
    if described is None or described.kind in {"multipart", "lines"}:
        return WantedArguments(found)
    if described.member is not None:
        return WantedArguments(found, arguments.get(described.member, UNSET))
    body = {name: arguments[m] for m, name in described.members.items() if m in arguments}
    return WantedArguments(found, body)


def breach_of_encoding(request: UpstreamRequest, wire: WireRequest) -> str | None:
    """Which part of a request the encoder has changed, or None.

    It has the texts of a tool with contract files; only what the encoder adds may be there too.
    """
    if request.encoded is not None:
        return None
    path, _, query = wire.target.partition("?")
    sent = [(name, unquote_plus(text)) for name, text in pairs_of(query, "&", unquote_plus)]
    lost = [each for each in request.query if isinstance(each[1], str) and each not in sent]
    headers = {name.lower(): value for name, value in wire.headers}
    unsent = [name for name, _ in request.headers if name.lower() not in headers]
    segments = [] if path == "/" else [unquote(each) for each in path.split("/")[1:]]
    if segments != [*request.path]:
        return f"the path says {path!r}, not {'/'.join(request.path)!r}"
    if lost or unsent:
        return f"it does not say {lost[0] if lost else unsent[0]!r}"
    if "json" in headers.get("content-type", "") and request.body is not UNSET:
        said = json.loads(wire.body or b"null")
        if said != msgspec.to_builtins(request.body):
            return f"the body says {said!r}, not {request.body!r}"[:300]
    return None

"""How many operations of a connector are encoded exactly, over drawn arguments."""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.contract.imported import ImportedConnector, ImportedOperation
from gateway.contract.upstream import EncodedRequest
from gateway.encoding.encoder import Encoder
from gateway.errors import ContractError, GatewayError, InvalidArguments
from tests.decoding.decode import Decoder
from tests.decoding.drawing import Drawing
from tests.decoding.files import file_parts
from tests.decoding.multiparts import parts
from tests.decoding.received import is_same
from tests.decoding.schemas import Schemas, Undecodable

TRIES = 40
"""Draws for one that the input schema admits."""
REFUSED = "refused: "
"""Begins the reason of an operation of which every draw was refused by the encoder."""
SHOWN = 300
"""Characters of a sample that are shown."""


@dataclass(frozen=True)
class Inexact:
    """Why an operation is not exact."""

    reason: str
    sample: str = ""
    """Drawn arguments that show it, and the request if one was sent, both shortened."""
    is_ambiguous: bool = False
    """Whether the document gives several arguments the same request: a list of one item beside the
    item itself, or a number beside its text. The decoder finds one of them."""


@dataclass
class RoundTrips:
    """The outcome for one connector."""

    operations: int = 0
    exact: int = 0
    """Operations of which requests were sent, and all were decoded to the same arguments."""
    sent: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    """Reasons why the encoder refused drawn arguments, with their number."""
    inexact: dict[str, Inexact] = field(default_factory=dict)
    """Each operation that is not exact, by its id."""

    @property
    def ambiguous(self) -> set[str]:
        """The inexact operations that are only ambiguous."""
        return {name for name, each in self.inexact.items() if each.is_ambiguous}


def roundtrip(
    connector: ImportedConnector, draws: int, seed: int = 1, document: Any = None
) -> RoundTrips:
    """Encode and decode `draws` drawn arguments of each operation of `connector`.

    `document` is the vendor's, which says what parts are files. None: it is not known.
    """
    outcome = RoundTrips()
    schemas = Schemas(connector.definitions)
    for operation in connector.operations:
        outcome.operations += 1
        try:
            encoder = Encoder(operation, connector.definitions)
        except ContractError as error:
            outcome.inexact[operation.id] = Inexact(f"no encoder: {error.detail}")
            continue
        source = random.Random(f"{seed} {operation.id}")  # noqa: S311 - nothing secret
        files = file_parts(document, operation.pointer) if document else frozenset[str]()
        trip = Trip(operation, encoder, schemas, outcome, files)
        found, before = None, outcome.sent
        for is_plain in (False, True):
            drawing = Drawing(schemas, source, is_plain=is_plain)
            found = trip.inexact(_drawn(operation, schemas, drawing, draws))
            # An operation with many headers refuses nearly all draws of any texts, as it should.
            if found is None or not found.reason.startswith(REFUSED) or outcome.sent > before:
                break
        if found is None:
            outcome.exact += 1
        else:
            outcome.inexact[operation.id] = found
    return outcome


@dataclass(frozen=True)
class Trip:
    """There and back, for one operation."""

    operation: ImportedOperation
    encoder: Encoder
    schemas: Schemas
    outcome: RoundTrips
    files: frozenset[str]
    """The parts that are files by the vendor's document."""

    def inexact(self, drawn: Iterable[dict[str, Any]]) -> Inexact | None:
        """Why the operation is not exact. None: it is."""
        none_sent = Inexact("no arguments that the schema admits were drawn")
        sent = 0
        for arguments in drawn:
            try:
                request = self.encoder.encode(arguments)
            except GatewayError as error:
                none_sent = Inexact(f"{REFUSED}{_refusal(error)}", _shown(arguments))
                self.outcome.refused[none_sent.reason] += 1
                continue
            found = self._difference(arguments, request)
            if found is not None:
                return found
            sent += 1
        self.outcome.sent += sent
        return None if sent else none_sent

    def _difference(self, arguments: dict[str, Any], request: EncodedRequest) -> Inexact | None:
        sample = f"{_shown(arguments)} as {_sent(self.operation, request)}"
        headers = [*request.headers]
        if request.media_type is not None:
            headers.append(("Content-Type", request.media_type))
        try:
            decoded = Decoder(self.operation, self.schemas).decode(
                request.target, headers, request.body
            )
        except (Undecodable, ValueError) as error:
            return Inexact(f"not decoded: {error}", sample)
        if text := self._file_without_name(request):
            return Inexact(f"a file is sent as text: {text}", sample)
        if is_same(decoded, arguments):
            return None
        is_admitted = self.schemas.is_valid(decoded, self.operation.input_schema)
        is_ambiguous = is_admitted and _is_alike(arguments, decoded)
        return Inexact(f"other arguments: {_differing(arguments, decoded)}", sample, is_ambiguous)

    def _file_without_name(self, request: EncodedRequest) -> str | None:
        """The first part that is a file and has no file name."""
        if not self.files or request.body is None or request.media_type is None:
            return None
        if not request.media_type.startswith("multipart/"):
            return None
        sent = parts(request.body, request.media_type)
        return next((e.name for e in sent if e.name in self.files and e.filename is None), None)


def _drawn(
    operation: ImportedOperation, schemas: Schemas, drawing: Drawing, draws: int
) -> Iterator[dict[str, Any]]:
    """At most `draws` arguments that the input schema admits."""
    for _ in range(draws):
        for _ in range(TRIES):
            try:
                arguments = drawing.value(operation.input_schema)
            except (ValueError, OverflowError):
                # Bounds contradict one another, or are beyond the numbers of the machine.
                continue
            if schemas.is_valid(arguments, operation.input_schema):
                yield dict(arguments)
                break


def _refusal(error: GatewayError) -> str:
    if isinstance(error, InvalidArguments):
        return error.violations[0].detail
    return error.detail.partition(":")[0]


def _shown(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False)[:SHOWN]


def _sent(operation: ImportedOperation, request: EncodedRequest) -> str:
    """The request in one line."""
    body = request.body.decode("utf-8", "replace") if request.media_type is not None else ""
    parts = (operation.method, request.target, request.media_type or "", repr(body) if body else "")
    return " ".join(each for each in parts if each)[:SHOWN]


def _differing(sent: Any, decoded: Any) -> str:
    """The first members that differ, shortened."""
    found = [name for name in {**sent, **decoded} if not _has_same(sent, decoded, name)]
    pairs = [(name, sent.get(name, "absent"), decoded.get(name, "absent")) for name in found[:2]]
    return "; ".join(f"{name}: {str(was)[:80]} became {str(now)[:80]}" for name, was, now in pairs)


def _is_alike(sent: Any, decoded: Any) -> bool:
    """Whether two values differ only by a list around one item, or by the type of a text."""
    if isinstance(sent, dict) and isinstance(decoded, dict):
        names = sent.keys() == decoded.keys()
        return names and all(_is_alike(sent[name], decoded[name]) for name in sent)
    if isinstance(sent, list) and isinstance(decoded, list):
        return len(sent) == len(decoded) and all(map(_is_alike, sent, decoded))
    if isinstance(sent, list) and len(sent) == 1:
        return _is_alike(sent[0], decoded)
    if isinstance(sent, str) and isinstance(decoded, bool | int | float):
        return sent == json.dumps(decoded)
    return is_same(sent, decoded)


def _has_same(sent: Any, decoded: Any, name: str) -> bool:
    return name in sent and name in decoded and is_same(sent[name], decoded[name])

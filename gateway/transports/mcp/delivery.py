"""What a result is to an MCP client: text, blocks, a file, or a part that it can continue.

A result that is larger than its client may be sent is cut by whole items, with a continuation.
"""

import secrets
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

from gateway.calls.call import Result
from gateway.catalogue import Catalogue, Entry
from gateway.contract.agent_view import CONTINUE_RESULT
from gateway.contract.operation import Effect
from gateway.contract.selection import published_output
from gateway.contract.values import jsontext
from gateway.contract.values.files import BLOCKS, FileContent, data_of, encoded_bytes
from gateway.contract.values.schema import Validator
from gateway.errors import InvalidArguments, StateConflict
from gateway.publication.continuation import (
    Continuation,
    CuttableResult,
    NotSealed,
    ResultPart,
    cuttable,
    largest_members,
    sealed,
    unsealed,
)
from gateway.publication.view import Views, estimated_tokens
from gateway.transports.errors import ResultTooLarge
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.protocol import ProtocolRevision


class TextResult(Result, frozen=True, kw_only=True):
    """A result whose text block is not its JSON."""

    plain: str | None = None
    """The only member of the result. None: the block is its JSON after all."""


def as_text(result: Result, member: str | None) -> Result:
    """`result` as a `TextResult`, if it has the `Operation.text_member`."""
    text = None if member is None else result.values.get(member)
    if text is None:
        return result
    return result.as_kind(TextResult, plain=text)


def shown_text(result: Result) -> str:
    """What the first text block has: the plain text, or the JSON text of REST."""
    plain = result.plain if isinstance(result, TextResult) else None
    return result.text.decode() if plain is None else plain


class WholeResult(Result, frozen=True):
    """A result whose values are the whole `result` member, in revision 2026-07-28."""


MAX_FILE_BYTES: Final = 4 * 2**20
"""Hosts and the models behind them take images of up to about 5 MB."""
RESULT_URI: Final = "gateway://results/"


class FileResult(Result, frozen=True, kw_only=True):
    """A result whose file is sent whole."""

    uri: str
    """The gateway's name for the file. It is different for each call, and cannot be read later."""


def file_result(result: Result, request_id: str) -> FileResult:
    """`result`, which has a file, as it is sent in answer to this request."""
    return result.as_kind(FileResult, uri=f"{RESULT_URI}{request_id}")


def file_block(file: FileContent, uri: str, revision: ProtocolRevision) -> dict[str, Any]:
    """The content block: an image, audio, or an embedded resource with the name `uri`."""
    kind = file.media_type.partition("/")[0]
    if kind == "image" or (kind == "audio" and revision.has_audio):
        return {"type": kind, "data": file.base64, "mimeType": file.media_type}
    resource = {"uri": uri, "mimeType": file.media_type, "blob": file.base64}
    return {"type": "resource", "resource": resource}


class BlocksResult(Result, frozen=True, kw_only=True):
    """A result whose blocks are sent in place of its JSON, and nothing beside them."""

    blocks: list[dict[str, Any]]
    """Those that are sent. Others may be left out."""
    uri: str
    """The gateway's name for bytes that have none."""
    note: str | None = None
    """What is left out, for a model."""


def blocks_result(
    result: Result, uri: str, blocks: list[dict[str, Any]] | None = None, note: str | None = None
) -> BlocksResult:
    """`result`, with these blocks of it. None: all of them."""
    sent = result.values[BLOCKS] if blocks is None else blocks
    return result.as_kind(BlocksResult, blocks=sent, uri=uri, note=note)


def sent_blocks(result: BlocksResult, revision: ProtocolRevision) -> list[dict[str, Any]]:
    """The blocks that `revision` has: the same data, in other blocks where it lacks one."""
    return [_known_to(revision, block, result.uri) for block in result.blocks]


def _known_to(revision: ProtocolRevision, block: dict[str, Any], uri: str) -> dict[str, Any]:
    if block["type"] == "audio" and not revision.has_audio:
        resource = {"uri": uri, "mimeType": block["mimeType"], "blob": block["data"]}
        return {"type": "resource", "resource": resource}
    if block["type"] == "resource_link" and not revision.has_links:
        said = (block.get(each) for each in ("title", "name", "description"))
        about = ": ".join(dict.fromkeys(filter(None, said)))
        return {"type": "text", "text": f"{about} ({block['uri']})"}
    return block


PART_META: Final = "contract-gateway/part"
_NOTE_BYTES: Final = 3000
"""Room for the text about a part, and for its continuation."""
_MEMBERS_SHOWN: Final = 3
_MAX_NAME: Final = 100
_LOCAL_SECRET: Final = secrets.token_bytes(32)
"""Of a caller without a key, which is in the same process or at the same terminal."""


class PartialResult(TextResult, frozen=True, kw_only=True):
    """A result without some of its items, or without its file."""

    note: str
    """What is left out, for a model."""
    facts: dict[str, Any]
    """The same for programs."""


class ResultDelivery(Struct, frozen=True, kw_only=True):
    """A call, as far as the delivery of its result needs it."""

    entry: Entry
    arguments: bytes
    bearer: str | None
    max_bytes: int
    request_id: str
    start: Continuation | None = None
    """Which part of the result is asked for. None: the first."""
    is_of_job: bool = False
    """Whether a job has kept the result, so that the call is not made for another part."""


class Deliveries:
    """Fits results into what each caller can be sent."""

    def __init__(self, catalogue: Catalogue, views: Views) -> None:
        self._catalogue = catalogue
        self._views = views
        members = {each.id: each.operation.text_member for each in catalogue.entries}
        self._text_members = {name: each for name, each in members.items() if each is not None}
        self._with_blocks = frozenset(
            each.id for each in catalogue.entries if each.operation.has_blocks
        )

    def fit(
        self,
        caller: Caller,
        operation_id: str,
        arguments: bytes,
        start: Continuation | None,
        result: Result,
        *,
        is_of_job: bool = False,
    ) -> Result:
        """`result` as this caller is sent it: see `delivered`. `start`: the part that it wants."""
        max_bytes = self._views.result_bytes(caller.principal.agent)
        has_blocks = operation_id in self._with_blocks and result.job_id is None
        is_plain = result.file is None and not has_blocks
        if len(result.text) <= max_bytes and start is None and is_plain:
            return as_text(result, self._text_members.get(operation_id))
        delivery = ResultDelivery(
            entry=self._catalogue.find(operation_id),
            arguments=arguments,
            bearer=caller.credentials.bearer,
            max_bytes=max_bytes,
            request_id=caller.request_id,
            start=start,
            is_of_job=is_of_job,
        )
        return _with_blocks(result, delivery) if has_blocks else delivered(result, delivery)


def secret_of(bearer: str | None) -> bytes:
    """What continuations of this caller are sealed with."""
    return _LOCAL_SECRET if bearer is None else bearer.encode()


def continuation_of(text: str, bearer: str | None, connector: str | None) -> Continuation:
    """The continuation that this caller was given as `text`, at the endpoint of `connector`.

    Raises `InvalidArguments`.
    """
    try:
        found = unsealed(text, secret_of(bearer))
    except NotSealed:
        detail = "is not a continuation that this key was given: repeat it exactly as it was given"
        raise InvalidArguments.at("/continuation", "continuation", detail) from None
    if connector not in {None, found.operation.partition(".")[0]}:
        detail = "is of another endpoint: use the endpoint of the part before"
        raise InvalidArguments.at("/continuation", "continuation", detail)
    return found


def delivered(result: Result, delivery: ResultDelivery) -> Result:
    """`result` as it is sent: a `PartialResult` if it is too large, or if a part is asked for.

    A file is a `FileResult`. A result of a write is never an error: if it cannot be cut, it is sent
    whole, or without its file. Raises `ResultTooLarge` for one of a read, and `StateConflict` if it
    is no longer the result whose part is asked for.
    """
    if result.file is not None and delivery.start is None:
        return _with_file(result, result.file, delivery)
    size = len(result.text)
    if delivery.start is None and size <= delivery.max_bytes:
        return result
    found = cuttable(result.values, size, delivery.max_bytes - _NOTE_BYTES)
    part = _part(found, delivery)
    # The rest of a text of a write could not be asked for.
    is_sent = part is not None and (_is_read(delivery) or not part.is_text)
    if part is not None and is_sent and _published(delivery.entry).admits(part.values):
        return _partial(result, part, delivery)
    if not _is_read(delivery):
        return result
    raise ResultTooLarge(_advice(result, delivery))


def _with_blocks(result: Result, delivery: ResultDelivery) -> Result:
    """The blocks of `result`. Those of a write that do not fit are left out, and it says so.

    Raises `ResultTooLarge` for those of a read.
    """
    uri = f"{RESULT_URI}{delivery.request_id}"
    blocks: list[dict[str, Any]] = result.values[BLOCKS]
    encoded = sum(map(len, encoded_bytes(blocks)))
    text, size = len(result.text) - encoded, encoded // 4 * 3
    excess = []
    if text > delivery.max_bytes:
        most = estimated_tokens(delivery.max_bytes)
        excess.append(
            f"The texts of the result have about {estimated_tokens(text):,} tokens. At most"
            f" {most:,} are sent over MCP."
        )
    if size > MAX_FILE_BYTES:
        excess.append(
            f"The images and files of the result have {size:,} bytes. At most {MAX_FILE_BYTES:,}"
            " bytes are sent over MCP."
        )
    if not excess:
        return blocks_result(result, uri)
    if _is_read(delivery):
        raise ResultTooLarge(f"{' '.join(excess)} Over REST, the result is sent whole.")
    kept = [
        each
        for each in blocks
        if (size if data_of(each) is not None else text)
        <= (MAX_FILE_BYTES if data_of(each) is not None else delivery.max_bytes)
    ]
    note = f"{' '.join(excess)} They are left out. The call has been made: do not repeat it."
    return blocks_result(result, uri, kept, note)


def _with_file(result: Result, file: FileContent, delivery: ResultDelivery) -> Result:
    size = len(file.data)
    if size <= MAX_FILE_BYTES:
        return file_result(result, delivery.request_id)
    reason = (
        f"The result is {size:,} bytes of {file.media_type}. At most {MAX_FILE_BYTES:,} bytes are"
        " sent over MCP, and a file is not cut."
    )
    if _is_read(delivery):
        raise ResultTooLarge(f"{reason} Over REST, it is sent whole.")
    return result.as_kind(
        PartialResult,
        file=None,
        note=f"{reason} The call has been made: do not repeat it.",
        facts={"from": 0, "to": 0, "of": size},
    )


def _part(found: CuttableResult | None, delivery: ResultDelivery) -> ResultPart | None:
    start = delivery.start
    if start is None:
        return None if found is None else found.part(0)
    if found is None or found.digest(start.start) != start.digest:
        raise StateConflict(
            "The result has changed since its last part: call the tool again, from the beginning."
        )
    return found.part(start.start)


def _partial(result: Result, part: ResultPart, delivery: ResultDelivery) -> PartialResult:
    continuation = _continuation(part, delivery)
    facts: dict[str, Any] = {
        "from": part.start,
        "to": part.end,
        "of": part.total,
        "lists": part.lists,
    }
    if continuation is not None:
        facts["continuation"] = continuation
    text = delivery.entry.operation.text_member
    return result.as_kind(
        PartialResult,
        values=part.values,
        text=jsontext.encode(part.values),
        file=None,
        note=_note(part, continuation, delivery),
        facts=facts,
        plain=None if text is None else part.values.get(text),
    )


def _continuation(part: ResultPart, delivery: ResultDelivery) -> str | None:
    if part.end >= part.total or not _is_read(delivery) or delivery.entry.operation.asks:
        return None
    arguments = delivery.start.arguments if delivery.start else delivery.arguments.decode()
    found = Continuation(delivery.entry.id, arguments, part.end, part.digest)
    return sealed(found, secret_of(delivery.bearer))


def _note(part: ResultPart, continuation: str | None, delivery: ResultDelivery) -> str:
    """What a model reads beside the result."""
    lists = ", ".join(_shown(each) for each in part.lists[:_MEMBERS_SHOWN])
    unit = "lines" if part.is_text else "items"
    held = f"{unit} {part.start + 1:,} to {part.end:,} of {part.total:,} ({lists})"
    if part.end >= part.total:
        return f"This is the last part of the result: {held}."
    first = f"This is a part of the result: {held}."
    if continuation is not None:
        return f"{first} For the next part, call {CONTINUE_RESULT} with continuation {continuation}"
    if not _is_read(delivery):
        return f"{first} The call has been made: do not repeat it for the others."
    if delivery.entry.operation.asks:
        return f"{first} Each other part would ask again: call the tool for less."
    return f"{first} The arguments are too long for a continuation: ask for less."


def _advice(result: Result, delivery: ResultDelivery) -> str:
    most = estimated_tokens(delivery.max_bytes)
    members = ", ".join(
        f"{_shown(name)} ({size:,} bytes)"
        for name, size in largest_members(result.values, _MEMBERS_SHOWN)
    )
    fix = (
        "Name the members that you need in the argument fields"
        if delivery.entry.members is not None
        else "Use arguments of the tool for a smaller range, if it has some"
    )
    return (
        f"The result has {len(result.text):,} bytes, about {estimated_tokens(len(result.text)):,}"
        f" tokens. At most {most:,} tokens are sent over MCP, and it cannot be cut by items or"
        f" lines. Its largest members: {members}. {fix}."
    )


def _shown(name: str) -> str:
    return name if len(name) <= _MAX_NAME else f"{name[:_MAX_NAME]}…"


def _is_read(delivery: ResultDelivery) -> bool:
    """Whether the call has changed nothing, so that it can be made again."""
    operation = delivery.entry.operation
    if delivery.is_of_job or operation.effect is not Effect.READ:
        return False
    if operation.escalation is None or delivery.start is not None:
        return True
    given: dict[str, Any] = jsontext.decode(delivery.arguments)
    return given.get(operation.escalation.when) is not True


@lru_cache(maxsize=256)
def _published(entry: Entry) -> Validator:
    """The output schema as it is published. It is compiled for tools with large results only."""
    if entry.members is None and not entry.operation.is_imported:
        return entry.output
    listing = entry.whole_listing
    return Validator(published_output(listing.input_schema, listing.output_schema))

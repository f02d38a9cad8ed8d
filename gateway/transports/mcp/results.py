"""The answers to MCP clients, as types of the SDK and as bytes. Both have the same meaning."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec
from mcp_types import (
    SERVER_INFO_META_KEY,
    CallToolResult,
    ContentBlock,
    ListToolsResult,
    TextContent,
    Tool,
)

from gateway.amounts import amount
from gateway.calls.call import Result
from gateway.contract.values import jsontext
from gateway.contract.values.hidden import visible_text
from gateway.transports.http.problems import Problem
from gateway.transports.mcp.delivery import (
    PART_META,
    BlocksResult,
    FileResult,
    PartialResult,
    WholeResult,
    file_block,
    sent_blocks,
    shown_text,
)
from gateway.transports.mcp.protocol import Freshness, ProtocolRevision
from gateway.transports.results import AGE_META, age_facts, stale_note

LIST_CACHE: Final = Freshness(ttl_ms=60_000, scope="private")
"""A list depends on the key, and changes only when the gateway is deployed again."""
PROBLEM_META: Final = "contract-gateway/problem"
LEFT_OUT_META: Final = "contract-gateway/leftOut"
MOCKED_META: Final = "contract-gateway/mocked"
DEPRECATION_META: Final = "contract-gateway/deprecation"
_FRESHNESS: Final = b',"ttlMs":%d,"cacheScope":"%s"' % (
    LIST_CACHE.ttl_ms,
    LIST_CACHE.scope.encode(),
)
_MOST_NAMED: Final = 5
"""How many of the rows that a result lacks are named."""


def success(result: Result, revision: ProtocolRevision) -> CallToolResult:
    """A result, as structured content where `revision` has it, and as a text block."""
    has_structure = revision.has_structure and not isinstance(result, BlocksResult)
    structure = result.values if has_structure else None
    content: list[ContentBlock] = [*map(_block, _first_blocks(result, revision))]
    content += [TextContent(text=note) for note in _notes(result)]
    if isinstance(result, FileResult) and result.file is not None:
        content.append(_block(file_block(result.file, result.uri, revision)))
    meta = _meta(result)
    return CallToolResult(content=content, structured_content=structure, _meta=meta or None)


def _first_blocks(result: Result, revision: ProtocolRevision) -> list[dict[str, Any]]:
    """What the result says by itself, before the notes on it."""
    if isinstance(result, BlocksResult):
        return sent_blocks(result, revision)
    return [{"type": "text", "text": shown_text(result)}]


def _notes(result: Result) -> list[str]:
    """What a model reads beside the result."""
    stale = stale_note(result.age)
    note = result.note if isinstance(result, PartialResult | BlocksResult) else None
    notes = [] if note is None else [note]
    if result.left_out:
        notes.append(_gaps_note(result.left_out))
    if result.mocked:
        notes.append(_mocked_note(result))
    if result.deprecation is not None:
        notes.append(f"This tool will end. {result.deprecation.note}")
    return notes if stale is None else [*notes, stale]


def _gaps_note(left_out: tuple[str, ...]) -> str:
    rows = visible_text("; ".join(left_out[:_MOST_NAMED]))[0]
    number = amount(len(left_out), "row")
    return f"Of the upstream's reply, {number} could not be read, which the result lacks: {rows}"


def _mocked_note(result: Result) -> str:
    names = ", ".join(result.mocked)
    return f"Made up: a mock answered for {names}. Other data of this gateway is real."


def _meta(result: Result) -> dict[str, Any]:
    """The same for programs."""
    meta: dict[str, Any] = {}
    if isinstance(result, PartialResult):
        meta[PART_META] = result.facts
    if result.age is not None:
        meta[AGE_META] = age_facts(result.age)
    if result.mocked:
        meta[MOCKED_META] = list(result.mocked)
    if result.deprecation is not None:
        said = msgspec.structs.asdict(result.deprecation).items()
        meta[DEPRECATION_META] = {name: value for name, value in said if value is not None}
    if result.left_out:
        meta[LEFT_OUT_META] = [visible_text(each)[0] for each in result.left_out[:_MOST_NAMED]]
    return meta


def _block(block: dict[str, Any]) -> ContentBlock:
    return CallToolResult.model_validate({"content": [block]}).content[0]


def failure(problem: Problem) -> CallToolResult:
    """A failed call: the problem+json as text for the model, and as an object in `_meta`."""
    return CallToolResult(
        content=[TextContent(text=jsontext.encode(problem).decode())],
        is_error=True,
        _meta={PROBLEM_META: msgspec.to_builtins(problem)},
    )


def listing(texts: Iterable[bytes]) -> ListToolsResult:
    """A list of the tools with these JSON texts."""
    return ListToolsResult(tools=[Tool.model_validate_json(text) for text in texts])


class ResultBytes:
    """The same results as JSON-RPC text for the fast path, encoded without the SDK."""

    def __init__(self, server_info: dict[str, Any]) -> None:
        self._stamp = b'"%s":%s' % (SERVER_INFO_META_KEY.encode(), jsontext.encode(server_info))
        self._ends = (b"}", b',"resultType":"complete","_meta":{%s}}' % self._stamp)
        """The end of a result, before the modern revisions and since then."""

    def success(self, result: Result, revision: ProtocolRevision) -> bytes:
        """The `result` member for a result."""
        if isinstance(result, WholeResult):
            return b'%b,"_meta":{%b}}' % (result.text[:-1], self._stamp)
        blocks = _first_blocks(result, revision)
        blocks += [{"type": "text", "text": note} for note in _notes(result)]
        if isinstance(result, FileResult) and result.file is not None:
            blocks.append(file_block(result.file, result.uri, revision))
        has_structure = revision.has_structure and not isinstance(result, BlocksResult)
        structure = (b',"structuredContent":', result.text) if has_structure else ()
        return b"".join(
            (
                b'{"content":',
                jsontext.encode(blocks),
                *structure,
                b',"isError":false',
                self._end(_meta(result), revision),
            )
        )

    def _end(self, meta: dict[str, Any], revision: ProtocolRevision) -> bytes:
        if not meta:
            return self._ends[revision.is_modern]
        members = jsontext.encode(meta)[1:-1]
        if not revision.is_modern:
            return b',"_meta":{%s}}' % members
        return b',"_meta":{%s,%s},"resultType":"complete"}' % (members, self._stamp)

    def failure(self, problem: Problem, revision: ProtocolRevision) -> bytes:
        """The `result` member for a failed call."""
        problem_json = jsontext.encode(problem)
        return b"".join(
            (
                b'{"content":[{"type":"text","text":',
                jsontext.encode(problem_json.decode()),
                b'}],"isError":true,"_meta":{"%s":' % PROBLEM_META.encode(),
                problem_json,
                b',%s},"resultType":"complete"}' % self._stamp if revision.is_modern else b"}}",
            )
        )

    def listing(self, texts: Iterable[bytes], revision: ProtocolRevision) -> bytes:
        """The `result` member for a list of the tools with these JSON texts."""
        freshness = _FRESHNESS if revision.is_modern else b""
        end = self._ends[revision.is_modern]
        return b"".join((b'{"tools":[', b",".join(texts), b"]", freshness, end))


def response(message_id: int | str, result: bytes) -> bytes:
    """A JSON-RPC response with the encoded `result`."""
    return b'{"jsonrpc":"2.0","id":%s,"result":%s}' % (jsontext.encode(message_id), result)

"""Arguments that are repeated in headers (`x-mcp-header`, SEP-2243), over the bridge.

A host on stdio sends no headers. So the remote refuses the first call of such a tool before it has
an effect. The bridge then lists the tools, and repeats the call with the headers.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from gateway.transports.bridge.messages import HostMessage, host_message, routing_headers
from gateway.transports.bridge.protocol import HEADER_KEYWORD, PROGRESS
from gateway.transports.bridge.remote import Remote

_MAX_PAGES: Final = 100


class _Tool(msgspec.Struct):
    name: str
    input_schema: Any = msgspec.field(name="inputSchema", default=None)


class _Page(msgspec.Struct):
    tools: tuple[_Tool, ...] = ()
    cursor: str | None = msgspec.field(name="nextCursor", default=None)


class _Answer(msgspec.Struct):
    result: _Page = msgspec.field(default_factory=_Page)


class HeaderParameters:
    """The header parameters of the remote's tools, as far as they were needed."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote
        self._by_tool: dict[str, Mapping[tuple[str, ...], str]] = {}

    def of(self, message: HostMessage) -> dict[str, str]:
        """The headers that repeat arguments of `message`, if it calls a known tool."""
        known = self._by_tool.get(message.name or "") if message.method == "tools/call" else None
        arguments = message.params.get("arguments")
        if known is None or not isinstance(arguments, dict):
            return {}
        return _repeated(known, arguments)

    async def asked(self, message: HostMessage) -> dict[str, str]:
        """The same headers, by the remote's list of tools. Raises `RemoteFailed`."""
        meta = {k: v for k, v in message.params.get("_meta", {}).items() if k != PROGRESS}
        found: dict[str, Mapping[tuple[str, ...], str]] = {}
        cursor: dict[str, str] = {}
        for _ in range(_MAX_PAGES):
            page = await self._page({"_meta": meta, **cursor})
            found.update((each.name, _headers_of(each)) for each in page.tools)
            if page.cursor is None:
                break
            cursor = {"cursor": page.cursor}
        self._by_tool = {name: headers for name, headers in found.items() if headers}
        return self.of(message)

    async def _page(self, params: Mapping[str, Any]) -> _Page:
        request = {"jsonrpc": "2.0", "id": "bridge", "method": "tools/list", "params": params}
        message = host_message(msgspec.json.encode(request))
        texts: list[bytes] = []

        async def take(text: bytes) -> None:
            texts.append(text)

        await self._remote.post(message.text, routing_headers(message, None), take)
        try:
            return msgspec.json.decode(texts[-1], type=_Answer).result
        except (IndexError, msgspec.DecodeError):
            raise self._remote.failed("its list of tools cannot be read") from None


def _headers_of(tool: _Tool) -> Mapping[tuple[str, ...], str]:
    schema = tool.input_schema
    return _declared(schema) if HEADER_KEYWORD in str(schema) else {}


def _declared(schema: Any) -> Mapping[tuple[str, ...], str]:
    from mcp.shared.inbound import (  # noqa: PLC0415 - few tools have such arguments
        find_invalid_x_mcp_header,
        x_mcp_header_map,
    )

    return {} if find_invalid_x_mcp_header(schema) is not None else x_mcp_header_map(schema)


def _repeated(known: Mapping[tuple[str, ...], str], arguments: Mapping[str, Any]) -> dict[str, str]:
    from mcp.shared.inbound import mcp_param_headers  # noqa: PLC0415 - as `_declared`

    return mcp_param_headers(known, arguments)

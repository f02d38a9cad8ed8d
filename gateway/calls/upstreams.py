"""One call's way to the upstreams: what a Python handler is given besides its arguments."""

import asyncio
import re
from collections.abc import (
    AsyncIterator,
    Collection,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

from gateway.calls.delivery import Delivery, Line
from gateway.contract.context import CallFacts, UpstreamCall, UpstreamReply
from gateway.contract.tables import Tables
from gateway.contract.upstream import UpstreamRequest
from gateway.errors import InternalError

_PLACEHOLDER: Final = re.compile(r"\{([^}]*)\}")


class CallUpstreams:
    """The `CallContext` of one call."""

    def __init__(
        self,
        call: CallFacts,
        lines: Mapping[str, Line],
        delivery: Delivery,
        locks: MutableMapping[str, asyncio.Lock],
    ) -> None:
        self._call = call
        self._lines = lines
        self._delivery = delivery
        self._locks = locks

    @property
    def call(self) -> CallFacts:
        return self._call

    async def send(self, asked: UpstreamCall, *, expect: Collection[int] = ()) -> UpstreamReply:
        """See `CallContext.send`."""
        line = self._line(asked.upstream)
        operation = line.operation(asked.operation)
        request = UpstreamRequest(
            operation=operation.id,
            method=operation.method,
            path=tuple(_segments(operation.path, asked.path)),
            query=tuple(_pairs(asked.query)),
            headers=tuple(asked.headers.items()),
            body=asked.body,
        )
        reply = await self._delivery.deliver(line, request)
        return line.reader.admit(operation.id, reply, expect)

    def setting(self, upstream: str, name: str) -> str:
        """See `CallContext.setting`."""
        return self._line(upstream).settings[name]

    def workspace(self, upstream: str) -> Tables | None:
        """See `CallContext.workspace`."""
        return self._line(upstream).tables

    def exclusive(self, key: str) -> AbstractAsyncContextManager[None]:
        """See `CallContext.exclusive`."""
        return _holding(self._locks.setdefault(key, asyncio.Lock()))

    def _line(self, upstream: str) -> Line:
        if upstream not in self._lines:
            raise InternalError(f"the binding does not name the upstream {upstream!r}")
        return self._lines[upstream]


@asynccontextmanager
async def _holding(lock: asyncio.Lock) -> AsyncIterator[None]:
    """Refers to the lock for the length of the block, so that others find the same one."""
    async with lock:
        yield


def _segments(template: str, values: Mapping[str, str]) -> Iterator[str]:
    for part in template.split("/")[1:]:
        yield _PLACEHOLDER.sub(lambda found: values[found[1]], part)


def _pairs(query: Mapping[str, str | Sequence[str]]) -> Iterator[tuple[str, str]]:
    for name, value in query.items():
        for text in [value] if isinstance(value, str) else value:
            yield name, text

"""The flood counts each attack once, by what became of it."""

import asyncio
import importlib
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).parents[3] / "scripts" / "bench"
REFUSED = b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n"


@pytest.fixture
def flood(monkeypatch) -> ModuleType:
    """The script as a module; its attacks come from an address that every system has."""
    known = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCH))
    module = importlib.import_module("flood")
    monkeypatch.setattr(module, "ATTACKER", "127.0.0.1")
    for name in set(sys.modules) - known:
        monkeypatch.delitem(sys.modules, name)
    return module


async def attacked(flood: ModuleType, kind: str, answer: bytes) -> Counter[str]:
    """What a socket of this kind counted when it had connected four times."""
    connections, enough = 0, asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        if connections == 4:
            enough.set()
        else:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
        writer.close()

    counted: Counter[str] = Counter()
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        socket = asyncio.create_task(flood._socket(kind, port, 0, counted))
        await enough.wait()
        socket.cancel()
        await asyncio.gather(socket, return_exceptions=True)
    return counted


async def test_an_answered_attack_with_a_body_is_no_closed_one(flood) -> None:
    assert await attacked(flood, "body", REFUSED) == {"401": 3}


async def test_an_attack_without_an_answer_is_closed(flood) -> None:
    assert await attacked(flood, "keyless", b"") == {"closed": 3}

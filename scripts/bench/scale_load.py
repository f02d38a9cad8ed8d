"""The load of `scale.py`: the same calls to two gateways in turn, and large lists."""

import http.client
import statistics
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from processes import BenchError, Server

BLOCK: Final = 20
"""Calls to one gateway before the other gets as many."""
PAUSE_SECONDS: Final = 0.005


class Calls(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of both gateways."""

    p50_ms: tuple[float, float]
    p50_ratio: float
    """Of the second to the first, as the median of all rounds."""
    cpu_ratio: float
    """Of the processor time per call."""


def documents_of(folder: Path, suffixes: tuple[str, ...]) -> Sequence[Path]:
    """The documents in `folder`. Raises `BenchError` if there are none."""
    found = [
        path
        for path in sorted(folder.glob("*"))
        if path.is_file() and path.name.removesuffix(".gz").endswith(suffixes)
    ]
    if not found:
        raise BenchError(f"{folder} has no documents: {', '.join(suffixes)}, also .gz")
    return found


def calls_in_turn(
    servers: Sequence[Server], key: str, path: str, arguments: Any, *, count: int, rounds: int
) -> Calls:
    """Call both gateways `count` times in each round, and once before to warm them."""
    callers = [_Caller(each, key) for each in servers]
    for caller in callers:
        for _ in range(count):
            caller.ask(path, arguments)
    medians: list[tuple[float, ...]] = []
    used: list[tuple[float, ...]] = []
    for _ in range(rounds):
        before = [each.cpu_seconds() for each in servers]
        times: list[list[float]] = [[] for _ in servers]
        for _ in range(count // BLOCK):
            for caller, own in zip(callers, times, strict=True):
                own += [caller.ask(path, arguments)[0] for _ in range(BLOCK)]
        medians.append(tuple(map(statistics.median, times)))
        used.append(tuple(e.cpu_seconds() - b for e, b in zip(servers, before, strict=True)))
    small, large = (1000 * statistics.median(each) for each in zip(*medians, strict=True))
    totals = [sum(each) for each in zip(*used, strict=True)]
    return Calls(
        p50_ms=(small, large),
        p50_ratio=statistics.median(other / one for one, other in medians),
        cpu_ratio=totals[1] / totals[0],
    )


def waits_during(server: Server, key: str, what: str, path: str, body: Any) -> dict[str, Any]:
    """One large answer, and the longest time that another request waited meanwhile."""
    is_done = threading.Event()
    waits: list[float] = []

    def ask_others() -> None:
        caller = _Caller(server, key)
        while not is_done.is_set():
            waits.append(caller.ask("/healthz", None)[0])
            time.sleep(PAUSE_SECONDS)

    other = threading.Thread(target=ask_others)
    other.start()
    seconds, size = _Caller(server, key).ask(path, body)
    is_done.set()
    other.join()
    return {
        "what": what,
        "mb": size / 1e6,
        "seconds": seconds,
        "longest_wait_ms": 1000 * max(waits, default=0.0),
    }


class _Caller:
    """One connection. Raises `BenchError` for every answer but 200."""

    def __init__(self, server: Server, key: str) -> None:
        self._name = server.name
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        self._headers = {
            "authorization": f"Bearer {key}",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2025-06-18",
        }

    def ask(self, path: str, body: Any) -> tuple[float, int]:
        """The seconds and the bytes of one answer."""
        text = None if body is None else msgspec.json.encode(body)
        began = time.perf_counter()
        self._connection.request("GET" if text is None else "POST", path, text, self._headers)
        answer = self._connection.getresponse()
        size = len(answer.read())
        seconds = time.perf_counter() - began
        if answer.status != 200:
            raise BenchError(f"{self._name} answered {path} with {answer.status}")
        return seconds, size

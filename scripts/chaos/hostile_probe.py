"""A caller that behaves well, in a process of its own, so that only the gateway delays it.

It reads lines of JSON from its input: the URL of a gateway, the caller's key, for how many seconds
to call and at which rate. For each, it prints a line of JSON: how long each call and each job took,
and what was not answered as it should be. It calls through a trusted proxy, with its own address.
"""

import asyncio
import gc
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping
from itertools import count
from typing import Any, Final

from gateways import SECRET
from hostile_client import Answer, Line
from hostile_kinds import PROXY, journey
from job_clients import ENDED
from sender import quote, signed
from soak_load import HANDSHAKE, MODERN, mcp, request

_NUMBERS: Final = count(time.time_ns())
_LOOK_SECONDS: Final = 0.1
_JOB_SECONDS: Final = 60.0
_ADDRESS: Final = "10.0.0.2"


class Caller:
    """The calls of one window."""

    def __init__(self, order: Mapping[str, Any]) -> None:
        self._url: str = order["url"]
        self._more = {"Authorization": f"Bearer {order['key']}", "X_Forwarded_For": _ADDRESS}
        self._idle: list[Line] = []
        self.calls: list[float] = []
        self.jobs: list[float] = []
        self.failed: Counter[str] = Counter()

    async def run(self, seconds: float, rate: float) -> None:
        """Call `rate` times a second, and begin a job once a second."""
        began = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for number in range(int(seconds * rate)):
                due = began + number / rate
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                group.create_task(self._call(number, due))
                if number % max(1, int(rate)) == 0:
                    group.create_task(self._job(due))
        for line in self._idle:
            line.close()

    async def _call(self, number: int, due: float) -> None:
        kinds = {
            "rest": self._rest,
            "modern": lambda: self._mcp(MODERN),
            "handshake": lambda: self._mcp(HANDSHAKE),
            "list": lambda: mcp(MODERN, "tools/list", {}, **self._more),
            "webhook": self._webhook,
        }
        name = list(kinds)[number % len(kinds)]
        answer = await self._ask(name, kinds[name](), (200, 202))
        # From when it was due: a call that begins late because others are slow was delayed too.
        self.calls.append(time.perf_counter() - due)
        if answer and name in {"modern", "handshake"} and b'"isError":true' in answer.body:
            self.failed[f"{name} error"] += 1

    async def _job(self, due: float) -> None:
        body = journey(next(_NUMBERS))
        made = await self._ask(
            "submit", request("POST", "/v1/avinode/create_rfp", body, **self._more), (202,)
        )
        until = time.monotonic() + _JOB_SECONDS
        while made is not None and time.monotonic() < until:
            path = f"/v1/jobs/{made.values['id']}"
            seen = await self._ask("job", request("GET", path, **self._more), (200,))
            if seen is None:
                return
            if seen.values["status"] in ENDED:
                self.jobs.append(time.perf_counter() - due)
                if seen.values["status"] != "succeeded":
                    self.failed[f"job {seen.values['status']}"] += 1
                return
            await asyncio.sleep(_LOOK_SECONDS)
        if made is not None:
            self.jobs.append(time.perf_counter() - due)

    async def _ask(self, name: str, text: bytes, good: tuple[int, ...]) -> Answer | None:
        line = self._idle.pop() if self._idle else Line(self._url, PROXY)
        try:
            answer = await line.ask(text, seconds=_JOB_SECONDS)
        except (OSError, EOFError, TimeoutError) as error:
            self.failed[f"{name} {type(error).__name__}"] += 1
            return None
        self._idle.append(line)
        if answer.status in good:
            return answer
        self.failed[f"{name} {answer.status} {answer.values.get('code', '')}".strip()] += 1
        return None

    def _rest(self) -> bytes:
        return request("POST", "/v1/store/find_products", _query(), **self._more)

    def _mcp(self, revision: str) -> bytes:
        params = {"name": "store_find_products", "arguments": _query()}
        return mcp(revision, "tools/call", params, **self._more)

    def _webhook(self) -> bytes:
        text = signed(quote(f"honest-{next(_NUMBERS)}"), SECRET.encode(), "/webhooks/avinode")
        return text.replace(b"\r\n\r\n", b"\r\nX-Forwarded-For: 10.0.0.3\r\n\r\n", 1)


def _query() -> dict[str, str]:
    """One that was not asked before, so that no kept result answers it."""
    return {"query": f"lamp {next(_NUMBERS)}"}


async def _serve() -> None:
    while line := await asyncio.to_thread(sys.stdin.readline):
        order = json.loads(line)
        caller = Caller(order)
        await caller.run(order["seconds"], order["rate"])
        found = {"calls": caller.calls, "jobs": caller.jobs, "failed": caller.failed}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    # A collection would delay a call, and the gateway would seem to.
    gc.disable()
    asyncio.run(_serve())

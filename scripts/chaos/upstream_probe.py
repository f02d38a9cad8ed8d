"""Calls one tool at a constant rate, in a process of its own, so that only the gateway delays it.

The upstream of that tool is in this process too. It prints the URL of this upstream first. Then it
reads lines from its input: the URL of a gateway, for how many seconds to call, and the number of
the first call. For each, it prints a line of JSON: how long each call took, and the problems of
those that failed. It calls from another address than the callers of the tool that fails.

    python scripts/chaos/upstream_probe.py --rate 40
"""

import argparse
import asyncio
import gc
import json
import sys
import time
from collections import Counter
from random import Random
from typing import Final

import httpx
from faulty import faulty_server
from gateways import KEY

_PATH: Final = "/v1/golf/search_tee_times"
_ADDRESS: Final = "127.0.0.2"
_LIMITS: Final = httpx.Limits(max_connections=None, keepalive_expiry=1.0)
"""A connection is not used again when the gateway may be about to close it."""
_DAYS: Final = 28
_MONTHS: Final = 12
_MINUTES: Final = 24 * 60


def main() -> int:
    """Serve the lines of the input."""
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--rate", type=float, default=40.0, help="calls per second")
    options = made.parse_args()
    # A collection would delay a call, and the gateway would seem to.
    gc.disable()
    asyncio.run(_serve(options.rate))
    return 0


async def _serve(rate: float) -> None:
    headers = {"authorization": f"Bearer {KEY}"}
    async with (
        faulty_server(Random(1)) as (url, _),  # noqa: S311 - it is always healthy
        httpx.AsyncClient(
            headers=headers,
            timeout=90,
            transport=httpx.AsyncHTTPTransport(local_address=_ADDRESS, limits=_LIMITS),
        ) as http,
    ):
        print(url, flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            gateway, seconds, first = line.split()
            found = await _run(http, gateway + _PATH, int(float(seconds) * rate), rate, int(first))
            print(json.dumps(found), flush=True)


async def _run(
    http: httpx.AsyncClient, url: str, calls: int, rate: float, first: int
) -> dict[str, object]:
    took: list[float] = []
    failed: Counter[str] = Counter()

    async def call(number: int) -> None:
        due = began + number / rate
        try:
            answer = await http.post(url, json=_arguments(first + number))
        except httpx.TransportError:
            failed["no-answer"] += 1
            return
        # From when it was due: a call that begins late because others are slow was delayed too.
        took.append(time.perf_counter() - due)
        if answer.status_code != 200:
            failed[answer.json()["type"].rpartition("/")[2]] += 1

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(calls):
            await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
            group.create_task(call(number))
    return {"seconds": took, "failed": failed}


def _arguments(number: int) -> dict[str, object]:
    """Those of no other number, so that no answer is kept for it."""
    day, minute = divmod(number, _MINUTES)
    month, day = divmod(day, _DAYS)
    date = f"2027-{month % _MONTHS + 1:02}-{day + 1:02}"
    return {
        "date": date,
        "time_range_start": f"{minute // 60:02}:{minute % 60:02}",
        "players": 2,
    }


if __name__ == "__main__":
    sys.exit(main())

"""One of several processes that count calls at once. Prints how many were counted.

Arguments: the URL of the store, the number of calls, how many calls the first limit allows.
"""

import asyncio
import sys
from uuid import uuid4

from gateway.store.sql.engine import open_store
from gateway.store.usage import CounterId, Demand, LimitKind, UsageStore

AGENT = CounterId("golfer", "hour").text
PLACES = CounterId("golfer", "concurrent").text


async def count(usage: UsageStore, calls: int, allowed: int) -> int:
    """Make `calls` calls, some at a time."""
    demands = [
        Demand(counter=AGENT, max=allowed, kind=LimitKind.WINDOW, seconds=3600),
        Demand(counter=PLACES, max=2 * allowed, kind=LimitKind.LEASE, seconds=60),
    ]

    async def some() -> int:
        taking = (usage.take(demands, uuid4().hex) for _ in range(calls // 8))
        return sum([not (await each).refused for each in taking])

    return sum(await asyncio.gather(*(some() for _ in range(8))))


async def main(url: str, calls: int, allowed: int) -> None:
    store = await open_store(url)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    sys.stdout.write(f"{await count(store.usage, calls, allowed)}\n")
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))

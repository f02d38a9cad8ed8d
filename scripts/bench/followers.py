"""Measure the cost of followers of `GET /events`.

Example: `python scripts/bench/followers.py --followers 1000`. One process serves `/events` from a
log in memory. This one opens the streams, and measures the memory for each and the time until one
event has reached all of them.
"""

import argparse
import asyncio
import json
import multiprocessing
import resource
import time
from multiprocessing.connection import Connection as Pipe
from pathlib import Path

import uvicorn

from gateway.audit.log import AuditLog
from gateway.auth.authorize import Policy
from gateway.auth.principal import LocalIdentification
from gateway.bounds.rates import Rate
from gateway.clock import SystemClock
from gateway.contract.credentials import EVENTS
from gateway.events.feed import Feed, FeedLimits, Sequencer
from gateway.store.records import NewEvent
from gateway.store.sql.engine import open_store
from gateway.transports.connections.bounds import ConnectionLimits
from gateway.transports.connections.connection import Connection
from gateway.transports.connections.listen import bind
from gateway.transports.events import EventEndpoint, Followers
from gateway.transports.http.edge import Edge, EdgeRules
from gateway.transports.http.heads import HostRules
from gateway.transports.http.problems import classify

REQUEST = b"GET /events HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n\r\n"


class ManyConnections(Connection):
    """A connection without the limit on streams."""

    limits = ConnectionLimits(
        max_connections=100_000,
        max_connections_of_one_host=100_000,
        opened_by_one_host=Rate(100_000, 100_000),
    )


def serve(pipe: Pipe, followers: int) -> None:
    """Serve, and publish an event for each message from the pipe."""
    asyncio.run(_serve(pipe, followers))


async def _serve(pipe: Pipe, followers: int) -> None:
    store = await open_store("memory:")
    clock = SystemClock()
    feed = Feed(store.events, FeedLimits(followers=followers, followers_of_one=followers))
    sequencer = Sequencer(store.events, feed.wake)
    policy = Policy({"local": frozenset({EVENTS})})
    audit = AuditLog(store.audit, clock, classify)
    endpoint = EventEndpoint(Followers(feed, LocalIdentification("local"), policy, audit))
    app = Edge(endpoint.serve, EdgeRules(hosts=HostRules(["127.0.0.1"])))
    config = uvicorn.Config(app, http=ManyConnections, lifespan="off", log_config=None)
    with bind("127.0.0.1", 0) as listener:
        tasks = [asyncio.create_task(work) for work in (feed.run(), sequencer.run())]
        tasks.append(asyncio.create_task(uvicorn.Server(config).serve([listener])))
        pipe.send(listener.getsockname()[1])
        number = 0
        while await asyncio.to_thread(pipe.recv):
            number += 1
            await store.events.append([_event(number)])
            sequencer.wake()
        for task in tasks:
            task.cancel()


def _event(number: int) -> NewEvent:
    return NewEvent(
        id=str(number), type="a.b.v1", subject="s", source="/bench", data={"text": "x" * 500}
    )


async def follow(port: int, count: int) -> list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Open the streams, and read the first chunk of each."""
    opened = []
    for _ in range(count):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST)
        await reader.readuntil(b"retry: 2000\n\n")
        opened.append((reader, writer))
    return opened


def resident_bytes(process_id: int) -> int:
    """The resident memory of a process."""
    pages = int(Path(f"/proc/{process_id}/statm").read_text().split()[1])
    return pages * resource.getpagesize()


async def measure(pipe: Pipe, process_id: int, followers: int) -> dict[str, float]:
    """The figures."""
    port = pipe.recv()
    warm = await follow(port, 10)
    before = resident_bytes(process_id)
    streams = await follow(port, followers - len(warm))
    added = resident_bytes(process_id) - before
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        pipe.send(True)
        await asyncio.gather(*(reader.readuntil(b"data: ") for reader, _ in (*warm, *streams)))
        seconds.append(time.perf_counter() - began)
    pipe.send(False)
    for _, writer in (*warm, *streams):
        writer.transport.abort()
    return {
        "followers": followers,
        "server_mib_before": round(before / 2**20, 1),
        "kib_per_follower": round(added / len(streams) / 2**10, 1),
        "fan_out_ms": round(sorted(seconds)[len(seconds) // 2] * 1000, 1),
    }


def main() -> None:
    """Measure, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--followers", type=int, default=1000)
    followers = parser.parse_args().followers
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(there, followers))
    server.start()
    try:
        print(json.dumps(asyncio.run(measure(here, server.pid or 0, followers))))
    finally:
        server.kill()
        server.join()


if __name__ == "__main__":
    main()

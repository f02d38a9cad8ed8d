"""The contenders of the ingest benchmark, one per process: `ingest_server.py gateway|bare URL`.

`gateway` is the edge, endpoint, ingest and store of the gateway with Avinode's contract, but
without its rate limit. `bare` is a handler without the gateway: verify, insert, commit.
"""

import asyncio
import gc
import hashlib
import hmac
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, Final

import aiosqlite
import asyncpg  # type: ignore[import-untyped]  # it ships no types
import msgspec
import uvicorn
import uvloop
from litestar import Litestar, Request, Response, post

from gateway.app.parts.work import open_group_commit
from gateway.catalogue import open_catalogue
from gateway.clock import SystemClock
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contract.webhook import SourceRate
from gateway.store.sql.engine import open_store
from gateway.transports.connections.connection import Connection
from gateway.transports.http.edge import Edge, EdgeRules
from gateway.transports.http.heads import HostRules
from gateway.transports.webhooks import WebhookEndpoint, webhook_route
from gateway.webhooks.ingest import Ingest
from gateway.webhooks.source import OpenSource, ProfileSecrets

SECRET: Final = "a secret of the benchmark, 42 bytes long ok"  # noqa: S105 - nobody's
SOURCE: Final = "avinode"
_UNLIMITED: Final = SourceRate(per_second=1e9, burst=10**9)
_TABLE: Final = (
    "create table if not exists messages (id text primary key, body {bytes} not null,"
    " received_at timestamp default current_timestamp)"
)

Insert = Callable[[str, bytes], Awaitable[None]]


async def gateway(url: str, stack: AsyncExitStack) -> Any:
    """The gateway without its worker."""
    clock = SystemClock()
    store = await open_store(url, "generated", clock)
    stack.push_async_callback(store.close)
    group_commit = open_group_commit(store.inbox, lambda: None, stack)
    declared = open_catalogue("generated", HANDLER_PACKAGES).webhooks[SOURCE]
    source = OpenSource(
        msgspec.structs.replace(
            declared, source=msgspec.structs.replace(declared.source, rate=_UNLIMITED)
        ),
        clock,
        secrets={"signed": ProfileSecrets(keys={"": [SECRET.encode()]})},
    )
    endpoint = WebhookEndpoint(Ingest({SOURCE: source}, group_commit, clock))
    litestar = Litestar([webhook_route(endpoint)], openapi_config=None, logging_config=None)
    return Edge(litestar, EdgeRules(hosts=HostRules(("127.0.0.1",), ())))  # type: ignore[arg-type]  # as in http_app.py


async def bare(url: str, stack: AsyncExitStack) -> Any:
    """A handler that verifies, inserts and commits."""
    insert = await (_postgresql if url.startswith("postgres") else _sqlite)(url, stack)

    @post(f"/webhooks/{SOURCE}")
    async def receive(request: Request[Any, Any, Any]) -> Response[bytes]:
        body = await request.body()
        signed = f"{request.headers['x-avinode-timestamp']}.".encode() + body
        digest = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(f"sha256={digest}", request.headers["x-avinode-signature"]):
            return Response(b"{}", status_code=401)
        await insert(msgspec.json.decode(body)["event_id"], body)
        return Response(b'{"outcome":"stored"}', status_code=202, media_type="application/json")

    return Litestar([receive], openapi_config=None, logging_config=None)


async def _sqlite(url: str, stack: AsyncExitStack) -> Insert:
    connection = await stack.enter_async_context(aiosqlite.connect(url.partition(":///")[2]))
    await connection.execute("pragma journal_mode = wal")
    await connection.execute("pragma synchronous = full")
    await connection.execute(_TABLE.format(bytes="blob"))

    async def insert(message_id: str, body: bytes) -> None:
        statement = "insert into messages (id, body) values (?, ?) on conflict do nothing"
        await connection.execute(statement, (message_id, body))
        await connection.commit()

    return insert


async def _postgresql(url: str, stack: AsyncExitStack) -> Insert:
    pool = await stack.enter_async_context(asyncpg.create_pool(url, min_size=10, max_size=10))
    await pool.execute(_TABLE.format(bytes="bytea"))

    async def insert(message_id: str, body: bytes) -> None:
        statement = "insert into messages (id, body) values ($1, $2) on conflict do nothing"
        await pool.execute(statement, message_id, body)

    return insert


async def main() -> None:
    """Serve until stopped."""
    name, url = sys.argv[1:]
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    async with AsyncExitStack() as stack:
        application = await {"gateway": gateway, "bare": bare}[name](url, stack)
        # As in `gateway serve`: the garbage collector skips permanent objects.
        gc.collect()
        gc.freeze()
        print(f"ready http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        config = uvicorn.Config(
            application,
            loop="none",
            http=Connection,
            ws="none",
            lifespan="off",
            log_level="warning",
            access_log=False,
            proxy_headers=False,
        )
        await uvicorn.Server(config).serve([listener])


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())

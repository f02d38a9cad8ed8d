"""An upstream that answers as a script says, and a pool of connections to it."""

import asyncio
from contextlib import asynccontextmanager, suppress

from gateway.backends.http.pool import ConnectionPool
from gateway.backends.http.replies import ReplyLimits
from gateway.contract.upstream import Departure
from tests.eventually import PATIENCE_SECONDS

GET = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CAP = 100_000


class Upstream:
    """Answers the nth request on any connection with the nth script, and then with `OK`."""

    def __init__(self, *scripts):
        self.scripts = list(scripts)
        self.connections = 0
        self.requests = []
        self.writers = []
        self.open = 0
        self.released = asyncio.Event()

    async def serve(self, reader, writer):
        self.connections += 1
        self.open += 1
        self.writers.append(writer)
        with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            while True:
                self.requests.append(await reader.readuntil(b"\r\n\r\n"))
                script = self.scripts.pop(0) if self.scripts else (OK,)
                for part in script:
                    if part is None:
                        await self.released.wait()
                    elif part is CLOSE:
                        writer.close()
                    else:
                        writer.write(part)
                        await writer.drain()
                if CLOSE in script:
                    break
        writer.close()
        self.open -= 1


CLOSE = object()


@asynccontextmanager
async def serving(*scripts, **options):
    """An upstream and a pool of connections to it."""
    upstream = Upstream(*scripts)
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    given = {"is_encrypted": False, "replies": ReplyLimits(max_bytes=CAP), **options}
    pool = ConnectionPool("127.0.0.1", port, **given)
    try:
        yield upstream, pool
    finally:
        await pool.close()
        upstream.released.set()
        await until(lambda: upstream.open == 0)
        server.close()
        await server.wait_closed()


async def get(pool, caller=""):
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await pool.exchange(GET, is_head=False, departure=Departure(caller=caller))


async def until(condition):
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.001)

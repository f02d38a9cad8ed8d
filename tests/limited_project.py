"""A project whose agents and tools have limits, its vendor, and clients that call at once."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct, field

from gateway.auth.keys import Keys
from gateway.clock import SystemClock
from gateway.store.sql.engine import open_store
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import RunningGateway, run_gateway

HERE: Final = {"GATEWAY_SCHEMAS": ""}
FIND: Final = "/v1/store/find_products"
LOOK: Final = "/v1/store/look_up"
"""The same tool under another name, with a limit of its own."""
LOST: Final = 0
"""The status of a call whose connection ended before its answer."""
_REFUSED_SECONDS: Final = 0.02
"""How long a client waits that was refused."""
_TOOL: Final = Path("schemas/tools/store")
_POLICY: Final = "timeoutSeconds: 10\n"
_PATIENT: Final = "timeoutSeconds: 60\n"
"""For machines that do more than this."""


def write_project(folder: Path, agents: Mapping[str, str], tool: str) -> None:
    """Add agents and the tool `store.look_up`, which have these `limits`, to a new project."""
    for each in sorted((folder / _TOOL).glob("find_products.*")):
        text = each.read_text().replace("find_products", "look_up")
        if each.suffix == ".yaml":
            assert _POLICY in text
            text = text.replace(_POLICY, f"{_PATIENT}    limits: {tool}\n")
        each.with_name(each.name.replace("find_products", "look_up")).write_text(text)
    with (folder / "schemas/openapi.yaml").open("a") as index:
        index.write(f"  {LOOK}: {{$ref: ./tools/store/look_up.yaml}}\n")
    with (folder / "schemas/policies/agents.yaml").open("a") as policies:
        for name, limits in agents.items():
            policies.write(f"  {name}:\n    description: Has limits.\n    limits: {limits}\n")
            policies.write("    grants: [store.find_products, store.look_up]\n")
    run_gateway(folder, "generate", environment=HERE)


async def make_keys(database: str, agents: Sequence[str]) -> list[str]:
    """A key for each of the agents, in the database of a gateway that runs."""
    store = await open_store(database, is_upgraded=False)
    keys = Keys(store.keys, SystemClock(), agents)
    made = [(await keys.create(each, "test")).key for each in agents]
    await store.close()
    return made


class Vendor(Struct):
    """The server behind both tools. It counts what reaches it, by the words that were asked."""

    url: str = ""
    pause: float = 0.0
    """Seconds before each reply."""
    asked: Counter[str] = field(default_factory=Counter)
    at_once: Counter[str] = field(default_factory=Counter)
    """The most requests that were under way at the same time."""
    under_way: Counter[str] = field(default_factory=Counter)
    lock: Any = field(default_factory=threading.Lock)

    @contextmanager
    def noted(self, words: str) -> Iterator[None]:
        with self.lock:
            self.asked[words] += 1
            self.under_way[words] += 1
            self.at_once[words] = max(self.at_once[words], self.under_way[words])
        yield
        with self.lock:
            self.under_way[words] -= 1


@contextmanager
def running_vendor() -> Iterator[Vendor]:
    vendor = Vendor()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with vendor.noted(parse_qs(urlsplit(self.path).query)["q"][0]):
                sleep(vendor.pause)
            body = b'{"products": []}'
            head = (
                f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
            )
            self.wfile.write(f"{head}\r\n\r\n".encode() + body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        vendor.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield vendor
        server.shutdown()
        thread.join()


class Clients(Struct):
    """Calls of one tool on connections that stay open, as many at once as there are connections."""

    gateway: RunningGateway
    keys: list[str]
    """They take turns."""
    path: str
    words: str
    statuses: Counter[int] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    """The codes of the problems."""

    def call(self, connections: int, until: Callable[[], bool], more: int = 0) -> None:
        """Call until something is so, and some times more on each connection.

        It gives up after `PATIENCE_SECONDS`: then the counts show what did not happen.
        """
        deadline = monotonic() + PATIENCE_SECONDS
        with ThreadPoolExecutor(connections) as pool:
            keys = (self.keys[number % len(self.keys)] for number in range(connections))
            calling = [pool.submit(self._call, each, until, more, deadline) for each in keys]
        for each in calling:
            each.result()

    def _call(self, key: str, until: Callable[[], bool], more: int, deadline: float) -> None:
        connection = HTTPConnection(
            self.gateway.url.removeprefix("http://"), timeout=PATIENCE_SECONDS
        )
        while not until() and monotonic() < deadline:
            self._call_once(connection, key)
        for _ in range(more):
            self._call_once(connection, key)
        connection.close()

    def _call_once(self, connection: HTTPConnection, key: str) -> None:
        status, found = answer(connection, key, self.path, {"query": self.words})
        self.statuses[status] += 1
        if status == 200:
            return
        self.codes[found.get("code", "")] += 1
        sleep(_REFUSED_SECONDS)


def answer(
    connection: HTTPConnection, key: str, path: str, arguments: Mapping[str, Any]
) -> tuple[int, dict[str, Any]]:
    """The status of a call and its answer. `LOST` if the connection ended."""
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    try:
        connection.request("POST", path, json.dumps(arguments), headers)
        with connection.getresponse() as found:
            status, text = found.status, found.read()
    except (OSError, HTTPException):
        connection.close()
        return LOST, {}
    return status, json.loads(text)

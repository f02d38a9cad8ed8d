"""A vendor's server in this process that records what it receives."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from msgspec import Struct

Answer = tuple[int, str, bytes] | tuple[int, str, bytes, Mapping[str, str]]
"""Status, media type and body, and other headers."""


class Received(Struct, frozen=True):
    """One request as the vendor received it."""

    line: str
    headers: dict[str, str]
    body: bytes


class Vendor(Struct, frozen=True):
    """A server in this process, and what it received."""

    url: str
    received: list[Received]


@contextmanager
def recording_vendor(answer_to: Callable[[str, str], Answer]) -> Iterator[Vendor]:
    """A vendor whose answer to a method and a path is that of `answer_to`."""
    received: list[Received] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def answer(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            received.append(Received(f"{self.command} {self.path}", headers, self.rfile.read(size)))
            status, media_type, body, *more = answer_to(self.command, self.path)
            others: Mapping[str, str] = more[0] if more else {}
            self.send_response(status)
            self.send_header("content-type", media_type)
            self.send_header("content-length", str(len(body)))
            for name, value in others.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def __getattr__(self, name: str) -> Callable[[], None]:
            if name.startswith("do_"):
                return self.answer
            raise AttributeError(name)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield Vendor(f"http://127.0.0.1:{server.server_port}", received)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

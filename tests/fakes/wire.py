"""What the fakes of the vendors share: requests as they came, answers, and what was wrong.

They are written from the vendors' public documents, and not from our mocks. Each judges every
request by what its vendor documents, and answers what its vendor documents.
"""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote

from msgspec import Struct


class Asked(Struct, frozen=True, kw_only=True):
    """A request as the vendor receives it."""

    method: str
    path: str
    """Decoded, below the base URL."""
    raw_path: str
    query: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]
    body: bytes

    @property
    def parameters(self) -> dict[str, str]:
        return dict(self.query)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True, strict_parsing=True))


class Answer(Struct, frozen=True):
    """What the vendor answers. A body of bytes is a page."""

    status: int
    body: Any = None
    kind: str = "application/json"


class Fake:
    """One vendor."""

    kind = "application/json"

    def __init__(self) -> None:
        self.wrong: list[str] = []
        """What the vendor's documents do not allow of the requests so far."""
        self.asked: list[Asked] = []
        self.refusals: dict[str, Answer] = {}
        """What to answer in place of a success, by the beginning of `METHOD path`."""
        self.foreign: Answer | None = None
        """What something else than the vendor answers to everything but requests for tokens."""

    def require(self, condition: object, text: str) -> None:
        """Note `text` if the request breaks the vendor's documents."""
        if not condition:
            self.wrong.append(text)

    def serve(self, asked: Asked) -> Answer:
        """The answer to one request."""
        self.asked.append(asked)
        if asked.body and asked.method != "GET":
            kind = asked.headers.get("content-type", "")
            self.require("json" in kind or "form" in kind, f"Content-Type {kind}")
        if self.foreign is not None and not asked.path.endswith("/token"):
            return self.foreign
        for beginning, answer in self.refusals.items():
            if f"{asked.method} {asked.path}".startswith(beginning):
                return answer
        return self.answer(asked)

    def answer(self, asked: Asked) -> Answer:
        raise NotImplementedError


class World:
    """An ASGI application: each fake below its name."""

    def __init__(self, fakes: Mapping[str, Fake]) -> None:
        self._fakes = fakes

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        _, name, rest = scope["raw_path"].decode("ascii").split("/", 2)
        fake = self._fakes[name]
        asked = Asked(
            method=scope["method"],
            path=unquote(f"/{rest}"),
            raw_path=f"/{rest}",
            query=tuple(parse_qsl(scope["query_string"].decode("ascii"), keep_blank_values=True)),
            headers={key.decode().lower(): value.decode() for key, value in scope["headers"]},
            body=body,
        )
        answer = fake.serve(asked)
        is_page = isinstance(answer.body, bytes)
        kind = "text/html" if is_page else (answer.kind or fake.kind)
        if not is_page and answer.kind == "application/json":
            kind = fake.kind
        text = answer.body if is_page else json.dumps(answer.body).encode()
        headers = [(b"content-type", kind.encode())]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": text})


async def _live(receive: Any, send: Any) -> None:
    kind = ""
    while kind != "lifespan.shutdown":
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})

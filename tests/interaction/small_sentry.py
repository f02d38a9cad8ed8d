"""A small Sentry on a real socket."""

import gzip
import json
from typing import Any


class SmallSentry:
    """What a Sentry has been sent: the bodies, and their events."""

    def __init__(self) -> None:
        self.bodies: list[str] = []
        self.events: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            kind = ""
            while kind != "lifespan.shutdown":
                kind = (await receive())["type"]
                await send({"type": f"{kind}.complete"})
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        if dict(scope["headers"]).get(b"content-encoding") == b"gzip":
            body = gzip.decompress(body)
        self.bodies.append(body.decode())
        lines = body.decode().splitlines()
        assert json.loads(lines[1])["type"] == "event"
        self.events.append(json.loads(lines[2]))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

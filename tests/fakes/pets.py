"""A pets API on a real socket that answers as a test says, and its OpenAPI documents."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from msgspec import Struct

CANARY: Final = "canary-of-the-pets"
"""A part of every text that the API answers, and of no name."""
GOOD: Final[Mapping[str, Any]] = {"id": f"{CANARY}-1", "name": CANARY, "age": 3, "status": "free"}


class PetAnswer(Struct, frozen=True, kw_only=True):
    """One answer of the API."""

    status: int = 200
    body: bytes = b""
    media_type: str = "application/json"
    headers: Mapping[str, str] = {}
    raw: bytes | None = None
    """Sent in place of a whole HTTP answer."""


def answered(value: Any, status: int = 200) -> PetAnswer:
    """`value` as JSON."""
    return PetAnswer(status=status, body=json.dumps(value).encode())


class PetShop:
    """The API: a list of pets, and each of them by its id."""

    def __init__(self) -> None:
        self.url = ""
        self.seen: list[tuple[str, float]] = []
        """Method and path of each request, and when it came."""
        self.answer: Callable[[str], PetAnswer] = self.good
        self.pets: list[dict[str, Any]] = [dict(GOOD)]

    def good(self, path: str) -> PetAnswer:
        """The pets, as they are."""
        name = path.partition("?")[0].rpartition("/")[2]
        if name == "pets":
            return answered(self.pets)
        found = next((each for each in self.pets if each["id"] == name), None)
        missing = {"message": "there is no such pet"}
        return answered(missing, 404) if found is None else answered(found)


@contextmanager
def open_shop() -> Iterator[PetShop]:
    """Serve a `PetShop` until the block ends."""
    shop = PetShop()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            shop.seen.append((f"{self.command} {self.path}", time.monotonic()))
            answer = shop.answer(self.path)
            if answer.raw is not None:
                self.wfile.write(answer.raw)
                self.close_connection = True
                return
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.media_type)
            self.send_header("Content-Length", str(len(answer.body)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)

        do_POST = do_DELETE = do_GET  # noqa: N815 - the names of http.server

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    shop.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield shop
    finally:
        server.shutdown()
        server.server_close()


_PET: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["id", "name"],
    "properties": {
        "id": {"type": "string"},
        "name": {"type": "string", "maxLength": 40},
        "age": {"type": "integer"},
        "status": {"type": "string", "enum": ["free", "sold"]},
        "owner": {"$ref": "#/components/schemas/Owner"},
    },
}
_OWNER: Final = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"name": {"type": "string"}},
}
_ERROR: Final = {"type": "object", "properties": {"message": {"type": "string"}}}


def document(version: str) -> dict[str, Any]:
    """The contract of the API in a version of OpenAPI, such as `3.0.3` or `2.0`."""
    parameter: dict[str, Any] = {"name": "petId", "in": "path", "required": True}
    is_swagger = version == "2.0"
    parameter |= {"type": "string"} if is_swagger else {"schema": {"type": "string"}}
    pet = {"$ref": "#/components/schemas/Pet"}
    listed = _operation("listPets", {"200": {"type": "array", "items": pet}}, is_swagger=is_swagger)
    error = {"$ref": "#/components/schemas/Error"}
    shown = _operation("showPet", {"200": pet, "404": error}, is_swagger=is_swagger)
    sold = _operation("sellPet", {"200": pet}, is_swagger=is_swagger)
    schemas = {"Pet": _PET, "Owner": _OWNER, "Error": _ERROR}
    found: dict[str, Any] = {
        ("swagger" if is_swagger else "openapi"): version,
        "info": {"title": "Pets", "version": "1"},
        "paths": {
            "/pets": {"get": listed, "post": sold},
            "/pets/{petId}": {"get": shown, "parameters": [parameter]},
        },
    }
    if not is_swagger:
        return found | {
            "servers": [{"url": "https://pets.test"}],
            "components": {"schemas": schemas},
        }
    text = json.dumps(found | {"host": "pets.test", "schemes": ["https"], "definitions": schemas})
    moved: dict[str, Any] = json.loads(text.replace("#/components/schemas/", "#/definitions/"))
    return moved


def _operation(name: str, replies: Mapping[str, Any], *, is_swagger: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"operationId": name, "responses": {}}
    for status, schema in replies.items():
        content = {"schema": schema}
        body = content if is_swagger else {"content": {"application/json": content}}
        found["responses"][status] = {"description": status, **body}
    return found | ({"produces": ["application/json"]} if is_swagger else {})

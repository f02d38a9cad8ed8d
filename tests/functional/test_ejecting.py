"""An ejected tool does what its imported operation did: the same requests, the same results."""

import base64
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
from msgspec import Struct

from tests.gateway_process import RunningGateway, run_gateway, running_gateway

DOCUMENT = Path(__file__).parents[1] / "assets" / "documents" / "shelves.yaml"
ITS_OWN = {"GATEWAY_SCHEMAS": ""}
"""The project is the folder in which the command runs."""
BOUND = (
    "ask_elsewhere",
    "get_cover",
    "get_elsewhere",
    "get_maybe",
    "order_covers",
    "patch_parts",
    "replace_cover",
    "send_covers",
    "write_label",
)
"""Without a field map: these call the operations of the import."""
EJECTED = (
    *BOUND,
    "close_desk",
    "create_shelf",
    "delete_shelf",
    "find_book",
    "get_desk",
    "get_either",
    "get_shelf",
    "grow_branch",
    "keep_notes",
    "list_shelves",
    "open_desk",
    "plant_tree",
    "sort_notes",
    "write_note",
)
SECRETS = {
    "TOKEN": "k1",
    "LOGIN_USERNAME": "u",
    "LOGIN_PASSWORD": "p:w",
    "COOKIE": "c 1",
    "KEY": "a&b",
    "CLIENT_CLIENT_ID": "id",
    "CLIENT_CLIENT_SECRET": "s",
}
PIXEL = base64.b64encode(b"\x89PNG\r\n").decode()
TREE = {"name": "a", "below": [{"name": "b", "below": []}]}
SHELF: dict[str, Any] = {
    "id": 1,
    "name": "Tall",
    "room": None,
    "best": {"isbn": "123", "authors": [{"name": None}, {}], "more": {"than": "declared"}},
    "labels": {"a": "b"},
}
BRANCH: dict[str, Any] = {
    "name": "a",
    "twigs": [{"name": "b", "owner": {"branches": {"c": {"name": "d", "more": [1]}}}}],
}
REPLIES: dict[str, tuple[int, str, Any]] = {
    "GET missing": (404, "text/plain", "secret detail"),
    "GET teapot": (418, "application/json", {}),
    "GET forbidden": (403, "application/json", {}),
    "GET broken": (200, "application/json", SHELF | {"room": 1}),
    "GET shelves": (200, "application/json", [SHELF, SHELF | {"id": 2}]),
    "POST shelves": (201, "application/json; charset=utf-8", SHELF),
    "POST branches": (201, "application/json", {"branch": BRANCH, "others": [BRANCH]}),
    "GET find": (200, "application/json", {"isbn": "123"}),
    "DELETE 7": (204, "", None),
    **dict.fromkeys(("POST notes", "PUT notes", "PATCH notes"), (204, "", None)),
    "GET desk": (204, "", None),
    "GET cover": (200, "image/png", b"\x89PNG\r\n"),
    "GET maybe": (200, "application/json", {"note": None}),
    "GET elsewhere": (200, "application/json", "there"),
    "POST tree": (200, "application/json", TREE),
    "PUT ;size=1.5": (200, "text/plain; charset=utf-8", b"a label"),
    "PATCH later": (202, "", None),
    **dict.fromkeys(("POST covers", "PUT covers", "PATCH covers"), (204, "", None)),
    "OPTIONS elsewhere": (204, "", None),
    "POST desk": (204, "", None),
    "DELETE desk": (204, "", None),
    "POST token": (200, "application/json", {"access_token": "t1", "token_type": "bearer"}),
}
"""By method and last segment of the path. All others are one shelf."""


class Wire(Struct, frozen=True):
    """One request as the vendor received it."""

    line: str
    headers: dict[str, str]
    body: bytes


@contextmanager
def vendor() -> Iterator[tuple[str, list[Wire]]]:
    """The URL of a server in this process, and what it received."""
    received: list[Wire] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def answer(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            received.append(Wire(f"{self.command} {self.path}", headers, self.rfile.read(size)))
            last = self.path.partition("?")[0].rpartition("/")[2]
            known = REPLIES.get(f"{self.command} {last}", (200, "application/json", SHELF))
            status, media_type, value = known
            plain = value if isinstance(value, bytes) else json.dumps(value).encode()
            body = b"" if value is None else plain
            self.send_response(status)
            if media_type:
                self.send_header("content-type", media_type)
            if status != 204:
                self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = answer  # noqa: N815 - names of http.server

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", received
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Site(Struct, frozen=True):
    """The gateway with the import, that with the ejected tools, and what the vendor received."""

    imported: RunningGateway
    ejected: RunningGateway
    received: list[Wire]

    def both(self, tool: str, arguments: dict[str, Any]) -> tuple["Exchange", "Exchange"]:
        return (
            self._exchange(self.imported, tool, arguments),
            self._exchange(self.ejected, tool, arguments),
        )

    def _exchange(self, gateway: RunningGateway, tool: str, arguments: Any) -> "Exchange":
        self.received.clear()
        rest = httpx.post(
            f"{gateway.url}/v1/shelf/{tool}", json=arguments, headers=gateway.authorization
        )
        params = {"name": f"shelf_{tool}", "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        accept = {"accept": "application/json, text/event-stream"}
        revision = {"mcp-protocol-version": "2025-06-18"}
        headers = gateway.authorization | accept | revision
        mcp = httpx.post(f"{gateway.url}/mcp", json=message, headers=headers).json()["result"]
        is_json = rest.headers["content-type"].partition(";")[0].endswith("json")
        result = rest.json() if is_json else {rest.headers["content-type"]: rest.content}
        return Exchange(rest.status_code, result, mcp, [*self.received])


class Exchange(Struct, frozen=True):
    """One call, over REST and over MCP, with the requests that both sent."""

    status: int
    result: dict[str, Any]
    mcp: dict[str, Any]
    sent: list[Wire]

    @property
    def verdict(self) -> tuple[object, ...]:
        """What a caller decides by."""
        known = ("code", "status", "reason", "errors")
        if self.status == 200:
            return self.status, self.result, self.mcp["structuredContent"], self.files
        pointers = [each["pointer"] for each in self.result.get("errors", ())]
        return self.status, *(self.result.get(name) for name in known[:3]), pointers

    @property
    def files(self) -> list[dict[str, Any]]:
        """The content blocks of the result that are no text."""
        return [each for each in self.mcp["content"] if each["type"] != "text"]


@pytest.fixture(scope="module")
def site(
    tmp_path_factory: pytest.TempPathFactory, new_initial: Callable[[Path], Path]
) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("ejecting")
    with vendor() as (url, received):
        (folder / "v.yaml").write_text(DOCUMENT.read_text("utf-8").replace("VENDOR", url))
        before, after = folder / "before", folder / "after"
        new_initial(before)
        policies = before / "schemas/policies/agents.yaml"
        grants = 'grants: ["*", gateway.events'
        granted = 'grants: ["*", shelf.delete_shelf, shelf.close_desk, gateway.events'
        run_gateway(before, "import", "../v.yaml", "--as", "shelf", environment=ITS_OWN)
        policies.write_text(policies.read_text("utf-8").replace(grants, granted), "utf-8")
        run_gateway(before, "generate", environment=ITS_OWN)
        shutil.copytree(before, after)
        run_gateway(after, "eject", "shelf", *EJECTED, environment=ITS_OWN)
        data = (tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("data"))
        with (
            running_gateway(data[0], environment=settings(before)) as imported,
            running_gateway(data[1], environment=settings(after)) as ejected,
        ):
            yield Site(imported, ejected, received)


def settings(project: Path) -> dict[str, str]:
    return {
        "GATEWAY_SCHEMAS": str(project / "schemas"),
        "GATEWAY_ALLOW_PLAIN_HTTP": "true",
        **{f"GATEWAY_SHELF_{name}": value for name, value in SECRETS.items()},
    } | (
        {f"GATEWAY_SHELF_OWN_{name}": value for name, value in SECRETS.items()}
        if project.name == "after"
        else {}
    )


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_shelf", {"id": "a b/ü:?"}),
        ("list_shelves", {"limit": 5}),
        ("list_shelves", {"q": "x y&z=ü+", "limit": 5, "open-only": False, "room": ["a,b", "c"]}),
        ("create_shelf", {"name": "Tall", "room": None}),
        ("create_shelf", {"name": "T", "room": "r", "best": {"isbn": "123", "own": [1]}}),
        ("create_shelf", {"name": "T", "room": "r", "labels": {"a": "b"}, "secret": "s"}),
        ("grow_branch", {"name": "a"}),
        ("grow_branch", BRANCH | {"key": "k", "twigs": [{"name": "b", "twigs": [{"name": "c"}]}]}),
        ("delete_shelf", {"id": "7"}),
        ("get_either", {}),
        ("find_book", {"isbn": "1"}),
        ("find_book", {"isbn": "1", "by": {"name": "a b&ü~", "sure": True, "at": [1, 2]}}),
        ("find_book", {"isbn": "1", "by": {"at": [{"x": "y"}, {"z": 1}]}, "tags": ["a", "b"]}),
        ("write_note", {"text": "a b~*ü&=", "kept": False, "pages": [2, 1], "raw": {"a": 1}}),
        ("write_note", {"text": "", "ids": [1, 2], "about": {"x y": "z"}, "X-Writer": "me, too"}),
        ("write_note", {"lines": [{"by": "a", "sure": True}, {"by": "b"}], "text": "t"}),
        ("keep_notes", {}),
        ("keep_notes", {"kept": True, "all": False}),
        ("sort_notes", {}),
        ("sort_notes", {"by": "age"}),
        ("get_desk", {}),
        ("open_desk", {}),
        ("close_desk", {}),
        ("get_cover", {}),
        ("get_maybe", {}),
        ("get_elsewhere", {}),
        ("ask_elsewhere", {}),
        ("order_covers", {"body": [3, 1]}),
        ("replace_cover", {"body": PIXEL}),
        ("send_covers", {"front": PIXEL, "front_X-Side": "left"}),
        (
            "send_covers",
            {
                "front": PIXEL,
                "front_X-Side": "left",
                "pages": [PIXEL, ""],
                "about": {"isbn": "123"},
                "sizes": [1.5, 2],
                "kept": True,
            },
        ),
        ("write_label", {"id": ["a b", "ü"], "size": 1.5, "body": "a\nb"}),
        (
            "write_label",
            {
                "id": ["a"],
                "size": 1.5,
                "body": "",
                "lines": ["1", "22"],
                "by": ["a b", "c"],
                "raw": "a/b?c:d",
                "where": {"isbn": "123"},
                "theme": "dark",
                "X-Sizes": [1, 2],
            },
        ),
        ("patch_parts", {"id": "1", "body": {"name": None}}),
        ("patch_parts", {"id": "later", "body": {}}),
        ("plant_tree", TREE),
    ],
)
def test_a_call_sends_the_same_and_gets_the_same(
    site: Site, tool: str, arguments: dict[str, Any]
) -> None:
    before, after = site.both(tool, arguments)
    assert before.status == 200, before.result
    assert after.verdict == before.verdict
    assert len(after.sent) == len(before.sent) == (3 if tool == "close_desk" else 2)
    assert [each.line for each in after.sent] == [each.line for each in before.sent]
    assert [each.headers for each in after.sent] == [each.headers for each in before.sent]
    assert [each.body for each in after.sent] == [each.body for each in before.sent]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("find_book", {"isbn": "1", "by": {}}),
        ("find_book", {"isbn": "1", "tags": []}),
        ("write_note", {"text": "t", "pages": []}),
        ("write_note", {"text": "t", "about": {"a[b": "c"}}),
        ("write_note", {"text": "t", "X-Writer": "ü"}),
        ("write_note", {"text": "t", "X-Writer": " me"}),
        ("write_note", {}),
        ("get_shelf", {"id": "missing"}),
        ("get_shelf", {"id": "teapot"}),
        ("get_shelf", {"id": "forbidden"}),
        ("get_shelf", {"id": "broken"}),
        ("get_shelf", {"id": ".."}),
        ("get_shelf", {"id": 1}),
        ("get_shelf", {}),
        ("get_shelf", {"id": "1", "more": 1}),
        ("list_shelves", {"limit": 51}),
        ("list_shelves", {"limit": 5, "room": []}),
        ("create_shelf", {"id": 1, "name": "T", "room": None}),
        ("create_shelf", {"name": "", "room": None}),
        ("grow_branch", {"name": "a", "twigs": [{"name": "b", "twigs": [{"name": ""}]}]}),
        ("grow_branch", {"name": "a", "owner": {"branches": {"b": {"twigs": []}}}}),
        ("grow_branch", {"name": "a", "twigs": [{}, {"name": "b", "key": 1}]}),
        ("create_shelf", {"name": "T", "room": None, "best": {"isbn": "1"}}),
        ("order_covers", {"body": [1, 1]}),
        ("order_covers", {"body": {"a": 1}}),
        ("replace_cover", {"body": "no base64!"}),
        ("send_covers", {"front": PIXEL}),
        ("write_label", {"id": ["a"], "size": 1.5, "body": "", "lines": ["a"]}),
        ("write_label", {"id": ["a"], "size": 1.5, "body": "", "by": ["a|b"]}),
        ("write_label", {"id": ["a"], "size": 1.5, "body": "", "where": {"isbn": "1"}}),
        ("plant_tree", {"name": "a", "below": [{"below": []}]}),
    ],
)
def test_a_refusal_and_a_failure_stay_what_they_were(
    site: Site, tool: str, arguments: dict[str, Any]
) -> None:
    before, after = site.both(tool, arguments)
    assert before.status != 200
    assert after.verdict == before.verdict
    assert [each.line for each in after.sent] == [each.line for each in before.sent]


def test_the_same_tools_are_listed(site: Site) -> None:
    paths = [
        httpx.get(f"{each.url}/openapi.json", headers=each.authorization).json()["paths"]
        for each in (site.imported, site.ejected)
    ]
    assert paths[0].keys() == paths[1].keys()
    effects = [
        {path: item["post"]["x-policy"]["effect"] for path, item in each.items() if "shelf" in path}
        for each in paths
    ]
    assert effects[0] == effects[1]
    assert len(effects[0]) == 23

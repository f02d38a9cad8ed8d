"""A gateway under test: its endpoints, the keys that are sent, and every answer that came back."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

import httpx
from msgspec import Struct

MODERN: Final = "2026-07-28"
HANDSHAKE: Final = "2025-11-25"
NO_TOOL: Final = "no_such_tool_zz"
_PATIENCE: Final = 30
"""How often a request is sent again that was one too many, with a second or more between."""
_META: Final = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
_MCP: Final = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
_JSON: Final = {"accept": "application/json", "content-type": "application/json"}
Fields = Sequence[tuple[str, str]]


class NotApplicable(Exception):
    """The check needs something that this server does not have or that was not given."""


class Endpoint(Struct, frozen=True, kw_only=True):
    """One request that needs a key."""

    name: str
    method: str
    path: str
    headers: Mapping[str, str] = {}
    body: bytes = b""


class Answer(Struct, frozen=True, kw_only=True):
    """What a server answered."""

    request: str
    status: int
    headers: tuple[tuple[str, str], ...]
    text: str

    def values(self, name: str) -> list[str]:
        """The values of a header."""
        return [value for field, value in self.headers if field == name]

    @property
    def media_type(self) -> str:
        """The media type of the body, without parameters."""
        return "".join(self.values("content-type")).partition(";")[0]

    def message(self) -> Any:
        """The JSON of the body, or of the first event of a stream; None if there is none."""
        text = self.text
        if self.media_type == "text/event-stream":
            data = (line for line in text.splitlines() if line.startswith("data: {"))
            text = next(data, "").removeprefix("data: ")
        try:
            return json.loads(text)
        except ValueError:
            return None


class Tools(Struct, frozen=True, kw_only=True):
    """Tools by name on `/mcp`, as a list shows them."""

    listed: Mapping[str, Mapping[str, Any]]


class Target:
    """Sends requests to a gateway and keeps the answers."""

    def __init__(
        self, url: str, key: str, others: Mapping[str, str], issuer: str | None = None
    ) -> None:
        """`others`: further keys by what they are, such as `admin` or `revoked`.

        `issuer`: the authorization server that the gateway must name.
        """
        self.url = url.rstrip("/")
        self.key = key
        self.others = others
        self.issuer = issuer
        self.answers: list[Answer] = []
        self._http = httpx.Client(base_url=self.url, timeout=30, follow_redirects=False)
        self._lists: dict[str, Tools] = {}
        self._served: list[Endpoint] | None = None

    def __enter__(self) -> "Target":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def other(self, kind: str) -> str:
        """The key of this kind. Raises `NotApplicable`."""
        if kind not in self.others:
            raise NotApplicable(f"no --{kind}-key-file was given")
        return self.others[kind]

    def send(
        self,
        endpoint: Endpoint,
        fields: Fields = (),
        *,
        key: str | None = None,
        method: str | None = None,
        query: str = "",
    ) -> Answer:
        """The answer to the request of `endpoint`, with more header `fields`.

        A request that is one too many is sent again later.
        """
        headers = [*endpoint.headers.items(), *fields]
        if key is not None:
            headers.append(("authorization", f"Bearer {key}"))
        method = method or endpoint.method
        body = None if method in {"GET", "HEAD", "OPTIONS", "TRACE"} else endpoint.body
        path = f"{endpoint.path}?{query}" if query else endpoint.path
        raw = [(name.encode(), value.encode("latin-1")) for name, value in headers]
        request = f"{method} {endpoint.path} ({endpoint.name})"
        answer = self._answer(request, method, path, raw, body)
        for _ in range(_PATIENCE):
            if answer.status != HTTPStatus.TOO_MANY_REQUESTS:
                break
            time.sleep(min(5.0, float("".join(answer.values("retry-after")) or "1")))
            answer = self._answer(request, method, path, raw, body)
        self.answers.append(answer)
        return answer

    def _answer(
        self,
        request: str,
        method: str,
        path: str,
        raw: list[tuple[bytes, bytes]],
        body: bytes | None,
    ) -> Answer:
        """The answer. The status 0 stands for a connection that the server ended without one."""
        try:
            with self._http.stream(method, path, headers=raw, content=body) as response:
                # A stream of events never ends. Nothing of it is needed here.
                is_endless = response.is_success and path.partition("?")[0] == "/events"
                text = "" if is_endless else response.read().decode("utf-8", "replace")
        except httpx.RemoteProtocolError:
            return Answer(request=request, status=0, headers=(), text="")
        pairs = tuple((name.lower(), value) for name, value in response.headers.multi_items())
        return Answer(request=request, status=response.status_code, headers=pairs, text=text)

    def tools(self, key: str | None = None) -> Tools:
        """What the list on `/mcp` shows for this key. Raises `NotApplicable` if it cannot."""
        key = key or self.key
        if key not in self._lists:
            message = self.send(modern("/mcp", "tools/list", {}), key=key).message()
            listed = ((message or {}).get("result") or {}).get("tools")
            if not isinstance(listed, list):
                raise NotApplicable(f"the key is not served: {message}")
            self._lists[key] = Tools(listed={each["name"]: each for each in listed})
        return self._lists[key]

    def operations(self, key: str | None = None) -> dict[str, str]:
        """The REST paths of tools by MCP name, which this key is shown."""
        document = self.send(get("openapi", "/openapi.json"), key=key or self.key).message() or {}
        items = document.get("paths", {}).items()
        posts = ((path, item.get("post", {})) for path, item in items if isinstance(item, dict))
        return {
            post["x-mcp"]["name"]: path
            for path, post in posts
            if path.startswith("/v1/") and "x-mcp" in post
        }

    def connector(self) -> str:
        """A connector with a tool that the key may call. Raises `NotApplicable`."""
        return self.granted()[1].split("/")[2]

    def granted(self) -> tuple[str, str]:
        """The name and the path of a tool that the key may call. Raises `NotApplicable`."""
        listed = self.tools().listed
        for name, path in self.operations().items():
            if name in listed:
                return name, path
        raise NotApplicable("the key may call no tool")

    def ungranted(self) -> tuple[str, str]:
        """The same of a tool that exists and that it may not call. Raises `NotApplicable`."""
        admin = self.other("admin")
        listed, mine = self.tools(admin).listed, self.operations()
        for name, path in self.operations(admin).items():
            if name in listed and name not in mine:
                return name, path
        raise NotApplicable("the key may call every tool that the admin key may call")

    def endpoints(self) -> list[Endpoint]:
        """All endpoints that need a key and that this gateway serves."""
        if self._served is None:
            found = [each for each in self._known() if self.send(each).status != 404]
            self._served = found
        return self._served

    def _known(self) -> Iterator[Endpoint]:
        name, path = self.granted()
        connector = self.connector()
        for place in ("/mcp", f"/mcp/{connector}"):
            yield modern(place, "tools/list", {})
            yield handshake(place, "initialize", GREETING)
        yield rest(path, {})
        yield execute(name, {})
        yield get("jobs", "/v1/jobs")
        yield get("job", "/v1/jobs/00000000-0000-4000-8000-000000000000")
        yield get("events", "/events", "text/event-stream")
        yield get("info", "/mcp/info")
        yield get("card", f"/mcp/{connector}/server-card")
        for place in ("audit", "webhooks", "jobs", "endpoints", "events", "limits"):
            yield get("operator", f"/operator/{place}")
        yield get("metrics", "/metrics")
        yield get("metrics", "/metrics.json")


GREETING: Final = {
    "protocolVersion": HANDSHAKE,
    "capabilities": {},
    "clientInfo": {"name": "resource-server-suite", "version": "1"},
}


def modern(path: str, method: str, params: Mapping[str, Any], name: str | None = None) -> Endpoint:
    """An MCP request of the revision in which each request is complete.

    `name`: what `Mcp-Name` says, if not the name in `params`.
    """
    named = params.get("name") if name is None else name
    routing = {"mcp-protocol-version": MODERN, "mcp-method": method}
    routing |= {} if named is None else {"mcp-name": str(named)}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": _META, **params}}
    return Endpoint(
        name=f"{MODERN} {method}",
        method="POST",
        path=path,
        headers=_MCP | routing,
        body=json.dumps(body).encode(),
    )


def handshake(path: str, method: str, params: Mapping[str, Any]) -> Endpoint:
    """An MCP request of the revisions that begin with `initialize`."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return Endpoint(
        name=f"{HANDSHAKE} {method}",
        method="POST",
        path=path,
        headers=_MCP | {"mcp-protocol-version": HANDSHAKE},
        body=json.dumps(body).encode(),
    )


def rest(path: str, arguments: Mapping[str, Any]) -> Endpoint:
    """A call over REST."""
    body = json.dumps(arguments).encode()
    return Endpoint(name="rest", method="POST", path=path, headers=_JSON, body=body)


def execute(name: str, arguments: Mapping[str, Any]) -> Endpoint:
    """A call that names its tool in the body."""
    body = json.dumps({"name": name, "arguments": arguments}).encode()
    return Endpoint(name="execute", method="POST", path="/tools/execute", headers=_JSON, body=body)


def get(name: str, path: str, accept: str = "*/*") -> Endpoint:
    """A read."""
    return Endpoint(name=name, method="GET", path=path, headers={"accept": accept})

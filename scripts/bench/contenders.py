"""The contenders: the gateway's transports, FastMCP, bare programs and the upstream itself."""

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import msgspec
import wire
import yaml
from contextforge import SECRET, USER
from msgspec import Struct, structs
from peer import CONTEXTFORGE, FASTMCP
from processes import LOAD_CPU, BenchError, Server, ask, output_of, started
from replay import Exchange

ROOT: Final = Path(__file__).resolve().parents[2]
HERE: Final = Path(__file__).resolve().parent
GATEWAY: Final = str(Path(sys.executable).parent / "gateway")
KEY: Final = "bench-bootstrap-key-0123456789abcdef"
UPSTREAM: Final = "avinode"
CREDENTIALS: Final = {"api_token": "bench-api-token", "access_token": "bench-access-token"}

DIRECT: Final = "upstream itself"
BARE: Final = "bare proxy"
PROTOTYPE: Final = "bare prototype"
REST: Final = "gateway REST"
MCP_MODERN: Final = f"gateway MCP {wire.MODERN}"
MCP_HANDSHAKE: Final = f"gateway MCP {wire.HANDSHAKE}"
FASTMCP_MODERN: Final = f"FastMCP {wire.MODERN}"
FASTMCP_HANDSHAKE: Final = f"FastMCP {wire.HANDSHAKE}"
CONTEXT_FORGE: Final = f"ContextForge {wire.HANDSHAKE}"
SDK_MODERN: Final = f"MCP SDK {wire.MODERN}"
SDK_HANDSHAKE: Final = f"MCP SDK {wire.HANDSHAKE}"


class Contender(Struct, frozen=True):
    """A server, and the request that it is measured with."""

    name: str
    server: Server
    request: bytes


class Lineup(Struct, frozen=True):
    """All contenders, and how to recognise a correct response."""

    contenders: tuple[Contender, ...]
    marker: bytes
    answer_bytes: int
    """The size of the upstream's reply."""


def of_other(name: str) -> str:
    """The name of a contender that runs from the other checkout."""
    return f"{name}, other"


@contextmanager
def lineup(tool: str, *, with_peers: bool, other: Path | None = None) -> Iterator[Lineup]:
    """Start everything, and the gateway of the checkout `other` too; stop it at the end of the
    block. Raises `BenchError`.
    """
    arguments = example_arguments(tool)
    with ExitStack() as stack:
        upstream = stack.enter_context(upstream_server())
        gateway = stack.enter_context(gateway_server(upstream.url))
        request = wire.rest(gateway.port, f"/v1/{tool.replace('.', '/')}", arguments, KEY)
        exchange = exchange_behind(request, gateway, upstream)
        bare = stack.enter_context(_bare_proxy(upstream.url))
        prototype = stack.enter_context(_prototype(upstream.url, tool))
        others = [
            _passed_on(DIRECT, upstream, exchange),
            _passed_on(BARE, bare, exchange),
            Contender(PROTOTYPE, prototype, request),
        ]
        own = gateways(gateway, tool, arguments)
        if other is not None:
            before = stack.enter_context(gateway_server(upstream.url, other))
            own = with_other(own, gateways(before, tool, arguments))
        contenders = [*others, *own]
        if with_peers:
            fastmcp = stack.enter_context(_fastmcp(upstream.url))
            contenders += _fastmcp_contenders(fastmcp, exchange)
            contenders.append(stack.enter_context(_contextforge(upstream.url, exchange)))
        for each in contenders:
            # A server may load code with its first request.
            ask(each.server, each.request)
        marker = str(json.loads(exchange.answer)["data"][-1]["id"]).encode()
        yield Lineup(tuple(contenders), marker, len(exchange.answer))


def with_other(own: list[Contender], others: list[Contender]) -> list[Contender]:
    """Both, each beside its own: what else the machine does changes between them."""
    return [
        each
        for one, old in zip(own, others, strict=True)
        for each in (one, structs.replace(old, name=of_other(old.name)))
    ]


def gateways(server: Server, tool: str, arguments: dict[str, Any]) -> list[Contender]:
    """The transports of one gateway."""
    name = tool.replace(".", "_")
    request = wire.rest(server.port, f"/v1/{tool.replace('.', '/')}", arguments, KEY)
    return [
        Contender(REST, server, request),
        _gateway_mcp(MCP_MODERN, server, wire.MODERN, name, arguments),
        _gateway_mcp(MCP_HANDSHAKE, server, wire.HANDSHAKE, name, arguments),
    ]


@contextmanager
def gateway_server(
    upstream: str, checkout: Path = ROOT, settings: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Server]:
    """`gateway serve` as an operator starts it, with `upstream` as its live upstream.

    Every checkout runs with this Python and its packages: only the gateway's own code differs.
    """
    environment = {
        "PYTHONPATH": str(checkout),
        "GATEWAY_SCHEMAS": str(checkout / "schemas"),
        "GATEWAY_BOOTSTRAP_KEY": KEY,
        "GATEWAY_BACKEND_AVINODE": "live",
        "GATEWAY_AVINODE_BASE_URL": upstream,
        **{f"GATEWAY_AVINODE_{name.upper()}": value for name, value in CREDENTIALS.items()},
        **settings,
    }
    with tempfile.TemporaryDirectory() as data:
        options = ["--host", "127.0.0.1", "--port", "0", "--data", data]
        command = [sys.executable, "-m", "gateway", "serve", *options]
        with started(
            f"the gateway of {checkout}", command, environment=environment, folder=Path(data)
        ) as server:
            yield server


@contextmanager
def upstream_server() -> Iterator[Server]:
    """The upstream of all contenders. Raises `BenchError`."""
    origin_command = [GATEWAY, "mock", UPSTREAM, "--port", "0"]
    environment = {"GATEWAY_SCHEMAS": str(ROOT / "schemas")}
    with started(
        "the mock upstream", origin_command, cpu=LOAD_CPU, environment=environment
    ) as origin:
        command = [sys.executable, str(HERE / "replay.py"), origin.url]
        with started("the replayed upstream", command, cpu=LOAD_CPU) as upstream:
            yield upstream


@contextmanager
def _bare_proxy(upstream: str) -> Iterator[Server]:
    command = [sys.executable, str(HERE / "bare_proxy.py"), upstream]
    with started("the bare proxy", command, text=msgspec.json.encode(_headers())) as server:
        yield server


@contextmanager
def _prototype(upstream: str, tool: str) -> Iterator[Server]:
    command = [sys.executable, str(HERE / "prototype.py"), upstream, tool]
    given = msgspec.json.encode(_headers())
    with started("the prototype", command, text=given, folder=ROOT) as server:
        yield server


@contextmanager
def _fastmcp(upstream: str) -> Iterator[Server]:
    command = [str(FASTMCP.program()), str(HERE / "fastmcp_proxy.py"), upstream]
    given = {"contract": _contract(), "headers": _headers()}
    with started("FastMCP", command, text=msgspec.json.encode(given)) as server:
        yield server


@contextmanager
def _contextforge(upstream: str, exchange: Exchange) -> Iterator[Contender]:
    """One tool that sends the same request. The caller shows a token, as it must."""
    make = ("-m", "mcpgateway.utils.create_jwt_token", "--username", USER, "--admin")
    token = output_of(
        CONTEXTFORGE.program(), *make, "--secret", SECRET, environment={"JWT_SECRET_KEY": SECRET}
    )
    path, arguments = urlsplit(exchange.target), _arguments(exchange)
    tool = {
        "name": "search",
        "url": f"{upstream}{path.path}",
        "integration_type": "REST",
        "request_type": exchange.method,
        "input_schema": {"type": "object"},
        "headers": _headers(),
    }
    command = [sys.executable, str(HERE / "contextforge.py")]
    command.append(str(CONTEXTFORGE.program("mcpgateway")))
    given = json.dumps({"tool": tool, "token": token}).encode()
    with started("ContextForge", command, text=given) as server:
        request = wire.mcp(server.port, wire.HANDSHAKE, "search", arguments, token)
        yield Contender(CONTEXT_FORGE, server, request)


def exchange_behind(request: bytes, gateway: Server, upstream: Server) -> Exchange:
    """The upstream request that the gateway sent for `request`. The others send the same one."""
    ask(gateway, request)
    recorded = ask(upstream, wire.message(upstream.port, "GET", "/recorded", b"", {}))
    exchanges = msgspec.json.decode(recorded, type=list[Exchange])
    if not exchanges:
        raise BenchError("the tool does not call the upstream; choose another with --tool")
    return exchanges[-1]


def _passed_on(name: str, server: Server, exchange: Exchange) -> Contender:
    request = wire.message(server.port, exchange.method, exchange.target, exchange.request, {})
    return Contender(name, server, request)


def _gateway_mcp(
    name: str, server: Server, revision: str, tool: str, arguments: dict[str, Any]
) -> Contender:
    return Contender(name, server, wire.mcp(server.port, revision, tool, arguments, KEY))


def _fastmcp_contenders(server: Server, exchange: Exchange) -> list[Contender]:
    parts = urlsplit(exchange.target)
    operation = _contract()["paths"].get(parts.path, {}).get(exchange.method.lower())
    if operation is None:
        raise BenchError(f"{parts.path} is not a plain path of the contract; choose another --tool")
    arguments = _arguments(exchange)
    return [
        Contender(
            name, server, wire.mcp(server.port, revision, operation["operationId"], arguments)
        )
        for name, revision in (
            (FASTMCP_MODERN, wire.MODERN),
            (FASTMCP_HANDSHAKE, wire.HANDSHAKE),
        )
    ]


def _arguments(exchange: Exchange) -> dict[str, Any]:
    """The query and the body of the upstream request, as arguments of one tool."""
    body = json.loads(exchange.request) if exchange.request else {}
    return dict(parse_qsl(urlsplit(exchange.target).query)) | body


def example_arguments(tool: str) -> dict[str, Any]:
    """The arguments of the first example of `tool`. Raises `BenchError`."""
    paths = json.loads((ROOT / "generated" / "openapi.json").read_text())["paths"]
    item = paths.get(f"/v1/{tool.replace('.', '/')}")
    if item is None:
        raise BenchError(f"there is no tool {tool!r}; `gateway tools list` lists them")
    examples = item["post"]["requestBody"]["content"]["application/json"]["examples"]
    arguments: dict[str, Any] = next(iter(examples.values()))["value"]
    return arguments


def _contract() -> dict[str, Any]:
    text = (ROOT / "schemas" / "upstreams" / UPSTREAM / "openapi.yaml").read_text()
    contract: dict[str, Any] = yaml.safe_load(text)
    return contract


def _headers() -> dict[str, str]:
    """The upstream's own headers with the credentials filled in, as the gateway sends them."""
    values = {f"{{credential.{name}}}": value for name, value in CREDENTIALS.items()}
    values["{now}"] = "2026-01-01T00:00:00Z"
    headers = {}
    for rule in _contract()["x-upstream"]["headers"]:
        text = rule["template"]
        for name, value in values.items():
            text = text.replace(name, value)
        if "{" not in text:
            headers[rule["name"]] = text
    return headers

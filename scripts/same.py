"""Records what two checkouts do, and says where they differ.

Each is asked as its users ask: by its commands, over HTTP and over stdio. Recorded are the output
that is generated from the contracts and from OpenAPI documents; the tools that each agent is shown
in each list mode, by clients of each profile; the answers to right and wrong calls over REST, both
eras of MCP and stdio; the requests that live upstreams get; and what webhooks leave in the
database. The contracts, the fakes of the vendors and the calls are those of this script's own
checkout. Ids, times and ports are replaced.

    python scripts/same.py ../before .
    python scripts/same.py ../before . --only calls --documents ../specs --json
"""

import argparse
import asyncio
import base64
import hashlib
import hmac
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

import httpx
import yaml

from gateway.testing.asgi_server import serving
from tests.fakes.cases import CASES
from tests.fakes.trial import every_fake, live_settings
from tests.fakes.wire import World

ROOT: Final = Path(__file__).resolve().parent.parent

DOCUMENTS: Final = ROOT / "tests" / "assets" / "documents"
Record = dict[str, str]
_KEY: Final = "bootstrap-key-of-a-comparison-0123456789"
_NOBODY: Final = "whsec_" + "A" * 43 + "="
"""A secret that no gateway has."""
_FROZEN: Final = {
    "GATEWAY_MOCK_TIME": "2026-11-20T12:00:00Z",
    "GATEWAY_MOCK_SPEED": "0",
    "GATEWAY_CALL_LIMITS": "false",
    "GATEWAY_BOOTSTRAP_KEY": _KEY,
    "GATEWAY_LOG_LEVEL": "error",
}
_MODES: Final = ("full", "slim", "search")
_CLIENTS: Final = (
    "claude-code",
    "openai",
    "gemini-cli",
    "vscode",
    "cursor",
    "kimi",
    "stranger",
    "source",
)
_ERAS: Final = ("2026-07-28", "2025-11-25")
_READY_SECONDS: Final = 300.0
_VARIABLE: Final = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uuid>"),
    (re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])"), "<hex>"),
    (re.compile(r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?"), "<time>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<address>"),
    (re.compile(r'("(?:duration_ms|query_time_ms|ttlMs)": ?)[\d.]+'), r"\1<number>"),
    (re.compile(r"'(?:seq|position)': \d+"), "<place>"),
    (re.compile(r"'claimed_by': '[^']*'"), "<process>"),
    (re.compile(r"Date: .{29}"), "<date>"),
    (re.compile(r"\b1[789]\d{8,17}(\.\d+)?\b"), "<moment>"),
)


def plain(text: str) -> str:
    """The text without what differs from one run to the next."""
    text = re.sub(r'(?<="raw":")[\w-]+=*', lambda found: decoded(found[0]), text)
    for pattern, sign in _VARIABLE:
        text = pattern.sub(sign, text)
    return text


def decoded(raw: str) -> str:
    """A mail, which Gmail takes as base64."""
    return base64.urlsafe_b64decode(raw + "===").decode("utf-8", "backslashreplace")


class Checkout:
    """A checkout of the gateway, whose code runs in processes of its own."""

    def __init__(self, path: Path, folder: Path, schemas: Path) -> None:
        self.path = path
        self.folder = folder
        """Empty; for projects and data."""
        self.schemas = schemas
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("GATEWAY_")},
            "PYTHONPATH": str(path),
            "GATEWAY_SCHEMAS": str(schemas),
            **_FROZEN,
        }

    def run(self, *words: str, cwd: Path | None = None, own: bool = False) -> str:
        """What a command prints. `own`: in a project of its own, without the contracts."""
        variables = dict(self.environment)
        if own:
            del variables["GATEWAY_SCHEMAS"]
        command = [sys.executable, "-m", "gateway", *words]
        ended = subprocess.run(
            command,
            cwd=cwd or self.folder,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        words_of_it = ended.stdout if ended.returncode == 0 else ended.stdout + ended.stderr
        return f"{ended.returncode}\n{words_of_it}"

    @contextmanager
    def serving(self, data: str, more: Mapping[str, str]) -> Iterator[str]:
        """The URL of a gateway that serves the contracts with its data in the folder `data`."""
        command = [sys.executable, "-m", "gateway", "serve", "--port", "0", "--data", data]
        log = self.folder / f"{data}.log"
        with (
            log.open("ab") as errors,
            subprocess.Popen(
                command,
                cwd=self.folder,
                env={**self.environment, **more},
                stdout=subprocess.PIPE,
                stderr=errors,
            ) as process,
        ):
            try:
                word, _, url = (
                    cast("IO[bytes]", process.stdout).readline().decode().strip().partition(" ")
                )
                if word != "ready":
                    sys.exit(f"error: {self.path} does not serve: {log.read_text()[-2000:]}")
                yield url
            finally:
                process.terminate()
                process.wait(_READY_SECONDS)


def generated(checkout: Checkout, documents: list[Path]) -> Record:
    """Each file that is generated from the contracts, and from an import of each document."""
    project = checkout.folder / "project"
    shutil.copytree(checkout.schemas, project / "schemas")
    found = {"generate": checkout.run("generate", cwd=project, own=True)}
    found |= files(project, "generated")
    for document in documents:
        place = checkout.folder / document.stem
        place.mkdir()
        shutil.copy(document, place)
        said = checkout.run("import", document.name, "--as", "vendor", "--yes", cwd=place, own=True)
        found[f"{document.name} import"] = said + checkout.run("generate", cwd=place, own=True)
        found |= {f"{document.name} {name}": text for name, text in files(place, ".").items()}
    return found


def files(folder: Path, below: str) -> Record:
    """The digest of each file of a project."""
    inside = (path for path in (folder / below).rglob("*") if path.is_file())
    kept = (p for p in inside if not {".gateway-cache", "__pycache__", "data"} & set(p.parts))
    return {
        f"file {path.relative_to(folder)}": hashlib.sha256(path.read_bytes()).hexdigest()
        for path in kept
    }


def message(era: str, client: str, method: str, **params: Any) -> dict[str, Any]:
    """A request of one era, from a client of this name."""
    about = {"name": client, "version": "1"}
    if era == _ERAS[0]:
        prefix = "io.modelcontextprotocol/"
        params["_meta"] = {
            f"{prefix}protocolVersion": era,
            f"{prefix}clientCapabilities": {},
            f"{prefix}clientInfo": about,
        }
    elif method == "initialize":
        params = {"protocolVersion": era, "capabilities": {}, "clientInfo": about}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def post(
    client: httpx.Client, key: str, body: dict[str, Any], era: str, session: str = ""
) -> httpx.Response:
    """Post a message to /mcp."""
    headers = {
        "Authorization": f"Bearer {key}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": era,
    }
    if era == _ERAS[0]:
        headers["Mcp-Method"] = body["method"]
        if "name" in body["params"]:
            headers["Mcp-Name"] = body["params"]["name"]
    if session:
        headers["Mcp-Session-Id"] = session
    return client.post("/mcp", json=body, headers=headers)


def shown(client: httpx.Client, key: str, era: str, name: str) -> str:
    """All pages of `tools/list`, as a client of this name gets them."""
    session = ""
    if era != _ERAS[0]:
        opened = post(client, key, message(era, name, "initialize"), era)
        session = opened.headers.get("mcp-session-id", "")
    texts: list[str] = []
    more: dict[str, str] = {}
    while True:
        answer = post(client, key, message(era, name, "tools/list", **more), era, session)
        texts.append(f"{answer.status_code} {answer.text}")
        found = re.search(r'"nextCursor": ?"([^"]+)"', answer.text)
        if found is None:
            return plain("\n".join(texts))
        more = {"cursor": found[1]}


def lists(checkout: Checkout) -> Record:
    """What each agent is shown in each list mode, by clients of each profile."""
    policies = yaml.safe_load((checkout.schemas / "policies" / "agents.yaml").read_text())
    keys: dict[str, str] = {}
    for agent in policies["agents"]:
        said = checkout.run("keys", "create", agent, "--data", "lists", "--json")
        keys[agent] = json.loads(said.split("\n", 1)[1])["key"]
    found: Record = {}
    for mode in _MODES:
        with (
            checkout.serving("lists", {"GATEWAY_LIST_MODE": mode}) as url,
            httpx.Client(base_url=url, timeout=60) as client,
        ):
            for agent, key in keys.items():
                headers = {"Authorization": f"Bearer {key}"}
                found[f"{mode} {agent} openapi"] = plain(
                    client.get("/openapi.json", headers=headers).text
                )
                for name in _CLIENTS:
                    for era in _ERAS:
                        found[f"{mode} {agent} {name} {era}"] = shown(client, key, era, name)
    return found


def wrong(value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Calls that break a contract, made of one that keeps it."""
    yield {**value, "no_such_argument": 1}
    for name, text in list(value.items())[:1]:
        yield {key: each for key, each in value.items() if key != name}
        yield {**value, name: {"an": "object"} if not isinstance(text, dict) else 7}


def asked(schemas: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Name over MCP, path over REST, and arguments: every example, and mutations of the first."""
    for path in sorted((schemas / "tools").rglob("*.yaml")):
        contract = yaml.safe_load(path.read_text())["post"]
        media = contract["requestBody"]["content"]["application/json"]
        values = [each["value"] for each in media.get("examples", {}).values()] or [{}]
        connector, _, tool = contract["operationId"].partition(".")
        for value in [*values, *wrong(values[0])]:
            yield contract["x-mcp"]["name"], f"/v1/{connector}/{tool}", value


def over_stdio(checkout: Checkout, calls: list[tuple[str, str, dict[str, Any]]]) -> Record:
    """The answers of `gateway mcp`, one after the other."""
    command = [
        sys.executable,
        "-m",
        "gateway",
        "mcp",
        "--agent",
        "administrator",
        "--data",
        "stdio",
    ]
    found: Record = {}
    with (
        (checkout.folder / "stdio.log").open("wb") as errors,
        subprocess.Popen(
            command,
            cwd=checkout.folder,
            env=checkout.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        ) as process,
    ):
        said, told = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        for number, (name, _, value) in enumerate(calls):
            body = message(_ERAS[0], "stranger", "tools/call", name=name, arguments=value)
            said.write(json.dumps(body).encode() + b"\n")
            said.flush()
            found[f"{number} {name} stdio"] = plain(told.readline().decode())
        said.close()
    return found


def calls(checkout: Checkout) -> Record:
    """The answers to right and wrong calls over every transport."""
    every = list(asked(checkout.schemas))
    found = over_stdio(checkout, every)
    with checkout.serving("calls", {}) as url, httpx.Client(base_url=url, timeout=60) as client:
        for number, (name, path, value) in enumerate(every):
            answer = client.post(path, json=value, headers={"Authorization": f"Bearer {_KEY}"})
            found[f"{number} {name} rest"] = plain(said_by(answer))
            for era in _ERAS:
                body = message(era, "stranger", "tools/call", name=name, arguments=value)
                found[f"{number} {name} {era}"] = plain(said_by(post(client, _KEY, body, era)))
    return found


def said_by(answer: httpx.Response) -> str:
    """Status, headers and body."""
    left_out = {"date", "content-length", "x-request-id", "server"}
    lines = [f"{k}: {v}" for k, v in answer.headers.items() if k not in left_out]
    return "\n".join([str(answer.status_code), *lines, answer.text])


class Listener:
    """The fakes of the vendors, with all that they are asked."""

    def __init__(self, world: World) -> None:
        self.heard: list[str] = []
        self._world = world

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        parts: list[bytes] = []

        async def listening() -> Any:
            event = await receive()
            parts.append(event.get("body", b""))
            return event

        await self._world(scope, listening, send)
        if scope["type"] == "http":
            target = scope["raw_path"] + b"?" + scope["query_string"]
            headers = b"\n".join(b": ".join(each) for each in scope["headers"])
            text = b"\n".join([scope["method"].encode(), target, headers, b"".join(parts)])
            self.heard.append(plain(text.decode("utf-8", "backslashreplace")))


async def upstreams(checkout: Checkout) -> Record:
    """The requests of each tool to its live upstream, and what becomes of the replies."""
    fakes = every_fake()
    listener = Listener(World(fakes))
    found: Record = {}
    async with serving(listener) as address:
        with checkout.serving("live", live_settings(address, fakes)) as url:
            async with httpx.AsyncClient(base_url=url, timeout=60) as client:
                for number, case in enumerate(CASES):
                    headers = {"Authorization": f"Bearer {_KEY}"}
                    path = f"/v1/{case.tool.replace('.', '/')}"
                    answer = await client.post(path, json=case.arguments, headers=headers)
                    found[f"{number} {case.tool} answer"] = plain(said_by(answer))
                    found[f"{number} {case.tool} requests"] = "\n\n".join(listener.heard)
                    listener.heard.clear()
    return found


def signed(provider: str, body: bytes, number: int, secret: str) -> dict[str, str]:
    """The headers of a message, as the provider signs it."""
    now = str(int(time.time()))
    if provider == "github":
        mac = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        return {
            "X-Hub-Signature-256": f"sha256={mac}",
            "X-GitHub-Delivery": f"00000000-0000-4000-8000-{number:012}",
        }
    if provider == "standard":
        key = base64.b64decode(secret.removeprefix("whsec_"))
        mac_of_it = hmac.new(key, f"msg-{number}.{now}.".encode() + body, hashlib.sha256).digest()
        text = base64.b64encode(mac_of_it).decode()
        return {
            "webhook-id": f"msg-{number}",
            "webhook-timestamp": now,
            "webhook-signature": f"v1,{text}",
        }
    mac = hmac.new(secret.encode(), f"{now}.".encode() + body, hashlib.sha256).hexdigest()
    return {"X-Avinode-Signature": f"sha256={mac}", "X-Avinode-Timestamp": now}


def messages(schemas: Path) -> Iterator[tuple[str, str, bytes]]:
    """Provider, event and body: each example, twice, with a member less or more, and as no JSON."""
    for path in sorted((schemas / "webhooks").rglob("*.payload.json")):
        example = json.loads(path.read_text())["examples"][0]
        event = path.name.partition(".")[0]
        values = [
            example,
            example,
            dict(list(example.items())[:-1]),
            {**example, "one_more": [1, None]},
        ]
        for value in values:
            yield path.parent.name, event, json.dumps(value).encode()
        yield path.parent.name, event, b"no JSON"


def webhooks(checkout: Checkout) -> Record:
    """The answers to webhooks, and every row and event that they leave."""
    found: Record = {}
    with checkout.serving("hooks", {}) as url, httpx.Client(base_url=url, timeout=60) as client:
        for number, (provider, event, body) in enumerate(messages(checkout.schemas)):
            secret = (
                (checkout.folder / f"hooks/webhook-secrets/{provider}-signed").read_text().strip()
            )
            headers = signed(provider, body, number, secret) | {"X-GitHub-Event": event}
            forged = signed(provider, body, number, _NOBODY) | {"X-GitHub-Event": event}
            for name, each in (("genuine", headers), ("forged", forged)):
                posted = {**each, "Content-Type": "application/json"}
                answer = client.post(f"/webhooks/{provider}", content=body, headers=posted)
                found[f"{number} {provider}.{event} {name}"] = plain(said_by(answer))
        wait_for_work(checkout.folder / "hooks" / "gateway.db")
    return found | rows(checkout.folder / "hooks" / "gateway.db")


def wait_for_work(database: Path) -> None:
    """Until no message is left that will be processed."""
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as opened:
            left = opened.execute(
                "SELECT count(*) FROM jobs WHERE state IN ('pending', 'processing')"
            )
            if not left.fetchone()[0]:
                return
        time.sleep(0.2)
    sys.exit("error: the webhooks are not processed in five minutes")


def rows(database: Path) -> Record:
    """Each table of what webhooks leave, its rows in the order of their text."""
    found: Record = {}
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as opened:
        names = [
            name
            for (name,) in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        for name in names:
            if name in {"webhooks", "events", "jobs"} or name.startswith("entity_"):
                opened.row_factory = sqlite3.Row
                texts = [plain(str(dict(row))) for row in opened.execute(f"SELECT * FROM {name}")]  # noqa: S608 - a table's own name
                found[f"table {name}"] = "\n".join(sorted(texts))
    return found


PARTS: Final[Mapping[str, Callable[[Checkout, list[Path]], Record]]] = {
    "generated": generated,
    "lists": lambda checkout, _: lists(checkout),
    "calls": lambda checkout, _: calls(checkout),
    "upstreams": lambda checkout, _: asyncio.run(upstreams(checkout)),
    "webhooks": lambda checkout, _: webhooks(checkout),
}


def recorded(path: Path, part: str, documents: list[Path], schemas: Path) -> Record:
    """One part of what a checkout does."""
    print(f"{part} of {path}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        return PARTS[part](Checkout(path.resolve(), Path(folder), schemas.resolve()), documents)


def difference(older: str | None, newer: str | None) -> str:
    """The first line that differs, of both."""
    if older is None or newer is None:
        return "only the newer one has it" if older is None else "only the older one has it"
    pairs = zip((older + "\n").split("\n"), (newer + "\n").split("\n"), strict=False)
    for was, is_now in pairs:
        if was != is_now:
            at = next((n for n, (a, b) in enumerate(zip(was, is_now, strict=False)) if a != b), 0)
            start = max(0, at - 60)
            return f"{was[start : at + 120]!r}\n    {is_now[start : at + 120]!r}"
    return "one has more lines"


def options() -> argparse.Namespace:
    """What the command line says."""
    description, _, example = (__doc__ or "").partition("    python")
    parser = argparse.ArgumentParser(
        description=description,
        epilog=f"Examples:\n    python{example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("older", type=Path, help="a checkout")
    parser.add_argument("newer", type=Path, help="another checkout, or the same")
    parser.add_argument("--only", action="append", choices=PARTS, help="only this part")
    parser.add_argument("--documents", type=Path, default=DOCUMENTS, help="a folder")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    return parser.parse_args()


def compared(older: Record, newer: Record) -> dict[str, Any]:
    """How many records there are, and of each that is not the same in both where it differs."""
    names = [*older, *(name for name in newer if name not in older)]
    differs = [name for name in names if older.get(name) != newer.get(name)]
    told = {name: difference(older.get(name), newer.get(name)) for name in differs}
    return {"compared": len(names), "differences": told}


def main() -> int:
    given = options()
    found = sorted(given.documents.rglob("*"))
    documents = [path for path in found if path.suffix in {".json", ".yaml", ".yml"}]
    report: dict[str, Any] = {}
    for part in given.only or PARTS:
        both = (recorded(p, part, documents, ROOT / "schemas") for p in (given.older, given.newer))
        report[part] = compared(*both)
    if given.json:
        print(json.dumps(report, indent=2))
        return 1 if any(each["differences"] for each in report.values()) else 0
    for part, each in report.items():
        print(f"{part:10} {each['compared']:6} compared, {len(each['differences'])} differ")
        for name, text in each["differences"].items():
            print(f"  {name}\n    {text}")
    return 1 if any(each["differences"] for each in report.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

"""A gateway that serves many small documents of a vendor, and the vendor that it calls."""

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
import yaml
from msgspec import Struct

from gateway.authoring.codegen.generate import PackageNames, generate
from gateway.authoring.openapi.folder import IMPORT_FILE, ImportFolder, read_import
from gateway.authoring.openapi.importing import given_document, import_new
from gateway.authoring.openapi.lowering.records import ImportOutcome, OperationSelection
from gateway.authoring.openapi.reading.source import read_source
from gateway.authoring.project.changes import place
from gateway.authoring.project.staging import bare_project
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import RunningGateway, running_gateway
from tests.recording import Answer, Received, Vendor, recording_vendor
from tests.vendors import written

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}
TOKEN = b'{"access_token": "fresh", "token_type": "Bearer", "expires_in": 600}'


class Outcome(Struct, frozen=True):
    """What a call returned, and what the vendor received of it."""

    status: int
    value: Any
    received: list[Received]


class ImportSite(Struct, frozen=True, dict=True):
    """The gateway, the vendor, and what each import has reported, by connector."""

    gateway: RunningGateway
    vendor: Vendor
    imports: Mapping[str, ImportOutcome]
    reply: dict[str, Any]
    """What the vendor answers next: `status`, `type`, and `body` or `body_base64`."""
    client: httpx.Client

    @cached_property
    def document(self) -> dict[str, Any]:
        """The OpenAPI document of the gateway."""
        answer = self.client.get(
            f"{self.gateway.url}/openapi.json", headers=self.gateway.authorization
        )
        found: dict[str, Any] = answer.json()
        return found

    @cached_property
    def listed(self) -> dict[str, Any]:
        """The output schemas that the list of tools has, by name."""
        found: dict[str, Any] = {}
        cursor: dict[str, str] | None = {}
        while cursor is not None:
            page = self.ask("tools/list", cursor)
            found |= {each["name"]: each["outputSchema"] for each in page["tools"]}
            cursor = {"cursor": page["nextCursor"]} if "nextCursor" in page else None
        return found

    def rest(
        self,
        connector: str,
        tool: str,
        arguments: Any,
        reply: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Call `tool` over REST. The vendor answers `reply`."""
        before = self._answering(reply)
        url = f"{self.gateway.url}/v1/{connector}/{tool}"
        answer = self.client.post(
            url, json=arguments, headers={**self.gateway.authorization, **(headers or {})}
        )
        return Outcome(answer.status_code, answer.json(), self.vendor.received[before:])

    def mcp(
        self,
        connector: str,
        tool: str,
        arguments: Any,
        reply: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Outcome:
        """The same over MCP. The status is 200, or that of the problem."""
        before = self._answering(reply)
        params = {"name": f"{connector}_{tool}", "arguments": arguments}
        result = self.ask("tools/call", params, headers)
        problem = result.get("_meta", {}).get("contract-gateway/problem", {})
        value = problem
        if not result.get("isError"):
            data = [{"data": each["data"]} for each in result["content"][1:]]
            value = result["structuredContent"] | (data[0] if data else {})
        return Outcome(problem.get("status", 200), value, self.vendor.received[before:])

    def ask(
        self, method: str, params: Mapping[str, Any], given: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """The result of an MCP request."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        accept = {"accept": "application/json, text/event-stream"}
        revision = {"mcp-protocol-version": "2025-06-18"}
        headers = {**self.gateway.authorization, **accept, **revision, **(given or {})}
        answer = self.client.post(f"{self.gateway.url}/mcp", json=message, headers=headers)
        result: dict[str, Any] = answer.json()["result"]
        return result

    def _answering(self, reply: Mapping[str, Any] | None) -> int:
        self.reply.clear()
        self.reply.update(reply or {})
        return len(self.vendor.received)


def names(folder: Path) -> list[str]:
    """The numbers and names of the cases in `folder`, without reading them."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def cases(folder: Path) -> dict[str, dict[str, Any]]:
    """The cases in `folder` by number and name, such as `05-lists-in-paths`."""
    return {
        path.stem: yaml.safe_load(path.read_text("utf-8")) for path in sorted(folder.glob("*.yaml"))
    }


def connector_of(name: str) -> str:
    return f"c{name[:2]}"


@contextmanager
def import_site(folder: Path, cases: Mapping[str, Mapping[str, Any]]) -> Iterator[ImportSite]:
    """Import the document of each case into one project in `folder`, and serve it."""
    reply: dict[str, Any] = {}

    def answer_to(method: str, path: str) -> Answer:
        if (method, path) == ("POST", "/token"):
            return 200, "application/json", TOKEN
        body = reply.get("body", "{}").encode()
        if "body_base64" in reply:
            body = base64.b64decode(reply["body_base64"])
        media_type, headers = reply.get("type", "application/json"), reply.get("headers", {})
        return reply.get("status", 200), media_type, body, headers

    with recording_vendor(answer_to) as vendor:
        place(folder, bare_project("forty", "1.2.3"))
        environment = {
            "GATEWAY_SCHEMAS": str(folder / "schemas"),
            "GATEWAY_ALLOW_PLAIN_HTTP": "true",
            "GATEWAY_LIST_MODE": "full",
        }
        imports = {}
        for name, case in cases.items():
            connector = connector_of(name)
            imports[connector] = imported(folder, connector, case, vendor.url)
            environment[f"GATEWAY_BACKEND_{connector}".upper()] = "live"
            for setting, value in case.get("settings", {}).items():
                environment[f"GATEWAY_{connector}_{setting}".upper()] = value
        names = PackageNames(package="generated")
        generate(folder / "schemas", folder / "generated", names=names)
        running = running_gateway(folder / "data", environment=environment)
        with running as gateway, httpx.Client(timeout=PATIENCE_SECONDS) as client:
            yield ImportSite(gateway, vendor, imports, reply, client)


def imported(folder: Path, connector: str, case: Mapping[str, Any], url: str) -> ImportOutcome:
    """Import the document of `case` as a user does, and read back what it serves."""
    given = folder / "given" / connector
    root = given / "openapi.json"
    for path, content in {root: completed(case["document"]), **_files(given, case)}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_at(url, json.dumps(content, indent=1)), "utf-8")
    source = _at(url, case.get("source", "openapi.json"))
    document = given_document(read_source(given if "files" in case else root), source)
    target = ImportFolder(schemas=folder / "schemas", connector=connector)
    written(target, import_new(target, document, OperationSelection()))
    if "effects" in case:
        with (target.files / IMPORT_FILE).open("a", encoding="utf-8") as file:
            file.write(yaml.safe_dump({"effects": case["effects"]}))
    return read_import(target)


def _files(given: Path, case: Mapping[str, Any]) -> dict[Path, Any]:
    return {given / path: content for path, content in case.get("files", {}).items()}


def _at(url: str, text: str) -> str:
    return text.replace("VENDOR", url).replace("HOST", url.removeprefix("http://"))


def completed(document: Mapping[str, Any]) -> dict[str, Any]:
    """`document` with what each document needs, and a JSON reply for operations without one."""
    facts = {"info": {"title": "A case", "version": "1"}}
    if "swagger" in document:
        reply: dict[str, Any] = {"description": "ok", "schema": {}}
    else:
        reply = {"description": "ok", "content": {"application/json": {"schema": {}}}}
        facts |= {"openapi": "3.1.0", "servers": [{"url": "VENDOR"}]}
    found = facts | json.loads(json.dumps(document))
    items = [*found["paths"].values(), *found.get("components", {}).get("pathItems", {}).values()]
    for item in items:
        more = item.get("additionalOperations", {})
        for name, operation in [*item.items(), *more.items()]:
            if name in METHODS or name in more:
                operation.setdefault("responses", {"200": reply})
    return found

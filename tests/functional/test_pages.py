"""The pages, followed as their reader does: each block in a shell of its own, in a new project.

A block of the language `sh` is run, and must succeed. One of `shell` is not: it installs something,
or needs another machine. A block with a caption is a file, or part of one, or what is printed.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from tests.eventually import PATIENCE_SECONDS
from tests.functional.pasted import URL, provide_command
from tests.functional.test_import_tutorial import document
from tests.gateway_process import REPOSITORY, clean_environment, ended_gateway, started_gateway

DOCS: Final = REPOSITORY / "docs"
STEP: Final = re.compile(
    r"^```(?:sh\n(?P<shell>.*?)"
    r"|\{code-block\} \w+\n:caption: (?P<file>[^\n,]+)(?:, (?P<place>[^\n]+))?\n(?P<text>.*?))^```",
    re.MULTILINE | re.DOTALL,
)
SERVER: Final = re.compile(r"gateway (?:serve|demo|mock|import .*--serve)\b.*\n?")
PRINTED: Final = "it prints"
READERS: Final = {"start", "call", "author", "operate"}
"""Folders of the documentation; what is in the others is for who has the repository."""
PAGES: Final = sorted(
    page.relative_to(DOCS).as_posix()
    for page in DOCS.rglob("*.md")
    if page.parent.name in READERS and "\n```sh\n" in page.read_text("utf-8")
)

PRINTS: Final = {
    "start/tour.md": (
        *('"icao":"KTEB"', '"pointer":"/query"', '"pointer":"/limit"', "Jane Smith"),
        *('"code":"TOOL_NOT_FOUND"', "gateway.quote.received.v1", '"status":"received"'),
        *("client_data", "sheets.search_client"),
    ),
    "call/rest.md": ("LAMP-1",),
    "call/mcp.md": ("LAMP-1",),
    "call/results.md": (
        *('"sku": "LAMP-1"', '"content_type": "image/png"', '"data": "iVBORw0KGgo'),
        *('"type": "text"', '"type": "image"', '"type": "resource"', '"type": "resource_link"'),
    ),
    "author/webhooks.md": (
        *('"outcome":"stored"', '"outcome":"duplicate"', "gateway.ticket.opened.v1"),
        *('"subject": "The export fails."', "0 errors"),
    ),
    "operate/access.md": ("gw_",),
}
"""What a page promises to show, besides the blocks that are compared as a whole."""


def small_github() -> dict[str, Any]:
    """A document with operations of GitHub's names, in two tags."""
    found = document()
    for path, item in found["paths"].items():
        for operation in (each for each in item.values() if isinstance(each, dict)):
            operation["tags"] = ["issues" if "issues" in path else "pulls"]
    return found


def small_shop() -> dict[str, Any]:
    """A document with a webhook."""
    body = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}
    sent = {"required": True, "content": {"application/json": {"schema": body}}}
    received = {"requestBody": sent, "responses": {"200": {"description": "Received."}}}
    listed = {"operationId": "list_orders", "responses": {"200": {"description": "All."}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": "https://shop.example"}],
        "paths": {"/orders": {"get": listed}},
        "webhooks": {"order_paid": {"post": received}},
    }


class Reader:
    """Who follows one page, with a project and the variables of a shell."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.printed: list[str] = []
        self._stack = stack
        self._urls: dict[str, str] = {}
        own = dict.fromkeys(("GATEWAY_SCHEMAS", "GATEWAY_BOOTSTRAP_KEY", "GATEWAY_MOCK_TIME"), "")
        self._environment = clean_environment(own | {"COLUMNS": "100"})
        programs = f"{folder / '.venv' / 'bin'}{os.pathsep}{Path(sys.executable).parent}"
        self._environment["PATH"] = f"{programs}{os.pathsep}{os.environ['PATH']}"

    def run(self, block: str) -> None:
        """Run the commands, or start the one that serves until the page ends."""
        if SERVER.fullmatch(block):
            self._serve(shlex.split(block)[1:])
            return
        for printed, real in self._urls.items():
            block = block.replace(printed, real)
        variables = self.folder.with_suffix(".variables")
        done = subprocess.run(
            ["sh", "-e", "-c", f"{block}\nenv -0 > '{variables}'"],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
        self.printed.append(done.stdout)
        pairs = variables.read_text("utf-8").split("\0")
        self._environment = dict(each.split("=", 1) for each in pairs if each)

    def _serve(self, command: list[str]) -> None:
        port = command[command.index("--port") + 1] if "--port" in command else "8700"
        extra = {name: text for name, text in self._environment.items() if "GATEWAY" in name}
        absent = dict.fromkeys(
            ("GATEWAY_SCHEMAS", "GATEWAY_BOOTSTRAP_KEY", "GATEWAY_MOCK_TIME"), ""
        )
        serving = started_gateway(self.folder, *command, "--port", "0", environment=absent | extra)
        url = self._stack.enter_context(serving).ready_url()
        self._urls[URL.replace("8700", port)] = url
        if port == "8700":
            self._environment["GATEWAY_PORT"] = url.rpartition(":")[2]

    def write(self, name: str, place: str, text: str) -> None:
        """Write a file as its caption says: whole, or a part of it."""
        for printed, real in self._urls.items():
            text = text.replace(printed, real)
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.read_text("utf-8") if place else ""
        after = ""
        if place.startswith("from "):
            before, found, _ = before.partition(text[: text.index("\n") + 1])
            assert found, f"{name} has no line {text[: text.index(chr(10))]!r}"
        elif place.startswith("in place of "):
            pattern = rf"(?m)^.*{re.escape(place.removeprefix('in place of '))}.*\n"
            before, after = re.split(pattern, before, maxsplit=1)
        file.write_text(before + text + after, "utf-8")


@pytest.fixture
def reader(new_initial: Callable[[Path], Path], tmp_path: Path) -> Iterator[Reader]:
    folder = new_initial(tmp_path / "project")
    provide_command(folder)
    with ExitStack() as stack:
        yield Reader(folder, stack)


def follow(reader: Reader, page: str) -> None:
    for name, made in (("github.json", small_github), ("shop.json", small_shop)):
        (reader.folder / name).write_text(json.dumps(made()), "utf-8")
    for step in STEP.finditer((DOCS / page).read_text("utf-8")):
        if step["shell"] is not None:
            reader.run(step["shell"])
        elif step["file"] == PRINTED:
            words = step["text"].split()
            assert reader.printed[-1].split()[-len(words) :] == words
        else:
            reader.write(step["file"], step["place"] or "", step["text"])


def slip_is_found(reader: Reader) -> None:
    """The tutorial has its reader misspell a member and promises file, line, pointer and fix."""
    tool = reader.folder / "schemas/tools/tides/get_tides.yaml"
    text = tool.read_text("utf-8")
    assert '"@/metres"' in text
    tool.write_text(text.replace('"@/metres"', '"@/meters"'), "utf-8")
    own = {"GATEWAY_SCHEMAS": ""}
    code, out, _ = ended_gateway(reader.folder, "lint", "--errors-only", environment=own)
    assert code == 1
    line = text[: text.index('"@/metres"')].count("\n") + 1
    assert f"schemas/tools/tides/get_tides.yaml:{line}: error binding/" in out
    assert "/post/x-binding/response/200/tides/item" in out


@pytest.mark.parametrize("page", PAGES)
def test_a_page_can_be_followed(reader: Reader, page: str) -> None:
    follow(reader, page)
    printed = "".join(reader.printed)
    assert [text for text in PRINTS.get(page, ()) if text not in printed] == []
    if page == "start/tool.md":
        slip_is_found(reader)


def test_pages_of_all_readers_are_followed() -> None:
    assert {page.partition("/")[0] for page in PAGES} == READERS

"""Lists of many tools: their texts are kept within a bound, and other requests go on meanwhile."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gateway.authoring.codegen.imported import record_text
from gateway.catalogue import Entry, ToolListing
from gateway.catalogue.imported import FOLDER, open_imported
from gateway.contract.operation import Tool
from gateway.publication.view import ToolView
from gateway.transports.mcp.descriptions import ToolTexts
from gateway.transports.mcp.protocol import revision_of
from tests.shelter import OPERATIONS, connector

REVISION = revision_of("2025-11-25")


class Counted:
    """A stored listing that counts how often it is decoded."""

    def __init__(self, stored: Any) -> None:
        self._stored = stored
        self.longest_text = stored.longest_text
        self.reads = 0
        self.threads: set[str] = set()

    def read(self) -> ToolListing:
        self.reads += 1
        self.threads.add(threading.current_thread().name)
        return self._stored.read()


@pytest.fixture
def entries(tmp_path: Path) -> list[Entry]:
    file = tmp_path / FOLDER / "shelter.json"
    file.parent.mkdir()
    file.write_text(record_text(connector(*OPERATIONS)))
    (found,) = open_imported(tmp_path)
    return [msgspec.structs.replace(each, listed=Counted(each.listed)) for each in found.entries]


class OwnNames:
    """Every tool has its own name."""

    def name(self, tool: Tool, connector: str | None, profile: str) -> str:
        assert (connector, profile) == (None, "default")
        return tool.name


def texts_of(kept: ToolTexts, entries: list[Entry]) -> list[bytes]:
    return [kept.text(each, ToolView(), REVISION, None) for each in entries]


def reads(entries: list[Entry]) -> int:
    return sum(each.listed.reads for each in entries)


@pytest.mark.parametrize("plain", [0, 1000, 10**9])
def test_each_tool_is_decoded_once_however_its_text_is_kept(entries, plain):
    kept = ToolTexts(OwnNames(), plain_bytes=plain)
    first = texts_of(kept, entries)
    assert [json.loads(each)["name"] for each in first] == [each.tool.name for each in entries]
    assert texts_of(kept, entries) == first
    assert reads(entries) == len(entries)


def test_revisions_whose_tools_have_the_same_members_share_the_texts(entries):
    kept = ToolTexts(OwnNames())
    first = texts_of(kept, entries)
    for version, reads_more in (("2026-07-28", 0), ("2025-06-18", 0), ("2025-03-26", len(entries))):
        before, revision = reads(entries), revision_of(version)
        texts = [kept.text(each, ToolView(), revision, None) for each in entries]
        assert (texts == first) is (reads_more == 0)
        assert reads(entries) - before == reads_more


def test_no_more_is_kept_than_the_bound(entries):
    kept = ToolTexts(OwnNames(), max_bytes=100, plain_bytes=0)
    assert texts_of(kept, entries) == texts_of(ToolTexts(OwnNames()), entries)
    before = reads(entries)
    texts_of(kept, entries)
    assert reads(entries) > before


async def test_a_list_is_made_in_one_other_thread_and_once(entries):
    """So others go on meanwhile, also while one schema takes long."""
    kept = ToolTexts(OwnNames())
    threads: set[str] = set()

    for each in entries:
        each.listed.threads = threads
    lists = [kept.of(entries, ToolView(), REVISION, None) for _ in range(3)]
    first, *others = await asyncio.gather(*lists)
    assert others == [first, first]
    assert reads(entries) == len(entries)
    (thread,) = threads
    assert thread != threading.current_thread().name
    assert await kept.of(entries, ToolView(), REVISION, None) == first


async def test_a_client_that_leaves_does_not_stop_the_list_of_another(entries):
    kept = ToolTexts(OwnNames())
    leaving = asyncio.create_task(kept.of(entries, ToolView(), REVISION, None))
    await asyncio.sleep(0)
    leaving.cancel()
    found = await kept.of(entries, ToolView(), REVISION, None)
    assert found == texts_of(ToolTexts(OwnNames()), entries)

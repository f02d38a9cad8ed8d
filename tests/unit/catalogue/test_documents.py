"""The published documents of single tools: each is made once, and few are kept."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import msgspec
import pytest

from gateway.catalogue.index import KEPT, ToolContracts, open_pages
from gateway.errors import UnknownOperation


class Document:
    """A published document that says how often, and by how many at once, it was read."""

    def __init__(self, paths: int) -> None:
        self._text = msgspec.json.encode({"paths": {f"/{each}": {} for each in range(paths)}})
        self._reading = Lock()
        self.reads = 0

    def read(self) -> bytes:
        assert self._reading.acquire(blocking=False), "two are read at once"
        try:
            self.reads += 1
            return self._text
        finally:
            self._reading.release()


def test_a_contract_is_made_once_by_one_at_a_time() -> None:
    document = Document(2)
    contracts = ToolContracts(document.read)
    assert contracts.kept("/0") is None

    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(contracts.of, ["/0", "/1"] * 20))

    assert found == {b'{"paths":{"/0":{}}}', b'{"paths":{"/1":{}}}'}
    assert document.reads == 2
    assert contracts.kept("/0") == b'{"paths":{"/0":{}}}'


def test_the_one_that_was_made_longest_ago_is_made_again() -> None:
    document = Document(KEPT + 1)
    contracts = ToolContracts(document.read)
    for each in range(KEPT + 1):
        contracts.of(f"/{each}")
    assert document.reads == KEPT + 1

    contracts.of("/1")
    assert document.reads == KEPT + 1
    contracts.of("/0")
    assert document.reads == KEPT + 2


def test_pages_are_found_by_id(tmp_path: Path) -> None:
    (tmp_path / "pages.json").write_bytes(msgspec.json.encode({"a.b": "# B\n", "a.c": "# C"}))
    pages = open_pages(tmp_path)
    assert (pages.ids, pages.page("a.b"), pages.page("a.c")) == ({"a.b", "a.c"}, "# B\n", "# C")
    with pytest.raises(UnknownOperation):
        pages.page("a.d")

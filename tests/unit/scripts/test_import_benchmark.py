"""Each document of a folder becomes one row of the import benchmark, whatever is in it."""

import gzip
import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCH = Path(__file__).parents[3] / "scripts" / "bench"
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1"},
    "servers": [{"url": "https://shop.example"}],
    "paths": {
        "/orders/{id}": {
            "get": {
                "operationId": "show order",
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
                ],
                "responses": {"200": {"description": "The order."}},
            },
            "delete": {"operationId": "broken", "parameters": [{"$ref": "#/missing"}]},
        }
    },
}


@pytest.fixture
def bench(monkeypatch) -> ModuleType:
    """The script as a module."""
    known = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCH))
    module = importlib.import_module("import")
    for name in set(sys.modules) - known:
        monkeypatch.delitem(sys.modules, name)
    return module


def rows(bench: ModuleType, folder: Path, draws: int = 0, seconds: float = 60.0) -> dict[str, Any]:
    limits = bench.Limits(seconds=seconds, memory_mb=4096)
    wanted = bench.Wanted(draws=draws, has_profiles=bool(draws))
    found = bench.measured(bench.documents_of(folder), limits, wanted, None)
    return {each.document: each for each in found}


def test_documents_are_imported_or_refused_each_in_its_row(bench, tmp_path) -> None:
    text = json.dumps(DOCUMENT).encode()
    (tmp_path / "shop.json.gz").write_bytes(gzip.compress(text))
    (tmp_path / "broken.json").write_bytes(text[:-9])
    (tmp_path / "broken.yaml.gz").write_bytes(gzip.compress(text)[:-9])
    (tmp_path / "empty.json").write_text(json.dumps({**DOCUMENT, "paths": {}}), "utf-8")
    (tmp_path / "notes.txt").write_text("not a document", "utf-8")

    found = rows(bench, tmp_path, draws=5)

    assert {name: each.outcome for name, each in found.items()} == {
        "broken.json": "refused",
        "broken.yaml.gz": "refused",
        "empty.json": "refused",
        "shop.json.gz": "imported",
    }
    shop = found["shop.json.gz"]
    assert (shop.operations, shop.served, sum(shop.refused.values())) == (2, 1, 1)
    assert (shop.exact, shop.ambiguous, shop.is_repeatable) == (1, 0, True)
    assert shop.peak_mb > 0
    assert shop.profiles.unchanged["gemini"] > 0
    assert set(shop.profiles.shown.values()) == {0}
    assert shop.profiles.proofs.keys() == {"proven"}
    assert found["broken.json"].refused == {"document/malformed": 1}
    assert "has no operations" in found["empty.json"].message


def test_an_import_that_does_not_end_is_a_row_that_fails(bench, tmp_path) -> None:
    (tmp_path / "shop.json").write_text(json.dumps(DOCUMENT), "utf-8")
    (row,) = rows(bench, tmp_path, seconds=0.01).values()
    assert row.outcome == "late"
    assert row.is_failed


def test_a_crash_is_a_row_that_fails(bench) -> None:
    crash = bench.Finished(
        status=1,
        is_late=False,
        seconds=1.0,
        peak_mb=1.0,
        output=b"",
        errors="Traceback (most recent call last):\n  …\nKeyError: 'x'\n",
    )
    row = bench._reported("a.json", crash)
    assert (row.outcome, row.message) == ("failed", "exit 1: KeyError: 'x'")
    assert row.is_failed


def test_a_second_import_that_differs_fails(bench, tmp_path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "import.yaml").write_text(name, "utf-8")
    assert bench._digests(tmp_path / "one") != bench._digests(tmp_path / "other")
    assert bench.Row(document="a", outcome="imported", is_repeatable=False).is_failed


def test_a_folder_without_documents_is_reported(bench, tmp_path) -> None:
    with pytest.raises(bench.BenchError, match="has no documents"):
        bench.documents_of(tmp_path)


def test_the_report_has_totals_and_reasons(bench) -> None:
    imported = bench.Row(
        document="a", outcome="imported", operations=4, served=3, refused={"x/y": 1}, exact=2
    )
    text = bench.text_of({}, [imported, bench.Row(document="b", outcome="late")])
    assert "documents: 2 (1 imported, 0 refused, 0 failed, 1 late)" in text
    assert "operations: 4, served: 3 (75.00 %)" in text
    assert "exact: 2 of 3 (66.67 %)" in text
    assert "\na\n  1 x/y" in text

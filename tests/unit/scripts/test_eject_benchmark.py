"""Each document becomes one row of the benchmark of `gateway eject`, with the reasons counted."""

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCH = Path(__file__).parents[3] / "scripts" / "bench"
THING = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}


def operation(schema: Any, **members: Any) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}}
    return {"responses": {"200": {"description": "It", "content": content}}, **members}


DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1"},
    "servers": [{"url": "https://shop.example"}],
    "paths": {
        "/fine": {"get": {"operationId": "fine", **operation(THING)}},
        "/elsewhere": {
            "get": {
                "operationId": "elsewhere",
                **operation(THING, servers=[{"url": "https://other.example"}]),
            }
        },
        "/never": {
            "get": {
                "operationId": "never",
                **operation(
                    THING,
                    parameters=[
                        {
                            "name": "p",
                            "in": "query",
                            "required": True,
                            "schema": {"type": "string", "minLength": 2, "maxLength": 1},
                        }
                    ],
                ),
            }
        },
        "/odd": {
            "get": {
                "operationId": "odd",
                **operation(
                    THING,
                    parameters=[
                        {"name": "p", "in": "query", "schema": {"type": "string", "pattern": "\\s"}}
                    ],
                ),
            }
        },
    },
}


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module."""
    known = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCH))
    module = importlib.import_module("eject")
    for name in set(sys.modules) - known:
        monkeypatch.delitem(sys.modules, name)
    return module


def test_operations_are_counted_by_their_form_and_what_refuses_them(
    bench: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "shop.json").write_text(json.dumps(DOCUMENT), "utf-8")
    (tmp_path / "broken.json").write_text("{", "utf-8")
    limits = bench.Limits(seconds=60.0, memory_mb=4096)
    broken, shop = bench.measured(bench.documents_of(tmp_path), limits, is_generated=False)
    assert (broken.served, broken.message) == (0, "")
    assert "JSON" in broken.refusal
    assert (shop.served, shop.ejected, shop.mapped) == (4, 3, 1)
    assert shop.unmapped == {"schema": 1, "server": 1}
    assert shop.refused == {"eject/example": 1}
    text = bench.text_of({"command": "it"}, [broken, shop])
    assert "operations: 4, ejected: 3 (75.00 %)" in text
    assert "with a field map: 1 (25.00 %)" in text
    assert "it has a server of its own" in text

"""The benchmark of many tools imports each document until there are enough tools."""

import importlib
import json
import sys
from argparse import Namespace
from pathlib import Path
from types import ModuleType

import pytest

from gateway.openapi.folder.reading import is_connector

BENCH = Path(__file__).parents[3] / "scripts" / "bench"
PROJECT = """{{"openapi": "3.1.0", "info": {{"title": "Shop", "version": "1"}}, "paths": {{{}}}}}"""
OPERATION = '{"get": {"responses": {"204": {"description": "Done."}}}}'


@pytest.fixture
def bench(monkeypatch) -> ModuleType:
    """The script as a module."""
    known = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCH))
    module = importlib.import_module("scale")
    for name in set(sys.modules) - known:
        monkeypatch.delitem(sys.modules, name)
    return module


def test_documents_are_imported_and_copied_and_refused_ones_left_out(bench, tmp_path, capsys):
    given, project = tmp_path / "given", tmp_path / "project"
    (project / "schemas" / "upstreams").mkdir(parents=True)
    given.mkdir()
    paths = ", ".join(f'"/{name}": {OPERATION}' for name in "abc")
    (given / "shop.json").write_text(PROJECT.format(paths))
    (given / "broken.json").write_text("{")
    connectors, tools = bench._import(Namespace(folder=given, tools=7), project)
    assert (connectors, tools) == (3, 9)
    found = sorted(each.name for each in (project / "schemas" / "upstreams").iterdir())
    assert found == ["shop", "shop_2", "shop_3"]
    assert json.loads((project / "schemas/upstreams/shop_3/shop.json").read_text())["paths"]
    assert "left out: broken.json" in capsys.readouterr().err


def test_every_document_gets_a_name_of_its_own_that_connectors_can_have(bench):
    taken: dict[str, int] = {}
    for file in ("2-pets.json", "2-pets.yaml", "A very long name of a document.json", "é.json"):
        taken[bench._name(Path(file), taken)] = 1
    assert len(taken) == 4
    assert all(is_connector(f"{name}_12") for name in taken)

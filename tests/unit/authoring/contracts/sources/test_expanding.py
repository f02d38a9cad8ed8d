"""Schemas that contain themselves become definitions; those that lead nowhere are refused."""

import json
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.contracts.sources.expanding import MAX_DEFINITIONS, dereference
from gateway.authoring.contracts.sources.refs import closure
from gateway.authoring.contracts.sources.tree import SourceTree, read_tree
from gateway.contract.values.schema import Validator

A = PurePosixPath("common/a.json")
TEXT = {"type": "string", "maxLength": 5}


def tree_of(folder: Path, **files: Any) -> SourceTree:
    (folder / "common").mkdir()
    for name, schema in files.items():
        (folder / "common" / f"{name}.json").write_text(json.dumps(schema))
    return read_tree(folder)


def test_a_schema_that_contains_itself_has_a_definition(tmp_path: Path) -> None:
    node = {"properties": {"text": {"$ref": "#/$defs/Text"}, "next": {"$ref": "#/$defs/Node"}}}
    schema = {"$defs": {"Node": node, "Text": TEXT}, "$ref": "#/$defs/Node", "title": "List"}
    tree = tree_of(tmp_path, a=schema)
    inner = {"properties": {"text": TEXT, "next": {"$ref": "#/$defs/a.Node"}}}
    assert dereference(tree, A) == {**inner, "title": "List", "$defs": {"a.Node": inner}}


def test_the_whole_file_and_other_files_may_be_inside(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        a={"type": "object", "properties": {"b": {"$ref": "b.json", "title": "mine"}}},
        b={"type": "array", "items": {"$ref": "a.json#"}},
    )
    found = dereference(tree, A)
    assert found["properties"] == {"b": {"$ref": "#/$defs/b", "title": "mine"}}
    assert found["$defs"] == {
        "a": {"type": "object", "properties": found["properties"]},
        "b": {"type": "array", "items": {"$ref": "#/$defs/a"}},
    }
    assert Validator(found).admits({"b": [{"b": [{}]}]})
    assert Validator(found).violations({"b": [{"b": [{"b": 7}]}]})
    assert {str(path) for path in closure(tree, A)} == {"common/a.json", "common/b.json"}


def test_each_schema_of_an_operation_has_its_own_definitions(tmp_path: Path) -> None:
    (tmp_path / "upstreams" / "x").mkdir(parents=True)
    node = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}}}
    media = {"application/json": {"schema": {"$ref": "#/components/schemas/Node"}}}
    operation = {
        "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}],
        "requestBody": {"content": media},
        "responses": {"200": {"description": "x", "content": media}},
    }
    document = {"paths": {"/x": {"post": operation}}, "components": {"schemas": {"Node": node}}}
    (tmp_path / "upstreams" / "x" / "openapi.yaml").write_text(json.dumps(document))
    path = PurePosixPath("upstreams/x/openapi.yaml")
    found = dereference(read_tree(tmp_path), path, "/paths/~1x/post")
    inner = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/upstreams.x.openapi.Node"}},
    }
    whole = {**inner, "$defs": {"upstreams.x.openapi.Node": inner}}
    for message in (found["requestBody"], found["responses"]["200"]):
        assert message["content"]["application/json"]["schema"] == whole
    assert found["parameters"] == operation["parameters"]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}, "$ref": "#/$defs/A"},
        {"properties": {"x": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"allOf": [{"$ref": "#"}]}}}
        | {"anyOf": [{"$ref": "#/$defs/A"}]},
        {"items": {"$ref": "b.json"}},
        {"oneOf": [{"not": {"$ref": "#"}}, {"type": "null"}]},
        {"dependentSchemas": {"x": {"$ref": "#"}}},
        {"if": {"$ref": "#"}, "then": False},
    ],
    ids=["itself", "each other", "allOf", "another file", "not", "dependentSchemas", "if"],
)
def test_what_a_validator_would_never_finish_is_refused(tmp_path: Path, schema: Any) -> None:
    tree = tree_of(tmp_path, a=schema, b={"anyOf": [{"$ref": "b.json"}, {"$ref": "a.json"}]})
    with pytest.raises(ContractRefused) as refused:
        dereference(tree, A)
    (finding,) = refused.value.findings
    assert (finding.rule, finding.path) in {
        ("ref/recursive", "common/a.json"),
        ("ref/recursive", "common/b.json"),
    }


def test_references_that_multiply_stay_as_many_as_they_are(tmp_path: Path) -> None:
    """Written out, these would be 2 to the 60th objects."""
    levels = {
        f"L{n}": {"properties": {each: {"$ref": f"#/$defs/L{n + 1}"} for each in "xy"}}
        for n in range(60)
    }
    schema = {"$ref": "#/$defs/L0", "$defs": {**levels, "L60": {"items": {"$ref": "#/$defs/L0"}}}}
    found = dereference(tree_of(tmp_path, a=schema), A)
    assert len(found["$defs"]) == 61
    assert len(json.dumps(found)) < 20_000


def test_too_many_definitions_are_refused(tmp_path: Path) -> None:
    nodes = {
        f"N{n}": {"items": {"$ref": f"#/$defs/N{(n + 1) % (MAX_DEFINITIONS + 1)}"}}
        for n in range(MAX_DEFINITIONS + 1)
    }
    tree = tree_of(tmp_path, a={"$defs": nodes, "$ref": "#/$defs/N0"})
    with pytest.raises(ContractRefused, match="schema/too-large"):
        dereference(tree, A)


def test_two_definitions_of_one_published_name_are_refused(tmp_path: Path) -> None:
    schema = {
        "$defs": {"X": {"items": {"$ref": "#/properties/X"}}},
        "properties": {"X": {"items": {"$ref": "#/$defs/X"}}, "y": {"$ref": "#/$defs/X"}},
    }
    with pytest.raises(ContractRefused, match="ref/same-name"):
        dereference(tree_of(tmp_path, a=schema), A)

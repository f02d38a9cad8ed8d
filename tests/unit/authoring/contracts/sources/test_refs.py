"""References between contract files: resolved, inlined, traced back, or become definitions."""

import json
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from gateway.authoring.contracts.expanding import MAX_DEFINITIONS, MAX_DEPTH, MAX_NODES, dereference
from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.contracts.refs import RefTarget, closure, origin, resolve
from gateway.authoring.contracts.tree import SourceTree, read_tree
from gateway.contract.schemas.keywords import references
from gateway.contract.values.schema import Validator

FIND = PurePosixPath("tools/books/find_books.output.json")
TOOL = PurePosixPath("tools/books/find_books.yaml")


def tree_of(folder: Path, **files: Any) -> SourceTree:
    for name, value in files.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    return read_tree(folder)


def test_references_are_inlined_to_the_last(schemas: Path) -> None:
    schema = dereference(read_tree(schemas), FIND)
    book = schema["properties"]["books"]["items"]
    assert book["properties"]["isbn"]["pattern"] == "^97[89][0-9]{10}$"
    assert not list(references(schema))
    assert "$schema" not in schema


def test_words_beside_a_reference_win_over_those_of_its_target(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        a={"properties": {"x": {"description": "mine", "$ref": "b.json#/$defs/X"}}},
        b={"$defs": {"X": {"title": "X", "description": "theirs", "type": "string"}}},
    )
    assert dereference(tree, PurePosixPath("a.json")) == {
        "properties": {"x": {"title": "X", "description": "mine", "type": "string"}}
    }


def test_a_reference_that_is_kept_gets_the_text_it_was_given(tmp_path: Path) -> None:
    """Around it, the rules stay: words beside it win. What it contains does not matter."""
    tree = tree_of(
        tmp_path,
        a={"properties": {"x": {"$ref": "b.json", "title": "mine"}, "y": {"$ref": "c.json"}}},
        b={"items": {"$ref": "b.json"}},
        c={"type": "string"},
    )
    path = PurePosixPath("a.json")

    def keep(target: RefTarget) -> str | None:
        return "#/kept" if target.document.path.stem == "b" else None

    assert dereference(tree, path, keep=keep) == {
        "properties": {"x": {"$ref": "#/kept", "title": "mine"}, "y": {"type": "string"}}
    }
    assert dereference(tree, path)["$defs"].keys() == {"b"}


def test_a_property_that_is_called_ref_and_data_that_looks_like_one_are_left_alone(
    tmp_path: Path,
) -> None:
    schema = {
        "properties": {"$ref": {"type": "string"}, "default": {"type": "string"}},
        "default": {"$ref": "http://127.0.0.1:9/"},
        "enum": [{"$ref": "nowhere.json"}],
    }
    tree = tree_of(tmp_path, a=schema)
    assert dereference(tree, PurePosixPath("a.json")) == schema
    assert not tree.references(PurePosixPath("a.json"))


def test_pointers_in_references_are_unescaped(tmp_path: Path) -> None:
    """RFC 6901 §3 and §6: `~1`, `~0` and percent-encoding in a URI fragment."""
    names = {"a/b": {"type": "string"}, "c~d": {"type": "integer"}, "e f": {"type": "null"}}
    uses = ["#/$defs/a~1b", "#/$defs/c~0d", "#/$defs/e%20f"]
    schema = {"$defs": names, "anyOf": [{"$ref": use} for use in uses]}
    tree = tree_of(tmp_path, a=schema)
    assert dereference(tree, PurePosixPath("a.json"))["anyOf"] == list(names.values())


def test_a_part_of_a_file_can_be_dereferenced_alone(schemas: Path) -> None:
    pointer = "/post/responses/200/content/application~1json/schema"
    tree = read_tree(schemas)
    assert dereference(tree, TOOL, pointer) == dereference(tree, FIND)


@pytest.mark.parametrize(
    ("ref", "rule"),
    [
        ("https://example.com/a.json", "ref/remote"),
        ("FILE:///etc/hostname", "ref/remote"),
        ("urn:isbn:9780142437247", "ref/remote"),
        ("//example.com/a.json", "ref/remote"),
        ("/etc/hostname", "ref/absolute"),
        ("~/a.json", "ref/absolute"),
        ("../../../etc/hostname", "ref/escapes"),
        ("../..", "ref/escapes"),
        ("..%2f..%2fetc", "ref/malformed"),
        ("a\\b.json", "ref/malformed"),
        ("a.json?x=1", "ref/malformed"),
        ("#Isbn", "ref/malformed"),
        ("missing.json", "ref/dangling"),
        ("../common/library.json#/$defs/Nobody", "ref/dangling"),
        ("../common/library.json#/$defs/Isbn/pattern/0", "ref/dangling"),
        (7, "ref/malformed"),
        (None, "ref/malformed"),
    ],
)
def test_a_reference_that_cannot_be_used_is_refused_by_its_rule(
    schemas: Path, ref: Any, rule: str
) -> None:
    tree = read_tree(schemas)
    with pytest.raises(ContractRefused) as refused:
        resolve(tree, PurePosixPath("policies/agents.yaml"), ref, "/agents/reader")
    (finding,) = refused.value.findings
    assert (finding.rule, finding.pointer, finding.line) == (rule, "/agents/reader", 6)
    assert str(finding) in str(refused.value)


def test_a_list_index_in_a_pointer_is_followed(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path, a={"allOf": [{"$ref": "#/prefixItems/1"}], "prefixItems": [1, {"x": 2}]}
    )
    assert resolve(tree, PurePosixPath("a.json"), "#/prefixItems/1").value == {"x": 2}
    with pytest.raises(ContractRefused):
        resolve(tree, PurePosixPath("a.json"), "#/prefixItems/2")


def test_the_same_definition_may_be_used_many_times(tmp_path: Path) -> None:
    uses = {f"p{number}": {"$ref": "#/$defs/X"} for number in range(100)}
    tree = tree_of(tmp_path, a={"$defs": {"X": {"type": "string"}}, "properties": uses})
    expanded = dereference(tree, PurePosixPath("a.json"))
    assert set(map(str, expanded["properties"].values())) == {"{'type': 'string'}"}


def test_references_that_multiply_are_stopped(tmp_path: Path) -> None:
    """2 to the 40th objects from forty lines of text."""
    levels = {
        f"L{level}": {"anyOf": [{"$ref": f"#/$defs/L{level + 1}"}] * 2} for level in range(20)
    }
    schema = {"$defs": {**levels, "L20": {}}, "$ref": "#/$defs/L0"}
    with pytest.raises(ContractRefused) as refused:
        dereference(tree_of(tmp_path, a=schema), PurePosixPath("a.json"))
    assert refused.value.findings[0].rule == "schema/too-large"
    assert str(MAX_NODES) in refused.value.findings[0].message


def test_depth_is_counted_across_files(tmp_path: Path) -> None:
    """Each file is shallow, and together they are too deep."""

    def nested(levels: int, inside: Any) -> Any:
        return nested(levels - 1, {"items": inside}) if levels else inside

    half = MAX_DEPTH // 2
    fits = tree_of(tmp_path, a=nested(half, {"$ref": "b.json"}), b=nested(half - 2, {}))
    assert dereference(fits, PurePosixPath("a.json"))
    too_deep = tree_of(tmp_path, a=nested(half, {"$ref": "b.json"}), b=nested(half, {}))
    with pytest.raises(ContractRefused) as refused:
        dereference(too_deep, PurePosixPath("a.json"))
    assert refused.value.findings[0].rule == "schema/too-deep"
    assert refused.value.findings[0].path == "b.json"


def test_the_closure_is_every_file_at_any_distance(schemas: Path) -> None:
    assert closure(read_tree(schemas), TOOL) == (
        PurePosixPath("common/library.json"),
        PurePosixPath("common/problem.json"),
        PurePosixPath("tools/books/find_books.input.json"),
        PurePosixPath("tools/books/find_books.output.json"),
        PurePosixPath("tools/books/find_books.yaml"),
    )


def test_a_closure_may_go_in_circles(tmp_path: Path) -> None:
    """Files that use each other's definitions are no recursion."""
    tree = tree_of(
        tmp_path,
        a={"$defs": {"A": {}}, "items": {"$ref": "b.json#/$defs/B"}},
        b={"$defs": {"B": {}}, "items": {"$ref": "a.json#/$defs/A"}},
    )
    assert closure(tree, PurePosixPath("a.json")) == (
        PurePosixPath("a.json"),
        PurePosixPath("b.json"),
    )


def test_a_part_of_the_inlined_schema_is_traced_to_where_it_is_written(schemas: Path) -> None:
    tree = read_tree(schemas)
    document = tree.documents[FIND]
    place = origin(tree, document, "", "/properties/books/items/properties/isbn/pattern")
    assert (str(place.document.path), place.pointer) == (
        "common/library.json",
        "/$defs/Isbn/pattern",
    )
    assert place.value == "^97[89][0-9]{10}$"


A = PurePosixPath("common/a.json")
TEXT = {"type": "string", "maxLength": 5}


def tree_holding(folder: Path, **files: Any) -> SourceTree:
    (folder / "common").mkdir()
    for name, schema in files.items():
        (folder / "common" / f"{name}.json").write_text(json.dumps(schema))
    return read_tree(folder)


def test_a_schema_that_contains_itself_has_a_definition(tmp_path: Path) -> None:
    node = {"properties": {"text": {"$ref": "#/$defs/Text"}, "next": {"$ref": "#/$defs/Node"}}}
    schema = {"$defs": {"Node": node, "Text": TEXT}, "$ref": "#/$defs/Node", "title": "List"}
    tree = tree_holding(tmp_path, a=schema)
    inner = {"properties": {"text": TEXT, "next": {"$ref": "#/$defs/a.Node"}}}
    assert dereference(tree, A) == {**inner, "title": "List", "$defs": {"a.Node": inner}}


def test_the_whole_file_and_other_files_may_be_inside(tmp_path: Path) -> None:
    tree = tree_holding(
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
    inner = {"type": "object", "properties": {"next": {"$ref": "#/$defs/upstreams.x.openapi.Node"}}}
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
    tree = tree_holding(tmp_path, a=schema, b={"anyOf": [{"$ref": "b.json"}, {"$ref": "a.json"}]})
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
    found = dereference(tree_holding(tmp_path, a=schema), A)
    assert len(found["$defs"]) == 61
    assert len(json.dumps(found)) < 20_000


def test_too_many_definitions_are_refused(tmp_path: Path) -> None:
    nodes = {
        f"N{n}": {"items": {"$ref": f"#/$defs/N{(n + 1) % (MAX_DEFINITIONS + 1)}"}}
        for n in range(MAX_DEFINITIONS + 1)
    }
    tree = tree_holding(tmp_path, a={"$defs": nodes, "$ref": "#/$defs/N0"})
    with pytest.raises(ContractRefused, match="schema/too-large"):
        dereference(tree, A)


def test_two_definitions_of_one_published_name_are_refused(tmp_path: Path) -> None:
    schema = {
        "$defs": {"X": {"items": {"$ref": "#/properties/X"}}},
        "properties": {"X": {"items": {"$ref": "#/$defs/X"}}, "y": {"$ref": "#/$defs/X"}},
    }
    with pytest.raises(ContractRefused, match="ref/same-name"):
        dereference(tree_holding(tmp_path, a=schema), A)

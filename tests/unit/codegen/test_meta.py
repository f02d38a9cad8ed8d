"""The schemas of the contract format: valid, complete, copied, and of one mind with the parser."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.codegen import meta
from gateway.codegen.fieldmap.parse import parse
from gateway.codegen.keywords import subschemas
from gateway.contract import jsontext
from gateway.contract.schema import Gate

NAMES = sorted(meta.texts())
EXPRESSIONS = ["$inputs.a", "$inputs#/a", "$response.body#/a~1b", "$response.header.X-A", "@/a"]
SCRAPS: st.SearchStrategy[Any] = st.sampled_from(
    [*EXPRESSIONS, "@", "$call.now", "$call.then", "text", "", 0, 1, True, None, [], {}]
    + [{"const": 1}, {"@/a": ["x"]}, ["$inputs.a"], [1], {"a": "$inputs.a"}, "omit", "a.b:c"]
    + ["string", "skip-item", {"a": 1}, {"const": 1, "b": 2}]
)
WORDS = [
    "value",
    "const",
    "object",
    "array",
    "each",
    "count",
    "python",
    "item",
    "limit",
    "where",
] + ["when", "as", "map", "else", "onGap", "omitIfAbsent", "default", "with", "other"]
FIELD_VALUES = st.recursive(
    SCRAPS,
    lambda inner: (
        st.dictionaries(st.sampled_from(WORDS), SCRAPS | inner, max_size=4)
        | st.lists(inner, max_size=2).map(lambda items: {"array": items})
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("name", NAMES)
def test_a_meta_schema_is_valid_and_describes_itself(name: str) -> None:
    schema = jsontext.decode(meta.texts()[name])
    dialect = Gate({"$ref": "https://json-schema.org/draft/2020-12/schema"})
    assert dialect.violations(schema) == ()
    assert schema["title"]
    assert schema["description"].endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_references_between_meta_schemas_lead_to_files_an_editor_finds(name: str) -> None:
    schema = jsontext.decode(meta.texts()[name])
    files = {part["$ref"] for _, part in subschemas(schema) if "$ref" in part}
    assert {ref for ref in files if not ref.startswith("#")} <= set(NAMES)


def test_copies_are_written_once_and_renewed_when_they_differ(tmp_path: Path) -> None:
    assert [file.name for file in meta.install(tmp_path)] == NAMES
    assert meta.install(tmp_path) == ()
    copy = tmp_path / "_meta" / NAMES[0]
    copy.write_text("{}")
    assert meta.stale_copies(tmp_path) == (NAMES[0],)
    assert meta.install(tmp_path) == (copy,)
    assert meta.stale_copies(tmp_path) == ()


def test_a_checkout_with_other_line_ends_is_not_stale(tmp_path: Path) -> None:
    for file in meta.install(tmp_path):
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert meta.stale_copies(tmp_path) == ()


@given(FIELD_VALUES)
def test_the_meta_schema_refuses_nothing_that_the_parser_of_field_maps_reads(value: Any) -> None:
    """The other way round the parser may be stricter: it knows what modifiers mean together."""
    binding = {"upstream": "u", "operationId": "o", "response": {"200": {"a": value}}}
    read, problems = parse(binding)
    assert (read is None) == bool(problems)
    if read is not None:
        assert meta.gate("x-binding.schema.json").violations(binding) == ()


@given(FIELD_VALUES)
def test_what_only_the_parser_refuses_is_about_meaning(value: Any) -> None:
    binding = {"upstream": "u", "operationId": "o", "response": {"200": {"a": value}}}
    _, problems = parse(binding)
    if problems and meta.gate("x-binding.schema.json").admits(binding):
        known = ("map", "omitIfAbsent", "item", "is not an expression")
        assert all(any(word in problem.message for word in known) for problem in problems)

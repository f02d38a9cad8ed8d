"""The schemas of the contract format: valid, complete, copied, and of one mind with the parser."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.authoring.contracts import meta
from gateway.authoring.mapping.fields.parse import parse
from gateway.contract.operation import Attempts
from gateway.contract.schemas.keywords import subschemas
from gateway.contract.values import jsontext
from gateway.contract.values.pointers import follow
from gateway.contract.values.schema import Validator
from tests.unit.tables import each_of

NAMES = sorted(meta.texts())
EXPRESSIONS = st.sampled_from(
    [
        "$inputs.a",
        "$inputs#/a",
        "$response.body#/a~1b",
        "$request.body#/a",
        "$request.body",
        "$settings.a",
        "@",
        "@/a",
        "text",
    ]
)
RESORTS = st.sampled_from(
    ["error", "omit", "skip-item", "skip", {"const": 1}, {"const": 1, "b": 2}]
)
ANYTHING = st.sampled_from([None, 0, 1, True, "", "text", [], {}, [1], {"a": 1}])
MODIFIERS: dict[str, st.SearchStrategy[Any]] = {
    "as": st.sampled_from(["string", "decimal-2", "text", 1]),
    "map": st.sampled_from([{"a": 1}, {}, []]),
    "else": RESORTS,
    "onGap": RESORTS,
    "omitIfAbsent": st.sampled_from([True, False, "yes"]),
    "default": ANYTHING,
    "when": EXPRESSIONS,
    "limit": st.sampled_from([1, 0, True, "1"]),
    "where": st.sampled_from([{"@/a": ["x"]}, {"a": ["x"]}, {"@": "x"}, {"@/a": []}, {}]),
    "with": st.lists(EXPRESSIONS, max_size=2) | ANYTHING,
    "other": ANYTHING,
}


def field_values(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """VALUEs of every kind around `inner`, each with modifiers that it may or may not have."""
    members = st.dictionaries(st.sampled_from(["a", "value", "const", "b/c"]), inner, max_size=2)
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "value": EXPRESSIONS,
        "const": ANYTHING,
        "object": members,
        "array": st.lists(inner, max_size=2),
        "each": EXPRESSIONS,
        "count": EXPRESSIONS,
        "python": st.sampled_from(["a.b:c", "a.b", ""]),
        "ref": st.sampled_from(["loans", "", 1]),
    }
    every = {**kinds, **MODIFIERS, "item": inner | members, "key": members}
    some = st.lists(st.sampled_from(sorted([*MODIFIERS, "item", "key"])), max_size=3, unique=True)
    names = st.tuples(st.sampled_from(sorted(kinds)), some).map(lambda both: [both[0], *both[1]])
    return names.flatmap(lambda names: st.fixed_dictionaries({name: every[name] for name in names}))


FIELD_VALUES = st.recursive(EXPRESSIONS | ANYTHING, field_values, max_leaves=4)


@each_of("name", NAMES)
def test_a_meta_schema_is_valid_and_describes_itself(name: str) -> None:
    schema = jsontext.decode(meta.texts()[name])
    dialect = Validator({"$ref": "https://json-schema.org/draft/2020-12/schema"})
    assert dialect.violations(schema) == ()
    assert schema["title"]
    assert schema["description"].endswith(".")


@each_of("name", NAMES)
def test_references_between_meta_schemas_lead_to_files_an_editor_finds(name: str) -> None:
    schema = jsontext.decode(meta.texts()[name])
    for ref in {part["$ref"] for _, part in subschemas(schema) if "$ref" in part}:
        file, _, pointer = ref.partition("#")
        follow(jsontext.decode(meta.texts()[file or name]), pointer)


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


def test_the_defaults_of_attempts_are_those_of_the_code() -> None:
    """JSON and Markdown cannot import the constant, which is `Attempts()`."""
    policy = jsontext.decode(meta.texts()["x-policy.schema.json"])
    published = follow(policy, "/properties/attempts/properties")
    page = (Path(__file__).parents[4] / "docs/reference/contract-format.md").read_text("utf-8")
    default = Attempts()

    assert published["backoffSeconds"]["default"] == list(default.backoff_seconds)
    assert published["on"]["default"] == list(default.on)
    assert "default" not in published["timeoutSeconds"]
    assert default.timeout_seconds is None
    for member in ("backoffSeconds", "on"):
        (row,) = (line for line in page.splitlines() if f"`attempts.{member}`" in line)
        assert f"default `{json.dumps(published[member]['default'])}`" in row


@given(FIELD_VALUES)
def test_the_meta_schema_refuses_nothing_that_the_parser_of_field_maps_reads(value: Any) -> None:
    """The other way round the parser may be stricter: it knows what modifiers mean together."""
    binding = {"upstream": "u", "operationId": "o", "response": {"200": {"a": value}}}
    read, problems = parse(binding)
    assert (read is None) == bool(problems)
    if read is not None:
        assert meta.validator("x-binding.schema.json").violations(binding) == ()


@given(FIELD_VALUES)
def test_what_only_the_parser_refuses_is_what_modifiers_mean_together(value: Any) -> None:
    binding = {"upstream": "u", "operationId": "o", "response": {"200": {"a": value}}}
    _, problems = parse(binding)
    if meta.validator("x-binding.schema.json").admits(binding):
        assert {problem.message for problem in problems} <= {
            "is used without map",
            "cannot be used with map",
            "contradicts omitIfAbsent",
            "does not read the item",
        }

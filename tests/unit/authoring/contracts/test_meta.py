"""Contract caches and meta-schemas: of one mind with the project, and only faster."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.authoring.contracts import meta
from gateway.authoring.contracts.cache import RENDERINGS, Cache, write_sealed
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


def made(text: str, log: list[str]) -> str:
    log.append(text)
    return text


def remember(folder: Path, version: str = "1", basis: str = "basis", text: str = "text") -> bool:
    """Whether one run had to make the text."""
    log: list[str] = []
    cache = Cache(folder / RENDERINGS, version)

    assert cache.remember("kind", basis, lambda: made(text, log)) == text

    cache.save()
    return bool(log)


def test_a_text_is_made_once_for_the_same_basis(tmp_path: Path) -> None:
    assert remember(tmp_path)
    assert not remember(tmp_path)


def test_another_basis_or_another_version_is_made_again(tmp_path: Path) -> None:
    remember(tmp_path)

    assert remember(tmp_path, basis="other", text="other")
    assert remember(tmp_path, version="2", basis="other", text="changed by the generator")


def test_entries_that_a_run_did_not_use_are_dropped(tmp_path: Path) -> None:
    remember(tmp_path, basis="old")
    remember(tmp_path, basis="new")

    assert remember(tmp_path, basis="old")


@pytest.mark.parametrize("junk", [b"", b"junk", b"\xc1" * 64])
def test_a_damaged_file_is_an_empty_cache(tmp_path: Path, junk: bytes) -> None:
    remember(tmp_path)
    (tmp_path / RENDERINGS).write_bytes(junk)

    assert remember(tmp_path)


def test_a_poisoned_text_is_not_used(tmp_path: Path) -> None:
    """One edited byte, and nothing in the file is believed."""
    remember(tmp_path, text="good")
    file = tmp_path / RENDERINGS
    file.write_bytes(file.read_bytes().replace(b"good", b"evil"))

    assert remember(tmp_path, text="good")


def test_a_whole_file_of_another_shape_is_an_empty_cache(tmp_path: Path) -> None:
    write_sealed(tmp_path / RENDERINGS, msgspec.msgpack.encode({"key": 1}))

    assert remember(tmp_path)


def test_the_folder_keeps_itself_out_of_version_control(tmp_path: Path) -> None:
    remember(tmp_path / "cache")

    assert (tmp_path / "cache/.gitignore").read_text("utf-8") == "*\n"


def test_a_write_that_fails_leaves_no_draft_behind(tmp_path: Path) -> None:
    """A folder in the file's place cannot be replaced."""
    (tmp_path / RENDERINGS).mkdir()

    write_sealed(tmp_path / RENDERINGS, b"payload")

    assert sorted(path.name for path in tmp_path.iterdir()) == [".gitignore", RENDERINGS]


def test_a_folder_that_cannot_be_written_costs_time_only(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be", "utf-8")

    assert remember(tmp_path / "cache")
    assert remember(tmp_path / "cache")

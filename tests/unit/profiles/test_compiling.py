"""Published schemas: no client refuses them, and they admit all that the contracts admit."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.catalogue import Catalogue
from gateway.contract.schemas.algebra import covers
from gateway.contract.schemas.containment import Contained, containment
from gateway.contract.values.schema import Validator
from gateway.profiles.clients import CLIENTS, PROFILES, ClientProfile
from gateway.profiles.refusals import ShownTool, published_input, published_output, refusals
from tests.unit import shipped
from tests.unit.profiles.published_schemas import SCHEMAS, SHOWN, TREE
from tests.unit.tables import each_of

UNPROVABLE = {"recursive", "siblings"}
"""References to themselves or to nothing: the prover cannot decide these."""
TREES = st.recursive(
    st.fixed_dictionaries({"value": st.integers()}),
    lambda trees: st.fixed_dictionaries(
        {"value": st.integers()}, optional={"children": st.lists(trees, max_size=3)}
    ),
    max_leaves=20,
)
NAMES_OF_MEMBERS = "names of keywords"
PAIRS = [(name, profile) for name in SCHEMAS for profile in SHOWN]


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return shipped.catalogue()


def of_objects(schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments are always objects."""
    own = {name: value for name, value in schema.items() if name != "$defs"}
    return {"allOf": [own, {"type": "object"}], "$defs": schema.get("$defs", {})}


@pytest.mark.parametrize("profile", SHOWN, ids=lambda each: each.name)
def test_every_client_accepts_the_catalogue_that_it_is_shown(
    catalogue: Catalogue, profile: ClientProfile
) -> None:
    shown = [
        ShownTool(
            name=entry.tool.name,
            input_schema=published_input(entry.listing.input_schema, profile),
            output_schema=published_output(entry.listing.output_schema, profile),
        )
        for entry in catalogue.entries
    ]
    assert list(refusals(shown, profile)) == []


@pytest.mark.parametrize("profile", SHOWN, ids=lambda each: each.name)
def test_no_published_schema_of_the_catalogue_is_narrower(
    catalogue: Catalogue, profile: ClientProfile
) -> None:
    for entry in catalogue.entries:
        source = entry.listing.input_schema
        assert covers(published_input(source, profile), source) is True, entry.id
        source = entry.listing.output_schema
        assert covers(published_output(source, profile), source) is True, entry.id


@each_of(("name", "profile"), PAIRS, ids=lambda each: getattr(each, "name", each))
def test_no_client_refuses_what_it_is_shown(name: str, profile: ClientProfile) -> None:
    tool = ShownTool(name="tool", input_schema=published_input(SCHEMAS[name], profile))
    found = {each.rule for each in refusals([tool], profile)}
    # The lint refuses these names in contracts, and the import replaces them.
    assert found <= ({"root/member-name"} if name == NAMES_OF_MEMBERS else set())


@each_of(
    ("name", "profile"),
    [(name, profile) for name, profile in PAIRS if name not in UNPROVABLE],
    ids=lambda each: getattr(each, "name", each),
)
def test_published_schemas_are_never_narrower(name: str, profile: ClientProfile) -> None:
    published = published_input(SCHEMAS[name], profile)
    assert containment(published, of_objects(SCHEMAS[name])) == Contained(), json.dumps(published)


@each_of("profile", SHOWN, ids=lambda each: each.name)
def test_a_recursive_schema_that_cannot_be_proven_admits_generated_values(
    profile: ClientProfile,
) -> None:
    source, published = Validator(TREE), Validator(published_input(TREE, profile))

    @settings(suppress_health_check=list(HealthCheck))
    @given(TREES)
    def check(tree: Any) -> None:
        assert source.admits({"root": tree})
        assert published.admits({"root": tree})

    check()
    assert not published.admits({"root": {"value": "text"}})


@each_of("name", [name for name in SCHEMAS if name != NAMES_OF_MEMBERS])
def test_all_known_clients_but_gemini_accept_the_default(name: str) -> None:
    default = PROFILES["default"]
    tool = ShownTool(
        name="t" * (default.room() or 0),
        input_schema=published_input(SCHEMAS[name], default),
        output_schema=published_output(SCHEMAS[name], default),
    )
    for profile in CLIENTS:
        if profile.name != "gemini":
            assert list(refusals([tool], profile)) == [], profile.name


def test_the_profile_source_changes_nothing() -> None:
    for schema in SCHEMAS.values():
        assert published_input(schema, PROFILES["source"]) is schema


def test_the_default_keeps_what_only_gemini_refuses() -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "exclusiveMinimum": 0}, "s": {"const": "x"}},
        "additionalProperties": False,
    }
    assert published_input(schema, PROFILES["default"]) == schema


def test_gemini_reads_in_the_description_what_its_schemas_cannot_say() -> None:
    schema = {
        "type": "object",
        "properties": {
            "size": {"enum": [1, 2], "description": "Size"},
            "page": {"type": "integer", "exclusiveMinimum": 0},
            "site": {"type": ["string", "null"], "format": "uri"},
        },
    }
    assert published_input(schema, PROFILES["gemini"])["properties"] == {
        "size": {
            "type": "integer",
            "minimum": 1,
            "maximum": 2,
            "description": "Size. One of 1, 2.",
        },
        "page": {"type": "integer", "minimum": 1},
        "site": {"anyOf": [{"type": "string", "description": "Format: uri."}, {"type": "null"}]},
    }


def test_a_recursion_is_cut_with_a_note() -> None:
    published = published_input(TREE, PROFILES["default"])
    children = published["properties"]["root"]["properties"]["children"]
    assert children["items"] == {
        "type": "object",
        "properties": {},
        "description": "(Node: as above.)",
    }
    assert "$defs" not in published


def test_a_large_tree_of_definitions_is_cut_at_a_depth() -> None:
    definitions: dict[str, Any] = {
        f"L{level}": {
            "type": "object",
            "properties": {
                f"m{each}": {"$ref": f"#/$defs/L{level + 1}"} if level < 6 else {"type": "string"}
                for each in range(6)
            },
        }
        for level in range(7)
    }
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/L0"}}, "$defs": definitions}
    published = published_input(schema, PROFILES["default"])
    assert len(json.dumps(published)) < 100_000
    assert "its parts are not shown here" in json.dumps(published)
    assert "m5" in published["properties"]["a"]["properties"]
    assert list(refusals([ShownTool(name="t", input_schema=published)], PROFILES["openai"])) == []


def nested(leaf: dict[str, Any], levels: int) -> dict[str, Any]:
    """An object with `leaf` inside `levels` others."""
    for _ in range(levels):
        leaf = {"type": "object", "properties": {"inside": leaf}}
    return leaf


@each_of("profile", SHOWN, ids=lambda each: each.name)
def test_deep_definitions_inside_one_another_are_cut(profile: ClientProfile) -> None:
    """One document of a vendor must not break the list of all tools."""
    definitions = {f"D{n}": nested({"$ref": f"#/$defs/D{n + 1}"}, 50) for n in range(14)}
    definitions["D14"] = {"type": "string"}
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/D0"}, "b": nested({"type": "string"}, 95)},
        "$defs": definitions,
    }
    tool = ShownTool(name="t", input_schema=published_input(schema, profile))
    assert list(refusals([tool], profile)) == []


def test_deep_and_wide_schemas_are_cut_to_the_limits() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(15):
        schema = {"type": "object", "properties": {"inside": schema}}
    schema["properties"]["code"] = {"enum": [f"c{n}" for n in range(1_200)]}
    published = published_input(schema, PROFILES["openai"])
    assert list(refusals([ShownTool(name="t", input_schema=published)], PROFILES["openai"])) == []
    assert "enum" not in published["properties"]["code"]
    assert covers(published, schema) is True


@pytest.mark.parametrize("word", ["not", "if"])
def test_a_cut_inside_a_negation_removes_the_negation(word: str) -> None:
    """There, a wider schema would refuse more."""
    schema = {
        "type": "object",
        "properties": {"x": {word: {"$ref": "#/$defs/L"}, "type": "object"}},
        "$defs": {"L": {"required": ["of"], "properties": {"of": {"$ref": "#/$defs/L"}}}},
    }
    published = published_input(schema, PROFILES["default"])
    assert published["properties"]["x"] == {"type": "object", "properties": {}}


def objects_of(levels: int, inner: Any) -> Any:
    for _ in range(levels):
        inner = {"type": "object", "properties": {"k": inner}, "required": ["k"]}
    return inner


def inside(levels: int, value: Any) -> Any:
    for _ in range(levels):
        value = {"k": value}
    return value


@pytest.mark.parametrize("profile", SHOWN, ids=lambda each: each.name)
@pytest.mark.parametrize(
    ("counted", "items"),
    [
        ({"enum": list(range(1001))}, [1, 5000]),
        (objects_of(12, {"const": "x"}), [inside(12, "x"), inside(12, "y")]),
    ],
    ids=["many values", "many levels"],
)
def test_items_that_are_counted_are_cut_without_a_limit_of_their_number(
    profile: ClientProfile, counted: Any, items: list[Any]
) -> None:
    """What is cut fits more items, of which a client would then refuse the second."""
    contains = {"type": "array", "contains": counted, "maxContains": 1}
    schema = {"type": "object", "properties": {"a": contains}}
    for published in (published_input(schema, profile), published_output(schema, profile)):
        assert Validator(published).admits({"a": items})
        assert Validator(schema).admits({"a": items})

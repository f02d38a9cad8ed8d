"""The prover's answers hold for values, by a validator that shares no code with it."""

from typing import Any, Final

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.contract.schemas.algebra import covers
from gateway.profiles.clients import PROFILES, ClientProfile
from gateway.profiles.refusals import published_input
from tests.unit.tables import each_of

SHOWN: Final = [each for each in PROFILES.values() if not each.is_source]
SCALARS: Final[list[Any]] = [
    None,
    True,
    False,
    -1,
    0,
    1,
    2,
    1.0,
    1.5,
    10,
    "",
    "a",
    "ab",
    "abc",
    "1",
]
LISTS: Final = [[], [1], ["a"], ["a", 1], [1, 1], ["a", "b"], ["a", "b", None], [[1]], [{"a": 1}]]
OBJECTS: Final = [
    {},
    *({"a": value} for value in (*SCALARS, *LISTS)),
    *({"b": value} for value in SCALARS),
    {"a": 1, "b": 2},
    {"a": "a", "b": "ab"},
    {"a": None, "b": [1]},
    {"a": {"a": {"a": 1}}},
    {"a": {"b": "x"}, "c": 1},
    {"c": 1},
]
VALUES: Final = [*SCALARS, *LISTS, *OBJECTS]
"""A small world of values, in which each keyword below refuses some."""
SMALL: Final = st.integers(0, 3)
LEAVES: Final = st.one_of(
    st.just({}),
    st.just({"$ref": "#/$defs/tree"}),
    st.builds(lambda kind: {"type": kind}, st.sampled_from(["null", "integer", "string", "array"])),
    st.just({"type": ["object", "null"]}),
    st.builds(lambda values: {"enum": values}, st.lists(st.sampled_from(VALUES), min_size=1)),
    st.builds(lambda value: {"const": value}, st.sampled_from(VALUES)),
    st.builds(lambda n, m: {"minimum": n, "exclusiveMaximum": n + m}, SMALL, SMALL),
    st.builds(lambda n, m: {"type": "string", "minLength": n, "maxLength": n + m}, SMALL, SMALL),
    st.builds(lambda n: {"type": "integer", "exclusiveMinimum": n, "multipleOf": 2}, SMALL),
)
TREE: Final = {"type": "object", "properties": {"a": {"$ref": "#/$defs/tree"}}, "minProperties": 1}


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {"type": st.just("object")},
        optional={
            "properties": st.dictionaries(st.sampled_from("ab"), inner),
            "required": st.lists(st.sampled_from("abc"), unique=True),
            "additionalProperties": st.one_of(st.booleans(), inner),
            "maxProperties": SMALL,
        },
    )


def _lists(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.just("array"),
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "items": st.one_of(st.booleans(), inner),
            "minItems": SMALL,
            "uniqueItems": st.booleans(),
        },
    )


def _combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    words = st.sampled_from(["allOf", "anyOf", "oneOf"])
    return st.one_of(
        st.builds(lambda word, parts: {word: parts}, words, several),
        st.builds(lambda part: {"not": part}, inner),
        st.builds(lambda a, b: {"if": a, "then": b}, inner, inner),
    )


SCHEMAS: Final = st.recursive(
    LEAVES, lambda inner: st.one_of(_objects(inner), _lists(inner), _combined(inner)), max_leaves=6
)
ROOTS: Final = st.one_of(
    _objects(SCHEMAS),
    st.builds(
        lambda first, second: {**first, **second}, _objects(SCHEMAS), _combined(_objects(SCHEMAS))
    ),
)


def with_tree(schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "$defs": {"tree": TREE}}


def validator(schema: dict[str, Any]) -> Any:
    """The independent validator of `schema`."""
    import jsonschema  # noqa: PLC0415 - it takes two seconds

    return jsonschema.Draft202012Validator(schema)


def admitted(schema: dict[str, Any]) -> list[Any]:
    """The values that `schema` admits, by the independent validator."""
    gate = validator(schema)
    return [value for value in VALUES if gate.is_valid(value)]


@settings(suppress_health_check=list(HealthCheck))
@given(SCHEMAS, SCHEMAS)
def test_what_is_proven_to_cover_admits_all_values(first: Any, second: Any) -> None:
    for outer in (second, {"anyOf": [second, first]}, {"not": {"allOf": [second, {"not": first}]}}):
        whole, inner = with_tree(outer), with_tree(first)
        if covers(whole, inner) is True:
            gate = validator(whole)
            assert all(gate.is_valid(value) for value in admitted(inner))


@settings(suppress_health_check=list(HealthCheck))
@given(SCHEMAS, st.lists(st.sampled_from(VALUES), min_size=1, max_size=4))
def test_of_a_list_of_values_the_prover_is_never_wrong(schema: Any, values: list[Any]) -> None:
    gate = validator(with_tree(schema))
    expected = all(gate.is_valid(value) for value in values)
    assert covers(with_tree(schema), {"enum": values}) in {expected, None}


@each_of("profile", SHOWN, ids=lambda each: each.name)
def test_a_published_schema_admits_what_its_source_admits(profile: ClientProfile) -> None:
    @settings(suppress_health_check=list(HealthCheck))
    @given(ROOTS)
    def check(schema: Any) -> None:
        source = with_tree(schema)
        gate = validator(published_input(source, profile))
        objects = [value for value in admitted(source) if isinstance(value, dict)]
        assert [value for value in objects if not gate.is_valid(value)] == []

    check()

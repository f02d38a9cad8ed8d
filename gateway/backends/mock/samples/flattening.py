"""Applies references and combinations, so that one plain schema is left to sample."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Final
from urllib.parse import unquote

from gateway.backends.mock.samples.errors import NoSample, Steps
from gateway.backends.mock.samples.merging import Schema, joined, own_part
from gateway.contract.values import pointers

ROOMS: Final = (12, 24, 48)
"""How deep a value may be, in references and containers. The first one that suffices is used."""
_MAX_JOINED: Final = 500
_STEPS: Final = 5
"""For each schema that is joined."""
_CONTAINERS: Final = frozenset({"object", "array"})


class Flattener:
    """Resolves the schemas of one document, in which definitions are named `#/$defs/<name>`."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._fitting: dict[tuple[str, int], bool] = {}

    def target(self, reference: str) -> Any:
        """The schema that `reference` names. Raises `NoSample` if there is none."""
        try:
            return pointers.follow({"$defs": self._definitions}, unquote(reference).lstrip("#"))
        except LookupError as error:
            raise NoSample(f"{reference} does not exist") from error

    def fits(self, schema: Any, room: int, work: Steps, seen: frozenset[str] = frozenset()) -> bool:
        """Whether a value may exist that is at most `room` deep. Each reference counts as one.

        `seen` are the references that lead to `schema` for the same value. Raises `NoSample`.
        """
        if not isinstance(schema, dict):
            return schema is not False
        if room < 0:
            return False
        work.spend(1)
        return (
            ("$ref" not in schema or self._target_fits(schema["$ref"], room, work, seen))
            and all(self.fits(each, room, work, seen) for each in schema.get("allOf", ()))
            and all(
                any(self.fits(each, room, work, seen) for each in schema[keyword])
                for keyword in ("anyOf", "oneOf")
                if keyword in schema
            )
            and (
                _may_be_scalar(schema)
                or all(self.fits(each, room - 1, work) for each in _needed(schema))
            )
        )

    def _target_fits(self, reference: str, room: int, work: Steps, seen: frozenset[str]) -> bool:
        if reference in seen:
            return True  # The schema requires of the value only what it requires already.
        target = self.target(reference)
        if seen:
            return self.fits(target, room - 1, work, seen | {reference})
        key = (reference, room)
        if key not in self._fitting:
            self._fitting[key] = self.fits(target, room - 1, work, frozenset({reference}))
        return self._fitting[key]

    def flat(self, schema: Any, random: Random, room: int, work: Steps) -> Schema:
        """A schema without references and combinations. Every value of it is one of `schema`.

        What only the validator can check is left out. Raises `NoSample`.
        """
        found: Schema = {}
        seen: set[str] = set()
        waiting = [schema]
        for _ in range(_MAX_JOINED):
            if not waiting:
                return found
            node = waiting.pop(0)
            if node is False:
                raise NoSample("no value is allowed")
            if isinstance(node, dict):
                own = own_part(node)
                work.spend(_joining_steps(found, own))
                found = joined(found, own)
                waiting += self._applied(node, random, room, work)
                waiting += _dependent(node, found)
                if "$ref" in node and node["$ref"] not in seen:
                    seen.add(node["$ref"])
                    waiting.append(self.target(node["$ref"]))
        raise NoSample("too many schemas are combined")

    def _applied(self, node: Schema, random: Random, room: int, work: Steps) -> Iterator[Any]:
        yield from node.get("allOf", ())
        for keyword in ("anyOf", "oneOf"):
            if keyword in node:
                yield self._branch(node[keyword], random, room, work)
        if "if" in node:
            if random.random() < 0.5:
                yield from (node["if"], node.get("then", True))
            else:
                yield node.get("else", True)

    def _branch(self, branches: list[Any], random: Random, room: int, work: Steps) -> Any:
        fitting = [each for each in branches if self.fits(each, room, work)]
        if not fitting:
            raise NoSample("no alternative can be sampled")
        return random.choice(fitting)


def _joining_steps(one: Schema, other: Schema) -> int:
    """How long it takes to join them: every name is matched with every pattern."""
    names, patterns = (
        len(one.get(keyword, ())) + len(other.get(keyword, ()))
        for keyword in ("properties", "patternProperties")
    )
    return _STEPS + names * (1 + patterns)


def _needed(schema: Schema) -> Iterator[Any]:
    """The subschemas of which a value of `schema` holds at least one value each."""
    properties = schema.get("properties", {})
    yield from (properties.get(name, True) for name in schema.get("required", ()))
    least = schema.get("minItems", 0)
    yield from schema.get("prefixItems", ())[:least]
    if least > len(schema.get("prefixItems", ())):
        yield schema.get("items", True)


def _may_be_scalar(schema: Schema) -> bool:
    if "enum" in schema or "const" in schema:
        return True
    types = schema.get("type", ())
    given = {types} if isinstance(types, str) else set(types)
    return not given <= _CONTAINERS


def _dependent(node: Schema, found: Schema) -> Iterator[Any]:
    """The schemas of members that must be there. Other members that need a schema are left out."""
    for name, schema in node.get("dependentSchemas", {}).items():
        yield schema if name in found.get("required", ()) else {"properties": {name: False}}

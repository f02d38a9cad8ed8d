"""Whether a published schema admits all that its source admits: by proof, or else by drawn values.

The prover cannot decide most recursive schemas. Two steps follow, and each has its own verdict:

- The source is unfolded: references are replaced, each at most twice on a path, and what is beyond
  is any value. The unfolded schema admits more than the source. So what is proven for it is proven.
- Values are drawn from the source. Each that the source admits must be admitted by the published
  schema. One that is not is a counterexample.
"""

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.contract.schemas.algebra import covers
from gateway.contract.schemas.keywords import SCHEMA_LISTS, SCHEMA_MAPS, SCHEMA_VALUES
from gateway.contract.values.schema import PREFIX, Validator
from tests.decoding.drawing import Drawing  # not of the gateway, whose schemas it checks
from tests.decoding.schemas import Schemas

Schema = dict[str, Any]

DRAWS: Final = 400
ENOUGH: Final = 50
"""With fewer values that the source admits, nothing is shown."""
_MOST: Final = 3_000
"""The most subschemas of an unfolded source. Beyond that, proofs take minutes."""
_OFTEN: Final = 2
_UNSURE: Final = frozenset(
    {"not", "if", "then", "else", "maxContains", "unevaluatedProperties", "unevaluatedItems"}
)
"""Keywords in which a schema that admits more may refuse more. Such a source is not unfolded."""


class Verdict(Struct, frozen=True, kw_only=True):
    """What is known of one published schema."""

    kind: Literal["proven", "shown", "undecided", "narrower"]
    values: int = 0
    """How many drawn values both schemas admit, if it is `shown`."""
    example: Any = None
    """A value that only the source admits, if one was drawn."""


def verdict(published: Schema, source: Schema, definitions: Mapping[str, Any]) -> Verdict:
    """Whether `published` admits all objects of `source`, whose `$defs` are `definitions`."""
    is_covered = published == source or covers(published, source)
    if is_covered is None:
        unfolded = Unfolding(definitions).of(source)
        # A value of the unfolded schema need not be one of the source, so only a yes is an answer.
        is_covered = (unfolded is not None and covers(published, unfolded)) or None
    if is_covered:
        return Verdict(kind="proven")
    drawn = _by_values(published, source, definitions)
    return Verdict(kind="narrower") if is_covered is False and drawn.example is None else drawn


def _by_values(published: Schema, source: Schema, definitions: Mapping[str, Any]) -> Verdict:
    drawing = Drawing(Schemas(definitions), random.Random(1))  # noqa: S311 - nothing secret
    given, shown = Validator(source), Validator(published)
    admitted = 0
    for _ in range(DRAWS):
        value = drawing.value(source)
        if isinstance(value, dict) and given.admits(value):
            if not shown.admits(value):
                return Verdict(kind="narrower", example=value)
            admitted += 1
    return Verdict(kind="shown" if admitted >= ENOUGH else "undecided", values=admitted)


class Unfolding:
    """Replaces the references of a schema by what they name, down to a finite depth."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._inside: Counter[str] = Counter()
        self._count = 0

    def of(self, source: Schema) -> Schema | None:
        """A schema without references that admits at least as much. None if it is too large, or
        has keywords in which more is less."""
        try:
            found: Schema = self._schema({n: v for n, v in source.items() if n != "$defs"})
        except _NotUnfolded:
            return None
        return found

    def _schema(self, schema: Any) -> Any:
        if not isinstance(schema, dict):
            return schema
        self._count += 1
        is_mixed = "oneOf" in schema and "anyOf" in schema
        if self._count > _MOST or is_mixed or schema.keys() & _UNSURE:
            raise _NotUnfolded
        own: Schema = {}
        for keyword, value in schema.items():
            if keyword in SCHEMA_VALUES:
                own[keyword] = self._schema(value)
            elif keyword in SCHEMA_LISTS:
                # Of alternatives that admit more, two may be valid.
                name = "anyOf" if keyword == "oneOf" else keyword
                own[name] = [self._schema(each) for each in value]
            elif keyword in SCHEMA_MAPS:
                own[keyword] = {name: self._schema(each) for name, each in value.items()}
            elif keyword != "$ref":
                own[keyword] = value
        return {"allOf": [self._target(schema["$ref"]), own]} if "$ref" in schema else own

    def _target(self, reference: str) -> Any:
        name = reference.removeprefix(PREFIX).replace("~1", "/").replace("~0", "~")
        if self._inside[name] == _OFTEN or name not in self._definitions:
            return {}
        self._inside[name] += 1
        found = self._schema(self._definitions[name])
        self._inside[name] -= 1
        return found


class _NotUnfolded(Exception):
    """The schema is not unfolded."""

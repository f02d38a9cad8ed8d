"""`format` as an annotation, which refuses no value (JSON Schema Validation 2020-12 §7.2.1)."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from gateway.contract.values.schema import ANNOTATED, FORMATS
from gateway.openapi.reading.dialect.cleaning import BITS
from gateway.openapi.reading.dialect.components import reaching
from gateway.openapi.reading.dialect.directions import Direction


class Formats:
    """Where the formats of one document refuse values."""

    def __init__(
        self,
        components: Mapping[str, Any],
        check_time: Callable[[], None],
        *,
        checks_results: bool,
    ) -> None:
        """`checks_results`: in outputs too. In inputs they always do."""
        self._components = components
        self._check_time = check_time
        self._checks_results = checks_results
        self._asked: set[str] = set()

    @property
    def of_arguments(self) -> tuple[str, ...]:
        """The formats of the texts in inputs that were lowered so far."""
        return tuple(sorted(self._asked))

    def are_checked(self, direction: Direction) -> bool:
        """Whether formats refuse values."""
        return direction == "input" or self._checks_results

    def lose(self, component: str, direction: Direction) -> bool:
        """Whether the component reaches a format that is an annotation in this direction alone."""
        return not self.are_checked(direction) and component in self._formatted

    def lowered(self, schema: dict[str, Any], direction: Direction) -> dict[str, Any]:
        """The schema object, whose format may become an extension that no validator checks."""
        found = checked_format(schema)
        if found is None:
            return schema
        if not self.are_checked(direction):
            return {ANNOTATED if key == "format" else key: value for key, value in schema.items()}
        if direction == "input" and found in FORMATS:
            self._asked.add(found)
        return schema

    @cached_property
    def _formatted(self) -> frozenset[str]:
        return reaching(self._components, lambda part: bool(checked_format(part)), self._check_time)


def checked_format(schema: dict[str, Any]) -> str | None:
    """The format of the schema object itself, if it would refuse values."""
    found = schema.get("format")
    return found if isinstance(found, str) and (found in FORMATS or found in BITS) else None

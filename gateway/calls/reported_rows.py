"""Writes the rows of entities that a call reports, so that they exist from the first call on.

Webhooks change such rows later. A provider sends no message about what its client did itself.
"""

import logging
from collections.abc import Iterator, Mapping
from typing import Any, Final, Protocol
from uuid import UUID

from gateway.clock import Clock
from gateway.contract.fields.fieldmap import entity_id
from gateway.contract.rows.entity import Entity, Fixed
from gateway.contract.rows.rows import InvalidColumnValue, Shape, shape_of
from gateway.contract.values.pointers import NoSuchPlace, follow
from gateway.errors import GatewayError
from gateway.store.records import EntityChange

_log: Final = logging.getLogger(__name__)


class WritesRows(Protocol):
    """Writes rows in one transaction."""

    async def write(self, changes: tuple[EntityChange, ...]) -> None:
        """Merge `changes` into the rows. Raises `StoreError`."""
        ...


class Recorder:
    """Knows which calls report rows: what `x-entity.calls` says."""

    def __init__(self, entities: Mapping[str, Entity], rows: WritesRows, clock: Clock) -> None:
        self._rows = rows
        self._clock = clock
        self._reported: dict[str, list[Entity]] = {}
        self._shapes: dict[str, Shape] = {}
        for entity in entities.values():
            for operation in entity.rules.calls:
                self._reported.setdefault(operation, []).append(entity)
                self._shapes[entity.kind] = shape_of(entity.kind, entity.schema)

    async def record(
        self, operation: str, arguments: Mapping[str, Any], result: object, call_id: str
    ) -> tuple[str, ...]:
        """Write the rows that a successful call reports, if there are any.

        The upstream has done its part, and the caller of an error would repeat it. So a failure is
        no error: it is logged, and returned for the record of the call.
        """
        entities = self._reported.get(operation)
        if entities is None:
            return ()
        known = {"arguments": arguments, "result": result}
        try:
            await self._rows.write(tuple(self._changes(operation, entities, known, call_id)))
        except (GatewayError, ValueError, InvalidColumnValue) as error:
            _log.warning("%s: the row that it reports was not written: %s", operation, error)
            return (f"The row of this call was not written: {error}",)
        return ()

    def _changes(
        self, operation: str, entities: list[Entity], known: Mapping[str, Any], call_id: str
    ) -> Iterator[EntityChange]:
        for entity in entities:
            found = {
                column: value
                for column, place in entity.rules.calls[operation].items()
                if (value := _value(known, place)) is not None
            }
            shape = self._shapes[entity.kind]
            if not found.keys() >= {*entity.key}:
                continue  # The call made nothing that has a key.
            if not shape.admits_change.admits(found):
                raise ValueError(shape.admits_change.violations(found)[0].detail)
            yield EntityChange(
                kind=entity.kind,
                values=shape.canonical(found),
                mode="upsert",
                webhook_id=_row_writer(call_id),
                occurred_at=self._clock.now(),
            )


def _value(known: Mapping[str, Any], place: str | Fixed) -> Any:
    if isinstance(place, Fixed):
        return place.const
    try:
        return follow(known, place)
    except NoSuchPlace:
        return None


def _row_writer(call_id: str) -> str:
    """The id of the call as a UUID, which the column of the writer holds."""
    try:
        return str(UUID(call_id))
    except ValueError:
        return entity_id("call", {"id": call_id})

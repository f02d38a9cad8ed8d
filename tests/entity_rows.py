"""Rows of entities for the tests of what lies above the store."""

from collections.abc import Mapping
from typing import Any

from gateway.contract.rows.rows import Shape
from gateway.contract.rows.tables import Tables


class NoEntities:
    """Where nothing has arrived."""

    async def page(
        self, kind: str, filters: Mapping[str, Any], limit: int, cursor: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        return [], None

    async def get(self, kind: str, entity_id: str) -> dict[str, Any] | None:
        return None

    def tables(self, shape: Shape) -> Tables:
        raise AssertionError(f"no rows of {shape.entity} are to be asked for")

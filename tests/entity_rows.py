"""Rows of entities for the tests of what lies above the store."""

from collections.abc import Mapping
from typing import Any


class NoEntities:
    """Where nothing has arrived."""

    async def page(
        self, kind: str, filters: Mapping[str, Any], limit: int, cursor: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        return [], None

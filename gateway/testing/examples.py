"""The examples of the contracts, as the published OpenAPI document shows them."""

from copy import deepcopy
from functools import lru_cache
from typing import Any

import msgspec

from gateway.catalogue import Catalogue, Entry


def examples_of(catalogue: Catalogue, entry: Entry) -> list[dict[str, Any]]:
    """The arguments of each example of a tool, as copies that a test may change."""
    media = _paths(catalogue.openapi)[entry.operation.route]["post"]["requestBody"]["content"]
    return [deepcopy(each["value"]) for each in media["application/json"]["examples"].values()]


def callable_alone(catalogue: Catalogue) -> list[Entry]:
    """The tools whose calls ask nobody: in a test, nobody answers."""
    return [each for each in catalogue.entries if not each.operation.asks]


@lru_cache(maxsize=1)
def _paths(openapi: bytes) -> dict[str, Any]:
    """Read once: the document is large, and the tests make thousands of calls with its examples."""
    paths: dict[str, Any] = msgspec.json.decode(openapi)["paths"]
    return paths

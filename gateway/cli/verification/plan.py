"""The calls to make: every example of every contract, in an order in which all can succeed."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct

from gateway.catalogue import Catalogue, Entry
from gateway.contract.operation import Effect
from gateway.contract.values.pointers import follow

_BODY: Final = "/post/requestBody/content/application~1json"


class Step(Struct, frozen=True):
    """One call."""

    entry: Entry
    example: str
    """The name of the example in the contract."""
    arguments: dict[str, Any]


def steps(catalogue: Catalogue, connector: str | None = None) -> tuple[Step, ...]:
    """The examples of all tools, or of one connector. For each connector, writes are first.

    So reads find the data that their examples need.
    """
    document = msgspec.json.decode(catalogue.openapi)
    entries = [e for e in catalogue.entries if connector in {None, e.operation.connector}]
    entries.sort(key=lambda e: (e.operation.connector, e.operation.effect is Effect.READ, e.id))
    return tuple(step for entry in entries for step in _steps(document, entry))


def _steps(document: dict[str, Any], entry: Entry) -> Iterator[Step]:
    item = document["paths"][entry.operation.route]
    for name, example in follow(item, _BODY).get("examples", {}).items():
        yield Step(entry, name, example["value"])

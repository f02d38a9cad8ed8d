"""The calls to make: every example of every contract, in an order in which all can succeed."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

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


class _Paths(Struct, frozen=True):
    paths: dict[str, Raw]


def steps(catalogue: Catalogue, connector: str | None = None) -> tuple[Step, ...]:
    """The examples of all contracts, or of one connector. For each connector, writes are first.

    So reads find the data that their examples need. Tools that ask their client are left out: the
    clients of a verification cannot answer.
    """
    entries = [
        each
        for each in catalogue.entries
        if connector in {None, each.operation.connector}
        and not (each.operation.is_imported or each.operation.asks)
    ]
    if not entries:
        return ()
    # With imported documents, the document is large, and only few of its paths are needed.
    paths = msgspec.json.decode(catalogue.openapi, type=_Paths).paths
    entries.sort(key=lambda e: (e.operation.connector, e.operation.effect is Effect.READ, e.id))
    return tuple(step for entry in entries for step in _steps(paths, entry))


def _steps(paths: dict[str, Raw], entry: Entry) -> Iterator[Step]:
    item = msgspec.json.decode(paths[entry.operation.route])
    for name, example in follow(item, _BODY).get("examples", {}).items():
        yield Step(entry, name, example["value"])

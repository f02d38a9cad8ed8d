"""Arguments of imported operations. Their documents have no examples of calls."""

from typing import Any

from gateway.backends.mock.samples import Schemas
from gateway.backends.mock.schemas import NoSample
from gateway.catalogue import Entry
from gateway.contract.selection import FIELDS


def made_arguments(entry: Entry, number: int = 1, seed: int = 0) -> list[dict[str, Any]]:
    """At most so many different valid arguments, without `fields`: no schema says its names.

    The first have as few members as possible. Empty: none are found.
    """
    schema = entry.listing.input_schema
    if entry.operation.selects_fields:
        others = {name: each for name, each in schema["properties"].items() if name != FIELDS}
        schema = {**schema, "properties": others}
    samples = Schemas(schema.get("$defs", {})).samples(schema)
    found: list[dict[str, Any]] = []
    for each in range(number):
        try:
            made = samples.sample(str(seed), entry.id, str(each), is_short=each == 0)
        except NoSample:
            continue
        if made not in found:
            found.append(made)
    return found

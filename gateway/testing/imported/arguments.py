"""Arguments of imported operations: valid ones, and ones that are wrong in one place.

Documents have no examples of calls, so valid arguments are made of the schema, as the mock makes
replies. Wrong ones are made of valid ones.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from gateway.backends.mock.schemas import NoSample
from gateway.catalogue import Entry
from gateway.cli.verification.imported import argument_samples
from gateway.contract.operation import ImportedBinding
from gateway.errors import CallerError

UNKNOWN: Final = "no_such_argument"
_MADE: Final = 3
_RETYPED: Final = 6
"""How many arguments get a value of another type."""
_OTHER_TYPES: Final[tuple[Any, ...]] = (["x"], {"x": 1}, "x", 1.5, True, None)


def made_arguments(entry: Entry, seed: int = 0) -> list[dict[str, Any]]:
    """Different valid arguments. The first have as few members as possible. Empty: none found."""
    samples = argument_samples(entry)
    found: list[dict[str, Any]] = []
    for number in range(_MADE):
        try:
            made = samples.sample(str(seed), entry.id, str(number), is_short=number == 0)
        except NoSample:
            continue
        if made not in found:
            found.append(made)
    return found


def sent_arguments(entry: Entry, seed: int = 0) -> dict[str, Any] | None:
    """Valid arguments that a request can carry, such as no empty path segment. None: none found."""
    binding = entry.operation.binding
    assert isinstance(binding, ImportedBinding)
    for arguments in made_arguments(entry, seed):
        with suppress(CallerError):
            binding.request(arguments)
            return arguments
    return None


def wrong_arguments(entry: Entry, arguments: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Arguments that differ from valid ones in one place, with what is wrong with them."""
    schema = entry.listing.input_schema
    wrong: dict[str, Any] = {f"unknown {UNKNOWN}": {**arguments, UNKNOWN: 1}, "no object": []}
    for name in schema.get("required", ()):
        rest = {each: value for each, value in arguments.items() if each != name}
        wrong[f"without {name}"] = rest
    for name in list(arguments)[:_RETYPED]:
        for other in _OTHER_TYPES:
            changed = {**arguments, name: other}
            if not entry.input.admits(changed):
                wrong[f"wrong {name}"] = changed
                break
    for what, each in wrong.items():
        yield what, json.dumps(each).encode()

"""The examples of the contracts speak of days that lie ahead, whenever they are run."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import msgspec

from gateway.catalogue import Catalogue, open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from tests.gateway_process import EXAMPLES_BEGIN

_DAY: Final = re.compile(r"^\d{4}-\d{2}-\d{2}")
_AHEAD: Final = frozenset(
    {"departure_date", "return_date", "deadline", "check_in", "check_out", "to"}
)
"""Arguments that the vendors refuse when they are past."""


def test_what_the_examples_ask_for_lies_ahead_of_the_time_that_they_are_run_at() -> None:
    """Mocks of `gateway verify` and of the tests begin at that time, in every year."""
    begin = datetime.fromisoformat(EXAMPLES_BEGIN).date().isoformat()
    asked = list(_days(open_catalogue("generated", HANDLER_PACKAGES)))
    assert len(asked) > 10
    assert [each for each in asked if each[1] <= begin] == []


def _days(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    document = msgspec.json.decode(catalogue.openapi)
    for entry in catalogue.entries:
        body = document["paths"][entry.operation.route]["post"]["requestBody"]
        for example in body["content"]["application/json"]["examples"].values():
            for name, text in _texts(example["value"]):
                if _DAY.match(text) and (name in _AHEAD or entry.operation.connector == "golf"):
                    yield f"{entry.id} {name}", text[:10]


def _texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _texts(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, name)
    elif isinstance(value, str):
        yield name, value

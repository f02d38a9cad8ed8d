"""The examples of the contracts have the same results whenever, and in any order, they are run."""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from gateway.catalogue import Catalogue, open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.testing.cases import example_cases
from gateway.testing.gateways import open_faces
from gateway.testing.suite.verdicts import answers_anew, known_values
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


async def test_two_gateways_hand_on_the_same_values(tmp_path: Path) -> None:
    """Or no seed could repeat a run: the deadline of a request is a day after now."""
    handed_on = []
    for name in ("one", "other"):
        async with open_faces(tmp_path / name) as faces:
            entry = faces.catalogue.find("avinode.create_rfp")
            handed_on.append(await known_values(faces, entry))

    assert "deadline" in handed_on[0]
    assert handed_on[0] == handed_on[1]


async def test_an_example_finds_what_other_examples_make(tmp_path: Path) -> None:
    """A message is sent to a thread that the example of another tool opens."""
    catalogue = open_catalogue("generated", HANDLER_PACKAGES)
    cases = example_cases(catalogue, "avinode")
    case = next(each for each in cases if each.contract == "avinode.send_message")
    found = await answers_anew(tmp_path, case)
    assert found.is_accepted


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

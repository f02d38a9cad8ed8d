"""The argument `fields`, over every transport, of a tool whose results are kept."""

import asyncio
import json
from typing import Any

from gateway.catalogue import Entry
from gateway.testing.gateways import Faces
from gateway.testing.generation import covering_arguments
from gateway.testing.transports import HANDSHAKE, MODERN

CITY = {"location": "Lisbon"}


def weather(faces: Faces) -> Entry:
    return faces.catalogue.find("weather.get_weather")


def asked(loop: asyncio.AbstractEventLoop, faces: Faces, *fields: Any) -> Any:
    arguments = json.dumps({**CITY, "fields": list(fields)}).encode()
    found = loop.run_until_complete(faces.ask_all(weather(faces), arguments))
    return list(found.answers.values())


def test_the_boundaries_of_other_arguments_come_without_an_empty_selection(
    gateway_faces: Faces,
) -> None:
    """It would be refused by itself, before the tool sees the other arguments."""
    entry = weather(gateway_faces)
    made = [json.loads(each) for each in covering_arguments(gateway_faces.catalogue, entry)]
    valid = [each for each in made if entry.input.admits(each)]

    assert all(each.get("fields") != [] for each in valid)
    assert len([each for each in valid if "fields" not in each]) > 5


def test_selections_share_one_answer_of_the_upstream(
    gateway_faces: Faces, gateway_loop: asyncio.AbstractEventLoop
) -> None:
    asked(gateway_loop, gateway_faces, "location")
    sent = gateway_faces.sent

    days = asked(gateway_loop, gateway_faces, "forecast.date")
    place = asked(gateway_loop, gateway_faces, "location.latitude")

    assert gateway_faces.sent == sent
    assert {name for day in days[0].body["forecast"] for name in day} == {"date"}
    assert [list(each.body["location"]) for each in place] == [["latitude"]] * len(place)


def test_a_name_that_is_not_of_the_result_is_refused_alike(
    gateway_faces: Faces, gateway_loop: asyncio.AbstractEventLoop
) -> None:
    sent = gateway_faces.sent

    verdicts = asked(gateway_loop, gateway_faces, "location", "forcast.date")

    assert {(v.status, v.code) for v in verdicts} == {(422, "VALIDATION_ERROR")}
    assert {v.errors for v in verdicts} == {frozenset({("/fields/1", "fields")})}
    assert "did you mean forecast?" in verdicts[0].body["errors"][0]["detail"]
    assert gateway_faces.sent == sent


def test_the_argument_of_an_operation_itself_is_left_alone(
    gateway_faces: Faces, gateway_loop: asyncio.AbstractEventLoop
) -> None:
    entry = gateway_faces.catalogue.find("sheets.search_client")

    assert entry.members is None
    arguments = b'{"query":"a","fields":["name"]}'
    for version in (MODERN, HANDSHAKE):
        verdict = gateway_loop.run_until_complete(gateway_faces.mcp(entry, arguments, version))
        assert verdict.code != "TOOL_NOT_FOUND"

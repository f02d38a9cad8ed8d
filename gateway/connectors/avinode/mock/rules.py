"""What the Avinode mock refuses although it is well-formed, and in which codes.

Avinode documents START_AIRPORT_INVALID and its like; the other codes here are ours, for refusals
that Avinode words only in sentences.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from gateway.connectors.avinode.mock.envelope import refused_as
from gateway.connectors.days import first_day
from gateway.contract.fields.conversion import as_date_time
from gateway.contract.mock import MockReply

_NO_AIRPORT: Final = frozenset("IJQX")
"""No ICAO code of an airport begins with one of these letters."""
_NOWHERE: Final = "ZZZZ"
"""ICAO's code for a place without a code."""


def invalid_airports(segments: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The errors of airports that Avinode does not accept."""
    sides = (("startAirport", "START_AIRPORT_INVALID"), ("endAirport", "END_AIRPORT_INVALID"))
    return [
        {"title": "The airport is not valid.", "code": code, "path": f"segments[{index}].{side}"}
        for index, segment in enumerate(segments)
        for side, code in sides
        if _is_no_airport(segment[side]["icao"])
    ]


def wrong_airports(segments: Sequence[Mapping[str, Any]]) -> MockReply | None:
    """The refusal to store anything that names an airport that is not valid, or None.

    Avinode may store what it can and answer 200 with the error. Nobody could fix what is stored by
    asking again, so the mock stores nothing.
    """
    for error in invalid_airports(segments):
        return refused_as(422, error["code"], error["title"], error["path"])
    return None


def wrong_segments(segments: Sequence[Mapping[str, Any]], now: datetime) -> MockReply | None:
    """The refusal of flights that nobody can fly, or None."""
    for index, segment in enumerate(segments):
        path = f"segments[{index}]"
        wrong = wrong_route(segment, path)
        if wrong is not None:
            return wrong
        if _is_past(segment["dateTime"], now):
            title = "The departure is in the past."
            return refused_as(422, "DEPARTURE_IN_PAST", title, f"{path}.dateTime")
    return None


def wrong_route(ends: Mapping[str, Any], path: str = "") -> MockReply | None:
    """The refusal of a flight to where it begins, or None."""
    start, end = ends["startAirport"]["icao"], ends["endAirport"]["icao"]
    if start != end:
        return None
    return refused_as(422, "SAME_AIRPORT", "Departure and arrival are the same airport.", path)


def wrong_days(days: Mapping[str, str], now: datetime) -> MockReply | None:
    """The refusal of a range of days that is over, or None."""
    if days["to"] >= first_day(now):
        return None
    return refused_as(422, "DATES_IN_PAST", "The last day is in the past.", "dateRange.to")


def _is_no_airport(code: str) -> bool:
    return code == _NOWHERE or code[0] in _NO_AIRPORT


def _is_past(departure: Mapping[str, Any], now: datetime) -> bool:
    """By the minute where the time is in UTC, else by the day."""
    day, time = departure["date"], departure.get("time")
    if day < first_day(now):
        return True
    if time is None or departure.get("local", True):
        return False
    try:
        return datetime.fromisoformat(as_date_time(f"{day}T{time}:00Z")) < now
    except ValueError:
        return False  # No such time of the day; the reader of the segment says so.

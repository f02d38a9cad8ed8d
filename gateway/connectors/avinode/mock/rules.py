"""Requests that the Avinode mock refuses although they are well-formed, with their codes.

Avinode documents START_AIRPORT_INVALID and similar codes. The other codes are ours, for errors that
Avinode documents only as sentences.
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
"""The ICAO code for a location without a code."""


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
    """The refusal of segments with an invalid airport, or None.

    Avinode may store the valid part and reply with 200 and the error. A repeated request could not
    correct that, so the mock stores nothing.
    """
    for error in invalid_airports(segments):
        return refused_as(422, error["code"], error["title"], error["path"])
    return None


def wrong_segments(segments: Sequence[Mapping[str, Any]], now: datetime) -> MockReply | None:
    """The refusal of impossible flights, or None."""
    for index, segment in enumerate(segments):
        path = f"segments[{index}]"
        wrong = wrong_route(segment, path)
        if wrong is not None:
            return wrong
        if _is_past(segment, now):
            title = "The departure is in the past."
            return refused_as(422, "DEPARTURE_IN_PAST", title, f"{path}.dateTime")
    return None


def wrong_route(ends: Mapping[str, Any], path: str = "") -> MockReply | None:
    """The refusal of a flight whose departure and arrival are the same airport, or None."""
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


def departure_of(segment: Mapping[str, Any]) -> datetime | None:
    """When a flight departs; None if its time is not in UTC, not known or no time of day."""
    leaves = segment["dateTime"]
    if leaves.get("time") is None or leaves.get("local", True):
        return None
    try:
        return datetime.fromisoformat(as_date_time(f"{leaves['date']}T{leaves['time']}:00Z"))
    except ValueError:
        return None  # Not a time of day; the code that reads the segment reports it.


def _is_past(segment: Mapping[str, Any], now: datetime) -> bool:
    """Compares minutes if the time is in UTC, otherwise days."""
    departure = departure_of(segment)
    return segment["dateTime"]["date"] < first_day(now) or (
        departure is not None and departure < now
    )

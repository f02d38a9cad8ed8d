"""The pure functions of the connector `weather`."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.connectors.weather.tools import (
    MAX_DAYS,
    Coordinates,
    current_of,
    days_of,
    parse_coordinates,
    place_query,
    units_of,
)
from tests.unit import shipped
from tests.unit.tables import each_of


def is_admitted(location):
    entry = shipped.catalogue().find("weather.get_weather")
    return entry.input.admits({"location": location})


LETTERLESS = re.compile(r"[0-9 +.,\t\r\n-]*")
START = 1_795_186_800
latitudes = st.decimals(-90, 90, places=4)
longitudes = st.decimals(-180, 180, places=4)


def step(at, low=10.0, high=12.0, kind="Clear", pop=0.0, speed=3.0, **more):
    return {
        "dt": at,
        "main": {"temp_min": low, "temp_max": high},
        "weather": [{"main": kind, "description": kind.lower()}],
        "wind": {"speed": speed},
        "pop": pop,
        **more,
    }


@given(latitude=latitudes, longitude=longitudes, blank=st.sampled_from(["", " "]))
def test_every_point_of_the_globe_can_be_asked_for(latitude, longitude, blank):
    text = f"{latitude},{blank}{longitude}"
    assert parse_coordinates(text) == Coordinates(float(latitude), float(longitude))
    assert is_admitted(text)


@given(text=st.one_of(st.text("0123456789+-., ", min_size=1, max_size=24), st.text(max_size=24)))
def test_what_the_contract_admits_without_a_letter_is_a_point_on_the_globe(text):
    """So that nothing which looks like coordinates is ever looked up as a name."""
    point = parse_coordinates(text)
    if is_admitted(text) and LETTERLESS.fullmatch(text):
        assert point is not None
    if point is not None:
        assert abs(point.latitude) <= 90
        assert abs(point.longitude) <= 180
        assert is_admitted(text)


@each_of(
    "text",
    [
        "90.1,0",
        "-91,0",
        "0,180.01",
        "0,-181",
        "1",
        "1,2,3",
        "1e1,2",
        "\u0661,\u0662",
        "0x1,2",
        ",",
        "1,",
        "",
    ],
)
def test_what_is_no_point_on_the_globe_is_not_parsed(text):
    assert parse_coordinates(text) is None


@each_of("text", ["90.1,0", "0,180.01", "12345", "1,2,3", ", ,", " ", "1 2", "Paris\nFR"])
def test_what_is_neither_a_point_nor_a_name_is_refused(text):
    assert not is_admitted(text)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Paris", "Paris"),
        ("Paris, FR", "Paris,FR"),
        (" Springfield ,IL,  US ", "Springfield,IL,US"),
        ("Paris,,FR,", "Paris,FR"),
        ("\u00a0,", ""),
    ],
)
def test_only_commas_stand_between_the_parts_of_a_name(text, query):
    assert place_query(text) == query


@given(
    count=st.integers(0, 40),
    start=st.integers(0, 250_000_000_000 - 40 * 10_800),
    offset=st.integers(-43_200, 50_400),
    lows=st.lists(st.floats(-60, 60), min_size=40, max_size=40),
)
def test_days_are_whole_ordered_and_local(count, start, offset, lows):
    """Every step lies in exactly one day, and a day spans what its steps span."""
    steps = [step(start + n * 10_800, low=lows[n], high=lows[n] + 2) for n in range(count)]
    days = days_of(steps, offset)
    dates = [day["date"] for day in days]
    zone = timedelta(seconds=offset)
    local = [(datetime.fromtimestamp(each["dt"], UTC) + zone).date().isoformat() for each in steps]
    assert dates == sorted(set(local))
    assert len(days) <= MAX_DAYS
    for day in days:
        own = [low for low, date in zip(lows, local, strict=False) if date == day["date"]]
        assert day["temperature_min"] == min(own)
        assert day["temperature_max"] == max(own) + 2


def test_a_day_is_reported_by_its_most_frequent_weather_and_its_extremes():
    steps = [
        step(START, kind="Rain", pop=0.4, speed=2, rain={"3h": 0.25}),
        step(START + 10_800, kind="Clouds", pop=0.644, speed=9),
        step(START + 21_600, kind="Clouds", snow={"3h": 1.5}, rain={"3h": 0.5}),
    ]
    (day,) = days_of(steps, 0)
    assert (day["condition"], day["description"]) == ("Clouds", "clouds")
    assert day["precipitation_probability"] == 64
    assert (day["precipitation"], day["wind_speed_max"]) == (2.25, 9)


def test_of_two_kinds_that_are_as_frequent_the_earlier_counts():
    steps = [step(START, kind="Rain"), step(START + 10_800, kind="Clear")]
    assert days_of(steps[::-1], 0)[0]["condition"] == "Rain"


def test_what_a_reply_lacks_is_left_out():
    weather = {
        "dt": START,
        "main": {"temp": 1, "feels_like": 0, "pressure": 1000, "humidity": 50},
        "weather": [{"main": "Snow", "description": "light snow"}],
        "wind": {"speed": 2},
    }
    assert not {"wind_gust", "visibility", "cloud_cover"} & current_of(weather).keys()
    assert current_of(weather)["precipitation_last_hour"] == 0
    assert current_of({**weather, "snow": {"1h": 0.6}})["precipitation_last_hour"] == 0.6


@pytest.mark.parametrize(("system", "degrees"), [("metric", "°C"), ("imperial", "°F")])
def test_units_have_names(system, degrees):
    assert units_of(system)["temperature"] == degrees

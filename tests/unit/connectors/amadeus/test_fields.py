"""The airport of a city: what is asked for, and what is made of the answer."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.connectors.amadeus import fields as amadeus
from gateway.contract.fields.fieldmap import Unmappable
from gateway.errors import ToolFailed
from tests.unit.connectors.travel import admits_result, answers
from tests.unit.tables import each_of

SUPPORTED = re.compile(r"[A-Za-z0-9./:()'\" -]+")


def location(kind, code, city, *, country="US", name=None):
    address = {"cityName": city, "cityCode": code, "countryCode": country}
    return {"subType": kind, "iataCode": code, "name": name or f"{city} {code}", "address": address}


def result(locations, city_name):
    """What the field map makes of the functions."""
    members = ("code", "name", "kind", "city_code", "city_name", "country_code")
    made = {name: getattr(amadeus, f"best_{name}")(locations, city_name) for name in members}
    return {**made, "alternatives": amadeus.alternatives(locations, city_name)}


@each_of(
    ("city_name", "expected"),
    [
        ("New York", "New York"),
        ("São Paulo", "Sao Paulo"),
        ("Łódź", "Lodz"),
        ("Tromsø", "Tromso"),
        ("  San   José ", "San Jose"),
        ("Sant\u2019Anna", "Sant'Anna"),
        ("東京 Tokyo", "Tokyo"),
        ("Weißenburg", "Weissenburg"),
        ("Nice&page[limit]=1", "Nice page limit 1"),
    ],
)
def test_names_are_asked_for_in_the_characters_that_amadeus_knows(city_name, expected):
    assert amadeus.keyword(city_name) == expected


@pytest.mark.parametrize("city_name", ["東京", "-", "()", "   ", "\u0000"])
def test_a_name_without_latin_letters_cannot_be_asked_for(city_name):
    with pytest.raises(Unmappable) as caught:
        amadeus.keyword(city_name)
    assert caught.value.pointer == "/city_name"


@given(st.text(min_size=1, max_size=100))
def test_whatever_is_sent_is_supported(city_name):
    try:
        sent = amadeus.keyword(city_name)
    except Unmappable:
        return
    assert SUPPORTED.fullmatch(sent)
    assert amadeus.keyword(sent) == sent


def test_the_busiest_airport_of_the_city_with_that_name_is_the_answer():
    """`York` begins a word of `New York`; London in Canada comes behind the one in England."""
    found = [
        location("CITY", "LON", "LONDON", country="GB"),
        location("AIRPORT", "NYC", "NEW LONDON"),
        location("AIRPORT", "LHR", "LONDON", country="GB"),
        location("AIRPORT", "YXU", "LONDON", country="CA"),
    ]
    made = result(found, "london")
    assert (made["code"], made["kind"], made["country_code"]) == ("LHR", "airport", "GB")
    assert [each["code"] for each in made["alternatives"]] == ["NYC", "YXU"]


def test_the_busiest_that_fits_is_the_answer_when_no_city_has_just_that_name():
    found = [location("AIRPORT", "JFK", "NEW YORK"), location("AIRPORT", "YYZ", "YORK MILLS")]
    assert result(found, "York")["code"] == "JFK"


def test_a_city_without_an_airport_stands_for_itself():
    made = result([location("CITY", "QDU", "DUESSELDORF", country="DE")], "Duesseldorf")
    assert (made["code"], made["kind"], made["alternatives"]) == ("QDU", "city", [])


@pytest.mark.parametrize("locations", [[], [{"subType": "DISTRICT", "iataCode": "X", "name": "X"}]])
def test_nothing_that_fits_is_a_declared_error(locations):
    for function in (amadeus.best_code, amadeus.alternatives):
        with pytest.raises(ToolFailed) as caught:
            function(locations, "Nowhere")
        assert caught.value.reason == "city_not_found"


@settings(suppress_health_check=list(HealthCheck))
@given(
    body=answers("searchLocations"),
    kind=st.sampled_from(["AIRPORT", "CITY", "DISTRICT"]),
    city_name=st.text(min_size=1, max_size=20),
)
def test_every_answer_of_amadeus_becomes_a_result_or_the_declared_error(body, kind, city_name):
    body["data"][0]["subType"] = kind
    kinds = {each["subType"] for each in body["data"]}
    if kinds.isdisjoint({"AIRPORT", "CITY"}):
        with pytest.raises(ToolFailed, match="failed"):
            result(body["data"], city_name)
    else:
        made = result(body["data"], city_name)
        assert admits_result("amadeus.get_airport_code", made)

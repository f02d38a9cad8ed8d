"""From a search to the quotes: the same story over every transport and both backends."""

from pathlib import Path

from tests.clocks import ManualClock
from tests.workflow.gateways import KEY, on_live, on_mock, run_story
from tests.workflow.story import OPERATORS_ASKED, START, Story, run
from tests.workflow.transports import TRANSPORTS


def test_the_search_finds_aircraft_of_enough_operators(story: Story) -> None:
    assert story.found["total"] == len(story.found["aircraft"])
    assert len(story.asked) == OPERATORS_ASKED
    assert all(aircraft["capacity"] >= 6 for aircraft in story.found["aircraft"])


def test_every_operator_asked_is_notified_and_none_has_answered_yet(story: Story) -> None:
    assert story.rfp["operators_notified"] == OPERATORS_ASKED
    assert story.at_once["total_operators"] == OPERATORS_ASKED
    assert story.at_once["responded"] == 0
    assert story.at_once["pending"] == OPERATORS_ASKED
    assert story.quotes_at_once == {"rfp_id": story.rfp["rfp_id"], "quotes": [], "total": 0}


def test_answers_arrive_as_time_passes_and_are_never_taken_back(story: Story) -> None:
    statuses = [story.at_once, *story.after_minutes, story.after_a_day]
    responded = [status["responded"] for status in statuses]
    assert responded == sorted(responded)
    assert responded[0] < responded[-1]
    assert all(s["responded"] + s["pending"] == OPERATORS_ASKED for s in statuses)


def test_every_quote_is_of_an_operator_that_was_asked(story: Story) -> None:
    assert story.quotes["quotes"]
    assert {quote["operator_id"] for quote in story.quotes["quotes"]} <= set(story.asked)
    assert story.quotes["total"] == len(story.quotes["quotes"]) <= story.after_a_day["responded"]


def test_the_status_reports_the_first_answer_no_later_than_any_quote(story: Story) -> None:
    minutes = [quote["response_time_minutes"] for quote in story.quotes["quotes"]]
    assert story.after_a_day["first_response_time_minutes"] <= min(minutes)


def test_every_transport_reports_the_same_story(stories: dict[str, Story]) -> None:
    """Fresh gateways with the same seed and the same clock answer alike, to the last field."""
    assert stories == dict.fromkeys(TRANSPORTS, stories["rest"])


async def test_the_live_backend_reports_the_same_story_as_the_mock(
    stories: dict[str, Story], tmp_path: Path
) -> None:
    """The mock upstream over HTTP, reached like the real one, differs in nothing."""
    over_http = await run_story(on_live, TRANSPORTS["rest"], tmp_path / "live")
    assert over_http == stories["rest"]


async def test_what_one_transport_creates_every_transport_reads(tmp_path: Path) -> None:
    """One gateway, one request for proposals: the transports show the same state of it."""
    clock = ManualClock(START)
    async with on_mock(clock, tmp_path) as url:
        async with TRANSPORTS["rest"](url, KEY) as call:
            story = await run(call, clock)
        for open_transport in TRANSPORTS.values():
            async with open_transport(url, KEY) as call:
                rfp = {"rfp_id": story.rfp["rfp_id"]}
                assert await call("avinode.get_quote_status", rfp) == story.after_a_day
                assert await call("avinode.get_quotes", rfp) == story.quotes

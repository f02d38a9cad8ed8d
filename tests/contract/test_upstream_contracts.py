"""What the gateway sends to an upstream is judged by an authority that shares no code with it.

Faults are planted into the encoder. Mocks answer many of them with a success, or with a refusal
that the tool may declare, which without the authority is no failure.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.backends.wire import WireEncoder, WireReply, WireRequest
from gateway.testing import gateways
from gateway.testing.cases import Case, first_example
from gateway.testing.fixtures import Loop
from gateway.testing.gateways import Faces, WatchedWire
from gateway.testing.judging import Verdict, judged
from gateway.testing.runs import SuiteRun
from gateway.testing.transports import REST, BrokenAnswer
from gateway.testing.upstream_contracts import contract_of, literal, taken
from tests.gateway_process import REPOSITORY

SHEET, AIRPORTS, WATCH = "sheets.read_sheet", "amadeus.get_airport_code", "avinode.create_watch"
FORECAST = WireRequest(
    method="GET", target="/data/2.5/forecast?lat=48.8589&lon=2.3200", headers=(("Accept", "*/*"),)
)


def target(was: str, becomes: str) -> tuple[str, Callable[[str], str]]:
    """The encoder writes something else into targets."""

    def changed(text: str) -> str:
        assert was in text
        return text.replace(was, becomes)

    return "_target", changed


def without_a_price(content: tuple[str, bytes]) -> tuple[str, bytes]:
    members = json.loads(content[1])
    del members["maximumPrice"]
    return content[0], json.dumps(members).encode()


PLANTED: dict[str, tuple[str, tuple[str, Callable[[Any], Any]]]] = {
    "a wrong name in the query": (AIRPORTS, target("view=", "views=")),
    "an argument that is lost": (SHEET, target("&dateTimeRenderOption=FORMATTED_STRING", "")),
    "explode instead of commas": (
        AIRPORTS,
        target("subType=AIRPORT%2CCITY", "subType=AIRPORT&subType=CITY"),
    ),
    "a path that is escaped twice": (SHEET, target("%21", "%2521")),
    "a path that is not escaped": (SHEET, target("%27Flight%20", "'Flight ")),
    "an optional member of the body that is dropped": (WATCH, ("_content", without_a_price)),
    "another media type": (WATCH, ("_content", lambda content: ("text/plain", content[1]))),
}


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """What a test plants is its own."""
    yield
    taken()


def verdicts(faces: Faces, loop: Loop, tool: str) -> list[Verdict]:
    *_, last = faces.catalogue.examples(faces.catalogue.find(tool)).values()
    # Whatever is admitted may be refused as the tool declares.
    case = Case(tool, json.dumps(last).encode(), "planted", "admitted")
    return loop.run_until_complete(faces.verdicts(case))


def found(faces: Faces, loop: Loop, tool: str) -> set[tuple[str, str]]:
    failed = [each for each in verdicts(faces, loop, tool) if each.oracle == "request"]
    document = f"/upstreams/{tool.partition('.')[0]}/openapi.yaml#"
    assert all(document in each.cause and "curl -sS -X" in each.cause for each in failed)
    return {(each.transport, each.outcome) for each in failed}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_request_against_the_contract_is_found_over_each_transport(
    gateway_faces: Faces, gateway_loop: Loop, monkeypatch: pytest.MonkeyPatch, planted: str
) -> None:
    tool, (part, change) = PLANTED[planted]
    encoded = getattr(WireEncoder, part)
    assert found(gateway_faces, gateway_loop, tool) == set()

    monkeypatch.setattr(WireEncoder, part, lambda *given: change(encoded(*given)))

    assert ("REST", "failed") in found(gateway_faces, gateway_loop, tool)


def test_a_header_that_the_contract_does_not_have_is_found(
    gateway_faces: Faces, gateway_loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = WatchedWire.exchange

    async def changed(wire: WatchedWire, request: WireRequest) -> Any:
        return await exchange(wire, replace(request, headers=(*request.headers, ("X-Other", "1"))))

    monkeypatch.setattr(WatchedWire, "exchange", changed)

    assert found(gateway_faces, gateway_loop, WATCH)


@pytest.mark.parametrize(
    ("target", "what"),
    [
        ("/data/2.5/forecast?lat=north&lon=2.32", "the query parameter lat is not valid by"),
        ("/data/2.5/forecast?lat=1&lon=181", "the query parameter lon is not valid by"),
        ("/data/2.5/forecast?lat=1", "the query parameter lon is missing"),
        ("/data/2.5/forecast?lat=1&lat=2&lon=1", "the query parameter lat is not valid by"),
        ("/data/2.5/forecasts?lat=1&lon=1", "it has no operation"),
    ],
)
def test_what_the_document_says_of_parameters_is_kept(target: str, what: str) -> None:
    contract = contract_of(REPOSITORY / "schemas", "weather")
    assert contract.breach_of_request(FORECAST) is None

    breach = contract.breach_of_request(replace(FORECAST, target=target))

    assert breach is not None
    assert breach.what.startswith(what)
    assert breach.path.endswith("/upstreams/weather/openapi.yaml")


def test_an_answer_of_a_mock_against_the_contract_is_found() -> None:
    contract = contract_of(REPOSITORY / "schemas", "weather")
    headers = {"content-type": "application/json"}

    def breach(status: int, body: bytes) -> Any:
        return contract.breach_of_reply(
            FORECAST, WireReply(status=status, headers=headers, body=body)
        )

    assert "is not valid by" in str(breach(200, b'{"list": 1}'))
    assert "is no JSON" in str(breach(200, b"{"))
    assert "which is not declared" in str(breach(201, b"{}"))


def test_what_no_case_is_about_fails_the_test_that_sent_it(
    gateway_faces: Faces, gateway_loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test that judges no case, and sees a refusal that the tool may declare."""
    change = PLANTED["a wrong name in the query"][1][1]
    encoded = WireEncoder._target
    monkeypatch.setattr(WireEncoder, "_target", lambda *given: change(encoded(*given)))
    entry = gateway_faces.catalogue.find(AIRPORTS)
    arguments = json.dumps(first_example(gateway_faces.catalogue, entry)).encode()
    run: Any = None
    item: Any = SimpleNamespace(
        function=SimpleNamespace(__module__="gateway.testing.suite.openapi")
    )

    calling = SuiteRun.pytest_runtest_call(run, item)
    next(calling)
    gateway_loop.run_until_complete(gateway_faces.rest(entry, arguments))

    with pytest.raises(pytest.fail.Exception, match="no query parameter 'views'"):
        next(calling)


@pytest.mark.parametrize(
    ("target", "is_right"),
    [
        ("/a/b%20c:append?x=1&y=%2F", True),
        ("/", True),
        ("/a b", False),
        ("/a/\u00e9", False),
        ("/a%2", False),
        ("a", False),
    ],
)
def test_what_is_sent_has_an_encoded_path(target, is_right):
    contract = contract_of(REPOSITORY / "schemas", "weather")
    breach = contract.breach_of_request(replace(FORECAST, target=target))
    assert breach is not None
    assert ("is not escaped" not in breach.what) is is_right


async def silent() -> Any:
    await asyncio.Event().wait()


async def contradicting() -> Any:
    raise BrokenAnswer("it says two things")


@pytest.mark.parametrize(
    ("call", "code"), [(silent, "NO_ANSWER"), (contradicting, "BROKEN_ANSWER")]
)
def test_a_call_without_a_usable_answer_fails_and_the_suite_goes_on(
    gateway_loop: Loop, monkeypatch: pytest.MonkeyPatch, call: Any, code: str
) -> None:
    monkeypatch.setattr(gateways, "HANGING_SECONDS", 0.0)

    found = gateway_loop.run_until_complete(gateways._answered(call))

    assert (found.accepted, found.code) == (False, code)
    for expectation in ("result", "answer", "admitted", "invalid"):
        case = Case("example.greet", b'{"name": "Ada"}', "planted", expectation)
        verdicts_on = judged(case, gateways.catalogue_under_test(), {REST: found})
        assert [each.outcome for each in verdicts_on] == ["failed"]


def test_a_path_is_read_in_one_way() -> None:
    """Or each character of a path that is another one doubles the time."""
    assert "|" not in literal("/v1/hotels-2.0~a_b")
    assert "|" in literal("/a b")

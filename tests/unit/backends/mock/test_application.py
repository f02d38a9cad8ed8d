"""The mock of an upstream: routing, checking, faults, and the promise to keep its contract."""

import json
import sys
from types import ModuleType

import msgspec
import pytest

from gateway.backends.mock.application import MockApplication, MockBrokeContract, MockOptions
from gateway.backends.mock.faults import parse_step
from gateway.backends.mock.state import StoredState
from gateway.backends.wire import WireRequest
from gateway.contract.connector import mock_behaviours
from gateway.contract.mock import MAX_ROWS, MockRefused, MockReply
from gateway.contract.upstream import UpstreamOperation
from gateway.contract.values.schema import Validator
from gateway.errors import ContractError

HEADERS = {"Authorization": "Bearer t0k", "X-Sent": "now", "X-Product": "test"}
JSON = {"Content-Type": "application/json"}


def wire(method="GET", target="/books/7", body=None, **headers):
    given = {**HEADERS, **{name.replace("_", "-"): value for name, value in headers.items()}}
    kept = tuple((name, value) for name, value in given.items() if value)
    return WireRequest(method=method, target=target, headers=kept, body=body)


@pytest.fixture
def application(library, clock):
    return MockApplication(library, clock)


@pytest.fixture
def behaving(library, clock, monkeypatch):
    """An application whose `readBook` answers what the test says."""

    def build(behaviour, **options):
        module = ModuleType("library_mock")
        module.BEHAVIOURS = mock_behaviours(module.__name__, {"readBook": behaviour})
        module.refuse = lambda refusal: {"error": refusal.title}
        module.finish = lambda reply: reply
        monkeypatch.setitem(sys.modules, "library_mock", module)
        return MockApplication(
            msgspec.structs.replace(library, mock="library_mock"), clock, **options
        )

    return build


async def test_without_behaviour_the_contracts_example_is_the_answer(application):
    reply = await application.handle(wire())
    assert (reply.status, json.loads(reply.body)) == (200, {"id": 7, "title": "Emma"})


async def test_a_reply_that_is_declared_without_a_body_has_none(application):
    reply = await application.handle(wire("DELETE"))
    assert (reply.status, reply.body) == (204, b"")


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (wire(target="/shelves"), 404),
        (wire(target="/books/7/pages"), 404),
        (wire("PUT"), 405),
        (wire(target="/books/seven"), 400),
        (wire(target="/books/7?full=perhaps"), 400),
        (wire(target="/books/7?full=true&full=true"), 400),
        (wire(target="/books/7?tags=a,b,c"), 400),
        (wire(target="/books/7?surplus=1"), 400),
        (wire(body=b"{}"), 400),
        (wire(Authorization=""), 401),
        (wire(Authorization="Basic t0k"), 401),
        (wire(X_Sent=""), 400),
        (wire("POST", "/books", b'{"id":1,"title":"x"}'), 400),
        (wire("POST", "/books", b"{", **JSON), 400),
        (wire("POST", "/books", b'{"id":1}', **JSON), 422),
        (wire(Mock_Fault="nonsense"), 400),
    ],
)
async def test_a_request_outside_the_contract_is_refused(application, request_, status):
    reply = await application.handle(request_)
    assert reply.status == status
    assert "error" in json.loads(reply.body)


async def test_a_refused_method_names_the_allowed_ones(application):
    reply = await application.handle(wire("PUT"))
    assert reply.headers["allow"] == "DELETE, GET"


async def test_arguments_reach_the_behaviour_with_their_types(behaving):
    seen = []

    def behaviour(request, _state):
        seen.append(request)
        return MockReply(body={"id": request.path["id"], "title": "x"})

    await behaving(behaviour).handle(wire(target="/books/12?full=true&tags=a,b", X_Shelf="A3"))
    assert seen[0].path == {"id": 12}
    assert seen[0].query == {"full": True, "tags": ["a", "b"]}
    assert seen[0].headers["x-shelf"] == "A3"


@pytest.mark.parametrize(
    "reply",
    [
        MockReply(body={"id": "seven", "title": "x"}),
        MockReply(status=404, body={"oops": 1}),
        MockReply(body=None),
    ],
)
async def test_a_behaviour_that_breaks_the_contract_is_a_loud_defect(behaving, reply):
    """The mock must never teach the gateway something that the upstream would not do."""
    with pytest.raises(MockBrokeContract, match="readBook"):
        await behaving(lambda _request, _state: reply).handle(wire())


async def test_a_behaviour_may_say_what_kind_of_json_it_answers(behaving):
    headers = {"content-type": "application/problem+json"}
    body = {"id": 1, "title": "x"}
    reply = await behaving(lambda *_: MockReply(headers=headers, body=body)).handle(wire())
    assert reply.headers["content-type"] == "application/problem+json"


async def test_a_success_that_is_not_declared_is_a_defect(library, clock):
    operation = msgspec.structs.replace(library.operations[0], replies={"404": {}}, examples={})
    upstream = msgspec.structs.replace(library, operations=(operation,))
    with pytest.raises(MockBrokeContract):
        await MockApplication(upstream, clock).handle(wire())


async def test_the_same_seed_gives_the_same_chance(behaving):
    """By the request, or by a salt of the behaviour's choice; another seed gives another."""

    def behaviour(request, _state):
        chance = f"{request.random().random()} {request.random('salt').random()}"
        return MockReply(body={"id": 1, "title": chance})

    async def title(seed, target="/books/7"):
        reply = await behaving(behaviour, options=MockOptions(seed=seed)).handle(
            wire(target=target)
        )
        return json.loads(reply.body)["title"].split()

    assert await title("a") == await title("a")
    assert await title("a") != await title("b")
    other = await title("a", "/books/8")
    assert other[0] != (await title("a"))[0]
    assert other[1] == (await title("a"))[1]


async def test_a_fault_answers_another_status(application):
    reply = await application.handle(wire(Mock_Fault="status=429;retry-after=2"))
    assert (reply.status, reply.headers["retry-after"]) == (429, "2")


async def test_a_fault_uses_up_the_rate_limit(application):
    reply = await application.handle(wire(Mock_Fault="exhausted=30"))
    assert (reply.headers["x-remaining"], reply.headers["x-reset"]) == ("0", "30")


async def test_a_fault_truncates_the_body(application):
    reply = await application.handle(wire(Mock_Fault="truncate"))
    with pytest.raises(ValueError, match="char"):
        json.loads(reply.body)


async def test_a_fault_breaks_the_contract_and_stays_json(application, library):
    reply = await application.handle(wire(Mock_Fault="break-contract"))
    gate = Validator(library.operations[0].replies["2XX"])
    assert not gate.admits(json.loads(reply.body))


async def test_a_scenario_is_used_up_call_by_call(library, clock):
    application = MockApplication(library, clock, scenario=[parse_step("readBook 2 status=503")])
    assert [(await application.handle(wire())).status for _ in range(3)] == [503, 503, 200]


@pytest.mark.parametrize(
    ("name", "problem"), [("no.such.module", "imported"), ("json", "mock_behaviours")]
)
def test_a_behaviour_module_that_cannot_be_used_is_named(library, clock, name, problem):
    upstream = msgspec.structs.replace(library, mock=name)
    with pytest.raises(ContractError, match=f"{name}.*{problem}"):
        MockApplication(upstream, clock)


def test_a_behaviour_module_that_does_not_run_is_named(library, clock, tmp_path, monkeypatch):
    (tmp_path / "broken_mock.py").write_text("BEHAVIOURS = nothing", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    upstream = msgspec.structs.replace(library, mock="broken_mock")
    with pytest.raises(ContractError, match="broken_mock cannot be imported: NameError: name"):
        MockApplication(upstream, clock)


def test_a_table_keeps_the_newest_rows():
    state = StoredState()
    for number in range(MAX_ROWS + 1):
        state.add("books", str(number), {})
    assert state.find("books", "0") is None
    assert state.find("books", str(MAX_ROWS)) == {}


def test_ids_are_numbered_by_prefix():
    state = StoredState()
    assert [state.new_id("a"), state.new_id("a"), state.new_id("b")] == [
        "a-10000001",
        "a-10000002",
        "b-10000001",
    ]


async def test_what_a_behaviour_refuses_is_answered_and_what_it_stored_stays(behaving):
    def full(request, state):
        state.add("tried", state.new_id("t"), {})
        raise MockRefused(MockReply(status=409, body={"error": "The shelf is full."}))

    state = StoredState()
    reply = await behaving(full, state=state).handle(wire())
    assert (reply.status, json.loads(reply.body)) == (409, {"error": "The shelf is full."})
    assert state.find("tried", "t-10000001") == {}


async def test_a_refusal_without_a_behaviour_module_has_a_plain_body(application):
    body = json.loads((await application.handle(wire(target="/books/seven"))).body)
    title = "A parameter is not valid."
    assert body == {"error": {"status": 400, "title": title, "path": "id"}}


async def test_a_form_is_read_with_the_types_of_its_members(library, clock):
    members = {
        "count": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "integer"}},
        "about": {"type": "object"},
    }
    read = UpstreamOperation(
        id="form",
        method="POST",
        path="/form",
        request_schema={"type": "object", "properties": members},
        takes_form=True,
        is_body_required=False,
        replies={"204": None},
    )
    operations = (read, msgspec.structs.replace(read, id="deep", path="/deep", encoding={"t": {}}))
    upstream = msgspec.structs.replace(library, operations=operations)
    application = MockApplication(upstream, clock)
    form = {"Content_Type": "application/x-www-form-urlencoded"}

    async def status(target, body, **headers):
        return (await application.handle(wire("POST", target, body, **headers))).status

    assert await status("/form", b"count=7&tags=1&about=%7B%22a%22%3A1%7D", **form) == 204
    assert await status("/form", b"count=seven", **form) == 422
    assert await status("/form", None) == 204
    assert await status("/deep", b"t%5B0%5D%5Ba%5D=1", **form) == 204

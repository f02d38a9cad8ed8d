"""The mock of an imported document: routing, samples, checks, faults and credentials."""

import asyncio
import json
import threading

import msgspec
import pytest

from gateway.backends.mock.application import MockApplication
from gateway.backends.mock.faults import parse_step
from gateway.contract.imported import ImportedParameter, ImportedReply, SecurityUse
from gateway.contract.schemas.samples import Samples, Schemas
from gateway.contract.slots import CredentialSlot
from gateway.contract.upstream import Reply
from gateway.encoding.replies.decoder import ReplyDecoder
from tests.clocks import ManualClock
from tests.shelter import (
    DEFINITIONS,
    OPERATIONS,
    PET,
    answers,
    connector,
    opened,
    operation,
    sender,
)
from tests.unit.tables import each_of

PROBLEM = "application/problem+json"
READS = [each for each in OPERATIONS if each.method == "GET" and "{" not in each.path]


async def test_the_same_seed_gives_the_same_answers():
    async def answer(seed, target):
        return (await sender(opened(connector(*OPERATIONS), seed=seed))("GET", target)).body

    assert await answer("1", "/search?q=a") == await answer("1", "/search?q=a")
    assert await answer("1", "/search?q=a") != await answer("2", "/search?q=a")
    assert await answer("1", "/search?q=a") != await answer("1", "/search?q=b")
    assert await answer("1", "/pets") != await answer("2", "/pets")


async def test_a_credential_does_not_change_the_answer(send):
    one = await send("GET", "/search?q=a&api_key=1")
    assert one.body == (await send("GET", "/search?q=a&api_key=2")).body


@each_of("found", [each for each in READS if each.tool != "impossible"])
async def test_every_answer_is_valid_by_the_document(send, found):
    reply = await send("GET", f"{found.path}?q=a&api_key=1")
    assert reply.status == 200
    decoder = ReplyDecoder(found, DEFINITIONS)
    result = decoder.result(Reply(status=200, headers=reply.headers, body=reply.body))
    assert result is not None


async def test_the_concrete_path_wins(send):
    reply = await send("GET", "/pets/newest")
    assert (reply.status, json.loads(reply.body)["kind"] in {"cat", "dog"}) == (200, True)


async def test_a_header_and_a_query_distinguish_operations_of_one_path():
    def one(tool, location, name, value):
        parameter = ImportedParameter(
            member=name, name=name, location=location, style="form", is_required=True
        )
        schema = {"type": "integer", "const": value}
        return operation(
            tool,
            "POST",
            "/",
            answers(schema),
            parameters=(parameter,),
            inputs={name: {"type": "string", "enum": [f"Api.{tool}"]}},
        )

    found = (
        operation("plain", "POST", "/", answers({"type": "integer", "const": 0})),
        one("get", "header", "Target", 1),
        one("put", "header", "Target", 2),
        one("format", "query", "format", 3),
    )
    send = sender(opened(connector(*found)))
    replies = [
        await send("POST", "/", Target="Api.get"),
        await send("POST", "/", Target="Api.put"),
        await send("POST", "/?format=Api.format"),
        await send("POST", "/"),
    ]
    assert [json.loads(each.body) for each in replies] == [1, 2, 3, 0]


async def test_the_path_of_the_base_url_may_come_first(send):
    made = await send("POST", "/v2/pets", {"name": "Tom", "kind": "cat"})
    pet = json.loads(made.body)
    assert json.loads((await send("GET", f"/pets/{pet['id']}")).body) == pet


@pytest.mark.parametrize(
    ("method", "target", "status", "allow"),
    [("GET", "/nothing", 404, None), ("DELETE", "/pets", 405, "GET, POST")],
)
async def test_unknown_paths_and_methods_are_problems(send, method, target, status, allow):
    reply = await send(method, target)
    assert (reply.status, reply.headers.get("allow")) == (status, allow)
    assert json.loads(reply.body)["status"] == status
    assert reply.headers["content-type"] == PROBLEM


async def test_what_cannot_be_answered_is_501_with_its_place(send):
    reply = await send("GET", "/impossible")
    problem = json.loads(reply.body)
    assert (reply.status, problem["operation"]) == (501, "shelter.impossible")
    assert problem["pointer"] == "/paths/~1impossible/get"
    assert "no number is within the bounds" in problem["detail"]


async def test_a_definition_that_does_not_exist_is_501():
    broken = operation("broken", "GET", "/broken", answers({"$ref": "#/$defs/Nothing"}))
    reply = await sender(opened(connector(broken)))("GET", "/broken")
    assert reply.status == 501
    assert "#/$defs/Nothing does not exist" in json.loads(reply.body)["detail"]


@each_of(
    ("method", "target", "body", "status", "pointer"),
    [
        ("GET", "/search", None, 400, "/query/q"),
        ("GET", "/search?q=a&n=12", None, 400, "/query/n"),
        ("GET", "/search?q=a&n=x", None, 400, "/query/n"),
        ("GET", "/pets/abc", None, 400, "/path/petId"),
        ("POST", "/pets", None, 400, None),
        ("POST", "/pets", {"kind": "cow"}, 422, "/kind"),
        ("POST", "/pets", ["Tom"], 422, None),
    ],
)
async def test_a_wrong_request_is_refused_with_the_place(
    send, method, target, body, status, pointer
):
    reply = await send(method, target, body)
    problem = json.loads(reply.body)
    assert (reply.status, problem.get("pointer")) == (status, pointer)


async def test_a_body_that_is_not_json_is_refused(send):
    reply = await send("POST", "/pets", "x", Content_Type="application/json")
    assert reply.status == 422


async def test_without_credentials_an_operation_that_needs_them_is_refused(send):
    reply = await send("GET", "/secret")
    assert (reply.status, json.loads(reply.body)["title"]) == (
        401,
        "Credentials are required: key.",
    )
    assert (await send("GET", "/secret?api_key=x")).status == 200


@pytest.mark.parametrize(
    ("slot", "headers"),
    [
        (CredentialSlot(name="s", kind="api_key", location="header", key_name="X-Key"), "X-Key: a"),
        (CredentialSlot(name="s", kind="api_key", location="cookie", key_name="k"), "Cookie: k=a"),
        (CredentialSlot(name="s", kind="basic"), "Authorization: Basic YTpi"),
        (CredentialSlot(name="s", kind="bearer"), "Authorization: Bearer a"),
        (CredentialSlot(name="s", kind="oauth2"), "Authorization: bearer a"),
    ],
)
async def test_one_complete_alternative_is_enough(slot, headers):
    security = ((SecurityUse(slot="other"), SecurityUse(slot="s")), (SecurityUse(slot="s"),))
    needed = operation("needed", "GET", "/needed", answers({"type": "object"}), security=security)
    other = CredentialSlot(name="other", kind="api_key", location="header", key_name="X-Other")
    found = msgspec.structs.replace(connector(needed), slots=(slot, other))
    send = sender(opened(found))
    name, _, value = headers.partition(": ")
    assert (await send("GET", "/needed")).status == 401
    assert (await send("GET", "/needed", None, **{name: value})).status == 200


async def test_a_fault_is_the_declared_error(send):
    reply = await send("GET", "/pets/9", Mock_Fault="status=404;retry-after=3")
    assert (reply.status, reply.headers["retry-after"]) == (404, "3")
    assert json.loads(reply.body)["message"] == "A fault of the mock was requested."


async def test_a_fault_that_is_not_declared_is_a_problem(send):
    reply = await send("GET", "/pets", Mock_Fault="status=503")
    assert (reply.status, reply.headers["content-type"]) == (503, PROBLEM)


async def test_a_fault_reports_that_the_limit_is_used_up(send):
    reply = await send("GET", "/pets", Mock_Fault="exhausted=30")
    assert reply.status == 200
    assert reply.headers["ratelimit-remaining"] == "0"
    assert reply.headers["ratelimit-reset"] == "30"


async def test_a_fault_that_is_not_one_is_refused(send):
    reply = await send("GET", "/pets", Mock_Fault="explode")
    assert (reply.status, json.loads(reply.body)["pointer"]) == (400, "/header/mock-fault")


async def test_faults_damage_the_body(send):
    whole = await send("GET", "/search?q=a")
    half = await send("GET", "/search?q=a", Mock_Fault="truncate")
    assert half.body == whole.body[: len(whole.body) // 2]
    assert (await send("GET", "/search?q=a", Mock_Fault="close")).is_cut
    broken = await send("GET", "/pets", Mock_Fault="break-contract")
    pets = Schemas(DEFINITIONS).samples({"type": "array", "items": PET})
    assert not pets.admits(json.loads(broken.body))


async def test_a_scenario_may_name_the_tool():
    steps = (parse_step("list_pets 1 status=500"), parse_step("shelter.search 1 status=502"))
    found = connector(*OPERATIONS)
    send = sender(MockApplication(found, ManualClock(), scenario=steps))
    assert [(await send("GET", "/pets")).status for _ in range(2)] == [500, 200]
    assert [(await send("GET", "/search?q=a")).status for _ in range(2)] == [502, 200]


@each_of(
    ("method", "statuses", "expected"),
    [
        ("POST", ("200", "201"), 201),
        ("POST", ("2XX",), 201),
        ("DELETE", ("200", "204"), 204),
        ("GET", ("206",), 206),
        ("GET", ("default",), 200),
        ("GET", ("404", "302"), 302),
        ("GET", (), 204),
    ],
)
async def test_the_status_is_a_declared_one(method, statuses, expected):
    replies = [ImportedReply(status=each, kind="empty") for each in statuses]
    send = sender(opened(connector(operation("one", method, "/one", *replies))))
    assert (await send(method, "/one")).status == expected


async def test_the_media_type_that_the_caller_names_is_preferred():
    text = ImportedReply(
        status="200", kind="text", media_type="text/csv", schema={"type": "string"}
    )
    send = sender(opened(connector(operation("one", "GET", "/one", text, answers(PET)))))
    assert (await send("GET", "/one")).headers["content-type"] == "application/json"
    named = await send("GET", "/one", Accept="text/csv")
    assert named.headers["content-type"] == "text/csv"


async def test_samples_are_made_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch):
    """A document chooses how long that takes. Requests are answered one at a time, in order."""
    threads, open_now, most = set(), 0, 0
    sample = Samples.sample

    def noted(*args, **options):
        nonlocal open_now, most
        threads.add(threading.get_ident())
        open_now += 1
        most = max(most, open_now)
        try:
            return sample(*args, **options)
        finally:
            open_now -= 1

    monkeypatch.setattr(Samples, "sample", noted)
    send = sender(opened(connector(*OPERATIONS)))
    targets = ["/search?q=a", "/search?q=b", "/search"]
    statuses = [each.status for each in await asyncio.gather(*(send("GET", t) for t in targets))]
    assert statuses == [200, 200, 400]
    assert threading.get_ident() not in threads
    assert most == 1

"""What callers send is in no log, no metric and, where it is sensitive, in no audit record."""

import json
from contextlib import AsyncExitStack
from copy import deepcopy
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx
import msgspec
import pytest
from msgspec.structs import replace

from gateway.calls.replies import ReplyReader
from gateway.catalogue import Entry
from gateway.contract.credentials import OPERATE
from gateway.contract.values.pointers import steps
from gateway.job_policy import WORK_POLICY
from gateway.testing.asgi_server import serving
from gateway.testing.cases import first_example
from gateway.testing.live import CANARY, KEY, answering, open_live
from gateway.testing.suite.secrets import everything_logged
from gateway.transports.http.problems import log_failure
from tests.eventually import PATIENCE_SECONDS
from tests.interaction.collector import Collector
from tests.interaction.small_sentry import SmallSentry

SENSITIVE, PLAIN = "canary7f3s", "canary7f3p"
JOBS = "/operator/jobs?limit=200"
OPERATORS = (
    "/metrics",
    "/metrics.json",
    "/readyz",
    "/operator/readiness",
    "/openapi.json",
    "/operator/limits",
    "/operator/webhooks",
    "/operator/events?limit=200",
    JOBS,
    f"{JOBS}&state=dead_letter",
)
"""Addresses that others read."""


def forms(mark: str) -> tuple[str, ...]:
    return mark, f"{mark}@canary.example", f"<{mark}@canary.example>"


def members(schema, path=()):
    """Paths of the arguments that may be texts."""
    for name, member in schema.get("properties", {}).items():
        yield from members(member, (*path, name))
    types = schema.get("type", ())
    if "string" in ([types] if isinstance(types, str) else types):
        yield path
    if isinstance(schema.get("items"), dict):
        yield from members(schema["items"], (*path, "0"))
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from members(branch, path)


def is_sensitive(entry: Entry, path: tuple[str, ...]) -> bool:
    marked = [steps(pointer) for pointer in entry.operation.sensitive]
    return any(
        len(each) <= len(path) and all(a in ("*", b) for a, b in zip(each, path, strict=False))
        for each in marked
    )


def put(arguments, path, value):
    """`arguments` with `value` at `path`. None if there is no such place."""
    changed = inner = deepcopy(arguments)
    for step in path[:-1]:
        inner = (inner[0] if inner else None) if isinstance(inner, list) else inner.get(step)
        if inner is None:
            return None
    if isinstance(inner, list):
        inner[:1] = [value]
    elif isinstance(inner, dict):
        inner[path[-1]] = value
    else:
        return None
    return changed


def with_canaries(catalogue, entry):
    """The first example of the tool with a canary in each text that can hold one."""
    paths = list(members(entry.listing.input_schema))
    arguments = first_example(catalogue, entry)
    for path in paths:
        mark = SENSITIVE if is_sensitive(entry, path) else PLAIN
        for text in forms(mark):
            changed = put(arguments, path, text)
            if changed is not None and entry.input.admits(changed):
                arguments = changed
                break
    return arguments


STATUSES = (None, 400, 500, 200)


def echo(arguments):
    """An error that repeats the canaries of the arguments, and parts of them."""
    sent = json.dumps(arguments)
    found = " ".join(mark for mark in (SENSITIVE, PLAIN) if mark in sent)
    return json.dumps(
        {
            "error": {"message": f"Wrong: {found}", "code": 400},
            "message": f"{found} are wrong",
            "errors": [{"title": found, "detail": found}],
            "detail": found,
        }
    ).encode()


ONE_ATTEMPT = {"gateway-max-attempts": "1"}
MCP = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
AT_ONCE = replace(WORK_POLICY, job_after_seconds=0.0)
"""What may become a job does."""


@dataclass
class Left:
    """What is left of calls with canaries, by where it is."""

    log: str = ""
    shown: dict[str, str] = field(default_factory=dict)
    """Answers to operators and other callers, by address."""
    sent: dict[str, str] = field(default_factory=dict)
    """What other systems were sent, by system."""
    audit: str = ""
    jobs: int = 0


async def call_all(live, http, *statuses):
    """Call each tool over REST, also with an argument that it does not have, and over MCP.

    Their upstreams answer with the `statuses` in turn, and repeat the arguments. None: they work.
    """
    for number, entry in enumerate(live.catalogue.entries):
        arguments = with_canaries(live.catalogue, entry)
        status = statuses[number % len(statuses)]
        live.upstreams.fault = None if status is None else answering(status, echo(arguments))
        for each in (arguments, {**arguments, SENSITIVE: [SENSITIVE]}):
            await http.post(entry.operation.route, json=each, headers=ONE_ATTEMPT)
        params = {"name": entry.listing.name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        await http.post("/mcp", json=message, headers=MCP)


async def shown_by(http):
    """What each address answers, and the number of jobs."""
    shown = {}
    for address in OPERATORS:
        answer = await http.get(address)
        assert answer.status_code == 200, f"{address}: {answer.text}"
        shown[address] = answer.text
    jobs = json.loads(shown[JOBS])["items"]
    for job in jobs:
        address = f"/operator/jobs/{job['id']}"
        shown[address] = (await http.get(address)).text
    return shown, len(jobs)


def fail(*_arguments, **_options):
    raise ValueError(f"{SENSITIVE} {PLAIN}")


async def left_behind(folder, monkeypatch):
    """What is left of all tools, while their upstreams work, fail in each way, and by a defect."""
    left, collector, sentry = Left(), Collector(), SmallSentry()
    async with AsyncExitStack() as stack:
        spans = await stack.enter_async_context(serving(collector))
        reports = urlsplit(await stack.enter_async_context(serving(sentry))).netloc
        more = {
            "GATEWAY_TRACE_ENDPOINT": f"{spans}/v1/traces",
            "GATEWAY_SENTRY_DSN": f"http://public@{reports}/7",
        }
        opening = open_live(folder, more=more, scopes=frozenset({OPERATE}), policy=AT_ONCE)
        live = await stack.enter_async_context(opening)
        url = await stack.enter_async_context(serving(live.gateway.http_app()))
        await stack.enter_async_context(live.gateway.at_work())
        headers = {"authorization": f"Bearer {KEY}"}
        client = httpx.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE_SECONDS)
        http = await stack.enter_async_context(client)
        await call_all(live, http, *STATUSES)
        monkeypatch.setattr(ReplyReader, "admit", fail)
        monkeypatch.setattr(ReplyReader, "read", fail)
        await call_all(live, http, None)
        await live.gateway.parts.audit.flush()
        left.shown, left.jobs = await shown_by(http)
        records = await live.gateway.parts.store.audit.latest(1000)
        left.audit = msgspec.json.encode(records).decode()
    left.sent = {"spans": str(collector.spans), "reports": "".join(sentry.bodies)}
    assert collector.spans
    assert sentry.events, "no defect was reported"
    return left


@pytest.mark.attack(
    "Personal data in every argument of every tool, which upstreams repeat in their answers.",
    required="No line of the log, no metric, no span, no report of a defect, no view of jobs and no"
    " document holds any of it;"
    " the audit holds only arguments that their contract does not mark `x-sensitive`.",
)
async def test_canaries_of_arguments_and_upstreams_stay_with_their_caller(tmp_path, monkeypatch):
    with everything_logged() as log:
        left = await left_behind(tmp_path, monkeypatch)
    written = log.getvalue()
    for mark in (SENSITIVE, PLAIN, CANARY):
        assert [line for line in written.splitlines() if mark in line] == []
        assert [place for place, text in {**left.shown, **left.sent}.items() if mark in text] == []
    assert SENSITIVE not in left.audit
    assert CANARY not in left.audit
    assert PLAIN in left.audit, "the calls were not recorded"
    assert left.jobs, "no call became a job"
    assert '"kind":"task"' in left.shown[f"{JOBS}&state=dead_letter"], "no job died"
    assert "gateway_calls_total" in left.shown["/metrics"]


@pytest.mark.attack(
    "Arguments that make a handler fail with an exception that repeats them.",
    required="The log has the traceback and the classes of the errors, without their texts.",
)
def test_the_text_of_an_unexpected_error_is_not_logged():
    def fail():
        try:
            return {}[SENSITIVE]
        except KeyError as error:
            raise ExceptionGroup(PLAIN, [ValueError(SENSITIVE), error]) from error

    with everything_logged() as log:
        try:
            fail()
        except ExceptionGroup as error:
            log_failure(error, "request-1")
    line = json.loads(log.getvalue())
    assert "canary7f3" not in log.getvalue()
    assert "in fail" in line["event"]
    assert [each for each in ("KeyError", "ValueError", "ExceptionGroup") if each in line["event"]]

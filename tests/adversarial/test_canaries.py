"""What callers send is in no log, no metric and, where it is sensitive, in no audit record."""

import json
from copy import deepcopy

import httpx
import msgspec
import pytest

from gateway.catalogue import Entry
from gateway.contract.values.pointers import steps
from gateway.testing.asgi_server import serving
from gateway.testing.examples import examples_of
from gateway.testing.faults import answering
from gateway.testing.live import CANARY, KEY, open_live
from gateway.testing.logged import everything_logged
from gateway.transports.http.problems import log_failure

SENSITIVE, PLAIN = "canary7f3s", "canary7f3p"
OPERATORS = ("/metrics", "/metrics.json", "/readyz", "/openapi.json")
"""Addresses that other callers read."""


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
    arguments = examples_of(catalogue, entry)[0]
    for path in paths:
        mark = SENSITIVE if is_sensitive(entry, path) else PLAIN
        for text in forms(mark):
            changed = put(arguments, path, text)
            if changed is not None and entry.input.admits(changed):
                arguments = changed
                break
    return arguments


ECHO = json.dumps(
    {
        "error": {"message": f"{SENSITIVE} and {PLAIN}", "code": 400},
        "message": f"{SENSITIVE} {PLAIN}",
        "errors": [{"title": SENSITIVE, "detail": PLAIN}],
        "detail": SENSITIVE,
    }
).encode()
FAULTS = {
    "none": None,
    "400": answering(400, ECHO),
    "500": answering(500, ECHO),
    "no contract": answering(200, ECHO),
}
ONE_ATTEMPT = {"gateway-max-attempts": "1"}


async def left_behind(folder, fault):
    """What operators see after calls with canaries of every tool: metrics and so on, the audit."""
    async with open_live(folder) as live, serving(live.gateway.http_app()) as url:
        live.upstreams.fault = fault
        headers = {"authorization": f"Bearer {KEY}"}
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=30) as http:
            for entry in live.catalogue.entries:
                arguments = with_canaries(live.catalogue, entry)
                refused = {**arguments, SENSITIVE: [SENSITIVE]}
                for each in (arguments, refused):
                    await http.post(entry.operation.route, json=each, headers=ONE_ATTEMPT)
            shown = [(await http.get(address)).text for address in OPERATORS]
        records = await live.gateway.parts.store.audit.latest(1000)
        return "\n".join(shown), msgspec.json.encode(records).decode()


@pytest.mark.attack(
    "Personal data in every argument of every tool, which upstreams repeat in their answers.",
    required="No line of the log, no metric and no document holds any of it;"
    " the audit holds only arguments that their contract does not mark `x-sensitive`.",
)
@pytest.mark.parametrize("fault", FAULTS)
async def test_canaries_of_arguments_and_upstreams_stay_with_their_caller(tmp_path, fault):
    with everything_logged() as log:
        shown, audit = await left_behind(tmp_path, FAULTS[fault])
    written = log.getvalue()
    for mark in (SENSITIVE, PLAIN, CANARY):
        assert [line for line in written.splitlines() if mark in line] == []
        assert mark not in shown
    assert SENSITIVE not in audit
    assert CANARY not in audit
    assert PLAIN in audit, "the calls were not recorded"


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

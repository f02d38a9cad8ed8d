"""Every tool against replies that are absurd in one place, over HTTP.

Whatever an upstream writes there ends as a result that keeps its contract, as an error of the
upstream, or as one that the tool declares: never as a defect of the gateway.
"""

import json
from collections.abc import Iterator
from copy import copy
from typing import Any, Final

from gateway.calls.call import Result
from gateway.errors import GatewayError, ToolFailed, UpstreamError
from gateway.testing.cases import first_example, upstream_of
from gateway.testing.fixtures import Answers, Loop
from gateway.testing.live import LiveGateway

__all__ = [
    "test_an_error_that_a_body_reports_is_no_result",
    "test_no_reply_is_so_odd_that_the_gateway_fails",
]

HIDDEN: Final = "\u202e"
"""It turns the order of what is shown, and no script needs it."""
LONG_NUMBER: Final = 10**400
ODD_TEXTS: Final = (None, "", "\0", f"txt{HIDDEN}.exe", "x" * 60_000, "9999-99-99", "1e999")
ODD_NUMBERS: Final = (None, 0, -1, 5e-324, 1e308, LONG_NUMBER)
ODD_LISTS: Final[tuple[Any, ...]] = (None, [], [[]], [{}])
ODD_OBJECTS: Final[tuple[Any, ...]] = (None, {}, "x")
MISSING: Final = object()


class Meddler:
    """Keeps the bodies that one call is answered, and puts another one in the place of one."""

    def __init__(self, number: int | None = None, body: bytes = b"") -> None:
        self.bodies: list[bytes] = []
        self._number = number
        self._body = body

    def __call__(self, body: bytes) -> bytes:
        self.bodies.append(body)
        return self._body if len(self.bodies) - 1 == self._number else body


def odd_values(value: Any) -> Iterator[Any]:
    """What may stand in the place of `value`."""
    match value:
        case bool():
            yield from (None, "true", 0)
        case str():
            yield from ODD_TEXTS
        case int() | float():
            yield from ODD_NUMBERS
        case list():
            yield from (*ODD_LISTS, value * 2)
        case _:
            yield from ODD_OBJECTS


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to `value` and to everything in it; of lists to the first element."""
    yield path
    if isinstance(value, dict):
        for name, member in value.items():
            yield from places(member, (*path, name))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


def with_odd(body: Any, path: tuple[Any, ...], odd: Any) -> Any:
    """`body` with `odd` at the end of `path`, or with nothing there; what leads there is copied."""
    root = {"body": body}
    holder: Any = root
    *steps, last = ("body", *path)
    for step in steps:
        holder[step] = copy(holder[step])
        holder = holder[step]
    if odd is MISSING:
        del holder[last]
    else:
        holder[last] = odd
    return root.get("body")


def odd_bodies(text: bytes) -> Iterator[tuple[tuple[Any, ...], bytes]]:
    """The bodies that differ from `text` in one place. None if it is no JSON."""
    try:
        body = json.loads(text)
    except ValueError:
        return
    for path in places(body):
        found: Any = body
        for step in path:
            found = found[step]
        for odd in (*odd_values(found), *([MISSING] if path else [])):
            yield path, json.dumps(with_odd(body, path, odd)).encode()


async def call(live: LiveGateway, tool: str, meddler: Meddler) -> str | None:
    """How the call failed that should not fail like this, or None."""
    entry = live.catalogue.find(tool)
    found = await live.outcome(tool, first_example(live.catalogue, entry), alter=meddler)
    match found:
        case Result():
            assert entry.output.violations(found.values) == ()
            if json.loads(found.text) != found.values:
                return "the text of the result differs from it"
            return "hidden characters reach the caller" if HIDDEN in found.text.decode() else None
        case UpstreamError():
            return None
        case ToolFailed(reason=reason):
            is_declared = reason in {each.reason for each in entry.operation.errors}
            return None if is_declared else f"undeclared {reason}"
    return repr(found)


async def defects(live: LiveGateway, tool: str) -> list[str]:
    """Which odd bodies of which replies the tool does not stand, and how it fails."""
    usual = Meddler()
    assert await call(live, tool, usual) is None
    found = []
    for number, text in enumerate(usual.bodies):
        for path, body in odd_bodies(text):
            failure = await call(live, tool, Meddler(number, body))
            if failure is not None:
                found.append(f"reply {number} {path}: {failure}")
    return found


def with_errors(text: bytes, pointer: str) -> bytes:
    """A body that reports an error in the list at `pointer`."""
    body = json.loads(text)
    *steps, last = pointer.split("/")[1:]
    holder = body
    for step in steps:
        holder = holder.setdefault(step, {})
    holder[last] = [{"code": "made-up", "title": "An error of the contract suite"}]
    return json.dumps(body).encode()


def test_an_error_that_a_body_reports_is_no_result(
    gateway_loop: Loop,
    gateway_live: LiveGateway,
    gateway_may_answer: Answers,
    gateway_mocked_operation: str,
) -> None:
    """Of the upstreams that report errors in the body of a success."""
    live, tool = gateway_live, gateway_mocked_operation
    entry = live.catalogue.find(tool)
    pointer = live.catalogue.upstreams[upstream_of(entry) or ""].soft_errors
    if pointer is None:
        return
    usual = Meddler()
    assert gateway_loop.run_until_complete(call(live, tool, usual)) is None
    for number, text in enumerate(usual.bodies):
        meddler = Meddler(number, with_errors(text, pointer))
        calling = live.outcome(tool, first_example(live.catalogue, entry), alter=meddler)
        found = gateway_loop.run_until_complete(calling)
        is_error = isinstance(found, GatewayError)
        assert is_error or gateway_may_answer(tool, "an error in a body"), found


def test_no_reply_is_so_odd_that_the_gateway_fails(
    gateway_loop: Loop, gateway_live: LiveGateway, gateway_mocked_operation: str
) -> None:
    assert gateway_loop.run_until_complete(defects(gateway_live, gateway_mocked_operation)) == []

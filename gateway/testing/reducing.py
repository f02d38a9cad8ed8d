"""A failure on the smallest arguments that fail for the same cause, each judged anew."""

import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

from gateway.testing.cases import Case
from gateway.testing.gateways import Faces
from gateway.testing.generation import expected
from gateway.testing.judging import Disagreement, Verdict

_TRIES: Final = 150
Fails = Callable[[bytes], Awaitable[bool]]


def failed_of(verdicts: list[Verdict]) -> list[Verdict]:
    """Those that failed."""
    return [each for each in verdicts if each.outcome == "failed"]


def cause_of(verdicts: list[Verdict]) -> str:
    """Equal for failures that look alike: the oracle and the transports."""
    return ", ".join(f"{each.oracle} at {each.transport}" for each in failed_of(verdicts))


async def reduced(faces: Faces, case: Case) -> list[Verdict]:
    """What fails on the least arguments. Empty: it does not fail again.

    The authority says anew what must come of each candidate.
    """
    entry = faces.catalogue.find(case.contract)
    first = failed_of(await faces.verdicts(case))
    if not first:
        return []

    def with_text(text: bytes) -> Case:
        return Case(case.contract, text, case.origin, case.expectation)

    async def still_fails(text: bytes) -> bool:
        if expected(entry, text) != case.expectation:
            return False
        return cause_of(await faces.verdicts(with_text(text))) == cause_of(first)

    least = await shrunk(case.arguments, still_fails)
    return failed_of(await faces.verdicts(with_text(least))) or first


async def must_agree(faces: Faces, case: Case) -> None:
    """Raise `Disagreement`, on the least arguments, if a verdict on `case` is a failure."""
    verdicts = await faces.verdicts(case)
    if failed_of(verdicts):
        raise Disagreement(await reduced(faces, case) or verdicts)


async def shrunk(text: bytes, fails: Fails) -> bytes:
    """The smallest text found for which `fails` still says so; `text` itself if there is none.

    Each candidate is judged anew, so what is returned has failed by itself.
    """
    value, tries = json.loads(text), 0
    while True:
        for candidate in _smaller(value):
            tries += 1
            if tries > _TRIES:
                return text
            written = json.dumps(candidate).encode()
            if await fails(written):
                value, text = candidate, written
                break
        else:
            return text


def _smaller(value: Any) -> Iterator[Any]:
    """Values that have less than `value` in one place, the simplest first."""
    match value:
        case dict():
            yield from ({k: v for k, v in value.items() if k != name} for name in value)
            for name, member in value.items():
                yield from ({**value, name: each} for each in _smaller(member))
        case list():
            yield from (value[:n] + value[n + 1 :] for n in range(len(value)))
            for n, member in enumerate(value):
                yield from ([*value[:n], each, *value[n + 1 :]] for each in _smaller(member))
        case str() if len(value) > 1:
            yield from (value[: len(value) // 2], value[:-1])
        case float() if value == value // 1:
            yield int(value)
        case int() if not isinstance(value, bool) and abs(value) > 1:
            yield value // 2 if value > 0 else -(-value // 2)

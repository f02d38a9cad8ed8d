"""Runs a call again with the answers of its client, which is asked while it waits for the result.

This is how questions work in the handshake revisions. A run that asks ends, as in the rounds of
revision 2026-07-28. But the client does not repeat the call: it is sent requests, and answers them.
"""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from msgspec.structs import replace

from gateway.amounts import in_seconds
from gateway.calls.asking.errors import InputRequired, NotAnswered
from gateway.calls.asking.wire import Given
from gateway.contract.values.hidden import visible_text
from gateway.transports.mcp.asking.rounds import require_bounded
from gateway.transports.mcp.asking.state import TTL_SECONDS
from gateway.transports.mcp.caller import Caller

_T = TypeVar("_T")
ANSWER_SECONDS: Final = TTL_SECONDS
"""How long a client has for its answer: as long as in the rounds."""
_MAX_MESSAGE: Final = 200


async def conversed(caller: Caller, run: Callable[[Caller], Awaitable[_T]]) -> _T:
    """What `run` returns when it has all answers. `run` makes the call for the caller it is given.

    Raises `InputRequired` if this client is asked by rounds, and `NotAnswered` or `InvalidAnswer`.
    """
    while True:
        try:
            return await run(caller)
        except InputRequired as error:
            if caller.ask is None:
                raise
            asked, known = error.asked, error.given
        if caller.commitment is not None:
            caller.commitment.take_back()
        answers = await caller.ask(asked)
        given = {**known, **{key: Given(answers[key], asked[key].digest) for key in asked}}
        require_bounded(given)
        caller = replace(caller, asking=replace(caller.asking, given=given))


def refused(key: str, code: int, message: str) -> NotAnswered:
    """The outcome when the client answers a question with an error."""
    said = visible_text(message[:_MAX_MESSAGE])[0]
    return NotAnswered(f"The client did not answer {key}. It says: {said} ({code}).")


def late() -> NotAnswered:
    """The outcome when the client does not answer."""
    return NotAnswered(f"The client did not answer within {in_seconds(ANSWER_SECONDS)}.")

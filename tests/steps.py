"""How much work a call is, in steps that no clock and no other program changes."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps_of(call: Callable[[], object]) -> int:
    """The lines of Python that `call` runs, each as often as it runs."""
    steps = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal steps
        steps += event == "line"
        return count

    tracer = sys.gettrace()
    sys.settrace(count)
    try:
        call()
    finally:
        sys.settrace(tracer)
    return steps


def growth(call: Callable[[int], object], number: int) -> float:
    """How many times as many steps `call` takes for four times `number`: four, if it is linear."""
    return steps_of(lambda: call(4 * number)) / steps_of(lambda: call(number))

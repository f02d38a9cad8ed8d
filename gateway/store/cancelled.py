"""Distinguishes the cancellation of a task from that of work that the task waits for."""

import asyncio


def is_to_end() -> bool:
    """Whether the current task was cancelled itself, and must end.

    Otherwise, a `CancelledError` means that only the work was cancelled, and the task can go on.
    """
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0

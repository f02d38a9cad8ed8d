"""Results in place of a tool's own: a task, or a question."""

from gateway.calls.call import Result


class WholeResult(Result, frozen=True):
    """A result whose values are the whole `result` member, in revision 2026-07-28."""

"""Calls the real upstreams of a project: read-only tools, slowly, and what each one answered."""

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace as with_parts
from itertools import islice
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from gateway.amounts import amount, in_seconds
from gateway.app import Gateway
from gateway.app.calling import local_call
from gateway.auth.keys import ADMINISTRATOR
from gateway.backends.base import Backend
from gateway.backends.mock.documents import made_arguments
from gateway.calls.dispatch import Dispatcher
from gateway.calls.effects import WrongEffect
from gateway.calls.pipeline import Pipeline
from gateway.catalogue import Catalogue, Entry
from gateway.cli.doctor import empty_slots
from gateway.cli.local import open_apart
from gateway.clock import SystemClock
from gateway.contract.operation import Effect
from gateway.contract.upstream import Reply, Upstream, UpstreamRequest
from gateway.contract.values.pointers import steps
from gateway.contract.values.violation import Violation
from gateway.encoding.replies.content import json_of, object_of
from gateway.errors import (
    CallerError,
    GatewayError,
    InvalidReply,
    InvalidResult,
    NotPermitted,
    ToolFailed,
    UpstreamNotSetUp,
    UpstreamRateLimited,
    UpstreamRefusedCredentials,
    UpstreamRejected,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from gateway.settings import Settings
from gateway.testing.answer_contract import is_plain
from gateway.testing.kept_vectors import by_subject, vectors_for
from gateway.testing.things import DocumentThings

MOST_OF_TOOL: Final = 3
"""Calls of one tool with examples, and as many with vectors."""
MOST_CALLS: Final = 300
PACE_SECONDS: Final = 0.2
"""The least time between two requests to one upstream."""
LONGEST_WAIT_SECONDS: Final = 60.0
"""How long an upstream may ask to be left alone (`Retry-After`), before it is given up."""
_MOST_FAILURES: Final = 3
"""In a row. After so many, the upstream is given up."""
_MOST_SHOWN: Final = 2**20
"""Bytes of an answer that may show the id of a thing."""
_HOPELESS: Final = frozenset({"live/no-connection", "live/credentials", "live/rate-limited"})
"""After one of these, the upstream is given up."""
_SAFE: Final = frozenset({"GET", "HEAD"})

Trouble = Literal[
    "live/no-connection",
    "live/credentials",
    "live/not-permitted",
    "live/rate-limited",
    "live/server-error",
    "live/bad-answer",
    "live/breaks-tool",
]

NoteReply = Callable[[str, str, Reply], None]
"""Gets the upstream, the id of its operation and the reply."""


class LiveCall(Struct, frozen=True, kw_only=True):
    """One call to make."""

    entry: Entry
    arguments: Mapping[str, Any]
    upstream: str
    """The live upstream that it asks first."""
    vector: str | None = None
    """The name of the vector whose value the arguments are. None: an author wrote them, or they
    are those of an import."""


class LivePlan(Struct, frozen=True, kw_only=True):
    """What can be called, and what is left out."""

    calls: tuple[LiveCall, ...]
    live: Mapping[str, str]
    """The live upstreams, with their URLs."""
    skipped: tuple[str, ...]
    """A line for each reason, with the setting that would change it."""


class LiveFailure(Struct, frozen=True, kw_only=True):
    """A call that ended without an answer that can be used."""

    call: LiveCall
    rule: Trouble
    text: str
    fix: str
    operation: str | None = None
    """That of the last reply, if there was one."""
    is_about_reply: bool = False
    """Whether the contract of the upstream may say more exactly what is wrong."""


class LiveOutcome(Struct, kw_only=True):
    """What became of all calls."""

    failures: list[LiveFailure] = []
    succeeded: set[str] = set()
    refused: set[str] = set()
    """The tools whose calls were answered with a refusal only."""
    requests: int = 0
    left_out: dict[str, int] = {}
    """Calls that were not made, by the reason."""


def plan_live(
    settings: Settings, catalogue: Catalogue, only: str | None, report: Callable[[str], None]
) -> LivePlan:
    """The calls of tools that only read, whose upstream is live: the vectors are last.

    Raises `ConfigurationError` for vectors that are kept but cannot be used.
    """
    found = {each.name: settings.for_upstream(each) for each in catalogue.upstreams.values()}
    live = {n: e.base_url or "" for n, e in found.items() if e.backend == "live" and not e.problem}
    chosen: list[LiveCall] = []
    left: dict[str, int] = {}
    skipped: list[str] = []
    for entry in _reading(catalogue, only):
        name = next((each for each in entry.operation.upstreams if each in live), None)
        first = entry.operation.upstreams[0]
        upstream = catalogue.upstreams[name or first]
        if name is None:
            why = found[first].problem or f"{found[first].backend}: {found[first].reason}"
            left[f"of {first} not called, {why}"] = left.get(f"of {first} not called, {why}", 0) + 1
        elif not _may_be_sent(upstream, entry, found[name].credentials):
            continue
        elif not (own := [*_calls(catalogue, entry, name)]):
            reason = f"of {name} not called: there are no arguments, or it is not GET or HEAD"
            left[reason] = left.get(reason, 0) + 1
        else:
            chosen += own
    for name in live:
        empty = empty_slots(catalogue.upstreams[name], found[name].credentials)
        skipped += [f"{name}: {note.finding}; {note.fix}" for note in empty]
    chosen += _vectors(settings, catalogue, [*chosen], report)
    lines = (f"{amount(number, 'tool')} {reason}" for reason, number in left.items())
    return LivePlan(calls=tuple(sorted(chosen, key=_needs)), live=live, skipped=(*lines, *skipped))


def _reading(catalogue: Catalogue, only: str | None) -> Iterator[Entry]:
    """The tools that only read, and ask an upstream and nobody else."""
    for entry in catalogue.entries:
        operation = entry.operation
        is_read = operation.effect is Effect.READ and not operation.asks
        if only in {None, operation.connector} and is_read and operation.upstreams:
            yield entry


def _may_be_sent(upstream: Upstream, entry: Entry, given: Collection[str]) -> bool:
    """Whether the credentials that are set are enough. `empty_slots` names the others."""
    operation = upstream.find(entry.id)
    filled = {slot.name for slot in upstream.slots if slot.way_of(given)}
    slots = operation.slots if operation is not None else ()
    return not slots or any(filled.issuperset(names) for names in slots)


def _calls(catalogue: Catalogue, entry: Entry, upstream: str) -> Iterator[LiveCall]:
    found: Iterable[dict[str, Any]] = catalogue.examples(entry).values()
    if entry.operation.is_imported:
        operation = catalogue.upstreams[entry.operation.connector].find(entry.id)
        is_safe = operation is not None and operation.method.upper() in _SAFE
        found = made_arguments(entry) if is_safe else ()
    for each in islice(found, MOST_OF_TOOL):
        yield LiveCall(entry=entry, arguments=each, upstream=upstream)


def _vectors(
    settings: Settings,
    catalogue: Catalogue,
    calls: Iterable[LiveCall],
    report: Callable[[str], None],
) -> Iterator[LiveCall]:
    """Calls of the same tools with the valid vectors of their input schemas.

    What the schema refuses never reaches an upstream. Imports have no vectors.
    """
    contracts = by_subject(catalogue, settings)
    for first in {each.entry.id: each for each in calls if not _is_made(each)}.values():
        report(f"vectors of {first.entry.id}")
        contract = contracts[f"{first.entry.id} input"]
        valid = (each for each in vectors_for(contract, settings.schemas).vectors if each.valid)
        for each in islice((e for e in valid if e.value not in contract.examples), MOST_OF_TOOL):
            yield replace(first, arguments=each.value, vector=each.name)


def _needs(call: LiveCall) -> tuple[bool, str, int]:
    """First what needs no argument: it may show what others can name."""
    needed = call.entry.listing.input_schema.get("required", ()) if _is_made(call) else ()
    return call.vector is not None, call.upstream, len(needed)


def _is_made(call: LiveCall) -> bool:
    return call.entry.operation.is_imported


class _Recorder:
    """A backend that notes each reply, and leaves time between two requests."""

    def __init__(self, inner: Backend) -> None:
        self._inner = inner
        self._next_at = 0.0
        self.requests = 0
        self.seen: list[tuple[str, Reply]] = []
        """The operations and replies of the call that runs."""

    @property
    def name(self) -> Literal["live", "mock"]:
        return self._inner.name

    @property
    def problem(self) -> str | None:
        return self._inner.problem

    async def send(
        self, request: UpstreamRequest, *, timeout_seconds: float, is_cut_short: bool = False
    ) -> Reply:
        """See `Backend.send`."""
        wait = self._next_at - time.monotonic()
        self._next_at = max(self._next_at, time.monotonic()) + PACE_SECONDS
        if wait > 0:
            await asyncio.sleep(wait)
        self.requests += 1
        reply = await self._inner.send(
            request, timeout_seconds=timeout_seconds, is_cut_short=is_cut_short
        )
        self.seen.append((request.operation, reply))
        return reply

    async def close(self) -> None:
        """See `Backend.close`."""
        await self._inner.close()


async def call_live(
    settings: Settings,
    catalogue: Catalogue,
    plan: LivePlan,
    report: Callable[[str], None],
    note: NoteReply,
    budget: float | None = None,
) -> LiveOutcome:
    """Make the calls of `plan`, within `budget` seconds. Raises an `OperatorError`.

    `note` gets each reply as soon as its call has ended: all of them would take much memory. The
    gateway's state is in memory, and no tool is granted but those of the plan.
    """
    async with open_apart(settings, catalogue, {each.entry.id for each in plan.calls}) as gateway:
        run = _LiveRun(gateway, catalogue, plan, report, note)
        await run.all(None if budget is None else time.monotonic() + budget)
        return run.outcome


class _LiveRun:
    def __init__(
        self,
        gateway: Gateway,
        catalogue: Catalogue,
        plan: LivePlan,
        report: Callable[[str], None],
        note: NoteReply,
    ) -> None:
        self.outcome = LiveOutcome()
        self._note = note
        self._catalogue = catalogue
        self._plan = plan
        self._report = report
        self._until: float | None = None
        self._given_up: set[str] = set()
        self._failed: dict[str, int] = {}
        self._shown: dict[str, tuple[Mapping[str, Any], Any]] = {}
        """By imported operation, the arguments and the answer of a call."""
        self._things: dict[str, DocumentThings] = {}
        parts = gateway.parts
        self._recorders = {
            name: _Recorder(each.backend)
            for name, each in parts.connections.items()
            if each.backend_name == "live"
        }
        recorded = {
            name: replace(each, backend=self._recorders.get(name, each.backend))
            for name, each in parts.connections.items()
        }
        dispatcher = Dispatcher(recorded, SystemClock(), parts.store.entities)
        pipeline = gateway.local_pipeline(ADMINISTRATOR)
        self._pipeline: Pipeline = with_parts(pipeline, dispatcher=dispatcher)

    async def all(self, until: float | None) -> None:
        """Make all calls until a time of the monotonic clock."""
        self._until = until
        calls = self._plan.calls
        for number, call in enumerate(calls, 1):
            if call.upstream in self._given_up:
                self._leave_out(f"because {call.upstream} was given up")
            elif self._left() <= 0:
                self._leave_out("because the budget is used up")
            elif number > MOST_CALLS:
                self._leave_out(f"because a run makes at most {MOST_CALLS}")
            else:
                self._report(f"{number} of {len(calls)}: {call.entry.id}")
                await self._call(call)
        self.outcome.requests = sum(each.requests for each in self._recorders.values())
        self.outcome.refused -= self.outcome.succeeded

    def _left(self) -> float:
        return float("inf") if self._until is None else self._until - time.monotonic()

    def _leave_out(self, why: str) -> None:
        self.outcome.left_out[why] = self.outcome.left_out.get(why, 0) + 1

    async def _call(self, call: LiveCall) -> None:
        arguments = self._named(call)
        error = await self._tried(call, arguments)
        wait = error.retry_after_seconds if isinstance(error, UpstreamRateLimited) else None
        if wait is not None and wait <= min(LONGEST_WAIT_SECONDS, self._left()):
            self._report(f"waiting {in_seconds(wait)}, as {call.upstream} asks")
            await asyncio.sleep(wait)
            error = await self._tried(call, arguments)
        if error is None:
            self._failed[call.upstream] = 0
            return
        seen = self._recorders[call.upstream].seen
        failure = failure_of(call, error, seen[-1][0] if seen else None)
        if failure is None:
            self.outcome.refused.add(call.entry.id)
            self._failed[call.upstream] = 0
            return
        self.outcome.failures.append(failure)
        self._failed[call.upstream] = self._failed.get(call.upstream, 0) + 1
        if failure.rule in _HOPELESS or self._failed[call.upstream] >= _MOST_FAILURES:
            self._given_up.add(call.upstream)

    async def _tried(self, call: LiveCall, arguments: Mapping[str, Any]) -> GatewayError | None:
        for each in self._recorders.values():
            each.seen.clear()
        own = replace(local_call(call.entry.id, arguments), effect=Effect.READ)
        try:
            result = await self._pipeline.invoke(own)
        except (NotPermitted, WrongEffect):
            self._leave_out("because with these arguments the tool writes")
            return None
        except GatewayError as error:
            return error
        finally:
            self._note_replies()
            self._note_shown(call, arguments)
        self.outcome.succeeded.add(call.entry.id)
        # A tool that does without an upstream that failed has not read it.
        return UpstreamUnavailable(" ".join(result.fallbacks)) if result.fallbacks else None

    def _note_replies(self) -> None:
        for name, each in self._recorders.items():
            for operation, reply in each.seen:
                self._note(name, operation, reply)

    def _note_shown(self, call: LiveCall, arguments: Mapping[str, Any]) -> None:
        """Keep what a list has shown, also if it breaks the document."""
        seen = self._recorders[call.upstream].seen
        is_shown = bool(seen) and seen[-1][1].status < 300
        if _is_made(call) and is_shown and len(seen[-1][1].body) <= _MOST_SHOWN:
            with suppress(InvalidReply):
                self._shown[call.entry.id] = (arguments, object_of(json_of(seen[-1][1].body)))

    def _named(self, call: LiveCall) -> Mapping[str, Any]:
        """The arguments, with the identity of a thing that another call has shown."""
        document = self._catalogue.imported.get(call.upstream)
        if document is None or not _is_made(call):
            return call.arguments
        if call.upstream not in self._things:
            self._things[call.upstream] = DocumentThings(document)
        things = self._things[call.upstream]
        for other in things.showing(call.entry.id):
            if other in self._shown:
                found = {
                    **call.arguments,
                    **things.named(call.entry.id, other, *self._shown[other]),
                }
                if call.entry.input.admits(found):
                    return found
        return call.arguments


_TROUBLES: Final[tuple[tuple[type[GatewayError], Trouble, str], ...]] = (
    (
        UpstreamRefusedCredentials,
        "live/credentials",
        "renew the credentials of {}; `gateway config` names their settings",
    ),
    (UpstreamRateLimited, "live/rate-limited", "run it again later: {} {}"),
    (UpstreamNotSetUp, "live/not-permitted", "do what it says, for {}"),
    (InvalidResult, "live/breaks-tool", "correct the binding, or the tool's output schema"),
    (InvalidReply, "live/breaks-tool", "correct the binding, or the contract of {}"),
)
_CHECK: Final = "check the address of {} in `gateway config`, and the network"


def failure_of(call: LiveCall, error: GatewayError, operation: str | None) -> LiveFailure | None:
    """What `error` means for a verification. None: the upstream has answered as it may.

    `operation`: that of the last reply, if there was one.
    """
    # Whether a tool has a use for a value, its schema need not say.
    is_refusal = call.vector is not None and isinstance(error, CallerError)
    if is_refusal or isinstance(error, ToolFailed | UpstreamRejected):
        return None
    text = error.detail
    if isinstance(error, InvalidReply | InvalidResult) and error.violations:
        text = f"makes no result of the answer:{_places(error.violations)}"
    rule, fix = _trouble(error, is_reply=operation is not None)
    wait = error.retry_after_seconds if isinstance(error, UpstreamRateLimited) else None
    asked = "does not say when" if wait is None else f"asks to wait {in_seconds(wait)}"
    return LiveFailure(
        call=call,
        rule=rule,
        # What the upstream says of itself may hold values, so only its status is said.
        text=text,
        fix=fix.format(call.upstream, asked),
        operation=operation,
        is_about_reply=operation is not None and isinstance(error, InvalidReply),
    )


def _trouble(error: GatewayError, *, is_reply: bool) -> tuple[Trouble, str]:
    if isinstance(error, UpstreamTimeout | UpstreamUnavailable):
        if is_reply:
            return "live/server-error", "try again later, or ask who runs {}"
        return "live/no-connection", _CHECK
    if isinstance(error, InvalidReply) and not (is_reply and error.violations):
        return "live/bad-answer", _CHECK
    found = ((rule, fix) for kind, rule, fix in _TROUBLES if isinstance(error, kind))
    return next(found, ("live/breaks-tool", "correct the example, or the tool"))


def _places(violations: Iterable[Violation]) -> str:
    """Where the violations are, without the names that are data, and indexes."""
    found = []
    for each in violations:
        names = (name if is_plain(name) else "*" for name in steps(each.pointer))
        found.append(f"/{'/'.join(names)} {each.detail}")
    return f" {'; '.join(dict.fromkeys(found))}" if found else ""

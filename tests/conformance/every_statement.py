"""Calls every method of every aggregate of a store, with every optional argument."""

import inspect
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any, Protocol, get_type_hints

from msgspec.structs import asdict, replace

from gateway.contract.rows.entity import ID
from gateway.ids import private_id, uuid7
from gateway.store.protocols import AgentKey, Store
from gateway.store.publishing import Replay, Replayed, SubscribedSession
from gateway.store.records import (
    AuditQuery,
    AuditRecord,
    CallEnding,
    Changes,
    Claim,
    DeliveryOutcome,
    Endpoint,
    EntityChange,
    Failure,
    KeyedCall,
    Mismatch,
    NewCall,
    NewEvent,
    NewTask,
    Page,
    TaskAnswers,
    TaskSettlement,
)
from gateway.store.sql.entities import filters_of
from gateway.store.sql.store import SqlStore
from gateway.store.usage import CounterId, Demand, LimitKind, Return
from tests.work import message

AT = datetime(2026, 11, 20, tzinfo=UTC)
FAILED = Failure(error="upstream_unavailable", detail="said 503")
UNKNOWN = CallEnding(outcome="unknown")
PAGE = Page(10)
NEXT = Page(10, "g")
"""It begins after an id that none of a large store is below."""
KIND = "bookings"


class Called:
    """The aggregates of a store. Notes each method, and each optional argument, that was used."""

    def __init__(self, store: SqlStore) -> None:
        self.store = store
        self.used: set[str] = set()

    def __getattr__(self, aggregate: str) -> Any:
        return _Noted(getattr(self.store, aggregate), aggregate, self.used)


class _Noted:
    def __init__(self, aggregate: Any, name: str, used: set[str]) -> None:
        self._aggregate, self._name, self._used = aggregate, name, used

    def __getattr__(self, method: str) -> Callable[..., Any]:
        call = getattr(self._aggregate, method)

        @wraps(call)
        def noted(*values: Any, **named: Any) -> Any:
            given = inspect.signature(call).bind(*values, **named).arguments
            self._used |= {f"{self._name}.{method}"}
            self._used |= {f"{self._name}.{method}({each}=)" for each in given}
            for each in given.values():
                self._used |= set(_members(each))
            return call(*values, **named)

        return noted


def _members(value: Any) -> Iterator[str]:
    """The optional members that a query or changes have."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from _members(each)
    elif isinstance(value, AuditQuery | Changes):
        unset = asdict(type(value)())
        set_ = (name for name, found in asdict(value).items() if found != unset[name])
        yield from (f"{type(value).__name__}.{name}" for name in set_)


def required() -> set[str]:
    """What `Called.used` has when nothing of the protocols was left out."""
    wanted = {f"{each.__name__}.{name}" for each in (AuditQuery, Changes) for name in _names(each)}
    for aggregate, declared in vars(Store).items():
        if not isinstance(declared, property):
            continue
        protocol = get_type_hints(declared.fget)["return"]
        for name, method in inspect.getmembers(protocol, inspect.iscoroutinefunction):
            wanted.add(f"{aggregate}.{name}")
            wanted |= {f"{aggregate}.{name}({each}=)" for each in _optional(method)}
    return wanted


def _names(kind: Any) -> tuple[str, ...]:
    return tuple(kind.__struct_fields__)


def _optional(method: Callable[..., Any]) -> Iterator[str]:
    for name, parameter in inspect.signature(method).parameters.items():
        if parameter.default is not inspect.Parameter.empty:
            yield name


class Part(Protocol):
    """Uses some of the aggregates."""

    def __call__(self, to: Any) -> Awaitable[None]: ...


async def use_keys(to: Any) -> None:
    key = AgentKey(id="k", agent="a", label="", digest="d" * 64, created_at=AT)
    await to.keys.add(key)
    await to.keys.find(key.digest)
    await to.keys.is_valid("k")
    await to.keys.list()
    await to.keys.revoke("k", AT)


async def use_audit(to: Any) -> None:
    await to.audit.append([record("PENDING")])
    await to.audit.append([record("ok")])
    await to.audit.cut_off(0, 10)
    await to.audit.latest(10)
    await to.audit.find("r")
    await to.audit.page(AuditQuery())
    for name, value in {
        "limit": 10,
        "after": "g",
        "agent": "nobody",
        "operation": "no.such",
        "outcome": "error",
        "job": "no-job",
        "since": AT,
        "until": AT,
    }.items():
        await to.audit.page(AuditQuery(**{name: value}))
    await to.audit.page(AuditQuery(operation="no.*", outcome="CUT_OFF"))
    await to.audit.prune(0, 10)


def record(outcome: str) -> AuditRecord:
    return AuditRecord(
        id=uuid7(AT),
        at=AT,
        request_id="q",
        transport="job",
        operation="mail.send",
        subject=None,
        agent=None,
        outcome=outcome,
        stage=None,
        status=200,
        backend=None,
        duration_ms=1.0,
        arguments=None,
    )


async def use_keyed_calls(to: Any) -> None:
    calls = to.keyed_calls
    for name in ("one", "two", "three"):
        call = KeyedCall(
            id=name,
            subject="key_1",
            key=name,
            operation="mail.send",
            fingerprint="f",
            lease_seconds=30.0,
        )
        await calls.begin(call)
        await calls.begin(call)
    await calls.extend(["one", "two"], 30.0)
    await calls.end("one", CallEnding(outcome="result", body=b"{}"))
    await calls.release("two")
    await calls.cut_off(is_only_process=False)
    await calls.cut_off(is_only_process=True)
    await calls.prune(0, 10)


async def use_limits(to: Any) -> None:
    counter = CounterId("agent", "concurrent").text
    demand = Demand(counter=counter, max=5, kind=LimitKind.LEASE, seconds=30)
    await to.usage.take([demand], "holder")
    await to.usage.take([demand], "other")
    await to.usage.give_back([counter], "holder")
    await to.usage.restore([Return(counter, "other")])
    await to.usage.readings(10)
    await to.usage.prune(0, 10)


async def use_subscriptions(to: Any) -> None:
    session = SubscribedSession("key_1", "session")
    await to.subscriptions.add(session, "x://1")
    await to.subscriptions.add(session, "x://2")
    await to.subscriptions.remove(session, "x://1")
    await to.subscriptions.of([session])
    await to.subscriptions.see(session)
    await to.subscriptions.remove(session, "x://2")
    await to.subscriptions.prune(0, 10)


async def use_inbox(to: Any) -> None:
    refused = (Mismatch(pointer="/a", detail="is missing"),)
    receipts = await to.inbox.receive(
        [
            message(1),
            message(1, b'{"a":2}'),
            message(2, refusals=refused),
            message(3, refusals=refused, signed_sha256="s"),
            message(4, signed_sha256="s"),
        ]
    )
    await to.inbox.receive([message(1), message(1, b'{"a":2}')])
    await to.inbox.find(receipts[0].webhook_id)
    await to.inbox.find_all([each.webhook_id for each in receipts])
    await to.inbox.list(PAGE)
    await to.inbox.list(NEXT)
    await to.inbox.list(PAGE, provider="nobody")
    await to.inbox.list(PAGE, event_type="no.such")
    await to.inbox.list(PAGE, state="dead_letter")
    await to.inbox.list(NEXT, provider="nobody", event_type="no.such", state="completed")
    await to.inbox.reconsider(receipts[2].webhook_id, refused, "digest")
    await to.inbox.reconsider(receipts[3].webhook_id, (), "digest")
    await to.inbox.prune(0, 10)
    await to.inbox.prune_keys(0, 10)


async def use_queue(to: Any) -> None:
    await to.inbox.receive([message(f"queued {number}") for number in range(6)])
    await to.queue.waiting()
    claims = await to.queue.claim(
        "w", ["webhook", "task"], 6, 30, lane_limit=6, rooms={"avinode": 6}
    )
    first, second, third, fourth, fifth, sixth = claims
    await to.queue.extend(claims, 30)
    await to.queue.release([fifth, sixth], 30.0)
    await to.queue.finish_all([(first, everything()), (second, Changes(audit=record("ok")))])
    await to.queue.fail(third, FAILED, None, Changes())
    await to.queue.fail(fourth, FAILED, 30.0, Changes())
    await to.queue.cancel(fifth.job.id, "operator")
    await to.queue.find(first.job.id)
    await to.queue.attempts(first.job.id)
    await to.queue.backlog()
    await to.queue.redrive(third.job.id, "operator")
    await to.queue.redrive(first.job.id, "operator", force=True)
    [made] = await to.queue.claim("w", ["call"], 1, 0)
    await to.queue.call(made.job.id)
    await to.queue.sweep(10, 0.0, lambda _: Changes())
    [made] = await to.queue.claim("w", ["call"], 1, 30)
    await to.queue.fail(made, FAILED, None, Changes())
    await to.queue.redrive(made.job.id, "operator")
    await to.queue.prune(0, 10)


def everything() -> Changes:
    """What every kind of job may write, at once."""
    return Changes(
        entities=(
            EntityChange(
                kind=KIND,
                values={"avinode_booking_id": "B1"},
                mode="upsert",
                webhook_id="w",
                occurred_at=AT,
            ),
        ),
        events=(event("changes"),),
        webhooks=(message("derived"),),
        calls=(NewCall(id="c", operation="mail.send", arguments={}, lane="mail.send"),),
        delivery=DeliveryOutcome(endpoint_id="e", is_success=False, disable_because="gone"),
        audit=record("ok"),
        task=TaskSettlement(job_id="t", ending=UNKNOWN, frees_key=True),
        is_restored=True,
    )


def event(name: str) -> NewEvent:
    return NewEvent(id=name, type=f"{name}.v1", subject="s", source="/x", data={})


async def use_lists_of_jobs(to: Any) -> None:
    await to.queue.jobs(PAGE)
    await to.queue.jobs(NEXT)
    await to.queue.jobs(PAGE, kind="call")
    await to.queue.jobs(PAGE, lane="nobody")
    for state in ("pending", "dead_letter", "quarantined"):
        await to.queue.jobs(PAGE, state=state)
    await to.queue.jobs(PAGE, state="dead_letter", is_last=True)
    await to.queue.jobs(NEXT, kind="call", lane="nobody", state="completed", is_last=True)


async def use_events(to: Any) -> None:
    for name in ("e", "f"):
        await to.endpoints.add(endpoint(name))
    await to.events.append([event("appended")])
    await to.events.sequence(10)
    await to.events.bounds()
    await to.events.after(0, 10)
    await to.events.after(0, 10, ["no.such.v1", "no.*"])
    await to.events.announced()
    await replay_events(to)
    await to.endpoints.find("e")
    await to.endpoints.all()
    delivery, *_ = await to.endpoints.deliveries("e", PAGE)
    await to.endpoints.deliveries("e", Page(10, delivery.id), state="dead_letter")
    await to.endpoints.deliveries("endpoint", PAGE, state="dead_letter")
    await to.endpoints.delivery(delivery.id)
    await to.endpoints.change("e", {"description": "new"})
    await to.endpoints.change("e", {"state": "disabled"}, {"description": "new"})
    await to.queue.end_undelivered("e")
    await to.queue.redrive(delivery.job.id, "operator")
    await to.endpoints.remove("f")
    await to.queue.prune(0, 10)
    await to.events.prune(0, 10)


async def replay_events(to: Any) -> None:
    """Among the events of a large store, and with all that an endpoint may want."""
    begun = Replay(endpoint_id="e", since=datetime(2030, 1, 1, tzinfo=UTC), until=None, actor="o")
    found: Replayed = await to.events.replay(replace(begun, since=AT))
    await to.events.replay(replace(begun, point=found.next))
    found = await to.events.replay(begun)
    await to.events.replay(replace(begun, until=datetime(2031, 1, 1, tzinfo=UTC), point=found.next))
    wanted = {"event_types": ("no.such.v1", "no.*"), "filter": {"required": ["a"]}}
    await to.endpoints.change("f", wanted)
    await to.events.replay(replace(begun, endpoint_id="f"))


def endpoint(name: str) -> Endpoint:
    return Endpoint(
        id=name,
        url="https://example.com",
        description="",
        event_types=(),
        secret=b"s",
        previous_secret=None,
        previous_until=None,
        state="active",
        disabled_because=None,
        failing_since=None,
        created_at=AT,
        updated_at=AT,
    )


async def use_tasks(to: Any) -> None:
    first, second, third = (task(to.store, each) for each in ("one", "two", None))
    await to.tasks.earlier(first)
    await to.tasks.add(first, 5)
    await to.tasks.add(first, 5)
    await to.tasks.add(third, 5)
    claim: Claim = await to.tasks.adopt(second, "w", 30.0)
    await to.tasks.find(first.job_id)
    await to.tasks.find(first.job_id, "key_1")
    await to.tasks.marks([first.job_id, third.job_id])
    await to.tasks.list("key_1", PAGE)
    await to.tasks.list("key_1", NEXT)
    await to.tasks.report(claim, 0.5, "half")
    await to.queue.wait_for_answers(claim, b"{}", b"{}")
    await to.tasks.answer(second.job_id, lambda *_: TaskAnswers(b"{}", b"{}", is_complete=True))
    [again] = await to.queue.claim("w", ["task"], 1, 30)
    await to.queue.wait_for_answers(again, b"{}", b"{}")
    await to.tasks.may_have_begun(first.job_id, [("RATE_LIMITED", "limits")])
    await to.tasks.end_unanswered(0, 10)
    await to.tasks.cancel(third.job_id, UNKNOWN, "operator")
    await to.tasks.cancel(first.job_id, UNKNOWN, "operator")
    await to.tasks.prune(0, 10)
    await to.queue.prune(0, 10)


def task(store: SqlStore, key: str | None) -> NewTask:
    return NewTask(
        job_id=private_id(datetime.now(UTC) - timedelta(seconds=5)),
        subject="key_1",
        agent="booker",
        operation="golf.book_tee_time",
        arguments=b"{}",
        is_read=False,
        key=key,
    )


async def use_entities(to: Any) -> None:
    """Not `tables`: what its callers ask for is theirs."""
    found, cursor = await to.entities.page(KIND, {}, 1, None)
    await to.entities.page(KIND, {}, 1, cursor)
    for name in filters_of(to.store.tables[KIND]):
        await to.entities.page(KIND, {name: "no such"}, 1, None)
    await to.entities.get(KIND, found[0][ID])
    await to.entities.write(everything().entities)


PARTS: dict[str, Part] = {
    name.removeprefix("use_"): part
    for name, part in [*globals().items()]
    if name.startswith("use_")
}
"""What calls the store, by name."""
